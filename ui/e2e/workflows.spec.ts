import { accessible, expect, go, test } from "./genkan";

test("a template is used by filling in a form, and enabled from the list", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "workflows");
	await expect(page.getByText("it never starts by itself")).toBeVisible();
	await accessible(page);
	await page.getByRole("button", { name: /^Deny destructive/ }).click();
	await page.getByRole("button", { name: "Make a draft" }).click();
	await expect(page).toHaveURL(/\/workflows\/[\w-]+$/);
	await go(page, genkan, "workflows");
	await page.getByRole("switch").first().click();
	await expect(page.getByRole("row", { name: /Deny/ }).first()).toContainText("Runs");
	await accessible(page);
});

test("the kill switch turns all workflows off, and on again", async ({ signedIn: page, genkan }) => {
	await genkan.rest("POST", "/v1/workflow-templates", { template: "redact" });
	await go(page, genkan, "workflows");
	await page.getByRole("button", { name: "Kill switch" }).click();
	await page.getByRole("button", { name: "Turn them off" }).click();
	await expect(page.getByText("All workflows are off")).toBeVisible();
	expect(await genkan.rest("GET", "/v1/workflows/switch")).toMatchObject({ on: false });
	await page.getByRole("button", { name: "Turn them on" }).click();
	await expect(page.getByRole("button", { name: "Kill switch" })).toBeVisible();
});
