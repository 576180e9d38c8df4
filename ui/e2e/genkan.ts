import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import { test as base, expect, type Page } from "@playwright/test";
import { bin } from "./build";

const modules = join(import.meta.dirname, "../node_modules/@modelcontextprotocol");

/** Genkan is a running gateway with a data directory of its own. */
export class Genkan {
	readonly home = mkdtempSync(join(tmpdir(), "genkan-e2e-"));
	readonly data = join(this.home, "data");
	/** Where the pages are, such as http://127.0.0.1:41234/ui/. */
	ui = "";
	log = "";
	private child?: ChildProcess;

	/** start runs the gateway with the servers of a configuration in YAML. */
	async start(config = everything(this.home)): Promise<void> {
		mkdirSync(this.data, { recursive: true, mode: 0o700 });
		mkdirSync(join(this.home, "files"), { recursive: true });
		writeFileSync(join(this.home, "files", "hello.txt"), "Hello from a file.\n");
		if (config) writeFileSync(join(this.data, "genkan.yaml"), config);
		await this.serve("0");
	}

	private serve(port: string): Promise<void> {
		const child = spawn(join(bin, "genkan"), ["serve", "--no-open", "--port", port, "--data", this.data], {
			env: { PATH: process.env.PATH, HOME: this.home, LANG: "en_US.UTF-8" },
			stdio: ["ignore", "pipe", "pipe"],
		});
		this.child = child;
		return new Promise((resolve, reject) => {
			const read = (text: Buffer) => {
				this.log += text;
				const found = this.log.match(/http:\/\/127\.0\.0\.1:\d+(?=\/mcp)/g)?.at(-1);
				if (found && this.log.includes("genkan is serving")) {
					this.ui = `${found}/ui/`;
					resolve();
				}
			};
			child.stdout.on("data", read);
			child.stderr.on("data", read);
			child.on("exit", (code) => reject(new Error(`genkan ended with ${code}:\n${this.log}`)));
		});
	}

	/** run runs a command of genkan on this data directory. */
	run(...args: string[]): Promise<string> {
		return new Promise((resolve, reject) =>
			execFile(
				join(bin, "genkan"),
				[...args, "--data", this.data],
				{ env: { PATH: process.env.PATH, HOME: this.home }, maxBuffer: 1 << 26 },
				(error, stdout, stderr) => (error ? reject(new Error(`${error.message}\n${stderr}`)) : resolve(stdout)),
			),
		);
	}

	/** rest asks the REST API as the administrator. */
	async rest<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
		const response = await fetch(new URL(`..${path}`, this.ui), {
			method,
			headers: { Authorization: `Bearer ${this.token()}`, "Content-Type": "application/json" },
			body: body === undefined ? undefined : JSON.stringify(body),
		});
		const text = await response.text();
		if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
		return text ? JSON.parse(text) : (undefined as T);
	}

	/** call calls a tool, so that there is something to see. */
	call(name: string, args: unknown = {}): Promise<unknown> {
		return this.rest("POST", "/v1/tools/call", { name, parameters: args }).catch((error) => error);
	}

	/** ready waits until all servers are up. */
	async ready(): Promise<void> {
		await expect
			.poll(
				async () => {
					const { servers } = await this.rest<{ servers: { name: string; state: string }[] }>("GET", "/v1/servers");
					return servers.filter((s) => s.state === "starting").map((s) => s.name);
				},
				{ timeout: 60_000 },
			)
			.toEqual([]);
	}

	/** signIn signs a browser in with the admin token. */
	async signIn(page: Page): Promise<void> {
		const response = await page.request.post(`${this.ui}session`, {
			data: { token: this.token() },
			headers: { Origin: new URL(this.ui).origin },
		});
		if (!response.ok()) throw new Error(`signing in: ${response.status()} ${await response.text()}`);
	}

	private token(): string {
		return readFileSync(join(this.data, "admin-token"), "utf8").trim();
	}

	/** link is an address that signs in, once. */
	async link(): Promise<string> {
		const out = await this.run("ui", "--no-open");
		const found = out.match(/http:\/\/\S+#code=\S+/);
		if (!found) throw new Error(`genkan ui printed no link:\n${out}`);
		return found[0];
	}

	async stop(): Promise<void> {
		const child = this.child;
		if (child && child.exitCode === null) {
			const ended = new Promise((resolve) => child.on("exit", resolve));
			child.kill("SIGTERM");
			await ended;
		}
		rmSync(this.home, { recursive: true, force: true });
	}
}

/** everything is a configuration with real servers and one that misbehaves on request. */
export const everything = (home: string): string =>
	JSON.stringify({
		mcpServers: {
			everything: { command: "node", args: [join(modules, "server-everything/dist/index.js")] },
			files: { command: "node", args: [join(modules, "server-filesystem/dist/index.js"), join(home, "files")] },
			fault: { command: join(bin, "faultserver") },
		},
	});

/** test has a Genkan with real servers, and a page that is signed in to it. A console
 * error of the page fails the test. */
export const test = base.extend<{
	genkan: Genkan;
	signedIn: Page;
	config: string | undefined;
	provoked: RegExp | undefined;
}>({
	config: [undefined, { option: true }],
	/** Console errors that the spec provokes, such as of answers that refuse something. */
	provoked: [undefined, { option: true }],
	genkan: async ({ config }, use) => {
		const genkan = new Genkan();
		await genkan.start(config);
		await use(genkan);
		await genkan.stop();
	},
	signedIn: async ({ page, genkan, provoked }, use) => {
		const errors = consoleErrors(page);
		await genkan.ready();
		await genkan.signIn(page);
		await page.goto(genkan.ui);
		await expect(page.getByRole("navigation")).toBeVisible();
		await use(page);
		expect(errors.filter((text) => !provoked?.test(text))).toEqual([]);
	},
});

/** consoleErrors collects what the page complains about, and what it asked for in vain.
 * The browser also notes every answer that is no success; a refused form is none of the
 * page's mistakes. */
export function consoleErrors(page: Page): string[] {
	const errors: string[] = [];
	page.on("console", (message) => {
		if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
			errors.push(`${message.text()} ${message.location().url}`);
	});
	page.on("response", (r) => {
		if (r.status() >= 500 || (r.status() >= 400 && r.request().method() === "GET"))
			errors.push(`${r.status()} ${r.request().method()} ${r.url()}`);
	});
	page.on("pageerror", (error) => errors.push(String(error)));
	return errors;
}

/** go opens a page by its address below /ui/, as a person who types it would. */
export const go = (page: Page, genkan: Genkan, path: string) => page.goto(new URL(path, genkan.ui).href);

/** accessible fails on serious findings of axe, in both themes. */
export async function accessible(page: Page): Promise<void> {
	for (const theme of ["light", "dark"] as const) {
		await page.emulateMedia({ colorScheme: theme });
		const { violations } = await new AxeBuilder({ page }).analyze();
		const serious = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
		expect(serious.map((v) => `${theme}: ${v.id}: ${v.nodes.map((n) => n.html).join("\n")}`)).toEqual([]);
	}
}

/** pictures takes the page in both themes, wide and narrow, into dir. */
export async function pictures(page: Page, dir: string, name: string): Promise<void> {
	for (const theme of ["light", "dark"] as const)
		for (const width of [1280, 390]) {
			await page.emulateMedia({ colorScheme: theme });
			await page.setViewportSize({ width, height: width === 1280 ? 860 : 844 });
			await page.screenshot({ path: join(dir, `${name}-${theme}-${width}.png`), animations: "disabled" });
		}
	await page.setViewportSize({ width: 1280, height: 860 });
}

export { bin, expect };
