import * as RadixMenu from "@radix-ui/react-dropdown-menu";
import { X } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { create } from "zustand";
import { t } from "../lang";
import { Button, composing, cx, messageOf } from "./basics";
import { useUnsaved } from "./unsaved";

/** useChanged tells whether what was written differs from what was there first, for Dialog's
 * unsaved. */
export function useChanged(value: unknown): boolean {
	const now = JSON.stringify(value);
	const [first] = useState(now);
	return now !== first;
}

/** whereFocusReturns is what has the focus, or the button of the menu that has it. */
function whereFocusReturns(): HTMLElement | null {
	const at = document.activeElement;
	const button = at?.closest("[role=menu]")?.getAttribute("aria-labelledby");
	const back = button ? document.getElementById(button) : at;
	return back instanceof HTMLElement ? back : null;
}

/** Dialog is a window above the page. The browser's own dialog traps the focus, closes
 * on Escape and needs no inline style, which the content security policy forbids. */
export function Dialog({
	title,
	onClose,
	children,
	actions,
	size = "normal",
	side,
	unsaved = false,
}: {
	title: string;
	onClose: () => void;
	children: ReactNode;
	actions?: ReactNode;
	size?: "normal" | "wide";
	/** At the right edge, as tall as the window. */
	side?: boolean;
	/** Something was written that closing loses: Escape, a click beside it and × ask first. */
	unsaved?: boolean;
}) {
	const ref = useRef<HTMLDialogElement>(null);
	const [asking, ask] = useState(false);
	const written = useRef<Element>(null);
	const pressed = useRef<EventTarget>(null);
	const close = () => {
		if (!unsaved) return onClose();
		written.current = document.activeElement;
		ask(true);
	};
	const goOn = () => {
		ask(false);
		if (written.current instanceof HTMLElement) written.current.focus();
	};
	const id = useId();
	useEffect(() => {
		const dialog = ref.current;
		if (!dialog || dialog.open) return;
		const before = whereFocusReturns();
		const focused = dialog.contains(document.activeElement) && document.activeElement;
		dialog.showModal();
		// The browser would focus the button that closes it.
		const first = focused || dialog.querySelector(":is(input, textarea, select):enabled") || dialog;
		if (first instanceof HTMLElement) first.focus();
		return () => {
			if (document.activeElement === document.body && before?.isConnected) before.focus();
		};
	}, []);
	useUnsaved(unsaved, onClose, "dialog");
	return (
		<dialog
			ref={ref}
			tabIndex={-1}
			aria-labelledby={id}
			onClose={onClose}
			onKeyDown={(event) => {
				// Chromium closes a dialog on the second Escape even if cancel is prevented.
				if (event.key === "Escape" && unsaved && !composing(event)) {
					event.preventDefault();
					if (asking) goOn();
					else close();
				}
			}}
			onCancel={(event) => {
				if (event.target !== event.currentTarget) return;
				event.preventDefault();
				close();
			}}
			onPointerDown={(event) => {
				pressed.current = event.target;
			}}
			// Selecting text can end beside the dialog: a click there begins there, too.
			onClick={(event) => event.target === event.currentTarget && pressed.current === event.target && close()}
			className={cx(
				"w-[calc(100vw-24px)] border border-line bg-surface shadow-card outline-none",
				side
					? "mr-0 h-dvh max-h-none max-w-[560px] rounded-l-lg"
					: cx("max-h-[88dvh] rounded-lg", size === "wide" ? "max-w-[920px]" : "max-w-[560px]"),
			)}
		>
			<div className={cx("flex flex-col", side ? "h-full" : "max-h-[calc(88dvh-2px)]")}>
				<header className="flex h-12 shrink-0 items-center justify-between border-line border-b pr-2 pl-5">
					<h2 id={id} className="line text-base">
						{title}
					</h2>
					<Button look="quiet" size="icon" aria-label={t("Close")} onClick={close}>
						<X />
					</Button>
				</header>
				<div className="min-h-0 flex-1 overflow-auto p-5">{children}</div>
				{asking ? (
					<footer
						role="alert"
						className="flex shrink-0 flex-wrap items-center justify-end gap-2 border-line border-t bg-warn-soft px-5 py-3"
					>
						<span className="flex-1 text-warn">{t("Discard what you have written?")}</span>
						<Button look="danger" onClick={onClose}>
							{t("Discard the changes")}
						</Button>
						<Button onClick={goOn}>{t("Go on writing")}</Button>
					</footer>
				) : (
					actions && (
						<footer className="flex shrink-0 flex-wrap justify-end gap-2 border-line border-t px-5 py-3">
							{actions}
						</footer>
					)
				)}
			</div>
			<Place className={corner} ofDialog aside />
		</dialog>
	);
}

