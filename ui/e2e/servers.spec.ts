import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { accessible, bin, expect, go, telling, test } from "./genkan";

// The page of a server that is being removed may ask for it once more.
test.use({ shared: true, provoked: /^404 GET .*\/servers\/(mine|told)$/ });

test("servers are listed with their state, and one opens by keyboard", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "servers");
	await expect(page.getByRole("row", { name: /everything/ })).toContainText("Up");
	// The knowledge base has a row, but is no server that could be down.
	await expect(page.getByRole("main").getByText("3 of 3 up, and the built-in knowledge base")).toBeVisible();
	await expect(page.getByRole("row")).toHaveCount(1 + 4);
	await page.keyboard.press("j");
	await page.keyboard.press("j");
	await page.keyboard.press("Enter");
	await expect(page).toHaveURL(/\/servers\/\w+$/);
	await page.goBack();
	await page.getByRole("searchbox").fill("faul");
	await expect(page).toHaveURL(/text=faul/);
	await expect(page.getByRole("row")).toHaveCount(2);
	await accessible(page);
});

test("a server is added by a form, tried first, and removed", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "servers");
	await page.getByRole("button", { name: "Add a server" }).click();
	await page.getByLabel("Name", { exact: true }).fill("mine");
	await page.getByLabel("Command line").fill("no-such-program-here");
	await page.getByRole("button", { name: "Test it" }).click();
	await expect(page.getByRole("alert")).toBeVisible();
	await page.getByLabel("Command line").fill("false");
	await page.getByRole("button", { name: "Add", exact: true }).click();
	await expect(page).toHaveURL(/\/servers\/mine$/);
	await page.getByRole("main").getByRole("button", { name: "More" }).click();
	await page.getByRole("menuitem", { name: "Remove" }).click();
	// What goes wrong is told above the dialog that stays open.
	const removing = page.getByRole("dialog");
	const deleting = "**/v1/servers/mine";
	await page.route(deleting, (route) =>
		route.request().method() === "DELETE"
			? route.fulfill({ status: 409, json: { code: "CONFLICT", error: "Somebody else has the file." } })
			: route.fallback(),
	);
	await removing.getByRole("button", { name: "Remove" }).click();
	const told = removing.getByRole("status").filter({ hasText: "Somebody else has the file." });
	await told.getByRole("button", { name: "Dismiss" }).last().click();
	await expect(told).toHaveCount(0);
	await page.unroute(deleting);
	// From then on, nothing is asked about it.
	const asked: string[] = [];
	page.on("request", (request) => request.method() === "GET" && asked.push(request.url()));
	await page.route(deleting, async (route) => {
		if (route.request().method() !== "DELETE") return route.fallback();
		const response = await route.fetch();
		await page.waitForTimeout(500); // an event tells it first
		await route.fulfill({ response });
	});
	await removing.getByRole("button", { name: "Remove" }).click();
	await expect(page).toHaveURL(/\/servers$/);
	expect(asked.filter((url) => /\/v1\/servers\/mine/.test(url))).toEqual([]);
	await expect(page.getByText("“mine” is removed.")).toBeVisible();
});

test("what was written about a server is discarded only by who says so", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "servers?add=form");
	const dialog = page.getByRole("dialog");
	const name = page.getByLabel("Name", { exact: true });
	await expect(name).toBeFocused();
	await page.keyboard.press("Escape");
	await expect(dialog).toHaveCount(0); // nothing was written
	await go(page, genkan, "servers?add=form");
	await page.getByText("Other settings").click();
	await page.getByLabel("As JSON").fill("{");
	await page.keyboard.press("Escape");
	await expect(dialog.getByRole("alert")).toContainText("Discard what you have written?");
	await go(page, genkan, "servers?add=form");
	await name.fill("mine");
	for (const leave of [
		() => page.keyboard.press("Escape"),
		() => dialog.getByRole("button", { name: "Close" }).click(),
		() => page.mouse.click(4, 400),
	]) {
		await leave();
		await expect(dialog.getByRole("alert")).toContainText("Discard what you have written?");
		await dialog.getByRole("button", { name: "Go on writing" }).click();
		await expect(name).toHaveValue("mine");
	}
	// Text that is selected may end beside the dialog.
	const box = (await name.boundingBox())!;
	await page.mouse.move(box.x + box.width - 5, box.y + 10);
	await page.mouse.down();
	await page.mouse.move(4, 400);
	await page.mouse.up();
	await expect(dialog.getByRole("alert")).toHaveCount(0);
	await page.keyboard.press("Escape");
	await page.keyboard.press("Escape"); // takes the question back
	await expect(dialog.getByRole("alert")).toHaveCount(0);
	await expect(name).toHaveValue("mine");
	await page.keyboard.press("Escape");
	await dialog.getByRole("button", { name: "Discard the changes" }).click();
	await expect(dialog).toHaveCount(0);
});

