import { useDeferredValue, useEffect, useId, useRef, useState } from "react";
import { useLocation } from "wouter";
import { drawn, query } from "../api/client";
import { t } from "../lang";
import { composing, cx, Dialog, Input } from "../ui";
import { settings, useHasKnowledge, usePlaces } from "./nav";
import { useLate } from "./search";
import { useSession, useWorkflows } from "./session";
import { chooseTheme } from "./theme";

type Entry = { title: string; kind: string; words?: string } & ({ href: string } | { act: () => void });

/** themes are found by their names in both languages, and are chosen at once. */
const themes = (): Entry[] => [
	{
		title: t("Light"),
		kind: t("Theme"),
		words: "light theme ライト テーマ らいと てーま",
		act: () => chooseTheme("light"),
	},
	{
		title: t("Dark"),
		kind: t("Theme"),
		words: "dark theme ダーク テーマ だーく てーま",
		act: () => chooseTheme("dark"),
	},
	{
		title: t("Same as the system"),
		kind: t("Theme"),
		words: "system theme システム テーマ しすてむ てーま",
		act: () => chooseTheme("system"),
	},
];

/** Palette goes anywhere: pages, tools by what they do, servers, workflows. */
export function Palette({ onClose }: { onClose: () => void }) {
	const [, go] = useLocation();
	const [text, setText] = useState("");
	const [at, setAt] = useState(0);
	const list = useId();
	const current = useRef<HTMLButtonElement>(null);
	const wanted = useDeferredValue(text.trim());
	const asked = useLate(text.trim());
	const servers = query.useQuery("get", "/v1/servers");
	const workflows = useWorkflows();
	const pages = usePlaces();
	const { admin } = useSession();
	const modules = query.useQuery("get", "/v1/hook-modules", {}, { enabled: admin });
	const hasItems = useHasKnowledge() === true && admin;
	const tools = query.useQuery(
		"post",
		"/v1/tools/search",
		{ body: { query: asked, limit: 8 } },
		{ enabled: asked.length > 1, placeholderData: (previous: unknown) => previous as never },
	);
	// Searches of others than administrators are calls, and in the history.
	const items = query.useQuery(
		"get",
		"/v1/items/search",
		{ params: { query: { query: asked, limit: 5 } } },
		{ enabled: hasItems && asked.length > 1, retry: false, placeholderData: (previous: unknown) => previous as never },
	);
	const contains = (title: string, words = "") => `${title} ${words}`.toLowerCase().includes(wanted.toLowerCase());
	const entries = (
		[
			...pages.map((place) => ({ title: place.title, kind: t("Page"), href: place.href, words: place.words })),
			...(wanted && admin
				? [
						{ title: t("Hook modules"), kind: t("Page"), href: "/modules", words: "scripts ふっく" },
						{ title: t("New workflow"), kind: t("Page"), href: "/workflows/new", words: "create 作成 しんき" },
					]
				: []),
			...(wanted ? settings() : []).map((one) => ({ ...one, kind: t("Setting") })),
			...(wanted ? themes() : []),
			...(servers.data?.servers ?? []).map(({ name }) => ({
				title: name,
				kind: t("Server"),
				href: `/servers/${encodeURIComponent(name)}`,
			})),
			...drawn(workflows.data).map(({ id, name }) => ({
				title: name,
				kind: t("Workflow"),
				href: `/workflows/${encodeURIComponent(id)}`,
			})),
			...(modules.data?.hookModules ?? []).map(({ id, description }) => ({
				title: id,
				kind: t("Hook module"),
				href: `/modules/${encodeURIComponent(id)}`,
				words: description,
			})),
		] as Entry[]
	).filter((entry) => contains(entry.title, entry.words));
	const shown: Entry[] = [
		...entries.slice(0, 12),
		...(wanted.length > 1 ? (items.data?.items ?? []) : []).map(({ type, id, title }) => ({
			title,
			kind: t("Item"),
			href: `/knowledge/${encodeURIComponent(`${type}-${id}`)}`,
		})),
		...(wanted.length > 1 ? (tools.data?.results ?? []) : []).map(({ name }) => ({
			title: name,
			kind: t("Tool"),
			href: `/tools/${encodeURIComponent(name)}`,
		})),
	];
	const active = Math.min(at, shown.length - 1);
	// biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when another entry becomes the active one
	useEffect(() => void current.current?.scrollIntoView({ block: "nearest" }), [active]);
	const open = (entry?: Entry) => {
		if (!entry) return;
		onClose();
		if ("act" in entry) entry.act();
		else go(entry.href);
	};
	return (
		<Dialog title={t("Go to")} onClose={onClose}>
			<Input
				autoFocus
				role="combobox"
				aria-expanded
				aria-controls={list}
				aria-activedescendant={shown[active] && `${list}-${active}`}
				aria-label={t("Page, server, workflow, item, or what a tool should do")}
				placeholder={t("Page, server, workflow, item, or what a tool should do")}
				value={text}
				onChange={(event) => {
					setText(event.target.value);
					setAt(0);
				}}
				onKeyDown={(event) => {
					if (composing(event)) return;
					const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
					if (!step) return;
					event.preventDefault();
					setAt((active + step + shown.length) % Math.max(shown.length, 1));
				}}
				onEnter={() => open(shown[active])}
			/>
			<div role="listbox" id={list} aria-label={t("Go to")} className="mt-3 flex h-80 flex-col overflow-auto">
				{shown.length === 0 && <p className="py-6 text-center text-muted">{t("Nothing is called that.")}</p>}
				{shown.map((entry, i) => (
					<button
						key={("href" in entry ? entry.href : entry.kind) + entry.title}
						ref={i === active ? current : undefined}
						id={`${list}-${i}`}
						type="button"
						role="option"
						aria-selected={i === active}
						tabIndex={-1}
						onClick={() => open(entry)}
						onMouseMove={() => setAt(i)}
						className={cx(
							"flex h-9 shrink-0 items-center justify-between gap-3 rounded-md px-2.5 text-left",
							i === active && "bg-accent-soft text-accent",
						)}
					>
						<span className="line">{entry.title}</span>
						<span className={cx("text-xs", i !== active && "text-faint")}>{entry.kind}</span>
					</button>
				))}
			</div>
		</Dialog>
	);
}
