import { useQueries } from "@tanstack/react-query";
import {
	Background,
	BackgroundVariant,
	Handle,
	type NodeProps,
	Panel,
	Position,
	ReactFlow,
	type ReactFlowInstance,
	type Edge as RFEdge,
	type Node as RFNode,
} from "@xyflow/react";
import { ExternalLink, Maximize, Plus, X } from "lucide-react";
import { createContext, use, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Link } from "wouter";
import { queries, query, type S } from "@/api/client";
import { currentLang, t, tn } from "@/lang";
import { statusWord } from "@/lang/terms";
import { useAddress } from "@/shell/address";
import { Button, cx, Loading, Problem, Rich, say } from "@/ui";
import { most, around as relatedTo } from "./around";
import { hrefOf, refOf } from "./drafts";
import { edgeKey, joined, type Place, placed, size } from "./layout";
import { ItemPicker } from "./picker";
import { Priority } from "./words";
import "../workflow/canvas.css";

type Summary = S["ItemSummary"];
type ItemNode = RFNode<{ item: Summary }, "item">;

// How long a path may be.
const longest = 10;

type Hands = {
	center: string;
	down: boolean;
	selected?: string;
	onPath: Set<string>;
	expanded: string[];
	select: (ref: string) => void;
	expand: (ref: string) => void;
};
const HandsContext = createContext<Hands | null>(null);

function Node({ data: { item } }: NodeProps<ItemNode>) {
	const hands = use(HandsContext)!;
	const ref = refOf(item);
	const on = hands.selected === ref;
	return (
		<div
			className={cx(
				"flex items-center gap-1 rounded-lg border pr-1 shadow-card",
				hands.onPath.has(ref) ? "border-accent" : "border-line-strong",
				ref === hands.center || hands.onPath.has(ref) ? "bg-accent-soft" : "bg-surface",
				on && "outline-2 outline-accent outline-offset-1",
			)}
			style={size}
		>
			<Handle
				type="target"
				position={hands.down ? Position.Top : Position.Left}
				isConnectable={false}
				className="size-0! border-0! opacity-0!"
			/>
			<button
				type="button"
				aria-pressed={on}
				title={item.title}
				onClick={() => hands.select(ref)}
				className="nopan h-full min-w-0 flex-1 rounded-lg px-3 text-left"
			>
				<span className="line block font-medium text-sm">{item.title}</span>
				<span className="line flex items-center gap-1.5 text-muted text-xs">
					<Priority value={item.priority} />
					{ref}
				</span>
			</button>
			{!hands.expanded.includes(ref) && <Expand item={item} expand={hands.expand} />}
			<Handle
				type="source"
				position={hands.down ? Position.Bottom : Position.Right}
				isConnectable={false}
				className="size-0! border-0! opacity-0!"
			/>
		</div>
	);
}

function Expand({ item, expand }: { item: Summary; expand: (ref: string) => void }) {
	const name = t("Show what is around {title}", { title: item.title });
	return (
		<Button
			look="quiet"
			size="iconSmall"
			className="nopan"
			aria-label={name}
			title={name}
			onClick={() => expand(refOf(item))}
		>
			<Plus />
		</Button>
	);
}

/** whole is how the whole graph is shown. */
const whole = { padding: 0.06, maxZoom: 1 };

const nodeTypes = { item: Node };

/** Graph draws what is around an item, and further when it is asked to; and the shortest
 * path to another item. The list beside it says the same in words. */
