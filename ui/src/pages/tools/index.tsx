import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Plug } from "lucide-react";
import { useMemo, useState } from "react";
import { api, query, type S } from "@/api/client";
import { allTools } from "@/api/tools";
import { list, number, t } from "@/lang";
import { useAddress } from "@/shell/address";
import { useLate } from "@/shell/search";
import {
	Chip,
	type Column,
	cx,
	Dot,
	Empty,
	LinkButton,
	List,
	Loading,
	Page,
	Problem,
	SearchBox,
	Select,
	seen,
	Toggle,
} from "@/ui";
import { ToolName } from "./name";

type Row = S["Tool"] & Partial<Pick<S["FoundTool"], "score" | "matched" | "deprecated">>;

/** Label is a category or a tag by which tools are filtered. */
type Label = { kind: "category" | "tag"; name: string };

/** Labels are the category and the tags of a tool, which filter. What does not fit goes to a
 * line that is not seen; the title has all. */
const Labels = ({ labels, isOn, toggle }: { labels: Label[]; isOn: Is; toggle: (label: Label) => void }) =>
	labels.length > 0 && (
		<span
			className="flex h-6 max-w-[220px] shrink-0 flex-wrap gap-x-1 gap-y-2 overflow-hidden"
			title={list(labels.map((label) => label.name))}
		>
			{labels.map((label) => (
				<Toggle key={`${label.kind} ${label.name}`} tabIndex={-1} on={isOn(label)} onClick={() => toggle(label)}>
					<span className="line">{label.name}</span>
				</Toggle>
			))}
		</span>
	);
type Is = (label: Label) => boolean;

const labelsOf = ({ category, tags }: Row): Label[] => [
	...(category ? [{ kind: "category" as const, name: category }] : []),
	...tags.map((name) => ({ kind: "tag" as const, name })),
];

/** LabelSelect filters by the categories or the tags that the rows have. */
function LabelSelect({
	title,
	all,
	rows = [],
	of,
	value,
	onChange,
}: {
	title: string;
	all: string;
	rows?: Row[];
	of: (tool: Row) => string[];
	value: string;
	onChange: (name: string) => void;
}) {
	const names = [...new Set([...(value ? [value] : []), ...rows.flatMap(of)])].sort();
	if (names.length === 0) return null;
	return (
		<Select aria-label={title} className="max-w-48" value={value} onChange={(event) => onChange(event.target.value)}>
			<option value="">{all}</option>
			{names.map((name) => (
				<option key={name}>{name}</option>
			))}
		</Select>
	);
}

