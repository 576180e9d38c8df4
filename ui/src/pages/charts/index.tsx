import { ChevronDown, Gauge, Plug, Server, Users, ZoomOut } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { query, type S } from "@/api/client";
import { list, number, short, span, t, tn, took } from "@/lang";
import { useKeys } from "@/shell/keys";
import {
	Button,
	Card,
	Chip,
	type Column,
	cx,
	Empty,
	LinkButton,
	List,
	Loading,
	Menu,
	Page,
	Problem,
	Toggle,
} from "@/ui";
import { addressOf, type Filters, sumQuery, wholeName } from "../calls/filters";
import { clientName, toolName } from "../calls/words";
import { groupColours, groupDashes, groupings, ranges, useSeries, useSums, useView } from "./data";
import { Plot, type Steps } from "./plot";

type View = ReturnType<typeof useView>;

/** Charts shows the course of the calls: how many, how long they took, what they cost. */
export default function Charts() {
	const view = useView();
	const series = useSeries(view.filters, view.by);
	const { total, parts } = useSums(view.filters);
	const parted = parts.data?.[view.by === "server" ? "servers" : "tools"] ?? [];
	const history = series.data?.history;
	const error = series.error ?? total.error;
	useKeys({ Escape: view.back });
	return (
		<Page title={t("Charts")} actions={<Ranges view={view} days={history?.on ? history.days : undefined} />}>
			<FilterBar view={view} tools={parts.data?.tools ?? []} />
			{error ? (
				<Problem
					error={error}
					retry={() => {
						void series.refetch();
						void total.refetch();
					}}
				/>
			) : !series.data || !total.data ? (
				<Loading rows={10} />
			) : total.data.total.calls === 0 && (!view.span || history?.on === false) ? (
				<Card>
					<Nothing view={view} on={history?.on !== false} />
				</Card>
			) : (
				<Courses series={series.data} total={total.data.total} view={view} />
			)}
			{parted.length > 0 && <Table all={parted} view={view} />}
		</Page>
	);
}

function Ranges({ view, days }: { view: View; days?: number }) {
	const { filters, span: zoomed } = view;
	return (
		<>
			{days !== undefined && filters.since === "30d" && days < 30 && (
				<span className="text-faint text-xs">
					{tn(days, "Calls are kept for {n} day.", "Calls are kept for {n} days.")}
				</span>
			)}
			{zoomed && (
				<>
					<Chip tone="accent" className="tabular">
						{span(filters.since, filters.until)}
					</Chip>
					<Button look="quiet" onClick={view.back}>
						<ZoomOut />
						{t("Zoom out")}
					</Button>
				</>
			)}
			<Choice title={t("Period")} options={ranges} now={zoomed ? undefined : filters.since} onChange={view.setRange} />
		</>
	);
}

/** Choice is one of a few values. */
function Choice({
	title,
	options,
	now,
	onChange,
}: {
	title: string;
	options: readonly (readonly [value: string, title: string])[];
	now?: string;
	onChange: (value: string) => void;
}) {
	return (
		<fieldset className="flex overflow-hidden rounded-md border border-line-strong">
			<legend className="sr-only">{title}</legend>
			{options.map(([value, title]) => (
				<button
					key={value}
					type="button"
					aria-pressed={value === now}
					onClick={() => onChange(value)}
					className={cx(
						"h-[30px] border-line-strong border-r px-3 font-medium text-sm last:border-r-0 focus-visible:-outline-offset-2",
						value === now ? "bg-accent-soft text-accent" : "bg-surface text-muted hover:text-text",
					)}
				>
					{t(title)}
				</button>
			))}
		</fieldset>
	);
}

