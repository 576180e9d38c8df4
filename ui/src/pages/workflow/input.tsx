import { useQuery } from "@tanstack/react-query";
import { Pin } from "lucide-react";
import { Fragment, useEffect, useMemo, useState } from "react";
import { useAddress } from "@/shell/address";
import { query, type S } from "../../api/client";
import { isExact } from "../../api/exact";
import { clock, list, t } from "../../lang";
import {
	Button,
	Cap,
	complain,
	cx,
	Dialog,
	Empty,
	LinkButton,
	Loaded,
	rulesIn,
	SearchBox,
	say,
	writeClipboard,
} from "../../ui";
import { clientName, Effect, outcomeTone, outcomeWord, toolName } from "../calls/words";
import { insertInto } from "./code-insert";
import { behindCall, casesOf, nodeOf } from "./definition";
import { comparison, type Picked, pathType, pickInto } from "./fields";
import { member } from "./menu";
import { editNode, editor, replayOf, setEditor, stillOpen, useEditor } from "./store";
import {
	changedBy,
	hasChosen,
	isFor,
	keepChosen,
	loadCall,
	lookedAt,
	lookedBack,
	ofLists,
	replayNow,
	toolsList,
} from "./sync";
import { givenTo, stateAt } from "./trace";

/** InputPane shows the call that comes into the selected node. */
export function InputPane() {
	const sample = useEditor((s) => s.sample);
	const noSample = useEditor((s) => s.noSample);
	const isList = useEditor((s) => s.draft.workflowType === toolsList);
	const replay = useEditor(replayOf);
	const isOf = replay !== null && replay.call === sample?.id;
	const given = isOf ? replay.result.given : undefined;
	const whole = useMemo(() => sample && givenTo(sample, isOf ? replay : null), [sample, isOf, replay]);
	const node = useEditor((s) => s.selected.at(-1) ?? "");
	const [choosing, setChoosing] = useState(false);
	const { choose, newest, isChosen } = useInput();
	const scripted = useEditor((s) => nodeOf(s.draft, node)?.type === "hook");
	// Nothing is answered yet before the call, unless a script has done so in the replay.
	const answered = useEditor((s) => !node || !!replayOf(s)?.steps[node] || behindCall(s.draft, node));
	const workflow = useEditor((s) => s.id);
	const shown = useMemo(() => {
		if (!sample) return null;
		const { request, response } = stateAt(sample, replay, node).before;
		const where = { workflowId: workflow, ...(node && { nodeId: node }) };
		return roots(sample, { request, ...(answered && { response }) }, where, scripted);
	}, [sample, replay, node, scripted, answered, workflow]);
	return (
		<section aria-label={t("Input")} className="flex min-h-0 min-w-0 flex-col">
			<Cap>
				<span className="line">
					{sample ? (
						<>
							{isChosen && <Pin aria-label={t("Chosen")} className="mr-1 inline size-3" />}
							{t("Input: {tool}, {time}", { tool: toolName(sample), time: clock(sample.startedAt) })}
						</>
					) : (
						t("Input")
					)}
				</span>
				{!isList && (
					<Button look="quiet" size="small" className="text-accent!" onClick={() => setChoosing(true)}>
						{sample ? t("change") : t("choose")}
					</Button>
				)}
			</Cap>
			{sample && <Changed sample={sample} given={given !== undefined} />}
			{sample && <Masked value={whole} redacted={given ? given.redacted : sample.redacted} />}
			{shown ? (
				<div
					className="min-h-0 flex-1 overflow-auto px-4 py-3"
					// biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls is reached by keyboard
					tabIndex={0}
					role="group"
					aria-label={t("Fields of the input")}
				>
					<Tree value={shown} />
				</div>
			) : (
				<p className="p-4 text-muted">
					{isList
						? ofLists()
						: sample === undefined
							? t("Looking for a call…")
							: noSample ||
								t(
									"No call that this workflow is for is in the history yet. Call a tool, and it becomes the sample here.",
								)}
				</p>
			)}
			{choosing && (
				<ChooseCall
					onChoose={(call) => {
						setChoosing(false);
						call ? void choose(call).catch(complain) : newest();
					}}
					isChosen={isChosen}
					onClose={() => setChoosing(false)}
				/>
			)}
		</section>
	);
}

