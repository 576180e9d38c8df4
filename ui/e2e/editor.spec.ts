import { canvas, drag, edges, faultOnly, middle, node, plain, put, saved, stored } from "./editor";
import { accessible, compose, expect, go, test } from "./genkan";

// They do not mind what the others leave behind.
test.use({ shared: true, config: faultOnly });

test("a new workflow is wired; a step is drawn by mouse, enabled, and changes a call", async ({
	signedIn: page,
	genkan,
}) => {
	await go(page, genkan, "workflows/new?name=Shout&tool=fault__echo");
	await expect(node(page, "start")).toBeVisible();
	await expect(page.locator(".react-flow__edge")).toHaveCount(2);

	// The + in the middle of the edge from the call to the end.
	const [from, to] = [await middle(node(page, "call")), await middle(node(page, "end"))];
	await page.mouse.move((from.x + to.x) / 2 + 20, from.y);
	await page.getByRole("button", { name: "Insert a step here" }).click();
	await page.getByRole("option", { name: /^Script JavaScript/ }).click();
	await expect(node(page, "hook")).toBeVisible();

	await page.getByRole("textbox", { name: /Script of/ }).click();
	await page.keyboard.type("mapText(ctx.response, (text) => text.toUpperCase()");
	await saved(page);
	// The address has the step, too.
	await expect(page).toHaveURL(/\/workflows\/shout\?step=hook$/);
	await page.reload();
	await expect(page.getByRole("textbox", { name: /Script of/ })).toContainText("toUpperCase");
	expect(await edges(genkan, "shout")).toEqual(["call hook", "hook end", "start call"]);

	await page.getByRole("button", { name: "Enable…" }).click();
	await page.getByRole("button", { name: "Enable", exact: true }).click();
	await expect(page.getByText(/^active: v/)).toBeVisible();
	expect(JSON.stringify(await genkan.call("fault__echo", { text: "hello" }))).toContain("HELLO");

	// The kill switch.
	await page.getByRole("button", { name: "Stop", exact: true }).click();
	await page.getByRole("button", { name: "Stop it" }).click(); // it has changed a call
	await expect(page.getByText("stopped", { exact: true })).toBeVisible();
	expect(JSON.stringify(await genkan.call("fault__echo", { text: "hello" }))).toContain("hello");
});

test("a workflow is drawn with the keyboard alone", async ({ signedIn: page, genkan }) => {
	await put(genkan, plain("keys"));
	await go(page, genkan, "workflows/keys");
	await expect(node(page, "call")).toBeVisible();
	await canvas(page).focus();
	await page.keyboard.press("ArrowRight"); // the start
	await page.keyboard.press("Tab");
	await page.keyboard.type("cond");
	await page.keyboard.press("Enter");
	await expect(node(page, "condition")).toBeVisible();
	// Its way out else leads nowhere yet; Tab adds there.
	await page.keyboard.press("Tab");
	await page.keyboard.type("refuse");
	await page.keyboard.press("Enter");
	await expect(node(page, "end-2")).toBeVisible();
	await page.keyboard.press("F2");
	await page.keyboard.type("Not this");
	await page.keyboard.press("Enter");
	await expect(node(page, "end-2")).toContainText("Not this");
	await expect
		.poll(() => edges(genkan, "keys"))
		.toEqual(["call end", "condition.else end-2", "condition.yes call", "start condition"]);

	// Delete joins what is left; C connects.
	await page.keyboard.press("ArrowLeft");
	await page.keyboard.press("Delete");
	await expect(node(page, "condition")).toHaveCount(0);
	await expect.poll(() => edges(genkan, "keys")).toEqual(["call end", "start call"]);
	await canvas(page).focus();
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("ArrowRight"); // the call
	await page.keyboard.press("c");
	await expect(page.getByRole("listbox").getByRole("option").first()).toBeVisible(); // the server says where to
	await page.keyboard.type("fails not this");
	await page.keyboard.press("Enter");
	await expect.poll(() => edges(genkan, "keys")).toEqual(["call end", "call.error end-2", "start call"]);
});

