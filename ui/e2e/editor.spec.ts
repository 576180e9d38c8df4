import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { bin } from "./build";
import { accessible, expect, type Genkan, go, test } from "./genkan";

// They do not mind what the others leave behind.
test.use({ shared: true });

test.use({ config: JSON.stringify({ mcpServers: { fault: { command: join(bin, "faultserver") } } }) });

type Stored = {
	newestVersion: number;
	definition: {
		nodes: { id: string; data?: { hook?: { script: string; template?: string } } }[];
		edges: { source: string; sourceHandle?: string; target: string }[];
	};
};

const stored = (genkan: Genkan, id: string) => genkan.rest<Stored>("GET", `/v1/workflows/${id}`);
const put = (genkan: Genkan, definition: { id: string }) =>
	genkan.rest("PUT", `/v1/workflows/${definition.id}`, definition);
const node = (page: Page, id: string) => page.locator(`[data-node="${id}"]`);
const canvas = (page: Page) => page.locator("[data-canvas]");
const handle = (page: Page, id: string, way: string) =>
	page.locator(`.react-flow__node[data-id="${id}"] .react-flow__handle[data-handleid="${way}"]`);
const saved = (page: Page) => expect(page.getByText(/^draft, saved/)).toBeVisible();

/** edges are those of the stored draft, as text. */
const edges = async (genkan: Genkan, id: string) =>
	(await stored(genkan, id)).definition.edges
		.map((e) => `${e.source}${e.sourceHandle ? `.${e.sourceHandle}` : ""} ${e.target}`)
		.sort();

/** drag drags from the middle of one thing to the middle of another. */
async function drag(page: Page, from: { x: number; y: number }, to: { x: number; y: number }): Promise<void> {
	await page.mouse.move(from.x, from.y);
	await page.mouse.down();
	await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 4 });
	await page.mouse.move(to.x, to.y, { steps: 4 });
	await page.mouse.up();
}
async function middle(selector: ReturnType<Page["locator"]>): Promise<{ x: number; y: number }> {
	const box = (await selector.boundingBox())!;
	return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

const plain = (id: string, more: object[] = [], edges: object[] = []) => ({
	id,
	name: id,
	workflowType: "tools/call",
	match: { tools: ["fault__echo"] },
	nodes: [{ id: "start", type: "start" }, { id: "call", type: "mcp-call" }, { id: "end", type: "end" }, ...more],
	edges: [{ source: "start", target: "call" }, { source: "call", target: "end" }, ...edges],
});

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
	await expect(page).toHaveURL(/\/workflows\/shout$/);
	expect(await edges(genkan, "shout")).toEqual(["call hook", "hook end", "start call"]);

	await page.getByRole("button", { name: "Enable…" }).click();
	await page.getByRole("button", { name: "Enable", exact: true }).click();
	await expect(page.getByText(/^active: v/)).toBeVisible();
	expect(JSON.stringify(await genkan.call("fault__echo", { text: "hello" }))).toContain("HELLO");

	// The kill switch.
	await page.getByRole("button", { name: "Stop" }).click();
	await expect(page.getByText("not running")).toBeVisible();
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
	await expect(page.getByRole("alert")).toHaveText("Set values: this is a loop: the path comes back to it");
	await expect(canvas(page)).not.toHaveAttribute("data-forbidden");

	// A step that something leads to takes no second edge, and the reason is within the drawing.
	await page.keyboard.press("Escape");
	await drag(page, await middle(handle(page, "set", "out")), await middle(node(page, "end").locator(".genkan-in")));
	await expect(page.getByRole("alert")).toContainText("End: 2 edges lead to it; only one may");
	const [reason, drawing] = [(await page.getByRole("alert").boundingBox())!, (await canvas(page).boundingBox())!];
	expect(reason.x + reason.width).toBeLessThanOrEqual(drawing.x + drawing.width);
	await page.getByRole("button", { name: "Add another end for it" }).click();
	await expect(page.getByText("End", { exact: true })).toHaveCount(2);
	await page.keyboard.press("ControlOrMeta+z");

	// C offers nothing that would be refused.
	await page.keyboard.press("Escape");
	await node(page, "set").click();
	await canvas(page).focus();
	await page.keyboard.press("c");
	await expect(page.getByText("Nothing is left to connect")).toBeVisible();
	await expect(page.getByRole("listbox").getByRole("option")).toHaveCount(0);
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
	await page.getByRole("button", { name: "Versions" }).click();
	await expect.poll(inView).toBe(true);
	await canvas(page).click({ position: { x: 20, y: 20 } });
	await page.getByRole("textbox", { name: "Name" }).fill("a very long name ".repeat(12));
	expect((await canvas(page).boundingBox())!.y).toBe(y);
});