/** useInput makes a call the input, or lets the newest one be it again. */
function useInput() {
	const id = useEditor((s) => s.id);
	const [search, setSearch] = useAddress();
	const isChosen = ["run", "call"].some((name) => search.has(name)) || hasChosen(id);
	const put = (call?: string) =>
		setSearch(
			(params) => {
				params.delete("run");
				if (call) params.set("call", call);
				else params.delete("call");
				return params;
			},
			{ replace: true },
		);
	const choose = async (call: string) => {
		keepChosen(id, call);
		const isOpen = stillOpen();
		const sample = await loadCall(call);
		if (!isOpen()) return;
		setEditor({ sample, replay: null, unplayable: "" });
		put(call);
		await replayNow(call);
	};
	const newest = () => {
		keepChosen(id, undefined);
		setEditor({ sample: undefined, sampleFor: "", replay: null, unplayable: "" });
		put();
	};
	return { choose, newest, isChosen };
}

/** Changed says that workflows have changed the sample. A replay works on what was before that. */
function Changed({ sample, given }: { sample: S["CallDetails"]; given: boolean }) {
	const names = changedBy(sample);
	if (names.length === 0) return null;
	const values = { names: list(names.map((name) => t("“{name}”", { name }))) };
	return (
		<p role="note" className="shrink-0 border-line border-b bg-warn-soft px-4 py-2 text-warn text-xs">
			{given
				? t(
						"This call was changed by {names} then. Here is what the client sent, and what the server answered.",
						values,
					)
				: t("This call was changed by {names} then. A replay shows what it was before.", values)}
		</p>
	);
}

/** Masked says that the view masks values of the input: workflows see the real ones. */
function Masked({ value, redacted = [] }: { value: unknown; redacted?: string[] }) {
	const rules = useMemo(
		() => rulesIn(JSON.stringify(value)).filter((rule) => redacted.includes(rule)),
		[value, redacted],
	);
	if (rules.length === 0) return null;
	return (
		<p role="note" className="shrink-0 border-line border-b bg-sunken px-4 py-2 text-muted text-xs">
			{t("This view masks what {rules} found. In a real call, the workflow gets the real value.", {
				rules: list(rules),
			})}
		</p>
	);
}

/** roots are the names that expressions know, or that scripts do. Of the metadata, what the
 * record does not have is left out. */
function roots(
	sample: S["CallDetails"],
	state: { request: { method: string; params: unknown }; response?: unknown },
	where: { workflowId: string; nodeId?: string },
	scripted: boolean,
): Record<string, unknown> {
	const params = state.request.params as { name?: string; arguments?: unknown } | undefined;
	const metadata = {
		clientId: sample.client,
		...(sample.server && { serverName: sample.server }),
		...(sample.ownName && { toolName: sample.ownName }),
		...where,
		requestId: sample.id,
	};
	const response = state.response !== undefined && { response: state.response };
	if (scripted) return { ctx: { request: state.request, ...response, metadata } };
	return { args: params?.arguments ?? {}, ...response, metadata };
}

const mostLines = 400;

