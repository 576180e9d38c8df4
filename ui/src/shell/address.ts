import { useCallback, useEffect, useRef } from "react";
import { useSearchParams } from "wouter";

type Set_ = ReturnType<typeof useSearchParams>[1];

/** useAddress is the query of the address, and what changes it. Once the page was left it
 * changes nothing: an answer that comes late would lead back to the page. */
export function useAddress(): [URLSearchParams, Set_] {
	const [params, set] = useSearchParams();
	const left = useRef(false);
	useEffect(() => {
		left.current = false;
		return () => {
			left.current = true;
		};
	}, []);
	const change = useCallback<Set_>((to, options) => left.current || set(to, options), [set]);
	return [params, change];
}
