// Refuses a call of a tool that was called too often. The calls of a span of time are counted
// under one key, which is forgotten after it.
const { serverName, toolName, clientId } = context.metadata;
const span = params.seconds * 1000;
const now = Date.now();
const who = params.count === "each client" ? clientId : "";
const calls = await state.add(JSON.stringify([serverName, toolName, who, Math.floor(now / span)]), 1, params.seconds);
if (calls > params.calls) {
  const often = params.calls === 1 ? "once" : params.calls + " times";
  const reason = `${toolName} was called ${often} in ${params.seconds} s, which is the limit` + (params.reason && "; " + params.reason);
  return { action: "deny", reason, retryAfter: (span - (now % span)) / 1000 };
}
