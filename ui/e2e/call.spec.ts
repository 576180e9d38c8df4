import { askBefore, clipboard, open, row } from "./calls";
import { accessible, expect, type Genkan, go, test } from "./genkan";

/** idOf is the newest call of a tool. */
const idOf = async (genkan: Genkan, tool: string) =>
	(await genkan.rest<{ calls: { id: string }[] }>("GET", `/v1/calls?limit=1&tool=${tool}`)).calls[0]!.id;

test.describe("a call that has not ended", () => {
	test("is opened, decided and becomes the call that ended", async ({ genkan, signedIn: page }) => {
		await askBefore(genkan, "fault__echo");
		const main = page.locator("main");
		await genkan.call("fault__pid");
		await go(page, genkan, "calls");
		await expect(main.getByText("Live")).toBeVisible();
		const denied = genkan.call("fault__echo", { text: "and now?" });
		await open(row(page, "waits for approval"));
		await expect(main).toContainText("admin called fault__echo at");
		await expect(main).toContainText("waits for approval");
		await expect(main).toContainText("and now?");
		await accessible(page);
		await page.reload();
		await main.getByRole("button", { name: "Deny" }).click();
		await denied;
		// The client got the refusal, which is no answer of a server.
		await expect(main.getByText("Why it failed").locator("../..")).toContainText("A person said no.");
		await expect(main).not.toContainText("Nothing is kept.");

		await go(page, genkan, "calls");
		await expect(main.getByText("Live")).toBeVisible();
		const slow = genkan.call("fault__sleep", { ms: 600_000 });
		await open(row(page, "sleep"));
		await expect(main).toContainText("The call has not ended yet");
		// A link that somebody pastes leads there too.
		const other = await page.context().newPage();
		await other.goto(page.url());
		await expect(other.locator("main")).toContainText("admin called fault__sleep at");
		await expect(other.locator("main")).toContainText("600000");
		await accessible(other);
		await main.getByRole("button", { name: "Cancel the call" }).click();
		await slow;
		await expect(page.getByText("Where the time went")).toBeVisible();
		await expect(main.getByText("Why it failed").locator("../..")).toContainText("a person canceled this call");
		await expect(other.getByText("Where the time went")).toBeVisible();
		await other.close();
	});
});

