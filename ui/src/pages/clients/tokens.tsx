import { useState } from "react";
import { Failure, often, query, refresh, type S } from "@/api/client";
import { ago, list, quoted, t, whole } from "@/lang";
import {
	Button,
	Card,
	Chip,
	Confirm,
	CopyButton,
	complain,
	Dialog,
	Field,
	Input,
	LinkButton,
	Loaded,
	messageOf,
	Picked,
	Problem,
	Prose,
	Select,
	Switch,
	say,
} from "@/ui";

type Limit = S["TokenLimit"];

/** Tokens are for clients on other machines, and for scripts. */
export function Tokens({
	made,
	onMade,
}: {
	made?: S["MadeToken"];
	onMade: (made: S["MadeToken"] | undefined) => void;
}) {
	const tokens = query.useQuery("get", "/v1/tokens", undefined, often);
	const make = query.useMutation("post", "/v1/tokens");
	const revoke = query.useMutation("delete", "/v1/tokens/{name}");
	const [name, setName] = useState("");
	const [limit, setLimit] = useState<Limit>({});
	const [asked, ask] = useState<string>();
	const [changing, change] = useState<S["Token"]>();
	const ready = name.trim() !== "" && isWhole(limit);
	// Servers are chosen, so what is refused or taken is the name.
	const atName = make.error instanceof Failure && [400, 409].includes(make.error.status);
	const add = () =>
		ready &&
		make.mutate(
			{ body: { name: name.trim(), limit } },
			{
				onSuccess: (token) => {
					onMade(token);
					setName("");
					setLimit({});
					refresh("/v1/tokens", "/v1/workflows");
				},
			},
		);
	return (
		<section aria-labelledby="tokens">
			<h2 id="tokens" className="mb-2 text-base">
				{t("Access tokens")}
			</h2>
			<Card className="overflow-hidden">
				<div className="flex flex-col gap-3 border-line border-b px-4 py-3">
					<div className="w-full sm:w-80">
						<Field
							label={t("Name of a client on another machine, or of a script")}
							error={atName && messageOf(make.error)}
							hint={t("Lower case letters, digits, . _ and -, at most 64 characters, a letter or digit first.")}
						>
							<Input
								value={name}
								placeholder="ci"
								onChange={(event) => {
									setName(event.target.value);
									make.reset();
								}}
								onEnter={() => void add()}
							/>
						</Field>
					</div>
					<LimitFields limit={limit} onChange={setLimit} />
					<div>
						<Button disabled={!ready} busy={make.isPending} onClick={() => void add()}>
							{t("Make a token")}
						</Button>
					</div>
				</div>
				{make.error && !atName && <Problem className="m-3" error={make.error} />}
				{made && (
					<div className="m-3 flex flex-wrap items-center gap-2 rounded-lg bg-ok-soft px-4 py-3 text-ok">
						<span className="flex-1 basis-full">
							{t("The token of “{name}”. It is shown only now: copy it.", { name: made.name })}
						</span>
						<code className="break-all text-text">{made.token}</code>
						<CopyButton text={made.token} label={t("Copy")} />
					</div>
				)}
				<Loaded query={tokens} rows={2}>
					{(data) =>
						data.tokens.length === 0 ? (
							<p className="px-4 py-5 text-muted">
								<Prose text={t("None yet. Clients on this machine that start Genkan themselves need none.")} />
							</p>
						) : (
							data.tokens.map((token) => (
								<div
									key={token.name}
									className="flex flex-wrap items-center gap-x-3 gap-y-2 border-line border-b px-4 py-2.5 last:border-0"
								>
									<div className="min-w-0 flex-1 basis-64">
										<span className="font-medium">{token.name}</span>{" "}
										{token.admin && <Chip tone="warn">{t("administrator")}</Chip>}
										<div className="flex flex-wrap gap-x-3 break-words text-sm">
											{limitTexts(token).map((text) => (
												<span key={text}>{text}</span>
											))}
										</div>
										<div className="text-muted text-sm">
											{token.lastSeen ? (
												<span title={whole(token.lastSeen)}>
													{t("last seen {time}", { time: ago(token.lastSeen) })}
													{token.lastClient && ` · ${token.lastClient}`}
												</span>
											) : (
												t("never used")
											)}
										</div>
									</div>
									<Button size="small" onClick={() => change(token)}>
										{t("What it may use")}
									</Button>
									<LinkButton look="quiet" size="small" href={`/calls?client=${encodeURIComponent(token.name)}`}>
										{t("Its calls")}
									</LinkButton>
									<Button look="danger" size="small" onClick={() => ask(token.name)}>
										{t("Revoke")}
									</Button>
								</div>
							))
						)
					}
				</Loaded>
			</Card>
			{changing && <ChangeLimit token={changing} onClose={() => change(undefined)} />}
			{asked && (
				<Confirm
					title={t("Revoke the token of “{name}”?", { name: asked })}
					action={t("Revoke")}
					danger
					busy={revoke.isPending}
					onClose={() => ask(undefined)}
					onConfirm={() =>
						revoke.mutate(
							{ params: { path: { name: asked } } },
							{
								onError: complain,
								onSuccess: () => {
									refresh("/v1/tokens", "/v1/workflows");
									if (made?.name === asked) onMade(undefined);
									ask(undefined);
								},
							},
						)
					}
				>
					{t("Whoever uses it is refused from now on.")}
				</Confirm>
			)}
		</section>
	);
}

