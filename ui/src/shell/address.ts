import { useCallback, useEffect, useRef } from "react";
import { useLocation, useParams, useSearchParams } from "wouter";

type Set_ = ReturnType<typeof useSearchParams>[1];
type Go = ReturnType<typeof useLocation>[1];

/** usePart is a part of the address, such as the name of a tool. The router has decoded all
 * but signs that mean something in an address: a % may be one of the name itself. */
export function usePart(name: string): string {
	const part = useParams<Record<string, string | undefined>>()[name] ?? "";
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}

/** useLeft tells whether the page was left. */
function useLeft() {
	const left = useRef(false);
	useEffect(() => {
		left.current = false;
		return () => {
			left.current = true;
		};
	}, []);
	return left;
}

/** useGo goes to an address. Once the page was left it goes nowhere: an answer that comes late
 * would lead away from where the reader is now. */
export function useGo(): Go {
	const [, go] = useLocation();
	const left = useLeft();
	return useCallback<Go>((to, options) => left.current || go(to, options), [go, left]);
}

/** useAddress is the query of the address, and what changes it. Once the page was left it
 * changes nothing: an answer that comes late would lead back to the page. */
export function useAddress(): [URLSearchParams, Set_] {
	const [params, set] = useSearchParams();
	const left = useLeft();
	const change = useCallback<Set_>((to, options) => left.current || set(to, options), [set, left]);
	return [params, change];
}

/** useChoice returns the chosen view and a function that chooses another. The address names the
 * choice, except the first view, which is the default. */
export function useChoice<T extends string>(name: string, views: readonly T[]): [T, (view: T) => void] {
	const [params, setParams] = useAddress();
	const [first] = views as [T];
	const choose = useCallback(
		(view: T) =>
			setParams(
				(old) => {
					if (view === first) old.delete(name);
					else old.set(name, view);
					return old;
				},
				{ replace: true },
			),
		[name, first, setParams],
	);
	return [views.find((view) => view === params.get(name)) ?? first, choose];
}
