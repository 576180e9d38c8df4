import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { accessible, bin, expect, type Genkan, go, telling, test } from "./genkan";

/** cursor writes the file of Cursor, and returns its path. */
function cursor(genkan: Genkan, text: string): string {
	const file = join(genkan.home, ".cursor", "mcp.json");
	mkdirSync(join(genkan.home, ".cursor"), { recursive: true });
	writeFileSync(file, text);
	return file;
}

const servers = (mcpServers: object) => JSON.stringify({ mcpServers }, null, 2);
const fault = { command: join(bin, "faultserver") };
const soon = { timeout: 15_000 };

test.describe("clients", () => {
	test.use({ config: "" });

	test("a file that cannot be read is told where servers are imported and connected", async ({
		signedIn: page,
		genkan,
	}) => {
		const file = cursor(genkan, '{\n  "mcpServers": {,}\n}\n');
		const steps = page.locator("main ol > li[data-step]");
		const said = `The file of Cursor cannot be read: ${file}:2:18: `;
		await go(page, genkan, "calls");
		await expect(steps.nth(0)).toContainText(said);
		await expect(steps.nth(0)).not.toContainText("No editor on this machine has servers");
		await expect(steps.nth(1)).toContainText("The file cannot be read. Correct it by hand first.");
		await expect(steps.nth(1).getByRole("button")).toHaveCount(0);
		await accessible(page);
		await go(page, genkan, "servers?add=import");
		const dialog = page.getByRole("dialog");
		await expect(dialog.getByRole("alert")).toContainText(said);
		await expect(dialog).not.toContainText("Read: ");
		// It is looked at again.
		await go(page, genkan, "calls");
		await expect(steps.nth(0)).toContainText(said);
		writeFileSync(file, servers({ fault }));
		await expect(steps.nth(0).getByRole("button", { name: "Import" })).toBeVisible(soon);
		await expect(steps.nth(1)).not.toContainText("cannot be read", soon);
	});

	test("a file that breaks after it was connected has no button that cannot work", async ({
		signedIn: page,
		genkan,
	}) => {
		const file = cursor(genkan, servers({ fault }));
		await genkan.run("import", "cursor", "--yes");
		await genkan.rest("POST", "/v1/connections/cursor", {});
		await go(page, genkan, "servers?add=import");
		await expect(page.getByRole("dialog")).toContainText("Genkan has all servers of your editors already.");
		await expect(page.getByRole("dialog")).toContainText("Read: Cursor");
		writeFileSync(file, `{,${readFileSync(file, "utf8").slice(1)}`);
		await go(page, genkan, "clients");
		const here = page.getByRole("region", { name: "On this machine" });
		await expect(here).toContainText(`The file of Cursor cannot be read: ${file}:1:2: `);
		await expect(here).toContainText("Correct it by hand.");
		await expect(here).not.toContainText("genkan connect cursor");
		await expect(here.getByRole("button", { name: /connect|Undo/i })).toHaveCount(0);
		await go(page, genkan, "calls?start=1");
		const steps = page.locator("main ol > li[data-step]");
		await expect(steps.nth(1)).toContainText("The file cannot be read");
		await expect(steps.nth(1).getByRole("button")).toHaveCount(0);
	});

	test("what is connected, made and used elsewhere appears by itself", async ({ signedIn: page, genkan }) => {
		cursor(genkan, servers({}));
		await go(page, genkan, "clients");
		const here = page.getByRole("region", { name: "On this machine" });
		await expect(here.getByText("not connected", { exact: true })).toBeVisible();
		await genkan.run("connect", "cursor", "--aggregate", "--write");
		await expect(here.getByText("connected", { exact: true })).toBeVisible(soon);
		const tokens = page.getByRole("region", { name: "Access tokens" });
		const { token } = await genkan.rest<{ token: string }>("POST", "/v1/tokens", { name: "ci" });
		await expect(tokens).toContainText("never used", soon);
		await fetch(new URL("../v1/tools", genkan.ui), { headers: { Authorization: `Bearer ${token}` } });
		await expect(tokens).toContainText("last seen", soon);
		await go(page, genkan, "settings");
		await expect(page.getByText("this browser", { exact: true })).toBeVisible();
		await fetch(new URL("session", genkan.ui), {
			method: "POST",
			body: JSON.stringify({ token }),
			headers: { Origin: new URL(genkan.ui).origin, "Content-Type": "application/json" },
		});
		await expect(page.getByRole("button", { name: /^End the session of ci/ })).toBeVisible(soon);
	});

	test("the steps follow what is undone, and one note is about a client", async ({ signedIn: page, genkan }) => {
		const file = cursor(genkan, servers({ fault }));
		await genkan.run("import", "cursor", "--yes");
		await genkan.rest("POST", "/v1/connections/cursor", {});
		const client = await genkan.client(JSON.parse(readFileSync(file, "utf8")).mcpServers.fault);
		await client.callTool({ name: "echo", arguments: { text: "x" } });
		await go(page, genkan, "calls?start=1");
		await expect(page.getByText("All three steps are done.")).toBeVisible();
		const step = page.locator("main ol > li[data-step]").nth(1);
		const notes = page.getByRole("status").filter({ has: page.getByRole("button", { name: "Dismiss" }) });
		await step.getByRole("button", { name: "Undo" }).click();
		await expect(notes).toContainText("The files of Cursor are as they were.");
		await expect(step).toHaveAttribute("data-step", "now");
		await expect(page.getByText("All three steps are done.")).toHaveCount(0);
		await step.getByRole("button", { name: "Connect", exact: true }).click();
		await expect(notes).toContainText("Cursor is connected.");
		await expect(notes).not.toContainText("as they were");
		await expect(page.getByText("All three steps are done.")).toBeVisible();
		// What a person wrote since stays, and it is said.
		const { mcpServers } = JSON.parse(readFileSync(file, "utf8"));
		writeFileSync(file, servers({ ...mcpServers, own: { command: "true" } }));
		await notes.getByRole("button", { name: "Undo" }).click();
		await expect(notes).toContainText("The entries of Cursor are as they were. What was changed in its files");
		expect(JSON.parse(readFileSync(file, "utf8")).mcpServers).toEqual({ fault, own: { command: "true" } });
	});

	test("a client is disconnected after a question that says what goes", async ({ signedIn: page, genkan }) => {
		const file = cursor(genkan, servers({ fault }));
		await genkan.run("import", "cursor", "--yes");
		await genkan.rest("POST", "/v1/connections/cursor", {});
		const connected = readFileSync(file, "utf8");
		await go(page, genkan, "clients");
		const here = page.getByRole("region", { name: "On this machine" });
		await here.getByRole("button", { name: "Disconnect" }).click();
		const question = page.getByRole("dialog", { name: "Disconnect Cursor?" });
		await expect(question).toContainText("Its file gets back what it had before Genkan.");
		await expect(question).toContainText("1 entry leads to Genkan now.");
		await accessible(page);
		await question.getByRole("button", { name: "Cancel" }).click();
		expect(readFileSync(file, "utf8")).toBe(connected);
		await here.getByRole("button", { name: "Disconnect" }).click();
		await question.getByRole("button", { name: "Disconnect" }).click();
		const note = page.getByRole("status").filter({ hasText: "The files of Cursor are as they were." });
		await expect(note).toBeVisible();
		// Notes cover nothing of the page.
		const main = (await page.getByRole("main").boundingBox())!;
		const box = (await note.boundingBox())!;
		expect(box.x + box.width).toBeLessThanOrEqual(main.x);
		await expect(question).toHaveCount(0);
		expect(readFileSync(file, "utf8")).toBe(servers({ fault }));
		await expect(here.getByRole("button", { name: "Disconnect" })).toHaveCount(0);
	});

	test("a client without servers gets one entry for all", async ({ signedIn: page, genkan }) => {
		cursor(genkan, servers({ fault }));
		await genkan.run("import", "cursor", "--yes");
		const file = join(genkan.home, ".claude.json");
		const before = servers({});
		writeFileSync(file, before);
		const entry = () => JSON.parse(readFileSync(file, "utf8")).mcpServers.genkan;
		await go(page, genkan, "clients");
		const here = page.getByRole("region", { name: "On this machine" });
		const row = here.locator("div.border-b").filter({ hasText: "Claude Code" });
		await row.getByRole("button", { name: "Connect" }).click();
		const dialog = page.getByRole("dialog", { name: "Connect Claude Code" });
		await expect(dialog).toContainText("One entry leads to all servers.");
		await expect(dialog).toContainText('"genkan"');
		await accessible(page);
		await dialog.getByRole("button", { name: "Connect" }).click();
		await expect(row.getByText("connected", { exact: true })).toBeVisible();
		const client = await genkan.client(entry());
		expect((await client.listTools()).tools.map(({ name }) => name)).toContain("fault__echo");
		await row.getByRole("button", { name: "Disconnect" }).click();
		await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
		await expect(row).toContainText("not connected");
		expect(readFileSync(file, "utf8")).toBe(before);

		// So it does on the first page.
		await go(page, genkan, "calls?start=1");
		const step = page.locator("main ol > li[data-step]").nth(1);
		const client2 = step.locator("div.bg-sunken").filter({ hasText: "Claude Code" });
		await client2.getByRole("button", { name: "Show the change" }).click();
		await expect(page.getByRole("dialog")).toContainText("One entry leads to all servers.");
		await page.getByRole("dialog").getByRole("button", { name: "Connect" }).click();
		await expect(client2.getByRole("button", { name: "Undo" })).toBeVisible();
		expect(entry().args).toContain("stdio");
	});

	test("a server that a file has since it was looked at is ticked", async ({ signedIn: page, genkan }) => {
		const file = cursor(genkan, servers({ fault }));
		await genkan.run("import", "cursor", "--yes");
		await go(page, genkan, "servers?add=import");
		const dialog = page.getByRole("dialog");
		await expect(dialog).toContainText("Genkan has all servers of your editors already.");
		writeFileSync(file, servers({ fault, other: { ...fault, args: ["-x"] } }));
		await dialog.getByRole("button", { name: "Look again" }).click();
		await expect(dialog.getByRole("checkbox")).toBeChecked();
		await expect(dialog).toContainText("Found in Cursor. The files stay as they are, until you connect their client.");
		await expect(dialog.getByRole("button", { name: "Import 1 server" })).toBeEnabled();
	});

	test("forms of an administrator do not open for others", async ({ page, genkan }) => {
		const { token } = await genkan.rest<{ token: string }>("POST", "/v1/tokens", { name: "ci" });
		await page.request.post(`${genkan.ui}session`, {
			data: { token },
			headers: { Origin: new URL(genkan.ui).origin },
		});
		for (const add of ["form", "import"]) {
			await go(page, genkan, `servers?add=${add}`);
			await expect(page.getByRole("heading", { name: "Servers", level: 1 })).toBeVisible();
			await expect(page.getByRole("dialog")).toHaveCount(0);
		}
		await go(page, genkan, "calls?start=1");
		await expect(page.getByText("No call of yours yet.")).toBeVisible();
		await expect(page.getByText("Welcome in.")).toHaveCount(0);
	});
});

