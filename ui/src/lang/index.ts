// Texts are written in English where they are shown. The Japanese is found by the
// English text, as in the Go code (internal/lang).
export type Lang = "en" | "ja";

let lang: Lang = "en";
let dictionary: Record<string, string> = {};

const stored = "genkan.lang";

/** currentLang is the language of the page. */
export const currentLang = (): Lang => lang;

/** startLang chooses the language before the first drawing: what the person chose here,
 * else Japanese if Genkan or the browser is set to it. */
export async function startLang(configured?: string): Promise<void> {
	const chosen = localStorage.getItem(stored) ?? [configured, navigator.language].find((one) => one?.startsWith("ja"));
	lang = chosen?.startsWith("ja") ? "ja" : "en";
	document.documentElement.lang = lang;
	if (lang === "ja") dictionary = (await import("./ja")).default;
}

/** chooseLang keeps the choice and draws the page anew. */
export function chooseLang(to: Lang): void {
	localStorage.setItem(stored, to);
	location.reload();
}

export type Values = Record<string, string | number>;

/** t translates a text. Values stand in braces: t("{n} servers", { n }). */
export function t(english: string, values?: Values): string {
	if (lang === "en")
		return values ? english.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole)) : english;
	const text = dictionary[english] ?? english;
	// No line ends between a number and its unit.
	return (values ? filled(text, values) : text).replace(/(\d) (?=[ぁ-んァ-ヶ一-龠])/g, "$1\u00a0");
}

// The space beside a value is for other letters: 3 分, but たった今.
function filled(text: string, values: Values): string {
	return text.replace(/( ?)\{(\w+)\}( ?)/g, (whole, before, name, after) => {
		if (values[name] === undefined) return whole;
		const value = String(values[name]);
		return (japanese.test(value[0] ?? "") ? "" : before) + value + (japanese.test(value.at(-1) ?? "") ? "" : after);
	});
}

const japanese = /[ぁ-んァ-ヶー一-龠「」（）]/;

/** tn chooses between the texts for one and for many: tn(n, "{n} server", "{n} servers").
 * Japanese needs only the second. */
export function tn(n: number, one: string, many: string, values?: Values): string {
	return t(n === 1 && lang === "en" ? one : many, { n: number(n), ...values });
}

const locale = () => (lang === "ja" ? "ja-JP" : "en-US");

// Making a formatter costs more than a hundred uses of it, and lists use them often.
const formats = new Map<string, Intl.DateTimeFormat | Intl.NumberFormat>();
function format<T extends Intl.DateTimeFormat | Intl.NumberFormat>(name: string, make: () => T): T {
	let found = formats.get(lang + name);
	if (!found) {
		found = make();
		formats.set(lang + name, found);
	}
	return found as T;
}

/** readNumber reads a number that somebody types, also with a Japanese input method:
 * １２．５ is 12.5. Nothing is undefined. What is no number yet stays a text, and so does a
 * number with more digits than a script keeps. */
export function readNumber(typed: string): number | string | undefined {
	const text = typed
		.normalize("NFKC")
		.trim()
		.replace(/^[−ー]/, "-")
		.replace("。", ".");
	if (text === "") return undefined;
	const read = Number(text);
	const isCut = String(read) !== text && /(\d\.?){16}/.test(text);
	return !Number.isFinite(read) || text.endsWith(".") || isCut ? text : read;
}

/** number writes 12345 as 12,345. */
export const number = (n: number): string => format("number", () => new Intl.NumberFormat(locale())).format(n);

/** short writes 212345 as 212k, or as 21 万. */
export function short(n: number): string {
	if (lang === "en")
		return n.toLocaleString(locale(), { notation: "compact", maximumFractionDigits: n < 10_000 ? 1 : 0 });
	if (n < 10_000) return number(n);
	const [size, unit] = n < 1e8 ? [10_000, "万"] : [1e8, "億"];
	return `${number(Number((n / size).toFixed(n < 10 * size ? 1 : 0)))} ${unit}`;
}

/** rate writes how many there are in a time. One call in an hour is not nothing. */
export const rate = (n: number): string =>
	n === 0 || n >= 10 ? number(Math.round(n)) : n < 0.01 ? "< 0.01" : n.toFixed(n < 1 ? 2 : 1);

/** took writes a duration as it is measured: 4 ms, 1.4 s, 2 min 30 s, or 1.4 秒, 2 分 30 秒;
 * fine has tenths up to 10 ms. */
export function took(millis: number, fine = false): string {
	const [second, minute] = lang === "ja" ? ["秒", "分"] : ["s", "min"];
	const tenths = millis.toFixed(1);
	if (Number(tenths) < (fine ? 10 : 1)) return `${tenths === "0.0" ? 0 : tenths} ms`;
	if (Math.round(millis) < 1000) return `${Math.round(millis)} ms`;
	if (Math.round(millis / 100) < 100) return `${Math.round(millis / 100) / 10} ${second}`;
	const seconds = Math.round(millis / 1000);
	if (seconds < 60) return `${seconds} ${second}`;
	if (seconds >= 600) return `${Math.round(seconds / 60)} ${minute}`;
	const rest = seconds % 60;
	return `${Math.floor(seconds / 60)} ${minute}${rest > 0 ? ` ${rest} ${second}` : ""}`;
}

