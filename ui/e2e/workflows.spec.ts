import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { bin } from "./build";
import { accessible, expect, type Genkan, go, test } from "./genkan";

// They do not mind what the others leave behind. A page may ask once more for what it has just deleted.
test.use({ shared: true, provoked: /^404 GET .*\/v1\/workflows\/redact-2$/ });

test.use({ config: JSON.stringify({ mcpServers: { fault: { command: join(bin, "faultserver") } } }) });

test.beforeEach(({ genkan }) => clean(genkan));

/** clean removes all workflows. */
async function clean(genkan: Genkan): Promise<void> {
	const { workflows } = await genkan.rest<{ workflows: { id: string }[] }>("GET", "/v1/workflows");
	for (const { id } of workflows) await genkan.rest("DELETE", `/v1/workflows/${id}`);
}

test("a template is used by filling in a form, and enabled from the list", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "workflows");
	await expect(page.getByText("it never starts by itself")).toBeVisible();
	await accessible(page);
	await page.getByRole("button", { name: /^Deny destructive/ }).click();
	await page.getByRole("button", { name: "Make a draft" }).click();
	await expect(page).toHaveURL(/\/workflows\/[\w-]+$/);
	await go(page, genkan, "workflows");
	// Switching it on leads to what it would do; switching it off is one click.
	await page.getByRole("switch").first().click();
	await page.getByRole("region", { name: "Enable" }).getByRole("button", { name: "Enable", exact: true }).click();
	await expect(page.getByText("active: v1")).toBeVisible();
	await go(page, genkan, "workflows");
	const row = page.getByRole("row", { name: /Deny/ }).first();
	await expect(row).toContainText("Active");
	await accessible(page);
	await page.getByRole("switch").first().click();
	await expect(row).toContainText("Stopped");
	await expect(page.getByText(/is stopped\. Calls go through without it\./)).toBeVisible();
	await page.getByRole("button", { name: "Undo" }).click();
	await expect(row).toContainText("Active");
	// What ran before, and was not changed since, is switched on in place.
	await page.getByRole("switch").first().click();
	await expect(row).toContainText("Stopped");
	await page.getByRole("switch").first().click();
	await expect(row).toContainText("Active");
	await expect(page.getByText(/ v1 is active\./)).toBeVisible();
	await expect(page).toHaveURL(/\/workflows$/);
	// A way back ends with the page that it is for.
	await page.getByRole("switch").first().click();
	await expect(page.getByRole("button", { name: "Undo" }).last()).toBeVisible();
	await row.getByText("Deny").first().click();
	await expect(page).toHaveURL(/\/workflows\/[\w-]+$/);
	await expect(page.getByText(/is stopped\. Calls go through/)).toHaveCount(0);
});

test("what is wrong with a template stands at its field, which is focused", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "workflows?template=ask-first");
	const make = page.getByRole("button", { name: "Make a draft" });
	await make.click();
	await expect(page.getByText("Say which calls it is for")).toBeInViewport();
	await expect(page.getByRole("alert").filter({ hasText: "marked fields" })).toBeInViewport();
	const tools = page.getByRole("group", { name: "Tools" });
	await expect(tools.getByRole("button", { name: "Add to Tools" })).toBeFocused();
	await page.keyboard.press("Enter");
	const tool = tools.getByLabel("Item 1", { exact: true });
	await expect(tool).toBeFocused();
	await page.keyboard.type("ecko");
	await page.getByLabel("Only if").fill("((");
	await page.getByLabel("Time to answer").fill("0.5");
	await make.click();
	await expect(page.getByLabel("Time to answer")).toBeFocused();
	await expect(page.getByText("This must be from 1 to 86400 seconds.")).toBeVisible();
	await expect(tools).toContainText("write *__ecko for the tool of any server");
	await expect(page.getByLabel("Only if")).toHaveAttribute("aria-invalid", "true");
	await accessible(page);
	await page.getByLabel("Time to answer").fill("90");
	await expect(page.getByText("This must be from 1 to 86400 seconds.")).toHaveCount(0);
	await page.getByLabel("Only if").fill("");
	await expect(page.getByText("Look at the marked fields.")).toBeVisible();
	await tool.fill("echo");
	await expect(page.getByText("Look at the marked fields.")).toHaveCount(0);
	await make.click();
	await expect(page).toHaveURL(/workflows\/ask-first$/);
	const made = await genkan.rest<{ definition: { match: object; nodes: { data: object }[] } }>(
		"GET",
		"/v1/workflows/ask-first",
	);
	expect(made.definition.match).toEqual({ tools: ["fault__echo"] });
	expect(made.definition.nodes[1]!.data).toMatchObject({ timeoutMs: 90_000 });
});

