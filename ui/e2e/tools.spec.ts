import type { Page } from "@playwright/test";
import { accessible, expect, go, telling, test } from "./genkan";

test.use({ shared: true });

test.use({ provoked: /^404 GET .*\/v1\/tools\/everything__nothing/ });

test("a search finds tools by what they do, and says why", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "tools");
	await page.getByRole("searchbox").fill("add two numbers");
	await expect(page).toHaveURL(/q=add/);
	// The column Why has the words of the query that the tool matched.
	await expect(page.getByRole("columnheader", { name: "Why" })).toBeVisible();
	const titles = await page.getByRole("columnheader").allTextContents();
	const why = page
		.getByRole("row", { name: /get-sum/ })
		.getByRole("gridcell")
		.nth(titles.indexOf("Why"));
	await expect(why).toHaveText(/\btwo\b/);
	await expect(why).toHaveText(/\bnumbers?\b/);
	await page.getByRole("searchbox").fill("ｅｃｈｏ");
	await expect(page.getByRole("row", { name: /everything__echo/ })).toBeVisible();
	await accessible(page);
	await page.getByRole("searchbox").press("Escape");
	await expect(page).not.toHaveURL(/q=/);
});

test("a tool is tried with a form that its schema makes", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "tools/everything__get-sum");
	await page.getByLabel(/^a/).fill("19");
	await page.getByLabel(/^b/).fill("23");
	await page.keyboard.press("Control+Enter");
	await expect(page.getByText("is 42.")).toBeVisible();
	await page.getByLabel(/^b/).fill("many");
	await page.getByRole("button", { name: "Run" }).click();
	// What is wrong stands at its field, as a sentence.
	await expect(page.getByLabel(/^b/)).toHaveAttribute("aria-invalid", "true");
	await expect(page.getByText("This must be a number.")).toBeVisible();
	await expect(page.getByLabel(/^a/)).not.toHaveAttribute("aria-invalid", "true");
	// All of it is told at once, and the first is focused.
	await page.getByLabel(/^a/).fill("two");
	await page.getByLabel(/^b/).fill("");
	await page.getByRole("button", { name: "Run" }).click();
	await expect(page.getByText("This must be a number.")).toBeVisible();
	await expect(page.getByLabel(/^a/)).toBeFocused();
	await expect(page.getByText("This is needed.")).toBeVisible();
	await expect(page.getByText("instancePath")).toHaveCount(0);
	await accessible(page);
	// It goes when the value is another one, and comes back with it.
	await page.getByLabel(/^a/).fill("2");
	await expect(page.getByText("This must be a number.")).toHaveCount(0);
	await expect(page.getByText("This is needed.")).toBeVisible();
	await page.getByLabel(/^b/).fill("3");
	await expect(page.getByText("marked fields")).toHaveCount(0);
	await page.getByLabel(/^a/).fill("two");
	await page.getByLabel(/^b/).fill("");
	await expect(page.getByText("This must be a number.")).toBeVisible();
	// What does not fit is no call, unless a person wants it so.
	const calls = async () =>
		(await genkan.rest<{ calls: { outcome: string }[] }>("GET", "/v1/calls?tool=get-sum")).calls;
	expect(await calls()).toMatchObject([{ outcome: "ok" }]);
	await page.getByRole("button", { name: "Call it anyway" }).click();
	await expect(page.getByRole("button", { name: "Call it anyway" })).toHaveCount(0);
	await expect(page.getByText("This is needed.")).toBeVisible();
	expect((await calls()).map((call) => call.outcome)).toEqual(["invalid", "ok"]);
	await expect(page.getByRole("link", { name: "Its server: everything" })).toBeVisible();
});

