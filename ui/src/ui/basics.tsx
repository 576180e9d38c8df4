import { Check, Copy, Search, X } from "lucide-react";
import {
	type ComponentProps,
	type CSSProperties,
	createContext,
	Fragment,
	type ReactNode,
	type RefObject,
	useCallback,
	useContext,
	useEffect,
	useId,
	useRef,
	useState,
} from "react";
import { Link } from "wouter";
import { Failure } from "../api/client";
import { currentLang, ended, readNumber, t } from "../lang";
import { complain } from "./overlay";
import { useTitle } from "./title";

/** cx joins the class names that are there. */
export const cx = (...names: (string | false | null | undefined)[]): string => names.filter(Boolean).join(" ");

type Look = "plain" | "primary" | "quiet" | "danger";
const looks: Record<Look, string> = {
	plain: "border-line-strong bg-surface text-text enabled:hover:bg-sunken",
	primary: "border-accent bg-accent text-accent-text enabled:hover:brightness-110",
	quiet: "border-transparent text-muted enabled:hover:bg-sunken enabled:hover:text-text",
	danger: "border-line-strong bg-surface text-bad enabled:hover:bg-bad-soft",
};
const button =
	"inline-flex shrink-0 items-center justify-center gap-2 rounded-md border font-medium text-sm whitespace-nowrap disabled:opacity-50 aria-disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0";
const buttonSizes = { normal: "h-8 px-3", small: "h-6 px-2 text-xs", icon: "size-8", iconSmall: "size-6" };

type ButtonProps = ComponentProps<"button"> & { look?: Look; size?: keyof typeof buttonSizes; busy?: boolean };

/** Button does something. One on a page is primary. While it is busy it shows so and
 * cannot be pressed again; the second click of a double click comes before it shows that. */
export function Button({ look = "plain", size = "normal", busy, className, children, onClick, ...rest }: ButtonProps) {
	return (
		<button
			type="button"
			{...rest}
			onClick={(event) => {
				if (busy === undefined || event.detail < 2) onClick?.(event);
			}}
			disabled={rest.disabled || busy}
			aria-busy={busy || undefined}
			className={cx(button, looks[look], buttonSizes[size], className)}
		>
			{busy && <Spinner />}
			{children}
		</button>
	);
}

/** LinkButton goes somewhere and looks like a button. */
export function LinkButton({
	look = "plain",
	size = "normal",
	className,
	...rest
}: ComponentProps<typeof Link> & { look?: Look; size?: keyof typeof buttonSizes }) {
	return <Link {...rest} className={cx(button, looks[look], buttonSizes[size], className as string)} />;
}

export function Spinner({ className }: { className?: string }) {
	return (
		<span
			aria-hidden
			className={cx(
				"inline-block size-3 animate-spin rounded-full border-2 border-line-strong border-t-accent",
				className,
			)}
		/>
	);
}

export type Tone = "ok" | "warn" | "bad" | "idle" | "accent";
const dots: Record<Tone, string> = {
	ok: "bg-ok",
	warn: "bg-warn",
	bad: "bg-bad",
	idle: "bg-line-strong",
	accent: "bg-accent",
};

/** Dot is the colour of a status; a word always stands beside it, or a title says it. */
export function Dot({ tone, title }: { tone: Tone; title?: string }) {
	const look = cx("inline-block size-2 shrink-0 rounded-full", dots[tone]);
	if (!title) return <span aria-hidden className={look} />;
	return <span role="img" aria-label={title} title={title} className={look} />;
}

const tones: Record<Tone, string> = {
	ok: "bg-ok-soft text-ok",
	warn: "bg-warn-soft text-warn",
	bad: "bg-bad-soft text-bad",
	idle: "bg-chip text-muted border-line",
	accent: "bg-accent-soft text-accent",
};
const chip =
	"inline-flex h-6 max-w-full shrink-0 items-center gap-1.5 rounded-full border border-transparent px-2 font-medium text-xs whitespace-nowrap [&_svg]:size-3";

/** Chip is a short fact. */
export function Chip({ tone = "idle", className, ...rest }: ComponentProps<"span"> & { tone?: Tone }) {
	return <span {...rest} className={cx(chip, tones[tone], className)} />;
}

/** Toggle is a chip that can be pressed, such as a filter that is on. */
export function Toggle({ on, className, ...rest }: ComponentProps<"button"> & { on: boolean }) {
	return (
		<button
			type="button"
			aria-pressed={on}
			{...rest}
			className={cx(chip, on ? tones.accent : cx(tones.idle, "hover:text-text"), className)}
		/>
	);
}

