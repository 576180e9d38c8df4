import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { accessible, bin, expect, type Genkan, go, test } from "./genkan";

const rows = (page: Page) => page.getByRole("table", { name: "Calls" }).getByRole("row");
const row = (page: Page, text: string) => rows(page).filter({ hasText: text });
/** idOf is the newest call of a tool. */
const idOf = async (genkan: Genkan, tool: string) =>
	(await genkan.rest<{ calls: { id: string }[] }>("GET", `/v1/calls?limit=1&tool=${tool}`)).calls[0]!.id;
const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

test.describe("a newcomer", () => {
	test.use({ config: "" });

	test("imports, connects, undoes, and sees the first call", async ({ genkan, signedIn: page }) => {
		const file = join(genkan.home, ".cursor", "mcp.json");
		mkdirSync(join(genkan.home, ".cursor"));
		const before = JSON.stringify({ mcpServers: { fault: { command: join(bin, "faultserver") } } }, null, 2);
		writeFileSync(file, before);
		await page.reload();
		await expect(page.getByRole("heading", { name: "Welcome in." })).toBeVisible();
		await accessible(page);

		const steps = page.locator("main ol > li[data-step]");
		await page.getByRole("button", { name: "Import" }).click();
		await page
			.getByRole("dialog")
			.getByRole("button", { name: /Import/ })
			.click();
		await expect(steps.nth(0)).toHaveAttribute("data-step", "done");
		await expect(steps.nth(0)).toContainText("1 server is here");

		await page.getByRole("button", { name: "Show the change" }).click();
		await expect(page.getByRole("dialog")).toContainText("fault");
		expect(readFileSync(file, "utf8")).toBe(before);
		await page.getByRole("dialog").getByRole("button", { name: "Connect" }).click();
		await expect(steps.nth(1)).toHaveAttribute("data-step", "done");
		expect(readFileSync(file, "utf8")).not.toBe(before);
		await steps.nth(1).getByRole("button", { name: "Undo" }).click();
		await expect(steps.nth(1)).toHaveAttribute("data-step", "now");
		expect(readFileSync(file, "utf8")).toBe(before);

		await steps.nth(2).getByRole("button", { name: "Copy" }).click();
		await expect.poll(() => clipboard(page)).toContain("Genkan");
		await steps.nth(2).getByRole("button", { name: "Send a test call" }).click();
		await expect(rows(page)).toHaveCount(2); // the heading and the call
	});
});

test("calls arrive live, run, fold and unfold", async ({ genkan, signedIn: page }) => {
	await genkan.call("fault__echo", { text: "first" });
	await expect(row(page, "echo")).toHaveCount(1);

	// A row is there while the call runs, and ticks.
	const running = genkan.call("fault__sleep", { ms: 3000 });
	const sleep = row(page, "sleep");
	await expect(sleep.getByRole("img", { name: "running" })).toBeVisible({ timeout: 2000 });
	const ticks = () => sleep.getByRole("cell").nth(5).textContent();
	const first = await ticks();
	await expect.poll(ticks).not.toBe(first);
	await running;
	await expect(sleep.getByRole("img", { name: "worked" })).toBeVisible();

	for (let n = 0; n < 5; n++) await genkan.call("fault__pid");
	const fold = page.getByRole("button", { name: "5 calls of pid" });
	await expect(fold).toHaveText("×5");
	await expect(row(page, "pid")).toHaveCount(1);
	await fold.click();
	await expect(row(page, "pid")).toHaveCount(6);
	await fold.click();
	await expect(row(page, "pid")).toHaveCount(1);

	// What others send is text.
	await genkan.call("<img src=x onerror=window.bad=1>");
	await expect(row(page, "<img src=x onerror=window.bad=1>")).toBeVisible();
	expect(await page.evaluate(() => [document.querySelectorAll("main img").length, "bad" in window])).toEqual([
		0,
		false,
	]);
	await accessible(page);
});

