import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Page } from "@playwright/test";
import { accessible, bin, expect, type Genkan, go, pictures, test } from "./genkan";

// The knowledge base needs no servers.
test.use({ config: "kb: {enabled: true}\n", provoked: /^404 GET .*\/v1\/items\// });

const rows = (page: Page) => page.getByRole("grid", { name: "Items" }).getByRole("row");
const row = (page: Page, text: string) => rows(page).filter({ hasText: text });
const look = process.env.PICTURES;
const shots = async (page: Page, name: string) => look && (await pictures(page, look, name));

type Made = { type: string; id: number };

/** fill makes items that hang together: design – decision – issue – fix, and one alone. */
async function fill(genkan: Genkan): Promise<Record<"design" | "decision" | "issue" | "fix" | "alone", string>> {
	const make = async (body: Record<string, unknown>) => {
		const { type, id } = await genkan.rest<Made>("POST", "/v1/items", body);
		return `${type}-${id}`;
	};
	const content =
		"# Storage\n\nWe keep **everything** in SQLite.\n\n- one file\n- safe copies\n\n<img src=x onerror=window.bad=1>";
	const design = await make({
		type: "docs",
		title: "Design of the storage",
		content,
		tags: ["storage"],
		priority: "HIGH",
	});
	const decision = await make({
		type: "decisions",
		title: "Use SQLite",
		content: "One file.",
		tags: ["storage", "v1"],
		related: [design],
	});
	const issue = await make({ type: "issues", title: "Backups are slow", status: "In Progress", related: [decision] });
	const fix = await make({ type: "issues", title: "Copy pages in the background", related: [issue] });
	const alone = await make({ type: "notes", title: "玄関の鍵の場所", content: "マットの下にあります。", tags: ["家"] });
	return { design, decision, issue, fix, alone };
}

test("an empty knowledge base says what it is for, and begins", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "knowledge");
	await expect(page.getByRole("heading", { name: "Nothing is remembered yet" })).toBeVisible();
	await accessible(page);
	await shots(page, "empty");
	await page.getByRole("button", { name: "Copy a prompt for the agent" }).click();
	await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/^Remember that/);

	await page.getByRole("button", { name: "Make the first item" }).click();
	await expect(page).toHaveURL(/knowledge\/new$/);
	await expect(page.getByText("All items are closed")).toHaveCount(0);
	const form = page.getByRole("form", { name: "New item" });
	await expect(form.getByText("needed", { exact: true })).toHaveCount(2);
	await expect(form.getByLabel("Title")).toBeFocused();
	// What is wrong is said by the API, at the field.
	await form.getByLabel("Type").fill("");
	await form.getByRole("button", { name: "Save" }).click();
	await expect(form.locator("[aria-invalid=true]").first()).toBeFocused();
	await expect(form.getByLabel("Title")).toHaveAttribute("aria-invalid", "true");
	await expect(form.getByLabel("Type")).toHaveAttribute("aria-invalid", "true");
	await accessible(page);
	await form.getByLabel("Type").fill("notes");
	await form.getByLabel("Title").fill("Where the keys are");
	for (const needed of await form.getByText("needed", { exact: true }).all())
		await expect(needed).toHaveClass("text-faint");
	await form.getByLabel("Content").fill("Under the *mat*.");
	await form.getByLabel("Tags").fill("house");
	await shots(page, "new");
	await form.getByRole("button", { name: "Save" }).click();
	await expect(page).toHaveURL(/knowledge\/notes-1$/);
	await expect(page.getByText("“Where the keys are” is made.")).toBeVisible();
	await expect(page.locator(".prose em")).toHaveText("mat");
	expect(await genkan.rest("GET", "/v1/items/notes-1")).toMatchObject({ title: "Where the keys are", tags: ["house"] });
	await expect(row(page, "Where the keys are")).toBeVisible();
	// The item has the place of its form in the history.
	await page.goBack();
	await expect(page).toHaveURL(/knowledge$/);
	await expect(row(page, "Where the keys are")).toBeVisible();
	await page.goForward();
	await expect(page).toHaveURL(/knowledge\/notes-1$/);
	await page.goBack();
	await page.getByRole("button", { name: "New item" }).click();
	await form.getByRole("button", { name: "Cancel" }).click();
	await expect(page).toHaveURL(/knowledge$/);
	await page.goBack();
	await expect(page).toHaveURL(/knowledge$/);
	await expect(form).toHaveCount(0);
});

