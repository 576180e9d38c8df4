import { X } from "lucide-react";
import { useEffect, useState } from "react";
import { api, Failure, type S } from "../../../api/client";
import { number, t, tn, took } from "../../../lang";
import { Button, Card, messageOf, Spinner, say } from "../../../ui";
import { enableVersion } from "../header";
import { edit, editor, useEditor } from "../store";
import { check, save } from "../sync";

const last = 200;

/** EnableBar says what the draft would have done, and enables it. */
export function EnableBar({ onClose }: { onClose: () => void }) {
	const draft = useEditor((s) => s.draft);
	const base = useEditor((s) => s.base);
	const saved = useEditor((s) => s.saving.state === "saved");
	const problems = useEditor((s) => s.problems.length);
	const readOnly = useEditor((s) => s.readOnly !== null);
	const [found, setFound] = useState<S["BacktestResult"] | null>(null);
	const [matches, setMatches] = useState<S["WorkflowMatches"] | null>(null);
	const [tests, setTests] = useState<S["WorkflowTestResults"] | null>(null);
	const [error, setError] = useState<unknown>(null);
	const [busy, setBusy] = useState(false);
	const [force, setForce] = useState(false);

	useEffect(() => {
		const asking = new AbortController();
		const timer = setTimeout(async () => {
			setError(null);
			if (problems > 0) return setFound(null);
			try {
				const path = { id: editor().id };
				const [checked, backtest, results] = await Promise.all([
					check(draft, asking.signal),
					api.POST("/v1/workflows/{id}/backtest", {
						params: { path },
						body: { last, definition: draft as never },
						signal: asking.signal,
					}),
					api.POST("/v1/workflows/{id}/tests", {
						params: { path },
						body: { definition: draft as never },
						signal: asking.signal,
					}),
				]);
				setFound(backtest.data!);
				setMatches(checked.matches);
				setTests(results.data!);
			} catch (error) {
				if (!asking.signal.aborted) setError(error);
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
			await save();
			if (editor().saving.state !== "saved") throw new Failure(0, "", t("The draft is not saved yet."));
			const version = editor().base;
			await enableVersion(version, force || undefined);
			say(
				mode === "shadow"
					? t("Version {version} watches the calls and changes nothing.", { version })
					: t("Version {version} is active.", { version }),
			);
			onClose();
		} catch (error) {
			setError(error);
			setForce(tests !== null && tests.failed > 0);
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
			<Button
				disabled={problems > 0 || readOnly}
				busy={busy}
				title={t("It runs beside the calls and only records what it would have done.")}
				onClick={() => void enable("shadow")}
			>
				{t("Shadow first")}
			</Button>
			<Button look="primary" disabled={problems > 0} busy={busy} onClick={() => void enable("enforce")}>
				{force ? t("Enable in spite of failing tests") : t("Enable v{version}", { version: saved ? base : base + 1 })}
			</Button>
			<Button look="quiet" size="icon" aria-label={t("Close")} onClick={onClose}>
				<X />
			</Button>
		</Card>
	);
}

function Sentence({
	found,
	matches,
	tests,
}: {
	found: S["BacktestResult"];
	matches: S["WorkflowMatches"] | null;
	tests: S["WorkflowTestResults"] | null;
}) {
	const tried = found.calls + found.unmatched;
	const parts = [
		t("{n} refused", { n: number(found.denied) }),
		t("{n} changed", { n: number(found.changed) }),
		...(found.failed > 0 ? [t("{n} failed", { n: number(found.failed) })] : []),
		...(found.asked > 0 ? [t("{n} asked about", { n: number(found.asked) })] : []),
		t("p95 +{time}", { time: took(found.p95Millis) }),
	];
	const all = tests ? tests.passed + tests.failed : 0;
	return (
		<>
			{matches && (
				<b title={matches.names.join("\n")}>
					{matches.tools === 0
						? t("No tool matches.")
						: `${tn(matches.servers, "{n} server", "{n} servers")}, ${tn(matches.tools, "{n} tool", "{n} tools")}.`}
				</b>
			)}{" "}
			{tried === 0 ? (
				<span className="text-muted">{t("There are no calls to try it on yet.")}</span>
			) : (
				<>
					<span className="text-muted">
						{tn(found.calls, "It is for {n} of the last {all} calls.", "It is for {n} of the last {all} calls.", {
							all: number(tried),
						})}
					</span>{" "}
					{found.calls > 0 && <span className="text-muted">{t("{list}.", { list: parts.join(", ") })}</span>}
				</>
			)}{" "}
			{all > 0 && (
				<span className={tests!.failed > 0 ? "text-bad" : "text-muted"}>
					{t("{passed} of {all} tests pass.", { passed: tests!.passed, all })}
				</span>
			)}
		</>
	);
}
