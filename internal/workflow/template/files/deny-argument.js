// Refuses a call by the values of an argument. A value may be a list or an object: then
// every value in it counts.
const members = (value, name) =>
  value === null || typeof value !== "object" ? [] : Object.keys(value).filter((key) => name === "*" || key === name).map((key) => value[key]);
const leaves = (value) => (value !== null && typeof value === "object" ? Object.values(value).flatMap(leaves) : [value]);
const values = [];
for (const path of params.arguments) {
  let found = [context.request.params.arguments];
  for (const name of path.split(".")) found = found.flatMap((value) => members(value, name));
  for (const value of found.flatMap(leaves)) if (value !== null && value !== "") values.push([path, value]);
}

// A pattern of a list may have * for any text.
const glob = (pattern, flags) => new RegExp("^" + pattern.split("*").map((part) => part.replace(/[\\^$.|?+()[\]{}/-]/gu, "\\$&")).join(".*") + "$", flags);
const allowed = (params.allow ?? []).map((pattern) => glob(pattern, "su"));
const denied = (params.deny ?? []).map((pattern) => glob(pattern, "isu"));
if (params.allowPattern) allowed.push(new RegExp(params.allowPattern, "su"));
if (params.denyPattern) denied.push(new RegExp(params.denyPattern, "isu"));

const only = [...(params.allow ?? []), ...(params.allowPattern ? ["/" + params.allowPattern + "/"] : [])].join(", ");
const deny = (reason) => ({ action: "deny", reason: reason + (params.reason && "; " + params.reason) });
if (allowed.length > 0 && values.length === 0) return deny(`${params.arguments.join(" or ")} is missing, and must be one of: ${only}`);
for (const [path, value] of values) {
  const text = String(value).trim();
  const shown = JSON.stringify(text.length > 80 ? text.slice(0, 80) + "…" : text);
  // Such a number has lost its last digits.
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) return deny(`${path} is a number that is too large to be checked; send it as a text`);
  if (allowed.length > 0 && !allowed.some((pattern) => pattern.test(String(value)))) return deny(`${path} is ${shown}, and must be one of: ${only}`);
  if (denied.some((pattern) => pattern.test(text))) return deny(`${path} is ${shown}, which is not allowed`);
}
