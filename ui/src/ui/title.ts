import { createContext, useContext, useEffect } from "react";

/** Waiting is how many calls wait for a person. The title of the tab begins with it, because
 * people often look at another tab. */
export const Waiting = createContext(0);

/** useTitle names the tab of the browser. */
export function useTitle(title: string): void {
	const waiting = useContext(Waiting);
	useEffect(() => {
		document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${title} · Genkan`;
	}, [title, waiting]);
}
