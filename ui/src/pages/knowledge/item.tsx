import { ArrowLeft, Ellipsis, FileQuestion, Pencil, Trash2 } from "lucide-react";
import { type ComponentType, lazy, Suspense, useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import { Failure, queries, query, type S } from "@/api/client";
import { ago, between, currentLang, t, whole } from "@/lang";
import { statusWord } from "@/lang/terms";
import { useAddress } from "@/shell/address";
import {
	Button,
	Chip,
	Confirm,
	CopyButton,
	complain,
	Empty,
	LinkButton,
	Loading,
	Menu,
	messageOf,
	Problem,
	say,
	Tabs,
} from "@/ui";
import { around } from "./around";
import { again, drop, hrefOf, refOf, useDrafts } from "./drafts";
import { Edit, edit } from "./edit";
import { priorities, priorityOf, useClosed } from "./words";

const Markdown = lazy(() => import("@/ui/markdown"));

/** useGraph is the drawing, loaded with the item and not after it. It is no lazy component:
 * React holds those back for 300 ms after the page itself was one. */
function useGraph(wanted: boolean, reference: string): ComponentType<{ center: string }> | undefined {
	const [Graph, set] = useState<ComponentType<{ center: string }>>();
	useEffect(() => {
		if (!wanted) return;
		void queries.prefetchQuery(around(reference));
		import("./graph").then((module) => set(() => module.default), complain);
	}, [wanted, reference]);
	return Graph;
}

type View = "text" | "graph";

/** Item is one item: its text, its surroundings as a graph, or its form. */
export function Item({ reference, back }: { reference: string; back: string }) {
	const [, go] = useLocation();
	const [params] = useAddress();
	const graph = useGraph(params.get("view") === "graph", reference);
	const item = query.useQuery("get", "/v1/items/{ref}", { params: { path: { ref: reference } } });
	const editing = useDrafts((state) => item.data && state.drafts[refOf(item.data)] !== undefined);
	const missing = item.error instanceof Failure && (item.error.status === 404 || item.error.status === 400);
	if (missing)
		return (
			<Empty
				icon={<FileQuestion />}
				title={t("There is no item {ref}", { ref: reference })}
				actions={<LinkButton href={back}>{t("All items")}</LinkButton>}
			>
				{item.error instanceof Failure && messageOf(item.error)}
			</Empty>
		);
	if (item.error && !item.data) return <Problem className="m-4" error={item.error} retry={() => void item.refetch()} />;
	if (!item.data) return <Loading />;
	if (editing) return <Edit key={reference} id={refOf(item.data)} item={item.data} />;
	return <Shown key={refOf(item.data)} item={item.data} Graph={graph} back={back} gone={() => go(back)} />;
}

function Shown({
	item,
	Graph,
	back,
	gone,
}: {
	item: S["Item"];
	Graph: ReturnType<typeof useGraph>;
	back: string;
	gone: () => void;
}) {
	const ref = refOf(item);
	const [params, setParams] = useAddress();
	const [asks, setAsks] = useState(false);
	const view: View = params.get("view") === "graph" ? "graph" : "text";
	const closed = useClosed();
	const remove = query.useMutation("delete", "/v1/items/{ref}");
	return (
		<article aria-label={item.title}>
			<div className="sticky top-0 z-10 bg-surface px-4 pt-3">
				<div className="flex items-start gap-2">
					<LinkButton
						href={back}
						look="quiet"
						size="iconSmall"
						aria-label={t("All items")}
						title={t("All items")}
						className={view === "graph" ? "" : "md:hidden"}
					>
						<ArrowLeft />
					</LinkButton>
					<h2 className="min-w-0 flex-1 pt-0.5 text-base break-words">{item.title}</h2>
					<Button size="small" onClick={() => edit(item)}>
						<Pencil />
						{t("Edit")}
					</Button>
					<Menu
						trigger={
							<Button look="quiet" size="iconSmall" aria-label={t("More")} title={t("More")}>
								<Ellipsis />
							</Button>
						}
						items={[{ title: t("Delete"), icon: <Trash2 />, danger: true, onSelect: () => setAsks(true) }]}
					/>
				</div>
				<div className="mt-2 flex flex-wrap items-center gap-1.5">
					<span className="inline-flex max-w-full items-center break-all font-mono text-[12.5px] text-muted">
						{ref}
						<CopyButton text={ref} />
					</span>
					<Chip tone={closed(item.status) ? "idle" : "accent"} data-term title={item.status}>
						{statusWord(item.status)}
					</Chip>
					<Chip tone={priorities[item.priority]?.tone}>
						{currentLang() === "ja"
							? t("Priority: {name}", { name: priorityOf(item.priority) })
							: priorityOf(item.priority)}
					</Chip>
					{item.tags.map((tag) => (
						<Link
							key={tag}
							href={`/knowledge?tag=${encodeURIComponent(tag)}`}
							title={t("All with this tag")}
							className="max-w-full"
						>
							<Chip className="hover:text-text">
								<span className="line">#{tag}</span>
							</Chip>
						</Link>
					))}
					<span className="ml-auto text-faint text-xs" title={whole(item.updated_at)}>
						{t("changed {when}", { when: ago(item.updated_at) })}
					</span>
				</div>
				<Tabs
					className="-mx-4 mt-1 px-4"
					label={t("Views")}
					tabs={[
						{ id: "text", title: t("Text") },
						{ id: "graph", title: t("Graph"), count: item.related.length },
					]}
					current={view}
					onChange={(to) =>
						setParams((old) => {
							if (to === "graph") old.set("view", to);
							else for (const name of ["view", "to", "more"]) old.delete(name);
							return old;
						})
					}
				/>
			</div>
			{view === "graph" ? Graph ? <Graph center={ref} /> : <Loading /> : <Text item={item} />}
			{asks && (
				<Confirm
					title={t("Delete {ref}?", { ref })}
					action={t("Delete")}
					danger
					busy={remove.isPending}
					onClose={() => setAsks(false)}
					onConfirm={() =>
						remove.mutate(
							{ params: { path: { ref } } },
							{
								onError: complain,
								onSuccess: () => {
									drop(ref);
									setAsks(false);
									gone();
									again();
									say(t("{ref} is deleted.", { ref }));
								},
							},
						)
					}
				>
					<p>
						{t("“{title}” and its relations are gone for everybody. This cannot be undone.", { title: item.title })}
					</p>
				</Confirm>
			)}
		</article>
	);
}

function Text({ item }: { item: S["Item"] }) {
	const related = query.useQuery(
		"get",
		"/v1/items/{ref}/related",
		{ params: { path: { ref: refOf(item) } } },
		{ enabled: item.related.length > 0 },
	);
	const titles = new Map(related.data?.related_items.map((one) => [refOf(one.item), one.item.title]));
	return (
		<div className="flex flex-col gap-4 p-4">
			{item.description && <p className="text-muted break-words">{item.description}</p>}
			{item.content ? (
				<Suspense fallback={<Loading />}>
					<Markdown text={item.content} />
				</Suspense>
			) : (
				<p className="text-faint">
					{t("There is no text yet.")}
					{between()}
					<button type="button" className="text-accent hover:underline" onClick={() => edit(item)}>
						{t("Write one")}
					</button>
				</p>
			)}
			{item.related.length > 0 && (
				<section aria-label={t("Relations")} className="border-line border-t pt-3">
					<h3 className="mb-1 font-medium text-muted text-xs">{t("Relations")}</h3>
					<ul>
						{item.related.slice(0, 50).map((ref) => (
							<li key={ref}>
								<Link
									href={hrefOf(ref)}
									className="-mx-2 flex min-h-8 items-center gap-2 rounded-md px-2 hover:bg-sunken"
								>
									<span className="line min-w-0">{titles.get(ref) ?? ref}</span>
									{titles.has(ref) && <span className="shrink-0 text-faint text-xs">{ref}</span>}
								</Link>
							</li>
						))}
					</ul>
				</section>
			)}
		</div>
	);
}