test("a search finds while it is typed, and is in the address with the filters", async ({ signedIn: page, genkan }) => {
	await fill(genkan);
	await go(page, genkan, "knowledge");
	await expect(rows(page)).toHaveCount(6);
	await shots(page, "list");
	await page.keyboard.press("/");
	await page.keyboard.type("sqli");
	await expect(rows(page)).toHaveCount(3);
	await expect(page).toHaveURL(/q=sqli/);
	await expect(row(page, "Use SQLite")).toBeVisible();
	await accessible(page);
	await shots(page, "search");
	// What is closed stays out until it is asked for.
	await genkan.rest("POST", "/v1/items", { type: "notes", title: "SQLite was too old", tags: [], status: "Closed" });
	await page.reload();
	await expect(rows(page)).toHaveCount(3);
	await page.getByRole("combobox", { name: "Status" }).selectOption("Closed, too");
	await expect(rows(page)).toHaveCount(4);
	await page.getByRole("combobox", { name: "Status" }).selectOption("Not closed");
	await expect(rows(page)).toHaveCount(3);
	await page.getByRole("combobox", { name: "Type" }).selectOption("decisions");
	await expect(rows(page)).toHaveCount(2);
	await page.reload();
	await expect(page.getByRole("searchbox")).toHaveValue("sqli");
	await expect(rows(page)).toHaveCount(2);
	await row(page, "Use SQLite").click();
	await expect(page).toHaveURL(/decisions-2\?q=sqli&type=decisions/);
	await expect(rows(page)).toHaveCount(2);

	await go(page, genkan, "knowledge?status=In Progress");
	await expect(rows(page)).toHaveCount(2);
	await go(page, genkan, "knowledge?tag=storage");
	await expect(rows(page)).toHaveCount(3);

	// What an agent writes appears.
	await genkan.call("create_item", { type: "notes", title: "Written by an agent", tags: ["storage"] });
	await expect(row(page, "Written by an agent")).toBeVisible();
});

test("long lists load on as they are scrolled", async ({ signedIn: page, genkan }) => {
	const items = Array.from({ length: 250 }, (_, n) => ({ type: "notes", title: `Note ${n + 1}`, id: n + 1 }));
	await genkan.rest("POST", "/v1/items/restore", { items });
	await go(page, genkan, "knowledge");
	await expect(page.getByText("250 items")).toBeVisible();
	expect(await rows(page).count()).toBeLessThan(80);
	const list = page.locator("[data-rows]");
	await expect
		.poll(async () => {
			await list.evaluate((one) => one.scrollTo(0, one.scrollHeight));
			return list.evaluate((one) => one.scrollHeight);
		})
		.toBe(250 * 36);
});

