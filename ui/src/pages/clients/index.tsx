import { KeyRound, Plug, Undo2, Unplug } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { often, query, root, type S } from "@/api/client";
import { ago, between, list, number, quoted, sentences, t, tn, whole } from "@/lang";
import { useSession } from "@/shell/session";
import { Button, Card, Chip, Command, Confirm, CopyButton, complain, Dot, Empty, Loaded, Page, Snippet } from "@/ui";
import { shellLine } from "@/ui/shell";
import { undo, unreadable } from "./change";
import { AddServers, Connect } from "./connect";
import { Tokens } from "./tokens";

/** Clients shows the programs that call through Genkan: those on this machine, and those
 * that have a token. */
export default function Clients() {
	const { admin } = useSession();
	const [made, setMade] = useState<S["MadeToken"]>();
	if (!admin)
		return (
			<Page title={t("Clients")}>
				<Empty icon={<KeyRound />} title={t("Only an administrator sees the clients.")} />
			</Page>
		);
	return (
		<Page title={t("Clients")}>
			<div className="flex flex-col gap-6">
				<Connections />
				<Tokens made={made} onMade={setMade} />
				<ByHand token={made?.token} />
			</div>
		</Page>
	);
}

/** LastCall says when a client last called, and leads to its calls. */
function LastCall({ client }: { client: string }) {
	const { data } = query.useQuery("get", "/v1/calls", { params: { query: { client, limit: 1 } } }, often);
	const [call] = data?.calls ?? [];
	if (!data) return null;
	if (!call) return <span>{t("no call yet")}</span>;
	return (
		<Link
			href={`/calls?client=${encodeURIComponent(client)}`}
			title={whole(call.startedAt)}
			className="text-accent hover:underline"
		>
			{t("last call {time}", { time: ago(call.startedAt) })}
		</Link>
	);
}

/** Connections are the clients on this machine, with what connecting one would change. */
function Connections() {
	const connections = query.useQuery("get", "/v1/connections", undefined, often);
	const servers = query.useQuery("get", "/v1/servers");
	// Entries that name a server which is gone or off do not work.
	const works = (name: string) =>
		servers.data?.servers.some((one) => one.name === name && one.state !== "disabled") ?? true;
	const [asked, ask] = useState<S["ClientConnection"]>();
	const [leaving, leave] = useState<S["ClientConnection"]>();
	return (
		<section aria-labelledby="here">
			<h2 id="here" className="mb-2 text-base">
				{t("On this machine")}
			</h2>
			<Loaded query={connections} rows={3}>
				{(data) => {
					const isHere = (one: S["ClientConnection"]) => one.files.some((file) => file.exists);
					const here = data.connections.filter(isHere);
					const missing = (
						<NotFound
							clients={data.connections.filter((one) => !isHere(one))}
							command={data.command}
							open={here.length === 0}
						/>
					);
					if (here.length === 0)
						return (
							<>
								<Card>
									<Empty icon={<Plug />} title={t("No client was found on this machine")}>
										{t("Install Claude Code, Cursor, VS Code or another one, or connect one by hand below.")}
									</Empty>
								</Card>
								{missing}
							</>
						);
					return (
						<>
							<Card className="overflow-hidden">
								{here.map((one) => {
									const entries = one.files.reduce((sum, file) => sum + file.servers, 0);
									const through = throughOf(one);
									const problem = one.files.find((file) => file.problem);
									const lost = [...new Set(one.files.flatMap((file) => file.names))].filter((name) => !works(name));
									const tone = through === 0 ? "idle" : lost.length > 0 ? "warn" : "ok";
									// A file that cannot be read is neither connected nor put back.
									const changed = !problem && data.changes.some((change) => change.client === one.name);
									return (
										<div
											key={one.name}
											className="flex flex-wrap items-center gap-x-4 gap-y-2 border-line border-b px-4 py-3 last:border-0"
										>
											<div className="min-w-0 flex-1 basis-64">
												<div className="flex items-center gap-2 font-medium">
													<Dot tone={tone} />
													{one.title}
													<Chip tone={tone}>{through > 0 ? t("connected") : t("not connected")}</Chip>
												</div>
												<div className="mt-0.5 flex flex-wrap gap-x-3 text-muted text-sm">
													<span>
														{tn(entries, "{n} server", "{n} servers")}
														{entries > 0 && t(", {n} through Genkan", { n: through })}
													</span>
													{through > 0 && <LastCall client={`local:${one.name}`} />}
													<span className="break-all font-mono text-xs leading-5">
														{one.files
															.filter((file) => file.exists)
															.map((file) => file.path)
															.join("  ")}
													</span>
												</div>
												{lost.length > 0 && (
													<div className="mt-1 text-sm text-warn">
														{sentences(
															t("Its entries for {names} do not work: such a server is not configured, or is off.", {
																names: list(lost.map(quoted)),
															}),
															changed
																? t("Disconnect it, or delete these entries from the file.")
																: t("Add the server, or delete these entries from the file."),
														)}
													</div>
												)}
												{problem && (
													<div className="mt-1 text-bad text-sm">{unreadable(one.title, problem.problem!)}</div>
												)}
											</div>
											{!problem && <AddServers client={one} />}
											{changed && (
												<Button onClick={() => leave(one)}>
													{through > 0 ? <Unplug /> : <Undo2 />}
													{through > 0 ? t("Disconnect") : t("Put the file back")}
												</Button>
											)}
											{(through < entries || entries === 0) && !problem && (
												<Button look="primary" onClick={() => ask(one)}>
													{t("Connect")}
												</Button>
											)}
										</div>
									);
								})}
							</Card>
							{missing}
						</>
					);
				}}
			</Loaded>
			{asked && <Connect client={asked} onClose={() => ask(undefined)} />}
			{leaving && <Disconnect client={leaving} onClose={() => leave(undefined)} />}
		</section>
	);
}

