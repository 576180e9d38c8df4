import { useEffect } from "react";
import { api, Failure, queries, refresh, root, type S } from "../../api/client";
import { useConnected } from "../../api/events";
import { parseExact } from "../../api/exact";
import { ended, sentences, t, tn } from "../../lang";
import { complain, messageOf, say } from "../../ui";
import { useUnsaved } from "../../ui/unsaved";
import { ranAs } from "../call/names";
import { askClients, meantClients, noServerText } from "../workflows/around";
import { type Definition, descendants, type Edge, isMoved, nodeOf, replacedBy } from "./definition";
import { readWorkflow } from "./read";
import { endSitting, sittingOf } from "./sitting";
import {
	baseOf,
	edit,
	editor,
	ifMatch,
	load,
	mapHistory,
	nameOf,
	type Problem,
	select,
	setEditor,
	stillOpen,
	type Trace,
	useEditor,
} from "./store";
import { moveUnread } from "./unread";

// What goes on between the draft and the server: saving, checking, replaying.

const saveAfter = 900;
const checkAfter = 200;
const replayAfter = 450;

let writing: Promise<void> | null = null;

/** put stores a draft. A new one gets another id if a workflow has it by now. */
async function put(id: string, draft: Definition, base: number): Promise<S["Workflow"]> {
	for (let free = id, n = 2; ; free = `${id}-${n++}`)
		try {
			const { data } = await api.PUT("/v1/workflows/{id}", {
				params: { path: { id: free }, query: { draft: sittingOf(free) } },
				headers: ifMatch(),
				body: { ...draft, id: free } as never,
			});
			return data!;
		} catch (error) {
			if (base > 0 || n > 99 || !(error instanceof Failure && error.status === 409)) throw error;
		}
}

/** save stores the draft now, unless it is stored already. A new one that nobody has
 * changed is stored only if that is wanted. */
export async function save(unchanged = false): Promise<void> {
	await askedAbout;
	while (writing) await writing;
	const { id, draft, saved, base, readOnly, saving } = editor();
	if (!id || (draft === saved && !(unchanged && base === 0)) || readOnly || saving.state === "deleted") return;
	setEditor({ saving: { state: "saving" } });
	writing = (async () => {
		try {
			const info = await put(id, draft, base);
			if (editor().id !== id) return;
			const now = editor().draft;
			const same = now === draft;
			// The same draft stays the same object, or undo would have a step that does nothing.
			const renamed = (d: Definition) => (info.id === id ? d : { ...d, id: info.id });
			const stored = renamed(draft);
			setEditor({
				id: info.id,
				draft: same ? stored : renamed(now),
				saved: stored,
				...baseOf(info),
				info,
				saving: same ? { state: "saved", at: Date.now() } : { state: "waiting" },
			});
			if (info.id !== id) {
				moveUnread(id, info.id);
				keepChosen(info.id, localStorage.getItem(chosenKey(id)) ?? undefined);
				keepChosen(id);
				mapHistory(renamed);
			}
			refresh("/v1/workflows");
		} catch (error) {
			if (editor().id !== id) return;
			if (base > 0 && error instanceof Failure && error.status === 404)
				return setEditor({ saving: { state: "deleted" } });
			const conflict = error instanceof Failure && error.status === 409;
			setEditor({ saving: { state: conflict ? "conflict" : "failed", error } });
		}
	})();
	await writing;
	writing = null;
}

// Saves the draft that was left last.
let leaving: Promise<void> = Promise.resolve();

/** whenLeft waits until the draft that was left last is stored. Another one takes its place
 * in the editor only then. */
export const whenLeft = (): Promise<void> => leaving;

async function leaveDraft(): Promise<void> {
	await save();
	queries.removeQueries({ queryKey: ["get", "/v1/workflows/{id}"], type: "inactive" }); // that is the draft of before
	const { id, draft, saving } = editor();
	if (saving.state === "failed" || saving.state === "conflict")
		complain(t("The draft of “{name}” is not saved: {why}", { name: draft.name || id, why: messageOf(saving.error) }));
}

/** discard drops what is not stored. */
export function discard(): void {
	setEditor({ draft: editor().saved, saving: { state: "saved" } });
}

/** isRefused tells whether a draft is not stored because of what it is. */
export const isRefused = (error: unknown): boolean => error instanceof Failure && error.status === 400;

