import { Link } from "wouter";
import type { S } from "@/api/client";
import { between, t, took } from "@/lang";
import { Cap, Card, Chip, cx, Empty, marked, RecordMasks } from "@/ui";
import { useWorkflowName } from "../calls/words";
import { useStepName } from "./names";

type Op = { op: string; path: string; from?: string; value?: unknown };

/** changesOf counts the nodes that changed something or had something to say. Those of
 * workflows in shadow changed nothing. */
export const changesOf = (call: S["CallDetails"]): number =>
	(call.workflows ?? [])
		.filter((trace) => trace.mode !== "shadow")
		.flatMap((trace) => trace.steps)
		.filter(worthShowing).length;

const worthShowing = (step: S["WorkflowStep"]) =>
	(Array.isArray(step.patch) && step.patch.length > 0) || step.error || (step.console?.length ?? 0) > 0;

/** wouldHave says what a workflow in shadow would have done to the call. */
function wouldHave(trace: S["WorkflowTrace"]): string {
	if (trace.outcome === "denied") return t("It would have denied the call.");
	if (trace.outcome === "failed") return t("It would have failed, and refused the call.");
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

/** Changes shows what each node of each workflow did to the call and to its answer. */
export function Changes({ call }: { call: S["CallDetails"] }) {
	const workflowName = useWorkflowName();
	const stepName = useStepName(call);
	if (!call.workflows?.length)
		return (
			<Empty title={t("No workflow ran around this call.")}>
				{t("Or it was too long ago: what nodes did is known of the last calls since Genkan started.")}
			</Empty>
		);
	// What is replaced is known as long as it is in the request, or a node before has put it
	// there. An answer is kept as it was in the end, which is what workflows in shadow saw,
	// unless others changed it.
	let document: unknown = { request: { params: call.request?.json } };
	const answer = call.workflows.some((trace) => trace.mode !== "shadow" && trace.changed)
		? undefined
		: call.response?.json;
	const put = new Map<string, unknown>();
	return (
		<RecordMasks value={new Set(call.redacted)}>
			<div className="flex flex-col gap-3">
				{call.workflows.map((trace) => {
					const shadow = trace.mode === "shadow";
					let seen: unknown = shadow ? { ...(document as object), response: answer } : document;
					const set = shadow ? new Map(put) : put;
					return (
						<Card key={`${trace.workflow} ${trace.startedAt}`} className="overflow-hidden">
							<Cap>
								<span className="flex items-center gap-2">
									<Link
										href={`/workflows/${encodeURIComponent(trace.workflow)}?call=${encodeURIComponent(call.id)}`}
										className="font-medium text-text hover:underline"
									>
										{workflowName(trace.workflow)}
									</Link>
									{t("version {n}", { n: trace.version })}
									{shadow && <Chip>{t("shadow")}</Chip>}
									{trace.detached && <Chip>{t("beside the call")}</Chip>}
								</span>
								<span className="tabular">
									{!shadow && `${word(trace.outcome)} · `}
									{took(trace.tookMillis)}
								</span>
							</Cap>
							{shadow && (
								<p className="border-line border-b bg-accent-soft px-4 py-2">
									<b className="font-semibold">{t("Nothing was changed.")}</b>
									{between()}
									{wouldHave(trace)}
									{between()}
									<span className="text-muted">{t("The workflow is in shadow mode: it only watches.")}</span>
								</p>
							)}
							<ol>
								{trace.steps.map((step, i) => {
									const patch = Array.isArray(step.patch) ? (step.patch as Op[]) : [];
									const lines = patch.map((op) => {
										const before = op.op === "add" ? undefined : (valueAt(seen, op.path) ?? set.get(op.path));
										seen = applied(seen, op);
										if (!shadow) document = seen;
										set.set(op.path, op.op === "remove" ? undefined : op.value);
										return { op, before };
									});
									return (
										// biome-ignore lint/suspicious/noArrayIndexKey: steps stay in their order
										<li key={i} className="border-line border-b px-4 py-2.5 last:border-0">
											<div className="flex items-center gap-2">
												<span data-term className="font-medium" title={step.node}>
													{stepName(trace, step)}
												</span>
												<span
													className={cx(
														"text-xs",
														shadow || ["ok", "skipped"].includes(step.status) ? "text-faint" : "text-bad",
													)}
												>
													{shadow && step.status === "denied" ? t("would have denied") : word(step.status)}
													{step.handle && step.handle !== "out" && ` → ${step.handle}`}
												</span>
												<span className="num ml-auto text-muted text-xs">{took(step.runMillis)}</span>
											</div>
											{lines.length > 0 && (
												<div
													className={cx(
														"mt-2 overflow-hidden rounded-md border border-line font-mono text-xs",
														shadow && "border-line-strong border-dashed",
													)}
												>
													{lines.map(({ op, before }, j) => (
														// biome-ignore lint/suspicious/noArrayIndexKey: changes stay in their order
														<div key={j} className="border-line not-first:border-t">
															<div className="flex gap-3 bg-sunken px-3 py-1 text-muted">
																<span className="min-w-0 break-all">{op.path}</span>
																{shadow && <span className="ml-auto shrink-0 font-sans">{t("not carried out")}</span>}
															</div>
															{before !== undefined && <Line sign="-" value={before} pale={shadow} />}
															{before === undefined && op.op !== "add" && (
																<div className="px-3 py-0.5 font-sans text-faint">
																	{t("What was there before is not kept.")}
																</div>
															)}
															{op.op !== "remove" && <Line sign="+" value={op.value ?? op.from} pale={shadow} />}
															{op.op === "remove" && before === undefined && (
																<Line sign="-" value={t("removed")} pale={shadow} />
															)}
														</div>
													))}
												</div>
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
													{step.line ? t("{title} ({name})", { title: "", name: t("line {n}", { n: step.line }) }) : ""}
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

const keysOf = (path: string) =>
	path
		.split("/")
		.slice(1)
		.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));

function valueAt(document: unknown, path: string): unknown {
	let value = document;
	for (const key of keysOf(path)) {
		if (typeof value !== "object" || value === null) return undefined;
		value = (value as Record<string, unknown>)[key];
	}
	return value;
}

/** applied is a document after one operation of a JSON Patch. What it does not know, it
 * leaves. */
function applied(document: unknown, { op, path, value }: Op): unknown {
	const change = (node: unknown, keys: string[]): unknown => {
		const [key, ...rest] = keys;
		if (key === undefined) return value;
		if (typeof node !== "object" || node === null) return node;
		if (Array.isArray(node)) {
			const copy = [...node];
			const at = key === "-" ? copy.length : Number(key);
			if (rest.length > 0) copy[at] = change(copy[at], rest);
			else if (op === "add") copy.splice(at, 0, value);
			else if (op === "remove") copy.splice(at, 1);
			else copy[at] = value;
			return copy;
		}
		const copy: Record<string, unknown> = { ...node };
		if (rest.length > 0) copy[key] = change(copy[key], rest);
		else if (op === "remove") delete copy[key];
		else copy[key] = value;
		return copy;
	};
	return change(document, keysOf(path));
}
