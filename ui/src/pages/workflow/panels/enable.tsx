import { X } from "lucide-react";
import { useEffect, useState } from "react";
import { useAddress } from "@/shell/address";
import { useWorkflows } from "@/shell/session";
import { api, Failure, refresh, type S } from "../../../api/client";
import { useConnected } from "../../../api/events";
import { between, list, number, sentences, t, tn, took } from "../../../lang";
import { Button, Card, Confirm, complain, cx, messageOf, Spinner, say } from "../../../ui";
import { partName } from "../../calls/words";
import { enabledText, noServer } from "../../workflows/around";
import type { Definition } from "../definition";
import { enableVersion, useInForce } from "../header";
import { editor, type Problem, select, setEditor, setMode, stillOpen, useEditor } from "../store";
import { check, checkNow, isUnreached, ofLists, saidOf, save, showProblem, toolsList } from "../sync";
import { discardUnread, fieldOf, showUnread, type Unread, useUnread } from "../unread";
import { Siblings, useSiblings } from "./siblings";

/** How many of the last calls a draft is tried on. */
export const last = 200;

/** EnableBar says what the draft would have done, and enables it. */
export function EnableBar({ onClose }: { onClose: () => void }) {
	const draft = useEditor((s) => s.draft);
	const wrong = useEditor((s) => s.problems);
	const problems = wrong.length;
	const unread = useUnread();
	const inForce = useInForce();
	const readOnly = useEditor((s) => s.readOnly !== null);
	const matches = useEditor((s) => s.matches);
	/** What the draft would have done to the last calls, or why that is not known. */
	const [found, setFound] = useState<S["BacktestResult"] | Error | null>(null);
	const tests = useEditor((s) => s.tests.results);
	/** Why it was not enabled. It is told until something other than the mode is changed. */
	const [refused, setRefused] = useState<{ what: string; error: unknown; force: boolean }>();
	const { error = null, force = false } = refused?.what === whatOf(draft) ? refused : {};
	const [busy, setBusy] = useState(false);
	/** The version that acts on calls now, which shadow would end. */
	const acting = useEditor((s) => (s.info?.enabled && s.info.mode !== "shadow" ? s.info.runningVersion : undefined));
	const [asking, ask] = useState(false);
	const siblings = useSiblings(draft, matches);
	const all = useWorkflows();
	const nothing =
		inForce &&
		siblings.chosen("enforce").length === 0 &&
		t("What is drawn is active already. There is nothing to enable.");

	const connected = useConnected();
	const [tries, setTries] = useState(0);
	// biome-ignore lint/correctness/useExhaustiveDependencies: when Genkan answers again
	useEffect(() => {
		if (!connected) return;
		if (isUnreached(error)) setRefused(undefined);
		if (!isUnreached(found)) return;
		setFound(null);
		setTries((n) => n + 1);
	}, [connected]);

	// biome-ignore lint/correctness/useExhaustiveDependencies: tries asks again
	useEffect(() => {
		const asking = new AbortController();
		const timer = setTimeout(async () => {
			if (problems > 0) return setFound(null);
			if (draft.workflowType === toolsList) return setFound(new Failure(0, "", ofLists()));
			if (!editor().matches)
				void check(draft, asking.signal).then(
					({ matches }) => setEditor({ matches }),
					() => {},
				);
			try {
				const { data } = await api.POST("/v1/workflows/{id}/backtest", {
					params: { path: { id: editor().id } },
					body: { last, definition: draft as never },
					signal: asking.signal,
				});
				setFound(data!);
			} catch (error) {
				if (!asking.signal.aborted) setFound(error as Error);
			}
		}, 300);
		return () => {
			clearTimeout(timer);
			asking.abort();
		};
	}, [draft, problems, tries]);

	const enable = async (mode: "enforce" | "shadow") => {
		ask(false);
		setBusy(true);
		setRefused(undefined);
		try {
			setMode(mode);
			const isOpen = stillOpen();
			await save(true);
			if (!isOpen()) return; // nobody enables what was left meanwhile
			const { saving } = editor();
			if (saving.state !== "saved")
				throw saving.state === "failed" ? saving.error : new Failure(0, "", t("The draft is not saved yet."));
			const { draft: enabled } = editor();
			await enableVersion(editor().base, { mode, force: force || undefined });
			const others: S["Workflow"][] = [];
			for (const other of siblings.chosen(mode))
				try {
					await siblings.enable(other, mode, enabled);
					others.push(other);
				} catch (error) {
					complain(t("“{name}” is not enabled: {why}", { name: other.name, why: messageOf(error) }));
				}
			refresh("/v1/workflows");
			if (!isOpen()) return;
			say(
				sentences(
					enabledText(editor().info!, all.data?.off),
					others.length > 0 &&
						(mode === "shadow"
							? tn(
									others.length,
									"{n} more of its template runs in shadow too.",
									"{n} more of its template run in shadow too.",
								)
							: tn(
									others.length,
									"{n} more of its template is enabled too.",
									"{n} more of its template are enabled too.",
								)),
				),
			);
			onClose();
		} catch (error) {
			const isTests = error instanceof Failure && error.status === 409 && (tests?.failed ?? 0) > 0;
			setRefused({ what: whatOf(editor().draft), error, force: isTests });
			// What the server refuses is shown as a problem of a step, if it is one.
			if (error instanceof Failure && error.status === 400) await checkNow();
		} finally {
			setBusy(false);
		}
	};

	return (
		<Card className="flex shrink-0 flex-wrap items-center gap-3 px-4 py-3" role="region" aria-label={t("Enable")}>
			<div className="flex min-w-0 flex-1 basis-80 flex-col gap-2">
				<div role="status">
					{unread.length > 0 ? (
						<NotSaved draft={draft} unread={unread} />
					) : problems > 0 ? (
						<Refused draft={draft} problems={wrong} />
					) : error ? (
						<span className="whitespace-pre-wrap text-bad">{messageOf(error)}</span>
					) : found ? (
						<Sentence found={found} matches={matches} tests={tests} />
					) : (
						<span className="flex items-center gap-2 text-muted">
							<Spinner />
							{t("Trying the draft on the last {n} calls…", { n: last })}
						</span>
					)}
				</div>
				{nothing && <p>{nothing}</p>}
				{acting && !inForce && <Instead acting={acting} />}
				<Siblings {...siblings} />
			</div>
			<div className="ml-auto flex items-center gap-3 max-sm:flex-wrap max-sm:justify-end sm:shrink-0">
				<Button
					disabled={problems > 0 || unread.length > 0 || readOnly}
					busy={busy || siblings.pending}
					title={t("It runs beside the calls and only records what it would have done, until you enable it.")}
					onClick={() => (acting ? ask(true) : void enable("shadow"))}
				>
					{force
						? t("Shadow in spite of failing tests")
						: acting
							? t("Stop v{version}, only watch…", { version: acting })
							: t("Shadow first")}
				</Button>
				<Button
					look="primary"
					disabled={problems > 0 || unread.length > 0 || Boolean(nothing)}
					busy={busy || siblings.pending}
					onClick={() => void enable("enforce")}
				>
					{force ? t("Enable in spite of failing tests") : t("Enable")}
				</Button>
				<Button look="quiet" size="icon" aria-label={t("Close")} onClick={onClose}>
					<X />
				</Button>
			</div>
			{asking && (
				<Confirm
					title={t("Stop v{version}, and only watch?", { version: acting! })}
					action={t("Only watch from now on")}
					danger
					onClose={() => ask(false)}
					onConfirm={() => void enable("shadow")}
				>
					{t(
						"In shadow the draft changes and refuses nothing. v{version} stops, so calls pass without the workflow until you enable it.",
						{ version: acting! },
					)}
				</Confirm>
			)}
		</Card>
	);
}