/** keepMine stores the draft over what another tab or person has stored. */
export async function keepMine(): Promise<void> {
	endSitting();
	const { id } = editor();
	const theirs = await readWorkflow(id);
	if (editor().id !== id) return;
	setEditor({ ...baseOf(theirs), info: theirs, saving: { state: "waiting" } });
	await save();
}

/** keepDeleted stores what was deleted elsewhere as a new workflow. */
export async function keepDeleted(): Promise<void> {
	endSitting();
	setEditor({ base: 0, baseAt: 0, etag: "", info: null, saving: { state: "waiting" } });
	await save(true);
	refresh("/v1/workflows/{id}");
}

/** takeTheirs takes what is stored. Undo brings the own draft back. */
export async function takeTheirs(): Promise<void> {
	const { id } = editor();
	const theirs = await readWorkflow(id);
	if (editor().id === id) load(theirs);
}

/** check asks the server what is wrong with a definition. */
export async function check(draft: Definition, signal?: AbortSignal): Promise<S["WorkflowCheck"]> {
	const { data } = await api.POST("/v1/workflows/validate", { body: draft as never, signal });
	return data!;
}

// The question about a setting that was written last.
let askedAbout: Promise<unknown> = Promise.resolve();

/** refusalOf asks the server whether the draft may have another value of a setting, which it
 * refuses if its type is wrong. It takes the value if so, and otherwise says why not. What
 * keeps the server from answering is told when the draft is saved. */
export function refusalOf(setting: string, value: unknown, take: () => void): Promise<string | undefined> {
	const ask = async () => {
		try {
			await check({ ...editor().draft, [setting]: value });
		} catch (error) {
			const wrong = isRefused(error) && wrongIn(error as Failure).find((one) => one.field.split(".")[0] === setting);
			if (wrong) return wrong.message;
		}
		take();
	};
	const answer = ask();
	askedAbout = answer;
	return answer;
}

/** wrongIn are the fields that the server has named in a refusal. */
const wrongIn = ({ details }: Failure): { field: string; message: string }[] =>
	Array.isArray(details) ? details : details ? [details as { field: string; message: string }] : [];

/** checkNow asks about the draft, and shows what is wrong. */
export async function checkNow(signal?: AbortSignal): Promise<void> {
	const { draft } = editor();
	const { problems, matches } = await check(draft, signal);
	if (editor().draft === draft) setEditor({ problems, matches, checked: draft });
}

/** problemsNow is what is wrong with the draft as it is. */
async function problemsNow(): Promise<Problem[]> {
	const { draft, checked, problems } = editor();
	return checked === draft ? problems : (await check(draft)).problems;
}

const same = (a: Problem, b: Problem) => a.node === b.node && a.reason === b.reason;

/** reasonOf is what is wrong, with the case of a condition or the line of a script that it is about. */
export const reasonOf = ({ reason, case: way, line }: Problem): string =>
	ended(way ? t("“{way}”: {reason}", { way, reason }) : line ? t("line {line}: {reason}", { line, reason }) : reason);

/** saidOf is a problem with the name of its node. */
export function saidOf(draft: Definition, problem: Problem): string {
	const of = problem.node ? nodeOf(draft, problem.node) : undefined;
	const reason = reasonOf(problem);
	return of ? t("{name}: {reason}", { name: nameOf(of), reason }) : reason;
}

/** showProblem selects the step that has a problem, or shows the settings of the workflow. */
export const showProblem = ({ node }: Problem): void => select(node && nodeOf(editor().draft, node) ? [node] : []);

/** tryEdge asks the server whether an edge is allowed. It takes the place of moved, and of
 * the edge that its exit has. */
export async function tryEdge(edge: Edge, moved?: Edge) {
	const { draft } = editor();
	const without = { ...draft, edges: draft.edges.filter((e) => e !== moved) };
	const replaced = replacedBy(without, edge);
	const would = { ...without, edges: [...without.edges.filter((e) => e !== replaced), edge] };
	const [before, { problems, matches }] = await Promise.all([problemsNow(), check(would)]);
	// What an edge that goes left or led to waits for another one. That forbids nothing.
	const start = draft.nodes.find((n) => n.type === "start");
	const reached = start ? descendants(would, start.id) : new Set<string>();
	const left = new Set([moved, replaced].flatMap((e) => (e ? [...descendants(draft, e.target)] : [])));
	const waits = (id?: string) => id !== undefined && (id === moved?.source || (left.has(id) && !reached.has(id)));
	const wrong = problems.find((problem) => !waits(problem.node) && !before.some((old) => same(old, problem)));
	return { would, replaced, problems, matches, reason: wrong && saidOf(would, wrong) };
}