test("a panel leaves a workflow with one step of its own in view", async ({ signedIn: page, genkan }) => {
	const set = { id: "set", type: "set", data: { vars: { a: { value: 1 } } } };
	await put(genkan, {
		...plain("four", [set]),
		edges: [
			{ source: "start", target: "set" },
			{ source: "set", target: "call" },
			{ source: "call", target: "end" },
		],
	} as never);
	await page.setViewportSize({ width: 1280, height: 860 });
	await go(page, genkan, "workflows/four");
	await expect(node(page, "end")).toBeInViewport();
	for (const name of ["Runs", "Tests", "Versions"]) {
		await page.getByRole("button", { name, exact: true }).click();
		await expect(page.getByRole("region", { name, exact: true })).toBeVisible();
		const edge = (await canvas(page).boundingBox())!;
		for (const id of ["start", "end"])
			await expect
				.poll(async () => {
					const box = (await node(page, id).boundingBox())!;
					return box.x >= edge.x && box.x + box.width <= edge.x + edge.width;
				})
				.toBe(true);
		await page.getByRole("button", { name, exact: true }).click();
	}
	// What takes its room above gives it back.
	const top = async () => Math.round((await node(page, "call").boundingBox())!.y / 4);
	await page.getByRole("button", { name: "Fit" }).click();
	let before = -1;
	await expect
		.poll(async () => {
			const was = before;
			before = await top();
			return before === was; // it has come to rest
		})
		.toBe(true);
	await page.getByRole("button", { name: "Enable…" }).click();
	await expect.poll(top).not.toBe(before);
	await page.getByRole("region", { name: "Enable" }).getByRole("button", { name: "Close" }).click();
	await expect.poll(top).toBe(before);
});

test("a step that is added and a panel that opens leave the whole drawing in view", async ({
	signedIn: page,
	genkan,
}) => {
	await put(genkan, plain("fitted"));
	await go(page, genkan, "workflows/fitted");
	const inView = async () => {
		const pane = (await canvas(page).boundingBox())!;
		const all = await page.locator("[data-node]").all();
		const boxes = await Promise.all(all.map((one) => one.boundingBox()));
		return boxes.every((box) => box && box.x >= pane.x && box.x + box.width <= pane.x + pane.width);
	};
	for (const n of [4, 5]) {
		await node(page, "call").click();
		await canvas(page).focus();
		await page.keyboard.press("Tab");
		await page.keyboard.type("cond");
		await page.keyboard.press("Enter");
		await expect(page.locator("[data-node]")).toHaveCount(n);
		await expect.poll(inView).toBe(true);
	}
	// Nothing in the header moves the drawing.
	await expect(page.getByRole("button", { name: /problems/ })).toBeVisible();
	const { y } = (await canvas(page).boundingBox())!;
	// Where names could not be read any more, the selected step stays in view instead.
	await page.getByRole("button", { name: "Versions" }).click();
	await expect(canvas(page).getByText("75%", { exact: true })).toBeVisible();
	const [pane, last] = [(await canvas(page).boundingBox())!, (await node(page, "condition-2").boundingBox())!];
	expect(last.x).toBeGreaterThan(pane.x);
	expect(last.x + last.width).toBeLessThan(pane.x + pane.width);
	await page.getByRole("button", { name: "Versions" }).click();
	await expect.poll(inView).toBe(true);
	// The bar that enables leaves less height: the buttons of the drawing cover no step.
	await page.getByRole("button", { name: "Enable…" }).click();
	await expect(page.getByRole("region", { name: "Enable" })).toBeVisible();
	const covered = async () => {
		const tools = (await canvas(page).locator(".react-flow__panel.bottom.left").boundingBox())!;
		const all = await page.locator("[data-node]").all();
		const boxes = await Promise.all(all.map((one) => one.boundingBox()));
		return boxes.filter((box) => box && box.y + box.height > tools.y && box.x < tools.x + tools.width).length;
	};
	await expect.poll(covered).toBe(0);
	await page.getByRole("region", { name: "Enable" }).getByRole("button", { name: "Close" }).click();
	await canvas(page).click({ position: { x: 20, y: 20 } });
	await page.getByRole("textbox", { name: "Name" }).fill("a very long name ".repeat(12));
	expect((await canvas(page).boundingBox())!.y).toBe(y);
});

