import { readFileSync } from "node:fs";
import { accessible, bin, expect, go, pictures, test } from "./genkan";

const snap = process.env.PICTURES;

test("each part has an address; theme and language are chosen; signing out ends it", async ({
	genkan,
	signedIn: page,
}) => {
	await go(page, genkan, "settings");
	await expect(page.getByText(`data directory ${genkan.data}`)).toBeVisible();
	await expect(page.getByRole("link", { name: "Every route" })).toHaveAttribute("href", /\/v1\/docs$/);
	await accessible(page);
	await page.getByLabel("Theme", { exact: true }).and(page.locator("select")).selectOption("dark");
	await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
	await page.getByLabel("Theme", { exact: true }).and(page.locator("select")).selectOption("system");
	for (const [tab, part] of [
		["History", "history"],
		["Large answers", "answers"],
		["Secrets", "secrets"],
		["Knowledge base", "knowledge"],
		["n8n and embeddings", "connected"],
		["Learned searches", "learned"],
		["Backup", "backup"],
		["Doctor", "doctor"],
	] as const) {
		await page.getByRole("tab", { name: tab }).click();
		await expect(page).toHaveURL(new RegExp(`/settings/${part}$`));
		await expect(page.getByRole("heading", { level: 2 }).first()).toBeVisible();
		await expect(page.getByRole("status", { name: "Loading" })).toHaveCount(0);
		await accessible(page);
		if (snap) await pictures(page, snap, `settings-${part}`);
	}
	await page.getByRole("tab", { name: "General" }).click();
	if (snap) await pictures(page, snap, "settings-general");
	await page.getByLabel("Language").selectOption("ja");
	await expect(page.getByRole("heading", { name: "設定" })).toBeVisible();
	await page.getByRole("main").getByRole("button", { name: "サインアウト" }).click();
	await expect(page.getByRole("navigation")).toHaveCount(0);
});

test("the history says what is kept and which key sets it", async ({ genkan, signedIn: page }) => {
	await go(page, genkan, "settings/history");
	await expect(page.getByText("are kept", { exact: true })).toBeVisible();
	await expect(page.getByText("7 days")).toBeVisible();
	await page.getByRole("button", { name: "Copy" }).first().click();
	await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain("record:\n  bodies: local");
});

test.describe("secrets", () => {
	test.use({
		config: JSON.stringify({
			mcpServers: { fault: { command: `${bin}/faultserver`, env: { KEY: "$" + "{secret:FAULT_KEY}" } } },
			n8n: { url: "http://127.0.0.1:9", apiKey: "x" },
		}),
	});

	test("a missing one is set from the doctor's finding, replaced and deleted", async ({ genkan, signedIn: page }) => {
		await go(page, genkan, "settings/doctor");
		await expect(page.getByText("it needs the secret FAULT_KEY")).toBeVisible();
		if (snap) await pictures(page, snap, "settings-doctor-bad");
		await page.getByRole("link", { name: "Set the secret" }).click();
		await expect(page.getByLabel("Name", { exact: true })).toHaveValue("FAULT_KEY");
		await page.getByLabel("Value").fill("hunter2");
		await page.keyboard.press("Enter");
		await expect(page.getByText("FAULT_KEY is kept.")).toBeVisible();
		await expect(page.getByRole("link", { name: "fault", exact: true })).toBeVisible();
		await expect
			.poll(async () => JSON.stringify(await genkan.rest("GET", "/v1/servers/fault")))
			.toContain('"state":"ready"');
		await accessible(page);
		if (snap) await pictures(page, snap, "settings-secrets-one");

		await page.getByRole("button", { name: "Replace FAULT_KEY" }).click();
		await expect(page.getByLabel("Value")).toBeFocused();
		await page.getByLabel("Value").fill("other");
		await page.getByRole("button", { name: "Replace", exact: true }).click();
		await expect(page.getByLabel("Value")).toHaveValue("");
		await page.getByRole("button", { name: "Delete FAULT_KEY" }).click();
		await expect(page.getByRole("dialog")).toContainText("these servers do not start: fault");
		await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
		await expect(page.getByText("No secrets yet")).toBeVisible();

		expect(await page.locator("body").textContent()).not.toContain("hunter2");

		await page.getByRole("tab", { name: "n8n and embeddings" }).click();
		await expect(page.getByText("n8n cannot be used")).toBeVisible();
		await accessible(page);
		if (snap) await pictures(page, snap, "settings-n8n-down");
	});
});

test.describe("far away from Genkan", () => {
	test.use({ timezoneId: "Pacific/Kiritimati" });

	test("the doctor's times are those of the browser", async ({ genkan, signedIn: page }) => {
		await genkan.rest("PUT", "/v1/workflows/switch", { on: false });
		const { changedAt } = await genkan.rest<{ changedAt: string }>("GET", "/v1/workflows/switch");
		await go(page, genkan, "settings/doctor");
		const there = new Date(changedAt).toLocaleTimeString("en-US", {
			timeZone: "Pacific/Kiritimati",
			hourCycle: "h23",
		});
		await expect(page.getByText("all workflows are turned off")).toHaveText(new RegExp(`since ${there}$`));
		await genkan.rest("PUT", "/v1/workflows/switch", { on: true });
	});
});

