import { KeyRound } from "lucide-react";
import { useCallback, useState } from "react";
import { Link } from "wouter";
import { query, refresh } from "@/api/client";
import { list, quoted, t } from "@/lang";
import { useAddress } from "@/shell/address";
import { Button, Card, Confirm, complain, Empty, Field, Input, Loaded, Problem, say } from "@/ui";
import { fieldErrors, isAtFields } from "@/ui/schemaform";
import { useUnsaved } from "@/ui/unsaved";
import { Section } from "./parts";

const changed = () => refresh("/v1/secrets", "/v1/servers", "/v1/doctor");

/** Secrets are the names of what the vault keeps. No value is ever shown. */
export function Secrets() {
	const [params] = useAddress();
	const secrets = query.useQuery("get", "/v1/secrets");
	const put = query.useMutation("put", "/v1/secrets/{name}");
	const remove = query.useMutation("delete", "/v1/secrets/{name}");
	const [name, setName] = useState(params.get("name") ?? "");
	const [value, setValue] = useState("");
	useUnsaved(
		value !== "",
		useCallback(() => setValue(""), []),
	);
	const [asked, ask] = useState<{ name: string; servers: string[] }>();
	const known = secrets.data?.secrets.some((one) => one.name === name.trim());
	const ready = name.trim() !== "" && value !== "";
	const wrong = fieldErrors(put.error);
	const save = () =>
		ready &&
		put.mutate(
			{ params: { path: { name: name.trim() } }, body: { value } },
			{
				onSuccess: ({ name, problem }) => {
					changed();
					setName("");
					setValue("");
					if (problem) complain(problem);
					else say(t("{name} is kept.", { name: quoted(name) }));
				},
			},
		);
	return (
		<Section
			title={t("Secrets")}
			about={t(
				"Keys and passwords in the vault of this machine. Servers refer to one as {reference}; its value is never shown again.",
				{ reference: `\${secret:NAME}` },
			)}
		>
			<Card className="overflow-hidden">
				<div className="grid items-start gap-3 border-line border-b px-4 py-3 sm:grid-cols-[1fr_1fr_auto]">
					<Field label={t("Name")} error={wrong.name}>
						<Input
							value={name}
							placeholder="N8N_API_KEY"
							className="font-mono text-[12.5px]"
							onChange={(event) => {
								setName(event.target.value);
								put.reset();
							}}
						/>
					</Field>
					<Field label={t("Value")} error={wrong.value}>
						<Input
							type="password"
							autoComplete="new-password"
							value={value}
							onChange={(event) => {
								setValue(event.target.value);
								put.reset();
							}}
							onEnter={save}
						/>
					</Field>
					<Button look="primary" className="sm:mt-5" disabled={!ready} busy={put.isPending} onClick={save}>
						{known ? t("Replace") : t("Keep")}
					</Button>
				</div>
				{put.error && !isAtFields(put.error, ["name", "value"]) && <Problem className="m-3" error={put.error} />}
				<Loaded query={secrets} rows={3}>
					{(data) =>
						data.secrets.length === 0 ? (
							<Empty icon={<KeyRound />} title={t("No secrets yet")}>
								{t("Give the first one a name and a value above. Imported servers bring theirs with them.")}
							</Empty>
						) : (
							data.secrets.map((secret) => (
								<div
									key={secret.name}
									className="flex flex-wrap items-center gap-x-3 gap-y-1 border-line border-b px-4 py-2.5 last:border-0"
								>
									<div className="min-w-0 flex-1 basis-28">
										<code className="break-all font-medium">{secret.name}</code>
										<div className="text-muted text-sm">
											{secret.servers.length === 0
												? t("no server uses it")
												: secret.servers.map((server, i) => (
														<span key={server}>
															{i > 0 && ", "}
															<Link href={`/servers/${encodeURIComponent(server)}`} className="underline">
																{server}
															</Link>
														</span>
													))}
										</div>
									</div>
									<Button
										look="quiet"
										size="small"
										aria-label={t("Replace {name}", { name: secret.name })}
										onClick={() => {
											setName(secret.name);
											setValue("");
											put.reset();
											document.querySelector<HTMLElement>("main input[type=password]")?.focus();
										}}
									>
										{t("Replace")}
									</Button>
									<Button
										look="danger"
										size="small"
										aria-label={t("Delete {name}", { name: secret.name })}
										onClick={() => ask(secret)}
									>
										{t("Delete")}
									</Button>
								</div>
							))
						)
					}
				</Loaded>
			</Card>
			{asked && (
				<Confirm
					title={t("Delete the secret {name}?", { name: quoted(asked.name) })}
					action={t("Delete")}
					danger
					busy={remove.isPending}
					onClose={() => ask(undefined)}
					onConfirm={() =>
						remove.mutate(
							{ params: { path: { name: asked.name } } },
							{
								onError: complain,
								onSuccess: ({ problem }) => {
									changed();
									ask(undefined);
									if (problem) complain(problem);
								},
							},
						)
					}
				>
					{asked.servers.length > 0
						? t("Without it, these servers do not start: {names}. Its value cannot be had back.", {
								names: list(asked.servers),
							})
						: t("Its value cannot be had back.")}
				</Confirm>
			)}
		</Section>
	);
}
