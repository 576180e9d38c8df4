import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, type CDPSession, expect, type Page, test } from "@playwright/test";
import { bin, top } from "./build";
import { Genkan } from "./genkan";
import { type Measured, median, taskLimit, tooSlow } from "./limits";

// Measures every page of the web UI with 10,000 tools on 1,000 servers, 100,000 calls,
// 10,000 items and a workflow of 300 nodes. PAGES='calls|tools' measures some of them,
// RUNS=1 each of them once. PROFILE=DIR writes profiles of each, while it loads and of what
// is done there, for the performance panel of a browser. It fails where a page is beyond the
// limits of limits.ts: its median run until it is interactive, and the best run of what is
// done there, which is repeated, up to RUNS times, while it is beyond.

const profiles = process.env.PROFILE;
const runs = Number(process.env.RUNS ?? 3);
const wanted = new RegExp(process.env.PAGES ?? "");
/** How long a list is scrolled, in seconds. */
const patience = Number(process.env.SCROLL ?? 20);

type Act = (page: Page) => Promise<string | undefined>;
/** A page: its address, what is real in it, and what is done there. */
type Subject = { name: string; path: string; shown: string; acts?: Record<string, Act> };

const row = '[data-rows] [role="row"]';
const list: Record<string, Act> = { scroll };
const subjects = (ids: { item: string; call: string }): Subject[] => [
	{ name: "calls", path: "calls", shown: row, acts: list },
	{ name: "calls, one server", path: "calls?server=server-0003", shown: row, acts: list },
	{ name: "a call", path: `calls/${ids.call}`, shown: "main h1" },
	{ name: "servers", path: "servers", shown: row, acts: list },
	{ name: "a server", path: "servers/server-0500", shown: 'main [role="switch"]' },
	{ name: "tools", path: "tools", shown: row, acts: list },
	{ name: "tools, a search", path: "tools?q=search text of documents", shown: row, acts: list },
	{ name: "a tool", path: "tools/server-0500__echo", shown: 'main [role="tab"]' },
	{ name: "workflows", path: "workflows", shown: 'main [href*="/workflows/"]' },
	{ name: "editor, 300 nodes", path: "workflows/many", shown: ".react-flow__node", acts: { drag, pan } },
	{ name: "knowledge", path: "knowledge?status=any", shown: row, acts: list },
	{ name: "knowledge, a search", path: "knowledge?q=の", shown: row, acts: list },
	{ name: "an item", path: `knowledge/${ids.item}`, shown: "main article h2" },
	{
		name: "an item's graph",
		path: `knowledge/${ids.item}?view=graph`,
		shown: ".react-flow__node",
		acts: { drag, pan },
	},
	{ name: "clients", path: "clients", shown: "main button" },
	{ name: "charts", path: "charts?since=7d", shown: "main canvas" },
	{ name: "settings", path: "settings", shown: "main button, main input, main select" },
	{ name: "settings, doctor", path: "settings/doctor", shown: "main section" },
];

/** Took is the longest task of the page's thread, by the clock and in processor time, and
 * the longest time between two frames. */
type Took = { wall: number; cpu: number; frame: number; note?: string };

test("pages with much data", async ({ browser }) => {
	const genkan = new Genkan();
	let began = Date.now();
	let servers: ChildProcess | undefined;
	try {
		servers = await seed(genkan);
		console.log(`made in ${seconds(began)} s`);
		began = Date.now();
		await genkan.start("");
		await genkan.ready();
		// The items were put into the database. Those that agents write are in the index already.
		await genkan.rest("GET", "/v1/items/search?query=x");
		while (!genkan.log.includes("text index built")) await new Promise((resolve) => setTimeout(resolve, 100));
		await workflows(genkan);
		const { items } = await genkan.rest<{ items: { type: string; id: number }[] }>("GET", "/v1/items?limit=1");
		const { calls } = await genkan.rest<{ calls: { id: string }[] }>("GET", "/v1/calls?limit=1");
		const ids = { item: `${items[0]!.type}-${items[0]!.id}`, call: calls[0]!.id };
		console.log(`started in ${seconds(began)} s; load ${loadavg()[0]!.toFixed(1)}`);
		const lines = [
			[
				"page",
				"shown ms",
				"interactive ms",
				"task, loading",
				"script ms",
				"doing",
				"task",
				"frame",
				"",
				"slowest request",
			],
		];
		const measured: Measured[] = [];
		for (const subject of subjects(ids).filter(({ name }) => wanted.test(name)))
			try {
				const { result, cells } = await measure(browser, genkan, subject);
				measured.push(result);
				lines.push(...cells);
			} catch (error) {
				measured.push({ page: subject.name, error: String(error) });
				lines.push([`${subject.name}: ${error}`]);
			}
		if (wanted.test("calls")) measured.push({ page: "calls", row: await rowTime(browser, genkan) });
		print(lines);
		console.log(`load ${loadavg()[0]!.toFixed(1)}; tasks in ms by the clock (in processor time)`);
		expect(tooSlow(measured), "pages are too slow; other programs on the machine lengthen all times").toEqual([]);
	} finally {
		await genkan.stop();
		servers?.kill();
	}
});

