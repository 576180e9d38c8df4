import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
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
	// Names are whole on a phone, with the state below them.
	await page.setViewportSize({ width: 390, height: 844 });
	await expect(
		page
			.getByRole("row", { name: /everything/ })
			.getByText("Up")
			.last(),
	).toBeVisible();
	await page.setViewportSize({ width: 1280, height: 860 });
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
