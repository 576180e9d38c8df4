// A member that goes cannot be required by the tool's outputSchema.
const relax = (schema) => {
  if (schema === null || typeof schema !== "object") return;
  if (Array.isArray(schema.required)) delete schema.required;
  Object.values(schema).forEach(relax);
};
for (const tool of context.response.tools) relax(tool.outputSchema ?? null);