export default function Graph({ center }: { center: string }) {
	const [params, setParams] = useAddress();
	const to = params.get("to") ?? "";
	const setTo = (ref: string) =>
		setParams(
			(old) => {
				if (ref) old.set("to", ref);
				else old.delete("to");
				return old;
			},
			{ replace: true },
		);
	const [selected, select] = useState<string>();
	const [down] = useState(() => matchMedia("(max-width: 899px)").matches);
	const anchor = useRef(center);
	const more = params.getAll("more").join("\n");
	const expanded = useMemo(() => [center, ...more.split("\n").filter(Boolean)], [center, more]);
	const around = useQueries({
		queries: expanded.map(relatedTo),
		combine: (all) => ({
			data: all.flatMap((one) => (one.data ? [one.data] : [])),
			busy: all.some((one) => one.isPending),
			failed: all.find((one) => one.error),
		}),
	});
	const path = query.useQuery(
		"get",
		"/v1/items/path",
		{ params: { query: { from: center, to, max_depth: longest } } },
		{ enabled: to !== "" },
	);
	const shortest = to ? path.data?.paths[0]?.items : undefined;
	const drawing = useMemo(
		() => joined(center, around.data, shortest ? [shortest] : []),
		[center, around.data, shortest],
	);

	const before = useRef(new Map<string, Place>());
	const places = useMemo(() => placed(drawing, down, anchor.current, before.current), [drawing, down]);
	useEffect(() => {
		before.current = places;
	}, [places]);

	const hands: Hands = {
		center,
		down,
		selected,
		onPath: new Set(shortest?.map(refOf)),
		expanded,
		select,
		expand: (ref) => {
			anchor.current = ref;
			select(ref);
			setParams(
				(old) => {
					if (!old.getAll("more").includes(ref)) old.append("more", ref);
					return old;
				},
				{ replace: true },
			);
			void queries.fetchQuery(relatedTo(ref)).then(
				({ center_item, related_items }) => {
					if (related_items.every(({ item }) => drawing.items.has(refOf(item))))
						say(t("Nothing else is around “{title}”.", { title: center_item.title }));
				},
				() => {}, // the page says it
			);
		},
	};
	const nodes = useMemo(
		(): ItemNode[] =>
			[...drawing.items].map(([ref, item]) => ({
				id: ref,
				type: "item",
				position: places.get(ref)!,
				width: size.width,
				height: size.height,
				data: { item },
			})),
		[drawing, places],
	);
	const edges = useMemo((): RFEdge[] => {
		const steps = new Set(shortest?.slice(1).map((item, i) => edgeKey(refOf(shortest[i]!), refOf(item))));
		return drawing.edges.map(([source, target]) => {
			const id = edgeKey(source, target);
			const on = steps.has(id);
			return {
				id,
				source,
				target,
				ariaLabel: `${source} – ${target}`,
				className: on ? "genkan-path" : undefined,
				zIndex: on ? 1 : 0,
				style: {
					stroke: on ? "var(--accent)" : "var(--line-strong)",
					strokeWidth: on ? 3 : 1.5,
					opacity: steps.size > 0 && !on ? 0.5 : 1,
				},
			};
		});
	}, [drawing, shortest]);

	// What is new comes into sight; what is there stays where it is if it can.
	const flow = useRef<ReactFlowInstance<ItemNode, RFEdge>>(null);
	const canvas = useRef<HTMLDivElement>(null);
	const measured = useCallback((box: HTMLDivElement) => {
		canvas.current = box;
		const observer = new ResizeObserver(() => void flow.current?.fitView(whole));
		observer.observe(box);
		return () => observer.disconnect();
	}, []);
	useEffect(() => {
		const box = canvas.current;
		if (!flow.current || !box || places.size === 0) return;
		const { x, y, zoom } = flow.current.getViewport();
		const outside = [...places.values()].some((place) => {
			const [left, top] = [place.x * zoom + x, place.y * zoom + y];
			return (
				left < 0 || top < 0 || left + size.width * zoom > box.clientWidth || top + size.height * zoom > box.clientHeight
			);
		});
		if (!outside) return;
		const timer = setTimeout(() => void flow.current?.fitView({ ...whole, duration: 300 }), 50);
		return () => clearTimeout(timer);
	}, [places]);

	const chosen = selected ? drawing.items.get(selected) : undefined;
	const cut = around.data.filter((one) => one.truncated);
	if (around.failed && around.data.length === 0)
		return <Problem className="m-4" error={around.failed.error} retry={() => void around.failed?.refetch()} />;
	if (around.data.length === 0) return <Loading />;
	return (
		<HandsContext value={hands}>
			<div className="grid md:grid-cols-[minmax(0,1fr)_300px]">
				<div
					ref={measured}
					className="h-[52dvh] min-h-80 border-line max-md:border-b md:h-[calc(100dvh-252px)] md:border-r"
				>
					<ReactFlow
						nodes={nodes}
						edges={edges}
						nodeTypes={nodeTypes}
						onInit={(instance) => {
							flow.current = instance;
						}}
						onNodeClick={(_, node) => select(node.id)}
						fitView
						fitViewOptions={whole}
						minZoom={0.1}
						maxZoom={2}
						nodesDraggable={false}
						nodesConnectable={false}
						nodesFocusable={false}
						edgesFocusable={false}
						elementsSelectable={false}
						deleteKeyCode={null}
						aria-label={t("What is related")}
						lang={currentLang()}
					>
						<Background variant={BackgroundVariant.Dots} gap={20} size={1} />
						<Panel position="bottom-left">
							<Button
								size="icon"
								aria-label={t("Show everything")}
								title={t("Show everything")}
								onClick={() => void flow.current?.fitView({ ...whole, duration: 300 })}
							>
								<Maximize />
							</Button>
						</Panel>
					</ReactFlow>
				</div>
				<div className="flex min-w-0 flex-col md:h-[calc(100dvh-252px)] md:overflow-y-auto">
					<section aria-label={t("Path")} className="flex flex-col gap-2 border-line border-b p-3">
						{to === "" ? (
							<ItemPicker label={t("Path to …")} without={[center]} onPick={(item) => setTo(refOf(item))} />
						) : (
							<PathTo to={to} query={path} title={drawing.items.get(to)?.title} clear={() => setTo("")} />
						)}
					</section>
					{chosen && (
						<section aria-label={t("Selected")} className="flex flex-col gap-2 border-line border-b p-3">
							<div className="break-words font-medium">{chosen.title}</div>
							<div className="text-faint text-xs">
								{refOf(chosen)} · {statusWord(chosen.status)}
								{chosen.tags.map((tag) => ` · #${tag}`)}
							</div>
							<div className="flex flex-wrap gap-2">
								{refOf(chosen) !== center && (
									<Link
										href={hrefOf(refOf(chosen))}
										className="inline-flex items-center gap-1 text-accent hover:underline [&_svg]:size-3.5"
									>
										<ExternalLink aria-hidden />
										{t("Open")}
									</Link>
								)}
								{!expanded.includes(refOf(chosen)) && (
									<button
										type="button"
										className="inline-flex items-center gap-1 text-accent hover:underline [&_svg]:size-3.5"
										onClick={() => hands.expand(refOf(chosen))}
									>
										<Plus aria-hidden />
										{t("Expand")}
									</button>
								)}
							</div>
						</section>
					)}
					<Around drawing={drawing} hands={hands} />
					{around.failed && (
						<Problem className="m-3" error={around.failed.error} retry={() => void around.failed?.refetch()} />
					)}
					{cut.length > 0 && (
						<p className="px-3 pb-3 text-faint text-xs">
							{t("Of each item, the first {n} relations are drawn.", { n: most })}
						</p>
					)}
				</div>
			</div>
		</HandsContext>
	);
}