test("a step of a template is added by keyboard, with a form and without a script", async ({
	signedIn: page,
	genkan,
}) => {
	await genkan.call("fault__echo", { text: "write to anna@example.com" });
	await put(genkan, plain("ready"));
	await go(page, genkan, "workflows/ready");
	await expect(page.getByRole("region", { name: "Input" })).toContainText("anna@example.com");
	// The start is selected. What redacts answers goes behind the call all the same.
	await canvas(page).focus();
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("Tab");
	await page.keyboard.type("redact");
	await expect(page.getByRole("option", { name: /^Redact secrets/ })).toBeVisible();
	await page.keyboard.press("Enter");
	await expect(node(page, "hook")).toContainText("Redact");
	await expect.poll(() => edges(genkan, "ready")).toEqual(["call hook", "hook end", "start call"]);
	const settings = page.getByRole("region", { name: "Settings" });
	await expect(settings.getByRole("group", { name: "Parameters" })).toBeVisible();
	// It would redact nothing if nobody waited for it.
	await expect(settings.getByRole("combobox", { name: "Whether the call waits" })).toBeDisabled();
	await expect(settings.getByRole("option", { name: "the call does not wait" })).toHaveCount(0);
	await expect(page.getByRole("textbox", { name: /Script of/ })).toHaveCount(0);
	await page.keyboard.press("Control+Enter");
	await expect(page.getByRole("region", { name: "Output" })).toContainText("[redacted:mail]");
	const { definition } = await stored(genkan, "ready");
	expect(definition).toMatchObject({ limits: { hookMs: 30000 } });
	expect(definition.nodes.find((n) => n.id === "hook")?.data?.hook).toMatchObject({
		template: "redact",
		blocking: true,
	});
	expect(definition.nodes.find((n) => n.id === "call")?.data).toEqual({ onError: "continue" });
	await accessible(page);

	// The form changes what it does, and undo takes that back.
	await settings.getByText("Mail addresses").click();
	await expect(page.getByRole("region", { name: "Output" })).not.toContainText("[redacted:mail]");
	await page.keyboard.press("Control+z");
	await expect(page.getByRole("region", { name: "Output" })).toContainText("[redacted:mail]");

	// The script is there for those who ask.
	await settings.getByText("More settings", { exact: true }).click();
	await page.getByRole("combobox", { name: "Which script" }).selectOption("own script");
	await expect(page.getByRole("textbox", { name: /Script of/ })).toContainText("Replaces secrets and personal data");
	await page.keyboard.press("Control+z");
	await expect(page.getByRole("textbox", { name: /Script of/ })).toHaveCount(0);

	// All of it is one step of undo.
	await canvas(page).focus();
	await page.keyboard.press("Control+z");
	await expect(node(page, "hook")).toHaveCount(0);
	await expect.poll(async () => (await stored(genkan, "ready")).definition).not.toHaveProperty("limits");
});

