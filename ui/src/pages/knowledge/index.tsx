import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Ban, BookOpen, Plus, SearchX } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { useLocation } from "wouter";
import { api, query, type S } from "@/api/client";
import { ago, list, t, tn, whole } from "@/lang";
import { statusWord } from "@/lang/terms";
import { useAddress, usePart } from "@/shell/address";
import { useHasKnowledge } from "@/shell/nav";
import { useSearchText } from "@/shell/search";
import { useSession } from "@/shell/session";
import {
	Button,
	Card,
	Chip,
	type Column,
	CopyButton,
	cx,
	Empty,
	LinkButton,
	List,
	Loading,
	Page,
	Problem,
	SearchBox,
	Select,
	Tabs,
} from "@/ui";
import { WhoLacks } from "../clients/connect";
import { hrefOf, isChanged, refOf, useDrafts } from "./drafts";
import { Edit, startNew } from "./edit";
import { Item } from "./item";
import { State } from "./state";
import { useKnowledge, useTypes } from "./types";
import { Priority, useClosed } from "./words";

type Row = S["ItemSummary"] & { snippet?: string };

/** Knowledge is the knowledge base: its items, one of them, and the current state. */
export default function Knowledge() {
	const ref = usePart("ref");
	const [, go] = useLocation();
	const item = query.useQuery(
		"get",
		"/v1/items/{ref}",
		{ params: { path: { ref } } },
		{ enabled: !["", "new", "state"].includes(ref) },
	);
	const { admin } = useSession();
	const has = useHasKnowledge();
	if (!admin && !has)
		return (
			<Page title={t("Knowledge")}>
				{has === undefined ? (
					<Loading />
				) : (
					<Empty icon={<Ban />} title={t("This token may not use the knowledge base.")} />
				)}
			</Page>
		);
	const make = () => go("/knowledge/new");
	return (
		<Page
			title={t("Knowledge")}
			tab={ref === "state" ? t("Current state") : item.data?.title}
			wide
			actions={
				ref !== "new" && (
					<Button onClick={make}>
						<Plus />
						{t("New item")}
					</Button>
				)
			}
		>
			<Tabs
				className="mb-3"
				label={t("Knowledge")}
				tabs={[
					{ id: "items", title: t("Items") },
					{ id: "state", title: t("Current state") },
				]}
				current={ref === "state" ? "state" : "items"}
				onChange={(to) => go(to === "state" ? "/knowledge/state" : "/knowledge")}
			/>
			{ref === "state" ? <State /> : <Items reference={ref} make={make} />}
		</Page>
	);
}

const filterNames = ["q", "type", "status", "tag"] as const;

