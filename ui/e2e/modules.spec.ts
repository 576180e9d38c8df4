import type { Page } from "@playwright/test";
import { faultOnly, node, plain, put } from "./editor";
import { accessible, expect, type Genkan, go, test } from "./genkan";
import { englishOn, wordsIn } from "./words";

test.use({ config: faultOnly });

const script = (page: Page) => page.getByRole("textbox", { name: "Script", exact: true });
const save = (page: Page) => page.getByRole("button", { name: "Save", exact: true });

/** use makes an enabled workflow whose hook is a module. */
async function use(genkan: Genkan, module: string, params: object): Promise<void> {
	const hook = { id: "hook", type: "hook", data: { hook: { blocking: true, module, params } } };
	const flow = plain("shouting", [hook]);
	flow.edges = [
		{ source: "start", target: "hook" },
		{ source: "hook", target: "call" },
		{ source: "call", target: "end" },
	];
	await put(genkan, flow);
	await genkan.rest("POST", "/v1/workflows/shouting/enable", {});
}

test("a module is written, used, changed, and deleted when nothing uses it", async ({ genkan, signedIn: page }) => {
	await go(page, genkan, "workflows");
	await page.getByRole("link", { name: "Hook modules" }).click();
	await expect(page.getByText("Write a script once, use it in many workflows")).toBeVisible();
	await expect(page.getByRole("navigation").getByRole("link", { name: "Workflows" })).toHaveAttribute(
		"aria-current",
		"page",
	);
	await page.getByRole("link", { name: "New hook module" }).click();

	// What is wrong stands at its field, the script's at its line if it has one.
	await page.getByLabel("Name").fill("shout");
	await save(page).click();
	await expect(page.getByRole("alert")).toContainText("This is needed.");
	await page.getByLabel("Name").fill("not so");
	await script(page).click();
	await page.keyboard.insertText("const text = ctx.request.params.arguments.text;\nlet x = = 1;");
	await save(page).click();
	await expect(page.getByText("cannot be an id")).toBeVisible();
	await page.getByLabel("Name").fill("shout");
	await expect(page.getByText("cannot be an id")).toHaveCount(0);
	await page.getByLabel("Parameters").fill("{");
	await expect(page.getByText("This is not JSON yet")).toBeVisible();
	await expect(save(page)).toBeDisabled();
	await page.getByLabel("Parameters").fill("[]");
	await save(page).click();
	await expect(
		page.getByText("a JSON Schema, which is an object").or(page.getByText("must be an object")),
	).toBeVisible();
	await page.getByLabel("Parameters").fill('{"properties":{"sign":{"type":"string","title":"Sign"}}}');
	await save(page).click();
	await expect(page.getByRole("alert")).toContainText("Line 2, column 9:");
	await expect(page.locator(".cm-lint-marker-error")).toBeVisible();
	await accessible(page);

	// What is not saved is not lost; undo is the text's own.
	await page.getByRole("link", { name: "Calls" }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
	await script(page).focus();
	await page.keyboard.press("Control+z");
	await expect(script(page)).not.toContainText("let x");
	await page.keyboard.insertText("ctx.request.params.arguments.text += params.sign;");
	await page.keyboard.press("Control+s");
	await expect(page.getByText("“shout” is saved as v1.")).toBeVisible();
	await expect(page).toHaveURL(/\/modules\/shout$/);
	await expect(page.getByText("No workflow uses it yet.")).toBeVisible();

	// A workflow that uses it is named, and keeps it.
	await use(genkan, "shout", { sign: "!" });
	await expect(page.getByRole("link", { name: "shouting" })).toBeVisible();
	expect(JSON.stringify(await genkan.call("fault__echo", { text: "hello" }))).toContain("hello!");
	await page.getByRole("button", { name: "Delete" }).click();
	await expect(page.getByRole("dialog", { name: "“shout” is in use" })).toContainText("shouting");
	await accessible(page);
	await page.keyboard.press("Escape");

	// The editor's hook leads here; a change reaches the workflow.
	await page.getByRole("link", { name: "shouting" }).click();
	await node(page, "hook").click();
	await expect(page.getByLabel("Sign")).toHaveValue("!");
	await page.getByRole("link", { name: "shout", exact: true }).click();
	await script(page).click();
	await page.keyboard.press("Control+End");
	await page.keyboard.insertText("\nctx.request.params.arguments.text += '?';");
	await save(page).click();
	await expect(page.getByText("“shout” is saved as v2.")).toBeVisible();
	expect(JSON.stringify(await genkan.call("fault__echo", { text: "hello" }))).toContain("hello!?");

	// An old version comes back.
	await page.getByLabel("Version").selectOption("1");
	await expect(script(page)).not.toContainText("'?'");
	await page.getByRole("button", { name: "Save as the newest version" }).click();
	await expect(page.getByText("“shout” is saved as v3.")).toBeVisible();
	await expect(page.getByLabel("Version")).toHaveValue("3");

	await genkan.rest("DELETE", "/v1/workflows/shouting");
	await expect(page.getByText("No workflow uses it yet.")).toBeVisible();
	await page.getByLabel("Description").fill("goes with it");
	await page.getByRole("button", { name: "Delete" }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
	await expect(page.getByText("The hook module “shout” is deleted.")).toBeVisible();
	await expect(page).toHaveURL(/\/modules$/);
});

test("Back asks before what was written is lost", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "modules");
	await page.getByRole("main").getByRole("link", { name: "New hook module" }).first().click();
	const id = page.getByLabel("Name");
	await id.fill("mine");
	const back = () => page.evaluate(() => history.back());
	await back();
	const question = page.getByRole("dialog", { name: "Leave without saving?" });
	await question.getByRole("button", { name: "Cancel" }).click();
	await expect(id).toHaveValue("mine");
	await back();
	await question.getByRole("button", { name: "Discard the changes" }).click();
	await expect(page).toHaveURL(/\/modules$/);
});

