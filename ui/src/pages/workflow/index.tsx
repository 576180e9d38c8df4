import { useQuery } from "@tanstack/react-query";
import { ReactFlowProvider } from "@xyflow/react";
import { SearchX } from "lucide-react";
import { type PointerEvent, useCallback, useEffect, useRef, useState } from "react";
import { useAddress, useGo, usePart } from "@/shell/address";
import { useKeys } from "@/shell/keys";
import { useSession } from "@/shell/session";
import { Failure, query } from "../../api/client";
import { useEvents } from "../../api/events";
import { t } from "../../lang";
import { complain, cx, Empty, LinkButton, Loading, Page, Problem } from "../../ui";
import { ForAdministrators } from "../workflows/around";
import { useKinds } from "./ask-kinds";
import { Canvas } from "./canvas";
import { newWorkflow } from "./create";
import { nodeOf } from "./definition";
import { Header } from "./header";
import { InputPane } from "./input";
import { Chooser } from "./menu";
import { OutputPane } from "./output";
import { panels } from "./panels";
import { useTests } from "./panels/tests";
import { workflowOptions } from "./read";
import { Settings } from "./settings";
import { baseOf, editor, load, loadNew, select, setEditor, useEditor } from "./store";
import { chosenSample, findSample, loadCall, replayNow, showRun, useSync, whenLeft } from "./sync";
import { dropUnread } from "./unread";

/** The editor of a workflow: /workflows/ID, with ?call=ID the replay of a call,
 * with ?run=ID what it did when the call was made; /workflows/new
 * draws one that is not stored until it is changed. */
export default function WorkflowPage() {
	const id = usePart("id");
	const { admin } = useSession();
	const made = useNew(admin && id === "new");
	if (!admin) return <ForAdministrators />;
	if (id !== "new") return <Open key={id} id={id} />;
	if (made.error) return <Problem className="m-7" error={made.error} retry={() => location.reload()} />;
	return made.id ? <Open key={made.id} id={made.id} isNew /> : <Loading />;
}

/** useNew makes a workflow that does nothing yet, if one is wanted. Once it is stored, it has
 * an address of its own. */
function useNew(wanted: boolean): { id?: string; error?: unknown } {
	const [made, setMade] = useState<{ id?: string; error?: unknown }>({});
	const go = useGo();
	useEffect(() => {
		if (!wanted) return;
		let here = true;
		const query = new URLSearchParams(location.search);
		const tools = query.getAll("tool");
		newWorkflow({
			name: query.get("name") ?? undefined,
			type: query.get("type") ?? undefined,
			match: tools.length > 0 ? { tools } : undefined,
		}).then(
			async (draft) => {
				await whenLeft();
				if (!here) return;
				loadNew(draft);
				setMade({ id: draft.id });
			},
			(error) => here && setMade({ error }),
		);
		return () => {
			here = false;
			setMade({});
			const { base, draft, saved } = editor();
			if (base > 0 || draft !== saved) return;
			dropUnread(draft.id); // nothing is left of it
			setEditor(useEditor.getInitialState());
		};
	}, [wanted]);
	const stored = useEditor((s) => (wanted && made.id !== undefined && s.base > 0 ? s.id : ""));
	useEffect(() => {
		if (!stored) return;
		const query = new URLSearchParams(location.search);
		query.delete("name");
		query.delete("type");
		query.delete("tool");
		go(`/workflows/${encodeURIComponent(stored)}${query.size > 0 ? `?${query}` : ""}`, { replace: true });
	}, [stored, go]);
	return made;
}