/** Instead says which version the draft takes the place of, and leads to what differs. */
function Instead({ acting }: { acting: number }) {
	const [, setSearch] = useAddress();
	const newest = useEditor((s) => s.base);
	return (
		<p>
			{t("It takes the place of v{version}, which acts on calls now.", { version: acting })}
			{newest !== acting && (
				<>
					{between()}
					<button
						type="button"
						className="text-accent hover:underline"
						onClick={() =>
							setSearch(
								(params) => {
									for (const [key, value] of Object.entries({ panel: "versions", version: newest, with: acting }))
										params.set(key, String(value));
									return params;
								},
								{ replace: true },
							)
						}
					>
						{t("Show what differs")}
					</button>
				</>
			)}
		</p>
	);
}

/** whatOf is what a draft does, whether it acts or only watches. */
const whatOf = (draft: Definition): string => JSON.stringify({ ...draft, mode: undefined });

/** Refused names the problems by the steps that have them. A click selects the step. */
function Refused({ draft, problems }: { draft: Definition; problems: Problem[] }) {
	return (
		<div className="text-bad">
			{tn(problems.length, "{n} problem keeps it from being enabled.", "{n} problems keep it from being enabled.")}
			<ul className="max-h-24 overflow-y-auto">
				{problems.slice(0, 30).map((problem, i) => (
					// biome-ignore lint/suspicious/noArrayIndexKey: two may say the same
					<li key={i}>
						<button type="button" className="text-left hover:underline" onClick={() => showProblem(problem)}>
							{saidOf(draft, problem)}
						</button>
					</li>
				))}
			</ul>
		</div>
	);
}

