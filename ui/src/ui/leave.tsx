import { useEffect } from "react";
import { useLocation } from "wouter";
import { t } from "../lang";
import { Confirm } from "./overlay";
import { useBackAsks, useLeaving } from "./unsaved";

const close = () => useLeaving.setState({ pending: undefined });

/** Leaving is the question whether what is not saved may be lost. */
export function Leaving() {
	const pending = useLeaving((state) => state.pending);
	useBackAsks();
	const [path] = useLocation();
	// biome-ignore lint/correctness/useExhaustiveDependencies: whoever is elsewhere has left
	useEffect(() => close(), [path]);
	if (!pending) return null;
	return (
		<Confirm
			title={t("Leave without saving?")}
			action={t("Discard the changes")}
			danger
			onClose={close}
			onConfirm={() => {
				const { unsaved } = useLeaving.getState();
				const all = [...unsaved.values()];
				unsaved.clear();
				for (const { drop } of all) drop();
				close();
				pending();
			}}
		>
			{t("What you have written here is not saved.")}
		</Confirm>
	);
}
