import { join } from "node:path";
import type { Page } from "@playwright/test";
import { bin } from "./build";
import { accessible, expect, type Genkan, go, test } from "./genkan";

// They do not mind what the others leave behind.
test.use({ shared: true });

// The panels of the editor: versions, tests, enabling; replay; forms of hook modules.
test.use({ config: JSON.stringify({ mcpServers: { fault: { command: join(bin, "faultserver") } } }) });

const node = (page: Page, id: string) => page.locator(`[data-node="${id}"]`);
const saved = (page: Page) => expect(page.getByText(/^draft, saved/)).toBeVisible();
const script = (page: Page) => page.getByRole("textbox", { name: /Script of/ });

/** hooked is a workflow with a script behind the call, for echo with arguments that have a
 * word, so that the tests of this file do not meet. */
const hooked = (id: string, code: string, more: object = {}) => ({
	id,
	name: id,
	workflowType: "tools/call",
	match: { tools: ["fault__echo"], when: `args.text.contains("${id}")` },
	nodes: [
		{ id: "start", type: "start" },
		{ id: "call", type: "mcp-call" },
		{ id: "hook", type: "hook", data: { label: "Redact", hook: { blocking: true, script: code } } },
		{ id: "end", type: "end" },
	],
	edges: [
		{ source: "start", target: "call" },
		{ source: "call", target: "hook" },
		{ source: "hook", target: "end" },
	],
	...more,
});
const put = (genkan: Genkan, definition: { id: string; name: string }, base = 0) =>
	genkan.rest("PUT", `/v1/workflows/${definition.id}${base ? `?base=${base}` : ""}`, definition);
const enable = (genkan: Genkan, id: string) => genkan.rest("POST", `/v1/workflows/${id}/enable`, {});
const echo = async (genkan: Genkan, text: string) => {
	const answer = await genkan.call("fault__echo", { text });
	return answer instanceof Error ? answer.message : JSON.stringify(answer);
};
const replacing = (what: string, by: string) => `mapText(ctx.response, (text) => text.replace("${what}", "${by}"))`;
const lastCall = async (genkan: Genkan) =>
	(await genkan.rest<{ calls: { id: string }[] }>("GET", "/v1/calls?limit=1")).calls[0]!.id;
const versionsOf = async (genkan: Genkan, id: string) =>
	(await genkan.rest<{ versions: { version: number }[] }>("GET", `/v1/workflows/${id}/versions`)).versions.map(
		(v) => v.version,
	);

