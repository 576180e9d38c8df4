import { useQuery } from "@tanstack/react-query";
import { Ban } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { queries, query, type S } from "@/api/client";
import { list, number, sentences, t, tn } from "@/lang";
import { Chip, Dot, Empty, Input, messageOf, Page, type Tone } from "@/ui";

/** stateOf says whether a workflow runs: the same words on all pages. None runs while all
 * are off. */
export function stateOf(workflow: S["Workflow"], allOff = false): { tone: Tone; word: string } {
	if (workflow.problemCount > 0 && !workflow.enabled)
		return { tone: "bad", word: tn(workflow.problemCount, "{n} problem", "{n} problems") };
	if (workflow.enabled && allOff) return { tone: "warn", word: t("Paused") };
	switch (workflow.state) {
		case "draft":
			return { tone: "idle", word: t("Draft") };
		case "stopped":
			return { tone: "idle", word: t("Stopped") };
		case "shadow":
			return { tone: workflow.noServers ? "warn" : "accent", word: t("Shadow") };
		default:
			return { tone: workflow.noServers ? "warn" : "ok", word: t("Active") };
	}
}

/** enabledText says what it means that a workflow was enabled. */
export function enabledText({ name, mode, runningVersion }: S["Workflow"], allOff = false): string {
	const what = { name, version: runningVersion! };
	const said =
		mode === "shadow"
			? t("“{name}” v{version} watches the calls and changes nothing, until you enable it.", what)
			: t("“{name}” v{version} is active.", what);
	if (!allOff) return said;
	return t("“{name}” v{version} is enabled, but does not run: all workflows are off.", what);
}

/** noServer says that a workflow is for servers that do not exist. */
export const noServer = (names: string[]): string =>
	t("No server is called {names}.", {
		names: list(names.map((name) => t("“{name}”", { name: name.split("__")[0]! }))),
	});

/** noServerText is noServer with what to do. */
export const noServerText = (names: string[]): string =>
	sentences(noServer(names), t("Check “Servers” and “Tools” of the workflow."));

/** matchText says which calls a workflow is for. */
export function matchText({ match: { servers, tools, clients } }: S["Workflow"]): string {
	const named = (names: string[]) => list(names.map((name) => t("“{name}”", { name: name.replace(/^local:/, "") })));
	const said = [
		servers && t("servers {names}", { names: named(servers) }),
		tools && t("tools {names}", { names: named(tools) }),
		clients && t("clients {names}", { names: named(clients) }),
	].filter(Boolean);
	return said.length > 0 ? said.join(" · ") : t("all servers");
}

/** runsText says what a workflow did. */
export function runsText({ runs, mode }: S["Workflow"]): string {
	if (!runs) return "";
	const refused = runs.denied + runs.failed;
	return list([
		tn(runs.runs, "{n} run", "{n} runs"),
		...(runs.changed > 0 ? [t("{n} changed", { n: number(runs.changed) })] : []),
		...(refused > 0
			? [mode === "shadow" ? t("{n} to refuse", { n: number(refused) }) : t("{n} refused", { n: number(refused) })]
			: []),
	]);
}

/** partsOf are the other workflows that the template of one has made with it. */
export const partsOf = (all: S["Workflow"][], one: S["Workflow"] | null | undefined): S["Workflow"][] =>
	all.filter((other) => one?.set && other.set === one.set && other.id !== one.id);

// What names clients.
const sources = {
	tokens: query.queryOptions("get", "/v1/tokens"),
	calls: query.queryOptions("get", "/v1/calls", { params: { query: { limit: 100 } } }),
	connections: query.queryOptions("get", "/v1/connections"),
};

/** clientsIn are the clients that are known: those with tokens, those of the last calls, and
 * the programs on this machine that are connected. A client that starts Genkan itself is
 * local:NAME. */
function clientsIn(tokens?: S["TokenList"], calls?: S["CallList"], connections?: S["Connections"]): string[] {
	const here = connections?.connections.filter(({ files }) => files.some((file) => file.connected > 0)) ?? [];
	const names = new Set([
		"admin",
		"local",
		...(tokens?.tokens.map((token) => token.name) ?? []),
		...(calls?.calls.map((call) => call.client) ?? []),
		...here.map(({ name }) => `local:${name}`),
	]);
	return [...names];
}

/** askClients asks which clients are known now: one may have made its first call just before. */
export const askClients = async (): Promise<string[]> =>
	clientsIn(
		...(await Promise.all([
			queries.fetchQuery({ ...sources.tokens, staleTime: 0 }),
			queries.fetchQuery({ ...sources.calls, staleTime: 0 }),
			queries.fetchQuery({ ...sources.connections, staleTime: 0 }),
		])),
	);

