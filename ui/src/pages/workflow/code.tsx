import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Annotation, Compartment, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import { completeScript } from "./complete";
import { redo, undo } from "./store";

const theme = EditorView.theme({
	"&": { height: "100%", fontSize: "12.5px", color: "var(--text)", backgroundColor: "var(--surface)" },
	"&.cm-focused": { outline: "none" },
	".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px", fontVariantLigatures: "none" },
	".cm-content": { caretColor: "var(--accent)", padding: "8px 0" },
	".cm-cursor": { borderLeftColor: "var(--accent)" },
	".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--faint)", border: "none" },
	".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 5%, transparent)" },
	".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--text)" },
	".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
		backgroundColor: "color-mix(in srgb, var(--accent) 22%, transparent)",
	},
	".cm-matchingBracket": { backgroundColor: "var(--accent-soft)", outline: "none" },
	".cm-selectionMatch": { backgroundColor: "var(--accent-soft)" },
	".cm-placeholder": { color: "var(--faint)", whiteSpace: "pre-wrap" },
	".cm-tooltip": {
		backgroundColor: "var(--surface)",
		border: "1px solid var(--line-strong)",
		borderRadius: "6px",
		boxShadow: "var(--shadow)",
		color: "var(--text)",
		fontFamily: "var(--sans)",
	},
	".cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono) !important", fontSize: "12.5px", maxHeight: "200px" },
	".cm-tooltip-autocomplete > ul > li": { padding: "2px 8px !important" },
	".cm-tooltip-autocomplete > ul > li[aria-selected]": {
		backgroundColor: "var(--accent-soft) !important",
		color: "var(--accent) !important",
	},
	".cm-completionDetail": { color: "var(--faint)", fontStyle: "normal", marginLeft: "8px" },
	".cm-completionInfo": { padding: "6px 10px", maxWidth: "280px", fontSize: "12px" },
	".cm-diagnostic": { padding: "6px 10px", fontSize: "12.5px" },
	".cm-diagnostic-error": { borderLeft: "3px solid var(--bad)" },
	".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--text)" },
});

const colours = HighlightStyle.define([
	{ tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword], color: "var(--accent)", fontWeight: "500" },
	{ tag: [tags.string, tags.regexp, tags.special(tags.string)], color: "var(--ok)" },
	{ tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
	{ tag: tags.comment, color: "var(--faint)", fontStyle: "italic" },
	{ tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--text)" },
	{ tag: tags.invalid, color: "var(--bad)" },
]);

export type Mark = { line: number; column?: number; message: string };

/** done does something and says that the key is used. */
const done = (act: () => void): true => {
	act();
	return true;
};

const drawingKeymap = [
	{ key: "Mod-z", run: () => done(undo), preventDefault: true },
	{ key: "Mod-y", run: () => done(redo), preventDefault: true },
	{ key: "Mod-Shift-z", run: () => done(redo), preventDefault: true },
];

const external = Annotation.define<boolean>();

/** Code is an editor for a script. It lives in a shadow root, because the content
 * security policy forbids the style element that it would write into the page. Undo is
 * that of the drawing, unless it has a history of its own. */
export function Code({
	value,
	onChange,
	marks = [],
	label,
	hint,
	readOnly,
	ownHistory,
}: {
	value: string;
	onChange: (value: string) => void;
	marks?: Mark[];
	label: string;
	hint?: string;
	readOnly?: boolean;
	ownHistory?: boolean;
}) {
	const host = useRef<HTMLDivElement>(null);
	const view = useRef<EditorView>(null);
	const change = useRef(onChange);
	change.current = onChange;
	const settings = useRef(new Compartment());
	// biome-ignore lint/correctness/useExhaustiveDependencies: later values go in below
	useEffect(() => {
		const element = host.current!;
		const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
		root.replaceChildren();
		const made = new EditorView({
			root,
			parent: root,
			state: EditorState.create({
				doc: value,
				extensions: [
					lineNumbers(),
					lintGutter(),
					drawSelection(),
					highlightActiveLine(),
					indentOnInput(),
					indentUnit.of("  "),
					bracketMatching(),
					closeBrackets(),
					highlightSelectionMatches(),
					EditorView.lineWrapping,
					javascript({ typescript: true }),
					autocompletion({ override: [completeScript] }),
					syntaxHighlighting(colours),
					theme,
					placeholder(hint ?? ""),
					ownHistory ? history() : [],
					keymap.of([
						...(ownHistory ? historyKeymap : drawingKeymap),
						{ key: "Mod-Enter", run: () => false },
						...closeBracketsKeymap,
						...completionKeymap,
						...searchKeymap,
						...defaultKeymap.filter((binding) => binding.key !== "Mod-Enter"),
						indentWithTab,
					]),
					settings.current.of([
						EditorState.readOnly.of(Boolean(readOnly)),
						EditorView.contentAttributes.of({ "aria-label": label }),
					]),
					EditorView.updateListener.of((update) => {
						if (update.docChanged && !update.transactions.some((tr) => tr.annotation(external)))
							change.current(update.state.doc.toString());
					}),
				],
			}),
		});
		view.current = made;
		const focus = () => made.focus();
		const insert = (event: Event) => {
			if (made.state.readOnly) return;
			event.preventDefault(); // it is done
			made.dispatch(made.state.replaceSelection((event as CustomEvent<string>).detail), { scrollIntoView: true });
			made.focus();
		};
		element.addEventListener("focus", focus);
		element.addEventListener("genkan-insert", insert);
		return () => {
			element.removeEventListener("focus", focus);
			element.removeEventListener("genkan-insert", insert);
			made.destroy();
			view.current = null;
		};
	}, []);
	useEffect(() => {
		const made = view.current;
		if (!made) return;
		const now = made.state.doc.toString();
		if (now === value) return;
		// Only what differs is replaced, so that the cursor stays.
		let from = 0;
		while (from < now.length && from < value.length && now[from] === value[from]) from++;
		let cut = 0;
		while (cut < now.length - from && cut < value.length - from && now.at(-1 - cut) === value.at(-1 - cut)) cut++;
		made.dispatch({
			changes: { from, to: now.length - cut, insert: value.slice(from, value.length - cut) },
			annotations: external.of(true),
		});
	}, [value]);
	useEffect(() => {
		view.current?.dispatch({
			effects: settings.current.reconfigure([
				EditorState.readOnly.of(Boolean(readOnly)),
				EditorView.contentAttributes.of({ "aria-label": label }),
			]),
		});
	}, [readOnly, label]);
	const key = JSON.stringify(marks);
	// biome-ignore lint/correctness/useExhaustiveDependencies: key is what marks say
	useEffect(() => {
		const made = view.current;
		if (!made) return;
		const { doc } = made.state;
		const found = marks.map((mark): Diagnostic => {
			const line = doc.line(Math.max(1, Math.min(mark.line, doc.lines)));
			const from = Math.min(line.to, line.from + Math.max(0, (mark.column ?? 1) - 1));
			const to = Math.min(line.to, from + 1);
			return {
				from: to > from ? from : line.from,
				to: to > from ? to : line.to,
				severity: "error",
				message: mark.message,
			};
		});
		made.dispatch(setDiagnostics(made.state, found));
	}, [key, value]);
	return <div ref={host} data-editor tabIndex={-1} className="h-full min-h-0 overflow-hidden" />;
}
