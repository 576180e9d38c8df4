import { Fragment } from "react";
import { Cap, Card, CopyButton, cx } from "./basics";
import { shellLine } from "./shell";

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

/** Command is a command line in a sentence. Lines end between words: --data is one. */
export function Command({ words, className }: { words: string[]; className?: string }) {
	return (
		<code className={cx("[&>span]:inline-block [&>span]:max-w-full [&>span]:break-all", className)}>
			{words.map((word, at) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: words may be equal, and do not move
				<Fragment key={at}>
					{at > 0 && " "}
					<span>{shellLine([word])}</span>
				</Fragment>
			))}
		</code>
	);
}
