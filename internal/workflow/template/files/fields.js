// Keeps or drops members of a result, in structuredContent and in texts that are JSON.
// In a path, * stands for any name or index, or for a part of a name, and ** for any number
// of levels. A state is a path and how much of it has been matched.
const name = (text) => (text.includes("*") ? new RegExp("^" + text.split("*").map((part) => part.replace(/[\\^$.|?+()[\]{}/-]/gu, "\\$&")).join(".*") + "$", "su") : text);
const parse = (path) => {
  const parts = path.startsWith("/") ? path.slice(1).split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~")) : path.split(".");
  return { path: parts.map((part) => (part === "**" ? part : name(part))), at: 0 };
};
const fits = (part, key) => (typeof part === "string" ? part === key : part.test(key));
const follow = (states, key) => {
  const next = [];
  const add = (path, at) => next.some((s) => s.path === path && s.at === at) || next.push({ path, at });
  for (const { path, at } of states) {
    const any = path[at] === "**";
    if (any) add(path, at);
    const here = any ? at + 1 : at;
    if (here < path.length && fits(path[here], key)) add(path, here + 1);
  }
  return next;
};
const reached = (states) => states.some(({ path, at }) => at === path.length || (at === path.length - 1 && path[at] === "**"));

// below says what becomes of a member: null if it goes, else the states for what is in it.
// Without states of keep everything is kept.
const below = ({ keep, drop }, key) => {
  const next = { keep: keep && follow(keep, key), drop: drop.length > 0 ? follow(drop, key) : drop };
  if (reached(next.drop) || next.keep?.length === 0) return null;
  if (next.keep && reached(next.keep)) next.keep = null;
  return next;
};
// A value that is no object or list has nothing below it that could be kept.
const goes = (states, isContainer) => states === null || (states.keep !== null && !isContainer);

const prune = (value, states) => {
  if (Array.isArray(value)) {
    return value.map((item, i) => [item, below(states, String(i))]).filter(([item, s]) => !goes(s, isContainer(item))).map(([item, s]) => prune(item, s));
  }
  if (!isContainer(value)) return value;
  for (const key of Object.keys(value)) {
    const next = below(states, key);
    if (goes(next, isContainer(value[key]))) delete value[key];
    else value[key] = prune(value[key], next);
  }
  return value;
};
const isContainer = (value) => value !== null && typeof value === "object";

// pruneText does the same to JSON as a text, so that what stays keeps its bytes.
const pruneText = (text, states) => {
  if (!/^\s{0,20}[{[]/u.test(text)) return text;
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|\s+|[^\s"{}[\],:]+/gu);
  let i = 0;
  const space = () => (i < tokens.length && tokens[i].charCodeAt(0) <= 32 ? tokens[i++] : "");
  const fail = () => { throw new SyntaxError("not JSON"); };
  // read returns the next value as it is to be written.
  const read = (states, depth) => {
    const open = tokens[i++];
    if (open !== "{" && open !== "[") return open?.[0] === '"' || /^(?:-?[0-9].*|true|false|null)$/u.test(open) ? open : fail();
    if (depth > 200) fail();
    const close = open === "{" ? "}" : "]", kept = [];
    let after = "", more = true;
    for (let index = 0; more; index++) {
      let before = space(), key = String(index);
      if (tokens[i] === close && index === 0) { after = before; break; }
      if (open === "{") {
        if (tokens[i]?.[0] !== '"') fail();
        key = tokens[i].includes("\\") ? JSON.parse(tokens[i]) : tokens[i].slice(1, -1);
        before += tokens[i++] + space();
        if (tokens[i++] !== ":") fail();
        before += ":" + space();
      }
      const next = states && below(states, key);
      const member = before + read(next, depth + 1);
      const last = tokens[i - 1];
      after = space();
      if (!states || !goes(next, last === "}" || last === "]")) kept.push(member);
      more = tokens[i] === ",";
      if (more) i++;
    }
    if (tokens[i++] !== close) fail();
    return open + kept.join(",") + after + close;
  };
  try {
    const made = space() + read(states, 0) + space();
    return i === tokens.length ? made : text;
  } catch {
    return text; // it only looked like JSON
  }
};

const { response } = context;
if (!response.isError) {
  const states = { keep: params.keep?.length > 0 ? params.keep.map(parse) : null, drop: (params.drop ?? []).map(parse) };
  for (const item of response.content ?? []) {
    for (const part of [item ?? {}, item?.resource ?? {}]) if (typeof part.text === "string") part.text = pruneText(part.text, states);
  }
  if (response.structuredContent !== undefined) response.structuredContent = prune(response.structuredContent, states);
}
