// Answers a call from what an equal call was answered with, and keeps new answers. Both hooks
// of the template run it. The scope of the state says who gets an answer again.
const { serverName, toolName, annotations } = context.metadata;
if (!params.all && annotations?.readOnlyHint !== true) return;
// JavaScript rounds long integers: calls that differ would look equal, and an answer would change.
const isRounded = (value) => {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  return value !== null && typeof value === "object" && Object.values(value).some(isRounded);
};
if (isRounded(context.request.params.arguments) || isRounded(context.response)) return;
const sorted = (value) => {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
};
const key = JSON.stringify([serverName, toolName, sorted(context.request.params.arguments ?? {})]);
if (context.response === undefined) {
  const response = await state.get(key);
  if (response !== undefined) return { action: "respond", response };
} else if (!context.response.isError) {
  // One that is too large is asked for again.
  await state.set(key, context.response, params.seconds).catch((error) => console.warn(error.message));
}
