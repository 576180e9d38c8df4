import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { accessible, bin, expect, type Genkan, go, pictures, test } from "./genkan";

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
		["Limits", "limits"],
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
	await page.getByLabel("Language", { exact: true }).selectOption("ja");
	await expect(page.getByRole("heading", { name: "設定" })).toBeVisible();
	await page.getByRole("main").getByRole("button", { name: "サインアウト" }).click();
	await expect(page.getByRole("navigation")).toHaveCount(0);
});

/** fileOf is what genkan.yaml has. */
const fileOf = (genkan: Genkan) => readFileSync(join(genkan.data, "genkan.yaml"), "utf8");

test("the history, limits and language are set in genkan.yaml, which keeps the rest", async ({
	genkan,
	signedIn: page,
}) => {
	const saved = page.getByText("Saved in genkan.yaml. It holds from now on.").last();
	const save = page.getByRole("button", { name: "Save", exact: true });
	await go(page, genkan, "settings/history");
	await page.getByLabel("For how long").fill("１４"); // as an input method writes it
	await page.getByLabel("What was sent and received").selectOption("all");
	await save.click();
	await expect(saved).toBeVisible();
	await expect(save).toHaveCount(0);
	await expect(page.getByLabel("For how long")).toHaveValue("14");
	expect(fileOf(genkan)).toContain("mcpServers");
	expect(fileOf(genkan)).toMatch(/record["\s:{]+bodies["\s:]+all["\s,]+days["\s:]+14/);

	// Off and on again, all settings are as they were.
	const record = { bodies: "all", days: 14, replay: "off", megabytes: 64 };
	await genkan.rest("PATCH", "/v1/settings", { record });
	for (const on of [false, true]) {
		await page.reload();
		await page.getByLabel("Calls", { exact: true }).selectOption(on ? "are kept" : "are not kept");
		await save.click();
		await expect(saved).toBeVisible();
		const { settings } = await genkan.rest<{ settings: object }>("GET", "/v1/settings");
		expect(settings).toMatchObject({ record: { ...record, enabled: on } });
	}

	// What is wrong stands at its field, and an old success does not stand beside it.
	for (const wrong of ["", "-1", "0", "many"]) {
		await page.getByLabel("For how long").fill(wrong);
		await save.click();
		await expect(page.getByLabel("For how long")).toHaveAccessibleDescription(
			"This value must be a whole number from 1 to 3650",
		);
		await expect(page.getByLabel("For how long")).toBeFocused();
		await expect(page.getByText("Calls that are older will be deleted.")).toHaveCount(0);
		await expect(page.getByRole("alert")).toHaveCount(0);
		await expect(saved).toHaveCount(0);
	}

	// What is not saved is not lost without a word.
	await page.getByRole("tab", { name: "Limits" }).click();
	await page.getByRole("dialog", { name: "Leave without saving?" }).getByRole("button", { name: "Cancel" }).click();
	await expect(page.getByLabel("For how long")).toHaveValue("many");
	await page.getByRole("button", { name: "Discard" }).click();
	await expect(page.getByLabel("For how long")).toHaveValue("14");
	await expect(page.getByLabel("For how long")).toHaveAccessibleDescription("");

	await go(page, genkan, "settings/limits");
	await page.getByLabel("Everybody").selectOption("own");
	await page.getByLabel("Tokens").fill("4000");
	await page.keyboard.press("Enter");
	await expect(saved).toBeVisible();
	await page.getByLabel("Requests", { exact: true }).fill("0");
	await save.click();
	await expect(page.getByText("Leave it empty for no limit.")).toBeVisible();
	await page.getByLabel("Requests", { exact: true }).fill("600");
	await page.getByLabel("Period").fill("soon");
	await save.click();
	await expect(
		page.getByText('Period: This value must be a duration such as "30s" or "10m"', { exact: true }),
	).toBeVisible();
	await page.getByLabel("Period").fill("１m");
	await page.keyboard.press("Enter");
	await expect.poll(() => fileOf(genkan)).toMatch(/rateLimit["\s:{]+max["\s:]+600/);
	expect(fileOf(genkan)).toMatch(/budget["\s:]+4000/);
	await accessible(page);

	await go(page, genkan, "settings");
	await page.getByLabel("What Genkan says to agents").selectOption("ja");
	await expect(saved).toBeVisible();
	await page.reload(); // nobody has chosen a language for this page
	await expect(page.getByRole("heading", { name: "設定" })).toBeVisible();
});

test("n8n is tested, added, changed and removed", async ({ genkan, signedIn: page }) => {
	const n8n = createServer((request, response) => {
		const known = request.headers["x-n8n-api-key"] === "the-key";
		response.writeHead(known ? 200 : 401, { "Content-Type": "application/json" });
		response.end(known ? '{"data":[],"nextCursor":null}' : '{"message":"unauthorized"}');
	});
	await new Promise<void>((listening) => n8n.listen(0, "127.0.0.1", listening));
	try {
		await go(page, genkan, "settings/connected");
		await page.getByRole("button", { name: "Add n8n" }).click();
		await page.getByLabel("Address").first().fill("localhost");
		await page.getByLabel("API key").first().fill("wrong");
		await page.getByRole("button", { name: "Test", exact: true }).click();
		await expect(page.getByLabel("Address").first()).toHaveAccessibleDescription(
			"This value must begin with http:// or https://",
		);
		await page
			.getByLabel("Address")
			.first()
			.fill(`http://127.0.0.1:${(n8n.address() as AddressInfo).port}`);
		await page.getByLabel("API key").first().fill("wrong");
		await page.getByRole("button", { name: "Test", exact: true }).click();
		await expect(page.getByRole("alert")).toContainText("does not accept the API key");
		await page.getByLabel("API key").first().fill("the-key");
		await expect(page.getByRole("alert")).toHaveCount(0);
		await page.getByRole("button", { name: "Test", exact: true }).click();
		await expect(page.getByText("n8n answers and accepts the key.").first()).toBeVisible();
		await accessible(page);
		await page.getByRole("button", { name: "Save", exact: true }).click();
		const edit = page.getByRole("button", { name: "Edit n8n" });
		await expect(edit).toBeVisible();
		expect(fileOf(genkan)).toContain("$" + "{secret:N8N_API_KEY}");
		expect(fileOf(genkan)).not.toContain("the-key");

		// The file may have one alone, and without a name.
		const { url, apiKey } = JSON.parse(
			JSON.stringify((await genkan.rest<{ settings: { n8n: object[] } }>("GET", "/v1/settings")).settings.n8n[0]),
		);
		await genkan.rest("PATCH", "/v1/settings", { n8n: { url, apiKey } });
		await page.reload();

		// Its key is kept where it is not typed again.
		await edit.click();
		await page.getByLabel("Name", { exact: true }).fill("work");
		await page.getByRole("button", { name: "Save", exact: true }).click();
		await expect(page.getByRole("button", { name: "Edit work" })).toBeVisible();
		await expect(edit).toHaveCount(0);
		await page.getByRole("button", { name: "Remove work" }).click();
		await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
		await expect(page.getByText("There is none yet.")).toBeVisible();
		expect(fileOf(genkan)).not.toContain("n8n");
		if (snap) await pictures(page, snap, "settings-connected");
	} finally {
		n8n.close();
	}
});

test("embeddings are set, kept and taken away", async ({ genkan, signedIn: page }) => {
	const stored = async () =>
		(await genkan.rest<{ settings: { embeddings?: unknown } }>("GET", "/v1/settings")).settings.embeddings;
	const saved = page.getByText("Saved in genkan.yaml. It holds from now on.").last();
	const model = page.getByRole("combobox", { name: "Model", exact: true });
	await go(page, genkan, "settings/connected");
	await model.selectOption("ollama");
	await expect(page.getByLabel("Address")).toHaveValue("http://127.0.0.1:11434");
	await page.getByLabel("Address").fill("http://127.0.0.1:9");
	await page.getByLabel("Name of the model").fill("nomic-embed-text");
	await page.getByLabel("API key").fill("the-key");
	await page.getByRole("button", { name: "Test", exact: true }).click();
	await expect(page.getByRole("alert")).toContainText("cannot be reached");
	expect(await stored()).toBeUndefined();
	await page.getByRole("button", { name: "Save", exact: true }).click();
	await expect(saved).toBeVisible();
	await expect(page.getByRole("alert")).toContainText("cannot be reached"); // saved, and said nevertheless
	await genkan.rest("POST", "/v1/tools/search", { query: "read a file" });
	await page.reload();
	await expect(model).toHaveValue("ollama");
	await expect(page.getByRole("alert")).toContainText("Last tried");
	await accessible(page);
	await expect(page.getByLabel("Name of the model")).toHaveValue("nomic-embed-text");
	const wanted = { kind: "ollama", url: "http://127.0.0.1:9", model: "nomic-embed-text" };
	expect(await stored()).toMatchObject(wanted);
	expect(fileOf(genkan)).not.toContain("the-key"); // it is among the secrets
	await model.selectOption("");
	await page.getByRole("button", { name: "Save", exact: true }).click();
	await expect.poll(stored).toBeUndefined();
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
		await expect(page.getByText("“FAULT_KEY” is kept.")).toBeVisible();
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
			hour: "2-digit",
			minute: "2-digit",
		});
		await expect(page.getByText("all workflows are turned off")).toHaveText(new RegExp(`since ${there}$`));
		await genkan.rest("PUT", "/v1/workflows/switch", { on: true });
	});

	test("a file has the date of the browser", async ({ genkan, signedIn: page }) => {
		await go(page, genkan, "settings/backup");
		const items = page.waitForEvent("download");
		const today = await page.evaluate(() => new Date().toLocaleDateString("sv"));
		await page.getByRole("button", { name: "Download the items" }).click();
		expect((await items).suggestedFilename()).toContain(`genkan-items-${today}T`);
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
	// Commands run as they are copied, also where genkan is not in the PATH.
	const restore = page.getByRole("main").locator("pre").last();
	await expect(restore).toContainText(`${genkan.genkan} --data ${genkan.data} serve`);
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

	await genkan.rest("POST", "/v1/items", { type: "docs", title: "Tea", content: "Green." });
	const items = page.waitForEvent("download");
	await page.getByRole("button", { name: "Download the items" }).click();
	expect((await items).suggestedFilename()).toMatch(/^genkan-items-[\dT-]+\.jsonl$/);
	expect(JSON.parse(readFileSync((await (await items).path())!, "utf8"))).toMatchObject({ title: "Tea" });
});

