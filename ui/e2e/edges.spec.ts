import { canvas, drag, edges, faultOnly, handle, middle, node, plain, put, saved } from "./editor";
import { expect, go, test } from "./genkan";

// They do not mind what the others leave behind.
test.use({ shared: true, config: faultOnly });

test("an edge that is not allowed is refused with the server's reason beside it", async ({
	signedIn: page,
	genkan,
}) => {
	await put(
		genkan,
		plain(
			"refused",
			[
				{ id: "again", type: "mcp-call" },
				{ id: "end2", type: "end" },
			],
			[{ source: "again", target: "end2" }],
		),
	);
	await go(page, genkan, "workflows/refused");
	await expect(node(page, "again")).toContainText("no path from the start");
	await handle(page, "call", "error").waitFor();
	await node(page, "call").hover();
	await drag(
		page,
		await middle(handle(page, "call", "error")),
		await middle(node(page, "again").locator(".genkan-in")),
	);
	await expect(page.getByRole("alert")).toContainText("Call the tool: it is the second “Call the tool” on its path");
	await expect(page.locator(".react-flow__edge:not([data-id=refused])")).toHaveCount(3);
	expect(await edges(genkan, "refused")).toEqual(["again end2", "call end", "start call"]);
	await page.keyboard.press("Escape");
	await expect(page.getByRole("alert")).toHaveCount(0);
});

test("a step that is not allowed is red while an edge is drawn to it, and a loop is named", async ({
	signedIn: page,
	genkan,
}) => {
	await put(genkan, {
		...plain("looped"),
		nodes: [
			{ id: "start", type: "start", position: { x: 0, y: 0 } },
			{ id: "set", type: "set", position: { x: 272, y: 0 }, data: { vars: { a: { value: 1 } } } },
			{ id: "call", type: "mcp-call", position: { x: 544, y: 0 } },
			{ id: "end", type: "end", position: { x: 816, y: 0 } },
		],
		edges: [
			{ source: "start", target: "set" },
			{ source: "set", target: "call" },
			{ source: "call", target: "end" },
		],
	} as never);
	await go(page, genkan, "workflows/looped");
	const from = await middle(handle(page, "call", "out"));
	const to = await middle(node(page, "set").locator(".genkan-in"));
	await page.mouse.move(from.x, from.y);
	await page.mouse.down();
	await page.mouse.move(to.x + 30, to.y, { steps: 4 });
	await page.mouse.move(to.x, to.y, { steps: 4 });
	await expect(page.locator("[data-canvas][data-forbidden]")).toBeVisible();
	await page.mouse.up();
	await expect(page.getByRole("alert")).toHaveText(
		"This edge was not drawn.With it: Set values: this is a loop: the path comes back to it",
	);
	await expect(canvas(page)).not.toHaveAttribute("data-forbidden");

	// A step that something leads to takes no second edge, and the reason is within the drawing.
	await page.keyboard.press("Escape");
	await drag(page, await middle(handle(page, "set", "out")), await middle(node(page, "end").locator(".genkan-in")));
	await expect(page.getByRole("alert")).toContainText("End: 2 edges lead to it; only one may");
	const [reason, drawing] = [(await page.getByRole("alert").boundingBox())!, (await canvas(page).boundingBox())!];
	expect(reason.x + reason.width).toBeLessThanOrEqual(drawing.x + drawing.width);

	// C offers nothing that would be refused.
	await page.keyboard.press("Escape");
	await node(page, "set").click();
	await canvas(page).focus();
	await page.keyboard.press("c");
	await expect(page.getByText("Nothing is left to connect")).toBeVisible();
	await expect(page.getByRole("listbox").getByRole("option")).toHaveCount(0);
});

test("undo takes a refused edge away, and leaves what was done before it", async ({ signedIn: page, genkan }) => {
	await put(genkan, plain("kept"));
	await go(page, genkan, "workflows/kept");
	await page.getByRole("textbox", { name: "Name" }).fill("Kept name");
	await saved(page);
	await drag(page, await middle(handle(page, "call", "out")), await middle(node(page, "call").locator(".genkan-in")));
	await drag(page, await middle(handle(page, "start", "out")), await middle(node(page, "end").locator(".genkan-in")));
	await expect(page.getByRole("alert")).toContainText("This edge was not drawn.");
	await canvas(page).focus();
	await page.keyboard.press("ControlOrMeta+z");
	await expect(page.getByRole("alert")).toHaveCount(0);
	await expect(page.getByRole("heading", { name: /Kept name/ })).toBeVisible();
	await page.keyboard.press("ControlOrMeta+z");
	await expect(page.getByRole("heading", { name: /Kept name/ })).toHaveCount(0);
});