/** sayReplaced tells that another edge has taken the place of one. */
export function sayReplaced(draft: Definition, edge: Edge): void {
	const target = nodeOf(draft, edge.target);
	if (target) say(t("It takes the place of the edge to “{name}”. Undo brings that back.", { name: nameOf(target) }));
}

/** connect adds an edge if the server allows it, and otherwise shows why not. It takes the
 * place of moved, and of the edge that its exit has. */
export async function connect(edge: Edge, moved?: Edge): Promise<string | undefined> {
	const { draft, readOnly } = editor();
	if (readOnly) return undefined;
	const edges = draft.edges.filter((e) => e !== moved);
	if (
		edges.some(
			(e) =>
				e.source === edge.source &&
				e.target === edge.target &&
				(e.sourceHandle || "out") === (edge.sourceHandle || "out"),
		)
	)
		return undefined;
	setEditor({ refused: { edge, pending: true } });
	try {
		const { would, replaced, problems, matches, reason } = await tryEdge(edge, moved);
		if (reason) {
			setEditor({ refused: { edge, reason, would: true } });
			return reason;
		}
		if (editor().draft !== draft) {
			setEditor({ refused: null }); // it was changed meanwhile
			return undefined;
		}
		edit(() => would);
		setEditor({ problems, matches, checked: would });
		if (replaced) sayReplaced(draft, replaced);
		return undefined;
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error);
		setEditor({ refused: { edge, reason } });
		return reason;
	}
}

// How many replays and runs were asked for. What an earlier one answers is not shown.
let asked = 0;
// Genkan did not answer the last one.
let isAway = false;

/** replayNow runs the draft on the sample, with the server's answer of then. */
export async function replayNow(call?: string): Promise<void> {
	const { id, draft, sample } = editor();
	if (draft.workflowType === toolsList) throw new Failure(0, "", ofLists());
	const chosen = call ?? sample?.id;
	if (!chosen) throw new Failure(0, "", t("There is no input to replay."));
	const mine = ++asked;
	const isOpen = stillOpen();
	const isWanted = () => mine === asked && isOpen();
	setEditor({ replaying: true });
	let why = "";
	try {
		const problems = await problemsNow();
		const [problem] = problems;
		if (problem) {
			why = sentences(
				tn(problems.length, "It cannot be replayed: {n} problem.", "It cannot be replayed: {n} problems."),
				saidOf(draft, problem),
			);
			throw new Failure(0, "", t("It cannot run yet. {problem}", { problem: saidOf(draft, problem) }));
		}
		const { data } = await api.POST("/v1/workflows/{id}/replay", {
			params: { path: { id } },
			body: { call: chosen, definition: draft as never },
		});
		if (!isWanted()) return;
		const steps = Object.fromEntries((data!.trace?.steps ?? []).map((step) => [step.node, step]));
		setEditor({ replay: { call: chosen, matched: data!.matched, steps, result: data!, of: draft }, unplayable: "" });
	} catch (error) {
		if (!isWanted()) return;
		isAway = isUnreached(error);
		setEditor({ unplayable: why || messageOf(error) });
		throw error;
	} finally {
		if (mine === asked) setEditor({ replaying: false });
	}
}

export const toolsList = "tools/list";

/** ofLists says how a workflow of lists of tools is tried. */
export const ofLists = (): string =>
	t(
		"This workflow runs when a client lists its tools. The history keeps no lists, so nothing can be replayed: try it in shadow, and “Runs” shows what it did.",
	);

/** showList shows what the workflow did to a list of tools. */
export function showList(ran: Trace): void {
	const steps = Object.fromEntries(ran.steps.map((step) => [step.node, step]));
	const result = { call: "", matched: true, trace: ran, redacted: ran.redacted };
	setEditor({ replay: { call: "", matched: true, steps, result, ran }, unplayable: "", replaying: false });
}