const seconds = (since: number) => ((Date.now() - since) / 1000).toFixed(1);

/** seed fills the data directory, and starts the servers of its configuration. */
async function seed(genkan: Genkan): Promise<ChildProcess> {
	const bench = join(bin, "bench");
	execFileSync("go", ["build", "-C", "bench", "-buildvcs=false", "-o", bench, "."], { cwd: top, stdio: "inherit" });
	mkdirSync(genkan.data, { recursive: true, mode: 0o700 });
	const child = spawn(bench, ["role", "ui", genkan.data], {
		env: { PATH: process.env.PATH, HOME: genkan.home },
		stdio: ["pipe", "pipe", "inherit"],
	});
	await new Promise((resolve, reject) => {
		child.stdout.once("data", resolve);
		child.on("exit", (code) => reject(new Error(`the data could not be made: ${code}`)));
	});
	return child;
}

/** workflows stores one of 300 nodes, in rows of 20, and many small ones. */
async function workflows(genkan: Genkan): Promise<void> {
	const path = (id: string, length: number) => {
		const nodes = [
			{ id: "start", type: "start" },
			...Array.from({ length: length - 2 }, (_, i) => ({
				id: `n${i}`,
				type: "set",
				data: { vars: { a: { value: i } } },
			})),
			{ id: "end", type: "end", data: { outcome: "deny" } },
		].map((node, i) => ({ ...node, position: { x: (i % 20) * 248, y: Math.floor(i / 20) * 120 } }));
		const edges = nodes.slice(1).map((node, i) => ({ source: nodes[i]!.id, target: node.id }));
		return { id, name: id, workflowType: "tools/call", nodes, edges };
	};
	const put = (definition: { id: string }) => genkan.rest("PUT", `/v1/workflows/${definition.id}`, definition);
	await put(path("many", 300));
	for (let i = 0; i < 50; i++) await put(path(`small-${i}`, 5));
}

/** measure opens a page some times, anew each time, and returns what the run that is the
 * median took, with its lines. What is done in the page is done once, and again in a new page
 * while a task of it is beyond the limit; the best counts. */
