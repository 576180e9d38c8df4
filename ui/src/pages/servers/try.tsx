import { CircleCheck, CircleX, LoaderCircle } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { api, type S } from "@/api/client";
import { between, ended, list, number, t, tn, took } from "@/lang";
import { Button, Problem, Prose, seen } from "@/ui";

type Outcome = { result?: S["ServerTest"]; error?: unknown };

/** Trial is a server that is tried, or what came of it. */
type Trial = Outcome & {
	/** When it began, while it runs. */
	since?: number;
	start: (ask: (signal: AbortSignal) => Promise<S["ServerTest"]>) => Promise<void>;
	/** cancel ends the trial and the process, and forgets the outcome. */
	cancel: () => void;
};

/** useTrial tries a server. A trial ends with the part of the page that began it. */
export function useTrial(): Trial {
	const [outcome, setOutcome] = useState<Outcome>({});
	const [since, setSince] = useState<number>();
	const running = useRef<AbortController>(undefined);
	useEffect(() => () => running.current?.abort(), []);
	const cancel = () => {
		running.current?.abort();
		running.current = undefined;
		setSince(undefined);
		setOutcome({});
	};
	const start: Trial["start"] = async (ask) => {
		cancel();
		const own = new AbortController();
		running.current = own;
		setSince(Date.now());
		const done = await ask(own.signal).then(
			(result): Outcome => ({ result }),
			(error): Outcome => ({ error }),
		);
		if (own.signal.aborted) return;
		setSince(undefined);
		setOutcome(done);
	};
	return { ...outcome, since, start, cancel };
}

/** useTrials tries several servers, each by its key, one after the other. */
export function useTrials() {
	const [outcomes, setOutcomes] = useState<Record<string, Outcome & { since?: number }>>({});
	const running = useRef<AbortController>(undefined);
	useEffect(() => () => running.current?.abort(), []);
	const cancel = () => {
		running.current?.abort();
		running.current = undefined;
		setOutcomes({});
	};
	const start = async (servers: [key: string, body: S["NewServer"]][]) => {
		cancel();
		const own = new AbortController();
		running.current = own;
		for (const [key, body] of servers) {
			setOutcomes((old) => ({ ...old, [key]: { since: Date.now() } }));
			const done = await api.POST("/v1/servers/test", { body, signal: own.signal }).then(
				({ data }): Outcome => ({ result: data }),
				(error): Outcome => ({ error }),
			);
			if (own.signal.aborted) return;
			setOutcomes((old) => ({ ...old, [key]: done }));
		}
	};
	const busy = Object.values(outcomes).some((one) => one.since !== undefined);
	return { outcomes, busy, start, cancel };
}

/** Tried shows what a trial does, and what came of it. */
export function Tried({ trial, className }: { trial: Omit<Trial, "start">; className?: string }) {
	const { since, error, result } = trial;
	if (since === undefined && !error && !result) return null;
	return (
		<div className={className}>
			{since !== undefined && <Waiting since={since} onCancel={trial.cancel} />}
			{error !== undefined && <Problem error={error} />}
			{result && <TestResult result={result} />}
		</div>
	);
}

function Waiting({ since, onCancel }: { since: number; onCancel: () => void }) {
	const [now, setNow] = useState(since);
	useEffect(() => {
		const timer = setInterval(() => setNow(Date.now()), 1000);
		return () => clearInterval(timer);
	}, []);
	const seconds = Math.max(0, Math.round((now - since) / 1000));
	return (
		<div className="flex items-center gap-3 rounded-lg bg-sunken px-4 py-3">
			<LoaderCircle className="size-5 shrink-0 animate-spin text-muted" />
			<span className="min-w-0 flex-1">
				<span role="status">{t("Starting it once, and waiting for its answer to initialize.")}</span>{" "}
				<span className="text-muted tabular-nums">{t("{n} s", { n: number(seconds) })}</span>
			</span>
			<Button size="small" onClick={onCancel}>
				{t("Stop the test")}
			</Button>
		</div>
	);
}

/** TestResult says whether a server works, and why not. */
function TestResult({ result }: { result: S["ServerTest"] }) {
	if (!result.success)
		return (
			<div role="alert" className="rounded-lg bg-bad-soft px-4 py-3 text-bad">
				<div className="flex gap-2 font-medium">
					<CircleX className="size-5 shrink-0" />
					<span>{result.error ? <Prose text={ended(result.error)} /> : t("It does not work.")}</span>
				</div>
				{result.output && result.output.length > 0 && (
					<pre className="mt-2 max-h-48 overflow-auto whitespace-pre-wrap break-words text-text">
						{seen(result.output.join("\n"))}
					</pre>
				)}
			</div>
		);
	const has = list([
		tn(result.tools, "{n} tool", "{n} tools"),
		tn(result.prompts, "{n} prompt", "{n} prompts"),
		tn(result.resources, "{n} resource", "{n} resources"),
	]);
	return (
		<div role="status" className="flex gap-2 rounded-lg bg-ok-soft px-4 py-3 text-ok">
			<CircleCheck className="size-5 shrink-0" />
			<span>
				<b className="font-medium">{t("It works.")}</b>
				{between()}
				{t("{has}. It took {time}.", { has, time: took(result.tookMs) })}
			</span>
		</div>
	);
}
