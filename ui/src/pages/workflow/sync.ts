import { useEffect } from "react";
import { api, Failure, refresh, root, type S } from "../../api/client";
import { t, tn } from "../../lang";
import { messageOf, say } from "../../ui";
import { noServerText } from "../workflows/around";
import { type Definition, descendants, type Edge, nameOf, nodeOf, replacedBy } from "./definition";
import { endSitting, sittingOf } from "./sitting";
import { baseOf, edit, editor, history, ifMatch, load, type Problem, select, setEditor, useEditor } from "./store";
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
	while (writing) await writing;
	const { id, draft, saved, base, readOnly } = editor();
	if (!id || (draft === saved && !(unchanged && base === 0)) || readOnly) return;
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
				const { pastStates, futureStates } = history.getState();
				const under = (states: typeof pastStates) => states.map((s) => (s.draft ? { draft: renamed(s.draft) } : s));
				history.setState({ pastStates: under(pastStates), futureStates: under(futureStates) });
			}
			refresh("/v1/workflows");
		} catch (error) {
			if (editor().id !== id) return;
			const conflict = error instanceof Failure && error.status === 409;
			setEditor({ saving: { state: conflict ? "conflict" : "failed", error } });
		}
	})();
	await writing;
	writing = null;
}

/** keepMine stores the draft over what another tab or person has stored. */
export async function keepMine(): Promise<void> {
	endSitting();
	const { data } = await api.GET("/v1/workflows/{id}", { params: { path: { id: editor().id } } });
	setEditor({ ...baseOf(data!), info: data!, saving: { state: "waiting" } });
	await save();
}

/** takeTheirs takes what is stored. Undo brings the own draft back. */
export async function takeTheirs(): Promise<void> {
	const { data } = await api.GET("/v1/workflows/{id}", { params: { path: { id: editor().id } } });
	load(data!);
}

/** check asks the server what is wrong with a definition. */
export async function check(draft: Definition, signal?: AbortSignal): Promise<S["WorkflowCheck"]> {
	const { data } = await api.POST("/v1/workflows/validate", { body: draft as never, signal });
	return data!;
}

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

/** saidOf is a problem with the name of its node. */
export function saidOf(draft: Definition, { node, reason }: Problem): string {
	const of = node ? nodeOf(draft, node) : undefined;
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
			setEditor({ refused: { edge, reason } });
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

/** replayNow runs the draft on the sample, with the server's answer of then. */
export async function replayNow(call?: string): Promise<void> {
	const { id, draft, sample } = editor();
	const chosen = call ?? sample?.id;
	if (!chosen) return;
	setEditor({ replaying: true });
	let why = "";
	try {
		const problems = await problemsNow();
		const [problem] = problems;
		if (problem) {
			why = tn(problems.length, "It cannot be replayed: {n} problem.", "It cannot be replayed: {n} problems.");
			throw new Failure(0, "", t("It cannot run yet. {problem}", { problem: saidOf(draft, problem) }));
		}
		const { data } = await api.POST("/v1/workflows/{id}/replay", {
			params: { path: { id } },
			body: { call: chosen, definition: draft as never },
		});
		if (editor().id !== id) return;
		const steps = Object.fromEntries((data!.trace?.steps ?? []).map((step) => [step.node, step]));
		setEditor({ replay: { call: chosen, matched: data!.matched, steps, result: data! }, unplayable: "" });
	} catch (error) {
		if (editor().id === id) setEditor({ unplayable: why || messageOf(error) });
		throw error;
	} finally {
		setEditor({ replaying: false });
	}
}

/** changedBy are the ids of the workflows that have changed a call or its answer. The history
 * has what came of it. */
export const changedBy = (call: S["CallDetails"]): string[] => [
	...new Set((call.workflows ?? []).filter((w) => w.changed && w.mode !== "shadow").map((w) => w.workflow)),
];

/** findSample looks for the latest call that the workflow is for, or says why there is none.
 * One that no workflow has changed comes first: in another one there may be nothing left to
 * change. The server knows which match: a replay says so. */
export async function findSample(signal: AbortSignal): Promise<{ sample: S["CallDetails"] | null; noSample: string }> {
	const { id, draft } = editor();
	// local:cursor is written as cursor, and becomes what is meant when its field is left.
	const clients = draft.match?.clients?.flatMap((name) => (/^[\w.-]+$/.test(name) ? [name, `local:${name}`] : name));
	const settings = { ...draft, match: draft.match && { ...draft.match, clients }, ...trivial };
	const { problems, matches } = await check(settings, signal);
	if (problems[0])
		return { sample: null, noSample: t("No call is looked for: {reason}", { reason: problems[0].reason }) };
	const { data } = await api.GET("/v1/calls", {
		params: { query: { limit: 50, server: plainName(draft.match?.servers) } },
		signal,
	});
	const seen = new Set<string>(); // tools that it is not for
	let tries = 0;
	let changed: S["CallDetails"] | undefined;
	// A call that went well shows most.
	const calls = data!.calls.toSorted((a, b) => Number(b.outcome === "ok") - Number(a.outcome === "ok"));
	for (const call of calls) {
		if (!canReplay(call) || call.method !== draft.workflowType || seen.has(call.tool ?? "")) continue;
		if (++tries > 12) break;
		try {
			const answer = await api.POST("/v1/workflows/{id}/replay", {
				params: { path: { id } },
				body: { call: call.id, definition: settings as never },
				signal,
			});
			if (!answer.data!.matched) {
				// match.when looks at the arguments: another call of the tool may match.
				if (!matches.conditional) seen.add(call.tool ?? "");
				continue;
			}
		} catch (error) {
			if (signal.aborted) throw error;
			continue; // this call cannot be replayed
		}
		const sample = await loadCall(call.id, signal);
		if (changedBy(sample).length === 0) return { sample, noSample: "" };
		changed ??= sample;
	}
	return {
		sample: changed ?? null,
		noSample: matches.noServers
			? noServerText(matches.noServers)
			: matches.tools === 0
				? t("The servers offer nothing that this workflow is for. Check “For”, “Servers” and “Tools”.")
				: "",
	};
}
/** canReplay tells whether a call was answered by a server and is kept whole. */
export const canReplay = (call: S["CallEntry"]): boolean =>
	call.bodies === "kept" && !call.cut && Boolean(call.server) && call.attempts > 0;

/** plainName is the only name of a list, if it is no pattern. */
export const plainName = (names?: string[]) => (names?.length === 1 && !/[*?!]/.test(names[0]!) ? names[0] : undefined);

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

/** keepChosen remembers the call that somebody chose as the input of a workflow. */
export const keepChosen = (workflow: string, call: string): void => localStorage.setItem(chosenKey(workflow), call);

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
	const { data } = await api.GET("/v1/calls/{id}", { params: { path: { id } }, signal });
	return data!;
}

