import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { type BrowserContext, test as base, expect, type Page, type Request } from "@playwright/test";
import axe from "axe-core";
import { bin } from "./build";

const modules = join(import.meta.dirname, "../node_modules/@modelcontextprotocol");

/** Genkan is a running gateway with a data directory of its own. */
export class Genkan {
	readonly data: string;
	/** Where the pages are, such as http://127.0.0.1:41234/ui/. */
	ui = "";
	log = "";
	/** The language of the machine, as in LANG. */
	language = "en_US.UTF-8";
	/** The program. */
	genkan = join(bin, "genkan");
	private child?: ChildProcess;
	private clients: Client[] = [];

	constructor(readonly home = mkdtempSync(join(tmpdir(), "genkan-e2e-"))) {
		this.data = join(home, "data");
	}

	/** start runs the gateway with the servers of a configuration in YAML. */
	async start(config = everything(this.home)): Promise<void> {
		mkdirSync(this.data, { recursive: true, mode: 0o700 });
		mkdirSync(join(this.home, "files"), { recursive: true });
		writeFileSync(join(this.home, "files", "hello.txt"), "Hello from a file.\n");
		if (config) writeFileSync(join(this.data, "genkan.yaml"), config);
		await this.serve("0");
	}

	private serve(port: string): Promise<void> {
		const child = spawn(this.genkan, ["serve", "--no-open", "--port", port, "--data", this.data], {
			env: { PATH: process.env.PATH, HOME: this.home, LANG: this.language },
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
				this.genkan,
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

	/** client starts what an entry of a client's file names, as the client would, and speaks
	 * MCP with it. */
	async client(
		entry: { command: string; args?: string[]; env?: Record<string, string>; cwd?: string },
		as = { name: "cursor", version: "1.0.0" },
	): Promise<Client> {
		const client = new Client(as);
		const env = { PATH: process.env.PATH!, HOME: this.home, ...entry.env };
		await client.connect(new StdioClientTransport({ ...entry, env, stderr: "ignore" }));
		this.clients.push(client);
		return client;
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

	/** token is the admin token. */
	token(): string {
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
		// A client that is left would start a Genkan of its own.
		for (const client of this.clients) await client.close();
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

/** Told is what a server of server.mjs says of itself. */
export type Told = {
	instructions?: string;
	/** What it writes to its standard error when it starts. */
	says?: string;
	tools: { name: string; title?: string; description?: string; inputSchema?: object; result?: object }[];
};

/** telling is the definition of a server with the given tools. */
export const telling = (told: Told) => ({
	command: "node",
	args: [join(import.meta.dirname, "server.mjs")],
	env: { TOLD: JSON.stringify(told) },
});

/** test has a Genkan with real servers, and an empty page that is signed in to it. Whatever
 * a page complains about fails the test. */
export const test = base.extend<
	{
		genkan: Genkan;
		signedIn: Page;
		config: string | undefined;
		machine: string;
		shared: boolean;
		provoked: RegExp | undefined;
		complaints: string[];
	},
	{ houses: Map<string, Genkan> }
>({
	config: [undefined, { option: true }],
	/** LANG of the machine. */
	machine: ["en_US.UTF-8", { option: true }],
	/** The tests of the file use one Genkan: they do not disturb one another. */
	shared: [false, { option: true }],
	/** Complaints that the spec provokes, such as of answers that refuse something. */
	provoked: [undefined, { option: true }],
	houses: [
		// biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs
		async ({}, use) => {
			const houses = new Map<string, Genkan>();
			await use(houses);
			for (const house of houses.values()) await house.stop();
		},
		{ scope: "worker" },
	],
	genkan: async ({ config, machine, shared, houses }, use, { file }) => {
		const key = JSON.stringify([file, config, machine]);
		let genkan = shared ? houses.get(key) : undefined;
		if (!genkan) {
			genkan = new Genkan();
			genkan.language = machine;
			if (shared) houses.set(key, genkan);
			await genkan.start(config);
		}
		await use(genkan);
		if (!shared) await genkan.stop();
	},
	complaints: [
		// Genkan is named so that it ends after the pages: they would complain that it is gone.
		async ({ context, provoked, genkan: _ }, use) => {
			const complaints = await complaintsOf(context);
			await use(complaints);
			expect(complaints.filter((text) => !provoked?.test(text))).toEqual([]);
		},
		{ auto: true },
	],
	signedIn: async ({ page, genkan }, use) => {
		await genkan.ready();
		await genkan.signIn(page);
		await use(page);
	},
});

const open = new WeakMap<BrowserContext, Set<Request>>();

/** asked is what the pages of a page's browser have asked the API for, and not got yet. */
export const asked = (page: Page): ReadonlySet<Request> => open.get(page.context()) ?? new Set();

/** complaintsOf collects what the pages of a browser complain about: errors on the console,
 * errors that nobody caught, what the content security policy forbade, dialogs of scripts,
 * and what was asked for in vain. The browser also notes every answer that is no success;
 * a refused form is none of the page's mistakes. */
export async function complaintsOf(context: BrowserContext): Promise<string[]> {
	const found: string[] = [];
	const requests = new Set<Request>();
	open.set(context, requests);
	context.on("request", (request) => {
		if (/\/v1\/(?!events)/.test(request.url())) requests.add(request);
	});
	context.on("requestfinished", (request) => requests.delete(request));
	context.on("requestfailed", (request) => requests.delete(request));
	await context.addInitScript(() =>
		addEventListener("securitypolicyviolation", (event) =>
			console.error(`policy: ${event.violatedDirective} forbids ${event.blockedURI}`),
		),
	);
	context.on("console", (message) => {
		if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
			found.push(`${message.text()} ${message.location().url}`);
	});
	context.on("weberror", (error) => found.push(String(error.error())));
	context.on("dialog", (dialog) => {
		// The browser's own question, before words that are not saved are left, is none.
		if (dialog.type() !== "beforeunload") found.push(`dialog: ${dialog.message()}`);
		void dialog.accept();
	});
	context.on("response", (r) => {
		if (r.status() >= 500 || (r.status() >= 400 && r.request().method() === "GET"))
			found.push(`${r.status()} ${r.request().method()} ${r.url()}`);
	});
	context.on("requestfailed", (request) => {
		// A page that is left, or an answer that nobody waits for any more, is no failure; and
		// the page says itself when the stream of events breaks.
		const why = request.failure()?.errorText;
		if (why !== "net::ERR_ABORTED" && !request.url().includes("/v1/events"))
			found.push(`${why} ${request.method()} ${request.url()}`);
	});
	return found;
}

/** go opens a page by its address below /ui/, as a person who types it would. */
export const go = (page: Page, genkan: Genkan, path: string) => page.goto(new URL(path, genkan.ui).href);

/** compose writes into the focused field with an input method: text is composed, Enter is
 * pressed for it. The result, when it is called, commits what the text becomes. */
export async function compose(page: Page, text: string): Promise<(becomes: string) => Promise<void>> {
	const client = await page.context().newCDPSession(page);
	await client.send("Input.imeSetComposition", { text, selectionStart: text.length, selectionEnd: text.length });
	for (const type of ["keyDown", "keyUp"] as const)
		await client.send("Input.dispatchKeyEvent", { type, key: "Enter", code: "Enter", windowsVirtualKeyCode: 229 });
	return async (becomes) => {
		await client.send("Input.insertText", { text: becomes });
		await client.detach();
	};
}

/** serious are the serious findings of axe on a page in both themes, of which only the
 * colours differ. */
export async function serious(page: Page): Promise<string[]> {
	const found: string[] = [];
	await page.evaluate(axe.source);
	for (const theme of ["light", "dark"] as const) {
		await page.emulateMedia({ colorScheme: theme });
		const options = { resultTypes: ["violations" as const], selectors: false };
		const { violations } = await page.evaluate(
			(options) => (window as unknown as { axe: typeof axe }).axe.run(document, options),
			theme === "dark" ? { ...options, runOnly: ["color-contrast"] } : options,
		);
		for (const { id, impact, nodes } of violations)
			if (impact === "serious" || impact === "critical")
				found.push(`${theme}: ${id}: ${nodes.map((n) => n.html).join("\n")}`);
	}
	return found;
}

/** accessible fails on serious findings of axe, in both themes. */
export const accessible = async (page: Page): Promise<void> => expect(await serious(page)).toEqual([]);

/** pictures takes the page in both themes, wide and narrow, into dir. */
export async function pictures(page: Page, dir: string, name: string, widths = [1280, 390]): Promise<void> {
	for (const theme of ["light", "dark"] as const)
		for (const width of widths) {
			await page.emulateMedia({ colorScheme: theme });
			await page.setViewportSize({ width, height: width === 1280 ? 860 : 844 });
			await page.waitForTimeout(300); // drawings fit themselves to the window
			await page.screenshot({ path: join(dir, `${name}-${theme}-${width}.png`), animations: "disabled" });
		}
	await page.setViewportSize({ width: 1280, height: 860 });
}

export { bin, expect };
