import { expect, test } from "vitest";
import { median, tooSlow } from "./limits";

test("a page at the limits passes", () => {
	expect(tooSlow([{ page: "calls", interactive: 1000, tasks: { scroll: 100 } }])).toEqual([]);
	expect(tooSlow([{ page: "clients", interactive: 300, tasks: {} }])).toEqual([]);
	expect(tooSlow([{ page: "calls", row: 200 }])).toEqual([]);
});

test("a page beyond a limit is named, with each reason", () => {
	expect(
		tooSlow([
			{ page: "calls", interactive: 1000.2, tasks: { scroll: 20 } },
			{ page: "tools", interactive: 400, tasks: {} },
			{ page: "editor", interactive: 2000, tasks: { drag: 99, pan: 100.5 } },
			{ page: "calls", row: 200.5 },
		]),
	).toEqual([
		"calls is interactive after 1001 ms, not 1000 ms.",
		"editor is interactive after 2000 ms, not 1000 ms.",
		"editor, pan: a task takes 101 ms, more than 100 ms.",
		"calls shows a call after 201 ms, not 200 ms.",
	]);
});

test("a page that was not measured does not pass", () => {
	expect(tooSlow([{ page: "calls", error: "Timeout" }])).toEqual(["calls was not measured: Timeout"]);
	expect(tooSlow([{ page: "calls", interactive: Number.NaN, tasks: {} }])).toHaveLength(1);
	expect(tooSlow([])).toEqual(["No page was measured."]);
});

test("the median is one of the values", () => {
	expect(median([{ ms: 900 }, { ms: 300 }, { ms: 400 }], ({ ms }) => ms)).toEqual({ ms: 400 });
	expect(median([3, 1], (ms) => ms)).toBe(3);
});
