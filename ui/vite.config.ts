import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// Everything is relative: the page works behind a path prefix that Genkan does not
// know. The server writes the right <base href> into index.html (internal/web).
export default defineConfig({
	base: "./",
	plugins: [react(), tailwindcss()],
	resolve: { tsconfigPaths: true },
	test: { include: ["src/**/*.test.ts", "e2e/*.unit.ts"] },
	build: {
		outDir: "../internal/web/dist",
		emptyOutDir: true,
		assetsInlineLimit: 0, // the content security policy allows no data: fonts
		modulePreload: { polyfill: false },
		chunkSizeWarningLimit: 700,
		target: "es2023",
	},
	// npm run dev proxies to a Genkan that runs on its usual port.
	server: { proxy: { "/v1": "http://127.0.0.1:3000", "/ui/session": "http://127.0.0.1:3000" } },
});
