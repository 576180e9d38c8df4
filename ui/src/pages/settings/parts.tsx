import { type ReactNode, useId, useState } from "react";
import { useEvents } from "@/api/events";
import { number } from "@/lang";
import { Card } from "@/ui";

/** Section is a part of a tab with its heading. */
export function Section({
	title,
	about,
	actions,
	children,
}: {
	title: string;
	about?: ReactNode;
	actions?: ReactNode;
	children: ReactNode;
}) {
	const id = useId();
	return (
		<section aria-labelledby={id} className="mb-7">
			<div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
				<div className="min-w-0 flex-1 basis-64">
					<h2 id={id} className="text-base">
						{title}
					</h2>
					{about && <p className="mt-0.5 max-w-[68ch] text-muted">{about}</p>}
				</div>
				{actions}
			</div>
			<div className="flex flex-col gap-3">{children}</div>
		</section>
	);
}

/** Facts are names with their values. */
export function Facts({ facts }: { facts: ([string, ReactNode] | false | undefined)[] }) {
	return (
		<Card>
			<dl>
				{facts.map(
					(fact) =>
						fact && (
							<div
								key={fact[0]}
								className="grid min-h-11 gap-x-4 border-line border-b px-4 py-2.5 last:border-0 sm:grid-cols-[200px_minmax(0,1fr)] sm:items-center"
							>
								<dt className="text-muted">{fact[0]}</dt>
								<dd className="min-w-0 break-words">{fact[1]}</dd>
							</div>
						),
				)}
			</dl>
		</Card>
	);
}

export type Progress = { work: string; id: string; done: number; total: number; finished?: boolean; error?: string };

/** useProgress is how far work of one of these kinds is, as events tell it. */
export function useProgress(...kinds: string[]): Progress | undefined {
	const [progress, setProgress] = useState<Progress>();
	useEvents((event) => {
		const data = event.data as Progress;
		if (event.name === "progress" && kinds.includes(data.work)) setProgress(data);
	});
	return progress;
}

/** Bar draws how far something is. */
export function Bar({ title, done, total }: { title: string; done: number; total: number }) {
	const part = total > 0 ? Math.min(100, Math.round((100 * done) / total)) : 0;
	return (
		<div className="flex items-center gap-3">
			<div
				role="progressbar"
				aria-label={title}
				aria-valuenow={part}
				className="h-1.5 flex-1 overflow-hidden rounded-full bg-sunken"
			>
				<div className="h-full bg-accent transition-[width]" style={{ width: `${part}%` }} />
			</div>
			<span className="tabular text-muted text-xs">
				{title} {total > 0 ? `${number(part)}%` : ""}
			</span>
		</div>
	);
}