test("what was written about a server is not lost by going elsewhere", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "calls");
	await page.getByRole("link", { name: "Servers", exact: true }).click();
	const add = page.getByRole("button", { name: "Add a server" });
	const back = () => page.evaluate(() => history.back());
	await add.click();
	const name = page.getByRole("dialog").getByLabel("Name");
	await name.fill("mine");
	const question = page.getByRole("dialog", { name: "Leave without saving?" });
	await page.keyboard.press("Control+k");
	await page.getByRole("dialog", { name: "Go to" }).getByRole("combobox").fill("charts");
	await page.keyboard.press("Enter");
	await question.getByRole("button", { name: "Cancel" }).click();
	await back();
	await question.getByRole("button", { name: "Cancel" }).click();
	await expect(name).toHaveValue("mine");
	await back();
	await question.getByRole("button", { name: "Discard the changes" }).click();
	await expect(page.getByRole("dialog")).toHaveCount(0);
	await expect(page).toHaveURL(/\/calls$/);

	// A dialog that is closed gives the focus back.
	await page.getByRole("link", { name: "Servers", exact: true }).click();
	await add.press("Enter");
	await page.keyboard.press("Escape");
	await expect(add).toBeFocused();
});

test("a server of genkan.yaml is switched off, changed and removed like any other", async ({
	signedIn: page,
	genkan,
}) => {
	const file = join(genkan.data, "genkan.yaml");
	const before = readFileSync(file, "utf8");
	const text = '# my servers\nmcpServers:\n  # by hand\n  mine: # one\n    command: "false"\n';
	writeFileSync(file, text);
	await genkan.rest("POST", "/v1/reload");
	const more = async (item: string) => {
		await page.getByRole("main").getByRole("button", { name: "More" }).click();
		await page.getByRole("menuitem", { name: item }).click();
	};
	await go(page, genkan, "servers/mine?part=definition");
	await expect(page.getByText("genkan.yaml:4")).toBeVisible();
	await page.getByRole("main").getByRole("button", { name: "Copy" }).last().click();
	expect(JSON.parse(await page.evaluate(() => navigator.clipboard.readText()))).toMatchObject({ command: "false" });
	await page.getByRole("main").getByRole("button", { name: "Change" }).last().click();
	await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
	await more("Switch off");
	await expect(page.getByRole("main").getByText("Off", { exact: true })).toBeVisible();
	expect(readFileSync(file, "utf8")).toBe(`${text}    disabled: true\n`);
	await more("Switch on");
	await expect(page.getByRole("main").getByText("Off", { exact: true })).not.toBeVisible();
	await more("Change");
	const line = page.getByLabel("Command line");
	await line.fill("true --dir='/my docs' -c 'echo \"a\"\necho b'");
	await page.getByRole("button", { name: "Save" }).click();
	await expect(page.getByText("“mine” is changed.")).toBeVisible();
	const written = readFileSync(file, "utf8");
	expect(written).toContain(`--dir=/my docs`);
	await more("Change");
	await page.getByRole("button", { name: "Save" }).click();
	await expect(page.getByRole("dialog")).not.toBeVisible();
	expect(readFileSync(file, "utf8")).toBe(written); // what nobody touched stays
	await more("Change");
	await line.fill("true --quick");
	await page.getByText("Other settings").click();
	const other = page.getByLabel("As JSON");
	await other.fill("");
	await expect(other).toBeVisible(); // it is not folded below the cursor
	await other.fill('{"timeout": ');
	await page.getByText("Other settings").click();
	await expect(other).not.toBeVisible();
	await page.getByRole("button", { name: "Save" }).click();
	await expect(other).toBeFocused(); // nothing is saved
	await other.fill("[1]");
	await page.getByRole("button", { name: "Save" }).click();
	await expect(other).toHaveAccessibleDescription(/^This must be an object\./);
	await other.fill('{"timeout": "20s"}');
	await page.getByRole("button", { name: "Save" }).click();
	await expect(page.getByRole("dialog")).not.toBeVisible();
	expect(readFileSync(file, "utf8")).toContain(
		'  mine: # one\n    command: "true"\n    args:\n      - "--quick"\n    timeout: "20s"\n',
	);
	await more("Remove");
	await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
	await expect(page.getByText("“mine” is removed.")).toBeVisible();
	expect(readFileSync(file, "utf8")).toBe("# my servers\nmcpServers: {}\n  # by hand\n");
	writeFileSync(file, before); // others use this Genkan, too
	await genkan.rest("POST", "/v1/reload");
	await genkan.ready();
});