async function measure(
	browser: Browser,
	genkan: Genkan,
	subject: Subject,
): Promise<{ result: Measured; cells: string[][] }> {
	const opened: { shown: number; interactive: number; took: Took; script: number; slowest: string }[] = [];
	const acts = new Map<string, Took>();
	const open = async (act: (page: Page, cdp: CDPSession) => Promise<void>) => {
		const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
		context.setDefaultTimeout(30_000);
		try {
			const page = await signedIn(context, genkan, subject.shown);
			const cdp = await context.newCDPSession(page);
			await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
			await cdp.send("Profiler.enable");
			let times = { shown: 0, interactive: 0 };
			const took = await profiled(cdp, subject.name, () =>
				traced(browser, page, async () => {
					await page.goto(new URL(subject.path, genkan.ui).href, { waitUntil: "commit" });
					times = await interactive(page);
					await page.waitForTimeout(1500);
					return undefined;
				}),
			);
			const { metrics } = await cdp.send("Performance.getMetrics");
			const script = metrics.find((metric) => metric.name === "ScriptDuration")!.value * 1000;
			opened.push({ ...times, took, script, slowest: await slowestRequest(page) });
			await act(page, cdp);
		} finally {
			await context.close();
		}
	};
	const slow = () =>
		Object.entries(subject.acts ?? {}).filter(([name]) => !((acts.get(name)?.wall ?? Infinity) <= taskLimit));
	const doThem = async (page: Page, cdp: CDPSession) => {
		await page.keyboard.press("Escape");
		for (const [name, act] of slow()) {
			const took = await profiled(cdp, `${subject.name}, ${name}`, () => traced(browser, page, () => act(page)));
			if (!(took.wall >= (acts.get(name)?.wall ?? Infinity))) acts.set(name, took);
		}
	};
	for (let run = 1; run < runs; run++) await open(async () => {});
	await open(doThem);
	for (let again = 1; again < runs && slow().length > 0; again++) await open(doThem);
	const { shown, interactive: ready, took, script, slowest } = median(opened, (one) => one.interactive);
	const task = (t: Took) => `${t.wall.toFixed(0)} (${t.cpu.toFixed(0)})`;
	const line = [subject.name, shown.toFixed(0), ready.toFixed(0), task(took), script.toFixed(0)];
	const did = [...acts].map(([name, t]) => [name, task(t), t.frame.toFixed(0), t.note ?? ""]);
	const first = [...line, ...(did.shift() ?? ["", "", "", ""]), slowest];
	console.log(first.join("  "));
	const tasks = Object.fromEntries([...acts].map(([name, t]) => [name, t.wall]));
	return {
		result: { page: subject.name, interactive: ready, tasks },
		cells: [first, ...did.map((cells) => ["", "", "", "", "", ...cells, ""])],
	};
}

/** rowTime is how long after its start a call has a row with its arguments: the median of five. The clock of the
 * page and of Genkan are the same machine's. */
async function rowTime(browser: Browser, genkan: Genkan): Promise<number> {
	const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
	try {
		const page = await signedIn(context, genkan, row);
		await page.goto(new URL("calls", genkan.ui).href);
		await page.getByText("Live", { exact: true }).waitFor();
		await page.waitForTimeout(3000); // what was asked for again when events came
		const times: number[] = [];
		for (let n = 0; n < 5; n++) {
			const seen = page.evaluate(
				(text) =>
					new Promise<number>((resolve) => {
						const look = () => {
							const row = [...document.querySelectorAll('[role="row"]')].find((one) => one.textContent.includes(text));
							const began = row?.querySelector("time")?.dateTime;
							if (began) resolve(Date.now() - Date.parse(began));
							else requestAnimationFrame(look);
						};
						look();
					}),
				`row ${n}`,
			);
			await Promise.all([seen, genkan.call("server-0500__echo", { text: `row ${n}` })]);
			times.push(await seen);
			await page.waitForTimeout(500);
		}
		console.log(`a row appears after ${times.map((ms) => ms.toFixed(0)).join(", ")} ms`);
		return median(times, (ms) => ms);
	} finally {
		await context.close();
	}
}

/** profiled writes a profile of what is done, if profiles are wanted. */
async function profiled(cdp: CDPSession, name: string, act: () => Promise<Took>): Promise<Took> {
	if (!profiles) return act();
	await cdp.send("Profiler.start");
	const took = await act();
	const { profile } = await cdp.send("Profiler.stop");
	writeFileSync(join(profiles, `${name}.cpuprofile`), JSON.stringify(profile));
	return took;
}

type Probe = { shown?: number; interactive?: number; frame: number };
declare global {
	interface Window {
		probe: Probe;
	}
}

/** signedIn is a page that notes when something real is shown in it, when the window that
 * a key opened is, and how long frames take. */
async function signedIn(context: BrowserContext, genkan: Genkan, shown: string): Promise<Page> {
	const page = await context.newPage();
	await genkan.signIn(page);
	await page.addInitScript((selector) => {
		const probe: Probe = { frame: 0 };
		window.probe = probe;
		let before = performance.now();
		const look = (now: number) => {
			probe.frame = Math.max(probe.frame, now - before);
			before = now;
			if (probe.shown === undefined && document.querySelector(selector)) probe.shown = performance.now();
			else if (probe.interactive === undefined && document.querySelector("dialog[open]"))
				probe.interactive = performance.now();
			requestAnimationFrame(look);
		};
		requestAnimationFrame(look);
	}, shown);
	return page;
}

/** interactive waits for something real, presses the key that shows all keys, and returns
 * when each was seen, in milliseconds since the navigation. */