test("a text that is no JSON calls nothing", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "tools/everything__get-sum");
	await page.getByRole("tab", { name: "JSON" }).click();
	const field = page.getByRole("textbox", { name: "Arguments" });
	await field.fill('{"a": 1000, "b": 234}');
	await field.fill('{"a": 1000, "b": ');
	let asked = 0;
	page.on("request", (request) => {
		if (/\/v1\/tools\/(call|.*validate)/.test(request.url())) asked++;
	});
	for (const run of [
		() => page.getByRole("button", { name: "Run" }).click(),
		() => page.keyboard.press("Control+Enter"),
	]) {
		await run();
		await expect(page.getByText("Correct the JSON first. Nothing was done.")).toBeVisible();
		await expect(field).toBeFocused();
	}
	expect(asked).toBe(0);
	// Nor is it lost on the way to the form.
	await page.getByRole("tab", { name: "Form" }).click();
	await expect(field).toHaveValue('{"a": 1000, "b": ');
	await field.fill('{"a": 1000, "b": 235}');
	await expect(page.getByText("Nothing was called")).toHaveCount(0);
	await page.keyboard.press("Control+Enter");
	await expect(page.getByText("1235")).toBeVisible();
	// What was typed outlives a reload.
	await page.reload();
	await expect(field).toHaveValue(/"b": 235/);
	await page.getByRole("tab", { name: "Form" }).click();
	await expect(page.getByLabel(/^b/)).toHaveValue("235");
});

test("on a phone, tools are told apart by their names", async ({ signedIn: page, genkan }) => {
	await page.setViewportSize({ width: 390, height: 844 });
	for (const path of ["tools", "servers/everything"]) {
		await go(page, genkan, path);
		const name = page
			.getByRole("row", { name: /get-resource-reference/ })
			.getByTitle("everything__get-resource-reference", { exact: true });
		await expect(name).toBeVisible();
		expect(await name.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true);
	}
});

test("what is said about a tool is found at once", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "tools/everything__echo?part=about");
	await page.getByLabel("Description").fill("Parrots repeat what pirates say.");
	await page.getByLabel(/Tags/).fill("bird、海賊，sea");
	// Another tab keeps it, and another page asks.
	await page.getByRole("tab", { name: "Schema" }).click();
	await page.getByRole("link", { name: "Its calls" }).click();
	await page.getByRole("dialog", { name: "Leave without saving?" }).getByRole("button", { name: "Cancel" }).click();
	await page.getByRole("tab", { name: "Description and tags" }).click();
	await page.getByRole("button", { name: "Save" }).click();
	await expect(page.getByText("Searches use it at once")).toBeVisible();
	expect(await genkan.rest("GET", "/v1/tools/everything__echo")).toMatchObject({ tags: ["bird", "海賊", "sea"] });
	await go(page, genkan, "tools?q=parrots");
	await expect(page.getByRole("row", { name: /everything__echo/ })).toBeVisible();
	await expect(page.getByText("Nothing fits well")).toHaveCount(0);

	// Its category and its tags filter the list and searches.
	await genkan.rest("PATCH", "/v1/tools/fault__echo", { category: "voices", tags: ["sea"] });
	await go(page, genkan, "tools");
	const rows = page.getByRole("grid", { name: "Tools" }).getByRole("row");
	await expect(rows.getByRole("button", { name: "sea" }).first()).toHaveAttribute("tabindex", "-1");
	await rows.getByRole("button", { name: "sea" }).first().click();
	await expect(page).toHaveURL(/tools\?tag=sea$/);
	await expect(rows).toHaveCount(3);
	await rows.getByRole("button", { name: "voices" }).click();
	await expect(page).toHaveURL(/tag=sea&category=voices$/);
	await expect(rows).toHaveCount(2);
	await accessible(page);
	// What is changed elsewhere is seen at once.
	await genkan.rest("PATCH", "/v1/tools/fault__echo", { tags: ["sea", "reef"] });
	await expect(rows.getByRole("button", { name: "reef" })).toBeVisible();
	await page.getByRole("searchbox").fill("echo");
	await expect(rows).toHaveCount(2);
	await expect(rows.nth(1)).toContainText("fault__echo");
	await page.getByLabel("Category").selectOption("All categories");
	await expect(rows).toHaveCount(3);
	// What is off is filtered, too.
	await genkan.rest("POST", "/v1/tools/everything__get-env/disable");
	await page.getByRole("searchbox").fill("env");
	await expect(page.getByRole("main").getByText("0", { exact: true })).toBeVisible();
	await page.getByLabel("Tag").selectOption("All tags");
	await expect(rows.filter({ hasText: "everything__get-env" })).toBeVisible();
	await genkan.rest("POST", "/v1/tools/everything__get-env/enable");
	await page.getByRole("searchbox").fill("echo");
	await page.getByLabel("Tag").selectOption("sea");
	await page.getByRole("searchbox").fill("milk sugar bread flour camel passport visa hotel beach holiday say");
	await expect(page.getByText("Nothing fits well")).toBeVisible();
	await page.getByRole("searchbox").fill("");
	await page.getByLabel("Tag").selectOption("All tags");
	await expect(page).toHaveURL(/tools$/);
	await go(page, genkan, "tools?category=none");
	await expect(page.getByText("No tool matches.")).toBeVisible();
});