test("pasted JSON of any client becomes servers", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "servers?add=form");
	const text = page.getByLabel("JSON as any client writes it");
	await page.getByRole("tab", { name: "Paste JSON" }).click();
	await expect(text).toBeFocused();
	await page.getByRole("tab", { name: "Form" }).click();
	await page.getByRole("tab", { name: "Form" }).press("ArrowRight");
	await expect(page.getByRole("tab", { name: "Paste JSON" })).toBeFocused();
	await expect(page).toHaveURL(/add=form&as=json$/);
	await page.reload();
	await text.fill("claude mcp add -e A=b read -- npx -y some-server");
	await expect(page.getByLabel("Name of read")).toHaveValue("read");
	await text.fill('"pasted": {"command": "true", "env": {"A": "b"}},');
	await page.getByRole("button", { name: "Add 1 server" }).click();
	await expect(page.getByText("1 server is added.")).toBeVisible();
	await expect(page.getByRole("row", { name: /pasted/ })).toBeVisible();
	await expect(page).toHaveURL(/\/servers$/);
});

test("of several pasted servers, it is said which were added, and the rest stays", async ({
	signedIn: page,
	genkan,
}) => {
	await go(page, genkan, "servers?add=form");
	await page.getByRole("tab", { name: "Paste JSON" }).click();
	const text = page.getByLabel("JSON as any client writes it");
	await text.fill("lol {nonsense");
	await expect(page.getByRole("alert")).toContainText("not JSON: line 1, column 1");
	await text.fill(
		JSON.stringify({
			mcpServers: { one: { command: "true" }, fault: { command: "true" }, two: { command: "true" }, half: {} },
		}),
	);
	await expect(page.getByRole("alert")).not.toBeVisible();
	// What is left out is said above what is added, with its name.
	const left = page.getByText("“half”: This entry has neither a command nor a url, so it was left out");
	const one = page.getByLabel("Name of one");
	expect((await left.boundingBox())!.y).toBeLessThan((await one.boundingBox())!.y);
	await page.getByRole("button", { name: "Add 3 servers" }).click();
	await expect(page.getByRole("alert")).toContainText("Added: one, two. Not added: fault.");
	await expect(page.getByRole("dialog")).toContainText("There is a server fault already");
	await expect(page.getByRole("dialog")).not.toContainText("/v1/");
	await expect(text).not.toHaveValue(/one|two/);
	await expect(text).toHaveValue(/"half": \{\}/);
	await text.fill((await text.inputValue()).replace('"fault"', '"other"'));
	await page.getByRole("button", { name: "Add 1 server" }).click();
	await expect(page.getByRole("row", { name: /other/ })).toBeVisible();
});

test("pasted servers are named and tried before they are added", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "servers?add=form");
	await page.getByRole("tab", { name: "Paste JSON" }).click();
	const fault = join(bin, "faultserver");
	const mcpServers = {
		議事録: { command: fault },
		bad: { command: "sh", args: ["-c", "exit 3"], cwd: "/no/such/place" },
		"Fault!": { command: fault },
	};
	await page.getByLabel("JSON as any client writes it").fill(JSON.stringify({ mcpServers }));
	const row = (name: string) => page.getByRole("listitem").filter({ has: page.getByLabel(`Name of ${name}`) });
	await expect(row("議事録")).toContainText(
		"“議事録” cannot be the name of a server, so it is added as “faultserver”.",
	);
	await expect(row("Fault!")).toContainText("so it is added as “fault-2”.");
	await page.getByLabel("Name of 議事録").fill("minutes");
	await expect(row("議事録")).not.toContainText("cannot be the name");
	await page.getByRole("button", { name: "Test it" }).click();
	await expect(row("議事録")).toContainText("It works.");
	await expect(row("bad")).toContainText('the folder "/no/such/place" that it is to run in does not exist');
	await accessible(page);
	await row("bad").getByRole("button", { name: "Leave it out" }).click();
	await page.getByRole("button", { name: "Add 2 servers" }).click();
	await expect(page.getByRole("row", { name: /minutes/ })).toBeVisible();
	await expect(page.getByRole("row", { name: /fault-2/ })).toBeVisible();
	await expect(page.getByRole("row", { name: /bad/ })).toHaveCount(0);
	for (const name of ["minutes", "fault-2"]) await genkan.rest("DELETE", `/v1/servers/${name}`);
});

