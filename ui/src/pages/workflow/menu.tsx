import { LayoutTemplate, Package } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { query, type S } from "../../api/client";
import { t } from "../../lang";
import { aboutStep } from "../../lang/terms";
import { complain, composing, cx, Input } from "../../ui";
import { blank, type Schema } from "../../ui/schema";
import {
	add,
	behindCall,
	type Data,
	type Definition,
	descendants,
	type Edge,
	entering,
	type Hook,
	nodeOf,
	type Place,
	placeFor,
	replacedBy,
	settledFor,
} from "./definition";
import { addable, canFail, isLast, outsOf } from "./kinds";
import { iconOf, wayText } from "./node";
import { type Adding, type Editor, edit, editor, nameOf, select, setEditor, useEditor } from "./store";
import { connect, sayReplaced, tryEdge } from "./sync";

type Choice = {
	key: string;
	title: string;
	about?: string;
	/** Other words by which it is found. */
	words?: string;
	icon: ReactNode;
	choose: () => void;
};

/** words are what people call the steps, by the types of nodes and the templates' ids. */
const words: Record<string, string | undefined> = {
	redact:
		"mask hide remove personal email phone pii privacy private api key filter anonymize マスク マスキング 隠す 消す ふせる かくす 個人情報 こじんじょうほう メール 電話 でんわ",
	"deny-argument": "block ブロック 禁止 きょひ",
	"deny-destructive": "block ブロック 禁止 きょひ",
	"notify-failure": "alert webhook 知らせる つうち",
	hook: "javascript code hook コード フック",
	condition: "if branch 条件 分岐 もし じょうけん ぶんき",
	set: "argument variable 変数 引数 値 へんすう ひきすう あたい",
	approve: "approve 承認 しょうにん かくにん",
	tool: "別のツール べつのつーる",
	"mcp-call": "呼び出す よびだす よびだし",
	end: "stop deny block 終わり 終了 拒否 おわり しゅうりょう きょひ",
};

const focusCanvas = () => document.querySelector<HTMLElement>("[data-canvas]")?.focus({ preventScroll: true });
const close = () => {
	setEditor({ adding: null });
	focusCanvas();
};

/** Chooser is the menu that adds a node, or connects one to another. */
export function Chooser() {
	const adding = useEditor((s) => s.adding);
	// They are there when somebody types faster than the server answers.
	query.useQuery("get", "/v1/workflow-templates");
	if (!adding) return null;
	return adding.kind === "add" ? (
		<AddMenu key="add" screen={adding.screen} place={adding.place} />
	) : (
		<ConnectMenu key={adding.from} {...adding} />
	);
}

/** addStep puts a node into the draft and selects it. */
function addStep(type: string, data: Data, place: Place, settle = (draft: Definition) => draft): void {
	const before = editor().draft;
	let made = "";
	edit((draft) => {
		const [next, id] = add(draft, type, example(type, data), place);
		made = id;
		return settle(next);
	});
	if (!made) return;
	select([made]);
	const { draft } = editor();
	const lost = before.edges.find((e) => !draft.edges.includes(e) && !descendants(draft, e.source).has(e.target));
	if (lost) sayReplaced(before, lost);
}

/** hookFrom is a hook that runs the script of a template. */
export const hookFrom = ({ id, params, hook }: S["Template"]): Hook => ({
	template: id,
	blocking: hook!.blocking,
	...(hook!.partial && { partial: true }),
	params: blank(params as Schema),
});

function addTemplate(template: S["Template"], place: Place): void {
	const hook = template.hook!;
	addStep("hook", { label: hook.label, hook: hookFrom(template) }, placeFor(editor().draft, hook, place), (draft) =>
		settledFor(draft, hook),
	);
}

/** exampleArgument is an argument of the sample with its value. */
function exampleArgument(sample: Editor["sample"]): [string, unknown] | undefined {
	const args = (sample?.request?.json as { arguments?: Record<string, unknown> } | undefined)?.arguments;
	return args && Object.entries(args).find(([, value]) => typeof value === "string" || typeof value === "number");
}

/** exampleCase is a condition that the sample fulfils. */
export function exampleCase(sample: Editor["sample"]): string | undefined {
	const first = exampleArgument(sample);
	return first && `args${member(first[0])} == ${JSON.stringify(first[1])}`;
}

/** example fills in what the sample suggests, so that nobody begins with nothing. */
function example(type: string, data: Data): Data {
	const { sample } = editor();
	const first = exampleArgument(sample);
	if (type === "condition") return { ...data, cases: [{ handle: t("yes"), when: exampleCase(sample) ?? "true" }] };
	if (type === "set" && first) return { ...data, arguments: { [first[0]]: { value: first[1] } } };
	return data;
}