test("a step that refuses goes before the call, and says which field is missing", async ({
	signedIn: page,
	genkan,
}) => {
	await put(genkan, plain("barred"));
	await go(page, genkan, "workflows/barred");
	await node(page, "call").click();
	await canvas(page).focus();
	await page.keyboard.press("Tab");
	await page.keyboard.type("deny by");
	await expect(page.getByRole("option", { name: /^Deny by an argument/ })).toBeVisible();
	await page.keyboard.press("Enter");
	await expect.poll(() => edges(genkan, "barred")).toEqual(["call end", "hook call", "start hook"]);
	const settings = page.getByRole("region", { name: "Settings" });
	await expect(settings).toContainText("arguments is required");
	await settings
		.getByRole("button", { name: /^Add to / })
		.first()
		.click();
	await settings.getByRole("textbox", { name: "Item 1" }).fill("text");
	await settings.getByRole("textbox", { name: /Denied pattern/ }).fill("^drop");
	await expect(page.getByRole("button", { name: /problem/ })).toHaveCount(0);
	await page.getByRole("button", { name: "Enable…" }).click();
	await page.getByRole("button", { name: "Enable", exact: true }).click();
	await expect(page.getByText(/^active: v/)).toBeVisible();
	expect(String(await genkan.call("fault__echo", { text: "drop it" }))).toContain("not allowed");
	await genkan.rest("POST", "/v1/workflows/barred/disable");
});

test("the bar counts the tools that the sidebar counts, and notes do not cover it", async ({
	signedIn: page,
	genkan,
}) => {
	await put(genkan, { ...plain("counted"), match: {} } as never);
	await go(page, genkan, "workflows/counted");
	await page.getByRole("button", { name: "Enable…" }).click();
	const bar = page.getByRole("region", { name: "Enable" });
	const { pagination } = await genkan.rest<{ pagination: { total: number } }>("GET", "/v1/tools?limit=1");
	await expect(bar).toContainText(`${pagination.total} tools (`);
	await expect(page.getByRole("link", { name: `Tools ${pagination.total}` })).toBeVisible();
	await canvas(page).focus();
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("Control+c");
	const note = page.getByText("1 step copied as JSON");
	await expect(note).toBeVisible();
	const [said, drawing] = [(await note.boundingBox())!, (await canvas(page).boundingBox())!];
	expect(said.y + said.height).toBeLessThan(drawing.y + drawing.height / 2);
	expect(said.y).toBeGreaterThan(drawing.y);
});

test("the script keeps its room beside its settings, and Escape closes a panel", async ({ signedIn: page, genkan }) => {
	const hook = { id: "hook", type: "hook", data: { hook: { blocking: true, script: "return" } } };
	await put(
		genkan,
		plain(
			"room",
			[hook],
			[
				{ source: "call", target: "hook" },
				{ source: "hook", target: "end" },
			],
		),
	);
	await go(page, genkan, "workflows/room?panel=runs");
	await node(page, "hook").click();
	await page.getByRole("region", { name: "Settings" }).getByRole("button", { name: "More settings" }).click();
	await expect(page.getByLabel("Which script")).toBeVisible();
	expect((await page.getByRole("textbox", { name: /^Script of/ }).boundingBox())!.height).toBeGreaterThan(100);
	await page.getByRole("button", { name: "Runs" }).focus();
	await page.keyboard.press("Escape");
	await expect(page).not.toHaveURL(/panel=/);

	// The settings can have the room of input and output, too.
	await page.getByRole("button", { name: "Enlarge the settings" }).click();
	await expect(page.getByRole("region", { name: "Input" })).toBeHidden();
	await expect(page.getByRole("textbox", { name: /^Script of/ })).toBeVisible();
	await page.getByRole("button", { name: "Show input and output again" }).click();
	await expect(page.getByRole("region", { name: "Output" })).toBeVisible();

	// Back closes a panel, and one that is closed leaves nothing to go back to.
	await page.getByRole("button", { name: "Runs" }).click();
	await page.getByRole("button", { name: "Versions" }).click();
	await node(page, "call").click();
	await expect(page).toHaveURL(/step=call/);
	await page.goBack();
	await expect(page).not.toHaveURL(/panel=/);
	await expect(page).toHaveURL(/step=call/);
	await page.keyboard.press("Escape");
	await expect(page).toHaveURL(/workflows\/room/);
	await page.getByRole("button", { name: "Tests" }).click();
	await page.keyboard.press("Escape");
	await expect(page).not.toHaveURL(/panel=/);
	await page.getByRole("link", { name: "Workflows" }).first().click();
	await expect(page).toHaveURL(/workflows$/);
	await page.goBack();
	await expect(node(page, "hook")).toBeVisible();
});

