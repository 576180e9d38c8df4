import type { S } from "@/api/client";

/** ToolName is the name of a tool in a list. Where the window is narrow, the server's name is left
 * out before it, which others have, too: it stands beside it. */
export function ToolName({ tool: { name, server } }: { tool: Pick<S["Tool"], "name" | "server"> }) {
	const before = name.startsWith(`${server}__`) ? `${server}__` : "";
	return (
		<span className="line block font-medium" title={name}>
			<span className="max-md:hidden">{before}</span>
			{name.slice(before.length)}
		</span>
	);
}
