import { useMemo } from "react";
import { create } from "zustand";
import { t } from "../../lang";
import type { Kept } from "../../ui/schemaform";
import { type Definition, nodeOf } from "./definition";
import { nameOf, select, useEditor } from "./store";

// Texts of fields that cannot be read yet are no part of the draft. They outlive a reload and
// the selection of another step, as the draft does.

type Texts = Record<string, { text: string; over: string }>;

const key = "genkan.editor.unread";
const useTexts = create<{ all: Record<string, Texts>; discarded: number }>(() => ({
	all: JSON.parse(sessionStorage.getItem(key) ?? "{}"),
	discarded: 0,
}));

function put(workflow: string, texts: Texts): void {
	const { [workflow]: _, ...others } = useTexts.getState().all;
	const all = Object.keys(texts).length > 0 ? { ...others, [workflow]: texts } : others;
	useTexts.setState({ all });
	sessionStorage.setItem(key, JSON.stringify(all));
}

const textsOf = (workflow: string): Texts => useTexts.getState().all[workflow] ?? {};

/** overOf is the text of a value over which others are written. */
export const overOf = (value: unknown): string => (value === undefined ? "" : JSON.stringify(value, null, 2));

/** unreadOf keeps the texts of a workflow, or of one of its steps, by where in its settings,
 * or below within, their values stand. A text is gone once its value is another. */
export function unreadOf(workflow: string, step = "", within = ""): Kept {
	const name = (path: string) => `${step}\n${[within, path].filter(Boolean).join(".")}`;
	return {
		read(path, over) {
			const kept = textsOf(workflow)[name(path)];
			return kept?.over === over ? kept.text : undefined;
		},
		write(path, over, text) {
			const { [name(path)]: was, ...others } = textsOf(workflow);
			if (text === undefined && !was) return;
			put(workflow, text === undefined ? others : { ...others, [name(path)]: { text, over } });
		},
	};
}

/** Unread is where a text stands that cannot be read yet. */
export type Unread = { step: string; path: string };

/** useUnread are the texts of the workflow that are no part of its draft. */
export function useUnread(): Unread[] {
	const draft = useEditor((s) => s.draft);
	const texts = useTexts((s) => s.all[draft.id]);
	return useMemo(() => unreadIn(draft, texts ?? {}), [draft, texts]);
}

function unreadIn(draft: Definition, texts: Texts): Unread[] {
	return Object.entries(texts).flatMap(([name, { over }]) => {
		const [step, path] = name.split("\n") as [string, string];
		const settings: unknown = step ? nodeOf(draft, step)?.data : draft;
		if (step && !nodeOf(draft, step)) return [];
		const value = path.split(".").reduce((at, key) => (at as Record<string, unknown> | undefined)?.[key], settings);
		// A form shows an object where there is none yet.
		return over === overOf(value) || (value === undefined && over === "{}") ? [{ step, path }] : [];
	});
}

/** fieldOf names the field of a text. */
export function fieldOf(draft: Definition, { step, path }: Unread): string {
	const node = nodeOf(draft, step);
	return t("{name}: {reason}", { name: node ? nameOf(node) : t("The workflow"), reason: path.replace(/^hook\./, "") });
}

/** showUnread leads to the field of a text. */
export function showUnread({ step }: Unread): void {
	select(step ? [step] : []);
	setTimeout(() => {
		const field = document.querySelector<HTMLElement>("[data-settings] [aria-invalid=true]");
		field?.scrollIntoView({ block: "nearest" });
		field?.focus();
	}, 50);
}

/** useDiscarded is another number once texts were discarded: fields have them no more. */
export const useDiscarded = (): number => useTexts((s) => s.discarded);

/** discardUnread takes the texts of a workflow out of its fields. */
export function discardUnread(workflow: string): void {
	dropUnread(workflow);
	useTexts.setState(({ discarded }) => ({ discarded: discarded + 1 }));
}

export const dropUnread = (workflow: string): void => put(workflow, {});

/** moveUnread is for a workflow that gets another id. */
export function moveUnread(from: string, to: string): void {
	const texts = textsOf(from);
	dropUnread(from);
	put(to, texts);
}