function Open({ id, isNew = false }: { id: string; isNew?: boolean }) {
	// A new one is stored under another id if a workflow has its id by then.
	const enabled = useEditor((s) => s.base > 0 && s.id === id) || !isNew;
	const details = useQuery({ ...workflowOptions(id), enabled });
	const stats = query.useQuery(
		"get",
		"/v1/workflows/{id}/stats",
		{ params: { path: { id } } },
		{ refetchInterval: 15_000, enabled },
	);
	const kinds = useKinds();
	const told = kinds.data !== undefined;
	const ready = useEditor((s) => s.id === id) && told;
	useSync(id);
	useNarrow();

	// A version that somebody else made is taken at once if nothing is lost by it.
	useEffect(() => {
		const data = details.data;
		if (!data || !told) return;
		let here = true;
		const now = editor();
		const { baseAt } = baseOf(data);
		if (now.id !== id) void whenLeft().then(() => here && load(data));
		else if (baseAt > now.baseAt && now.draft === now.saved && now.saving.state === "saved") load(data);
		else if (baseAt === now.baseAt) setEditor({ info: data });
		return () => {
			here = false;
		};
	}, [details.data, told, id]);
	useEffect(() => {
		if (ready && stats.data) setEditor({ stats: Object.fromEntries(stats.data.nodes.map((n) => [n.node, n])) });
	}, [ready, stats.data]);
	useSample(id, ready);

	const isMissing = details.error instanceof Failure && details.error.status === 404;
	useEffect(() => {
		if (isMissing && editor().id === id && editor().base > 0) setEditor({ saving: { state: "deleted" } });
	}, [isMissing, id]);
	if (!ready && isMissing)
		return (
			<Page title={t("Workflows")}>
				<Empty
					icon={<SearchX />}
					title={t("There is no workflow “{name}”", { name: id })}
					actions={<LinkButton href="/workflows">{t("All workflows")}</LinkButton>}
				/>
			</Page>
		);
	if (!ready) {
		const failed = [details, kinds].find((one) => one.error);
		return failed ? <Problem className="m-7" error={failed.error} retry={() => void failed.refetch()} /> : <Loading />;
	}
	return (
		<ReactFlowProvider>
			<Editor />
		</ReactFlowProvider>
	);
}

/** useSample reads the call of the address and replays it, or finds one. */
function useSample(id: string, ready: boolean): void {
	const [search] = useAddress();
	const run = search.get("run");
	const call = run ?? search.get("call");
	const wanted = useEditor((s) => JSON.stringify([s.id, s.draft.workflowType, s.draft.match]));
	const unknown = useEditor((s) => s.sample === undefined) && !call;
	const [calls, setCalls] = useState(0);
	const looked = useRef(0); // the value of calls at the last search
	const soon = useRef<ReturnType<typeof setTimeout>>(undefined);
	const looking = useRef<AbortController>(undefined);
	const shown = useRef<string>(null); // the run; a replay takes its place when the draft is changed
	// A search goes on to its end: where many calls come, none would find anything otherwise.
	const lookSoon = () => {
		soon.current = setTimeout(() => {
			if (looking.current) return lookSoon();
			soon.current = undefined;
			setCalls((n) => n + 1);
		}, 2000);
	};
	useEvents((event) => {
		if (event.name === "call.ended" && editor().sample === null && !soon.current) lookSoon();
	});
	useEffect(() => () => clearTimeout(soon.current), []);
	// biome-ignore lint/correctness/useExhaustiveDependencies: another call may be the sample
	useEffect(() => {
		if (!ready) return;
		const asking = new AbortController();
		looking.current = asking;
		const read = async () => {
			if (call) {
				if (editor().sample?.id !== call)
					setEditor({ sample: await loadCall(call, asking.signal), replay: null, unplayable: "" });
				const { sample, replay } = editor();
				if (replay?.call === call && (!run || shown.current === run)) return;
				shown.current = run;
				if (!run || !sample || !showRun(sample)) await replayNow(call);
			} else if (
				editor().sample === undefined ||
				editor().sampleFor !== wanted ||
				(!editor().sample && looked.current !== calls)
			) {
				// A pattern that is being written is waited for.
				if (editor().sample !== undefined) await new Promise((done) => setTimeout(done, 600));
				if (asking.signal.aborted) return;
				const chosen = await chosenSample(asking.signal);
				const deep = editor().sampleFor !== wanted; // otherwise only the calls since then are new
				const found = chosen ? { sample: chosen, noSample: "" } : await findSample(asking.signal, deep);
				if (editor().id !== id) return;
				looked.current = calls;
				setEditor({ noSample: found.noSample, sampleFor: wanted });
				// An expression that is being written needs the fields of the sample.
				if (found.sample === undefined && editor().sample) return;
				if (found.sample?.id !== editor().sample?.id || editor().sample === undefined)
					setEditor({ sample: found.sample ?? null, replay: null, unplayable: "" });
			}
		};
		read()
			.catch((error) => !asking.signal.aborted && complain(error))
			.finally(() => {
				if (looking.current === asking) looking.current = undefined;
			});
		return () => asking.abort();
	}, [id, ready, call, run, wanted, calls, unknown]);
}