test("an old complaint goes when a field is corrected, and is not on the other tab", async ({
	signedIn: page,
	genkan,
}) => {
	await go(page, genkan, "servers?add=form");
	const complaint = page.getByText("there is a server fault already");
	await page.getByLabel("Name", { exact: true }).fill("fault");
	await page.getByLabel("Command line").fill("true");
	await page.getByRole("button", { name: "Add", exact: true }).click();
	await expect(complaint).toBeVisible();
	await page.getByRole("tab", { name: "Paste JSON" }).click();
	await expect(complaint).not.toBeVisible();
	await page.getByRole("tab", { name: "Form" }).click();
	await page.getByRole("button", { name: "Add", exact: true }).click();
	await expect(complaint).toBeVisible();
	await page.getByLabel("Name", { exact: true }).fill("other");
	await expect(complaint).not.toBeVisible();
	// What is wrong is told at its field, a value has a name, and a quote must end.
	const name = page.getByLabel("Name", { exact: true }).first();
	await name.fill("No Name");
	for (const button of ["Test it", "Add"]) {
		await page.getByRole("button", { name: button, exact: true }).click();
		await expect(name).toHaveAccessibleDescription(/^"No Name" cannot be the name of a server/);
		await expect(page.getByRole("alert")).toHaveCount(0);
	}
	await name.fill("another");
	await page.getByRole("button", { name: "Add a variable" }).click();
	await expect(page.getByPlaceholder("API_KEY")).toBeFocused();
	await page.getByLabel("Value", { exact: true }).fill("x");
	await expect(page.getByText("This value needs a name.")).toBeVisible();
	await expect(page.getByRole("button", { name: "Add", exact: true })).toBeDisabled();
	await page.getByRole("button", { name: "Remove this row" }).click();
	await page.getByLabel("What it is").selectOption("url");
	await page.getByLabel("Address").fill("localhost");
	await page.getByRole("button", { name: "Add", exact: true }).click();
	await expect(page.getByLabel("Address")).toHaveAccessibleDescription(
		"This value must begin with http:// or https://",
	);
	await page.getByLabel("What it is").selectOption("command");
	await page.getByLabel("Command line").fill('true "x');
	await expect(page.getByText("A quote is not closed.")).toBeVisible();
	await expect(page.getByRole("button", { name: "Add", exact: true })).toBeDisabled();
});

test("a trial says what it waits for, and ends with its process", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "servers?add=form");
	const mark = join(genkan.home, "running");
	const runs = () => existsSync(mark) && existsSync(`/proc/${readFileSync(mark, "utf8").trim()}`);
	await page.getByLabel("Name", { exact: true }).fill("hang");
	await page.getByLabel("Command line").fill(`sh -c "echo $$ > ${mark}; exec sleep 300"`);
	await page.getByRole("button", { name: "Test it" }).click();
	await expect(page.getByRole("status").filter({ hasText: "waiting for its answer to initialize" })).toBeVisible();
	await expect(page.getByText("2 s", { exact: true })).toBeVisible();
	await expect.poll(runs).toBe(true);
	await page.getByRole("dialog").getByRole("button", { name: "Stop the test" }).click();
	await expect.poll(runs).toBe(false);
	await page.getByRole("button", { name: "Test it" }).click();
	await expect.poll(runs).toBe(true);
	await page.keyboard.press("Escape");
	await page.getByRole("button", { name: "Discard the changes" }).click();
	await expect(page.getByRole("dialog")).not.toBeVisible();
	await expect.poll(runs).toBe(false);
});