test("a slow call shows its time and is canceled", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "tools/fault__sleep");
	await page.getByLabel(/^ms/).fill("60000");
	await page.getByRole("button", { name: "Run" }).click();
	await expect(page.getByText(/^[1-9]\d* s$/)).toBeVisible();
	await page.getByRole("button", { name: "Cancel the call" }).click();
	await expect(page.getByText(/^The call is canceled\./)).toBeVisible();
	await expect(page.getByRole("button", { name: "Run" })).toBeEnabled();
});

test("a call that a workflow asks about is decided beside its form, and survives leaving", async ({
	signedIn: page,
	genkan,
}) => {
	await genkan.rest("PUT", "/v1/workflows/ask-first", {
		id: "ask-first",
		workflowType: "tools/call",
		match: { tools: ["fault__echo"] },
		nodes: [
			{ id: "start", type: "start" },
			{ id: "person", type: "approve" },
			{ id: "call", type: "mcp-call" },
			{ id: "end", type: "end" },
			{ id: "no", type: "end", data: { outcome: "deny" } },
		],
		edges: [
			{ source: "start", target: "person" },
			{ source: "person", target: "call" },
			{ source: "person", target: "no", sourceHandle: "denied" },
			{ source: "call", target: "end" },
		],
	});
	await genkan.rest("POST", "/v1/workflows/ask-first/enable", {});
	const main = page.getByRole("main");
	const run = async () => {
		await go(page, genkan, "tools/fault__echo");
		await page.getByLabel(/^text/).fill("asked");
		await page.getByRole("button", { name: "Run" }).click();
		await expect(main.getByText("Waiting for approval…")).toBeVisible();
	};
	await run();
	await accessible(page);
	await main.getByRole("button", { name: "Allow" }).click();
	await expect(main.locator("[aria-live=polite]").getByText("asked", { exact: true })).toBeVisible();
	await run();
	await page.getByRole("link", { name: "1 call waits for you" }).click();
	await main.getByRole("button", { name: "Allow" }).click();
	await expect(page.getByText("fault / echo is allowed.")).toBeVisible();
	await expect
		.poll(() => genkan.rest("GET", "/v1/calls?limit=1&tool=fault__echo"))
		.toMatchObject({ calls: [{ outcome: "ok" }] });
	await genkan.rest("DELETE", "/v1/workflows/ask-first");
});

test("a tool that is not there leads to the list", async ({ signedIn: page, genkan }) => {
	await go(page, genkan, "tools/everything__nothing");
	await page.getByRole("link", { name: "All tools" }).click();
	await expect(page).toHaveURL(/tools$/);
});