function FilterBar({ view, tools }: { view: View; tools: S["CallSum"][] }) {
	const { filters, set } = view;
	const servers = query.useQuery("get", "/v1/servers");
	// Who called lately: the sums do not name the clients.
	const { client: _, ...others } = sumQuery({ ...filters, client: [], tool: [], server: [] });
	const recent = query.useQuery("get", "/v1/calls", { params: { query: { ...others, limit: 200 } } });
	const clients = [...new Set(recent.data?.calls.map((call) => call.client))].sort();
	const names = tools.flatMap((sum) => (sum.tool ? [wholeName(sum)] : [])).slice(0, 40);
	return (
		<search className="mb-3 flex flex-wrap items-center gap-2">
			<Filter
				title={t("client")}
				icon={<Users aria-hidden />}
				values={clients}
				now={filters.client}
				shown={(client) => clientName({ client })}
				onChange={(client) => set({ client })}
			/>
			<Filter
				title={t("server")}
				icon={<Server aria-hidden />}
				values={servers.data?.servers.map((server) => server.name) ?? []}
				now={filters.server}
				onChange={(server) => set({ server, tool: [] })}
			/>
			<Filter
				title={t("tool")}
				icon={<Plug aria-hidden />}
				values={names}
				now={filters.tool}
				shown={(tool) => tool.replace("__", " / ")}
				onChange={(tool) => set({ tool })}
			/>
			<Choice title={t("Divide")} options={groupings} now={view.by} onChange={(by) => set({}, { by })} />
			<LinkButton look="quiet" size="small" href={callsAddress(filters)}>
				{t("To the calls")}
			</LinkButton>
			<span className="ml-auto text-faint text-xs max-md:hidden">
				{t("Drag in a chart to zoom, double-click to go back; or use + - ← → and Esc.")}
			</span>
		</search>
	);
}

const callsAddress = (filters: Filters, change: Partial<Filters> = {}) =>
	`/calls?${addressOf({ ...filters, ...change })}`;

/** Filter is one value that calls must have, or none. */
function Filter({
	title,
	icon,
	values,
	now,
	shown = (value) => value,
	onChange,
}: {
	title: string;
	icon: ReactNode;
	values: string[];
	now: string[];
	shown?: (value: string) => string;
	onChange: (values: string[]) => void;
}) {
	const on = now.length > 0;
	const words = list(now.map((one) => (one.startsWith("!") ? `${t("not")} ${shown(one.slice(1))}` : shown(one))));
	return (
		<Menu
			align="start"
			trigger={
				<Toggle on={on} className="max-w-72">
					{icon}
					<span className="line">{on ? `${title}${t(": ")}${words}` : title}</span>
					<ChevronDown aria-hidden />
				</Toggle>
			}
			items={[
				{ title: t("Any"), hint: on ? undefined : "✓", onSelect: () => onChange([]) },
				...[...new Set([...values, ...now.filter((one) => !one.startsWith("!"))])].map((value) => ({
					title: shown(value),
					hint: now.includes(value) ? "✓" : undefined,
					onSelect: () => onChange([value]),
				})),
			]}
		/>
	);
}

function Nothing({ view, on }: { view: View; on: boolean }) {
	const { filters } = view;
	const filtered = filters.client.length + filters.server.length + filters.tool.length > 0;
	if (!on)
		return (
			<Empty
				icon={<Gauge />}
				title={t("Calls are not kept.")}
				actions={<LinkButton href="/settings/history">{t("Settings")}</LinkButton>}
			>
				{t("Charts are made of the call history, and the configuration says record: off.")}
			</Empty>
		);
	return (
		<Empty
			icon={<Gauge />}
			title={filtered ? t("No call is like that in this time.") : t("No calls in this time.")}
			actions={
				<>
					{filtered && (
						<Button onClick={() => view.set({ client: [], server: [], tool: [] })}>{t("Show all calls")}</Button>
					)}
					{filters.since !== "30d" && <Button onClick={() => view.setRange("30d")}>{t("Look at 30 days")}</Button>}
					{!filtered && <LinkButton href="/calls?start=1">{t("Connect a client")}</LinkButton>}
				</>
			}
		>
			{t("The first call draws the charts by itself.")}
		</Empty>
	);
}

const share = (part: number, of: number): string => {
	const percent = of ? (100 * part) / of : 0;
	return `${percent === 0 || percent >= 10 ? Math.round(percent) : percent.toFixed(1)}%`;
};

/** groupsOf are the groups of a series by their titles: a tool that clients know by two names
 * is one. */
function groupsOf(series: S["CallSeries"], by: string): { title: string; steps: S["CallStep"][] }[] {
	const groups = new Map<string, S["CallStep"][]>();
	for (const group of series.groups) {
		const title = (by === "server" ? group.server : wholeName(group).replace("__", " / ")) || t("unknown tools");
		const other = groups.get(title);
		groups.set(title, other ? other.map((step, i) => both(step, group.steps[i]!)) : group.steps);
	}
	return [...groups].map(([title, steps]) => ({ title, steps }));
}

/** both is the sum of two steps. The percentiles of both calls are not known, so they are those
 * of the slower. */
const both = (a: S["CallStep"], b: S["CallStep"]): S["CallStep"] => ({
	...a,
	calls: a.calls + b.calls,
	errors: a.errors + b.errors,
	tokensIn: a.tokensIn + b.tokensIn,
	tokensOut: a.tokensOut + b.tokensOut,
	p50Millis: Math.max(a.p50Millis, b.p50Millis),
	p95Millis: Math.max(a.p95Millis, b.p95Millis),
});

