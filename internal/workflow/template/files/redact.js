// Replaces secrets and personal data in the texts of an answer by [redacted:KIND].
// Searches are global and have the flag u: then they take linear time.

// Rules search a text in which full-width signs and half-width katakana have their usual forms.
// Each sign becomes one sign, so a place is the same in both texts, and what stays keeps its
// bytes. A text of ASCII is its own NFKC, which the engine knows without reading it. The
// ideographic space stays, because a rule tells it from a space.
const usual = (text) => (text.normalize("NFKC") === text ? text : text.replace(/[！-～]+|[｡-ﾟ]/gu, (wide) => wide.normalize("NFKC")));
// A name in katakana, whose voice marks may be signs of their own: they are in half-width ones.
const kana = (name) => name.replace(/[ァ-ヶ]/gu, (sign) => (sign.normalize("NFD") === sign ? sign : `(?:${sign}|${sign.normalize("NFD")})`));

// A rule is applied to texts that have one of its hints; null stands for a digit. What its
// test refuses stays. An expression that is given as text is compiled when it is needed: that
// takes longer than to search a short text.
const rules = [];
const rule = (kind, hints, find, test, flags = "gu") => params.kinds.includes(kind) && rules.push({ kind, hints, find, test, flags });

// Whether the sign at a place of a text is a letter or digit of ASCII, or also _ or -.
const isLetter = (text, at) => {
  const c = text.charCodeAt(at) || 0;
  return (c >= 48 && c <= 57) || (c >= 65 && c <= 90) || (c >= 97 && c <= 122);
};
const isPart = (text, at) => {
  const c = text.charCodeAt(at) || 0;
  return isLetter(text, at) || c === 45 || c === 95;
};

