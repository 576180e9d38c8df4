import type { Page } from "@playwright/test";
import { accessible, expect, type Genkan, go, pictures, test } from "./genkan";

const fail = (genkan: Genkan) => genkan.call("fault__raw", { error_json: '{"code":-32000,"message":"No."}' });
/** canceled begins a call and leaves when it runs. */
async function canceled(genkan: Genkan) {
	const leaving = new AbortController();
	const call = fetch(new URL("../v1/tools/call", genkan.ui), {
		method: "POST",
		headers: { Authorization: `Bearer ${genkan.token()}`, "Content-Type": "application/json" },
		body: JSON.stringify({ name: "fault__sleep", parameters: { ms: 60_000 } }),
		signal: leaving.signal,
	}).catch(() => {});
	const running = async () => (await genkan.rest<{ running?: unknown[] }>("GET", "/v1/calls?limit=1")).running ?? [];
	await expect.poll(running).toHaveLength(1);
	leaving.abort();
	await call;
}

const chart = (page: Page, name: string) => page.getByRole("img", { name: new RegExp(`^${name}:`) });
const table = (page: Page) => page.getByRole("grid", { name: "Servers and tools" });

/** inked tells whether something is drawn in the colour of a variable of the theme. */
const inked = (page: Page, name: string, variable: string) =>
	chart(page, name).evaluate((box, variable) => {
		const probe = document.createElement("i");
		probe.style.color = `var(${variable})`;
		box.append(probe);
		const [r, g, b] = getComputedStyle(probe).color.match(/\d+/g)!.map(Number);
		probe.remove();
		const canvas = box.querySelector("canvas")!;
		const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
		for (let i = 0; i < data.length; i += 4)
			if (
				data[i + 3]! > 100 &&
				Math.abs(data[i]! - r!) + Math.abs(data[i + 1]! - g!) + Math.abs(data[i + 2]! - b!) < 12
			)
				return true;
		return false;
	}, variable);

test("without calls, the charts say what to do, and the first call draws them", async ({ genkan, signedIn: page }) => {
	await go(page, genkan, "charts");
	await expect(page.getByText("No calls in this time.")).toBeVisible();
	await accessible(page);
	await genkan.call("fault__echo", { text: "first" });
	await expect(chart(page, "Traffic")).toBeVisible();
});

test("traffic, latency and tokens are drawn, live, in both themes", async ({ genkan, signedIn: page }) => {
	for (let n = 0; n < 4; n++) await genkan.call("fault__echo", { text: "tea" });
	await fail(genkan);
	await go(page, genkan, "charts?since=1h");
	await expect(chart(page, "Traffic")).toHaveAccessibleName("Traffic: 5 calls, 1 failed or denied (20%).");
	await expect(chart(page, "Latency")).toHaveAccessibleName(/Half of the calls took at most .* ms, 95% at most/);
	await expect(chart(page, "Tokens")).toHaveAccessibleName(/About \d+ in, \d+ out, 0 saved/);
	await expect.poll(() => inked(page, "Traffic", "--bad")).toBe(true);
	await accessible(page);
	// The page is dark now, and so are the charts.
	await expect.poll(() => inked(page, "Latency", "--warn")).toBe(true);

	// A call that its caller cancels is no failure.
	await canceled(genkan);
	await expect(chart(page, "Traffic")).toHaveAccessibleName(/^Traffic: 6 calls, 1 failed/);
	await genkan.call("everything__get-sum", { a: 1, b: 2 });
	await expect(chart(page, "Traffic")).toHaveAccessibleName(/^Traffic: 7 calls/);
	await expect(table(page).getByRole("row")).toHaveCount(5);

	await page.getByRole("button", { name: "7 days" }).click();
	await expect(page).toHaveURL(/\?since=7d$/);
	await expect(page.getByRole("button", { name: "7 days" })).toHaveAttribute("aria-pressed", "true");
	await page.goBack();
	await expect(page).toHaveURL(/\?since=1h$/);
	if (process.env.PICTURES) await pictures(page, process.env.PICTURES, "charts");
});

