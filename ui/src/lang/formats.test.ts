import { beforeAll, describe, expect, test, vi } from "vitest";
import {
	ago,
	both,
	brief,
	clock,
	ended,
	list,
	quoted,
	rate,
	readNumber,
	sentences,
	short,
	span,
	startLang,
	t,
	took,
	whole,
} from ".";

const now = new Date(2026, 10, 16, 12).getTime();
const speak = async (lang: string) => {
	vi.stubGlobal("localStorage", { getItem: () => lang });
	vi.stubGlobal("document", { documentElement: {} });
	await startLang();
};

describe("in Japanese", () => {
	beforeAll(() => speak("ja"));
	test.each([
		[0, "0 ms"],
		[0.42, "0.4 ms"],
		[999, "999 ms"],
		[1000, "1 秒"],
		[1449, "1.4 秒"],
		[0.96, "1 ms"],
		[999.6, "1 秒"],
		[9960, "10 秒"],
		[23_400, "23 秒"],
		[59_700, "1 分"],
		[89_000, "1 分 29 秒"],
		[150_000, "2 分 30 秒"],
		[640_000, "11 分"],
	])("a duration of %d ms is %s", (millis, text) => expect(took(millis)).toBe(text));
	test("below 10 ms, a fine duration has a tenth", () => {
		expect([0, 2, 2.46, 9.96, 12.3].map((millis) => took(millis, true))).toEqual([
			"0 ms",
			"2.0 ms",
			"2.5 ms",
			"10 ms",
			"12 ms",
		]);
	});
	test("a value in Japanese has no space beside it", () => {
		expect(t("signed in {time}", { time: "13 分前" })).toBe("13\u00a0分前にサインイン");
		expect(t("signed in {time}", { time: "10:30" })).toBe("10:30\u00a0にサインイン");
		expect(t("signed in {time}", { time: quoted("朝") })).toBe("「朝」にサインイン");
	});
	test("a message of the server is a sentence where it stands alone", () => {
		expect(ended("見つかりません")).toBe("見つかりません。");
		expect(ended("見つかりません。")).toBe("見つかりません。");
		expect(ended("終了しました（終了コード 1）")).toBe("終了しました（終了コード 1）。");
		expect(ended("exit status 1")).toBe("exit status 1");
	});
	test("no line ends between a number and its unit", () => expect(t("{n} tools", { n: 3 })).toBe("ツール 3\u00a0個"));
	test.each([
		[200, "たった今"],
		[8000, "8 秒前"],
		[60_000, "1 分前"],
		[7_200_000, "2 時間前"],
		[86_400_000, "昨日"],
		[46 * 3_600_000, "2 日前"],
		[3 * 86_400_000, "3 日前"],
		[-90_000, "1 分後"],
	])("%d ms ago is %s", (millis, text) => expect(ago(now - millis, now)).toBe(text));
	test.each([
		[1275, "1,275"],
		[12_345, "1.2 万"],
		[212_345, "21 万"],
		[340_000_000, "3.4 億"],
	])("the short form of %d is %s", (n, text) => expect(short(n)).toBe(text));
	test("names are joined with 、, and two in a sentence with と", () => {
		expect(list(["everything", "kaisha-db"])).toBe("everything、kaisha-db");
		expect(both(["Claude Code", "Cursor"])).toBe("Claude Code と Cursor");
		expect(both(["Claude Code", "Cursor", "Zed"])).toBe("Claude Code、Cursor、Zed");
	});
	test("no space is between sentences", () => expect(sentences("一。", false, "二。")).toBe("一。二。"));
	test("hours have two digits", () => {
		const night = new Date();
		night.setHours(0, 0, 10);
		expect(clock(night)).toBe("00:00:10");
		expect(whole(night)).toMatch(/^\d{4}\/\d\d\/\d\d 00:00:10$/);
	});
});

test.each([
	[0, "0"],
	[0.0167, "0.02"],
	[0.0002, "< 0.01"],
	[1.25, "1.3"],
	[1200.4, "1,200"],
])("a rate of %d is %s", (n, text) => expect(rate(n)).toBe(text));

describe("in English", () => {
	beforeAll(() => speak("en"));
	test("formats are as before", () => {
		expect(took(1449)).toBe("1.4 s");
		expect(took(150_000)).toBe("2 min 30 s");
		expect(ago(now - 8000, now)).toBe("8s ago");
		expect(short(212_345)).toBe("212K");
		expect(both(["a", "b"])).toBe("a, b");
		expect(sentences("One.", "Two.")).toBe("One. Two.");
		const night = new Date();
		night.setHours(0, 0, 10);
		expect(clock(night)).toBe("00:00:10");
		expect(brief(night)).toBe("00:00:10");
		const then = new Date(2020, 10, 17, 23, 51, 8);
		expect(clock(then)).toBe("Nov 17 23:51:08");
		expect(brief(then)).toBe("Nov 17 23:51");
		expect(span(then, then)).toBe("Nov 17 23:51:08 – Nov 17 23:51:08");
	});
});

test.each([
	["", undefined],
	["　", undefined],
	["123", 123],
	["１２３", 123],
	["１２．５", 12.5],
	["１２。５", 12.5],
	["－３", -3],
	["−3", -3],
	["ー３", -3],
	["１．", "1."],
	["二", "二"],
	["1,000", "1,000"],
	["9007199254740991", 9007199254740991],
	["９００７１９９２５４７４０９９３", "9007199254740993"],
	["0.12345678901234567890", "0.12345678901234567890"],
	["1e400", "1e400"],
])("%s is typed for %s", (typed, read) => expect(readNumber(typed)).toBe(read));