test.describe("one call", () => {
	test("a sentence, what was sent and received, copies, find, run again", async ({ genkan, signedIn: page }) => {
		await genkan.call("fault__echo", { text: "# Title\n\nIt's **bold**: <img src=x onerror=window.bad=1>" });
		const id = await idOf(genkan, "fault__echo");
		await go(page, genkan, `calls/${id}`);
		await expect(page.locator("main")).toContainText(/admin called fault__echo at [\d:]+: \S+ ms \(.*server/);
		await expect(page.getByText("Where the time went")).toBeVisible();
		await expect(page.getByRole("heading", { name: "Title" })).toBeVisible();
		expect(await page.evaluate(() => [document.querySelectorAll("main img").length, "bad" in window])).toEqual([
			0,
			false,
		]);
		await accessible(page);

		const copy = async (as: string) => {
			await page.getByRole("button", { name: "Copy as" }).click();
			await page.getByRole("menuitem", { name: as }).click();
		};
		await copy("genkan call");
		const quoted = String.raw`It'\''s **bold**`;
		await expect.poll(() => clipboard(page)).toMatch(/genkan --data \S+ call fault__echo '\{"text":/);
		expect(await clipboard(page)).toContain(quoted);
		await copy("curl");
		await expect.poll(() => clipboard(page)).toMatch(/^curl 'http:.*\/v1\/tools\/call'/);
		await copy("Link");
		await expect.poll(() => clipboard(page)).toMatch(new RegExp(`/ui/calls/${id}$`));
		await copy("Markdown for an agent");
		await expect.poll(() => clipboard(page)).toMatch(/^# Call .*fault__echo[\s\S]*## Answer/);

		await page.keyboard.press("/");
		await page.keyboard.type("bold");
		await expect(page.getByText("1/2")).toBeVisible();
		await page.keyboard.press("Enter");
		await expect(page.getByText("2/2")).toBeVisible();
		await page.keyboard.press("Escape");

		await page.getByRole("button", { name: "JSON" }).last().click();
		await expect(page.getByText('"content"')).toBeVisible();
		await page.getByRole("button", { name: "Bytes" }).last().click();
		await expect(page.getByText("0000  7b22")).toBeVisible();
		// The address has it.
		await expect(page).toHaveURL(/\?got=bytes$/);
		await page.reload();
		await expect(page.getByText("0000  7b22")).toBeVisible();
		await page.getByRole("button", { name: "Rendered" }).last().click();
		await expect(page).not.toHaveURL(/got=/);

		// It only reads, so it runs at once.
		await page.getByRole("button", { name: "Run again" }).click();
		await expect(page.getByRole("dialog")).toContainText("fault__echo answered");
		await expect(page.getByRole("dialog")).toContainText("Secrets in it are not masked here.");
		await page.getByRole("link", { name: "Show the call in the record" }).click();
		await expect(page).toHaveURL(new RegExp(`/ui/calls/${await idOf(genkan, "fault__echo")}$`));
		await expect(page.getByRole("dialog")).toHaveCount(0);
		await go(page, genkan, `calls/${id}`);

		await page.getByRole("button", { name: "Make a workflow from this call" }).click();
		await expect(page).toHaveURL(new RegExp(`/workflows/new\\?tool=[^&]*&call=${id}$`));
	});

	test("a tool that is not read-only is run again after a question", async ({ genkan, signedIn: page }) => {
		await genkan.call("fault__count");
		await go(page, genkan, `calls/${await idOf(genkan, "fault__count")}`);
		await page.getByRole("button", { name: "Run again" }).click();
		await expect(page.getByRole("dialog")).toContainText("Run fault__count again?");
		await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
		await page.getByRole("button", { name: "Run again" }).click();
		await page.getByRole("dialog").getByRole("button", { name: "Run again" }).click();
		await expect(page.getByRole("dialog")).toContainText("2");
	});

	test("[ and ] step through failed calls; a secret names its rule; images and tables are drawn", async ({
		genkan,
		signedIn: page,
	}) => {
		const fail = (message: string) =>
			genkan.call("fault__raw", { error_json: JSON.stringify({ code: -32000, message }) });
		await fail("The first failure.");
		await genkan.call("everything__get-tiny-image");
		await fail("The second failure.");
		await genkan.call("everything__get-structured-content", { location: "Chicago" });
		await genkan.call("fault__echo", { text: "postgres://app:hunter2secretpw@db/app" });
		await go(page, genkan, `calls/${await idOf(genkan, "fault__echo")}`);
		await expect(
			page.getByText("masks values that match the rule url-password. The client got the real value."),
		).toBeVisible();
		await expect(page.locator("mark", { hasText: "[redacted:url-password]" }).first()).toBeVisible();
		await expect(page.locator("main")).not.toContainText("hunter2secretpw");
		await expect(page.getByRole("button", { name: "Run again" })).toBeDisabled();
		await expect(page.getByText("so the call cannot be run again from here")).toBeVisible();
		await page.getByRole("button", { name: "Copy as" }).click();
		await page.getByRole("menuitem", { name: "genkan call" }).click();
		await expect(page.getByText("Put the real value in place of [redacted:url-password]")).toBeVisible();

		await page.keyboard.press("[");
		await expect(page.locator("main")).toContainText("The second failure.");
		await page.keyboard.press("[");
		await expect(page.locator("main")).toContainText("The first failure.");
		await page.keyboard.press("[");
		await expect(page.getByText("No earlier call failed.")).toBeVisible();
		await page.keyboard.press("]");
		await expect(page.locator("main")).toContainText("The second failure.");
		await page.keyboard.press("]");
		await expect(page.getByText("No later call failed.")).toBeVisible();

		await go(page, genkan, `calls/${await idOf(genkan, "get-tiny-image")}`);
		await expect(page.getByRole("img", { name: "Image of the answer" })).toBeVisible();
		await go(page, genkan, `calls/${await idOf(genkan, "get-structured-content")}`);
		await expect(page.getByText('"temperature"')).toHaveCount(1); // the text beside it is the same

		await genkan.call("fault__echo", { text: '[{"tea":"green","cups":2},{"tea":"black","cups":3}]' });
		await go(page, genkan, `calls/${await idOf(genkan, "fault__echo")}`);
		const table = page.getByRole("table").filter({ hasText: "green" });
		await expect(table.getByRole("columnheader")).toHaveText(["tea", "cups"]);
		await expect(table.getByRole("cell")).toHaveText(["green", "2", "black", "3"]);
	});

	test("what only the record masks is told from what a workflow took out", async ({ genkan, signedIn: page }) => {
		await genkan.rest("PUT", "/v1/workflows/numbers", {
			id: "numbers",
			name: "Numbers",
			workflowType: "tools/call",
			match: { tools: ["fault__echo"] },
			nodes: [
				{ id: "start", type: "start" },
				{ id: "call", type: "mcp-call" },
				{
					id: "take",
					type: "hook",
					data: {
						hook: {
							blocking: true,
							script: 'context.response = mapText(context.response, (s) => s.replace("555-0100", "[redacted:phone]"))',
						},
					},
				},
				{ id: "end", type: "end" },
			],
			edges: [
				{ source: "start", target: "call" },
				{ source: "call", target: "take" },
				{ source: "take", target: "end" },
			],
		});
		await genkan.rest("POST", "/v1/workflows/numbers/enable", {});
		await genkan.call("fault__echo", { text: "555-0100 postgres://app:hunter2secretpw@db/app" });
		await go(page, genkan, `calls/${await idOf(genkan, "fault__echo")}`);
		const main = page.locator("main");
		await expect(main).toContainText("masks values that match the rule url-password. The client sent the real value.");
		// Whether the workflow had replaced it before is not known.
		await expect(main).toContainText("masks values that match the rule url-password, also those that a workflow");
		await expect(main).not.toContainText("The client got the real value.");
		await expect(main).toContainText("Taken out by the workflow Numbers. The client did not get it.");
		await expect(main.locator("mark[data-masked=record]")).toHaveText(Array(2).fill("[redacted:url-password]"));
		await expect(main.locator("mark:not([data-masked])")).toHaveText(["[redacted:phone]"]);
		await accessible(page);
		await page.getByRole("tab", { name: /^Changes per step/ }).click();
		await expect(main).toContainText("Marks like [redacted:url-password] are of this view.");
		await expect(main.locator("li mark[data-masked=record]")).toHaveText(["[redacted:url-password]"]);
		await expect(main.locator("mark:not([data-masked])")).toHaveText(["[redacted:phone]"]);

		// A replay runs on the real values, and is masked where it is shown, too.
		await go(page, genkan, `workflows/numbers?call=${await idOf(genkan, "fault__echo")}`);
		const output = page.getByRole("region", { name: "Output" });
		await expect(output).toContainText(
			"This view masks values that match url-password, also those that the workflow put in.",
		);
		await expect(output.locator("mark[data-masked=record]")).toHaveText(["[redacted:url-password]"]);
		await expect(output.locator("mark:not([data-masked])")).toHaveText(["[redacted:phone]"]);
	});

	test("a secret that a workflow replaced with something else was not sent to the client", async ({
		genkan,
		signedIn: page,
	}) => {
		const workflow = (id: string, name: string, script: string) => ({
			id,
			name,
			workflowType: "tools/call",
			match: { tools: ["fault__echo"] },
			nodes: [
				{ id: "start", type: "start" },
				{ id: "call", type: "mcp-call" },
				{ id: "hide", type: "hook", data: { label: "Hide", hook: { blocking: true, script } } },
				{ id: "end", type: "end" },
			],
			edges: [
				{ source: "start", target: "call" },
				{ source: "call", target: "hide" },
				{ source: "hide", target: "end" },
			],
		});
		for (const [id, name, from, to] of [
			["b", "Own", "password: \\S+", "password: [gone]"],
			["a", "Second", "tea", "coffee"],
		] as const) {
			const script = `context.response = mapText(context.response, (s) => s.replace(/${from}/, "${to}"))`;
			await genkan.rest("PUT", `/v1/workflows/${id}`, workflow(id, name, script));
			await genkan.rest("POST", `/v1/workflows/${id}/enable`, {});
		}
		const token = `ghp_${"a1B2".repeat(9)}`;
		await genkan.call("fault__echo", { text: `tea ${token} password: hunter2-secret-9` });
		const id = await idOf(genkan, "fault__echo");
		await go(page, genkan, `calls/${id}`);
		const main = page.locator("main");
		await expect(main).toContainText("also those that a workflow put in.");
		await expect(main).not.toContainText("The client got the real value.");
		// The bars are in the order of the time, which is also that of the starts.
		const { workflows } = await genkan.rest<{ workflows: { workflow: string }[] }>("GET", `/v1/calls/${id}`);
		const names = { a: "Second / Hide", b: "Own / Hide" } as Record<string, string>;
		await expect(main.getByRole("link", { name: / \/ Hide$/ })).toHaveText(
			workflows.map(({ workflow }) => names[workflow]!),
		);
		// What the tab counts are places that were changed, and its marks are the record's.
		await page.getByRole("tab", { name: /^Changes per step/ }).click();
		await expect(main.getByText("/response/content/0/text")).toHaveCount(2);
		await expect(page.getByRole("tab", { name: "Changes per step2", exact: true })).toBeVisible();
		await expect(main.locator("mark:not([data-masked])")).toHaveCount(0);
		await expect(main.locator("mark[data-masked=record]", { hasText: "github-token" }).first()).toBeVisible();
	});

	test("a call that was refused has no changes to count", async ({ genkan, signedIn: page }) => {
		await genkan.rest("PUT", "/v1/workflows/no", {
			id: "no",
			workflowType: "tools/call",
			match: { tools: ["fault__echo"] },
			nodes: [
				{ id: "start", type: "start" },
				{ id: "end", type: "end", data: { outcome: "deny", message: "Not today." } },
			],
			edges: [{ source: "start", target: "end" }],
		});
		await genkan.rest("POST", "/v1/workflows/no/enable", {});
		await genkan.call("fault__echo", { text: "tea" });
		await go(page, genkan, `calls/${await idOf(genkan, "fault__echo")}`);
		await expect(page.getByText("Not today. It was not sent.").first()).toBeVisible();
		await expect(page.getByRole("tab", { name: "Changes per step", exact: true })).toBeVisible();
	});

	test("find also finds what is not drawn", async ({ genkan, signedIn: page }) => {
		const rows = Array.from({ length: 200 }, (_, n) => ({
			n,
			word: `word-${n}`,
			...(n === 150 && { rare: "jasmine" }),
		}));
		await genkan.call("fault__raw", {
			result_json: JSON.stringify({ content: [{ type: "text", text: JSON.stringify(rows) }] }),
		});
		await go(page, genkan, `calls/${await idOf(genkan, "fault__raw")}`);
		const table = page.getByRole("table").filter({ hasText: "word-1" });
		await expect(table).not.toContainText("word-150");
		// The first place is in the arguments.
		const find = page.getByRole("searchbox", { name: "Find in this call" });
		await find.fill("word-150");
		await expect(page.getByText("1/2")).toBeVisible();
		await find.press("Enter");
		await expect(table.getByRole("cell", { name: "word-150" })).toBeInViewport();
		await find.fill("JASMINE");
		await expect(page.getByText("1/2")).toBeVisible();
		await find.press("Enter");
		await expect(table.getByRole("cell", { name: "jasmine" })).toBeInViewport();
		await find.fill("word-999");
		await expect(page.getByText("not found")).toBeVisible();
		await expect(table).not.toContainText("word-150");
	});

	test("what a browser refuses to copy is said", async ({ genkan, signedIn: page }) => {
		await genkan.call("fault__echo", { text: "# staging\nDB_HOST=db" });
		await go(page, genkan, `calls/${await idOf(genkan, "fault__echo")}`);
		await expect(page.getByRole("heading", { name: "staging" })).toHaveCount(0);
		await page.evaluate(() => {
			navigator.clipboard.writeText = () =>
				Promise.reject(new DOMException("Write permission denied.", "NotAllowedError"));
		});
		await page.getByRole("button", { name: "Copy as" }).click();
		await page.getByRole("menuitem", { name: "Link" }).click();
		await expect(page.getByText("The browser did not let this page use the clipboard.")).toBeVisible();
		await expect(page.getByText("permission denied")).toHaveCount(0);
		// Over HTTP, pages from elsewhere than this machine have no clipboard.
		await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
		await page.getByRole("button", { name: "Copy as" }).click();
		await page.getByRole("menuitem", { name: "Link" }).click();
		await expect(page.getByText("Browsers let pages copy only over HTTPS")).toBeVisible();
	});

	test("what each node changed is a diff", async ({ genkan, signedIn: page }) => {
		const polite = {
			id: "polite",
			name: "Polite",
			workflowType: "tools/call",
			match: { tools: ["fault__echo"] },
			nodes: [
				{ id: "start", type: "start" },
				{
					id: "please",
					type: "hook",
					data: {
						label: "Say please",
						hook: { blocking: true, script: 'context.request.params.arguments.text += ", please"' },
					},
				},
				{ id: "call", type: "mcp-call" },
				{ id: "end", type: "end" },
			],
			edges: [
				{ source: "start", target: "please" },
				{ source: "please", target: "call" },
				{ source: "call", target: "end" },
			],
		};
		await genkan.rest("PUT", "/v1/workflows/polite", polite);
		await genkan.rest("POST", "/v1/workflows/polite/enable", {});
		await genkan.call("fault__echo", { text: "tea" });
		await go(page, genkan, `calls/${await idOf(genkan, "fault__echo")}`);
		// Steps have the names that the editor shows.
		await expect(page.getByRole("link", { name: "Polite / Say please" })).toBeVisible();
		await page.getByRole("tab", { name: /Changes per step/ }).click();
		await expect(page).toHaveURL(/tab=changes/);
		await expect(page.getByText("Say please", { exact: true })).toBeVisible();
		await expect(page.getByText("Call the tool", { exact: true })).toBeVisible();
		await expect(page.getByText("/request/params/arguments/text")).toBeVisible();
		await expect(page.getByText("tea", { exact: true })).toBeVisible();
		await expect(page.getByText("tea, please")).toBeVisible();
		// Those that are for the tool come first.
		await genkan.rest("PUT", "/v1/workflows/elsewhere", {
			...polite,
			id: "elsewhere",
			name: "A for another",
			match: { tools: ["fault__count"] },
		});
		await page.getByRole("button", { name: "Replay through a draft" }).click();
		await expect(page.getByRole("menuitem").nth(0)).toContainText("Polite");
		await expect(page.getByRole("menuitem").nth(1)).toContainText("A for anothernot for this tool");
		await accessible(page);
		await go(page, genkan, "calls");
		await expect(row(page, "echo").getByRole("img", { name: "A workflow changed it" })).toBeVisible();
	});

	test("what a workflow in shadow would have changed", async ({ genkan, signedIn: page }) => {
		await genkan.rest("PUT", "/v1/workflows/loud", {
			id: "loud",
			name: "Loud",
			workflowType: "tools/call",
			mode: "shadow",
			match: { tools: ["fault__echo"] },
			nodes: [
				{ id: "start", type: "start" },
				{ id: "call", type: "mcp-call" },
				{
					id: "shout",
					type: "hook",
					data: { hook: { blocking: true, script: 'context.response.content[0].text += "!"' } },
				},
				{ id: "end", type: "end" },
			],
			edges: [
				{ source: "start", target: "call" },
				{ source: "call", target: "shout" },
				{ source: "shout", target: "end" },
			],
		});
		await genkan.rest("POST", "/v1/workflows/loud/enable", {});
		await genkan.call("fault__echo", { text: "tea" });
		const id = await idOf(genkan, "fault__echo");
		await expect.poll(async () => JSON.stringify(await genkan.rest("GET", `/v1/calls/${id}`))).toContain("tea!");
		await go(page, genkan, "calls");
		await row(page, "echo").getByRole("img", { name: "A workflow in shadow would have changed it" }).click();
		// It ran beside the call, whose answer stayed.
		await expect(page.getByText("Where the time went")).toBeVisible();
		await expect(page.getByText(/^Loud \/ /)).toHaveCount(0);
		// The tab counts what was changed: nothing.
		await page.getByRole("tab", { name: "Changes per step", exact: true }).click();
		await expect(page.getByText("Nothing was changed. It would have changed the answer.")).toBeVisible();
		await expect(page.getByText("not carried out")).toBeVisible();
		await expect(page.getByText("tea!", { exact: true })).toBeVisible();
		await expect(page.getByText("tea", { exact: true })).toBeVisible();
		await accessible(page);

		// A call that failed by itself was not denied by a workflow that only watches.
		await genkan.rest("PUT", "/v1/workflows/loud?base=1", {
			id: "loud",
			name: "Loud",
			workflowType: "tools/call",
			mode: "shadow",
			match: { tools: ["fault__raw"] },
			nodes: [
				{ id: "start", type: "start" },
				{ id: "no", type: "end", data: { outcome: "deny", message: "never" } },
			],
			edges: [{ source: "start", target: "no" }],
		});
		await genkan.rest("POST", "/v1/workflows/loud/enable", {});
		await genkan.call("fault__raw", {
			result_json: '{"content":[{"type":"text","text":"it is full"}],"isError":true}',
		});
		const failed = await idOf(genkan, "fault__raw");
		await expect.poll(async () => JSON.stringify(await genkan.rest("GET", `/v1/calls/${failed}`))).toContain("never");
		await go(page, genkan, `calls/${failed}?tab=changes`);
		await expect(page.getByText("Nothing was changed. It would have denied the call.")).toBeVisible();
		await expect(page.getByText(/It failed after .*: tool error/)).toBeVisible();

		// One that would have failed is told, too.
		await genkan.rest("PUT", "/v1/workflows/loud?base=2", {
			id: "loud",
			name: "Loud",
			workflowType: "tools/call",
			mode: "shadow",
			match: { tools: ["fault__pid"] },
			nodes: [
				{ id: "start", type: "start" },
				{ id: "bad", type: "hook", data: { hook: { blocking: true, script: 'throw new Error("so bad")' } } },
				{ id: "call", type: "mcp-call" },
				{ id: "end", type: "end" },
			],
			edges: [
				{ source: "start", target: "bad" },
				{ source: "bad", target: "call" },
				{ source: "call", target: "end" },
			],
		});
		await genkan.rest("POST", "/v1/workflows/loud/enable", {});
		await genkan.call("fault__pid");
		const passed = await idOf(genkan, "fault__pid");
		await expect.poll(async () => JSON.stringify(await genkan.rest("GET", `/v1/calls/${passed}`))).toContain("so bad");
		await go(page, genkan, `calls/${passed}`);
		await expect(page.getByText("It would have failed, and refused the call.")).toBeVisible();
	});
});

test.describe("a tool that answers with an error", () => {
	test.use({ provoked: /^500 POST .*\/v1\/tools\/call$/ });

	test("says so at its step; numbers stay what they are", async ({ genkan, signedIn: page }) => {
		await genkan.rest("PUT", "/v1/workflows/watch", {
			id: "watch",
			name: "Watch",
			workflowType: "tools/call",
			match: { tools: ["fault__raw"] },
			nodes: [
				{ id: "start", type: "start" },
				{ id: "call", type: "mcp-call" },
				{ id: "end", type: "end" },
			],
			edges: [
				{ source: "start", target: "call" },
				{ source: "call", target: "end" },
			],
		});
		await genkan.rest("POST", "/v1/workflows/watch/enable", {});
		const numbers = '[{"id":12345678901234567890,"of":1.0}]';
		const result = `{"content":[{"type":"text","text":${JSON.stringify(numbers)}}],"isError":true}`;
		// JSON.stringify would write other digits.
		const body = `{"name":"fault__raw","parameters":{"result_json":${JSON.stringify(result)},"id":12345678901234567890}}`;
		await page.request.post(new URL("../v1/tools/call", genkan.ui).href, {
			data: body,
			headers: { Authorization: `Bearer ${genkan.token()}`, "Content-Type": "application/json" },
		});
		const id = await idOf(genkan, "fault__raw");
		await go(page, genkan, `calls/${id}`);
		await expect(page.getByRole("cell", { name: "12345678901234567890" })).toBeVisible();
		await expect(page.getByRole("cell", { name: "1.0", exact: true })).toBeVisible();
		await page.getByRole("button", { name: "Copy as" }).click();
		await page.getByRole("menuitem", { name: "curl" }).click();
		await expect.poll(() => clipboard(page)).toContain('"id":12345678901234567890}');
		await page.getByRole("button", { name: "Bytes" }).first().click();
		await expect(page.getByText("1234567890123456")).not.toHaveCount(0);

		await page.getByRole("tab", { name: "Changes per step" }).click();
		await expect(page.getByRole("listitem").filter({ hasText: "tool error" })).toHaveCount(1);
		await expect(page.getByText(/^ok · /)).toHaveCount(0);

		const asked = page.waitForRequest(
			(request) => request.method() === "POST" && request.url().endsWith("/tools/call"),
		);
		await page.getByRole("button", { name: "Run again" }).click();
		await page.getByRole("dialog").getByRole("button", { name: "Run again" }).click();
		expect((await asked).postData()).toContain('"id":12345678901234567890}');
	});
});

test.describe("a call that is gone", () => {
	test.use({ provoked: /^404 GET .*GONE-1$/ });

	test("says so", async ({ page, genkan }) => {
		await page.goto(await genkan.link());
		await expect(page.getByRole("navigation")).toBeVisible();
		await go(page, genkan, "calls/GONE-1");
		await expect(page.getByRole("alert")).toContainText("GONE-1");
		await accessible(page);
	});
});

test.describe("without bodies", () => {
	test("a call says why nothing is there", async ({ genkan, signedIn: page }) => {
		const { token } = await genkan.rest<{ token: string }>("POST", "/v1/tokens", { name: "ci" });
		await fetch(new URL("../v1/tools/call", genkan.ui), {
			method: "POST",
			headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
			body: JSON.stringify({ name: "fault__pid" }),
		});
		await go(page, genkan, `calls/${await idOf(genkan, "fault__pid")}`);
		await expect(page.getByText("It is kept only for clients of this machine's user")).toBeVisible();
		await expect(page.getByRole("button", { name: "Make a workflow from this call" })).toBeDisabled();
		await accessible(page);
		await page.getByRole("link", { name: "To Settings, History" }).click();
		await page.getByRole("combobox", { name: "What was sent and received" }).selectOption("kept for all clients");
	});

	test("what nodes did to a call is not kept either", async ({ genkan, signedIn: page }) => {
		const script = 'context.request.params.arguments.text = "canary after"';
		await genkan.rest("PUT", "/v1/workflows/changes", {
			id: "changes",
			workflowType: "tools/call",
			match: { tools: ["fault__echo"] },
			nodes: [
				{ id: "start", type: "start" },
				{ id: "before", type: "hook", data: { hook: { script, blocking: true } } },
				{ id: "call", type: "mcp-call" },
				{ id: "end", type: "end" },
			],
			edges: [
				{ source: "start", target: "before" },
				{ source: "before", target: "call" },
				{ source: "call", target: "end" },
			],
		});
		await genkan.rest("POST", "/v1/workflows/changes/enable", {});
		const { token } = await genkan.rest<{ token: string }>("POST", "/v1/tokens", { name: "ci" });
		await fetch(new URL("../v1/tools/call", genkan.ui), {
			method: "POST",
			headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
			body: JSON.stringify({ name: "fault__echo", parameters: { text: "canary before" } }),
		});
		await go(page, genkan, `calls/${await idOf(genkan, "fault__echo")}?tab=changes`);
		await expect(page.getByText("this says only which parts a node changed")).toBeVisible();
		await expect(page.getByText("/request/params/arguments")).toBeVisible();
		await page.getByRole("tab", { name: "Raw" }).click();
		await expect(page.getByText('"/request/params/arguments"')).toBeVisible();
		await expect(page.locator("main")).not.toContainText("canary");
	});
});
