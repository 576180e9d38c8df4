import { expect, test } from "vitest";
import { seen } from "./seen";

test("what is invisible is written out, and the rest is left alone", () => {
	expect(seen("safe\u202e evil")).toBe("safe[U+202E] evil");
	expect(seen("a\u200bb\u{e0041}")).toBe("a[U+200B]b[U+E0041]");
	expect(seen("a\u3164b\u034fc")).toBe("a[U+3164]b[U+034F]c");
	expect(seen("\u001b[31mred")).toBe("[U+001B][31mred");
	const plain = "two\nlines\t日本語 👩‍👩‍👧 می‌خواهم";
	expect(seen(plain)).toBe(plain);
});
