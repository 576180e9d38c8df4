import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { askBefore, clipboard, open, row, rows } from "./calls";
import { accessible, bin, expect, go, test } from "./genkan";

test.describe("a newcomer", () => {
	test.use({ config: "" });

	test("imports, connects, undoes, and sees the first call", async ({ genkan, signedIn: page }) => {
		const file = join(genkan.home, ".cursor", "mcp.json");
		mkdirSync(join(genkan.home, ".cursor"));
		const before = JSON.stringify({ mcpServers: { fault: { command: join(bin, "faultserver") } } });
		writeFileSync(file, before);
		await go(page, genkan, "calls");
		await expect(page.getByRole("heading", { name: "Welcome in." })).toBeVisible();
		await accessible(page);

		const steps = page.locator("main ol > li[data-step]");
		// Before the import there is nothing to connect.
		await expect(steps.nth(1).getByRole("button", { name: "Connect" })).toBeDisabled();
		await steps.nth(1).getByRole("button", { name: "Show the change" }).click();
		await expect(page.getByRole("dialog")).toContainText("import its servers first");
		await expect(page.getByRole("dialog").getByRole("button", { name: "Connect" })).toBeDisabled();
		await page.keyboard.press("Escape");
		await page.getByRole("button", { name: "Import" }).click();
		await page
			.getByRole("dialog")
			.getByRole("button", { name: /Import/ })
			.click();
		await expect(steps.nth(0)).toHaveAttribute("data-step", "done");
		await expect(steps.nth(0)).toContainText("1 server is here");

		await page.getByRole("button", { name: "Show the change" }).click();
		await expect(page.getByRole("dialog").getByText(/^-\s+"command": /)).toBeVisible();
		expect(readFileSync(file, "utf8")).toBe(before);
		await page.getByRole("dialog").getByRole("button", { name: "Connect" }).click();
		await expect(steps.nth(1)).toHaveAttribute("data-step", "done");
		expect(readFileSync(file, "utf8")).not.toBe(before);
		await steps.nth(1).getByRole("button", { name: "Undo" }).click();
		await expect(steps.nth(1)).toHaveAttribute("data-step", "now");
		expect(readFileSync(file, "utf8")).toBe(before);

		await steps.nth(2).getByRole("button", { name: "Copy" }).click();
		await expect.poll(() => clipboard(page)).toContain("Which MCP tools");
		await expect(page.getByText(`--data ${genkan.data} undo`)).toBeVisible();
		await steps.nth(2).getByRole("button", { name: "Send a test call" }).click();
		await expect(rows(page)).toHaveCount(2); // the heading and the call
		await expect(rows(page).nth(1)).toBeInViewport({ ratio: 1 });

		// It is no call of a client: the steps stay until they are done, or closed.
		await expect(steps.nth(2)).toHaveAttribute("data-step", "now");
		await page.reload();
		await expect(page.getByText("Getting started: 1 of 3 steps are done.")).toBeVisible();
		await page.getByRole("link", { name: "Go on" }).click();
		await expect(steps.nth(1)).toHaveAttribute("data-step", "now");
		await page.getByRole("button", { name: "Do not show again" }).click();
		await page.getByRole("link", { name: "To the calls" }).click();
		await expect(rows(page)).toHaveCount(2);
		await page.reload();
		await expect(rows(page)).toHaveCount(2);
		await expect(page.getByText("Getting started")).toHaveCount(0);
		await page.getByRole("button", { name: "Help and language" }).click();
		await page.getByRole("menuitem", { name: "Getting started" }).click();
		await expect(page.getByRole("heading", { name: "Welcome in." })).toBeVisible();
		// By hand, a client starts what the entry of the editor would start.
		await go(page, genkan, "clients");
		await expect(page.getByText(`"command": "${join(bin, "genkan")}"`)).toBeVisible();
	});
});

