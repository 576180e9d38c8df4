import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { accessible, bin, expect, go, test } from "./genkan";

// The page of a server that is being removed may ask for it once more.
test.use({ shared: true, provoked: /^404 GET .*\/servers\/mine$/ });

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
	// Once it is removed, nothing is asked about it.
	const asked: string[] = [];
	await page.route(deleting, async (route) => {
		if (route.request().method() !== "DELETE") return route.fallback();
		const response = await route.fetch();
		page.on("request", (request) => request.method() === "GET" && asked.push(request.url()));
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