test("a field of the sample that is dragged onto a condition writes it", async ({ signedIn: page, genkan }) => {
	await genkan.call("fault__echo", { text: "dragged" });
	await put(
		genkan,
		plain("dragged", [{ id: "if", type: "condition", data: { cases: [{ handle: "yes", when: "true" }] } }]),
	);
	await go(page, genkan, "workflows/dragged");
	await node(page, "if").click();
	const condition = page.getByRole("textbox", { name: /Condition for/ });
	const field = (name: string) =>
		page.getByRole("region", { name: "Input" }).getByRole("button", { name, exact: true });
	await field('"text"').first().dragTo(condition);
	await expect(condition).toHaveValue('args.text == "dragged"');
	await field('"clientId"').dragTo(condition);
	await expect(condition).toHaveValue('args.text == "dragged" && metadata.clientId == "admin"');
	// The undo of the field takes it back, too.
	await page.keyboard.press("Control+z");
	await expect(condition).toHaveValue('args.text == "dragged"');
	await field('"toolName"').click();
	await expect(condition).toHaveValue('args.text == "dragged" && metadata.toolName == "echo"');
	await canvas(page).focus();
	await page.keyboard.press("Control+z");
	await expect(condition).toHaveValue('args.text == "dragged"');

	// What is wrong with a case is told of that case.
	const settings = page.getByRole("region", { name: "Settings" });
	await settings.getByRole("button", { name: "Add a case" }).click();
	await expect(settings).toContainText("line 1, column 1: “way2”: syntax error: the expression ends too early");
	await expect(settings.getByRole("textbox", { name: "Condition for “way2”" })).toHaveAttribute("aria-invalid", "true");
	await expect(settings.getByRole("textbox", { name: "Condition for “yes”" })).not.toHaveAttribute("aria-invalid");
});

test("an error in a script is in the gutter; completion knows the context and the sample", async ({
	signedIn: page,
	genkan,
}) => {
	await genkan.call("fault__echo", { text: "hello" });
	await put(
		genkan,
		plain("wrong", [{ id: "hook", type: "hook", data: { hook: { blocking: true, script: "let a = 1;\nlet b = ;" } } }]),
	);
	await go(page, genkan, "workflows/wrong");
	await node(page, "hook").click();
	const mark = page.locator(".cm-lint-marker-error");
	await expect(mark).toBeVisible();
	await mark.hover();
	await expect(page.locator(".cm-tooltip-lint")).toContainText("Unexpected");

	const script = page.getByRole("textbox", { name: /Script of/ });
	await script.click();
	await page.keyboard.press("Control+a");
	await page.keyboard.type("ctx.request.params.arguments.");
	await expect(page.locator(".cm-tooltip-autocomplete")).toContainText("text");
	await page.keyboard.press("Escape");
	await page.keyboard.press("Control+a");
	await page.keyboard.type("ctx.req");
	await expect(page.locator(".cm-tooltip-autocomplete")).toContainText("request");
});

test("what a script threw behind the call is told though agents are not told", async ({ signedIn: page, genkan }) => {
	await genkan.call("fault__echo", { text: "hello" });
	const script = "ctx.response.replaceAll('a', 'b')";
	const edges = [
		{ source: "start", target: "call" },
		{ source: "call", target: "hook" },
		{ source: "hook", target: "end" },
	];
	await put(genkan, {
		...plain("threw", [{ id: "hook", type: "hook", data: { hook: { blocking: true, script } } }]),
		edges,
	} as never);
	await go(page, genkan, "workflows/threw");
	await expect(page.getByRole("region", { name: "Input" })).toContainText("Input: echo");
	await page.getByRole("button", { name: "Replay", exact: true }).click();
	const output = page.getByRole("region", { name: "Output" });
	await expect(output).toContainText("so the answer to this call is withheld");
	await expect(output).toContainText("Script: line 1, column 14: TypeError: Object has no member 'replaceAll'");
	await output.getByRole("button", { name: "Script" }).click();
	await expect(page.getByRole("textbox", { name: /Script of/ })).toContainText("replaceAll");
});