test("dragging zooms, a double click goes back", async ({ genkan, signedIn: page }) => {
	await genkan.call("fault__pid");
	await go(page, genkan, "charts?since=1h");
	await expect(chart(page, "Traffic")).toBeVisible();
	const box = (await chart(page, "Traffic").boundingBox())!;
	const drag = async (from: number, to: number) => {
		await page.mouse.move(box.x + from, box.y + 60);
		await page.mouse.down();
		await page.mouse.move(box.x + to, box.y + 70, { steps: 5 });
		await page.mouse.up();
	};
	await drag(box.width * 0.6, box.width - 12);
	await expect(page).toHaveURL(/since=20.*until=20.*wide=1h/);
	await expect(chart(page, "Traffic")).toHaveAccessibleName(/1 call,/);
	// The list of these calls says of which time they are, and that no new ones come.
	await page.getByRole("link", { name: "To the calls", exact: true }).click();
	await expect(page.getByRole("button", { name: /^[^TZ]+ – [^TZ]+$/ })).toBeVisible();
	await expect(page.getByText("Live", { exact: true })).toHaveCount(0);
	await page.goBack();
	const zoomed = page.url();
	await drag(box.width * 0.5, box.width - 12);
	await expect(page).not.toHaveURL(zoomed);
	await page.mouse.dblclick(box.x + 300, box.y + 60);
	await expect(page).toHaveURL(/\?since=1h$/);
	await drag(80, 240);
	await expect(page.getByText("No calls in this time.")).toBeVisible();
	await page.getByRole("button", { name: "Zoom out" }).click();
	await expect(page).toHaveURL(/\?since=1h$/);
});

test("a chart that has the focus is zoomed and moved by keys, and keeps it", async ({ genkan, signedIn: page }) => {
	await genkan.call("fault__pid");
	await go(page, genkan, "charts?since=1h");
	const traffic = chart(page, "Traffic");
	await traffic.focus();
	const span = () => {
		const { searchParams } = new URL(page.url());
		return ["since", "until"].map((name) => Date.parse(searchParams.get(name) ?? ""));
	};
	const minutes = () => Math.round((span()[1]! - span()[0]!) / 60_000);
	// Keys move the span of the address, while its chart is still to come.
	let answer = () => {};
	const answered = new Promise<void>((resolve) => {
		answer = resolve;
	});
	await page.route(/calls\/series\?.*until=/, (route) => answered.then(() => route.continue()));
	await page.keyboard.press("-");
	await expect(page).toHaveURL(/wide=1h/);
	const [wide, [since]] = [minutes(), span()];
	expect(wide).toBeGreaterThan(85);
	await page.keyboard.press("ArrowLeft");
	await expect.poll(() => span()[0]!).toBeLessThan(since!);
	expect(Math.abs(minutes() - wide)).toBeLessThan(wide / 10); // whole steps
	answer();
	for (let n = 0; n < 4; n++) {
		const [before] = span();
		await page.keyboard.press("ArrowLeft");
		await expect.poll(() => span()[0]!).toBeLessThan(before!);
	}
	await expect(traffic).toHaveAccessibleName(/0 calls,/);
	await expect(page.getByText("No calls in this time.")).toBeVisible();
	await expect(traffic).toBeFocused();
	await page.keyboard.press("Escape");
	await expect(page).toHaveURL(/\?since=1h$/);
	await expect(traffic).toHaveAccessibleName(/1 call,/);
	await expect(traffic).toBeFocused();
	await page.keyboard.press("+");
	await expect(page).toHaveURL(/until=/);
	expect(Math.abs(minutes() - 30)).toBeLessThan(3);
});