/** quoted is a name in a sentence, which may be a word of the sentence otherwise. */
export const quoted = (name: string): string => (lang === "ja" ? `「${name}」` : `“${name}”`);

/** list writes names one after the other: a, b, c. */
export const list = (names: Iterable<string | number>): string => [...names].join(lang === "ja" ? "、" : ", ");

/** both is list for the middle of a sentence, where Japanese joins two names with と. */
export const both = (names: Iterable<string>): string => {
	const all = [...names];
	return lang === "ja" && all.length === 2 ? all.join(" と ") : list(all);
};

/** sentences joins sentences. Japanese has no space between them. */
export const sentences = (...texts: (string | false | null | undefined)[]): string =>
	texts.filter(Boolean).join(between());

/** between is what stands between two sentences. */
export const between = (): string => (lang === "ja" ? "" : " ");

/** ended is a text of the server as a sentence of its own. There it may be a part of others,
 * so its Japanese has no full stop. */
export const ended = (text: string): string =>
	lang === "ja" && /[ぁ-んァ-ヶー一-龠）」]$/.test(text) ? `${text}。` : text;

/** bytes writes a size: 212 B, 4.1 KB. */
export function bytes(n: number): string {
	if (n < 1000) return `${n} B`;
	for (const unit of ["KB", "MB", "GB"]) {
		n /= 1000;
		if (n < 1000) return `${n.toFixed(n < 10 ? 1 : 0)} ${unit}`;
	}
	return `${n.toFixed(0)} TB`;
}

/** clock writes the time of day, with the date where it was not today. */
export function clock(at: string | number | Date, dated = false): string {
	const when = new Date(at);
	return !dated && isToday(when) ? time(when) : `${day(when)} ${time(when)}`;
}

/** time writes the time of day alone. */
export const time = (at: Date): string =>
	format(
		"time",
		() =>
			new Intl.DateTimeFormat(locale(), { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" }),
	).format(at);

/** day writes the day alone. */
export const day = (at: Date): string =>
	format("day", () => new Intl.DateTimeFormat(locale(), { month: "short", day: "numeric" })).format(at);

/** span writes a span of time, with its days where it goes over midnight. */
export function span(since: string | number | Date, until: string | number | Date): string {
	const dated = new Date(since).toDateString() !== new Date(until).toDateString();
	return `${clock(since, dated)} – ${clock(until, dated)}`;
}

/** minute is clock without seconds. */
export const minute = (at: string | number | Date): string => clock(at).replace(/:\d\d$/, "");

/** brief is clock, short enough for columns: of another day it has no seconds. */
export const brief = (at: string | number | Date): string => {
	const when = new Date(at);
	if (isToday(when) || lang === "en") return isToday(when) ? clock(when) : minute(when);
	const date = format("date", () => new Intl.DateTimeFormat(locale(), { month: "numeric", day: "numeric" })).format(
		when,
	);
	return `${date} ${time(when).replace(/:\d\d$/, "")}`;
};

const isToday = (when: Date): boolean => when.toDateString() === new Date().toDateString();

/** whole writes date and time in full, for titles. */
export const whole = (at: string | number | Date): string =>
	format("whole", () =>
		lang === "ja"
			? new Intl.DateTimeFormat(locale(), {
					year: "numeric",
					month: "2-digit",
					day: "2-digit",
					hour: "2-digit",
					minute: "2-digit",
					second: "2-digit",
					hourCycle: "h23",
				})
			: new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "medium" }),
	).format(new Date(at));

/** stamp is the local time for the name of a file: 2026-11-17T101530. */
export const stamp = (): string => new Date().toLocaleString("sv").replace(" ", "T").replaceAll(":", "");

const units = [
	["day", 86_400, "日"],
	["hour", 3600, "時間"],
	["minute", 60, "分"],
	["second", 1, "秒"],
] as const;

/** ago writes how long ago something was: 3 min. ago. Days are those of the calendar. */
export function ago(at: string | number | Date, now = Date.now()): string {
	const seconds = (new Date(at).getTime() - now) / 1000;
	const [unit, size, name] = units.find(([, size]) => Math.abs(seconds) >= size) ?? units[3];
	const day = (time: number | string | Date) => new Date(time).setHours(0, 0, 0, 0) / 86_400_000;
	const n = unit === "day" ? Math.round(day(at) - day(now)) : Math.trunc(seconds / size);
	if (lang === "en") return new Intl.RelativeTimeFormat("en-US", { numeric: "auto", style: "narrow" }).format(n, unit);
	if (n === 0) return "たった今";
	if (unit === "day" && n === -1) return "昨日";
	return `${number(Math.abs(n))} ${name}${n < 0 ? "前" : "後"}`;
}
