import { useCallback, useEffect, useId, useState } from "react";
import { create } from "zustand";
import { t } from "../lang";
import { Confirm } from "./overlay";

type Go = () => void;
const useStore = create<{ unsaved: Map<string, Go>; pending?: Go }>(() => ({ unsaved: new Map() }));

/** useUnsaved asks before the reader leaves the page while something is not saved.
 * drop throws it away. */
export function useUnsaved(unsaved: boolean, drop: Go): void {
	const id = useId();
	useEffect(() => {
		if (!unsaved) return;
		const { unsaved: all } = useStore.getState();
		all.set(id, drop);
		const warn = (event: BeforeUnloadEvent) => event.preventDefault();
		window.addEventListener("beforeunload", warn);
		return () => {
			all.delete(id);
			window.removeEventListener("beforeunload", warn);
		};
	}, [id, unsaved, drop]);
}

/** useDraft are texts that somebody is changing. onChange forgets what was said about those
 * before. */
export function useDraft<T extends Record<string, string>>(current: T, onChange: () => void) {
	const [draft, setDraft] = useState<Partial<T>>({});
	const values = { ...current, ...draft };
	const isChanged = (key: string) => values[key] !== current[key];
	const dirty = Object.keys(current).some(isChanged);
	const discard = useCallback(() => setDraft({}), []);
	useUnsaved(dirty, discard);
	return {
		values,
		dirty,
		isChanged,
		set: (changed: Partial<T>) => {
			onChange();
			setDraft((before) => ({ ...before, ...changed }));
		},
		discard,
		/** saved discards these texts; what was written since stays. */
		saved: () =>
			setDraft((now) => {
				const since = Object.entries(now).filter(([key, text]) => text !== draft[key]);
				return Object.fromEntries(since) as Partial<T>;
			}),
	};
}

/** beforeLeaving goes to an address, or asks first. Another query of the same page is no
 * leaving. */
export function beforeLeaving(go: Go, from: string, to: string): void {
	const same = new URL(to, location.origin).pathname === from;
	if (same || useStore.getState().unsaved.size === 0) go();
	else useStore.setState({ pending: go });
}

/** Leaving is the question whether what is not saved may be lost. */
export function Leaving() {
	const pending = useStore((state) => state.pending);
	if (!pending) return null;
	const close = () => useStore.setState({ pending: undefined });
	return (
		<Confirm
			title={t("Leave without saving?")}
			action={t("Discard the changes")}
			danger
			onClose={close}
			onConfirm={() => {
				for (const drop of useStore.getState().unsaved.values()) drop();
				useStore.getState().unsaved.clear();
				close();
				pending();
			}}
		>
			{t("What you have written here is not saved.")}
		</Confirm>
	);
}