test("an item is read, edited and deleted, and nothing written is lost", async ({ signedIn: page, genkan }) => {
	const { design, decision } = await fill(genkan);
	await go(page, genkan, "knowledge");
	await row(page, "Design of the storage").click();
	await expect(page.locator(".prose strong")).toHaveText("everything");
	expect(await page.evaluate(() => "bad" in window)).toBe(false);
	await expect(page.getByRole("region", { name: "Relations" }).getByRole("link")).toHaveText(/Use SQLite/);
	await accessible(page);
	await shots(page, "item");

	await page.getByRole("button", { name: "Edit" }).click();
	const form = page.getByRole("form", { name: `Edit ${design}` });
	await form.getByLabel("Title").fill("");
	await form.getByRole("button", { name: "Save" }).click();
	await expect(form.getByText(/must not be empty/)).toBeVisible();
	await form.getByLabel("Title").fill("The storage");
	await form.getByLabel("Status").selectOption("Review");
	await form.getByRole("combobox", { name: "Find an item to relate" }).fill("鍵");
	await page.getByRole("option", { name: /玄関の鍵の場所/ }).click();
	await accessible(page);
	await shots(page, "edit");

	// A link asks; the draft stays if the answer is no.
	await row(page, "Use SQLite").click();
	const asks = page.getByRole("dialog", { name: "Leave without saving?" });
	await asks.getByRole("button", { name: "Cancel" }).click();
	await expect(form.getByLabel("Title")).toHaveValue("The storage");
	// The Back button and a reload keep it.
	await page.evaluate(() => history.back());
	await expect(form).toBeHidden();
	await page.evaluate(() => history.forward());
	await expect(form.getByLabel("Title")).toHaveValue("The storage");
	await page.reload();
	await expect(form.getByLabel("Title")).toHaveValue("The storage");

	// A tag that an agent adds meanwhile stays.
	await genkan.rest("PATCH", `/v1/items/${design}`, { add_tags: ["agent"] });
	await expect(form.getByText("has changed this since you began")).toBeVisible();

	// Enter that belongs to an input method adds no tag and saves nothing.
	const tags = form.getByLabel("Tags");
	await tags.focus();
	const client = await page.context().newCDPSession(page);
	await client.send("Input.imeSetComposition", { text: "ほぞん", selectionStart: 3, selectionEnd: 3 });
	await client.send("Input.dispatchKeyEvent", {
		type: "keyDown",
		key: "Enter",
		code: "Enter",
		windowsVirtualKeyCode: 229,
	});
	await expect(form.getByRole("button", { name: "Remove ほぞん" })).toHaveCount(0);
	await client.send("Input.insertText", { text: "保存" });
	await expect(tags).toHaveValue("保存");
	await tags.press("Enter");
	await expect(form.getByRole("button", { name: "Remove 保存" })).toBeVisible();

	await page.keyboard.press("Control+s");
	await expect(page.getByRole("heading", { name: "The storage" })).toBeVisible();
	const saved = await genkan.rest<{ tags: string[]; related: string[]; status: string }>("GET", `/v1/items/${design}`);
	expect(saved.status).toBe("Review");
	expect(saved.tags.sort()).toEqual(["agent", "storage", "保存"]);
	expect(saved.related.sort()).toEqual([decision, "notes-5"]);

	await page.getByRole("button", { name: "More", exact: true }).last().click();
	await page.getByRole("menuitem", { name: "Delete" }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
	await expect(page).toHaveURL(/knowledge$/);
	await expect(row(page, "The storage")).toHaveCount(0);
	await go(page, genkan, "knowledge/docs-1");
	await expect(page.getByRole("heading", { name: "There is no item docs-1" })).toBeVisible();
});

test("a save asks first if something was changed elsewhere just before", async ({ signedIn: page, genkan }) => {
	const { design } = await fill(genkan);
	const path = `/v1/items/${design}`;
	const before = await genkan.rest("GET", path);
	await go(page, genkan, `knowledge/${design}`);
	await page.getByRole("button", { name: "Edit" }).click();
	const form = page.getByRole("form", { name: `Edit ${design}` });
	await form.getByLabel("Title").fill("Mine");
	// What the event asks for comes too late.
	let late = true;
	await page.route(`**${path}`, (route) =>
		late && route.request().method() === "GET" ? route.fulfill({ json: before }) : route.fallback(),
	);
	const asked = page.waitForResponse((response) => response.url().endsWith(path));
	await genkan.rest("PATCH", path, { title: "Theirs" });
	await asked;
	late = false;
	await form.getByRole("button", { name: "Save" }).click();
	await expect(page.getByText("Not saved yet")).toBeVisible();
	await expect(form.getByText("Saving replaces what it wrote here:")).toBeVisible();
	expect(await genkan.rest("GET", path)).toMatchObject({ title: "Theirs" });
	const theirs = form.getByRole("status");
	await theirs.getByText("Title").click();
	await expect(theirs.locator("pre")).toHaveText("Theirs");
	await accessible(page);
	await theirs.getByRole("button", { name: "Take this" }).click();
	await expect(form.getByLabel("Title")).toHaveValue("Theirs");
	await expect(form.getByText("Saving leaves what it wrote.")).toBeVisible();
	await form.getByLabel("Title").fill("Mine");
	await form.getByRole("button", { name: "Save" }).click();
	await expect(page.getByRole("heading", { name: "Mine" })).toBeVisible();
	await expect(page).toHaveTitle("Mine · Genkan");
});

test("what is written elsewhere is seen", async ({ signedIn: page, genkan }) => {
	await fill(genkan);
	await go(page, genkan, "knowledge");
	await expect(rows(page)).toHaveCount(6);
	await genkan.rest("POST", "/v1/items/restore", { items: [{ type: "notes", title: "Brought by an import" }] });
	await expect(row(page, "Brought by an import")).toBeVisible();
});

test("an item is found by its id", async ({ signedIn: page, genkan }) => {
	const { design, decision } = await fill(genkan);
	await go(page, genkan, "knowledge");
	for (const [text, ref] of [
		[design.toUpperCase(), design],
		[`#${decision.split("-")[1]}`, decision],
	] as const) {
		await page.getByRole("searchbox").fill(text);
		await expect(page.getByRole("grid").getByRole("row").nth(1)).toContainText(ref);
	}
});

test("what is written while a save runs is kept, and not saved yet", async ({ signedIn: page, genkan }) => {
	let goOn = () => {};
	const hold = () => {
		const held = new Promise<void>((resolve) => {
			goOn = resolve;
		});
		return page.route("**/v1/{state,items/*,items}", async (route) => {
			if (route.request().method() !== "GET") await held;
			await route.fallback();
		});
	};
	const asked = () => page.waitForRequest((request) => ["PUT", "PATCH", "POST"].includes(request.method()));
	const { decision } = await fill(genkan);

	await go(page, genkan, `knowledge/${decision}`);
	await page.getByRole("button", { name: "Edit" }).click();
	const form = page.getByRole("form", { name: `Edit ${decision}` });
	await form.getByLabel("Title").fill("Take SQLite");
	await form.getByLabel("Tags").fill("written");
	await hold();
	let sent = asked();
	await form.getByLabel("Tags").press("Control+s");
	expect((await sent).postDataJSON()).toEqual({ title: "Take SQLite", add_tags: ["written"] });
	await form.getByLabel("Content").fill("One file, and a log.");
	goOn();
	await expect(page.getByText("Saved.")).toBeVisible();
	await expect(form.getByLabel("Content")).toHaveValue("One file, and a log.");
	await expect(form.getByText("has changed this since you began")).toHaveCount(0);
	sent = asked();
	await form.getByRole("button", { name: "Save" }).click();
	expect((await sent).postDataJSON()).toEqual({ content: "One file, and a log." });
	await expect(form).toHaveCount(0);

	await go(page, genkan, "knowledge/state");
	await page.getByRole("button", { name: "Write it" }).click();
	const state = page.getByLabel("Where things stand");
	await state.fill("Now.");
	await hold();
	sent = asked();
	await page.getByRole("button", { name: "Save" }).click();
	await sent;
	await state.fill("Now and then.");
	goOn();
	await expect(page.getByText("Saved.")).toBeVisible();
	await expect(state).toHaveValue("Now and then.");
	await page.getByRole("button", { name: "Save" }).click();
	await expect(page.locator(".prose")).toHaveText("Now and then.");

	// A new item has a page of its own afterwards: nothing can be written until then.
	await go(page, genkan, "knowledge/new");
	const title = page.getByRole("form", { name: "New item" }).getByLabel("Title");
	await title.fill("New");
	await hold();
	sent = asked();
	await title.press("Control+s");
	await sent;
	await expect(title.and(page.locator("[inert] *"))).toBeVisible();
	goOn();
	await expect(page).toHaveURL(/knowledge\/notes-\d+$/);
});

test("the graph expands and shows the path to another item", async ({ signedIn: page, genkan }) => {
	const { design, fix, alone } = await fill(genkan);
	await go(page, genkan, `knowledge/${design}`);
	await page.getByRole("tab", { name: /Graph/ }).click();
	await expect(page).toHaveURL(/view=graph/);
	const nodes = page.locator(".react-flow__node");
	await expect(nodes).toHaveCount(2);
	// A line touches both of its boxes.
	await expect
		.poll(() =>
			page.locator(".react-flow__edge-path").evaluate((path: SVGPathElement) => {
				const boxes = [...document.querySelectorAll(".react-flow__node")].map((node) => node.getBoundingClientRect());
				const far = (at: number) => {
					const { x } = path.getPointAtLength(at).matrixTransform(path.getScreenCTM()!);
					return Math.min(...boxes.map((box) => Math.min(Math.abs(x - box.left), Math.abs(x - box.right))));
				};
				return Math.max(far(0), far(path.getTotalLength()));
			}),
		)
		.toBeLessThan(1);
	await nodes
		.filter({ hasText: "Use SQLite" })
		.getByRole("button", { name: /Show what is around/ })
		.click();
	await expect(nodes).toHaveCount(3);
	await nodes
		.filter({ hasText: "Backups are slow" })
		.getByRole("button", { name: /^Backups are slow/ })
		.click();
	await expect(page.getByRole("region", { name: "Selected" })).toContainText("Backups are slow");
	// The list says and does the same.
	const list = page.getByRole("region", { name: "Related items" });
	await expect(list.getByRole("listitem")).toHaveText([
		/Use SQLite.*related directly/,
		/Backups are slow.*2 relations away/,
	]);
	await list.getByRole("button", { name: "Show what is around Backups are slow" }).focus();
	await page.keyboard.press("Enter");
	await expect(nodes).toHaveCount(4);
	await accessible(page);
	await shots(page, "graph");

	// A reload keeps what was expanded. The path is drawn without expanding.
	await page.reload();
	await expect(nodes).toHaveCount(4);
	await go(page, genkan, `knowledge/${design}?view=graph`);
	await expect(nodes).toHaveCount(2);
	await page.getByRole("combobox", { name: "Path to …" }).fill("background");
	await expect(page.getByRole("option", { name: /Copy pages/ })).toBeVisible();
	await page.keyboard.press("Enter");
	await expect(page).toHaveURL(new RegExp(`to=${fix}`));
	await expect(page.getByText("3 relations long")).toBeVisible();
	await expect(page.locator(".genkan-path")).toHaveCount(3);
	await expect(page.getByRole("list", { name: "Path" }).getByRole("listitem")).toHaveText([
		"Design of the storage",
		"Use SQLite",
		"Backups are slow",
		"Copy pages in the background",
	]);
	await accessible(page);
	await shots(page, "path");
	// Where there is little width, it is drawn downwards.
	await page.setViewportSize({ width: 390, height: 844 });
	await page.reload();
	await expect(nodes).toHaveCount(4);
	const [top, below] = await Promise.all([nodes.nth(0).boundingBox(), nodes.nth(1).boundingBox()]);
	expect(below!.y).toBeGreaterThan(top!.y);
	if (look) await page.screenshot({ path: `${look}/path-narrow.png` });
	await go(page, genkan, `knowledge/${design}?view=graph&to=${alone}`);
	await expect(page.getByText("No path of up to 10 relations leads there.")).toBeVisible();
});

test("the current state is read and written", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "knowledge");
	await page.getByRole("tab", { name: "Current state" }).click();
	await expect(page).toHaveURL(/knowledge\/state$/);
	await page.getByRole("button", { name: "Write it" }).click();
	await page.getByLabel("Where things stand").fill("## Now\n\nThe web UI.");
	await page.getByRole("button", { name: "Save" }).click();
	await expect(page.locator(".prose h2")).toHaveText("Now");
	await accessible(page);
	await shots(page, "state");
	expect(await genkan.rest("GET", "/v1/state")).toMatchObject({ content: "## Now\n\nThe web UI." });
});