/** isWhole tells whether a limit says what it should: a list of servers has one at least. */
const isWhole = (limit: Limit): boolean => limit.servers?.length !== 0;

function limitTexts({ limit, profile }: S["Token"]): string[] {
	return [
		limit?.servers
			? t("may use only {servers}", { servers: list(limit.servers.map(quoted)) })
			: t("may use all servers"),
		limit?.readOnly && t("only tools that read"),
		profile && t("is shown the profile “{name}”", { name: profile }),
	].filter((part) => !!part) as string[];
}

/** LimitFields ask what a token may use. */
function LimitFields({ limit, onChange }: { limit: Limit; onChange: (limit: Limit) => void }) {
	const servers = query.useQuery("get", "/v1/servers");
	const names = servers.data?.servers.map((one) => one.name).filter((name) => !own.includes(name)) ?? [];
	const chosen = limit.servers;
	return (
		<div className="flex flex-col gap-3">
			<div className="flex flex-wrap items-center gap-x-5 gap-y-2">
				<span className="flex items-center gap-2">
					<span className="text-muted text-sm">{t("May use")}</span>
					<Select
						aria-label={t("May use")}
						value={chosen ? "some" : "all"}
						onChange={(event) => onChange({ ...limit, servers: event.target.value === "some" ? [] : undefined })}
					>
						<option value="all">{t("all servers")}</option>
						<option value="some">{t("only these servers")}</option>
					</Select>
				</span>
				{/* biome-ignore lint/a11y/noLabelWithoutControl: the switch is a button */}
				<label className="flex items-center gap-2">
					<Switch
						on={limit.readOnly ?? false}
						label={t("Only tools that read")}
						onChange={(readOnly) => onChange({ ...limit, readOnly: readOnly || undefined })}
					/>
					<span
						className="text-muted text-sm"
						title={t("Only tools that their servers mark as read-only. A tool that says nothing is left out.")}
					>
						{t("Only tools that read")}
					</span>
				</label>
			</div>
			{chosen && (
				<fieldset className="flex flex-wrap items-center gap-1.5">
					<legend className="sr-only">{t("only these servers")}</legend>
					{[...new Set([...names, ...chosen])].map((name) => (
						<Picked
							key={name}
							on={chosen.includes(name)}
							onClick={() =>
								onChange({
									...limit,
									servers: chosen.includes(name) ? chosen.filter((other) => other !== name) : [...chosen, name],
								})
							}
						>
							{name === "kb" ? t("kb, the knowledge base") : name}
						</Picked>
					))}
					{chosen.length === 0 && <span className="text-muted text-sm">{t("Choose at least one.")}</span>}
				</fieldset>
			)}
		</div>
	);
}

// Parts of Genkan that are no servers to choose.
const own = ["genkan", "results"];

/** ChangeLimit changes what a token may use. */
function ChangeLimit({ token, onClose }: { token: S["Token"]; onClose: () => void }) {
	const [limit, setLimit] = useState<Limit>(token.limit ?? {});
	const put = query.useMutation("put", "/v1/tokens/{name}/limit");
	const save = () =>
		put.mutate(
			{ params: { path: { name: token.name } }, body: limit },
			{
				onSuccess: () => {
					refresh("/v1/tokens", "/v1/workflows");
					say(t("Saved. It holds from now on."));
					onClose();
				},
			},
		);
	return (
		<Dialog
			title={t("What “{name}” may use", { name: token.name })}
			onClose={onClose}
			actions={
				<>
					<Button onClick={onClose}>{t("Cancel")}</Button>
					<Button look="primary" disabled={!isWhole(limit)} busy={put.isPending} onClick={save}>
						{t("Save")}
					</Button>
				</>
			}
		>
			<div className="flex flex-col gap-4">
				<LimitFields limit={limit} onChange={setLimit} />
				<p className="text-muted text-sm">
					{t(
						"Tools beyond this are neither listed for it nor called; prompts and resources of other servers are refused. This also holds while all workflows are turned off.",
					)}
				</p>
				{token.profile && (
					<p className="text-muted text-sm">
						{t("The profile “{name}” of genkan.yaml only chooses what it is shown first; it is no limit.", {
							name: token.profile,
						})}
					</p>
				)}
				{put.error && <Problem error={put.error} />}
			</div>
		</Dialog>
	);
}
