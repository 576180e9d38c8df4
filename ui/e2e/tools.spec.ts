import { accessible, expect, go, test } from "./genkan";

test("a search finds tools by what they do, and says why", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "tools");
	await page.getByRole("searchbox").fill("add two numbers");
	await expect(page).toHaveURL(/q=add/);
	await expect(page.getByRole("row", { name: /get-sum/ })).toContainText("number");
	await accessible(page);
	await page.getByRole("searchbox").press("Escape");
	await expect(page).not.toHaveURL(/q=/);
});

test("a tool is tried with a form that its schema makes", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "tools/everything__get-sum");
	await page.getByLabel(/^a/).fill("19");
	await page.getByLabel(/^b/).fill("23");
	await page.keyboard.press("Control+Enter");
	await expect(page.getByText("42")).toBeVisible();
	await page.getByLabel(/^b/).fill("many");
	await page.getByRole("button", { name: "Run" }).click();
	await expect(page.getByRole("alert")).toContainText("b");
	await accessible(page);
});

test("what is said about a tool is found at once", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "tools/everything__echo?part=about");
	await page.getByLabel("Description").fill("Parrots repeat what pirates say.");
	await page.getByLabel(/Tags/).fill("bird");
	await page.getByRole("button", { name: "Save" }).click();
	await expect(page.getByText("Searches use it at once")).toBeVisible();
	await go(page, genkan, "tools?q=parrots");
	await expect(page.getByRole("row", { name: /everything__echo/ })).toBeVisible();
});