test("a tool is switched off for everybody and on again", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "servers/everything");
	const off = page.getByRole("switch", { name: "Switch everything__echo off" });
	await off.click();
	await expect(page.getByRole("switch", { name: "Switch everything__echo on" })).toBeVisible();
	expect(JSON.stringify(await genkan.call("everything__echo", { message: "x" }))).not.toContain('"result"');
	await page.getByRole("switch", { name: "Switch everything__echo on" }).click();
	await expect(off).toBeVisible();
	// A switch waits for its own answer, and complains of its own error.
	const on = (tool: string) => page.getByRole("switch", { name: `Switch everything__${tool} on` });
	let answer = () => {};
	const answered = new Promise<void>((resolve) => {
		answer = resolve;
	});
	await page.route("**/everything__echo/disable", async (route) => {
		await answered;
		await route.fulfill({ status: 409, json: { code: "CONFLICT", error: "Not now." } });
	});
	await off.click();
	await expect(off).toBeDisabled();
	await page.getByRole("switch", { name: "Switch everything__get-env off" }).click();
	await expect(on("get-env")).toBeVisible();
	answer();
	await expect(page.getByText("Not now.")).toBeVisible();
	await expect(off).toBeEnabled();
	await on("get-env").click();
	await expect(on("get-env")).toHaveCount(0);
	await page.getByRole("tab", { name: "Log" }).click();
	await accessible(page);
});

test("the log opens at its last line, and follows unless somebody reads above", async ({ signedIn: page, genkan }) => {
	const says = Array.from({ length: 120 }, (_, n) => `line ${n + 1} of 120`).join("\n");
	await genkan.rest("POST", "/v1/servers", { name: "told", ...telling({ says, tools: [{ name: "say" }] }) });
	await genkan.ready();
	await go(page, genkan, "servers/told?part=log");
	const log = page.locator("pre");
	await expect(log).toContainText("line 120 of 120");
	const above = () => log.evaluate((pre) => pre.scrollHeight - pre.clientHeight - pre.scrollTop);
	expect(await above()).toBeLessThan(2);
	await genkan.call("told__say");
	await expect(log).toContainText("called say");
	expect(await above()).toBeLessThan(2);
	await log.evaluate((pre) => pre.scrollTo(0, 100));
	await genkan.call("told__say");
	await expect(log).toContainText(/called say\s+called say/);
	expect(await log.evaluate((pre) => pre.scrollTop)).toBe(100);
	await genkan.rest("DELETE", "/v1/servers/told");
});

test("Restart starts the server's process again", async ({ signedIn: page, genkan }) => {
	const pid = async () =>
		(await genkan.rest<{ result: { content: { text: string }[] } }>("POST", "/v1/tools/call", { name: "fault__pid" }))
			.result.content[0]!.text;
	const before = await pid();
	expect(await pid()).toBe(before);
	await go(page, genkan, "servers/fault");
	await page.getByRole("button", { name: "Restart" }).click();
	await expect(page.getByText("“fault” is started again.")).toBeVisible();
	await genkan.ready();
	expect(await pid()).not.toBe(before);
});

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
	await expect(page.getByRole("dialog")).toContainText("--only later");
	await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
	// On the page of the clients, one chooses.
	await go(page, genkan, "clients");
	await page.getByRole("button", { name: /^Add \d+ servers…$/ }).click();
	const dialog = page.getByRole("dialog", { name: "Add servers to Cursor" });
	await expect(dialog.getByRole("button", { name: "later", exact: true })).toBeVisible();
	for (const name of await dialog.getByRole("group", { name: "Servers" }).getByRole("button").allTextContents())
		if (name !== "later") await dialog.getByRole("button", { name, exact: true }).click();
	await expect(dialog).not.toContainText("--only everything");
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