test("the input says why there is no sample, and looks again when the pattern is mended", async ({
	signedIn: page,
	genkan,
}) => {
	await genkan.call("fault__echo", { text: "sample" });
	await put(genkan, { ...plain("sampled"), match: { tools: ["echo"] } } as never);
	await go(page, genkan, "workflows/sampled");
	const input = page.getByRole("region", { name: "Input" });
	await expect(input).toContainText('the tool "echo" matches nothing');
	await page.getByRole("textbox", { name: "Tools" }).fill("fault__echo");
	await expect(input).toContainText('"sample"');
	await input.getByRole("button", { name: "change" }).click();
	await expect(
		page
			.getByRole("dialog")
			.getByRole("button", { name: /fault \/ echo .* worked$/ })
			.first(),
	).toBeVisible();
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
	await waits.selectOption("nobody waits");
	await expect.poll(() => edges(genkan, "aside")).toEqual(beside);
	await expect(page.getByRole("button", { name: /problem/ })).toHaveCount(0);
	await waits.selectOption("is waited for");
	await expect.poll(() => edges(genkan, "aside")).toEqual(inPath);
	await expect(page.getByRole("button", { name: /problem/ })).toHaveCount(0);
	// Each is one step of undo.
	await canvas(page).focus();
	await page.keyboard.press("Control+z");
	await expect.poll(() => edges(genkan, "aside")).toEqual(beside);
	await page.keyboard.press("Control+z");
	await expect.poll(() => edges(genkan, "aside")).toEqual(inPath);
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
	await expect(settings.getByRole("option", { name: "nobody waits" })).toHaveCount(0);
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
	await settings.getByText("More", { exact: true }).click();
	await page.getByRole("combobox", { name: "Where the script is" }).selectOption("own script");
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
	await settings.getByRole("button", { name: "Add an item" }).first().click();
	await settings.getByRole("textbox", { name: "Item 1" }).fill("text");
	await settings.getByRole("textbox", { name: /Denied pattern/ }).fill("^drop");
	await expect(page.getByRole("button", { name: /problem/ })).toHaveCount(0);
	await page.getByRole("button", { name: "Enable…" }).click();
	await page.getByRole("button", { name: "Enable", exact: true }).click();
	await expect(page.getByText(/^active: v/)).toBeVisible();
	expect(String(await genkan.call("fault__echo", { text: "drop it" }))).toContain("not allowed");
	await genkan.rest("POST", "/v1/workflows/barred/disable");
});

