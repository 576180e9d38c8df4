import { Pin } from "lucide-react";
import { Fragment, useMemo, useState } from "react";
import { useAddress } from "@/shell/address";
import { useWorkflows } from "@/shell/session";
import { query, type S } from "../../api/client";
import { clock, list, t, tn } from "../../lang";
import { Button, Cap, complain, cx, Dialog, Empty, LinkButton, Loaded, rulesIn, SearchBox, say } from "../../ui";
import { clientName, Effect, outcomeTone, outcomeWord, toolName } from "../calls/words";
import { insertInto } from "./code-insert";
import { casesOf, nodeOf } from "./definition";
import { comparison, type Picked, pathType, pickInto } from "./fields";
import { member } from "./menu";
import { editNode, editor, replayOf, setEditor, useEditor } from "./store";
import { canReplay, changedBy, keepChosen, loadCall, plainName, replayNow } from "./sync";
import { stateAt } from "./trace";

/** InputPane shows the call that comes into the selected node. */
export function InputPane() {
	const sample = useEditor((s) => s.sample);
	const noSample = useEditor((s) => s.noSample);
	const replay = useEditor(replayOf);
	const node = useEditor((s) => s.selected.at(-1) ?? "");
	const [choosing, setChoosing] = useState(false);
	const shown = useMemo(() => sample && roots(sample, stateAt(sample, replay, node).before), [sample, replay, node]);
	return (
		<section aria-label={t("Input")} className="flex min-h-0 min-w-0 flex-col">
			<Cap>
				<span className="line">
					{sample ? (
						<>
							<Pin aria-hidden className="mr-1 inline size-3" />
							{t("Input: {tool}, {time}", { tool: toolName(sample), time: clock(sample.startedAt) })}
						</>
					) : (
						t("Input")
					)}
				</span>
				<Button look="quiet" size="small" className="text-accent!" onClick={() => setChoosing(true)}>
					{sample ? t("change") : t("choose")}
				</Button>
			</Cap>
			{sample && <Changed sample={sample} />}
			{sample && <Masked sample={sample} />}
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
					{sample === undefined
						? t("Looking for a call…")
						: noSample ||
							t(
								"No call that this workflow is for is in the history yet. Call a tool, and it becomes the sample here.",
							)}
				</p>
			)}
			{choosing && <ChooseCall onClose={() => setChoosing(false)} />}
		</section>
	);
}

/** Changed says that workflows have changed the sample: what they took out is gone. */
function Changed({ sample }: { sample: S["CallDetails"] }) {
	const { data } = useWorkflows();
	const names = changedBy(sample).map((id) => data?.workflows.find((one) => one.id === id)?.name || id);
	if (names.length === 0) return null;
	return (
		<p role="note" className="shrink-0 border-line border-b bg-warn-soft px-4 py-2 text-warn text-xs">
			{t("This call was already changed by {names}. What that redacted or removed is not in the sample.", {
				names: list(names.map((name) => t("“{name}”", { name }))),
			})}
		</p>
	);
}

/** Masked says that the record masks values of the sample: workflows see the real ones. */
function Masked({ sample }: { sample: S["CallDetails"] }) {
	const rules = useMemo(() => {
		const found = rulesIn(JSON.stringify([sample.request?.json, sample.response?.json]));
		return found.filter((rule) => sample.redacted.includes(rule));
	}, [sample]);
	if (rules.length === 0) return null;
	return (
		<p role="note" className="shrink-0 border-line border-b bg-sunken px-4 py-2 text-muted text-xs">
			{tn(
				rules.length,
				"Masked in this record only, by the rule {rules}. In a real call, the workflow gets the real value.",
				"Masked in this record only, by the rules {rules}. In a real call, the workflow gets the real value.",
				{ rules: list(rules) },
			)}
		</p>
	);
}

/** roots are the names that expressions know. */
function roots(
	sample: S["CallDetails"],
	state: { request: { params: unknown }; response?: unknown },
): Record<string, unknown> {
	const params = state.request.params as { name?: string; arguments?: unknown } | undefined;
	const prefix = `${sample.server}__`;
	const metadata = {
		clientId: sample.client,
		...(sample.server && { serverName: sample.server }),
		...(sample.server && sample.tool?.startsWith(prefix) && { toolName: sample.tool.slice(prefix.length) }),
	};
	return {
		args: params?.arguments ?? {},
		...(state.response !== undefined && { response: state.response }),
		metadata,
	};
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
		if (value && typeof value === "object") {
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
	path.startsWith("args") ? `ctx.request.params.arguments${path.slice(4)}` : `ctx.${path}`;

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
	void navigator.clipboard.writeText(picked.path).then(() => say(t("{path} is copied", { path: picked.path })));
}

/** fits tells whether a name matches patterns, as the server reads them. */
function fits(patterns: string[] | undefined, name: string): boolean {
	const glob = (pattern: string) =>
		new RegExp(
			`^${pattern
				.replace(/[.+^${}()|[\]\\]/g, "\\$&")
				.replaceAll("*", ".*")
				.replaceAll("?", ".")}$`,
		).test(name);
	const wanted = (patterns ?? []).filter((pattern) => !pattern.startsWith("!"));
	const excluded = (patterns ?? []).filter((pattern) => pattern.startsWith("!")).map((pattern) => pattern.slice(1));
	return !excluded.some(glob) && (wanted.length === 0 || wanted.some(glob));
}

/** ChooseCall chooses another call of the history as the input. */
function ChooseCall({ onClose }: { onClose: () => void }) {
	const type = useEditor((s) => s.draft.workflowType);
	const match = useEditor((s) => s.draft.match);
	const [text, setText] = useState("");
	const [all, setAll] = useState(false);
	const calls = query.useQuery("get", "/v1/calls", {
		params: { query: { limit: 100, server: all ? undefined : plainName(match?.servers) } },
	});
	const wanted = text.trim().toLowerCase();
	const [, setSearch] = useAddress();
	const choose = async (id: string) => {
		onClose();
		try {
			keepChosen(editor().id, id);
			setEditor({ sample: await loadCall(id), replay: null, unplayable: "" });
			setSearch(
				(params) => {
					params.set("call", id);
					return params;
				},
				{ replace: true },
			);
			await replayNow(id);
		} catch (error) {
			complain(error);
		}
	};
	return (
		<Dialog title={t("Which call is the input?")} onClose={onClose} size="wide">
			<div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
				<SearchBox className="w-full sm:w-72" label={t("Search these calls")} value={text} onChange={setText} />
				<label className="flex items-center gap-2">
					<input type="checkbox" checked={all} onChange={(event) => setAll(event.target.checked)} />
					{t("also calls that the workflow is not for")}
				</label>
			</div>
			<Loaded query={calls}>
				{(data) => {
					const fit = data.calls.filter(
						(call) =>
							call.method === type &&
							canReplay(call) &&
							[call.tool, call.arguments, call.client, call.program].join(" ").toLowerCase().includes(wanted) &&
							(all ||
								(fits(match?.servers, call.server ?? "") &&
									(type !== "tools/call" || fits(match?.tools, call.tool ?? "")) &&
									fits(match?.clients, call.client))),
					);
					if (fit.length === 0)
						return (
							<Empty
								title={t("The history has no such call yet.")}
								actions={<LinkButton href="/tools">{t("Try a tool")}</LinkButton>}
							>
								{t("Calls whose contents are kept whole can be the input.")}
							</Empty>
						);
					return (
						<ul className="-mx-2">
							{fit.map((call) => (
								<li key={call.id}>
									<button
										type="button"
										onClick={() => void choose(call.id)}
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