test("a step that is dropped on an edge goes there, and its script is told what it sees", async ({
	signedIn: page,
	genkan,
}) => {
	const at = (x: number) => ({ position: { x, y: 0 } });
	await put(genkan, {
		...plain("moved-onto"),
		nodes: [
			{ id: "start", type: "start", ...at(0) },
			{ id: "hook", type: "hook", data: { hook: { script: "", blocking: true } }, ...at(272) },
			{ id: "call", type: "mcp-call", ...at(544) },
			{ id: "end", type: "end", ...at(816) },
		],
		edges: [
			{ source: "start", target: "hook" },
			{ source: "hook", target: "call" },
			{ source: "call", target: "end" },
		],
	} as never);
	await go(page, genkan, "workflows/moved-onto");
	await node(page, "hook").click();
	await expect(
		page.getByText(
			"Runs before the call: there is no ctx.response yet. To change answers, drag it onto the edge after the call.",
		),
	).toBeVisible();
	const from = await middle(node(page, "hook"));
	const [call, end] = [(await node(page, "call").boundingBox())!, (await node(page, "end").boundingBox())!];
	await drag(page, from, { x: (call.x + call.width + end.x) / 2, y: call.y + call.height / 2 });
	await expect(page.getByText("“Script” follows “Call the tool” now.")).toBeVisible();
	await expect(page.getByText("Runs after the call: ctx.response is its answer.")).toBeVisible();
	await saved(page);
	expect(await edges(genkan, "moved-onto")).toEqual(["call hook", "hook end", "start call"]);
	await canvas(page).focus();
	await page.keyboard.press("ControlOrMeta+z");
	await saved(page);
	await expect.poll(() => edges(genkan, "moved-onto")).toEqual(["call end", "hook call", "start hook"]);
});

test("a renamed exit keeps its line, and undo brings the name back", async ({ signedIn: page, genkan }) => {
	await put(
		genkan,
		plain(
			"exits",
			[
				{ id: "if", type: "condition", data: { cases: [{ handle: "yes", when: "true" }] } },
				{ id: "end2", type: "end" },
				{ id: "end3", type: "end" },
			],
			[
				{ source: "if", sourceHandle: "yes", target: "end2" },
				{ source: "if", sourceHandle: "else", target: "end3" },
			],
		),
	);
	await go(page, genkan, "workflows/exits");
	await node(page, "if").click();
	const lines = page.locator(".react-flow__edge");
	await expect(lines).toHaveCount(4);
	// On the way, the name is empty and then that of another exit.
	const name = page.getByRole("textbox", { name: "Name of the way out" });
	await name.fill("");
	await name.pressSequentially("elsewhere");
	await expect(node(page, "if")).toContainText("elsewhere");
	await expect(lines).toHaveCount(4);
	await expect
		.poll(() => edges(genkan, "exits"))
		.toEqual(["call end", "if.else end3", "if.elsewhere end2", "start call"]);
	await canvas(page).focus();
	await page.keyboard.press("Control+z");
	await expect(name).toHaveValue("yes");
	await expect(lines).toHaveCount(4);
	await expect.poll(() => edges(genkan, "exits")).toContain("if.yes end2");
});

test("dropping an edge on nothing asks what is to be there", async ({ signedIn: page, genkan }) => {
	await put(
		genkan,
		plain("dropped", [{ id: "if", type: "condition", data: { cases: [{ handle: "yes", when: "true" }] } }]),
	);
	await go(page, genkan, "workflows/dropped");
	const from = await middle(handle(page, "if", "else"));
	await drag(page, from, { x: from.x + 120, y: from.y + 70 });
	await page.getByRole("option", { name: /^Refuse / }).click();
	await expect.poll(() => edges(genkan, "dropped")).toContain("if.else end-2");
	// A step takes an edge that is dropped anywhere on it, or says why not.
	const yes = await middle(handle(page, "if", "yes"));
	await drag(page, yes, await middle(node(page, "start")));
	await expect(page.getByText("nothing comes before the start")).toBeVisible();
	expect(await edges(genkan, "dropped")).toEqual(["call end", "if.else end-2", "start call"]);
});