test("Enter of an input method neither adds a step nor ends a name", async ({ signedIn: page, genkan }) => {
	await put(genkan, plain("ime"));
	await go(page, genkan, "workflows/ime");
	await node(page, "call").click();
	await canvas(page).focus();
	await page.keyboard.press("Tab");
	const step = page.getByRole("combobox", { name: "Add a step" });
	await step.fill("");
	await expect(page.getByRole("option", { name: /^Script JavaScript/ })).toBeVisible(); // Enter would take one
	let commit = await compose(page, "script");
	await expect(step).toHaveValue("script");
	await expect(page.locator("[data-node]")).toHaveCount(3);
	await commit("Script");
	await expect(step).toHaveValue("Script");
	// Letters of half width and either kana find the same.
	for (const word of ["分岐", "ﾌﾞﾝｷ", "ブンキ", "ぶんき"]) {
		await step.fill(word);
		await expect(page.getByRole("listbox", { name: "Add a step" }).getByRole("option")).toHaveText([/^Condition/]);
	}
	for (const word of ["e-mail", "hide the api key"]) {
		await step.fill(word);
		await expect(page.getByRole("option", { name: /^Redact/ })).toBeVisible();
	}
	await page.keyboard.press("Escape");
	await page.keyboard.press("F2");
	const name = node(page, "call").getByRole("textbox");
	await name.fill("");
	commit = await compose(page, "よびだし");
	await expect(name).toHaveValue("よびだし");
	await commit("呼び出し");
	await expect(name).toHaveValue("呼び出し");
	await page.keyboard.press("Enter");
	await expect(name).toHaveCount(0);
	await expect(node(page, "call")).toContainText("呼び出し");
});

test("axe finds nothing serious, with a step selected and without", async ({ signedIn: page, genkan }) => {
	await genkan.call("fault__echo", { text: "hello" });
	await put(genkan, plain("axe", [{ id: "hook", type: "hook", data: { hook: { blocking: true, script: "1" } } }]));
	await go(page, genkan, "workflows/axe?panel=enable");
	await expect(page.getByRole("button", { name: '"text"' }).first()).toBeVisible();
	await accessible(page);
	await node(page, "hook").click();
	await expect(page.getByRole("textbox", { name: /Script of/ })).toBeVisible();
	await accessible(page);
	await node(page, "call").click();
	await accessible(page);
});

test("a narrow window shows the workflow and says why it cannot be changed", async ({ signedIn: page, genkan }) => {
	await put(genkan, plain("narrow"));
	await page.setViewportSize({ width: 390, height: 844 });
	await go(page, genkan, "workflows/narrow");
	await expect(page.getByText(/too narrow to draw in/)).toBeVisible();
	// It begins at the start, and names can be read.
	await expect(page.getByText("75%", { exact: true })).toBeVisible();
	await expect.poll(async () => (await node(page, "start").boundingBox())!.x).toBeLessThan(60);
	await expect(node(page, "call")).toBeInViewport({ ratio: 0.99 });
	await page.getByRole("button", { name: "Fit" }).click();
	await expect(node(page, "end")).toBeInViewport({ ratio: 0.99 });
	await expect(page.getByRole("button", { name: /^Add/ })).toHaveCount(0);
	const name = page.getByRole("textbox", { name: "Name" });
	const colour = () => name.evaluate((input) => getComputedStyle(input).backgroundColor);
	const fixed = await colour();
	await page.setViewportSize({ width: 1280, height: 860 });
	await expect(page.getByRole("button", { name: /^Add/ })).toBeVisible();
	await expect.poll(colour).not.toBe(fixed);
	// The drawing takes the room that it has now.
	await expect.poll(async () => (await node(page, "call").boundingBox())!.width).toBeGreaterThan(150);
	// What stands above the editor takes nothing of its bottom.
	await genkan.rest("PUT", "/v1/workflows/switch", { on: false });
	await expect(page.getByText("All workflows are off: nothing")).toBeVisible();
	expect(await page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight)).toBe(0);
	await genkan.rest("PUT", "/v1/workflows/switch", { on: true });
});