type MenuItem =
	| { title: string; hint?: string; icon?: ReactNode; danger?: boolean; disabled?: boolean; onSelect: () => void }
	| "line";

/** Menu is a button that opens a list of things to do. */
export function Menu({
	trigger,
	items,
	align = "end",
}: {
	trigger: ReactNode;
	items: MenuItem[];
	align?: "start" | "end";
}) {
	return (
		<RadixMenu.Root modal={false}>
			<RadixMenu.Trigger asChild>{trigger}</RadixMenu.Trigger>
			<RadixMenu.Portal>
				<RadixMenu.Content
					align={align}
					sideOffset={4}
					collisionPadding={8}
					className="z-50 max-h-[var(--radix-dropdown-menu-content-available-height)] min-w-44 overflow-y-auto rounded-lg border border-line bg-surface p-1 shadow-card"
				>
					{items.map((item, i) =>
						item === "line" ? (
							// biome-ignore lint/suspicious/noArrayIndexKey: lines are all alike
							<RadixMenu.Separator key={i} className="my-1 h-px bg-line" />
						) : (
							<RadixMenu.Item
								key={item.title}
								disabled={item.disabled}
								onSelect={item.onSelect}
								className={cx(
									"flex min-h-8 cursor-default items-center gap-2.5 rounded-md px-2.5 outline-none data-disabled:opacity-50 data-highlighted:bg-sunken [&_svg]:size-4 [&_svg]:text-faint",
									item.danger && "text-bad",
								)}
							>
								{item.icon}
								<span className="flex-1">{item.title}</span>
								{item.hint && <span className="text-faint text-xs">{item.hint}</span>}
							</RadixMenu.Item>
						),
					)}
				</RadixMenu.Content>
			</RadixMenu.Portal>
		</RadixMenu.Root>
	);
}

type Note = { id: number; text: string; bad: boolean; undo?: () => void; about?: string };
// The last of the places has the notes.
const useNotes = create<{ notes: Note[]; places: string[] }>(() => ({ notes: [], places: [] }));
let lastNote = 0;

function addNote(note: Omit<Note, "id">): () => void {
	const id = ++lastNote;
	const old = (other: Note) => other.text === note.text || (note.about !== undefined && other.about === note.about);
	useNotes.setState(({ notes }) => ({ notes: [...notes.filter((other) => !old(other)).slice(-1), { ...note, id }] }));
	const drop = () => dropNote(id);
	setTimeout(drop, note.bad || note.undo ? 12_000 : 5000);
	return drop;
}
const dropNote = (id: number) => useNotes.setState(({ notes }) => ({ notes: notes.filter((note) => note.id !== id) }));

/** say tells in passing that something was done, with a way back where there is one. It
 * returns what takes the note away early. Of several notes about the same, the last stays. */
export const say = (text: string, undo?: () => void, about?: string): (() => void) =>
	addNote({ text, bad: false, undo, about });

/** complain tells that something failed. */
export const complain = (error: unknown): void => void addNote({ text: messageOf(error), bad: true });

/** NotesPlace is where a page has room for notes: at the top of what is around it. */
export const NotesPlace = () => <Place className="absolute inset-x-3 top-3 items-end" />;

/** Place has the notes while it is the last place. A dialog has one of its own, above the places
 * of the page: what is behind a dialog is neither reached nor read out. */
