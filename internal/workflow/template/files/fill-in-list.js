// Takes the argument out of the schemas, so that agents do not see it.
for (const { inputSchema } of context.response.tools) {
  delete inputSchema?.properties?.[params.argument];
  if (Array.isArray(inputSchema?.required)) {
    inputSchema.required = inputSchema.required.filter((name) => name !== params.argument);
    if (inputSchema.required.length === 0) delete inputSchema.required;
  }
}
