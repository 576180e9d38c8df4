import { describe, expect, test } from "vitest";
import { blank, choicesOf, resolve, type Schema, suitsForm } from "./schema";

const read = (json: string) => JSON.parse(json) as Schema;

describe("a schema of a hostile server", () => {
	const many = (part: string) => `[${Array(12).fill(part).join()}]`;
	const doubling = Array.from({ length: 30 }, (_, i) => `"d${i}":{"allOf":${many(`{"$ref":"#/$defs/d${i + 1}"}`)}}`);
	const bombs: [string, string][] = [
		["that contains itself twelve times", `{"properties":{"a":{"allOf":${many('{"$ref":"#/properties/a"}')}}}}`],
		["that grows twelvefold with each reference", `{"$ref":"#/$defs/d0","$defs":{${doubling}}}`],
		[
			"whose required members nest",
			`{"type":"object","required":["a","b","c","d"],"properties":{"a":{"$ref":"#"},"b":{"$ref":"#"},"c":{"$ref":"#"},"d":{"$ref":"#"}}}`,
		],
	];
	test.each(bombs)("%s costs little, and is no form", (_, json) => {
		const schema = read(json);
		expect(suitsForm(schema)).toBe(false);
		resolve(schema.properties?.a ?? schema, schema);
		expect(blank(schema)).toBeUndefined();
	});

	test("that needs itself has a beginning", () => {
		const schema = read('{"type":"object","required":["next"],"properties":{"next":{"$ref":"#"}}}');
		expect(suitsForm(schema)).toBe(true);
		expect(JSON.stringify(blank(schema))).toMatch(/^({"next":)+{}}+$/);
	});

	test("with values of wrong types has no meaning there", () => {
		const schema = read(
			'{"type":7,"title":{},"description":[],"enum":"x","anyOf":5,"$ref":5,"required":"a","properties":{"a":null,"b":5},"items":3}',
		);
		const known = resolve(schema, schema);
		expect(known).toEqual({ properties: { a: null, b: 5 } });
		expect(resolve(known.properties!.a, schema)).toEqual({});
		expect(choicesOf(known, schema)).toEqual([]);
		expect(blank(schema)).toEqual({});
	});

	test("has no member that all objects have", () => {
		const schema = read('{"type":"object","properties":{"__proto__":{"const":1},"constructor":{"$ref":"#/toString"}}}');
		expect(blank(schema)).toEqual({});
		expect(Object.getPrototypeOf(blank(schema))).toBe(Object.prototype);
		expect(resolve(schema.properties!.constructor, schema)).toEqual({});
	});
});
