// Refuses SQL that is not one SELECT. Databases read quotes in different ways, so the text
// must be a SELECT in each of them: with \ as an escape or not, [ ] as quotes or not.
const readings = [
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`/gu,
  /'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S]|"")*"|`[^`]*`/gu,
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]/gu,
];
const writing = /\b(?:insert|update|delete|merge|into|drop|alter|create|truncate|grant|revoke|exec|execute|call|shutdown|dbcc)\b/iu;

const wrong = (sql) => {
  for (const quoted of readings) {
    const code = sql.replace(quoted, " x ").trim().replace(/\s*;$/u, "");
    const word = writing.exec(code);
    if (/['"`]/u.test(code)) return "has a quote that is not closed";
    if (/--|\/\*|#/u.test(code)) return "has a comment, which cannot be checked; send it without comments";
    if (/\$\w*\$/u.test(code)) return "has a $ quote, which cannot be checked; write '…'";
    if (code.includes(";")) return "has several statements; send one";
    if (!/^[\s(]*(?:select|with)\b/iu.test(code)) return "is no SELECT";
    if (word) return `has the word ${word[0].toUpperCase()}`;
  }
};

const arguments_ = context.request.params.arguments;
const names = params.arguments.filter((name) => Object.keys(arguments_).includes(name));
const deny = (reason) => ({ action: "deny", reason: `only SELECT is allowed, and ${reason}${params.reason && "; " + params.reason}` });
if (names.length === 0) return deny(`${params.arguments.join(" or ")} is missing`);
for (const name of names) {
  for (const sql of [arguments_[name]].flat()) {
    const reason = typeof sql === "string" ? wrong(sql) : "is not a text";
    if (reason) return deny(`${name} ${reason}`);
  }
}