test("a connected client is given the knowledge base", async ({ signedIn: page, genkan }) => {
	const file = join(genkan.home, ".cursor/mcp.json");
	mkdirSync(dirname(file), { recursive: true });
	const entry = {
		command: join(bin, "genkan"),
		args: ["stdio", "--data", genkan.data, "--client", "cursor", "--only", "files"],
	};
	writeFileSync(file, JSON.stringify({ mcpServers: { files: entry } }, null, 2));
	await go(page, genkan, "knowledge");
	await page.getByRole("button", { name: "Add the knowledge base" }).click();
	const dialog = page.getByRole("dialog", { name: "Add servers to Cursor" });
	await expect(dialog).toContainText(/"--only",[\s+]*"kb"/);
	await accessible(page);
	await shots(page, "give");
	await dialog.getByRole("button", { name: "Add", exact: true }).click();
	await expect(page.getByRole("button", { name: "Add the knowledge base" })).toHaveCount(0);
	const { mcpServers } = JSON.parse(readFileSync(file, "utf8"));
	expect(mcpServers.files).toEqual(entry);
	const client = await genkan.client(mcpServers["genkan-kb"]);
	expect((await client.listTools()).tools.map((tool) => tool.name)).toContain("create_item");
	await go(page, genkan, "clients");
	await expect(page.getByText("2 servers, 2 through Genkan")).toBeVisible();
	await expect(page.getByRole("button", { name: "Add the knowledge base" })).toHaveCount(0);
});

test("Japanese is shown as Japanese: statuses, broken lines, snippets", async ({ signedIn: page, genkan }) => {
	await genkan.rest("POST", "/v1/items", {
		type: "notes",
		title: "鍵",
		status: "In Progress",
		content: "## 置き場所\n\n玄関の鍵は\nマットの下にあります。",
	});
	await page.addInitScript(() => localStorage.setItem("genkan.lang", "ja"));
	await go(page, genkan, "knowledge/notes-1");
	await expect(page.locator(".prose p")).toHaveText("玄関の鍵はマットの下にあります。");
	await expect(page.getByRole("article").getByText("進行中")).toBeVisible();
	await go(page, genkan, "knowledge?q=置き場所");
	const found = page.getByRole("row").filter({ hasText: "鍵" });
	await expect(found).toContainText("置き場所");
	await expect(found).not.toContainText("##");
	await shots(page, "ja");
});