/** showRun shows what the workflow did when a call was made. It tells whether that is known. */
export function showRun(call: S["CallDetails"]): boolean {
	const traces = (call.workflows ?? []).filter((trace) => trace.workflow === editor().id);
	const ran = traces.find((trace) => !trace.detached) ?? traces[0];
	if (!ran) return false;
	const steps = Object.fromEntries(traces.flatMap((trace) => trace.steps).map((step) => [step.node, step]));
	const redacted = [...new Set([call, ...traces].flatMap((one) => one.redacted ?? []))];
	const result = { call: call.id, matched: true, trace: ran, redacted, error: call.error };
	asked++;
	setEditor({ replay: { call: call.id, matched: true, steps, result, ran }, unplayable: "", replaying: false });
	return true;
}

/** changedBy are the names of the workflows that have changed a call or its answer. The history
 * has what came of it. */
export const changedBy = (call: S["CallDetails"]): string[] => [
	...new Set((call.workflows ?? []).filter((w) => w.changed && w.mode !== "shadow").map(ranAs)),
];

/** isFor asks the server which of the last calls a draft is for, whatever its steps do with
 * them. problem says why that is not known. */
export async function isFor(draft: Definition, signal?: AbortSignal, last = lookedAt) {
	// They become what is meant when their field is left.
	const clients = draft.match?.clients && meantClients(draft.match.clients, await askClients());
	const settings = { ...draft, match: draft.match && { ...draft.match, clients }, ...trivial };
	const { problems, matches } = await check(settings, signal);
	if (problems[0] || draft.workflowType === toolsList)
		return { calls: new Set<string>(), skipped: 0, problem: problems[0]?.reason, matches };
	const { data } = await api.POST("/v1/workflows/{id}/backtest", {
		params: { path: { id: draft.id } },
		body: { last, definition: settings as never },
		signal,
	});
	return { calls: new Set(data!.matched), skipped: data!.skipped, problem: undefined, matches };
}

/** How many of the last calls may be the sample; the latter where these have none. */
export const lookedAt = 200;
export const lookedBack = 5000;

/** findSample looks for the latest call that the workflow is for, or says why there is none;
 * undefined means that nobody knows which calls it is for.
 * It looks further back if deep is set. A call that no workflow has changed comes first: it
 * shows what a replay works on. One that went well shows most. */
export async function findSample(
	signal: AbortSignal,
	deep: boolean,
): Promise<{ sample: S["CallDetails"] | null | undefined; noSample: string }> {
	const { draft } = editor();
	let { calls, skipped, problem, matches } = await isFor(draft, signal);
	if (deep && !problem && calls.size === 0)
		({ calls, skipped, problem, matches } = await isFor(draft, signal, lookedBack));
	if (problem) return { sample: undefined, noSample: t("No call is looked for: {reason}", { reason: ended(problem) }) };
	let best: { sample: S["CallDetails"]; worth: number } | undefined;
	for (const id of [...calls].slice(0, 12)) {
		const sample = await loadCall(id, signal);
		// What was done on a page is not what an agent does.
		const worth =
			(sample.via !== "items" ? 4 : 0) + (changedBy(sample).length === 0 ? 2 : 0) + (sample.outcome === "ok" ? 1 : 0);
		if (worth > (best?.worth ?? -1)) best = { sample, worth };
		if (worth === 7) break;
	}
	return {
		sample: best?.sample ?? null,
		noSample: matches.noServers
			? noServerText(matches.noServers)
			: matches.tools === 0
				? t("The servers offer nothing that this workflow is for. Check “For”, “Servers” and “Tools”.")
				: skipped > 0
					? tn(
							skipped,
							"No call that this workflow is for can be the input. {n} call of the history cannot: it did not reach a server, or is not kept whole.",
							"No call that this workflow is for can be the input. {n} calls of the history cannot: they did not reach a server, or are not kept whole.",
						)
					: "",
	};
}

const trivial = {
	nodes: [
		{ id: "start", type: "start" },
		{ id: "call", type: "mcp-call" },
		{ id: "end", type: "end" },
	],
	edges: [
		{ source: "start", target: "call" },
		{ source: "call", target: "end" },
	],
};

const chosenKey = (workflow: string) => `genkan.editor.sample.${workflow}`;

/** keepChosen remembers the call that somebody chose as the input of a workflow, or forgets it. */
export const keepChosen = (workflow: string, call?: string): void =>
	call ? localStorage.setItem(chosenKey(workflow), call) : localStorage.removeItem(chosenKey(workflow));

export const hasChosen = (workflow: string): boolean => localStorage.getItem(chosenKey(workflow)) !== null;

