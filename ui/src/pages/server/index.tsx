import { useQuery } from "@tanstack/react-query";
import { KeyRound, MoreHorizontal, Pencil, Play, Power, RotateCw, SearchX, Trash2 } from "lucide-react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { api, Failure, query, refresh, type S } from "@/api/client";
import { allTools } from "@/api/tools";
import { ago, both, clock, ended, list, number, quoted, sentences, t, tn, took, whole } from "@/lang";
import { AddServer } from "@/pages/servers/add";
import { Findings } from "@/pages/servers/findings";
import { moves, runs, stateOf } from "@/pages/servers/state";
import { Tried, useTrial } from "@/pages/servers/try";
import { ToolName } from "@/pages/tools/name";
import { ToolSwitch, toolsOf } from "@/pages/tools/switch";
import { useAddress, useChoice, usePart } from "@/shell/address";
import { useSession } from "@/shell/session";
import {
	Button,
	Cap,
	Card,
	Chip,
	type Column,
	Confirm,
	CopyButton,
	complain,
	cx,
	Dot,
	Empty,
	Json,
	LinkButton,
	List,
	Loaded,
	Loading,
	Menu,
	Page,
	Problem,
	SearchBox,
	say,
	seen,
	Tabs,
} from "@/ui";
import { WhoLacks } from "../clients/connect";
import { useSignIn } from "../servers/signin";

const parts = ["tools", "log", "changes", "definition"] as const;