test("nothing follows a script that nobody waits for: a step goes into the path beside it", async ({
	signedIn: page,
	genkan,
}) => {
	const side = { id: "side", type: "hook", data: { label: "Side", hook: { blocking: false, script: "" } } };
	await put(genkan, plain("sides", [side], [{ source: "call", target: "side" }]));
	await go(page, genkan, "workflows/sides");
	await node(page, "side").click();
	await canvas(page).focus();
	await page.keyboard.press("c");
	await expect(page.getByText("Nothing follows a script that nobody waits for.")).toBeVisible();
	await page.keyboard.press("Tab");
	await page.keyboard.type("set val");
	await page.keyboard.press("Enter");
	await expect.poll(() => edges(genkan, "sides")).toEqual(["call set", "call side", "set end", "start call"]);
	await page.locator('.react-flow__edge[data-id="call|out|side"]').hover({ force: true });
	await expect(page.getByRole("button", { name: "Remove this edge" })).toBeVisible();
	await expect(page.getByRole("button", { name: "Insert a step here" })).toHaveCount(0);
});

test("an edge takes the place of the one that its exit has; steps beside the path are added", async ({
	signedIn: page,
	genkan,
}) => {
	const [x, y] = [300, 160];
	await put(
		genkan,
		plain("replaced", [
			{ id: "set", type: "set", position: { x, y }, data: { vars: { a: { value: 1 } } } },
			{ id: "log", type: "hook", position: { x, y: 2 * y }, data: { hook: { blocking: false, script: "" } } },
		]),
	);
	await go(page, genkan, "workflows/replaced");
	const draw = async (from: string, to: string) =>
		drag(page, await middle(handle(page, from, "out")), await middle(node(page, to).locator(".genkan-in")));
	await expect(node(page, "log")).toBeVisible();
	await draw("start", "set");
	await expect(page.getByText("It takes the place of the edge to “Call the tool”.")).toBeVisible();
	await expect.poll(() => edges(genkan, "replaced")).toEqual(["call end", "start set"]);
	await expect(node(page, "call")).toContainText("no path from the start");
	// One undo brings it back.
	await page.keyboard.press("Control+z");
	await expect.poll(() => edges(genkan, "replaced")).toEqual(["call end", "start call"]);
	await page.keyboard.press("Control+Shift+z");
	await draw("set", "call");
	await draw("start", "log");
	await expect.poll(() => edges(genkan, "replaced")).toEqual(["call end", "set call", "start log", "start set"]);

	// C does the same by keyboard.
	await page.keyboard.press("Control+z");
	await page.keyboard.press("Control+z");
	await page.keyboard.press("Control+z");
	await expect.poll(() => edges(genkan, "replaced")).toEqual(["call end", "start call"]);
	await node(page, "start").click();
	await canvas(page).focus();
	await page.keyboard.press("c");
	await expect(page.getByRole("option", { name: "Set values instead of Call the tool" })).toBeVisible();
	await page.keyboard.type("set");
	await page.keyboard.press("Enter");
	await expect.poll(() => edges(genkan, "replaced")).toEqual(["call end", "start set"]);
});

test("an edge from an exit that leads on, dropped on nothing, puts the step in between", async ({
	signedIn: page,
	genkan,
}) => {
	await put(genkan, plain("between"));
	await go(page, genkan, "workflows/between");
	const from = await middle(handle(page, "start", "out"));
	await drag(page, from, { x: from.x + 60, y: from.y + 90 });
	await page.getByRole("option", { name: /^Set values/ }).click();
	await expect.poll(() => edges(genkan, "between")).toEqual(["call end", "set call", "start set"]);
});

test("a step that nobody waits for moves beside the path, and back", async ({ signedIn: page, genkan }) => {
	const hook = { id: "hook", type: "hook", data: { hook: { blocking: true, script: "1;" } } };
	const drawn = plain("aside", [hook], [{ source: "hook", target: "end" }]);
	drawn.edges[1] = { source: "call", target: "hook" };
	await put(genkan, drawn);
	await go(page, genkan, "workflows/aside");
	await node(page, "hook").click();
	const waits = page.getByRole("combobox", { name: "Whether the call waits" });
	const inPath = ["call hook", "hook end", "start call"];
	const beside = ["call end", "call hook", "start call"];
	await waits.selectOption("the call does not wait");
	await expect.poll(() => edges(genkan, "aside")).toEqual(beside);
	await expect(page.getByRole("button", { name: /problem/ })).toHaveCount(0);
	await waits.selectOption("the call waits for it");
	await expect.poll(() => edges(genkan, "aside")).toEqual(inPath);
	await expect(page.getByRole("button", { name: /problem/ })).toHaveCount(0);
	// Each is one step of undo.
	await canvas(page).focus();
	await page.keyboard.press("Control+z");
	await expect.poll(() => edges(genkan, "aside")).toEqual(beside);
	await page.keyboard.press("Control+z");
	await expect.poll(() => edges(genkan, "aside")).toEqual(inPath);
});