test("a running call is canceled from its page and from the list", async ({ genkan, signedIn: page }) => {
	await go(page, genkan, "calls");
	const said = /a person canceled this call in Genkan; the server was told to stop/;
	const canceled = (ms: number) =>
		expect(genkan.call("fault__sleep", { ms })).resolves.toMatchObject({ message: expect.stringMatching(said) });
	const running = row(page, "sleep").filter({ has: page.getByRole("img", { name: "running" }) });
	const first = canceled(600_000);
	await open(running);
	await page.getByRole("main").getByRole("button", { name: "Cancel the call" }).click();
	await expect(page.getByRole("status").filter({ hasText: "The call is canceled." })).toBeVisible();
	await expect(page.getByRole("main").getByText(said).first()).toBeVisible();
	await first;

	await go(page, genkan, "calls");
	const second = canceled(600_001);
	await running.getByRole("button", { name: "Cancel the call" }).click();
	await expect(page.getByText("a person canceled this call in Genkan")).toHaveCount(2);
	await second;
});

test("a double click cancels a call and stays on the list", async ({ genkan, signedIn: page }) => {
	await go(page, genkan, "calls");
	const call = genkan.call("fault__sleep", { ms: 600_000 });
	const cancel = page.getByRole("grid").getByRole("button", { name: "Cancel the call" });
	await expect(cancel).toBeVisible();
	const { x, y, width, height } = (await cancel.boundingBox())!;
	const at = [x + width / 2, y + height / 2] as const;
	await page.mouse.click(...at);
	await call;
	await expect(cancel).toHaveCount(0);
	await page.mouse.down({ clickCount: 2 });
	await page.mouse.up({ clickCount: 2 });
	expect(page.url()).toMatch(/\/calls$/);
});

test("j goes on from the call that was opened", async ({ genkan, signedIn: page }) => {
	for (const text of ["third", "second", "first"]) await genkan.call("fault__echo", { text });
	await go(page, genkan, "calls");
	await expect(row(page, "third")).toBeVisible();
	for (const [key, at] of [
		["j", "first"],
		["j", "second"],
	] as const) {
		await page.keyboard.press(key);
		await expect(row(page, at)).toHaveAttribute("aria-selected", "true");
	}
	await page.keyboard.press("Enter");
	await expect(page.getByRole("heading", { level: 1 })).toContainText("fault / ");
	await page.keyboard.press("Escape");
	await expect(row(page, "second")).toHaveAttribute("aria-selected", "true");
	await page.keyboard.press("j");
	await expect(row(page, "third")).toHaveAttribute("aria-selected", "true");
});

test("a call that has just ended is not canceled, and the page says so", async ({ genkan, signedIn: page }) => {
	await go(page, genkan, "calls");
	const call = genkan.call("fault__sleep", { ms: 600_000 });
	await open(row(page, "sleep"));
	await page.route("**/cancel", async (route) => {
		await genkan.rest("POST", new URL(route.request().url()).pathname); // somebody else is faster
		await route.continue();
	});
	await page.getByRole("main").getByRole("button", { name: "Cancel the call" }).click();
	await expect(page.getByText("has ended already, so nothing was canceled")).toBeVisible();
	await call;
});

test("what arrives live is in the language of the page", async ({ genkan, signedIn: page }) => {
	await page.addInitScript(() => localStorage.setItem("genkan.lang", "ja"));
	await go(page, genkan, "calls");
	await expect(page.getByRole("heading", { name: "呼び出し", exact: true })).toBeVisible();
	await genkan.call("fault__nothing");
	await expect(page.getByText("不明なツールです：fault__nothing")).toBeVisible();
});

