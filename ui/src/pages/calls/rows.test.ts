import { expect, test } from "vitest";
import { addressOf, listQuery, mayShow, readFilters, wholeName } from "./filters";
import { type Call, rowsOf } from "./rows";

const call = (n: number, more: Partial<Call> = {}): Call =>
	({
		id: `RUN-${n}`,
		started: n * 1000,
		client: "cursor",
		server: "files",
		tool: "read",
		outcome: "ok",
		...more,
	}) as Call;
const shape = (calls: Call[], ...open: string[]) =>
	rowsOf(calls, new Set(open)).map(
		(row) => `${" ".repeat(row.depth)}${row.call.id}${row.folded ? `×${row.folded.length}` : ""}`,
	);

test("repeats fold, the newest first, and unfold", () => {
	const calls = [call(1), call(2), call(3, { tool: "write" }), call(4), call(5), call(6)];
	expect(shape(calls)).toEqual(["RUN-6×3", "RUN-3", "RUN-2×2"]);
	expect(shape(calls, "RUN-5")).toEqual(["RUN-6×3", " RUN-6", " RUN-5", " RUN-4", "RUN-3", "RUN-2×2"]);
});

test("calls that run, that failed otherwise or of others do not fold", () => {
	const calls = [
		call(1),
		call(2, { outcome: undefined }),
		call(3, { outcome: "timeout" }),
		call(4, { client: "codex" }),
	];
	expect(shape(calls)).toEqual(["RUN-4", "RUN-3", "RUN-2", "RUN-1"]);
	expect(shape([call(1), call(2, { alone: true }), call(3)])).toEqual(["RUN-3", "RUN-2", "RUN-1"]);
	expect(shape([call(1), call(2, { effect: "changed" })])).toEqual(["RUN-2", "RUN-1"]);
});

test("calls with other arguments do not fold: each is in sight", () => {
	const file = (path: string) => ({ arguments: `{"path":"${path}"}` });
	const calls = [call(1, file("a")), call(2, file("secrets")), call(3, file("b")), call(4, file("b"))];
	expect(shape(calls)).toEqual(["RUN-4×2", "RUN-2", "RUN-1"]);
});

test("a call that others made is below it, in the order that they began", () => {
	const calls = [
		call(1),
		call(2, { tool: "execute" }),
		call(3, { parent: "RUN-2" }),
		call(4, { parent: "RUN-2" }),
		call(5, { parent: "RUN-2", tool: "write" }),
		call(6, { parent: "RUN-5" }),
	];
	expect(shape(calls)).toEqual(["RUN-2", " RUN-3×2", " RUN-5", "  RUN-6", "RUN-1"]);
	expect(shape([call(9, { parent: "GONE-1" })])).toEqual(["RUN-9"]);
});

test("filters are in the address, and what is left out has its own names in the API", () => {
	const filters = readFilters("?client=cursor&server=!files&server=!web&slowerMillis=1000&text=%E8%AA%9E&slower=x");
	expect(listQuery(filters)).toEqual({ client: "cursor", notServer: ["files", "web"], slowerMillis: 1000, text: "語" });
	expect(readFilters(addressOf(filters))).toEqual(filters);
	expect(addressOf(readFilters(""), "waiting=1")).toBe("waiting=1");
});

test("a tool of a server has one name, whoever called it", () => {
	expect(wholeName({ server: "files", tool: "read" })).toBe("files__read");
	expect(wholeName({ server: "files", tool: "files__read" })).toBe("files__read");
	expect(wholeName({ tool: "read", method: "tools/call" })).toBe("read");
	expect(wholeName({ method: "tools/list" })).toBe("tools/list");
	const filters = readFilters("tool=files__read");
	expect(mayShow(filters, { client: "a", server: "files", tool: "read" })).toBe(true);
	expect(mayShow(filters, { client: "a", server: "web", tool: "read" })).toBe(false);
});
