import { useInfiniteQuery } from "@tanstack/react-query";
import { Plug } from "lucide-react";
import { useDeferredValue, useMemo, useState } from "react";
import { useLocation } from "wouter";
import { api, query, type S } from "@/api/client";
import { list, t, tn } from "@/lang";
import { useAddress } from "@/shell/address";
import { Chip, type Column, cx, Dot, Empty, LinkButton, List, Loading, Page, Problem, SearchBox, Select } from "@/ui";

type Row = S["Tool"] & Partial<Pick<S["FoundTool"], "score" | "matched" | "deprecated">>;

/** Labels are the category and the tags of a tool. What does not fit goes to a line that is
 * not seen; the title has all. */
const Labels = ({ names }: { names: string[] }) =>
	names.length > 0 && (
		<span className="flex h-6 max-w-[220px] shrink-0 flex-wrap gap-x-1 gap-y-2 overflow-hidden" title={list(names)}>
			{names.map((name) => (
				<Chip key={name}>
					<span className="line">{name}</span>
				</Chip>
			))}
		</span>
	);

/** Tools is the catalog: all tools, or those that a search finds, as agents search. */
export default function Tools() {
	const [, go] = useLocation();
	const [params, setParams] = useAddress();
	const [selected, select] = useState<string>();
	const text = params.get("q") ?? "";
	const server = params.get("server") ?? "";
	const wanted = useDeferredValue(text.trim());
	const set = (name: string, value: string) =>
		setParams(
			(old) => {
				if (value) old.set(name, value);
				else old.delete(name);
				return old;
			},
			{ replace: true },
		);
	const servers = query.useQuery("get", "/v1/servers");
	const pages = useInfiniteQuery({
		queryKey: ["get", "/v1/tools", "pages", server],
		initialPageParam: 1,
		queryFn: async ({ pageParam, signal }) => {
			const params = { query: { limit: 100, page: pageParam, ...(server ? { server } : {}) } };
			return (await api.GET("/v1/tools", { params, signal })).data!;
		},
		getNextPageParam: ({ pagination: at }) => (at.page < at.totalPages ? at.page + 1 : undefined),
		enabled: wanted === "",
		structuralSharing: false, // it would compare all pages whenever one is added
	});
	const found = query.useQuery(
		"post",
		"/v1/tools/search",
		{ body: { query: wanted, limit: 100, ...(server ? { filters: { server } } : {}) } },
		{ enabled: wanted !== "", placeholderData: (before: unknown) => before as never },
	);
	const searching = wanted !== "";
	const listed = useMemo(() => pages.data?.pages.flatMap((page) => page.tools), [pages.data]);
	const rows: Row[] | undefined = searching ? found.data?.results : listed;
	const error = searching ? found.error : pages.error;
	const total = searching ? found.data?.results.length : pages.data?.pages[0]?.pagination.total;
	// An agent that searches is told below this that nothing fits.
	const fits = !searching || (found.data?.confidence ?? 1) >= 0.16;
	const best = searching ? (rows?.[0]?.score ?? 1) : 1;

	const all: Column<Row>[] = [
		{
			id: "name",
			title: t("Tool"),
			width: "minmax(0,320px)",
			cell: (tool) => (
				<span className={cx("flex items-center gap-2", !tool.enabled && "opacity-60")}>
					<Dot tone={tool.enabled ? "ok" : "idle"} title={tool.enabled ? t("On for clients") : t("Off for clients")} />
					<span className="line font-medium">{tool.name}</span>
				</span>
			),
		},
		{
			id: "description",
			title: t("What it does"),
			width: "minmax(0,1fr)",
			wide: true,
			cell: (tool) => (
				<span className="flex items-center gap-2">
					<span className="line flex-1 text-muted">{tool.description}</span>
					{!searching && <Labels names={[...(tool.category ? [tool.category] : []), ...tool.tags]} />}
				</span>
			),
		},
		{
			id: "why",
			title: t("Why"),
			width: "220px",
			wide: true,
			cell: (tool) => (
				<span className="flex items-center gap-2 text-muted text-xs" title={`${t("Score")} ${tool.score?.toFixed(2)}`}>
					{fits && (
						<span aria-hidden className="h-1.5 w-12 shrink-0 overflow-hidden rounded-full bg-sunken">
							<span
								className="block h-full bg-accent"
								style={{ width: `${Math.round((100 * (tool.score ?? 0)) / (best || 1))}%` }}
							/>
						</span>
					)}
					<span className="line">{tool.matched ? list(tool.matched) : t("by meaning")}</span>
				</span>
			),
		},
		{
			id: "server",
			title: t("Server"),
			width: "112px",
			right: true,
			cell: (tool) => (
				<button type="button" className="text-muted hover:text-text" onClick={() => set("server", tool.server)}>
					{tool.server}
				</button>
			),
		},
	];
	const columns = all.filter((column) => searching || column.id !== "why");
	return (
		<Page
			title={t("Tools")}
			beside={
				total !== undefined && (
					<span className="text-muted">
						{searching ? tn(total, "{n} found", "{n} found") : tn(total, "{n} tool", "{n} tools")}
					</span>
				)
			}
		>
			<div className="mb-2 flex flex-wrap items-center gap-2">
				<SearchBox
					className="w-full sm:w-96"
					label={t("What should the tool do?")}
					value={text}
					onChange={(value) => set("q", value)}
				/>
				<Select aria-label={t("Server")} value={server} onChange={(event) => set("server", event.target.value)}>
					<option value="">{t("All servers")}</option>
					{servers.data?.servers.map((one) => (
						<option key={one.name}>{one.name}</option>
					))}
				</Select>
				{!fits && found.data && found.data.results.length > 0 && (
					<Chip tone="warn" title={t("An agent that searches is told that nothing fits.")}>
						{t("Nothing fits well")}
					</Chip>
				)}
			</div>
			{error ? (
				<Problem error={error} retry={() => void (searching ? found : pages).refetch()} />
			) : rows ? (
				<List
					label={t("Tools")}
					rows={rows}
					columns={columns}
					rowKey={(tool) => tool.name}
					selected={selected}
					onSelect={select}
					onOpen={(tool) =>
						go(`/tools/${encodeURIComponent(tool.name)}${searching ? `?${new URLSearchParams({ q: wanted })}` : ""}`)
					}
					onEnd={!searching && pages.hasNextPage && !pages.isFetching ? () => void pages.fetchNextPage() : undefined}
					height="calc(100dvh - 164px)"
					empty={
						<Empty
							icon={<Plug />}
							title={searching ? t("No tool has these words") : t("No tools yet")}
							actions={!searching && <LinkButton href="/servers?add=import">{t("Import servers")}</LinkButton>}
						>
							{searching
								? t("Say what it should do in other words; English and Japanese both work.")
								: t("Tools come with servers.")}
						</Empty>
					}
				/>
			) : (
				<Loading />
			)}
		</Page>
	);
}
