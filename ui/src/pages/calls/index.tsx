import { ArrowUp, ChevronDown, CircleCheck, Clock, Download, Gauge, Plug, Server, Users, X } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { api, query, type S } from "@/api/client";
import { useConnected } from "@/api/events";
import { number, sentences, stamp, t, tn, took, whole } from "@/lang";
import { useGo } from "@/shell/address";
import { useSearchText } from "@/shell/search";
import { useSession } from "@/shell/session";
import {
	Button,
	Chip,
	complain,
	Dot,
	Empty,
	LinkButton,
	List,
	Loading,
	Menu,
	Page,
	Problem,
	SearchBox,
	Spinner,
	say,
	Toggle,
} from "@/ui";
import { Approvals } from "./approvals";
import { columnsOf } from "./columns";
import { useFeed } from "./feed";
import { type Field, type Filters, fields, isFiltered, listQuery, useFilters, wholeName } from "./filters";
import type { Call, Row } from "./rows";
import { Further, Start, useStart } from "./start";
import { Strip, Up } from "./strip";
import { Tiles } from "./tiles";
import { ages, clientName, outcomeWord, periodWord, useWaiting } from "./words";

let lastOpen: ReadonlySet<string> = new Set();

/** useOpen are the rows that somebody unfolded. They are so still on the way back to the list. */
function useOpen() {
	const [open, setOpen] = useState(lastOpen);
	useEffect(() => {
		lastOpen = open;
	}, [open]);
	return [open, setOpen] as const;
}

let lastSelected: string | undefined;

/** useSelected is the row that j and k have reached, or that was opened. It is so still on the way
 * back to the list. */
function useSelected() {
	const [selected, setSelected] = useState(lastSelected);
	const select = useCallback((key: string) => {
		lastSelected = key;
		setSelected(key);
	}, []);
	return [selected, select] as const;
}

/** Calls is the first page: what is called, as it happens. */
export default function Calls() {
	const { admin } = useSession();
	const { filters, search, set, toggle } = useFilters();
	const go = useGo();
	const [open, setOpen] = useOpen();
	const feed = useFeed(filters, open);
	const params = useMemo(() => new URLSearchParams(search), [search]);
	const filtered = isFiltered(filters);
	const none = feed.ready && feed.calls.length === 0 && !filtered;
	const reopened = admin && params.has("start");
	const start = useStart(feed.calls, feed.ready, reopened);
	// Whoever sees the steps when the first call comes goes on seeing them, above the calls.
	const [welcome, setWelcome] = useState(false);
	if (none && start.wanted && !welcome) setWelcome(true);
	// A test call is brought into sight when its row is there.
	const [sent, setSent] = useState(false);
	const list = useRef<HTMLDivElement>(null);
	const arrived = sent && feed.calls.some((call) => call.outcome !== undefined);
	useEffect(() => {
		if (!arrived || !list.current) return;
		list.current.scrollIntoView({ block: "start" });
		setSent(false);
	}, [arrived]);
	if ((none && feed.history?.on && start.wanted) || reopened)
		return (
			<Page title={t("Calls")} actions={!none && <LinkButton href="/calls">{t("To the calls")}</LinkButton>}>
				<Strip history={feed.history} />
				<Approvals waiting={params.has("waiting")} />
				<Start
					start={start}
					onSent={() => {
						setSent(true);
						if (reopened) go("/calls");
					}}
					onClose={start.wanted ? start.close : undefined}
				/>
			</Page>
		);
	return (
		<Page
			title={t("Calls")}
			beside={
				<>
					{!filters.until && <Live />}
					<Up />
				</>
			}
			actions={
				<>
					{admin && (
						<LinkButton href="/calls?start=1" look="quiet">
							{t("Connect a client")}
						</LinkButton>
					)}
					<Since filters={filters} set={set} />
					<Export filters={filters} />
				</>
			}
		>
			<Strip history={feed.history} />
			<Approvals waiting={params.has("waiting")} />
			{start.wanted && start.known && !filtered && !welcome && <Further start={start} />}
			{!filtered && welcome && (
				<Start
					start={start}
					above
					onSent={() => setSent(true)}
					onClose={() => {
						start.close();
						setWelcome(false);
					}}
				/>
			)}
			<Tiles filters={filters} />
			<FilterBar filters={filters} set={set} toggle={toggle} feed={feed} />
			{feed.error !== undefined && <Problem className="mb-3" error={feed.error} retry={feed.again} />}
			{feed.ready ? (
				<div ref={list} className="scroll-mt-16">
					<CallList
						feed={feed}
						search={search}
						toggle={toggle}
						open={open}
						setOpen={setOpen}
						empty={
							<Nothing
								on={feed.history?.on !== false}
								none={none}
								until={feed.searchedUntil}
								text={filters.text}
								set={set}
							/>
						}
					/>
				</div>
			) : (
				feed.error === undefined && <Loading rows={12} />
			)}
		</Page>
	);
}

