import { canvas, faultOnly, node, plain, put, saved, stored } from "./editor";
import { accessible, expect, go, test } from "./genkan";

// They do not mind what the others leave behind.
test.use({ shared: true, config: faultOnly });

test("what is no JSON yet outlives a reload and another selection, with its error", async ({
	signedIn: page,
	genkan,
}) => {
	await put(
		genkan,
		plain("unread", [{ id: "hook", type: "hook", data: { label: "Redact", hook: { blocking: true, script: "" } } }]),
	);
	await go(page, genkan, "workflows/unread");
	const vars = page.getByRole("textbox", { name: "Variables (vars) as JSON" });
	await vars.fill('{"a": 1, "b": }');
	await node(page, "hook").click();
	await page.getByText("More settings", { exact: true }).click();
	await page.getByRole("textbox", { name: "Parameters (params) as JSON" }).fill('{"kinds":');
	await expect(page).toHaveURL(/step=hook/);
	await page.reload();
	await expect(page.getByRole("textbox", { name: "Parameters (params) as JSON" })).toHaveValue('{"kinds":');
	await canvas(page).press("Escape");
	await expect(vars).toHaveValue('{"a": 1, "b": }');
	await expect(page.getByText(/Not saved: this is not JSON yet/)).toBeVisible();
	await accessible(page);
	await node(page, "hook").click();
	await expect(page.getByRole("textbox", { name: "Parameters (params) as JSON" })).toHaveValue('{"kinds":');
	await expect(page.getByText(/Not saved: this is not JSON yet/)).toBeVisible();

	// Mended, it is the value.
	await canvas(page).press("Escape");
	await vars.fill('{"a": 1, "b": 2}');
	await expect
		.poll(async () => (await genkan.rest<{ definition: object }>("GET", "/v1/workflows/unread")).definition)
		.toMatchObject({ vars: { a: 1, b: 2 } });
	await expect(page.getByText(/Not saved: this is not JSON yet/)).toHaveCount(0);
	await page.reload();
	await expect(vars).toHaveValue(/"b": 2/);

	// What the server refuses is no part of the draft either, which is saved without it.
	await vars.fill("[1]");
	const limits = page.getByRole("textbox", { name: "Limits as JSON" });
	await limits.fill('{"hookMs": "x"}');
	const refused = page.getByText("Not saved: limits.hookMs must be an integer, is a string");
	await expect(refused).toBeVisible();
	await page.getByRole("textbox", { name: "Name" }).fill("goes on");
	await saved(page);
	await page.reload();
	await expect(limits).toHaveValue('{"hookMs": "x"}');
	await expect(refused).toBeVisible();
	await expect(page.getByText("Not saved: vars must be an object, is an array")).toBeVisible();
	const { definition } = await genkan.rest<{ definition: object }>("GET", "/v1/workflows/unread");
	expect(definition).toMatchObject({ name: "goes on", vars: { a: 1, b: 2 } });
	expect(definition).not.toHaveProperty("limits");
	await limits.fill('{"hookMs":7}');
	await expect(refused).toHaveCount(0);
	await expect(limits).toHaveValue('{"hookMs":7}');
	await saved(page);
});

test("what is not saved is told in the header, keeps the draft from being enabled, and is discarded", async ({
	signedIn: page,
	genkan,
}) => {
	await put(genkan, plain("unsaved", [], []));
	await go(page, genkan, "workflows/unsaved?panel=enable");
	const enable = page.getByRole("region", { name: "Enable" });
	const button = enable.getByRole("button", { name: "Enable", exact: true });
	const chip = page.getByRole("button", { name: /not saved$/ });
	await page.getByLabel("Order").fill("abc");
	await node(page, "call").click();
	await page.getByLabel("Time limit in ms").fill("1.5");
	await canvas(page).press("Escape");
	await expect(page.getByLabel("Order")).toHaveValue("abc");
	await expect(chip).toHaveText("2 fields are not saved");
	await expect(button).toBeDisabled();
	await expect(enable).toContainText("Mend it, or discard it.");
	await accessible(page);

	// They lead to their fields, also after a reload.
	await page.reload();
	await enable.getByRole("button", { name: "Call the tool: timeoutMs" }).click();
	await expect(page.getByLabel("Time limit in ms")).toBeFocused();
	await page.getByLabel("Time limit in ms").fill("15");
	await chip.click();
	await page.getByRole("menuitem", { name: "The workflow: order" }).click();
	await expect(page.getByLabel("Order")).toBeFocused();
	await expect(page.getByLabel("Order")).toHaveValue("abc");

	await page.getByRole("textbox", { name: "Variables (vars) as JSON" }).fill("{");
	await expect(chip).toHaveText("2 fields are not saved");
	await enable.getByRole("button", { name: "Discard what is written there" }).click();
	await expect(page.getByLabel("Order")).toHaveValue("");
	await expect(chip).toHaveCount(0);
	await button.click();
	await expect(page.getByText(/^active: v/)).toBeVisible();
	await genkan.rest("POST", "/v1/workflows/unsaved/disable"); // calls may take longer than 15 ms
});