/** NotSaved names the fields whose texts the draft lacks, and can discard them. */
function NotSaved({ draft, unread }: { draft: Definition; unread: Unread[] }) {
	return (
		<div className="text-bad">
			{tn(
				unread.length,
				"What is written in {n} field is not saved, and would not be enabled. Mend it, or discard it.",
				"What is written in {n} fields is not saved, and would not be enabled. Mend it, or discard it.",
			)}
			<ul className="max-h-24 overflow-y-auto">
				{unread.map((one) => (
					<li key={`${one.step} ${one.path}`}>
						<button type="button" className="text-left hover:underline" onClick={() => showUnread(one)}>
							{fieldOf(draft, one)}
						</button>
					</li>
				))}
			</ul>
			<Button size="small" className="mt-1" onClick={() => discardUnread(draft.id)}>
				{t("Discard what is written there")}
			</Button>
		</div>
	);
}

/** Past says what the draft would have done to past calls. */
export function Past({ found, passes }: { found: S["BacktestResult"]; passes: boolean }) {
	const tried = found.calls + found.unmatched;
	if (tried === 0) return <span className="text-muted">{t("There are no calls to try it on yet.")}</span>;
	const whom =
		tried > 1
			? t("It is for {n} of the last {all} calls that could be tried.", { n: number(found.calls), all: number(tried) })
			: found.calls === 1
				? t("It is for the one call that could be tried.")
				: t("It is not for the one call that could be tried.");
	if (found.calls === 0)
		return (
			<span className="text-warn">
				{sentences(whom, t("If it should be for some of them, look at its tools, servers and clients."))}
			</span>
		);
	const parts = [
		...(found.denied + found.failed === 0 ? [t("{n} refused", { n: number(0) })] : []),
		...(found.changed === 0 ? [t("{n} changed", { n: number(0) })] : []),
		...(found.asked > 0 ? [t("{n} asked about", { n: number(found.asked) })] : []),
		t("95% take at most {time} longer", { time: took(found.p95Millis) }),
	];
	return (
		<span className="text-muted">
			{whom}
			{between()}
			{found.denied > 0 && (
				<Such found={found} outcome="denied">
					{tn(found.denied, "{n} call would be refused.", "{n} calls would be refused.")}
				</Such>
			)}
			{found.changed > 0 && (
				<Such found={found} outcome="changed">
					{tn(found.changed, "{n} call would be changed.", "{n} calls would be changed.")}
				</Such>
			)}
			{found.incomplete > 0 && (
				<b className="font-medium text-warn">
					{tn(
						found.incomplete,
						"What becomes of {n} call is not known: a script fetches something or calls a tool, and a trial does not.",
						"What becomes of {n} calls is not known: a script fetches something or calls a tool, and a trial does not.",
					)}
				</b>
			)}
			{found.incomplete > 0 && between()}
			{found.failed > 0 && (
				<Such found={found} outcome="failed">
					{passes
						? tn(
								found.failed,
								"{n} call would pass unchanged, because the workflow fails.",
								"{n} calls would pass unchanged, because the workflow fails.",
							)
						: tn(
								found.failed,
								"{n} call would be refused or get no answer, because the workflow fails.",
								"{n} calls would be refused or get no answer, because the workflow fails.",
							)}
				</Such>
			)}
			{t("{list}.", { list: list(parts) })}
			{found.asked > 0 && (
				<>
					{between()}
					{t("The time in which a person is asked is not counted.")}
				</>
			)}
			{found.skipped > found.tooLarge && (
				<>
					{between()}
					{tn(
						found.skipped - found.tooLarge,
						"{n} other call could not be tried: it did not reach a server, or is not kept whole.",
						"{n} other calls could not be tried: they did not reach a server, or are not kept whole.",
					)}
				</>
			)}
			{found.tooLarge > 0 && (
				<>
					{between()}
					<button type="button" className="text-warn hover:underline" onClick={showLimits}>
						{tn(
							found.tooLarge,
							"{n} call could not be tried: it is larger than limits.payloadKB, so the workflow would fail on it.",
							"{n} calls could not be tried: they are larger than limits.payloadKB, so the workflow would fail on them.",
						)}
					</button>
				</>
			)}
		</span>
	);
}

