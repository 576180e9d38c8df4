import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { useWorkflows } from "@/shell/session";
import { api, type S } from "../../../api/client";
import { list, sentences, t } from "../../../lang";
import { aroundWord } from "../../../lang/terms";
import { messageOf } from "../../../ui";
import { matchText, noServer, partsOf } from "../../workflows/around";
import { paramsApart } from "../changes";
import { type Definition, hookOf, type Match, nodeOf } from "../definition";
import { readWorkflow } from "../read";
import { nameOf, useEditor } from "../store";

// The workflows that the same template made with the draft, for other methods of MCP.

type Sibling = S["Workflow"];

/** whom is what of a match the workflows of a template share: tools are only for calls of
 * tools. */
const whom = (match?: Match): string => JSON.stringify([match?.servers ?? [], match?.clients ?? []]);

const acts = ({ enabled, mode }: Sibling): boolean => Boolean(enabled) && mode === "enforce";

/** useSiblings tells which siblings there are to enable with the draft, and what of them
 * differs from it. Those of files are changed in their files. */
export function useSiblings(draft: Definition, matches: S["WorkflowCheck"]["matches"] | null) {
	const info = useEditor((s) => s.info);
	const { data } = useWorkflows();
	const every = partsOf(data?.workflows ?? [], info).filter(({ source }) => source === "database");
	const read = useQueries({
		queries: every.map(({ id, runningVersion, updatedAt }) => ({
			queryKey: ["sibling", id, runningVersion, updatedAt], // one that is deleted is not asked for again
			queryFn: () => readWorkflow(id, runningVersion),
			structuralSharing: false as const, // it would copy what parseExact keeps
		})),
	});
	const [together, setTogether] = useState(true);
	const [chosen, setTakeOver] = useState<boolean>();
	const storedAs = (one: Sibling) => read[every.indexOf(one)]?.data;
	const all = every.filter(storedAs);
	// Those that act already may be for others on purpose.
	const idle = all.filter((one) => !acts(one));
	const concerned = together ? all : all.filter(acts);
	const definitionOf = (one: Sibling) => storedAs(one)!.definition as unknown as Definition;
	// Servers that do not exist are not offered to the others.
	const apart = matches?.noServers?.length
		? []
		: concerned.filter((one) => !acts(one) && whom(definitionOf(one).match) !== whom(draft.match));
	const stepsOf = (one: Sibling) => paramsApart(draft, definitionOf(one));
	const unlike = concerned.filter((one) => stepsOf(one).length > 0);
	const takeOver = chosen ?? !unlike.some(acts);
	const isMade = (one: Sibling) => takeOver && (apart.includes(one) || unlike.includes(one));
	return {
		idle,
		together,
		setTogether,
		apart,
		unlike,
		steps: [...new Set(unlike.flatMap(stepsOf).map(nameOf))],
		takeOver,
		setTakeOver,
		/** pending is set until all of them are read. */
		pending: read.some(({ isPending }) => isPending),
		unread: read.find(({ error }) => error)?.error,
		/** chosen are the siblings that are enabled with the draft. */
		chosen: (mode: "enforce" | "shadow"): Sibling[] =>
			all.filter((one) =>
				acts(one) ? mode === "enforce" && isMade(one) : together && (mode === "enforce" || !one.enabled || isMade(one)),
			),
		/** enable enables a sibling as it runs, or made like a draft. */
		enable: async (one: Sibling, mode: "enforce" | "shadow", like: Definition): Promise<void> => {
			const version = isMade(one) ? await makeLike(like, storedAs(one)!, apart.includes(one)) : one.runningVersion;
			await api.POST("/v1/workflows/{id}/enable", { params: { path: { id: one.id } }, body: { mode, version } });
		},
	};
}

/** makeLike stores a workflow with the params of a draft, and with its servers and clients if
 * match is set, and returns its version. */
async function makeLike(draft: Definition, stored: S["WorkflowDetails"], match: boolean): Promise<number> {
	const definition = stored.definition as unknown as Definition;
	const unlike = paramsApart(draft, definition);
	const nodes = definition.nodes.map((node) =>
		unlike.includes(node)
			? { ...node, data: { ...node.data, hook: { ...hookOf(node), params: hookOf(nodeOf(draft, node.id)!).params } } }
			: node,
	);
	const { servers, clients } = draft.match ?? {};
	const { servers: _, clients: __, ...rest } = definition.match ?? {};
	const made = await api.PUT("/v1/workflows/{id}", {
		params: { path: { id: stored.id }, query: { base: stored.newestVersion } },
		body: {
			...definition,
			nodes,
			...(match && { match: { ...rest, ...(servers && { servers }), ...(clients && { clients }) } }),
		} as never,
	});
	return made.data!.newestVersion;
}

/** Siblings asks what to do with them. */
export function Siblings(of: ReturnType<typeof useSiblings>) {
	const { idle, together, setTogether, apart, unlike, steps, takeOver, setTakeOver, unread } = of;
	const dead = [...new Set(idle.flatMap((one) => one.noServers ?? []))];
	const types = (some: Sibling[]) => list(some.map((one) => aroundWord(one.workflowType)));
	return (
		<>
			{unread && <p className="text-warn">{messageOf(unread)}</p>}
			{idle.length > 0 && (
				<label className="flex items-center gap-2">
					<input type="checkbox" checked={together} onChange={(event) => setTogether(event.target.checked)} />
					{t("also enable what the same template made for {types}", { types: types(idle) })}
				</label>
			)}
			{together && !(apart.length > 0 && takeOver) && dead.length > 0 && <p className="text-warn">{noServer(dead)}</p>}
			{apart.length + unlike.length > 0 && (
				<label className="flex items-start gap-2 text-warn">
					<input
						type="checkbox"
						className="mt-1"
						checked={takeOver}
						onChange={(event) => setTakeOver(event.target.checked)}
					/>
					<span>
						{sentences(
							apart.length > 0 && t("They are for {others}.", { others: list([...new Set(apart.map(matchText))]) }),
							unlike.length > 0 &&
								t("Other settings at “{steps}”: {types}.", { types: types(unlike), steps: list(steps) }),
							t("Make them like this one"),
						)}
					</span>
				</label>
			)}
		</>
	);
}
