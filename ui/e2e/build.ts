import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

export const top = join(import.meta.dirname, "../..");
export const bin = join(import.meta.dirname, "../node_modules/.bin-e2e");

/** Builds genkan with the pages that vite has built, and the server that misbehaves on
 * request. */
export default function build(): void {
	mkdirSync(bin, { recursive: true });
	const go = (name: string, path: string) =>
		execFileSync("go", ["build", "-buildvcs=false", "-o", join(bin, name), path], { cwd: top, stdio: "inherit" });
	go("genkan", "./cmd/genkan");
	go("faultserver", "./internal/testkit/fault/cmd/faultserver");
}
