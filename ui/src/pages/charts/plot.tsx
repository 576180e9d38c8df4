import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { day, sentences, time } from "@/lang";
import { useDark } from "@/shell/theme";
import { Card } from "@/ui";

export type Line = {
	title: string;
	/** A variable of the theme, such as --accent. */
	colour: string;
	/** A value for each step; null where there is none. */
	values: (number | null)[];
	bars?: boolean;
	/** The lengths of its dashes and gaps, in pixels. */
	dash?: number[];
	/** A dot for each value: one between steps without a value has no line. */
	dots?: boolean;
	/** How much of the colour what is below the line has. */
	fill?: number;
};

/** Steps are the times that all charts of the page have in common. */
export type Steps = { from: number; seconds: number; count: number };

const hours = (at: Date, seconds: boolean) => time(at).slice(0, seconds ? 8 : 5);

/** stepTime writes when a step was. */
function stepTime({ from, seconds }: Steps, i: number): string {
	const begin = new Date((from + i * seconds) * 1000);
	const end = new Date((from + (i + 1) * seconds) * 1000);
	const today = begin.toDateString() === new Date().toDateString() ? "" : `${day(begin)} `;
	return `${today}${hours(begin, seconds < 60)} – ${hours(end, seconds < 60)}`;
}

/** ticks writes the times below a chart: days, and hours within a day. */
const ticks: uPlot.Axis.DynamicValues = (_, splits, __, ___, step) => {
	let before = "";
	return splits.map((split) => {
		const at = new Date(split * 1000);
		if (step >= 86_400) return day(at);
		const date = day(at);
		const turned = before !== "" && date !== before;
		before = date;
		return turned ? date : hours(at, step < 60);
	});
};

// 2.5 ms would be written as 3 ms.
const round = Array.from({ length: 12 }, (_, i) => [1, 2, 5].map((n) => n * 10 ** (i - 1))).flat();

/** spanOf is the span that a key chooses: nearer, farther, earlier, later; undefined if it
 * is another key, or there is no such span. */
function spanOf(key: string, { from, seconds, count }: Steps, now: number): [number, number] | undefined {
	const moves: Record<string, [number, number]> = {
		"+": [0.25, -0.25],
		"=": [0.25, -0.25], // the key of +, without Shift
		"-": [-0.5, 0.5],
		ArrowLeft: [-0.25, -0.25],
		ArrowRight: [0.25, 0.25],
	};
	const move = moves[key];
	if (!move) return;
	const whole = (part: number) => seconds * Math.round(part * count);
	const end = from + seconds * count;
	const to = Math.min(end + whole(move[1]), Math.max(end, now)); // the future has no calls
	const begin = key === "ArrowRight" ? from + to - end : from + whole(move[0]);
	const same = begin === from && to === end;
	if (!same && to > begin && to - begin <= 60 * 86_400) return [begin, to];
}

/** Plot is a chart over time. Dragging chooses a span; a double click goes back. So do the
 * keys + - ← → and Escape while it has the focus. Its
 * sentence says the same to those who do not see it. */
