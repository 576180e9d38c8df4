import type { Kept } from "../../ui/schemaform";

// Texts of JSON fields that cannot be read yet are no part of the draft. They outlive a
// reload and the selection of another step, as the draft does.

type Texts = Record<string, { text: string; over: string }>;

const key = "genkan.editor.unread";
const all = (): Record<string, Texts> => JSON.parse(sessionStorage.getItem(key) ?? "{}");

function put(workflow: string, texts: Texts): void {
	const { [workflow]: _, ...others } = all();
	sessionStorage.setItem(
		key,
		JSON.stringify(Object.keys(texts).length > 0 ? { ...others, [workflow]: texts } : others),
	);
}

/** unreadOf keeps the texts of a workflow, or of one of its steps. A text is gone once its
 * value is another. */
export const unreadOf = (workflow: string, step = ""): Kept => ({
	read(path, over) {
		const kept = all()[workflow]?.[`${step} ${path}`];
		return kept?.over === over ? kept.text : undefined;
	},
	write(path, over, text) {
		const { [`${step} ${path}`]: _, ...others } = all()[workflow] ?? {};
		put(workflow, text === undefined ? others : { ...others, [`${step} ${path}`]: { text, over } });
	},
});

/** hasUnread tells whether a text of a step is kept. */
export const hasUnread = (workflow: string, step: string): boolean =>
	Object.keys(all()[workflow] ?? {}).some((name) => name.startsWith(`${step} `));

export const dropUnread = (workflow: string): void => put(workflow, {});

/** moveUnread is for a workflow that gets another id. */
export function moveUnread(from: string, to: string): void {
	const texts = all()[from] ?? {};
	dropUnread(from);
	put(to, texts);
}
