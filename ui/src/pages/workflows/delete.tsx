import { useState } from "react";
import { api, Failure, queries, refresh, type S } from "@/api/client";
import { list, sentences, t, tn } from "@/lang";
import { aroundWord } from "@/lang/terms";
import { useWorkflows } from "@/shell/session";
import { Confirm, complain, messageOf, say } from "@/ui";
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
	const { name, enabled } = workflow;
	const parts = partsOf(useWorkflows().data?.workflows ?? [], workflow).filter(({ source }) => source !== "file");
	const [together, setTogether] = useState(true);
	const [busy, setBusy] = useState(false);
	const remove = async () => {
		setBusy(true);
		const more = together ? parts : [];
		const gone: string[] = [];
		try {
			// The one that is shown goes last: its page is still there if something fails.
			for (const one of [...more, workflow]) {
				await api.DELETE("/v1/workflows/{id}", { params: { path: { id: one.id } } }).catch((error) => {
					if (!(error instanceof Failure && error.status === 404)) throw error;
				});
				gone.push(t("“{name}”", { name: one.name }));
			}
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
			complain(gone.length > 0 ? sentences(t("Deleted: {names}.", { names: list(gone) }), messageOf(error)) : error);
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
			{enabled || (together && parts.some((part) => part.enabled))
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
