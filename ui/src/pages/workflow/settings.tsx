import { AlertTriangle, Copy, MoreHorizontal, Plus, Spline, Trash2, X } from "lucide-react";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { query } from "../../api/client";
import { t } from "../../lang";
import { aboutStep, aroundWord, workflowTypes } from "../../lang/terms";
import { Button, Cap, Field, Input, Menu, Select, TextArea } from "../../ui";
import { blank, type Schema, SchemaForm } from "../../ui/schemaform";
import {
	type Case,
	canFail,
	casesOf,
	type Definition,
	type Hook,
	hookOf,
	isDetached,
	kindOf,
	type Node,
	nameOf,
	nodeOf,
	outsOf,
	remove,
	type Setting,
	withHook,
} from "./definition";
import { Cel, Patterns, Values, Whole } from "./fields";
import { copyText, pasteText } from "./keys";
import { hookFrom } from "./menu";
import { rename } from "./node";
import { edit, editNode, type Problem, select, setEditor, useEditor } from "./store";

const Code = lazy(() => import("./code").then((module) => ({ default: module.Code })));

/** Settings are those of the selected node, or of the workflow. */
export function Settings() {
	const id = useEditor((s) => s.selected.at(-1));
	const many = useEditor((s) => s.selected.length);
	const node = useEditor((s) => (id === undefined ? undefined : nodeOf(s.draft, id)));
	return (
		<section data-settings aria-label={t("Settings")} className="flex min-h-0 min-w-0 flex-col">
			{node && many === 1 ? (
				<NodeSettings key={node.id} node={node} />
			) : many > 1 ? (
				<Several count={many} />
			) : (
				<WorkflowSettings />
			)}
		</section>
	);
}

function Several({ count }: { count: number }) {
	return (
		<>
			<Cap>{t("{n} steps are selected", { n: count })}</Cap>
			<p className="p-4 text-muted">
				{t("Drag moves them together. Ctrl+C copies them as JSON, D duplicates, Delete removes.")}
			</p>
		</>
	);
}

function NodeSettings({ node }: { node: Node }) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	const allProblems = useEditor((s) => s.problems);
	const problems = allProblems.filter((p) => p.node === node.id);
	const inCode = node.type === "hook" && !hookOf(node).module && !hookOf(node).template;
	const said = problems.filter((p) => !(inCode && p.line));
	return (
		<>
			<Cap>
				<span className="line">
					<b className="text-text">{nameOf(node)}</b> ·{" "}
					{hookOf(node).template ? t("from a template") : t(kindOf(node).name)}
				</span>
				{!readOnly && (
					<Menu
						trigger={
							<Button look="quiet" size="iconSmall" aria-label={t("More about this step")}>
								<MoreHorizontal />
							</Button>
						}
						items={[
							{
								title: t("Connect to…"),
								hint: "C",
								icon: <Spline />,
								onSelect: () =>
									setEditor({
										adding: { kind: "connect", from: node.id, screen: { x: window.innerWidth / 2, y: 240 } },
									}),
							},
							{ title: t("Duplicate"), hint: "D", icon: <Copy />, onSelect: () => pasteText(copyText()) },
							"line",
							{
								title: t("Remove"),
								hint: "Del",
								icon: <Trash2 />,
								danger: true,
								disabled: node.type === "start",
								onSelect: () => {
									edit((draft) => remove(draft, [node.id]));
									select([]);
								},
							},
						]}
					/>
				)}
			</Cap>
			{said.length > 0 && <Wrong problems={said} />}
			{node.type === "hook" ? (
				<HookSettings node={node} problems={problems} />
			) : (
				<Body>
					<Name node={node} />
					<Own node={node} problems={problems} />
					<OnError node={node} />
				</Body>
			)}
		</>
	);
}

const Body = ({ children }: { children: ReactNode }) => (
	<div className="flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto p-4">{children}</div>
);

/** Wrong says what is wrong with a node. */
function Wrong({ problems }: { problems: Problem[] }) {
	return (
		<ul className="shrink-0 border-line border-b bg-bad-soft px-4 py-2 text-bad text-xs">
			{problems.map((p, i) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: two may say the same
				<li key={i} className="flex gap-2">
					<AlertTriangle aria-hidden className="mt-0.5 size-3 shrink-0" />
					<span>
						{p.reason}
						{p.line ? ` (${p.line}:${p.column})` : ""}
					</span>
				</li>
			))}
		</ul>
	);
}

