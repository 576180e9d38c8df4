// Replaces secrets and personal data in the texts of an answer by [redacted:KIND].
// Searches are global and have the flag u: then they take linear time.

// A rule is applied to texts that have one of its hints. What its test refuses stays; the
// test sees what was found, 24 characters before it and 2 behind it.
const rules = [];
const rule = (kind, hints, find, test) => params.kinds.includes(kind) && rules.push({ kind, hints, find, test });

// Keys and tokens that show by their form what they are.
const begins = (found, before) => !/[A-Za-z0-9]$/u.test(before);
for (const [hint, find] of [
  ["AKIA", /AKIA[A-Z0-9]{16}/gu],
  ["ASIA", /ASIA[A-Z0-9]{16}/gu],
  ["gh", /gh[pousr]_[A-Za-z0-9]{36,}/gu],
  ["github_pat_", /github_pat_[A-Za-z0-9_]{22,}/gu],
  ["glpat-", /glpat-[\w-]{20,}/gu],
  ["xox", /xox[a-z]-[\w-]{10,}/gu],
  ["xapp-", /xapp-[\w-]{20,}/gu],
  ["hooks.slack.com", /hooks\.slack\.com\/services\/[\w/]{20,}/gu],
  ["sk-", /sk-[\w-]{20,}/gu],
  ["k_", /[sr]k_(?:live|test)_[A-Za-z0-9]{16,}/gu],
  ["whsec_", /whsec_[A-Za-z0-9+/=]{20,}/gu],
  ["AIza", /AIza[\w-]{35}/gu],
  ["ya29.", /ya29\.[\w-]{20,}/gu],
  ["GOCSPX-", /GOCSPX-[\w-]{20,}/gu],
  ["npm_", /npm_[A-Za-z0-9]{36}/gu],
  ["pypi-", /pypi-[\w-]{50,}/gu],
  ["hf_", /hf_[A-Za-z0-9]{30,}/gu],
  ["SG.", /SG\.[\w-]{16,}\.[\w-]{16,}/gu],
  ["dop_v1_", /dop_v1_[a-f0-9]{64}/gu],
  ["shp", /shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}/gu],
  ["lin_api_", /lin_api_[A-Za-z0-9]{32,}/gu],
  ["hvs.", /hvs\.[\w-]{24,}/gu],
  ["AGE-SECRET-KEY-", /AGE-SECRET-KEY-1[A-Z0-9]{50,}/gu],
  ["eyJ", /eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/gu],
  ["AccountKey=", /AccountKey=[A-Za-z0-9+/=]{40,}/gu],
  ["earer ", /[Bb]earer [\w.~+/=-]{16,}/gu],
  ["asic ", /[Bb]asic [A-Za-z0-9+/]{16,}={0,2}/gu],
]) {
  rule("keys", [hint], find, begins);
}
rule("keys", ["PRIVATE KEY"], /-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[^\0-]*(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----)?/gu);
rule("keys", ["://"], /(:\/\/)[^\s/:@"'\0]+:[^\s/@"'\0]+@/gu); // of a URL with a password
// A value whose name says that it is secret: password = …, パスワード：…. Without a digit it
// is rather a word, or code.
rule("keys", [], /((?:password|passwd|passphrase|client[_-]?secret|secret[_-]?(?:access[_-]?)?key|api[_-]?key|private[_-]?key|(?:access|refresh|auth)[_-]?token|パスワード|暗証番号|秘密鍵)["']?\s*[=:：は]\s*["'「]?)[^\s"'「」,;、。[\]{}()<>\0]{4,}/giu, (found) => /[0-9]/u.test(found));
const secretName = /(?:^|[_-])(?:password|passwd|passphrase|client[_-]?secret|secret[_-]?(?:access[_-]?)?key|api[_-]?key|private[_-]?key|(?:access|refresh|auth)[_-]?token|パスワード|暗証番号|秘密鍵)$/iu;

rule("mail", ["@", "＠"], /[A-Za-z0-9._%+-]+[@＠][A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}/gu, (found) => !found.startsWith("git@"));

// Digits and hyphens have wide forms in Japanese texts.
const D = "[0-9０-９]", H = "[-‐‑–—―−ー－]", S = "[- ‐‑–—―−ー－]";
const number = (kind, source, test) => rule(kind, null, new RegExp(source, "gu"), test);
const digits = (text) => text.replace(/[０-９]/gu, (c) => String.fromCharCode(c.charCodeAt(0) - 0xfee0)).replace(/[^0-9]/gu, "");
// A number stands alone if it is no part of a longer number, a word or an id.
const alone = (before, after) => !/[\w０-９-]$/u.test(before) && !/^(?:[\w０-９-]|\.[0-9])/u.test(after);

// Cards come first: a part of one may look like a phone number. They have a known issuer,
// its length, and the check digit of Luhn.
const issued = /^(?:4(?:.{12}|.{15}|.{18})|5[1-5].{14}|2[2-7].{14}|3[47].{13}|3(?:0[0-5]|[68].).{11}|35.{14}|6(?:011|5..|4[4-9].).{12}|62.{14}|62.{17})$/u;
const isCard = (found, before, after) => {
  const n = digits(found);
  if (!issued.test(n) || !alone(before, after)) return false;
  let sum = 0;
  for (let i = 0; i < n.length; i++) {
    const d = Number(n[n.length - 1 - i]) * (1 + (i % 2));
    sum += d > 9 ? d - 9 : d;
  }
  return sum % 10 === 0;
};
number("card", `${D}{4}(?:${S}${D}{4}){3}(?:${S}${D}{3})?|${D}{4}${S}${D}{6}${S}${D}{4,5}|${D}{13,19}`, isCard);

// My Number has twelve digits, of which the last is a check digit. Other numbers are like
// that, too, so it must be written in groups, or be named before.
const isMyNumber = (found, before, after) => {
  const n = digits(found);
  if (!alone(before, after)) return false;
  if (found.length === 12 && !/(?:マイナンバー|個人番号|my[ _-]?number).{0,12}$/isu.test(before)) return false;
  let sum = 0;
  for (let i = 1; i <= 11; i++) sum += Number(n[11 - i]) * (i <= 6 ? i + 1 : i - 5);
  return Number(n[11]) === (sum % 11 <= 1 ? 0 : 11 - (sum % 11));
};
number("id", `${D}{4}${S}?${D}{4}${S}?${D}{4}`, isMyNumber);
const isSocialSecurity = (found, before, after) => alone(before, after) && !/^(?:000|666)/u.test(found);
number("id", "[0-8][0-9]{2}-[0-9]{2}-[0-9]{4}", isSocialSecurity);

const isPhone = (found, before, after) => {
  const n = digits(found).length;
  return alone(before, after) && (/^[+＋]/u.test(found) ? n >= 9 && n <= 15 : n === 10 || n === 11);
};
number("phone", `[+＋]${D}{1,3}${S}?[(（]?${D}{1,4}[)）]?(?:[.]?${S}?${D}{2,4}){2,4}`, isPhone); // +81 90-1234-5678
number("phone", `[(（]?[0０]${D}{1,4}(?:[)）] ?|${S})${D}{1,4}${S}${D}{3,4}`, isPhone); // 03-1234-5678, (03) 1234-5678
number("phone", `[0０][5-9５-９][0０]${D}{8}`, isPhone); // 09012345678
number("phone", "(?:1[ .-])?[(]?[2-9][0-9]{2}(?:[)] ?|[ .-])[0-9]{3}[ .-][0-9]{4}", isPhone); // (415) 555-2671

// Addresses: from the prefecture to the number of the house. A town alone stays.
number("address", `〒 ?${D}{3}${H}?${D}{4}`);
number("address", `(?:東京都|北海道|京都府|大阪府|[一-龠]{2,3}県)[^\\s、。,"\\0]{1,12}?[市区町村][^\\s、。,"\\0]{0,20}?${D}+(?:(?:丁目|番地|番|号|の|${H})${D}*)*`);
number("address", "[0-9]{1,5} (?:[A-Z][A-Za-z.]* ){1,3}(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct)[.]?(?:,? [A-Z][A-Za-z ]{1,30},? [A-Z]{2} [0-9]{5}(?:-[0-9]{4})?)?", (found, before, after) => alone(before, after));

for (const source of params.also) rules.push({ kind: "custom", hints: [], find: new RegExp(source, "gu") });

const plain = (text) => {
  const numbers = /[0-9０-９]/u.test(text);
  for (const { kind, hints, find, test } of rules) {
    if (hints === null ? !numbers : hints.length > 0 && !hints.some((hint) => text.includes(hint))) continue;
    text = text.replace(find, (found, ...rest) => {
      const at = rest.find((value) => typeof value === "number");
      const end = at + found.length;
      const ok = found !== "" && (!test || test(found, text.slice(Math.max(0, at - 24), at), text.slice(end, end + 2)));
      const kept = kind === "keys" && at !== rest[0] ? rest[0] : ""; // the group of the expression
      return ok ? kept + "[redacted:" + kind + "]" : found;
    });
  }
  return text;
};

// Many texts are searched as one, which is faster.
const many = (texts) => {
  const between = "\n\0\n";
  const made = plain(texts.join(between)).split(between);
  return made.length === texts.length ? made : texts.map(plain);
};

// through redacts what visit shows. visit calls its function with each text and the name
// of its member, and puts what it returns in the place of the text. It is called twice.
const numberName = /card|phone|tel|mobile|my[ _-]?number|カード|電話|携帯|マイナンバー|個人番号/iu;
const label = (name) => (numberName.test(name) ? name + ": " : ""); // it tells what a number is
const through = (visit, depth) => {
  const texts = [];
  visit((text, name) => (texts.push(label(name) + text), text));
  const made = many(texts);
  let i = 0;
  return visit((text, name) => {
    const now = made[i++];
    if (text !== "" && secretName.test(name) && params.kinds.includes("keys")) return "[redacted:keys]";
    if (isJSON.test(text)) return redact(text, depth + 1);
    return now.startsWith(label(name)) ? now.slice(label(name).length) : plain(text);
  });
};

// A text that is JSON is read string by string: in "\nsk-…" the n belongs to the line
// break. What stays keeps its bytes.
const isJSON = /^\s{0,20}[{[]/u;
const redact = (text, depth) => {
  if (depth > 4 || !isJSON.test(text)) return plain(text);
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^"{}[\],:]+/gu) ?? [];
  let level = 0, deepest = 0;
  for (const token of tokens) {
    if (token === "[" || token === "{") deepest = Math.max(deepest, ++level);
    if (token === "]" || token === "}") level--;
  }
  try {
    if (deepest > 200) return plain(text);
    JSON.parse(text);
  } catch {
    return plain(text);
  }
  return through((change) => {
    let name = "";
    return tokens.map((token, i) => {
      if (token === "{" || token === "}") name = "";
      const isString = token[0] === '"';
      if (!isString && !(numberName.test(name) && /[0-9]{9}/u.test(token))) return token;
      const was = isString ? JSON.parse(token) : token.trim();
      const isName = isString && (tokens[i + 1] === ":" || (tokens[i + 2] === ":" && tokens[i + 1].trim() === ""));
      const is = change(was, isName ? "" : name);
      if (isName) name = was;
      return is === was ? token : JSON.stringify(is);
    }).join("");
  }, depth);
};

const walk = (value, name, change) => {
  if (typeof value === "string") return change(value, name);
  if (typeof value === "number" && numberName.test(name)) {
    const was = String(value), is = change(was, name);
    return is === was ? value : is;
  }
  if (value === null || typeof value !== "object") return value;
  for (const key of Object.keys(value)) {
    const list = Array.isArray(value);
    const was = value[key], is = walk(was, list ? name : key, change), newKey = list ? key : change(key, "");
    if (newKey !== key) delete value[key];
    if (newKey !== key || is !== was) value[newKey] = is;
  }
  return value;
};

const { response } = context;
for (const item of response.content ?? []) {
  for (const part of [item ?? {}, item?.resource ?? {}]) {
    for (const key of ["text", "name", "title", "description"]) {
      if (typeof part[key] === "string") part[key] = redact(part[key], 0);
    }
  }
}
if (response.structuredContent !== undefined) {
  response.structuredContent = through((change) => walk(response.structuredContent, "", change), 0);
}
