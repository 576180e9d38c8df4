import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Page, test } from "@playwright/test";
import { bin, top } from "./build";
import { expect, Genkan, go, pictures } from "./genkan";

// Takes a picture of every page, in both themes, wide and narrow. The servers and the last
// calls are real; the calls of the day before are written into the history.

const dir = join(top, "docs/images");
const settingsParts = ["history", "limits", "secrets", "knowledge", "connected", "learned", "backup", "doctor"];
const words = { en: "en_US.UTF-8", ja: "ja_JP.UTF-8" };

test.beforeAll(() => {
	mkdirSync(dir, { recursive: true });
	// The servers are commands, so that pictures show no folder of this machine.
	process.env.PATH = `${join(top, "ui/node_modules/.bin")}:${process.env.PATH}`;
	execFileSync("go", ["build", "-C", "bench", "-buildvcs=false", "-o", join(bin, "bench"), "."], { cwd: top });
});

test("the first page of a newcomer", async ({ page }) => {
	await at("first", "en", async (genkan) => {
		const server = (name: string, ...args: string[]) => ({ command: `mcp-server-${name}`, args });
		const files = { files: server("filesystem", join(genkan.home, "src")) };
		write(genkan.home, ".claude.json", { mcpServers: { everything: server("everything"), ...files } });
		write(genkan.home, ".cursor/mcp.json", { mcpServers: files });
		await genkan.start("");
		await open(page, genkan, "calls");
		await pictures(page, dir, "welcome");
	});
});

for (const lang of ["en", "ja"] as const)
	test(`pages after a day of work, ${lang}`, async ({ browser }) => {
		const page = await browser.newPage({
			locale: lang === "ja" ? "ja-JP" : "en-US",
			viewport: { width: 1280, height: 860 },
		});
		await at("aiko", lang, async (genkan) => {
			const call = await work(genkan);
			const pages = {
				calls: "calls",
				call: `calls/${call}`,
				editor: `workflows/redact?call=${call}`,
				servers: "servers",
				server: "servers/everything",
				"add-server": "servers?add=form",
				tools: "tools?q=read a file",
				tool: "tools/everything__get-sum",
				workflows: "workflows",
				templates: "workflows?template=all",
				knowledge: "knowledge",
				modules: "modules",
				module: "modules/sign",
				item: "knowledge/decisions-1",
				graph: "knowledge/decisions-1?view=graph",
				clients: "clients",
				charts: "charts",
				settings: "settings",
				"knowledge-state": "knowledge/state",
				...Object.fromEntries(settingsParts.map((part) => [`settings-${part}`, `settings/${part}`])),
			};
			for (const [name, path] of Object.entries(pages).slice(0, lang === "ja" ? 3 : undefined)) {
				await open(page, genkan, path);
				if (lang === "en") await pictures(page, dir, name);
				else await page.screenshot({ path: join(dir, `${name}-ja-1280.png`), animations: "disabled" });
			}
		});
		await page.close();
	});

test("the page that signs in", async ({ page }) => {
	await at("door", "en", async (genkan) => {
		await genkan.start("");
		await page.goto(genkan.ui);
		await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
		await pictures(page, dir, "sign-in");
	});
});

/** at runs a Genkan whose files are in a folder of a person. */
async function at(who: string, lang: keyof typeof words, use: (genkan: Genkan) => Promise<void>): Promise<void> {
	const home = join(tmpdir(), who);
	rmSync(home, { recursive: true, force: true });
	mkdirSync(home);
	const genkan = new Genkan(home);
	genkan.language = words[lang];
	// Pages show where it is.
	mkdirSync(join(home, ".local/bin"), { recursive: true });
	copyFileSync(genkan.genkan, join(home, ".local/bin/genkan"));
	genkan.genkan = join(home, ".local/bin/genkan");
	try {
		await use(genkan);
	} finally {
		await genkan.stop();
	}
}

/** open opens a page and waits until it is still. */
async function open(page: Page, genkan: Genkan, path: string): Promise<void> {
	await genkan.ready();
	if (page.url() === "about:blank") await genkan.signIn(page);
	await go(page, genkan, path);
	await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
	await page.waitForTimeout(1500);
}

function write(home: string, path: string, content: unknown): void {
	const file = join(home, path);
	mkdirSync(join(file, ".."), { recursive: true });
	writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
}

/** work is a day of two agents: calls of the past, then real ones, items and workflows. It
 * returns a call that a workflow changed. */