function Name({ node }: { node: Node }) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	return (
		<Field label={t("Name")}>
			<Input
				value={node.data?.label ?? ""}
				placeholder={nameOf(node)}
				readOnly={readOnly}
				onChange={(event) =>
					event.target.value
						? editNode(node.id, (data) => ({ ...data, label: event.target.value }), `name ${node.id}`)
						: rename(node, "")
				}
			/>
		</Field>
	);
}

/** Own are the settings of a node's type. */
function Own({ node, problems }: { node: Node; problems: Problem[] }) {
	const data = node.data ?? {};
	const put = (key: string, value: unknown) => editNode(node.id, (data) => set(data, key, value), `${key} ${node.id}`);
	switch (node.type) {
		case "start":
			return (
				<p className="text-muted">{t("Here the call comes in. Which calls: see the settings of the workflow.")}</p>
			);
		case "mcp-call":
			return (
				<Field label={t("Time limit in ms")} hint={t("Sends the call to its server, once.")}>
					<Whole value={data.timeoutMs} onChange={(n) => put("timeoutMs", n)} placeholder={t("that of the server")} />
				</Field>
			);
		case "condition":
			return <Cases node={node} wrong={problems.some((p) => p.line)} />;
		case "set":
			return (
				<>
					<SampleValues node={node} setting="arguments" label={t("Arguments of the call")} />
					<SampleValues node={node} setting="vars" label={t("Variables")} />
				</>
			);
		case "tool":
			return <ToolFields node={node} />;
		case "approve":
			return (
				<>
					<Message node={node} label={t("What the person is asked")} placeholder={t("May this call be made?")} />
					<Field label={t("Time limit in ms")} hint={t("Nobody's answer is a no.")}>
						<Whole value={data.timeoutMs} onChange={(n) => put("timeoutMs", n)} placeholder="300000" />
					</Field>
				</>
			);
		case "end":
			return (
				<>
					<Field label={t("How it ends")}>
						<Choice
							value={String(data.outcome ?? "ok")}
							onChange={(value) => put("outcome", value === "ok" ? undefined : value)}
							options={{
								ok: t("The answer goes to the caller"),
								deny: t("The call is refused"),
								error: t("The workflow fails"),
							}}
						/>
					</Field>
					{data.outcome && data.outcome !== "ok" ? (
						<Message node={node} label={t("What the caller reads")} placeholder={t("Only SELECT is allowed.")} />
					) : null}
				</>
			);
		default:
			return (
				<p className="text-muted">
					{t("This editor does not know the type {type}. It is kept as it is.", { type: node.type })}
				</p>
			);
	}
}

/** set is an object with a key set, or without it. */
function set(object: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
	if (value !== undefined) return { ...object, [key]: value };
	const { [key]: _, ...rest } = object;
	return rest;
}

function Choice({
	value,
	onChange,
	options,
}: {
	value: string;
	onChange: (value: string) => void;
	options: Record<string, string>;
}) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	return (
		<Select value={value} disabled={readOnly} onChange={(event) => onChange(event.target.value)}>
			{Object.entries(options).map(([key, text]) => (
				<option key={key} value={key}>
					{text}
				</option>
			))}
		</Select>
	);
}

function Message({ node, label, placeholder }: { node: Node; label: string; placeholder: string }) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	return (
		<Field label={label}>
			<TextArea
				rows={2}
				readOnly={readOnly}
				placeholder={placeholder}
				value={String(node.data?.message ?? "")}
				onChange={(event) =>
					editNode(node.id, (data) => ({ ...data, message: event.target.value }), `message ${node.id}`)
				}
			/>
		</Field>
	);
}

function OnError({ node }: { node: Node }) {
	if (!canFail(node)) return null;
	const inHook = node.type === "hook";
	const value = inHook ? hookOf(node).onError : (node.data?.onError as string | undefined);
	return (
		<Field label={t("When it fails")}>
			<Choice
				value={value ?? ""}
				onChange={(value) =>
					editNode(node.id, (data) =>
						inHook
							? { ...data, hook: set((data.hook ?? {}) as Record<string, unknown>, "onError", value || undefined) }
							: set(data, "onError", value || undefined),
					)
				}
				options={{
					"": t("By its edge “fails”, or the workflow fails"),
					fail: t("The workflow fails"),
					continue: t("Go on as if nothing happened"),
					branch: t("By its edge “fails”"),
				}}
			/>
		</Field>
	);
}

