import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { flushSync } from "react-dom";
import { api, query, refresh, type S } from "@/api/client";
import { between, list, sentences, t, tn } from "@/lang";
import { aroundWord } from "@/lang/terms";
import { useLate } from "@/shell/search";
import { Button, Dialog, Field, Input, Loaded, messageOf, say, useChanged } from "@/ui";
import { blank, type Schema } from "@/ui/schema";
import { fieldErrors, SchemaForm, useShowWrong } from "@/ui/schemaform";
import { newDefinition } from "../workflow/definition";
import { meantClients, noServer, useClients } from "./around";

/** Gallery shows the templates. Each is used by filling in a form. It is a dialog if it can
 * be closed. */
export function Gallery({
	asked,
	onMade,
	onClose,
}: {
	asked?: string;
	onMade: (id: string) => void;
	onClose?: () => void;
}) {
	const templates = query.useQuery("get", "/v1/workflow-templates");
	const [chosen, choose] = useState(asked);
	const cards = (
		<Loaded query={templates}>
			{(data) => (
				<div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
					{data.templates.map((template) => (
						<button
							key={template.id}
							type="button"
							onClick={() => choose(template.id)}
							className="flex flex-col gap-1 rounded-lg border border-line bg-surface p-4 text-left hover:border-accent"
						>
							<span className="font-medium">{template.title}</span>
							<span className="text-muted text-sm">{template.description}</span>
						</button>
					))}
				</div>
			)}
		</Loaded>
	);
	const template = templates.data?.templates.find((one) => one.id === chosen);
	const close = onClose ?? (() => choose(undefined));
	return (
		<>
			{onClose && !template ? (
				<Dialog title={t("Templates")} onClose={onClose} size="wide">
					{cards}
				</Dialog>
			) : (
				!onClose && cards
			)}
			{template && <Use template={template} onMade={onMade} onClose={close} />}
		</>
	);
}

/** Use makes workflows of a template. */
function Use({
	template,
	onMade,
	onClose,
}: {
	template: S["Template"];
	onMade: (id: string) => void;
	onClose: () => void;
}) {
	const schema = template.params as Schema;
	const [params, setParams] = useState<unknown>(() => blank(schema) ?? {});
	const [match, setMatch] = useState<{ servers?: string[]; tools?: string[]; clients?: string[] }>({});
	const known = useClients();
	const [name, setName] = useState(template.title);
	const matching = useMatching();
	const use = query.useMutation("post", "/v1/workflow-templates");
	// What was wrong stands at a field until that is changed.
	const [changed, setChanged] = useState<string[]>([]);
	const found = fieldErrors(use.error, schema);
	const errors = Object.fromEntries(
		Object.entries(found).filter(([field]) =>
			field === "match"
				? Object.keys(match).length === 0
				: !changed.some((one) => field === one || field.startsWith(`${one}.`)),
		),
	);
	const isWrong = Object.keys(errors).length > 0;
	const ofMatch = Object.fromEntries(
		Object.entries(errors).map(([field, text]) => [field.replace(/^match\./, ""), text] as const),
	);
	const dead = useNoServers(match);
	const around = useShowWrong(use.error);
	const unsaved = useChanged([params, match, name]);
	// The list that this stands in may take its place as soon as there is a workflow, before
	// the answer is there; so what follows is no callback of the mutation.
	const make = async () => {
		setChanged([]);
		const { workflows, warnings } = await use.mutateAsync({
			body: {
				template: template.id,
				name: name.trim() || undefined,
				match: match.clients ? { ...match, clients: meantClients(match.clients, known.names) } : match,
				params,
			},
		});
		refresh("/v1/workflows");
		say(
			sentences(
				...(warnings ?? []),
				tn(
					workflows.length,
					"The draft is stored. Try it on past calls, then enable it.",
					"{n} drafts are stored, which belong together. Try them on past calls, then enable them.",
				),
			),
		);
		flushSync(onClose); // nothing is unsaved any more
		onMade(workflows[0]!.id);
	};
	return (
		<Dialog
			title={template.title}
			onClose={onClose}
			size="wide"
			unsaved={unsaved}
			actions={
				<>
					{use.error && (isWrong || Object.keys(found).length === 0) && (
						<p role="alert" className="min-w-0 flex-1 self-center text-bad">
							{isWrong ? t("Nothing is made yet. Look at the marked fields.") : messageOf(use.error)}
						</p>
					)}
					<Button onClick={onClose}>{t("Cancel")}</Button>
					<Button
						look="primary"
						busy={use.isPending || (known.loading && !!match.clients)}
						onClick={() => void make().catch(() => {})}
					>
						{template.makes.length > 1 ? t("Make {n} drafts", { n: template.makes.length }) : t("Make a draft")}
					</Button>
				</>
			}
		>
			<div ref={around} className="flex flex-col gap-5">
				<p className="text-muted">
					{template.description}
					{between()}
					{template.makes.length > 1 &&
						tn(template.makes.length, "It makes {n} draft, for {types}.", "It makes {n} drafts, for {types}.", {
							types: list(template.makes.map(aroundWord)),
						})}
				</p>
				<Field label={t("Name")}>
					<Input value={name} onChange={(event) => setName(event.target.value)} />
				</Field>
				{Object.keys(schema.properties ?? {}).length > 0 && (
					<SchemaForm
						schema={schema}
						value={params}
						onChange={(value) => {
							setChanged([...changed, ...differing(params, value)]);
							setParams(value);
						}}
						errors={errors}
					/>
				)}
				{matching && (
					<details open={template.needsMatch} className="rounded-lg border border-line">
						<summary className="px-4 py-2.5 font-medium">
							{t("Which calls")}{" "}
							<span className="font-normal text-muted">
								{template.needsMatch ? t("needed: it is not meant for all calls") : t("all, unless you say more here")}
							</span>
						</summary>
						<div className="border-line border-t p-4" data-wrong={errors.match ? "" : undefined}>
							{errors.match && (
								<p className="mb-3 text-bad text-xs">{t("Say which calls it is for: a tool, a server or a client.")}</p>
							)}
							<SchemaForm
								schema={matching}
								value={match}
								onChange={(value) => {
									setChanged([...changed, ...differing(match, value).map((field) => `match.${field}`)]);
									setMatch(value as object);
								}}
								errors={ofMatch}
							/>
							<div role="status">{dead && <p className="mt-3 text-warn">{noServer(dead)}</p>}</div>
						</div>
					</details>
				)}
			</div>
		</Dialog>
	);
}