test("a row appears within 200 ms of the call", async ({ genkan, signedIn: page }) => {
	await genkan.call("fault__pid");
	await expect(row(page, "pid")).toBeVisible();
	const took: number[] = [];
	for (let n = 0; n < 5; n++) {
		// The clock of the page and of Genkan are the same machine's.
		const seen = page.evaluate(
			(known) =>
				new Promise<number>((resolve) => {
					const look = () => {
						const time = [...document.querySelectorAll("time")]
							.map((one) => one.dateTime)
							.sort()
							.at(-1)!;
						if (time > known) resolve(Date.now() - Date.parse(time));
						else requestAnimationFrame(look);
					};
					look();
				}),
			new Date().toISOString(),
		);
		const [ms] = await Promise.all([seen, genkan.call("fault__sleep", { ms: 400 })]);
		took.push(ms);
	}
	console.log(`a row appears after ${took.join(", ")} ms`);
	expect(took.sort((a, b) => a - b)[2]).toBeLessThan(200);
});

test("filters are in the address: by clicks, with Alt, by menus and by text", async ({ genkan, signedIn: page }) => {
	await genkan.call("fault__echo", { text: "検索される言葉" });
	await genkan.call("everything__get-sum", { a: 1, b: 2 });
	await genkan.call("fault__raw", { error_json: '{"code":-32000,"message":"The disk is full."}' });
	await expect(rows(page)).toHaveCount(4);

	await page.getByRole("button", { name: "everything", exact: true }).click();
	await expect(page).toHaveURL(/\?server=everything$/);
	await expect(rows(page)).toHaveCount(2);
	await page.getByRole("button", { name: "Remove the filter server: everything" }).click();
	await expect(rows(page)).toHaveCount(4);

	await page.getByRole("button", { name: "everything", exact: true }).click({ modifiers: ["Alt"] });
	await expect(page).toHaveURL(/server=(!|%21)everything/);
	await expect(row(page, "get-sum")).toHaveCount(0);
	await expect(rows(page)).toHaveCount(3);
	await page.goBack();
	await expect(rows(page)).toHaveCount(4);

	await page.getByRole("button", { name: "failed only" }).click();
	await expect(page).toHaveURL(/outcome=error/);
	await expect(rows(page)).toHaveCount(2);
	await expect(row(page, "The disk is full.")).toBeVisible();
	await page.reload();
	await expect(rows(page)).toHaveCount(2);
	await genkan.call("fault__echo", { text: "no failure" });
	await genkan.call("fault__raw", { error_json: '{"code":-32000,"message":"Again."}' });
	await expect(page.getByRole("button", { name: "2 calls of raw" })).toBeVisible();
	await page.getByRole("button", { name: "failed only" }).click();

	// Enter that belongs to an input method looks for nothing.
	await page.keyboard.press("/");
	const box = page.getByRole("searchbox", { name: /Text in/ });
	await expect(box).toBeFocused();
	const client = await page.context().newCDPSession(page);
	await client.send("Input.imeSetComposition", { text: "けんさく", selectionStart: 4, selectionEnd: 4 });
	await client.send("Input.dispatchKeyEvent", {
		type: "keyDown",
		key: "Enter",
		code: "Enter",
		windowsVirtualKeyCode: 229,
	});
	await page.waitForTimeout(700);
	expect(page.url()).not.toContain("text=");
	await client.send("Input.insertText", { text: "検索される" });
	await expect(page).toHaveURL(/text=/);
	await expect(rows(page)).toHaveCount(2);
	await expect(row(page, "echo")).toBeVisible();
	await page.keyboard.press("Escape");
	await expect(page).not.toHaveURL(/text=/);

	await page.getByRole("button", { name: "slower than" }).click();
	await page.getByRole("menuitem", { name: "30 s" }).click();
	await expect(page.getByText("No call is like that.")).toBeVisible();
	await accessible(page);
	await page.getByRole("button", { name: "Show all calls" }).click();
	await expect(page).toHaveURL(/\/calls$/);

	const download = page.waitForEvent("download");
	await page.getByRole("button", { name: "Export" }).click();
	const lines = readFileSync((await (await download).path())!, "utf8")
		.trim()
		.split("\n");
	expect(lines.map((line) => JSON.parse(line).tool)).toContain("everything__get-sum");
});

