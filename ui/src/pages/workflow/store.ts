import { temporal } from "zundo";
import { create } from "zustand";
import type { S } from "../../api/client";
import { type Definition, type Edge, isMoved, type Node, type Point } from "./definition";
import { named } from "./kinds";
import { placed } from "./layout";

export type Problem = S["WorkflowProblem"];
export type Trace = S["WorkflowTrace"];
export type TraceStep = S["WorkflowStep"];

/** Saving is whether the draft is stored. */
export type Saving =
	| { state: "saved"; at?: number }
	| { state: "waiting" | "saving" }
	| { state: "failed"; error: unknown }
	| { state: "conflict"; error: unknown }
	| { state: "deleted" };

/** Refused is an edge that the server does not allow, and why. pending is set until it
 * has answered, and would if the reason is what would be wrong with it. */
export type Refused = { edge: Edge; reason?: string; would?: boolean; pending?: boolean };

/** Adding is the menu of nodes: where on the screen, and where in the drawing. */
export type Adding =
	| { kind: "add"; screen: Point; place: import("./definition").Place }
	/** Of one exit, if way is set: its edge that is moved, or none. */
	| { kind: "connect"; screen: Point; from: string; way?: string; moved?: Edge };

/** Replay is what the draft makes of a call; or, where ran is set, what a version did when
 * the call was made. */
export type Replay = {
	call: string;
	matched: boolean;
	steps: Record<string, TraceStep>;
	result: S["ReplayResult"];
	ran?: Trace;
	/** What was replayed. */
	of?: Definition;
};

/** TestRun is what came of the tests of the draft, the last time they ran. */
type TestRun = { results: S["WorkflowTestResults"] | null; error: unknown; running: boolean };

export type Editor = {
	id: string;
	/** The draft, which is what is drawn. It is never changed in place. */
	draft: Definition;
	/** The draft that the server has. */
	saved: Definition;
	/** Its version, 0 if the server has none yet. */
	base: number;
	/** When it was saved last: that does not always make another version. */
	baseAt: number;
	/** What the server calls that state of it. */
	etag: string;
	saving: Saving;
	/** What the server says of the workflow: source, running version and so on. */
	info: S["Workflow"] | null;
	/** Why the draft cannot be changed: it is written in a file, or carries out the limit of a
	 * token, or the window is narrow. */
	readOnly: "file" | "limit" | "narrow" | null;
	selected: string[];
	renaming: string | null;
	/** What is wrong with checked, which is the draft unless it was changed just now. */
	problems: Problem[];
	checked: Definition | null;
	/** Which servers and tools checked is for. */
	matches: S["WorkflowMatches"] | null;
	refused: Refused | null;
	adding: Adding | null;
	/** The call that is shown as the input (undefined while it is looked for), and what the draft makes of it. */
	sample: S["CallDetails"] | null | undefined;
	/** What the sample was looked for by, and why there is none, if that is known. */
	sampleFor: string;
	noSample: string;
	replay: Replay | null;
	/** Why the draft could not be replayed as it is now; replay is of an earlier draft then. */
	unplayable: string;
	replaying: boolean;
	stats: Record<string, S["NodeStats"]>;
	tests: TestRun;
};

const empty: Definition = { id: "", name: "", workflowType: "tools/call", nodes: [], edges: [] };

/** useEditor is the state of the editor. Panels read it; edit and the functions below
 * change it. */
export const useEditor = create<Editor>()(
	temporal(
		(): Editor => ({
			id: "",
			draft: empty,
			saved: empty,
			base: 0,
			baseAt: 0,
			etag: "",
			saving: { state: "saved" },
			info: null,
			readOnly: null,
			selected: [],
			renaming: null,
			problems: [],
			checked: null,
			matches: null,
			refused: null,
			adding: null,
			sample: undefined,
			sampleFor: "",
			noSample: "",
			replay: null,
			unplayable: "",
			replaying: false,
			stats: {},
			tests: { results: null, error: null, running: false },
		}),
		{
			partialize: ({ draft }) => ({ draft }),
			equality: (a, b) => a.draft === b.draft,
			limit: 300,
		},
	),
);

/** replayOf is what the draft makes of the sample; null while that is not known. */
export const replayOf = (s: Editor): Replay | null => (s.unplayable ? null : s.replay);

/** isOutdated tells whether the draft was changed since it was replayed. */
export const isOutdated = (s: Editor): boolean => {
	const of = replayOf(s)?.of;
	return of !== undefined && !isMoved(of, s.draft);
};

export const editor = useEditor.getState;
export const setEditor = useEditor.setState;
export const history = useEditor.temporal;

/** nameOf is what people call a node of the workflow that is open. */
export const nameOf = (node: Node): string => named(node, editor().draft.workflowType);

