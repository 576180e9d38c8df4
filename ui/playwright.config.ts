import { defineConfig } from "@playwright/test";

// The specs drive the real binary in a real browser. Each starts a Genkan of its own
// (e2e/genkan.ts), so that they can run beside one another.
export default defineConfig({
	testDir: "e2e",
	outputDir: "node_modules/.e2e",
	timeout: 120_000,
	expect: { timeout: 20_000 },
	workers: 3, // on two cores: a page often waits
	retries: process.env.GENKAN_TESTS === "full" ? 1 : 0, // those that pass then are listed as flaky
	reporter: [["list"]],
	globalSetup: "./e2e/build.ts",
	use: {
		viewport: { width: 1280, height: 860 },
		actionTimeout: 20_000,
		locale: "en-US",
		permissions: ["clipboard-read", "clipboard-write"],
		launchOptions: {
			executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
			args: [
				"--no-sandbox",
				"--disable-gpu",
				"--disable-quic",
				"--no-first-run",
				"--disable-background-networking",
				"--disable-component-update",
				"--disable-sync",
			],
		},
	},
});