test("calls arrive live, run, fold and unfold", async ({ genkan, signedIn: page }) => {
	await go(page, genkan, "calls");
	await genkan.call("fault__echo", { text: "first" });
	await expect(row(page, "echo")).toHaveCount(1);

	// A row is there while the call runs, and ticks.
	const running = genkan.call("fault__sleep", { ms: 600_000 });
	const sleep = row(page, "sleep");
	await expect(sleep.getByRole("img", { name: "running" })).toBeVisible();
	await expect(sleep).toContainText('"ms":600000');
	// So it is for who comes while it runs.
	await page.reload();
	await expect(sleep.getByRole("img", { name: "running" })).toBeVisible();
	await expect(sleep).toContainText('"ms":600000');
	const ticks = () => sleep.getByRole("gridcell").nth(5).textContent();
	const first = await ticks();
	await expect.poll(ticks).not.toBe(first);
	await sleep.getByRole("button", { name: "Cancel the call" }).click();
	await running;
	await expect(sleep.getByRole("button", { name: "canceled" })).toBeVisible();

	for (let n = 0; n < 5; n++) await genkan.call("fault__pid");
	const fold = page.getByRole("button", { name: "5 calls of pid" });
	await expect(fold).toHaveText("×5");
	await expect(row(page, "pid")).toHaveCount(1);
	await fold.click();
	await expect(row(page, "pid")).toHaveCount(6);
	// It is unfolded still on the way back from a call.
	await open(row(page, "pid").last());
	await expect(page.getByRole("heading", { name: "fault / pid" })).toBeVisible();
	await page.goBack();
	await expect(row(page, "pid")).toHaveCount(6);
	await fold.click();
	await expect(row(page, "pid")).toHaveCount(1);

	// Calls with other arguments stay apart.
	for (const text of ["one", "two", "two"]) await genkan.call("fault__echo", { text });
	await expect(page.getByRole("button", { name: "2 calls of echo" })).toBeVisible();
	await expect(row(page, "echo").filter({ hasText: '"one"' })).toHaveCount(1);
	await genkan.call("fault__echo", { text: "tea ".repeat(4100) });
	await expect(row(page, "tea tea").getByTitle(/^\d,\d{3}$/)).toHaveText(/^\d(\.\d)?K$/);

	// The name of a tool has its room beside the count.
	for (let n = 0; n < 2; n++) await genkan.call("everything__get-structured-content", { location: "Chicago" });
	await expect(page.getByRole("button", { name: "2 calls of get-structured-content" })).toBeVisible();
	const name = page.getByText("get-structured-content", { exact: true }).first();
	expect(await name.evaluate((it) => it.scrollWidth <= it.clientWidth)).toBe(true);

	// What others send is text.
	await genkan.call("<img src=x onerror=window.bad=1>");
	await expect(row(page, "<img src=x onerror=window.bad=1>")).toBeVisible();
	expect(await page.evaluate(() => [document.querySelectorAll("main img").length, "bad" in window])).toEqual([
		0,
		false,
	]);
	await accessible(page);
});

test("a call that begins while the list is fetched gets its arguments, too", async ({ genkan, signedIn: page }) => {
	let fetched = () => {};
	const asked = new Promise<void>((resolve) => {
		fetched = resolve;
	});
	let answer = () => {};
	const answered = new Promise<void>((resolve) => {
		answer = resolve;
	});
	await genkan.call("fault__pid");
	await go(page, genkan, "calls");
	await expect(page.getByText("Live")).toBeVisible();
	await page.route(
		/v1\/calls\?limit=50$/,
		async (route) => {
			const response = await route.fetch();
			fetched();
			await answered;
			await route.fulfill({ response });
		},
		{ times: 1 },
	);
	await genkan.call("fault__echo", { text: "first" });
	await asked;
	await genkan.call("fault__sleep", { ms: 7 });
	await expect(row(page, "sleep").getByRole("button", { name: "worked" })).toBeVisible();
	answer();
	await expect(row(page, "sleep")).toContainText('"ms":7');
	await expect(row(page, "echo")).toContainText('"first"');
});