/** chosenSample is the call that somebody chose as the input, if it is still there. */
export async function chosenSample(signal: AbortSignal): Promise<S["CallDetails"] | null> {
	const key = chosenKey(editor().id);
	const call = localStorage.getItem(key);
	if (!call) return null;
	try {
		return await loadCall(call, signal);
	} catch (error) {
		if (signal.aborted) throw error;
		localStorage.removeItem(key);
		return null;
	}
}

/** loadCall reads a call with what was sent and received. */
export async function loadCall(id: string, signal?: AbortSignal): Promise<S["CallDetails"]> {
	const { data } = await api.GET("/v1/calls/{id}", { params: { path: { id } }, signal, parseAs: "text" });
	return parseExact(data!) as S["CallDetails"];
}

/** isUnreached tells whether an error says that Genkan does not answer. */
export const isUnreached = (error: unknown): boolean => error instanceof Failure && error.code === "unreachable";

/** useSync keeps the draft saved and checked, and its replay fresh. It asks before a draft
 * that could not be saved is left. */
export function useSync(id: string): void {
	const isStuck = useEditor(
		(s) =>
			s.id === id &&
			(["failed", "conflict"].includes(s.saving.state) || (s.saving.state === "deleted" && s.draft !== s.saved)),
	);
	useUnsaved(isStuck, discard);
	const connected = useConnected();
	useEffect(() => {
		if (connected && isAway && editor().unplayable) void replayNow().catch(() => {});
	}, [connected]);
	useEffect(() => {
		let saveTimer: ReturnType<typeof setTimeout> | undefined;
		let checkTimer: ReturnType<typeof setTimeout> | undefined;
		let replayTimer: ReturnType<typeof setTimeout> | undefined;
		let asking: AbortController | undefined;

		const checkSoon = () => {
			clearTimeout(checkTimer);
			checkTimer = setTimeout(async () => {
				asking?.abort();
				asking = new AbortController();
				try {
					await checkNow(asking.signal);
				} catch {
					// It is asked again at the next change; saving tells of failures.
				}
			}, checkAfter);
		};
		const saveSoon = (after = saveAfter) => {
			clearTimeout(saveTimer);
			saveTimer = setTimeout(() => void save(), after);
		};
		const stop = useEditor.subscribe((now, before) => {
			if (now.id !== id || before.id !== id) return;
			if (now.draft !== before.draft) {
				if (now.draft === now.saved) {
					// A change was undone before it was stored.
					if (now.saving.state === "waiting" || now.saving.state === "failed")
						setEditor({ saving: { state: "saved" } });
				} else if (now.saving.state !== "conflict" && now.saving.state !== "deleted") {
					if (now.saving.state !== "waiting" && now.saving.state !== "saving")
						setEditor({ saving: { state: "waiting" } });
					saveSoon();
				}
				if (now.checked !== now.draft) checkSoon();
			}
			if (now.saving !== before.saving) {
				if (now.saving.state === "waiting" && before.saving.state === "saving") saveSoon();
				if (now.saving.state === "failed" && !isRefused(now.saving.error)) saveSoon(5000);
			}
			// Another draft may have mended what kept one from being replayed.
			if (now.checked !== before.checked && now.problems.length === 0 && now.unplayable && !now.replay)
				setEditor({ unplayable: "" });
			// A run that is shown stays until the draft is changed.
			if (now.replay?.ran && now.replay !== before.replay) clearTimeout(replayTimer);
			// The drawing shows what the draft does to the call, as soon as it is valid.
			if (!isMoved(before.draft, now.draft) && now.sample && now.sample.replayable) {
				clearTimeout(replayTimer);
				replayTimer = setTimeout(() => void replayNow().catch(() => {}), replayAfter);
			}
		});
		const leave = () => {
			const { draft, saved, readOnly, saving } = editor();
			if (editor().id !== id || draft === saved || readOnly) return;
			if (saving.state === "conflict" || saving.state === "deleted") return;
			void fetch(new URL(`v1/workflows/${encodeURIComponent(id)}?draft=${sittingOf(id)}`, root), {
				method: "PUT",
				keepalive: true,
				headers: { "Content-Type": "application/json", ...ifMatch() },
				body: JSON.stringify(draft),
			}).catch(() => {});
		};
		window.addEventListener("pagehide", leave);
		return () => {
			stop();
			clearTimeout(saveTimer);
			clearTimeout(checkTimer);
			clearTimeout(replayTimer);
			window.removeEventListener("pagehide", leave);
			leaving = leaveDraft();
		};
	}, [id]);
}