test("learned searches are shown and forgotten", async ({ genkan, signedIn: page }) => {
	await genkan.rest("POST", "/v1/tools/search", { query: "add two numbers sum" });
	await genkan.call("everything__get-sum", { a: 1, b: 2 });
	await go(page, genkan, "settings/learned");
	const list = page.getByRole("grid", { name: "Learned searches" });
	await expect(list).toContainText("everything__get-sum");
	await expect(list.getByRole("columnheader", { name: "Words, without endings" })).toBeVisible();
	await expect(page.getByText("“creat” stands for create, creates and created.")).toBeVisible();
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
	await expect(tokens.getByText("may use only “files”")).toBeVisible();
	await expect(page.getByRole("region", { name: "By hand" })).toContainText(`Bearer ${token}`);
	await expect(page.getByText(/works on this machine alone/)).toBeVisible();
	await accessible(page);
	if (snap) await pictures(page, snap, "clients-token");
	expect(await asToken(token, "everything__echo")).toBe(404);

	await tokens.getByRole("button", { name: "What it may use" }).click();
	const dialog = page.getByRole("dialog", { name: "What “ci” may use" });
	await dialog.getByRole("button", { name: "everything", exact: true }).click();
	await accessible(page);
	await dialog.getByRole("button", { name: "Save" }).click();
	await expect(tokens.getByText("may use only “files”, “everything”")).toBeVisible();
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
		await page.getByRole("option", { name: /Limits/ }).click();
		await expect(page).toHaveURL(/settings\/limits$/);
		const main = page.getByRole("main");
		for (const text of ["25,000 tokens", "10,000 tokens", "any size", "4,000 tokens", "fault: big*", "700 tokens"])
			await expect(main.getByText(text).filter({ visible: true }).first()).toBeVisible();
		await expect(main).toContainText("budget: 5000");
		await accessible(page);
		if (snap) await pictures(page, snap, "settings-limits");
	});
});