test("filters are in the address, and the table filters, sorts and leads to the calls", async ({
	genkan,
	signedIn: page,
}) => {
	for (let n = 0; n < 3; n++) await genkan.call("fault__echo", { text: "tea" });
	await genkan.call("fault__sleep", { ms: 300 });
	await genkan.call("everything__get-sum", { a: 1, b: 2 });
	await fail(genkan);
	await go(page, genkan, "charts");
	const row = (name: string) => table(page).getByRole("row").filter({ hasText: name });
	await expect(table(page).getByRole("row")).toHaveCount(5);
	await expect(table(page).getByRole("row").nth(1)).toContainText("echo");
	await expect(row("raw")).toContainText("100%");

	// The traffic is drawn for each server, or each tool.
	const legend = chart(page, "Traffic").locator("..");
	const alone: string[] = []; // asked for one server
	page.on("request", (request) => request.url().includes("server=") && alone.push(request.url()));
	await page.getByRole("group", { name: "Divide" }).getByRole("button", { name: "By server" }).click();
	await expect(page).toHaveURL(/\?by=server$/);
	await expect(legend).toContainText("fault");
	await expect(legend).toContainText("everything");
	await expect.poll(() => inked(page, "Traffic", "--warn")).toBe(true);
	// So are failures, latency and tokens, and the table has the sums of servers.
	for (const name of ["Failed or denied", "Latency \\(p95\\)", "Tokens in and out"])
		await expect(chart(page, name).locator("..")).toContainText("everything");
	await expect.poll(() => inked(page, "Failed or denied", "--accent")).toBe(true);
	await expect.poll(() => inked(page, "Latency \\(p95\\)", "--warn")).toBe(true);
	await expect(table(page).getByRole("row")).toHaveCount(3);
	await expect(table(page).getByRole("row").nth(1)).toHaveText(/^fault520%/);
	expect(alone).toEqual([]);
	await expect(chart(page, "Traffic")).toHaveAccessibleName(/most calls first: fault, everything\.$/);
	await page.getByRole("button", { name: "By tool" }).click();
	await expect(legend).toContainText("fault / echo");
	await expect(legend.locator("span > svg")).toHaveCount(4); // none of the servers is left
	// Nothing is cut off in the legend and in the head of the table.
	for (const cut of [legend.getByText("everything / get-sum"), ...(await table(page).getByRole("columnheader").all())])
		expect(await cut.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
	expect(
		await legend
			.getByText("everything / get-sum")
			.evaluate((name) => name.getBoundingClientRect().right <= name.closest("figure")!.getBoundingClientRect().right),
	).toBe(true);
	await expect(chart(page, "Failed or denied").locator("..")).toContainText("fault / raw");
	await expect(table(page).getByRole("row")).toHaveCount(5);
	await page.getByRole("button", { name: "All calls" }).click();
	await expect(page).toHaveURL(/charts$/);
	await page.getByRole("button", { name: "p95" }).click();
	await expect(page).toHaveURL(/sort=p95/);
	await expect(table(page).getByRole("row").nth(1)).toContainText("sleep");

	await row("echo").getByRole("gridcell").nth(2).click();
	await expect(page).toHaveURL(/tool=fault__echo/);
	await expect(chart(page, "Traffic")).toHaveAccessibleName(/^Traffic: 3 calls/);
	await expect(table(page).getByRole("row")).toHaveCount(5); // another one can be chosen
	await page.reload();
	await expect(chart(page, "Traffic")).toHaveAccessibleName(/^Traffic: 3 calls/);
	await row("echo").getByRole("button", { name: "echo" }).click();
	await expect(chart(page, "Traffic")).toHaveAccessibleName(/^Traffic: 6 calls/);

	await page.getByRole("button", { name: "server", exact: true }).click();
	await page.getByRole("menuitem", { name: "everything" }).click();
	await expect(page).toHaveURL(/server=everything/);
	await expect(chart(page, "Traffic")).toHaveAccessibleName(/^Traffic: 1 call,/);
	await page.getByRole("button", { name: "client", exact: true }).click();
	await page.getByRole("menuitem", { name: "admin" }).click();
	await expect(page).toHaveURL(/client=admin/);
	await expect(chart(page, "Traffic")).toHaveAccessibleName(/^Traffic: 1 call,/);

	await page.getByRole("link", { name: "Calls of everything__get-sum" }).click();
	await expect(page).toHaveURL(/\/calls\?.*tool=everything__get-sum/);
	await expect(page.getByRole("grid", { name: "Calls" }).getByRole("row")).toHaveCount(2);
});

test("the row of unknown tools leads to their calls", async ({ genkan, signedIn: page }) => {
	await genkan.call("fault__echo", { text: "tea" });
	await genkan.call("nothing_like_it");
	await go(page, genkan, "charts");
	await page.getByRole("link", { name: "Calls of unknown tools" }).click();
	const calls = page.getByRole("grid", { name: "Calls" }).getByRole("row");
	await expect(calls).toHaveCount(2);
	await expect(calls.nth(1)).toContainText("nothing_like_it");
});