/** useNoServers asks, once nobody writes, which names of servers there are not. */
function useNoServers(match: { servers?: string[]; tools?: string[] }): string[] | undefined {
	const asked = useLate(JSON.stringify({ servers: match.servers, tools: match.tools }));
	const { data } = useQuery({
		queryKey: ["post", "/v1/workflows/validate", asked],
		queryFn: async ({ signal }) =>
			(
				await api.POST("/v1/workflows/validate", {
					body: newDefinition("new", "new", "tools/call", JSON.parse(asked)) as never,
					signal,
				})
			).data,
		enabled: asked !== "{}",
		retry: false, // the form says what cannot be read
	});
	return data?.matches.noServers;
}

/** differing are the members that two objects do not have in common. */
function differing(a: unknown, b: unknown): string[] {
	const [one, other] = [a, b] as Record<string, unknown>[];
	return Object.keys({ ...one, ...other }).filter((name) => one?.[name] !== other?.[name]);
}

/** useMatching is the schema of what says which calls a workflow is for. It offers the names
 * that there are. */
function useMatching(): Schema | undefined {
	const nodes = query.useQuery("get", "/v1/workflow-nodes");
	const servers = query.useQuery("get", "/v1/servers");
	const clients = useClients().names;
	const tools = useQuery({
		queryKey: ["get", "/v1/tools", "names"],
		queryFn: async ({ signal }) => {
			const names: string[] = [];
			for (let page = 1, pages = 1; page <= pages && page <= 20; page++) {
				const { data } = await api.GET("/v1/tools", { params: { query: { limit: 100, page } }, signal });
				names.push(...data!.tools.map((tool) => tool.name));
				pages = data!.pagination.totalPages;
			}
			return names;
		},
	});
	const match = (nodes.data?.settings as Schema | undefined)?.properties?.match;
	if (!match) return;
	const known: Record<string, string[] | undefined> = {
		tools: tools.data,
		servers: servers.data?.servers.map((server) => server.name),
		clients,
	};
	const properties: Record<string, Schema> = {};
	for (const name of ["tools", "servers", "clients", "when", "annotations"]) {
		const one = match.properties?.[name];
		if (one) properties[name] = name in known ? { ...one, items: { type: "string", "x-known": known[name] } } : one;
	}
	return { ...match, properties };
}
