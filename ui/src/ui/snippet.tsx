import { Cap, Card, CopyButton } from "./basics";

/** Snippet is a text to copy into a file or a terminal. */
export function Snippet({ title, text }: { title: string; text: string }) {
	return (
		<Card className="min-w-0 overflow-hidden">
			<Cap>
				<span>{title}</span>
				<CopyButton text={text} />
			</Cap>
			<pre
				// biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls is reached by keyboard
				tabIndex={0}
				className="overflow-auto whitespace-pre-wrap px-4 wrap-anywhere py-3 focus-visible:-outline-offset-2"
			>
				{text}
			</pre>
		</Card>
	);
}
