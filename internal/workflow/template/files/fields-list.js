// A member that goes cannot be required by the tool's outputSchema. What counts members, or
// tells objects apart by what they have, goes, too.
const counted = ["required", "dependentRequired", "dependentSchemas", "dependencies", "minProperties", "minItems", "contains", "minContains", "not", "if", "then", "else"];
const maps = ["properties", "patternProperties", "$defs", "definitions"];
const schemas = ["items", "prefixItems", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "allOf", "anyOf"];
const relax = (schema) => {
  if (Array.isArray(schema)) return schema.forEach(relax);
  if (schema === null || typeof schema !== "object") return;
  for (const key of counted) delete schema[key];
  if (schema.oneOf !== undefined) {
    schema.anyOf ??= schema.oneOf;
    delete schema.oneOf;
  }
  for (const key of maps) Object.values(schema[key] ?? {}).forEach(relax);
  for (const key of schemas) relax(schema[key] ?? null);
};
for (const tool of context.response.tools) relax(tool.outputSchema ?? null);
