import { KeyRound, Plug, Undo2 } from "lucide-react";
import { useState } from "react";
import { query, refresh, root, type S } from "@/api/client";
import { ago, t, tn, whole } from "@/lang";
import { useSession } from "@/shell/app";
import {
	Button,
	Cap,
	Card,
	Chip,
	Confirm,
	CopyButton,
	complain,
	Dialog,
	Dot,
	Empty,
	Field,
	Input,
	LinkButton,
	Loaded,
	Page,
	Problem,
	Snippet,
	say,
} from "@/ui";

/** Clients shows the programs that call through Genkan: those on this machine, and those
 * that have a token. */
export default function Clients() {
	const { admin } = useSession();
	if (!admin)
		return (
			<Page title={t("Clients")}>
				<Empty icon={<KeyRound />} title={t("Only an administrator sees the clients.")} />
			</Page>
		);
	return (
		<Page title={t("Clients")}>
			<div className="flex flex-col gap-6">
				<Connections />
				<Tokens />
				<ByHand />
			</div>
		</Page>
	);
}

/** Connections are the clients on this machine, with what connecting one would change. */
function Connections() {
	const connections = query.useQuery("get", "/v1/connections");
	const [asked, ask] = useState<S["ClientConnection"]>();
	const undo = query.useMutation("delete", "/v1/connections/{client}");
	const takeBack = (client: string, title: string) =>
		undo.mutate(
			{ params: { path: { client } } },
			{
				onError: complain,
				onSuccess: ({ files }) => {
					refresh("/v1/connections", "/v1/doctor");
					const failed = files.find((file) => file.problem);
					if (failed) complain(failed.problem!.error);
					else say(t("The files of {title} are as they were.", { title }));
				},
			},
		);
	return (
		<section aria-labelledby="here">
			<h2 id="here" className="mb-2 text-base">
				{t("On this machine")}
			</h2>
			<Loaded query={connections} rows={3}>
				{(data) => {
					const here = data.connections.filter((one) => one.files.some((file) => file.exists));
					if (here.length === 0)
						return (
							<Card>
								<Empty icon={<Plug />} title={t("No client was found on this machine")}>
									{t("Install Claude Code, Cursor, VS Code or another one, or connect one by hand below.")}
								</Empty>
							</Card>
						);
					return (
						<Card className="overflow-hidden">
							{here.map((one) => {
								const servers = one.files.reduce((sum, file) => sum + file.servers, 0);
								const through = one.files.reduce((sum, file) => sum + file.connected, 0);
								const problem = one.files.find((file) => file.problem);
								const changed = data.changes.some((change) => change.client === one.name);
								return (
									<div
										key={one.name}
										className="flex flex-wrap items-center gap-x-4 gap-y-2 border-line border-b px-4 py-3 last:border-0"
									>
										<div className="min-w-0 flex-1 basis-64">
											<div className="flex items-center gap-2 font-medium">
												<Dot tone={through > 0 ? "ok" : "idle"} />
												{one.title}
												<Chip tone={through > 0 ? "ok" : "idle"}>
													{through > 0 ? t("connected") : t("not connected")}
												</Chip>
											</div>
											<div className="mt-0.5 text-muted text-sm">
												{tn(servers, "{n} server", "{n} servers")}
												{servers > 0 && `, ${t("{n} through Genkan", { n: through })}`}
												{" · "}
												<span className="break-all font-mono text-xs">
													{one.files
														.filter((file) => file.exists)
														.map((file) => file.path)
														.join("  ")}
												</span>
											</div>
											{problem && <div className="mt-1 text-bad text-sm">{problem.problem}</div>}
										</div>
										{changed && (
											<Button busy={undo.isPending} onClick={() => takeBack(one.name, one.title)}>
												<Undo2 />
												{t("Put back")}
											</Button>
										)}
										{through < servers && (
											<Button look="primary" onClick={() => ask(one)}>
												{t("Connect")}
											</Button>
										)}
									</div>
								);
							})}
						</Card>
					);
				}}
			</Loaded>
			{asked && <Connect client={asked} onClose={() => ask(undefined)} />}
		</section>
	);
}

/** Connect shows what connecting a client would change, and does it. */
function Connect({ client, onClose }: { client: S["ClientConnection"]; onClose: () => void }) {
	const path = { client: client.name };
	const plan = query.useQuery(
		"post",
		"/v1/connections/{client}",
		{ params: { path }, body: { dryRun: true } },
		{ staleTime: 0, gcTime: 0 },
	);
	const connect = query.useMutation("post", "/v1/connections/{client}");
	const start = () =>
		connect.mutate(
			{ params: { path }, body: {} },
			{
				onSuccess: () => {
					refresh("/v1/connections", "/v1/doctor", "/v1/tokens");
					say(t("{title} is connected. Restart it, so that it reads its file again.", { title: client.title }));
					onClose();
				},
			},
		);
	const files = plan.data?.files.filter((file) => file.entries?.length || file.notImported?.length || file.problem);
	const any = files?.some((file) => file.entries?.length);
	return (
		<Dialog
			title={t("Connect {title}", { title: client.title })}
			onClose={onClose}
			size="wide"
			actions={
				<>
					<Button onClick={onClose}>{t("Cancel")}</Button>
					<Button look="primary" disabled={!any} busy={connect.isPending} onClick={start}>
						{t("Connect")}
					</Button>
				</>
			}
		>
			<Loaded query={plan}>
				{() => (
					<div className="flex flex-col gap-4">
						<p className="text-muted">
							{t(
								"These entries would lead to Genkan. Every tool keeps its name; everything else in the file stays, and the file from before is kept.",
							)}
						</p>
						{!any && files?.every((file) => !file.problem) && (
							<p className="rounded-lg bg-warn-soft px-4 py-3 text-warn">
								{t("Nothing would change: import its servers first.")}
							</p>
						)}
						{files?.map((file) => (
							<Card key={file.path}>
								<Cap>
									<code className="break-all">{file.path}</code>
								</Cap>
								<div className="flex flex-col gap-2 px-4 py-3 font-mono text-[12.5px]">
									{file.entries?.map((entry) => (
										<div key={entry.name}>
											<div className="text-muted">{entry.name}</div>
											{entry.was && <del className="block bg-bad-soft no-underline">- {entry.was}</del>}
											<ins className="block break-all bg-ok-soft no-underline">+ {entry.to}</ins>
										</div>
									))}
								</div>
								{file.notImported && file.notImported.length > 0 && (
									<p className="px-4 pb-3 text-muted">
										{t("Stay as they are, because Genkan does not have them: {names}", {
											names: file.notImported.join(", "),
										})}{" "}
										<LinkButton size="small" href="/servers?add=import">
											{t("Import")}
										</LinkButton>
									</p>
								)}
								{file.problem && <Problem className="m-3" error={file.problem.error} />}
							</Card>
						))}
						{connect.error && <Problem error={connect.error} />}
					</div>
				)}
			</Loaded>
		</Dialog>
	);
}

