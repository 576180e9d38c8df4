import { queries, query, refresh } from "@/api/client";
import { t } from "@/lang";
import { Confirm, complain, say } from "@/ui";

/** Delete asks whether to delete a workflow, and does it. */
export function Delete({
	id,
	name,
	enabled,
	onDone,
	onClose,
}: {
	id: string;
	name: string;
	enabled: boolean;
	onDone: () => void;
	onClose: () => void;
}) {
	const remove = query.useMutation("delete", "/v1/workflows/{id}", {
		onError: complain,
		onSuccess: () => {
			say(t("The workflow {name} is deleted.", { name }));
			refresh("/v1/workflows");
		},
	});
	return (
		<Confirm
			title={t("Delete the workflow {name}?", { name })}
			action={t("Delete")}
			danger
			busy={remove.isPending}
			onClose={onClose}
			onConfirm={() =>
				remove.mutate(
					{ params: { path: { id } } },
					{
						onSuccess: () => {
							onDone();
							queries.removeQueries({ queryKey: ["get", "/v1/workflows/{id}"] });
						},
					},
				)
			}
		>
			{enabled
				? t(
						"It runs now: calls go through without it from then on. All its versions and tests go with it. An export keeps the newest version and the tests, and no older versions.",
					)
				: t(
						"All its versions and tests go with it. An export keeps the newest version and the tests, and no older versions.",
					)}
		</Confirm>
	);
}
