import { useCallback, useEffect, useId, useRef, useState } from "react";
import { create } from "zustand";

type Go = () => void;
/** Where what is not saved is: on the page, in a dialog, whose address may be that of the page,
 * or kept in the browser, where Back and a reload find it again. */
type Where = "page" | "dialog" | "browser";
type Unsaved = { drop: Go; where: Where };

/** useLeaving holds what is not saved, and the way that its reader has chosen all the same. */
export const useLeaving = create<{ unsaved: Map<string, Unsaved>; pending?: Go }>(() => ({ unsaved: new Map() }));

/** useUnsaved asks before the reader leaves the page while something is not saved.
 * drop throws it away. */
export function useUnsaved(unsaved: boolean, drop: Go, where: Where = "page"): void {
	const id = useId();
	const latest = useRef(drop);
	latest.current = drop;
	useEffect(() => {
		if (!unsaved) return;
		const { unsaved: all } = useLeaving.getState();
		all.set(id, { drop: () => latest.current(), where });
		const warn = (event: BeforeUnloadEvent) => event.preventDefault();
		window.addEventListener("beforeunload", warn);
		return () => {
			all.delete(id);
			if (all.size === 0) useLeaving.setState({ pending: undefined }); // nothing is asked about any more
			window.removeEventListener("beforeunload", warn);
		};
	}, [id, unsaved, where]);
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

const isThisPage = (address: string) => new URL(address, location.origin).pathname === location.pathname;

/** beforeLeaving goes to an address, or asks first. Another query of the same page is no
 * leaving. */
export function beforeLeaving(go: Go, to: string): void {
	if (isThisPage(to) || useLeaving.getState().unsaved.size === 0) go();
	else useLeaving.setState({ pending: go });
}

// The Navigation API, as far as it is used. TypeScript has no types for it yet.
type Traversal = Event & { navigationType: string; destination: { url: string; key: string } };
type Navigation = EventTarget & { traverseTo: (key: string) => unknown };

/** useBackAsks makes Back and Forward ask, too, in browsers that let a page do so. Back from a
 * dialog that has an address of its own is leaving it. */
export function useBackAsks(): void {
	useEffect(() => {
		const { navigation } = window as { navigation?: Navigation };
		if (!navigation) return;
		const ask = (given: Event) => {
			const event = given as Traversal;
			if (event.navigationType !== "traverse" || !event.cancelable) return;
			const stays = isThisPage(event.destination.url);
			const isLost = ({ where }: Unsaved) => where === "dialog" || (where === "page" && !stays);
			if (![...useLeaving.getState().unsaved.values()].some(isLost)) return;
			event.preventDefault();
			const { key } = event.destination;
			useLeaving.setState({ pending: () => void navigation.traverseTo(key) });
		};
		navigation.addEventListener("navigate", ask);
		return () => navigation.removeEventListener("navigate", ask);
	}, []);
}
