import { root, type S } from "@/api/client";
import { shellLine, shellWord } from "@/ui/shell";
import { clientName } from "../calls/words";

type Details = S["CallDetails"];

/** argumentsOf are what the tool was called with; undefined if they are not known whole. */
export function argumentsOf(call: Details): unknown {
	const params = call.request?.json as { arguments?: unknown } | undefined;
	return params && (params.arguments ?? {});
}

/** asCommand is the call as a command of genkan, which command starts. */
export const asCommand = (command: string[], call: Details, tool: string): string =>
	shellLine([...command, "call", tool, JSON.stringify(argumentsOf(call) ?? {})]);

/** asCurl is the call as a request to the REST API. */
export const asCurl = (call: Details, tool: string): string =>
	[
		`curl ${shellWord(new URL("v1/tools/call", root).href)}`,
		`-H "Authorization: Bearer $GENKAN_TOKEN"`,
		`-H 'Content-Type: application/json'`,
		`-d ${shellWord(JSON.stringify({ name: tool, parameters: argumentsOf(call) ?? {} }))}`,
	].join(" \\\n  ");

const longest = 20_000;
const fenced = (value: unknown) => {
	const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
	const cut = text.length > longest ? `${text.slice(0, longest)}\n… (${text.length - longest} more characters)` : text;
	const fence = "`".repeat(Math.max(3, ...[...cut.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
	return `${fence}json\n${cut}\n${fence}`;
};

/** asMarkdown tells an agent about the call. It is in English, as what agents read is. */
export function asMarkdown(call: Details): string {
	const out = [
		`# Call ${call.id}: ${call.tool || call.method}`,
		"",
		`- server: ${call.server || "none"}`,
		`- client: ${clientName(call)}`,
		`- started: ${call.startedAt}`,
		`- took: ${call.tookMillis} ms (server ${call.timing.serverMillis} ms, queue ${call.timing.queueMillis} ms, workflows ${call.timing.hooksMillis} ms)`,
		`- outcome: ${call.outcome}`,
	];
	if (call.error) out.push(`- error: ${call.error}`);
	if (call.redacted.length > 0) out.push(`- secrets were taken out by: ${call.redacted.join(", ")}`);
	for (const [title, body] of [
		["Request", call.request],
		["Answer", call.response],
	] as const)
		if (body) out.push("", `## ${title}`, "", fenced(body.json ?? `${body.text}${body.cut ? "\n… (cut)" : ""}`));
	if (call.note) out.push("", call.note);
	return `${out.join("\n")}\n`;
}
