import { beforeEach, expect, test, vi } from "vitest";
import type { S } from "@/api/client";
import { Feed } from "./feed";
import { readFilters } from "./filters";

// The answers of the API, which each test gives when it likes.
const { answers } = vi.hoisted(() => ({ answers: [] as ((page: object) => void)[] }));
vi.mock("@/api/client", () => ({
	api: {
		GET: () => new Promise((resolve) => answers.push((page) => resolve({ data: page }))),
	},
}));
vi.mock("@/api/events", () => ({}));
vi.stubGlobal("requestAnimationFrame", () => 1);

const started = (n: number) => ({ id: `RUN-${n}`, startedAt: new Date(n * 1000).toISOString(), client: "cursor" });
const ended = (n: number) => ({ ...started(n), tookMillis: 1, outcome: "ok" });
const answer = async (page: { calls?: object[]; running?: object[]; next?: string }) => {
	answers.shift()!({ calls: [], ...page });
	await Promise.resolve();
	await Promise.resolve();
};
const event = (name: string, data: object) => ({ id: "1", topic: "calls", name, data }) as unknown as S["Event"];
const shown = (feed: Feed) =>
	feed
		.shown()
		.calls.map(({ id, outcome }) => `${id} ${outcome ?? "runs"}`)
		.sort();

let feed: Feed;
beforeEach(async () => {
	vi.useFakeTimers();
	answers.length = 0;
	feed = new Feed(readFilters(""), () => {});
	void feed.begin();
	await answer({ calls: [ended(1)], running: [started(2), started(3)], next: "older" });
});

test("a call that ended while nobody listened runs no more", async () => {
	void feed.begin();
	feed.onEvent(event("call.started", started(4)));
	feed.onEvent(event("call.ended", ended(3)));
	await answer({ calls: [ended(1)], running: [started(3)] });
	expect(shown(feed)).toEqual(["RUN-1 ok", "RUN-3 ok", "RUN-4 runs"]);
});

test("an older page that comes after the list began anew leaves no gap", async () => {
	void feed.more();
	void feed.begin();
	await answer({ calls: [ended(0)] });
	await answer({ calls: [ended(5), ended(4)], next: "older" });
	expect(shown(feed)).toEqual(["RUN-5 ok"]); // the next one waits for what is older
	expect(feed.shown().hasMore).toBe(true);
});

test("a long list begins anew, unless somebody reads further down", async () => {
	feed.hold(true);
	for (let n = 10; n < 6010; n++) feed.onEvent(event("call.ended", ended(n)));
	expect(answers).toHaveLength(0);
	feed.hold(false);
	await answer({ calls: [ended(6009)] });
	expect(shown(feed)).toEqual(["RUN-6009 ok"]);
	for (let n = 6010; n < 12_000; n++) feed.onEvent(event("call.ended", ended(n)));
	expect(answers).toHaveLength(1);
});

test("one request at a time asks for the newest calls, and one more for what came meanwhile", async () => {
	feed.onEvent(event("call.ended", ended(5)));
	vi.advanceTimersByTime(300);
	expect(answers).toHaveLength(1);
	for (let n = 6; n < 20; n++) {
		feed.onEvent(event("call.ended", ended(n)));
		vi.advanceTimersByTime(300);
	}
	expect(answers).toHaveLength(1);
	await answer({});
	vi.advanceTimersByTime(300);
	expect(answers).toHaveLength(1);
	await answer({});
	vi.advanceTimersByTime(300);
	expect(answers).toHaveLength(0);
});

test("the newest calls are asked for at once, and then every 250 ms at most", async () => {
	vi.advanceTimersByTime(1000);
	feed.onEvent(event("call.started", started(5)));
	expect(answers).toHaveLength(1);
	feed.onEvent(event("call.ended", ended(5)));
	await answer({ running: [{ ...started(5), arguments: "{}" }] });
	expect(feed.shown().calls.find((call) => call.id === "RUN-5")).toMatchObject({ outcome: "ok", arguments: "{}" });
	vi.advanceTimersByTime(200);
	expect(answers).toHaveLength(0);
	vi.advanceTimersByTime(100);
	expect(answers).toHaveLength(1);
});

test("of a flood of calls, a reader further down keeps a bounded part, and is told of all", () => {
	feed.hold(true);
	for (let n = 10; n < 20_010; n++) feed.onEvent(event("call.ended", ended(n)));
	expect(feed.shown().fresh).toBe(20_000);
	expect((feed as unknown as { calls: Map<string, object> }).calls.size).toBeLessThan(5100);
	feed.hold(false);
	expect(answers).toHaveLength(1);
});
