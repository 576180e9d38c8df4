import { Play } from "lucide-react";
import { useMemo } from "react";
import { between, list, t, tn, took } from "../../lang";
import { Button, Cap, Chip, complain, cx, Json, marked, RecordMasks } from "../../ui";
import { nodeOf } from "./definition";
import { statusText, toneOf, wayText } from "./node";
import { replayOf, useEditor } from "./store";
import { replayNow } from "./sync";
import { type DiffLine, diff, stateAt } from "./trace";

/** OutputPane shows what the selected node did to the call in the replay, or what became of
 * the call. */
export function OutputPane() {
	const sample = useEditor((s) => s.sample);
	const replay = useEditor(replayOf);
	const unplayable = useEditor((s) => s.unplayable);
	const replaying = useEditor((s) => s.replaying);
	const id = useEditor((s) => (s.selected.length === 1 ? s.selected[0]! : ""));
	const node = useEditor((s) => (id ? nodeOf(s.draft, id) : undefined));
	const step = replay?.steps[id];
	const lines = useMemo(() => {
		if (!sample || !replay?.matched || !step) return [];
		const { before, after } = stateAt(sample, replay, id);
		return after ? diff(before, after) : [];
	}, [sample, replay, step, id]);
	const masks = useMemo(() => new Set(replay?.result.redacted), [replay]);
	const changed = Array.isArray(step?.patch) ? step.patch.length : 0;
	return (
		<section aria-label={t("Output")} className="flex min-h-0 min-w-0 flex-col">
			<Cap>
				<span className="line">
					{!node
						? t("What becomes of the call")
						: changed > 0
							? tn(changed, "Output: {n} field changed", "Output: {n} fields changed")
							: t("Output")}
				</span>
				<Button
					look="quiet"
					size="small"
					className="text-accent!"
					disabled={!sample}
					busy={replaying}
					title={t("{title} ({name})", {
						title: t("Runs the draft on the input, with the answer of then. Nothing is sent."),
						name: "Ctrl+Enter",
					})}
					onClick={() => void replayNow().catch(complain)}
				>
					<Play />
					{t("Replay")}
				</Button>
			</Cap>
			<div
				className="min-h-0 flex-1 overflow-auto focus-visible:-outline-offset-2"
				// biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls is reached by keyboard
				tabIndex={0}
				role="group"
				aria-label={t("What becomes of the call")}
			>
				{unplayable ? (
					<p role="status" className="p-4 text-warn">
						{unplayable}
					</p>
				) : !replay ? (
					<p className="p-4 text-muted">
						{t("Replay runs the draft on the input, with the answer that the server gave then. Nothing is sent.")}
					</p>
				) : !replay.matched ? (
					<p className="p-4 text-muted">{t("The workflow is not for this call, so it was not run.")}</p>
				) : node ? (
					step ? (
						<RecordMasks value={masks}>
							<div className="flex flex-wrap items-center gap-2 px-4 pt-3 text-muted text-xs">
								<Chip tone={toneOf(step)}>{statusText(step)}</Chip>
								<span className="tabular">{took(step.runMillis)}</span>
								{step.queueMillis > 0.05 && (
									<span className="tabular">{t("waited {time}", { time: took(step.queueMillis) })}</span>
								)}
								{step.handle && step.handle !== "out" && (
									<span>{t("left by “{way}”", { way: wayText(step.handle) })}</span>
								)}
							</div>
							{step.error && <p className="px-4 pt-2 whitespace-pre-wrap text-bad">{step.error}</p>}
							{step.console && step.console.length > 0 && (
								<pre className="mx-4 mt-3 rounded-md bg-sunken px-3 py-2 whitespace-pre-wrap">
									{step.console
										.map((line) => `${line.level === "log" ? "" : `${line.level}: `}${line.text}`)
										.join("\n")}
								</pre>
							)}
							{lines.some((line) => line.kind !== " " && line.kind !== "…") ? (
								<Diff lines={lines} />
							) : (
								<p className="px-4 py-3 text-faint">
									{changed > 0 ? t("What it changed is masked here.") : t("It changed nothing.")}
								</p>
							)}
						</RecordMasks>
					) : (
						<p className="p-4 text-muted">
							{node.type === "start"
								? t("The call begins here, as the input shows it.")
								: t("The call did not come here.")}
						</p>
					)
				) : (
					<RecordMasks value={masks}>
						<Outcome />
					</RecordMasks>
				)}
			</div>
		</section>
	);
}

function Outcome() {
	const replay = useEditor(replayOf)!;
	const { trace, error, result, redacted = [] } = replay.result;
	const touched = (part: string) =>
		trace?.steps.some((step) =>
			(step.patch as { path: string }[] | undefined)?.some(({ path }) => path.startsWith(part)),
		);
	return (
		<>
			<p className="px-4 pt-3">
				{trace?.outcome === "denied"
					? t("The call is refused.")
					: trace?.outcome === "failed"
						? t("The workflow fails, and the call is refused.")
						: touched("/request")
							? touched("/response")
								? t("The call goes through, and the answer goes back, both changed.")
								: t("The call goes through, changed.")
							: trace?.changed
								? t("The answer goes back, changed.")
								: t("The call goes through as it is.")}
				{between()}
				{trace && (
					<span className="text-faint">{t("The workflow takes {time}.", { time: took(trace.tookMillis) })}</span>
				)}
			</p>
			{redacted.length > 0 && (
				<p role="note" className="mx-4 mt-2 rounded-md bg-warn-soft px-3 py-2 text-warn text-xs">
					{tn(
						redacted.length,
						"Masked only here, by the rule {rules}. The client would get the real value.",
						"Masked only here, by the rules {rules}. The client would get the real values.",
						{ rules: list(redacted) },
					)}
				</p>
			)}
			{error && <p className="px-4 pt-2 whitespace-pre-wrap text-bad">{error}</p>}
			{result !== undefined && <Json value={result} className="max-h-none!" />}
		</>
	);
}

/** Diff shows lines that were taken and added. */
export function Diff({ lines }: { lines: DiffLine[] }) {
	return (
		<pre className="py-3 break-words whitespace-pre-wrap">
			{lines.map((line, i) => (
				<div
					// biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
					key={i}
					className={cx(
						"px-4",
						line.kind === "+" && "bg-ok-soft text-ok",
						line.kind === "-" && "bg-bad-soft text-bad",
						line.kind === "…" && "text-faint",
					)}
				>
					{line.kind === "…" ? "…" : marked(`${line.kind} ${line.text}`)}
				</div>
			))}
		</pre>
	);
}
