import { Check } from "lucide-react";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { api, query, refresh, type S } from "@/api/client";
import { t, tn } from "@/lang";
import { Button, Card, CopyButton, complain, cx, Dialog, LinkButton, Problem, Spinner, say } from "@/ui";

const ImportServers = lazy(() => import("../servers/import").then(({ ImportServers }) => ({ default: ImportServers })));

/** Start is the list of what leads to the first call. It ticks itself off. */
export function Start({ called }: { called: boolean }) {
	return (
		<div className="mx-auto mt-6 max-w-[680px] sm:mt-12">
			<h2 className="text-xl">{t("Welcome in.")}</h2>
			<p className="mt-1 mb-5 text-muted">{t("Three steps, about a minute. This list ticks itself off.")}</p>
			<Card>
				<ol>
					<Servers />
					<Connect />
					<FirstCall called={called} />
				</ol>
			</Card>
			<p className="mt-4 text-muted">
				{t("Changed your mind? This command puts every file back, to the byte:")} <code>genkan undo</code>
			</p>
		</div>
	);
}

/** useConnections looks again now and then: files change elsewhere, too. */
const useConnections = () => query.useQuery("get", "/v1/connections", {}, { refetchInterval: 5000 });

type State = "done" | "now" | "later";

function Step({
	n,
	state,
	title,
	children,
	actions,
	below,
}: {
	n: number;
	state: State;
	title: ReactNode;
	children?: ReactNode;
	actions?: ReactNode;
	below?: ReactNode;
}) {
	return (
		<li className="border-line border-b p-4 last:border-0" data-step={state}>
			<div className="flex flex-wrap items-start gap-x-3.5 gap-y-2">
				<span
					className={cx(
						"grid size-[22px] shrink-0 place-items-center rounded-full border text-xs",
						state === "done" && "border-ok bg-ok text-bg",
						state === "now" && "border-accent text-accent",
						state === "later" && "border-line-strong text-faint",
					)}
				>
					{state === "done" ? <Check role="img" aria-label={t("Done")} className="size-3.5" strokeWidth={3} /> : n}
				</span>
				<div className="min-w-48 flex-1 break-words">
					<h3 className="text-base">{title}</h3>
					{children && <div className="text-muted">{children}</div>}
				</div>
				{actions && <div className="flex flex-wrap gap-2">{actions}</div>}
			</div>
			{below && <div className="mt-3 sm:pl-9">{below}</div>}
		</li>
	);
}

const listed = (names: string[]) => [...new Set(names)].join(", ");

function Servers() {
	const [importing, setImporting] = useState(false);
	const servers = query.useQuery("get", "/v1/servers");
	// Without a file of a client there is nothing to plan.
	const found = useConnections();
	const some = found.data?.connections.some((client) => client.files.some((file) => file.exists));
	const plan = query.useQuery("get", "/v1/import", {}, { enabled: some === true });
	const own = servers.data?.servers.filter((server) => server.source !== "built-in") ?? [];
	const up = own.filter((server) => server.state === "ready").length;
	const fresh = plan.data?.servers.filter((server) => !server.known) ?? [];
	const from = listed(fresh.flatMap((server) => server.origins.map((origin) => origin.title)));
	const done = own.length > 0 && fresh.length === 0;
	const add = (
		<LinkButton href="/servers?add=1" look={fresh.length > 0 || own.length > 0 ? "plain" : "primary"}>
			{t("Add a server")}
		</LinkButton>
	);
	return (
		<>
			<Step
				n={1}
				state={done ? "done" : "now"}
				title={
					fresh.length > 0
						? tn(fresh.length, "Import {n} server from {from}", "Import {n} servers from {from}", { from })
						: own.length > 0
							? tn(own.length, "{n} server is here", "{n} servers are here")
							: t("Add the first server")
				}
				actions={
					fresh.length > 0 ? (
						<Button look={own.length > 0 ? "plain" : "primary"} onClick={() => setImporting(true)}>
							{t("Import")}
						</Button>
					) : (
						(own.length === 0 || up < own.length) &&
						(own.length > 0 ? <LinkButton href="/servers">{t("Look")}</LinkButton> : add)
					)
				}
			>
				{fresh.length > 0 ? (
					<>
						{fresh
							.slice(0, 6)
							.map((server) => server.name)
							.join(", ")}
						{fresh.length > 6 && " …"}
						{own.length > 0 && ` · ${tn(own.length, "{n} server is here", "{n} servers are here")}`}
					</>
				) : own.length > 0 ? (
					up === own.length ? (
						t("All of them are up.")
					) : (
						t("{n} of them are up.", { n: up })
					)
				) : (
					plan.data &&
					t("No editor on this machine has servers to import. Paste a command, a URL or any client's JSON.")
				)}
			</Step>
			{importing && (
				<Suspense>
					<ImportServers onClose={() => setImporting(false)} />
				</Suspense>
			)}
		</>
	);
}

