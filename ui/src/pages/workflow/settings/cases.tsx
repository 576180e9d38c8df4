import { Plus, X } from "lucide-react";
import { t } from "@/lang";
import { Button } from "@/ui";
import { type Case, casesOf, type Node } from "../definition";
import { Cel, NameField } from "../fields";
import { outsOf } from "../kinds";
import { exampleCase } from "../menu";
import { edit, editNode, useEditor } from "../store";

export function Cases({ node, wrong }: { node: Node; wrong: string[] }) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	const example = useEditor((s) => exampleCase(s.sample));
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
					<NameField
						label={t("Name of the way out")}
						name={c.handle}
						taken={[...outsOf(node), "error"]}
						onRename={(name) => renameCase(node, i, name)}
						className="max-w-20"
					/>
					<Cel
						condition
						error={wrong.includes(c.handle)}
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
			{example && cases.some((c) => c.when === example) && (
				<p className="text-warn text-xs">
					{t("Only calls with the value of the input go this way: {condition}", { condition: example })}
				</p>
			)}
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