test("two versions are compared by their steps, and a rollback lets calls behave as before", async ({
	signedIn: page,
	genkan,
}) => {
	await put(genkan, hooked("back", `// one\n${replacing("secret", "[one]")}`));
	await enable(genkan, "back");
	expect(await echo(genkan, "back secret")).toContain("[one]");
	const two = hooked("back", `// one\n${replacing("secret", "[two]")}`, { description: "Second" });
	two.nodes.splice(3, 0, { id: "note", type: "set", data: { label: "Note", vars: { a: { value: 1 } } } } as never);
	two.edges = [
		{ source: "start", target: "call" },
		{ source: "call", target: "hook" },
		{ source: "hook", target: "note" },
		{ source: "note", target: "end" },
	];
	await put(genkan, two, 1);
	await enable(genkan, "back");
	expect(await echo(genkan, "back secret")).toContain("[two]");

	await go(page, genkan, "workflows/back?panel=versions");
	const panel = page.getByRole("region", { name: "Versions" });
	await expect(panel.getByRole("button", { name: /^v2 active/ })).toContainText("1 run");
	await expect(panel.getByRole("button", { name: /^v1/ })).toContainText(/enabled (now|\d+s ago)/);
	await panel.getByRole("button", { name: /^v1/ }).click();
	const differs = panel.getByRole("list", { name: "What differs" });
	await expect(differs.getByRole("listitem").filter({ hasText: "The workflow" })).toContainText(
		'+ description: "Second"',
	);
	const redact = differs.getByRole("listitem").filter({ hasText: "Redact" }).first();
	await expect(redact).toContainText(`- ${replacing("secret", "[one]")}`);
	await expect(redact).toContainText(`+ ${replacing("secret", "[two]")}`);
	await expect(redact).toContainText("  // one");
	await expect(differs.getByRole("listitem").filter({ hasText: "added" })).toContainText('+ label: "Note"');
	await expect(differs.getByRole("listitem").filter({ hasText: "Edges" })).toContainText("+ Note → End");

	// The same of two versions, in the address; neither is the draft.
	await put(genkan, { ...two, name: "third" }, 2);
	await go(page, genkan, "workflows/back?panel=versions&version=2&with=1");
	await expect(panel.getByRole("combobox", { name: "Compared with" })).toHaveValue("1");
	await expect(differs.getByRole("listitem").filter({ hasText: "added" })).toContainText("Note");
	await accessible(page);
	await page.emulateMedia({ colorScheme: "light" });

	await panel.getByRole("button", { name: /^v1/ }).click();
	await panel.getByRole("button", { name: "Roll back to it" }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Roll back to it" }).click();
	await expect(page.getByText(/: what was v1 runs again, as v4\./)).toBeVisible();
	await expect(page.getByText("active: v4")).toBeVisible();
	expect(await echo(genkan, "back secret")).toContain("[one]");
	await expect(node(page, "note")).toHaveCount(0);
	// The call says which version ran around it.
	await go(page, genkan, `calls/${await lastCall(genkan)}?tab=changes`);
	await expect(page.getByText("v4").first()).toBeVisible();
	await genkan.rest("POST", "/v1/workflows/back/disable");
});

test("what is drawn in one sitting is one version, until it is enabled", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "workflows/new?name=Sitting&tool=fault__echo");
	const write = async (name: string) => {
		await page.getByRole("textbox", { name: "Name" }).fill(name);
		await expect(page).toHaveURL(/\/workflows\/sitting$/);
		await expect
			.poll(async () => (await genkan.rest<{ name: string }>("GET", "/v1/workflows/sitting")).name)
			.toBe(name);
		await saved(page);
	};
	await write("One");
	await write("Two");
	await write("Three");
	await page.reload();
	await write("Four");
	expect(await versionsOf(genkan, "sitting")).toEqual([1]);
	await page.getByRole("button", { name: "Enable…" }).click();
	await page.getByRole("region", { name: "Enable" }).getByRole("button", { name: "Enable", exact: true }).click();
	await expect(page.getByText("active: v1")).toBeVisible();
	await write("Five");
	await write("Six");
	expect(await versionsOf(genkan, "sitting")).toEqual([2, 1]);
	// Going back keeps what was drawn.
	await page.getByRole("button", { name: "Versions" }).click();
	await page.getByRole("button", { name: /^v1/ }).click();
	await page.getByRole("button", { name: "Make it the draft" }).click();
	await expect(page.getByRole("heading", { name: /Four/ })).toBeVisible();
	await expect.poll(() => versionsOf(genkan, "sitting")).toEqual([3, 2, 1]);
	await genkan.rest("POST", "/v1/workflows/sitting/disable");
});

