import { join } from "node:path";
import type { Page } from "@playwright/test";
import { bin } from "./build";
import { expect, type Genkan } from "./genkan";

// What the specs of the editor share.

/** faultOnly is a configuration with one server. */
export const faultOnly = JSON.stringify({ mcpServers: { fault: { command: join(bin, "faultserver") } } });

type Stored = {
	newestVersion: number;
	definition: {
		nodes: {
			id: string;
			position: { x: number; y: number };
			data?: { hook?: { script: string; template?: string } };
		}[];
		edges: { source: string; sourceHandle?: string; target: string }[];
	};
};

export const stored = (genkan: Genkan, id: string) => genkan.rest<Stored>("GET", `/v1/workflows/${id}`);
export const put = (genkan: Genkan, definition: { id: string }) =>
	genkan.rest("PUT", `/v1/workflows/${definition.id}`, definition);
export const node = (page: Page, id: string) => page.locator(`[data-node="${id}"]`);
export const canvas = (page: Page) => page.locator("[data-canvas]");
export const handle = (page: Page, id: string, way: string) =>
	page.locator(`.react-flow__node[data-id="${id}"] .react-flow__handle[data-handleid="${way}"]`);
export const saved = (page: Page) => expect(page.getByText(/^draft, saved/)).toBeVisible();

/** edges are those of the stored draft, as text. */
export const edges = async (genkan: Genkan, id: string) =>
	(await stored(genkan, id)).definition.edges
		.map((e) => `${e.source}${e.sourceHandle ? `.${e.sourceHandle}` : ""} ${e.target}`)
		.sort();

/** drag drags from the middle of one thing to the middle of another. */
export async function drag(page: Page, from: { x: number; y: number }, to: { x: number; y: number }): Promise<void> {
	await page.mouse.move(from.x, from.y);
	await page.mouse.down();
	await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 4 });
	await page.mouse.move(to.x, to.y, { steps: 4 });
	await page.mouse.up();
}
export async function middle(selector: ReturnType<Page["locator"]>): Promise<{ x: number; y: number }> {
	const box = (await selector.boundingBox())!;
	return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

export const plain = (id: string, more: object[] = [], edges: object[] = []) => ({
	id,
	name: id,
	workflowType: "tools/call",
	match: { tools: ["fault__echo"] },
	nodes: [{ id: "start", type: "start" }, { id: "call", type: "mcp-call" }, { id: "end", type: "end" }, ...more],
	edges: [{ source: "start", target: "call" }, { source: "call", target: "end" }, ...edges],
});