test("filters are in the address: by clicks, with Alt, by menus and by text", async ({ genkan, signedIn: page }) => {
	await go(page, genkan, "calls");
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

	await page.getByText("get-sum", { exact: true }).click({ modifiers: ["Alt"] });
	await expect(page).toHaveURL(/tool=(!|%21)everything__get-sum/);
	await expect(rows(page)).toHaveCount(3);
	// By keyboard, a filter is chosen in a menu and turned around.
	const turn = page.getByRole("button", { name: "not tool: everything / get-sum", exact: true });
	await turn.focus();
	await page.keyboard.press("Enter");
	await expect(page).toHaveURL(/\?tool=everything__get-sum$/);
	await expect(rows(page)).toHaveCount(2);
	await page.keyboard.press("Enter");
	await expect(rows(page)).toHaveCount(3);
	await expect(turn).toBeFocused();
	await page.getByRole("button", { name: "Remove the filter not tool: everything / get-sum" }).click();

	await row(page, "raw").getByRole("button", { name: "server error" }).last().click();
	await expect(page).toHaveURL(/\?outcome=server_error$/);
	await expect(rows(page)).toHaveCount(2);
	await row(page, "raw")
		.getByRole("button", { name: "server error" })
		.first()
		.click({ modifiers: ["Alt"] });
	await expect(page).toHaveURL(/outcome=(!|%21)server_error/);
	await expect(page.getByTitle("Left out. A click shows only these.")).toHaveText("not outcome: server error");
	await expect(rows(page)).toHaveCount(3);
	await page.getByRole("button", { name: "Remove the filter not outcome: server error" }).click();

	// The name of a tool opens the call; its page leads to all calls of the tool.
	await page.getByText("get-sum", { exact: true }).click();
	await expect(page.getByRole("heading", { level: 1 })).toContainText("everything / get-sum");
	await page.getByRole("link", { name: "everything__get-sum" }).click();
	await expect(page).toHaveURL(/\?tool=everything__get-sum$/);
	await expect(rows(page)).toHaveCount(2);
	await page.getByRole("button", { name: "Remove the filter tool: everything / get-sum" }).click();
	await page.getByRole("button", { name: "tool", exact: true }).click();
	await page.getByRole("menuitem", { name: "fault / echo" }).click();
	await expect(row(page, "echo")).toBeVisible();
	await expect(rows(page)).toHaveCount(2);
	await page.getByRole("button", { name: "Remove the filter tool: fault / echo" }).click();
	await expect(rows(page)).toHaveCount(4);

	await page.getByRole("button", { name: "failed or denied only" }).click();
	await expect(page).toHaveURL(/outcome=error/);
	await expect(rows(page)).toHaveCount(2);
	await expect(row(page, "The disk is full.")).toBeVisible();
	await page.reload();
	await expect(rows(page)).toHaveCount(2);
	await genkan.call("fault__echo", { text: "no failure" });
	await genkan.call("fault__raw", { error_json: '{"code":-32000,"message":"Again."}' });
	await expect(row(page, "Again.")).toBeVisible();
	await expect(rows(page)).toHaveCount(3);
	await page.getByRole("button", { name: "failed or denied only" }).click();

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
	// What is typed stays as it is, undoes no filter and leads back from no page.
	await box.fill("言葉 ");
	await expect(page).toHaveURL(/text=/);
	await expect(box).toHaveValue("言葉 ");
	await box.fill("disk");
	await page.getByRole("button", { name: "failed or denied only" }).click();
	await expect(page).toHaveURL(/text=disk/);
	await expect(page).toHaveURL(/outcome=error/);
	await page.getByRole("button", { name: "failed or denied only" }).click();
	await box.fill("is full");
	await open(row(page, "The disk is full."));
	await page.getByRole("searchbox", { name: "Find in this call" }).fill("is full");
	await expect(page.getByText(/^1\/\d+$/)).toBeVisible(); // that takes longer
	expect(page.url()).toMatch(/\/calls\/[^?]/);
	await page.goBack();
	await box.fill("");
	await expect(page).not.toHaveURL(/text=/);

	await page.getByRole("button", { name: "slower than" }).click();
	await page.getByRole("menuitem", { name: "30 s" }).click();
	await expect(page.getByText("No call is like that.")).toBeVisible();
	await expect(page.getByRole("main")).not.toContainText("Secrets are masked");
	await box.fill("sk-nobody-has-this");
	await expect(page.getByRole("main")).toContainText("Secrets are masked wherever the history is shown");
	await accessible(page);
	await page.getByRole("button", { name: "Show all calls" }).click();
	await expect(page).toHaveURL(/\/calls$/);

	await page.route("**/v1/calls?*limit=1000*", () => {}); // its answer takes long
	await page.getByRole("button", { name: "Export" }).click();
	await page.getByRole("button", { name: "Cancel" }).click();
	await page.unrouteAll();
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
	await go(page, genkan, "calls");
	await expect(row(page, "pid").first()).toBeVisible();
	await expect(page.getByRole("region", { name: "Figures" })).toContainText(
		/^Calls a minute · Last hour1\.0\s*60 calls/,
	);
	const list = page.locator("[data-rows]");
	await list.evaluate((element) => element.scrollTo({ top: 600 }));
	const top = () =>
		list.evaluate((element) => {
			const box = element.getBoundingClientRect();
			return document.elementFromPoint(box.x + 400, box.y + 100)?.closest("[role=row]")?.textContent;
		});
	await page.waitForTimeout(100);
	const before = await top();
	for (let n = 0; n < 3; n++) await genkan.call("fault__echo", { text: "again" });
	await expect(page.getByRole("button", { name: "3 new" })).toBeVisible();
	expect(await top()).toBe(before);
	await page.getByRole("button", { name: "3 new" }).click();
	await expect(page.getByRole("button", { name: "3 calls of echo" })).toBeVisible();

	await page.keyboard.press("j");
	await page.keyboard.press("j");
	await page.keyboard.press("k");
	await page.keyboard.press("Enter");
	await expect(page).toHaveURL(/\/calls\/[A-Z0-9]+-\d+$/);
	const heading = page.getByRole("heading", { level: 1 });
	await expect(heading).toContainText("fault / ");
	await page.keyboard.press("Escape");
	await expect(page).toHaveURL(/\/calls$/);
	await page.goBack();
	await expect(heading).toContainText("fault / ");
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
	await go(page, genkan, "calls");
	await expect(row(page, "pid")).toBeVisible();
	await expect(page.getByRole("link", { name: /^\d+ servers?,( all)? up$/ })).toBeVisible();
	await expect(rows(page).nth(1)).toContainText("echo");
	await expect(rows(page).nth(2)).toContainText("pid");
	await row(page, "echo").getByRole("gridcell").nth(4).click();
	await expect(page.getByText("Calls that it made")).toBeVisible();
	await page.getByRole("link", { name: /pid/ }).click();
	await expect(page.getByText("made it.")).toBeVisible();
});