/** Picked is a chip of several of which each is chosen or not, which a ✓ says. */
export function Picked({ children, ...rest }: ComponentProps<typeof Toggle>) {
	return (
		<Toggle {...rest}>
			{rest.on && <Check aria-hidden className="size-3.5" />}
			{children}
		</Toggle>
	);
}

export function Card({ className, ...rest }: ComponentProps<"div">) {
	return <div {...rest} className={cx("rounded-lg border border-line bg-surface", className)} />;
}

/** Cap is the line above what a card holds. */
export function Cap({ children, className }: { children: ReactNode; className?: string }) {
	return (
		<div
			className={cx(
				"flex min-h-9 items-center justify-between gap-3 border-line border-b px-4 py-1 font-medium text-muted text-xs",
				className,
			)}
		>
			{children}
		</div>
	);
}

export function Kbd({ children }: { children: ReactNode }) {
	return (
		<kbd className="rounded-sm border border-line bg-surface px-1 text-[11px] text-faint leading-4">{children}</kbd>
	);
}

/** Page is a page with its heading. Actions stand at the right of the heading. */
export function Page({
	title,
	tab = title,
	crumb,
	beside,
	actions,
	children,
	wide,
}: {
	title: string;
	/** The title of the browser's tab, if it says more. */
	tab?: string;
	/** Where the page belongs to: its name and address. */
	crumb?: { title: string; href: string };
	beside?: ReactNode;
	actions?: ReactNode;
	children: ReactNode;
	wide?: boolean;
}) {
	useTitle(tab);
	return (
		<div className={cx("px-3 pt-4 pb-8 sm:px-7 sm:pt-5", !wide && "max-w-[1440px]")}>
			<header className="mb-4 flex min-h-8 flex-wrap items-center gap-x-3 gap-y-2">
				<h1 className="flex min-w-0 items-baseline gap-2 text-lg">
					{crumb && (
						<Link href={crumb.href} className="font-normal text-base text-muted hover:text-text">
							{crumb.title} /
						</Link>
					)}
					<span className="line">{title}</span>
				</h1>
				{beside}
				<div className="ml-auto flex flex-wrap items-center gap-2">{actions}</div>
			</header>
			{children}
		</div>
	);
}

/** Delayed shows its children only when loading takes longer than a blink. */
function Delayed({ children }: { children: ReactNode }) {
	const [shown, show] = useState(false);
	useEffect(() => {
		const timer = setTimeout(() => show(true), 150);
		return () => clearTimeout(timer);
	}, []);
	return shown ? children : null;
}

/** Loading stands where a list or text will be. */
export function Loading({ rows = 6 }: { rows?: number }) {
	return (
		<Delayed>
			<div role="status" aria-label={t("Loading")} className="flex flex-col gap-3 p-4">
				{Array.from({ length: rows }, (_, i) => (
					<div
						// biome-ignore lint/suspicious/noArrayIndexKey: the bars are all alike
						key={i}
						className="h-4 animate-pulse rounded-sm bg-sunken"
						style={{ width: `${90 - ((i * 17) % 40)}%` }}
					/>
				))}
			</div>
		</Delayed>
	);
}

/** Problem says what went wrong, and tries again where that may help: it changes nothing
 * about who asks, or about what is not there. That somebody may not do something is no
 * alarm. */
export function Problem({ error, retry, className }: { error: unknown; retry?: () => void; className?: string }) {
	const status = error instanceof Failure ? error.status : undefined;
	if (status === 403)
		return (
			<p className={cx("rounded-lg bg-sunken px-4 py-3 text-muted", className)}>
				<Prose text={messageOf(error)} />
			</p>
		);
	return (
		<div role="alert" className={cx("flex items-center gap-3 rounded-lg bg-bad-soft px-4 py-3 text-bad", className)}>
			<div className="min-w-0 flex-1 break-words whitespace-pre-wrap">
				<Prose text={messageOf(error)} />
			</div>
			{retry && status !== 404 && (
				<Button size="small" onClick={retry}>
					{t("Try again")}
				</Button>
			)}
		</div>
	);
}

/** messageOf is what to tell a person about an error. */
export function messageOf(error: unknown): string {
	if (error instanceof Failure) return sentence(error.message);
	if (error instanceof Error) return t("The page has made a mistake: {message}", { message: error.message });
	return sentence(String(error));
}

/** sentence is a message of Genkan, which is often part of another one, where it stands alone.
 * A first word that is not just small letters is a name. */
const sentence = (text: string): string =>
	ended(currentLang() === "en" && /^[a-z]+[ ,:]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text);