/** throughOf is how many entries of a client lead to Genkan. */
const throughOf = ({ files }: S["ClientConnection"]): number => files.reduce((sum, file) => sum + file.connected, 0);

/** Disconnect puts the files of a client back, and says first what goes. */
function Disconnect({ client, onClose }: { client: S["ClientConnection"]; onClose: () => void }) {
	const [busy, setBusy] = useState(false);
	const through = throughOf(client);
	const start = async () => {
		setBusy(true);
		await undo(client).then(onClose, complain);
		setBusy(false);
	};
	return (
		<Confirm
			title={
				through > 0
					? t("Disconnect {title}?", { title: client.title })
					: t("Put the file of {title} back?", { title: client.title })
			}
			action={through > 0 ? t("Disconnect") : t("Put the file back")}
			danger
			busy={busy}
			onClose={onClose}
			onConfirm={() => void start()}
		>
			<p>{t("Its file gets back what it had before Genkan. What else was changed there since then stays.")}</p>
			{through > 0 && (
				<p className="mt-2">
					{sentences(
						tn(through, "{n} entry leads to Genkan now.", "{n} entries lead to Genkan now."),
						t(
							"The servers that the file had before are called without Genkan and its workflows, and those that came with Genkan are no longer reached.",
						),
					)}
				</p>
			)}
		</Confirm>
	);
}

/** NotFound lists the clients that Genkan knows and that have no file here. */
function NotFound({ clients, command, open }: { clients: S["ClientConnection"][]; command: string[]; open: boolean }) {
	if (clients.length === 0) return null;
	return (
		<details open={open} className="mt-3">
			<summary className="cursor-pointer text-muted text-sm">
				{t("Not found on this machine: {n}", { n: number(clients.length) })}
			</summary>
			<p className="mt-2 text-muted text-sm">
				{t("When one of them is installed, its command gives it an entry for Genkan, with the tools of all servers.")}
			</p>
			<ul className="mt-1">
				{clients.map((one) => (
					<li
						key={one.name}
						className="flex flex-wrap items-center gap-x-4 gap-y-1 border-line border-b py-2 last:border-0"
					>
						<div className="min-w-0 flex-1 basis-64">
							{one.title}
							<span className="ml-2 break-all font-mono text-faint text-xs">{one.files[0]?.path}</span>
						</div>
						<Entry client={one} command={command} />
					</li>
				))}
			</ul>
		</details>
	);
}

/** Entry is the command that gives a client its first entry. */
function Entry({ client, command }: { client: S["ClientConnection"]; command: string[] }) {
	const words = [...command, "connect", client.name, "--aggregate", "--write"];
	return (
		<span className="flex min-w-0 items-center gap-1 rounded-md bg-sunken pr-1 pl-2">
			<Command words={words} className="text-xs" />
			<CopyButton text={shellLine(words)} />
		</span>
	);
}

/** ByHand has what to paste into a client that Genkan cannot change itself. */
function ByHand({ token }: { token?: string }) {
	// As in the entries that connecting writes.
	const { data } = query.useQuery("get", "/v1/connections");
	const [command, ...args] = data?.command ?? ["genkan"];
	const stdio = JSON.stringify({ mcpServers: { genkan: { command, args: [...args, "stdio"] } } }, null, 2);
	const http = JSON.stringify(
		{
			mcpServers: {
				genkan: {
					type: "http",
					url: new URL("mcp", root).href,
					headers: { Authorization: `Bearer ${token ?? "TOKEN"}` },
				},
			},
		},
		null,
		2,
	);
	const loopback = /^(localhost|127\.|\[::1\])/.test(root.hostname);
	return (
		<section aria-labelledby="hand">
			<h2 id="hand" className="mb-2 text-base">
				{t("By hand")}
			</h2>
			<div className="grid items-start gap-3 md:grid-cols-2">
				<div className="flex flex-col gap-2">
					<Snippet title={t("A client on this machine")} text={stdio} />
					<p className="text-muted text-sm">{t("It has the tools of all servers and the knowledge base.")}</p>
				</div>
				<div className="flex flex-col gap-2">
					<Snippet title={t("A client with a token")} text={http} />
					<p className="text-muted text-sm">
						{token
							? t("The token above stands in it.")
							: t("Make a token above, and it stands here in place of TOKEN.")}
						{between()}
						{loopback &&
							t(
								"The address {address} works on this machine alone. For a client elsewhere, let Genkan listen on an address that it reaches, with TLS: the keys listen and tls of genkan.yaml.",
								{ address: root.host },
							)}
					</p>
				</div>
			</div>
		</section>
	);
}
