import { Link } from "wouter";
import type { S } from "@/api/client";
import { t, took } from "@/lang";
import { Cap, Card, cx } from "@/ui";
import { word } from "./changes";
import { ranAs, useStepName } from "./names";

type Bar = {
	key: string;
	title: React.ReactNode;
	start: number;
	length: number;
	kind: "queue" | "hook" | "server";
	note?: string;
	bad?: boolean;
};

/** Waterfall shows where the time of a call went, one after the other. */
export function Waterfall({ call }: { call: S["CallDetails"] }) {
	const bars = barsOf(call, useStepName());
	const total = Math.max(call.tookMillis, ...bars.map((bar) => bar.start + bar.length), 0.01);
	return (
		<Card>
			<Cap>
				<span>{t("Where the time went")}</span>
				<span className="tabular">{took(call.tookMillis, true)}</span>
			</Cap>
			<ol className="flex flex-col gap-1 px-4 py-3">
				{bars.map((bar) => (
					<li
						key={bar.key}
						className="grid grid-cols-[112px_minmax(0,1fr)_56px] sm:grid-cols-[190px_minmax(0,1fr)_72px] lg:grid-cols-[minmax(280px,2fr)_minmax(0,3fr)_72px] items-center gap-3"
					>
						<span className={cx("line", bar.bad ? "text-bad" : "text-muted")}>{bar.title}</span>
						<span aria-hidden className="relative h-5 overflow-hidden rounded-sm bg-sunken">
							{bar.length > 0 && (
								<span
									className={cx(
										"absolute top-1 bottom-1 min-w-[3px] rounded-[3px]",
										bar.bad ? "bg-bad" : { queue: "bg-line-strong", hook: "bg-warn", server: "bg-accent" }[bar.kind],
									)}
									style={{
										left: `${Math.min((100 * bar.start) / total, 99.5)}%`,
										width: `${(100 * bar.length) / total}%`,
									}}
								/>
							)}
						</span>
						<span className={cx("num text-xs", bar.note && "text-muted")}>{bar.note ?? took(bar.length, true)}</span>
					</li>
				))}
			</ol>
		</Card>
	);
}

/** barsOf puts the parts of a call behind one another: what workflows did before it, the
 * wait for the server, the server, what workflows did afterwards, and the rest. */
function barsOf(call: S["CallDetails"], stepName: ReturnType<typeof useStepName>): Bar[] {
	const { timing } = call;
	const bars: Bar[] = [];
	let at = 0;
	const add = (bar: Omit<Bar, "start">) => {
		bars.push({ ...bar, start: at });
		at += bar.length;
	};
	// What ran beside the call took none of its time.
	const traces = (call.workflows ?? [])
		.filter((trace) => !trace.detached && trace.mode !== "shadow")
		.sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1)); // they come in the order in which they ended
	// The wait for people has one bar each: that of the node that asked, or of the server.
	let asked = timing.askedMillis;
	const steps = (trace: S["WorkflowTrace"], after: boolean) => {
		const sent = trace.steps.findIndex((step) => step.type === "mcp-call");
		trace.steps.forEach((step, i) => {
			if (["start", "end", "mcp-call"].includes(step.type ?? "") || (sent >= 0 && i > sent) !== after) return;
			const bad = !["ok", "skipped"].includes(step.status);
			const waits = step.type === "approve";
			if (waits) asked -= step.queueMillis + step.runMillis;
			add({
				key: `${trace.workflow} ${i}`,
				title: (
					<Link
						href={`/workflows/${encodeURIComponent(trace.workflow)}?run=${encodeURIComponent(call.id)}`}
						className="hover:text-text hover:underline"
						title={`${trace.workflow} v${trace.version} / ${step.node}: ${word(step.status)}`}
					>
						{ranAs(trace)} / {stepName(step)}
						{waits && ` · ${t("wait for a person")}`}
						{bad && ` · ${word(step.status)}`}
					</Link>
				),
				length: step.queueMillis + step.runMillis,
				kind: waits ? "queue" : "hook",
				bad,
			});
		});
	};
	for (const trace of traces) steps(trace, false);
	if (traces.length === 0 && timing.hooksMillis > 0)
		add({ key: "hooks", title: t("workflows"), length: timing.hooksMillis, kind: "hook" });
	add({ key: "queue", title: t("queue"), length: timing.queueMillis, kind: "queue" });
	if (asked >= 1) add({ key: "asked", title: t("waited for a person"), length: asked, kind: "queue" });
	add({
		key: "server",
		title: call.server || t("server"),
		length: timing.serverMillis,
		kind: "server",
		note: called(call) ? undefined : t("not called"),
	});
	for (const trace of traces.toReversed()) steps(trace, true);
	add({ key: "genkan", title: "Genkan", length: timing.genkanMillis, kind: "queue" });
	return bars;
}

/** called tells whether the server was asked at all. */
export const called = (call: S["CallDetails"]): boolean => call.attempts > 0 && call.timing.serverMillis > 0;