function Courses({ series, total, view }: { series: S["CallSeries"]; total: S["CallSum"]; view: View }) {
	const data = useMemo(() => {
		const steps: Steps = {
			from: Date.parse(series.from) / 1000,
			seconds: series.stepSeconds,
			count: series.total.length,
		};
		const values = (name: keyof S["CallStep"]) => series.total.map((step) => step[name]);
		const times = (name: "p50Millis" | "p95Millis") => series.total.map((step) => (step.calls ? step[name] : null));
		if (view.by) {
			const lines = (value: (step: S["CallStep"]) => number | null, dots = false) =>
				groupsOf(series, view.by).map((group, i) => ({
					title: group.title,
					colour: groupColours[i]!,
					dash: groupDashes[i],
					values: group.steps.map(value),
					dots,
				}));
			return {
				steps,
				traffic: lines((step) => step.calls),
				failures: lines((step) => step.errors),
				latency: lines((step) => (step.calls ? step.p95Millis : null), true),
				tokens: lines((step) => step.tokensIn + step.tokensOut),
			};
		}
		return {
			steps,
			traffic: [
				{ title: t("Calls"), colour: "--accent", values: values("calls"), bars: true, fill: 0.55 },
				{ title: t("Failed or denied"), colour: "--bad", values: values("errors"), bars: true, fill: 1 },
			],
			latency: [
				{ title: "p95", colour: "--warn", values: times("p95Millis"), dots: true },
				{ title: "p50", colour: "--accent", values: times("p50Millis"), dots: true },
			],
			tokens: [
				{ title: t("Out"), colour: "--accent", values: values("tokensOut") },
				{ title: t("In"), colour: "--warn", values: values("tokensIn") },
				{ title: t("Saved"), colour: "--ok", values: values("tokensSaved") },
			],
		};
	}, [series, view.by]);
	const { span } = view;
	const { steps } = data;
	const common = {
		steps,
		// The keys move the span of the address, whose chart may be still to come.
		keyed: span ? { ...steps, from: span[0], count: (span[1] - span[0]) / steps.seconds } : steps,
		groups:
			view.by && total.calls > 0
				? t("Lines, the one with the most calls first: {names}.", { names: list(data.traffic.map((one) => one.title)) })
				: undefined,
		onSpan: view.setSpan,
		onBack: view.back,
	};
	return (
		<div className={cx("grid gap-3 md:grid-cols-2", !data.failures && "md:[&>:first-child]:col-span-2")}>
			<Plot
				{...common}
				title={t("Traffic")}
				sentence={tn(
					total.calls,
					"{n} call, {failed} failed or denied ({share}).",
					"{n} calls, {failed} failed or denied ({share}).",
					{
						failed: number(total.errors),
						share: share(total.errors, total.calls),
					},
				)}
				lines={data.traffic}
				format={(n) => (Number.isInteger(n) ? short(n) : "")}
			/>
			{data.failures && (
				<Plot
					{...common}
					title={t("Failed or denied")}
					sentence={tn(total.errors, "{n} call failed or was denied.", "{n} calls failed or were denied.")}
					lines={data.failures}
					format={(n) => (Number.isInteger(n) ? short(n) : "")}
				/>
			)}
			<Plot
				{...common}
				title={view.by ? t("Latency (p95)") : t("Latency")}
				sentence={
					total.calls > 0
						? t("Half of the calls took at most {p50}, 95% at most {p95}.", {
								p50: took(total.p50Millis),
								p95: took(total.p95Millis),
							})
						: t("No calls in this time.")
				}
				note={t("Time in which a person was asked does not count.")}
				lines={data.latency}
				format={millis}
			/>
			<Plot
				{...common}
				title={view.by ? t("Tokens in and out") : t("Tokens")}
				sentence={t("About {in} in, {out} out, {saved} saved by outlines of large answers.", {
					in: short(total.tokensIn),
					out: short(total.tokensOut),
					saved: short(total.tokensSaved ?? 0),
				})}
				lines={data.tokens}
				format={short}
			/>
		</div>
	);
}

/** millis is took, exact enough for the ticks between 1 and 10 ms. */
const millis = (n: number) => (n > 1 && n < 10 && n % 1 > 0.01 ? `${n.toFixed(1)} ms` : took(n));

