import { X } from "lucide-react";
import { t } from "@/lang";
import { Button } from "@/ui";
import { type Edge, leaving, type Node, next, nodeOf, wayOf } from "../definition";
import { removeEdge } from "../edge";
import { canFail, isDetached, outsOf } from "../kinds";
import { wayText } from "../node";
import { nameOf, setEditor, useEditor } from "../store";

/** Exits are where a step leads: the edges of the drawing, for the keyboard. */
export function Exits({ node }: { node: Node }) {
	const draft = useEditor((s) => s.draft);
	const readOnly = useEditor((s) => s.readOnly !== null);
	const outs = outsOf(node);
	if (outs.length === 0) return null;
	const edges = leaving(draft, node.id);
	const ways = new Set([...outs, ...(canFail(node) ? ["error"] : []), ...edges.map((edge) => wayOf(node, edge))]);
	const rows = [...ways].flatMap((way): { way: string; edge?: Edge }[] => {
		const taken = edges.filter((edge) => wayOf(node, edge) === way).map((edge) => ({ way, edge }));
		return next(draft, node.id, way) ? taken : [{ way }, ...taken];
	});
	return (
		<fieldset className="flex flex-col gap-2">
			<legend className="mb-1 font-medium text-muted text-xs">{t("Leads to")}</legend>
			{rows.map(({ way, edge }, i) => {
				const target = edge && nodeOf(draft, edge.target);
				const name = target ? nameOf(target) : (edge?.target ?? t("nothing yet"));
				const label =
					target && isDetached(target) ? t("beside the path") : way === "out" && outs.length === 1 ? "" : wayText(way);
				return (
					// biome-ignore lint/suspicious/noArrayIndexKey: an exit stays when its edge is another
					<div key={i} className="flex items-center gap-1.5">
						{label && (
							<span className="line w-24 shrink-0 text-muted text-xs" title={label}>
								{label}
							</span>
						)}
						<Button
							size="small"
							disabled={readOnly}
							aria-haspopup="listbox"
							aria-label={t("Leads to {name}: change", { name: label ? `${name} (${label})` : name })}
							title={t("Choose the step that it leads to")}
							className="min-w-0"
							onClick={(event) => {
								const { left: x, bottom: y } = event.currentTarget.getBoundingClientRect();
								setEditor({ adding: { kind: "connect", screen: { x, y }, from: node.id, way, moved: edge } });
							}}
						>
							<span className="line">{name}</span>
						</Button>
						{edge && !readOnly && (
							<Button
								look="quiet"
								size="iconSmall"
								aria-label={t("Remove the edge to {name}", { name })}
								onClick={(event) => {
									const row = event.currentTarget.parentElement!;
									removeEdge(edge);
									row.querySelector("button")?.focus(); // this one goes away
								}}
							>
								<X />
							</Button>
						)}
					</div>
				);
			})}
		</fieldset>
	);
}
