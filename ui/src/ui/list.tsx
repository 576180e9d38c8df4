import { useVirtualizer } from "@tanstack/react-virtual";
import {
	type KeyboardEvent,
	type MouseEvent,
	memo,
	type ReactNode,
	type RefObject,
	useCallback,
	useEffect,
	useId,
	useLayoutEffect,
	useRef,
	useState,
	useSyncExternalStore,
} from "react";
import { useLocation, useRouter } from "wouter";
import { cx } from "./basics";

export type Column<T> = {
	id: string;
	title: ReactNode;
	/** As in grid-template-columns: "96px", "minmax(0,1fr)". */
	width: string;
	/** The width where the window is narrow, if it is another one. */
	narrow?: string;
	right?: boolean;
	/** Left out where the window is narrow. */
	wide?: boolean;
	/** How the rows are sorted by this column. */
	sorted?: "ascending" | "descending";
	cell: (row: T) => ReactNode;
};

const cellClass = <T,>(c: Column<T>) => cx("line px-3", c.right && "num", c.wide && "max-md:hidden");

/** Cells are drawn again only when their row or the columns are others: not while the
 * list scrolls. */
const Cells = memo(function Cells<T>({ columns, row }: { columns: Column<T>[]; row: T }) {
	return columns.map((c) => (
		<div key={c.id} role="gridcell" className={cellClass(c)}>
			{c.cell(row)}
		</div>
	));
}) as <T>(props: { columns: Column<T>[]; row: T }) => ReactNode;

const narrow = matchMedia("(width < 900px)"); // as max-md, whose width the theme has

const useNarrow = () =>
	useSyncExternalStore(
		(changed) => {
			narrow.addEventListener("change", changed);
			return () => narrow.removeEventListener("change", changed);
		},
		() => narrow.matches,
	);

/** List is a table of any length: only the rows in sight are drawn. j, k and the arrows
 * move; Enter opens. It scrolls with the page unless height is given. */
