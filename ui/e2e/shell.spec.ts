import { accessible, expect, test } from "./genkan";

test("a link signs in once, and the address forgets the code", async ({ page, genkan }) => {
	const link = await genkan.link();
	await page.goto(link);
	await expect(page.getByRole("navigation")).toBeVisible();
	expect(page.url()).not.toContain("code=");

	await page.context().clearCookies();
	await page.goto("about:blank");
	await page.goto(link);
	await expect(page.getByRole("alert")).toContainText("genkan ui");
});

test("g and a letter lead to a page; the palette goes anywhere", async ({ signedIn: page }) => {
	await page.keyboard.press("g");
	await page.keyboard.press("s");
	await expect(page).toHaveURL(/\/servers$/);
	await page.keyboard.press("Control+k");
	await page.getByRole("combobox").fill("everything");
	await expect(page.getByRole("option", { name: /everything/ }).first()).toBeVisible();
	await page.keyboard.press("Enter");
	await expect(page).toHaveURL(/\/servers\/everything$/);
});

test("Japanese is a click away and stays", async ({ signedIn: page }) => {
	await page.getByRole("button", { name: "More" }).click();
	await page.getByRole("menuitem", { name: "日本語" }).click();
	await expect(page.getByRole("link", { name: "呼び出し" })).toBeVisible();
	await page.reload();
	await expect(page.getByRole("link", { name: "呼び出し" })).toBeVisible();
});

test("signing out ends the session", async ({ signedIn: page }) => {
	await page.getByRole("button", { name: "More" }).click();
	await page.getByRole("menuitem", { name: "Sign out" }).click();
	await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
	await accessible(page);
});