test.describe("servers that need something", () => {
	test.use({
		config: JSON.stringify({
			mcpServers: {
				told: telling({ tools: [{ name: "hello" }] }),
				fault: { command: join(bin, "faultserver") },
				broken: { command: join(bin, "faultserver"), args: ["-mode", "crash-loop"] },
			},
		}),
		shared: true,
	});

	test("what a server writes to its standard error appears while it writes", async ({ signedIn: page, genkan }) => {
		await go(page, genkan, "servers/told?part=log");
		await expect(page.getByText("Nothing yet")).toBeVisible();
		await genkan.call("told__hello");
		await expect(page.getByText("called hello")).toBeVisible();
		await genkan.call("told__hello");
		await expect(page.getByText("2 lines")).toBeVisible();
	});

	test("one that is down says why, and what to do", async ({ signedIn: page, genkan }) => {
		await go(page, genkan, "calls");
		await expect(page.getByText(/broken is down: .*faultserver/)).toBeVisible();
		await go(page, genkan, "servers/broken");
		await expect(page.getByText("Down", { exact: true })).toBeVisible();
		const found = page.getByRole("region", { name: "What the doctor finds" });
		await expect(found.locator("pre")).toContainText("crashing at once, as asked");
		await expect(found).not.toContainText("web UI");
		await found.getByRole("button", { name: "Change" }).click();
		await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
		await expect(page.getByText("They are listed when the server is up.")).toBeVisible();
		// What the doctor says to do stays below the outcome of a trial.
		await page.getByRole("button", { name: "Test it" }).click();
		await expect(page.getByRole("alert")).toContainText("crashing at once, as asked");
		await found.getByRole("button", { name: "Change" }).click();
		await page.getByLabel("Command line").fill(join(bin, "faultserver"));
		await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
		await expect(page.getByRole("main").getByText("Up", { exact: true })).toBeVisible();
		await expect(page.getByRole("alert")).toHaveCount(0); // it was of the former command
	});

	test("the doctor turns workflows on again, and leads to the tool that has no description", async ({
		signedIn: page,
		genkan,
	}) => {
		await genkan.rest("PUT", "/v1/workflows/switch", { on: false });
		await go(page, genkan, "settings/doctor");
		const found = page.getByRole("region", { name: "What the doctor finds" });
		await expect(found).toContainText("All workflows are turned off");
		await found.getByRole("button", { name: "Mend it" }).click();
		await expect(found).not.toContainText("All workflows are turned off");
		expect(await genkan.rest("GET", "/v1/workflows/switch")).toMatchObject({ on: true });
		await found.getByRole("link", { name: "Describe it" }).click();
		await expect(page).toHaveURL(/tools\/told__hello\?part=about$/);
		await page.getByLabel("Description").fill("Says hello.");
		await page.getByRole("button", { name: "Save" }).click();
		await expect(page.getByText("Searches use it at once")).toBeVisible();
		await go(page, genkan, "settings/doctor");
		await expect(found).toBeVisible();
		await expect(found.getByRole("link", { name: "Describe it" })).toHaveCount(0);
	});

	test("a changed definition is a diff", async ({ signedIn: page, genkan }) => {
		await genkan.call("fault__add_tool", { name: "changing", description: "Makes tea." });
		await go(page, genkan, "servers/fault?part=changes");
		await expect(page.getByText("No tool has changed")).toBeVisible();
		await page.getByRole("tab", { name: /^Tools/ }).click();
		await page.getByLabel("Filter tools").fill("zzz");
		await expect(page.getByText("No tool matches.")).toBeVisible();
		await page.getByRole("tab", { name: /^Changed tools/ }).click();
		await genkan.call("fault__add_tool", { name: "changing", description: "Makes tea and reads your mail." });
		await expect(page.locator("del")).toContainText("Makes tea.");
		await expect(page.locator("ins")).toContainText("Makes tea and reads your mail.");
		await accessible(page);
	});

	test("a try before saving says what is wrong, with what the program wrote", async ({ signedIn: page, genkan }) => {
		await go(page, genkan, "servers?add=form");
		await page.getByLabel("Name", { exact: true }).fill("new");
		await page.getByLabel("Command line").fill("no-such-program-here --now");
		await page.getByRole("button", { name: "Test it" }).click();
		await expect(page.getByRole("alert")).toContainText(/no-such-program-here.*PATH/s);
		await page.getByLabel("Command line").fill(`${join(bin, "faultserver")} -mode crash-loop`);
		await expect(page.getByRole("alert")).toHaveCount(0);
		await page.getByRole("button", { name: "Test it" }).click();
		await expect(page.getByRole("alert")).toContainText("crashing at once, as asked");
		await page.getByLabel("Command line").fill(join(bin, "faultserver"));
		await page.getByRole("button", { name: "Test it" }).click();
		await expect(page.getByText(/It works\. 11 tools/)).toBeVisible();
		const { servers } = await genkan.rest<{ servers: { name: string }[] }>("GET", "/v1/servers");
		expect(servers.map((one) => one.name)).not.toContain("new");
	});

	test("the servers of an editor are imported, without what is not chosen", async ({ signedIn: page, genkan }) => {
		mkdirSync(join(genkan.home, ".cursor"), { recursive: true });
		const fault = { command: join(bin, "faultserver"), env: { API_TOKEN: "sk-1234567890abcdefghij" } };
		const mcpServers = { one: fault, two: { ...fault, args: ["-tools", "1"] } };
		writeFileSync(join(genkan.home, ".cursor", "mcp.json"), JSON.stringify({ mcpServers }));
		await go(page, genkan, "servers?add=import");
		const dialog = page.getByRole("dialog");
		await expect(dialog).toContainText("Cursor");
		await expect(dialog).not.toContainText("sk-1234567890abcdefghij");
		await accessible(page);
		await dialog.getByRole("checkbox", { name: /two/ }).uncheck();
		await dialog.getByRole("button", { name: "Import 1 server" }).click();
		await expect(page.getByRole("row", { name: /one/ })).toContainText("Up");
		await expect(page.getByRole("row", { name: /two/ })).toHaveCount(0);
	});

	test("one that wants people to sign in is up after they did", async ({ signedIn: page, genkan, context }) => {
		const child = spawn("node", [join(import.meta.dirname, "signin.mjs")], { stdio: ["ignore", "pipe", "inherit"] });
		const url = await new Promise<string>((resolve) =>
			child.stdout.once("data", (line) => resolve(String(line).trim())),
		);
		await genkan.rest("POST", "/v1/servers", { name: "behind", url });
		await go(page, genkan, "calls");
		await expect(page.getByText("behind needs sign-in.")).toBeVisible();
		const signIn = async () => {
			const opened = context.waitForEvent("page");
			await page.getByRole("button", { name: "Sign in", exact: true }).click();
			return opened;
		};
		const strip = await signIn();
		await expect(strip.getByRole("link", { name: "I agree" })).toBeVisible();
		expect(await strip.evaluate(() => window.opener)).toBe(null);
		await strip.close();
		await go(page, genkan, "servers/behind");
		await expect(page.getByText("Needs sign-in", { exact: true })).toBeVisible();
		const other = await signIn();
		await other.getByRole("link", { name: "I agree" }).click();
		await expect(page.getByText("Up", { exact: true })).toBeVisible();
		await expect(page.getByText("behind__behind")).toBeVisible();
		await go(page, genkan, "servers"); // or it would ask for a server that is gone
		await genkan.rest("DELETE", "/v1/servers/behind");
		child.kill();
	});
});

