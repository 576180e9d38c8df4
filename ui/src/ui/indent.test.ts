import { expect, test } from "vitest";
import { indented } from "./indent";

test("JSON is indented, and its numbers and strings keep their spelling", () => {
	expect(indented('{"id":12345678901234567890,"rate":1.0,"big":1E400,"no":-0,"name":"\\u202ea\\/b"}')).toBe(
		'{\n  "id": 12345678901234567890,\n  "rate": 1.0,\n  "big": 1E400,\n  "no": -0,\n  "name": "\\u202ea\\/b"\n}',
	);
	for (const value of [
		{},
		[],
		{ a: [], b: {} },
		[[1, [2, { c: null }]], true],
		'a {b}, [c]: "d" \\',
		7,
		{ "k,:": "{" },
	]) {
		const want = JSON.stringify(value, null, 2);
		expect(indented(JSON.stringify(value))).toBe(want);
		expect(indented(want)).toBe(want);
	}
	expect(indented('{"a":1,"a":2}')).toBe('{\n  "a": 1,\n  "a": 2\n}');
});

test("what is no JSON stays", () => {
	for (const text of ["", "{", '{"a": "cut…', "plain, text"]) expect(indented(text)).toBe(text);
});