test("300 nodes are dragged and panned with a small part of a frame for each move", async ({
	signedIn: page,
	genkan,
}) => {
	const nodes = [
		{ id: "start", type: "start" },
		...Array.from({ length: 298 }, (_, i) => ({ id: `n${i}`, type: "set", data: { vars: { a: { value: i } } } })),
		{ id: "end", type: "end", data: { outcome: "deny" } },
	];
	const edges = nodes.slice(1).map((n, i) => ({ source: nodes[i]!.id, target: n.id }));
	// A path of 300 in rows of 20.
	const placed = nodes.map((n, i) => ({ ...n, position: { x: (i % 20) * 248, y: Math.floor(i / 20) * 120 } }));
	await put(genkan, { id: "many", name: "many", workflowType: "tools/call", nodes: placed, edges } as never);
	await go(page, genkan, "workflows/many");
	await expect(node(page, "n100")).toBeVisible();
	await page.waitForTimeout(1500);
	// The time that the page's thread computes, which other programs on the machine do not
	// change, unlike the length of tasks.
	const cdp = await page.context().newCDPSession(page);
	await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
	const scripts = async () => {
		const { metrics } = await cdp.send("Performance.getMetrics");
		return metrics.find((metric) => metric.name === "ScriptDuration")!.value * 1000;
	};
	const moves = 40;
	const each = async (what: string, act: () => Promise<void>) => {
		const before = await scripts();
		await act();
		const took = ((await scripts()) - before) / moves;
		console.log(`300 nodes, ${what}: ${took.toFixed(1)} ms of script a move`);
		expect(took).toBeLessThan(25);
	};
	const at = await middle(node(page, "n105"));
	await page.mouse.move(at.x, at.y);
	await page.mouse.down();
	await each("dragging", async () => {
		for (let i = 0; i < moves; i++) await page.mouse.move(at.x + i * 3, at.y + i * 2);
	});
	await page.mouse.up();
	const box = (await canvas(page).boundingBox())!;
	await page.mouse.move(box.x + 6, box.y + 6);
	await page.mouse.down();
	await each("panning", async () => {
		for (let i = 0; i < moves; i++) await page.mouse.move(box.x + 6 + i * 8, box.y + 6 + i * 4);
	});
	await page.mouse.up();
});

test("the height of the panes is kept as it was drawn", async ({ signedIn: page, genkan }) => {
	await put(genkan, plain("panes"));
	await go(page, genkan, "workflows/panes");
	const border = page.getByRole("separator", { name: "Height of the panes" });
	const settings = page.getByRole("region", { name: "Settings" });
	await expect(settings).toBeVisible();
	const at = await middle(border);
	await drag(page, at, { x: at.x, y: at.y + 270 });
	await expect(settings).toBeHidden();
	await page.reload();
	await expect(border).toHaveAttribute("aria-valuenow", "0");
	await border.press("ArrowUp");
	await expect(border).toHaveAttribute("aria-valuenow", "80");
	// A drag ends with the pointer that is lost.
	const from = await middle(border);
	await page.mouse.move(from.x, from.y);
	await page.mouse.down();
	await page.mouse.move(from.x, from.y - 40);
	await expect(border).toHaveAttribute("aria-valuenow", "120");
	await border.evaluate((element) => element.releasePointerCapture(1));
	await page.mouse.move(from.x, from.y - 200);
	await border.dispatchEvent("pointermove", { clientY: from.y - 200 });
	await expect(border).toHaveAttribute("aria-valuenow", "120");
	await page.mouse.up();
});
