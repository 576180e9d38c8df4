import type { S } from "@/api/client";
import { t } from "@/lang";
import type { Tone } from "@/ui";

/** stateOf is a server's state in a colour and words. */
export function stateOf(server: Pick<S["Server"], "state" | "signIn">): { tone: Tone; word: string } {
	if (server.signIn === "needed") return { tone: "warn", word: t("Needs sign-in") };
	switch (server.state) {
		case "ready":
			return { tone: "ok", word: t("Up") };
		case "starting":
			return { tone: "accent", word: t("Starting") };
		case "not responding":
			return { tone: "warn", word: t("Not responding") };
		case "disabled":
			return { tone: "idle", word: t("Off") };
		case "down":
			return { tone: "bad", word: t("Down") };
		default:
			return { tone: "idle", word: server.state };
	}
}

/** moves is how soon to ask again about servers of which something changes with time only: how
 * long a start takes, when the next one is. Events tell the rest. */
export function moves(servers: Pick<S["Server"], "state" | "nextTry">[] = []): number | false {
	if (servers.some((server) => server.state === "starting")) return 2000;
	return servers.some((server) => server.nextTry) ? 5000 : false;
}

/** runs is what a server is: the command line or the address. */
export function runs(definition?: S["ServerDefinition"]): string {
	if (!definition) return "";
	if (definition.url) return definition.url;
	return [definition.command, ...(definition.args ?? [])]
		.filter((part) => part !== undefined)
		.map((part) => (/\s/.test(part) ? JSON.stringify(part) : part))
		.join(" ");
}
