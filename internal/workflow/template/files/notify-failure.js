// Tells a webhook that a call failed; of one tool once in a while, with how many more there
// were.
if (context.response && !context.response.isError) return;
const { serverName, toolName, clientId, requestId } = context.metadata;
const tool = serverName + "__" + toolName;
const last = (await state.get(tool)) ?? { at: 0, more: 0 };
const now = Date.now();
if (now - last.at < params.everySeconds * 1000) {
  await state.set(tool, { at: last.at, more: last.more + 1 });
  return;
}
await state.set(tool, { at: now, more: 0 });

const error = (context.response?.content ?? []).map((item) => item?.text ?? "").join("\n").slice(0, 1000);
const text = `${tool} failed for ${clientId}: ${error}${last.more > 0 ? ` (and ${last.more} more since the last message)` : ""}`;
const body = {
  json: { text, server: serverName, tool: toolName, client: clientId, request: requestId, error, more: last.more, time: new Date(now).toISOString() },
  slack: { text: text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;") },
  discord: { content: text.slice(0, 2000), allowed_mentions: { parse: [] } },
}[params.format];
const answer = await fetch(params.url, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
if (!answer.ok) throw new Error("the webhook answered " + answer.status);
