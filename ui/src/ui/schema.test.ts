import { describe, expect, test } from "vitest";
import { blank, choicesOf, isGroup, resolve, type Schema, suitsForm } from "./schema";

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

describe("a schema of a Python server", () => {
	const schema = read(`{
		"type": "object",
		"required": ["also"],
		"properties": {
			"maybe": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null},
			"also": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null},
			"either": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}], "default": null},
			"nothing": {"const": null},
			"color": {"title": "Paint", "default": "red", "allOf": [{"$ref": "#/definitions/Color"}]},
			"own": {"allOf": [{"$ref": "#/definitions/Base"}], "properties": {"b": {"type": "string"}}, "required": ["b"]}
		},
		"definitions": {
			"Color": {"title": "Color", "description": "Of the wall.", "enum": ["red", "blue"]},
			"Base": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
		}
	}`);
	const known = (name: string) => resolve(schema.properties![name], schema);

	test("has no value where the default is null", () => expect(blank(schema)).toEqual({ nothing: null, color: "red" }));

	test("has the keywords of the only part of allOf", () => {
		expect(known("color")).toMatchObject({ title: "Paint", description: "Of the wall.", enum: ["red", "blue"] });
		expect(isGroup(known("color"), schema)).toBe(false);
		expect(known("own")).toMatchObject({
			type: "object",
			properties: { a: { type: "string" }, b: { type: "string" } },
			required: ["b", "a"],
		});
	});
});