/** useSync keeps the draft saved and checked, and its replay fresh. */
export function useSync(id: string): void {
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
			if (now.draft !== before.draft && now.draft !== now.saved) {
				if (now.saving.state !== "conflict") {
					if (now.saving.state !== "waiting" && now.saving.state !== "saving")
						setEditor({ saving: { state: "waiting" } });
					saveSoon();
				}
				if (now.checked !== now.draft) checkSoon();
			}
			if (now.saving !== before.saving) {
				if (now.saving.state === "waiting" && before.saving.state === "saving") saveSoon();
				if (now.saving.state === "failed") saveSoon(5000);
			}
			// Another draft may have mended what kept one from being replayed.
			if (now.checked !== before.checked && now.problems.length === 0 && now.unplayable && !now.replay)
				setEditor({ unplayable: "" });
			// The drawing shows what the draft does to the call, as soon as it is valid.
			if (now.replay && now.draft !== before.draft) {
				clearTimeout(replayTimer);
				replayTimer = setTimeout(() => void replayNow(editor().replay?.call).catch(() => {}), replayAfter);
			}
		});
		const leave = () => {
			const { draft, saved, readOnly, saving } = editor();
			if (editor().id !== id || draft === saved || readOnly || saving.state === "conflict") return;
			void fetch(new URL(`v1/workflows/${encodeURIComponent(id)}?draft=${sittingOf(id)}`, root), {
				method: "PUT",
				keepalive: true,
				headers: { "Content-Type": "application/json", ...ifMatch() },
				body: JSON.stringify(draft),
			}).catch(() => {});
		};
		const warn = (event: BeforeUnloadEvent) => {
			const { state } = editor().saving;
			if (state === "conflict" || state === "failed") event.preventDefault();
		};
		window.addEventListener("pagehide", leave);
		window.addEventListener("beforeunload", warn);
		return () => {
			stop();
			clearTimeout(saveTimer);
			clearTimeout(checkTimer);
			clearTimeout(replayTimer);
			window.removeEventListener("pagehide", leave);
			window.removeEventListener("beforeunload", warn);
			void save();
		};
	}, [id]);
}