export function List<T>({
	rows,
	columns,
	rowKey,
	href,
	onOpen,
	selected,
	onSelect,
	label,
	height,
	onEnd,
	empty,
	rowClass,
	row: wideRow = 36,
	narrowRow = wideRow,
	onAway,
	scrollRef,
	children,
}: {
	rows: T[];
	columns: Column<T>[];
	rowKey: (row: T) => string;
	/** The page that a row leads to. Ctrl+click and the middle button open it in a new tab. */
	href?: (row: T) => string;
	/** What opens a row, if that is more than to go to its page. */
	onOpen?: (row: T) => void;
	/** The key of the row that j and k have reached. */
	selected?: string;
	onSelect?: (key: string) => void;
	label: string;
	/** Of the part that scrolls, such as "calc(100dvh - 200px)". */
	height: string;
	/** Called near the last row: there may be more to load. */
	onEnd?: () => void;
	empty?: ReactNode;
	rowClass?: (row: T) => string | false | undefined;
	/** The height of a row. */
	row?: number;
	/** The height of a row where the window is narrow, for one with a second line there. */
	narrowRow?: number;
	/** Told when its reader leaves the top, and comes back. */
	onAway?: (away: boolean) => void;
	/** The part that scrolls. */
	scrollRef?: RefObject<HTMLDivElement | null>;
	/** What stands above the rows, such as a pill that says that there are new ones. */
	children?: ReactNode;
}) {
	const [, go] = useLocation();
	const { base } = useRouter();
	const open = onOpen ?? (href && ((row: T) => go(href(row))));
	const click = (event: MouseEvent<HTMLElement>, row: T) => {
		// A menu of the row is drawn elsewhere, but its clicks come here.
		const at = event.target as Element;
		if (event.detail > 1) return; // the first click of a double click may have put another thing here
		if (!event.currentTarget.contains(at) || at.closest("a,button,input,[data-own]")) return;
		if (href && (event.ctrlKey || event.metaKey || event.button === 1)) window.open(base + href(row), "_blank");
		else if (event.button === 0 && open) {
			onSelect?.(rowKey(row)); // on the way back, j goes on from here
			open(row);
		}
	};
	const own = useRef<HTMLDivElement>(null);
	const scroller = scrollRef ?? own;
	// A new getItemKey makes the virtualizer measure every row again.
	const keyOf = useRef(rowKey);
	keyOf.current = rowKey;
	const getItemKey = useCallback((i: number) => keyOf.current(rows[i]!), [rows]);
	const rowHeight = useNarrow() ? narrowRow : wideRow;
	const virtual = useVirtualizer({
		count: rows.length,
		getScrollElement: () => scroller.current,
		estimateSize: () => rowHeight,
		overscan: 6,
		getItemKey,
	});
	// biome-ignore lint/correctness/useExhaustiveDependencies: rows have another height now
	useEffect(() => virtual.measure(), [virtual, rowHeight]);
	const items = virtual.getVirtualItems();
	const id = useId();
	const reached = items.find((item) => rowKey(rows[item.index]!) === selected);
	const last = items.at(-1)?.index ?? -1;
	useEffect(() => {
		if (onEnd && rows.length > 0 && last >= rows.length - 10) onEnd();
	}, [last, rows.length, onEnd]);

	// A scroll bar takes its width from the rows: the header gives up as much.
	const [bar, setBar] = useState(0);
	// biome-ignore lint/correctness/useExhaustiveDependencies: they make the bar come and go
	useLayoutEffect(() => {
		if (scroller.current) setBar(scroller.current.offsetWidth - scroller.current.clientWidth);
	}, [rows.length, height]);

	const wide = columns.map((c) => c.width).join(" ");
	const narrowWidths = columns
		.filter((c) => !c.wide)
		.map((c) => c.narrow ?? c.width)
		.join(" ");
	const grid = "grid items-center [grid-template-columns:var(--narrow)] md:[grid-template-columns:var(--wide)]";

	const onKeyDown = (event: KeyboardEvent) => {
		// Keys of a menu of a row, which is drawn elsewhere, come here too.
		if (event.defaultPrevented || !event.currentTarget.contains(event.target as Element)) return;
		if (event.metaKey || event.ctrlKey || event.altKey) return;
		const at = rows.findIndex((row) => rowKey(row) === selected);
		const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
		if (step !== undefined && onSelect && rows.length > 0) {
			event.preventDefault();
			const to = Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + step));
			onSelect(rowKey(rows[to]!));
			virtual.scrollToIndex(to);
		} else if (event.key === "Enter" && at >= 0 && open && event.target === event.currentTarget) {
			event.preventDefault();
			open(rows[at]!);
		}
	};
	return (
		<div className="relative overflow-hidden rounded-lg border border-line bg-surface">
			{children}
			<div
				role="grid"
				aria-label={label}
				aria-rowcount={rows.length + 1}
				// The row that j and k have reached is read out, while the grid keeps the focus.
				aria-activedescendant={reached ? `${id}-${reached.index}` : undefined}
				tabIndex={0}
				data-list
				onKeyDown={onKeyDown}
				className="focus-visible:-outline-offset-2"
				style={{ "--wide": wide, "--narrow": narrowWidths } as React.CSSProperties}
			>
				<div role="rowgroup" style={{ paddingRight: bar }}>
					<div role="row" className={cx(grid, "h-8 border-line border-b font-medium text-faint text-xs")}>
						{columns.map((c) => (
							<div key={c.id} role="columnheader" aria-sort={c.sorted} className={cellClass(c)}>
								{c.title}
							</div>
						))}
					</div>
				</div>
				{rows.length === 0 && (
					<div role="rowgroup">
						<div role="row">
							<div role="gridcell">{empty}</div>
						</div>
					</div>
				)}
				<div
					ref={scroller}
					role="rowgroup"
					data-rows
					hidden={rows.length === 0}
					onScroll={onAway && ((event) => onAway(event.currentTarget.scrollTop > 0))}
					className="relative overflow-y-auto overflow-x-hidden"
					style={{ maxHeight: height, overflowAnchor: "none" }}
				>
					<div style={{ height: virtual.getTotalSize(), position: "relative" }}>
						{items.map((item) => {
							const row = rows[item.index]!;
							const key = rowKey(row);
							return (
								// biome-ignore lint/a11y/useKeyWithClickEvents: the list takes the keys
								<div
									key={key}
									id={`${id}-${item.index}`}
									role="row"
									aria-rowindex={item.index + 2}
									aria-selected={key === selected}
									onClick={(event) => click(event, row)}
									onAuxClick={(event) => click(event, row)}
									className={cx(
										grid,
										"absolute inset-x-0 border-line contain-strict",
										item.index < rows.length - 1 && "border-b",
										open && "cursor-pointer",
										key === selected ? "bg-accent-soft" : "hover:bg-sunken",
										rowClass?.(row),
									)}
									style={{ height: item.size, transform: `translateY(${item.start}px)` }}
								>
									<Cells columns={columns} row={row} />
								</div>
							);
						})}
					</div>
				</div>
			</div>
		</div>
	);
}
