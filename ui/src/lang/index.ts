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
	return values ? text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole)) : text;
}

/** tn chooses between the texts for one and for many: tn(n, "{n} server", "{n} servers").
 * Japanese needs only the second. */
export function tn(n: number, one: string, many: string, values?: Values): string {
	return t(n === 1 && lang === "en" ? one : many, { n: number(n), ...values });
}

const locale = () => (lang === "ja" ? "ja-JP" : "en-US");

/** number writes 12345 as 12,345. */
export const number = (n: number): string => n.toLocaleString(locale());

/** short writes 212345 as 212k. */
export const short = (n: number): string =>
	n.toLocaleString(locale(), { notation: "compact", maximumFractionDigits: n < 10_000 ? 1 : 0 });

/** took writes a duration as people say it: 4 ms, 1.4 s, 2 min. */
export function took(millis: number): string {
	if (millis < 0.05) return "0 ms";
	if (millis < 1) return `${millis.toFixed(1)} ms`;
	if (millis < 1000) return `${Math.round(millis)} ms`;
	if (millis < 60_000) return `${(millis / 1000).toFixed(millis < 10_000 ? 1 : 0)} s`;
	return `${Math.round(millis / 60_000)} min`;
}

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
	const time = when.toLocaleTimeString(locale(), { hour12: false });
	if (when.toDateString() === new Date().toDateString()) return time;
	return `${when.toLocaleDateString(locale(), { month: "short", day: "numeric" })} ${time}`;
}

/** whole writes date and time in full, for titles. */
export const whole = (at: string | number | Date): string => new Date(at).toLocaleString(locale());

/** ago writes how long ago something was: 3 min. ago. */
export function ago(at: string | number | Date, now = Date.now()): string {
	const seconds = (new Date(at).getTime() - now) / 1000;
	const format = new Intl.RelativeTimeFormat(locale(), { numeric: "auto", style: "narrow" });
	for (const [unit, size] of [
		["day", 86_400],
		["hour", 3600],
		["minute", 60],
	] as const) {
		if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit);
	}
	return format.format(Math.trunc(seconds), "second");
}
