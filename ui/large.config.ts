import { defineConfig } from "@playwright/test";
import usual from "./playwright.config";

// make bench-ui: how fast the pages are with much data. It fails where one is beyond e2e/limits.ts.
export default defineConfig({ ...usual, testMatch: "large.ts", workers: 1, timeout: 1_800_000 });
