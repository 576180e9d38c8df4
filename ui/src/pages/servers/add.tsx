import { Plus, Trash2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { useLocation } from "wouter";
import { api, Failure, query, refresh, type S } from "@/api/client";
import { list, quoted, sentences, t, tn } from "@/lang";
import { useChoice } from "@/shell/address";
import { Button, Dialog, Field, Input, messageOf, Problem, Prose, Select, say, Tabs, TextArea, useChanged } from "@/ui";
import { fieldErrors, isAtFields, jsonOf, useShowWrong } from "@/ui/schemaform";
import { closed, lineOf, words } from "./line";
import { Tried, useTrial, useTrials } from "./try";

type Pair = { name: string; value: string };
type Pasted = S["NewServer"] & { name: string; key: string; was?: string };
type Draft = {
	name: string;
	kind: "command" | "url";
	line: string;
	cwd: string;
	url: string;
	pairs: Pair[];
	/** Settings that have no field of their own, as JSON. */
	more: string;
};
const blank: Draft = { name: "", kind: "command", line: "", cwd: "", url: "", pairs: [], more: "" };

const ways = ["form", "json"] as const;

type Own = "command" | "args" | "env" | "cwd" | "url" | "headers" | "type" | "disabled" | "tools";
const others: Record<Exclude<keyof S["ServerDefinition"], Own>, true> = {
	prefix: true,
	overwrite: true,
	isolation: true,
	timeout: true,
	startupTimeout: true,
	validate: true,
	schemas: true,
	oauth: true,
};

/** AddServer adds a server, or changes one: by a form, or by JSON as clients write it. It
 * tries the server before it is saved. */
export function AddServer({ onClose, server }: { onClose: () => void; server?: S["Server"] }) {
	const [, go] = useLocation();
	const [chosen, setWay] = useChoice("as", ways);
	const way = server ? "form" : chosen;
	const [draft, setDraft] = useState<Draft>(() => (server ? draftOf(server) : blank));
	const [json, setJSON] = useState("");
	const toText = useRef(false);
	const trial = useTrial();
	const trials = useTrials();
	// Names that a person gave pasted servers, by those in the text.
	const [renamed, rename] = useState<Record<string, string>>({});
	const [leftOut, leaveOut] = useState<string[]>([]);
	const read = query.useMutation("post", "/v1/servers/read");
	const add = query.useMutation("post", "/v1/servers");
	const change = query.useMutation("put", "/v1/servers/{name}");
	// Results of the earlier text no longer apply.
	const forget = () => {
		trial.cancel();
		trials.cancel();
		add.reset();
		change.reset();
	};
	const set = (part: Partial<Draft>) => {
		setDraft({ ...draft, ...part });
		forget();
	};
	const more = settingsOf(draft.more);
	const [moreOpen, openMore] = useState(draft.more !== "");
	const body = bodyOf(draft, more.value, server?.definition);
	const unclosed = draft.kind === "command" && !closed(draft.line);
	const ready =
		draft.name.trim() !== "" &&
		!unclosed &&
		!draft.pairs.some(isNameless) &&
		(draft.kind === "url" ? draft.url.trim() : draft.line.trim()) !== "";
	const failure = add.error ?? change.error;
	// A new server conflicts with nothing but another of its name.
	const taken = add.error instanceof Failure && add.error.status === 409 ? messageOf(add.error) : undefined;
	const wrong = fieldErrors(failure ?? trial.error);
	const fields = ["name", ...(draft.kind === "url" ? ["url"] : ["command", "cwd"])];
	const around = useShowWrong(failure ?? trial.error);
	const unsaved = useChanged([draft, json]);
	/** readable tells whether the other settings can be read, and leads to them if not. */
	const readable = () => {
		if (!more.wrong) return true;
		const settings = around.current!.querySelector("details")!;
		settings.open = true;
		settings.querySelector("textarea")!.focus();
		return false;
	};
	const [outcome, setOutcome] = useState<{ added: string[]; refused: Map<string, string> }>();
	const pasted = (read.data?.servers ?? [])
		.filter(({ name }) => !leftOut.includes(name) && (!outcome || outcome.refused.has(name)))
		.map(
			({ name, was, definition }): Pasted => ({
				...(definition as S["NewServer"]),
				name: renamed[name] ?? name,
				key: name,
				was,
			}),
		);
	const named = pasted.every(({ name }) => name.trim() !== "");
	const there = query.useQuery("get", "/v1/servers").data?.servers;
	const refusal = ({ key, name }: Pasted) =>
		(name === key && outcome?.refused.get(key)) ||
		(there?.some((one) => one.name === name.trim()) && t("There is a server {name} already.", { name: quoted(name) }));

	// What is pasted is read at once, and again when somebody pauses in writing.
	const readText = read.mutate;
	useEffect(() => {
		if (way !== "json" || !json.trim()) return;
		const timer = setTimeout(() => readText({ body: { text: json } }), 400);
		return () => clearTimeout(timer);
	}, [way, json, readText]);

	const save = async () => {
		trial.cancel();
		const from = location.pathname;
		if (server) await change.mutateAsync({ params: { path: { name: server.name } }, body });
		else await add.mutateAsync({ body });
		refresh("/v1/servers", "/v1/servers/{name}", "/v1/tools", "/v1/doctor", "/v1/connections");
		say(server ? t("“{name}” is changed.", { name: draft.name }) : t("“{name}” is added.", { name: draft.name }));
		flushSync(onClose); // nothing is unsaved any more
		if (!server && location.pathname === from) go(`/servers/${encodeURIComponent(draft.name.trim())}`);
	};
	const saveAll = async (servers: Pasted[]) => {
		const added: string[] = [];
		const refused = new Map<string, string>();
		for (const one of servers) {
			const { name, body } = bodyOfPasted(one);
			try {
				await add.mutateAsync({ body });
				added.push(name);
			} catch (error) {
				refused.set(name, messageOf(error));
			}
		}
		trials.cancel();
		rename({});
		add.reset();
		refresh("/v1/servers", "/v1/tools", "/v1/doctor", "/v1/connections");
		if (refused.size === 0) {
			say(tn(servers.length, "{n} server is added.", "{n} servers are added."));
			onClose();
			return;
		}
		// Only what is left to do stays in the form.
		const left = servers
			.map(bodyOfPasted)
			.filter(({ name }) => refused.has(name))
			.map(({ name, body: { name: _, ...definition } }) => [name, definition]);
		setJSON(JSON.stringify({ mcpServers: Object.fromEntries([...left, ...unread(json, servers)]) }, null, 2));
		setOutcome({ added, refused });
	};

	return (
		<Dialog
			title={server ? t("Change “{name}”", { name: server.name }) : t("Add a server")}
			onClose={onClose}
			size="wide"
			unsaved={unsaved}
			actions={
				way === "form" ? (
					<>
						<Button onClick={onClose}>{t("Cancel")}</Button>
						<Button
							disabled={!ready || trial.since !== undefined}
							onClick={() => {
								if (!readable()) return;
								forget();
								void trial.start(async (signal) => (await api.POST("/v1/servers/test", { body, signal })).data!);
							}}
						>
							{t("Test it")}
						</Button>
						<Button
							look="primary"
							busy={add.isPending || change.isPending}
							disabled={!ready}
							onClick={() => readable() && void save().catch(() => {})}
						>
							{server ? t("Save") : t("Add")}
						</Button>
					</>
				) : (
					<>
						<Button onClick={onClose}>{t("Cancel")}</Button>
						<Button
							disabled={pasted.length === 0 || !named || trials.busy}
							onClick={() => void trials.start(pasted.map((one) => [one.key, bodyOfPasted(one).body]))}
						>
							{t("Test it")}
						</Button>
						<Button
							look="primary"
							disabled={pasted.length === 0 || !named}
							busy={add.isPending}
							onClick={() => void saveAll(pasted)}
						>
							{pasted.length > 0 ? tn(pasted.length, "Add {n} server", "Add {n} servers") : t("Add")}
						</Button>
					</>
				)
			}
		>
			{!server && (
				<Tabs
					label={t("How to add")}
					className="mb-4"
					tabs={[
						{ id: "form", title: t("Form") },
						{ id: "json", title: t("Paste JSON") },
					]}
					current={way}
					onChange={(id, pressed) => {
						forget();
						read.reset();
						setOutcome(undefined);
						toText.current = pressed;
						setWay(id);
					}}
				/>
			)}
			{way === "form" ? (
				<div ref={around} className="flex flex-col gap-4">
					<div className="grid gap-4 sm:grid-cols-2">
						<Field
							label={t("Name")}
							error={wrong.name ?? taken}
							hint={
								server
									? t("The name cannot be changed.")
									: t(
											"Lower case letters, digits and -, at most 32 characters, a letter first. Tools are called NAME__TOOL.",
										)
							}
						>
							<Input
								value={draft.name}
								disabled={!!server}
								placeholder="github"
								onChange={(e) => set({ name: e.target.value })}
							/>
						</Field>
						<Field label={t("What it is")}>
							<Select value={draft.kind} onChange={(e) => set({ kind: e.target.value as Draft["kind"] })}>
								<option value="command">{t("A program that Genkan starts")}</option>
								<option value="url">{t("A server with an address")}</option>
							</Select>
						</Field>
					</div>
					{draft.kind === "command" ? (
						<>
							<Field
								label={t("Command line")}
								hint={t("It is started without a shell. Put quotes around parts with spaces.")}
								error={unclosed ? t("A quote is not closed.") : wrong.command}
							>
								<TextArea
									rows={2}
									spellCheck={false}
									className="font-mono text-[12.5px]"
									value={draft.line}
									placeholder="npx -y @modelcontextprotocol/server-everything"
									onChange={(e) => set({ line: e.target.value })}
								/>
							</Field>
							<Field label={t("Folder that it runs in, if that matters")} error={wrong.cwd}>
								<Input
									className="font-mono text-[12.5px]"
									value={draft.cwd}
									onChange={(e) => set({ cwd: e.target.value })}
								/>
							</Field>
						</>
					) : (
						<Field label={t("Address")} error={wrong.url}>
							<Input
								className="font-mono text-[12.5px]"
								value={draft.url}
								placeholder="https://mcp.example.com/mcp"
								onChange={(e) => set({ url: e.target.value })}
							/>
						</Field>
					)}
					<Pairs
						title={draft.kind === "command" ? t("Environment variables") : t("Headers")}
						more={draft.kind === "command" ? t("Add a variable") : t("Add a header")}
						pairs={draft.pairs}
						onChange={(pairs) => set({ pairs })}
					/>
					<details open={moreOpen} onToggle={(event) => openMore(event.currentTarget.open)}>
						<summary className="mb-2 font-medium text-muted text-xs">{t("Other settings")}</summary>
						<Field
							label={t("As JSON")}
							error={more.wrong}
							hint={t("Any of {names}, as in genkan.yaml.", { names: list(Object.keys(others)) })}
						>
							<TextArea
								className="font-mono text-[12.5px]"
								spellCheck={false}
								placeholder="{ }"
								value={draft.more}
								onChange={(event) => set({ more: event.target.value })}
							/>
						</Field>
					</details>
					{failure && !taken && !isAtFields(failure, fields) && <Problem error={failure} />}
					<Tried trial={isAtFields(trial.error, fields) ? { ...trial, error: undefined } : trial} />
				</div>
			) : (
				<div className="flex flex-col gap-4">
					<Field
						label={t("JSON as any client writes it")}
						hint={
							<Prose text={t("From a server's documentation, or a client's file. `claude mcp add …` is read too.")} />
						}
					>
						<TextArea
							rows={12}
							autoFocus={toText.current}
							className="font-mono text-[12.5px]"
							value={json}
							placeholder={'{ "mcpServers": { "github": { "command": "npx", "args": ["-y", "…"] } } }'}
							onChange={(e) => {
								setJSON(e.target.value);
								setOutcome(undefined);
								trials.cancel();
								rename({});
								leaveOut([]);
								read.reset();
							}}
						/>
					</Field>
					{read.error && <Problem error={read.error} />}
					{read.data && read.data.notes.length > 0 && (
						<ul role="status" className="flex flex-col gap-1 rounded-lg bg-warn-soft px-4 py-3 text-warn">
							{read.data.notes.map(({ server, text }) => (
								<li key={`${server} ${text}`} className="break-words">
									{server ? t("“{name}”: {text}", { name: server, text: messageOf(text) }) : messageOf(text)}
								</li>
							))}
						</ul>
					)}
					{outcome && (
						<Problem
							error={sentences(
								outcome.added.length > 0 && t("Added: {names}.", { names: list(outcome.added) }),
								t("Not added: {names}. Correct the name below or the text above.", {
									names: list(outcome.refused.keys()),
								}),
							)}
						/>
					)}
					{read.data && pasted.length === 0 && read.data.notes.length === 0 && !outcome && (
						<p role="status" className="text-muted">
							{t("There is no server in this text.")}
						</p>
					)}
					{read.data && (
						<ul className="flex flex-col gap-2">
							{pasted.map((one) => (
								<li key={one.key} className="rounded-md bg-sunken px-3 py-2">
									<div className="flex items-center justify-between gap-2">
										<Input
											className="max-w-64"
											aria-label={t("Name of {name}", { name: one.was ?? one.key })}
											value={one.name}
											onChange={(e) => {
												rename({ ...renamed, [one.key]: e.target.value });
												trials.cancel();
											}}
										/>
										{pasted.length > 1 && (
											<Button look="quiet" size="small" onClick={() => leaveOut([...leftOut, one.key])}>
												{t("Leave it out")}
											</Button>
										)}
									</div>
									{one.was && one.name === one.key && (
										<div className="mt-1 text-muted text-sm">
											{t("“{was}” cannot be the name of a server, so it is added as “{name}”.", {
												was: one.was,
												name: one.name,
											})}
										</div>
									)}
									<div className="line mt-1 font-mono text-muted text-xs">
										{one.url ?? [one.command, ...(one.args ?? [])].join(" ")}
									</div>
									{refusal(one) && <div className="mt-1 text-bad">{refusal(one)}</div>}
									{trials.outcomes[one.key] && (
										<Tried className="mt-2" trial={{ ...trials.outcomes[one.key], cancel: trials.cancel }} />
									)}
								</li>
							))}
						</ul>
					)}
				</div>
			)}
		</Dialog>
	);
}

function Pairs({
	title,
	more,
	pairs,
	onChange,
}: {
	title: string;
	more: string;
	pairs: Pair[];
	onChange: (pairs: Pair[]) => void;
}) {
	const added = useRef(false); // the cursor goes to the new row
	const set = (at: number, part: Partial<Pair>) =>
		onChange(pairs.map((pair, i) => (i === at ? { ...pair, ...part } : pair)));
	return (
		<fieldset className="flex flex-col gap-2">
			<legend className="mb-1 font-medium text-muted text-xs">{title}</legend>
			{pairs.map((pair, i) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name while they are written
				<div key={i} className="flex flex-wrap gap-2">
					<Input
						className="max-w-56 font-mono text-[12.5px]"
						aria-invalid={isNameless(pair) || undefined}
						aria-label={t("Name")}
						placeholder="API_KEY"
						autoFocus={added.current && i === pairs.length - 1}
						value={pair.name}
						onChange={(e) => set(i, { name: e.target.value })}
					/>
					<Input
						className="flex-1 font-mono text-[12.5px]"
						aria-label={pair.name ? t("Value of {name}", { name: pair.name }) : t("Value")}
						value={pair.value}
						onChange={(e) => set(i, { value: e.target.value })}
					/>
					<Button
						look="quiet"
						size="icon"
						aria-label={pair.name ? t("Remove {name}", { name: pair.name }) : t("Remove this row")}
						onClick={() => onChange(pairs.filter((_, at) => at !== i))}
					>
						<Trash2 />
					</Button>
					{isNameless(pair) && <div className="basis-full text-bad text-xs">{t("This value needs a name.")}</div>}
				</div>
			))}
			<div className="flex items-center gap-x-3 gap-y-1 max-sm:flex-col max-sm:items-start">
				<Button
					size="small"
					onClick={() => {
						added.current = true;
						onChange([...pairs, { name: "", value: "" }]);
					}}
				>
					<Plus />
					{more}
				</Button>
				<span className="text-faint text-xs">
					{t(
						"Values that look like keys or passwords are kept encrypted as secrets, and not shown again. Other values are kept as they are.",
					)}
				</span>
			</div>
		</fieldset>
	);
}

