import { createContext, Fragment, type ReactNode, use, useMemo } from "react";
import { t } from "../lang";
import { cx } from "./basics";
import { seen } from "./seen";

/** Sought is a text that somebody looks for, in lower case. What shows only a part of its
 * contents shows all that has the text. */
export const Sought = createContext("");

/** Json shows a value as JSON with colours. Texts are React text: nothing in them is
 * markup. Large values are cut; whoever wants all of them copies them. */
export function Json({ value, className, max = 200_000 }: { value: unknown; className?: string; max?: number }) {
	const text = useMemo(() => JSON.stringify(value, null, 2) ?? "null", [value]);
	const all = use(Sought) !== "";
	return <JsonText text={text.length > max && !all ? `${text.slice(0, max)}\n…` : text} className={className} />;
}

const redacted = /(\[redacted:[^\]\n]{1,100}\])/;

/** rulesIn are the rules that a text names where something was taken out of it. */
export const rulesIn = (text: string): string[] => [
	...new Set([...text.matchAll(new RegExp(redacted, "g"))].map(([mark]) => mark.slice("[redacted:".length, -1))),
];

/** RecordMasks are rules applied only in the record; client and server had the real values. */
export const RecordMasks = createContext<ReadonlySet<string>>(new Set());

/** Mark is a place where something was taken out. */
function Mark({ children }: { children: string }) {
	const inRecord = use(RecordMasks).has(children.slice("[redacted:".length, -1));
	if (!inRecord) return <mark className="rounded-sm bg-warn-soft px-1 text-warn">{children}</mark>;
	return (
		<mark
			data-masked="record"
			title={t("Masked by this record")}
			className="rounded-sm border border-line-strong border-dashed bg-sunken px-1 text-muted"
		>
			{children}
		</mark>
	);
}

/** marked is a text of others in which the places are marked where something was taken out;
 * they name the rule by which it was. What is invisible in it is written out. */
export function marked(raw: string): ReactNode {
	const text = seen(raw);
	if (!text.includes("[redacted:")) return text;
	return text.split(redacted).map((part, i) =>
		i % 2 === 1 ? (
			// biome-ignore lint/suspicious/noArrayIndexKey: parts of one text stay in their order
			<Mark key={i}>{part}</Mark>
		) : (
			part
		),
	);
}

const token = /("(?:[^"\\\n]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g;

/** JsonText shows a text that is JSON, character by character as it is; those that nobody
 * sees are written out. */
export function JsonText({ text: of, className }: { text: string; className?: string }) {
	const parts = useMemo(() => {
		const text = seen(of);
		if (text.length > 300_000) return text;
		const out: ReactNode[] = [];
		let end = 0;
		for (const found of text.matchAll(token)) {
			if (found.index > end) out.push(text.slice(end, found.index));
			const colour = found[2] ? "text-accent" : found[1] ? "text-ok" : "text-warn";
			out.push(
				<span key={found.index} className={colour}>
					{found[1] ? marked(found[1]) : found[0]}
				</span>,
			);
			if (found[2]) out.push(<Fragment key={`${found.index}c`}>{found[2]}</Fragment>);
			end = found.index + found[0].length;
		}
		out.push(text.slice(end));
		return out;
	}, [of]);
	return (
		<pre
			// biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls is reached by keyboard
			tabIndex={0}
			className={cx("max-h-[560px] overflow-auto px-4 py-3 break-words whitespace-pre-wrap", className)}
		>
			{parts}
		</pre>
	);
}