test("what another writes meanwhile is not written over", async ({ genkan, signedIn: page }) => {
	await genkan.rest("PUT", "/v1/hook-modules/shared", { script: "return" });
	await go(page, genkan, "modules");
	await page.getByRole("grid").getByText("shared").click();
	await page.getByLabel("Description").fill("mine");
	await genkan.rest("PUT", "/v1/hook-modules/shared?base=1", { script: "return", description: "theirs" });
	await expect(page.getByText("Somebody has saved v2 since you began.")).toBeVisible();
	await expect(page.getByLabel("Description")).toHaveValue("mine");
	await save(page).click();
	await expect(page.getByText("was changed meanwhile")).toBeVisible();
	await page.getByRole("button", { name: "Discard" }).click();
	await expect(page.getByLabel("Description")).toHaveValue("theirs");
	await expect(page.getByText("was changed meanwhile")).toHaveCount(0);

	// What was typed and taken back is nothing that another could write over.
	await page.getByLabel("Description").fill("mine");
	await page.getByLabel("Description").fill("theirs");
	await genkan.rest("PUT", "/v1/hook-modules/shared?base=2", { script: "return", description: "theirs again" });
	await expect(page.getByLabel("Description")).toHaveValue("theirs again");
	await expect(page.getByText("Somebody has saved")).toHaveCount(0);

	// A name that is taken is said at its field.
	await go(page, genkan, "modules/@new");
	await page.getByLabel("Name").fill("shared");
	await script(page).click();
	await page.keyboard.insertText("return");
	await save(page).click();
	await expect(page.getByText("A hook module of this name exists already")).toBeVisible();
});

test("what is typed while a module is saved stays, and the save is nobody else's", async ({
	genkan,
	signedIn: page,
}) => {
	await genkan.rest("PUT", "/v1/hook-modules/own", { script: "return" });
	let answer = () => {};
	const answered = new Promise<void>((resolve) => {
		answer = resolve;
	});
	await page.route(/hook-modules\/own\?base=1$/, async (route) => {
		const response = await route.fetch();
		await answered;
		await route.fulfill({ response });
	});
	await go(page, genkan, "modules/own");
	const description = page.getByLabel("Description");
	await description.fill("first");
	await save(page).click();
	await expect(page.getByLabel("Version")).toHaveValue("2"); // an event tells of it before the answer
	await expect(page.getByText("Somebody has saved")).toHaveCount(0);
	await description.fill("second");
	answer();
	await expect(page.getByText("“own” is saved as v2.")).toBeVisible();
	await expect(description).toHaveValue("second");
	await expect(page.getByText("Somebody has saved")).toHaveCount(0);
	await save(page).click();
	await expect(page.getByText("“own” is saved as v3.")).toBeVisible();
	await expect(description).toHaveValue("second");
	await expect(page.getByRole("button", { name: "Discard" })).toHaveCount(0);
});

test("the question whether to leave goes away once everything is saved", async ({ genkan, signedIn: page }) => {
	await genkan.rest("PUT", "/v1/hook-modules/asked", { script: "return" });
	let answer = () => {};
	const answered = new Promise<void>((resolve) => {
		answer = resolve;
	});
	await page.route(/hook-modules\/asked\?base=1$/, async (route) => {
		await answered;
		await route.continue();
	});
	await go(page, genkan, "modules/asked");
	await page.getByLabel("Description").fill("new");
	await save(page).click();
	await page.getByRole("link", { name: "Calls" }).click();
	await expect(page.getByRole("dialog", { name: "Leave without saving?" })).toBeVisible();
	answer();
	await expect(page.getByRole("dialog")).toHaveCount(0);
	await expect(page).toHaveURL(/modules\/asked$/);
});

test.describe("in Japanese, on a telephone", () => {
	test.use({ machine: "ja_JP.UTF-8", locale: "ja-JP", viewport: { width: 390, height: 844 } });

	test("the pages fit and have no English", async ({ genkan, signedIn: page }) => {
		const t = wordsIn("ja");
		await go(page, genkan, "modules");
		await expect(page.getByText(t("Write a script once, use it in many workflows"))).toBeVisible();
		expect(await englishOn(page, /^$/)).toEqual([]);
		await genkan.rest("PUT", "/v1/hook-modules/shout", { script: "return", params: { properties: { sign: {} } } });
		await use(genkan, "shout", { sign: "!" });
		for (const path of ["modules", "modules/shout", "modules/@new"]) {
			await go(page, genkan, path);
			const shown =
				path === "modules" ? page.getByRole("row").getByText("shout", { exact: true }) : page.locator(".cm-content");
			await expect(shown).toBeVisible();
			expect(await englishOn(page, /^$/), path).toEqual([]);
			expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBe(390);
		}
	});
});
