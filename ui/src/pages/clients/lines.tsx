import { query, type S } from "@/api/client";
import { both, t } from "@/lang";
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

/** Down tells which entries of connected clients lead to servers that are down. */
export function Down({ files }: { files: S["ConnectedFile"][] }) {
	const { data } = query.useQuery("get", "/v1/servers");
	const down = (data?.servers ?? []).filter((server) => server.state === "down").map((server) => server.name);
	const broken = files
		.flatMap((file) => file.entries ?? [])
		.flatMap((entry) => entry.server ?? [])
		.filter((name) => down.includes(name));
	if (broken.length === 0) return null;
	return (
		<p className="rounded-lg bg-warn-soft px-4 py-3 text-warn">
			{t("Down in Genkan, so it will not work in the client either: {names}.", { names: both(new Set(broken)) })}
		</p>
	);
}