function Cases({ node, wrong }: { node: Node; wrong: boolean }) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	const cases = casesOf(node);
	const write = (next: Case[], group = "") =>
		editNode(node.id, (data) => ({ ...data, cases: next }), group && `${group} ${node.id}`);
	return (
		<fieldset className="flex flex-col gap-2">
			<legend className="mb-1 font-medium text-muted text-xs">
				{t("Leaves by the first that holds, else by “else”")}
			</legend>
			{cases.map((c, i) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: the name is what is being written
				<div key={i} className="flex items-center gap-1.5">
					<CaseName node={node} i={i} />
					<Cel
						condition
						error={wrong}
						label={t("Condition for “{way}”", { way: c.handle })}
						value={c.when}
						onChange={(when) =>
							write(
								cases.map((old, at) => (at === i ? { ...old, when } : old)),
								`when${i}`,
							)
						}
					/>
					{!readOnly && cases.length > 1 && (
						<Button
							look="quiet"
							size="iconSmall"
							aria-label={t("Remove {name}", { name: c.handle })}
							onClick={() => write(cases.filter((_, at) => at !== i))}
						>
							<X />
						</Button>
					)}
				</div>
			))}
			{!readOnly && (
				<Button
					look="quiet"
					size="small"
					className="self-start"
					onClick={() => {
						let n = cases.length + 1;
						while (cases.some((c) => c.handle === `way${n}`)) n++;
						write([...cases, { handle: `way${n}`, when: "" }]);
					}}
				>
					<Plus />
					{t("Add a case")}
				</Button>
			)}
			<p className="text-faint text-xs">
				{t("CEL over args, request, response, metadata and vars. Click or drag a field of the input to write it.")}
			</p>
		</fieldset>
	);
}

/** CaseName is the name of a way out. A name that is taken stays here until it is another. */
function CaseName({ node, i }: { node: Node; i: number }) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	const [text, setText] = useState<string | null>(null);
	const handle = casesOf(node)[i]!.handle;
	return (
		<Input
			aria-label={t("Name of the way out")}
			value={text ?? handle}
			aria-invalid={(text !== null && text !== handle) || undefined}
			readOnly={readOnly}
			onChange={(event) => {
				const name = event.target.value;
				const taken = [...outsOf(node), "error"].includes(name) && name !== handle;
				setText(name);
				if (name && !taken) renameCase(node, i, name);
			}}
			onBlur={() => setText(null)}
			className="max-w-20"
		/>
	);
}

/** renameCase renames a way out together with its edges. */
function renameCase(node: Node, i: number, handle: string): void {
	const was = casesOf(node)[i]?.handle;
	edit(
		(draft) => ({
			...draft,
			nodes: draft.nodes.map((n) =>
				n.id === node.id
					? { ...n, data: { ...n.data, cases: casesOf(n).map((c, at) => (at === i ? { ...c, handle } : c)) } }
					: n,
			),
			edges: draft.edges.map((e) =>
				e.source === node.id && e.sourceHandle === was ? { ...e, sourceHandle: handle } : e,
			),
		}),
		`handle${i} ${node.id}`,
	);
}

function SampleValues({ node, setting, label }: { node: Node; setting: "arguments" | "vars"; label: string }) {
	const sample = useEditor((s) => s.sample);
	const args = (sample?.request?.json as { arguments?: object } | undefined)?.arguments;
	return (
		<Values
			label={label}
			names={setting === "arguments" && args ? Object.keys(args) : undefined}
			values={(node.data?.[setting] ?? {}) as Record<string, Setting>}
			onChange={(values) =>
				editNode(
					node.id,
					(data) => set(data, setting, Object.keys(values).length > 0 || setting === "arguments" ? values : undefined),
					`${setting} ${node.id}`,
				)
			}
		/>
	);
}