test("a new workflow is stored at its first change, and two of them do not mix", async ({ signedIn: page, genkan }) => {
	const ids = async () => {
		const { workflows } = await genkan.rest<{ workflows: { id: string }[] }>("GET", "/v1/workflows");
		return workflows.map((w) => w.id).filter((id) => id.startsWith("new-workflow"));
	};
	await go(page, genkan, "workflows");
	await page.getByRole("button", { name: "New workflow" }).click();
	await expect(node(page, "call")).toBeVisible();
	await expect(page.getByText("not stored yet")).toBeVisible();
	await expect(page.getByRole("button", { name: "Versions" })).toBeDisabled();
	await page.getByRole("link", { name: "Workflows /" }).click();
	await expect(page.getByRole("heading", { name: "Workflows", exact: true })).toBeVisible();
	expect(await ids()).toEqual([]);

	// In two tabs.
	const other = await page.context().newPage();
	await go(page, genkan, "workflows/new");
	await go(other, genkan, "workflows/new");
	await expect(node(other, "call")).toBeVisible();
	await page.getByRole("textbox", { name: "Name" }).fill("First");
	await expect(page).toHaveURL(/\/workflows\/new-workflow$/);
	// What is written stays where it is written.
	await page.getByRole("textbox", { name: "Name" }).press("End");
	await page.keyboard.type(" one");
	await saved(page);
	await expect(page.getByRole("textbox", { name: "Name" })).toBeFocused();
	await other.getByRole("textbox", { name: "Name" }).fill("Second");
	await expect(other).toHaveURL(/\/workflows\/new-workflow-2$/);
	await saved(other);
	await other.close();
	expect((await ids()).sort()).toEqual(["new-workflow", "new-workflow-2"]);
	await page.reload();
	await expect(page.getByRole("heading", { name: /First one/ })).toBeVisible();
	await page.close(); // it would ask for what is gone
	for (const id of await ids()) await genkan.rest("DELETE", `/v1/workflows/${id}`);
});

test("a new workflow is enabled without a change", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "workflows/new?name=Untouched&tool=fault__echo");
	await page.getByRole("button", { name: "Enable…" }).click();
	await page.getByRole("button", { name: "Enable", exact: true }).click();
	await expect(page.getByText(/^active: v1/)).toBeVisible();
	await expect(page).toHaveURL(/\/workflows\/untouched$/);
	await genkan.rest("POST", "/v1/workflows/untouched/disable");
});

