// Refuses tools that say that they destroy, and tools whose name says so. The words of a
// name are separated by signs, or begin with a capital: delete_file, repo.dropTable.
const { toolName = "", annotations = {} } = context.metadata;
const words = toolName.replace(/([a-z0-9])([A-Z])/gu, "$1_$2").toLowerCase().split(/[\s_./:-]+/u);
const word = words.find((w) => params.words.some((other) => other.toLowerCase() === w));
const { readOnlyHint, destructiveHint } = annotations;

let why = "";
if (word) why = "its name has the word " + word;
else if (destructiveHint === true && readOnlyHint !== true) why = "its server says so";
else if (params.unmarked === "deny" && destructiveHint === undefined && readOnlyHint !== true) why = "its server does not say that it is not";
if (why) return { action: "deny", reason: `the tool ${toolName} is destructive (${why})${params.reason && "; " + params.reason}` };
