import { useEffect, useState } from "react";
import { query } from "@/api/client";
import { list, t } from "@/lang";
import { aroundWord, workflowTypes } from "@/lang/terms";
import { ClientNames, meantClients, noServer, useClients } from "@/pages/workflows/around";
import { Cap, Field, Input, TextArea } from "@/ui";
import type { Schema } from "@/ui/schema";
import { useKinds } from "../ask-kinds";
import type { Definition } from "../definition";
import { Cel, Patterns } from "../fields";
import { edit, useEditor } from "../store";
import { refusalOf } from "../sync";
import { Body, Choice, JsonField, set, WholeField, Wrong } from "./parts";

// Where the server reports problems of match.when.
const matchWhen = "match.when";

/** keysOf are the keys that a setting may have, with what they mean and are unless set. */
function keysOf(settings: unknown, setting: string): string {
	const schema = settings as Schema | undefined;
	return list(
		Object.entries(schema?.properties?.[setting]?.properties ?? {}).map(([key, { title, default: value }]) =>
			value === undefined
				? t("{key} ({title})", { key, title: title ?? key })
				: t("{key} ({title}, {value} unless set)", { key, title: title ?? key, value: String(value) }),
		),
	);
}

// What match.tools names, if it is no tools.
const named: Record<string, string> = { "prompts/get": /* t */ "Prompts", "resources/read": /* t */ "Resources" };

/** ServersAndTools offers the names of servers and, as workflows match them, of tools. */
function ServersAndTools({ servers, tools, enabled }: { servers: string; tools: string; enabled: boolean }) {
	const { data } = query.useQuery("get", "/v1/servers", undefined, { enabled });
	const found = query.useQuery("get", "/v1/tools", { params: { query: { limit: 100 } } }, { enabled });
	const names = [...new Set(found.data?.tools.map(({ server, name, ownName = name }) => `${server}__${ownName}`))];
	return (
		<>
			<datalist id={servers}>
				{data?.servers.map(({ name }) => (
					<option key={name} value={name} />
				))}
			</datalist>
			<datalist id={tools}>
				{names.map((name) => (
					<option key={name} value={name} />
				))}
			</datalist>
		</>
	);
}

