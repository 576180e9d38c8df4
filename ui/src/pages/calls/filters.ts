import { useCallback, useMemo } from "react";
import { useLocation, useSearch } from "wouter";
import type { operations } from "@/api/schema";

type ListQuery = NonNullable<operations["listCalls"]["parameters"]["query"]>;

/** Filters are what the page's address says of the calls to show, by the names of the
 * API. A value with a ! before it is left out. */
export type Filters = {
	client: string[];
	server: string[];
	tool: string[];
	outcome: string[];
	slowerMillis: string;
	since: string;
	until: string;
	text: string;
};

export type Field = "client" | "server" | "tool" | "outcome";
export const fields: Field[] = ["client", "server", "tool", "outcome"];

/** readFilters reads them from the query of an address. */
export function readFilters(search: string): Filters {
	const query = new URLSearchParams(search);
	const one = (name: string) => query.get(name) ?? "";
	return {
		client: query.getAll("client"),
		server: query.getAll("server"),
		tool: query.getAll("tool"),
		outcome: query.getAll("outcome"),
		slowerMillis: /^\d+$/.test(one("slowerMillis")) ? one("slowerMillis") : "",
		since: one("since"),
		until: one("until"),
		text: one("text"),
	};
}

/** addressOf is the query of the address with these filters; what else is in it stays. */
export function addressOf(filters: Filters, search = ""): string {
	const query = new URLSearchParams(search);
	for (const [name, value] of Object.entries(filters)) {
		query.delete(name);
		for (const one of [value].flat()) if (one) query.append(name, one);
	}
	return query.toString();
}

/** sumQuery is what the API is asked for by sums and courses, which have no text. */
export function sumQuery(filters: Filters): ListQuery {
	const query: Record<string, unknown> = {};
	for (const field of fields) {
		const wanted = filters[field].filter((value) => !value.startsWith("!"));
		const not = filters[field].filter((value) => value.startsWith("!")).map((value) => value.slice(1));
		if (wanted.length > 0) query[field] = wanted.at(-1);
		if (not.length > 0) query[`not${field[0]!.toUpperCase()}${field.slice(1)}`] = not;
	}
	if (filters.slowerMillis) query.slowerMillis = Number(filters.slowerMillis);
	if (filters.since) query.since = filters.since;
	if (filters.until) query.until = filters.until;
	return query as ListQuery;
}

/** listQuery is what the API is asked for by the list. */
export const listQuery = (filters: Filters): ListQuery =>
	filters.text ? { ...sumQuery(filters), text: filters.text } : sumQuery(filters);

/** isFiltered tells whether some calls may be hidden. */
export const isFiltered = (filters: Filters): boolean => Object.values(filters).some((value) => value.length > 0);

/** wholeName is a tool's name with its server's, also where a client of one server called it
 * without. The API finds the calls by either name with it. */
export const wholeName = ({ server, tool, method }: { server?: string; tool?: string; method?: string }): string =>
	server && tool && !tool.startsWith(`${server}__`) ? `${server}__${tool}` : tool || method || "";

/** mayShow tells whether a call that has not ended belongs into the list. Where only the
 * server knows, it is shown when it has ended. */
export function mayShow(
	filters: Filters,
	call: { client: string; program?: string; server?: string; tool?: string },
): boolean {
	if (filters.text || filters.slowerMillis || filters.until || filters.outcome.length > 0) return false;
	const values = { client: [call.client, call.program], server: [call.server], tool: [call.tool, wholeName(call)] };
	return (["client", "server", "tool"] as const).every((field) =>
		filters[field].every((value) =>
			value.startsWith("!") ? !values[field].includes(value.slice(1)) : values[field].includes(value),
		),
	);
}

/** useFilters are the filters of the address, and what changes them. */
export function useFilters() {
	const search = useSearch();
	const [, go] = useLocation();
	const filters = useMemo(() => readFilters(search), [search]);
	const set = useCallback(
		(change: Partial<Filters>, replace = false) => {
			const query = addressOf({ ...readFilters(search), ...change }, search);
			go(`/calls${query && `?${query}`}`, { replace });
		},
		[search, go],
	);
	/** toggle shows only the calls with a value, or leaves them out. */
	const toggle = useCallback(
		(field: Field, value: string, out: boolean) => {
			const now = readFilters(search)[field];
			const wanted = out ? `!${value}` : value;
			if (now.includes(wanted)) return set({ [field]: now.filter((one) => one !== wanted) });
			const other = out ? value : `!${value}`;
			const kept = now.filter((one) => one === other || out || one.startsWith("!"));
			set({
				[field]: now.includes(other) ? kept.map((one) => (one === other ? wanted : one)) : [...kept, wanted],
			});
		},
		[search, set],
	);
	return { filters, search, set, toggle };
}
