import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { accessible, bin, expect, go, telling, test } from "./genkan";

// The page of a server that is being removed may ask for it once more.
test.use({ shared: true, provoked: /^404 GET .*\/servers\/told$/ });

test("a server that is added later reaches a client that is connected", async ({ signedIn: page, genkan }) => {
	const file = join(genkan.home, ".cursor/mcp.json");
	mkdirSync(join(genkan.home, ".cursor"), { recursive: true });
	const entry = {
		command: join(bin, "genkan"),
		args: ["stdio", "--data", genkan.data, "--client", "cursor", "--only", "files"],
	};
	writeFileSync(file, JSON.stringify({ mcpServers: { files: entry } }));
	await genkan.rest("POST", "/v1/servers", { name: "later", ...telling({ tools: [{ name: "say" }] }) });
	await genkan.ready();
	// The page of the server says who lacks it.
	await go(page, genkan, "servers/later");
	await expect(page.getByText("These clients are connected, but have no entry for “later”")).toBeVisible();
	await page.getByRole("button", { name: "Add “later”" }).click();
	await expect(page.getByRole("dialog")).toContainText(/"--only",[\s+]*"later"/);
	await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
	// On the page of the clients, one chooses.
	await go(page, genkan, "clients");
	await page.getByRole("button", { name: /^Add \d+ servers…$/ }).click();
	const dialog = page.getByRole("dialog", { name: "Add servers to Cursor" });
	await expect(dialog.getByRole("button", { name: "later", exact: true })).toBeVisible();
	for (const name of await dialog.getByRole("group", { name: "Servers" }).getByRole("button").allTextContents())
		if (name !== "later") await dialog.getByRole("button", { name, exact: true }).click();
	await expect(dialog).not.toContainText('"everything"');
	// It shows what the file gets, to the letter.
	await expect(dialog).toContainText(`"command": "${entry.command}"`);
	await expect(dialog).toContainText(`"${genkan.data}"`);
	await accessible(page);
	await dialog.getByRole("button", { name: "Add", exact: true }).click();
	await expect(dialog).toBeHidden();
	const { mcpServers } = JSON.parse(readFileSync(file, "utf8"));
	expect(mcpServers.files).toEqual(entry);
	expect(Object.keys(mcpServers)).toEqual(["files", "later"]);
	const client = await genkan.client(mcpServers.later);
	expect((await client.listTools()).tools.map((tool) => tool.name)).toContain("say");
});

test("a token is shown once and revoked", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "clients");
	await page.getByLabel("Name of a client on another machine").fill("ci");
	await page.getByRole("button", { name: "Make a token" }).dblclick(); // counts once
	await expect(page.getByText("It is shown only now")).toBeVisible();
	await accessible(page);
	await page.reload();
	await expect(page.getByText("never used")).toBeVisible();
	await expect(page.getByText("It is shown only now")).not.toBeVisible();
	await page.getByRole("button", { name: "Revoke" }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
	await expect(page.getByText("None yet.")).toBeVisible();
});

test.describe("clients", () => {
	test.use({ config: "" });

	test("that are not installed are listed with the command for later", async ({ signedIn: page, genkan }) => {
		await go(page, genkan, "clients");
		const here = page.getByRole("region", { name: "On this machine" });
		await expect(here).toContainText("Not found on this machine");
		const cursor = here.getByRole("listitem").filter({ hasText: "Cursor" });
		await expect(cursor).toContainText(join(genkan.home, ".cursor/mcp.json"));
		await accessible(page);
		const command = await cursor.getByRole("code").textContent();
		execFileSync("/bin/sh", ["-c", command!], { env: { PATH: process.env.PATH, HOME: genkan.home } });
		await page.reload();
		await expect(here).toContainText("Cursor");
		await expect(here.getByText("connected", { exact: true })).toBeVisible();
		const codex = here.locator("li").filter({ hasText: "Codex" });
		await expect(codex).not.toBeVisible();
		await here.getByText("Not found on this machine").click();
		await expect(codex).toBeVisible();
		await expect(cursor).toHaveCount(0);
	});
});