function Place({ className, ofDialog, aside }: { className: string; ofDialog?: boolean; aside?: boolean }) {
	const id = useId();
	const isLast = useNotes(({ places }) => places.at(-1) === id);
	useEffect(() => {
		useNotes.setState(({ places }) => ({ places: ofDialog ? [...places, id] : [id, ...places] }));
		return () => useNotes.setState(({ places }) => ({ places: places.filter((place) => place !== id) }));
	}, [id, ofDialog]);
	return <Shown className={className} here={isLast} aside={aside} />;
}

// Notes stand above the foot of the sidebar and are as wide as what is in it, so that they cover
// nothing of the page. Long ones scroll, so that they stay below the names of the pages.
const corner =
	"fixed right-3 bottom-3 left-3 items-start md:right-auto md:bottom-14 md:left-2 md:max-h-[max(160px,calc(100dvh-460px))] md:w-48 md:justify-end";

/** Notes shows what say and complain tell at the bottom left, unless another place has them.
 * What failed on a page, and what can be undone there, is not told on the next one. */
export function Notes({ page }: { page?: string }) {
	const here = useNotes(({ places }) => places.length === 0);
	// biome-ignore lint/correctness/useExhaustiveDependencies: with each page
	useEffect(
		() => useNotes.setState(({ notes }) => ({ notes: notes.filter((note) => !note.bad && !note.undo) })),
		[page],
	);
	return <Shown className={corner} here={here} aside />;
}

/** Shown has the notes if they are here. It is always on the page: only what is added to a
 * region later is read out. aside is narrow where the window is wide. */
function Shown({ className, here, aside }: { className: string; here: boolean; aside?: boolean }) {
	const all = useNotes(({ notes }) => notes);
	const notes = here ? all : [];
	return (
		<div role="status" aria-live="polite" className={cx("pointer-events-none z-50 flex flex-col gap-2", className)}>
			{notes.map((note) => (
				<div
					key={note.id}
					className={cx(
						"pointer-events-auto flex items-start gap-3 rounded-lg border px-3 py-2 shadow-card",
						note.bad ? "border-transparent bg-bad-soft text-bad" : "border-line bg-surface",
						note.bad ? "max-w-sm" : "max-w-full",
						aside
							? cx("md:w-full md:gap-1.5 md:pr-2 md:text-sm", note.undo ? "shrink-0" : "md:overflow-y-auto")
							: note.bad && "md:w-max",
					)}
				>
					<div
						className={cx(
							"flex min-w-0 flex-1 flex-wrap items-center gap-x-3 gap-y-1",
							aside && "md:flex-col md:items-start md:gap-y-1.5",
						)}
					>
						<span
							className={cx("min-w-0 max-w-full break-words", aside && note.undo && "md:line-clamp-6")}
							title={aside && note.undo ? note.text : undefined}
						>
							{note.text}
						</span>
						{note.undo && (
							<Button
								size="small"
								onClick={() => {
									note.undo?.();
									dropNote(note.id);
								}}
							>
								{t("Undo")}
							</Button>
						)}
					</div>
					<button
						type="button"
						aria-label={t("Dismiss")}
						onClick={() => dropNote(note.id)}
						className="mt-0.5 rounded-sm opacity-70 hover:opacity-100"
					>
						<X className="size-4" />
					</button>
				</div>
			))}
		</div>
	);
}

/** Confirm asks before something that cannot be taken back. */
export function Confirm({
	title,
	children,
	action,
	danger,
	busy,
	onConfirm,
	onClose,
}: {
	title: string;
	children: ReactNode;
	action: string;
	danger?: boolean;
	busy?: boolean;
	onConfirm: () => void;
	onClose: () => void;
}) {
	return (
		<Dialog
			title={title}
			onClose={onClose}
			actions={
				<>
					<Button onClick={onClose}>{t("Cancel")}</Button>
					<Button look={danger ? "danger" : "primary"} busy={busy} onClick={onConfirm}>
						{action}
					</Button>
				</>
			}
		>
			{children}
		</Dialog>
	);
}
