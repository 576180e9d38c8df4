import { isExact } from "../api/exact";

/** Schema is the part of JSON Schema that a form understands. What it does not
 * understand is written as JSON. */
export type Schema = {
	type?: string | string[];
	title?: string;
	description?: string;
	properties?: Record<string, Schema>;
	required?: string[];
	items?: Schema | boolean;
	enum?: unknown[];
	/** Titles of the values of an enum. */
	"x-titles"?: Record<string, string>;
	/** Texts that are offered; others can be typed. */
	"x-known"?: string[];
	/** The number is a time in milliseconds. People write seconds. */
	"x-unit"?: "ms";
	const?: unknown;
	default?: unknown;
	examples?: unknown[];
	format?: string;
	oneOf?: Schema[];
	anyOf?: Schema[];
	allOf?: Schema[];
	additionalProperties?: Schema | boolean;
	minimum?: number;
	maximum?: number;
	maxLength?: number;
	$ref?: string;
	$defs?: Record<string, Schema>;
	definitions?: Record<string, Schema>;
};

/** Work bounds what is done for a schema: servers write it, and a short one can stand for a
 * very long one. */
type Work = { left: number };

/** mostSteps is how many parts of a schema are read at most, and mostFields in a form. */
const mostSteps = 500;
const mostFields = 2000;

export const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === "object" && value !== null && !Array.isArray(value) && !isExact(value);
const isSchema = (value: unknown): boolean => isObject(value) || typeof value === "boolean";
const isText = (value: unknown): value is string => typeof value === "string";
const texts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const schemas = (value: unknown): boolean => Array.isArray(value) && value.every(isObject);

// What the form relies on. A keyword with another value means nothing.
const right: Partial<Record<keyof Schema, (value: unknown) => boolean>> = {
	type: (value) => isText(value) || texts(value),
	title: isText,
	description: isText,
	properties: isObject,
	required: texts,
	items: isSchema,
	enum: Array.isArray,
	"x-titles": (value) => isObject(value) && texts(Object.values(value)),
	"x-known": texts,
	examples: Array.isArray,
	format: isText,
	oneOf: schemas,
	anyOf: schemas,
	allOf: schemas,
	additionalProperties: isSchema,
	minimum: Number.isFinite,
	maximum: Number.isFinite,
	maxLength: Number.isFinite,
	$ref: isText,
};

/** sound is a schema without the keywords whose values are not what they should be. */
function sound(raw: unknown): Schema {
	if (!isObject(raw)) return {};
	return Object.fromEntries(Object.entries(raw).filter(([key, value]) => right[key as keyof Schema]?.(value) ?? true));
}

/** memberOf is a member of an object, and nothing that all objects have. */
export const memberOf = <T>(object: Record<string, T>, name: string): T | undefined =>
	Object.hasOwn(object, name) ? object[name] : undefined;

/** valueAt is what stands at a path, such as address.lines.0. */
export const valueAt = (value: unknown, path: string): unknown =>
	path
		.split(".")
		.reduce<unknown>(
			(at, name) => (Array.isArray(at) ? at[Number(name)] : isObject(at) ? memberOf(at, name) : undefined),
			value,
		);

/** resolve follows references within the schema, and joins allOf. One form beside null is the
 * schema itself, and so is the only part of allOf. */
export function resolve(raw: unknown, root: Schema, work: Work = { left: mostSteps }, depth = 0): Schema {
	if (work.left-- <= 0 || depth > 20) return {};
	const inner = (part: unknown) => resolve(part, root, work, depth + 1);
	const schema = sound(raw);
	if (schema.$ref === "#" || schema.$ref?.startsWith("#/")) {
		let at: unknown = root;
		for (const key of schema.$ref.split("/").slice(1))
			at = isObject(at) ? memberOf(at, key.replace(/~1/g, "/").replace(/~0/g, "~")) : undefined;
		const { $ref: _, ...rest } = schema;
		return { ...inner(at), ...rest };
	}
	const { oneOf, anyOf, ...rest } = schema;
	const forms = (oneOf ?? anyOf ?? []).filter((one) => one.type !== "null");
	if (forms.length === 1) return { ...inner(forms[0]), ...inner(rest) };
	if (!schema.allOf) return schema;
	const parts = schema.allOf.map(inner);
	const properties = Object.assign({}, schema.properties, ...parts.map((part) => part.properties ?? {}));
	return {
		...(parts.length === 1 && parts[0]),
		...schema,
		allOf: undefined,
		type: schema.type ?? parts.find((part) => part.type)?.type,
		...(Object.keys(properties).length > 0 && { properties }),
		required: [...(schema.required ?? []), ...parts.flatMap((part) => part.required ?? [])],
	};
}

