import { useQueries } from "@tanstack/react-query";
import type { S } from "@/api/client";
import { useWorkflows } from "@/shell/session";
import { useKinds } from "../workflow/ask-kinds";
import { type Definition, nodeOf } from "../workflow/definition";
import { named } from "../workflow/kinds";
import { workflowOptions } from "../workflow/read";

/** useStepName finds what the editor calls a step of a workflow that ran around a call. */
export function useStepName(call: S["CallDetails"]): (trace: S["WorkflowTrace"], step: S["WorkflowStep"]) => string {
	const { data } = useWorkflows();
	useKinds();
	const traces = (call.workflows ?? []).filter((trace) => data?.workflows.some((one) => one.id === trace.workflow));
	const keyOf = (trace: S["WorkflowTrace"]) => `${trace.workflow} ${trace.version}`;
	const asked = [...new Map(traces.map((trace) => [keyOf(trace), trace])).values()];
	const known = useQueries({
		queries: asked.map(({ workflow, version }) => ({
			...workflowOptions(workflow, version),
			retry: false,
		})),
	});
	return (trace, { node: id, type }) => {
		const at = asked.findIndex((one) => keyOf(one) === keyOf(trace));
		const definition = known[at]?.data?.definition as unknown as Definition | undefined;
		const node = definition && nodeOf(definition, id);
		if (node) return named(node, definition.workflowType);
		return type ? named({ id, type, data: { hook: { blocking: true } } }, "") : id;
	};
}
