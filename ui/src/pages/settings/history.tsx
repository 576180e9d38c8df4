import { query, type S } from "@/api/client";
import { clock, list, readNumber, t, tn } from "@/lang";
import { useSession } from "@/shell/session";
import { Dot, LinkButton, Loaded, Problem, Select } from "@/ui";
import { useDraft } from "@/ui/unsaved";
import { objectOf, Setting, SettingForm, useSettings, Value } from "./file";
import { Facts, Section } from "./parts";

const bodies: Record<string, string> = {
	local: /* t */ "kept for clients of this machine's user",
	all: /* t */ "kept for all clients",
	off: /* t */ "not kept",
};

/** History says which calls are kept and for how long, and changes it. */
export function History() {
	const { admin } = useSession();
	const calls = query.useQuery("get", "/v1/calls", { params: { query: { limit: 1 } } }, { staleTime: 0 });
	return (
		<Section
			title={t("The call history")}
			about={t(
				"It is kept in the data directory, for its owner alone. Requests and answers are kept encrypted and as they were, so that workflows can be tried on them; keys, tokens, passwords and other secrets are masked wherever they are shown, but not mail addresses or phone numbers. With replay: off under record in genkan.yaml, secrets are masked before they are kept.",
			)}
			actions={<LinkButton href="/calls">{t("To the calls")}</LinkButton>}
		>
			<Loaded query={calls} rows={4}>
				{({ history }) => (
					<>
						<Trouble history={history} />
						{admin ? <Keep history={history} /> : <State history={history} />}
					</>
				)}
			</Loaded>
		</Section>
	);
}

/** Trouble says what was not kept. */
function Trouble({ history }: { history: S["HistoryState"] }) {
	if (!history.problem) return null;
	return (
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
	);
}

const lost = (history: S["HistoryState"]): string => {
	const all = [
		history.dropped > 0 && tn(history.dropped, "{n} call", "{n} calls"),
		history.lostBodies > 0 && tn(history.lostBodies, "the bodies of {n} call", "the bodies of {n} calls"),
	].filter((one) => one !== false);
	return all.length > 0 ? list(all) : t("nothing");
};

function Keep({ history }: { history: S["HistoryState"] }) {
	const settings = useSettings("/v1/calls");
	const { values, dirty, set, discard, saved } = useDraft(
		{
			on: history.on ? "on" : "off",
			days: String(history.days || 7),
			bodies: history.bodies || "local",
		},
		settings.reset,
	);
	const off = !settings.changeable;
	const save = () =>
		settings.save(
			{
				record: {
					...objectOf(settings.all.record),
					...(values.on !== (history.on ? "on" : "off") && { enabled: values.on === "on" }),
					...(values.on === "on" && { bodies: values.bodies, days: readNumber(values.days) ?? "" }),
				},
			},
			saved,
		);
	return (
		<SettingForm settings={settings} fields={["record.days"]} dirty={dirty} onSave={save} onDiscard={discard}>
			<Setting label={t("Calls")}>
				<Select
					aria-label={t("Calls")}
					disabled={off}
					value={values.on}
					onChange={(event) => set({ on: event.target.value })}
				>
					<option value="on">{t("are kept")}</option>
					<option value="off">{t("are not kept")}</option>
				</Select>
			</Setting>
			{values.on === "on" && (
				<>
					<Setting label={t("For how long")}>
						<Value
							wrong={settings.wrong["record.days"]}
							aria-label={t("For how long")}
							inputMode="numeric"
							className="max-w-20"
							disabled={off}
							value={values.days}
							onChange={(event) => set({ days: event.target.value })}
							onEnter={save}
						/>
						{t("days")}
						{!settings.wrong["record.days"] && Number(readNumber(values.days) ?? Number.NaN) < history.days && (
							<span className="text-warn text-xs">{t("Calls that are older will be deleted.")}</span>
						)}
					</Setting>
					<Setting label={t("What was sent and received")}>
						<Select
							aria-label={t("What was sent and received")}
							disabled={off}
							value={values.bodies}
							onChange={(event) => set({ bodies: event.target.value })}
						>
							{Object.entries(bodies).map(([value, word]) => (
								<option key={value} value={value}>
									{t(word)}
								</option>
							))}
						</Select>
					</Setting>
				</>
			)}
			<Setting label={t("Not recorded since the start")}>{lost(history)}</Setting>
		</SettingForm>
	);
}

/** State is the same for whoever may not change it. */
function State({ history }: { history: S["HistoryState"] }) {
	return (
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
				[t("Not recorded since the start"), lost(history)],
			]}
		/>
	);
}
