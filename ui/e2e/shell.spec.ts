import { accessible, compose, expect, go, test } from "./genkan";

test.use({ shared: true });

test("a link signs in once, and the address forgets the code", { tag: "@quick" }, async ({ page, genkan }) => {
	const link = await genkan.link();
	await page.goto(link);
	await expect(page.getByRole("navigation")).toBeVisible();
	expect(page.url()).not.toContain("code=");

	await page.goto("about:blank"); // or it would ask without the cookie
	await page.context().clearCookies();
	await page.goto(link);
	await expect(page.getByRole("alert")).toContainText("genkan ui");

	// A link is often pasted where the page is open already.
	await page.goto(await genkan.link());
	await expect(page.getByRole("navigation")).toBeVisible();
});

test("g and a letter lead to a page; the palette goes anywhere", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "");
	await expect(page.getByRole("navigation")).toBeVisible();
	await page.keyboard.press("g");
	await page.keyboard.press("s");
	await expect(page).toHaveURL(/\/servers$/);
	await page.keyboard.press("Control+k");
	await page.getByRole("combobox").fill("everything");
	await expect(page.getByRole("option", { name: /everything/ }).first()).toBeVisible();
	await page.keyboard.press("Enter");
	await expect(page).toHaveURL(/\/servers\/everything$/);
	await genkan.rest("POST", "/v1/items", { type: "notes", title: "Where the keys hang" });
	await page.keyboard.press("Control+k");
	await page.getByRole("combobox").fill("keys hang");
	await page.getByRole("option", { name: /Where the keys hang/ }).click();
	await expect(page).toHaveURL(/\/knowledge\/notes-1$/);
	// It asks when the typing pauses, and not for what an input method is still making.
	const asked: unknown[] = [];
	page.on("request", (request) => request.url().endsWith("/tools/search") && asked.push(request.postDataJSON().query));
	await page.keyboard.press("Control+k");
	await expect(page.getByRole("dialog").getByRole("combobox")).toBeFocused();
	await (await compose(page, "ふぁいる"))("ファイル");
	await expect.poll(() => [...new Set(asked)]).toEqual(["ファイル"]);
	await page.keyboard.press("Escape");
	// Keys in a menu are the menu's.
	await page.getByRole("button", { name: "Help and language" }).click();
	await page.keyboard.press("g");
	await page.keyboard.press("s");
	expect(page.url()).toMatch(/\/knowledge\/notes-1$/);
});

test("? shows the keys, and is a question mark where people write", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "tools");
	const search = page.getByRole("searchbox");
	await expect(search).toBeVisible();
	await page.keyboard.press("?");
	const keys = page.getByRole("dialog", { name: "Keys" });
	for (const [key, what] of [
		["Ctrl K · ⌘K", "Go to a page, setting, server, workflow, item or tool"],
		["/", "Search on this page"],
		["g s", "Servers"],
		["?", "These keys"],
		["Ctrl Enter · ⌘Enter", "Run the tool; in a workflow, replay the input"],
		["F2", "Drawing: rename the step"],
	] as const)
		await expect(keys.locator("dl > div").filter({ hasText: what })).toHaveText(`${key}${what}`);
	await page.keyboard.press("Escape");
	await expect(keys).toHaveCount(0);
	await search.focus();
	await page.keyboard.press("?");
	await expect(search).toHaveValue("?");
	await expect(page.getByRole("dialog")).toHaveCount(0);
});

test("the palette chooses a theme at once, and leads to the field of a setting", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "tools");
	await expect(page.getByRole("navigation")).toBeVisible();
	const choose = async (text: string, title: string) => {
		await page.keyboard.press("Control+k");
		await page.getByRole("dialog").getByRole("combobox").fill(text);
		await expect(page.getByRole("dialog").getByRole("option", { selected: true })).toContainText(title);
		await page.keyboard.press("Enter");
	};
	const root = page.locator("html");
	await choose("dark", "Dark");
	await expect(root).toHaveAttribute("data-theme", "dark");
	await choose("ライト", "Light");
	await expect(root).toHaveAttribute("data-theme", "light");
	await choose("system", "Same as the system");
	await expect(root).not.toHaveAttribute("data-theme");
	await expect(page).toHaveURL(/\/tools$/);
	for (const name of ["Theme", "Language"]) {
		await choose(name, name);
		await expect(page).toHaveURL(/\/settings$/);
		await expect(page.getByRole("combobox", { name, exact: true })).toBeFocused();
	}
});

test("pages are fetched before they are opened", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "");
	const fetched = () => performance.getEntriesByType("resource").some(({ name }) => name.includes("/assets/settings-"));
	await expect.poll(() => page.evaluate(fetched)).toBe(true);
	await page.route("**/assets/**", (route) => route.abort());
	for (const name of ["Servers", "Tools", "Workflows", "Clients", "Charts", "Settings"]) {
		await page.getByRole("navigation").getByRole("link", { name }).click();
		await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
	}
});

