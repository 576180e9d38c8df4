import type { Page } from "@playwright/test";
import { expect, type Genkan, go, telling, test } from "./genkan";
import { idle, settled } from "./pages";

// What others name and say is text, wherever it is shown.
const evil = (n: number) => `<img src=x${n} onerror=alert(${n})>`;
const names = {
	tool: evil(1),
	description: `${evil(2)} **bold** <script>alert(3)</script> [link](javascript:alert(4)) ![](http://127.0.0.1:9/x5)`,
	title: evil(6),
	property: evil(7),
	result: `${evil(8)}\n\n# Heading ${evil(9)}\n\n<iframe src=x10></iframe><svg onload=alert(11)></svg>`,
	instructions: evil(12),
	item: evil(13),
	content: `# Item\n\n${evil(14)} <a href="javascript:alert(15)">go</a> <style>*{display:none}</style>`,
	tag: "<b>x16</b>",
	workflow: evil(17),
	step: evil(18),
	argument: evil(19),
	state: evil(20),
};

const links =
	"[one](/v1/backup) [two](../v1/backup) [three](#x) [four](?q=1) [five](https://example.com/a) [six](mailto:a@example.com)\n\n- [x] done\n- [ ] open";

test.use({
	config: JSON.stringify({
		mcpServers: {
			evil: telling({
				instructions: names.instructions,
				says: "\u001b[31mred\u001b[0m \u001b]8;;http://127.0.0.1:9/x23\u0007a link\u001b]8;;\u0007 safe\u202e turned",
				tools: [
					{
						name: names.tool,
						title: names.title,
						description: names.description,
						inputSchema: {
							type: "object",
							properties: { text: { type: "string", title: names.property, description: names.description } },
						},
						result: { content: [{ type: "text", text: names.result }] },
					},
					{
						name: "links",
						description: links,
						inputSchema: {
							type: "object",
							properties: {
								text: { type: "string", title: "a", description: `https://example.com/${"a".repeat(300)}` },
							},
						},
						result: { content: [{ type: "text", text: links }] },
					},
				],
			}),
		},
		kb: { enabled: true },
	}),
});

/** fill stores what is shown. */
async function fill(genkan: Genkan): Promise<{ tool: string; call: string; item: string }> {
	const { tools } = await genkan.rest<{ tools: { name: string }[] }>("GET", "/v1/tools?server=evil");
	const tool = tools[0]!.name;
	const { type, id } = await genkan.rest<{ type: string; id: number }>("POST", "/v1/items", {
		type: "notes",
		title: names.item,
		content: names.content,
		tags: [names.tag],
	});
	await genkan.rest("PUT", "/v1/state", { content: names.state });
	await genkan.rest("PUT", "/v1/workflows/evil", {
		id: "evil",
		name: names.workflow,
		description: names.description,
		workflowType: "tools/call",
		match: { servers: ["evil"] },
		nodes: [
			{ id: "start", type: "start" },
			{
				id: "say",
				type: "hook",
				data: { label: names.step, hook: { blocking: true, script: `console.log(${JSON.stringify(evil(21))})` } },
			},
			{ id: "call", type: "mcp-call" },
			{ id: "end", type: "end" },
		],
		edges: [
			{ source: "start", target: "say" },
			{ source: "say", target: "call" },
			{ source: "call", target: "end" },
		],
	});
	await genkan.rest("POST", "/v1/workflows/evil/enable", {});
	await genkan.call(tool, { text: names.argument });
	await genkan.call(evil(22));
	const { calls } = await genkan.rest<{ calls: { id: string; tool?: string }[] }>("GET", "/v1/calls?limit=20");
	return { tool, call: calls.find((one) => one.tool === tool)!.id, item: `${type}-${id}` };
}

/** textOnly fails if what is shown became elements: fields and pages that show it are
 * named, so that a spec that shows nothing fails, too. */
async function textOnly(page: Page, ...shown: string[]): Promise<void> {
	for (const text of shown) await expect(page.locator("body")).toContainText(text.slice(0, 24));
	expect(
		await page.evaluate(() =>
			[
				...document.querySelectorAll(
					"img, iframe, script:not([src]), style, [onerror], [onload], a[href^='javascript:']",
				),
			]
				.filter((element) => !element.closest("svg") && element.getAttribute("src")?.startsWith("data:") !== true)
				.map((element) => element.outerHTML.slice(0, 100)),
		),
	).toEqual([]);
}

