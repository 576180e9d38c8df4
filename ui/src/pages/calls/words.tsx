import { useEffect, useState } from "react";
import { t, took } from "@/lang";
import { Dot, Spinner, type Tone } from "@/ui";

/** clientName is what people call a client. */
export function clientName({ client, program }: { client: string; program?: string }): string {
	if (client.startsWith("local:")) return client.slice(6);
	if (client === "local" && program) return program.replace(/ [\d.]+\S*$/, "");
	return client;
}

/** toolName is a tool's name without its server's. */
export function toolName({ server, tool, method }: { server?: string; tool?: string; method?: string }): string {
	const name = tool || method || "";
	return server && name.startsWith(`${server}__`) ? name.slice(server.length + 2) : name;
}

const words: Record<string, string> = {
	ok: /* t */ "worked",
	error: /* t */ "failed",
	tool_error: /* t */ "tool error",
	server_error: /* t */ "server error",
	invalid: /* t */ "wrong arguments",
	not_found: /* t */ "no such tool",
	denied: /* t */ "denied",
	unauthenticated: /* t */ "needs sign-in",
	conflict: /* t */ "in conflict",
	limited: /* t */ "too many calls",
	unavailable: /* t */ "server not there",
	timeout: /* t */ "took too long",
	canceled: /* t */ "canceled",
	internal: /* t */ "error in Genkan",
};

/** outcomeWord says how a call went. */
export const outcomeWord = (outcome?: string): string => (outcome ? t(words[outcome] ?? outcome) : t("running"));

export const outcomeTone = (outcome?: string): Tone =>
	outcome === "ok" ? "ok" : outcome === "denied" || outcome === "canceled" ? "warn" : "bad";

/** Outcome is how a call went, as a dot that says so. */
export function Outcome({ outcome }: { outcome?: string }) {
	if (outcome) return <Dot tone={outcomeTone(outcome)} title={outcomeWord(outcome)} />;
	return (
		<span role="img" aria-label={t("running")} title={t("running")} className="inline-flex">
			<Spinner />
		</span>
	);
}

/** Ticking is how long something has taken until now. */
export function Ticking({ since }: { since: number }) {
	const [now, setNow] = useState(Date.now);
	useEffect(() => {
		const timer = setInterval(() => setNow(Date.now()), 100);
		return () => clearInterval(timer);
	}, []);
	return <>{took(Math.max(0, now - since))}</>;
}
