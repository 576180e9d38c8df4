import type { Page } from "@playwright/test";
import { complaintsOf, expect, go, serious, test } from "./genkan";
import { fill, type Place, settled } from "./pages";

test.describe("all pages", () => {
	// There is no tool of the name that the spec types.
	test.use({ shared: true, provoked: /^404 GET .*\/v1\/workflows\?tool=/ });
	test.setTimeout(300_000);
	let places: Place[] | undefined;
	test.beforeAll(() => {
		places = undefined;
	});
	const open = async (page: Page, genkan: Parameters<typeof go>[1], place: Place) => {
		await go(page, genkan, place.path);
		await settled(page);
		await place.open?.(page);
	};

	test("axe finds nothing serious on any page or dialog, in either theme", async ({ genkan, signedIn: page }) => {
		places ??= await fill(genkan);
		const found: string[] = [];
		for (const place of places) {
			await open(page, genkan, place);
			found.push(...(await serious(page)).map((finding) => `${place.name}, ${finding}`));
			await page.emulateMedia({ colorScheme: "light" });
		}
		expect(found).toEqual([]);
	});

	test("Enter of an input method submits nothing, on any page", async ({ genkan, signedIn: page }) => {
		places ??= await fill(genkan);
		const client = await page.context().newCDPSession(page);
		const sent: string[] = [];
		// A search asks while people type; everything else that is sent would change something.
		page.on("request", (request) => {
			const { pathname } = new URL(request.url());
			if (request.method() !== "GET" && !/\/(search|check|backtest|tests|replay)$/.test(pathname))
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
				await client.send("Input.insertText", { text: "検索" });
				tried++;
			}
			expect(sent, place.name).toEqual([]);
			await page.keyboard.press("Escape");
		}
		expect(tried).toBeGreaterThan(40);

		// The same Enter submits when nothing is composed.
		await go(page, genkan, "clients");
		await page.getByLabel("Name of a client on another machine").fill("entered");
		await page.keyboard.press("Enter");
		await expect(page.getByText("It is shown only now")).toBeVisible();
		expect(sent).toEqual(["POST /v1/tokens"]);
	});
});

test.describe("complaints", () => {
	test.use({ shared: true, config: "" });

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
