import { useEffect, useRef } from "react";
import { query, refreshOften } from "@/api/client";
import { useEvents } from "@/api/events";
import { currentLang, rate as rateWord, short, t, tn, took } from "@/lang";
import { Sparkline, type Tone } from "@/ui";
import { type Filters, sumQuery } from "./filters";
import { periodWord } from "./words";

/** Tiles are four figures of the time that is shown, with their courses. */
export function Tiles({ filters }: { filters: Filters }) {
	const timed = filters.since || filters.until ? filters : { ...filters, since: "1h" };
	const asked = sumQuery(timed);
	const options = { staleTime: 0, refetchInterval: 30_000, placeholderData: <T,>(before: T) => before };
	const stats = query.useQuery("get", "/v1/calls/stats", { params: { query: asked } }, options);
	const series = query.useQuery("get", "/v1/calls/series", { params: { query: { ...asked, steps: 60 } } }, options);
	useFresh();

	const total = stats.data?.total;
	const steps = series.data?.total ?? [];
	const seconds = stats.data?.seconds;
	const rate = total && seconds ? (60 * total.calls) / seconds : 0;
	const failed = total?.calls ? (100 * total.errors) / total.calls : 0;
	const [, p95, unit] = /^(\S+) (.*)/.exec(total?.calls ? took(total.p95Millis) : "") ?? ["", "–"];
	const period = periodWord(timed);
	return (
		<section aria-label={t("Figures")} className="mb-4 grid grid-cols-2 gap-3 md:grid-cols-4">
			<Tile
				title={t("Calls a minute")}
				period={period}
				value={total && rateWord(rate)}
				beside={total && tn(total.calls, "{n} call", "{n} calls")}
				points={steps.map((step) => step.calls)}
			/>
			<Tile
				title={t("Failed or denied")}
				period={period}
				value={total && `${failed === 0 || failed >= 10 ? Math.round(failed) : failed.toFixed(1)}%`}
				beside={total && tn(total.errors, "{n} call", "{n} calls")}
				points={steps.map((step) => step.errors)}
				tone={total?.errors ? "bad" : "idle"}
			/>
			<Tile
				title={t("95% took at most")}
				period={period}
				note={t("Time in which a person was asked does not count.")}
				value={total && p95}
				unit={unit}
				points={steps.map((step) => step.p95Millis)}
			/>
			<Tile
				title={t("Tokens saved")}
				period={period}
				value={total && short(total.tokensSaved ?? 0)}
				beside={total && t("{n} used", { n: short(total.tokensOut) })}
				points={steps.map((step) => step.tokensSaved)}
				tone="ok"
			/>
			{filters.text && (
				<p className="col-span-full -mt-1 text-faint text-xs">
					{t("These figures follow the other filters, but not the text.")}
				</p>
			)}
		</section>
	);
}

/** useFresh asks for the figures again while calls come, every two seconds at most. */
function useFresh(): void {
	const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
	useEffect(() => () => clearTimeout(timer.current), []);
	useEvents((event) => {
		if (event.name !== "call.ended") return;
		timer.current ??= setTimeout(() => {
			timer.current = undefined;
			refreshOften("/v1/calls/stats", "/v1/calls/series");
		}, 2000);
	});
}

function Tile({
	title,
	period,
	note,
	value,
	unit,
	beside,
	points,
	tone,
}: {
	title: string;
	period: string;
	/** What its title says, too. */
	note?: string;
	value?: string;
	unit?: string;
	beside?: string;
	points: number[];
	tone?: Tone;
}) {
	return (
		<div className="relative h-[74px] overflow-hidden rounded-lg border border-line bg-surface px-3.5 pt-3">
			<Sparkline points={points} tone={tone} className="absolute right-0 bottom-0 h-4.5 w-[45%] xl:h-9" />
			<div
				className="line relative text-muted text-xs"
				title={[`${title} · ${period}`, note].filter(Boolean).join("\n")}
			>
				{title} <span className="text-faint max-sm:hidden">· {period}</span>
			</div>
			<div className="tabular relative font-semibold text-xl tracking-[-.02em]">
				{value}
				{value !== undefined && (unit ?? beside) && (
					<span className="ml-1 font-medium text-faint text-xs tracking-normal">
						{unit ?? (currentLang() === "ja" ? `（${beside}）` : beside)}
					</span>
				)}
			</div>
		</div>
	);
}
