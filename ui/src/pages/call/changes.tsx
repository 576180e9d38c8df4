import { memo } from "react";
import { Link } from "wouter";
import type { S } from "@/api/client";
import { between, t, took } from "@/lang";
import { Cap, Card, Chip, cx, Empty, marked, RecordMasks, Rich, rulesIn } from "@/ui";
import { outcomeWord } from "../calls/words";
import { isUnkept } from "./bodies";
import { ranAs, useStepName } from "./names";
import { applied, type Op, valueAt } from "./patch";

/** changesOf counts the places that nodes changed. Workflows in shadow changed nothing. */
export const changesOf = (call: S["CallDetails"]): number =>
	(call.workflows ?? [])
		.filter((trace) => trace.mode !== "shadow")
		.flatMap((trace) => trace.steps)
		.reduce((sum, step) => sum + (Array.isArray(step.patch) ? step.patch.length : 0), 0);

/** Changed is a change of a step, with what was there before, if that is known. */
export type Changed = { op: Op; before: unknown };

/** changedBySteps is what each step of each workflow changed. What it replaced is known as long
 * as it is in the request, or a step before has put it there. An answer is kept as it was in
 * the end, which is what workflows in shadow saw, unless others changed it. */
export function changedBySteps(call: S["CallDetails"]): Map<S["WorkflowStep"], Changed[]> {
	const traces = call.workflows ?? [];
	let document: unknown = { request: { params: call.request?.json } };
	const answer = traces.some((trace) => trace.mode !== "shadow" && trace.changed) ? undefined : call.response?.json;
	const put = new Map<string, unknown>();
	const all = new Map<S["WorkflowStep"], Changed[]>();
	for (const trace of traces) {
		const shadow = trace.mode === "shadow";
		let seen: unknown = shadow ? { ...(document as object), response: answer } : document;
		const set = shadow ? new Map(put) : put;
		for (const step of trace.steps) {
			const lines = (Array.isArray(step.patch) ? (step.patch as Op[]) : []).map((op) => {
				const before = op.op === "add" ? undefined : (valueAt(seen, op.path) ?? set.get(op.path));
				seen = applied(seen, op);
				set.set(op.path, op.op === "remove" ? undefined : op.value);
				return { op, before };
			});
			all.set(step, lines);
		}
		if (!shadow) document = seen;
	}
	return all;
}

/** wouldHave says what a workflow in shadow would have done to the call. */
export function wouldHave(trace: S["WorkflowTrace"]): string {
	if (trace.outcome === "denied")
		return trace.sent ? t("It would have withheld the answer.") : t("It would have denied the call.");
	if (trace.outcome === "failed")
		return trace.sent
			? t("It would have failed, and withheld the answer.")
			: t("It would have failed, and refused the call.");
	if (trace.outcome === "dropped") return t("It was not run, so nobody knows what it would have done.");
	if (!trace.changed) return t("It would have let the call through as it was.");
	const paths = trace.steps
		.flatMap((step) => (Array.isArray(step.patch) ? (step.patch as Op[]) : []))
		.map((op) => op.path);
	const request = paths.some((path) => path.startsWith("/request"));
	const answer = paths.some((path) => path.startsWith("/response"));
	if (request && answer) return t("It would have changed the request and the answer.");
	if (request) return t("It would have changed the request.");
	return t("It would have changed the answer.");
}

/** toolFailed tells whether the tool itself answered with an error: as in the end, unless a
 * node changed that. */
function toolFailed(call: S["CallDetails"]): boolean {
	const changed = (call.workflows ?? [])
		.filter((trace) => trace.mode !== "shadow")
		.flatMap((trace) => trace.steps.flatMap((step) => (Array.isArray(step.patch) ? (step.patch as Op[]) : [])))
		.find((op) => op.path === "/response/isError");
	return changed ? changed.value !== true : call.outcome === "tool_error";
}