test.describe("a tool with a deep schema and rich answers", () => {
	const dot =
		"iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC";
	test.use({
		config: JSON.stringify({
			mcpServers: {
				deep: telling({
					tools: [
						{
							name: "order",
							inputSchema: {
								type: "object",
								required: ["customer", "size"],
								properties: {
									customer: {
										type: "object",
										required: ["name"],
										properties: {
											name: { type: "string" },
											address: { type: "object", properties: { city: { type: "string" }, floor: { type: "integer" } } },
										},
									},
									size: { enum: ["small", "large"] },
									extras: { type: "array", items: { enum: ["milk", "sugar"] } },
									lines: {
										type: "array",
										items: { type: "object", properties: { tea: { type: "string" }, cups: { type: "integer" } } },
									},
									notes: { type: "array", items: { type: "string" } },
									pay: {
										oneOf: [
											{
												title: "Cash",
												type: "object",
												required: ["change"],
												properties: { change: { type: "boolean" } },
											},
											{
												title: "Card",
												type: "object",
												required: ["number"],
												properties: { number: { type: "string" } },
											},
										],
									},
								},
							},
						},
						{
							name: "write",
							inputSchema: {
								type: "object",
								required: ["content", "kind"],
								properties: {
									content: { type: "string", description: "What to write." },
									kind: { enum: ["note", "letter"], description: "What it is." },
									title: { type: "string", maxLength: 80 },
									copies: { type: "integer" },
									scale: { type: "number" },
								},
							},
						},
						{
							name: "lines",
							result: { content: [{ type: "text", text: "## 議事録\n一行目です\n二行目です\n\n- 宿題\nつづき" }] },
						},
						{
							name: "markdown",
							result: { content: [{ type: "text", text: "# Tea\n\nIt is **hot**.\n\n- green\n- black" }] },
						},
						{ name: "image", result: { content: [{ type: "image", mimeType: "image/png", data: dot }] } },
						{
							name: "table",
							result: {
								content: [
									{
										type: "text",
										text: JSON.stringify([
											{ tea: "green", cups: 2 },
											{ tea: "black", cups: 3 },
										]),
									},
								],
							},
						},
						{ name: "broken", result: { isError: true, content: [{ type: "text", text: "The kettle is empty." }] } },
					],
				}),
			},
		}),
		shared: true,
		provoked: /^500 POST .*\/tools\/call$/, // the tool's own error
	});

	test("is called with what a form of nested objects, lists, choices and forms says", async ({
		signedIn: page,
		genkan,
	}) => {
		await go(page, genkan, "tools/deep__order");
		const group = (name: string) => page.getByRole("group", { name: new RegExp(`^${name}`) });
		await group("customer").getByLabel(/^name/).fill("Aiko");
		await group("address").getByLabel("city").fill("京都");
		await group("address").getByLabel("floor").fill("3");
		await page.getByLabel(/^size/).selectOption("large");
		await group("extras").getByRole("button", { name: "sugar" }).click();
		await group("lines").getByRole("button", { name: "Add to lines" }).click();
		await group("lines").getByLabel("tea").fill("green");
		await group("lines").getByLabel("cups").fill("2");
		await group("notes").getByRole("button", { name: "Add to notes" }).click();
		await group("notes").getByRole("textbox", { name: "Item 1" }).fill("no spoon");
		await group("pay").getByLabel("Which form").selectOption("Card");
		await group("pay")
			.getByLabel(/^number/)
			.fill("42");
		await accessible(page);
		const wanted = {
			customer: { name: "Aiko", address: { city: "京都", floor: 3 } },
			size: "large",
			extras: ["sugar"],
			lines: [{ tea: "green", cups: 2 }],
			notes: ["no spoon"],
			pay: { number: "42" },
		};
		// The form and the JSON say the same.
		await page.getByRole("tab", { name: "JSON" }).click();
		expect(JSON.parse(await page.getByRole("textbox", { name: "Arguments" }).inputValue())).toEqual(wanted);
		await page.getByRole("tab", { name: "Form" }).click();
		await page.getByRole("button", { name: "Run" }).click();
		const answer = page.locator("[aria-live=polite]").filter({ hasText: "Aiko" });
		await expect(answer).toBeVisible();
		const { calls } = await genkan.rest<{ calls: { id: string }[] }>("GET", "/v1/calls?limit=1&tool=deep__order");
		const call = await genkan.rest<{ request: { json: { arguments: unknown } } }>("GET", `/v1/calls/${calls[0]!.id}`);
		expect(call.request.json.arguments).toEqual(wanted);

		// What is wrong is said by the server's schema, with the place.
		await group("address").getByLabel("floor").fill("up");
		await page.getByRole("button", { name: "Run" }).click();
		await expect(page.getByRole("alert")).toContainText("Nothing was called.");
		await expect(group("address")).toContainText("This must be a whole number.");
	});

	test("texts keep their lines, numbers may be full-width, and fields say what they want", async ({
		signedIn: page,
		genkan,
	}) => {
		const sent = async () => {
			const { calls } = await genkan.rest<{ calls: { id: string }[] }>("GET", "/v1/calls?limit=1&tool=deep__write");
			const call = await genkan.rest<{ request: { json: { arguments: unknown } } }>("GET", `/v1/calls/${calls[0]!.id}`);
			return call.request.json.arguments;
		};
		await go(page, genkan, "tools/deep__write");
		const content = page.getByLabel(/^content/);
		const kind = page.getByLabel(/^kind/);
		// What is missing is asked for in the words of its field, whose help stays.
		await expect(kind.locator("option").first()).toHaveText("Choose one");
		await content.fill("x");
		await page.getByRole("button", { name: "Run" }).click();
		await expect(page.getByText("Choose one.", { exact: true })).toBeVisible();
		await expect(page.getByText("What it is.")).toBeVisible();
		await kind.selectOption("note");
		await content.fill("");
		await content.pressSequentially("one");
		await content.press("Enter");
		await expect(page.getByText("It ends with a line break.")).toBeVisible();
		await content.pressSequentially("two");
		await expect(page.getByText("It ends with a line break.")).toHaveCount(0);
		await page.getByLabel("copies").fill("１２");
		await page.getByLabel("scale").pressSequentially("　０．０５　");
		// A line that is pasted into becomes a text, and the cursor's place counts.
		const title = page.getByLabel("title");
		await expect(title).toHaveJSProperty("tagName", "INPUT");
		await title.fill("ad");
		await title.press("ArrowLeft");
		await page.evaluate(() => navigator.clipboard.writeText("b\nc"));
		await title.press("ControlOrMeta+v");
		await expect(title).toHaveValue("ab\ncd");
		await expect(title).toBeFocused();
		await page.keyboard.press("Control+Enter");
		await expect(page.getByRole("button", { name: "Rendered" })).toBeVisible();
		expect(await sent()).toEqual({ content: "one\ntwo", kind: "note", title: "ab\ncd", copies: 12, scale: 0.05 });
	});

	test("lines of an answer stay lines", async ({ signedIn: page, genkan }) => {
		await go(page, genkan, "tools/deep__lines");
		await page.getByRole("button", { name: "Run" }).click();
		await expect(page.locator(".prose p").first()).toHaveText("一行目です\n二行目です", { useInnerText: true });
		await expect(page.locator(".prose li")).toHaveText("宿題\nつづき", { useInnerText: true });
	});

	test("a tool that is off says so and asks for nothing that is not there", async ({ signedIn: page, genkan }) => {
		await genkan.rest("POST", "/v1/tools/deep__image/disable");
		await go(page, genkan, "tools/deep__image");
		await expect(page.getByText("no workflow runs around it")).toBeVisible();
		await expect(page.getByRole("button", { name: "Run" })).toBeDisabled();
		await page.getByRole("switch").click();
		await expect(page.getByRole("button", { name: "Run" })).toBeEnabled();
		await expect(page.getByRole("region", { name: "Workflows around its calls" })).toContainText("none");
	});

	test("answers are shown as Markdown, images and tables, and as they came", async ({ signedIn: page, genkan }) => {
		const run = async (tool: string) => {
			await go(page, genkan, `tools/deep__${tool}`);
			await page.getByRole("button", { name: "Run" }).click();
		};
		const raw = async (text: string) => {
			await page.getByRole("button", { name: "JSON", exact: true }).click();
			await expect(page.getByText(text).first()).toBeVisible();
			await accessible(page);
		};
		await run("markdown");
		await expect(page.locator(".prose").getByRole("heading", { name: "Tea" })).toBeVisible();
		await expect(page.locator(".prose strong")).toHaveText("hot");
		await expect(page.locator(".prose li")).toHaveCount(2);
		await raw("# Tea");
		await run("image");
		const image = page.getByRole("img", { name: "Image of the answer" });
		await expect(image).toBeVisible();
		expect(await image.evaluate((one: HTMLImageElement) => one.naturalWidth)).toBe(10);
		await raw("image/png");
		await run("table");
		await expect(page.getByRole("columnheader", { name: "cups" })).toBeVisible();
		await expect(page.getByRole("row", { name: "black 3" })).toBeVisible();
		await raw('"text"');
		await run("broken");
		await expect(page.getByText("The kettle is empty.")).toBeVisible();
	});
});