test("a template is used twice; a mistake in a regular expression is told", async ({ signedIn: page, genkan }) => {
	await genkan.rest("POST", "/v1/workflow-templates", { template: "redact" });
	await go(page, genkan, "workflows?template=redact");
	await expect(page.getByRole("button", { name: "Postal addresses" })).toBeVisible();
	const also = page.getByRole("group", { name: "Also redact" });
	await also.getByRole("button", { name: "Add to Also redact" }).click();
	await page.getByRole("button", { name: "Make 3 drafts" }).click();
	await expect(also).toContainText("This is needed.");
	await expect(also.getByLabel("Item 1", { exact: true })).toBeFocused();
	await page.keyboard.type("([a-z");
	await page.getByRole("button", { name: "Make 3 drafts" }).click();
	await expect(also).toContainText("This value is not a regular expression: a [ is not closed: [a-z");
	await also.getByLabel("Item 1", { exact: true }).fill("[a-z]{40}");
	await page.getByText("Which calls").click();
	const tools = page.getByRole("group", { name: "Tools" });
	await tools.getByRole("button", { name: "Add to Tools" }).click();
	await expect(tools.locator("option[value=fault__echo]")).toHaveCount(1);
	await page.keyboard.type("fault__ecko");
	const servers = page.getByRole("group", { name: "Servers" });
	await servers.getByRole("button", { name: "Add to Servers" }).click();
	await page.keyboard.type("fualt");
	await expect(page.getByText("No server is called “fualt”.")).toBeVisible();
	await page.getByRole("button", { name: "Make 3 drafts" }).click();
	await expect(page).toHaveURL(/workflows\/redact-2$/);
	await expect(page.getByText("No tool matches fault__ecko now; did you mean fault__echo?")).toBeVisible();
	await expect(page.getByText("No server is called fualt now; did you mean fault?")).toBeVisible();

	// The others take over no scope that is for no server.
	await page.getByRole("button", { name: "Enable…" }).click();
	const bar = page.getByRole("region", { name: "Enable" });
	await expect(bar.getByRole("checkbox")).toHaveCount(1);
	await page.getByLabel("Servers", { exact: true }).fill("fault");
	await page.getByLabel("Tools", { exact: true }).fill("fault__echo");
	await page.keyboard.press("Tab");
	await expect(bar.getByText("They are for servers “fualt” · tools “fault__ecko”.")).toBeVisible();

	// What the template made together is deleted together, or alone.
	await page.getByRole("button", { name: "File" }).click();
	await page.getByRole("menuitem", { name: "Delete this workflow" }).click();
	await page.getByRole("dialog").getByRole("checkbox").uncheck();
	await page.getByRole("dialog").getByRole("checkbox").check();
	await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
	await expect(page.getByText("3 workflows are deleted")).toBeVisible();
	await expect(page).toHaveURL(/workflows$/);
	const { workflows } = await genkan.rest<{ workflows: { id: string }[] }>("GET", "/v1/workflows");
	expect(workflows.map(({ id }) => id).filter((id) => id.startsWith("redact-2"))).toEqual([]);
});

test("the kill switch turns all workflows off, and on again", async ({ signedIn: page, genkan }) => {
	await genkan.rest("POST", "/v1/workflow-templates", { template: "redact" });
	await genkan.rest("POST", "/v1/tokens", { name: "bot", limit: { servers: ["kb"] } });
	await go(page, genkan, "workflows");
	await page.getByRole("button", { name: "Kill switch" }).click();
	await page.getByRole("button", { name: "Turn them off" }).click();
	await expect(page.getByText("All workflows are off")).toBeVisible();
	expect(await genkan.rest("GET", "/v1/workflows/switch")).toMatchObject({ on: false });
	await page.getByRole("switch", { name: /^Enable “Redact secrets and personal data”/ }).click();
	await page.getByRole("button", { name: "Enable", exact: true }).click();
	await expect(page.getByText(/is enabled, but does not run: all workflows are off/)).toBeVisible();
	await go(page, genkan, "workflows");
	await page.getByRole("button", { name: "Turn them on" }).click();
	await expect(page.getByRole("button", { name: "Kill switch" })).toBeVisible();
	await expect(page.getByText(/In force now: Redact secrets and personal data/)).toBeVisible();

	// Other pages say that they are off, and turn them on as well.
	await genkan.rest("PUT", "/v1/workflows/switch", { on: false });
	await go(page, genkan, "tools");
	await page.getByRole("button", { name: "Turn them on" }).click();
	await expect(page.getByText("All workflows are off")).toHaveCount(0);
	await expect(page.getByText(/In force now: Redact secrets and personal data/)).toBeVisible();
	expect(await genkan.rest("GET", "/v1/workflows/switch")).toMatchObject({ on: true });

	// A workflow that carries out a limit is not edited by itself.
	await go(page, genkan, "tools/fault__echo");
	await expect(page.getByRole("link", { name: /limit of the token “bot”/ })).toHaveAttribute("href", /clients$/);
	await go(page, genkan, "workflows/limit-servers-bot");
	await expect(page.getByText("This workflow carries out the limit of the token “bot”.")).toBeVisible();
	await expect(page.getByRole("button", { name: "Stop" })).toHaveCount(0);
	await expect(page.getByRole("button", { name: "Enable…" })).toHaveCount(0);
	await expect(page.getByRole("textbox", { name: "Name" })).toHaveAttribute("readonly");
	await go(page, genkan, "workflows");
	await genkan.rest("DELETE", "/v1/tokens/bot");
});