/** useClients are the clients that are known. loading is set while more may come. */
export function useClients(enabled = true): { names: string[]; loading: boolean } {
	const tokens = useQuery({ ...sources.tokens, enabled });
	const calls = useQuery({ ...sources.calls, enabled });
	const connections = useQuery({ ...sources.connections, enabled });
	return {
		names: clientsIn(tokens.data, calls.data, connections.data),
		loading: tokens.isLoading || calls.isLoading || connections.isLoading,
	};
}

/** meantClients are the clients that patterns mean. Pages show local:cursor as cursor, so that
 * is what people write. */
export const meantClients = (patterns: string[], known: string[]): string[] =>
	patterns.map((pattern) => {
		const [, not = "", name = ""] = /^(!?)(.*)$/.exec(pattern)!;
		return !known.includes(name) && known.includes(`local:${name}`) ? `${not}local:${name}` : pattern;
	});

/** ClientNames offers the names of clients. */
export function ClientNames({ id, enabled }: { id: string; enabled?: boolean }) {
	return (
		<datalist id={id}>
			{useClients(enabled).names.map((name) => (
				<option key={name} value={name} />
			))}
		</datalist>
	);
}

/** ForAdministrators takes the place of the pages of workflows for others. */
export const ForAdministrators = () => (
	<Page title={t("Workflows")}>
		<Empty icon={<Ban />} title={t("Only an administrator sees the workflows.")} />
	</Page>
);

/** newFor is the address of a new workflow around the calls of a tool. Workflows match tools
 * as server__tool, whatever the prefix of the server is. */
export const newFor = (tool: { server: string; ownName?: string }, more: Record<string, string>): string =>
	`/workflows/new?${new URLSearchParams({ tool: `${tool.server}__${tool.ownName}`, ...more })}`;

/** Around lists the workflows that run around the calls of a tool, in the order in which
 * they see a call. */
export function Around({ tool: one }: { tool: S["Tool"] }) {
	const tool = one.name;
	const [client, setClient] = useState("");
	const asked = client.trim();
	const found = query.useQuery(
		"get",
		"/v1/workflows",
		{ params: { query: { tool, ...(asked && { client: asked }) } } },
		{ placeholderData: (before: S["WorkflowList"] | undefined) => before },
	);
	return (
		<section aria-label={t("Workflows around its calls")} className="mb-4 flex flex-wrap items-center gap-x-3 gap-y-2">
			<span className="text-muted">{t("Workflows around its calls")}</span>
			{found.error ? (
				<span className="text-bad">{messageOf(found.error)}</span>
			) : (
				found.data?.workflows.map((workflow) => {
					const { tone, word } = stateOf(workflow, found.data?.off ?? false);
					const name = workflow.limitOf ? t("limit of the token “{name}”", { name: workflow.limitOf }) : workflow.name;
					return (
						<Link
							key={workflow.id}
							href={workflow.limitOf ? "/clients" : `/workflows/${encodeURIComponent(workflow.id)}`}
							className="inline-flex h-7 max-w-full items-center gap-2 rounded-full border border-line bg-surface px-3 hover:border-accent"
							title={[name, workflow.conditional && t("Whether it runs depends on the call.")]
								.filter(Boolean)
								.join("\n")}
						>
							<Dot tone={tone} />
							<span className="line font-medium">{name}</span>
							<span className="shrink-0 text-muted text-xs">
								{word}
								{workflow.conditional && ` · ${t("on a condition")}`}
							</span>
						</Link>
					);
				})
			)}
			{found.data?.off && <Chip tone="warn">{t("All workflows are off")}</Chip>}
			{found.data?.workflows.length === 0 && !found.data.off && (
				<>
					<span className="text-faint">{asked ? t("none for this client") : t("none")}</span>
					<Link href={newFor(one, { name: tool })} className="text-accent hover:underline">
						{t("Draw one")}
					</Link>
				</>
			)}
			{(asked || (found.data?.workflows.length ?? 0) > 0) && (
				<label htmlFor="around-client" className="flex items-center gap-2 text-muted text-xs">
					{t("Only for the client")}
					<Input
						id="around-client"
						placeholder={t("for any client")}
						list="around-clients"
						value={client}
						onChange={(event) => setClient(event.target.value)}
						className="h-7! w-48!"
					/>
				</label>
			)}
			<ClientNames id="around-clients" />
		</section>
	);
}