test.describe("a tool of a Python server", () => {
	const refs = { Color: { title: "Color", enum: ["red", "blue"] } };
	const tool = (name: string, inputSchema: object) => ({ name, inputSchema });
	test.use({
		config: JSON.stringify({
			mcpServers: {
				py: telling({
					tools: [
						tool("paint", {
							type: "object",
							properties: {
								id: { type: "integer" },
								any: {},
								note: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
								color: { allOf: [{ $ref: "#/definitions/Color" }] },
							},
							definitions: refs,
						}),
						tool("either", {
							type: "object",
							anyOf: [
								{ title: "By name", type: "object", required: ["name"], properties: { name: { type: "string" } } },
								{ title: "By number", type: "object", required: ["n"], properties: { n: { type: "integer" } } },
							],
						}),
						tool("say", {
							type: "object",
							properties: {
								parts: {
									type: "array",
									items: {
										anyOf: [
											{ title: "Word", type: "string" },
											{ title: "Thing", type: "object", properties: { a: { type: "string" } } },
										],
									},
								},
							},
						}),
					],
				}),
			},
		}),
		shared: true,
	});

	/** run runs the tool, and returns the body that was sent. */
	const run = async (page: Page) => {
		const sent = page.waitForRequest(/\/v1\/tools\/call$/);
		await page.getByRole("button", { name: "Run" }).click();
		return (await sent).postData()!;
	};

	test("numbers are sent and shown with all their digits", async ({ signedIn: page, genkan }) => {
		const big = '{"n":12345678901234567890}';
		const result = `{"content":[{"type":"text","text":${JSON.stringify(big)}}],"structuredContent":${big}}`;
		await page.route(/\/v1\/tools\/call$/, (route) =>
			route.fulfill({ contentType: "application/json", body: `{"success":true,"executionTime":1,"result":${result}}` }),
		);
		await go(page, genkan, "tools/py__paint");
		await page.getByRole("tab", { name: "JSON" }).click();
		const field = page.getByRole("textbox", { name: "Arguments" });
		await field.fill('{"id": 9007199254740993, "any": 12345678901234567890}');
		expect(await run(page)).toContain('{"id":9007199254740993,"any":12345678901234567890}');
		// The copy of what is structured is drawn once.
		const answer = page.locator("[aria-live=polite]").first();
		await expect(answer).toHaveText(/^\{\s*"n": 12345678901234567890\s*\}$/);
		await page.reload();
		await page.getByRole("tab", { name: "Form" }).click();
		await expect(page.getByLabel(/^any/)).toHaveValue("12345678901234567890");
		const id = page.getByLabel(/^id/);
		await expect(id).toHaveValue("9007199254740993");
		await id.fill("９００７１９９２５４７４０９９５");
		await expect(id).toHaveValue("９００７１９９２５４７４０９９５");
		await id.blur();
		await expect(id).toHaveValue("9007199254740995");
		expect(await run(page)).toContain('"id":9007199254740995');
	});

	test("what may be null is empty and not sent, and a choice of allOf is one", async ({ signedIn: page, genkan }) => {
		await go(page, genkan, "tools/py__paint");
		await expect(page.getByLabel(/^note/)).toHaveValue("");
		await page.getByLabel(/^Color/).selectOption("blue");
		expect(JSON.parse(await run(page)).parameters).toEqual({ color: "blue" });
		await page.getByRole("tab", { name: "JSON" }).click();
		await page.getByRole("textbox", { name: "Arguments" }).fill('{"note": null}');
		await page.getByRole("tab", { name: "Form" }).click();
		await expect(page.getByLabel(/^note/)).toHaveValue("");
	});

	test("arguments that have one of several forms are filled in", async ({ signedIn: page, genkan }) => {
		await go(page, genkan, "tools/py__either");
		await page.getByLabel("Which form").selectOption("By number");
		await page.getByLabel(/^n /).fill("7");
		await accessible(page);
		expect(JSON.parse(await run(page)).parameters).toEqual({ n: 7 });
	});

	test("an item keeps its form when one before it is removed", async ({ signedIn: page, genkan }) => {
		await go(page, genkan, "tools/py__say");
		await page.getByRole("tab", { name: "JSON" }).click();
		await page.getByRole("textbox", { name: "Arguments" }).fill('{"parts": ["one", {"a": "two"}]}');
		await page.getByRole("tab", { name: "Form" }).click();
		await page.getByRole("button", { name: "Remove item 1" }).click();
		const form = page.getByLabel("Which form");
		await expect(form).toHaveCount(1);
		await expect(form.locator("option:checked")).toHaveText("Thing");
		await expect(page.getByLabel("a", { exact: true })).toHaveValue("two");
	});
});