/** Tokens are for clients on other machines, and for scripts. */
function Tokens() {
	const tokens = query.useQuery("get", "/v1/tokens");
	const make = query.useMutation("post", "/v1/tokens");
	const revoke = query.useMutation("delete", "/v1/tokens/{name}");
	const [name, setName] = useState("");
	const [asked, ask] = useState<string>();
	const add = () =>
		make.mutate(
			{ body: { name: name.trim() } },
			{
				onSuccess: () => {
					setName("");
					refresh("/v1/tokens");
				},
			},
		);
	return (
		<section aria-labelledby="tokens">
			<h2 id="tokens" className="mb-2 text-base">
				{t("Tokens")}
			</h2>
			<Card className="overflow-hidden">
				<div className="flex flex-wrap items-end gap-2 border-line border-b px-4 py-3">
					<div className="w-full sm:w-80">
						<Field label={t("Name of a client on another machine, or of a script")}>
							<Input
								value={name}
								placeholder="ci"
								onChange={(event) => setName(event.target.value)}
								onEnter={() => name.trim() && add()}
							/>
						</Field>
					</div>
					<Button disabled={!name.trim()} busy={make.isPending} onClick={add}>
						{t("Make a token")}
					</Button>
				</div>
				{make.error && <Problem className="m-3" error={make.error} />}
				{make.data && (
					<div className="m-3 flex flex-wrap items-center gap-2 rounded-lg bg-ok-soft px-4 py-3 text-ok">
						<span className="flex-1 basis-full">
							{t("The token of {name}. It is shown only now: copy it.", { name: make.data.name })}
						</span>
						<code className="break-all text-text">{make.data.token}</code>
						<CopyButton text={make.data.token} label={t("Copy")} />
					</div>
				)}
				<Loaded query={tokens} rows={2}>
					{(data) =>
						data.tokens.length === 0 ? (
							<p className="px-4 py-5 text-muted">
								{t("None yet. Clients on this machine that start Genkan themselves need none.")}
							</p>
						) : (
							data.tokens.map((token) => (
								<div
									key={token.name}
									className="flex items-center gap-3 border-line border-b px-4 py-2.5 last:border-0"
								>
									<div className="min-w-0 flex-1">
										<span className="font-medium">{token.name}</span>{" "}
										{token.admin && <Chip tone="warn">{t("administrator")}</Chip>}
										<div className="text-muted text-sm">
											{token.lastSeen ? (
												<span title={whole(token.lastSeen)}>
													{t("last seen {time}", { time: ago(token.lastSeen) })}
													{token.lastClient && ` · ${token.lastClient}`}
												</span>
											) : (
												t("never used")
											)}
										</div>
									</div>
									<LinkButton look="quiet" size="small" href={`/calls?client=${encodeURIComponent(token.name)}`}>
										{t("Its calls")}
									</LinkButton>
									<Button look="danger" size="small" onClick={() => ask(token.name)}>
										{t("Revoke")}
									</Button>
								</div>
							))
						)
					}
				</Loaded>
			</Card>
			{asked && (
				<Confirm
					title={t("Revoke the token of {name}?", { name: asked })}
					action={t("Revoke")}
					danger
					busy={revoke.isPending}
					onClose={() => ask(undefined)}
					onConfirm={() =>
						revoke.mutate(
							{ params: { path: { name: asked } } },
							{
								onError: complain,
								onSuccess: () => {
									refresh("/v1/tokens");
									ask(undefined);
								},
							},
						)
					}
				>
					{t("Whoever uses it is refused from now on.")}
				</Confirm>
			)}
		</section>
	);
}

/** ByHand has what to paste into a client that Genkan cannot change itself. */
function ByHand() {
	const stdio = JSON.stringify({ mcpServers: { genkan: { command: "genkan", args: ["stdio"] } } }, null, 2);
	const http = JSON.stringify(
		{
			mcpServers: {
				genkan: { type: "http", url: new URL("mcp", root).href, headers: { Authorization: "Bearer TOKEN" } },
			},
		},
		null,
		2,
	);
	return (
		<section aria-labelledby="hand">
			<h2 id="hand" className="mb-2 text-base">
				{t("By hand")}
			</h2>
			<div className="grid gap-3 md:grid-cols-2">
				{[
					{ title: t("A client on this machine"), text: stdio },
					{ title: t("A client elsewhere, with a token"), text: http },
				].map(({ title, text }) => (
					<Snippet key={title} title={title} text={text} />
				))}
			</div>
		</section>
	);
}