/** Server is one server: how it is, its tools, what it prints, what it is. */
export default function Server() {
	const name = usePart("name");
	const [, go] = useLocation();
	const [params] = useAddress();
	const { admin } = useSession();
	const remove = query.useMutation("delete", "/v1/servers/{name}");
	// Nothing is asked about a server that is removed: it is not there any more.
	const removing = remove.variables?.params.path.name === name && (remove.isPending || remove.isSuccess);
	const server = query.useQuery(
		"get",
		"/v1/servers/{name}",
		{ params: { path: { name } } },
		{ refetchInterval: ({ state }) => moves(state.data && [state.data]), enabled: !removing },
	);
	const tools = useToolsOf(name, !removing);
	const trial = useTrial();
	const restart = query.useMutation("post", "/v1/servers/{name}/restart");
	const change = query.useMutation("patch", "/v1/servers/{name}");
	const signIn = useSignIn();
	// A failed trial is forgotten when the definition changes or the server becomes ready.
	const now = server.data && JSON.stringify([server.data.definition, server.data.state === "ready"]);
	const forget = useRef(() => {});
	forget.current = () => trial.since === undefined && !trial.result?.success && trial.cancel();
	// biome-ignore lint/correctness/useExhaustiveDependencies: the change is what it waits for
	useEffect(() => forget.current(), [now]);
	const [asked, ask] = useState<"remove" | "change" | "off" | null>(params.has("change") ? "change" : null);
	const path = { params: { path: { name } } };
	const [part, choosePart] = useChoice("part", parts);
	const again = () =>
		refresh(
			"/v1/servers",
			"/v1/servers/{name}",
			"/v1/servers/{name}/log",
			"/v1/tools",
			"/v1/doctor",
			"/v1/connections",
		);

	const clients = useClientsOf(name, admin);
	const turn = (on: boolean) =>
		change.mutate(
			{ ...path, body: { disabled: !on } },
			{
				onError: complain,
				onSuccess: () => {
					again();
					ask(null);
					const about = `server/${name}`;
					if (on) say(t("{name} is on.", { name: quoted(name) }), undefined, about);
					else say(t("{name} is off.", { name: quoted(name) }), () => turn(true), about);
				},
			},
		);

	if (server.error instanceof Failure && server.error.status === 404)
		return (
			<Page title={t("Servers")}>
				<Empty
					icon={<SearchX />}
					title={t("There is no server “{name}”", { name })}
					actions={<LinkButton href="/servers">{t("To the servers")}</LinkButton>}
				>
					{t("It was removed, or it has another name.")}
				</Empty>
			</Page>
		);
	return (
		<Loaded query={server}>
			{(one) => {
				const { tone, word } = stateOf(one);
				const own = one.source !== "built-in";
				const off = one.state === "disabled";
				// A problem is told once: what a trial says is newer. The doctor also says what to do.
				const tried = trial.since !== undefined || trial.error !== undefined || trial.result !== undefined;
				const trouble = !tried && <Trouble server={one} />;
				return (
					<Page
						title={one.name}
						crumb={{ title: t("Servers"), href: "/servers" }}
						beside={
							<Chip tone={tone}>
								<Dot tone={tone} />
								{word}
							</Chip>
						}
						actions={
							admin &&
							own && (
								<>
									{one.signIn && (
										<Button
											look={one.signIn === "needed" ? "primary" : "plain"}
											busy={signIn.busy}
											onClick={() => void signIn.open(name)}
										>
											<KeyRound />
											{one.signIn === "needed" ? t("Sign in") : t("Sign in again")}
										</Button>
									)}
									<Button
										disabled={trial.since !== undefined}
										onClick={() =>
											void trial
												.start(async (signal) => (await api.POST("/v1/servers/{name}/test", { ...path, signal })).data!)
												.then(again)
										}
									>
										<Play />
										{t("Test it")}
									</Button>
									{!off && (
										<Button
											busy={restart.isPending}
											onClick={() =>
												restart.mutate(path, {
													onError: complain,
													onSuccess: () => {
														say(t("{name} is started again.", { name: quoted(name) }));
														again();
													},
												})
											}
										>
											<RotateCw />
											{t("Restart")}
										</Button>
									)}
									{one.editable && (
										<Menu
											trigger={
												<Button size="icon" aria-label={t("More")}>
													<MoreHorizontal />
												</Button>
											}
											items={[
												{ title: t("Change"), icon: <Pencil />, onSelect: () => ask("change") },
												{
													title: off ? t("Switch on") : t("Switch off"),
													icon: <Power />,
													onSelect: () => (!off && clients.length > 0 ? ask("off") : turn(off)),
												},
												"line",
												{ title: t("Remove"), icon: <Trash2 />, danger: true, onSelect: () => ask("remove") },
											]}
										/>
									)}
								</>
							)
						}
					>
						<div className="mb-4 flex max-w-[860px] flex-wrap gap-x-4 text-[15px] text-muted leading-6 *:max-w-full">
							<About server={one} />
						</div>
						<Tried trial={trial} className="mb-4" />
						{admin && !trial.result?.success ? (
							<Findings
								about={`server/${one.name}`}
								instead={trouble}
								whole={one.state === "starting" ? undefined : one.problem}
								onChange={() => ask("change")}
							/>
						) : (
							trouble
						)}
						{admin && <WhoLacks server={name} />}
						<Tabs
							label={t("About the server")}
							className="mb-4"
							current={part}
							onChange={choosePart}
							tabs={[
								{ id: "tools", title: t("Tools"), count: toolCount(one.tools, tools.data) },
								...(admin && own
									? ([
											{ id: "log", title: t("Log") },
											{ id: "changes", title: t("Changed tools"), count: one.changes?.length ?? 0 },
											{ id: "definition", title: t("Definition") },
										] as const)
									: []),
							]}
						/>
						{part === "tools" && (
							<ToolSwitches tools={tools} server={one} onSwitchOn={one.editable ? () => turn(true) : undefined} />
						)}
						{part === "log" && !removing && <Log name={one.name} />}
						{part === "changes" && <Changes server={one} />}
						{part === "definition" && (
							<Card>
								<Cap>
									<span>
										{one.source === "file"
											? t("Declared in {place}; secrets are hidden", { place: one.declaredIn ?? "genkan.yaml" })
											: t("Kept in the database; secrets are hidden")}
									</span>
									<span className="flex items-center gap-2">
										{one.editable && (
											<Button size="small" onClick={() => ask("change")}>
												<Pencil />
												{t("Change")}
											</Button>
										)}
										<CopyButton text={() => JSON.stringify(one.definition, null, 2)} />
									</span>
								</Cap>
								{one.fixed && <p className="border-line border-b px-4 py-3 text-muted">{one.fixed}</p>}
								<Json value={one.definition} />
							</Card>
						)}
						{admin && asked === "change" && <AddServer server={one} onClose={() => ask(null)} />}
						{asked === "off" && (
							<Confirm
								title={t("Switch “{name}” off?", { name: one.name })}
								action={t("Switch off")}
								busy={change.isPending}
								onClose={() => ask(null)}
								onConfirm={() => turn(false)}
							>
								<p className="rounded-lg bg-warn-soft px-4 py-3 text-warn">
									{tn(
										clients.length,
										"{clients} has an entry for this server alone, which does not work while the server is off.",
										"{clients} have an entry for this server alone, which does not work while the server is off.",
										{ clients: both(clients) },
									)}
								</p>
							</Confirm>
						)}
						{asked === "remove" && (
							<Confirm
								title={t("Remove “{name}”?", { name: one.name })}
								action={t("Remove")}
								danger
								busy={remove.isPending}
								onClose={() => ask(null)}
								onConfirm={() =>
									remove.mutate(path, {
										onError: complain,
										onSuccess: () => {
											say(t("“{name}” is removed.", { name: one.name }));
											go("/servers");
											refresh("/v1/servers", "/v1/tools", "/v1/doctor", "/v1/connections");
										},
									})
								}
							>
								<WhatGoes server={one} clients={clients} />
							</Confirm>
						)}
					</Page>
				);
			}}
		</Loaded>
	);
}

