import { Check } from "lucide-react";
import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { api, often, query, refresh, type S } from "@/api/client";
import { hintsOf } from "@/api/tools";
import { between, both, list, sentences, t, tn } from "@/lang";
import { useSession } from "@/shell/session";
import {
	Button,
	Card,
	Command,
	CopyButton,
	complain,
	cx,
	Dialog,
	LinkButton,
	Problem,
	Prose,
	Spinner,
	say,
} from "@/ui";
import { about, askEmpty, isEmpty, oneForAll, undo, unreadable } from "../clients/change";
import { Down, Lines } from "../clients/lines";
import { moves } from "../servers/state";
import type { Call } from "./rows";
import { ownServers } from "./words";

const ImportServers = lazy(() => import("../servers/import").then(({ ImportServers }) => ({ default: ImportServers })));

const stored = "genkan.start";

/** useStart tells how far a newcomer is. The list of steps is wanted until all of them are
 * done, or the person does not want to see it again. Whoever opens it again sees it, too. */
export function useStart(calls: Call[], ready: boolean, reopened: boolean) {
	const { admin } = useSession();
	const first = useFirst(calls);
	const [closed, setClosed] = useState(() => localStorage.getItem(stored) !== null);
	const asked = { enabled: admin && (!closed || reopened) };
	const servers = query.useQuery("get", "/v1/servers", undefined, asked);
	const connections = query.useQuery("get", "/v1/connections", undefined, { ...asked, ...often });
	const connected = isConnected(connections.data?.connections ?? [], calls);
	const steps = [haveBegun(ownServers(servers.data?.servers)), connected, first !== undefined];
	const done = steps.filter(Boolean).length;
	const known = ready && servers.data !== undefined && connections.data !== undefined;
	const close = () => {
		localStorage.setItem(stored, "done");
		setClosed(true);
	};
	// biome-ignore lint/correctness/useExhaustiveDependencies: once, when the last step is done
	useEffect(() => {
		if (known && done === steps.length && !closed) close();
	}, [known, done]);
	return { wanted: admin && !closed && done < steps.length, first, known, done, of: steps.length, connected, close };
}

/** haveBegun tells whether there are servers, of which one at least has started, or failed to. */
const haveBegun = (servers: S["Server"][]): boolean => servers.some((server) => server.state !== "starting");

/** isConnected tells whether a client is. The calls of one that has a file here do not count:
 * its connection may have been undone since. */
const isConnected = (clients: S["ClientConnection"][], calls: Call[]): boolean =>
	clients.some((client) => client.files.some((file) => file.connected > 0)) ||
	calls.some(
		(call) =>
			call.program &&
			!clients.some(({ name, files }) => call.client === `local:${name}` && files.some((file) => file.exists)),
	);

/** useFirst is the first call of a client. Calls from these pages do not count. */
function useFirst(calls: Call[]): Call | undefined {
	const { client } = useSession();
	return calls
		.filter((call) => call.program || call.client !== client)
		.reduce<Call | undefined>((first, call) => (first && first.started <= call.started ? first : call), undefined);
}

/** Further is a line that leads back to the list of steps. */
export function Further({ start }: { start: ReturnType<typeof useStart> }) {
	return (
		<div className="mb-3 flex flex-wrap items-center gap-2 rounded-lg bg-accent-soft px-3.5 py-1.5 text-accent">
			<span className="flex-1 font-medium">
				{t("Getting started: {n} of {all} steps are done.", { n: start.done, all: start.of })}
			</span>
			<Button size="small" look="quiet" onClick={start.close}>
				{t("Do not show again")}
			</Button>
			<LinkButton size="small" href="/calls?start=1">
				{t("Go on")}
			</LinkButton>
		</div>
	);
}

