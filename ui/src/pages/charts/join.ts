import type { S } from "@/api/client";

/** join puts newer steps in the place of those that were known, as many as there were. */
export function join(known: S["CallSeries"], newer: S["CallSeries"]): S["CallSeries"] {
	if (known.stepSeconds !== newer.stepSeconds) return known;
	const step = known.stepSeconds * 1000;
	const from = Date.parse(known.from);
	const at = Math.round((Date.parse(newer.from) - from) / step);
	if (at < 0 || at > known.total.length) return known;
	const all = [...known.total.slice(0, at), ...newer.total];
	const gone = Math.max(0, all.length - known.total.length);
	return { ...known, from: new Date(from + gone * step).toISOString(), total: all.slice(gone) };
}