function ToolFields({ node }: { node: Node }) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	const tools = query.useQuery("get", "/v1/tools", { params: { query: { limit: 100 } } });
	const put = (key: string, value: unknown) => editNode(node.id, (data) => set(data, key, value), `${key} ${node.id}`);
	return (
		<>
			<Field label={t("Tool")} hint={t("It is called with the rights of the caller.")}>
				<Input
					list="editor-tools"
					value={String(node.data?.tool ?? "")}
					readOnly={readOnly}
					placeholder="server__tool"
					onChange={(event) => put("tool", event.target.value)}
					className="font-mono text-[12.5px]"
				/>
			</Field>
			<datalist id="editor-tools">
				{tools.data?.tools.map((tool) => (
					<option key={tool.name} value={tool.name} />
				))}
			</datalist>
			<Values
				label={t("Arguments")}
				values={(node.data?.arguments ?? {}) as Record<string, Setting>}
				onChange={(values) => put("arguments", values)}
			/>
			<Field label={t("Keep the result in the variable")}>
				<Input
					value={String(node.data?.into ?? "")}
					readOnly={readOnly}
					onChange={(event) => put("into", event.target.value || undefined)}
					className="font-mono text-[12.5px]"
				/>
			</Field>
		</>
	);
}

function HookSettings({ node, problems }: { node: Node; problems: Problem[] }) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	const step = useEditor((s) => s.replay?.steps[node.id]);
	const modules = query.useQuery("get", "/v1/hook-modules");
	const templates = query.useQuery("get", "/v1/workflow-templates");
	const type = useEditor((s) => s.draft.workflowType);
	const [more, setMore] = useState(false);
	const hook = hookOf(node);
	// A template's script that nobody has changed is a form, too, until the script is asked for.
	const [asScript, setAsScript] = useState(false);
	const template = templates.data?.templates.find(
		(one) => one.hook && (hook.template === one.id || (!asScript && !hook.module && hook.script === one.hook.script)),
	);
	const mustWait = template?.hook?.blocking;
	const put = (change: Partial<Hook>, group = "") =>
		editNode(
			node.id,
			(data) => ({ ...data, hook: { ...((data.hook ?? {}) as Hook), ...change } }),
			group && `${group} ${node.id}`,
		);
	const marks = problems.filter((p) => p.line).map((p) => ({ line: p.line!, column: p.column, message: p.reason }));
	if (marks.length === 0 && step?.line && step.error)
		marks.push({ line: step.line, column: step.column, message: step.error });
	const usesModule = hook.module !== undefined;
	const putParams = (params: unknown) =>
		editNode(
			node.id,
			(data) => ({ ...data, hook: set((data.hook ?? {}) as Record<string, unknown>, "params", params) }),
			`params ${node.id}`,
		);
	return (
		<>
			<div className="flex shrink-0 flex-wrap items-center gap-2 border-line border-b px-4 py-2">
				<Input
					aria-label={t("Name")}
					value={node.data?.label ?? ""}
					placeholder={nameOf(node)}
					readOnly={readOnly}
					onChange={(event) =>
						event.target.value
							? editNode(node.id, (data) => ({ ...data, label: event.target.value }), `name ${node.id}`)
							: rename(node, "")
					}
					className="flex-1 basis-24"
				/>
				<Select
					aria-label={t("Whether the call waits")}
					disabled={readOnly || (mustWait && hook.blocking)}
					title={
						mustWait
							? t("The call waits for this step. Otherwise the step could neither change nor refuse it.")
							: undefined
					}
					value={hook.blocking ? "wait" : "beside"}
					onChange={(event) => {
						const blocking = event.target.value === "wait";
						edit((draft) => withHook(draft, node.id, { ...hook, blocking }));
					}}
				>
					<option value="wait">{t("is waited for")}</option>
					{!(mustWait && hook.blocking) && <option value="beside">{t("nobody waits")}</option>}
				</Select>
				<Button look="quiet" size="small" aria-expanded={more} onClick={() => setMore(!more)}>
					{t("More")}
				</Button>
				{more && (
					<div className="grid w-full gap-2">
						<Field label={t("Where the script is")}>
							<Select
								disabled={readOnly}
								value={hook.module ? `module ${hook.module}` : template ? `template ${template.id}` : ""}
								onChange={(event) => {
									const [from, id] = event.target.value.split(" ");
									setAsScript(from === "");
									const chosen = templates.data?.templates.find((one) => from === "template" && one.id === id);
									if (chosen) {
										const { module: _, template: __, script: ___, ...others } = hook;
										edit((draft) => withHook(draft, node.id, { ...others, ...hookFrom(chosen) }));
										return;
									}
									editNode(node.id, (data) => {
										const { module: _, template: __, ...rest } = (data.hook ?? {}) as Hook;
										if (from !== "module") return { ...data, hook: { script: template?.hook?.script ?? "", ...rest } };
										const schema = modules.data?.hookModules.find((m) => m.id === id)?.params as Schema | undefined;
										const params = rest.params ?? (schema && blank(schema));
										return { ...data, hook: { ...rest, module: id, ...(params !== undefined && { params }) } };
									});
								}}
							>
								<option value="">{t("own script")}</option>
								{templates.data?.templates
									.filter((one) => one.id === template?.id || one.hook?.workflowTypes.includes(type))
									.map((one) => (
										<option key={one.id} value={`template ${one.id}`}>
											{one.title}
										</option>
									))}
								{usesModule && !modules.data?.hookModules.some((m) => m.id === hook.module) && (
									<option value={`module ${hook.module}`}>{hook.module}</option>
								)}
								{modules.data?.hookModules.map((m) => (
									<option key={m.id} value={`module ${m.id}`}>
										{m.id}
									</option>
								))}
							</Select>
						</Field>
						{!isDetached(node) && <OnError node={node} />}
						{!usesModule && !template && (
							<JsonField label={t("Parameters (params) as JSON")} value={hook.params} onChange={putParams} />
						)}
					</div>
				)}
			</div>
			<div className="min-h-0 flex-1">
				{usesModule ? (
					<ModuleParams key={hook.module} reference={hook.module!} value={hook.params} onChange={putParams} />
				) : template ? (
					<Params
						about={aboutStep(template, type)}
						schema={template.params as Schema}
						value={hook.params}
						onChange={putParams}
					/>
				) : hook.template ? null : (
					<Suspense fallback={null}>
						<Code
							key={node.id}
							language="script"
							label={t("Script of {name}", { name: nameOf(node) })}
							hint={
								'// if (/drop/i.test(ctx.request.params.arguments.sql))\n//   return { action: "deny", reason: "…" };\n// mapText(ctx.response, (text) => text.trim());'
							}
							value={hook.script ?? ""}
							onChange={(script) => put({ script }, "script")}
							marks={marks}
							readOnly={readOnly}
						/>
					</Suspense>
				)}
			</div>
		</>
	);
}