/** Start is the list of what leads to the first call. It ticks itself off. */
export function Start({
	start: { first, done, of, connected },
	above,
	onSent,
	onClose,
}: {
	start: ReturnType<typeof useStart>;
	/** The calls are below it. */
	above?: boolean;
	/** A test call was sent. */
	onSent: () => void;
	onClose?: () => void;
}) {
	const command = useConnections().data?.command ?? ["genkan"];
	const all = done === of;
	return (
		<div className="mx-auto mt-6 mb-8 max-w-[680px] sm:mt-12">
			<div className="flex items-start justify-between gap-3">
				<h2 className="text-xl">{t("Welcome in.")}</h2>
				{onClose && (
					<Button size="small" look={all ? "primary" : "quiet"} onClick={onClose}>
						{all ? t("Close") : t("Do not show again")}
					</Button>
				)}
			</div>
			<p className="mt-1 mb-5 text-muted">
				{!all
					? t("Three steps, about a minute. This list ticks itself off.")
					: above
						? t("All three steps are done. Calls appear below as they happen.")
						: t("All three steps are done.")}
			</p>
			<Card>
				<ol>
					<Servers />
					<Connect called={first !== undefined} connected={connected} />
					<FirstCall first={first} onSent={onSent} />
				</ol>
			</Card>
			<p className="mt-4 text-muted">
				{t("Changed your mind? This command puts every file back:")}
				{between()}
				<Command words={[...command, "undo"]} />
			</p>
		</div>
	);
}

/** useConnections looks again now and then: files change elsewhere, too. */
const useConnections = () => query.useQuery("get", "/v1/connections", undefined, often);

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

const listed = (names: string[]) => both(new Set(names));

function Servers() {
	const [importing, setImporting] = useState(false);
	const servers = query.useQuery("get", "/v1/servers", undefined, {
		refetchInterval: ({ state }) => moves(state.data?.servers),
	});
	const plan = query.useQuery("get", "/v1/import", undefined, {
		refetchInterval: ({ state }) => state.data?.files.some((file) => file.problem) && often.refetchInterval,
	});
	const broken = plan.data?.files.filter((file) => file.problem) ?? [];
	const own = ownServers(servers.data?.servers);
	const up = own.filter((server) => server.state === "ready").length;
	const starting = own.filter((server) => server.state === "starting");
	const fresh = plan.data?.servers.filter((server) => !server.known) ?? [];
	const from = listed(fresh.flatMap((server) => server.origins.map((origin) => origin.title)));
	const add = (
		<LinkButton href="/servers?add=1" look={fresh.length > 0 || own.length > 0 ? "plain" : "primary"}>
			{t("Add a server")}
		</LinkButton>
	);
	return (
		<>
			<Step
				n={1}
				state={haveBegun(own) ? "done" : "now"}
				title={
					own.length > 0
						? tn(own.length, "{n} server is here", "{n} servers are here")
						: fresh.length > 0
							? tn(fresh.length, "Import {n} server from {from}", "Import {n} servers from {from}", { from })
							: t("Add the first server")
				}
				actions={
					fresh.length > 0 ? (
						<Button look={own.length > 0 ? "plain" : "primary"} onClick={() => setImporting(true)}>
							{t("Import")}
						</Button>
					) : (
						(own.length === 0 || up < own.length) &&
						(own.length > 0 ? <LinkButton href="/servers">{t("Show")}</LinkButton> : add)
					)
				}
			>
				{own.length > 0 && (
					<span className="flex items-start gap-2">
						{starting.length > 0 && <Spinner className="mt-1 shrink-0" />}
						<span>
							{up === own.length
								? t("All of them are up.")
								: sentences(
										up > 0 && tn(up, "{n} of them is up.", "{n} of them are up."),
										starting.length > 0 &&
											tn(
												starting.length,
												"{names} is starting. The first start may download it.",
												"{names} are starting. The first start may download them.",
												{ names: listed(starting.map((server) => server.name)) },
											),
										up + starting.length === 0 && t("None of them is up."),
									)}
						</span>
					</span>
				)}
				{fresh.length > 0 ? (
					<>
						{sentences(
							own.length > 0 && t("More could be imported from {from}:", { from }),
							list(fresh.slice(0, 6).map((server) => server.name)),
						)}
						{fresh.length > 6 && " …"}
					</>
				) : (
					own.length === 0 &&
					plan.data &&
					(broken.length > 0
						? t("Nothing to import was found in what can be read. You can also add a server yourself.")
						: t("No editor on this machine has servers to import. Paste a command, a URL or any client's JSON."))
				)}
				{broken.map((file) => (
					<span key={file.path} className="mt-1 block text-bad">
						{unreadable(file.title, file.problem!)}
					</span>
				))}
			</Step>
			{importing && (
				<Suspense>
					<ImportServers onClose={() => setImporting(false)} />
				</Suspense>
			)}
		</>
	);
}

