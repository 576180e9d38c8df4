import { query, type S } from "@/api/client";
import { clock, list, t, tn } from "@/lang";
import { Dot, LinkButton, Loaded, Problem, Snippet } from "@/ui";
import { Facts, Section } from "./parts";

const bodies: Record<string, string> = {
	local: /* t */ "kept for clients of this machine's user",
	all: /* t */ "kept for all clients",
	off: /* t */ "not kept",
};

/** History says which calls are kept, and for how long. */
export function History() {
	const calls = query.useQuery("get", "/v1/calls", { params: { query: { limit: 1 } } }, { staleTime: 0 });
	return (
		<Section
			title={t("The call history")}
			about={t("It is kept in the data directory, for its owner alone. Secrets are taken out when it is read.")}
			actions={<LinkButton href="/calls">{t("To the calls")}</LinkButton>}
		>
			<Loaded query={calls} rows={4}>
				{({ history }) => <State history={history} />}
			</Loaded>
		</Section>
	);
}

function State({ history }: { history: S["HistoryState"] }) {
	const lost = [
		history.dropped > 0 && tn(history.dropped, "{n} call", "{n} calls"),
		history.lostBodies > 0 && tn(history.lostBodies, "the bodies of {n} call", "the bodies of {n} calls"),
	].filter((one) => one !== false);
	return (
		<>
			{history.problem && (
				<Problem
					error={
						history.problemSince
							? t("Since {time}, not everything is kept: {problem}", {
									time: clock(history.problemSince),
									problem: history.problem,
								})
							: history.problem
					}
				/>
			)}
			<Facts
				facts={[
					[
						t("Calls"),
						<span key="on" className="inline-flex items-center gap-2">
							<Dot tone={history.on ? "ok" : "idle"} />
							{history.on ? t("are kept") : t("are not kept")}
						</span>,
					],
					history.on && [t("For how long"), tn(history.days, "{n} day", "{n} days")],
					history.on && [
						t("What was sent and received"),
						bodies[history.bodies] ? t(bodies[history.bodies]!) : history.bodies,
					],
					[t("Lost since the start"), lost.length > 0 ? list(lost) : t("nothing")],
				]}
			/>
			<p className="mt-2 text-muted">
				{t("The key record of genkan.yaml sets this. A change of the file holds at once, for calls from then on.")}
			</p>
			<Snippet
				title="genkan.yaml"
				text={
					history.on
						? `record:\n  bodies: ${history.bodies}    # ${t("local, all, or off")}\n  days: ${history.days}\n`
						: `record:\n  bodies: local    # ${t("local, all, or off")}\n  days: 7\n`
				}
			/>
			{history.on && <Snippet title={t("To keep nothing")} text={"record: off\n"} />}
		</>
	);
}