async function work(genkan: Genkan): Promise<string> {
	const src = join(genkan.home, "src/app");
	for (const [name, text] of Object.entries(files)) write(src, name, text);
	mkdirSync(genkan.data, { mode: 0o700 });
	execFileSync(join(bin, "bench"), ["role", "calls", genkan.data], { input: JSON.stringify(yesterday(src)) });
	const mcpServers = {
		everything: { command: "mcp-server-everything" },
		files: { command: "mcp-server-filesystem", args: [join(genkan.home, "src")] },
	};
	for (const file of [".claude.json", ".cursor/mcp.json"]) write(genkan.home, file, { mcpServers });
	await genkan.start("");
	await genkan.run("import", "--yes");
	await genkan.run("connect", "claude-code", "--write");
	await genkan.ready();
	for (const template of ["redact", "deny-destructive"])
		await genkan.rest("POST", "/v1/workflow-templates", { template });
	for (const id of ["redact", "redact-resources", "redact-prompts"])
		await genkan.rest("POST", `/v1/workflows/${id}/enable`, {});
	await genkan.rest("PUT", "/v1/hook-modules/sign", {
		description: "Signs each answer.",
		script: 'mapText(ctx.response, (text) => text + "\\n" + params.sign);\n',
		params: { properties: { sign: { type: "string", title: "Signature", description: "Stands below each text." } } },
	});
	for (const [type, title, content, tags, related] of items)
		await genkan.rest("POST", "/v1/items", { type, title, content, tags, related });

	await genkan.rest("PUT", "/v1/state", { content: state });
	await genkan.rest("PUT", "/v1/secrets/GITHUB_TOKEN", { value: "a token" });

	const stdio = (name: string, version: string) =>
		genkan.client(
			{ command: genkan.genkan, args: ["stdio", "--client", name, "--data", genkan.data], cwd: src },
			{ name, version },
		);
	const [claude, cursor] = [await stdio("claude-code", "2.1.9"), await stdio("cursor", "1.7.4")];
	const call = (client: typeof claude, name: string, args: Record<string, unknown> = {}) =>
		client.callTool({ name, arguments: args }).catch(() => undefined);
	for (let i = 0; i < 14; i++) await call(claude, "files__read_text_file", { path: join(src, "src/session.ts") });
	await call(cursor, "files__search_files", { path: src, pattern: "**/*.ts" });
	await call(claude, "search_items", { query: "how long do sessions last" });
	await call(cursor, "files__read_text_file", { path: join(src, "src/sesion.ts") });
	await call(claude, "everything__get-sum", { a: 19, b: 23 });
	await call(cursor, "files__directory_tree", { path: src });
	await call(claude, "everything__get-tiny-image");
	await call(claude, "files__read_text_file", { path: join(src, "customers.csv") });
	await call(cursor, "files__list_directory", { path: src });
	const { calls } = await genkan.rest<{ calls: { id: string; argumentsText?: string }[] }>(
		"GET",
		"/v1/calls?limit=1&tool=files__read_text_file&text=customers.csv",
	);
	return calls[0]!.id;
}

const files: Record<string, string> = {
	"README.md": "# app\n\nSign-in and sessions of the shop.\n",
	"customers.csv":
		"name,mail,phone,note\nAiko Tanaka,aiko@example.jp,090-1234-5678,calls on Mondays\nBen Smith,ben@example.com,+1 415 555 0132,asked for an invoice\n",
	"src/session.ts": "export const idleDays = 7;\n",
	"src/index.ts": 'import { idleDays } from "./session";\n',
};

const state = `## Now

Sign-in behind the proxy is being mended: the cookie is set again, the tests are missing.

## Next

- tests of the cookie's path
- the release checklist
`;

const items: [string, string, string, string[], string[]][] = [
	["decisions", "Sessions last seven days", "Idle sessions end after **seven days**, all after 30.", ["auth"], []],
	[
		"issues",
		"Sign-in fails behind the proxy",
		"The cookie is dropped. See the decision about sessions.",
		["auth", "proxy"],
		["decisions-1"],
	],
	[
		"docs",
		"How sign-in works",
		"A code works once.\n\n1. `genkan ui` prints it\n2. the browser uses it",
		["auth"],
		["decisions-1"],
	],
	["issues", "Search is slow with 10,000 items", "Measure before the next release.", ["search"], []],
	["docs", "Release checklist", "Tests, pictures, changes.", ["release"], ["issues-4"]],
	["knowledge", "The proxy strips its prefix", "So all addresses are relative.", ["proxy"], ["issues-2"]],
];

/** yesterday is the calls of the last 24 hours, most of them in the hours of work. */
function yesterday(src: string): object[] {
	const calls: object[] = [];
	let seed = 7;
	const random = () => {
		seed = (seed * 16807) % 2147483647;
		return seed / 2147483647;
	};
	const one = <T>(list: T[]): T => list[Math.floor(random() * list.length)]!;
	for (let minutes = 24 * 60; minutes > 4; minutes -= 0.5 + random() * 2) {
		const hour = new Date(Date.now() - minutes * 60_000).getHours();
		if (random() > (hour < 8 || hour > 21 ? 0.06 : 0.5 + 0.5 * Math.sin(((hour - 6) / 16) * Math.PI))) continue;
		const [tool, args, ms] = one<[string, object, number]>([
			["files__read_text_file", { path: join(src, one(Object.keys(files))) }, 6],
			["files__read_text_file", { path: join(src, one(Object.keys(files))) }, 6],
			["files__search_files", { path: src, pattern: "**/*.ts" }, 40],
			["files__edit_file", { path: join(src, "src/session.ts"), edits: [] }, 11],
			["everything__get-sum", { a: 2, b: 3 }, 4],
			["everything__simulate-research-query", { topic: "cookies" }, 900],
			["kb__search_items", { query: one(["sessions", "proxy", "release"]) }, 3],
		]);
		const [server, name] = tool.split("__") as [string, string];
		const failed = random() < 0.03;
		const saved = name === "search_files" && random() < 0.3 ? 4000 + Math.floor(random() * 9000) : 0;
		calls.push({
			ago: minutes * 60,
			took: ms * (0.6 + random() * random() * 3),
			client: one(["claude-code 2.1.9", "claude-code 2.1.9", "cursor 1.7.4", "codex 0.51.0"]),
			server,
			tool: server === "kb" ? name : tool,
			arguments: args,
			text: "…".repeat(40 + Math.floor(random() * 400)),
			saved,
			error: failed ? "Error: ENOENT: no such file or directory" : "",
		});
	}
	return calls;
}
