import { useCallback, useEffect, useMemo, useRef } from "react";
import { useLocation, useSearch } from "wouter";
import { api, queries, query, refreshOften, type S } from "@/api/client";
import { useEvents } from "@/api/events";
import { addressOf, type Filters, readFilters, sumQuery } from "../calls/filters";
import { join } from "./join";

/** ranges are the spans that end now. */
export const ranges = [
	["1h", /* t */ "1 hour"],
	["24h", /* t */ "24 hours"],
	["7d", /* t */ "7 days"],
	["30d", /* t */ "30 days"],
] as const;
const usual = "24h";

/** groupings are what the charts are drawn by. */
export const groupings = [
	["", /* t */ "All calls"],
	["server", /* t */ "By server"],
	["tool", /* t */ "By tool"],
] as const;

/** groupColours are the colours of the groups with the most calls. Others are not drawn. */
export const groupColours = ["--accent", "--warn", "--ok", "--bad", "--faint"];
/** groupDashes are the lines of these groups, for those who do not see their colours. */
export const groupDashes = [[], [8, 4], [2, 3], [12, 3, 2, 3], [4, 4]];

/** useView is what the address says of the calls that are summed up: the filters of the
 * page Calls, and "wide", the range before a span was dragged. */
export function useView() {
	const search = useSearch();
	const [, go] = useLocation();
	const filters = useMemo(() => {
		const read = readFilters(search);
		return { ...read, text: "", since: read.since || usual };
	}, [search]);
	const set = useCallback(
		(change: Partial<Filters>, others: Record<string, string> = {}) => {
			const address = new URLSearchParams(addressOf({ ...readFilters(search), ...change }, search));
			for (const [name, value] of Object.entries(others))
				if (value) address.set(name, value);
				else address.delete(name);
			const text = address.toString();
			go(`/charts${text && `?${text}`}`);
		},
		[search, go],
	);
	const params = new URLSearchParams(search);
	const wide = params.get("wide") ?? "";
	return {
		filters,
		set,
		by: groupings.find(([by]) => by === params.get("by"))?.[0] ?? "",
		sort: params.get("sort") ?? "calls",
		/** The span that was chosen, in seconds; undefined if it ends now. */
		span: filters.until ? ([Date.parse(filters.since) / 1000, Date.parse(filters.until) / 1000] as const) : undefined,
		setRange: (since: string) => set({ since: since === usual ? "" : since, until: "" }, { wide: "" }),
		setSpan: (from: number, to: number) => {
			const time = (seconds: number) => new Date(Math.round(seconds) * 1000).toISOString().replace(".000Z", "Z");
			if (to - from < 1) return;
			set({ since: time(from), until: time(to) }, { wide: wide || filters.since });
		},
		back: () => filters.until && set({ since: wide === usual ? "" : wide, until: "" }, { wide: "" }),
	};
}

const options = { staleTime: 0, refetchInterval: 60_000, placeholderData: <T>(before: T) => before };

/** useSums are the sums of the calls, and those of each server and tool whatever tool is chosen. */
export function useSums(filters: Filters) {
	const total = query.useQuery("get", "/v1/calls/stats", { params: { query: sumQuery(filters) } }, options);
	const parts = query.useQuery(
		"get",
		"/v1/calls/stats",
		{ params: { query: sumQuery({ ...filters, tool: [] }) } },
		options,
	);
	return { total, parts };
}

/** useSeries is the course of the calls. While calls end, it asks again for the newest
 * step, every five seconds at most. */
export function useSeries(filters: Filters, by: string) {
	const asked = useMemo(() => {
		const grouped = by ? { by, groups: groupColours.length } : {};
		return { params: { query: { ...sumQuery(filters), ...grouped, steps: 90 } } };
	}, [filters, by]);
	const series = query.useQuery("get", "/v1/calls/series", asked, {
		...options,
		// What is divided in another way has other lines.
		placeholderData: (before, was) => {
			const [, , drawn] = (was?.queryKey ?? []) as unknown as [unknown, unknown, typeof asked?];
			return drawn?.params.query.by === asked.params.query.by ? before : undefined;
		},
	});
	const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
	useEffect(() => () => clearTimeout(timer.current), []);
	const newest = async () => {
		timer.current = undefined;
		if (by) return refreshOften("/v1/calls/series", "/v1/calls/stats"); // the groups may be others
		const { queryKey } = query.queryOptions("get", "/v1/calls/series", asked);
		const known = queries.getQueryData<S["CallSeries"]>(queryKey);
		if (!known) return;
		const step = known.stepSeconds;
		const last = Date.parse(known.from) / 1000 + (known.total.length - 1) * step;
		try {
			const { data } = await api.GET("/v1/calls/series", {
				params: { query: { ...sumQuery(filters), since: new Date(last * 1000).toISOString(), step } },
			});
			queries.setQueryData<S["CallSeries"]>(queryKey, (now) => now && join(now, data!));
			refreshOften("/v1/calls/stats");
		} catch {
			// The next call asks again.
		}
	};
	useEvents((event) => {
		if (event.name === "call.ended" && !filters.until) timer.current ??= setTimeout(() => void newest(), 5000);
	});
	return series;
}