// Keys and tokens that show by their form what they are. A short one must not be the end of
// a word, such as that of risk-; %3D before it is no word.
const begins = (found, text, at) => !/^(?:sk-|[sr]k_|SG|hf_|hvs|[Bb])/u.test(found) || !isLetter(text, at - 1) || text[at - 3] === "%";
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
rule("keys", ["PRIVATE KEY"], /-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?:[^\0-]|-{1,2}[^\0-])*(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----)?/gu);
rule("keys", ["://"], /(:\/\/)[^\s/:@"'\0]+:[^\s/@"'\0]+@/gu); // of a URL with a password
// A value whose name says that it is secret: password = …, パスワード：…. In quotes it ends
// with them. It has at most 32 words on one line then, because a quote that is never closed must
// take no more; and no other quote of the kind, because the search would take quadratic time.
// Otherwise its signs are listed: with the flag i, a range of others has k and s in it, because
// the Kelvin sign and the long s are the same letters. What has neither quotes nor a digit nor a
// sign between letters (correct-horse) is rather a word, or code.
const japanese = kana("(?:パスワード|パスコード|パスフレーズ|暗証番号|認証(?:コード|番号)|確認コード|秘密鍵|APIキー|アクセスキー|シークレットキー)");
const latin = "(?:password|passwd|passphrase|secret|secret[_-]?(?:access[_-]?)?key|api[_-]?key|private[_-]?key|(?:access|refresh|auth)[_-]?token)";
const secretName = new RegExp(`(?:${latin}|${japanese}|合い?言葉)$`, "iu");
const quoted = (open, close, escaped) => {
  const word = `(?:${escaped}[^${open}${close}\\s\\0])+`, space = "[ \\t\\u00a0\\u3000]";
  return `${open}${space}*${word}(?:${space}+${word}){0,31}${space}*${close}`;
};
const bare = "[!#$%&*+./0-9:=?@A-Z\\\\^_`a-z|~-]{4,}";
const values = `(?:${quoted('"', '"', '\\\\"|')}|${quoted("'", "'", "\\\\'|")}|${quoted("「", "」", "")}|${quoted("“", "”", "")}|["'「“]?[ぁ-んァ-ヶ一-龠ー]{0,10}${bare})`;
for (const [hints, names] of [[[], latin], [["ワー", "コー", "フレー", "暗証", "認証", "確認", "秘密鍵", "キー"], japanese]]) {
  rule("keys", hints, `(${names}(?:["'」』】]?\\s*[=:は]|】)\\s*)${values}`, (found, text, at, name) => {
    const value = found.slice(name.length);
    return /["'」”]$/u.test(value) ? value.length >= 6 : /[0-9]|[A-Za-z][!#$%&*+@^~-][A-Za-z]/u.test(value);
  }, "giu");
}
// An ideographic space may be all that is behind a name, and パス may be a path: then less is a value.
const isMixed = (value) => value.length >= 6 && /[0-9]/u.test(value) && /[A-Za-z]/u.test(value) && !/[/\\.:]/u.test(value);
rule("keys", ["\u3000"], `(${japanese}\\u3000+)${bare}`, (found, text, at, name) => {
  const value = found.slice(name.length);
  return isMixed(value) || (/^[0-9]{4,8}$/u.test(value) && !/[年月日時分円文桁件回]/u.test(text[at + found.length] ?? ""));
}, "giu");
rule("keys", ["パス", "ハ\u309aス", "PW", "pw", "Pw"], `(${kana("(?:パス|pwd?)")}\\s*[=:]\\s*)${bare}`, (found, text, at, name) => {
  return isMixed(found.slice(name.length)) && !/[A-Za-zァ-ヶー対\u3099\u309a]/u.test(text[at - 1] ?? "");
}, "giu");
rule("keys", ["言葉"], /(合い?言葉["'」』】]?[ \t\u3000]*[=:は][ \t\u3000]*)[「“"][^「」“”"\n\0]{1,60}[」”"]/gu);
rule("keys", ["言葉"], /(合い?言葉["'」』】]?[ \t\u3000]*[=:][ \t\u3000]*)[^\s、。,「」“”"\0]{2,40}/gu);

// A sign @ may be written as in a URL or in HTML. A part of a domain that begins with a letter
// of Japanese may go on with others: in example.jpまで, the address ends before まで.
const atSign = "(?:@|%40|&#64;|&#[xX]40;|&commat;)";
const domainPart = "(?:[A-Za-z0-9À-ɏ-]+|[ぁ-んァ-ヶー一-龠々가-힣а-яё][ぁ-んァ-ヶー一-龠々가-힣а-яёA-Za-z0-9-]*)";
rule("mail", ["@", "%40", "&#64;", "&#x40;", "&#X40;", "&commat;"], `[A-Za-z0-9._%+-]+${atSign}(?:${domainPart}\\.)+[A-Za-z]{2,}`, (found) => !found.startsWith("git@"));

// Hyphens have many forms in Japanese texts.
const D = "[0-9]", H = "[-‐‑–—―−ー]", S = "[- \\u3000‐‑–—―−ー]";
const number = (kind, source, test) => rule(kind, null, source, test);
const digits = (text) => text.replace(/[^0-9]/gu, "");
// A number stands alone if it is no part of a longer number, a word or an id. A word may end
// at the bracket that a number begins with, and TEL may stand before one without it.
const alone = (found, text, at) => {
  const end = at + found.length;
  const begins = found[0] === "(" || !isPart(text, at - 1) || /(?:^|[^A-Za-z])(?:tel|fax)$/iu.test(text.slice(Math.max(0, at - 4), at));
  return begins && !isPart(text, end) && !(text[end] === "." && isPart(text, end + 1));
};

// Cards come first: a part of one may look like a phone number. They have a known issuer,
// its length, and the check digit of Luhn.
const issued = /^(?:4(?:.{12}|.{15}|.{18})|5[1-5].{14}|2[2-7].{14}|3[47].{13}|3(?:0[0-5]|[68].).{11}|35.{14}|6(?:011|5..|4[4-9].).{12}|62.{14}|62.{17})$/u;
const isCard = (found, text, at) => {
  const n = alone(found, text, at) ? digits(found) : "";
  if (!issued.test(n)) return false;
  let sum = 0;
  for (let i = 0; i < n.length; i++) {
    const d = Number(n[n.length - 1 - i]) * (1 + (i % 2));
    sum += d > 9 ? d - 9 : d;
  }
  return sum % 10 === 0;
};
number("card", `${D}{4}(?:${S}${D}{4}){3}(?:${S}${D}{3})?|${D}{4}${S}${D}{6}${S}${D}{4,5}|${D}{13,19}`, isCard);

// My Number has twelve digits, of which the last is a check digit. Other numbers are like
// that, too, so it must be written in groups, or be named before. The other form is that
// of US social security numbers.
const isNamed = new RegExp(kana("(?:マイナンバー|個人番号|my[ _-]?number).{0,12}$"), "isu");
const isPersonal = (found, text, at) => {
  if (!alone(found, text, at)) return false;
  const n = digits(found);
  if (n.length === 9) return !/^(?:000|666|9)/u.test(n);
  if (found.length === 12 && !isNamed.test(text.slice(Math.max(0, at - 24), at))) return false;
  let sum = 0;
  for (let i = 1; i <= 11; i++) sum += Number(n[11 - i]) * (i <= 6 ? i + 1 : i - 5);
  return Number(n[11]) === (sum % 11 <= 1 ? 0 : 11 - (sum % 11));
};
number("id", `${D}{4}${S}?${D}{4}${S}?${D}{4}|[0-9]{3}-[0-9]{2}-[0-9]{4}`, isPersonal);

// Ten digits in a row are no phone number behind # or a decimal point, and 0123456789 is none.
const isPhone = (found, text, at) => {
  if (!alone(found, text, at)) return false;
  const n = digits(found).length;
  if (n === 10 && found.length === n) return found !== "0123456789" && !/#$|(?:^|[^A-Za-z])[.]$/u.test(text.slice(Math.max(0, at - 2), at));
  return found[0] === "+" ? n >= 9 && n <= 15 : n === 10 || n === 11;
};
const area = `0[1-9]${D}{0,3}`;
const phones = [
  `[+]${D}{1,3}${S}?[(]?${D}{1,4}[)]?(?:[.]?${S}?${D}{2,4}){2,4}`, // +81 90-1234-5678
  `(?:[(]?${area}[)]${S}?${D}{1,4}${S}?|${area}(?:${S}${D}{1,4}${S}|${S}?[(]${D}{1,4}[)]${S}?))${D}{3,4}`, // (03) 1234-5678, 03-1234-5678, 03(1234)5678
  `0(?:[5-9]0${D}|[36][1-9]|1[1-9]|[245789][2-9])${D}{7}`, // 09012345678, 0312345678
  "(?:1[ .-])?(?:[(][2-9][0-9]{2}[)] ?|[2-9][0-9]{2}[ .-])[0-9]{3}[ .-][0-9]{4}", // (415) 555-2671
];
number("phone", phones.join("|"), isPhone);

// Addresses: from the prefecture, or else from the city or ward, to the number of the house. A
// town alone stays. Without a prefecture, the number must have parts, or there are both a city
// and a ward: a city that has many of something, or won 3-1, is no address.
rule("address", ["〒", "都", "道", "府", "県"], `〒[ \\u3000]?${D}{3}${H}?${D}{4}|(?:東京都|北海道|京都府|大阪府|[一-龠]{2,3}県)[^\\s、。,"\\0]{1,12}?[市区町村][^\\s、。,"\\0]{0,20}?${D}+(?:(?:丁目|番地|番|号室?|の|${H})${D}*)*`);
const place = "(?:[一-龠々ヶケ]{1,5}|さいたま|つくば|いわき|ひたちなか|うるま)", town = "[一-龠々ヶケァ-ヴー]{1,12}";
const parts = `${D}{1,3}(?:丁目${D}{1,4}|番地${D}*|番${D}{1,3}号|(?:${H}${D}{1,4}){2})(?:(?:番地?|号室?|の|${H})${D}*)*`;
rule("address", ["市", "区"], `${place}[市区][一-龠々ヶケァ-ヴーぁ-ん]{1,14}${parts}`, (found, text, at) => !isLetter(text, at + found.length));
rule("address", ["市"], `${place}市[一-龠々]{1,4}区${town}${D}{1,4}(?:${H}${D}{1,4}|番)?`, (found, text, at) => /^(?:$|[\s、。,()「」<>"';:!?/|]|[のにでへをがとはだもや])/u.test(text.slice(at + found.length, at + found.length + 1)));
// A building behind the number of a house goes with the address, and so do its floor and room.
// What begins with a particle is a sentence, and ビルマ, 開館 and 二階堂 are no buildings. These
// expressions may look around, because they search few signs.
const buildings = [
  /^[ \u3000]?(?:[A-Za-z0-9〇一-龠々ァ-ヶー・&]{1,20}|(?![にでへをがはともやの]|から|まで|より|です|[こそあど]の)[ぁ-ん]{2,8}[ァ-ヶー]{0,8})(?:(?:ビル(?:ディング)?|タワー|マンション|アパート|ハイツ|コーポ|ハウス|レジデンス|ヒルズ|プラザ)(?![ァ-ヶー])|(?:[荘寮棟]|(?<![開閉休入来退])館)(?![一-龠]))/u, // 渋谷ビル, さくら荘
  /^[ \u3000]?[A-Za-z0-9〇一-龠々ァ-ヶー・&]{0,20}(?:(?:(?<=[A-Za-zァ-ヶー])[ \u3000][A-Z地下]{0,2}[0-9]{0,4})?[0-9〇一二三四五六七八九十](?:階(?![建層堂級])|[Ff](?![A-Za-z0-9])|号室)|(?<!第)[0-9]{3,4}号(?![一-龠]))/u, // 渋谷ヒカリエ 10階, 501号
  /^[ \u3000]?(?:(?:コーポ|ハイツ|メゾン|レジデンス)[一-龠]{1,4}|[A-Z]?-?[0-9]{1,4}号(?![一-龠]))/u, // コーポ田中, A-1号
];
const room = /^[一-龠]{0,4}[ \u3000]?(?:[A-Z]-?[0-9]{1,4}|-?[0-9]{3,4})(?![-‐–−%~.:/0-9A-Za-zァ-ヶー一-龠]|,[0-9])/u;
// behindHouse tells how many signs at a place of a text are such parts, at most three and a number.
const behindHouse = (text, at) => {
  const rest = text.slice(at, at + 64), composed = rest.normalize("NFC");
  let end = 0;
  for (let i = 0; i < 3; i++) {
    const left = composed.slice(end);
    end += buildings.find((find) => find.test(left))?.exec(left)[0].length ?? 0;
  }
  if (end > 0) end += room.exec(composed.slice(end))?.[0].length ?? 0;
  // A text with voice marks that are signs of their own is longer.
  let length = end;
  while (length < rest.length && rest.slice(0, length).normalize("NFC") !== composed.slice(0, end)) length++;
  return length;
};
number("address", "[0-9]{1,5} (?:[A-Z][A-Za-z.]* ){1,3}(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct)[.]?(?:,? [A-Z][A-Za-z ]{1,30},? [A-Z]{2} [0-9]{5}(?:-[0-9]{4})?)?", alone);

for (const source of params.also) rules.push({ kind: "custom", hints: [], find: source, flags: "gu" });

const spliced = (text, cuts) => {
  let end = 0, made = "";
  for (const { from, to, by } of cuts) {
    made += text.slice(end, from) + by;
    end = Math.max(end, to);
  }
  return made + text.slice(end);
};
const plain = (text) => {
  let searched = usual(text);
  const numbers = /[0-9]/u.test(searched);
  for (const one of rules) {
    const { kind, hints, test } = one;
    if (hints === null ? !numbers : hints.length > 0 && !hints.some((hint) => searched.includes(hint))) continue;
    if (typeof one.find === "string") one.find = new RegExp(one.find, one.flags);
    const cuts = [];
    const here = kind === "custom" ? text : searched;
    here.replace(one.find, (found, ...more) => {
      const at = more.find((value) => typeof value === "number");
      const first = kind === "keys" && typeof more[0] === "string" ? more[0] : "";
      if (found === "" || (test && !test(found, here, at, first))) return "";
      // If the expression of a rule for keys has a group, that stays: it is the name. So do
      // quotes around the value.
      const [before, behind] = first === "" ? ["", ""] : [/^["'「“]?/u.exec(found.slice(first.length))[0], /["'」”]?$/u.exec(found)[0]];
      const tail = kind === "address" && found[0] !== "〒" ? behindHouse(here, at + found.length) : 0;
      cuts.push({ from: at + first.length + before.length, to: at + found.length - behind.length + tail, by: `[redacted:${kind}]` });
      return "";
    });
    if (cuts.length === 0) continue;
    const same = searched === text;
    text = spliced(text, cuts);
    searched = same ? text : spliced(searched, cuts);
  }
  return text;
};

// What the name of a member tells: that its value is secret, or what a number or short value is.
const known = new Map(), labels = new RegExp(kana("card|phone|tel|mobile|my[ _-]?number|カード|電話|携帯|マイナンバー|個人番号|^(?:pwd?|パス)$"), "iu");
const about = (name) => {
  if (!known.has(name)) {
    const as = usual(name);
    known.set(name, { secret: params.kinds.includes("keys") && secretName.test(as), label: labels.test(as) ? name + ": " : "" });
  }
  return known.get(name);
};

// all redacts many texts, of which names has the names. They are searched as one, which is
// faster.
const all = (texts, names, depth) => {
  const between = "\n\0\n";
  const labeled = texts.map((text, i) => about(names[i]).label + text);
  let made = plain(labeled.join(between)).split(between);
  if (made.length !== texts.length) made = labeled.map(plain);
  return texts.map((text, i) => {
    const { secret, label } = about(names[i]);
    if (secret && text !== "") return "[redacted:keys]";
    if (mayBeJSON(text)) return redact(text, depth + 1);
    return made[i].startsWith(label) ? made[i].slice(label.length) : plain(text);
  });
};

// A text that is JSON is read string by string: in "\nsk-…" the n belongs to the line
// break. What stays keeps its bytes.
const mayBeJSON = (text) => text.charCodeAt(0) <= 32 || text[0] === "{" || text[0] === "[";
const redact = (text, depth) => {
  if (depth > 4 || !/^\s*[{[]/u.test(text)) return plain(text);
  // Every second part is a string; bare has a quote for each.
  const parts = [], places = [], texts = [], names = [];
  let end = 0;
  const bare = text.replace(/"(?:[^"\\]|\\.)*"/gu, (string, at) => {
    parts.push(text.slice(end, at), string);
    end = at + string.length;
    return '"';
  });
  parts.push(text.slice(end));
  let name = "", valid = isValid(bare);
  const add = (i, text, name) => (places.push(i), texts.push(text), names.push(name));
  if (valid) parts.forEach((part, i) => {
    if (i % 2 === 0) {
      if (about(name).label !== "") part.replace(/[0-9]{9,}/gu, (n) => (add(i, n, name), n));
      if (part.includes("}") || part.includes("]")) name = "";
      return;
    }
    const string = part.includes("\\") ? unescaped(part) : part.slice(1, -1);
    if (string === undefined) return (valid = false);
    const isName = parts[i + 1].trimStart()[0] === ":";
    add(i, string, isName ? "" : name);
    if (isName) name = string;
  });
  if (!valid) return plain(text);
  all(texts, names, depth).forEach((now, i) => {
    const at = places[i];
    if (now !== texts[i]) parts[at] = at % 2 === 1 ? JSON.stringify(now) : parts[at].replace(texts[i], () => JSON.stringify(now));
  });
  return parts.join("");
};
// isValid tells JSON from prose in brackets. JSON.parse would need too much memory.
const isValid = (bare) => {
  if (!/^(?:[{}[\],:"\s]|(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)\s*[,}\]])*$/u.test(bare)) return false;
  const brackets = bare.trim().replace(/[^{}[\]]+/gu, " ");
  let level = 0;
  for (let i = 0; i < brackets.length; i++) {
    if (brackets[i] === "{" || brackets[i] === "[") level++;
    else if (brackets[i] !== " " && --level === 0) return i === brackets.length - 1;
    if (level > 200) return false;
  }
  return false;
};
const unescaped = (string) => {
  try {
    return JSON.parse(string);
  } catch {
    return undefined;
  }
};

// A value of structuredContent: its texts and names are gathered first.
const redactValue = (value) => {
  const places = [], texts = [], names = [];
  const add = (object, key, isName, text, name) => (places.push({ object, key, isName }), texts.push(text), names.push(name));
  const gather = (object, key, name) => {
    const value = object[key];
    if (typeof value === "string" || (typeof value === "number" && about(name).label !== "")) add(object, key, false, String(value), name);
    if (value === null || typeof value !== "object") return;
    for (const k of Object.keys(value)) {
      gather(value, k, Array.isArray(value) ? name : k);
      if (!Array.isArray(value)) add(value, k, true, k, "");
    }
  };
  const root = { value };
  gather(root, "value", "");
  all(texts, names, 0).forEach((now, i) => {
    const { object, key, isName } = places[i];
    if (now === texts[i]) return;
    object[isName ? now : key] = isName ? object[key] : now;
    if (isName) delete object[key];
  });
  return root.value;
};

// What a tool answers has content, a resource contents, and a prompt messages.
const { response } = context;
const items = [...(response.content ?? []), ...(response.contents ?? []), ...(response.messages ?? []).map((message) => message?.content)];
for (const item of [...items, ...items.map((item) => item?.resource), response]) {
  for (const key of ["text", "name", "title", "description"]) {
    if (typeof item?.[key] === "string") item[key] = redact(item[key], 0);
  }
}
if (response.structuredContent !== undefined) response.structuredContent = redactValue(response.structuredContent);
