import type { S } from "../api/client";
import { currentLang, sentences, t } from ".";

// Technical names that people read. English shows them as they are; Japanese has words, with
// the name as their title.
const terms = new Set([
	/* t */ "tools/call",
	/* t */ "tools/list",
	/* t */ "prompts/get",
	/* t */ "prompts/list",
	/* t */ "resources/read",
	/* t */ "resources/list",
	/* t */ "resources/templates/list",
	/* t */ "resources/subscribe",
	/* t */ "resources/unsubscribe",
	/* t */ "completion/complete",
	/* t */ "logging/setLevel",
	/* t */ "start",
	/* t */ "end",
	/* t */ "mcp-call",
	/* t */ "hook",
	/* t */ "condition",
	/* t */ "set",
	/* t */ "approve",
]);

/** term is what a method of MCP or a type of node is called. */
export const term = (name = ""): string => (terms.has(name) ? t(name) : name);

const around: Record<string, string> = {
	"tools/call": /* t */ "calls of tools",
	"tools/list": /* t */ "the list of tools",
	"prompts/get": /* t */ "prompts",
	"resources/read": /* t */ "resources",
};

/** workflowTypes are the methods of MCP that workflows run around. */
export const workflowTypes = Object.keys(around);

/** aroundWord says what a workflow of a type runs around. */
export const aroundWord = (type: string): string => (around[type] ? t(around[type]) : type);

/** aboutStep describes a template as one step: as a workflow it may cover more. */
export const aboutStep = ({ description, hook }: S["Template"], type: string): string =>
	sentences(
		description,
		(hook?.workflowTypes.length ?? 0) > 1 && t("As a step, it covers only {what}.", { what: aroundWord(type) }),
	);

const subjects: Record<string, string> = {
	program: /* t */ "about the program",
	data: /* t */ "about the data",
	knowledge: /* t */ "about the knowledge base",
	config: /* t */ "about the configuration",
	port: /* t */ "about the port",
	embeddings: /* t */ "about the embeddings",
	server: /* t */ "server",
	client: /* t */ "client",
};

/** subjectWord is what a finding of the doctor is about, such as data or server/NAME. */
export function subjectWord(subject: string): string {
	const [kind = "", name] = subject.split("/");
	const word = currentLang() === "ja" && subjects[kind] ? t(subjects[kind]) : kind;
	return name ? `${word} ${name}` : word;
}

const statuses: Record<string, string> = {
	Open: /* t */ "status: Open",
	Specification: /* t */ "status: Specification",
	Waiting: /* t */ "status: Waiting",
	Ready: /* t */ "status: Ready",
	"In Progress": /* t */ "status: In Progress",
	Review: /* t */ "status: Review",
	Testing: /* t */ "status: Testing",
	Pending: /* t */ "status: Pending",
	Completed: /* t */ "status: Completed",
	Closed: /* t */ "status: Closed",
	Canceled: /* t */ "status: Canceled",
	Rejected: /* t */ "status: Rejected",
};

/** statusWord is what a status of the knowledge base is called. Configured ones have only
 * their names. */
export const statusWord = (name: string): string =>
	currentLang() === "ja" && statuses[name] ? t(statuses[name]) : name;

/** whyNoJSON is what JSON.parse says of a text. Browsers say it in English. */
export function whyNoJSON(error: unknown): string {
	const message = error instanceof Error ? error.message : String(error);
	if (currentLang() === "en") return message;
	const at = /line (\d+) column (\d+)/.exec(message);
	if (at) return t("line {line}, column {column}", { line: at[1]!, column: at[2]! });
	if (/end of JSON/.test(message)) return t("it ends too early");
	const token = /Unexpected token '(.+?)',/.exec(message);
	return token ? t("“{token}” may not stand there", { token: token[1]! }) : t("it is written wrongly");
}