/** Tools is the catalog: all tools, or those that a search finds, as agents search. */
export default function Tools() {
	const [params, setParams] = useAddress();
	const [selected, select] = useState<string>();
	const text = params.get("q") ?? "";
	const server = params.get("server") ?? "";
	const category = params.get("category") ?? "";
	const tag = params.get("tag") ?? "";
	const wanted = useLate(text.trim());
	const set = (name: string, value: string) =>
		setParams(
			(old) => {
				if (value) old.set(name, value);
				else old.delete(name);
				return old;
			},
			{ replace: true },
		);
	const isOn: Is = ({ kind, name }) => (kind === "tag" ? tag : category) === name;
	const toggle = (label: Label) => set(label.kind, isOn(label) ? "" : label.name);
	const filters = { ...(server && { server }), ...(category && { category }), ...(tag && { tag }) };
	const filtered = server !== "" || category !== "" || tag !== "";
	const servers = query.useQuery("get", "/v1/servers");
	const pages = useInfiniteQuery({
		queryKey: ["get", "/v1/tools", "pages", filters],
		initialPageParam: 1,
		queryFn: async ({ pageParam, signal }) => {
			const params = { query: { limit: 100, page: pageParam, ...filters } };
			return (await api.GET("/v1/tools", { params, signal })).data!;
		},
		getNextPageParam: ({ pagination: at }) => (at.page < at.totalPages ? at.page + 1 : undefined),
		enabled: wanted === "",
		structuralSharing: false, // it would compare all pages whenever one is added
	});
	const found = query.useQuery(
		"post",
		"/v1/tools/search",
		{ body: { query: wanted, limit: 100, filters: { server, category, tags: tag ? [tag] : [] } } },
		{ enabled: wanted !== "", placeholderData: (before: unknown) => before as never },
	);
	const searching = wanted !== "";
	const listed = useMemo(() => pages.data?.pages.flatMap((page) => page.tools), [pages.data]);
	// Agents do not find what is off; people who want to switch it on do, by its words.
	const off = query.useQuery("get", "/v1/tools", { params: { query: { limit: 1, enabled: false } } });
	const allOff = useQuery({
		queryKey: ["get", "/v1/tools", "off", filters],
		queryFn: ({ signal }) => allTools({ ...filters, enabled: false }, signal),
		enabled: searching,
	});
	const words = wanted.toLowerCase().split(/\s+/);
	const foundOff = (allOff.data ?? []).filter((tool) =>
		words.every((word) => `${tool.name} ${tool.description}`.toLowerCase().includes(word)),
	);
	const rows: Row[] | undefined = searching ? found.data && [...found.data.results, ...foundOff] : listed;
	const error = searching ? found.error : pages.error;
	const total = searching ? rows?.length : pages.data?.pages[0]?.pagination.total;
	const fits = !searching || !found.data?.noMatch;
	const best = searching ? (rows?.[0]?.score ?? 1) : 1;

	const all: Column<Row>[] = [
		{
			id: "name",
			title: t("Tool"),
			width: searching ? "minmax(0,288px)" : "minmax(0,320px)",
			narrow: "minmax(0,1fr)",
			cell: (tool) => (
				<span className={cx("flex items-center gap-2", !tool.enabled && "opacity-60")}>
					<Dot tone={tool.enabled ? "ok" : "idle"} title={tool.enabled ? t("On for clients") : t("Off for clients")} />
					<span className="min-w-0">
						<ToolName tool={tool} />
						<span className="line block text-muted text-xs md:hidden">{tool.server}</span>
					</span>
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
					<span className="line flex-1 text-muted">{seen(tool.description)}</span>
					{!searching && <Labels labels={labelsOf(tool)} isOn={isOn} toggle={toggle} />}
				</span>
			),
		},
		{
			id: "why",
			title: t("Why"),
			width: "148px",
			wide: true,
			cell: (tool) => (
				<span
					className="flex items-center gap-2 text-muted text-xs"
					title={
						tool.score === undefined
							? undefined
							: [list(tool.matched ?? []), `${t("Score")} ${tool.score.toFixed(2)}`].filter(Boolean).join("\n")
					}
				>
					{fits && tool.score !== undefined && (
						<span aria-hidden className="h-1.5 w-8 shrink-0 overflow-hidden rounded-full bg-sunken">
							<span
								className="block h-full bg-accent"
								style={{ width: `${Math.round((100 * (tool.score ?? 0)) / (best || 1))}%` }}
							/>
						</span>
					)}
					<span className="line">
						{!tool.enabled ? t("Off for clients") : tool.matched ? list(tool.matched) : t("by meaning")}
					</span>
				</span>
			),
		},
		{
			id: "server",
			title: t("Server"),
			width: searching ? "112px" : "minmax(112px,176px)",
			right: true,
			wide: true,
			cell: (tool) => (
				<button
					type="button"
					className="line max-w-full align-middle text-muted hover:text-text"
					title={tool.server}
					onClick={() => set("server", tool.server)}
				>
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
						{t("{n}", { n: number(total) })}
						{!searching &&
							!filtered &&
							off.data &&
							off.data.pagination.total > 0 &&
							` · ${t("{n} of them off", { n: number(off.data.pagination.total) })}`}
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
				<LabelSelect
					title={t("Category")}
					all={t("All categories")}
					rows={rows}
					of={(tool) => (tool.category ? [tool.category] : [])}
					value={category}
					onChange={(name) => set("category", name)}
				/>
				<LabelSelect
					title={t("Tag")}
					all={t("All tags")}
					rows={rows}
					of={(tool) => tool.tags}
					value={tag}
					onChange={(name) => set("tag", name)}
				/>
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
					href={(tool) =>
						`/tools/${encodeURIComponent(tool.name)}${searching ? `?${new URLSearchParams({ q: wanted })}` : ""}`
					}
					onEnd={!searching && pages.hasNextPage && !pages.isFetching ? () => void pages.fetchNextPage() : undefined}
					narrowRow={54}
					height="calc(100dvh - 164px)"
					empty={
						<Empty
							icon={<Plug />}
							title={searching ? t("No tool has these words") : filtered ? t("No tool matches.") : t("No tools yet")}
							actions={
								!searching && !filtered && <LinkButton href="/servers?add=import">{t("Import servers")}</LinkButton>
							}
						>
							{searching
								? t("Say what it should do in other words; English and Japanese both work.")
								: !filtered && t("Tools come with servers.")}
						</Empty>
					}
				/>
			) : (
				<Loading />
			)}
		</Page>
	);
}