test("a refused edge offers what to draw instead, unless that would undo another one", async ({
	signedIn: page,
	genkan,
}) => {
	const one = { id: "one", type: "hook", data: { hook: { blocking: true, script: "1;" } } };
	const two = { id: "two", type: "set", data: { vars: { a: { value: 1 } } } };
	await put(genkan, plain("ways", [one, two]));
	await go(page, genkan, "workflows/ways");
	await expect(node(page, "two")).toBeVisible();
	const edge = async (from: string, to: string) =>
		drag(page, await middle(handle(page, from, "out")), await middle(node(page, to).locator(".genkan-in")));
	// Nothing before it has an answer.
	await edge("two", "end");
	await page.getByRole("alert").getByRole("button", { name: "Call the tool there too, then end" }).click();
	await expect.poll(() => edges(genkan, "ways")).toEqual(["call end", "call-2 end-2", "start call", "two call-2"]);
	await page.keyboard.press("Control+z");
	await expect.poll(() => edges(genkan, "ways")).toEqual(["call end", "start call"]);
	await edge("one", "end");
	await page.getByRole("alert").getByRole("button", { name: "Add another end for it" }).click();
	await expect.poll(() => edges(genkan, "ways")).toEqual(["call end", "one end-2", "start call"]);
	await edge("two", "call");
	await page.getByRole("alert").getByRole("button", { name: "Put it in place of the edge from “Start”" }).click();
	await expect.poll(() => edges(genkan, "ways")).toEqual(["call end", "one end-2", "two call"]);
	await edge("one", "end");
	await expect(page.getByRole("alert")).toContainText("2 edges lead to it");
	await expect(page.getByRole("alert").getByRole("button")).toHaveCount(0);

	// Both exits of a condition call the tool.
	const condition = { id: "if", type: "condition", data: { cases: [{ handle: "yes", when: "true" }] } };
	await put(genkan, {
		...plain("both", [condition]),
		edges: [
			{ source: "start", target: "if" },
			{ source: "if", sourceHandle: "yes", target: "call" },
			{ source: "call", target: "end" },
		],
	} as never);
	await go(page, genkan, "workflows/both");
	await drag(page, await middle(handle(page, "if", "else")), await middle(node(page, "call").locator(".genkan-in")));
	await page.getByRole("alert").getByRole("button", { name: "Call the tool there too, then end" }).click();
	await expect
		.poll(() => edges(genkan, "both"))
		.toEqual(["call end", "call-2 end-2", "if.else call-2", "if.yes call", "start if"]);
});

test("an edge is led elsewhere and removed by keyboard alone", async ({ signedIn: page, genkan }) => {
	await put(genkan, plain("keyed", [{ id: "refuse", type: "end", data: { label: "Other", outcome: "ok" } }]));
	await go(page, genkan, "workflows/keyed");
	const drawn = () => expect.poll(() => edges(genkan, "keyed"));
	const tabTo = async (name: string) => {
		const target = page.getByRole("button", { name, exact: true });
		for (let n = 0; n < 20 && !(await target.evaluate((button) => button === document.activeElement)); n++)
			await page.keyboard.press("Tab");
		await expect(target).toBeFocused();
	};
	await canvas(page).focus();
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("Enter");
	await tabTo("Leads to End: change");
	await page.keyboard.press("Enter");
	// The server has forbidden the step before, which would be a loop.
	const options = page.getByRole("listbox", { name: "Connect to…" }).getByRole("option");
	await expect(options).toHaveCount(1);
	await expect(options.filter({ hasText: "Other" })).toContainText("instead of End");
	await page.keyboard.press("Enter");
	await drawn().toEqual(["call refuse", "start call"]);
	await expect(canvas(page)).toBeFocused();
	await page.keyboard.press("Control+z");
	await drawn().toEqual(["call end", "start call"]);
	await page.keyboard.press("Enter");
	await tabTo("Remove the edge to End");
	await page.keyboard.press("Enter");
	await drawn().toEqual(["start call"]);
	await expect(page.getByRole("button", { name: "Leads to nothing yet: change" })).toBeFocused();
	await page.keyboard.press("Control+z");
	await drawn().toEqual(["call end", "start call"]);
});
