import { faultOnly, node, plain, put, stored } from "./editor";
import { accessible, expect, go, test } from "./genkan";

// What people stumbled over: files that are no workflows yet, names that match nothing,
// results that are old, keys that undo too much.

test.use({ shared: true, config: faultOnly });

test.beforeEach(async ({ genkan }) => {
	const { workflows } = await genkan.rest<{ workflows: { id: string }[] }>("GET", "/v1/workflows");
	for (const { id } of workflows) await genkan.rest("DELETE", `/v1/workflows/${id}`);
});

test("a file without edges opens with its problems, and is deleted in the list", async ({ signedIn: page, genkan }) => {
	await put(genkan, plain("other"));
	await go(page, genkan, "workflows");
	const give = (text: string) =>
		page
			.locator("input[type=file]")
			.setInputFiles({ name: "x.json", mimeType: "application/json", buffer: Buffer.from(text) });
	await give('{"id":"x","nodes":[{"id":"a","type":"nope"}]}');
	await expect(page.getByText("“x” has 4 problems, and cannot be enabled")).toBeVisible();
	await give('{"name":"F","nodes":[{"type":"n8n-nodes-base.webhook","name":"W"}],"connections":{}}');
	await expect(page.getByText("this is a workflow of n8n, not of genkan")).toBeVisible();
	await give("[]");
	await expect(page.getByText("this is not a workflow: it is an array")).toBeVisible();
	await page.keyboard.press("Escape"); // what failed stays until somebody has read it
	const row = page.getByRole("row", { name: /x/ }).filter({ hasText: "4 problems" });
	await row.click();
	await expect(page.getByRole("button", { name: "4 problems" })).toBeVisible();
	await expect(node(page, "a")).toBeVisible();
	await go(page, genkan, "workflows");
	await accessible(page);
	await page.getByRole("button", { name: "More about x" }).click();
	await page.keyboard.press("ArrowDown"); // moves the menu, not the list behind it
	await expect(page.getByRole("menuitem").first()).toBeFocused();
	await expect(page.getByRole("row", { selected: true })).toHaveCount(0);
	await page.getByRole("menuitem", { name: "Delete" }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
	await expect(row).toHaveCount(0);
	await expect(page.getByRole("row", { name: /other/ })).toBeVisible();
});

test("a workflow for a server that does not exist says so, and its siblings take the match over", async ({
	signedIn: page,
	genkan,
}) => {
	await go(page, genkan, "workflows?template=redact");
	await expect(page.getByText("It makes 3 drafts, for calls of tools")).toBeVisible();
	await page.keyboard.press("Escape");
	await genkan.rest("POST", "/v1/workflow-templates", { template: "redact", match: { servers: ["書類"] } });
	await go(page, genkan, "workflows/redact?panel=enable");
	const bar = page.getByRole("region", { name: "Enable" });
	await expect(bar).toContainText("No server is called “書類”.");
	await page.getByLabel("Servers").fill("fault");
	await expect(bar).toContainText("They are for servers “書類”.");
	await expect(bar).toContainText("1 server");
	await bar.getByRole("button", { name: "Enable", exact: true }).click();
	await expect(page.getByText("2 more of its template are enabled too.")).toBeVisible();
	for (const id of ["redact-resources", "redact-prompts"])
		expect(await genkan.rest("GET", `/v1/workflows/${id}`)).toMatchObject({
			enabled: true,
			match: { servers: ["fault"] },
		});
	await genkan.call("fault__echo", { text: "mail a@b.example" });
	await go(page, genkan, "workflows");
	const row = page.getByRole("row", { name: /Redact secrets/ }).filter({ hasText: "calls of tools" });
	await expect(row).toContainText("servers “fault”");
	await expect(row).toContainText("1 run, 1 changed");
	await genkan.call("fault__echo", { text: "no mail" });
	await expect(row).toContainText("2 runs, 1 changed");
	// Stopping what changes calls is asked about.
	await row.getByRole("switch").click();
	await expect(page.getByRole("dialog")).toContainText("1 changed");
	await expect(page.getByRole("checkbox", { name: /also stop what the same template made/ })).toBeChecked();
	await page.getByRole("dialog").getByRole("button", { name: "Stop it" }).click();
	await expect(row).toContainText("Stopped");
	await expect.poll(async () => genkan.rest("GET", "/v1/workflows/redact-prompts")).toMatchObject({ enabled: false });
	await page.getByRole("button", { name: "Undo" }).click();
	await expect(row).toContainText("Active");
	await expect
		.poll(async () => genkan.rest("GET", "/v1/workflows/redact-prompts"))
		.toMatchObject({ enabled: true, match: { servers: ["fault"] } });
	await row.getByRole("switch").click();
	await page.getByRole("checkbox", { name: /also stop what the same template made/ }).uncheck();
	await page.getByRole("dialog").getByRole("button", { name: "Stop it" }).click();
	await expect(row).toContainText("Stopped");
	await expect(page.getByText(/Others of its template go on: /)).toBeVisible();
	expect(await genkan.rest("GET", "/v1/workflows/redact-prompts")).toMatchObject({ enabled: true });
	await put(genkan, Object.assign(plain("lost"), { match: { servers: ["nope"] } }));
	await genkan.rest("POST", "/v1/workflows/lost/enable", {});
	await expect(page.getByRole("row", { name: /lost/ })).toContainText("No server is called “nope”.");
});

test("the page of a call says why a workflow failed", async ({ signedIn: page, genkan }) => {
	const hook = { id: "hook", type: "hook", data: { label: "Small", hook: { blocking: true, script: "return" } } };
	const edges = [
		{ source: "call", target: "hook" },
		{ source: "hook", target: "end" },
	];
	const drawn = plain("small", [hook]);
	await put(genkan, Object.assign(drawn, { limits: { payloadKB: 1 }, edges: [drawn.edges[0], ...edges] }));
	await genkan.rest("POST", "/v1/workflows/small/enable", {});
	await genkan.call("fault__echo", { text: "long ".repeat(1000) });
	const { calls } = await genkan.rest<{ calls: { id: string }[] }>("GET", "/v1/calls?limit=1");
	await go(page, genkan, `calls/${calls[0]!.id}`);
	await expect(page.getByRole("main")).toContainText("(limits.payloadKB)");
	await expect(page.getByRole("main")).toContainText("The tool was called, and its answer was withheld.");
	await genkan.rest("POST", "/v1/workflows/small/disable");
});

test("the input is chosen among the calls that match, and is kept; an old result is not shown", async ({
	signedIn: page,
	genkan,
}) => {
	const hook = { id: "hook", type: "hook", data: { hook: { blocking: true, script: "return" } } };
	await put(genkan, {
		...plain("keeps", [hook]),
		edges: [
			{ source: "start", target: "call" },
			{ source: "call", target: "hook" },
			{ source: "hook", target: "end" },
		],
	} as never);
	for (const text of ["first one", "second one"]) await genkan.call("fault__echo", { text });
	await genkan.call("fault__pid");
	await go(page, genkan, "workflows/keeps");
	await page.getByRole("button", { name: "change", exact: true }).click();
	const dialog = page.getByRole("dialog");
	await expect(dialog.getByText("pid")).toHaveCount(0);
	await dialog.getByLabel("also calls that the workflow is not for").check();
	await expect(dialog.getByText("pid").first()).toBeVisible();
	await dialog.getByRole("searchbox").fill("first");
	await expect(dialog.getByRole("listitem")).toHaveCount(1);
	await dialog.getByRole("listitem").getByRole("button").click();
	const output = page.getByRole("region", { name: "Output" });
	await expect(output).toContainText("The call goes through as it is.");
	await node(page, "start").click();
	await expect(output).toContainText("The call begins here");
	await expect(node(page, "start")).toContainText("✓");
	await go(page, genkan, "workflows/keeps");
	await expect(page.getByRole("region", { name: "Input" })).toContainText("first one");

	await page.getByRole("button", { name: "Replay" }).click();
	await expect(output).toContainText("goes through");
	await node(page, "hook").click();
	const code = page.locator("[data-settings] .cm-content");
	await code.click();
	await page.keyboard.press("ControlOrMeta+a");
	await page.keyboard.type("let = ;");
	await expect(output).toContainText("It cannot be replayed: 1 problem.");
	// Undo in the script stops at the script.
	for (let i = 0; i < 12; i++) await page.keyboard.press("ControlOrMeta+z");
	await expect(code).toHaveText("return");
	await expect(node(page, "hook")).toBeVisible();
	await expect(output).not.toContainText("cannot be replayed");
	expect((await stored(genkan, "keeps")).definition.nodes).toHaveLength(4);
});

test("enabling is offered only if it changes something, and an old version is asked about", async ({
	signedIn: page,
	genkan,
}) => {
	await put(genkan, plain("same"));
	await genkan.rest("POST", "/v1/workflows/same/enable", {});
	await go(page, genkan, "workflows/same");
	await expect(page.getByText("no changes to enable")).toBeVisible();
	await page.getByRole("button", { name: "Enable…" }).click();
	const enable = page.getByRole("region", { name: "Enable" });
	await expect(enable).toContainText("There is nothing to enable.");
	await expect(enable.getByRole("button", { name: "Enable", exact: true })).toBeDisabled();
	await page.getByLabel("Name", { exact: true }).fill("another");
	await expect(enable.getByRole("button", { name: "Enable", exact: true })).toBeEnabled();
	await enable.getByRole("button", { name: "Close" }).click();
	await expect(page.getByText(/^draft, saved/)).toBeVisible();
	await page.getByLabel("Name", { exact: true }).fill("same");
	await expect(page.getByText("no changes to enable")).toBeVisible();
	await page.getByLabel("Name", { exact: true }).fill("third");
	await expect(page.getByText(/^draft, saved/)).toBeVisible();
	await genkan.rest("POST", "/v1/workflows/same/enable", {});
	await go(page, genkan, "workflows/same?panel=versions&version=1");
	await page.getByRole("button", { name: "Roll back to it" }).click();
	await expect(page.getByRole("dialog")).toContainText("It takes the place of what runs now");
	await page.getByRole("dialog").getByRole("button", { name: "Roll back to it" }).click();
	await expect(page.getByText(/runs again, as v/)).toBeVisible();
});
