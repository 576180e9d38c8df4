import { Play } from "lucide-react";
import { use, useMemo } from "react";
import { between, list, t, tn, took } from "../../lang";
import { Button, Cap, Chip, cx, Json, marked, RecordMasks, Rich, rulesIn } from "../../ui";
import { ChangedFields, changedBySteps, wouldHave } from "../call/changes";
import { nodeOf } from "./definition";
import { isDetached } from "./kinds";
import { statsText, statusText, toneOf, wayText } from "./node";
import { isOutdated, nameOf, replayOf, select, type Trace, type TraceStep, useEditor } from "./store";
import { changedBy, ofLists, replayNow, toolsList } from "./sync";
import { type DiffLine, diff, standsTwice, stateAt } from "./trace";

/** OutputPane shows what the selected node did to the call in the replay, or what became of
 * the call. */
export function OutputPane() {
	const sample = useEditor((s) => s.sample);
	const replay = useEditor(replayOf);
	const unplayable = useEditor((s) => s.unplayable);
	const replaying = useEditor((s) => s.replaying);
	const outdated = useEditor(isOutdated);
	const id = useEditor((s) => (s.selected.length === 1 ? s.selected[0]! : ""));
	const node = useEditor((s) => (id ? nodeOf(s.draft, id) : undefined));
	const isList = useEditor((s) => s.draft.workflowType === toolsList);
	const step = replay?.steps[id];
	const ran = replay?.ran;
	const { lines, twice } = useMemo(() => {
		if (!sample || !replay?.matched || replay.ran || !step) return { lines: [], twice: false };
		const { before, after } = stateAt(sample, replay, id);
		return after
			? { lines: diff(before, after), twice: standsTwice(before.response, after.response) }
			: { lines: [], twice: false };
	}, [sample, replay, step, id]);
	const changedThen = useMemo(() => (sample && ran ? changedBySteps(sample) : null), [sample, ran]);
	const stats = useEditor((s) => s.stats[id]);
	const masks = useMemo(() => new Set(replay?.result.redacted), [replay]);
	const given = replay && replay.call === sample?.id ? replay.result.given : undefined;
	const masked = useMemo(
		() => new Set([...masks, ...((given ? given.redacted : sample?.redacted) ?? [])]),
		[masks, given, sample],
	);
	const isChanged = sample && !given ? changedBy(sample).length > 0 : false;
	const changed = Array.isArray(step?.patch) ? step.patch.length : 0;
	// The name of the button stays on one line.
	const named = { replay: <span className="whitespace-nowrap">{t("Replay")}</span> };
	return (
		<section aria-label={t("Output")} className="flex min-h-0 min-w-0 flex-col">
			<Cap>
				<span className="line">
					{!node
						? t("What becomes of the call")
						: changed > 0
							? tn(changed, "Output: {n} field changed", "Output: {n} fields changed")
							: t("Output")}
					{outdated && (
						<span className="font-normal text-faint">
							{between()}
							{t("(before your last change)")}
						</span>
					)}
				</span>
				<Button
					look="quiet"
					size="small"
					className="text-accent!"
					disabled={!sample || isList}
					busy={replaying}
					title={t("{title} ({name})", {
						title: t("Runs the draft on the input, with the answer of then. Nothing is sent."),
						name: "Ctrl+Enter",
					})}
					onClick={() => void replayNow().catch(() => {})} // why not is below
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
				aria-busy={outdated && replaying}
			>
				{ran && (
					<p role="status" className="border-line border-b bg-accent-soft px-4 py-2 text-xs">
						{isList
							? ran.mode === "shadow"
								? t("What v{version} would have done to a list of tools; it ran in shadow.", {
										version: ran.version,
									})
								: t("What v{version} did to a list of tools.", { version: ran.version })
							: ran.mode === "shadow"
								? t("What v{version} would have done to this call; it ran in shadow.", { version: ran.version })
								: t("What v{version} did to this call.", { version: ran.version })}
						{between()}
						{!isList && (
							<span className="text-muted">
								<Rich text={t("{replay} shows what the draft makes of it.")} values={named} />
							</span>
						)}
					</p>
				)}
				{unplayable ? (
					<p role="status" className="p-4 text-warn">
						{unplayable}
					</p>
				) : !replay ? (
					<p className="p-4 text-muted">
						{isList ? (
							ofLists()
						) : (
							<Rich
								text={t(
									"{replay} runs the draft on the input, with the answer that the server gave then. Nothing is sent.",
								)}
								values={named}
							/>
						)}
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
								<pre className="mx-4 mt-3 rounded-md bg-sunken px-3 py-2 break-words whitespace-pre-wrap">
									{step.console
										.map((line) => `${line.level === "log" ? "" : `${line.level}: `}${line.text}`)
										.join("\n")}
								</pre>
							)}
							{changed > 0 && (
								<Masks masks={masked} text={JSON.stringify([step.patch, changedThen?.get(step), lines])} />
							)}
							{twice && <Twice />}
							{changedThen?.get(step)?.length ? (
								<ChangedFields lines={changedThen.get(step)!} shadow={ran?.mode === "shadow"} className="mx-4 my-3" />
							) : lines.some((line) => line.kind !== " " && line.kind !== "…") ? (
								<Diff lines={lines} before={masked} />
							) : (
								<p className="px-4 py-3 text-faint">
									{changed === 0
										? t("It changed nothing.")
										: !isChanged && rulesIn(JSON.stringify(step.patch)).some((rule) => masked.has(rule))
											? t("It changed something, which is masked here before and after.")
											: t("It changed something that the input does not show.")}
								</p>
							)}
						</RecordMasks>
					) : (
						<p className="p-4 text-muted">
							{node.type === "start" && !isList
								? t("The call begins here, as the input shows it.")
								: !ran && isDetached(node)
									? t("A replay leaves out scripts that nobody waits for.")
									: t("The call did not come here.")}
						</p>
					)
				) : (
					<RecordMasks value={masks}>
						<Outcome />
					</RecordMasks>
				)}
			</div>
			{stats && (
				<p className="line shrink-0 border-line border-t px-4 py-2 text-muted text-xs" title={statsText(stats)}>
					{t("Since Genkan started: {runs}", { runs: statsText(stats) })}
				</p>
			)}
		</section>
	);
}

