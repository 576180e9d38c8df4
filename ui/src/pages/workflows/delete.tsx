import { useState } from "react";
import { api, queries, refresh, type S } from "@/api/client";
import { list, t, tn } from "@/lang";
import { aroundWord } from "@/lang/terms";
import { useWorkflows } from "@/shell/session";
import { Confirm, complain, say } from "@/ui";
import { partsOf } from "./around";

/** Delete asks whether to delete a workflow, with those that its template made with it, and does
 * it. */
export function Delete({
	workflow,
	onDone,
	onClose,
}: {
	workflow: S["Workflow"];
	onDone: () => void;
	onClose: () => void;
}) {
	const { id, name, enabled } = workflow;
	const parts = partsOf(useWorkflows().data?.workflows ?? [], workflow);
	const [together, setTogether] = useState(true);
	const [busy, setBusy] = useState(false);
	const remove = async () => {
		setBusy(true);
		const more = together ? parts : [];
		try {
			// Its own page goes last: it is still there if something fails.
			for (const one of [...more.map((part) => part.id), id])
				await api.DELETE("/v1/workflows/{id}", { params: { path: { id: one } } });
			onDone();
			queries.removeQueries({ queryKey: ["get", "/v1/workflows/{id}"] });
			say(
				more.length > 0
					? tn(
							more.length + 1,
							"The workflow “{name}” is deleted.",
							"{n} workflows are deleted: “{name}” and those of its template.",
							{ name },
						)
					: t("The workflow “{name}” is deleted.", { name }),
			);
		} catch (error) {
			complain(error);
		}
		setBusy(false);
		refresh("/v1/workflows");
	};
	return (
		<Confirm
			title={t("Delete the workflow “{name}”?", { name })}
			action={t("Delete")}
			danger
			busy={busy}
			onClose={onClose}
			onConfirm={() => void remove()}
		>
			{enabled
				? t(
						"It runs now: calls go through without it from then on. All its versions and tests go with it. An export keeps the newest version and the tests, and no older versions.",
					)
				: t(
						"All its versions and tests go with it. An export keeps the newest version and the tests, and no older versions.",
					)}
			{parts.length > 0 && (
				<label className="mt-3 flex items-center gap-2">
					<input type="checkbox" checked={together} onChange={(event) => setTogether(event.target.checked)} />
					{t("also delete what the same template made for {types}", {
						types: list(parts.map((one) => aroundWord(one.workflowType))),
					})}
				</label>
			)}
		</Confirm>
	);
}