test("how far a call is, is told in the list, and to its caller on the page of its tool", async ({
	signedIn: page,
	genkan,
}) => {
	const { token } = await genkan.rest<{ token: string }>("POST", "/v1/tokens", { name: "ci" });
	await go(page, genkan, "tools/fault__progress");
	const run = async (n: number, ms: number) => {
		await page.getByLabel(/^n /).fill(`${n}`);
		await page.getByLabel(/^ms/).fill(`${ms}`);
		await page.getByRole("button", { name: "Run" }).click();
	};
	await run(1, 600_000); // it does not come to its first step
	const waiting = page.getByRole("main").getByText(/^\d+ s/);
	await expect(waiting).toBeVisible();
	const theirs = fetch(new URL("../v1/tools/call", genkan.ui), {
		method: "POST",
		headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
		body: JSON.stringify({ name: "fault__progress", parameters: { n: 5000, ms: 300 } }),
	});
	const list = await page.context().newPage();
	await go(list, genkan, "calls");
	const call = list.getByRole("row").filter({ has: list.getByRole("button", { name: "ci", exact: true }) });
	await expect(call.getByRole("gridcell").nth(4)).toContainText(/^\d+ of 5,000/);
	await expect(call.getByRole("gridcell").nth(5)).toHaveText(/^[\d.]+ (ms|s)$/);
	await expect(waiting).toHaveText(/^\d+ s$/);
	await call.getByRole("button", { name: "Cancel the call" }).click();
	await theirs;
	await list.close();
	await page.getByRole("button", { name: "Cancel the call" }).click();
	await run(60, 300);
	await expect(waiting).toHaveText(/^\d+ s · \d+ of 60$/);
	await page.getByRole("button", { name: "Cancel the call" }).click();
	await expect(page.getByText(/^The call is canceled\./)).toBeVisible();
});