function Connect() {
	const connections = useConnections();
	const all = (connections.data?.connections ?? []).map((client) => ({
		...client,
		file: client.files.find((file) => file.exists && !file.project) ?? client.files.find((file) => file.exists),
		connected: client.files.some((file) => file.connected > 0),
	}));
	const here = all.filter((client) => client.file);
	const connected = here.filter((client) => client.connected);
	const first =
		here.find((client) => !client.connected && client.file!.servers > 0) ?? here.find((client) => !client.connected);
	return (
		<Step
			n={2}
			state={connected.length > 0 ? "done" : "now"}
			title={
				connected.length > 0
					? t("{names} is connected", { names: listed(connected.map((client) => client.title)) })
					: first
						? t("Connect {name}", { name: first.title })
						: t("Connect a client")
			}
			actions={<LinkButton href="/clients">{first ? t("Other clients") : t("How to connect")}</LinkButton>}
			below={
				<div className="flex flex-col gap-2">
					{connections.error && <Problem error={connections.error} retry={() => void connections.refetch()} />}
					{here.map((client) => (
						<Client key={client.name} client={client} path={client.file!.path} primary={client === first} />
					))}
				</div>
			}
		>
			{here.length > 0
				? t("Each is one changed file. Every tool keeps its name.")
				: connections.data &&
					t("No client that Genkan knows has a file on this machine. Any client can use the address of Genkan.")}
		</Step>
	);
}

function Client({
	client,
	path,
	primary,
}: {
	client: S["ClientConnection"] & { connected: boolean };
	path: string;
	primary: boolean;
}) {
	const [change, setChange] = useState<S["ConnectResult"]>();
	const [busy, setBusy] = useState(false);
	const run = async (act: () => Promise<unknown>) => {
		setBusy(true);
		await act().catch(complain);
		setBusy(false);
	};
	const ask = async (dryRun: boolean) => {
		const { data } = await api.POST("/v1/connections/{client}", {
			params: { path: { client: client.name } },
			body: { dryRun },
		});
		return data!;
	};
	const undo = () =>
		run(async () => {
			await api.DELETE("/v1/connections/{client}", { params: { path: { client: client.name } } });
			refresh("/v1/connections");
			say(t("{file} is as it was.", { file: path }));
		});
	const connect = () =>
		run(async () => {
			const { files } = await ask(false);
			setChange(undefined);
			refresh("/v1/connections", "/v1/import");
			const failed = files.find((file) => file.problem);
			if (failed) throw new Error(failed.problem!.error);
			say(t("{name} is connected. Restart it to see the change.", { name: client.title }), () => void undo());
		});
	return (
		<div className="flex flex-wrap items-center gap-2 rounded-md bg-sunken px-3 py-2">
			<div className="min-w-40 flex-1">
				<div className="font-medium">{client.title}</div>
				<code className="block break-all text-muted text-xs">{path}</code>
			</div>
			{client.connected ? (
				<Button size="small" busy={busy} onClick={() => void undo()}>
					{t("Undo")}
				</Button>
			) : (
				<>
					<Button size="small" look="quiet" onClick={() => void run(async () => setChange(await ask(true)))}>
						{t("Show the change")}
					</Button>
					<Button size="small" look={primary ? "primary" : "plain"} busy={busy} onClick={() => void connect()}>
						{t("Connect")}
					</Button>
				</>
			)}
			{change && (
				<Dialog
					title={t("What changes for {name}", { name: client.title })}
					onClose={() => setChange(undefined)}
					size="wide"
					actions={
						<>
							<Button onClick={() => setChange(undefined)}>{t("Cancel")}</Button>
							<Button look="primary" busy={busy} onClick={() => void connect()}>
								{t("Connect")}
							</Button>
						</>
					}
				>
					<Change change={change} />
				</Dialog>
			)}
		</div>
	);
}

