import { ChevronDown, ChevronRight, CornerDownRight, ListFilter } from "lucide-react";
import { brief, number, short, t, took, whole } from "@/lang";
import { type Column, cx, Dot } from "@/ui";
import { CancelSlow } from "./cancel";
import { type Field, type useFilters, wholeName } from "./filters";
import type { Row } from "./rows";
import {
	clientName,
	Effect,
	Outcome,
	outcomeTone,
	outcomeWord,
	Progress,
	Ticking,
	toolName,
	type useWaiting,
} from "./words";

type Toggle_ = ReturnType<typeof useFilters>["toggle"];

/** Value is something in a row that can be filtered by. It says so under the pointer. */
function Value({
	field,
	value,
	shown,
	toggle,
	className,
	children,
}: {
	field: Field;
	value: string;
	shown: string;
	toggle: Toggle_;
	className?: string;
	/** What is drawn instead of its words. */
	children?: React.ReactNode;
}) {
	return (
		<button
			type="button"
			tabIndex={-1}
			aria-label={shown}
			title={t("{value}: click to see only these, with Alt to leave them out", { value: shown })}
			onClick={(event) => toggle(field, value, event.altKey)}
			className={cx(
				"group inline-flex min-w-0 items-center gap-1 rounded-sm decoration-dotted underline-offset-4 hover:bg-accent-soft hover:text-accent hover:underline",
				className,
			)}
		>
			{children ?? (
				<>
					<span className="line">{shown}</span>
					<ListFilter aria-hidden className="hidden size-3 shrink-0 group-hover:block" />
				</>
			)}
		</button>
	);
}

/** columnsOf are the columns of the list of calls. */
export function columnsOf(
	toggle: Toggle_,
	unfold: (row: Row) => void,
	waiting: ReturnType<typeof useWaiting>,
): Column<Row>[] {
	return [
		{
			id: "outcome",
			title: <span className="sr-only">{t("Outcome")}</span>,
			width: "36px",
			cell: ({ call }) =>
				call.outcome ? (
					<Value
						field="outcome"
						value={call.outcome}
						shown={outcomeWord(call.outcome)}
						toggle={toggle}
						className="-m-1 rounded-full! p-1"
					>
						<Dot tone={outcomeTone(call.outcome)} />
					</Value>
				) : (
					<Outcome waiting={waiting.has(call.id)} />
				),
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
			width: "116px",
			wide: true,
			cell: ({ call, depth }) =>
				depth === 0 && (
					<Value field="client" value={call.client} shown={clientName(call)} toggle={toggle} className="max-w-full" />
				),
		},
		{
			id: "tool",
			title: t("Tool"),
			width: "minmax(0,1fr)",
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
									className="shrink-[9999] text-muted max-md:hidden"
								/>
								<span className="mx-1 text-faint max-md:hidden">/</span>
							</>
						)}
						{/* It is what people click to see the call, so it does not filter. */}
						{/* biome-ignore lint/a11y/useKeyWithClickEvents: the row is opened by keys, and filters are turned around */}
						<span
							className="line font-medium"
							title={call.tool && t("Open the call; with Alt, leave this tool out")}
							onClick={(event) => {
								if (!event.altKey || !call.tool) return;
								event.stopPropagation();
								toggle("tool", wholeName(call), true);
							}}
						>
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
							{call.server && `${call.server} · `}
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
			width: "minmax(0,1fr)",
			wide: true,
			cell: ({ call }) =>
				!call.outcome && waiting.has(call.id) ? (
					<span className="text-warn">{t("waits for approval")}</span>
				) : call.outcome && call.outcome !== "ok" ? (
					<span
						className={outcomeTone(call.outcome) === "warn" ? "text-warn" : "text-bad"}
						title={[outcomeWord(call.outcome), call.error, call.arguments].filter(Boolean).join("\n")}
					>
						{call.error || (
							<Value field="outcome" value={call.outcome} shown={outcomeWord(call.outcome)} toggle={toggle} />
						)}
					</span>
				) : (
					<>
						{!call.outcome && <Progress id={call.id} className="mr-2" />}
						{call.outcome && call.arguments === undefined && ["off", "local"].includes(call.bodies ?? "") ? (
							<span className="text-faint" title={t("Settings, History, says whose calls are kept whole.")}>
								{call.bodies === "local"
									? t("not kept: this client has a token")
									: t("not kept: switched off in Settings, History")}
							</span>
						) : (
							<code className="text-muted text-xs" title={call.arguments}>
								{call.arguments}
							</code>
						)}
					</>
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
			width: "112px",
			right: true,
			wide: true,
			cell: ({ call: { id, started, outcome, tokensOut = 0, tokensSaved } }) =>
				outcome === undefined ? (
					<CancelSlow id={id} since={started} />
				) : (
					<span
						className="text-muted"
						title={
							tokensSaved
								? `${number(tokensOut + tokensSaved)} → ${number(tokensOut)}\n${t("An outline of a large answer saved {n} tokens.", { n: number(tokensSaved) })}`
								: number(tokensOut)
						}
					>
						{tokensSaved ? `${short(tokensOut + tokensSaved)} → ${short(tokensOut)}` : short(tokensOut)}
					</span>
				),
		},
	];
}