test("the knowledge base is checked and rebuilt", async ({ genkan, signedIn: page }) => {
	await genkan.rest("POST", "/v1/items", { type: "docs", title: "Tea", content: "Green." });
	await go(page, genkan, "settings/knowledge");
	await page.getByRole("button", { name: "Check" }).click();
	await expect(page.getByText("Index and graph agree with the one item and 0 relations.")).toBeVisible();
	await page.getByRole("button", { name: "Rebuild the index" }).click();
	await expect(page.getByText("The index is new.")).toBeVisible();
});

test("a backup is downloaded", async ({ genkan, signedIn: page }) => {
	await go(page, genkan, "settings/backup");
	const download = page.waitForEvent("download");
	await page.getByRole("button", { name: "Download a copy" }).click();
	const file = await download;
	expect(file.suggestedFilename()).toMatch(/^genkan-[\d-]+\.db$/);
	expect(
		readFileSync((await file.path())!)
			.subarray(0, 15)
			.toString(),
	).toBe("SQLite format 3");
	await expect(page.getByRole("button", { name: "Download a copy" })).toBeEnabled();
});

test("learned searches are shown and forgotten", async ({ genkan, signedIn: page }) => {
	await genkan.rest("POST", "/v1/tools/search", { query: "add two numbers sum" });
	await genkan.call("everything__get-sum", { a: 1, b: 2 });
	await go(page, genkan, "settings/learned");
	const list = page.getByRole("table", { name: "Learned searches" });
	await expect(list).toContainText("everything__get-sum");
	await accessible(page);
	if (snap) await pictures(page, snap, "settings-learned-one");
	await list.getByRole("button", { name: "Forget" }).click();
	await expect(page.getByText("1 lesson is forgotten.")).toBeVisible();
	await expect(page.getByText("Nothing is learned yet")).toBeVisible();
});

test("a token is limited to servers, shown with its limit, changed and revoked", async ({ genkan, signedIn: page }) => {
	const asToken = async (token: string, name: string) =>
		(
			await fetch(new URL("../v1/tools/call", genkan.ui), {
				method: "POST",
				headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
				body: JSON.stringify({ name, parameters: { message: "a" } }),
			})
		).status;
	await go(page, genkan, "clients");
	const tokens = page.getByRole("region", { name: "Tokens" });
	await tokens.getByLabel(/^Name of a client/).fill("ci");
	await tokens.getByRole("combobox", { name: "May use" }).selectOption("some");
	await expect(tokens.getByRole("button", { name: "Make a token" })).toBeDisabled();
	await tokens.getByRole("button", { name: "files", exact: true }).click();
	await tokens.getByRole("button", { name: "Make a token" }).click();
	const token = (await tokens.locator("code").textContent())!;
	expect(token).toMatch(/^gk_/);
	await expect(tokens.getByText("may use only files")).toBeVisible();
	await expect(page.getByRole("region", { name: "By hand" })).toContainText(`Bearer ${token}`);
	await expect(page.getByText(/works on this machine alone/)).toBeVisible();
	await accessible(page);
	if (snap) await pictures(page, snap, "clients-token");
	expect(await asToken(token, "everything__echo")).toBe(404);

	await tokens.getByRole("button", { name: "What it may use" }).click();
	const dialog = page.getByRole("dialog", { name: "What ci may use" });
	await dialog.getByRole("button", { name: "everything", exact: true }).click();
	await accessible(page);
	await dialog.getByRole("button", { name: "Save" }).click();
	await expect(tokens.getByText("may use only files, everything")).toBeVisible();
	expect(await asToken(token, "everything__echo")).toBe(200);

	await tokens.getByRole("button", { name: "Revoke" }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
	await expect(tokens.getByText("It is shown only now")).toHaveCount(0);
	await expect(page.getByRole("region", { name: "By hand" })).not.toContainText(token);
	expect(await asToken(token, "files__list_directory")).toBe(401);
});

test.describe("large answers", () => {
	test.use({
		config: JSON.stringify({
			mcpServers: {
				fault: { command: `${bin}/faultserver`, budget: 4000, tools: { options: { "big*": { budget: 700 } } } },
			},
			clients: { ci: { budget: "off" } },
		}),
	});

	test("the palette finds a setting by its words; budgets in force are shown with their keys", async ({
		signedIn: page,
		genkan,
	}) => {
		await go(page, genkan, "calls");
		await expect(page.getByRole("navigation")).toBeVisible();
		await page.keyboard.press("Control+k");
		await page.getByRole("combobox").fill("せってい");
		await expect(page.getByRole("option", { name: /^Settings/ })).toBeVisible();
		await page.getByRole("combobox").fill("budget");
		await page.getByRole("option", { name: /Large answers/ }).click();
		await expect(page).toHaveURL(/settings\/answers$/);
		const main = page.getByRole("main");
		for (const text of [
			"25,000 tokens, unless said otherwise",
			"10,000 tokens",
			"any size",
			"4,000 tokens",
			"fault: big*",
			"700 tokens",
		])
			await expect(main.getByText(text).first()).toBeVisible();
		await expect(main).toContainText("budget: 25000");
		await accessible(page);
		if (snap) await pictures(page, snap, "settings-answers");
	});
});
