/** Op is an operation of a JSON Patch. */
export type Op = { op: string; path: string; from?: string; value?: unknown };

const keysOf = (path: string) =>
	path
		.split("/")
		.slice(1)
		.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));

/** valueAt is what a path of a JSON Patch leads to. */
export function valueAt(document: unknown, path: string): unknown {
	let value = document;
	for (const key of keysOf(path)) {
		if (typeof value !== "object" || value === null) return undefined;
		value = (value as Record<string, unknown>)[key];
	}
	return value;
}

/** applied is a document after one operation of a JSON Patch. What it does not know, and what
 * does not fit, it leaves. */
export function applied(document: unknown, { op, path, value }: Op): unknown {
	const change = (node: unknown, keys: string[]): unknown => {
		const [key, ...rest] = keys;
		if (key === undefined) return value;
		if (typeof node !== "object" || node === null) return node;
		if (Array.isArray(node)) {
			const copy = [...node];
			const at = key === "-" ? copy.length : Number(key);
			if (rest.length > 0) copy[at] = change(copy[at], rest);
			else if (op === "add") copy.splice(at, 0, value);
			else if (op === "remove") copy.splice(at, 1);
			else copy[at] = value;
			return copy;
		}
		const copy: Record<string, unknown> = { ...node };
		if (rest.length > 0 && !(key in copy)) return node;
		if (rest.length > 0) copy[key] = change(copy[key], rest);
		else if (op === "remove") delete copy[key];
		else copy[key] = value;
		return copy;
	};
	return change(document, keysOf(path));
}

/** patched is a value with a JSON Patch applied. What does not fit is left out: secrets
 * are taken out of patches and of samples. */
export function patched<T>(value: T, patch: unknown): T {
	return Array.isArray(patch) ? ((patch as Op[]).reduce(applied, value) as T) : value;
}