test("calls are kept as tests; a failing one says why and keeps the draft from being enabled", async ({
	signedIn: page,
	genkan,
}) => {
	await echo(genkan, "bench secret");
	await put(genkan, hooked("bench", replacing("secret", "[x]")));
	await go(page, genkan, `workflows/bench?panel=tests&call=${await lastCall(genkan)}`);
	const panel = page.getByRole("region", { name: "Tests" });
	await expect(panel.getByText("A test is a call")).toBeVisible();
	await panel.getByRole("textbox", { name: "Name" }).fill("No secret leaves");
	await panel
		.getByRole("combobox", { name: "What must come of it" })
		.selectOption({ label: "it goes through, changed" });
	await panel.getByRole("textbox", { name: "The answer has this text" }).fill("bench [x]");
	await page.keyboard.press("Enter");
	await expect(panel.getByRole("status")).toHaveText("The test passes.");
	// Without more, it is what the draft does now.
	await panel
		.getByRole("combobox", { name: "What must come of it" })
		.selectOption({ label: "what the draft does now" });
	// Two tests do not have one name.
	await panel.getByRole("textbox", { name: "Name" }).fill("No secret leaves");
	await expect(panel.getByText("Another test has this name.")).toBeVisible();
	await expect(panel.getByRole("button", { name: "Keep it" })).toBeDisabled();
	await panel.getByRole("textbox", { name: "Name" }).fill("");
	await expect(panel.getByRole("button", { name: "Keep it" })).toBeInViewport({ ratio: 1 });
	await panel.getByRole("button", { name: "Keep it" }).click();
	await expect(panel.getByRole("status")).toHaveText("All 2 tests pass.");
	const { tests } = await genkan.rest<{ tests: unknown[] }>("GET", "/v1/workflows/bench/tests");
	expect(tests).toMatchObject([
		{
			id: "no-secret-leaves",
			name: "No secret leaves",
			expect: { outcome: "ok", changed: true, responseContains: "bench [x]" },
		},
		{
			id: "test-1",
			expect: { outcome: "ok", changed: true, response: { content: [{ type: "text", text: "bench [x]" }] } },
		},
	]);

	// One that is kept or deleted elsewhere is seen.
	const elsewhere = "/v1/workflows/bench/tests/elsewhere";
	await genkan.rest("PUT", elsewhere, { from: await lastCall(genkan), expect: { outcome: "ok" } });
	await expect(panel.getByRole("status")).toHaveText("All 3 tests pass.");
	await genkan.rest("DELETE", elsewhere);
	await expect(panel.getByRole("status")).toHaveText("All 2 tests pass.");

	// They run with each change.
	await node(page, "hook").click();
	await script(page).click();
	await page.keyboard.press("Control+a");
	await page.keyboard.type("// nothing");
	await expect(panel.getByRole("status")).toHaveText("2 of 2 tests fail.");
	await panel.getByRole("button", { name: /No secret leaves/ }).click();
	await expect(panel.getByText("Whether something is changed")).toBeVisible();
	await expect(panel.getByText("expected: yes; was: no")).toBeVisible();
	await expect(panel).toContainText("expected: bench [x]; was:");
	await accessible(page);
	await page.emulateMedia({ colorScheme: "light" });

	// Enabling is refused with the server's reason; by force is a second step.
	await saved(page);
	await page.getByRole("button", { name: "Enable…" }).click();
	const bar = page.getByRole("region", { name: "Enable" });
	await expect(bar.getByText("2 of 2 tests fail.")).toBeVisible();
	await bar.getByRole("button", { name: "Shadow first" }).click();
	await bar.getByRole("button", { name: "Shadow in spite of failing tests" }).click();
	await expect(page.getByText(/^shadow: v/)).toBeVisible();
	await page.getByRole("button", { name: "Enable…" }).click();
	await expect(bar.getByText("2 of 2 tests fail.")).toBeVisible();
	// The mode of the draft changes, so that it is tried again; the refusal stays.
	const again = page.waitForResponse("**/v1/workflows/bench/backtest");
	await bar.getByRole("button", { name: "Enable", exact: true }).click();
	await (await again).finished();
	await expect(bar).toContainText(/fails the tests .No secret leaves.(,| and) .test-1./);
	await bar.getByRole("button", { name: "Enable in spite of failing tests" }).click();
	await expect(page.getByText(/^active: v/)).toBeVisible();
	await genkan.rest("POST", "/v1/workflows/bench/disable");

	// Deleted, and brought back.
	await page.getByRole("button", { name: "Tests", exact: true }).click();
	await panel.getByRole("button", { name: /^fails test-1/ }).click();
	await panel.getByRole("button", { name: "Delete it" }).click();
	await expect(panel.getByRole("status")).toHaveText("1 of 1 tests fails.");
	await page.getByRole("button", { name: "Undo" }).last().click();
	await expect(panel.getByRole("status")).toHaveText("2 of 2 tests fail.");
});