/** namesOf are the names of the properties of a schema. __proto__ is no name: a script cannot
 * keep a member of that name safely. */
export const namesOf = (schema: Schema): string[] =>
	Object.keys(schema.properties ?? {}).filter((name) => name !== "__proto__");

/** mostDepth is how deep the objects of a form nest. Deeper ones are written as JSON. */
export const mostDepth = 6;

/** suitsForm tells whether a form for a schema is one that people, and browsers, can handle. */
export function suitsForm(schema: Schema): boolean {
	const work = { left: mostFields };
	const walk = (part: unknown, depth: number): void => {
		const known = resolve(part, schema, work);
		if (work.left <= 0) return;
		const [first] = choicesOf(known, schema, work);
		if (first) walk(first, depth);
		if (known.items) resolve(known.items, schema, work);
		if (depth <= mostDepth) for (const inner of Object.values(known.properties ?? {})) walk(inner, depth + 1);
	};
	walk(schema, 0);
	return work.left > 0;
}

/** typeOf is the type that a form field has; null beside another type means that the
 * value may be left out. */
export function typeOf(schema: Schema): string {
	const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter((one) => one && one !== "null");
	if (types.length === 1) return types[0]!;
	if (types.length === 0 && schema.properties) return "object";
	if (types.length === 0 && schema.items) return "array";
	return "any";
}

/** choicesOf are the alternatives of a schema, without null. */
export const choicesOf = (schema: Schema, root: Schema, work?: Work): Schema[] =>
	(schema.oneOf ?? schema.anyOf ?? []).map((one) => resolve(one, root, work)).filter((one) => one.type !== "null");

/** isGroup tells whether a value has several controls. */
export const isGroup = (schema: Schema, root: Schema): boolean =>
	choicesOf(schema, root).length > 0 || ["object", "array"].includes(typeOf(schema));

/** presetOf is the value that a schema gives. A default of null is none: Python servers write it
 * for what may be left out. */
const presetOf = (schema: Schema): unknown => schema.default ?? schema.const;

/** blank is a value to begin with: what is required, and what has a default. */
export function blank(schema: Schema, root: Schema = schema, depth = 0): unknown {
	if (depth === 0 && !suitsForm(root)) return undefined;
	const known = resolve(schema, root);
	const preset = presetOf(known);
	if (preset !== undefined) return preset;
	if (typeOf(known) !== "object" || depth > mostDepth) return undefined;
	const out: Record<string, unknown> = {};
	for (const name of namesOf(known)) {
		const inner = resolve(known.properties![name], root);
		const needed = known.required?.includes(name);
		const value = needed || presetOf(inner) !== undefined ? blank(inner, root, depth + 1) : undefined;
		if (value === undefined && needed && typeOf(inner) === "boolean") out[name] = false; // as its switch shows
		if (value !== undefined) out[name] = value;
	}
	return out;
}

export const starting = (schema: Schema): unknown =>
	({ string: "", array: [], object: {}, boolean: false })[typeOf(schema)] ?? null;

/** fits tells roughly whether a value has a form, to show the right one. */
export function fits(schema: Schema, value: unknown): boolean {
	if (value === undefined) return false;
	if (schema.const !== undefined) return schema.const === value;
	if (schema.enum) return schema.enum.includes(value);
	const type = typeOf(schema);
	if (type === "object")
		return (
			isObject(value) &&
			(schema.required ?? []).every((name) => Object.hasOwn(value, name)) &&
			Object.entries(schema.properties ?? {}).every(
				([name, part]) => part?.const === undefined || value[name] === part.const,
			)
		);
	if (type === "array") return Array.isArray(value);
	if (type === "integer" || type === "number") return typeof value === "number" || isExact(value);
	return type === "any" || typeof value === type;
}
