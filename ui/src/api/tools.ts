import { api, type S } from "./client";

/** allTools asks for every page of a list of tools. */
export async function allTools(
	query: { server?: string; category?: string; tag?: string; enabled?: boolean },
	signal: AbortSignal,
): Promise<S["Tool"][]> {
	const all: S["Tool"][] = [];
	for (let page = 1, pages = 1; page <= pages; page++) {
		const { data } = await api.GET("/v1/tools", { params: { query: { ...query, limit: 100, page } }, signal });
		all.push(...data!.tools);
		pages = data!.pagination.totalPages;
	}
	return all;
}

/** hintsOf is what a server says of its tool: that it only reads, and whether it can destroy
 * things; undefined if it does not say so. */
export function hintsOf(tool: S["Tool"] | undefined): { readOnly: boolean; destructive?: boolean } {
	const hints = (tool?.annotations ?? {}) as { readOnlyHint?: boolean; destructiveHint?: boolean };
	return hints.readOnlyHint
		? { readOnly: true, destructive: false }
		: { readOnly: false, destructive: hints.destructiveHint };
}
