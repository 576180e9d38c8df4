import { useEffect, useRef } from "react";

const writing = (target: EventTarget | null) =>
	target instanceof HTMLElement &&
	(target.isContentEditable ||
		target.closest("[data-editor],[role=menu]") !== null ||
		/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** useKeys calls what belongs to a key: "/", "?", "g c" (one after the other), "mod+k".
 * Keys without mod are not for those who are writing or in a menu, nor for pages behind a
 * dialog. */
export function useKeys(keys: Record<string, (event: KeyboardEvent) => void>): void {
	const latest = useRef(keys);
	latest.current = keys;
	useEffect(() => {
		let first = "";
		let at = 0;
		const onKeyDown = (event: KeyboardEvent) => {
			if (event.isComposing || event.defaultPrevented || event.altKey) return;
			const mod = event.metaKey || event.ctrlKey;
			if (!mod && (writing(event.target) || document.querySelector("dialog[open]"))) return;
			const key = (mod ? "mod+" : "") + (event.key.length === 1 ? event.key.toLowerCase() : event.key);
			const pair = first && event.timeStamp - at < 1000 ? `${first} ${key}` : "";
			const act = (pair && latest.current[pair]) || latest.current[key];
			first = act || mod ? "" : key;
			at = event.timeStamp;
			if (!act) return;
			event.preventDefault();
			act(event);
		};
		window.addEventListener("keydown", onKeyDown);
		return () => window.removeEventListener("keydown", onKeyDown);
	}, []);
}