function Items({ reference, make }: { reference: string; make: () => void }) {
	const [, go] = useLocation();
	const [params, setParams] = useAddress();
	const [selected, select] = useState<string>();
	const [q, type, status, tag] = filterNames.map((name) => params.get(name) ?? "") as [string, string, string, string];
	const graph = params.get("view") === "graph" && reference !== "";
	const set = (name: string, value: string) =>
		setParams(
			(old) => {
				if (value) old.set(name, value);
				else old.delete(name);
				// Without words, the API has items of a tag in any status.
				if (name === "tag" && value && !old.get("q")) old.delete("status");
				return old;
			},
			{ replace: true },
		);
	const { text, setText } = useSearchText(q, (value) => set("q", value));
	const wanted = q.trim();
	const searching = wanted !== "";
	const filtered = searching || type !== "" || tag !== "" || status !== "";
	// A search has items of every status, unless it is told which.
	const statuses = query.useQuery("get", "/v1/statuses");
	const notClosed = (statuses.data?.statuses ?? []).filter((one) => !one.closed).map((one) => one.name);

	const pages = useInfiniteQuery({
		queryKey: ["get", searching ? "/v1/items/search" : "/v1/items", wanted, type, status, tag, searching && notClosed],
		initialPageParam: 0,
		queryFn: async ({ pageParam: offset, signal }) => {
			const common = { limit: 100, offset, ...(type ? { type } : {}), ...(tag ? { tag } : {}) };
			const one = status && status !== "any" ? { status } : {};
			if (searching) {
				const states = status === "" && notClosed.length > 0 ? { status: notClosed.join(",") } : one;
				const params = { query: { ...common, ...states, query: wanted } };
				return (await api.GET("/v1/items/search", { params, signal })).data!;
			}
			const states = tag ? {} : status === "any" ? { includeClosed: true } : one;
			return (await api.GET("/v1/items", { params: { query: { ...common, ...states } }, signal })).data!;
		},
		getNextPageParam: (page) => page.next_offset,
		placeholderData: keepPreviousData,
		enabled: !searching || !statuses.isPending,
		structuralSharing: false, // it would compare all pages whenever one is added
	});
	const rows = useMemo(() => pages.data?.pages.flatMap<Row>((page) => page.items), [pages.data]);
	const first = pages.data?.pages[0];
	const base = useKnowledge();
	const { admin } = useSession();
	const nothing = rows?.length === 0 && !filtered && !(base && base.items > 0);

	const filters = new URLSearchParams(
		filterNames.flatMap((name) => (params.get(name) ? [[name, params.get(name)!]] : [])),
	);
	const back = `/knowledge${filters.size > 0 ? `?${filters}` : ""}`;
	const addressOf = (ref: string) => hrefOf(ref, filters.size > 0 ? `?${filters}` : "");
	const open = (ref: string) => go(addressOf(ref));

	if (nothing && reference === "")
		return (
			<>
				{admin && <WhoLacks server="kb" />}
				<Card>
					<Empty
						icon={<BookOpen />}
						title={t("Nothing is remembered yet")}
						actions={
							<>
								<Button look="primary" onClick={make}>
									<Plus />
									{t("Make the first item")}
								</Button>
								<CopyButton
									label={t("Copy a prompt for the agent")}
									text={t("Remember that … Keep it in the knowledge base of Genkan.")}
								/>
							</>
						}
					>
						{t(
							"Here agents and people keep what is worth remembering across conversations: notes, decisions, issues, documents.",
						)}
					</Empty>
				</Card>
			</>
		);
	const list = rows ? (
		<List
			label={t("Items")}
			rows={rows}
			columns={reference ? narrow() : wide(searching)}
			rowKey={refOf}
			selected={selected ?? reference}
			onSelect={select}
			href={(row) => addressOf(refOf(row))}
			onOpen={(row) => {
				select(undefined);
				open(refOf(row));
			}}
			onEnd={pages.hasNextPage && !pages.isFetching ? () => void pages.fetchNextPage() : undefined}
			height={reference ? "calc(100dvh - 264px)" : "calc(100dvh - 224px)"}
			empty={
				<Empty
					icon={<SearchX />}
					title={filtered ? t("No item fits") : nothing ? t("Nothing is remembered yet") : t("All items are closed")}
					actions={
						searching && status === "" ? (
							<Button onClick={() => set("status", "any")}>{t("Show closed items")}</Button>
						) : filtered ? (
							<LinkButton href={reference ? hrefOf(reference) : "/knowledge"} onClick={() => setText("")}>
								{t("Show all")}
							</LinkButton>
						) : nothing ? undefined : (
							<Button onClick={() => set("status", "any")}>{t("Show closed items")}</Button>
						)
					}
				>
					{first?.hint ?? (searching ? t("Say it in other words; English and Japanese both work.") : undefined)}
				</Empty>
			}
		/>
	) : pages.error ? (
		<Problem error={pages.error} retry={() => void pages.refetch()} />
	) : (
		<Loading />
	);
	return (
		<div
			className={cx("grid items-start gap-4", reference && !graph && "md:grid-cols-[minmax(280px,2fr)_minmax(0,3fr)]")}
		>
			<div className={cx("min-w-0", reference && (graph ? "hidden" : "max-md:hidden"))}>
				{admin && !reference && <WhoLacks server="kb" />}
				<div className="mb-2 flex flex-wrap items-center gap-2">
					<SearchBox
						className={cx("w-full", !reference && "sm:w-96")}
						label={t("Search the knowledge base")}
						value={text}
						onChange={setText}
					/>
					<Filters searching={searching} type={type} status={status} tag={tag} set={set} />
					{first && (
						<span role="status" className="text-muted text-xs">
							{tn(first.total, "{n} item", "{n} items")}
						</span>
					)}
				</div>
				{list}
			</div>
			{reference && (
				<Card className={cx("min-w-0", !graph && "md:max-h-[calc(100dvh-148px)] md:overflow-y-auto")}>
					{reference === "new" ? <New /> : <Item key={reference} reference={reference} back={back} />}
				</Card>
			)}
		</div>
	);
}

/** New is the form of a new item. */
function New() {
	const begun = useDrafts(({ drafts }) => drafts.new !== undefined);
	useEffect(startNew, []);
	return begun ? <Edit id="new" /> : null;
}

