import type { S } from "@/api/client";
import { useKinds } from "../workflow/ask-kinds";
import { named } from "../workflow/kinds";

/** ranAs is what a workflow was called when it ran. It may be gone by now, and another may
 * have its id. */
export const ranAs = ({ name, workflow }: S["WorkflowTrace"]): string => name || workflow;

/** useStepName finds what a step was called when it ran, as the editor calls it. */
export function useStepName(): (step: S["WorkflowStep"]) => string {
	useKinds();
	return ({ node: id, label, type }) =>
		label || (type ? named({ id, type, data: { hook: { blocking: true } } }, "") : id);
}
