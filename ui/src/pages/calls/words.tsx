import { Workflow } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import type { S } from "@/api/client";
import { useEvents } from "@/api/events";
import { clock, number, span, t, took } from "@/lang";
import { term } from "@/lang/terms";
import { useApprovals, useWorkflows } from "@/shell/session";
import { cx, Dot, Spinner, type Tone } from "@/ui";

/** clientName is what people call a client. */
export function clientName({ client, program }: { client: string; program?: string }): string {
	if (client.startsWith("local:")) return client.slice(6);
	if (client === "local" && program) return program.replace(/ [\d.]+\S*$/, "");
	return client;
}

/** ownServers are the servers that people have added and not turned off. Parts of Genkan
 * itself do not count. */
export const ownServers = (servers: S["Server"][] = []): S["Server"][] =>
	servers.filter((server) => server.source !== "built-in" && server.state !== "disabled");

/** partName is what people call a part of Genkan itself that is listed with the servers. */
export const partName = (name: string): string => (name === "kb" ? t("knowledge base") : name);

export const ages: [string, string][] = [
	["15m", /* t */ "Last 15 minutes"],
	["1h", /* t */ "Last hour"],
	["24h", /* t */ "Last 24 hours"],
	["7d", /* t */ "Last 7 days"],
	["30d", /* t */ "Last 30 days"],
];

const isDate = (time: string): boolean => /^\d{4}-/.test(time) && !Number.isNaN(Date.parse(time));

/** periodWord says of which time something is. */
export function periodWord({ since, until }: { since: string; until: string }): string {
	if (isDate(since) && isDate(until)) return span(since, until);
	const time = (at: string) => (isDate(at) ? clock(at) : at);
	const known = ages.find(([age]) => age === since)?.[1];
	const from = known ? t(known) : since && t("Since {time}", { time: time(since) });
	return [from, until && t("Until {time}", { time: time(until) })].filter(Boolean).join(" · ") || t("Any time");
}

/** toolName is a tool's name without its server's. */
export function toolName({ server, tool, method }: { server?: string; tool?: string; method?: string }): string {
	const name = tool || term(method);
	return server && name.startsWith(`${server}__`) ? name.slice(server.length + 2) : name;
}

/** useWorkflowName finds what people call a workflow. */
export function useWorkflowName(): (id: string) => string {
	const { data } = useWorkflows();
	return (id) => data?.workflows.find((workflow) => workflow.id === id)?.name || id;
}

const words: Record<string, string> = {
	ok: /* t */ "worked",
	error: /* t */ "failed",
	tool_error: /* t */ "tool error",
	server_error: /* t */ "server error",
	invalid: /* t */ "wrong arguments",
	not_found: /* t */ "no such tool",
	denied: /* t */ "denied",
	unauthenticated: /* t */ "needs sign-in",
	conflict: /* t */ "in conflict",
	limited: /* t */ "too many calls",
	unavailable: /* t */ "server not there",
	timeout: /* t */ "took too long",
	canceled: /* t */ "canceled",
	internal: /* t */ "error in Genkan",
};

/** outcomeWord says how a call went. */
export const outcomeWord = (outcome?: string): string => (outcome ? t(words[outcome] ?? outcome) : t("running"));

export const outcomeTone = (outcome?: string): Tone =>
	outcome === "ok" ? "ok" : outcome === "denied" || outcome === "canceled" ? "warn" : "bad";

/** useWaiting are the ids of the calls that wait for a person. */
export function useWaiting(): ReadonlySet<string | undefined> {
	const { data } = useApprovals();
	return useMemo(() => new Set(data?.approvals.map((approval) => approval.call)), [data]);
}

/** Outcome is how a call went, as a dot that says so. */
export function Outcome({ outcome, waiting }: { outcome?: string; waiting?: boolean }) {
	if (outcome) return <Dot tone={outcomeTone(outcome)} title={outcomeWord(outcome)} />;
	if (waiting) return <Dot tone="warn" title={t("waits for approval")} />;
	return (
		<span role="img" aria-label={t("running")} title={t("running")} className="inline-flex">
			<Spinner />
		</span>
	);
}

const effects: Record<string, string> = {
	denied: /* t */ "A workflow denied it",
	changed: /* t */ "A workflow changed it",
	would_deny: /* t */ "A workflow in shadow would have denied it",
	would_change: /* t */ "A workflow in shadow would have changed it",
};

/** Effect is a mark for what workflows did to a call. */
export function Effect({ effect }: { effect?: string }) {
	const title = effect && effects[effect];
	if (!title) return null;
	return (
		<span role="img" aria-label={t(title)} title={t(title)} className="ml-1.5 inline-flex shrink-0">
			<Workflow
				aria-hidden
				className={cx("size-3.5", effect.startsWith("would") ? "text-faint" : "text-warn")}
				strokeWidth={2.25}
			/>
		</span>
	);
}

/** useProgress is how far a call is that is under way, in words; nothing if its server does not
 * tell. is says which call of which client it is. */
export function useProgress(is: (call: { id: string; tool?: string }, client?: string) => boolean): string {
	const [progress, setProgress] = useState<{ done: number; total?: number }>();
	useEvents((event) => {
		const data = event.data as { id: string; done: number; total?: number };
		if (event.name === "call.progress" && is(data, event.client)) setProgress(data);
	});
	if (!progress) return "";
	const { done, total } = progress;
	return total ? t("{n} of {total}", { n: number(done), total: number(total) }) : number(done);
}

/** Progress is how far a call is. */
export function Progress({ id, className }: { id: string; className: string }) {
	const progress = useProgress((call) => call.id === id);
	return progress && <span className={cx("tabular", className)}>{progress}</span>;
}

/** Ticking is how long a call has taken until now. */
export function Ticking({ since }: { since: number }) {
	const [now, setNow] = useState(Date.now);
	useEffect(() => {
		const timer = setInterval(() => setNow(Date.now()), 100);
		return () => clearInterval(timer);
	}, []);
	return took(Math.max(0, now - since));
}