/** Ran says what came of a call when it was made. */
function Ran({ ran, error }: { ran: Trace; error?: string }) {
	const isList = useEditor((s) => s.draft.workflowType === toolsList);
	return (
		<>
			<p className="px-4 py-3">
				{isList
					? ran.outcome !== "ok"
						? t("The workflow failed.")
						: !ran.changed
							? t("The list stayed as it was.")
							: ran.mode === "shadow"
								? t("The workflow would have changed the list.")
								: t("The workflow changed the list.")
					: ran.mode === "shadow"
						? wouldHave(ran)
						: ran.outcome === "denied"
							? ran.sent
								? t("The call was carried out, and its answer was withheld.")
								: t("The call was refused.")
							: ran.outcome === "failed"
								? ran.sent
									? t("The workflow failed, so the call was carried out and its answer was withheld.")
									: t("The workflow failed, and the call was refused.")
								: ran.outcome === "passed"
									? t("The workflow failed, and the call passed without it.")
									: ran.outcome === "call_failed"
										? t("The call itself failed.")
										: ran.outcome === "dropped"
											? t("The workflow did not run: too many runs were waiting.")
											: ran.changed
												? t("The workflow changed the call or its answer.")
												: t("The call went through as it was.")}
				{between()}
				<span className="text-faint">{t("The workflow took {time}.", { time: took(ran.tookMillis) })}</span>
			</p>
			{ran.changed && <p className="px-4 pb-2 text-muted">{t("Select a step to see what it changed.")}</p>}
			<StepErrors steps={ran.steps} />
			{error && <Told text={error} past />}
		</>
	);
}

/** Told is what an agent reads in place of an answer. */
const Told = ({ text, past }: { text: string; past?: boolean }) => (
	<div className="mx-4 mt-3 mb-3 rounded-md bg-sunken px-3 py-2 text-muted">
		<div className="text-xs">{past ? t("The agent was told:") : t("The agent would be told:")}</div>
		<p className="mt-1 whitespace-pre-wrap">{text}</p>
	</div>
);