test("a sample that no workflow has changed is preferred, and one that was changed says so", async ({
	signedIn: page,
	genkan,
}) => {
	const redacting = await genkan.rest<{ workflows: { id: string }[] }>("POST", "/v1/workflow-templates", {
		template: "redact",
		name: "Redact all",
		match: { tools: ["fault__echo"] },
	});
	const [{ id }] = redacting.workflows as [{ id: string }];
	await genkan.call("fault__echo", { text: "plain@example.com" });
	await genkan.rest("POST", `/v1/workflows/${id}/enable`, {});
	await genkan.call("fault__echo", { text: "gone@example.com" });
	await put(genkan, plain("samples"));
	await go(page, genkan, "workflows/samples");
	const input = page.getByRole("region", { name: "Input" });
	await expect(input).toContainText("plain@example.com");
	await expect(input.getByRole("note")).toHaveCount(0);
	await input.getByRole("button", { name: "change" }).click();
	await page
		.getByRole("dialog")
		.getByRole("button", { name: /gone@example.com/ })
		.click();
	await expect(input.getByRole("note")).toHaveText(/already changed by “Redact all”/);
	for (const one of redacting.workflows) await genkan.rest("DELETE", `/v1/workflows/${one.id}`);

	// What only the record masks is told, and the rows say whose call it was.
	await genkan.call("fault__echo", { text: "to postgres://app:hunter2secretpw@db/app" });
	const { calls } = await genkan.rest<{ calls: { client: string }[] }>("GET", "/v1/calls?limit=1");
	await page.reload();
	await input.getByRole("button", { name: "change" }).click();
	const masked = page.getByRole("dialog").getByRole("button", { name: /postgres/ });
	await expect(masked).toContainText(calls[0]!.client.replace(/^local:/, ""));
	await masked.click();
	await expect(input.getByRole("note")).toHaveText(
		"Masked in this record only, by the rule url-password. In a real call, the workflow gets the real value.",
	);
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
	await expect(bar).toContainText(`${pagination.total} tools.`);
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

test("undo takes back positions, names, code and settings; redo brings them again", async ({
	signedIn: page,
	genkan,
}) => {
	await put(genkan, plain("undone"));
	await go(page, genkan, "workflows/undone");
	await expect(node(page, "end")).toBeVisible();
	const before = await middle(node(page, "end"));
	await drag(page, before, { x: before.x + 40, y: before.y + 80 });
	await saved(page);
	const moved = await middle(node(page, "end"));
	expect(moved.y - before.y).toBeGreaterThan(40);

	await node(page, "call").click();
	await page.getByRole("textbox", { name: "Name" }).fill("Ask it");
	await expect(node(page, "call")).toContainText("Ask it");
	await page.getByRole("textbox", { name: "Time limit in ms" }).fill("500");
	await canvas(page).focus();
	await page.keyboard.press("Tab");
	await page.keyboard.type("script");
	await page.keyboard.press("Enter");
	await page.getByRole("textbox", { name: /Script of/ }).click();
	await page.keyboard.insertText("let a = 1;"); // typed slowly, it would be several steps
	await saved(page);

	for (let i = 0; i < 5; i++) await page.keyboard.press("Control+z");
	await expect(node(page, "hook")).toHaveCount(0);
	await expect(node(page, "call")).not.toContainText("Ask it");
	// In line again, though the view may have moved.
	expect((await middle(node(page, "end"))).y).toBeCloseTo((await middle(node(page, "start"))).y, 0);
	await saved(page);
	await expect.poll(async () => (await stored(genkan, "undone")).definition.nodes.length).toBe(3);

	await canvas(page).focus();
	for (let i = 0; i < 5; i++) await page.keyboard.press("Control+Shift+z");
	await expect(node(page, "hook")).toBeVisible();
	await expect(node(page, "call")).toContainText("Ask it");
	await expect
		.poll(
			async () => (await stored(genkan, "undone")).definition.nodes.find((n) => n.id === "hook")?.data?.hook?.script,
		)
		.toBe("let a = 1;");
});

test("steps are copied as JSON and pasted into another workflow", async ({ signedIn: page, genkan }) => {
	await put(genkan, plain("from", [{ id: "loose", type: "set", data: { label: "Loose", vars: { a: { value: 1 } } } }]));
	await put(genkan, plain("into"));
	await go(page, genkan, "workflows/from");
	await node(page, "loose").click();
	await page.keyboard.press("Control+c");
	expect(JSON.parse(await page.evaluate(() => navigator.clipboard.readText())).nodes[0].id).toBe("loose");
	await go(page, genkan, "workflows/into");
	await expect(node(page, "end")).toBeVisible();
	await canvas(page).focus();
	await page.keyboard.press("Control+v");
	await expect(node(page, "loose")).toContainText("Loose");
});

test("several steps are selected, duplicated, copied, removed, and each is undone", async ({
	signedIn: page,
	genkan,
}) => {
	await put(
		genkan,
		plain(
			"several",
			[
				{ id: "one", type: "set", position: { x: 250, y: 160 }, data: { label: "One", vars: { a: { value: 1 } } } },
				{ id: "two", type: "set", position: { x: 500, y: 160 }, data: { label: "Two", vars: { a: { value: 2 } } } },
			],
			[{ source: "one", target: "two" }],
		),
	);
	await go(page, genkan, "workflows/several");
	await node(page, "one").click();
	await node(page, "two").click({ modifiers: ["Shift"] });
	await expect(page.getByText("2 steps are selected")).toBeVisible();
	const all = ["call end", "one two", "start call"];

	await canvas(page).focus();
	await page.keyboard.press("d");
	await expect(page.locator("[data-node]")).toHaveCount(7);
	await expect.poll(() => edges(genkan, "several")).toEqual(["call end", "one two", "one-2 two-2", "start call"]);
	await page.keyboard.press("Control+z");
	await expect(page.locator("[data-node]")).toHaveCount(5);

	// All of them; the start stays.
	await page.keyboard.press("Control+a");
	await expect(page.getByText("5 steps are selected")).toBeVisible();
	await page.keyboard.press("Delete");
	await expect(page.locator("[data-node]")).toHaveCount(1);
	await expect(page.getByText("The start stays: every workflow has one.")).toBeVisible();
	await page.keyboard.press("Control+z");
	await expect(page.locator("[data-node]")).toHaveCount(5);
	await expect.poll(() => edges(genkan, "several")).toEqual(all);

	// Cut and pasted, with the edge between them.
	await node(page, "one").click();
	await node(page, "two").click({ modifiers: ["Shift"] });
	await page.keyboard.press("Control+x");
	await expect(node(page, "one")).toHaveCount(0);
	await expect.poll(() => edges(genkan, "several")).toEqual(["call end", "start call"]);
	await page.keyboard.press("Control+v");
	await expect(page.locator("[data-node]")).toHaveCount(5);
	await expect.poll(() => edges(genkan, "several")).toEqual(all);

	// A frame around them, and an edge.
	await page.keyboard.press("Escape");
	const [a, b] = [(await node(page, "one").boundingBox())!, (await node(page, "two").boundingBox())!];
	await page.keyboard.down("Shift");
	await drag(page, { x: a.x - 12, y: a.y - 12 }, { x: b.x + b.width + 12, y: b.y + b.height + 12 });
	await page.keyboard.up("Shift");
	await expect(page.getByText("2 steps are selected")).toBeVisible();
	await page.keyboard.press("Escape");
	await page.locator('.react-flow__edge[data-id="one|out|two"]').hover({ force: true });
	await page.getByRole("button", { name: "Remove this edge" }).click();
	await expect.poll(() => edges(genkan, "several")).toEqual(["call end", "start call"]);
	await page.keyboard.press("Control+z");
	await expect.poll(() => edges(genkan, "several")).toEqual(all);
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
	await canvas(page).focus();
	await page.keyboard.press("Control+z");
	await expect(condition).toHaveValue('args.text == "dragged"');
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

test("the trace of a call is painted on the drawing, and follows the draft", async ({ signedIn: page, genkan }) => {
	await genkan.call("fault__echo", { text: "mail aiko@example.jp" });
	const { calls } = await genkan.rest<{ calls: { id: string }[] }>("GET", "/v1/calls?limit=1");
	await put(genkan, {
		...plain("trace"),
		nodes: [
			{ id: "start", type: "start" },
			{ id: "if", type: "condition", data: { cases: [{ handle: "yes", when: 'args.text.contains("mail")' }] } },
			{ id: "call", type: "mcp-call" },
			{
				id: "redact",
				type: "hook",
				data: {
					label: "Redact",
					hook: { blocking: true, script: 'mapText(ctx.response, (t) => t.replace(/\\S+@\\S+/, "[mail]"))' },
				},
			},
			{ id: "end", type: "end" },
			{ id: "no", type: "end", data: { outcome: "deny", message: "no" } },
		],
		edges: [
			{ source: "start", target: "if" },
			{ source: "if", sourceHandle: "yes", target: "call" },
			{ source: "if", sourceHandle: "else", target: "no" },
			{ source: "call", target: "redact" },
			{ source: "redact", target: "end" },
		],
	} as never);
	await go(page, genkan, `workflows/trace?call=${calls[0]!.id}`);
	await expect(node(page, "redact")).toContainText("±1");
	await expect(node(page, "no")).toHaveClass(/opacity-40/);
	await node(page, "redact").click();
	const output = page.getByRole("region", { name: "Output" });
	await expect(output).toContainText('+         "text": "mail [mail]"');
	await expect(output).toContainText("aiko@example.jp");

	// A field of the input writes the condition; the replay follows.
	await node(page, "if").click();
	await page.getByRole("textbox", { name: /Condition for/ }).fill('args.text == "other"');
	await expect(node(page, "no")).toContainText("refused");
	await expect(node(page, "call")).toHaveClass(/opacity-40/);
	await page.getByRole("textbox", { name: /Condition for/ }).fill("");
	await page.getByRole("button", { name: '"text"' }).first().click();
	await expect(page.getByRole("textbox", { name: /Condition for/ })).toHaveValue('args.text == "mail aiko@example.jp"');
	await page.keyboard.press("Control+Enter");
	await expect(node(page, "redact")).toContainText("±1");
});

test("a change in another tab is told, and nothing is lost", async ({ page, genkan }) => {
	await genkan.signIn(page);
	await put(genkan, plain("both"));
	await page.route("**/v1/events*", (route) => route.abort()); // so that it is told late
	await go(page, genkan, "workflows/both");
	await expect(node(page, "call")).toBeVisible();
	await genkan.rest("PUT", "/v1/workflows/both?base=1", { ...plain("both"), name: "theirs" });
	await page.getByRole("textbox", { name: "Name" }).fill("mine");
	await expect(page.getByText(/Changed elsewhere meanwhile/)).toBeVisible();
	await expect(page.getByRole("heading", { name: /mine/ })).toBeVisible();
	await page.getByRole("button", { name: "Take theirs" }).click();
	await expect(page.getByRole("heading", { name: /theirs/ })).toBeVisible();
	await page.keyboard.press("Control+z");
	await expect(page.getByRole("heading", { name: /mine/ })).toBeVisible();
	await saved(page);
});

test("“Keep mine” stores the own draft over the other, which stays a version", async ({ page, genkan }) => {
	await genkan.signIn(page);
	await put(genkan, plain("mine"));
	await page.route("**/v1/events*", (route) => route.abort());
	await go(page, genkan, "workflows/mine");
	await expect(node(page, "call")).toBeVisible();
	await genkan.rest("PUT", "/v1/workflows/mine?base=1", { ...plain("mine"), name: "theirs" });
	await page.getByRole("textbox", { name: "Name" }).fill("my own");
	await page.getByRole("button", { name: "Keep mine" }).click();
	await saved(page);
	await expect(page.getByRole("heading", { name: /my own/ })).toBeVisible();
	const { versions } = await genkan.rest<{ versions: { version: number; name: string }[] }>(
		"GET",
		"/v1/workflows/mine/versions",
	);
	expect(versions.map((v) => `${v.version} ${v.name}`)).toEqual(["3 my own", "2 theirs", "1 mine"]);
});

test("a file becomes the draft, and undo brings the old one back", async ({ signedIn: page, genkan }) => {
	await put(genkan, plain("file"));
	await go(page, genkan, "workflows/file");
	await page.getByRole("button", { name: "File" }).click();
	const [download] = await Promise.all([
		page.waitForEvent("download"),
		page.getByRole("menuitem", { name: "Export to a file" }).click(),
	]);
	expect(download.suggestedFilename()).toBe("file.json");
	const read = JSON.parse(await readFile(await download.path(), "utf8"));
	expect(read).toMatchObject({ id: "file", edges: plain("file").edges });
	read.nodes.push({ id: "more", type: "set", data: { vars: {} } });
	await page
		.getByLabel("Import a file into this draft")
		.setInputFiles({ name: "file.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(read)) });
	await expect(node(page, "more")).toBeVisible();
	await page.getByRole("button", { name: "Undo" }).first().click();
	await expect(node(page, "more")).toHaveCount(0);
	await page
		.getByLabel("Import a file into this draft")
		.setInputFiles({ name: "no.json", mimeType: "application/json", buffer: Buffer.from("[]") });
	await expect(page.getByText("The file no.json is no workflow")).toBeVisible();
});

test("Enter of an input method neither adds a step nor ends a name", async ({ signedIn: page, genkan }) => {
	await put(genkan, plain("ime"));
	await go(page, genkan, "workflows/ime");
	await node(page, "call").click();
	const compose = (selector: string) =>
		page.locator(selector).evaluate((input) => {
			input.dispatchEvent(
				new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true }),
			);
		});
	await canvas(page).focus();
	await page.keyboard.press("Tab");
	await page.getByRole("combobox", { name: "Add a step" }).fill("Script");
	await compose("[role=combobox]");
	await expect(page.getByRole("combobox", { name: "Add a step" })).toBeVisible();
	await expect(page.locator("[data-node]")).toHaveCount(3);
	await page.keyboard.press("Escape");
	await page.keyboard.press("F2");
	const name = node(page, "call").getByRole("textbox");
	await name.fill("呼び出し");
	await compose('[data-node="call"] input');
	await expect(name).toBeVisible();
	await page.keyboard.press("Enter");
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
