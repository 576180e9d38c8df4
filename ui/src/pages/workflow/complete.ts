import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { isExact } from "@/api/exact";
import { root } from "../../api/client";
import { currentLang } from "../../lang";
import { editor } from "./store";

// Completion knows what genkan.d.ts declares, which Genkan gives, and the keys of the call
// that is shown as the input.

type Member = { name: string; type: string; doc: string; method: boolean };
type Shape = Member[];

/** shapeIn reads the members of an object type: the text between its braces. */
function shapeIn(body: string): Shape {
	const members: Shape = [];
	let i = 0;
	let doc = "";
	while (i < body.length) {
		const rest = body.slice(i);
		const space = /^(?:\s+|\/\/.*|;|,)/.exec(rest);
		if (space) {
			i += space[0].length;
			continue;
		}
		const comment = /^\/\*\*?([\s\S]*?)\*\//.exec(rest);
		if (comment) {
			doc = comment[1]!
				.replace(/^\s*\*\s?/gm, "")
				.replace(/\s+/g, " ")
				.trim();
			i += comment[0].length;
			continue;
		}
		const end = i + until(rest, ";");
		const text = body.slice(i, end).trim();
		const found = /^(?:readonly\s+)?([A-Za-z_$][\w$]*)\??\s*([(:<])([\s\S]*)$/.exec(text);
		if (found) {
			const method = found[2] !== ":";
			members.push({ name: found[1]!, type: method ? text.slice(found[1]!.length) : found[3]!.trim(), doc, method });
		}
		doc = "";
		i = end + 1;
	}
	return members;
}

/** until is where a text ends: at stop, outside of brackets. */
function until(text: string, stop: string): number {
	let depth = 0;
	for (let i = 0; i < text.length; i++) {
		const c = text[i]!;
		if ("({[".includes(c)) depth++;
		else if (")}]".includes(c)) depth--;
		else if (c === stop && depth === 0) return i;
		if (depth < 0) return i;
	}
	return text.length;
}

const interfaces = new Map<string, Shape>();
const globals: Shape = [];
let reading: Promise<void> | null = null;

/** readDeclarations reads genkan.d.ts, once. */
function readDeclarations(): Promise<void> {
	reading ??= fetch(new URL("v1/workflow-nodes/genkan.d.ts", root), { headers: { "Accept-Language": currentLang() } })
		.then((response) => (response.ok ? response.text() : Promise.reject(response)))
		.then(declared)
		.catch(() => {
			reading = null; // the next time
		});
	return reading;
}

/** declared takes what a text declares. */
function declared(text: string): void {
	const pattern =
		/(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*)?(?:interface (\w+)\s*\{|declare (?:let|const) (\w+)\s*:|declare function (\w+))/g;
	for (const found of text.matchAll(pattern)) {
		const doc = (found[1] ?? "")
			.replace(/^\s*\*\s?/gm, "")
			.replace(/\s+/g, " ")
			.trim();
		const rest = text.slice(found.index + found[0].length);
		if (found[2]) interfaces.set(found[2], shapeIn(rest.slice(0, until(rest, "\0"))));
		else
			globals.push({
				name: (found[3] ?? found[4])!,
				type: rest.slice(0, until(rest, ";")).trim(),
				doc,
				method: !found[3],
			});
	}
}

/** membersOf are the members of a type: of an object in it, and of the interfaces that it
 * names. */
function membersOf(type: string): Shape {
	const found: Shape = [];
	const brace = type.indexOf("{");
	if (brace >= 0 && !/^\s*\(/.test(type)) {
		const rest = type.slice(brace + 1);
		found.push(...shapeIn(rest.slice(0, until(rest, "\0"))));
	}
	const outside = brace >= 0 ? type.slice(0, brace) : type;
	if (!/\[\]\s*$/.test(outside))
		for (const [name] of outside.matchAll(/\b[A-Z]\w*\b/g)) found.push(...(interfaces.get(name) ?? []));
	return found;
}

const kindOf = (member: Member): string =>
	member.method || /^\s*[(<]/.test(member.type)
		? "function"
		: membersOf(member.type).length > 0
			? "namespace"
			: "property";

const toCompletion = (member: Member): Completion => ({
	label: member.name,
	type: kindOf(member),
	detail: member.method ? undefined : member.type.length < 24 ? member.type : undefined,
	info: member.doc || undefined,
});

/** sampleAt is the value at a path of the call that is shown. */
function sampleAt(path: string[]): unknown {
	const { sample } = editor();
	const context = {
		request: { method: sample?.method, params: sample?.request?.json },
		response: sample?.response?.json,
	};
	let at: unknown = context;
	for (const key of path.slice(1)) at = (at as Record<string, unknown> | undefined)?.[key];
	return at;
}

/** completeScript completes names of the hook's context. */
export async function completeScript(context: CompletionContext): Promise<CompletionResult | null> {
	await readDeclarations();
	const chain = context.matchBefore(/(?:[\w$]+\??\.)+[\w$]*/);
	if (chain) {
		const parts = chain.text.replaceAll("?", "").split(".");
		const last = parts.pop()!;
		let type = globals.find((g) => g.name === parts[0])?.type;
		for (const part of parts.slice(1))
			type = type === undefined ? undefined : membersOf(type).find((m) => m.name === part)?.type;
		const options = type ? membersOf(type).map(toCompletion) : [];
		if (parts[0] === "ctx" || parts[0] === "context") {
			const value = sampleAt(parts);
			if (value && typeof value === "object" && !Array.isArray(value) && !isExact(value))
				for (const [key, v] of Object.entries(value))
					if (!options.some((o) => o.label === key) && /^[\w$]+$/.test(key))
						options.unshift({ label: key, type: "property", detail: JSON.stringify(v)?.slice(0, 24), boost: 1 });
		}
		return options.length > 0 ? { from: context.pos - last.length, options, validFor: /^[\w$]*$/ } : null;
	}
	const word = context.matchBefore(/[\w$]+/);
	if (!word && !context.explicit) return null;
	return { from: word?.from ?? context.pos, options: globals.map(toCompletion), validFor: /^[\w$]*$/ };
}