/** ModuleParams are the params that a hook gives to a module: a form, if the module says
 * which it takes. */
function ModuleParams({
	reference,
	value,
	onChange,
}: {
	reference: string;
	value: unknown;
	onChange: (params: unknown) => void;
}) {
	const [id, version] = reference.split("@");
	const module = query.useQuery(
		"get",
		"/v1/hook-modules/{id}",
		{ params: { path: { id: id! }, query: { version: Number(version) || undefined } } },
		{ retry: false },
	);
	const shared = t("The script is the shared module {name}. A change to it reaches all workflows that use it.", {
		name: reference,
	});
	if (module.isLoading) return null;
	return (
		<Params
			about={module.data?.description ? `${module.data.description} ${shared}` : shared}
			schema={module.data?.params as Schema | undefined}
			value={value}
			onChange={onChange}
		/>
	);
}

/** Params are those of a hook, as a form if there is a schema of them. */
function Params({
	about,
	schema,
	value,
	onChange,
}: {
	about: string;
	schema?: Schema;
	value: unknown;
	onChange: (params: unknown) => void;
}) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	return (
		<div className="flex h-full flex-col gap-3 overflow-y-auto p-4">
			<p className="text-muted">{about}</p>
			{schema ? (
				<fieldset disabled={readOnly} aria-label={t("Parameters")}>
					<SchemaForm schema={schema} value={value ?? {}} onChange={onChange} />
				</fieldset>
			) : (
				<JsonField label={t("Parameters (params) as JSON")} value={value} onChange={onChange} />
			)}
		</div>
	);
}

