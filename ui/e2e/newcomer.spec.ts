import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { bin, expect, test } from "./genkan";
import { englishOn, wordsIn } from "./words";

// What a newcomer does in the browser alone, after genkan serve has opened it: nothing here
// is done over the API, and the client is a real one that follows its file.
for (const lang of ["en", "ja"] as const) {
	test.describe(lang, () => {
		test.use({ config: "", machine: lang === "ja" ? "ja_JP.UTF-8" : "en_US.UTF-8" });

		test("from the servers of an editor to a redaction that runs", async ({ genkan, page }) => {
			const t = wordsIn(lang);
			const file = join(genkan.home, ".cursor", "mcp.json");
			mkdirSync(join(genkan.home, ".cursor"));
			writeFileSync(file, JSON.stringify({ mcpServers: { fault: { command: join(bin, "faultserver") } } }));
			const button = (name: string) => page.getByRole("button", { name, exact: true });
			const dialog = page.getByRole("dialog");
			const rows = page.getByRole("grid", { name: t("Calls") }).getByRole("row");

			await page.goto(await genkan.link());
			await expect(page.getByRole("heading", { name: t("Welcome in.") })).toBeVisible();
			const steps = page.locator("main ol > li[data-step]");
			await translated(page, lang);

			// The servers of the editor.
			await button(t("Import")).click();
			await translated(page, lang);
			await dialog.getByRole("button", { name: t("Import {n} servers", { n: 1 }).replace(/s$/, "") }).click();
			await expect(steps.nth(0)).toHaveAttribute("data-step", "done");
			await expect(steps.nth(0)).toContainText(t("All of them are up."));

			// The editor becomes a client.
			await button(t("Connect")).click();
			await expect(steps.nth(1)).toHaveAttribute("data-step", "done");
			await translated(page, lang);
			const { mcpServers } = JSON.parse(readFileSync(file, "utf8"));
			const client = await genkan.client(mcpServers.fault);
			const say = async (text: string) => JSON.stringify(await client.callTool({ name: "echo", arguments: { text } }));

			// The first call arrives.
			expect(await say("Mail aiko@example.jp.")).toContain("aiko@example.jp");
			await expect(rows).toHaveCount(2);
			await expect(rows.nth(1)).toContainText("aiko@example.jp");
			await expect(rows.nth(1)).toContainText(/cursor/i);
			await translated(page, lang);
			await steps
				.nth(2)
				.getByRole("link", { name: t("See it") })
				.click();
			await expect(page).toHaveURL(/\/calls\/[^?]+$/);
			await expect(page.getByText("aiko@example.jp").first()).toBeVisible();
			// Whoever opens the steps again is told that they are done.
			await page.goto(`${genkan.ui}calls?start=1`);
			await expect(page.getByText(t("All three steps are done."), { exact: true })).toBeVisible();

			// A redaction, from the template.
			await page.getByRole("link", { name: t("Workflows") }).click();
			await expect(page).toHaveURL(/workflows$/);
			await translated(page, lang);
			await page
				.getByRole("main")
				.getByRole("button", { name: lang === "ja" ? /伏せ/ : /^Redact/ })
				.click();
			await translated(page, lang);
			await button(t("Make {n} drafts", { n: 3 })).click();
			await expect(page.locator("[data-node]").first()).toBeVisible();
			await translated(page, lang);

			// The call of before goes through it.
			await page.getByRole("link", { name: t("Calls"), exact: true }).click();
			await rows.nth(1).getByRole("gridcell").nth(4).click();
			await expect(page.getByText(t("Where the time went"))).toBeVisible();
			await translated(page, lang);
			await expect(button(t("Run again"))).toBeEnabled();
			await button(t("Replay through a draft")).click();
			await page.getByRole("menuitem").first().click();
			const output = page.getByRole("region", { name: t("Output") });
			await expect(output).toContainText(t("The answer goes back, changed."));
			await expect(output).not.toContainText("aiko@example.jp");
			await translated(page, lang);

			// It is turned on.
			await button(t("Enable…")).click();
			await expect(page.getByText(t("It is for the one call that could be tried."))).toBeVisible();
			await translated(page, lang);
			await page.getByRole("button", { name: t("Enable"), exact: true }).click();
			await expect(page.getByText(t("active: v{version}", { version: 1 }))).toBeVisible();
			await translated(page, lang);

			// And works.
			const answer = await say("Mail haruto@example.jp.");
			expect(answer).toContain("Mail");
			expect(answer).not.toContain("haruto@example.jp");
			await page.getByRole("link", { name: t("Calls"), exact: true }).click();
			await expect(rows.nth(1).getByRole("img", { name: t("A workflow changed it") })).toBeVisible();
			await rows.nth(1).getByRole("gridcell").nth(4).click();
			await expect(page.getByText("Mail [redacted:mail].")).toBeVisible();
			await page.getByRole("tab", { name: t("Changes per step") }).click();
			await expect(page.getByText("Mail [redacted:mail].")).toBeVisible();
			await translated(page, lang);
		});
	});
}

/** translated fails if something of Genkan is still English on a Japanese page. */
async function translated(page: Page, lang: string): Promise<void> {
	if (lang !== "ja") return;
	await expect(page.getByRole("status", { name: wordsIn("ja")("Loading") })).toHaveCount(0);
	expect(await englishOn(page, /^$/)).toEqual([]);
}
