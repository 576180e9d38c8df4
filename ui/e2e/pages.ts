import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, type Page } from "@playwright/test";
import { asked, bin, type Genkan } from "./genkan";
import { japanese, wordsIn } from "./words";

/** Place is a view of the UI: its address below /ui/, and what opens the rest of it. */
export type Place = { name: string; path: string; open?: (page: Page) => Promise<unknown> };

/** fill gives Genkan something of everything to show, and returns all places of its pages in
 * a language. */
export async function fill(genkan: Genkan, lang: "en" | "ja" = "en"): Promise<Place[]> {
	const t = wordsIn(lang);
	const press =
		(...name: Parameters<typeof t>) =>
		(page: Page) =>
			page
				.getByRole("button", { name: t(...name), exact: true })
				.first()
				.click();
	const choose =
		(button: string, item: string) =>
		async (page: Page): Promise<void> => {
			await page
				.getByRole("main")
				.getByRole("button", { name: t(button), exact: true })
				.click();
			await page.getByRole("menuitem", { name: t(item) }).click();
		};
	await genkan.ready();
	mkdirSync(join(genkan.home, ".cursor"), { recursive: true });
	const fault = { command: join(bin, "faultserver") };
	writeFileSync(join(genkan.home, ".cursor", "mcp.json"), JSON.stringify({ mcpServers: { fault, other: fault } }));
	await genkan.rest("POST", "/v1/servers", { name: "mine", ...fault });
	await genkan.rest("POST", "/v1/servers", {
		name: "broken",
		command: join(bin, "faultserver"),
		args: ["-mode", "crash-loop"],
	});
	await genkan.rest("PUT", "/v1/secrets/KEY", { value: "x" });
	await genkan.rest("POST", "/v1/tokens", { name: "ci" });
	await genkan.rest("POST", "/v1/workflow-templates", { template: "redact" });
	await genkan.rest("POST", "/v1/workflows/redact/enable", {});
	await genkan.rest("PUT", "/v1/hook-modules/label1", {
		script: "ctx.response.label1 = params.label1;",
		description: "Tags each answer.",
		params: { properties: { label1: { type: "string" } } },
	});
	const item = await genkan.rest<{ type: string; id: number }>("POST", "/v1/items", {
		type: "docs",
		title: "Design",
		content: "# Storage\n\n| a | b |\n|---|---|\n| 1 | 2 |",
		tags: ["storage"],
	});
	const ref = `${item.type}-${item.id}`;
	await genkan.rest("POST", "/v1/items", { type: "notes", title: "A note", related: [ref] });
	await genkan.rest("PUT", "/v1/state", { content: "## Now" });
	await genkan.rest("POST", "/v1/tools/search", { query: "add two numbers sum" });
	await genkan.call("everything__get-sum", { a: 1, b: 2 });
	await genkan.call("fault__count");
	await genkan.call("fault__add_tool", { name: "changing", description: "Before." });
	await genkan.call("fault__add_tool", { name: "changing", description: "After." });
	await genkan.call("fault__raw", { error_json: '{"code":-32000,"message":"The disk is full."}' });
	await genkan.call("fault__echo", { text: "Mail aiko@example.jp" });
	const { calls } = await genkan.rest<{ calls: { id: string; tool?: string }[] }>("GET", "/v1/calls?limit=20");
	const idOf = (tool: string) => calls.find((one) => one.tool === tool)!.id;
	const [echo, count, raw] = [idOf("fault__echo"), idOf("fault__count"), idOf("fault__raw")];
	return [
		{ name: "calls", path: "calls" },
		{ name: "calls, filtered to nothing", path: "calls?text=nothing-has-this" },
		{ name: "first steps", path: "calls?start=1" },
		{ name: "first steps, import", path: "calls?start=1", open: press("Import") },
		{ name: "first steps, change", path: "calls?start=1", open: press("Show the change") },
		{ name: "call", path: `calls/${echo}` },
		{ name: "call, changes", path: `calls/${echo}?tab=changes` },
		{ name: "call, raw", path: `calls/${echo}?tab=raw` },
		{ name: "call, copy", path: `calls/${echo}`, open: press("Copy as") },
		{ name: "call, failed", path: `calls/${raw}` },
		{ name: "call, run again", path: `calls/${count}`, open: press("Run again") },
		{ name: "servers", path: "servers" },
		{ name: "servers, add", path: "servers?add=form", open: press("Add a variable") },
		{
			name: "servers, paste",
			path: "servers?add=form",
			open: (page) => page.getByRole("tab", { name: t("Paste JSON") }).click(),
		},
		{ name: "servers, import", path: "servers?add=import" },
		{ name: "server", path: "servers/everything" },
		{ name: "server, down", path: "servers/broken" },
		{ name: "server, log", path: "servers/broken?part=log" },
		{ name: "server, changes", path: "servers/fault?part=changes" },
		{ name: "server, definition", path: "servers/fault?part=definition" },
		{ name: "server, change", path: "servers/mine", open: choose("More", "Change") },
		{ name: "server, remove", path: "servers/mine", open: choose("More", "Remove") },
		{ name: "tools", path: "tools" },
		{ name: "tools, search", path: "tools?q=add two numbers" },
		{ name: "tool", path: "tools/everything__get-sum" },
		{ name: "tool, schema", path: "tools/everything__get-sum?part=schema" },
		{ name: "tool, about", path: "tools/everything__get-sum?part=about" },
		{
			name: "tool, run",
			path: "tools/fault__crash",
			// It asks after its input was checked.
			open: (page) => press("Run")(page).then(() => page.getByRole("dialog").waitFor()),
		},
		{ name: "workflows", path: "workflows" },
		{ name: "workflows, templates", path: "workflows?template=all" },
		{ name: "workflows, template", path: "workflows?template=deny-argument" },
		{ name: "workflows, kill switch", path: "workflows", open: press("Kill switch") },
		{ name: "hook modules", path: "modules" },
		{ name: "hook module", path: "modules/label1" },
		{ name: "hook module, new", path: "modules/@new" },
		{ name: "hook module, delete", path: "modules/label1", open: press("Delete") },
		{ name: "workflow", path: `workflows/redact?call=${echo}` },
		{ name: "workflow, enable", path: "workflows/redact?panel=enable" },
		{ name: "workflow, tests", path: "workflows/redact?panel=tests" },
		{ name: "workflow, runs", path: "workflows/redact?panel=runs" },
		{ name: "workflow, versions", path: "workflows/redact?panel=versions" },
		{ name: "knowledge", path: "knowledge" },
		{ name: "knowledge, item", path: `knowledge/${ref}` },
		{ name: "knowledge, graph", path: `knowledge/${ref}?view=graph` },
		{ name: "knowledge, edit", path: `knowledge/${ref}`, open: press("Edit") },
		{ name: "knowledge, new", path: "knowledge/new" },
		{ name: "knowledge, state", path: "knowledge/state" },
		{ name: "clients", path: "clients" },
		{ name: "clients, connect", path: "clients", open: press("Connect") },
		{ name: "clients, revoke", path: "clients", open: press("Revoke") },
		{ name: "charts", path: "charts" },
		{ name: "settings", path: "settings" },
		...["history", "limits", "knowledge", "connected", "learned", "backup", "doctor"].map((part) => ({
			name: `settings, ${part}`,
			path: `settings/${part}`,
		})),
		{ name: "settings, secrets", path: "settings/secrets" },
		{ name: "settings, delete a secret", path: "settings/secrets", open: press("Delete {name}", { name: "KEY" }) },
		{ name: "palette", path: "calls", open: (page) => page.keyboard.press("Control+k") },
		{ name: "keys", path: "calls", open: (page) => page.keyboard.press("?") },
		{ name: "no such page", path: "nowhere" },
	];
}

/** settled waits until the page has drawn what it asked for, and asks for nothing any more. */
export async function settled(page: Page): Promise<void> {
	await page.getByRole("main").getByRole("heading").first().waitFor();
	const loading = ["Loading", japanese.Loading].map((name) => `main [role=status][aria-label=${name}]`).join();
	do {
		await page.waitForFunction((busy) => !document.querySelector(busy), `${loading}, [aria-busy=true]`);
		await expect.poll(() => asked(page).size, { intervals: [20] }).toBe(0);
		await idle(page);
	} while (asked(page).size > 0);
}

/** idle waits until the page has done what it had to do, such as listening for keys. */
export const idle = (page: Page): Promise<unknown> =>
	page.evaluate(() => new Promise((done) => requestIdleCallback(() => done(true))));
