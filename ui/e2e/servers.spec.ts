import { accessible, expect, go, test } from "./genkan";

test("servers are listed with their state, and one opens by keyboard", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "servers");
	await expect(page.getByRole("row", { name: /everything/ })).toContainText("Up");
	await page.keyboard.press("j");
	await page.keyboard.press("j");
	await page.keyboard.press("Enter");
	await expect(page).toHaveURL(/\/servers\/\w+$/);
	await page.goBack();
	await page.getByRole("searchbox").fill("faul");
	await expect(page).toHaveURL(/text=faul/);
	await expect(page.getByRole("row")).toHaveCount(2);
	await accessible(page);
});

test("a server is added by a form, tried first, and removed", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "servers");
	await page.getByRole("button", { name: "Add a server" }).click();
	await page.getByLabel("Name", { exact: true }).fill("mine");
	await page.getByLabel("Command line").fill("no-such-program-here");
	await page.getByRole("button", { name: "Try it" }).click();
	await expect(page.getByRole("alert")).toBeVisible();
	await page.getByLabel("Command line").fill("false");
	await page.getByRole("button", { name: "Add", exact: true }).click();
	await expect(page).toHaveURL(/\/servers\/mine$/);
	await page.getByRole("main").getByRole("button", { name: "More" }).click();
	await page.getByRole("menuitem", { name: "Remove" }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
	await expect(page).toHaveURL(/\/servers$/);
	await expect(page.getByText("mine is removed.")).toBeVisible();
});

test("pasted JSON of any client becomes servers", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "servers?add=form");
	await page.getByRole("tab", { name: "Paste JSON" }).click();
	await page.getByLabel("JSON as any client writes it").fill('"pasted": {"command": "true", "env": {"A": "b"}},');
	await page.getByRole("button", { name: "Read it" }).click();
	await page.getByRole("button", { name: "Add 1 server" }).click();
	await expect(page.getByText("1 server is added.")).toBeVisible();
	await expect(page.getByRole("row", { name: /pasted/ })).toBeVisible();
});

test("a tool is switched off for everybody and on again", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "servers/everything");
	const off = page.getByRole("switch", { name: "Switch everything__echo off" });
	await off.click();
	await expect(page.getByRole("switch", { name: "Switch everything__echo on" })).toBeVisible();
	expect(JSON.stringify(await genkan.call("everything__echo", { message: "x" }))).not.toContain('"result"');
	await page.getByRole("switch", { name: "Switch everything__echo on" }).click();
	await expect(off).toBeVisible();
	await page.getByRole("tab", { name: "Log" }).click();
	await accessible(page);
});

test("a token is shown once and revoked", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "clients");
	await page.getByLabel("Name of a client on another machine").fill("ci");
	await page.getByRole("button", { name: "Make a token" }).click();
	await expect(page.getByText("It is shown only now")).toBeVisible();
	await accessible(page);
	await page.reload();
	await expect(page.getByText("never used")).toBeVisible();
	await expect(page.getByText("It is shown only now")).not.toBeVisible();
	await page.getByRole("button", { name: "Revoke" }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
	await expect(page.getByText("None yet.")).toBeVisible();
});