function Filters({
	searching,
	type,
	status,
	tag,
	set,
}: {
	searching: boolean;
	type: string;
	status: string;
	tag: string;
	set: (name: string, value: string) => void;
}) {
	const types = useTypes();
	const statuses = query.useQuery("get", "/v1/statuses").data?.statuses ?? [];
	const tags = query.useQuery("get", "/v1/tags").data?.tags ?? [];
	const any = tag !== "" && !searching;
	const select = (name: string, label: string, value: string, options: string[], first: string) => (
		<Select
			aria-label={label}
			className="max-w-40"
			value={value}
			onChange={(event) => set(name, event.target.value)}
			disabled={name === "status" && any}
			title={name === "status" && any ? t("With a tag, items of every status are listed.") : label}
		>
			<option value="">{first}</option>
			{name === "status" && !any && <option value="any">{t("Closed, too")}</option>}
			{value && value !== "any" && !options.includes(value) && <option value={value}>{value}</option>}
			{options.map((one) => (
				<option key={one} value={one}>
					{name === "status" ? statusWord(one) : one}
				</option>
			))}
		</Select>
	);
	return (
		<>
			{select(
				"type",
				t("Type"),
				type,
				types.map((one) => one.name),
				t("All types"),
			)}
			{select(
				"status",
				t("Status"),
				any && status === "any" ? "" : status,
				statuses.map((one) => one.name),
				any ? t("Every status") : t("Not closed"),
			)}
			{select(
				"tag",
				t("Tag"),
				tag,
				tags.map((one) => one.name),
				t("All tags"),
			)}
		</>
	);
}

function Title({ row }: { row: Row }) {
	const closed = useClosed()(row.status);
	const unsaved = useDrafts(({ drafts }) => isChanged(drafts[refOf(row)]));
	return (
		<span className="flex items-center gap-2">
			<Priority value={row.priority} />
			<span className={cx("line font-medium", closed && "text-muted line-through")}>{row.title}</span>
			{unsaved && <Chip tone="warn">{t("not saved")}</Chip>}
		</span>
	);
}

/** plain is a piece of Markdown without the signs at the beginning of lines. */
const plain = (text: string): string => text.replace(/(^|\s)(?:#{1,6}|>|[-*+]|\d+\.)\s+/g, "$1");

/** Snippet is a piece of a text with the words of the search between asterisks. */
function Snippet({ text }: { text: string }) {
	const parts = plain(text).split("**");
	// The column is narrow, and the words that were found are what matters.
	if (parts.length > 1 && parts[0]!.length > 24) parts[0] = `…${parts[0]!.slice(-20)}`;
	return parts.map((part, i) =>
		i % 2 === 1 ? (
			// biome-ignore lint/suspicious/noArrayIndexKey: parts of one text stay in their order
			<b key={i} className="text-text">
				{part}
			</b>
		) : (
			part
		),
	);
}

const title = (): Column<Row> => ({
	id: "title",
	title: t("Title"),
	width: "minmax(0,1fr)",
	cell: (row) => <Title row={row} />,
});

const status = (): Column<Row> => ({
	id: "status",
	title: t("Status"),
	width: "112px",
	cell: (row) => (
		<span data-term className="text-muted" title={row.status}>
			{statusWord(row.status)}
		</span>
	),
});

const narrow = (): Column<Row>[] => [title(), status()];

const wide = (searching: boolean): Column<Row>[] => [
	title(),
	...(searching
		? [
				{
					id: "snippet",
					title: t("Where"),
					width: "minmax(0,1fr)",
					wide: true,
					cell: (row: Row) => (
						<span className="text-muted">
							<Snippet text={row.snippet ?? ""} />
						</span>
					),
				},
			]
		: []),
	{
		id: "ref",
		title: t("ID"),
		width: "152px",
		wide: true,
		cell: (row) => <code className="text-muted">{refOf(row)}</code>,
	},
	status(),
	{
		id: "tags",
		title: t("Tags"),
		width: "176px",
		wide: true,
		cell: (row) => (
			<span className="flex gap-1" title={list(row.tags)}>
				{row.tags.slice(0, 3).map((tag) => (
					<Chip key={tag} className="min-w-0 shrink!">
						<span className="line">{tag}</span>
					</Chip>
				))}
			</span>
		),
	},
	{
		id: "updated",
		title: t("Changed"),
		width: "104px",
		right: true,
		wide: true,
		cell: (row) => (
			<span className="text-muted" title={whole(row.updated_at)}>
				{ago(row.updated_at)}
			</span>
		),
	},
];
