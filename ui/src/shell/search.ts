import { useEffect, useRef, useState } from "react";

let composing = false;
addEventListener("compositionstart", () => (composing = true));
addEventListener("compositionend", () => (composing = false));

/** useRest calls act with a value that has stayed the same for a moment, unless an input
 * method is still making it or the component is gone. */
function useRest<T>(value: T, act: (value: T) => void, millis: number): void {
	const latest = useRef(act);
	latest.current = act;
	useEffect(() => {
		let timer: ReturnType<typeof setTimeout>;
		const wait = () => {
			clearTimeout(timer);
			timer = setTimeout(() => composing || latest.current(value), millis);
		};
		wait();
		addEventListener("compositionend", wait);
		return () => {
			clearTimeout(timer);
			removeEventListener("compositionend", wait);
		};
	}, [value, millis]);
}

/** useLate is a value that has stayed the same for a moment. */
export function useLate<T>(value: T, millis = 250): T {
	const [late, setLate] = useState(value);
	useRest(value, setLate, millis);
	return late;
}

/** useSearchText is the text of a search box that the address has, too. What is typed is put
 * there, without the spaces around it, when the typing pauses, or by now at once. What
 * changes there comes back. */
export function useSearchText(there: string, put: (text: string) => void) {
	const [text, setText] = useState(there);
	const known = useRef(there);
	useEffect(() => {
		if (there === known.current) return;
		known.current = there;
		setText(there);
	}, [there]);
	const now = (typed: string) => {
		const wanted = typed.trim();
		if (wanted === known.current) return;
		known.current = wanted;
		put(wanted);
	};
	useRest(text, now, text ? 250 : 0);
	return { text, setText, now };
}