/** Empty says why there is nothing, and what to do next. */
export function Empty({
	icon,
	title,
	children,
	actions,
}: {
	icon?: ReactNode;
	title: string;
	children?: ReactNode;
	actions?: ReactNode;
}) {
	return (
		<div className="mx-auto flex max-w-md flex-col items-center gap-2 px-4 py-14 text-center *:max-w-full wrap-anywhere">
			{icon && <div className="mb-2 text-faint [&_svg]:size-8 [&_svg]:stroke-[1.4]">{icon}</div>}
			<h2 className="text-base">{title}</h2>
			{children && <div className="text-muted">{children}</div>}
			{actions && <div className="mt-3 flex flex-wrap justify-center gap-2">{actions}</div>}
		</div>
	);
}

/** Loaded draws what a query has read, or that it is loading, or what went wrong. */
export function Loaded<T>({
	query,
	children,
	rows,
}: {
	query: { data: T | undefined; error: unknown; refetch: () => unknown };
	children: (data: T) => ReactNode;
	rows?: number;
}) {
	if (query.data !== undefined) return children(query.data);
	if (query.error) return <Problem error={query.error} retry={() => void query.refetch()} />;
	return <Loading rows={rows} />;
}

/** Rich is a translated text whose values in braces are elements. */
export function Rich({ text, values }: { text: string; values: Record<string, ReactNode> }) {
	return text.split(/\{(\w+)\}/).map((part, i) =>
		// biome-ignore lint/suspicious/noArrayIndexKey: parts of one text stay in their order
		i % 2 === 1 ? <Fragment key={i}>{values[part]}</Fragment> : part,
	);
}

