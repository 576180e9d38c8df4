// Puts words that say what to do before an error of a tool, or in its place.
if (!context.response?.isError) return;
const content = context.response.content ?? [];
const said = content.map((item) => item?.text ?? "").filter(Boolean).join("\n");
const found = params.errors.find(({ contains }) => said.toLowerCase().includes(contains.toLowerCase()));
if (!found) return;
context.response.content = [{ type: "text", text: found.say }, ...(params.original ? content : [])];
if (!params.original) delete context.response.structuredContent;
