import { Check, ChevronRight, FlaskConical, Trash2, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { api, Failure, query, refresh, type S } from "../../../api/client";
import { t, tn } from "../../../lang";
import { Button, Cap, complain, cx, Field, Input, Json, Loaded, messageOf, Select, Spinner, say } from "../../../ui";
import type { Definition } from "../definition";
import { editor, setEditor, useEditor } from "../store";
import { save } from "../sync";

type Test = S["WorkflowTest"] & { id: string };
type Result = S["WorkflowTestResult"];

/** useTests runs the tests of the draft, again after each change of it or of them. */
export function useTests(): void {
	const id = useEditor((s) => s.id);
	const isStored = useEditor((s) => s.base > 0);
	const { data } = query.useQuery(
		"get",
		"/v1/workflows/{id}/tests",
		{ params: { path: { id } } },
		{ enabled: isStored },
	);
	const draft = useEditor((s) => s.draft);
	const problems = useEditor((s) => s.problems.length);
	useEffect(() => {
		if (problems > 0 || !data?.tests.length) {
			setEditor({ tests: useEditor.getInitialState().tests });
			return;
		}
		const asking = new AbortController();
		const run = async () => {
			await runTests(draft, asking.signal);
			const { error } = editor().tests;
			const isAway = error instanceof Failure && (error.status === 0 || error.status >= 500);
			if (isAway && !asking.signal.aborted) timer = setTimeout(run, 5000);
		};
		let timer = setTimeout(run, 300);
		return () => {
			clearTimeout(timer);
			asking.abort();
		};
	}, [draft, problems, data]);
}

async function runTests(draft: Definition, signal?: AbortSignal): Promise<void> {
	const { id, tests } = editor();
	const isWanted = () => !signal?.aborted && editor().id === id && editor().draft === draft;
	setEditor({ tests: { ...tests, running: true } });
	try {
		const { data } = await api.POST("/v1/workflows/{id}/tests", {
			params: { path: { id } },
			body: { definition: draft as never },
			signal,
		});
		if (isWanted()) setEditor({ tests: { results: data!, error: null, running: false } });
	} catch (error) {
		if (isWanted()) setEditor({ tests: { results: tests.results, error, running: false } });
	}
}

/** Tests is the test bench: calls that are kept with the workflow, and what must come of
 * them. */
export function Tests({ onClose }: { onClose: () => void }) {
	const id = useEditor((s) => s.id);
	const problems = useEditor((s) => s.problems.length);
	const readOnly = useEditor((s) => s.readOnly !== null);
	const tests = query.useQuery("get", "/v1/workflows/{id}/tests", { params: { path: { id } } });
	const { results, error, running } = useEditor((s) => s.tests);
	const [open, setOpen] = useState<string | null>(null);
	const by = new Map(results?.tests.map((result) => [result.id, result]));
	const n = tests.data?.tests.length ?? 0;
	return (
		<section aria-label={t("Tests")} className="flex h-full flex-col">
			<Cap>
				{t("Tests")}
				<span className="ml-auto flex items-center gap-1">
					{n > 0 && (
						<Button
							look="quiet"
							size="small"
							className="text-accent!"
							disabled={problems > 0}
							onClick={() => void runTests(editor().draft)}
						>
							{running ? <Spinner /> : <FlaskConical />}
							{t("Run them")}
						</Button>
					)}
					<Button look="quiet" size="iconSmall" aria-label={t("Close")} onClick={onClose}>
						<X />
					</Button>
				</span>
			</Cap>
			<div className="min-h-0 flex-1 overflow-y-auto">
				<p role="status" className="px-4 pt-3 text-xs">
					{problems > 0 ? (
						<span className="text-muted">{t("The draft has problems; the tests run when it has none.")}</span>
					) : error ? (
						<span className="text-bad">{messageOf(error)}</span>
					) : n === 0 ? (
						<span className="text-muted">
							{t(
								"A test is a call, the answer that its server gave, and what must come of it. While one fails, the workflow is enabled only after you confirm it.",
							)}
						</span>
					) : results && results.failed > 0 ? (
						<span className="text-bad">
							{tn(results.failed, "{n} of {all} tests fails.", "{n} of {all} tests fail.", {
								all: results.passed + results.failed,
							})}
						</span>
					) : results ? (
						<span className="text-ok">{tn(results.passed, "The test passes.", "All {n} tests pass.")}</span>
					) : (
						<span className="text-muted">{t("The tests are running…")}</span>
					)}
				</p>
				<Loaded query={tests}>
					{(data) => (
						<ul className="p-2">
							{(data.tests as Test[]).map((test) => (
								<TestRow
									key={test.id}
									test={test}
									result={by.get(test.id)}
									open={open === test.id}
									onOpen={() => setOpen(open === test.id ? null : test.id)}
								/>
							))}
						</ul>
					)}
				</Loaded>
				{!readOnly && <NewTest tests={(tests.data?.tests ?? []) as Test[]} />}
			</div>
		</section>
	);
}

function TestRow({ test, result, open, onOpen }: { test: Test; result?: Result; open: boolean; onOpen: () => void }) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	const params = test.call.params as { name?: string; arguments?: unknown } | undefined;
	const remove = async () => {
		const path = { id: editor().id, test: test.id };
		await api.DELETE("/v1/workflows/{id}/tests/{test}", { params: { path } });
		refresh("/v1/workflows/{id}/tests");
		say(t("The test “{name}” is deleted.", { name: test.name || test.id }), () => {
			const { id: _, ...body } = test;
			void api
				.PUT("/v1/workflows/{id}/tests/{test}", { params: { path }, body: body as S["NewWorkflowTest"] })
				.then(() => refresh("/v1/workflows/{id}/tests"))
				.catch(complain);
		});
	};
	return (
		<li>
			<button
				type="button"
				aria-expanded={open}
				onClick={onOpen}
				className={cx(
					"flex min-h-8 w-full items-center gap-2 rounded-md px-2 py-1 text-left hover:bg-sunken focus-visible:-outline-offset-2",
					open && "bg-sunken",
				)}
			>
				{!result ? (
					<ChevronRight aria-hidden className="size-4 shrink-0 text-faint" />
				) : result.passed ? (
					<Check aria-label={t("passes")} className="size-4 shrink-0 text-ok" />
				) : (
					<X aria-label={t("fails")} className="size-4 shrink-0 text-bad" />
				)}
				<span className="line min-w-0 flex-1 font-medium">{test.name || test.id}</span>
				<span className="shrink-0 text-faint text-xs">{expectation(test.expect)}</span>
			</button>
			{open && (
				<div className="mb-2 rounded-md border border-line">
					{result && !result.passed && <Why result={result} />}
					<div className="px-3 pt-2 text-faint text-xs">
						{t("Call of {tool}", { tool: params?.name ?? test.call.tool ?? "–" })}
						{test.call.client && ` · ${test.call.client}`}
					</div>
					<Json value={params?.arguments ?? params ?? {}} className="max-h-40! px-3! py-1!" />
					{test.expect.arguments !== undefined && (
						<>
							<div className="px-3 pt-2 text-faint text-xs">{t("The server must receive")}</div>
							<Json value={test.expect.arguments} className="max-h-40! px-3! py-1!" />
						</>
					)}
					{test.expect.response !== undefined && (
						<>
							<div className="px-3 pt-2 text-faint text-xs">{t("The answer must be")}</div>
							<Json value={test.expect.response} className="max-h-40! px-3! py-1!" />
						</>
					)}
					{!readOnly && (
						<div className="px-3 pb-2">
							<Button size="small" onClick={() => void remove().catch(complain)}>
								<Trash2 />
								{t("Delete it")}
							</Button>
						</div>
					)}
				</div>
			)}
		</li>
	);
}

