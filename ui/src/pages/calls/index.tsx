import {
	ArrowUp,
	ChevronDown,
	ChevronRight,
	Clock,
	CornerDownRight,
	Download,
	Gauge,
	ListFilter,
	Plug,
	Server,
	Users,
	X,
} from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { api, query, type S } from "@/api/client";
import { useConnected } from "@/api/events";
import { brief, number, t, tn, took, whole } from "@/lang";
import { useSession } from "@/shell/session";
import {
	Button,
	Chip,
	type Column,
	complain,
	cx,
	Dot,
	Empty,
	LinkButton,
	List,
	Loading,
	Menu,
	Page,
	Problem,
	SearchBox,
	say,
	Toggle,
} from "@/ui";
import { Approvals } from "./approvals";
import { CancelSlow } from "./cancel";
import { useFeed } from "./feed";
import { type Field, type Filters, fields, isFiltered, listQuery, useFilters, wholeName } from "./filters";
import type { Row } from "./rows";
import { Further, Start, useStart } from "./start";
import { Strip } from "./strip";
import { Tiles } from "./tiles";
import {
	ages,
	clientName,
	Effect,
	Outcome,
	outcomeTone,
	outcomeWord,
	sinceWord,
	Ticking,
	toolName,
	useWaiting,
} from "./words";

let lastOpen: ReadonlySet<string> = new Set();

/** useOpen are the rows that somebody unfolded. They are so still on the way back to the list. */
function useOpen() {
	const [open, setOpen] = useState(lastOpen);
	useEffect(() => {
		lastOpen = open;
	}, [open]);
	return [open, setOpen] as const;
}