type Set_ = ReturnType<typeof useFilters>["set"];
type Toggle_ = ReturnType<typeof useFilters>["toggle"];
type Feed_ = ReturnType<typeof useFeed>;

function Live() {
	const connected = useConnected();
	return (
		<Chip tone={connected ? "accent" : "idle"}>
			<Dot tone={connected ? "ok" : "idle"} />
			{connected ? t("Live") : t("Waiting")}
		</Chip>
	);
}

const nothing: Filters = {
	client: [],
	server: [],
	tool: [],
	outcome: [],
	slowerMillis: "",
	since: "",
	until: "",
	text: "",
};

function Nothing({
	on,
	none,
	until,
	text,
	set,
}: {
	on: boolean;
	none: boolean;
	until?: string;
	text: string;
	set: Set_;
}) {
	const { admin } = useSession();
	if (!on)
		return (
			<Empty
				title={t("Calls are not kept.")}
				actions={<LinkButton href="/settings/history">{t("Settings")}</LinkButton>}
			>
				{t("The configuration says record: off. New calls are shown here while they happen.")}
			</Empty>
		);
	if (none && !admin)
		return (
			<Empty title={t("No call of yours yet.")}>
				{t("Your calls appear here as they happen. Only an administrator sees those of others.")}
			</Empty>
		);
	if (none)
		return (
			<Empty title={t("No call yet.")} actions={<LinkButton href="/calls?start=1">{t("Getting started")}</LinkButton>}>
				{t("Calls appear here as they happen.")}
			</Empty>
		);
	return (
		<Empty
			title={t("No call is like that.")}
			actions={<Button onClick={() => set(nothing)}>{t("Show all calls")}</Button>}
		>
			{sentences(
				until
					? t("Searched back to {time}. The search goes on.", { time: whole(until) })
					: t("New calls that match appear here by themselves."),
				text && t("Secrets are masked wherever the history is shown, so a search does not find them."),
			)}
		</Empty>
	);
}

function Since({ filters, set }: { filters: Filters; set: Set_ }) {
	return (
		<Menu
			trigger={
				<Button look="quiet">
					<Clock />
					{periodWord(filters)}
				</Button>
			}
			items={[
				{
					title: t("Any time"),
					hint: filters.since || filters.until ? undefined : "✓",
					onSelect: () => set({ since: "", until: "" }),
				},
				...ages.map(([since, name]) => ({
					title: t(name),
					hint: since === filters.since && !filters.until ? "✓" : undefined,
					onSelect: () => set({ since, until: "" }),
				})),
			]}
		/>
	);
}

/** Export writes the calls that the filters select into a file, a line of JSON each. Another
 * press, or leaving the page, cancels it. */
