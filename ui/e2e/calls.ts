import type { Locator, Page } from "@playwright/test";
import type { Genkan } from "./genkan";

// What the specs of calls share.

export const rows = (page: Page) => page.getByRole("grid", { name: "Calls" }).getByRole("row");
export const row = (page: Page, text: string) => rows(page).filter({ hasText: text });
/** open opens the call of a row by a click on its time, which filters nothing. */
export const open = (row: Locator) => row.getByRole("time").click();
export const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

/** askBefore makes a workflow that asks a person before a tool is called. */
export async function askBefore(genkan: Genkan, tool: string): Promise<void> {
	await genkan.rest("PUT", "/v1/workflows/ask", {
		id: "ask",
		name: "Ask",
		workflowType: "tools/call",
		match: { tools: [tool] },
		nodes: [
			{ id: "start", type: "start" },
			{ id: "person", type: "approve", data: { message: "Is that right?" } },
			{ id: "call", type: "mcp-call" },
			{ id: "end", type: "end" },
			{ id: "no", type: "end", data: { outcome: "deny", message: "A person said no." } },
		],
		edges: [
			{ source: "start", target: "person" },
			{ source: "person", target: "call" },
			{ source: "person", target: "no", sourceHandle: "denied" },
			{ source: "call", target: "end" },
		],
	});
	await genkan.rest("POST", "/v1/workflows/ask/enable", {});
}