/** useNarrow makes the editor read-only where there is no room to draw. */
function useNarrow(): void {
	useEffect(() => {
		const wide = matchMedia("(min-width: 641px)");
		const apply = () => {
			const { readOnly } = editor();
			if (!wide.matches && readOnly === null) setEditor({ readOnly: "narrow" });
			if (wide.matches && readOnly === "narrow") setEditor({ readOnly: null });
		};
		const stop = useEditor.subscribe((now, before) => now.id !== before.id && apply());
		apply();
		wide.addEventListener("change", apply);
		return () => {
			stop();
			wide.removeEventListener("change", apply);
		};
	}, []);
}

function Editor() {
	const readOnly = useEditor((s) => s.readOnly);
	const [search, setSearch] = useAddress();
	const panel = search.get("panel");
	/** How long the browser's history was when a panel was opened over the drawing alone. */
	const opened = useRef(0);
	const openPanel = useCallback(
		(id: string | null) => {
			const isOpen = new URLSearchParams(location.search).has("panel");
			if (!id && !isOpen) return;
			// Back closes a panel, and a panel that is closed leaves nothing to go back to.
			if (!id && opened.current === history.length) {
				opened.current = 0;
				return history.back();
			}
			// A workflow that is stored meanwhile gets another address.
			const isBeneath = !!id && !isOpen && editor().base > 0;
			setSearch(
				(params) => {
					if (id) params.set("panel", id);
					else params.delete("panel");
					return params;
				},
				{ replace: !isBeneath },
			);
			if (isBeneath) opened.current = history.length;
		},
		[setSearch],
	);
	useEffect(() => {
		// What was opened is behind the reader, or is left with the page.
		const forget = () => {
			opened.current = 0;
		};
		addEventListener("popstate", forget);
		return () => {
			removeEventListener("popstate", forget);
			forget();
		};
	}, []);
	useTests();
	useStep();
	const isStored = useEditor((s) => s.base > 0);
	const chosen = panels.find((one) => one.id === panel && (isStored || !one.ofStored));
	const closePanel = () => openPanel(null);
	useKeys({ Escape: closePanel });
	return (
		<div className="flex min-h-0 flex-1 flex-col gap-3 px-3 pt-4 pb-3 sm:px-7 sm:pt-5">
			<Header panel={panel} onPanel={openPanel} />
			{chosen?.place === "top" && <chosen.Panel onClose={() => openPanel(null)} />}
			{readOnly === "narrow" && (
				<p role="status" className="rounded-md bg-accent-soft px-3 py-2 text-accent">
					{t("This window is too narrow to draw in. You can look around; open it wider to change the workflow.")}
				</p>
			)}
			<div className="flex min-h-0 min-w-0 flex-1 flex-col overflow-hidden rounded-lg border border-line bg-surface">
				<div className="flex min-h-0 flex-1 max-sm:min-h-48">
					<Canvas />
					{chosen?.place === "side" && (
						<aside className="w-[340px] max-sm:w-full max-w-full shrink-0 overflow-hidden border-line border-l bg-surface">
							<chosen.Panel onClose={() => openPanel(null)} />
						</aside>
					)}
				</div>
				<Panes />
			</div>
			<Chooser />
		</div>
	);
}