test.describe("a server", () => {
	test.use({ config: JSON.stringify({ mcpServers: { told: telling({ tools: [{ name: "hello" }] }) } }) });

	test("is switched off with a way back, and after a question where a client's entry names it", async ({
		signedIn: page,
		genkan,
	}) => {
		await go(page, genkan, "servers/told");
		const more = async (item: string) => {
			await page.getByRole("main").getByRole("button", { name: "More" }).click();
			await page.getByRole("menuitem", { name: item }).click();
		};
		const off = page.getByText("The server is off.");
		await expect(page.getByText("told__hello")).toBeVisible();
		await more("Switch off");
		await expect(off).toBeVisible();
		await page.getByRole("status").filter({ hasText: "“told” is off." }).getByRole("button", { name: "Undo" }).click();
		await expect(page.getByText("“told” is on.")).toBeVisible();
		await expect(off).toHaveCount(0);
		cursor(genkan, servers({ told: { command: "genkan", args: ["stdio", "--only", "told", "--data", genkan.data] } }));
		await page.reload();
		await expect(page.getByText("told__hello")).toBeVisible();
		await more("Switch off");
		const question = page.getByRole("dialog", { name: "Switch “told” off?" });
		await expect(question).toContainText("Cursor has an entry for this server alone, which does not work while");
		await accessible(page);
		await question.getByRole("button", { name: "Cancel" }).click();
		await expect(off).toHaveCount(0);
		await more("Switch off");
		await question.getByRole("button", { name: "Switch off" }).click();
		await expect(question).toHaveCount(0);
		await expect(off).toBeVisible();
	});

	test("that is changed or pasted is asked about at once", async ({ signedIn: page, genkan }) => {
		await go(page, genkan, "servers/told?change=1");
		await expect(page.getByRole("dialog").getByLabel("What it is")).toBeFocused();
		await go(page, genkan, "servers?add=form");
		await page.getByRole("tab", { name: "Paste JSON" }).click();
		await page.getByLabel("JSON as any client writes it").fill(servers({ told: { command: "true" } }));
		const row = page.getByRole("listitem").filter({ has: page.getByLabel("Name of told") });
		await expect(row).toContainText("There is a server “told” already.");
		await row.getByRole("textbox").fill("other");
		await expect(row).not.toContainText("already");
	});
});

test.describe("servers that take long to start", () => {
	test.use({ config: JSON.stringify({ mcpServers: { slow: { command: "sleep", args: ["300"] } } }) });

	test("are told as starting, not as done", async ({ page, genkan }) => {
		await genkan.signIn(page);
		await go(page, genkan, "calls?start=1");
		const step = page.locator("main ol > li[data-step]").first();
		await expect(step).toContainText("1 server is here");
		await expect(step).toContainText("slow is starting. The first start may download it.");
		await expect(step).toHaveAttribute("data-step", "now");
		await expect(step).not.toContainText("of them");
	});
});
