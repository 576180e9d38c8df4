import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, type Genkan, test } from "./genkan";

// The files of the machine's clients are not for those who come over a proxy.
test.use({ provoked: /^404 GET .*files%2Fno|^403 GET .*\/connections$/ });

/** proxy is a reverse proxy as people have it before programs: it serves Genkan below
 * /tools/, and nothing elsewhere. */
async function proxy(genkan: Genkan): Promise<{ address: string; outside: string[]; server: Server }> {
	const outside: string[] = [];
	const server = createServer((from, to) => {
		if (!from.url?.startsWith("/tools/")) {
			outside.push(from.url ?? "");
			return to.writeHead(404).end();
		}
		const target = new URL(from.url.slice("/tools".length), genkan.ui);
		const { host: _, ...headers } = from.headers;
		const onward = request(
			target,
			{ method: from.method, headers: { ...headers, host: target.host, "x-forwarded-host": from.headers.host } },
			(answer) => {
				to.writeHead(answer.statusCode!, answer.headers);
				answer.pipe(to);
			},
		);
		onward.on("error", () => to.destroy());
		to.on("close", () => onward.destroy());
		from.pipe(onward);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tools/`, outside, server };
}

test("below a prefix that Genkan does not know, pages, links, assets and events work", async ({ genkan, page }) => {
	await genkan.ready();
	const { address, outside, server } = await proxy(genkan);
	await genkan.call("fault__echo", { text: "before" });

	// /tools/ leads to the sign-in page, which takes a token.
	await page.goto(address);
	await expect(page).toHaveURL(`${address}ui/`);
	await page.getByLabel("Or sign in with a token").fill(genkan.token());
	await page.getByRole("button", { name: "Sign in" }).click();
	await expect(page).toHaveURL(`${address}ui/calls`);
	const rows = page.getByRole("grid", { name: "Calls" }).getByRole("row");
	await expect(rows).toHaveCount(2);

	// The stream of events.
	await genkan.call("fault__pid");
	await expect(rows).toHaveCount(3);

	// Each page, by its link; then again by its address.
	for (const [link, path] of [
		["Workflows", "workflows"],
		["Tools", "tools"],
		["Servers", "servers"],
		["Knowledge", "knowledge"],
		["Clients", "clients"],
		["Charts", "charts"],
		["Settings", "settings"],
		["Calls", "calls"],
	] as const) {
		await page.getByRole("navigation").getByRole("link", { name: link }).click();
		await expect(page).toHaveURL(new RegExp(`^${address}ui/${path}(/|$)`));
		await expect(page.getByRole("main").getByRole("heading").first()).toBeVisible();
		await page.reload();
		await expect(page.getByRole("main").getByRole("heading").first()).toBeVisible();
	}

	// Deep links, with a folder and with what must be escaped.
	await rows.nth(1).getByRole("gridcell").nth(4).click();
	await expect(page.getByText("Where the time went")).toBeVisible();
	await page.reload();
	await expect(page.getByText("Where the time went")).toBeVisible();
	await page.getByRole("button", { name: "Copy as" }).click();
	await page.getByRole("menuitem", { name: "Link" }).click();
	await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(page.url());
	await page.getByRole("button", { name: "Copy as" }).click();
	await page.getByRole("menuitem", { name: "curl" }).click();
	await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain(`'${address}v1/tools/call'`);
	await page.goto(`${address}ui/settings/secrets`);
	await expect(page.getByRole("tab", { name: "Secrets" })).toHaveAttribute("aria-selected", "true");
	await page.goto(`${address}ui/tools/everything__get-sum?part=schema`);
	await expect(page.getByText("As clients see it")).toBeVisible();
	await page.goto(`${address}ui/servers/files%2Fno`);
	await expect(page.getByRole("main")).toContainText("files/no");

	// What others are told to connect to.
	await page.goto(`${address}ui/clients`);
	await expect(page.getByText(`"${address}mcp"`)).toBeVisible();

	// Signing out.
	await page.getByRole("button", { name: "admin", expanded: false }).click();
	await page.getByRole("menuitem", { name: "Sign out" }).click();
	await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
	expect(outside.filter((path) => path !== "/favicon.ico")).toEqual([]);
	server.closeAllConnections();
	server.close();
});
