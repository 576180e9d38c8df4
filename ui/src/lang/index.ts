// Texts are written in English where they are shown. The Japanese is found by the
// English text, as in the Go code (internal/lang).
export type Lang = "en" | "ja";

let lang: Lang = "en";
let dictionary: Record<string, string> = {};

const stored = "genkan.lang";

/** currentLang is the language of the page. */
export const currentLang = (): Lang => lang;

/** startLang chooses the language before the first drawing: what the person chose
 * here, else what Genkan is configured for, else what the browser prefers. */
export async function startLang(configured?: string): Promise<void> {
	const chosen = localStorage.getItem(stored) || configured || navigator.language;
	lang = chosen.startsWith("ja") ? "ja" : "en";
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
	const text = lang === "ja" ? (dictionary[english] ?? english) : english;
	if (!values) return text;
	if (lang === "en") return text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
	// The space beside a value is for other letters: 3 分, but たった今.
	return text.replace(/( ?)\{(\w+)\}( ?)/g, (whole, before, name, after) => {
		if (values[name] === undefined) return whole;
		const value = String(values[name]);
		return (japanese.test(value[0] ?? "") ? "" : before) + value + (japanese.test(value.at(-1) ?? "") ? "" : after);
	});
}

const japanese = /[ぁ-んァ-ヶー一-龠]/;

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

/** took writes a duration as people say it: 4 ms, 1.4 s, 2 min. */
export function took(millis: number): string {
	const [s, min] = lang === "ja" ? ["秒", "分"] : ["s", "min"];
	if (millis < 0.05) return "0 ms";
	if (millis < 1) return `${millis.toFixed(1)} ms`;
	if (millis < 1000) return `${Math.round(millis)} ms`;
	if (millis < 60_000) return `${(millis / 1000).toFixed(millis < 10_000 && millis % 1000 !== 0 ? 1 : 0)} ${s}`;
	return `${Math.round(millis / 60_000)} ${min}`;
}

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
export function clock(at: string | number | Date): string {
	const when = new Date(at);
	const time = format(
		"time",
		() =>
			new Intl.DateTimeFormat(locale(), { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" }),
	).format(when);
	if (when.toDateString() === new Date().toDateString()) return time;
	const day = format("day", () => new Intl.DateTimeFormat(locale(), { month: "short", day: "numeric" })).format(when);
	return `${day} ${time}`;
}

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

const units = [
	["day", 86_400, "日"],
	["hour", 3600, "時間"],
	["minute", 60, "分"],
	["second", 1, "秒"],
] as const;

/** ago writes how long ago something was: 3 min. ago. */
export function ago(at: string | number | Date, now = Date.now()): string {
	const seconds = (new Date(at).getTime() - now) / 1000;
	const [unit, size, name] = units.find(([, size]) => Math.abs(seconds) >= size) ?? units[3];
	const n = Math.trunc(seconds / size);
	if (lang === "en") return new Intl.RelativeTimeFormat("en-US", { numeric: "auto", style: "narrow" }).format(n, unit);
	if (n === 0) return "たった今";
	if (unit === "day" && n === -1) return "昨日";
	return `${number(Math.abs(n))} ${name}${n < 0 ? "前" : "後"}`;
}
