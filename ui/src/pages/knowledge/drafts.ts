import { create } from "zustand";
import { createJSONStorage, persist } from "zustand/middleware";
import { Failure, refresh, type S } from "@/api/client";
import { itemRoutes } from "@/api/events";

/** Fields are what a person can write. */
export type Fields = {
	type: string;
	title: string;
	description: string;
	content: string;
	status: string;
	priority: string;
	tags: string[];
	related: string[];
};

/** Draft is a text that is not saved: what it was, when that was written, and what it is
 * now. */
type Draft = { was: Fields; updatedAt: string; now: Fields };

// Drafts outlive the page that edits them, and a reload: the Back button of the browser
// does not ask.
export const useDrafts = create<{ drafts: Record<string, Draft> }>()(
	persist(() => ({ drafts: {} }), {
		name: "genkan.knowledge.drafts",
		storage: createJSONStorage(() => sessionStorage),
	}),
);

const set = (change: (drafts: Record<string, Draft>) => Record<string, Draft>): void => {
	useDrafts.setState(({ drafts }) => ({ drafts: change(drafts) }));
};

export const draftOf = (key: string): Draft | undefined => useDrafts.getState().drafts[key];

/** begin begins to edit, unless there is a draft already. */
export const begin = (key: string, was: Fields, updatedAt: string): void =>
	set((drafts) => (drafts[key] ? drafts : { ...drafts, [key]: { was, updatedAt, now: was } }));

export const write = (key: string, change: Partial<Fields>): void =>
	set((drafts) => {
		const draft = drafts[key];
		return draft ? { ...drafts, [key]: { ...draft, now: { ...draft.now, ...change } } } : drafts;
	});

/** saved drops a draft whose fields are stored. What was written since they were sent stays. */
export const saved = (key: string, sent: Fields, updatedAt: string): void =>
	set(({ [key]: draft, ...rest }) =>
		!draft || same(draft.now, sent) ? rest : { ...rest, [key]: { was: sent, updatedAt, now: draft.now } },
	);

export const drop = (key: string): void => set(({ [key]: _, ...rest }) => rest);

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

export const isChanged = (draft: Draft | undefined): boolean => draft !== undefined && !same(draft.was, draft.now);

const texts = ["title", "description", "content", "status", "priority"] as const;
export type TextField = (typeof texts)[number];

/** clashesOf are the texts that a draft changes and that others have changed, too. */
export const clashesOf = ({ was, now }: Draft, stored: Partial<Fields>): [TextField, string][] =>
	texts.flatMap((name) => {
		const theirs = stored[name];
		return theirs !== undefined && theirs !== was[name] && now[name] !== was[name] && theirs !== now[name]
			? [[name, theirs] as [TextField, string]]
			: [];
	});

export const empty: Fields = {
	type: "notes",
	title: "",
	description: "",
	content: "",
	status: "",
	priority: "",
	tags: [],
	related: [],
};

export const fieldsOf = ({
	type,
	title,
	description,
	content,
	status,
	priority,
	tags,
	related,
}: S["Item"]): Fields => ({
	type,
	title,
	description,
	content,
	status,
	priority,
	tags,
	related,
});

/** changeOf is what a draft changes. Tags and relations that others add meanwhile stay. */
export function changeOf({ was, now }: Draft): S["ItemChange"] {
	const change: S["ItemChange"] = {};
	for (const name of texts) if (was[name] !== now[name]) change[name] = now[name];
	for (const name of ["tags", "related"] as const) {
		const added = now[name].filter((one) => !was[name].includes(one));
		const removed = was[name].filter((one) => !now[name].includes(one));
		if (added.length > 0) change[`add_${name}`] = added;
		if (removed.length > 0) change[`remove_${name}`] = removed;
	}
	return change;
}

type Wrong = { field?: string; constraint?: string; message?: string; requested_id?: string; others?: Wrong[] };

/** wrongFields is what the API says about each field; under "" stands what belongs to none. */
export function wrongFields(error: unknown): Record<string, string> {
	if (!error) return {};
	const details = error instanceof Failure ? (error.details as Wrong | Wrong[] | undefined) : undefined;
	const out: Record<string, string> = {};
	for (const one of details === undefined ? [] : [details].flat()) {
		for (const { field, constraint, message, requested_id } of [one, ...(one.others ?? [])]) {
			const name = field?.replace(/\[\d+\]$/, "").replace(/^(add|remove)_/, "");
			if (!name || !(name in empty)) continue;
			const text = requested_id ? (error as Failure).message : (message ?? constraint ?? (error as Failure).message);
			out[name] = out[name] ? `${out[name]} ${text}` : text;
		}
	}
	if (Object.keys(out).length === 0) out[""] = error instanceof Failure ? error.message : String(error);
	return out;
}

export const refOf = ({ type, id }: { type: string; id: number }): string => `${type}-${id}`;

/** hrefOf is the address of an item. */
export const hrefOf = (ref: string, query = ""): string => `/knowledge/${encodeURIComponent(ref)}${query}`;

/** again asks for everything that a write may have changed. */
export const again = (): void => refresh(...itemRoutes);
