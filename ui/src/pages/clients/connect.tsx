import { keepPreviousData } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { query, refresh, type S } from "@/api/client";
import { list, quoted, t, tn } from "@/lang";
import { Button, Cap, Card, complain, Dialog, LinkButton, Loaded, Picked, Problem, say } from "@/ui";
import { about, askEmpty, isEmpty, oneForAll } from "./change";
import { Down, Lines } from "./lines";

/** Connect shows what connecting a client would change, and does it. */
export function Connect({
	client,
	lacking,
	onClose,
}: {
	client: S["ClientConnection"];
	/** Servers that the client may get an entry for. If there are any, its others stay. */
	lacking?: string[];
	onClose: () => void;
}) {
	const path = { client: client.name };
	const [left, leave] = useState<string[]>([]);
	const add = lacking?.filter((name) => !left.includes(name));
	const body = { add, aggregate: !lacking && isEmpty(client) };
	const plan = query.useQuery(
		"post",
		"/v1/connections/{client}",
		{ params: { path }, body: { ...body, dryRun: true } },
		{ staleTime: 0, gcTime: 0, enabled: add?.length !== 0, placeholderData: keepPreviousData },
	);
	const connect = query.useMutation("post", "/v1/connections/{client}");
	const start = async () => {
		if (body.aggregate && !(await askEmpty(client))) {
			refresh("/v1/connections");
			say(t("The file of {title} was changed meanwhile. Look at the change again.", { title: client.title }));
			return onClose();
		}
		connect.mutate(
			{ params: { path }, body },
			{
				onSuccess: () => {
					refresh("/v1/connections", "/v1/doctor", "/v1/tokens");
					say(
						add
							? t("{title} has {names} now. Restart it, so that it reads its file again.", {
									title: client.title,
									names: list(add.map(nameOf)),
								})
							: t("{title} is connected. Restart it, so that it reads its file again.", { title: client.title }),
						undefined,
						about(client),
					);
					onClose();
				},
			},
		);
	};
	const planned = add?.length === 0 ? [] : plan.data?.files;
	const files = planned?.filter((file) => file.entries?.length || file.notImported?.length || file.problem);
	const any = files?.some((file) => file.entries?.length);
	return (
		<Dialog
			title={
				lacking ? t("Add servers to {title}", { title: client.title }) : t("Connect {title}", { title: client.title })
			}
			onClose={onClose}
			size="wide"
			actions={
				<>
					<Button onClick={onClose}>{t("Cancel")}</Button>
					<Button look="primary" disabled={!any} busy={connect.isPending} onClick={() => void start().catch(complain)}>
						{lacking ? t("Add") : t("Connect")}
					</Button>
				</>
			}
		>
			<Loaded query={plan}>
				{() => (
					<div className="flex flex-col gap-4">
						<p className="text-muted">
							{lacking
								? t(
										"An agent reaches only the servers that its client has an entry for. These are added; everything else in the file stays, and the file from before is kept.",
									)
								: body.aggregate
									? oneForAll()
									: t(
											"These entries would lead to Genkan. Every tool keeps its name; one more, read_result, reads large answers in parts. Everything else in the file stays, and the file from before is kept.",
										)}
						</p>
						{lacking && lacking.length > 1 && (
							<fieldset className="flex flex-wrap gap-1.5">
								<legend className="sr-only">{t("Servers")}</legend>
								{lacking.map((name) => (
									<Picked
										key={name}
										on={!left.includes(name)}
										onClick={() =>
											leave(left.includes(name) ? left.filter((other) => other !== name) : [...left, name])
										}
									>
										{name === "kb" ? t("the knowledge base") : name}
									</Picked>
								))}
							</fieldset>
						)}
						{!lacking && !any && files?.every((file) => !file.problem) && (
							<p className="rounded-lg bg-warn-soft px-4 py-3 text-warn">
								{t("Nothing would change: import its servers first.")}
							</p>
						)}
						{files?.map((file) => (
							<Card key={file.path}>
								<Cap>
									<code className="break-all">{file.path}</code>
								</Cap>
								{file.diff && <Lines diff={file.diff} />}
								{file.notImported && file.notImported.length > 0 && (
									<p className="px-4 py-3 text-muted">
										{t("Stay as they are, because Genkan does not have them: {names}", {
											names: list(file.notImported),
										})}{" "}
										<LinkButton size="small" href="/servers?add=import">
											{t("Import")}
										</LinkButton>
									</p>
								)}
								{file.problem && <Problem className="m-3" error={file.problem.error} />}
							</Card>
						))}
						{files && <Down files={files} />}
						{connect.error && <Problem error={connect.error} />}
					</div>
				)}
			</Loaded>
		</Dialog>
	);
}

/** nameOf is what a sentence calls a server of Genkan. */
const nameOf = (server: string) => (server === "kb" ? t("the knowledge base") : quoted(server));

/** AddServers gives a connected client entries for servers that it lacks. */
export function AddServers({
	client,
	servers = client.lacking,
}: {
	client: S["ClientConnection"];
	servers?: string[];
}) {
	const [asked, ask] = useState(false);
	if (servers.length === 0) return null;
	return (
		<>
			<Button onClick={() => ask(true)} title={t("It has no entry for {names}.", { names: list(servers.map(nameOf)) })}>
				<Plus />
				{servers.length === 1
					? t("Add {name}", { name: nameOf(servers[0]!) })
					: tn(servers.length, "Add {n} server…", "Add {n} servers…")}
			</Button>
			{asked && <Connect client={client} lacking={servers} onClose={() => ask(false)} />}
		</>
	);
}

/** WhoLacks lists the connected clients of this machine that have no entry for a server. */
export function WhoLacks({ server }: { server: string }) {
	const connections = query.useQuery("get", "/v1/connections", undefined, { retry: false });
	const clients = connections.data?.connections.filter((one) => one.lacking.includes(server)) ?? [];
	if (clients.length === 0) return null;
	return (
		<Card className="mb-4">
			<p className="px-4 pt-3 text-muted">
				{t("These clients are connected, but have no entry for {name}, so their agents do not reach it.", {
					name: nameOf(server),
				})}
			</p>
			{clients.map((one) => (
				<div key={one.name} className="flex min-h-12 items-center gap-3 px-4 py-2">
					<span className="flex-1 font-medium">{one.title}</span>
					<AddServers client={one} servers={[server]} />
				</div>
			))}
		</Card>
	);
}