/** Prose is a text of the server, in which commands and names stand between backticks. */
export function Prose({ text }: { text: string }) {
	return text.split(/`([^`]+)`/).map((part, i) =>
		// biome-ignore lint/suspicious/noArrayIndexKey: parts of one text stay in their order
		i % 2 === 1 ? <code key={i}>{part}</code> : part,
	);
}

/** CopyButton copies a text and says so, unless there is none. */
export function CopyButton({
	text,
	label,
	look,
}: {
	text: string | (() => string | false);
	label?: string;
	look?: Look;
}) {
	const [done, setDone] = useState(false);
	useEffect(() => {
		if (!done) return;
		const timer = setTimeout(() => setDone(false), 1500);
		return () => clearTimeout(timer);
	}, [done]);
	const name = done ? t("Copied") : (label ?? t("Copy"));
	return (
		<Button
			look={look ?? (label ? "plain" : "quiet")}
			size={label ? "normal" : "iconSmall"}
			title={name}
			aria-label={name}
			onClick={() => {
				const copied = typeof text === "string" ? text : text();
				if (copied !== false) void writeClipboard(copied).then(() => setDone(true), complain);
			}}
		>
			{done ? <Check /> : <Copy />}
			{label && name}
		</Button>
	);
}

/** writeClipboard copies a text. Browsers may refuse that to a page. */
export async function writeClipboard(text: string): Promise<void> {
	if (!navigator.clipboard)
		throw t("Browsers let pages copy only over HTTPS or from this machine. Select the text and copy it.");
	await navigator.clipboard.writeText(text).catch(() => {
		throw t("The browser did not let this page use the clipboard. Allow it in the settings of the site.");
	});
}

/** composing tells whether a key belongs to an input method, which is writing Japanese. */
export const composing = (event: { nativeEvent: Event }): boolean => {
	const key = event.nativeEvent as KeyboardEvent;
	return key.isComposing || key.keyCode === 229;
};

const control =
	"rounded-md border border-line-strong bg-surface text-text disabled:opacity-60 aria-invalid:border-bad focus:outline-2 focus:outline-accent focus:-outline-offset-1";
const fixed = "[&[readonly]]:border-line [&[readonly]]:bg-sunken [&[readonly]]:text-muted";

/** Input is a line of text. onEnter is never called by the Enter of an input method. */
export function Input({
	className,
	onEnter,
	...rest
}: ComponentProps<"input"> & { onEnter?: (value: string) => void }) {
	const field = useContext(FieldContext);
	return (
		<input
			autoComplete="off"
			spellCheck={false}
			{...field}
			{...rest}
			onKeyDown={(event) => {
				rest.onKeyDown?.(event);
				if (event.key !== "Enter") return;
				if (composing(event)) event.preventDefault();
				else if (onEnter) {
					event.preventDefault();
					onEnter(event.currentTarget.value);
				}
			}}
			className={cx(control, fixed, "h-8 w-full min-w-0 px-2.5", className)}
		/>
	);
}

/** NumberInput is a number. A text that is none is given as it is, and the server says so.
 * What somebody types stays as it is written meanwhile, because an input method would lose
 * its place. */
export function NumberInput({
	value,
	onChange,
	...rest
}: Omit<ComponentProps<typeof Input>, "value" | "onChange"> & {
	value: unknown;
	onChange: (value: number | string | undefined) => void;
}) {
	const [text, setText] = useState<string | null>(null);
	const shown = value === undefined || value === null ? "" : String(value);
	return (
		<Input
			inputMode="decimal"
			{...rest}
			value={text !== null && readNumber(text) === (value ?? undefined) ? text : shown}
			onChange={(event) => {
				setText(event.target.value);
				onChange(readNumber(event.target.value));
			}}
			onBlur={() => setText(null)}
		/>
	);
}

export function TextArea({ className, ...rest }: ComponentProps<"textarea">) {
	const field = useContext(FieldContext);
	return <textarea rows={4} {...field} {...rest} className={cx(control, fixed, "w-full px-2.5 py-1.5", className)} />;
}

export function Select({ className, ...rest }: ComponentProps<"select">) {
	const field = useContext(FieldContext);
	return <select {...field} {...rest} className={cx(control, "dropdown h-8 min-w-0 pl-2", className)} />;
}

/** Switch turns something on and off at once. In a Field, the label of the field is its name. */
export function Switch({
	on,
	onChange,
	label,
	title = label,
	disabled,
	busy,
}: {
	on: boolean;
	onChange: (on: boolean) => void;
	label?: string;
	/** What it does, where that is more than the label says. */
	title?: string;
	disabled?: boolean;
	busy?: boolean;
}) {
	const field = useContext(FieldContext);
	return (
		<button
			{...field}
			type="button"
			role="switch"
			aria-checked={on}
			aria-label={label}
			aria-busy={busy || undefined}
			title={title}
			disabled={disabled || busy}
			onClick={() => onChange(!on)}
			className={cx(
				"inline-flex h-5 w-9 shrink-0 items-center rounded-full border p-0.5 transition-colors disabled:opacity-50",
				on ? "justify-end border-accent bg-accent" : "border-line-strong bg-sunken",
			)}
		>
			<span className={cx("size-3.5 rounded-full", on ? "bg-accent-text" : "bg-faint")} />
		</button>
	);
}

/** FieldContext names the control of a Field. */
const FieldContext = createContext<{
	id?: string;
	"aria-describedby"?: string;
	"aria-invalid"?: boolean;
	"aria-required"?: boolean;
}>({});

/** Field is a label with its control, a hint, and what is wrong with the value. */
export function Field({
	label,
	hint,
	error,
	needed,
	children,
	beside,
}: {
	label: ReactNode;
	hint?: ReactNode;
	error?: ReactNode;
	/** Whether it has to be filled in, or is. */
	needed?: boolean | "filled";
	children: ReactNode;
	beside?: ReactNode;
}) {
	const id = useId();
	const about = hint || error ? `${id}-about` : undefined;
	return (
		<div className="flex min-w-0 flex-col gap-1">
			<div className="flex items-center justify-between gap-2">
				<span className="flex gap-1 font-medium text-muted text-xs">
					<label htmlFor={id}>{label}</label>
					{needed && (
						<span aria-hidden className={needed === "filled" ? "text-faint" : "text-bad"}>
							{t("needed")}
						</span>
					)}
				</span>
				{beside}
			</div>
			<FieldContext
				value={{
					id,
					"aria-describedby": about,
					"aria-invalid": error ? true : undefined,
					"aria-required": needed ? true : undefined,
				}}
			>
				{children}
			</FieldContext>
			{about && (
				<div id={about} className="flex flex-col gap-0.5 text-xs wrap-anywhere">
					{error && <div className="text-bad">{typeof error === "string" ? ended(error) : error}</div>}
					{hint && <div className="text-faint">{hint}</div>}
				</div>
			)}
		</div>
	);
}

/** SearchBox is where people type what they look for. The key / goes there. */
export function SearchBox({
	value,
	onChange,
	label,
	className,
	inputRef,
	onEnter,
}: {
	value: string;
	onChange: (value: string) => void;
	label: string;
	className?: string;
	inputRef?: RefObject<HTMLInputElement | null>;
	onEnter?: (value: string) => void;
}) {
	const own = useRef<HTMLInputElement>(null);
	const ref = inputRef ?? own;
	return (
		<div className={cx("relative min-w-0", className)}>
			<Search aria-hidden className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" />
			<Input
				ref={ref}
				type="text"
				role="searchbox"
				data-search
				aria-label={label}
				placeholder={label}
				value={value}
				onChange={(event) => onChange(event.target.value)}
				onEnter={onEnter}
				onKeyDown={(event) => {
					if (event.key !== "Escape" || composing(event)) return;
					if (value) onChange("");
					else event.currentTarget.blur();
				}}
				className="pr-8 pl-8"
			/>
			<span className="absolute inset-y-0 right-2 flex items-center">
				{value ? (
					<button
						type="button"
						aria-label={t("Clear")}
						onClick={() => {
							onChange("");
							ref.current?.focus();
						}}
						className="rounded-sm text-faint hover:text-text"
					>
						<X className="size-4" />
					</button>
				) : (
					<Kbd>/</Kbd>
				)}
			</span>
		</div>
	);
}

/** Tabs are parts of a page; which one is shown belongs into the address. They fade out where
 * there are more of them. */
export function Tabs<T extends string>({
	tabs,
	current,
	onChange,
	className,
	label,
}: {
	tabs: { id: T; title: string; count?: number | string }[];
	current: T;
	/** With the arrow keys, the focus stays at the tabs: the tab is not pressed. */
	onChange: (id: T, pressed: boolean) => void;
	className?: string;
	label: string;
}) {
	const list = useRef<HTMLDivElement>(null);
	// Where the window is narrow, the current one may be out of sight.
	useEffect(() => {
		void list.current
			?.querySelector(`[data-tab="${current}"]`)
			?.scrollIntoView({ block: "nearest", inline: "nearest" });
	}, [current]);
	const [before, setBefore] = useState(false);
	const [behind, setBehind] = useState(false);
	const look = useCallback(() => {
		if (!list.current) return; // the observer may be late
		const { scrollLeft, scrollWidth, clientWidth } = list.current;
		setBefore(scrollLeft > 1);
		setBehind(scrollLeft + clientWidth < scrollWidth - 1);
	}, []);
	useEffect(() => {
		const watch = new ResizeObserver(look);
		watch.observe(list.current!);
		return () => watch.disconnect();
	}, [look]);
	return (
		<div
			ref={list}
			role="tablist"
			aria-label={label}
			onScroll={look}
			className={cx(
				"flex gap-5 overflow-x-auto overflow-y-hidden border-line border-b",
				before && "mask-l-from-[calc(100%-32px)]",
				behind && "mask-r-from-[calc(100%-32px)]",
				className,
			)}
			onKeyDown={(event) => {
				const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
				if (!step) return;
				const at = tabs.findIndex((tab) => tab.id === current);
				const next = tabs[(at + step + tabs.length) % tabs.length]!;
				onChange(next.id, false);
				(event.currentTarget.querySelector(`[data-tab="${next.id}"]`) as HTMLElement | null)?.focus();
			}}
		>
			{tabs.map((tab) => (
				<button
					key={tab.id}
					type="button"
					role="tab"
					data-tab={tab.id}
					aria-selected={tab.id === current}
					tabIndex={tab.id === current ? 0 : -1}
					onClick={() => onChange(tab.id, true)}
					className={cx(
						"-mb-px h-9 shrink-0 border-b-2 font-medium focus-visible:-outline-offset-2",
						tab.id === current ? "border-accent text-text" : "border-transparent text-muted hover:text-text",
					)}
				>
					{tab.title}
					{tab.count !== undefined && <span className="ml-1.5 font-normal text-faint text-xs">{tab.count}</span>}
				</button>
			))}
		</div>
	);
}

/** Sparkline is the course of a number, without axes. */
export function Sparkline({
	points,
	tone = "accent",
	className,
	style,
}: {
	points: number[];
	tone?: Tone;
	className?: string;
	style?: CSSProperties;
}) {
	if (points.length < 2) return null;
	const most = Math.max(...points, 1e-9);
	const line = points.map(
		(v, i) => `${((i * 100) / (points.length - 1)).toFixed(1)},${(35 - (31 * v) / most).toFixed(1)}`,
	);
	const colour = `var(--${tone === "idle" ? "line-strong" : tone})`;
	return (
		<svg viewBox="0 0 100 36" preserveAspectRatio="none" aria-hidden className={className} style={style}>
			<polygon points={`0,36 ${line.join(" ")} 100,36`} fill={colour} opacity={0.1} />
			<polyline
				points={line.join(" ")}
				fill="none"
				stroke={colour}
				strokeWidth={1.5}
				vectorEffect="non-scaling-stroke"
			/>
		</svg>
	);
}