test("a call that waits is allowed or denied above the list", async ({ genkan, signedIn: page }) => {
	await askBefore(genkan, "fault__echo");
	const allowed = genkan.call("fault__echo", { text: "may I?" });
	await go(page, genkan, "calls?waiting=1");
	const waiting = page.getByRole("region", { name: "Calls that wait for you" });
	await expect(waiting).toContainText("Is that right?");
	await expect(waiting).toContainText("may I?");
	await expect(page).toHaveTitle("(1) Calls · Genkan");
	await accessible(page);
	// On a narrow window every page tells of it, and the question has the width.
	await page.setViewportSize({ width: 390, height: 844 });
	const question = waiting.getByText("Is that right?");
	expect((await question.locator("..").boundingBox())!.width).toBeGreaterThan(250);
	await go(page, genkan, "tools");
	await page.locator("main").getByRole("link", { name: "1 call waits for you" }).click();
	await expect(page).toHaveURL(/calls\?waiting=1$/);
	await page.setViewportSize({ width: 1280, height: 860 });
	// The second click of a double click is none.
	await waiting.getByRole("button", { name: "Allow" }).dblclick();
	expect(JSON.stringify(await allowed)).toContain("may I?");
	await expect(page.getByText("fault / echo is allowed.")).toBeVisible();
	await expect(page.getByRole("status").filter({ hasText: "pending" })).toHaveCount(0);
	const denied = genkan.call("fault__echo", { text: "and now?" });
	await expect(waiting).toContainText("and now?");
	await expect(row(page, "echo").first()).toContainText("waits for approval");
	await waiting.getByRole("textbox", { name: "Why not?" }).fill("Not on a Friday");
	await waiting.getByRole("button", { name: "Deny" }).click();
	const why = String(await denied);
	expect(why).toContain("403");
	expect(why).toContain("Not on a Friday");
	await expect(page.getByText("No call waits for you.")).toBeVisible();
});

test("a call that begins to wait takes nobody's focus, and is read out", async ({ genkan, signedIn: page }) => {
	await askBefore(genkan, "fault__echo");
	await genkan.call("fault__pid");
	await go(page, genkan, "calls?waiting=1");
	await expect(page.getByText("No call waits for you.")).toBeVisible();
	const search = page.getByPlaceholder("Text in arguments, answers and errors");
	await search.fill("hel");
	const denied = genkan.call("fault__echo", { text: "now" });
	await expect(page.getByRole("region", { name: "Calls that wait for you" })).toContainText("Is that right?");
	await expect(page.getByRole("status").filter({ hasText: "1 call waits for you" })).toHaveCount(1);
	await expect(search).toBeFocused();
	// Whoever follows the link decides with the next key.
	await go(page, genkan, "tools");
	await page.getByRole("navigation").getByRole("link", { name: "1 call waits for you" }).click();
	await expect(page.getByRole("button", { name: "Deny" })).toBeFocused();
	await page.keyboard.press("Enter");
	expect(String(await denied)).toContain("403");
});