/** JsonField is a value as JSON. What cannot be read yet stays here until it can. */
function JsonField({ label, value, onChange }: { label: string; value: unknown; onChange: (value: unknown) => void }) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	const shown = value === undefined ? "" : JSON.stringify(value, null, 2);
	const [text, setText] = useState<string | null>(null);
	const [error, setError] = useState("");
	return (
		<Field label={label} error={error}>
			<TextArea
				rows={3}
				readOnly={readOnly}
				value={text ?? shown}
				onChange={(event) => {
					const raw = event.target.value;
					setText(raw);
					try {
						onChange(raw.trim() ? JSON.parse(raw) : undefined);
						setError("");
					} catch {
						setError(t("This is not JSON yet."));
					}
				}}
				onBlur={() => !error && setText(null)}
				className="font-mono text-[12.5px]"
			/>
		</Field>
	);
}

// Where the server reports problems of match.when.
const matchWhen = "match.when";

function WorkflowSettings() {
	const draft = useEditor((s) => s.draft);
	const allProblems = useEditor((s) => s.problems);
	const readOnly = useEditor((s) => s.readOnly !== null);
	const own = allProblems.filter((p) => !p.node || p.node === matchWhen);
	const match = draft.match ?? {};
	const put = (change: Partial<Definition>, group = "") => edit((draft) => ({ ...draft, ...change }), group);
	const putMatch = (key: string, value: unknown) =>
		put(
			{
				match: set(
					match as Record<string, unknown>,
					key,
					Array.isArray(value) && value.length === 0 ? undefined : value || undefined,
				),
			},
			`match ${key}`,
		);
	return (
		<>
			<Cap>
				<span>
					<b className="whitespace-nowrap text-text">{t("The workflow")}</b>
				</span>
				<span className="line font-normal text-faint">{t("Runs around a call; never starts by itself.")}</span>
			</Cap>
			{own.length > 0 && <Wrong problems={own} />}
			<Body>
				<div className="grid grid-cols-2 gap-3">
					<Field label={t("Name")}>
						<Input
							value={draft.name}
							readOnly={readOnly}
							onChange={(event) => put({ name: event.target.value }, "name")}
						/>
					</Field>
					<Field label={t("For")}>
						<Choice
							value={draft.workflowType}
							onChange={(workflowType) => put({ workflowType })}
							options={Object.fromEntries(workflowTypes.map((type) => [type, aroundWord(type)]))}
						/>
					</Field>
					<Field label={t("Tools")}>
						<Patterns
							value={match.tools ?? []}
							onChange={(value) => putMatch("tools", value)}
							placeholder={t("all, or github__*")}
						/>
					</Field>
					<Field label={t("Servers")}>
						<Patterns
							value={match.servers ?? []}
							onChange={(value) => putMatch("servers", value)}
							placeholder={t("all")}
						/>
					</Field>
					<Field label={t("Clients")}>
						<Patterns
							value={match.clients ?? []}
							onChange={(value) => putMatch("clients", value)}
							placeholder={t("all")}
						/>
					</Field>
					<Field label={t("Only if")}>
						<Cel
							condition
							label={t("Only if")}
							error={own.some((p) => p.node === matchWhen)}
							value={match.when ?? ""}
							onChange={(value) => putMatch("when", value)}
						/>
					</Field>
					<Field label={t("If the workflow fails")}>
						<Choice
							value={draft.failMode ?? "closed"}
							onChange={(value) => put({ failMode: value === "closed" ? undefined : value })}
							options={{ closed: t("the call is refused"), open: t("the call passes") }}
						/>
					</Field>
					<Field label={t("Mode")}>
						<Choice
							value={draft.mode ?? "enforce"}
							onChange={(value) => put({ mode: value === "enforce" ? undefined : value })}
							options={{ enforce: t("it acts"), shadow: t("shadow: watches") }}
						/>
					</Field>
				</div>
				<Field label={t("Description")}>
					<TextArea
						rows={2}
						readOnly={readOnly}
						value={draft.description ?? ""}
						onChange={(event) => put({ description: event.target.value || undefined }, "description")}
					/>
				</Field>
				<JsonField
					label={t("Variables (vars) as JSON")}
					value={draft.vars}
					onChange={(vars) => put({ vars: vars as Record<string, unknown> | undefined }, "vars")}
				/>
				<JsonField
					label={t("Limits as JSON")}
					value={draft.limits}
					onChange={(limits) => put({ limits: limits as Record<string, unknown> | undefined }, "limits")}
				/>
			</Body>
		</>
	);
}