test("a run teaches searches only if the tool was opened from their results", async ({ signedIn: page, genkan }) => {
	const learned = async () =>
		(await genkan.rest<{ lessons: { tool: string; terms: string[] }[] }>("GET", "/v1/search/learned?all=true")).lessons;
	const list = page.getByRole("grid", { name: "Tools" });
	const run = async () => {
		await page.getByRole("button", { name: "Run" }).click();
		await expect(page.getByRole("button", { name: "Rendered" })).toBeVisible();
	};
	await go(page, genkan, "tools");
	await page.getByRole("searchbox").fill("environment variables");
	await expect(list.getByRole("row", { name: /get-env/ })).toBeVisible();
	await page.getByRole("searchbox").fill("");
	await list.getByText("everything__get-tiny-image").click();
	await run();
	expect(await learned()).toEqual([]);
	await go(page, genkan, "tools?q=environment+variables");
	await list.getByText("everything__get-env").click();
	await page.getByRole("tab", { name: "Schema" }).click();
	await page.getByRole("tab", { name: "Try it" }).click();
	await run();
	expect(await learned()).toMatchObject([{ tool: "get-env", times: 1 }]);
	// The way back leads to the search.
	await page.getByRole("main").getByRole("link", { name: "Tools /" }).click();
	await expect(page.getByRole("searchbox")).toHaveValue("environment variables");
});