/** bodyOfPasted is what to add of a pasted server. */
function bodyOfPasted({ key: _k, was: _w, ...definition }: Pasted): { name: string; body: S["NewServer"] } {
	const name = definition.name.trim();
	return { name, body: { ...definition, name } };
}

/** unread are the entries of a text that could not be read as servers. */
function unread(text: string, servers: Pasted[]): [string, unknown][] {
	try {
		const all = JSON.parse(text);
		const entries = Object.entries(all.mcpServers ?? all.servers ?? {});
		return entries.filter(([name]) => !servers.some((one) => (one.was ?? one.key) === name));
	} catch {
		return []; // not JSON
	}
}

/** isNameless tells whether a value would be lost, because it has no name. */
const isNameless = ({ name, value }: Pair): boolean => name.trim() === "" && value.trim() !== "";

const pairsOf = (map?: object): Pair[] =>
	Object.entries(map ?? {}).map(([name, value]) => ({ name, value: String(value) }));

function draftOf(server: S["Server"]): Draft {
	const d = server.definition ?? {};
	const { command: _c, args: _a, env: _e, cwd: _w, url: _u, headers: _h, type: _t, ...rest } = d;
	const { disabled: _d, tools: _s, ...more } = rest; // there are switches for these
	return {
		name: server.name,
		kind: d.url ? "url" : "command",
		line: lineOf(d.command ? [d.command, ...(d.args ?? [])] : []),
		cwd: d.cwd ?? "",
		url: d.url ?? "",
		pairs: pairsOf(d.url ? d.headers : d.env),
		more: Object.keys(more).length > 0 ? JSON.stringify(more, null, 2) : "",
	};
}

/** settingsOf reads the other settings, or says what is wrong with them. */
function settingsOf(text: string): { value?: object; wrong?: string } {
	const { value = {}, wrong } = jsonOf(text);
	if (wrong) return { wrong };
	const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
	return isObject ? { value } : { wrong: t("This must be {type}.", { type: t("an object") }) };
}

/** bodyOf is the definition that the form describes; what the form does not show stays. */
function bodyOf(draft: Draft, more?: object, kept: S["ServerDefinition"] = {}): S["NewServer"] {
	const map = Object.fromEntries(draft.pairs.filter((p) => p.name.trim()).map((p) => [p.name.trim(), p.value]));
	const { type, disabled, tools } = kept;
	const own: S["NewServer"] = {
		...more,
		...(disabled && { disabled }),
		...(tools && { tools }),
		name: draft.name.trim(),
	};
	if (draft.kind === "url")
		return { ...own, type, url: draft.url.trim(), ...(draft.pairs.length ? { headers: map as never } : {}) };
	const [command, ...args] = words(draft.line);
	return {
		...own,
		command,
		args,
		...(draft.cwd.trim() ? { cwd: draft.cwd.trim() } : {}),
		...(draft.pairs.length ? { env: map as never } : {}),
	};
}
