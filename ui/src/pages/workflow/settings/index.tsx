import { Copy, Maximize2, Minimize2, MoreHorizontal, Spline, Trash2 } from "lucide-react";
import { t } from "@/lang";
import { Button, Cap, Field, Menu } from "@/ui";
import { hookOf, type Node, nodeOf, remove } from "../definition";
import { connectFrom, copyText, pasteText } from "../keys";
import { useKindName } from "../node";
import { edit, editNode, nameOf, type Problem, select, useEditor } from "../store";
import { useDiscarded } from "../unread";
import { Cases } from "./cases";
import { Exits } from "./exits";
import { HookSettings } from "./hook";
import { Body, Choice, Message, NodeName, OnError, set, WholeField, Wrong } from "./parts";
import { SampleValues, ToolFields } from "./tool";
import { WorkflowSettings } from "./workflow";

/** Size is whether the settings have the room of input and output, too. */
type Size = { wide: boolean; onWide: (wide: boolean) => void };

/** Settings are those of the selected node, or of the workflow. */
export function Settings(size: Size) {
	const id = useEditor((s) => s.selected.at(-1));
	const many = useEditor((s) => s.selected.length);
	const node = useEditor((s) => (id === undefined ? undefined : nodeOf(s.draft, id)));
	const discarded = useDiscarded();
	return (
		<section data-settings aria-label={t("Settings")} className="flex min-h-0 min-w-0 flex-col">
			{node && many === 1 ? (
				<NodeSettings key={`${discarded} ${node.id}`} node={node} {...size} />
			) : many > 1 ? (
				<Several count={many} />
			) : (
				<WorkflowSettings key={discarded} />
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

function NodeSettings({ node, wide, onWide }: { node: Node } & Size) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	const allProblems = useEditor((s) => s.problems);
	const problems = allProblems.filter((p) => p.node === node.id);
	const kind = useKindName(node);
	const inCode = node.type === "hook" && !hookOf(node).module && !hookOf(node).template;
	const said = problems.filter((p) => !(inCode && p.line));
	return (
		<>
			<Cap>
				<span className="line">
					<b className="text-text">{nameOf(node)}</b>
					{kind && ` · ${kind}`}
				</span>
				<Button
					look="quiet"
					size="iconSmall"
					className="ml-auto max-sm:hidden"
					aria-pressed={wide}
					aria-label={wide ? t("Show input and output again") : t("Enlarge the settings")}
					title={wide ? t("Show input and output again") : t("Enlarge the settings")}
					onClick={() => onWide(!wide)}
				>
					{wide ? <Minimize2 /> : <Maximize2 />}
				</Button>
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
								onSelect: () => connectFrom(node.id, { x: window.innerWidth / 2, y: 240 }),
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
					<Field label={t("Name")}>
						<NodeName node={node} />
					</Field>
					<Own node={node} problems={problems} />
					<OnError node={node} />
					<Exits node={node} />
				</Body>
			)}
		</>
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
				<WholeField
					label={t("Time limit in ms")}
					hint={t("Sends the call to its server, once.")}
					path="timeoutMs"
					step={node.id}
					value={data.timeoutMs}
					onChange={(n) => put("timeoutMs", n)}
					placeholder={t("that of the server")}
				/>
			);
		case "condition":
			return <Cases node={node} wrong={problems.flatMap((p) => p.case ?? [])} />;
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
					<WholeField
						label={t("Time limit in ms")}
						hint={t("Nobody's answer is a no.")}
						path="timeoutMs"
						step={node.id}
						value={data.timeoutMs}
						onChange={(n) => put("timeoutMs", n)}
						placeholder="300000"
					/>
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