/** Tree is JSON whose fields can be clicked and dragged into expressions. */
function Tree({ value }: { value: Record<string, unknown> }) {
	let lines = 0;
	const draw = (value: unknown, path: string, key: string | null, depth: number, last: boolean): React.ReactNode => {
		if (lines++ > mostLines) return lines === mostLines + 2 ? <div key="more">…</div> : null;
		const pad = { paddingLeft: depth * 16 };
		const comma = last ? "" : ",";
		const name =
			key !== null &&
			(path === "" ? null : (
				<>
					<FieldName path={path} value={value}>
						{JSON.stringify(key)}
					</FieldName>
					{": "}
				</>
			));
		if (value && typeof value === "object" && !isExact(value)) {
			const list = Array.isArray(value);
			const entries: [string, unknown][] = list ? value.map((v, i) => [String(i), v]) : Object.entries(value);
			const [open, close] = list ? ["[", "]"] : ["{", "}"];
			if (entries.length === 0)
				return (
					<div key={path} style={pad}>
						{name}
						{open}
						{close}
						{comma}
					</div>
				);
			return (
				<Fragment key={path}>
					<div style={pad}>
						{name}
						{open}
					</div>
					{entries.map(([k, v], i) =>
						draw(
							v,
							list ? `${path}[${k}]` : path === "" ? k : path + member(k),
							list ? null : k,
							depth + 1,
							i === entries.length - 1,
						),
					)}
					<div style={pad}>
						{close}
						{comma}
					</div>
				</Fragment>
			);
		}
		const text = JSON.stringify(value) ?? "null";
		return (
			<div key={path} style={pad} className="break-words">
				{name}
				<span className={typeof value === "string" ? "text-ok" : "text-warn"}>
					{text.length > 300 ? `${text.slice(0, 300)}…` : text}
				</span>
				{comma}
			</div>
		);
	};
	return <div className="font-mono text-[12.5px] leading-5">{draw(value, "", null, 0, true)}</div>;
}

function FieldName({ path, value, children }: { path: string; value: unknown; children: React.ReactNode }) {
	return (
		<button
			type="button"
			draggable
			title={t("Write {path}", { path })}
			onClick={() => pick({ path, value })}
			onDragStart={(event) => {
				event.dataTransfer.setData(pathType, JSON.stringify({ path, value }));
				event.dataTransfer.setData("text/plain", inScript(path));
				event.dataTransfer.effectAllowed = "copy";
			}}
			className="-mx-0.5 cursor-grab break-all rounded-sm px-0.5 text-left text-accent hover:bg-accent-soft"
		>
			{children}
		</button>
	);
}

/** inScript is the path of a field as scripts know it. */
const inScript = (path: string): string =>
	path.startsWith("ctx")
		? path
		: path.startsWith("args")
			? `ctx.request.params.arguments${path.slice(4)}`
			: `ctx.${path}`;

/** pick writes a field where it is wanted: into the expression that is being edited, else
 * into the condition or script of the selected node, else onto the clipboard. */
function pick(picked: Picked): void {
	const { draft, selected, readOnly } = editor();
	const node = selected.length === 1 ? nodeOf(draft, selected[0]!) : undefined;
	if (!readOnly && node?.type === "hook" && insertInto(inScript(picked.path))) return;
	if (!readOnly && pickInto(picked)) return;
	if (!readOnly && node?.type === "condition") {
		const cases = casesOf(node);
		return editNode(node.id, (data) => ({
			...data,
			cases: cases.map((c, i) => (i === 0 ? { ...c, when: comparison(picked) } : c)),
		}));
	}
	void writeClipboard(picked.path).then(() => say(t("{path} is copied", { path: picked.path })), complain);
}

const searchAfter = 250;

