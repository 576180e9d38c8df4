import { query, type S } from "@/api/client";
import { readNumber, t, tn } from "@/lang";
import { LinkButton, Loaded, Select, Snippet } from "@/ui";
import { useDraft } from "@/ui/unsaved";
import { objectOf, Setting, SettingForm, useSettings, Value } from "./file";
import { Facts, Section } from "./parts";

const keys = () => `clients:
  ci: {budget: 10000}         # ${t("a client, by the name of its token or of --client")}
mcpServers:
  docs:
    budget: 5000              # ${t("the tools of a server")}
    tools:
      options:
        "search*": {budget: 2000}   # ${t("some of its tools")}
`;

const words = ({ tokens }: S["Budget"]): string =>
	tokens === 0 ? t("any size") : tn(tokens, "{n} token", "{n} tokens");

/** Limits are how large an answer may be, and how often clients may call. */
export function Limits() {
	return (
		<>
			<Budgets />
			<Rate />
		</>
	);
}

/** Budgets says from which size on an agent gets an outline instead of an answer. */
function Budgets() {
	const budgets = query.useQuery("get", "/v1/budgets", undefined, { staleTime: 0 });
	return (
		<Section
			title={t("Large answers")}
			about={t(
				"A larger answer is stored, and the agent gets its outline and reads the parts that it needs with read_result. Of several sizes, that of the tool counts first, then server, client, program, everybody.",
			)}
			actions={<LinkButton href="/charts">{t("Charts")}</LinkButton>}
		>
			<Loaded query={budgets} rows={3}>
				{(data) => {
					const others: [string, string][] = [
						...data.programs.map((one): [string, string] => [t("Program {name}", { name: one.name! }), words(one)]),
						...data.clients.map((one): [string, string] => [t("Client {name}", { name: one.name! }), words(one)]),
						...data.servers.map((one): [string, string] => [t("Server {name}", { name: one.name! }), words(one)]),
						...data.tools.map((one): [string, string] => [
							t("Tools {name}", { name: `${one.server}: ${one.name}` }),
							words(one),
						]),
					];
					return (
						<>
							<Everybody budgets={data} />
							{others.length > 0 && <Facts facts={others} />}
						</>
					);
				}}
			</Loaded>
			<p className="mt-2 text-muted">{t("In genkan.yaml, clients, servers and tools can have sizes of their own:")}</p>
			<Snippet title="genkan.yaml" text={keys()} />
		</Section>
	);
}

function Everybody({ budgets }: { budgets: S["Budgets"] }) {
	const settings = useSettings("/v1/budgets");
	const { tokens } = budgets.everybody;
	const { values, dirty, set, discard, saved } = useDraft(
		{
			kind: budgets.usual ? "usual" : tokens === 0 ? "off" : "own",
			tokens: String(tokens || budgets.default),
		},
		settings.reset,
	);
	const off = !settings.changeable;
	const save = () =>
		settings.save(
			{ budget: values.kind === "usual" ? null : values.kind === "off" ? "off" : readNumber(values.tokens) },
			saved,
		);
	return (
		<SettingForm settings={settings} fields={["budget"]} dirty={dirty} onSave={save} onDiscard={discard}>
			<Setting label={t("Everybody")}>
				<Select
					aria-label={t("Everybody")}
					disabled={off}
					value={values.kind}
					onChange={(event) => set({ kind: event.target.value })}
				>
					<option value="usual">{t("the usual size")}</option>
					<option value="own">{t("another size")}</option>
					<option value="off">{t("any size")}</option>
				</Select>
				{values.kind === "own" ? (
					<>
						<Value
							wrong={settings.wrong.budget}
							aria-label={t("Tokens")}
							inputMode="numeric"
							className="max-w-28"
							disabled={off}
							value={values.tokens}
							onChange={(event) => set({ tokens: event.target.value })}
							onEnter={save}
						/>
						{t("tokens at most")}
					</>
				) : (
					values.kind === "usual" && budgets.usual && <span className="text-muted">{words(budgets.everybody)}</span>
				)}
			</Setting>
		</SettingForm>
	);
}

/** Rate is how often a client may ask: calls count, and so does all else that it asks. */
function Rate() {
	const settings = useSettings();
	const limit = objectOf(settings.all.rateLimit) as { max?: number; timeWindow?: string };
	const { values, dirty, set, discard, saved } = useDraft(
		{
			max: limit.max ? String(limit.max) : "",
			window: limit.timeWindow ?? "1m",
		},
		settings.reset,
	);
	const off = !settings.changeable;
	// It stands below the whole line, so it says which of the two fields it is about.
	const period = settings.wrong["rateLimit.timeWindow"];
	const none = readNumber(values.max) === 0; // no limit in the file, and no calls for who writes it here
	const save = () =>
		!none &&
		settings.save(
			{
				rateLimit: values.max.trim()
					? { max: readNumber(values.max), timeWindow: values.window.normalize("NFKC").trim() }
					: null,
			},
			saved,
		);
	return (
		<Section
			title={t("Requests of each client")}
			about={t(
				"A client that asks more often is told to wait. Calls count, and so do lists and the start of a session: with a very low limit, a client cannot connect.",
			)}
		>
			<SettingForm
				settings={settings}
				fields={["rateLimit.max", "rateLimit.timeWindow"]}
				dirty={dirty}
				onSave={save}
				onDiscard={discard}
			>
				<Setting label={t("At most")}>
					<Value
						wrong={
							(none || settings.wrong["rateLimit.max"]) &&
							t("Write a whole number, 1 or more, or leave it empty for no limit.")
						}
						aria-label={t("Requests")}
						inputMode="numeric"
						className="max-w-28"
						disabled={off}
						placeholder={t("no limit")}
						value={values.max}
						onChange={(event) => set({ max: event.target.value })}
						onEnter={save}
					/>
					{t("requests in")}
					<Value
						wrong={period && t("Period") + t(": ") + period}
						aria-label={t("Period")}
						className="max-w-20"
						disabled={off}
						value={values.window}
						onChange={(event) => set({ window: event.target.value })}
						onEnter={save}
					/>
					<span className="text-faint text-sm">{t("such as 30s, 1m, 1h")}</span>
				</Setting>
			</SettingForm>
		</Section>
	);
}
