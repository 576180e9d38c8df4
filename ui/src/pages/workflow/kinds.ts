import type { S } from "../../api/client";
import { t } from "../../lang";
import type { Node } from "./definition";

// What the server says of nodes: what they are called, and by which ways they are left.

export type Kind = S["NodeKind"];

/** kinds are those of the server, once it has told them. */
let kinds: Kind[] = [];

/** setKinds keeps what the server has told. */
export const setKinds = (told: Kind[]): void => {
	kinds = told;
};

type Data = { [key: string]: unknown };

const has = (data: unknown, part: Data): boolean =>
	Object.entries(part).every(([key, want]) => {
		const value = (data as Data | undefined)?.[key];
		return want !== null && typeof want === "object" ? has(value, want as Data) : value === want;
	});

/** kindOf is the kind that a node is of. */
export const kindOf = (node: Pick<Node, "type" | "data">, workflowType = ""): Kind | undefined =>
	kinds.find(
		(kind) =>
			kind.type === node.type &&
			(!kind.workflowType || kind.workflowType === workflowType) &&
			has(node.data, (kind.when ?? {}) as Data),
	);

/** addable are the kinds that can be added to a workflow. Those that are added most come first. */
export const addable = (workflowType: string): Kind[] =>
	kinds.filter((kind) => kind.new && kindOf({ type: kind.type, data: kind.new as Data }, workflowType) === kind);

/** isLast tells whether nothing follows a node of a kind. */
export const isLast = (kind: Kind): boolean => kind.handles.length === 0 && !kind.beside;

/** named is what people call a node of a workflow of a type. */
export const named = (node: Node, workflowType: string): string =>
	node.data?.label || (kindOf(node, workflowType)?.title ?? (kinds.length > 0 ? t("Unknown step") : node.type));

/** isDetached tells whether nobody waits for a node. */
export const isDetached = (node: Node): boolean => kindOf(node)?.beside ?? false;

/** handlesOf are the ways out of a node. */
function handlesOf(node: Node): string[] {
	const kind = kindOf(node);
	if (!kind) return ["out", "error"]; // of a type that this server does not have
	const own = kind.handlesIn ? node.data?.[kind.handlesIn] : [];
	const named = Array.isArray(own) ? own.map((one: { handle: string }) => one.handle) : [];
	return [...new Set([...named, ...kind.handles])];
}

/** outsOf are the ways out of a node that are drawn at its right, in their order. */
export const outsOf = (node: Node): string[] => handlesOf(node).filter((way) => way !== "error");

/** canFail tells whether a node has a way out for its failure. */
export const canFail = (node: Node): boolean => handlesOf(node).includes("error");
