import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { top } from "./build";
import { expect, type Genkan, go, pictures, test } from "./genkan";

// Takes a picture of every page, in both themes, wide and narrow, with calls of real
// servers in it.
test("pictures of all pages", async ({ signedIn: page, genkan }) => {
	const dir = join(top, "docs/images");
	mkdirSync(dir, { recursive: true });
	await go(page, genkan, "calls");
	await page.waitForTimeout(1000);
	await pictures(page, dir, "welcome");
	const call = await fill(genkan);
	for (const [name, path] of [
		["calls", "calls"],
		["call", `calls/${call}`],
		["servers", "servers"],
		["server", "servers/everything"],
		["add-server", "servers?add=form"],
		["tools", "tools?q=add two numbers"],
		["tool", "tools/everything__get-sum"],
		["workflows", "workflows"],
		["templates", "workflows?template=all"],
		["editor", `workflows/redact?call=${call}`],
		["knowledge", "knowledge"],
		["clients", "clients"],
		["charts", "charts"],
		["settings", "settings"],
	] as const) {
		await go(page, genkan, path);
		await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
		await page.waitForTimeout(1200);
		await pictures(page, dir, name);
	}
});

/** fill makes calls, items and workflows, as a day of work would. It returns a call that a
 * workflow changed. */
async function fill(genkan: Genkan): Promise<string> {
	await genkan.rest("POST", "/v1/workflow-templates", { template: "redact" });
	await genkan.rest("POST", "/v1/workflows/redact/enable", {});
	await genkan.rest("POST", "/v1/workflow-templates", { template: "deny-destructive" }).catch(() => undefined);
	for (let i = 0; i < 14; i++)
		await genkan.call("files__read_text_file", { path: join(genkan.home, "files/hello.txt") });
	await genkan.call("everything__get-sum", { a: 19, b: 23 });
	await genkan.call("everything__get-tiny-image");
	await genkan.call("everything__get-sum", { a: "many" });
	await genkan.call("create_item", {
		type: "decisions",
		title: "Sessions last seven days",
		content: "Idle sessions end after **seven days**.",
		tags: ["auth"],
	});
	await genkan.call("everything__echo", { message: "Mail aiko@example.jp or call 090-1234-5678." });
	const { calls } = await genkan.rest<{ calls: { id: string; tool?: string }[] }>("GET", "/v1/calls?limit=20");
	return calls.find((one) => one.tool === "everything__echo")!.id;
}