function Connect({ called, connected: any }: { called: boolean; connected: boolean }) {
	const connections = useConnections();
	const servers = query.useQuery("get", "/v1/servers");
	const all = (connections.data?.connections ?? []).map((client) => ({
		...client,
		file: client.files.find((file) => file.problem) ?? client.files.find((file) => file.exists),
		connected: client.files.some((file) => file.connected > 0),
	}));
	const here = all.filter((client) => client.file);
	const connected = here.filter((client) => client.connected);
	const open = here.filter((client) => !client.connected && !client.file!.problem);
	const first = open.find((client) => client.file!.servers > 0) ?? open[0];
	return (
		<Step
			n={2}
			state={any ? "done" : "now"}
			title={
				connected.length > 0
					? tn(connected.length, "{names} is connected", "{names} are connected", {
							names: listed(connected.map((client) => client.title)),
						})
					: any
						? t("A client is connected")
						: here.length > 1
							? t("Connect your clients")
							: first
								? t("Connect {name}", { name: first.title })
								: t("Connect a client")
			}
			actions={<LinkButton href="/clients">{here.length > 0 ? t("Other clients") : t("How to connect")}</LinkButton>}
			below={
				<div className="flex flex-col gap-2">
					{connections.error && <Problem error={connections.error} retry={() => void connections.refetch()} />}
					{here.map((client) => (
						<Client
							key={client.name}
							client={client}
							file={client.file!}
							primary={client === first}
							called={called}
							ready={ownServers(servers.data?.servers).length > 0}
						/>
					))}
				</div>
			}
		>
			{here.length > 0
				? t("Each is one changed file. Every tool keeps its name; one more, read_result, reads large answers in parts.")
				: connections.data &&
					t("No client that Genkan knows has a file on this machine. Any client can use the address of Genkan.")}
		</Step>
	);
}

function Client({
	client,
	file,
	primary,
	called,
	ready,
}: {
	client: S["ClientConnection"] & { connected: boolean };
	file: S["ClientFile"];
	primary: boolean;
	/** Clients call already. */
	called: boolean;
	/** There are servers to connect it to. */
	ready: boolean;
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
			body: { dryRun, aggregate: await askEmpty(client) },
		});
		return data!;
	};
	const back = () => run(() => undo(client));
	const connect = () =>
		run(async () => {
			const { files } = await ask(false);
			setChange(undefined);
			refresh("/v1/connections", "/v1/import");
			const failed = files.find((file) => file.problem);
			if (failed) return complain(failed.problem!.error);
			if (!files.some(changes)) return say(unchanged(files));
			say(
				t("{name} is connected. Restart it to see the change.", { name: client.title }),
				() => void back(),
				about(client),
			);
		});
	return (
		<div className="flex flex-wrap items-center gap-2 rounded-md bg-sunken px-3 py-2">
			<div className="min-w-40 flex-1 max-sm:basis-full">
				<div className="font-medium">{client.title}</div>
				<code className="wrap-anywhere block text-muted text-xs">{file.path}</code>
				{file.problem && (
					<div className="text-bad text-sm">{t("The file cannot be read. Correct it by hand first.")}</div>
				)}
				{!client.connected && !file.problem && isEmpty(client) && (
					<div className="text-muted text-xs">{oneForAll()}</div>
				)}
				{client.connected && !called && (
					<div className="text-muted text-xs">
						{t("Restart {name} if it was open, so that it reads its file again.", { name: client.title })}
					</div>
				)}
			</div>
			{client.connected ? (
				<Button size="small" busy={busy} onClick={() => void back()}>
					{t("Undo")}
				</Button>
			) : file.problem ? null : (
				<div className="flex gap-2 max-sm:-ml-2">
					<Button size="small" look="quiet" onClick={() => void run(async () => setChange(await ask(true)))}>
						{t("Show the change")}
					</Button>
					<Button
						size="small"
						look={primary && ready ? "primary" : "plain"}
						busy={busy}
						disabled={!ready}
						title={
							ready
								? undefined
								: isEmpty(client)
									? t("There is no server yet to connect it to.")
									: t("Nothing would change: import its servers first.")
						}
						onClick={() => void connect()}
					>
						{t("Connect")}
					</Button>
				</div>
			)}
			{change && (
				<Dialog
					title={t("What changes for {name}", { name: client.title })}
					onClose={() => setChange(undefined)}
					size="wide"
					actions={
						<>
							<Button onClick={() => setChange(undefined)}>{t("Cancel")}</Button>
							<Button look="primary" busy={busy} disabled={!change.files.some(changes)} onClick={() => void connect()}>
								{t("Connect")}
							</Button>
						</>
					}
				>
					{isEmpty(client) && <p className="mb-4 text-muted">{oneForAll()}</p>}
					<Change change={change} />
				</Dialog>
			)}
		</div>
	);
}