/** showLimits leads to the setting of the largest call that scripts take. */
function showLimits(): void {
	select([]);
	requestAnimationFrame(() => document.querySelector<HTMLElement>("[data-payload]")?.focus());
}

/** Such names calls that go badly, and replays one after the other when it is clicked. */
function Such({
	found,
	outcome,
	children,
}: {
	found: S["BacktestResult"];
	outcome: "denied" | "failed" | "changed";
	children: string;
}) {
	const [search, setSearch] = useAddress();
	const calls = found.examples.filter((one) => one.outcome === outcome).map((one) => one.call);
	const at = calls.indexOf(search.get("call") ?? "");
	const next = calls[(at + 1) % calls.length];
	return (
		<>
			<button
				type="button"
				className={cx("enabled:hover:underline", outcome === "changed" ? "text-accent" : "text-bad")}
				disabled={!next}
				title={t("Shows one of these calls. Click again for the next.")}
				aria-pressed={at >= 0}
				onClick={() =>
					setSearch(
						(params) => {
							params.delete("run");
							params.set("call", next!);
							return params;
						},
						{ replace: true },
					)
				}
			>
				{children}
			</button>
			{between()}
			{at >= 0 && (
				<>
					<span className="text-faint">{t("(example {n} of {all} is shown)", { n: at + 1, all: calls.length })}</span>
					{between()}
				</>
			)}
		</>
	);
}

function Sentence({
	found,
	matches,
	tests,
}: {
	found: S["BacktestResult"] | Error;
	matches: S["WorkflowMatches"] | null;
	tests: S["WorkflowTestResults"] | null;
}) {
	const [, setSearch] = useAddress();
	const passes = useEditor((s) => s.draft.failMode === "open");
	const all = tests ? tests.passed + tests.failed : 0;
	return (
		<>
			{matches && (
				<b title={matches.names.join("\n")} className={cx(matches.noServers && "text-warn")}>
					{matches.noServers
						? noServer(matches.noServers)
						: matches.tools === 0
							? t("No tool matches.")
							: t("It runs around {tools} ({where}).", {
									tools: tn(matches.tools, "{n} tool", "{n} tools"),
									where: list([
										...(matches.servers > 0 ? [tn(matches.servers, "{n} server", "{n} servers")] : []),
										...(matches.builtIn ?? []).map(partName),
									]),
								})}
				</b>
			)}
			{between()}
			{found instanceof Error ? (
				<span className="text-muted">{messageOf(found)}</span>
			) : (
				<Past found={found} passes={passes} />
			)}
			{between()}
			{all > 0 && (
				<button
					type="button"
					className={cx("hover:underline", tests!.failed > 0 ? "text-bad" : "text-muted")}
					onClick={() =>
						setSearch(
							(params) => {
								params.set("panel", "tests");
								return params;
							},
							{ replace: true },
						)
					}
				>
					{tests!.failed > 0
						? tn(tests!.failed, "{n} of {all} tests fails.", "{n} of {all} tests fail.", { all })
						: tn(all, "The test passes.", "All {n} tests pass.")}
				</button>
			)}
		</>
	);
}
