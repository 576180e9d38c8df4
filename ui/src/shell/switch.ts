import { query, refresh, type S } from "../api/client";
import { list, t } from "../lang";
import { complain, say } from "../ui";

// How many workflows a note names.
const most = 5;

/** useSwitch turns all workflows off or on. Turned on, it says which are in force. */
export function useSwitch(workflows: S["Workflow"][] = []): {
	turn: (on: boolean, then?: () => void) => void;
	busy: boolean;
} {
	const flip = query.useMutation("put", "/v1/workflows/switch");
	const turn = (on: boolean, then?: () => void) =>
		flip.mutate(
			{ body: { on } },
			{
				onError: complain,
				onSuccess: () => {
					then?.();
					refresh("/v1/workflows", "/v1/workflows/switch");
					if (!on) return;
					const acting = workflows.filter((one) => one.enabled && one.mode !== "shadow" && !one.limitOf);
					const names = list(acting.slice(0, most).map((one) => one.name));
					say(
						acting.length === 0
							? t("Workflows are on again. None of them is enabled.")
							: acting.length <= most
								? t("Workflows are on again. In force now: {names}.", { names })
								: t("Workflows are on again. In force now: {names} and {n} more.", { names, n: acting.length - most }),
					);
				},
			},
		);
	return { turn, busy: flip.isPending };
}