/** Why says what is not as a test expects it. */
function Why({ result }: { result: Result }) {
	const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
	return (
		<dl className="border-line border-b bg-bad-soft px-3 py-2 text-xs">
			{(result.mismatches ?? []).map((mismatch, i) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: mismatches have no other name
				<div key={i} className="py-0.5">
					<dt className="font-medium text-bad">{whatText(mismatch.what)}</dt>
					<dd className="break-words">
						{t("expected: {want}; was: {got}", { want: wordOf(text(mismatch.want)), got: wordOf(text(mismatch.got)) })}
					</dd>
				</div>
			))}
			{result.reason && <dd className="pt-1 break-words text-muted">{result.reason}</dd>}
		</dl>
	);
}

const whatText = (what: string): string =>
	({
		outcome: t("What becomes of the call"),
		changed: t("Whether something is changed"),
		reason: t("The reason"),
		arguments: t("The arguments that the server receives"),
		response: t("The answer"),
	})[what] ?? what;

/** wordOf is a value of an outcome in words; other texts stay. */
const wordOf = (value: string): string =>
	({
		ok: t("it goes through"),
		denied: t("it is refused"),
		failed: t("the workflow fails"),
		passed: t("it fails, and the call passes"),
		unmatched: t("the workflow is not for it"),
		true: t("yes"),
		false: t("no"),
	})[value] ?? (value.length > 200 ? `${value.slice(0, 200)}…` : value);