test("a tool named <img onerror> and all else that others write is text on every page", async ({
	genkan,
	signedIn: page,
}) => {
	const asked: string[] = [];
	page.on("request", (request) => {
		if (/\/x\d+$/.test(request.url())) asked.push(request.url());
	});
	const { tool, call, item } = await fill(genkan);
	const open = async (path: string, ...shown: string[]) => {
		await go(page, genkan, path);
		await expect(page.getByRole("main").getByRole("heading").first()).toBeVisible();
		await textOnly(page, ...shown);
	};
	const one = encodeURIComponent(tool); // Genkan has given it a name that clients accept
	await open("calls", tool.replace("evil__", ""), evil(22));
	await open(`calls/${call}`, names.argument, evil(8));
	await page.getByRole("button", { name: "JSON" }).last().click();
	await textOnly(page, evil(8));
	await open(`calls/${call}?tab=changes`, evil(21));
	await open(`calls/${call}?tab=raw`, evil(8));
	await open("servers", "evil");
	await open("servers/evil", tool, names.description);
	await open("servers/evil?part=log", `called ${names.tool}`);
	await open("servers/evil?part=definition", "evil");
	await open("tools", tool);
	await open("tools?q=bold", tool);
	await open(`tools/${one}`, tool, evil(2), names.property);
	await page.getByRole("button", { name: "Run" }).click();
	await textOnly(page, evil(8));
	await open(`tools/${one}?part=schema`, names.property);
	await open(`tools/${one}?part=about`, tool);
	await open("workflows", names.workflow, evil(2));
	await open("workflows/evil", names.workflow, names.step);
	await open(`workflows/evil?call=${call}`, names.argument);
	await open("knowledge", names.item, names.tag);
	await open("knowledge?q=onerror", names.item);
	await open(`knowledge/${item}`, names.item, evil(14), "<style>");
	await open(`knowledge/${item}?view=graph`, names.item);
	await open("knowledge/state", names.state);
	await open("charts", tool.replace("evil__", ""));
	await open("clients");
	for (const part of ["", "/history", "/learned", "/doctor"]) await open(`settings${part}`);
	await idle(page);
	await page.keyboard.press("Control+k");
	await page.getByRole("combobox").fill("onerror");
	await expect(page.getByRole("option").first()).toBeVisible();
	await textOnly(page, names.workflow);
	expect(asked).toEqual([]);
});

test("colours of a terminal are not in a server's log, and what turns a line round is written out", async ({
	genkan,
	signedIn: page,
}) => {
	await go(page, genkan, "servers/evil?part=log");
	await expect(page.locator("pre")).toContainText("red a link safe[U+202E] turned");
	const tried = await genkan.rest("POST", "/v1/servers/test", {
		command: "sh",
		args: ["-c", "printf '\\033[31mit is broken\\033[0m\\n' >&2; exit 1"],
	});
	expect(tried).toMatchObject({ success: false, output: ["it is broken"] });
});

test("a link of others leads out of Genkan, or is text", async ({ genkan, signedIn: page }) => {
	const tool = `tools/${(await genkan.rest<{ tools: { name: string }[] }>("GET", "/v1/tools?server=evil")).tools[1]!.name}`;
	await go(page, genkan, tool);
	const shown = page.locator(".prose");
	const check = async (which: number) => {
		await expect(shown.nth(which)).toContainText("one two three four five six");
		await expect(shown.nth(which).getByRole("listitem")).toHaveText([/^☑\s+done$/, /^☐\s+open$/]);
		await expect(shown.nth(which).getByRole("listitem").first()).toHaveCSS("list-style-type", "none");
		await expect(shown.nth(which).getByRole("link")).toHaveText(["five", "six"]);
		await expect(shown.nth(which).getByText("five")).toHaveAttribute("rel", "noopener noreferrer");
		await expect(shown.nth(which).getByText("five")).toHaveAttribute("target", "_blank");
	};
	await check(0);
	await page.getByRole("button", { name: "Run" }).click();
	await check(1);
});

