import type { Page } from "@playwright/test";
import { expect, type Genkan, go, telling, test } from "./genkan";
import { idle } from "./pages";

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

test.use({
	config: JSON.stringify({
		mcpServers: {
			evil: telling({
				instructions: names.instructions,
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
