import { ArrowDown, ArrowUp } from "lucide-react";
import { type RefObject, useEffect, useRef, useState } from "react";
import { number, t } from "../lang";
import { Button, SearchBox } from "./basics";
import { Sought } from "./json";

export { Sought };

const most = 2000;

/** Find finds a text in a part of the page, also where it is scrolled out of sight.
 * Enter goes to the next place, Shift and Enter to the one before. */
export function Find({
	within,
	again,
	onSeek,
}: {
	within: RefObject<HTMLElement | null>;
	again: unknown;
	/** It is told what is looked for, and puts it into Sought for what it draws in part. */
	onSeek: (text: string) => void;
}) {
	const [text, setText] = useState("");
	const [sought, setSought] = useState("");
	const [found, setFound] = useState<Range[]>([]);
	const [at, setAt] = useState(0);
	const latest = useRef(onSeek);
	latest.current = onSeek;
	useEffect(() => {
		const seek = () => {
			setSought(text.toLowerCase());
			latest.current(text.toLowerCase());
		};
		const timer = setTimeout(seek, text ? 150 : 0);
		return () => clearTimeout(timer);
	}, [text]);
	// biome-ignore lint/correctness/useExhaustiveDependencies: looks again in other contents
	useEffect(() => {
		const look = () => {
			setFound(sought && within.current ? rangesOf(within.current, sought) : []);
			setAt(0);
		};
		const timer = setTimeout(look, 150); // what is loaded lazily is there by then
		return () => clearTimeout(timer);
	}, [sought, within, again]);
	useEffect(() => {
		const highlights = globalThis.CSS?.highlights;
		if (!highlights) return;
		highlights.set("found", new Highlight(...found));
		const current = found[at];
		highlights.set("current", new Highlight(...(current ? [current] : [])));
		current?.startContainer.parentElement?.scrollIntoView({ block: "nearest" });
		return () => {
			highlights.delete("found");
			highlights.delete("current");
		};
	}, [found, at]);
	const step = (by: number) => found.length > 0 && setAt((at + by + found.length) % found.length);
	return (
		<div
			className="flex items-center gap-1"
			onKeyDown={(event) => {
				if (event.key !== "Enter" || !event.shiftKey || event.nativeEvent.isComposing) return;
				event.preventDefault();
				event.stopPropagation();
				step(-1);
			}}
		>
			<SearchBox
				label={t("Find in this call")}
				value={text}
				onChange={setText}
				onEnter={() => step(1)}
				className="w-52"
			/>
			{text && (
				<>
					<span role="status" className="tabular min-w-12 text-center text-muted text-xs">
						{found.length > 0 ? `${number(at + 1)}/${number(found.length)}` : t("not found")}
					</span>
					<Button look="quiet" size="iconSmall" aria-label={t("The place before")} onClick={() => step(-1)}>
						<ArrowUp />
					</Button>
					<Button look="quiet" size="iconSmall" aria-label={t("The next place")} onClick={() => step(1)}>
						<ArrowDown />
					</Button>
				</>
			)}
		</div>
	);
}

/** rangesOf are the places of a text, also where elements divide it. */
function rangesOf(root: HTMLElement, text: string): Range[] {
	const nodes: { node: Text; start: number }[] = [];
	let whole = "";
	const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
	for (let node = walker.nextNode(); node; node = walker.nextNode()) {
		nodes.push({ node: node as Text, start: whole.length });
		whole += (node as Text).data.toLowerCase();
	}
	const ranges: Range[] = [];
	let n = 0;
	const place = (position: number, last: boolean) => {
		while (n + 1 < nodes.length && nodes[n + 1]!.start < position + (last ? 0 : 1)) n++;
		const { node, start } = nodes[n]!;
		return [node, Math.min(position - start, node.length)] as const;
	};
	for (let i = whole.indexOf(text); i >= 0 && ranges.length < most; i = whole.indexOf(text, i + text.length)) {
		const range = document.createRange();
		range.setStart(...place(i, false));
		range.setEnd(...place(i + text.length, true));
		ranges.push(range);
	}
	return ranges;
}