/** useStep selects the step that the address has when the editor opens, and keeps the selected
 * one in the address. */
function useStep(): void {
	const [search, setSearch] = useAddress();
	const shown = search.get("step");
	const wanted = useRef(shown);
	const selected = useEditor((s) => (s.selected.length === 1 ? s.selected[0]! : null));
	useEffect(() => {
		if (wanted.current && nodeOf(editor().draft, wanted.current)) select([wanted.current]);
	}, []);
	useEffect(() => {
		if (selected === shown) return;
		// Somebody may go from step to step by a key that is held down.
		const soon = setTimeout(
			() =>
				setSearch(
					(params) => {
						if (selected) params.set("step", selected);
						else params.delete("step");
						return params;
					},
					{ replace: true },
				),
			150,
		);
		return () => clearTimeout(soon);
	}, [selected, shown, setSearch]);
}

const storedHeight = "genkan.editor.height";

// Lower panes are closed.
const least = 80;

/** Panes are input, settings and output side by side. */
function Panes() {
	const [height, setHeight] = useState(() => Number(localStorage.getItem(storedHeight) ?? 320));
	const resize = (to: number) => {
		const fit = to < least ? 0 : Math.min(to, window.innerHeight - 300);
		setHeight(fit);
		localStorage.setItem(storedHeight, String(fit));
	};
	const [enlarged, enlarge] = useState(false);
	const wide = useEditor((s) => s.selected.length === 1) && enlarged; // others have no button for it
	const onPointerDown = (event: PointerEvent<HTMLDivElement>) => {
		const from = event.clientY;
		event.currentTarget.setPointerCapture(event.pointerId);
		const move = (e: globalThis.PointerEvent) => resize(height + from - e.clientY);
		const target = event.currentTarget;
		target.addEventListener("pointermove", move);
		target.addEventListener("lostpointercapture", () => target.removeEventListener("pointermove", move), {
			once: true,
		});
	};
	return (
		<>
			<div
				role="separator"
				tabIndex={0}
				data-after-canvas
				aria-orientation="horizontal"
				aria-label={t("Height of the panes")}
				aria-valuenow={height}
				aria-valuemin={0}
				aria-valuemax={800}
				onPointerDown={onPointerDown}
				onDoubleClick={() => resize(height > 0 ? 0 : 320)}
				onKeyDown={(event) => {
					const step = { ArrowUp: 32, ArrowDown: -32 }[event.key];
					if (!step) return;
					event.preventDefault();
					resize(height === 0 && step > 0 ? least : height + step);
				}}
				className="relative z-10 h-1.5 shrink-0 cursor-row-resize border-line border-t bg-surface hover:bg-accent-soft max-sm:hidden"
			/>
			<div
				className={cx(
					"grid min-h-0 shrink-0 divide-line max-sm:shrink max-sm:auto-rows-max max-sm:max-h-[40dvh] max-sm:overflow-y-auto max-sm:border-t max-sm:border-line sm:h-(--panes) sm:grid-cols-[minmax(0,1fr)_minmax(0,1.3fr)_minmax(0,1fr)] sm:divide-x",
					wide && "sm:grid-cols-1! [&>section:not([data-settings])]:hidden",
					height === 0 && "sm:hidden",
				)}
				style={{ "--panes": wide ? `max(${height}px, 100dvh - 400px)` : `${height}px` } as React.CSSProperties}
			>
				<InputPane />
				<Settings wide={wide} onWide={enlarge} />
				<OutputPane />
			</div>
		</>
	);
}