test("values and names of a step stay as they are typed", async ({ signedIn: page, genkan }) => {
	const vars = { a: { value: 1 }, p: { value: "kept" } };
	await put(genkan, plain("typed", [{ id: "set", type: "set", data: { vars } }]));
	const is = (want: object) =>
		expect
			.poll(async () => JSON.stringify((await stored(genkan, "typed")).definition.nodes.at(-1)!.data))
			.toBe(JSON.stringify({ vars: want }));
	await go(page, genkan, "workflows/typed");
	await node(page, "set").click();
	const rows = page.getByRole("group", { name: "Variables" });
	const value = rows.getByRole("textbox", { name: "Value" }).first();
	await value.fill("");
	await value.pressSequentially("-1.05");
	await expect(value).toHaveValue("-1.05");
	await is({ a: { value: -1.05 }, p: vars.p });
	await value.fill("");
	await value.pressSequentially("3 apples");
	await is({ a: { value: "3 apples" }, p: vars.p });

	// "p" is taken until the name goes on.
	const name = rows.getByRole("textbox", { name: "Name" }).first();
	await name.fill("p");
	await expect(name).toHaveAttribute("aria-invalid", "true");
	await name.press("End");
	await page.keyboard.type("ath");
	await is({ path: { value: "3 apples" }, p: vars.p });
	// A name that is a number comes first, with the cursor in it.
	await rows.getByRole("textbox", { name: "Name" }).last().fill("");
	await page.keyboard.type("10");
	await is({ 10: vars.p, path: { value: "3 apples" } });
});

test("forms show the values that are sent, and name their controls", async ({ signedIn: page, genkan }) => {
	const properties = {
		list: { type: "array", items: {} },
		maybe: { anyOf: [{ type: "boolean" }, { type: "null" }] },
		flags: { type: "array", items: { type: "boolean" } },
		either: { oneOf: [{ type: "boolean" }, { type: "string", title: "Word" }] },
	};
	await genkan.rest("PUT", "/v1/hook-modules/forms", { script: "return", params: { properties } });
	const hook = { blocking: true, module: "forms", params: { list: [{ one: 1 }, { two: 2 }], flags: [true] } };
	await put(genkan, plain("forms", [{ id: "hook", type: "hook", data: { hook } }]));
	await go(page, genkan, "workflows/forms");
	await node(page, "hook").click();
	const form = page.getByRole("group", { name: "Parameters" });
	await expect(form.getByRole("switch", { name: "maybe" })).toBeVisible();
	await expect(form.getByRole("group", { name: "flags" }).getByRole("switch", { name: "Item 1" })).toBeChecked();
	const either = form.getByRole("group", { name: "either" });
	await expect(either.getByRole("switch", { name: "boolean" })).toBeVisible();
	await either.getByRole("combobox").selectOption("Word");
	await expect(either.getByRole("textbox", { name: "Word" })).toBeVisible();

	const list = form.getByRole("group", { name: "list" });
	const first = list.getByLabel("Item 1", { exact: true });
	await first.fill('{"one":11}');
	await expect(first).toHaveValue('{"one":11}');
	await canvas(page).press("Control+z");
	await expect(first).toHaveValue(/"one": 1\b/);
	await first.fill('{"one":11}');
	await list.getByRole("button", { name: "Remove item 1" }).click();
	await expect(first).toHaveValue(/"two": 2/);
});

test("numbers are typed with a Japanese input method", async ({ signedIn: page, genkan }) => {
	await put(genkan, plain("digits"));
	await go(page, genkan, "workflows/digits");
	await node(page, "call").click();
	const limit = page.getByRole("textbox", { name: "Time limit in ms" });
	await limit.click();
	const client = await page.context().newCDPSession(page);
	for (const text of ["５", "５０", "５０００"])
		await client.send("Input.imeSetComposition", { text, selectionStart: text.length, selectionEnd: text.length });
	await expect(limit).toHaveValue("５０００"); // the input method goes on with it
	await client.send("Input.insertText", { text: "５０００" });
	await limit.blur();
	await expect(limit).toHaveValue("5000");
	await expect
		.poll(async () => (await stored(genkan, "digits")).definition.nodes.find((n) => n.id === "call")?.data)
		.toEqual({ timeoutMs: 5000 });

	// So are those of forms that a schema makes.
	await go(page, genkan, "workflows?template=ask-first");
	const seconds = page.getByLabel("Time to answer");
	await seconds.fill("１２．５");
	await seconds.blur();
	await expect(seconds).toHaveValue("12.5");
});

