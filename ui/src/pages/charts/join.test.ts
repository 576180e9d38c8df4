import { expect, test } from "vitest";
import type { S } from "@/api/client";
import { join } from "./join";

const step = (calls: number) => ({ calls }) as S["CallStep"];
const series = (from: string, ...calls: number[]) =>
	({ from, stepSeconds: 60, total: calls.map(step) }) as S["CallSeries"];
const calls = (of: S["CallSeries"]) => of.total.map((one) => one.calls);

test("the newest step takes the place of the one that was known", () => {
	const joined = join(series("2026-11-16T12:00:00Z", 1, 2, 3), series("2026-11-16T12:02:00Z", 7));
	expect(calls(joined)).toEqual([1, 2, 7]);
	expect(joined.from).toBe("2026-11-16T12:00:00.000Z");
});

test("when time has gone on, the oldest steps go", () => {
	const joined = join(series("2026-11-16T12:00:00Z", 1, 2, 3), series("2026-11-16T12:02:00Z", 4, 5));
	expect(calls(joined)).toEqual([2, 4, 5]);
	expect(joined.from).toBe("2026-11-16T12:01:00.000Z");
});

test("what does not fit is left alone", () => {
	const known = series("2026-11-16T12:00:00Z", 1, 2, 3);
	expect(join(known, series("2026-11-16T13:00:00Z", 9))).toBe(known);
	expect(join(known, { ...series("2026-11-16T12:02:00Z", 9), stepSeconds: 30 })).toBe(known);
});