const sums: Record<string, (sum: S["CallSum"]) => number> = {
	calls: (sum) => sum.calls,
	errors: (sum) => sum.errors / sum.calls,
	p50: (sum) => sum.p50Millis,
	p95: (sum) => sum.p95Millis,
	tokens: (sum) => sum.tokensIn + sum.tokensOut,
	saved: (sum) => sum.tokensSaved ?? 0,
};

/** Table has the sums of servers or tools. */
function Table({ all, view }: { all: S["CallSum"][]; view: View }) {
	const { filters, sort, set } = view;
	const [selected, select] = useState<string>();
	const rows = useMemo(() => {
		const by = sums[sort] ?? sums.calls!;
		return all.toSorted((a, b) => by(b) - by(a));
	}, [all, sort]);
	const byServer = view.by === "server";
	const isOn = (sum: S["CallSum"]) =>
		byServer ? filters.server.includes(sum.server ?? "") : !!sum.tool && filters.tool.includes(wholeName(sum));
	const head = (id: string, title: string) => ({
		id,
		right: true,
		sorted: id === sort ? ("descending" as const) : undefined,
		title: (
			<button
				type="button"
				className={cx("rounded-sm hover:text-text", id === sort && "text-text")}
				onClick={() => set({}, { sort: id === "calls" ? "" : id })}
			>
				{title}
				{id === sort && " ↓"}
			</button>
		),
	});
	const columns: Column<S["CallSum"]>[] = [
		{
			id: "tool",
			title: byServer ? t("Server") : t("Tool"),
			width: "minmax(0,1fr)",
			cell: (sum) => (
				<button
					type="button"
					aria-pressed={isOn(sum)}
					className={cx("line max-w-full text-left font-medium", isOn(sum) ? "text-accent" : "hover:text-accent")}
					onClick={() => toggle(sum)}
				>
					{(byServer ? sum.server : toolName(sum)) || t("unknown tools")}
				</button>
			),
		},
		...(byServer
			? []
			: [
					{
						id: "server",
						title: t("Server"),
						width: "minmax(0,120px)",
						wide: true,
						cell: (sum: S["CallSum"]) => <span className="text-muted">{sum.server}</span>,
					},
				]),
		{ ...head("calls", t("Calls")), width: "100px", cell: (sum) => number(sum.calls) },
		{
			...head("errors", t("Failure rate")),
			width: "104px",
			cell: (sum) => (
				<span className={sum.errors ? "text-bad" : "text-faint"} title={number(sum.errors)}>
					{share(sum.errors, sum.calls)}
				</span>
			),
		},
		{ ...head("p50", "p50"), width: "88px", wide: true, cell: (sum) => took(sum.p50Millis) },
		{ ...head("p95", "p95"), width: "88px", cell: (sum) => took(sum.p95Millis) },
		{
			...head("tokens", t("Tokens in / out")),
			width: "164px",
			wide: true,
			cell: (sum) => (
				<span className="text-muted">
					{short(sum.tokensIn)} / {short(sum.tokensOut)}
				</span>
			),
		},
		{
			...head("saved", t("Saved")),
			width: "72px",
			wide: true,
			cell: (sum) =>
				sum.tokensSaved ? (
					<span className="text-ok">{short(sum.tokensSaved)}</span>
				) : (
					<span className="text-faint">0</span>
				),
		},
		{
			id: "open",
			title: <span className="sr-only">{t("Calls")}</span>,
			width: "128px",
			right: true,
			wide: true,
			cell: (sum) => (
				<LinkButton
					look="quiet"
					size="small"
					aria-label={t("Calls of {name}", {
						name: wholeName(sum) || (byServer && sum.server) || t("unknown tools"),
					})}
					href={callsAddress(filters, {
						server: sum.server ? [sum.server] : [],
						tool: sum.tool ? [wholeName(sum)] : [],
						...(!sum.tool && !(byServer && sum.server) && { outcome: ["not_found"] }),
					})}
				>
					{t("Its calls")}
				</LinkButton>
			),
		},
	];
	const toggle = (sum: S["CallSum"]) => {
		if (sum.tool) set({ tool: isOn(sum) ? [] : [wholeName(sum)] });
		else if (sum.server) set({ server: filters.server.includes(sum.server) ? [] : [sum.server] });
	};
	const key = (sum: S["CallSum"]) => `${sum.server} ${sum.tool}`;
	return (
		<div className="mt-3">
			<List
				label={t("Servers and tools")}
				rows={rows}
				columns={columns}
				rowKey={key}
				selected={selected}
				onSelect={select}
				onOpen={toggle}
				rowClass={(sum) => isOn(sum) && "bg-accent-soft"}
				height="432px"
			/>
		</div>
	);
}
