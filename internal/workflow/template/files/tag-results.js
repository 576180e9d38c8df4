// Adds a note to an answer, as a text of its own.
if (context.response.isError) return;
const note = { type: "text", text: params.note };
const content = context.response.content ?? [];
context.response.content = params.place === "begin" ? [note, ...content] : [...content, note];