/** Change is what connecting does to the files of a client, as a diff. */
function Change({ change }: { change: S["ConnectResult"] }) {
	if (change.files.length === 0) return <p>{t("Nothing changes.")}</p>;
	return (
		<div className="flex flex-col gap-4">
			{change.files.map((file) => (
				<div key={file.path}>
					<code className="break-all text-muted">{file.path}</code>
					{file.problem && <Problem className="mt-2" error={file.problem.error} />}
					{file.state === "unchanged" && <p className="text-muted">{t("Nothing changes.")}</p>}
					<pre className="mt-1 overflow-x-auto rounded-md border border-line py-2 text-xs">
						{file.replaced?.map((name) => (
							<div key={`-${name}`} className="bg-bad-soft px-3">{`- ${name}`}</div>
						))}
						{file.entries?.map((entry) => (
							<div key={entry.name}>
								<div className="px-3">{`  ${entry.name}:`}</div>
								{entry.was && <div className="bg-bad-soft px-3">{`-   ${entry.was}`}</div>}
								<div className="bg-ok-soft px-3">{`+   ${entry.to}`}</div>
							</div>
						))}
						{file.notImported?.map((name) => (
							<div key={`=${name}`} className="px-3 text-muted">{`  ${name}: ${t("stays as it is")}`}</div>
						))}
					</pre>
				</div>
			))}
			<p className="text-muted">{t("The file as it is now is kept. Undo puts it back, to the byte.")}</p>
		</div>
	);
}

function FirstCall({ called }: { called: boolean }) {
	const [busy, setBusy] = useState(false);
	const tools = query.useQuery("get", "/v1/tools", { params: { query: { limit: 100, enabled: true } } });
	const tool = harmless(tools.data?.tools ?? []);
	const prompt = t("Which tools of Genkan can you use? Call one that only reads.");
	const send = async () => {
		setBusy(true);
		try {
			await api.POST("/v1/tools/call", { body: { name: tool!.name, parameters: {} } });
		} catch (error) {
			complain(error);
		}
		setBusy(false);
	};
	return (
		<Step
			n={3}
			state={called ? "done" : "now"}
			title={
				called ? (
					t("The first call has come")
				) : (
					<span className="flex items-center gap-2">
						{t("Waiting for the first call")}
						<Spinner />
					</span>
				)
			}
			actions={
				called ? (
					<LinkButton href="/calls">{t("See it")}</LinkButton>
				) : (
					<>
						<CopyButton text={prompt} label={t("Copy")} />
						<Button
							busy={busy}
							disabled={!tool}
							title={tool && t("Calls {tool}, which only reads", { tool: tool.name })}
							onClick={() => void send()}
						>
							{t("Send a test call")}
						</Button>
					</>
				)
			}
		>
			{!called && (
				<>
					{t("Ask your agent:")} <code>{prompt}</code>
				</>
			)}
		</Step>
	);
}

/** harmless is a tool that only reads and needs no arguments, of Genkan itself rather
 * than of a server. */
function harmless(tools: S["Tool"][]): S["Tool"] | undefined {
	const fits = tools.filter(
		(tool) =>
			(tool.annotations as { readOnlyHint?: boolean } | undefined)?.readOnlyHint === true &&
			tool.parameters.every((parameter) => !parameter.required),
	);
	return fits.find((tool) => !tool.name.startsWith(`${tool.server}__`)) ?? fits[0];
}
