import { node } from "./editor";
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
