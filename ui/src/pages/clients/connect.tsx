import { BookOpen } from "lucide-react";
import { useState } from "react";
import { query, refresh, type S } from "@/api/client";
import { list, t } from "@/lang";
import { Button, Cap, Card, Chip, Dialog, LinkButton, Loaded, Problem, say } from "@/ui";

/** Connect shows what connecting a client would change, and does it. */
export function Connect({
	client,
	knowledge,
	onClose,
}: {
	client: S["ClientConnection"];
	/** Only an entry for the knowledge base is added. */
	knowledge?: boolean;
	onClose: () => void;
}) {
	const path = { client: client.name };
	const plan = query.useQuery(
		"post",
		"/v1/connections/{client}",
		{ params: { path }, body: { dryRun: true, knowledge } },
		{ staleTime: 0, gcTime: 0 },
	);
	const connect = query.useMutation("post", "/v1/connections/{client}");
	const start = () =>
		connect.mutate(
			{ params: { path }, body: { knowledge } },
			{
				onSuccess: () => {
					refresh("/v1/connections", "/v1/doctor", "/v1/tokens");
					say(
						knowledge
							? t("{title} has the knowledge base. Restart it, so that it reads its file again.", {
									title: client.title,
								})
							: t("{title} is connected. Restart it, so that it reads its file again.", { title: client.title }),
					);
					onClose();
				},
			},
		);
	const files = plan.data?.files.filter((file) => file.entries?.length || file.notImported?.length || file.problem);
	const any = files?.some((file) => file.entries?.length);
	return (
		<Dialog
			title={
				knowledge
					? t("Give {title} the knowledge base", { title: client.title })
					: t("Connect {title}", { title: client.title })
			}
			onClose={onClose}
			size="wide"
			actions={
				<>
					<Button onClick={onClose}>{t("Cancel")}</Button>
					<Button look="primary" disabled={!any} busy={connect.isPending} onClick={start}>
						{knowledge ? t("Add the entry") : t("Connect")}
					</Button>
				</>
			}
		>
			<Loaded query={plan}>
				{() => (
					<div className="flex flex-col gap-4">
						<p className="text-muted">
							{knowledge
								? t("This entry is added. Everything else in the file stays, and the file from before is kept.")
								: t(
										"These entries would lead to Genkan. Every tool keeps its name; everything else in the file stays, and the file from before is kept.",
									)}
						</p>
						{!any && files?.every((file) => !file.problem) && (
							<p className="rounded-lg bg-warn-soft px-4 py-3 text-warn">
								{knowledge
									? t("Nothing would change: it has the knowledge base.")
									: t("Nothing would change: import its servers first.")}
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
											{entry.was && <del className="block break-all bg-bad-soft no-underline">- {entry.was}</del>}
											<ins className="block break-all bg-ok-soft no-underline">+ {entry.to}</ins>
										</div>
									))}
								</div>
								{file.notImported && file.notImported.length > 0 && (
									<p className="px-4 pb-3 text-muted">
										{t("Stay as they are, because Genkan does not have them: {names}", {
											names: list(file.notImported),
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

const entries = (client: S["ClientConnection"]) => client.files.reduce((sum, file) => sum + file.connected, 0);

/** HasKnowledge says whether a connected client gets the knowledge base, or gives it one. */
export function HasKnowledge({ client }: { client: S["ClientConnection"] }) {
	const [asked, ask] = useState(false);
	const servers = query.useQuery("get", "/v1/servers");
	if (entries(client) === 0 || !servers.data?.servers.some((one) => one.name === "kb")) return null;
	if (client.files.some((file) => file.knowledge))
		return (
			<Chip tone="ok">
				<BookOpen />
				{t("knowledge base")}
			</Chip>
		);
	return (
		<>
			<Button onClick={() => ask(true)} title={t("Its entries lead to single servers, so it has no knowledge base.")}>
				<BookOpen />
				{t("Add the knowledge base")}
			</Button>
			{asked && <Connect client={client} knowledge onClose={() => ask(false)} />}
		</>
	);
}

/** WhoHasKnowledge lists the connected clients of this machine, with whether they get the
 * knowledge base. It is nothing where all of them do. */
export function WhoHasKnowledge() {
	const connections = query.useQuery("get", "/v1/connections", {}, { retry: false });
	const connected = connections.data?.connections.filter((one) => entries(one) > 0) ?? [];
	if (connected.every((one) => one.files.some((file) => file.knowledge))) return null;
	return (
		<Card className="mb-4">
			<p className="px-4 pt-3 text-muted">
				{t(
					"These clients are connected. An agent reaches the knowledge base only where its client has an entry for it.",
				)}
			</p>
			{connected.map((one) => (
				<div key={one.name} className="flex min-h-12 items-center gap-3 px-4 py-2">
					<span className="flex-1 font-medium">{one.title}</span>
					<HasKnowledge client={one} />
				</div>
			))}
		</Card>
	);
}