/** Trouble is why a server is not ready. A start that is within its time is no problem. */
function Trouble({ server }: { server: S["Server"] }) {
	if (!server.problem) return null;
	if (server.state === "starting")
		return (
			<p role="status" className="mb-4 rounded-lg bg-sunken px-4 py-3 text-muted">
				{ended(server.problem)}
			</p>
		);
	return <Problem className="mb-4" error={server.problem} />;
}

/** useClientsOf are the clients with an entry that names a server: it does not work without it. */
function useClientsOf(server: string, admin: boolean): string[] {
	const { data } = query.useQuery("get", "/v1/connections", undefined, { retry: false, enabled: admin });
	return (data?.connections ?? [])
		.filter((one) => one.files.some((file) => file.names.includes(server)))
		.map((one) => one.title);
}

/** WhatGoes says what removing a server takes away. */
function WhatGoes({ server, clients }: { server: S["Server"]; clients: string[] }) {
	const secrets = JSON.stringify(server.definition ?? {}).includes("${secret:");
	const file = server.source === "file" && (server.declaredIn ?? "genkan.yaml");
	return (
		<div className="flex flex-col gap-2">
			<p>
				{sentences(
					server.tools > 0 &&
						tn(server.tools, "Its tool disappears for all clients.", "Its {n} tools disappear for all clients."),
					file && t("It is taken out of {file}.", { file }),
					secrets && (file ? t("Its secrets stay in the vault.") : t("Its secrets are deleted with it.")),
				) || t("It is no longer started.")}
			</p>
			{clients.length > 0 && (
				<p className="rounded-lg bg-warn-soft px-4 py-3 text-warn">
					{tn(
						clients.length,
						"{clients} has an entry for this server alone, which stops working. Delete the entry from the file, or disconnect the client on the Clients page.",
						"{clients} have an entry for this server alone, which stops working. Delete the entry from the files, or disconnect the clients on the Clients page.",
						{ clients: both(clients) },
					)}
				</p>
			)}
		</div>
	);
}

/** About is what a server is and how it runs, in parts that stay whole at the end of a line. */
function About({ server: s }: { server: S["Server"] }) {
	if (s.source === "built-in") return <p>{t("A part of Genkan.")}</p>;
	const what = runs(s.definition);
	return (
		<>
			{what && <code className="break-all leading-6!">{what}</code>}
			{s.since && s.state === "ready" && (
				<span title={whole(s.since)}>{t("started {time}", { time: ago(s.since) })}</span>
			)}
			{s.startMs !== undefined && <span>{t("started in {time}", { time: took(s.startMs) })}</span>}
			{s.protocolVersion && <span>MCP {s.protocolVersion}</span>}
			{s.processId ? <span>{t("process {id}", { id: s.processId })}</span> : null}
			{s.nextTry && s.state === "down" && Date.parse(s.nextTry) > Date.now() && (
				<span>{t("next try at {time}", { time: clock(s.nextTry) })}</span>
			)}
		</>
	);
}

const toolColumns = (): Column<S["Tool"]>[] => [
	{
		id: "name",
		title: t("Tool"),
		width: "minmax(0,1fr)",
		cell: (tool) => (
			<div className={cx("leading-5", !tool.enabled && "opacity-60")}>
				<ToolName tool={tool} />
				<div className="line text-muted">
					<span className="md:hidden" aria-hidden="true">
						{tool.enabled ? t("On for clients") : t("Off for clients")}
						{" · "}
					</span>
					{seen(tool.description)}
				</div>
			</div>
		),
	},
	{ id: "switch", title: "", width: "auto", right: true, cell: (tool) => <ToolSwitch tool={tool} inList /> },
];

/** useToolsOf are all tools of a server, those that are off, too. */
const useToolsOf = (server: string, enabled: boolean) =>
	useQuery({ queryKey: toolsOf(server), queryFn: ({ signal }) => allTools({ server }, signal), enabled });

/** toolCount is how many tools are on, and of how many if some are off. */
function toolCount(on: number, all: S["Tool"][] = []): number | string {
	const off = all.filter((tool) => !tool.enabled).length;
	return off > 0 ? t("{n} of {total}", { n: number(all.length - off), total: number(all.length) }) : on;
}