test.describe("a server that a client's entry names", () => {
	test.use({
		config: JSON.stringify({ mcpServers: { told: telling({ tools: [{ name: "hello" }] }) } }),
		shared: false,
	});

	test("is missed where it was removed: in the dialog, on Clients and by the doctor", async ({
		signedIn: page,
		genkan,
	}) => {
		mkdirSync(join(genkan.home, ".cursor"), { recursive: true });
		const entry = (name: string) => ({ command: "genkan", args: ["stdio", "--only", name, "--data", genkan.data] });
		const mcpServers = { kb: entry("kb"), told: entry("told") };
		writeFileSync(join(genkan.home, ".cursor", "mcp.json"), JSON.stringify({ mcpServers }));
		await go(page, genkan, "clients");
		const cursor = page.getByRole("region", { name: "On this machine" });
		await expect(cursor).toContainText("2 servers, 2 through Genkan");
		await expect(cursor).not.toContainText("do not work");
		await go(page, genkan, "servers/told");
		await page.getByRole("main").getByRole("button", { name: "More" }).click();
		await page.getByRole("menuitem", { name: "Remove" }).click();
		const dialog = page.getByRole("dialog");
		await expect(dialog).toContainText("Cursor has an entry for this server alone, which stops working.");
		await expect(dialog).toContainText("Its tool disappears for all clients. It is taken out of");
		await dialog.getByRole("button", { name: "Remove" }).click();
		await expect(page).toHaveURL(/\/servers$/);
		const finding = page.getByRole("region", { name: "What the doctor finds" });
		await expect(finding).toContainText("The entry told of Cursor leads to the server told");
		await expect(finding).toContainText("add the server, or delete this entry from the file");
		await go(page, genkan, "clients");
		await expect(cursor).toContainText("Its entries for “told” do not work");
		await accessible(page);
	});

	test("is missed where it was removed, and the file of the client is put back", async ({ signedIn: page, genkan }) => {
		const file = join(genkan.home, ".cursor", "mcp.json");
		mkdirSync(join(genkan.home, ".cursor"), { recursive: true });
		const before = JSON.stringify({ mcpServers: { fault: { command: join(bin, "faultserver") } } });
		writeFileSync(file, before);
		await genkan.run("import", "cursor", "--yes");
		await genkan.rest("POST", "/v1/connections/cursor", {});
		expect(readFileSync(file, "utf8")).not.toBe(before);
		await genkan.rest("DELETE", "/v1/servers/fault");
		await go(page, genkan, "settings/doctor");
		await page.getByRole("button", { name: "Put its file back" }).click();
		await expect(page.getByText("Done. Looking again.")).toBeVisible();
		expect(readFileSync(file, "utf8")).toBe(before);
		await expect(page.getByRole("button", { name: "Put its file back" })).toHaveCount(0);
	});

	test("says that it is off, and is switched on there; nothing is said that is not so", async ({
		signedIn: page,
		genkan,
	}) => {
		await genkan.rest("PATCH", "/v1/servers/told", { disabled: true });
		await go(page, genkan, "servers/told");
		await expect(page.getByText("The server is off.")).toBeVisible();
		await page.getByRole("main").getByRole("button", { name: "More" }).click();
		await page.getByRole("menuitem", { name: "Remove" }).click();
		await expect(page.getByRole("dialog")).not.toContainText(/tool|secret|entry/);
		await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
		await page.getByRole("button", { name: "Switch on" }).click();
		await expect(page.getByText("told__hello", { exact: true })).toBeVisible();
		// Switched-off tools are in the list, and the tab says so.
		await page.getByRole("switch", { name: "Switch told__hello off" }).click();
		await expect(page.getByText("0 on, 1 off.")).toBeVisible();
		await expect(page.getByRole("tab", { name: /^Tools/ })).toHaveText("Tools0 of 1");
	});
});