const changes = (file: S["ConnectedFile"]) => ["planned", "changed", "created"].includes(file.state);

/** unchanged says that connecting a client does nothing, and why. */
const unchanged = (files: S["ConnectedFile"][]) =>
	files.some((file) => file.notImported?.length)
		? t("Nothing would change: import its servers first.")
		: t("Nothing changes.");

/** Change is what connecting does to the files of a client, as a diff. */
function Change({ change }: { change: S["ConnectResult"] }) {
	if (!change.files.some((file) => changes(file) || file.problem)) return <p>{unchanged(change.files)}</p>;
	return (
		<div className="flex flex-col gap-4">
			{change.files.map((file) => (
				<div key={file.path}>
					<code className="wrap-anywhere text-muted">{file.path}</code>
					{file.problem && <Problem className="mt-2" error={file.problem.error} />}
					{file.state === "unchanged" && <p className="text-muted">{t("Nothing changes.")}</p>}
					{file.diff && (
						<div className="mt-1 rounded-md border border-line">
							<Lines diff={file.diff} />
						</div>
					)}
					{file.notImported && file.notImported.length > 0 && (
						<p className="mt-1 text-muted">
							{file.notImported.join(", ")}: {t("stays as it is")}
						</p>
					)}
				</div>
			))}
			<Down files={change.files} />
			<p className="text-muted">
				{t("The file as it is now is kept, and can be put back. What is changed in it later stays.")}
			</p>
		</div>
	);
}

function FirstCall({ first, onSent }: { first?: Call; onSent: () => void }) {
	const [busy, setBusy] = useState(false);
	const tools = query.useQuery("get", "/v1/tools", { params: { query: { limit: 100, enabled: true } } });
	const servers = query.useQuery("get", "/v1/servers");
	const parts = servers.data?.servers.filter((server) => server.source === "built-in").map((server) => server.name);
	const tool = harmless(tools.data?.tools ?? [], parts);
	const prompt = t("Which MCP tools do you have? Call one that only reads.");
	const send = async () => {
		setBusy(true);
		try {
			await api.POST("/v1/tools/call", { body: { name: tool!.name, parameters: {} } });
			onSent();
			say(t("The test call worked. Now let a client call."));
		} catch (error) {
			complain(error);
		}
		setBusy(false);
	};
	return (
		<Step
			n={3}
			state={first ? "done" : "now"}
			title={
				first ? (
					t("The first call has come")
				) : (
					<span className="flex items-center gap-2">
						{t("Waiting for the first call of a client")}
						<Spinner />
					</span>
				)
			}
			actions={
				first ? (
					<LinkButton href={`/calls/${encodeURIComponent(first.id)}`}>{t("See it")}</LinkButton>
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
			below={
				!first && (
					<>
						<q className="block rounded-md bg-sunken px-3 py-2">{prompt}</q>
						<p className="mt-2 text-muted text-xs">
							<Prose
								text={t("Test calls and `genkan call` are your own calls. They are listed, but not waited for.")}
							/>
						</p>
					</>
				)
			}
		>
			{!first && t("Ask your agent:")}
		</Step>
	);
}

/** harmless is a tool that only reads and needs no arguments, of Genkan itself rather
 * than of a server. */
function harmless(tools: S["Tool"][], parts: string[] = []): S["Tool"] | undefined {
	const fits = tools.filter(
		(tool) => hintsOf(tool).readOnly && tool.parameters.every((parameter) => !parameter.required),
	);
	return fits.find((tool) => parts.includes(tool.server)) ?? fits[0];
}