test("enabling says what the draft would have done; shadow watches, enable acts", async ({
	signedIn: page,
	genkan,
}) => {
	for (const text of ["live a", "live b", "live stop", "other"]) await echo(genkan, text);
	await put(
		genkan,
		hooked(
			"live",
			'if (ctx.request.params.arguments.text.includes("stop")) return { action: "deny", reason: "no" };\nmapText(ctx.response, (text) => text.toUpperCase())',
		),
	);
	await go(page, genkan, "workflows/live?panel=enable");
	const bar = page.getByRole("region", { name: "Enable" });
	await expect(bar).toContainText("1 tool (1 server).");
	await expect(bar).toContainText(
		/It is for 3 of the last \d+ calls that could be tried\. 1 call would be refused\. 2 calls would be changed\. 95% take at most [\d.]+ (ms|µs|s) longer\./,
	);

	await bar.getByRole("button", { name: "Shadow first" }).click();
	await expect(page.getByText("shadow: v2")).toBeVisible();
	await expect(page.getByRole("button", { name: "Undo" })).toBeDisabled(); // what is enabled is not undone
	expect(await echo(genkan, "live stop")).toContain("live stop");
	type Runs = { runs: { mode: string; outcome: string; changed: boolean; version: number }[] };
	const runs = () => genkan.rest<Runs>("GET", "/v1/workflows/live/runs");
	await expect
		.poll(async () => (await runs()).runs[0])
		.toMatchObject({ mode: "shadow", outcome: "denied", version: 2 });

	await page.getByRole("button", { name: "Enable…" }).click();
	await bar.getByRole("button", { name: "Enable", exact: true }).click();
	await expect(page.getByText("active: v3")).toBeVisible();
	expect(await echo(genkan, "live a")).toContain("LIVE A");
	expect(await echo(genkan, "live stop")).toContain("withholds the answer to this call: no");
	expect((await runs()).runs[0]).toMatchObject({ mode: "enforce", outcome: "denied", version: 3 });
	await expect(page.getByText("no changes to enable")).toBeVisible();

	// Shadow in place of a version that acts lets calls pass as they are, so it is asked about.
	await page.getByRole("button", { name: "Enable…" }).click();
	await bar.getByRole("button", { name: "Stop v3, only watch…" }).click();
	const question = page.getByRole("dialog", { name: "Stop v3, and only watch?" });
	await expect(question).toContainText("calls pass without the workflow until you enable it");
	await question.getByRole("button", { name: "Cancel" }).click();
	await expect(page.getByText("active: v3")).toBeVisible();
	expect(await echo(genkan, "live a")).toContain("LIVE A");
	await bar.getByRole("button", { name: "Stop v3, only watch…" }).click();
	await question.getByRole("button", { name: "Only watch from now on" }).click();
	await expect(page.getByText("shadow: v4")).toBeVisible();
	await genkan.rest("POST", "/v1/workflows/live/disable");
});

