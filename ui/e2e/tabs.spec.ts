import { join } from "node:path";
import type { Page } from "@playwright/test";
import { bin, expect, go, test } from "./genkan";

// The page of a server that is being removed may ask for it once more.
test.use({ provoked: /^404 GET .*\/servers\/mine$|^401 / });

test("two tabs share one stream of events, see each other's changes, and outlive each other", async ({
	genkan,
	signedIn: first,
	context,
}) => {
	let streams = 0;
	context.on("request", (request) => {
		if (new URL(request.url()).pathname.endsWith("/v1/events")) streams++;
	});
	await go(first, genkan, "calls"); // leads, with a stream that is counted
	const second = await context.newPage();
	await go(second, genkan, "calls");
	const rows = (page: Page) => page.getByRole("grid", { name: "Calls" }).getByRole("row");
	const live = (page: Page) => expect(page.getByRole("main").getByText("Live", { exact: true })).toBeVisible();

	// Calls.
	await genkan.call("fault__echo", { text: "to both" });
	for (const page of [first, second]) {
		await live(page);
		await expect(rows(page)).toHaveCount(2);
	}
	expect(streams).toBe(1);

	// Servers: one tab adds a server, switches it off and removes it.
	await go(second, genkan, "servers");
	await go(first, genkan, "servers?add=form");
	await first.getByLabel("Name", { exact: true }).fill("mine");
	await first.getByLabel("Command line").fill(join(bin, "faultserver"));
	await first.getByRole("button", { name: "Add", exact: true }).click();
	const mine = second.getByRole("row", { name: /mine/ });
	await expect(mine).toContainText("Up");
	await first.getByRole("main").getByRole("button", { name: "More" }).click();
	await first.getByRole("menuitem", { name: "Switch off" }).click();
	await expect(mine).toContainText("Off");
	await first.getByRole("main").getByRole("button", { name: "More" }).click();
	await first.getByRole("menuitem", { name: "Remove" }).click();
	await first.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
	await expect(mine).toHaveCount(0);

	// Settings: what one keeps, the other shows; the theme is one for the browser.
	await go(second, genkan, "settings/secrets");
	await expect(second.getByText("No secrets yet")).toBeVisible();
	await go(first, genkan, "settings/secrets");
	await first.getByLabel("Name", { exact: true }).fill("SHARED");
	await first.getByLabel("Value").fill("x");
	await first.keyboard.press("Enter");
	await expect(first.getByText("“SHARED” is kept.")).toBeVisible();
	await expect(second.getByText("SHARED")).toBeVisible();
	await go(first, genkan, "settings");
	await first.getByLabel("Theme", { exact: true }).and(first.locator("select")).selectOption("dark");
	await expect(second.locator("html")).toHaveAttribute("data-theme", "dark");

	// The other tab takes the stream over when the one that has it is closed.
	await go(second, genkan, "calls");
	await live(second);
	await first.close();
	await genkan.call("fault__pid");
	await expect(rows(second)).toHaveCount(3);
	await live(second);
	await expect(second.getByText("What you see may be old")).toHaveCount(0);
});

test("a tab whose session has ended leaves the stream to the others, and comes back", async ({
	genkan,
	signedIn: first,
	context,
}) => {
	await genkan.call("fault__pid");
	await go(first, genkan, "calls");
	const second = await context.newPage();
	await go(second, genkan, "calls");
	const live = (page: Page) => expect(page.getByRole("main").getByText("Live", { exact: true })).toBeVisible();
	await live(second);
	// The first tab has the stream, and learns that the session has ended.
	await genkan.rest("DELETE", "/v1/ui-sessions");
	for (const page of [first, second]) await expect(page.getByText("The session has ended.")).toBeVisible();
	await second.getByLabel("Or sign in with a token").fill(genkan.token());
	await second.keyboard.press("Enter");
	await live(second);
	await genkan.call("fault__echo", { text: "live" });
	await expect(second.getByRole("grid", { name: "Calls" }).getByRole("row")).toHaveCount(3);
	await live(first); // it is told that somebody has signed in
});

test("a row that is clicked with Ctrl or the middle button opens in a new tab", async ({ genkan, signedIn: page }) => {
	await go(page, genkan, "servers");
	const row = page.getByRole("row", { name: /fault/ });
	for (const options of [{ modifiers: ["ControlOrMeta" as const] }, { button: "middle" as const }]) {
		const opened = page.waitForEvent("popup");
		await row.click(options);
		await expect((await opened).getByRole("heading", { level: 1 })).toContainText("fault");
		await expect(page).toHaveURL(/\/servers$/);
	}
});
