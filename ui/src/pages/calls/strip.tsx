import { Link } from "wouter";
import { query, type S } from "@/api/client";
import { both, ended, list, sentences, t, tn } from "@/lang";
import { Button, cx, Dot, LinkButton } from "@/ui";
import { useSignIn } from "../servers/signin";
import { ownServers } from "./words";

/** useServers sorts the servers by how they are. */
function useServers() {
	const { data } = query.useQuery("get", "/v1/servers");
	const servers = data?.servers.filter((server) => server.state !== "disabled") ?? [];
	const own = ownServers(servers);
	return {
		own,
		up: own.filter((server) => server.state === "ready").length,
		starting: own.filter((server) => server.state === "starting").length,
		needs: servers.filter((server) => server.signIn === "needed"),
		down: servers.filter((s) => (s.state === "down" || s.state === "not responding") && s.signIn !== "needed"),
	};
}

/** Up says how many servers there are while Strip has nothing to say of them. */
export function Up() {
	const { needs, down, own, up } = useServers();
	if (own.length === 0 || needs.length + down.length > 0) return null;
	return (
		<Link href="/servers" className="text-muted text-sm hover:text-text hover:underline max-sm:hidden">
			{up === own.length
				? tn(up, "{n} server, up", "{n} servers, all up")
				: tn(own.length, "{n} server, {up} up", "{n} servers, {up} up", { up })}
		</Link>
	);
}

/** Strip says in a sentence what keeps servers, or the history, from working. */
export function Strip({ history }: { history?: S["HistoryState"] }) {
	const { needs, down, own, up, starting } = useServers();
	const signIn = useSignIn();
	return (
		<>
			{history?.problem && (
				<Line tone="bad">
					{ended(t("Not everything is kept: {problem}", { problem: history.problem }))}
					<LinkButton href="/settings/doctor" size="small">
						{t("What to do")}
					</LinkButton>
				</Line>
			)}
			{needs.length + down.length > 0 && (
				<Line tone={down.length > 0 ? "bad" : "warn"}>
					<span>
						{sentences(
							tn(own.length, "{n} server, {up} up.", "{n} servers, {up} up.", { up }),
							starting > 0 && tn(starting, "{n} is starting.", "{n} are starting."),
							needs.length > 0 &&
								tn(needs.length, "{names} needs sign-in.", "{names} need sign-in.", { names: names(needs) }),
							...down.map((one) =>
								ended(
									t("{names} is down: {problem}", { names: one.name, problem: beginning(one.problem ?? one.state) }),
								),
							),
						)}
					</span>
					{needs.length === 1 ? (
						<Button size="small" busy={signIn.busy} onClick={() => void signIn.open(needs[0]!.name)}>
							{t("Sign in")}
						</Button>
					) : (
						<LinkButton
							href={down.length === 1 ? `/servers/${encodeURIComponent(down[0]!.name)}` : "/servers"}
							size="small"
						>
							{t("Show")}
						</LinkButton>
					)}
				</Line>
			)}
		</>
	);
}

function Line({ tone, children }: { tone: "warn" | "bad"; children: React.ReactNode }) {
	return (
		<div
			role="status"
			className={cx(
				"mb-3 flex min-h-10 items-center gap-2.5 rounded-lg px-3.5 py-1.5 font-medium [&>span]:line-clamp-2 [&>span]:min-w-0",
				tone === "bad" ? "bg-bad-soft text-bad" : "bg-warn-soft text-warn",
			)}
		>
			<Dot tone={tone} />
			{children}
		</div>
	);
}

/** beginning is the first sentence of a problem. The server's page has all of it. */
const beginning = (problem: string) => /^.*?(?:\.(?=\s)|。|$)/m.exec(problem)![0];

const names = (servers: S["Server"][]) =>
	servers.length > 3
		? t("{names} and {n} more", {
				names: list(servers.slice(0, 3).map((s) => s.name)),
				n: servers.length - 3,
			})
		: both(servers.map((s) => s.name));
