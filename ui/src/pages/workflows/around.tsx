import { useState } from "react";
import { Link } from "wouter";
import { query, type S } from "@/api/client";
import { t, tn } from "@/lang";
import { Chip, Dot, Input, messageOf, type Tone } from "@/ui";

/** stateOf says whether a workflow runs. None does while all are off. */
export function stateOf(workflow: S["Workflow"], allOff: boolean): { tone: Tone; word: string } {
	if (workflow.problemCount > 0 && !workflow.enabled)
		return { tone: "bad", word: tn(workflow.problemCount, "{n} problem", "{n} problems") };
	if (!workflow.enabled) return { tone: "idle", word: t("Draft") };
	if (allOff) return { tone: "warn", word: t("All are off") };
	if (workflow.mode === "shadow") return { tone: "accent", word: t("Watches") };
	return { tone: "ok", word: t("Runs") };
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
			<Input
				aria-label={t("Only for the client")}
				placeholder={t("for any client")}
				list="around-clients"
				value={client}
				onChange={(event) => setClient(event.target.value)}
				className="h-7! w-48!"
			/>
			<ClientNames id="around-clients" />
		</section>
	);
}