test("a double click allows one call, though the next one takes its place", async ({ genkan, signedIn: page }) => {
	await askBefore(genkan, "fault__echo");
	const count = async () => (await genkan.rest<{ approvals: unknown[] }>("GET", "/v1/approvals")).approvals.length;
	const first = genkan.call("fault__echo", { text: "first" });
	await expect.poll(count).toBe(1);
	const second = genkan.call("fault__echo", { text: "second" });
	await expect.poll(count).toBe(2);
	await go(page, genkan, "calls");
	const allow = page.getByRole("button", { name: "Allow" });
	await expect(allow).toHaveCount(2);
	await page.evaluate(() => {
		// The call that has moved never settles, however busy the machine is.
		const later = window.setTimeout.bind(window);
		window.setTimeout = ((act: () => void, ms?: number) => (ms === 800 ? 0 : later(act, ms))) as typeof setTimeout;
	});
	const at = (await allow.first().boundingBox())!;
	await page.mouse.click(at.x + 20, at.y + 10);
	await expect(allow).toHaveCount(1);
	await page.mouse.click(at.x + 20, at.y + 10); // where the second call is now
	expect(JSON.stringify(await first)).toContain("first");
	await expect(allow).toHaveCount(1);
	await allow.press("Enter"); // what has the focus is meant
	expect(JSON.stringify(await second)).toContain("second");
});

test("the row that j and k reach is read out", async ({ genkan, signedIn: page }) => {
	for (const text of ["one", "two", "three"]) await genkan.call("fault__echo", { text });
	await go(page, genkan, "calls");
	await expect(rows(page)).toHaveCount(4);
	const list = page.getByRole("grid", { name: "Calls" });
	const reached = async () => {
		const id = await list.getAttribute("aria-activedescendant");
		return page.locator(`[id="${id}"]`).textContent();
	};
	await page.keyboard.press("j");
	await expect(list).toBeFocused();
	expect(await reached()).toContain("three");
	await page.keyboard.press("j");
	expect(await reached()).toContain("two");
	await page.keyboard.press("k");
	// On the way back from a call that was opened by a click, j goes on from there.
	await rows(page).nth(2).getByRole("gridcell").nth(4).click();
	await expect(page.getByRole("heading", { level: 1 })).toContainText("fault / ");
	await page.keyboard.press("Escape");
	await expect(rows(page)).toHaveCount(4);
	await page.keyboard.press("j");
	expect(await reached()).toContain("one");
});

test.describe("a server that is down", () => {
	test.use({ config: JSON.stringify({ mcpServers: { broken: { command: "no-such-program" } } }) });

	test("is told in a sentence, and its page has the rest", async ({ genkan, signedIn: page }) => {
		await go(page, genkan, "calls");
		const strip = page.getByRole("status").filter({ hasText: "broken is down" });
		await expect(strip).toContainText('"no-such-program" was not found;');
		await expect(strip).not.toContainText("PATH");
		await strip.getByRole("link", { name: "Show" }).click();
		await page.getByText("The whole error").click();
		await expect(page.getByText(/Looked in the PATH of genkan/)).toBeVisible();
	});
});

test("a narrow window shows when calls were made, and by whom", async ({ genkan, signedIn: page }) => {
	await genkan.call("fault__echo", { text: "small" });
	await page.setViewportSize({ width: 390, height: 844 });
	await go(page, genkan, "calls");
	await expect(row(page, "echo").getByText(/\d:\d\d.* · admin/)).toBeVisible();
	await page.setViewportSize({ width: 1280, height: 860 });
	await expect(row(page, "echo").getByText(/\d:\d\d.* · admin/)).toBeHidden();
	await expect.poll(async () => (await row(page, "echo").boundingBox())!.height).toBe(36);
});