/** StepErrors are the errors of steps. Agents are not told what a script says behind the call. */
function StepErrors({ steps = [] }: { steps?: TraceStep[] }) {
	const draft = useEditor((s) => s.draft);
	return steps
		.filter(({ error }) => error)
		.map(({ node: id, label, error }) => {
			const node = nodeOf(draft, id);
			return (
				<p key={id} className="px-4 pt-2 whitespace-pre-wrap text-bad">
					<Rich
						text={t("{name}: {reason}")}
						values={{
							reason: error,
							name: node ? (
								<button type="button" className="font-medium underline" onClick={() => select([id])}>
									{nameOf(node)}
								</button>
							) : (
								label || id
							),
						}}
					/>
				</p>
			);
		});
}

function Outcome() {
	const replay = useEditor(replayOf)!;
	const { trace, error, result, given, incomplete, redacted = [] } = replay.result;
	const recorded = useEditor((s) => s.sample?.response?.json);
	const then = given ? given.answer : recorded;
	const twice = useMemo(() => !replay.ran && standsTwice(then, result), [then, result, replay.ran]);
	if (replay.ran) return <Ran ran={replay.ran} error={error} />;
	const touched = (part: string) =>
		trace?.steps.some((step) =>
			(step.patch as { path: string }[] | undefined)?.some(({ path }) => path.startsWith(part)),
		);
	return (
		<>
			<p className="px-4 pt-3">
				{incomplete
					? t(
							"What becomes of this call is not known: a script fetches something or calls a tool, and a trial does not.",
						)
					: trace?.outcome === "denied"
						? trace.sent
							? t("The call is carried out, and its answer is withheld.")
							: t("The call is refused.")
						: trace?.outcome === "failed"
							? trace.sent
								? t("The workflow fails, so the call is carried out and its answer is withheld.")
								: t("The workflow fails, and the call is refused.")
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
			{twice && <Twice />}
			{redacted.length > 0 && (
				<p role="note" className="mx-4 mt-2 rounded-md bg-warn-soft px-3 py-2 text-warn text-xs">
					{t(
						"This view masks values that match {rules}, also those that the workflow put in. The client would get what the workflow made, unmasked.",
						{ rules: list(redacted) },
					)}
				</p>
			)}
			<StepErrors steps={trace?.steps} />
			{error && !incomplete && <Told text={error} />}
			{result !== undefined && <Json value={result} className="max-h-none!" />}
		</>
	);
}

/** Twice warns that what was taken out of a text is still in the other copy of it. */
const Twice = () => (
	<p role="note" className="mx-4 mt-3 rounded-md bg-warn-soft px-3 py-2 text-warn text-xs">
		<Rich
			text={t("The text as it was still stands in {structured}, which agents read, too. {map} changes both.")}
			values={{ structured: <code>structuredContent</code>, map: <code>mapText</code> }}
		/>
	</p>
);

/** Masks says what the marks in a text mean: what is masked only where it is shown, and what
 * the workflow took out. */
function Masks({ masks, text }: { masks: ReadonlySet<string>; text: string }) {
	const found = rulesIn(text);
	const shown = found.filter((rule) => masks.has(rule));
	if (shown.length === 0) return null;
	return (
		<p role="note" className="mx-4 mt-3 rounded-md bg-sunken px-3 py-2 text-muted text-xs">
			{t("This view masks values that match {rules}, also those that a workflow put in.", {
				rules: list(shown),
			})}
			{found.length > shown.length && (
				<>
					{between()}
					{t("Yellow marks are what the workflow took out.")}
				</>
			)}
		</p>
	);
}

/** Diff shows lines that were taken and added. before are the rules that mask what was there
 * before, if they are others than those of what is there now. */
export function Diff({ lines, before }: { lines: DiffLine[]; before?: ReadonlySet<string> }) {
	const now = use(RecordMasks);
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
					<RecordMasks value={line.kind === "-" && before ? before : now}>
						{line.kind === "…" ? "…" : marked(`${line.kind} ${line.text}`)}
					</RecordMasks>
				</div>
			))}
		</pre>
	);
}
