import { api } from "../../api/client";
import { t } from "../../lang";
import { type Definition, type Match, newDefinition } from "./definition";

/** idFor is the id of a workflow with a name, unless another has it. */
export function idFor(name: string): string {
	const base = name
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, "-")
		.replace(/^-+|-+$/g, "");
	return base === "new" ? "workflow" : base || "workflow"; // /workflows/new is a page
}

/** newName is the name of a workflow that nobody has named. */
export const newName = (): string => t("New workflow");

/** newWorkflow is a workflow that does nothing yet, under an id that is free. Nothing is
 * stored. */
export async function newWorkflow(options: { name?: string; type?: string; match?: Match } = {}): Promise<Definition> {
	const { data } = await api.GET("/v1/workflows");
	const taken = new Set(data?.workflows.map((w) => w.id));
	const base = idFor(options.name ?? "");
	let id = base;
	for (let n = 2; taken.has(id); n++) id = `${base}-${n}`;
	return newDefinition(id, options.name || newName(), options.type, options.match);
}