export function WorkflowSettings() {
	const draft = useEditor((s) => s.draft);
	const allProblems = useEditor((s) => s.problems);
	const readOnly = useEditor((s) => s.readOnly !== null);
	const limits = keysOf(useKinds().data?.settings, "limits");
	const own = allProblems.filter((p) => !p.node || p.node === matchWhen);
	const match = draft.match ?? {};
	const put = (change: Partial<Definition>, group = "") => edit((draft) => ({ ...draft, ...change }), group);
	const putMatch = (key: string, value: unknown) =>
		put(
			{
				match: set(
					match as Record<string, unknown>,
					key,
					Array.isArray(value) && value.length === 0 ? undefined : value || undefined,
				),
			},
			`match ${key}`,
		);
	const unknown = useEditor((s) => s.matches?.noServers);
	const ofServers = unknown?.some((name) => match.servers?.includes(name));
	const nobody = unknown && <span className="text-warn">{noServer(unknown)}</span>;
	const none = useEditor((s) => s.matches?.tools === 0);
	const bare = none && !named[draft.workflowType] && match.tools?.find((name) => !/__|^!?\*+$/.test(name));
	const [choosing, setChoosing] = useState(false);
	// What clients there are is asked for when the field is used.
	const [writing, setWriting] = useState<boolean>();
	const clients = useClients(writing !== undefined).names;
	const written = match.clients ?? [];
	const meant = meantClients(written, clients);
	// biome-ignore lint/correctness/useExhaustiveDependencies: when the field is left, or the clients are known
	useEffect(() => {
		if (writing === false && meant.join() !== written.join()) putMatch("clients", meant);
	}, [writing, meant.join()]);
	return (
		<>
			<Cap>
				<span>
					<b className="whitespace-nowrap text-text">{t("The workflow")}</b>
				</span>
				<span className="line font-normal text-faint">{t("Runs around a call; never starts by itself.")}</span>
			</Cap>
			{own.length > 0 && <Wrong problems={own} />}
			<Body>
				<div className="grid grid-cols-2 gap-3">
					<Field label={t("Name")} hint={!draft.name && t("Without a name, its id is shown.")}>
						<Input
							value={draft.name}
							placeholder={draft.id}
							readOnly={readOnly}
							onChange={(event) => put({ name: event.target.value }, "name")}
						/>
					</Field>
					<Field label={t("For")}>
						<Choice
							value={draft.workflowType}
							onChange={(workflowType) => put({ workflowType })}
							options={Object.fromEntries(workflowTypes.map((type) => [type, aroundWord(type)]))}
						/>
					</Field>
					<Field
						label={t(named[draft.workflowType] ?? "Tools")}
						hint={
							bare ? (
								<span className="text-warn">
									{t("Tools are matched as server__tool: {pattern} is for those of any server.", {
										pattern: bare.replace(/^!?/, (not) => `${not}*__`),
									})}
								</span>
							) : (
								!ofServers && nobody
							)
						}
					>
						<Patterns
							value={match.tools ?? []}
							onChange={(value) => putMatch("tools", value)}
							placeholder={named[draft.workflowType] ? t("all") : t("all, or github__*")}
							list={named[draft.workflowType] ? undefined : "editor-tools"}
							onFocus={() => setChoosing(true)}
						/>
					</Field>
					<Field label={t("Servers")} hint={ofServers && nobody}>
						<Patterns
							value={match.servers ?? []}
							onChange={(value) => putMatch("servers", value)}
							placeholder={t("all")}
							list="editor-servers"
							onFocus={() => setChoosing(true)}
						/>
						<ServersAndTools servers="editor-servers" tools="editor-tools" enabled={choosing} />
					</Field>
					<Field label={t("Clients")}>
						<Patterns
							value={match.clients ?? []}
							onChange={(value) => putMatch("clients", value)}
							placeholder={t("all")}
							list="editor-clients"
							onFocus={() => setWriting(true)}
							onBlur={() => setWriting(false)}
						/>
						<ClientNames id="editor-clients" enabled={writing !== undefined} />
					</Field>
					<Field label={t("Only if")}>
						<Cel
							condition
							label={t("Only if")}
							error={own.some((p) => p.node === matchWhen)}
							value={match.when ?? ""}
							onChange={(value) => putMatch("when", value)}
						/>
					</Field>
					<Field
						label={t("If the workflow fails")}
						hint={draft.failMode !== "open" && t("Behind the call, its answer is withheld.")}
					>
						<Choice
							value={draft.failMode ?? "closed"}
							onChange={(value) => put({ failMode: value === "closed" ? undefined : value })}
							options={{ closed: t("the call is refused"), open: t("the call passes") }}
						/>
					</Field>
				</div>
				<Field label={t("Description")}>
					<TextArea
						rows={2}
						readOnly={readOnly}
						value={draft.description ?? ""}
						onChange={(event) => put({ description: event.target.value || undefined }, "description")}
					/>
				</Field>
				<JsonField
					label={t("Variables (vars) as JSON")}
					path="vars"
					value={draft.vars}
					refusal={(vars, take) => refusalOf("vars", vars, take)}
					onChange={(vars) => put({ vars: vars as Record<string, unknown> | undefined }, "vars")}
				/>
				<div className="grid grid-cols-2 gap-3">
					<WholeField
						data-payload
						label={t("Largest call and answer for scripts (KB)")}
						placeholder="1024"
						path="limits.payloadKB"
						value={draft.limits?.payloadKB}
						onChange={(value) => {
							const limits = set(draft.limits ?? {}, "payloadKB", value);
							put({ limits: Object.keys(limits).length > 0 ? limits : undefined }, "payloadKB");
						}}
					/>
					<WholeField
						label={t("Order")}
						hint={t("The lowest sees a call first and its answer last.")}
						placeholder="0"
						path="order"
						value={draft.order}
						onChange={(order) => put({ order }, "order")}
					/>
				</div>
				<JsonField
					label={t("Limits as JSON")}
					hint={limits && t("Its keys: {keys}", { keys: limits })}
					path="limits"
					value={draft.limits}
					refusal={(limits, take) => refusalOf("limits", limits, take)}
					onChange={(limits) => put({ limits: limits as Record<string, unknown> | undefined }, "limits")}
				/>
			</Body>
		</>
	);
}