/** Changes shows what each node of each workflow did to the call and to its answer. */
export const Changes = memo(function Changes({ call }: { call: S["CallDetails"] }) {
	const stepName = useStepName();
	if (!call.workflows?.length)
		return (
			<Empty title={t("There is no record of a workflow around this call.")}>
				{t("None ran, or the record was not kept: Genkan keeps those of the last calls since it started.")}
			</Empty>
		);
	const changed = changedBySteps(call);
	const masks = new Set([call, ...call.workflows].flatMap((one) => one.redacted ?? []));
	const [masked] = rulesIn(JSON.stringify(call.workflows)).filter((rule) => masks.has(rule));
	return (
		<RecordMasks value={masks}>
			<div className="flex flex-col gap-3">
				{isUnkept(call) && (
					<p className="text-muted text-sm">
						{t("What was sent and received is not kept, so this says only which parts a node changed.")}
					</p>
				)}
				{masked && (
					<p className="text-muted text-sm">
						<Rich
							text={t("Marks like {mark} are of this view. No workflow made them.")}
							values={{ mark: marked(`[redacted:${masked}]`) }}
						/>
					</p>
				)}
				{call.workflows.map((trace) => {
					const shadow = trace.mode === "shadow";
					return (
						<Card key={`${trace.workflow} ${trace.startedAt}`} className="overflow-hidden">
							<Cap>
								<span className="flex items-center gap-2">
									<Link
										href={`/workflows/${encodeURIComponent(trace.workflow)}?run=${encodeURIComponent(call.id)}`}
										className="font-medium text-text hover:underline"
									>
										{ranAs(trace)}
									</Link>
									v{trace.version}
									{shadow && <Chip>{t("shadow")}</Chip>}
									{trace.detached && <Chip>{t("beside the call")}</Chip>}
								</span>
								<span className="tabular">
									{!shadow && (trace.outcome !== "ok" || call.outcome === "ok") && `${word(trace.outcome)} · `}
									{took(trace.tookMillis, true)}
								</span>
							</Cap>
							{shadow && (
								<p className="border-line border-b bg-accent-soft px-4 py-2">
									<b className="font-semibold">{t("Nothing was changed.")}</b>
									{between()}
									{wouldHave(trace)}
									{between()}
									<span className="text-muted">
										{t("The workflow was in shadow mode at this call: it only watched.")}
									</span>
								</p>
							)}
							<ol>
								{trace.steps.map((step, i) => {
									const lines = changed.get(step) ?? [];
									const refused = step.type === "mcp-call" && step.status === "ok" && toolFailed(call);
									return (
										// biome-ignore lint/suspicious/noArrayIndexKey: steps stay in their order
										<li key={i} className="border-line border-b px-4 py-2.5 last:border-0">
											<div className="flex items-center gap-2">
												<span data-term className="font-medium" title={step.node}>
													{stepName(step)}
												</span>
												<span
													className={cx(
														"text-xs",
														!refused && (shadow || ["ok", "skipped"].includes(step.status)) ? "text-faint" : "text-bad",
													)}
												>
													{refused
														? outcomeWord("tool_error")
														: shadow && step.status === "denied"
															? t("would have denied")
															: word(step.status)}
													{step.handle && step.handle !== "out" && ` → ${step.handle}`}
												</span>
												<span className="num ml-auto text-muted text-xs">{took(step.runMillis, true)}</span>
											</div>
											{lines.length > 0 && (
												<ChangedFields lines={lines} shadow={shadow} placesOnly={isUnkept(call)} className="mt-2" />
											)}
											{step.console?.map((line, j) => (
												// biome-ignore lint/suspicious/noArrayIndexKey: lines stay in their order
												<div key={j} className="mt-1 font-mono text-muted text-xs break-words whitespace-pre-wrap">
													{line.level}: {marked(line.text)}
												</div>
											))}
											{step.error && (
												<div className={cx("mt-1 break-words whitespace-pre-wrap", shadow ? "text-muted" : "text-bad")}>
													{marked(step.error)}
												</div>
											)}
										</li>
									);
								})}
							</ol>
						</Card>
					);
				})}
			</div>
		</RecordMasks>
	);
});

/** ChangedFields shows what a step changed, field by field. */
export function ChangedFields({
	lines,
	shadow,
	placesOnly,
	className,
}: {
	lines: Changed[];
	/** Nothing of it was carried out. */
	shadow: boolean;
	/** What was there, and is now, is not kept. */
	placesOnly?: boolean;
	className?: string;
}) {
	return (
		<div
			className={cx(
				"overflow-hidden rounded-md border border-line font-mono text-xs",
				shadow && "border-line-strong border-dashed",
				className,
			)}
		>
			{lines.map(({ op, before }, i) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: changes stay in their order
				<div key={i} className="border-line not-first:border-t">
					<div className="flex gap-3 bg-sunken px-3 py-1 text-muted">
						<span className="min-w-0 break-all">{op.path}</span>
						{shadow && <span className="ml-auto shrink-0 font-sans">{t("not carried out")}</span>}
					</div>
					{!placesOnly && (
						<>
							{before !== undefined && <Line sign="-" value={before} pale={shadow} />}
							{before === undefined && op.op !== "add" && (
								<div className="px-3 py-0.5 font-sans text-faint">
									{t("Here is what the step wrote, not what that replaced. A replay through the workflow shows both.")}
								</div>
							)}
							{op.op !== "remove" && <Line sign="+" value={op.value ?? op.from} pale={shadow} />}
							{op.op === "remove" && before === undefined && <Line sign="-" value={t("removed")} pale={shadow} />}
						</>
					)}
				</div>
			))}
		</div>
	);
}

const words: Record<string, string> = {
	ok: /* t */ "ok",
	error: /* t */ "failed",
	failed: /* t */ "failed",
	timeout: /* t */ "took too long",
	oom: /* t */ "out of memory",
	crashed: /* t */ "crashed",
	skipped: /* t */ "skipped",
	denied: /* t */ "denied",
	dropped: /* t */ "dropped",
};

/** word says how a workflow or a step of it went. */
export const word = (status: string): string => t(words[status] ?? status);

function Line({ sign, value, pale }: { sign: "+" | "-"; value: unknown; pale: boolean }) {
	const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
	return (
		<div className={cx("flex gap-2 px-3 py-0.5", !pale && (sign === "+" ? "bg-ok-soft" : "bg-bad-soft"))}>
			<span className={pale ? "text-muted" : sign === "+" ? "text-ok" : "text-bad"}>{sign}</span>
			<span className="min-w-0 break-words whitespace-pre-wrap">{marked((text ?? "").slice(0, 20_000))}</span>
		</div>
	);
}