test("a client is written as pages name it", async ({ signedIn: page, genkan }) => {
	const agent = await genkan.client({
		command: genkan.genkan,
		args: ["stdio", "--client", "cursor", "--data", genkan.data],
	});
	await agent.callTool({ name: "fault__echo", arguments: { text: "hello" } });
	await put(genkan, plain("of-cursor"));
	await go(page, genkan, "workflows/of-cursor");
	const clients = page.getByRole("region", { name: "Settings" }).getByRole("combobox", { name: "Clients" });
	const input = page.getByRole("region", { name: "Input" });
	await clients.fill("nobody");
	await expect(input).toContainText("No call that this workflow is for");
	await clients.fill("cursor");
	await expect(input).toContainText("Input: echo"); // also before the name is whole
	await clients.press("Tab");
	await expect(clients).toHaveValue("local:cursor");

	await go(page, genkan, "workflows?template=ask-first");
	const dialog = page.getByRole("dialog");
	await dialog.getByRole("group", { name: "Clients" }).getByRole("button").first().click();
	await dialog.getByRole("group", { name: "Clients" }).getByRole("combobox").fill("cursor");
	await dialog.getByRole("button", { name: /^Make/ }).click();
	await expect(page).toHaveURL(/workflows\/ask-first/);
	expect((await stored(genkan, "ask-first")).definition).toMatchObject({ match: { clients: ["local:cursor"] } });
});

test("a condition that was mended is forgotten, and so is a step that was deleted", async ({
	signedIn: page,
	genkan,
}) => {
	await genkan.call("fault__echo", { text: "hello" });
	await put(
		genkan,
		plain("mended", [{ id: "ask", type: "condition", data: {} }], [{ source: "start", target: "ask" }]),
	);
	await go(page, genkan, "workflows/mended");
	const input = page.getByRole("region", { name: "Input" });
	await expect(input).toContainText("Input: echo");
	const when = page.getByRole("textbox", { name: "Only if" });
	await when.fill("args.text ==");
	await expect(when).toHaveAttribute("aria-invalid", "true");
	await expect(input).toContainText("Input: echo");
	await when.fill("");
	await expect(input).toContainText("Input: echo");

	await page.getByRole("button", { name: "Replay", exact: true }).click();
	await expect(page.getByText(/^It cannot be replayed/)).toBeVisible();
	await node(page, "ask").click();
	await page.keyboard.press("Delete");
	await expect(page.getByText(/^It cannot be replayed/)).toHaveCount(0);
});

test("a number of the settings is a whole one", async ({ signedIn: page, genkan }) => {
	await put(genkan, plain("ordered"));
	await go(page, genkan, "workflows/ordered");
	const order = page.getByLabel("Order");
	for (const field of [order, page.getByLabel("Largest call and answer for scripts (KB)")]) {
		await field.fill("いち");
		await expect(field).toHaveAccessibleDescription(/^Not saved: this must be a whole number\./);
		await field.fill("");
		await expect(field).not.toHaveAttribute("aria-invalid");
	}
	await order.fill("abc");
	await order.blur();
	await expect(order).toHaveValue("abc");
	await order.fill("−２");
	await order.blur();
	await expect(order).toHaveValue("-2");
	await saved(page);
	await expect.poll(async () => ((await stored(genkan, "ordered")).definition as { order?: number }).order).toBe(-2);
	await expect(page.getByText(/^not saved/)).toHaveCount(0);
});

test("the input of a step before the call has no answer, and its choice is what the server matches", async ({
	signedIn: page,
	genkan,
}) => {
	await genkan.call("fault__echo", { text: "first" });
	await genkan.call("fault__echo", { text: "second" });
	const early = {
		...plain("early"),
		match: { tools: ["fault__ech?"], when: 'args.text == "first"' },
		nodes: [
			{ id: "start", type: "start" },
			{ id: "hook", type: "hook", data: { hook: { blocking: true, script: "// nothing" } } },
			{ id: "call", type: "mcp-call" },
			{ id: "end", type: "end" },
		],
		edges: [
			{ source: "start", target: "hook" },
			{ source: "hook", target: "call" },
			{ source: "call", target: "end" },
		],
	};
	await put(genkan, early);
	await go(page, genkan, "workflows/early");
	const input = page.getByRole("region", { name: "Input" });
	await expect(input).toContainText('"first"');
	await expect(input).toContainText('"response"');
	await node(page, "hook").click();
	await expect(input).toContainText('"nodeId": "hook"');
	await expect(input).toContainText('"request"');
	await expect(input).not.toContainText('"response"');
	await node(page, "end").click();
	await expect(input).toContainText('"response"');

	await input.getByRole("button", { name: "change" }).click();
	const dialog = page.getByRole("dialog", { name: "Which call is the input?" });
	await expect(dialog.getByRole("listitem").first()).toContainText("first");
	await expect(dialog).not.toContainText("second");
	await page.keyboard.press("Escape");
	await canvas(page).click({ position: { x: 20, y: 20 } });
	await page.getByLabel("Servers", { exact: true }).fill("!fault");
	await saved(page);
	await input.getByRole("button", { name: /change|choose/ }).click();
	await expect(dialog).toContainText("The history has no such call yet.");
	await dialog.getByRole("checkbox", { name: "also calls that the workflow is not for" }).check();
	await expect(dialog.getByRole("listitem").first()).toContainText("echo");
});
