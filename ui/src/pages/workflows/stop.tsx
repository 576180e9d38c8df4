import { type ReactNode, useState } from "react";
import { api, refresh, type S } from "@/api/client";
import { list, sentences, t, tn } from "@/lang";
import { aroundWord } from "@/lang/terms";
import { Confirm, complain, say } from "@/ui";
import { partsOf, runsText } from "./around";

/** useStop stops workflows. It asks first where that ends much: the workflow has changed or
 * refused calls, or its template made others that run. onChange is told what became of a
 * workflow, also when the stop is undone. */
export function useStop(onChange?: (workflow: S["Workflow"]) => void): {
	stop: (id: string) => void;
	question: ReactNode;
} {
	const [asking, ask] = useState<{ workflow: S["Workflow"]; parts: S["Workflow"][] }>();
	const enable = async ({ id, runningVersion: version }: S["Workflow"]) => {
		const { data } = await api.POST("/v1/workflows/{id}/enable", { params: { path: { id } }, body: { version } });
		onChange?.(data!);
	};
	const disable = async ({ id }: S["Workflow"]) => {
		const { data } = await api.POST("/v1/workflows/{id}/disable", { params: { path: { id } } });
		onChange?.(data!);
	};
	const each = async (workflows: S["Workflow"][], act: (workflow: S["Workflow"]) => Promise<void>) => {
		try {
			for (const workflow of workflows) await act(workflow);
		} finally {
			refresh("/v1/workflows", "/v1/workflows/{id}");
		}
	};
	const end = async (workflow: S["Workflow"], more: S["Workflow"][], others: S["Workflow"][] = []) => {
		ask(undefined);
		const all = [workflow, ...more];
		await each(all, disable);
		say(
			sentences(
				t("“{name}” is stopped. Calls go through without it.", { name: workflow.name }),
				more.length > 0 &&
					tn(more.length, "{n} more of its template is stopped too.", "{n} more of its template are stopped too."),
				others.length > 0 &&
					t("Others of its template go on: {names}.", {
						names: list(others.map(({ name }) => t("“{name}”", { name }))),
					}),
			),
			() => void each(all, enable).catch(complain),
		);
	};
	const stop = async (id: string) => {
		const { data } = await api.GET("/v1/workflows"); // what it did until now
		const listed = data!.workflows.find((one) => one.id === id);
		const workflow = listed ?? (await api.GET("/v1/workflows/{id}", { params: { path: { id } } })).data!;
		const parts = partsOf(data!.workflows, workflow).filter(({ enabled }) => enabled);
		const { runs, mode } = workflow;
		const acted = mode !== "shadow" && runs !== undefined && runs.changed + runs.denied + runs.failed > 0;
		if (acted || parts.length > 0) ask({ workflow, parts });
		else await end(workflow, []);
	};
	return {
		stop: (id) => void stop(id).catch(complain),
		question: asking && (
			<StopQuestion
				{...asking}
				onStop={(together) =>
					void (together ? end(asking.workflow, asking.parts) : end(asking.workflow, [], asking.parts)).catch(complain)
				}
				onClose={() => ask(undefined)}
			/>
		),
	};
}

/** StopQuestion asks whether to stop a workflow, and says what ends. */
function StopQuestion({
	workflow,
	parts,
	onStop,
	onClose,
}: {
	workflow: S["Workflow"];
	parts: S["Workflow"][];
	onStop: (together: boolean) => void;
	onClose: () => void;
}) {
	const [together, setTogether] = useState(true);
	return (
		<Confirm
			title={t("Stop “{name}”?", { name: workflow.name })}
			action={t("Stop it")}
			danger
			onConfirm={() => onStop(together)}
			onClose={onClose}
		>
			{workflow.runs
				? t(
						"Since it was enabled, or since Genkan started if that was later: {runs}. Once it is stopped, calls go through without it: nothing is changed or refused by it.",
						{
							runs: runsText(workflow),
						},
					)
				: t("Calls then go through without it.")}
			{parts.length > 0 && (
				<label className="mt-3 flex items-center gap-2">
					<input type="checkbox" checked={together} onChange={(event) => setTogether(event.target.checked)} />
					{t("also stop what the same template made for {types}", {
						types: list(parts.map((one) => aroundWord(one.workflowType))),
					})}
				</label>
			)}
		</Confirm>
	);
}
