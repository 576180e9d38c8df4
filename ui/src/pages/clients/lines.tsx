import { cx } from "@/ui";

/** Lines are the lines of a client's file that change, as they will be written. */
export function Lines({ diff }: { diff: string[] }) {
	return (
		<pre className="whitespace-pre-wrap wrap-anywhere py-2 text-xs">
			{diff.map((line, at) => (
				<div
					// biome-ignore lint/suspicious/noArrayIndexKey: lines may be equal, and do not move
					key={at}
					className={cx("px-3", line[0] === "-" && "bg-bad-soft", line[0] === "+" && "bg-ok-soft")}
				>
					{line}
				</div>
			))}
		</pre>
	);
}
