import { useState } from "react";
import { query, refresh, type S } from "@/api/client";
import { both, list, t, tn } from "@/lang";
import { Button, Chip, Dialog, Empty, Field, Input, Loaded, Problem, say } from "@/ui";
import { unreadable } from "../clients/change";

/** Values are what somebody has typed for inputs of servers, by the names of their secrets. */
type Values = Record<string, string>;

/** ImportServers takes over the servers that clients on this machine have. */
export function ImportServers({ onClose }: { onClose: () => void }) {
	const plan = query.useQuery("get", "/v1/import", undefined, { staleTime: 0 });
	const [values, setValues] = useState<Values>({});
	const unsaved = Object.values(values).some((value) => value !== "");
	return (
		<Dialog title={t("Import servers")} onClose={onClose} size="wide" unsaved={unsaved}>
			<Loaded query={plan}>
				{(data) => (
					<Choice
						plan={data}
						values={values}
						setValues={setValues}
						onClose={onClose}
						reread={() => void plan.refetch()}
					/>
				)}
			</Loaded>
		</Dialog>
	);
}

/** whatRuns is the address or the command line of a server. */
const whatRuns = (server: S["ImportServer"]): string =>
	server.url ?? [server.command, ...(server.args ?? [])].join(" ");

/** Renamed tells why a server gets another name than it has in its client's file. */
function Renamed({ server, servers }: { server: S["ImportServer"]; servers: S["ImportServer"][] }) {
	const origin = server.origins.find((one) => one.name !== server.name);
	if (!origin) return null;
	const values = { name: origin.name, client: origin.title };
	const other = servers.find((one) => one.name === origin.name);
	return (
		<span className="block text-muted text-sm">
			{!other
				? t("{client} calls it “{name}”.", values)
				: whatRuns(other) === whatRuns(server)
					? t(
							"{client} calls it “{name}”, which is the name of another server: that has other variables, headers or folders.",
							values,
						)
					: t("{client} calls it “{name}”, which is the name of another server: that runs something else.", values)}
		</span>
	);
}

function Choice({
	plan,
	values,
	setValues,
	onClose,
	reread,
}: {
	plan: S["ImportPlan"];
	values: Values;
	setValues: (values: Values) => void;
	onClose: () => void;
	reread: () => void;
}) {
	const fresh = plan.servers.filter((server) => !server.known);
	// What came with a project runs what its authors chose: a person agrees to each.
	const [clicked, click] = useState<Record<string, boolean>>({});
	const isChosen = (server: S["ImportServer"]) => clicked[server.name] ?? !server.project;
	const run = query.useMutation("post", "/v1/import");
	const taken = fresh.filter(isChosen);
	const needed = taken.flatMap((server) => (server.inputs ?? []).filter((input) => input.needed));
	const lacking = needed.some((input) => !values[input.secret] && !input.default);
	const start = async () => {
		const done = await run.mutateAsync({
			body: {
				revision: plan.revision,
				servers: taken.filter((s) => !s.project).map((s) => s.name),
				projectServers: taken.filter((s) => s.project).map((s) => s.name),
				values: values as never,
			},
		});
		refresh("/v1/servers", "/v1/import", "/v1/tools", "/v1/doctor", "/v1/connections");
		say(tn(done.added.length, "{n} server is imported.", "{n} servers are imported."));
		onClose();
	};
	const read = plan.files.filter((file) => !file.problem);
	const broken = plan.files
		.filter((file) => file.problem)
		.map((file) => <Problem key={file.path} error={unreadable(file.title, file.problem!)} retry={reread} />);
	if (fresh.length === 0)
		return (
			<>
				{broken}
				<Empty
					title={
						plan.servers.length + plan.connected > 0
							? t("Genkan has all servers of your editors already.")
							: t("No servers found")
					}
					actions={broken.length === 0 && <Button onClick={reread}>{t("Look again")}</Button>}
				>
					{read.length > 0
						? t("Read: {files}", { files: list(new Set(read.map((file) => file.title))) })
						: broken.length === 0 && t("No client on this machine has a file with servers.")}
				</Empty>
			</>
		);
	return (
		<div className="flex flex-col gap-4">
			{broken}
			<p className="text-muted">
				{t("Found in {files}. The files stay as they are, until you connect their client.", {
					files: both(new Set(fresh.flatMap((server) => server.origins.map((origin) => origin.title)))),
				})}
			</p>
			<ul className="overflow-hidden rounded-lg border border-line">
				{fresh.map((server) => (
					<li key={server.name} className="border-line border-b last:border-0">
						<label className="flex cursor-pointer items-start gap-3 px-4 py-3 hover:bg-sunken">
							<input
								type="checkbox"
								className="mt-1 accent-accent"
								checked={isChosen(server)}
								onChange={({ target }) => click({ ...clicked, [server.name]: target.checked })}
							/>
							<span className="min-w-0 flex-1">
								<span className="flex flex-wrap items-center gap-2">
									<b className="font-medium">{server.name}</b>
									{[...new Set(server.origins.map((origin) => origin.title))].map((title) => (
										<Chip key={title}>{title}</Chip>
									))}
									{server.project && <Chip tone="warn">{t("came with a project")}</Chip>}
									{server.secrets ? (
										<Chip tone="ok">
											{tn(server.secrets, "{n} secret goes to the vault", "{n} secrets go to the vault")}
										</Chip>
									) : null}
								</span>
								<code className="mt-0.5 block break-all text-muted">{whatRuns(server)}</code>
								<Renamed server={server} servers={plan.servers} />
								{server.variables?.some((v) => v.caution) && (
									<span className="text-warn">
										{t("Sets {names}, which can make it run other code.", {
											names: both(server.variables.filter((v) => v.caution).map((v) => v.name)),
										})}
									</span>
								)}
							</span>
						</label>
					</li>
				))}
			</ul>
			{needed.map((input) => (
				<Field key={input.secret} label={input.description || input.id} hint={t("Goes to the vault.")}>
					<Input
						type="password"
						placeholder={input.default}
						value={values[input.secret] ?? ""}
						onChange={(event) => setValues({ ...values, [input.secret]: event.target.value })}
					/>
				</Field>
			))}
			{plan.missingVariables.length > 0 && (
				<p className="rounded-lg bg-warn-soft px-4 py-3 text-warn">
					{t("These environment variables are used and not set: {names}. Set them, or keep secrets of these names.", {
						names: list(plan.missingVariables),
					})}
				</p>
			)}
			{plan.notes.map((note) => (
				<p key={note.path + note.text} className="text-muted text-sm">
					{note.title}
					{note.server && ` · ${note.server}`}
					{t(": ")}
					{note.text}
				</p>
			))}
			{run.error && <Problem error={run.error} retry={reread} />}
			<div className="flex justify-end gap-2">
				<Button onClick={onClose}>{t("Cancel")}</Button>
				<Button
					look="primary"
					busy={run.isPending}
					disabled={taken.length === 0 || lacking}
					onClick={() => void start().catch(() => {})}
				>
					{tn(taken.length, "Import {n} server", "Import {n} servers")}
				</Button>
			</div>
		</div>
	);
}
