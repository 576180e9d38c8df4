import { api } from "../../api/client";
import { t } from "../../lang";
import { type Definition, type Match, newDefinition } from "./definition";

/** newWorkflow is a workflow that does nothing yet, under an id that is free. Nothing is
 * stored. */
export async function newWorkflow(options: { name?: string; type?: string; match?: Match } = {}): Promise<Definition> {
	const { data } = await api.GET("/v1/workflows");
	const taken = new Set(data?.workflows.map((w) => w.id));
	// A name that people may still change makes no id.
	const slug = (options.name ?? "")
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, "-")
		.replace(/^-+|-+$/g, "");
	const base = slug === "new" ? "workflow" : slug || "workflow"; // /workflows/new is a page
	let id = base;
	for (let n = 2; taken.has(id); n++) id = `${base}-${n}`;
	return newDefinition(id, options.name || t("New workflow"), options.type, options.match);
}