function PathTo({
	to,
	title,
	query: path,
	clear,
}: {
	to: string;
	title?: string;
	query: { data?: S["ItemPaths"]; error: unknown; refetch: () => unknown };
	clear: () => void;
}) {
	const items = path.data?.paths[0]?.items;
	return (
		<>
			<div className="flex items-start gap-2">
				<div className="min-w-0 flex-1 break-words font-medium">
					<Rich text={t("Path to {item}")} values={{ item: title ?? to }} />
				</div>
				<Button
					look="quiet"
					size="iconSmall"
					aria-label={t("Close the path")}
					title={t("Close the path")}
					onClick={clear}
				>
					<X />
				</Button>
			</div>
			<div role="status" className="text-muted text-sm">
				{path.data &&
					(items
						? tn(items.length - 1, "{n} relation long", "{n} relations long")
						: t("No path of up to {n} relations leads there.", { n: longest }))}
			</div>
			{path.error ? <Problem error={path.error} retry={() => void path.refetch()} /> : null}
			{items && (
				<ol aria-label={t("Path")} className="ml-1 border-accent border-l-2">
					{items.map((item) => (
						<li key={item.id} className="wrap-anywhere py-0.5 pl-3">
							<Link href={hrefOf(refOf(item))} className="hover:underline">
								{item.title}
							</Link>
						</li>
					))}
				</ol>
			)}
		</>
	);
}

/** Around is the drawing in words. */
function Around({ drawing, hands }: { drawing: ReturnType<typeof joined>; hands: Hands }) {
	const rows = [...drawing.items.entries()]
		.filter(([ref]) => ref !== hands.center)
		.map(([ref, item]) => ({ ref, item, away: drawing.away.get(ref) ?? 0 }))
		.sort((a, b) => a.away - b.away);
	return (
		<section aria-label={t("Related items")} className="p-3">
			<h3 className="mb-1 font-medium text-muted text-xs">{t("Related items")}</h3>
			{rows.length === 0 && (
				<p className="text-muted">{t("Nothing is related to it yet. Edit the item to relate it.")}</p>
			)}
			<ul>
				{rows.map(({ ref, item, away }) => (
					<li
						key={ref}
						className={cx(
							"-mx-2 flex items-center gap-1 rounded-md pr-1",
							hands.selected === ref ? "bg-accent-soft" : "hover:bg-sunken",
						)}
					>
						<button
							type="button"
							aria-pressed={hands.selected === ref}
							onClick={() => hands.select(ref)}
							className="min-w-0 flex-1 rounded-md px-2 py-1 text-left"
						>
							<span className="line block">{item.title}</span>
							<span className="line block text-muted text-xs">
								{ref} · {away === 1 ? t("related directly") : t("{n} relations away", { n: away })}
							</span>
						</button>
						{!hands.expanded.includes(ref) && <Expand item={item} expand={hands.expand} />}
					</li>
				))}
			</ul>
		</section>
	);
}