test("Japanese is a click away and stays", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "");
	await page.getByRole("button", { name: "Help and language" }).click();
	await page.getByRole("menuitem", { name: "日本語" }).click();
	await expect(page.getByRole("link", { name: "呼び出し" })).toBeVisible();
	await page.reload();
	await expect(page.getByRole("link", { name: "呼び出し" })).toBeVisible();
	// What Genkan says follows the page.
	await go(page, genkan, "workflows?template=all");
	await expect(page.getByRole("dialog").getByText("シークレットと個人情報を伏せる")).toBeVisible();
});

test("signing out ends the session", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "");
	await page.getByRole("button", { name: "admin", expanded: false }).click();
	await page.getByRole("menuitem", { name: "Sign out" }).click();
	await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
	await accessible(page);
});

test.describe("in another tab", () => {
	test.use({ provoked: /^401 / });
	test("a session that was ended leads to the sign-in page, and back", async ({ genkan, signedIn: page, context }) => {
		await go(page, genkan, "");
		const other = await context.newPage();
		await go(other, genkan, "settings/doctor");
		await expect(other.getByRole("heading", { name: "Doctor" })).toBeVisible();
		await page.getByTitle(/^admin · /).click();
		await page.getByRole("menuitem", { name: "Sign out" }).click();
		await expect(other.getByRole("heading", { name: "Sign in" })).toBeVisible();
		let refused = 0;
		other.on("response", (response) => {
			if (response.status() === 401) refused++;
		});
		await other.waitForTimeout(2500);
		expect(refused).toBe(0);
		await other.getByLabel("Or sign in with a token").fill(genkan.token());
		await other.keyboard.press("Enter");
		await expect(other.getByRole("heading", { name: "Doctor" })).toBeVisible();
	});
});

test.describe("an address that leads nowhere", () => {
	test.use({ provoked: /^404 GET / });
	test("says so, with a link to where there is something", async ({ signedIn: page, genkan }) => {
		await go(page, genkan, "servers/nobody");
		await expect(page.getByRole("heading", { name: "There is no server “nobody”" })).toBeVisible();
		await page.getByRole("link", { name: "To the servers" }).click();
		await expect(page).toHaveURL(/\/servers$/);
		await go(page, genkan, "nowhere");
		await page.getByRole("link", { name: "To the calls" }).click();
		await expect(page).toHaveURL(/\/calls$/);
	});
});

test("somebody who is no administrator is offered what they may do", async ({ page, genkan }) => {
	await genkan.ready();
	const { token } = await genkan.rest<{ token: string }>("POST", "/v1/tokens", {
		name: "guest",
		limit: { servers: ["files"] },
	});
	await page.goto(genkan.ui);
	await page.getByRole("button", { name: "日本語" }).click();
	await expect(page.getByRole("heading", { name: "サインイン" })).toBeVisible();
	await page.getByRole("button", { name: "English" }).click();
	await page.getByLabel("Or sign in with a token").fill(token);
	await page.getByRole("button", { name: "Sign in" }).click();
	await expect(page.getByText("No call of yours yet.")).toBeVisible();
	await expect(page.getByRole("link", { name: "Connect a client" })).toHaveCount(0);
	await page.getByRole("button", { name: "Help and language" }).click();
	await expect(page.getByRole("menuitem", { name: "Keys" })).toBeVisible();
	await expect(page.getByRole("menuitem", { name: "Getting started" })).toHaveCount(0);
	await page.keyboard.press("Escape");

	const pages = page.getByRole("navigation", { name: "Pages" }).getByRole("link");
	await expect(pages).toContainText(["Calls", "Tools", "Servers", "Charts", "Settings"]);
	await expect(pages).toHaveCount(5);
	await page.goto(`${genkan.ui}servers`);
	await expect(page.getByText("1 of 1 up")).toBeVisible();
	await page.goto(`${genkan.ui}knowledge`);
	await expect(page.getByText("This token may not use the knowledge base.")).toBeVisible();
});

test("the key beside the search stays in its box, in both languages", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "servers");
	for (const [lang, name] of [
		["en", "Go to"],
		["ja", "検索・移動"],
	] as const) {
		await page.evaluate((to) => localStorage.setItem("genkan.lang", to), lang);
		await page.reload();
		const box = page.getByRole("complementary").getByRole("button", { name });
		const right = async (part: typeof box) => {
			const { x, width } = (await part.boundingBox())!;
			return x + width;
		};
		await expect(box).toBeVisible();
		expect(await right(box.locator("kbd"))).toBeLessThan(await right(box));
	}
});