test("j, k and Enter open a call; nothing jumps for who reads further down", async ({ genkan, signedIn: page }) => {
	const tools = ["fault__pid", "fault__env"];
	for (let n = 0; n < 60; n++) await genkan.call(tools[n % 2]!);
	await page.reload();
	await expect(row(page, "pid").first()).toBeVisible();
	const list = page.locator("[data-list]");
	await list.evaluate((element) => element.scrollTo({ top: 600 }));
	const top = () =>
		list.evaluate((element) => {
			const box = element.getBoundingClientRect();
			return document.elementFromPoint(box.x + 400, box.y + 100)?.closest("[role=row]")?.textContent;
		});
	await page.waitForTimeout(100);
	const before = await top();
	for (let n = 0; n < 3; n++) await genkan.call("fault__echo", { text: String(n) });
	await expect(page.getByRole("button", { name: "3 new" })).toBeVisible();
	expect(await top()).toBe(before);
	await page.getByRole("button", { name: "3 new" }).click();
	await expect(page.getByRole("button", { name: "3 calls of echo" })).toBeVisible();

	await page.keyboard.press("j");
	await page.keyboard.press("j");
	await page.keyboard.press("j");
	await page.keyboard.press("k");
	await page.keyboard.press("Enter");
	await expect(page).toHaveURL(/\/calls\/[A-Z0-9]+-\d+$/);
	await expect(page.getByRole("heading", { level: 1 })).toContainText("fault / ");
	await page.goBack();
	await expect(row(page, "echo")).toBeVisible();
});

test("calls that a call made are below it", async ({ genkan, signedIn: page }) => {
	await genkan.rest("PUT", "/v1/workflows/twice", {
		id: "twice",
		name: "Twice",
		workflowType: "tools/call",
		match: { tools: ["fault__echo"] },
		nodes: [
			{ id: "start", type: "start" },
			{ id: "other", type: "tool", data: { tool: "fault__pid", arguments: {}, into: "pid" } },
			{ id: "call", type: "mcp-call" },
			{ id: "end", type: "end" },
		],
		edges: [
			{ source: "start", target: "other" },
			{ source: "other", target: "call" },
			{ source: "call", target: "end" },
		],
	});
	await genkan.rest("POST", "/v1/workflows/twice/enable", {});
	await genkan.call("fault__echo", { text: "with a child" });
	await expect(row(page, "pid")).toBeVisible();
	await expect(rows(page).nth(1)).toContainText("echo");
	await expect(rows(page).nth(2)).toContainText("pid");
	await row(page, "echo").getByRole("cell").nth(4).click();
	await expect(page.getByText("Calls that it made")).toBeVisible();
	await page.getByRole("link", { name: /pid/ }).click();
	await expect(page.getByText("made it.")).toBeVisible();
});

test("a call that waits is allowed or denied above the list", async ({ genkan, signedIn: page }) => {
	await genkan.rest("PUT", "/v1/workflows/ask", {
		id: "ask",
		name: "Ask",
		workflowType: "tools/call",
		match: { tools: ["fault__echo"] },
		nodes: [
			{ id: "start", type: "start" },
			{ id: "person", type: "approve", data: { message: "Is that right?" } },
			{ id: "call", type: "mcp-call" },
			{ id: "end", type: "end" },
			{ id: "no", type: "end", data: { outcome: "deny", message: "A person said no." } },
		],
		edges: [
			{ source: "start", target: "person" },
			{ source: "person", target: "call" },
			{ source: "person", target: "no", sourceHandle: "denied" },
			{ source: "call", target: "end" },
		],
	});
	await genkan.rest("POST", "/v1/workflows/ask/enable", {});
	const allowed = genkan.call("fault__echo", { text: "may I?" });
	await go(page, genkan, "calls?waiting=1");
	const waiting = page.getByRole("region", { name: "Calls that wait for you" });
	await expect(waiting).toContainText("Is that right?");
	await expect(waiting).toContainText("may I?");
	await accessible(page);
	await waiting.getByRole("button", { name: "Allow" }).click();
	expect(JSON.stringify(await allowed)).toContain("may I?");
	const denied = genkan.call("fault__echo", { text: "and now?" });
	await expect(waiting).toContainText("and now?");
	await waiting.getByRole("button", { name: "Deny" }).click();
	expect(String(await denied)).toContain("403");
	await expect(page.getByText("No call waits for you.")).toBeVisible();
});

