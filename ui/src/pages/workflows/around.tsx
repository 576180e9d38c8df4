import { useState } from "react";
import { Link } from "wouter";
import { query, type S } from "@/api/client";
import { list, number, sentences, t, tn } from "@/lang";
import { Chip, Confirm, Dot, Input, messageOf, type Tone } from "@/ui";

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
	const said = [
		servers && t("servers {names}", { names: list(servers) }),
		tools && t("tools {names}", { names: list(tools) }),
		clients && t("clients {names}", { names: list(clients.map((name) => name.replace(/^local:/, ""))) }),
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

/** doesMuch tells whether a workflow that acts has changed or refused calls: stopping it is
 * asked about. */
export const doesMuch = ({ runs, mode }: S["Workflow"]): boolean =>
	mode !== "shadow" && runs !== undefined && runs.changed + runs.denied + runs.failed > 0;

/** StopQuestion asks whether to stop a workflow, and says what ends. */
export function StopQuestion({
	workflow,
	onStop,
	onClose,
}: {
	workflow: S["Workflow"];
	onStop: () => void;
	onClose: () => void;
}) {
	return (
		<Confirm
			title={t("Stop {name}?", { name: workflow.name })}
			action={t("Stop it")}
			danger
			onConfirm={onStop}
			onClose={onClose}
		>
			{t("Until now: {runs}. Once it is stopped, calls go through without it: nothing is changed or refused by it.", {
				runs: runsText(workflow),
			})}
		</Confirm>
	);
}

/** useClients are the clients that are known: those with tokens, and those of the last calls.
 * A client that starts Genkan itself is local:NAME. */
export function useClients(enabled = true): string[] {
	const tokens = query.useQuery("get", "/v1/tokens", {}, { enabled });
	const calls = query.useQuery("get", "/v1/calls", { params: { query: { limit: 100 } } }, { enabled });
	return [
		...new Set([
			"admin",
			"local",
			...(tokens.data?.tokens.map((token) => token.name) ?? []),
			...(calls.data?.calls.map((call) => call.client) ?? []),
		]),
	];
}

/** ClientNames offers the names of clients. */
export function ClientNames({ id, enabled }: { id: string; enabled?: boolean }) {
	return (
		<datalist id={id}>
			{useClients(enabled).map((name) => (
				<option key={name} value={name} />
			))}
		</datalist>
	);
}

/** Around lists the workflows that run around the calls of a tool, in the order in which
 * they see a call. */
export function Around({ tool }: { tool: string }) {
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
					return (
						<Link
							key={workflow.id}
							href={`/workflows/${encodeURIComponent(workflow.id)}`}
							className="inline-flex h-7 items-center gap-2 rounded-full border border-line bg-surface px-3 hover:border-accent"
							title={workflow.conditional ? t("Whether it runs depends on the call.") : undefined}
						>
							<Dot tone={tone} />
							<span className="font-medium">{workflow.name}</span>
							<span className="text-muted text-xs">
								{word}
								{workflow.conditional && ` · ${t("on a condition")}`}
							</span>
						</Link>
					);
				})
			)}
			{found.data?.off && <Chip tone="warn">{t("All workflows are off")}</Chip>}
			{found.data?.workflows.length === 0 && (
				<>
					<span className="text-faint">{asked ? t("none for this client") : t("none")}</span>
					<Link
						href={`/workflows/new?tool=${encodeURIComponent(tool)}&name=${encodeURIComponent(tool)}`}
						className="text-accent hover:underline"
					>
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
