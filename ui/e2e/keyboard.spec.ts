import type { Locator, Page } from "@playwright/test";
import { expect, go, test } from "./genkan";

// The page of a server that is being removed may ask for it once more.
test.use({ shared: true, provoked: /^404 GET .*\/servers\/keys$/ });

/** tabTo presses Tab until something has the focus. Everything on the way shows that it has
 * it. */
async function tabTo(page: Page, target: Locator, back = false): Promise<void> {
	await expect(target).toBeVisible();
	for (let n = 0; n < 80; n++) {
		await page.keyboard.press(back ? "Shift+Tab" : "Tab");
		const plain = await page.evaluate(() => {
			const element = document.activeElement!;
			if (element === document.body) return null;
			const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
			const seen = (outlineStyle !== "none" && Number.parseFloat(outlineWidth) > 0) || boxShadow !== "none";
			return seen ? null : element.outerHTML.slice(0, 160);
		});
		expect(plain, "it has the focus and does not show it").toBeNull();
		if (await target.evaluate((element) => element === document.activeElement)) return;
	}
	throw new Error(`Tab does not reach ${target}`);
}
const main = (page: Page) => page.getByRole("main");
const button = (page: Page, name: string) => main(page).getByRole("button", { name, exact: true });

test("calls: one is opened, and replayed through a new workflow", async ({ signedIn: page, genkan }) => {
	await genkan.call("fault__echo", { text: "by keys" });
	await go(page, genkan, "calls");
	await expect(page.getByRole("row", { name: /by keys/ })).toBeVisible();
	await tabTo(page, page.locator("[data-list]"));
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("Enter");
	await expect(page).toHaveURL(/calls\/\w+-\d+$/);
	await tabTo(page, button(page, "Make a workflow from this call"));
	await page.keyboard.press("Enter");
	await expect(page).toHaveURL(/workflows\/new\?tool=fault__echo&call=/);
	await expect(main(page).getByRole("region", { name: "Input" })).toContainText("by keys");
});

test("servers: one is added and removed", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "servers");
	await tabTo(page, button(page, "Add a server"));
	await page.keyboard.press("Enter");
	await tabTo(page, page.getByLabel("Name", { exact: true }));
	await page.keyboard.type("keys");
	await tabTo(page, page.getByLabel("Command line"));
	await page.keyboard.type("false");
	await tabTo(page, page.getByRole("dialog").getByRole("button", { name: "Add", exact: true }));
	await page.keyboard.press("Enter");
	await expect(page).toHaveURL(/servers\/keys$/);
	await tabTo(page, button(page, "More"));
	await page.keyboard.press("Enter");
	await expect(page.getByRole("menuitem").first()).toBeFocused();
	await page.keyboard.press("End");
	await expect(page.getByRole("menuitem").last()).toBeFocused();
	await page.keyboard.press("Enter");
	await tabTo(page, page.getByRole("dialog").getByRole("button", { name: "Remove" }));
	await page.keyboard.press("Enter");
	await expect(page).toHaveURL(/servers$/);
});

test("tools: one is found, filled in and run", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "tools");
	await expect(page.getByRole("searchbox")).toBeVisible();
	await page.keyboard.press("/");
	await page.keyboard.type("add two numbers");
	await expect(page.getByRole("row").nth(1)).toContainText("get-sum");
	await tabTo(page, page.locator("[data-list]"));
	await page.keyboard.press("j");
	await page.keyboard.press("Enter");
	await expect(page).toHaveURL(/tools\/everything__get-sum\b/);
	await tabTo(page, page.getByLabel(/^a/));
	await page.keyboard.type("19");
	await page.keyboard.press("Tab");
	await page.keyboard.type("23");
	await tabTo(page, button(page, "Run"));
	await page.keyboard.press("Enter");
	await expect(page.getByText("42")).toBeVisible();
});

test("workflows: one is made of a template, and switched on", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "workflows");
	await tabTo(page, button(page, "From a template"));
	await page.keyboard.press("Enter");
	await tabTo(page, page.getByRole("dialog").getByRole("button", { name: /^Redact/ }));
	await page.keyboard.press("Enter");
	await tabTo(page, page.getByRole("button", { name: "Make 3 drafts" }));
	await page.keyboard.press("Enter");
	await expect(page).toHaveURL(/workflows\/redact$/);
	await page.keyboard.press("Escape");
	await go(page, genkan, "workflows");
	await tabTo(page, page.getByRole("switch", { name: /Redact/ }).first());
	await page.keyboard.press("Space");
	await expect(page).toHaveURL(/workflows\/redact\?panel=enable$/);
	await tabTo(page, button(page, "Enable"), true);
	await page.keyboard.press("Enter");
	await expect(page.getByText(/^active: v/)).toBeVisible();
	await go(page, genkan, "workflows");
	await expect(
		page
			.getByRole("row", { name: /Redact/ })
			.filter({ hasText: "Active" })
			.first(),
	).toBeVisible();
});

test("knowledge: an item is written, opened and edited", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "knowledge");
	await tabTo(page, button(page, "New item"));
	await page.keyboard.press("Enter");
	await tabTo(page, page.getByLabel("Type", { exact: true }).and(page.locator("input")));
	await page.keyboard.type("notes");
	await tabTo(page, page.getByLabel("Title"));
	await page.keyboard.type("By keys");
	await page.keyboard.press("Control+s");
	await expect(page.getByRole("heading", { name: "By keys" })).toBeVisible();
	await tabTo(page, button(page, "Edit"));
	await page.keyboard.press("Enter");
	await expect(page.getByLabel("Title")).toHaveValue("By keys");
});

test("clients, charts and settings: a token, another time, a secret, the theme", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "clients");
	await tabTo(page, page.getByLabel("Name of a client on another machine"));
	await page.keyboard.type("keys");
	await page.keyboard.press("Enter");
	await expect(page.getByText("It is shown only now")).toBeVisible();
	await tabTo(page, button(page, "Revoke"));
	await page.keyboard.press("Enter");
	await tabTo(page, page.getByRole("dialog").getByRole("button", { name: "Revoke" }));
	await page.keyboard.press("Enter");
	await expect(page.getByText("None yet.")).toBeVisible();

	await genkan.call("fault__pid");
	await go(page, genkan, "charts");
	await tabTo(page, button(page, "7 days"));
	await page.keyboard.press("Enter");
	await expect(page).toHaveURL(/since=7d/);

	await go(page, genkan, "settings");
	await tabTo(page, page.getByRole("tab", { name: "General" }));
	for (const part of ["history", "limits", "secrets"]) {
		await page.keyboard.press("ArrowRight");
		await expect(page).toHaveURL(new RegExp(`settings/${part}$`));
	}
	await tabTo(page, page.getByLabel("Name", { exact: true }));
	await page.keyboard.type("BY_KEYS");
	await page.keyboard.press("Tab");
	await page.keyboard.type("x");
	await page.keyboard.press("Enter");
	await expect(page.getByText("“BY_KEYS” is kept.")).toBeVisible();
	await tabTo(page, page.getByRole("button", { name: "Theme" }), true);
	await page.keyboard.press("Enter");
	await expect(page.getByRole("menuitem").first()).toBeFocused();
	await page.keyboard.press("End");
	await expect(page.getByRole("menuitem").last()).toBeFocused();
	await page.keyboard.press("Enter");
	await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});