/** expectations are what a test may say must come of a call. */
const expectations: { id: string; title: string; expect: S["NewWorkflowTest"]["expect"] }[] = [
	{ id: "now", title: /* t */ "what the draft does now", expect: undefined },
	{ id: "denied", title: /* t */ "it is refused", expect: { outcome: "denied" } },
	{ id: "changed", title: /* t */ "it goes through, changed", expect: { outcome: "ok", changed: true } },
	{ id: "unchanged", title: /* t */ "it goes through as it is", expect: { outcome: "ok", changed: false } },
	{ id: "failed", title: /* t */ "the workflow fails", expect: { outcome: "failed" } },
	{ id: "unmatched", title: /* t */ "the workflow is not for it", expect: { outcome: "unmatched" } },
];

/** expectation says in a few words what a test expects. */
function expectation(expect: S["ExpectedOutcome"]): string {
	const { outcome, changed } = expect;
	if (outcome === "ok" && changed && (expect.response !== undefined || expect.arguments !== undefined))
		return t("it goes through, changed like this");
	const known = expectations.find(
		(one) => one.expect && one.expect.outcome === outcome && (one.expect.changed ?? changed) === changed,
	);
	return known ? t(known.title) : outcome ? wordOf(outcome) : t("as it says");
}

/** NewTest keeps the input of the editor as a test. */
function NewTest({ tests }: { tests: Test[] }) {
	const sample = useEditor((s) => s.sample);
	const problems = useEditor((s) => s.problems.length);
	const [name, setName] = useState("");
	const [expected, setExpected] = useState("now");
	const [text, setText] = useState("");
	const [busy, setBusy] = useState(false);
	const input = useRef<HTMLInputElement>(null);
	const taken = name.trim() !== "" && tests.some((test) => (test.name || test.id) === name.trim());
	const keep = async () => {
		if (!sample || taken) return;
		setBusy(true);
		try {
			await save(); // what it does now is what the stored draft does
			const chosen = expectations.find((one) => one.id === expected)!.expect;
			const has = text.trim();
			const expect =
				chosen && has
					? { ...chosen, ...(chosen.outcome === "denied" ? { reasonContains: has } : { responseContains: has }) }
					: chosen;
			await api.PUT("/v1/workflows/{id}/tests/{test}", {
				params: { path: { id: editor().id, test: freeID(name, tests) } },
				body: { name: name.trim() || undefined, from: sample.id, expect } as S["NewWorkflowTest"],
			});
			refresh("/v1/workflows/{id}/tests");
			setName("");
			setText("");
			input.current?.focus();
		} catch (error) {
			complain(error);
		} finally {
			setBusy(false);
		}
	};
	return (
		<div className="m-2 rounded-md border border-line">
			<div className="border-line border-b px-3 py-2 font-medium text-xs">{t("Keep the input as a test")}</div>
			{sample ? (
				<div className="flex flex-col gap-3 p-3">
					<p className="text-muted text-xs">
						{t(
							"The call of {tool} and the answer that it got are kept, without secrets. The input pane chooses another call.",
							{
								tool: sample.tool ?? sample.method,
							},
						)}
					</p>
					<div className="grid grid-cols-[2fr_3fr] gap-2">
						<Field label={t("Name")} error={taken && t("Another test has this name.")}>
							<Input
								ref={input}
								value={name}
								placeholder={t("what it shows")}
								onChange={(event) => setName(event.target.value)}
								onEnter={() => void keep()}
							/>
						</Field>
						<Field label={t("What must come of it")}>
							<Select value={expected} onChange={(event) => setExpected(event.target.value)}>
								{expectations.map((one) => (
									<option key={one.id} value={one.id} disabled={one.id === "now" && problems > 0}>
										{t(one.title)}
									</option>
								))}
							</Select>
						</Field>
					</div>
					{["denied", "changed", "unchanged"].includes(expected) && (
						<Field label={expected === "denied" ? t("The reason has this text") : t("The answer has this text")}>
							<Input
								value={text}
								placeholder={t("anything")}
								onChange={(event) => setText(event.target.value)}
								onEnter={() => void keep()}
							/>
						</Field>
					)}
					{/* It is in sight wherever the form is scrolled to. */}
					<div className="sticky bottom-0 -mx-3 -mb-3 rounded-b-md bg-surface px-3 py-2">
						<Button look="primary" busy={busy} disabled={taken} onClick={() => void keep()}>
							{t("Keep it")}
						</Button>
					</div>
				</div>
			) : (
				<p className="p-3 text-muted text-xs">
					{t("Choose a call as the input first. It becomes a test with the answer that it got.")}
				</p>
			)}
		</div>
	);
}

/** freeID is an id for a test with a name. */
function freeID(name: string, tests: Test[]): string {
	const plain = name
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, "-")
		.replace(/^-+|-+$/g, "")
		.slice(0, 60);
	const base = plain || "test";
	const taken = new Set(tests.map((test) => test.id));
	if (plain && !taken.has(base)) return base;
	for (let n = plain ? 2 : 1; ; n++) if (!taken.has(`${base}-${n}`)) return `${base}-${n}`;
}
