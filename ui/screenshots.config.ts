import { defineConfig } from "@playwright/test";
import usual from "./playwright.config";

// make screenshots: the pictures of docs/images, from the running program.
export default defineConfig({ ...usual, testMatch: "pictures.ts", workers: 1, timeout: 600_000 });