async function interactive(page: Page): Promise<{ shown: number; interactive: number }> {
	await page.waitForFunction(() => window.probe?.shown !== undefined, undefined, { polling: "raf" });
	await page.keyboard.press("?");
	await page.waitForFunction(() => window.probe.interactive !== undefined, undefined, { polling: "raf" });
	return page.evaluate(() => ({ shown: window.probe.shown!, interactive: window.probe.interactive! }));
}

/** traced is the longest task of the page's thread while something is done. */
async function traced(browser: Browser, page: Page, act: () => Promise<string | undefined>): Promise<Took> {
	await page.evaluate(() => {
		if (window.probe) window.probe.frame = 0;
	});
	await browser.startTracing(page, { categories: ["-*", "toplevel", "disabled-by-default-devtools.timeline"] });
	const note = await act();
	const frame = await page.evaluate(() => window.probe.frame);
	const { traceEvents: events } = JSON.parse((await browser.stopTracing()).toString()) as {
		traceEvents: { name: string; pid: number; tid: number; dur?: number; tdur?: number; args: { name?: string } }[];
	};
	const main = new Set(
		events.filter((e) => e.name === "thread_name" && e.args.name === "CrRendererMain").map((e) => `${e.pid} ${e.tid}`),
	);
	const tasks = events.filter((e) => e.name === "RunTask" && main.has(`${e.pid} ${e.tid}`));
	const most = (by: (e: (typeof tasks)[number]) => number | undefined) =>
		tasks.reduce((longest, e) => Math.max(longest, (by(e) ?? 0) / 1000), 0);
	return { wall: most((e) => e.dur), cpu: most((e) => e.tdur), frame, note };
}

const slowestRequest = (page: Page): Promise<string> =>
	page.evaluate(() => {
		const asked = performance
			.getEntriesByType("resource")
			.filter((e) => e.name.includes("/v1/") && !e.name.includes("/v1/events")) as PerformanceResourceTiming[];
		const slowest = asked.sort((a, b) => b.duration - a.duration)[0];
		if (!slowest) return "";
		const { pathname, search } = new URL(slowest.name);
		return `${slowest.duration.toFixed(0)} ms ${pathname}${search}`;
	});

/** scroll scrolls a list with the wheel, to its end or as far as it comes. */
async function scroll(page: Page): Promise<string> {
	const area = page.locator("[data-rows]").first();
	const box = (await area.boundingBox())!;
	await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
	const at = () => area.evaluate((e) => [e.scrollTop, e.scrollHeight - e.clientHeight] as const);
	const until = Date.now() + patience * 1000;
	let [now, end] = await at();
	let still = 0;
	while (Date.now() < until && still < 20) {
		await page.mouse.wheel(0, 2400);
		const before = now;
		[now, end] = await at();
		if (now === before) {
			still++;
			await page.waitForTimeout(50);
		} else still = 0;
	}
	return `${Math.round((now + box.height) / 36)} rows${now < end - 1 ? " so far" : ""}`;
}

/** drag drags a node. */
async function drag(page: Page): Promise<undefined> {
	const nodes = page.locator(".react-flow__node");
	const box = (await nodes.nth(Math.min(25, (await nodes.count()) - 1)).boundingBox())!;
	const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
	await page.mouse.move(x, y);
	await page.mouse.down();
	for (let i = 0; i < 60; i++) await page.mouse.move(x + i * 3, y + i * 2);
	await page.mouse.up();
	await page.waitForTimeout(1500); // it is saved, and checked
	return undefined;
}

/** pan moves the drawing, and zooms in and out of it. */
async function pan(page: Page): Promise<undefined> {
	const box = (await page.locator(".react-flow__pane").boundingBox())!;
	await page.mouse.move(box.x + 6, box.y + 6);
	await page.mouse.down();
	for (let i = 0; i < 60; i++) await page.mouse.move(box.x + 6 + i * 6, box.y + 6 + i * 3);
	await page.mouse.up();
	await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
	for (const delta of [-120, 120]) for (let i = 0; i < 12; i++) await page.mouse.wheel(0, delta);
	await page.waitForTimeout(500);
	return undefined;
}

function print(lines: string[][]): void {
	const widths = lines[0]!.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
	for (const line of lines)
		console.log(
			line
				.map((cell, i) => cell.padEnd(widths[i]!))
				.join("  ")
				.trimEnd(),
		);
}