/** member is a key behind a dot, or in brackets. */
export const member = (key: string): string => (/^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`);

function AddMenu({ screen, place }: { screen: { x: number; y: number }; place: Place }) {
	const modules = query.useQuery("get", "/v1/hook-modules");
	const templates = query.useQuery("get", "/v1/workflow-templates");
	const type = useEditor((s) => s.draft.workflowType);
	const inside = "edge" in place;
	// What must come before the call cannot stand where somebody points behind it.
	const behind = useEditor((s) => {
		const before = "edge" in place ? place.edge.source : "after" in place ? place.way && place.after : place.from?.id;
		return !!before && (nodeOf(s.draft, before)?.type === "mcp-call" || behindCall(s.draft, before));
	});
	const ready: Choice[] = (templates.data?.templates ?? [])
		.filter(({ hook }) => hook?.workflowTypes.includes(type) && (hook.behind || !behind))
		.map((template) => ({
			key: `template ${template.id}`,
			title: template.title,
			about: aboutStep(template, type),
			words: words[template.id],
			icon: <LayoutTemplate />,
			choose: () => addTemplate(template, place),
		}));
	const own = addable(type)
		.filter((kind) => !(inside && isLast(kind)))
		.map((kind) => {
			const data = kind.new as Data;
			const Icon = iconOf({ id: "", type: kind.type, data });
			return {
				key: `${kind.type} ${kind.title}`,
				title: kind.title,
				about: kind.description,
				words: words[kind.type],
				icon: <Icon />,
				choose: () => addStep(kind.type, data, place),
			};
		});
	const choices: Choice[] = [...own.slice(0, 2), ...ready, ...own.slice(2)];
	for (const module of modules.data?.hookModules ?? [])
		choices.push({
			key: `module ${module.id}`,
			title: module.id,
			about: module.description || t("A script that several workflows share"),
			icon: <Package />,
			choose: () => addStep("hook", { label: module.id, hook: { blocking: true, module: module.id } }, place),
		});
	return <List screen={screen} label={t("Add a step")} choices={choices} />;
}

/** openEdges are the edges from a node to steps that nothing leads to, or those from one of
 * its exits. The server knows which of them are allowed. */
function openEdges(draft: Definition, from: string, exit?: string, moved?: Edge): Edge[] {
	const node = nodeOf(draft, from);
	if (!node) return [];
	const ways = exit ? [exit] : [...outsOf(node), ...(canFail(node) ? ["error"] : [])];
	const targets = draft.nodes.filter(
		({ id, type }) =>
			id !== from && type !== "start" && (exit ? id !== moved?.target : entering(draft, id).length === 0),
	);
	return ways.flatMap((way) =>
		targets.map((target) => ({ source: from, target: target.id, ...(way !== "out" && { sourceHandle: way }) })),
	);
}

function ConnectMenu({ screen, from, way, moved }: Extract<Adding, { kind: "connect" }>) {
	const draft = useEditor((s) => s.draft);
	const [allowed, setAllowed] = useState<Edge[] | null>(null);
	useEffect(() => {
		let here = true;
		const ask = async () => {
			const edges = openEdges(draft, from, way, moved).slice(0, 40);
			const tried = await Promise.all(edges.map((edge) => tryEdge(edge, moved)));
			if (here) setAllowed(edges.filter((_, i) => !tried[i]!.reason));
		};
		ask().catch((error) => {
			close();
			complain(error);
		});
		return () => {
			here = false;
		};
	}, [draft, from, way, moved]);
	const node = nodeOf(draft, from);
	const choices = (allowed ?? []).map((edge): Choice => {
		const target = nodeOf(draft, edge.target)!;
		const way = edge.sourceHandle ?? "out";
		const Icon = iconOf(target);
		const was = moved ?? replacedBy(draft, edge);
		const old = was && nodeOf(draft, was.target);
		const about = [
			(way !== "out" || node?.type === "approve") && t("by “{way}”", { way: wayText(way) }),
			old && t("instead of {name}", { name: nameOf(old) }),
		];
		return {
			key: `${way} ${target.id}`,
			title: nameOf(target),
			about: about.filter(Boolean).join(" · ") || undefined,
			icon: <Icon />,
			choose: () => void connect(edge, moved),
		};
	});
	return (
		<List
			screen={screen}
			label={t("Connect to…")}
			choices={choices}
			none={
				allowed
					? way
						? t("No other step may follow here.")
						: t("Nothing is left to connect: all other steps are reached, or may not follow here.")
					: "…"
			}
		/>
	);
}

/** folded is a text as it is compared: with letters of the usual width, in hiragana, and with
 * nothing between the parts of a word, as in e-mail. */
const folded = (text: string): string =>
	text
		.normalize("NFKC")
		.toLowerCase()
		.replace(/(?<=\w)-(?=\w)/g, "")
		.replace(/[ァ-ヶ]/g, (kana) => String.fromCharCode(kana.charCodeAt(0) - 0x60));

function List({
	screen,
	label,
	choices,
	none,
}: {
	screen: { x: number; y: number };
	label: string;
	choices: Choice[];
	/** What it says if there is nothing to choose. */
	none?: string;
}) {
	const [text, setText] = useState("");
	const [at, setAt] = useState(0);
	const box = useRef<HTMLDivElement>(null);
	const id = useId();
	const typed = folded(text).split(/\s+/);
	// What has the words in its title comes before what has them elsewhere.
	const has = (text: string) => typed.every((word) => folded(text).includes(word));
	const all = (c: Choice) => `${c.title} ${c.about ?? ""} ${c.words ?? ""} ${c.key}`;
	const whole = choices.filter((c) => has(all(c)));
	// If nothing has all of them, what has one is better than nothing.
	const part = (c: Choice) => typed.some((word) => word.length > 2 && folded(all(c)).includes(word));
	const found = (whole.length > 0 ? whole : choices.filter(part)).sort(
		(a, b) => Number(has(b.title)) - Number(has(a.title)),
	);
	const current = Math.min(at, found.length - 1);
	useEffect(() => {
		const outside = (event: PointerEvent) => {
			if (!box.current?.contains(event.target as Element)) setEditor({ adding: null });
		};
		document.addEventListener("pointerdown", outside, true);
		return () => document.removeEventListener("pointerdown", outside, true);
	}, []);
	useEffect(() => {
		document.getElementById(`${id}-${current}`)?.scrollIntoView({ block: "nearest" });
	}, [current, id]);
	const choose = (choice?: Choice) => {
		if (!choice) return;
		close();
		choice.choose();
	};
	const style = {
		left: Math.max(8, Math.min(screen.x, window.innerWidth - 392)),
		top: Math.max(8, Math.min(screen.y, window.innerHeight - 408)),
	};
	return (
		<div
			ref={box}
			className="fixed z-40 flex max-h-[400px] w-96 max-w-[calc(100vw-16px)] flex-col rounded-lg border border-line-strong bg-surface p-1 shadow-card"
			style={style}
		>
			<Input
				autoFocus
				role="combobox"
				aria-label={label}
				aria-expanded
				aria-controls={id}
				aria-activedescendant={found[current] && `${id}-${current}`}
				placeholder={label}
				value={text}
				onChange={(event) => {
					setText(event.target.value);
					setAt(0);
				}}
				onEnter={() => choose(found[current])}
				onKeyDown={(event) => {
					if (composing(event)) return;
					if (event.key === "Escape" || event.key === "Tab") {
						event.preventDefault();
						event.stopPropagation();
						close();
					}
					const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
					if (!step || found.length === 0) return;
					event.preventDefault();
					setAt((current + step + found.length) % found.length);
				}}
				className="mb-1 shrink-0"
			/>
			<div id={id} role="listbox" aria-label={label} className="min-h-0 overflow-y-auto">
				{found.map((choice, i) => (
					// biome-ignore lint/a11y/useKeyWithClickEvents: the field above takes the keys
					<div
						key={choice.key}
						id={`${id}-${i}`}
						role="option"
						tabIndex={-1}
						aria-selected={i === current}
						onPointerMove={() => i !== current && setAt(i)}
						onClick={() => choose(choice)}
						className={cx(
							"flex cursor-default items-start gap-3 rounded-md px-2 py-1.5 [&_svg]:mt-0.5 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-accent",
							i === current && "bg-sunken",
						)}
					>
						{choice.icon}
						<div className="min-w-0">
							<div className="line font-medium">{choice.title}</div>
							{choice.about && <div className="text-faint text-xs">{choice.about.replace(/[.。]$/, "")}</div>}
						</div>
					</div>
				))}
				{found.length === 0 && (
					<div className="px-3 py-4 text-center text-faint">
						{(choices.length === 0 && none) || t("Nothing has such a name.")}
					</div>
				)}
			</div>
		</div>
	);
}