test("versions say their mode, and another mode is asked about", async ({ signedIn: page, genkan }) => {
	const code = replacing("secret", "[x]");
	await put(genkan, hooked("modes", code, { edges: [] }));
	await put(genkan, hooked("modes", code, { mode: "shadow" }), 1);
	await put(genkan, hooked("modes", code), 2);
	await enable(genkan, "modes");
	await go(page, genkan, "workflows/modes?panel=versions");
	const panel = page.getByRole("region", { name: "Versions" });
	await expect(panel.getByRole("button", { name: /^v3 active/ })).toBeVisible();

	// A version that cannot run changes nothing.
	await panel.getByRole("button", { name: /^v1 / }).click();
	await panel.getByRole("button", { name: "Roll back to it" }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Roll back to it" }).click();
	await expect(page.getByText(/cannot run/)).toBeVisible();
	expect(await versionsOf(genkan, "modes")).toEqual([3, 2, 1]);

	// The draft's mode is not the one in force.
	await panel.getByRole("button", { name: /^v2 shadow/ }).click();
	await panel.getByRole("button", { name: "Make it the draft" }).click();
	const dialog = page.getByRole("dialog");
	await expect(dialog).toContainText("v2 is in shadow mode, and the draft is not.");
	await dialog.getByRole("button", { name: "Make it the draft" }).click();
	await expect(panel.getByRole("button", { name: /^v4 draft shadow/ })).toBeVisible();
	await expect(page.getByText("active: v3")).toBeVisible();
	expect(await echo(genkan, "modes secret")).toContain("[x]");

	await panel.getByRole("button", { name: "Run it in shadow mode" }).click();
	await expect(dialog).toContainText("v2 only watches");
	await dialog.getByRole("button", { name: "Cancel" }).click();
	await expect(page.getByText("active: v3")).toBeVisible();
	await panel.getByRole("button", { name: "Run it in shadow mode" }).click();
	await dialog.getByRole("button", { name: "Run it in shadow mode" }).click();
	await expect(page.getByText(/v2 runs again, as v5\. It only watches: calls are not changed/)).toBeVisible();
	await expect(page.getByText("shadow: v5")).toBeVisible();
	await expect(panel.getByRole("button", { name: /^v5 shadow/ })).toBeVisible();
	expect(await echo(genkan, "modes secret")).toContain("secret");

	// What is stopped is not shown as if it ran.
	await page.getByRole("button", { name: "Stop" }).click();
	await expect(page.getByText("stopped", { exact: true })).toBeVisible();
	await expect(panel.getByRole("button", { name: /^v5 was in shadow/ })).toBeVisible();
});

test("enabling warns of calls that would be refused because the workflow fails", async ({ signedIn: page, genkan }) => {
	await echo(genkan, "fails here");
	const call = await lastCall(genkan);
	await put(genkan, hooked("fails", 'throw new Error("no")'));
	await go(page, genkan, "workflows/fails?panel=enable");
	const bar = page.getByRole("region", { name: "Enable" });
	await bar
		.getByRole("button", { name: "1 call would be refused or get no answer, because the workflow fails." })
		.click();
	await expect(page).toHaveURL(new RegExp(`call=${call}`));
	await expect(bar).toContainText("(example 1 of 1 is shown)");
	await accessible(page);
});

test("enabling says of how many calls the outcome is not known", async ({ signedIn: page, genkan }) => {
	await echo(genkan, "fetches here");
	await lastCall(genkan);
	await put(genkan, hooked("fetches", "await fetch('http://127.0.0.1:1/');"));
	await go(page, genkan, "workflows/fetches?panel=enable");
	const bar = page.getByRole("region", { name: "Enable" });
	await expect(bar.getByText("is not known: a script fetches something or calls a tool")).toBeVisible();
	await page.getByRole("button", { name: "Replay", exact: true }).click();
	await node(page, "hook").click();
	await expect(page.getByRole("region", { name: "Output" })).toContainText("not run, because a trial sends nothing");
});

test("the bar that enables opens below its button, above the drawing", async ({ signedIn: page, genkan }) => {
	await put(genkan, hooked("place", ""));
	await go(page, genkan, "workflows/place");
	const button = page.getByRole("button", { name: "Enable…" });
	await button.click();
	const bar = page.getByRole("region", { name: "Enable" });
	const enabling = bar.getByRole("button", { name: "Enable", exact: true });
	await expect(enabling).toBeVisible();
	const [above, place, below] = [
		await button.boundingBox(),
		await bar.boundingBox(),
		await page.locator("[data-canvas]").boundingBox(),
	];
	expect(place!.y - (above!.y + above!.height)).toBeLessThan(40);
	expect(place!.y + place!.height).toBeLessThanOrEqual(below!.y);
});

test("enabling is refused by the names of steps, and a click selects one", async ({ signedIn: page, genkan }) => {
	await put(genkan, hooked("named", ""));
	await go(page, genkan, "workflows/named?panel=enable");
	const bar = page.getByRole("region", { name: "Enable" });
	const enabling = bar.getByRole("button", { name: "Enable", exact: true });
	await expect(enabling).toBeEnabled();

	// The server refuses it before the editor has asked.
	const matches = { servers: 1, tools: 1, names: [] };
	await page.route("**/v1/workflows/validate", (route) =>
		route.fulfill({ json: { valid: true, problems: [], matches } }),
	);
	await node(page, "end").click();
	await page.keyboard.press("Delete");
	await expect(node(page, "end")).toHaveCount(0);
	await saved(page);
	await page.unroute("**/v1/workflows/validate");
	await enabling.click();
	await expect(bar).toContainText("1 problem keeps it from being enabled.");
	await bar.getByRole("button", { name: "Redact: nothing follows it; every path must reach an end" }).click();
	const name = page.getByRole("region", { name: "Settings" }).getByRole("textbox", { name: "Name" });
	await expect(name).toHaveValue("Redact");
	await accessible(page);

	// A step without a name is called as it is drawn.
	await page.locator("[data-canvas]").focus();
	await page.keyboard.press("Delete");
	await bar.getByRole("button", { name: "Call the tool: nothing follows it; every path must reach an end" }).click();
	await expect(name).toHaveAttribute("placeholder", "Call the tool");
});

test("a replay runs the draft with the answer of then, and sends nothing", async ({ signedIn: page, genkan }) => {
	await echo(genkan, "pinned answer");
	const call = await lastCall(genkan);
	await put(genkan, hooked("pinned", replacing("answer", "draft")));
	await go(page, genkan, `workflows/pinned?call=${call}`);
	const output = page.getByRole("region", { name: "Output" });
	await expect(output).toContainText("The answer goes back, changed.");
	await expect(output).toContainText("pinned draft");
	await node(page, "hook").click();
	await script(page).click();
	await page.keyboard.press("Control+a");
	await page.keyboard.type(replacing("answer", "second"));
	await expect(output).toContainText("pinned second");
	await page.getByRole("button", { name: "Replay" }).click();
	await expect(output).toContainText("pinned second");
	// What is sent is in the history.
	expect(await lastCall(genkan)).toBe(call);
});

test("the params of a hook module are a form made from its schema", async ({ signedIn: page, genkan }) => {
	await genkan.rest("PUT", "/v1/hook-modules/swap", {
		description: "Replaces a word.",
		script: "mapText(ctx.response, (text) => text.replaceAll(params.word, params.by))",
		params: {
			type: "object",
			required: ["word"],
			properties: {
				word: { type: "string", title: "Word", description: "What is replaced." },
				by: { type: "string", default: "***" },
			},
		},
	});
	await echo(genkan, "module secret");
	const call = await lastCall(genkan);
	await put(genkan, hooked("module", ""));
	await go(page, genkan, `workflows/module?call=${call}`);
	const settings = page.getByRole("region", { name: "Settings" });
	await node(page, "hook").click();
	await settings.getByText("More settings", { exact: true }).click();
	await page.getByRole("combobox", { name: "Which script" }).selectOption("swap");
	await settings.getByText("More settings", { exact: true }).click();
	await expect(page.getByText("Replaces a word.")).toBeVisible();
	await page.getByRole("textbox", { name: /Word/ }).fill("secret");
	await expect(page.getByRole("textbox", { name: "by" })).toHaveValue("***");
	await expect(page.getByRole("region", { name: "Output" })).toContainText("module ***");
	await saved(page);
	const stored = await genkan.rest<{ definition: { nodes: { id: string; data?: unknown }[] } }>(
		"GET",
		"/v1/workflows/module",
	);
	expect(stored.definition.nodes.find((one) => one.id === "hook")).toMatchObject({
		data: { hook: { module: "swap", params: { word: "secret", by: "***" } } },
	});
	await page.keyboard.press("Control+z");
	await expect(page.getByRole("textbox", { name: /Word/ })).toHaveValue("");
});

test("whoever leaves while a workflow is being enabled is not led back", async ({ signedIn: page, genkan }) => {
	await put(genkan, hooked("left", replacing("a", "b")));
	await go(page, genkan, "workflows/left?panel=enable");
	let answer = () => {};
	const left = new Promise<void>((resolve) => {
		answer = resolve;
	});
	await page.route("**/v1/workflows/left/enable", async (route) => {
		const response = await route.fetch();
		await left;
		await route.fulfill({ response });
	});
	const answered = page.waitForResponse("**/v1/workflows/left/enable");
	await page.getByRole("button", { name: "Enable", exact: true }).click();
	await page.getByRole("link", { name: "Calls", exact: true }).click();
	await expect(page.getByRole("heading", { name: "Calls" })).toBeVisible();
	answer();
	await (await answered).finished();
	await expect(page.getByText("Loading")).toHaveCount(0);
	await expect(page).toHaveURL(/\/calls$/);
});

test("late answers do not reach the workflow that was opened meanwhile", async ({ signedIn: page, genkan }) => {
	await put(genkan, hooked("late-one", replacing("a", "b")));
	await put(genkan, hooked("late-two", replacing("c", "d")));
	/** late holds the answer to a request back until the other workflow is open. */
	const late = async (address: string, ask: () => Promise<void>) => {
		let answer = () => {};
		const left = new Promise<void>((resolve) => {
			answer = resolve;
		});
		await page.route(address, async (route) => {
			const response = await route.fetch();
			await left;
			await route.fulfill({ response });
		});
		const answered = page.waitForResponse(address);
		await ask();
		await page
			.getByRole("navigation")
			.getByRole("link", { name: /^Workflows/ })
			.click();
		await page.getByRole("grid").getByText("late-two", { exact: true }).click();
		await expect(page.getByRole("heading", { level: 1, name: "late-two" })).toBeVisible();
		answer();
		await (await answered).finished();
		await page.unrouteAll({ behavior: "wait" }); // others may be held back, too
	};
	await go(page, genkan, "workflows/late-one?panel=enable");
	await late("**/v1/workflows/late-one/enable", () =>
		page.getByRole("button", { name: "Enable", exact: true }).click(),
	);
	await expect(page.getByRole("button", { name: "Stop", exact: true })).toBeDisabled();

	await go(page, genkan, "workflows/late-one");
	await expect(page.getByRole("heading", { level: 1, name: "late-one" })).toBeVisible();
	const file = { ...hooked("file", replacing("x", "y")), name: "From a file" };
	await late("**/v1/workflows/validate", () =>
		page
			.locator("input[type=file]")
			.setInputFiles({ name: "file.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(file)) }),
	);
	await node(page, "hook").click();
	await expect(page.getByRole("heading", { level: 1, name: "late-two" })).toBeVisible();
	expect(JSON.stringify(await genkan.rest("GET", "/v1/workflows/late-two"))).not.toContain("From a file");
});

test("a time limit is taken as it is written, or marked", async ({ signedIn: page, genkan }) => {
	await put(genkan, hooked("limited", replacing("a", "b")));
	await go(page, genkan, "workflows/limited");
	await node(page, "call").click();
	const limit = page.getByLabel("Time limit in ms");
	await limit.fill("1.5");
	await expect(page.getByText("Not saved: this must be a whole number.")).toBeVisible();
	await limit.fill("-20");
	await expect(page.getByText(/timeoutMs.*is negative/).first()).toBeVisible();
});

test("runs around real calls are painted on the drawing, and a change of the draft replays them", async ({
	signedIn: page,
	genkan,
}) => {
	await put(genkan, hooked("ran", replacing("secret", "[one]")));
	await enable(genkan, "ran");
	expect(await echo(genkan, "ran secret")).toContain("[one]");
	const call = await lastCall(genkan);

	// From the call to the drawing: what was done then, though nothing is left to be done.
	await go(page, genkan, `calls/${call}?tab=changes`);
	await page.getByRole("main").getByRole("link", { name: "ran", exact: true }).first().click();
	await expect(page).toHaveURL(new RegExp(`workflows/ran\\?run=${call}`));
	await expect(node(page, "hook")).toContainText("1 change");
	const output = page.getByRole("region", { name: "Output" });
	await expect(output).toContainText("What v1 did to this call.");
	await expect(output).toContainText("The workflow changed the call or its answer.");
	await node(page, "hook").click();
	await expect(output).toContainText("/response/content/0/text");
	await expect(output).toContainText("+ran [one]");
	await expect(output).toContainText(/1 run, p50 .*, p95 /);

	// Another run, in the panel as soon as it was.
	await page.getByRole("button", { name: "Runs" }).click();
	const runs = page.getByRole("region", { name: "Runs" }).getByRole("listitem");
	await expect(runs).toHaveCount(1);
	expect(await echo(genkan, "ran without")).toContain("ran without");
	await expect(runs).toHaveCount(2);
	await runs.first().getByRole("button").click();
	await expect(page).toHaveURL(new RegExp(`run=${await lastCall(genkan)}`));
	await expect(runs.first()).toContainText(/unchanged.*v1/);
	await expect(output).toContainText("It changed nothing.");
	await accessible(page);

	await script(page).fill(replacing("without", "[two]"));
	await expect(node(page, "hook")).toContainText("1 change");
	await expect(output.getByText(/What v\d/)).toHaveCount(0);
	await runs.first().getByRole("button").click();
	await expect(output).toContainText("What v1 did to this call.");

	// What a replay answers after another run was chosen does not take the run's place.
	let answer = () => {};
	const held = new Promise<void>((done) => (answer = done));
	await page.route("**/v1/workflows/ran/replay", async (route) => {
		await held;
		await route.continue();
	});
	const asked = page.waitForRequest("**/v1/workflows/ran/replay");
	await page.getByRole("button", { name: "Replay", exact: true }).click();
	await asked;
	await runs.last().getByRole("button").click();
	await expect(page).toHaveURL(new RegExp(`run=${call}`));
	await expect(output).toContainText("What v1 did to this call.");
	const answered = page.waitForResponse("**/v1/workflows/ran/replay");
	answer();
	await (await answered).finished();
	await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
	await expect(output).toContainText("What v1 did to this call.");
});

test.describe("tests", () => {
	test.use({ provoked: /^503 POST .*\/tests$/ });

	test("run whenever the draft changes and when Genkan is back, and the header tells of those that fail", async ({
		signedIn: page,
		genkan,
	}) => {
		await put(genkan, hooked("watch", replacing("secret", "[one]")));
		await echo(genkan, "watch secret");
		const expected = { outcome: "ok", responseContains: "[one]" };
		await genkan.rest("PUT", "/v1/workflows/watch/tests/redacts", { from: await lastCall(genkan), expect: expected });
		await go(page, genkan, "workflows/watch");
		await node(page, "hook").click();
		await script(page).fill(replacing("secret", "[two]"));
		await page.getByRole("button", { name: "1 test fails" }).click();
		await expect(page.getByRole("region", { name: "Tests" })).toContainText("1 of 1 tests fails.");
		// Genkan was away; they run again when it is back.
		await page.clock.install();
		await page.route("**/v1/workflows/watch/tests", (route) =>
			route.request().method() === "POST" ? route.fulfill({ status: 503, json: { error: "Away." } }) : route.fallback(),
		);
		await script(page).fill(replacing("secret", "[one]"));
		await page.clock.runFor(1000);
		await expect(page.getByRole("region", { name: "Tests" })).toContainText("Away.");
		await expect(page.getByRole("button", { name: "1 test fails" })).toBeVisible();
		await page.unroute("**/v1/workflows/watch/tests");
		await page.clock.runFor(5000);
		await expect(page.getByRole("button", { name: "1 test fails" })).toHaveCount(0);
	});
});

test.describe("Genkan is away for a while", () => {
	test.use({ provoked: /./ });

	test("what could not be asked then is asked when it is back", async ({ signedIn: page, genkan }) => {
		await put(genkan, hooked("returns", replacing("secret", "[one]")));
		await echo(genkan, "returns secret");
		await go(page, genkan, "workflows/returns");
		const output = page.getByRole("region", { name: "Output" });
		await page.getByRole("button", { name: "Replay", exact: true }).click();
		await expect(output).toContainText("The answer goes back, changed.");
		await page.context().setOffline(true);
		await page.getByRole("button", { name: "Enable…" }).click();
		await page.getByRole("button", { name: "Replay", exact: true }).click();
		const enable = page.getByRole("region", { name: "Enable" });
		const gone = "Genkan does not answer.";
		await expect(enable).toContainText(gone);
		await expect(output).toContainText(gone);
		await page.context().setOffline(false);
		// The stream of events breaks and begins anew, as another tab that has it would tell.
		const channel = `genkan.events.en.${new URL("..", genkan.ui).href}`;
		await page.evaluate((name) => {
			for (const connected of [false, true]) new BroadcastChannel(name).postMessage({ connected });
		}, channel);
		await expect(enable).toContainText("of the last");
		await expect(output).toContainText("The answer goes back, changed.");
	});
});

test("what a workflow of lists did is painted, and texts say how it is tried", async ({ signedIn: page, genkan }) => {
	await put(genkan, {
		id: "lists",
		name: "lists",
		workflowType: "tools/list",
		nodes: [
			{ id: "start", type: "start" },
			{ id: "call", type: "mcp-call" },
			{ id: "end", type: "end" },
		],
		edges: [
			{ source: "start", target: "call" },
			{ source: "call", target: "end" },
		],
	} as never);
	await enable(genkan, "lists");
	const args = ["stdio", "--client", "cursor", "--data", genkan.data];
	await (await genkan.client({ command: genkan.genkan, args })).listTools();
	await go(page, genkan, "workflows/lists?panel=runs");
	await expect(page.getByRole("region", { name: "Input" })).toContainText("runs when a client lists its tools");
	await page.keyboard.press("Control+Enter");
	await expect(page.getByRole("status").filter({ hasText: "keeps no lists" }).first()).toBeVisible();
	await page.getByRole("region", { name: "Runs" }).getByRole("listitem").first().getByRole("button").click();
	const output = page.getByRole("region", { name: "Output" });
	await expect(output).toContainText("What v1 did to a list of tools.");
	await expect(output).toContainText("The list stayed as it was.");
	await expect(node(page, "call")).toContainText("✓");
	await page.getByRole("button", { name: "Enable…" }).click();
	await expect(page.getByRole("region", { name: "Enable" })).toContainText("try it in shadow");
	await genkan.rest("DELETE", "/v1/workflows/lists");
});