test("a long word in the description of a parameter keeps the page within a phone", async ({
	genkan,
	signedIn: page,
}) => {
	await page.setViewportSize({ width: 390, height: 844 });
	const tool = `tools/${(await genkan.rest<{ tools: { name: string }[] }>("GET", "/v1/tools?server=evil")).tools[1]!.name}`;
	for (const part of ["", "?part=schema", "?part=about"]) {
		await go(page, genkan, tool + part);
		await settled(page);
		await expect(page.locator(".prose").first()).toContainText("one two three");
		if (part !== "?part=about") await expect(page.getByRole("main")).toContainText("a".repeat(300));
		expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
	}
});

test("a text or a schema that takes for ever to read keeps no page from working", async ({
	genkan,
	signedIn: page,
}) => {
	const many = Array.from({ length: 12 }, () => '{"$ref":"#/properties/a"}').join();
	const bomb = `{"type":"object","properties":{"a":{"allOf":[${many}]}}}`;
	const told = { tools: [{ name: "bomb", inputSchema: JSON.parse(bomb) }] };
	await genkan.rest("POST", "/v1/servers", { name: "bombs", ...telling(told) });
	await genkan.ready();
	const works = async () => {
		await page.keyboard.press("Control+k");
		await expect(page.getByRole("dialog")).toBeVisible();
		await page.keyboard.press("Escape");
	};
	await go(page, genkan, "tools/bombs__bomb");
	await expect(page.getByText("too large for a form")).toBeVisible();
	await works();
	for (const content of ["a-_".repeat(30_000), "> ".repeat(20_000), `# Long\n\n${"A line of a text. ".repeat(1000)}`]) {
		const item = await genkan.rest<{ id: number }>("POST", "/v1/items", { type: "docs", title: "Notes", content });
		await go(page, genkan, `knowledge/docs-${item.id}`);
		await expect(page.getByRole("heading", { name: "Notes" })).toBeVisible();
		await works();
		if (content.startsWith("#")) await expect(page.getByRole("heading", { name: "Long" })).toBeVisible();
		else await expect(page.getByText(content.slice(0, 60).trim())).toBeVisible();
	}
});

test("an answer of very many parts does not stop the page, and one worker reads them", async ({
	genkan,
	signedIn: page,
}) => {
	const started = page.evaluate.bind(page, () => (window as unknown as { started: number }).started);
	await page.addInitScript(() => {
		const counted = window as unknown as { started: number };
		counted.started = 0;
		const Real = Worker;
		window.Worker = class extends Real {
			constructor(...args: ConstructorParameters<typeof Worker>) {
				super(...args);
				counted.started++;
			}
		};
	});
	const answer = async (part: (i: number) => string, count: number) => {
		const content = Array.from({ length: count }, (_, i) => ({ type: "text", text: part(i) }));
		await page.unroute(/\/v1\/tools\/call$/);
		await page.route(/\/v1\/tools\/call$/, (route) =>
			route.fulfill({ json: { success: true, executionTime: 1, result: { content } } }),
		);
		await go(page, genkan, `tools/${tool}`);
		await page.getByRole("button", { name: "Run" }).click();
	};
	const { tools } = await genkan.rest<{ tools: { name: string }[] }>("GET", "/v1/tools?server=evil");
	const tool = tools[1]!.name;
	await answer((i) => `# Part ${i}\n\n**bold** ${"A line of a text. ".repeat(300)}`, 300);
	await expect(page.getByRole("heading", { name: /^Part/ })).toHaveCount(20);
	expect(await started()).toBe(1);
	await page.getByRole("button", { name: "Show as Markdown" }).first().click();
	await expect(page.getByRole("heading", { name: "Part 20" })).toBeVisible();
	expect(await started()).toBe(1);
	// Those that take too long stay as they are written, and the page works meanwhile.
	await answer((i) => `# Part ${i}\n\n**b** ${"a-_".repeat(i % 2 ? 1300 : 20_000)}`, 100);
	await expect(page.getByText("# Part 99")).toBeVisible();
	await page.keyboard.press("Control+k");
	await expect(page.getByRole("dialog")).toBeVisible({ timeout: 2000 });
	expect(await started()).toBeLessThan(12); // one more for each that it gave up
});