function Export({ filters }: { filters: Filters }) {
	const [count, setCount] = useState<number>();
	const running = useRef<AbortController>(undefined);
	useEffect(() => () => running.current?.abort(), []);
	const run = async () => {
		running.current = new AbortController();
		const { signal } = running.current;
		setCount(0);
		try {
			const pages: Blob[] = []; // which the browser may keep on disk
			let n = 0;
			for (let after: string | undefined = ""; after !== undefined; ) {
				const page: S["CallList"] = (
					await api.GET("/v1/calls", {
						params: { query: { ...listQuery(filters), limit: 1000, ...(after && { after }) } },
						signal,
					})
				).data!;
				pages.push(new Blob(page.calls.map((call) => `${JSON.stringify(call)}\n`)));
				n += page.calls.length;
				setCount(n);
				after = page.next;
			}
			const url = URL.createObjectURL(new Blob(pages, { type: "application/x-ndjson" }));
			const link = document.createElement("a");
			link.href = url;
			link.download = `genkan-calls-${stamp()}.jsonl`;
			link.click();
			setTimeout(() => URL.revokeObjectURL(url), 60_000);
			say(tn(n, "{n} call is in the file.", "{n} calls are in the file."));
		} catch (error) {
			if (!signal.aborted) complain(error);
		}
		setCount(undefined);
	};
	return (
		<Button
			title={count === undefined ? t("These calls as JSON lines, with their filters") : undefined}
			onClick={() => (count === undefined ? void run() : running.current?.abort())}
		>
			{count === undefined ? <Download /> : <Spinner />}
			{count === undefined ? t("Export") : `${t("Cancel")} · ${number(count)}`}
		</Button>
	);
}

const fieldNames: Record<Field, string> = {
	client: /* t */ "client",
	server: /* t */ "server",
	tool: /* t */ "tool",
	outcome: /* t */ "outcome",
};

const fieldIcons: Record<Field, typeof Users> = { client: Users, server: Server, tool: Plug, outcome: CircleCheck };

/** So many tools are in the menu. Others are found by a text, or on the page of a call. */
const mostTools = 100;

function shownValue(field: Field, value: string): string {
	if (field === "outcome") return outcomeWord(value);
	if (field === "client") return clientName({ client: value });
	return field === "tool" ? value.replace("__", " / ") : value;
}

function FilterBar({ filters, set, toggle, feed }: { filters: Filters; set: Set_; toggle: Toggle_; feed: Feed_ }) {
	const servers = query.useQuery("get", "/v1/servers");
	const values = useMemo(() => {
		const all = (of: (call: Call) => string | undefined) => [...new Set(feed.calls.map(of))].filter(Boolean).sort();
		return {
			client: all((call) => call.client),
			server: servers.data?.servers.map((server) => server.name) ?? [],
			tool: all((call) => call.tool && wholeName(call)).slice(0, mostTools),
			outcome: all((call) => call.outcome),
		} as Record<Field, string[]>;
	}, [feed.calls, servers.data]);
	const failedOnly = filters.outcome.includes("error");
	return (
		<search className="mb-2 flex flex-wrap items-center gap-2">
			<TextFilter text={filters.text} set={set} />
			{fields.map((field) => {
				const Icon = fieldIcons[field];
				return (
					<Menu
						key={field}
						align="start"
						trigger={
							<Toggle on={false}>
								<Icon aria-hidden />
								{t(fieldNames[field])}
								<ChevronDown aria-hidden />
							</Toggle>
						}
						items={
							values[field].length > 0
								? values[field].map((value) => ({
										title: shownValue(field, value),
										hint: filters[field].includes(value) ? "✓" : undefined,
										onSelect: () => toggle(field, value, false),
									}))
								: [{ title: t("None yet"), disabled: true, onSelect: () => {} }]
						}
					/>
				);
			})}
			<Toggle on={failedOnly} onClick={() => toggle("outcome", "error", false)}>
				{t("failed or denied only")}
			</Toggle>
			<Menu
				align="start"
				trigger={
					<Toggle on={filters.slowerMillis !== ""}>
						<Gauge aria-hidden />
						{filters.slowerMillis
							? t("slower than {time}", { time: took(Number(filters.slowerMillis)) })
							: t("slower than")}
						<ChevronDown aria-hidden />
					</Toggle>
				}
				items={["", "100", "1000", "5000", "30000"].map((slowerMillis) => ({
					title: slowerMillis ? t("slower than {time}", { time: took(Number(slowerMillis)) }) : t("Any duration"),
					hint: slowerMillis === filters.slowerMillis ? "✓" : undefined,
					onSelect: () => set({ slowerMillis }),
				}))}
			/>
			{fields.flatMap((field) =>
				filters[field]
					.filter((value) => field !== "outcome" || value !== "error")
					.map((value) => <Filter key={`${field}=${value.replace("!", "")}`} {...{ field, value, toggle }} />),
			)}
		</search>
	);
}