test.describe("names", () => {
	test("what is wrong with a name stands at its field", async ({ genkan, signedIn: page }) => {
		const wrong = (label: string) => page.getByLabel(label, { exact: true });
		await go(page, genkan, "servers?add=form");
		await wrong("Name").fill("fault");
		await page.getByLabel("Command line").fill("true");
		await page.getByRole("button", { name: "Add", exact: true }).click();
		await expect(wrong("Name")).toHaveAttribute("aria-invalid", "true");
		await expect(wrong("Name")).toHaveAccessibleDescription(/There is a server.*fault/);
		await page.getByRole("tab", { name: "Paste JSON" }).click();
		await page.getByLabel("JSON as any client writes it").fill('{"mcpServers":{}}');
		await expect(page.getByText("There is no server in this text.")).toBeVisible();

		await go(page, genkan, "settings/secrets");
		await wrong("Name").fill("a b");
		await wrong("Value").fill("x".repeat(65_537));
		await page.getByRole("button", { name: "Keep", exact: true }).click();
		await expect(wrong("Name")).toHaveAttribute("aria-invalid", "true");
		await wrong("Name").fill("a-b");
		await page.getByRole("button", { name: "Keep", exact: true }).click();
		await expect(wrong("Value")).toHaveAccessibleDescription("A secret has at most 65536 bytes");
		await expect(wrong("Name")).not.toHaveAttribute("aria-invalid");
		await wrong("Value").fill("");
		await go(page, genkan, "clients");
		const token = wrong("Name of a client on another machine, or of a script");
		await token.fill("A token!");
		await page.getByRole("button", { name: "Make a token" }).click();
		await expect(token).toHaveAttribute("aria-invalid", "true");
	});
});