const flow = (id: string, match: object, more: object = {}) => ({
	id,
	name: `The ${id}`,
	workflowType: "tools/call",
	match,
	nodes: [
		{ id: "start", type: "start", position: { x: 0, y: 0 } },
		{ id: "call", type: "mcp-call", position: { x: 248, y: 8 }, data: { label: "呼び出し" } },
		{ id: "end", type: "end", position: { x: 496, y: 0 } },
	],
	edges: [
		{ source: "start", target: "call" },
		{ source: "call", target: "end" },
	],
	...more,
});

test("answers that come late are told, and do not lead away", async ({ signedIn: page, genkan }) => {
	for (const id of ["slow", "quick"]) {
		await genkan.rest("PUT", `/v1/workflows/${id}`, flow(id, { tools: ["fault__echo"] }));
		await genkan.rest("POST", `/v1/workflows/${id}/enable`, {});
		await genkan.rest("POST", `/v1/workflows/${id}/disable`);
	}
	let refuse: (() => Promise<void>) | undefined;
	await page.route("**/v1/workflows/slow/enable", (route) => {
		refuse = () => route.fulfill({ status: 409, json: { error: "It is not now.", code: "conflict" } });
	});
	await go(page, genkan, "calls");
	await page.getByRole("navigation").getByRole("link", { name: "Workflows" }).click();
	const slow = page.getByRole("switch", { name: "Enable “The slow”" });
	await slow.click();
	await expect(slow).toHaveAttribute("aria-busy", "true");
	await page.getByRole("switch", { name: "Enable “The quick”" }).click();
	await expect(page.getByText("“The quick” v1 is active.")).toBeVisible();
	await refuse!();
	await expect(page.getByText("It is not now.")).toBeVisible();
	await expect(slow).toBeEnabled();

	let make: (() => Promise<void>) | undefined;
	await page.route("**/v1/workflow-templates", (route) => {
		if (route.request().method() !== "POST") return route.continue();
		make = () => route.continue();
	});
	await page.getByRole("button", { name: "From a template" }).click();
	await page.getByRole("button", { name: /^Deny destructive/ }).click();
	await page.getByRole("button", { name: "Make a draft" }).click();
	await expect.poll(() => make).toBeDefined();
	await page.goBack();
	await expect(page).toHaveURL(/calls$/);
	await make!();
	await expect(page.getByText("The draft is stored.")).toBeVisible();
	await expect(page).toHaveURL(/calls$/);
});

