import { expect, test } from "vitest";
import { closed, lineOf, words } from "./line";

const parts = ["", "a", "-c", "echo a\necho b", "it's", 'say "x"', `'"`, "\\", "\\\\", "\\'", '\\"', " ", "\t\r\n"];
const paths = ["C:\\Users\\me\\server.exe", "C:\\My Docs\\", "C:\\It's new\\", "\\\\host\\a share", "--dir=/my docs"];
const all = [...parts, ...paths, '{"a": "b\\n"}', "日本 語", "$HOME", "a#b"];

test("a command line has the words that it was written of", () => {
	for (const a of all)
		for (const b of all) {
			const written = [a, `${a}${b}`, b, `${b}x${a}`];
			const line = lineOf(written);
			expect(closed(line)).toBe(true);
			expect(words(line)).toEqual(written);
		}
});

test.each([
	["npx -y  server\n", ["npx", "-y", "server"]],
	['--dir="/my docs" x', ["--dir=/my docs", "x"]],
	[`a'b c'"d e"f ''`, ["ab cd ef", ""]],
	[String.raw`C:\bin\x.exe "C:\My Docs\x"`, ["C:\\bin\\x.exe", "C:\\My Docs\\x"]],
	[String.raw`sh -c "echo \"a\" 'b'"`, ["sh", "-c", `echo "a" 'b'`]],
	["", []],
])("%j is split into words", (line, want) => expect(words(line)).toEqual(want));

test.each(['true "x', "it's", `'a"`, '"a\\"'])("%j has a quote that does not end", (line) =>
	expect(closed(line)).toBe(false),
);
