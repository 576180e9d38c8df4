import { query, type S } from "@/api/client";
import { hookOf, type Node } from "./definition";

/** useTemplate is the template that a hook names, or whose script it has unchanged. */
export function useTemplate(node: Node | undefined): S["Template"] | undefined {
	const { data } = query.useQuery("get", "/v1/workflow-templates");
	if (node?.type !== "hook") return;
	const { template, module, script } = hookOf(node);
	return data?.templates.find(
		({ id, hook }) => hook && (template === id || (!template && !module && script === hook.script)),
	);
}
