import type { Page } from "@playwright/test";
import { complaintsOf, compose, expect, type Genkan, go, serious, test } from "./genkan";
import { fill, type Place, settled } from "./pages";
import { englishOn } from "./words";

const open = async (page: Page, genkan: Genkan, place: Place) => {
	await go(page, genkan, place.path);
	await settled(page);
	if (!place.open) return;
	await place.open(page);
	await settled(page);
};

test.describe.configure({ mode: "parallel" });

test.describe("all pages", () => {
	// There is no tool of the name that the spec types.
	test.use({ provoked: /^404 GET .*\/v1\/workflows\?tool=/ });
	test.setTimeout(300_000);
	for (const half of [0, 1])
		test(`axe finds nothing serious on any page or dialog, in either theme (${half + 1} of 2)`, async ({
			genkan,
			signedIn: page,
		}) => {
			const found: string[] = [];
			for (const place of (await fill(genkan)).filter((_, i) => i % 2 === half)) {
				await open(page, genkan, place);
				found.push(...(await serious(page)).map((finding) => `${place.name}, ${finding}`));
				await page.emulateMedia({ colorScheme: "light" });
			}
			expect(found).toEqual([]);
		});

	test("Enter of an input method submits nothing, on any page", async ({ genkan, signedIn: page }) => {
		const places = await fill(genkan);
		const client = await page.context().newCDPSession(page);
		const sent: string[] = [];
		// What is typed is searched, checked or read; everything else that is sent would change something.
		page.on("request", (request) => {
			const { pathname } = new URL(request.url());
			if (request.method() !== "GET" && !/\/(search|check|backtest|tests|replay|read)$/.test(pathname))
				sent.push(`${request.method()} ${pathname}`);
		});
		const writable =
			"input:not([type=checkbox], [type=file], [readonly], [disabled]):visible, textarea:not([disabled]):visible";
		const state = () =>
			page.evaluate(() => [
				location.pathname,
				document.querySelectorAll("dialog[open]").length,
				// A list follows its search while people type.
				[...document.querySelectorAll("main button, dialog button")].filter((one) => !one.closest("[role=table]"))
					.length,
				(document.activeElement as HTMLInputElement).value,
			]);
		let tried = 0;
		// The editor has specs of its own; what opens a menu has no fields.
		for (const place of places.filter(({ path, name }) => !path.startsWith("workflows/") && name !== "call, copy")) {
			await open(page, genkan, place);
			sent.length = 0;
			const dialog = page.locator("dialog[open]");
			const fields = ((await dialog.count()) > 0 ? dialog.last() : page.locator("main")).locator(writable);
			const count = await fields.count();
			for (let i = 0; i < count; i++) {
				// Once more where the page changed by itself meanwhile, such as by the state of a server.
				await expect(async () => {
					await fields.nth(i).fill("");
					await fields.nth(i).focus();
					await client.send("Input.imeSetComposition", { text: "けんさく", selectionStart: 4, selectionEnd: 4 });
					await expect(fields.nth(i)).toHaveValue("けんさく");
					const before = await state();
					for (const type of ["keyDown", "keyUp"] as const)
						await client.send("Input.dispatchKeyEvent", {
							type,
							key: "Enter",
							code: "Enter",
							windowsVirtualKeyCode: 229,
						});
					expect(await state(), `${place.name}, field ${i + 1}`).toEqual(before);
				}).toPass({ timeout: 30_000 });
				await client.send("Input.insertText", { text: "検索" });
				tried++;
			}
			expect(sent, place.name).toEqual([]);
			await page.keyboard.press("Escape");
		}
		expect(tried).toBeGreaterThan(40);

		// The same Enter submits when nothing is composed any more.
		await go(page, genkan, "clients");
		const name = page.getByLabel("Name of a client on another machine");
		await name.focus();
		const commit = await compose(page, "にほん");
		await expect(name).toHaveValue("にほん");
		await commit("nihon");
		await expect(name).toHaveValue("nihon");
		expect(sent).toEqual([]);
		await page.keyboard.press("Enter");
		await expect(page.getByText("It is shown only now")).toBeVisible();
		expect(sent).toEqual(["POST /v1/tokens"]);
	});
});

test.describe("in Japanese", () => {
	test.use({ machine: "ja_JP.UTF-8" });
	test.setTimeout(300_000);

	test("no page has English left", async ({ genkan, signedIn: page }) => {
		const places = await fill(genkan, "ja");
		const { tools } = await genkan.rest<{ tools: { server?: string; description?: string }[] }>("GET", "/v1/tools");
		const foreign = [
			"The disk is full.",
			"faultserver: crashing at once, as asked",
			"Tags each answer.",
			"label1",
			"add numb sum two", // the search for tools keeps the stems of words
			...tools.flatMap(({ server, description }) => (server === "kb" ? [] : (description?.replace(/\s+/g, " ") ?? []))),
		];
		const found: string[] = [];
		for (const place of places) {
			await open(page, genkan, place);
			for (const text of await englishOn(page, /^$/))
				if (!foreign.some((theirs) => theirs && text.includes(theirs))) found.push(`${place.name}: ${text}`);
		}
		expect(found).toEqual([]);
	});
});

test.describe("complaints", () => {
	test.use({ config: "" });

	test("of a page are all noticed", async ({ context, genkan, complaints }) => {
		const other = await context.browser()!.newContext();
		const found = await complaintsOf(other);
		const page = await other.newPage();
		await page.goto(genkan.ui);
		await page.evaluate(async () => {
			console.error("on the console");
			setTimeout(() => {
				throw new Error("not caught");
			});
			await fetch("nowhere.json?missing").catch(() => {});
			await fetch("../v1/calls").catch(() => {});
			await fetch("http://127.0.0.1:9/").catch(() => {});
			const image = document.createElement("div");
			image.innerHTML = "<img src=data:, onerror=alert(1)>";
			document.body.append(image);
			alert("hello");
		});
		for (const text of [
			"on the console",
			"not caught",
			"401 GET",
			"policy: connect-src",
			"policy: script-src-attr",
			"dialog: hello",
		])
			await expect.poll(() => found.join("\n")).toContain(text);
		await other.close();
		expect(complaints).toEqual([]);
	});

	test("fail the spec", async ({ signedIn: page }) => {
		test.fail();
		await page.evaluate(() => console.error("a mistake"));
	});
});