let lastGroup = "";
let lastEdit = 0;

/** edit changes the draft. Changes of one group that follow one another at once, such as
 * letters that are typed, are undone together. */
export function edit(change: (draft: Definition) => Definition, group = ""): void {
	const { draft, readOnly } = editor();
	if (readOnly) return;
	const now = Date.now();
	const joined = group !== "" && group === lastGroup && now - lastEdit < 1000;
	lastGroup = group;
	lastEdit = now;
	const next = change(draft);
	if (next === draft) return;
	if (joined) history.getState().pause();
	setEditor({ draft: next, refused: null });
	if (joined) history.getState().resume();
}

/** endGroup makes the next change one that is undone by itself. */
export function endGroup(): void {
	lastGroup = "";
}

/** setMode makes the workflow act, or only watch. What is enabled is not undone, so this is
 * no step of undo. */
export function setMode(mode: "enforce" | "shadow"): void {
	const { draft } = editor();
	if ((draft.mode ?? "enforce") === mode) return;
	const put = (d: Definition): Definition => ({ ...d, mode: mode === "shadow" ? "shadow" : undefined });
	history.getState().pause();
	setEditor({ draft: put(draft) });
	history.getState().resume();
	mapHistory(put);
}

/** mapHistory changes what undo and redo lead to. */
export function mapHistory(change: (draft: Definition) => Definition): void {
	const { pastStates, futureStates } = history.getState();
	const under = (states: typeof pastStates) => states.map((s) => (s.draft ? { draft: change(s.draft) } : s));
	history.setState({ pastStates: under(pastStates), futureStates: under(futureStates) });
}

/** editNode changes the data of a node. */
export function editNode(
	id: string,
	change: (data: Record<string, unknown>) => Record<string, unknown>,
	group = "",
): void {
	edit(
		(draft) => ({
			...draft,
			nodes: draft.nodes.map((n) => (n.id === id ? { ...n, data: change(n.data ?? {}) } : n)),
		}),
		group,
	);
}

function step(by: "undo" | "redo"): void {
	if (editor().readOnly) return;
	// A refused edge looks like the last change, so the first undo removes only that.
	if (by === "undo" && editor().refused?.reason) return setEditor({ refused: null });
	lastGroup = "";
	history.getState()[by]();
	const { draft, selected } = editor();
	const ids = new Set(draft.nodes.map((n) => n.id));
	setEditor({ selected: selected.filter((id) => ids.has(id)), refused: null, renaming: null });
}
export const undo = () => step("undo");
export const redo = () => step("redo");

/** select chooses nodes. */
export function select(ids: string[]): void {
	const { selected } = editor();
	if (ids.length === selected.length && ids.every((id, i) => id === selected[i])) return;
	setEditor({ selected: ids, renaming: null });
}

// How many workflows were opened.
let opened = 0;

/** stillOpen returns a function that reports whether the workflow that is open now is still
 * open. Whoever waits for an answer asks it. It does not compare ids, because the id of a new
 * workflow is settled when that is stored. */
export function stillOpen(): () => boolean {
	const mine = opened;
	return () => mine === opened && editor().id !== "";
}

/** loadNew takes a workflow that is not stored yet. */
export function loadNew(draft: Definition): void {
	opened++;
	setEditor({ ...useEditor.getInitialState(), id: draft.id, draft, saved: draft });
	history.getState().clear();
}

/** baseOf is what the next change is made to. */
export const baseOf = ({ newestVersion, updatedAt, etag }: S["Workflow"]) => ({
	base: newestVersion,
	baseAt: Date.parse(updatedAt),
	etag,
});

/** ifMatch names what a change is made to; nothing for a workflow that is not stored yet. */
export function ifMatch(): Record<string, string> {
	const { etag } = editor();
	return etag ? { "If-Match": etag } : {};
}

/** load takes a version that the server has. If another workflow was open, its history is
 * forgotten; otherwise the change can be undone. */
export function load(details: S["WorkflowDetails"]): void {
	const read = details.definition as unknown as Partial<Definition>;
	const draft = placed({ ...read, nodes: read.nodes ?? [], edges: read.edges ?? [] } as Definition);
	const other = editor().id !== details.id;
	if (other) opened++;
	setEditor({
		...(other && { ...useEditor.getInitialState(), selected: [] }),
		id: details.id,
		draft,
		saved: draft,
		...baseOf(details),
		info: details,
		saving: { state: "saved", at: Date.parse(details.updatedAt) },
		readOnly: details.limitOf
			? "limit"
			: details.source === "file"
				? "file"
				: editor().readOnly === "narrow"
					? "narrow"
					: null,
		problems: details.problems,
		checked: draft,
	});
	if (other) history.getState().clear();
}