/** Filter is a value that calls have, or do not have. A press turns it around. */
function Filter({ field, value, toggle }: { field: Field; value: string; toggle: Toggle_ }) {
	const out = value.startsWith("!");
	const bare = out ? value.slice(1) : value;
	const name = `${out ? `${t("not")} ` : ""}${t(fieldNames[field])}${t(": ")}${shownValue(field, bare)}`;
	return (
		<Chip tone="accent" className="max-w-64">
			<button
				type="button"
				title={out ? t("Left out. A click shows only these.") : t("Shown alone. A click leaves these out.")}
				onClick={() => toggle(field, bare, !out)}
				className="line"
			>
				{name}
			</button>
			<button
				type="button"
				aria-label={t("Remove the filter {name}", { name })}
				onClick={() => toggle(field, bare, out)}
				className="-mr-1 rounded-full p-1 hover:bg-surface"
			>
				<X aria-hidden />
			</button>
		</Chip>
	);
}

/** TextFilter is the text that calls must contain. */
function TextFilter({ text: there, set }: { text: string; set: Set_ }) {
	const { text, setText, now } = useSearchText(there, (text) => set({ text }, true));
	return (
		<SearchBox
			label={t("Text in arguments, answers and errors")}
			value={text}
			onChange={setText}
			onEnter={now}
			className="min-w-56 max-w-[380px] flex-1"
		/>
	);
}

function CallList({
	feed,
	search,
	toggle,
	open,
	setOpen,
	empty,
}: {
	feed: Feed_;
	search: string;
	toggle: Toggle_;
	open: ReadonlySet<string>;
	setOpen: (open: ReadonlySet<string>) => void;
	empty: React.ReactNode;
}) {
	const [selected, select] = useSelected();
	const waiting = useWaiting();
	const scroller = useRef<HTMLDivElement>(null);
	const columns = useMemo(() => {
		const unfold = (row: Row) => {
			const next = new Set(open);
			for (const call of row.folded ?? []) next.delete(call.id);
			if (!row.open) next.add(row.folded!.at(-1)!.id);
			setOpen(next);
		};
		return columnsOf(toggle, unfold, waiting);
	}, [toggle, open, setOpen, waiting]);
	const more = useCallback(() => void feed.more(), [feed.more]);
	return (
		<List
			label={t("Calls")}
			rows={feed.rows}
			columns={columns}
			rowKey={(row) => row.key}
			selected={selected}
			onSelect={select}
			href={({ call }) => `/calls/${encodeURIComponent(call.id)}${search && `?${search}`}`}
			onEnd={more}
			onAway={feed.hold}
			scrollRef={scroller}
			empty={empty}
			narrowRow={54}
			height="max(400px, calc(100dvh - 268px))"
		>
			{feed.fresh > 0 && (
				<button
					type="button"
					onClick={() => {
						feed.hold(false);
						scroller.current?.scrollTo({ top: 0 });
					}}
					className="absolute top-10 left-1/2 z-10 flex -translate-x-1/2 items-center gap-1.5 rounded-full bg-accent px-3 py-1 font-medium text-accent-text text-xs shadow-card"
				>
					<ArrowUp aria-hidden className="size-3" />
					{t("{n} new", { n: number(feed.fresh) })}
				</button>
			)}
		</List>
	);
}