/** ToolSwitches lists the tools of a server, with a switch for each. */
function ToolSwitches({
	tools,
	server,
	onSwitchOn,
}: {
	tools: ReturnType<typeof useToolsOf>;
	server: S["Server"];
	onSwitchOn?: () => void;
}) {
	const { admin } = useSession();
	const [text, setText] = useState("");
	const [selected, select] = useState<string>();
	return (
		<Loaded query={tools}>
			{(all) => {
				const shown = all.filter((tool) =>
					`${tool.name} ${tool.description}`.toLowerCase().includes(text.toLowerCase()),
				);
				if (all.length === 0 && server.state === "disabled")
					return (
						<Empty
							title={t("The server is off.")}
							actions={admin && onSwitchOn && <Button onClick={onSwitchOn}>{t("Switch on")}</Button>}
						>
							{t("It is not started, and clients have none of its tools.")}
						</Empty>
					);
				const off = all.filter((tool) => !tool.enabled).length;
				if (all.length === 0)
					return (
						<Empty title={t("No tools")}>
							{server.state === "ready"
								? t("This server has none, or the configuration hides them.")
								: t("They are listed when the server is up.")}
						</Empty>
					);
				return (
					<>
						{all.length > 8 && (
							<SearchBox className="mb-2 w-full sm:w-80" label={t("Filter tools")} value={text} onChange={setText} />
						)}
						<List
							label={t("Tools")}
							rows={shown}
							columns={toolColumns()}
							rowKey={(tool) => tool.name}
							href={(tool) => `/tools/${encodeURIComponent(tool.name)}`}
							selected={selected}
							onSelect={select}
							row={56}
							height="max(336px, calc(100dvh - 330px))"
							empty={<p className="px-4 py-8 text-center text-muted">{t("No tool matches.")}</p>}
						/>
						{off > 0 && (
							<p className="mt-3 text-muted text-sm">
								{t("{on} on, {off} off. Only those that are on are counted.", {
									on: number(all.length - off),
									off: number(off),
								})}
							</p>
						)}
						{server.hidden && server.hidden.length > 0 && (
							<p className="mt-3 text-muted text-sm">
								{t("Hidden by the configuration: {names}", { names: list(server.hidden) })}
							</p>
						)}
						{server.findings?.map((finding) => (
							<p
								key={finding.kind + finding.name}
								className={cx("mt-2 text-sm", finding.suspect ? "text-warn" : "text-muted")}
							>
								<b className="font-medium">{finding.name}</b>
								{t(": ")}
								{sentences(...finding.notes)}
							</p>
						))}
					</>
				);
			}}
		</Loaded>
	);
}

/** Log shows what a server writes to its standard error, and goes on while it writes. */
function Log({ name }: { name: string }) {
	const log = query.useQuery(
		"get",
		"/v1/servers/{name}/log",
		{ params: { path: { name }, query: { lines: 500 } } },
		{ refetchInterval: 2000, staleTime: 0 },
	);
	const pre = useRef<HTMLPreElement>(null);
	const follows = useRef(true); // until somebody scrolls up
	const lines = log.data?.lines;
	// biome-ignore lint/correctness/useExhaustiveDependencies: with new lines
	useLayoutEffect(() => {
		if (pre.current && follows.current) pre.current.scrollTop = pre.current.scrollHeight;
	}, [lines]);
	if (!lines) return log.error ? <Problem error={log.error} retry={() => void log.refetch()} /> : <Loading />;
	if (lines.length === 0)
		return <Empty title={t("Nothing yet")}>{t("What the server writes to its standard error appears here.")}</Empty>;
	return (
		<Card>
			<Cap>
				<span>{tn(lines.length, "{n} line", "{n} lines")}</span>
				<span>{t("live")}</span>
			</Cap>
			<pre
				// biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls is reached by keyboard
				tabIndex={0}
				ref={pre}
				onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
					follows.current = scrollTop + clientHeight >= scrollHeight - 20;
				}}
				className="max-h-[60dvh] overflow-auto whitespace-pre-wrap break-words px-4 py-3"
			>
				{seen(lines.join("\n"))}
			</pre>
		</Card>
	);
}

/** Changes shows how definitions of tools changed, as a diff. */
function Changes({ server }: { server: S["Server"] }) {
	const changes = [...(server.changes ?? [])].reverse();
	if (changes.length === 0)
		return (
			<Empty title={t("No tool has changed")}>
				{t("If the server changes what a tool says it does, the difference is shown here for seven days.")}
			</Empty>
		);
	return (
		<div className="flex flex-col gap-3">
			{changes.map((change) => (
				<Card key={change.tool}>
					<Cap>
						<span>
							<b className="font-medium text-text">{change.tool}</b> · {list(change.parts)}
						</span>
						<span title={whole(change.at)}>
							{ago(change.at)}
							{change.times > 1 && ` · ${t("{n} times", { n: number(change.times) })}`}
						</span>
					</Cap>
					{change.diffs?.map(({ part, before, after }) => (
						<div
							key={part}
							className="flex flex-col gap-1 border-line border-b px-4 py-3 font-mono text-[12.5px] *:break-words last:border-0"
						>
							<span className="text-faint">{part}</span>
							{before && <del className="bg-bad-soft no-underline">- {seen(before)}</del>}
							{after && <ins className="bg-ok-soft no-underline">+ {seen(after)}</ins>}
						</div>
					))}
				</Card>
			))}
		</div>
	);
}
