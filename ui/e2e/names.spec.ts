import { canvas, node, plain, put } from "./editor";
import { expect, go, telling, test } from "./genkan";

const tool = { name: "my__tool", description: "Says what it was given." };
test.use({ config: JSON.stringify({ mcpServers: { bare: { ...telling({ tools: [tool] }), prefix: "" } } }) });

test("a workflow around a tool names it as its server does", async ({ genkan, signedIn: page }) => {
	await genkan.ready();
	await genkan.call("my__tool", { text: "hello" });
	await go(page, genkan, "tools/my__tool");
	await page.getByRole("link", { name: "Draw one" }).click();
	await expect(page.getByLabel("Tools", { exact: true })).toHaveValue("bare__my__tool");
	const input = page.getByRole("region", { name: "Input" });
	await expect(input.getByTitle("Write args.text")).toBeVisible();
	await node(page, "call").click();
	await expect(input.getByText('"my__tool"')).toBeVisible();
});

test("names of servers, modules and files are where they are looked for", async ({ genkan, signedIn: page }) => {
	const hook = {
		id: "hook",
		type: "hook",
		data: { label: "Redact", hook: { blocking: true, template: "redact", params: {} } },
	};
	await genkan.rest("PUT", "/v1/hook-modules/shared-one", { description: "Shouts", script: "1" });
	await put(genkan, {
		...plain("workflow", [hook]),
		name: "My own / 自分の",
		edges: [
			{ source: "start", target: "call" },
			{ source: "call", target: "hook" },
			{ source: "hook", target: "end" },
		],
	} as never);
	await go(page, genkan, "workflows/workflow");
	// What is wrong with the tools stands there, not at the servers.
	await page.getByLabel("Tools", { exact: true }).fill("nope__x");
	await expect(page.getByLabel("Tools", { exact: true })).toHaveAccessibleDescription("No server is called “nope”.");
	await expect(page.getByLabel("Servers", { exact: true })).toHaveAccessibleDescription("");
	// The panes scroll, the page does not.
	await page.setViewportSize({ width: 1280, height: 600 });
	await node(page, "hook").click();
	await expect(page.getByRole("region", { name: "Settings" }).getByRole("group").first()).toBeVisible();
	expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).toBe(0);
	await page.getByRole("button", { name: "File" }).click();
	const download = page.waitForEvent("download");
	await page.getByRole("menuitem", { name: "Export to a file" }).click();
	expect((await download).suggestedFilename()).toBe("My-own-自分の.json");
	await canvas(page).click({ position: { x: 5, y: 5 } });
	await page.keyboard.press("Control+k");
	await page.getByRole("dialog").getByRole("combobox").fill("shouts");
	await page.getByRole("option", { name: /shared-one/ }).click();
	await expect(page).toHaveURL(/modules\/shared-one$/);
});