export function Plot({
	title,
	sentence,
	note,
	groups,
	lines,
	steps,
	keyed,
	format,
	onSpan,
	onBack,
}: {
	title: string;
	sentence: string;
	/** What its sentence says under the pointer. */
	note?: string;
	/** Names the lines for those who do not see the legend. */
	groups?: string;
	lines: Line[];
	steps: Steps;
	/** The steps that keys move. */
	keyed: Steps;
	format: (value: number) => string;
	onSpan: (from: number, to: number) => void;
	onBack: () => void;
}) {
	const dark = useDark();
	const box = useRef<HTMLDivElement>(null);
	const plot = useRef<uPlot>(undefined);
	const [at, setAt] = useState<number | null>(null);
	const latest = useRef({ lines, steps, onSpan, onBack, format });
	latest.current = { lines, steps, onSpan, onBack, format };
	const shape = lines.map((line) => `${line.colour}${line.fill}${line.dash}`).join();

	// biome-ignore lint/correctness/useExhaustiveDependencies: another theme or other lines are another chart
	useEffect(() => {
		const host = box.current!;
		const colour = (name: string, part = 1) => {
			host.style.color = `var(${name})`;
			const [r, g, b] = getComputedStyle(host).color.match(/[\d.]+/g)!;
			return `rgb(${r} ${g} ${b} / ${part})`;
		};
		const axis = { stroke: colour("--faint"), font: `11px ${getComputedStyle(host).fontFamily}` };
		const grid = { stroke: colour("--line"), width: 1 };
		const made = new uPlot(
			{
				width: host.clientWidth,
				height: 180,
				padding: [8, 28, 0, 0], // half of the last time below it
				legend: { show: false },
				scales: {
					x: {
						range: () => {
							const { from, seconds, count } = latest.current.steps;
							return [from, from + seconds * count];
						},
					},
					y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] },
				},
				axes: [
					{ ...axis, grid: { show: false }, ticks: { ...grid, size: 4 }, values: ticks, space: 64, size: 28 },
					{
						...axis,
						grid,
						ticks: { show: false },
						size: 60,
						space: 36,
						incrs: round,
						values: (_, splits) => splits.map((v) => latest.current.format(v)),
					},
				],
				series: [
					{},
					...latest.current.lines.map((line) => ({
						label: line.title,
						stroke: colour(line.colour),
						fill: colour(line.colour, line.fill ?? 0.08),
						width: line.bars ? 0 : 1.5,
						dash: line.dash,
						paths: line.bars ? uPlot.paths.bars!({ size: [0.8, 28] }) : undefined,
						points: line.bars ? { show: false } : { show: line.dots ?? false, size: 4, fill: colour(line.colour) },
					})),
				],
				cursor: {
					y: false,
					points: { size: 7, width: 1 },
					drag: { x: true, y: false, setScale: false },
					sync: {
						key: "charts",
						filters: { pub: (type) => type === "mousemove" || type === "mouseleave", sub: () => true },
					},
					bind: {
						dblclick: () => () => {
							latest.current.onBack();
							return null;
						},
					},
				},
				hooks: {
					setCursor: [(u) => setAt(u.cursor.idx ?? null)],
					setSelect: [
						(u) => {
							const { left, width } = u.select;
							if (width < 6) return;
							u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
							// Whole steps: what is drawn there is what is meant.
							const { from, seconds } = latest.current.steps;
							const edge = (at: number, round: (n: number) => number) =>
								from + seconds * round((u.posToVal(at, "x") - from) / seconds);
							latest.current.onSpan(edge(left, Math.floor), edge(left + width, Math.ceil));
						},
					],
				},
			},
			dataOf(latest.current.steps, latest.current.lines),
			host,
		);
		host.style.color = "";
		plot.current = made;
		const sized = new ResizeObserver(() => made.setSize({ width: host.clientWidth, height: 180 }));
		sized.observe(host);
		return () => {
			sized.disconnect();
			made.destroy();
		};
	}, [dark, shape]);
	useEffect(() => plot.current?.setData(dataOf(steps, lines)), [steps, lines]);

	const press = (event: KeyboardEvent) => {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		const span = spanOf(event.key, keyed, Date.now() / 1000);
		if (!span) return;
		onSpan(...span);
		event.preventDefault();
		event.stopPropagation();
	};
	return (
		<Card className="min-w-0">
			<figure className="m-0 flex h-full flex-col" aria-label={title}>
				<figcaption className="px-4 pt-3 pb-1">
					<div className="flex items-baseline justify-between gap-4">
						<h2 className="text-sm leading-5">{title}</h2>
						{at !== null && at < steps.count && (
							<span aria-hidden className="tabular text-faint text-xs">
								{stepTime(steps, at)}
							</span>
						)}
					</div>
					<p className="text-muted text-xs" title={note}>
						{sentence}
					</p>
					<div aria-hidden className="mt-1 flex min-h-4 flex-wrap gap-x-4 text-muted text-xs">
						{lines.map((line, i) => {
							const value = at === null ? undefined : line.values[at];
							return (
								// biome-ignore lint/suspicious/noArrayIndexKey: two lines may have the same title
								<span key={i} className="tabular inline-flex max-w-full items-center gap-1.5">
									{line.dash ? (
										<svg
											aria-hidden
											className="h-2 w-5"
											stroke={`var(${line.colour})`}
											strokeWidth={2}
											strokeDasharray={line.dash.join(" ")}
										>
											<line x2={20} y1={4} y2={4} />
										</svg>
									) : (
										<span
											className="size-2 rounded-xs"
											style={{ background: `var(${line.colour})`, opacity: line.bars ? line.fill : undefined }}
										/>
									)}
									<span className="line">{line.title}</span>
									{/* Its room is there without a value, too, so that nothing moves under the pointer. */}
									<b className="min-w-[6ch] font-medium text-text">
										{at === null ? "" : value == null ? "–" : format(value)}
									</b>
								</span>
							);
						})}
					</div>
				</figcaption>
				<div
					ref={box}
					role="img"
					aria-label={sentences(`${title}: ${sentence}`, note, groups)}
					aria-keyshortcuts="+ - ArrowLeft ArrowRight Escape"
					// biome-ignore lint/a11y/noNoninteractiveTabindex: its keys zoom
					tabIndex={0}
					onKeyDown={press}
					className="mt-auto h-[180px] overflow-hidden focus-visible:-outline-offset-2"
				/>
			</figure>
		</Card>
	);
}

/** dataOf is the chart's data; a value stands in the middle of its step. */
function dataOf({ from, seconds, count }: Steps, lines: Line[]): uPlot.AlignedData {
	return [
		Array.from({ length: count }, (_, i) => from + (i + 0.5) * seconds),
		...lines.map((line) => line.values),
	] as uPlot.AlignedData;
}