test("all workflows are exported to a file, deleted, and imported again as they were", async ({
	signedIn: page,
	genkan,
}) => {
	const make = async (definition: { id: string }) => {
		await genkan.rest("PUT", `/v1/workflows/${definition.id}`, definition);
	};
	await make(flow("first", { tools: ["fault__echo"] }, { order: 3 }));
	await make(flow("second", { servers: ["fault"] }));
	await genkan.rest("PUT", "/v1/hook-modules/shared", { script: "return", params: { type: "object" } });
	type Definition = { createdAt: number; updatedAt: number; enabled: boolean };
	const stored = async (id: string) => {
		const { createdAt: _, updatedAt: __, ...rest } = await genkan.rest<Definition>("GET", `/v1/workflows/${id}/export`);
		return rest;
	};
	const before = [await stored("first"), await stored("second")];

	await go(page, genkan, "workflows");
	const [download] = await Promise.all([
		page.waitForEvent("download"),
		page.getByRole("link", { name: "Export" }).click(),
	]);
	const all = await readFile(await download.path());
	await clean(genkan);
	await genkan.rest("DELETE", "/v1/hook-modules/shared");
	await go(page, genkan, "workflows");
	await expect(page.getByText("it never starts by itself")).toBeVisible();

	const [chooser] = await Promise.all([
		page.waitForEvent("filechooser"),
		page.getByRole("button", { name: "Import" }).click(),
	]);
	const file = (name: string, buffer: Buffer) => ({ name, mimeType: "application/json", buffer });
	// Several files at once: one with all, one with one, and those that fail.
	await chooser.setFiles([
		file("workflows.json", all),
		file("third.json", Buffer.from(JSON.stringify(flow("third", { clients: ["bob"] })))),
		...[1, 2, 3, 4].map((n) => file(`none-${n}.json`, Buffer.from("{"))),
	]);
	await expect(page.getByText("3 workflows are imported, as drafts.")).toBeVisible();
	const report = page.getByRole("dialog", { name: "Not all could be imported" });
	for (const n of [1, 2, 3, 4]) await expect(report).toContainText(`none-${n}.json is not JSON`);
	await page.keyboard.press("Escape");
	await page.locator("input[type=file]").setInputFiles([file("none.json", Buffer.from("{"))]);
	await expect(page.getByRole("dialog", { name: "Nothing was imported" })).toContainText("none.json is not JSON");
	await page.keyboard.press("Escape");
	// Of one that is there already, the file becomes the draft.
	await page
		.locator("input[type=file]")
		.setInputFiles([
			file("first.json", Buffer.from(JSON.stringify(flow("third", { clients: ["bea"] })))),
			file("second.json", Buffer.from(JSON.stringify(flow("third", { clients: ["bea"] })))),
		]);
	await expect(page.getByText("“The third” was there already. The file is its draft now, v2")).toBeVisible();
	await expect(page.getByText("1 workflow is already as in the file.")).toBeVisible();
	await expect(page.getByRole("row", { name: /The (first|second|third)/ })).toHaveCount(3);
	expect([await stored("first"), await stored("second")]).toEqual(before);
	expect(await genkan.rest("GET", "/v1/hook-modules/shared")).toMatchObject({ params: { type: "object" } });
});

test("which workflows apply to a tool and a client is told on the tool's page, and in the list", async ({
	signedIn: page,
	genkan,
}) => {
	for (const definition of [
		flow("outer", { servers: ["fault"] }, { order: -1 }),
		flow("bobs", { tools: ["fault__echo"], clients: ["bob"], when: "true" }, { mode: "shadow" }),
		flow("elsewhere", { tools: ["fault__pid"] }),
		flow("drawn", {}),
	]) {
		await genkan.rest("PUT", `/v1/workflows/${definition.id}`, definition);
		if (definition.id !== "drawn") await genkan.rest("POST", `/v1/workflows/${definition.id}/enable`, {});
	}
	await go(page, genkan, "tools/fault__echo");
	const around = page.getByRole("region", { name: "Workflows around its calls" });
	await expect(around.getByRole("link")).toHaveText([/The outer\s*Active/, /The bobs\s*Shadow · on a condition/]);
	await around.getByRole("combobox", { name: "Only for the client" }).fill("alice");
	await expect(around.getByRole("link")).toHaveText([/The outer/]);
	await accessible(page);
	await around.getByRole("link").click();
	await expect(page).toHaveURL(/\/workflows\/outer$/);

	await go(page, genkan, "workflows");
	const rows = page.getByRole("row", { name: /The / });
	await expect(rows).toHaveCount(4);
	await page.getByRole("combobox", { name: "the tool" }).fill("fault__echo");
	await page.keyboard.press("Enter");
	await expect(rows).toHaveCount(2);
	await page.getByRole("combobox", { name: "the client" }).fill("bob");
	await page.keyboard.press("Enter");
	await expect(page).toHaveURL(/tool=fault__echo&client=bob/);
	await expect(rows).toHaveCount(2);
	await go(page, genkan, "workflows?tool=fault__pid&client=bob");
	await expect(rows).toHaveCount(2);
	await expect(rows.last()).toContainText("The elsewhere");
	await clean(genkan);
	await go(page, genkan, "tools/fault__echo");
	await around.getByRole("link", { name: "Draw one" }).click();
	await expect(page.getByRole("heading", { name: /fault__echo/ })).toBeVisible();
	await expect(page.getByLabel("Tools", { exact: true })).toHaveValue("fault__echo");
	await clean(genkan);
});
