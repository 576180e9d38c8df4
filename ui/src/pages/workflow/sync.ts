import { useEffect } from "react";
import { api, Failure, refresh, root, type S } from "../../api/client";
import { t } from "../../lang";
import { say } from "../../ui";
import { type Definition, descendants, type Edge, nameOf, nodeOf, replacedBy } from "./definition";
import { endSitting, sittingOf } from "./sitting";
import { edit, editor, history, load, type Problem, setEditor, useEditor } from "./store";

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
				params: { path: { id: free }, query: { base: base || undefined, draft: sittingOf(free) } },
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
				base: info.newestVersion,
				info,
				saving: same ? { state: "saved", at: Date.now() } : { state: "waiting" },
			});
			if (info.id !== id) {
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
	setEditor({ base: data!.newestVersion, info: data!, saving: { state: "waiting" } });
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
	try {
		const [problem] = await problemsNow();
		if (problem) throw new Failure(0, "", t("It cannot run yet. {problem}", { problem: saidOf(draft, problem) }));
		const { data } = await api.POST("/v1/workflows/{id}/replay", {
			params: { path: { id } },
			body: { call: chosen, definition: draft as never },
		});
		if (editor().id !== id) return;
		const steps = Object.fromEntries((data!.trace?.steps ?? []).map((step) => [step.node, step]));
		setEditor({ replay: { call: chosen, matched: data!.matched, steps, result: data! } });
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
	const settings = { ...draft, nodes: trivial.nodes, edges: trivial.edges };
	const { problems, matches } = await check(settings, signal);
	if (problems[0])
		return { sample: null, noSample: t("No call is looked for: {reason}", { reason: problems[0].reason }) };
	const plain = (names?: string[]) => (names?.length === 1 && !/[*?!]/.test(names[0]!) ? names[0] : undefined);
	const { data } = await api.GET("/v1/calls", {
		params: { query: { limit: 50, server: plain(draft.match?.servers) } },
		signal,
	});
	const seen = new Set<string>(); // tools that it is not for
	let tries = 0;
	let changed: S["CallDetails"] | undefined;
	for (const call of data!.calls) {
		if (call.bodies !== "kept" || call.method !== draft.workflowType || seen.has(call.tool ?? "")) continue;
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
		noSample: matches.tools === 0 ? t("Nothing that the servers offer matches the settings.") : "",
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
				const { draft } = editor();
				asking?.abort();
				asking = new AbortController();
				try {
					const { problems, matches } = await check(draft, asking.signal);
					if (editor().draft === draft) setEditor({ problems, matches, checked: draft });
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
			// The drawing shows what the draft does to the call, as soon as it is valid.
			if (now.replay && now.draft !== before.draft) {
				clearTimeout(replayTimer);
				replayTimer = setTimeout(() => void replayNow(editor().replay?.call).catch(() => {}), replayAfter);
			}
		});
		const leave = () => {
			const { draft, saved, base, readOnly, saving } = editor();
			if (editor().id !== id || draft === saved || readOnly || saving.state === "conflict") return;
			const made = base > 0 ? `base=${base}&` : "";
			void fetch(new URL(`v1/workflows/${encodeURIComponent(id)}?${made}draft=${sittingOf(id)}`, root), {
				method: "PUT",
				keepalive: true,
				headers: { "Content-Type": "application/json" },
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