test.describe("one call", () => {
	test("a sentence, what was sent and received, copies, find, run again", async ({ genkan, signedIn: page }) => {
		await genkan.call("fault__echo", { text: "# Title\n\nIt's **bold**: <img src=x onerror=window.bad=1>" });
		const id = await idOf(genkan, "fault__echo");
		await go(page, genkan, `calls/${id}`);
		await expect(page.locator("main")).toContainText(/admin called fault__echo at [\d:]+: \S+ ms \(.*server/);
		await expect(page.getByText("Where the time went")).toBeVisible();
		await expect(page.getByRole("heading", { name: "Title" })).toBeVisible();
		expect(await page.evaluate(() => [document.querySelectorAll("main img").length, "bad" in window])).toEqual([
			0,
			false,
		]);
		await accessible(page);

		const copy = async (as: string) => {
			await page.getByRole("button", { name: "Copy as" }).click();
			await page.getByRole("menuitem", { name: as }).click();
		};
		await copy("genkan call");
		const quoted = String.raw`It'\''s **bold**`;
		await expect.poll(() => clipboard(page)).toContain("genkan call 'fault__echo' '{\"text\":");
		expect(await clipboard(page)).toContain(quoted);
		await copy("curl");
		await expect.poll(() => clipboard(page)).toMatch(/^curl 'http:.*\/v1\/tools\/call'/);
		await copy("Link");
		await expect.poll(() => clipboard(page)).toMatch(new RegExp(`/ui/calls/${id}$`));
		await copy("Markdown for an agent");
		await expect.poll(() => clipboard(page)).toMatch(/^# Call .*fault__echo[\s\S]*## Answer/);

		await page.keyboard.press("/");
		await page.keyboard.type("bold");
		await expect(page.getByText("1/2")).toBeVisible();
		await page.keyboard.press("Enter");
		await expect(page.getByText("2/2")).toBeVisible();
		await page.keyboard.press("Escape");

		await page.getByRole("button", { name: "JSON" }).last().click();
		await expect(page.getByText('"content"')).toBeVisible();
		await page.getByRole("button", { name: "Bytes" }).last().click();
		await expect(page.getByText("000000  7b 22")).toBeVisible();

		// It only reads, so it runs at once.
		await page.getByRole("button", { name: "Run again" }).click();
		await expect(page.getByRole("dialog")).toContainText("fault__echo answered");
		await page.keyboard.press("Escape");

		await page.getByRole("button", { name: "Replay through a draft" }).click();
		await page.getByRole("menuitem", { name: "A new workflow" }).click();
		await expect(page).toHaveURL(new RegExp(`/workflows/new\\?call=${id}$`));
	});

	test("a tool that is not read-only is run again after a question", async ({ genkan, signedIn: page }) => {
		await genkan.call("fault__count");
		await go(page, genkan, `calls/${await idOf(genkan, "fault__count")}`);
		await page.getByRole("button", { name: "Run again" }).click();
		await expect(page.getByRole("dialog")).toContainText("Run fault__count again?");
		await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
		await page.getByRole("button", { name: "Run again" }).click();
		await page.getByRole("dialog").getByRole("button", { name: "Run again" }).click();
		await expect(page.getByRole("dialog")).toContainText("2");
	});

	test("[ and ] step through failed calls; a secret names its rule; images and tables are drawn", async ({
		genkan,
		signedIn: page,
	}) => {
		const fail = (message: string) =>
			genkan.call("fault__raw", { error_json: JSON.stringify({ code: -32000, message }) });
		await fail("The first failure.");
		await genkan.call("everything__get-tiny-image");
		await fail("The second failure.");
		await genkan.call("everything__get-structured-content", { location: "Chicago" });
		await genkan.call("fault__echo", { text: "postgres://app:hunter2secretpw@db/app" });
		await go(page, genkan, `calls/${await idOf(genkan, "fault__echo")}`);
		await expect(page.getByText("Secrets were taken out by url-password.")).toBeVisible();
		await expect(page.locator("mark", { hasText: "[redacted:url-password]" }).first()).toBeVisible();
		await expect(page.locator("main")).not.toContainText("hunter2secretpw");
		await expect(page.getByRole("button", { name: "Run again" })).toBeDisabled();

		await page.keyboard.press("[");
		await expect(page.locator("main")).toContainText("The second failure.");
		await page.keyboard.press("[");
		await expect(page.locator("main")).toContainText("The first failure.");
		await page.keyboard.press("[");
		await expect(page.getByText("No earlier call failed.")).toBeVisible();
		await page.keyboard.press("]");
		await expect(page.locator("main")).toContainText("The second failure.");
		await page.keyboard.press("]");
		await expect(page.getByText("No later call failed.")).toBeVisible();

		await go(page, genkan, `calls/${await idOf(genkan, "get-tiny-image")}`);
		await expect(page.getByRole("img", { name: "Image of the answer" })).toBeVisible();
		await go(page, genkan, `calls/${await idOf(genkan, "get-structured-content")}`);
		await expect(page.getByText('"temperature"')).toHaveCount(1); // the text beside it is the same
	});

	test("what each node changed is a diff", async ({ genkan, signedIn: page }) => {
		await genkan.rest("PUT", "/v1/workflows/polite", {
			id: "polite",
			name: "Polite",
			workflowType: "tools/call",
			match: { tools: ["fault__echo"] },
			nodes: [
				{ id: "start", type: "start" },
				{
					id: "please",
					type: "hook",
					data: { hook: { blocking: true, script: 'context.request.params.arguments.text += ", please"' } },
				},
				{ id: "call", type: "mcp-call" },
				{ id: "end", type: "end" },
			],
			edges: [
				{ source: "start", target: "please" },
				{ source: "please", target: "call" },
				{ source: "call", target: "end" },
			],
		});
		await genkan.rest("POST", "/v1/workflows/polite/enable", {});
		await genkan.call("fault__echo", { text: "tea" });
		await go(page, genkan, `calls/${await idOf(genkan, "fault__echo")}`);
		await page.getByRole("tab", { name: /Changes per node/ }).click();
		await expect(page).toHaveURL(/tab=changes/);
		await expect(page.getByText("/request/params/arguments/text")).toBeVisible();
		await expect(page.getByText("tea", { exact: true })).toBeVisible();
		await expect(page.getByText("tea, please")).toBeVisible();
		await page.getByRole("button", { name: "Replay through a draft" }).click();
		await expect(page.getByRole("menuitem", { name: "Polite" })).toBeVisible();
		await accessible(page);
	});
});

test("a call that is gone says so", async ({ page, genkan }) => {
	await page.goto(await genkan.link());
	await expect(page.getByRole("navigation")).toBeVisible();
	await go(page, genkan, "calls/GONE-1");
	await expect(page.getByRole("alert")).toContainText("GONE-1");
	await accessible(page);
});

test.describe("without bodies", () => {
	test("a call says why nothing is there", async ({ genkan, signedIn: page }) => {
		const { token } = await genkan.rest<{ token: string }>("POST", "/v1/tokens", { name: "ci" });
		await fetch(new URL("../v1/tools/call", genkan.ui), {
			method: "POST",
			headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
			body: JSON.stringify({ name: "fault__pid" }),
		});
		await go(page, genkan, `calls/${await idOf(genkan, "fault__pid")}`);
		await expect(
			page.getByText("What was sent and received is kept only for clients of this machine's user"),
		).toBeVisible();
		await expect(page.getByRole("button", { name: "Replay through a draft" })).toBeDisabled();
		await accessible(page);
	});
});