/** ChooseCall chooses another call of the history as the input. */
function ChooseCall({
	onChoose,
	isChosen,
	onClose,
}: {
	/** Without a call, the newest one is meant. */
	onChoose: (call?: string) => void;
	isChosen: boolean;
	onClose: () => void;
}) {
	const draft = useEditor((s) => s.draft);
	const [text, setText] = useState("");
	const [sought, setSought] = useState("");
	/** The text whose only hit Enter takes, once it is found. */
	const [entered, setEntered] = useState<string>();
	const [all, setAll] = useState(false);
	const [only, ...more] = (!all && draft.match?.servers) || [];
	const server = only && more.length === 0 && /^[\w-]+$/.test(only) ? only : undefined;
	useEffect(() => {
		const timer = setTimeout(() => setSought(text.trim()), searchAfter);
		return () => clearTimeout(timer);
	}, [text]);
	const calls = query.useQuery(
		"get",
		"/v1/calls",
		{ params: { query: { limit: lookedAt, server, ...(sought && { text: sought }) } } },
		{ placeholderData: (before: S["CallList"] | undefined) => before },
	);
	const last = sought ? lookedBack : lookedAt;
	const fitting = useQuery({
		queryKey: ["isFor", draft, last],
		queryFn: ({ signal }) => isFor(draft, signal, last),
		gcTime: 0,
		placeholderData: (before) => before,
	});
	const read = all || fitting.data ? calls : { ...fitting, data: undefined };
	const fit = (calls.data?.calls ?? []).filter((call) =>
		all ? call.method === draft.workflowType && call.replayable : fitting.data?.calls.has(call.id),
	);
	const isSettled = text.trim() === sought && !calls.isPlaceholderData && (all || !fitting.isPlaceholderData);
	const hit = isSettled && entered === sought && fit.length === 1 ? fit[0]!.id : undefined;
	// biome-ignore lint/correctness/useExhaustiveDependencies: onChoose is another function each time
	useEffect(() => {
		if (hit) onChoose(hit);
	}, [hit]);
	return (
		<Dialog title={t("Which call is the input?")} onClose={onClose} size="wide">
			<div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
				<SearchBox
					className="w-full sm:w-72"
					label={t("Search these calls")}
					value={text}
					onChange={setText}
					onEnter={(value) => {
						setEntered(value.trim());
						setSought(value.trim());
					}}
				/>
				<label className="flex items-center gap-2">
					<input type="checkbox" checked={all} onChange={(event) => setAll(event.target.checked)} />
					{t("also calls that the workflow is not for")}
				</label>
				{isChosen && (
					<Button className="ml-auto" onClick={() => onChoose()}>
						{t("Use the newest call")}
					</Button>
				)}
			</div>
			<Loaded query={read}>
				{() => {
					if (fit.length === 0 && sought)
						return (
							<Empty title={t("No call that can be the input has this text.")}>
								{!all && t("Those that the workflow is not for are left out.")}
							</Empty>
						);
					if (fit.length === 0)
						return (
							<Empty
								title={t("The history has no such call yet.")}
								actions={<LinkButton href="/tools">{t("Try a tool")}</LinkButton>}
							>
								{fitting.data?.problem && !all
									? t("No call is looked for: {reason}", { reason: fitting.data.problem })
									: t("Calls whose contents are kept whole can be the input.")}
							</Empty>
						);
					return (
						<ul className="-mx-2">
							{fit.map((call) => (
								<li key={call.id}>
									<button
										type="button"
										onClick={() => onChoose(call.id)}
										className="grid w-full grid-cols-[72px_minmax(0,0.7fr)_minmax(0,1.2fr)_minmax(0,1.5fr)_112px] items-center gap-3 max-sm:grid-cols-[72px_minmax(0,1fr)_96px] rounded-md px-2 py-1.5 text-left hover:bg-sunken focus-visible:-outline-offset-2"
									>
										<span className="tabular text-faint text-xs">{clock(call.startedAt)}</span>
										<span className="line text-muted max-sm:hidden" title={call.program || call.client}>
											{clientName(call)}
										</span>
										<span className="line font-medium" title={call.tool}>
											{call.server && <span className="font-normal text-muted">{call.server} / </span>}
											{toolName(call)}
										</span>
										<code className="line text-muted max-sm:hidden">{call.arguments}</code>
										<span
											className={cx(
												"line text-right text-xs",
												{ ok: "text-faint", warn: "text-warn", bad: "text-bad", idle: "", accent: "" }[
													outcomeTone(call.outcome)
												],
											)}
										>
											<Effect effect={call.effect} /> {outcomeWord(call.outcome)}
										</span>
									</button>
								</li>
							))}
						</ul>
					);
				}}
			</Loaded>
		</Dialog>
	);
}
