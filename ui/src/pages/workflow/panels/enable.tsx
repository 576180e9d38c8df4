import { X } from "lucide-react";
import { useEffect, useState } from "react";
import { useAddress } from "@/shell/address";
import { api, Failure, query, refresh, type S } from "../../../api/client";
import { between, list, number, sentences, t, tn, took } from "../../../lang";
import { aroundWord } from "../../../lang/terms";
import { Button, Card, cx, messageOf, Spinner, say } from "../../../ui";
import { partsOf } from "../definition";
import { enableVersion } from "../header";
import { edit, editor, setEditor, useEditor } from "../store";
import { check, save } from "../sync";
import { useTestRun } from "./tests";

const last = 200;

/** EnableBar says what the draft would have done, and enables it. */
export function EnableBar({ onClose }: { onClose: () => void }) {
	const draft = useEditor((s) => s.draft);
	const problems = useEditor((s) => s.problems.length);
	const readOnly = useEditor((s) => s.readOnly !== null);
	const matches = useEditor((s) => s.matches);
	/** What the draft would have done to the last calls, or why that is not known. */
	const [found, setFound] = useState<S["BacktestResult"] | Error | null>(null);
	const { results: tests } = useTestRun();
	const [error, setError] = useState<unknown>(null);
	const [busy, setBusy] = useState(false);
	const [force, setForce] = useState(false);
	const parts = useParts();
	const [together, setTogether] = useState(true);

	useEffect(() => {
		const asking = new AbortController();
		const timer = setTimeout(async () => {
			setError(null);
			setForce(false);
			if (problems > 0) return setFound(null);
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
	}, [draft, problems]);

	const enable = async (mode: "enforce" | "shadow") => {
		setBusy(true);
		setError(null);
		try {
			if ((editor().draft.mode ?? "enforce") !== mode)
				edit((draft) => ({ ...draft, mode: mode === "shadow" ? "shadow" : undefined }));
			await save(true);
			if (editor().saving.state !== "saved") throw new Failure(0, "", t("The draft is not saved yet."));
			await enableVersion(editor().base, { mode, force: force || undefined });
			const version = editor().info!.runningVersion!;
			const others = (together ? parts : []).filter(({ enabled }) => mode === "enforce" || !enabled);
			for (const { id, runningVersion } of others)
				await api.POST("/v1/workflows/{id}/enable", {
					params: { path: { id } },
					body: { mode, version: runningVersion },
				});
			refresh("/v1/workflows");
			say(
				sentences(
					mode === "shadow"
						? t("Version {version} watches the calls and changes nothing, until you enable it.", { version })
						: t("Version {version} is active.", { version }),
					others.length > 0 && tn(others.length, "{n} more of its template too.", "{n} more of its template too."),
				),
			);
			onClose();
		} catch (error) {
			setError(error);
			setForce(error instanceof Failure && error.status === 409 && (tests?.failed ?? 0) > 0);
		} finally {
			setBusy(false);
		}
	};

	return (
		<Card className="flex shrink-0 flex-wrap items-center gap-3 px-4 py-3" role="region" aria-label={t("Enable")}>
			<p className="min-w-0 flex-1 basis-80" role="status">
				{problems > 0 ? (
					<span className="text-bad">
						{tn(problems, "{n} problem keeps it from being enabled.", "{n} problems keep it from being enabled.")}
					</span>
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
			</p>
			{parts.length > 0 && (
				<label className="flex items-center gap-2">
					<input type="checkbox" checked={together} onChange={(event) => setTogether(event.target.checked)} />
					{t("also what its template made for {types}", {
						types: list(parts.map((one) => aroundWord(one.workflowType))),
					})}
				</label>
			)}
			<Button
				disabled={problems > 0 || readOnly}
				busy={busy}
				title={t("It runs beside the calls and only records what it would have done, until you enable it.")}
				onClick={() => void enable("shadow")}
			>
				{t("Shadow first")}
			</Button>
			<Button look="primary" disabled={problems > 0} busy={busy} onClick={() => void enable("enforce")}>
				{force ? t("Enable in spite of failing tests") : t("Enable")}
			</Button>
			<Button look="quiet" size="icon" aria-label={t("Close")} onClick={onClose}>
				<X />
			</Button>
		</Card>
	);
}

/** useParts finds the workflows that the same template made with this one, for other
 * methods of MCP, and that do not act yet: they do not run, or only watch. */
function useParts(): S["Workflow"][] {
	const info = useEditor((s) => s.info);
	const { data } = query.useQuery("get", "/v1/workflows");
	return partsOf(data?.workflows ?? [], info).filter((one) => !(one.enabled && one.mode === "enforce"));
}

/** Past says what the draft would have done to past calls. */
function Past({ found }: { found: S["BacktestResult"] }) {
	const passes = useEditor((s) => s.draft.failMode === "open");
	const tried = found.calls + found.unmatched;
	if (tried === 0) return <span className="text-muted">{t("There are no calls to try it on yet.")}</span>;
	const whom = tn(found.calls, "It is for {n} of the last {all} calls.", "It is for {n} of the last {all} calls.", {
		all: number(tried),
	});
	if (found.calls === 0)
		return (
			<span className="text-warn">
				{sentences(whom, t("If it should be for some of them, look at its tools, servers and clients."))}
			</span>
		);
	const parts = [
		...(found.denied + found.failed === 0 ? [t("{n} refused", { n: number(0) })] : []),
		t("{n} changed", { n: number(found.changed) }),
		...(found.asked > 0 ? [t("{n} asked about", { n: number(found.asked) })] : []),
		t("p95 +{time}", { time: took(found.p95Millis) }),
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
								"{n} call would be refused, because the workflow fails.",
								"{n} calls would be refused, because the workflow fails.",
							)}
				</Such>
			)}
			{t("{list}.", { list: list(parts) })}
		</span>
	);
}

/** Such names calls that go badly, and replays one after the other when it is clicked. */
function Such({
	found,
	outcome,
	children,
}: {
	found: S["BacktestResult"];
	outcome: "denied" | "failed";
	children: string;
}) {
	const [search, setSearch] = useAddress();
	const calls = found.examples.filter((one) => one.outcome === outcome).map((one) => one.call);
	const next = calls[(calls.indexOf(search.get("call") ?? "") + 1) % calls.length];
	return (
		<>
			<button
				type="button"
				className="text-bad enabled:hover:underline"
				disabled={!next}
				title={t("Shows one of these calls. Click again for the next.")}
				onClick={() =>
					setSearch(
						(params) => {
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
	const all = tests ? tests.passed + tests.failed : 0;
	return (
		<>
			{matches && (
				<b title={matches.names.join("\n")}>
					{matches.tools === 0
						? t("No tool matches.")
						: t("{what}.", {
								what: list([
									tn(matches.servers, "{n} server", "{n} servers"),
									tn(matches.tools, "{n} tool", "{n} tools"),
								]),
							})}
				</b>
			)}
			{between()}
			{found instanceof Error ? <span className="text-muted">{messageOf(found)}</span> : <Past found={found} />}
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
					{t("{passed} of {all} tests pass.", { passed: tests!.passed, all })}
				</button>
			)}
		</>
	);
}