/** Calls is the first page: what is called, as it happens. */
export default function Calls() {
	const { admin } = useSession();
	const { filters, search, set, toggle } = useFilters();
	const [, go] = useLocation();
	const [open, setOpen] = useOpen();
	const feed = useFeed(filters, open);
	const params = useMemo(() => new URLSearchParams(search), [search]);
	const filtered = isFiltered(filters);
	const none = feed.ready && feed.calls.length === 0 && !filtered;
	const start = useStart(feed.calls, feed.ready, params.has("start"));
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
	if ((none && feed.history?.on && start.wanted) || params.has("start"))
		return (
			<Page title={t("Calls")} actions={!none && <LinkButton href="/calls">{t("To the calls")}</LinkButton>}>
				<Strip history={feed.history} />
				<Approvals waiting={params.has("waiting")} />
				<Start
					first={start.first}
					done={start.done === start.of}
					onSent={() => {
						setSent(true);
						if (params.has("start")) go("/calls");
					}}
					onClose={start.wanted ? start.close : undefined}
				/>
			</Page>
		);
	return (
		<Page
			title={t("Calls")}
			beside={<Live />}
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
					first={start.first}
					done={start.done === start.of}
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
						empty={<Nothing on={feed.history?.on !== false} none={none} until={feed.searchedUntil} set={set} />}
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

function Nothing({ on, none, until, set }: { on: boolean; none: boolean; until?: string; set: Set_ }) {
	const { admin } = useSession();
	if (!on)
		return (
			<Empty title={t("Calls are not kept.")} actions={<LinkButton href="/settings">{t("Settings")}</LinkButton>}>
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
			{until
				? t("Searched back to {time}. The search goes on.", { time: whole(until) })
				: t("New calls that match appear here by themselves.")}
		</Empty>
	);
}

function Since({ filters, set }: { filters: Filters; set: Set_ }) {
	const title = filters.since ? sinceWord(filters.since) : t("Any time");
	return (
		<Menu
			trigger={
				<Button look="quiet">
					<Clock />
					{title}
				</Button>
			}
			items={[
				{ title: t("Any time"), hint: filters.since ? undefined : "✓", onSelect: () => set({ since: "", until: "" }) },
				...ages.map(([since, name]) => ({
					title: t(name),
					hint: since === filters.since ? "✓" : undefined,
					onSelect: () => set({ since, until: "" }),
				})),
			]}
		/>
	);
}

/** Export writes the calls that the filters select into a file, a line of JSON each. */
function Export({ filters }: { filters: Filters }) {
	const [count, setCount] = useState<number>();
	const run = async () => {
		setCount(0);
		try {
			const lines: string[] = [];
			for (let after: string | undefined = ""; after !== undefined; ) {
				const page: S["CallList"] = (
					await api.GET("/v1/calls", {
						params: { query: { ...listQuery(filters), limit: 1000, ...(after && { after }) } },
					})
				).data!;
				for (const call of page.calls) lines.push(JSON.stringify(call), "\n");
				setCount(lines.length / 2);
				after = page.next;
			}
			const url = URL.createObjectURL(new Blob(lines, { type: "application/x-ndjson" }));
			const link = document.createElement("a");
			link.href = url;
			link.download = `genkan-calls-${new Date().toISOString().slice(0, 19).replaceAll(":", "")}.jsonl`;
			link.click();
			setTimeout(() => URL.revokeObjectURL(url), 60_000);
			say(tn(lines.length / 2, "{n} call is in the file.", "{n} calls are in the file."));
		} catch (error) {
			complain(error);
		}
		setCount(undefined);
	};
	return (
		<Button
			busy={count !== undefined}
			title={t("These calls as JSON lines, with their filters")}
			onClick={() => void run()}
		>
			{count === undefined && <Download />}
			{count ? number(count) : t("Export")}
		</Button>
	);
}

const fieldNames: Record<Field, string> = {
	client: /* t */ "client",
	server: /* t */ "server",
	tool: /* t */ "tool",
	outcome: /* t */ "outcome",
};

/** So many tools are in the menu. Others are found by a text, or on the page of a call. */
const mostTools = 100;

function shownValue(field: Field, value: string): string {
	if (field === "outcome") return outcomeWord(value);
	if (field === "client") return clientName({ client: value });
	return field === "tool" ? value.replace("__", " / ") : value;
}

function FilterBar({ filters, set, toggle, feed }: { filters: Filters; set: Set_; toggle: Toggle_; feed: Feed_ }) {
	const servers = query.useQuery("get", "/v1/servers");
	const clients = useMemo(() => [...new Set(feed.calls.map((call) => call.client))].sort(), [feed.calls]);
	const tools = useMemo(() => [...new Set(feed.calls.map(wholeName))].sort().slice(0, mostTools), [feed.calls]);
	const chips = fields.flatMap((field) => filters[field].map((value) => ({ field, value })));
	const failedOnly = filters.outcome.includes("error");
	const values = (field: Field, all: string[]) =>
		all.length > 0
			? all.map((value) => ({
					title: shownValue(field, value),
					hint: filters[field].includes(value) ? "✓" : undefined,
					onSelect: () => toggle(field, value, false),
				}))
			: [{ title: t("None yet"), disabled: true, onSelect: () => {} }];
	return (
		<search className="mb-2 flex flex-wrap items-center gap-2">
			<TextFilter text={filters.text} set={set} />
			<Menu
				align="start"
				trigger={
					<Toggle on={false}>
						<Users aria-hidden />
						{t("client")}
						<ChevronDown aria-hidden />
					</Toggle>
				}
				items={values("client", clients)}
			/>
			<Menu
				align="start"
				trigger={
					<Toggle on={false}>
						<Server aria-hidden />
						{t("server")}
						<ChevronDown aria-hidden />
					</Toggle>
				}
				items={values("server", servers.data?.servers.map((server) => server.name) ?? [])}
			/>
			<Menu
				align="start"
				trigger={
					<Toggle on={false}>
						<Plug aria-hidden />
						{t("tool")}
						<ChevronDown aria-hidden />
					</Toggle>
				}
				items={values("tool", tools)}
			/>
			<Toggle on={failedOnly} onClick={() => toggle("outcome", "error", false)}>
				{t("failed only")}
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
			{chips
				.filter(({ field, value }) => field !== "outcome" || value !== "error")
				.map(({ field, value }) => {
					const out = value.startsWith("!");
					const bare = out ? value.slice(1) : value;
					const name = `${out ? `${t("not")} ` : ""}${t(fieldNames[field])}${t(": ")}${shownValue(field, bare)}`;
					return (
						<Toggle
							key={`${field}=${value}`}
							on
							aria-label={t("Remove the filter {name}", { name })}
							onClick={() => toggle(field, bare, out)}
							className="max-w-64"
						>
							<span className={cx("line", out && "line-through")}>{name}</span>
							<X aria-hidden />
						</Toggle>
					);
				})}
		</search>
	);
}

/** TextFilter is the text that calls must contain. It looks for it when the typing
 * pauses, and never for what an input method has not finished. */
function TextFilter({ text, set }: { text: string; set: Set_ }) {
	const [typed, setTyped] = useState(text);
	const [known, setKnown] = useState(text);
	if (text !== known) {
		setKnown(text); // the address was changed
		setTyped(text);
	}
	const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
	const composing = useRef(false);
	const apply = useCallback(
		(value: string, wait: number) => {
			clearTimeout(timer.current);
			timer.current = setTimeout(() => set({ text: value.trim() }, true), wait);
		},
		[set],
	);
	return (
		<div
			className="min-w-56 max-w-[380px] flex-1"
			onCompositionStart={() => {
				composing.current = true;
				clearTimeout(timer.current);
			}}
			onCompositionEnd={(event) => {
				composing.current = false;
				apply((event.target as HTMLInputElement).value, 400);
			}}
		>
			<SearchBox
				label={t("Text in arguments, answers and errors")}
				value={typed}
				onChange={(value) => {
					setTyped(value);
					if (!composing.current) apply(value, value ? 400 : 0);
				}}
				onEnter={(value) => apply(value, 0)}
			/>
		</div>
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
	const [, go] = useLocation();
	const [selected, select] = useState<string>();
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
	const show = useCallback(
		({ call }: Row) => go(`/calls/${encodeURIComponent(call.id)}${search && `?${search}`}`),
		[go, search],
	);
	const more = useCallback(() => void feed.more(), [feed.more]);
	return (
		<List
			label={t("Calls")}
			rows={feed.rows}
			columns={columns}
			rowKey={(row) => row.key}
			selected={selected}
			onSelect={select}
			onOpen={show}
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

/** Value is something in a row that can be filtered by. It says so under the pointer. */
function Value({
	field,
	value,
	shown,
	toggle,
	className,
}: {
	field: Field;
	value: string;
	shown: string;
	toggle: Toggle_;
	className?: string;
}) {
	return (
		<button
			type="button"
			tabIndex={-1}
			title={t("{value}: click to see only these, with Alt to leave them out", { value: shown })}
			onClick={(event) => toggle(field, value, event.altKey)}
			className={cx(
				"group inline-flex min-w-0 items-center gap-1 rounded-sm decoration-dotted underline-offset-4 hover:bg-accent-soft hover:text-accent hover:underline",
				className,
			)}
		>
			<span className="line">{shown}</span>
			<ListFilter aria-hidden className="hidden size-3 shrink-0 group-hover:block" />
		</button>
	);
}

function columnsOf(toggle: Toggle_, unfold: (row: Row) => void, waiting: ReturnType<typeof useWaiting>): Column<Row>[] {
	return [
		{
			id: "outcome",
			title: <span className="sr-only">{t("Outcome")}</span>,
			width: "36px",
			cell: ({ call }) => <Outcome outcome={call.outcome} waiting={waiting.has(call.id)} />,
		},
		{
			id: "time",
			title: t("Time"),
			width: "120px",
			wide: true,
			cell: ({ call }) => (
				<time dateTime={call.startedAt} title={whole(call.startedAt)} className="tabular text-muted">
					{call.outcome ? brief(call.startedAt) : t("now")}
				</time>
			),
		},
		{
			id: "client",
			title: t("Client"),
			width: "128px",
			wide: true,
			cell: ({ call, depth }) =>
				depth === 0 && (
					<Value field="client" value={call.client} shown={clientName(call)} toggle={toggle} className="max-w-full" />
				),
		},
		{
			id: "tool",
			title: t("Tool"),
			width: "minmax(0,5fr)",
			cell: (row) => {
				const { call, depth, folded } = row;
				const name = (
					<span className="flex min-w-0 items-center">
						{depth > 0 && <CornerDownRight aria-hidden className="mr-1.5 size-3.5 shrink-0 text-faint" />}
						{call.server && (
							<>
								<Value
									field="server"
									value={call.server}
									shown={call.server}
									toggle={toggle}
									className="shrink-0 text-muted"
								/>
								<span className="mx-1 text-faint">/</span>
							</>
						)}
						<span className="line font-medium" title={t("Open the call")}>
							{toolName(call)}
						</span>
						<Effect effect={call.effect} />
						{folded && (
							<button
								type="button"
								aria-expanded={row.open}
								aria-label={t("{n} calls of {tool}", { n: number(folded.length), tool: toolName(call) })}
								onClick={() => unfold(row)}
								className="tabular ml-1.5 inline-flex shrink-0 items-center gap-0.5 rounded-full bg-sunken px-1.5 text-muted text-xs hover:text-text"
							>
								{row.open ? (
									<ChevronDown aria-hidden className="size-3" />
								) : (
									<ChevronRight aria-hidden className="size-3" />
								)}
								×{number(folded.length)}
							</button>
						)}
					</span>
				);
				return (
					<div style={{ paddingLeft: depth * 16 }}>
						{name}
						<div className="line tabular text-muted text-xs md:hidden">
							{call.outcome ? brief(call.startedAt) : waiting.has(call.id) ? t("waits for approval") : t("now")}
							{depth === 0 && ` · ${clientName(call)}`}
						</div>
					</div>
				);
			},
		},
		{
			id: "arguments",
			title: t("Arguments or error"),
			width: "minmax(0,7fr)",
			wide: true,
			cell: ({ call }) =>
				!call.outcome && waiting.has(call.id) ? (
					<span className="text-warn">{t("waits for approval")}</span>
				) : call.outcome && call.outcome !== "ok" ? (
					<span
						className={outcomeTone(call.outcome) === "warn" ? "text-warn" : "text-bad"}
						title={[call.error, call.arguments].filter(Boolean).join("\n")}
					>
						{outcomeWord(call.outcome)}
						{call.error && `${t(": ")}${call.error}`}
					</span>
				) : (
					<code className="text-muted text-xs" title={call.arguments}>
						{call.arguments}
					</code>
				),
		},
		{
			id: "took",
			title: t("Took"),
			width: "88px",
			right: true,
			cell: ({ call }) => (call.tookMillis === undefined ? <Ticking since={call.started} /> : took(call.tookMillis)),
		},
		{
			id: "tokens",
			title: t("Tokens"),
			width: "128px",
			right: true,
			wide: true,
			cell: ({ call }) =>
				call.outcome === undefined ? (
					<CancelSlow id={call.id} since={call.started} />
				) : (
					<span
						className="text-muted"
						title={
							call.tokensSaved
								? t("An outline of a large answer saved {n} tokens.", { n: number(call.tokensSaved) })
								: undefined
						}
					>
						{call.tokensSaved
							? `${number(call.tokensOut + call.tokensSaved)} → ${number(call.tokensOut)}`
							: number(call.tokensOut)}
					</span>
				),
		},
	];
}
