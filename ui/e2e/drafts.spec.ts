import { readFile } from "node:fs/promises";
import { canvas, drag, edges, faultOnly, middle, node, plain, put, saved, stored } from "./editor";
import { expect, go, test } from "./genkan";

// They do not mind what the others leave behind.
test.use({ shared: true, config: faultOnly });

test("the input says why there is no sample, and looks again when the pattern is mended", async ({
	signedIn: page,
	genkan,
}) => {
	await genkan.call("fault__echo", { text: "sample" });
	await put(genkan, { ...plain("sampled"), match: { tools: ["echo"] } } as never);
	await go(page, genkan, "workflows/sampled");
	const input = page.getByRole("region", { name: "Input" });
	await expect(input).toContainText('the tool "echo" matches nothing');
	await page.getByLabel("Tools", { exact: true }).fill("fault__echo");
	await expect(input).toContainText('"sample"');
	await input.getByRole("button", { name: "change" }).click();
	await expect(
		page
			.getByRole("dialog")
			.getByRole("button", { name: /fault \/ echo .* worked$/ })
			.first(),
	).toBeVisible();
});

test("a new workflow is stored at its first change, and two of them do not mix", async ({ signedIn: page, genkan }) => {
	const ids = async () => {
		const { workflows } = await genkan.rest<{ workflows: { id: string }[] }>("GET", "/v1/workflows");
		return workflows.map((w) => w.id).filter((id) => id.startsWith("workflow"));
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
	await expect(page).toHaveURL(/\/workflows\/workflow$/);
	// What is written stays where it is written.
	await page.getByRole("textbox", { name: "Name" }).press("End");
	await page.keyboard.type(" one");
	await saved(page);
	await expect(page.getByRole("textbox", { name: "Name" })).toBeFocused();
	await other.getByRole("textbox", { name: "Name" }).fill("Second");
	await expect(other).toHaveURL(/\/workflows\/workflow-2$/);
	await saved(other);
	await other.close();
	expect((await ids()).sort()).toEqual(["workflow", "workflow-2"]);
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
	await expect(input.getByRole("note")).toHaveText(
		"This call was changed by “Redact all” then. Here is what the client sent, and what the server answered.",
	);
	await expect(input).toContainText("gone@example.com");
	// A replay shows what was there before a step, also where the record does not have it.
	const [start, call, end] = plain("samples").nodes;
	const hook = {
		blocking: true,
		script: 'mapText(ctx.response, (text) => text.replace(/gone@example.com/, "[redacted:mail]"));',
	};
	await put(genkan, {
		...plain("samples"),
		nodes: [start, call, { id: "hook", type: "hook", data: { hook } }, end],
		edges: [
			{ source: "start", target: "call" },
			{ source: "call", target: "hook" },
			{ source: "hook", target: "end" },
		],
		version: 1,
	} as never);
	await expect(node(page, "hook")).toBeVisible();
	await page.getByRole("button", { name: "Replay" }).click();
	await node(page, "hook").click();
	const output = page.getByRole("region", { name: "Output" });
	await expect(output).toContainText(/- .*gone@example\.com/);
	await expect(output).toContainText(/\+ .*\[redacted:mail\]/);
	// What was chosen stays, until the newest call is wanted again.
	await page.reload();
	await expect(input.getByRole("note")).toHaveText(/^This call was changed by “Redact all” then/);
	await input.getByRole("button", { name: "change" }).click();
	await page.getByRole("button", { name: "Use the newest call" }).click();
	await expect(page).not.toHaveURL(/call=/);
	await expect(input).toContainText("plain@example.com");
	// The search reads answers, too, and Enter takes what it finds.
	await input.getByRole("button", { name: "change" }).click();
	await page.getByRole("dialog").getByRole("searchbox").fill("nowhere@example");
	await expect(page.getByRole("dialog")).toContainText("No call that can be the input has this text.");
	await page.getByRole("dialog").getByRole("searchbox").fill("PLAIN@example");
	await page.keyboard.press("Enter");
	await expect(page.getByRole("dialog")).toHaveCount(0);
	await expect(input).toContainText("plain@example.com");
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
		"This view masks what url-password found. In a real call, the workflow gets the real value.",
	);
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

test.describe("a change that cannot be stored", () => {
	test.use({ provoked: /ERR_FAILED/ });
	test("that is undone leaves nothing to save or to mend", async ({ signedIn: page, genkan }) => {
		await put(genkan, plain("taken-back"));
		await go(page, genkan, "workflows/taken-back");
		await page.route("**/v1/workflows/taken-back*", (route) =>
			route.request().method() === "PUT" ? route.abort() : route.continue(),
		);
		await node(page, "call").click();
		const limit = page.getByLabel("Time limit in ms");
		await limit.fill("-20");
		await expect(page.getByRole("button", { name: /problem/ })).toBeVisible();
		await canvas(page).focus();
		await page.keyboard.press("Control+z");
		await expect(limit).toHaveValue("");
		await expect(page.getByRole("button", { name: /problem/ })).toHaveCount(0);
		await expect(page.getByText(/^saving…|^not saved/)).toHaveCount(0);
	});
});

test("Tidy lays the drawing out, undo brings it back, and a map shows a large one", async ({
	signedIn: page,
	genkan,
}) => {
	const { nodes, edges: lines, ...rest } = plain("untidy");
	const places = [
		{ x: 300, y: 260 },
		{ x: 0, y: 130 },
		{ x: 120, y: 0 },
	];
	await put(genkan, { ...rest, nodes: nodes.map((n, i) => ({ ...n, position: places[i] })), edges: lines } as never);
	await go(page, genkan, "workflows/untidy");
	await expect(node(page, "end")).toBeVisible();
	const map = page.getByRole("img", { name: "The whole drawing" });
	await expect(map).toHaveCount(0); // three steps need none
	const positions = async () =>
		((await stored(genkan, "untidy")).definition.nodes as { position?: { x: number; y: number } }[]).map(
			(n) => n.position,
		);
	await page.getByRole("button", { name: "Tidy" }).click();
	await expect.poll(async () => new Set((await positions()).map((at) => Math.round(at?.y ?? -1))).size).not.toBe(3);
	const [start, call, end] = await positions();
	expect(start!.x).toBeLessThan(call!.x);
	expect(call!.x).toBeLessThan(end!.x);
	await page.getByRole("button", { name: "Undo" }).click();
	await expect.poll(positions).toEqual(places);

	const more = Array.from({ length: 6 }, (_, i) => ({ id: `n${i}`, type: "set", data: { vars: { a: { value: i } } } }));
	await put(genkan, plain("large", more));
	await go(page, genkan, "workflows/large");
	await expect(map).toBeVisible();
	await expect(page.locator(".react-flow__minimap-node")).toHaveCount(9);
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
	// n8n writes places in another way.
	const copied = JSON.stringify({
		nodes: ["a", "b"].map((id) => ({ id, type: "set", position: [0, 0] })),
		connections: {},
	});
	await page.evaluate((text) => navigator.clipboard.writeText(text), copied);
	await page.keyboard.press("Control+v");
	await page.keyboard.press("Control+v");
	await expect(page.locator("[data-node]")).toHaveCount(8);
	await expect.poll(async () => (await stored(genkan, "into")).definition.nodes.length).toBe(8);
	const places = (await stored(genkan, "into")).definition.nodes.map(
		({ position: { x, y } }) => `${Math.round(x / 190)} ${y}`,
	);
	expect(new Set(places).size).toBe(8);
	expect(places.join()).not.toContain("NaN");
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
	await expect(node(page, "redact")).toContainText("1 change");
	await expect(node(page, "no")).toHaveClass(/opacity-40/);
	// Where the workflow's own time goes: the call, the start and the end have no part in it.
	const share = page.getByTitle(/^\d+% of the workflow's time$/);
	await expect(node(page, "redact").locator(share)).toHaveCount(1);
	for (const id of ["start", "call", "end", "no"]) await expect(node(page, id).locator(share)).toHaveCount(0);
	const parts = await share.evaluateAll((all) => all.map((one) => Number.parseInt(one.getAttribute("title")!, 10)));
	expect(parts.reduce((sum, part) => sum + part)).toBeGreaterThan(90);
	expect(parts.reduce((sum, part) => sum + part)).toBeLessThan(105);
	await node(page, "redact").click();
	const output = page.getByRole("region", { name: "Output" });
	await expect(output).toContainText('+         "text": "mail [mail]"');
	await expect(output).toContainText("aiko@example.jp");

	// A field of the input writes the condition; the replay follows.
	await node(page, "if").click();
	let held = 0;
	let release = () => {};
	const released = new Promise<void>((done) => {
		release = done;
	});
	await page.route("**/replay", async (route) => {
		held++;
		await released;
		await route.continue();
	});
	await page.getByRole("textbox", { name: /Condition for/ }).fill('args.text == "other"');
	await expect(output).toContainText("(before your last change)");
	await expect.poll(() => held).toBe(1);
	release();
	await expect(node(page, "no")).toContainText("refused");
	await expect(output).not.toContainText("(before your last change)");
	await expect(node(page, "call")).toHaveClass(/opacity-40/);
	await page.getByRole("textbox", { name: /Condition for/ }).fill("");
	await page.getByRole("button", { name: '"text"' }).first().click();
	await expect(page.getByRole("textbox", { name: /Condition for/ })).toHaveValue('args.text == "mail aiko@example.jp"');
	await page.keyboard.press("Control+Enter");
	await expect(node(page, "redact")).toContainText("1 change");
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

test("a draft is stored before another workflow is opened, or it is asked about", async ({ page, genkan }) => {
	await genkan.signIn(page);
	await put(genkan, plain("left"));
	await put(genkan, plain("next"));
	await page.route("**/v1/events*", (route) => route.abort());
	await go(page, genkan, "workflows/left");
	await expect(node(page, "call")).toBeVisible();
	const to = async (name: string) => {
		await page.keyboard.press("Control+k");
		await page.getByRole("dialog").getByRole("combobox").fill(name);
		await page
			.getByRole("option", { name: new RegExp(`^${name}`) })
			.first()
			.click();
	};
	// What is changed while an earlier change is being stored.
	let store: (() => Promise<void>) | undefined;
	await page.route("**/v1/workflows/left?draft=*", (route) => {
		if (store) return route.continue();
		store = () => route.continue();
	});
	const name = page.getByRole("textbox", { name: "Name" });
	await name.fill("first");
	await expect.poll(() => store).toBeDefined();
	await name.fill("second");
	await to("next");
	await expect(page).toHaveURL(/workflows\/next$/);
	await store!();
	await expect(page.getByRole("heading", { name: "next" })).toBeVisible();
	expect(await genkan.rest("GET", "/v1/workflows/left")).toMatchObject({ name: "second" });

	// What cannot be stored.
	await genkan.rest("PUT", "/v1/workflows/next?base=1", { ...plain("next"), name: "theirs" });
	await name.fill("mine");
	await expect(page.getByText(/Changed elsewhere meanwhile/)).toBeVisible();
	await to("second");
	const question = page.getByRole("dialog", { name: "Leave without saving?" });
	await question.getByRole("button", { name: "Cancel" }).click();
	await expect(page.getByRole("heading", { name: /mine/ })).toBeVisible();
	await to("second");
	await question.getByRole("button", { name: "Discard the changes" }).click();
	await expect(page.getByRole("heading", { name: "second" })).toBeVisible();
	expect(await genkan.rest("GET", "/v1/workflows/next")).toMatchObject({ name: "theirs" });
});

test("a change in another tab is told though the version has the same number", async ({ page, genkan }) => {
	await genkan.signIn(page);
	await page.context().route("**/v1/events*", (route) => route.abort()); // so that it is told late
	await go(page, genkan, "workflows/new?name=Same&tool=fault__echo");
	const write = async (tab: typeof page, name: string) => {
		await tab.getByRole("textbox", { name: "Name" }).fill(name);
		await expect(tab).toHaveURL(/\/workflows\/same$/);
	};
	await write(page, "One");
	await saved(page);
	// A tab that was duplicated goes on with the same draft.
	const sitting = await page.evaluate(() => sessionStorage.getItem("genkan.editor.sitting")!);
	const other = await page.context().newPage();
	await other.addInitScript((value) => sessionStorage.setItem("genkan.editor.sitting", value), sitting);
	await go(other, genkan, "workflows/same");
	await expect(node(other, "call")).toBeVisible();
	await write(page, "Two");
	await expect.poll(async () => (await genkan.rest<{ name: string }>("GET", "/v1/workflows/same")).name).toBe("Two");
	expect((await stored(genkan, "same")).newestVersion).toBe(1);
	await write(other, "Three");
	await expect(other.getByText(/Changed elsewhere meanwhile/)).toBeVisible();
	expect(await genkan.rest("GET", "/v1/workflows/same")).toMatchObject({ name: "Two" });
	await other.getByRole("button", { name: "Keep mine" }).click();
	await saved(other);
	const { versions } = await genkan.rest<{ versions: { version: number; name: string }[] }>(
		"GET",
		"/v1/workflows/same/versions",
	);
	expect(versions.map((v) => `${v.version} ${v.name}`)).toEqual(["2 Three", "1 Two"]);
	await other.close();
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
	const all = Buffer.from(JSON.stringify({ workflows: [read, read] }));
	await page
		.getByLabel("Import a file into this draft")
		.setInputFiles({ name: "all.json", mimeType: "application/json", buffer: all });
	await expect(page.getByText("The file all.json has 2 workflows")).toBeVisible();
});

test("a draft keeps all digits of numbers, from a file to a file", async ({ signedIn: page, genkan }) => {
	await put(genkan, plain("digits"));
	await go(page, genkan, "workflows/digits");
	const more = { id: "more", type: "set", position: { x: 9, y: 9 }, data: { vars: { big: { value: 1 } } } };
	const text = JSON.stringify(plain("digits", [more])).replace('"value":1', '"value":12345678901234567890');
	await page
		.getByLabel("Import a file into this draft")
		.setInputFiles({ name: "digits.json", mimeType: "application/json", buffer: Buffer.from(text) });
	await expect(node(page, "more")).toBeVisible();
	await saved(page);
	await page.reload(); // what was stored is read, copied and stored again
	await node(page, "more").click();
	await canvas(page).focus();
	await page.keyboard.press("ControlOrMeta+d");
	await expect(node(page, "more-2")).toBeVisible();
	await saved(page);
	await page.getByRole("button", { name: "File" }).click();
	const [download] = await Promise.all([
		page.waitForEvent("download"),
		page.getByRole("menuitem", { name: "Export to a file" }).click(),
	]);
	expect((await readFile(await download.path(), "utf8")).match(/12345678901234567890/g)).toHaveLength(2);
});

test.describe("a workflow that is deleted", () => {
	test.use({ provoked: /^404 GET .*\/v1\/workflows\/goes/ });

	test("does not come back with the back button", async ({ signedIn: page, genkan }) => {
		await put(genkan, plain("goes"));
		await go(page, genkan, "workflows/goes");
		await expect(node(page, "call")).toBeVisible();
		// Nothing is asked about a draft that could not be saved.
		await page.route("**/v1/workflows/goes?draft=*", (route) =>
			route.fulfill({ status: 400, json: { error: "It is not stored.", code: "invalid" } }),
		);
		await page.getByRole("textbox", { name: "Name" }).fill("gone");
		await expect(page.getByRole("alert").filter({ hasText: "not saved" })).toBeVisible();
		await page.getByRole("button", { name: "File" }).click();
		await page.getByRole("menuitem", { name: "Delete this workflow" }).click();
		await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
		await expect(page.getByRole("heading", { name: "Workflows", exact: true })).toBeVisible();
		await page.goBack();
		await expect(page.getByText("There is no workflow “goes”")).toBeVisible();
		await expect(node(page, "call")).toHaveCount(0);
	});

	test("elsewhere stays drawn, and is kept as a new one", async ({ signedIn: page, genkan }) => {
		await put(genkan, plain("goes-away"));
		await go(page, genkan, "workflows/goes-away");
		await page.getByRole("textbox", { name: "Name" }).fill("stays");
		await saved(page);
		await genkan.rest("DELETE", "/v1/workflows/goes-away");
		await page.getByRole("textbox", { name: "Name" }).fill("stays here");
		await expect(page.getByText("This workflow was deleted elsewhere.")).toBeVisible();
		await expect(node(page, "call")).toBeVisible();
		expect(await genkan.rest("GET", "/v1/workflows/goes-away").catch(String)).toContain("404");
		await page.getByRole("button", { name: "Keep it as a new workflow" }).click();
		await saved(page);
		await expect(page.getByText("This workflow was deleted elsewhere.")).toHaveCount(0);
		expect(await stored(genkan, "goes-away")).toMatchObject({ newestVersion: 1, definition: { name: "stays here" } });
	});
});
