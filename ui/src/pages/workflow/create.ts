import { api } from "../../api/client";
import { t } from "../../lang";
import { type Match, newDefinition } from "./definition";
import { sittingOf } from "./sitting";

/** createWorkflow stores a new workflow and returns its id. */
export async function createWorkflow(
	options: { name?: string; workflowType?: string; match?: Match } = {},
): Promise<string> {
	const { data } = await api.GET("/v1/workflows");
	const taken = new Set(data?.workflows.map((w) => w.id));
	const name = options.name || t("New workflow");
	const base =
		name
			.toLowerCase()
			.replace(/[^a-z0-9]+/g, "-")
			.replace(/^-+|-+$/g, "") || "workflow";
	let id = base === "new" ? "workflow" : base;
	for (let n = 2; taken.has(id); n++) id = `${base}-${n}`;
	await api.PUT("/v1/workflows/{id}", {
		params: { path: { id }, query: { draft: sittingOf(id) } },
		body: newDefinition(id, name, options.workflowType, options.match) as never,
	});
	return id;
}
