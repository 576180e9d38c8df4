import { CircleCheck, CircleX, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { query, refresh, type S } from "@/api/client";
import { t, tn, took } from "@/lang";
import { Button, Dialog, Field, Input, Problem, Select, say, Tabs, TextArea } from "@/ui";

type Pair = { name: string; value: string };
type Draft = { name: string; kind: "command" | "url"; line: string; cwd: string; url: string; pairs: Pair[] };
const blank: Draft = { name: "", kind: "command", line: "", cwd: "", url: "", pairs: [] };

/** AddServer adds a server, or changes one: by a form, or by JSON as clients write it. It
 * tries the server before it is saved. */
export function AddServer({ onClose, server }: { onClose: () => void; server?: S["Server"] }) {
	const [, go] = useLocation();
	const [way, setWay] = useState<"form" | "json">("form");
	const [draft, setDraft] = useState<Draft>(() => (server ? draftOf(server) : blank));
	const [json, setJSON] = useState("");
	const test = query.useMutation("post", "/v1/servers/test");
	const read = query.useMutation("post", "/v1/servers/read");
	const add = query.useMutation("post", "/v1/servers");
	const change = query.useMutation("put", "/v1/servers/{name}");
	const set = (part: Partial<Draft>) => {
		setDraft({ ...draft, ...part });
		test.reset();
	};
	const body = bodyOf(draft, server?.definition);
	const ready = draft.name.trim() !== "" && (draft.kind === "url" ? draft.url.trim() : draft.line.trim()) !== "";
	const failure = add.error ?? change.error;
	const pasted = (read.data?.servers ?? []).map(({ name, definition }): S["NewServer"] => ({
		...(definition as S["NewServer"]),
		name,
	}));

	const save = async () => {
		if (server) await change.mutateAsync({ params: { path: { name: server.name } }, body });
		else await add.mutateAsync({ body });
		refresh("/v1/servers", "/v1/servers/{name}", "/v1/tools", "/v1/doctor");
		say(server ? t("{name} is changed.", { name: draft.name }) : t("{name} is added.", { name: draft.name }));
		onClose();
		if (!server) go(`/servers/${encodeURIComponent(draft.name.trim())}`);
	};
	const saveAll = async (servers: S["NewServer"][]) => {
		for (const one of servers) await add.mutateAsync({ body: one });
		refresh("/v1/servers", "/v1/tools", "/v1/doctor");
		say(tn(servers.length, "{n} server is added.", "{n} servers are added."));
		onClose();
	};

	return (
		<Dialog
			title={server ? t("Change {name}", { name: server.name }) : t("Add a server")}
			onClose={onClose}
			size="wide"
			actions={
				way === "form" ? (
					<>
						<Button busy={test.isPending} disabled={!ready} onClick={() => test.mutate({ body })}>
							{t("Try it")}
						</Button>
						<Button
							look="primary"
							busy={add.isPending || change.isPending}
							disabled={!ready}
							onClick={() => void save().catch(() => {})}
						>
							{server ? t("Save") : t("Add")}
						</Button>
					</>
				) : (
					<>
						<Button busy={read.isPending} disabled={!json.trim()} onClick={() => read.mutate({ body: { text: json } })}>
							{t("Read it")}
						</Button>
						<Button
							look="primary"
							disabled={!read.data || read.data.servers.length === 0}
							busy={add.isPending}
							onClick={() => void saveAll(pasted).catch(() => {})}
						>
							{read.data ? tn(read.data.servers.length, "Add {n} server", "Add {n} servers") : t("Add")}
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
					onChange={setWay}
				/>
			)}
			{way === "form" ? (
				<div className="flex flex-col gap-4">
					<div className="grid gap-4 sm:grid-cols-2">
						<Field label={t("Name")} hint={t("Lower case letters, digits and -. Tools are called NAME__TOOL.")}>
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
							<Field label={t("Command line")} hint={t("No shell runs it. Quote what has spaces.")}>
								<Input
									className="font-mono text-[12.5px]"
									value={draft.line}
									placeholder="npx -y @modelcontextprotocol/server-everything"
									onChange={(e) => set({ line: e.target.value })}
								/>
							</Field>
							<Field label={t("Folder that it runs in, if that matters")}>
								<Input
									className="font-mono text-[12.5px]"
									value={draft.cwd}
									onChange={(e) => set({ cwd: e.target.value })}
								/>
							</Field>
						</>
					) : (
						<Field label={t("Address")}>
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
						pairs={draft.pairs}
						onChange={(pairs) => set({ pairs })}
					/>
					{failure && <Problem error={failure} />}
					{test.error && <Problem error={test.error} />}
					{test.data && <TestResult result={test.data} />}
				</div>
			) : (
				<div className="flex flex-col gap-4">
					<Field
						label={t("JSON as any client writes it")}
						hint={t("From a server's documentation, or a client's file.")}
					>
						<TextArea
							rows={12}
							className="font-mono text-[12.5px]"
							value={json}
							placeholder={'{ "mcpServers": { "github": { "command": "npx", "args": ["-y", "…"] } } }'}
							onChange={(e) => {
								setJSON(e.target.value);
								read.reset();
							}}
						/>
					</Field>
					{read.error && <Problem error={read.error} />}
					{failure && <Problem error={failure} />}
					{read.data && (
						<ul className="flex flex-col gap-2">
							{pasted.map((one) => (
								<li key={one.name} className="rounded-md bg-sunken px-3 py-2">
									<b className="font-medium">{one.name}</b>
									<div className="line font-mono text-muted text-xs">
										{one.url ?? [one.command, ...(one.args ?? [])].join(" ")}
									</div>
								</li>
							))}
							{read.data.notes.map((note) => (
								<li key={note} className="text-muted">
									{note}
								</li>
							))}
						</ul>
					)}
				</div>
			)}
		</Dialog>
	);
}

/** TestResult says whether a server works, and why not. */
export function TestResult({ result }: { result: S["ServerTest"] }) {
	if (!result.success)
		return (
			<div role="alert" className="rounded-lg bg-bad-soft px-4 py-3 text-bad">
				<div className="flex gap-2 font-medium">
					<CircleX className="size-5 shrink-0" />
					{result.error ?? t("It does not work.")}
				</div>
				{result.output && result.output.length > 0 && (
					<pre className="mt-2 max-h-48 overflow-auto whitespace-pre-wrap text-text">{result.output.join("\n")}</pre>
				)}
			</div>
		);
	const has = [
		tn(result.tools, "{n} tool", "{n} tools"),
		tn(result.prompts, "{n} prompt", "{n} prompts"),
		tn(result.resources, "{n} resource", "{n} resources"),
	].join(", ");
	return (
		<div role="status" className="flex gap-2 rounded-lg bg-ok-soft px-4 py-3 text-ok">
			<CircleCheck className="size-5 shrink-0" />
			<span>
				<b className="font-medium">{t("It works.")}</b> {has}. {t("It took {time}.", { time: took(result.tookMs) })}
			</span>
		</div>
	);
}

function Pairs({ title, pairs, onChange }: { title: string; pairs: Pair[]; onChange: (pairs: Pair[]) => void }) {
	const set = (at: number, part: Partial<Pair>) =>
		onChange(pairs.map((pair, i) => (i === at ? { ...pair, ...part } : pair)));
	return (
		<fieldset className="flex flex-col gap-2">
			<legend className="mb-1 font-medium text-muted text-xs">{title}</legend>
			{pairs.map((pair, i) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name while they are written
				<div key={i} className="flex gap-2">
					<Input
						className="max-w-56 font-mono text-[12.5px]"
						aria-label={t("Name")}
						placeholder="API_KEY"
						value={pair.name}
						onChange={(e) => set(i, { name: e.target.value })}
					/>
					<Input
						className="font-mono text-[12.5px]"
						aria-label={t("Value of {name}", { name: pair.name })}
						value={pair.value}
						onChange={(e) => set(i, { value: e.target.value })}
					/>
					<Button
						look="quiet"
						size="icon"
						aria-label={t("Remove {name}", { name: pair.name })}
						onClick={() => onChange(pairs.filter((_, at) => at !== i))}
					>
						<Trash2 />
					</Button>
				</div>
			))}
			<div className="flex items-center gap-3">
				<Button size="small" onClick={() => onChange([...pairs, { name: "", value: "" }])}>
					<Plus />
					{t("Add one")}
				</Button>
				<span className="text-faint text-xs">{t("Secrets are kept encrypted and never shown again.")}</span>
			</div>
		</fieldset>
	);
}

/** words splits a command line as a person quotes it. */
export const words = (line: string): string[] =>
	[...line.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) =>
		double !== undefined ? double.replace(/\\(.)/g, "$1") : (single ?? plain ?? ""),
	);

const pairsOf = (map?: object): Pair[] =>
	Object.entries(map ?? {}).map(([name, value]) => ({ name, value: String(value) }));

function draftOf(server: S["Server"]): Draft {
	const d = server.definition ?? {};
	const quote = (part: string) => (part === "" || /[\s"']/.test(part) ? JSON.stringify(part) : part);
	return {
		name: server.name,
		kind: d.url ? "url" : "command",
		line: [d.command ?? "", ...(d.args ?? [])].map(quote).join(" "),
		cwd: d.cwd ?? "",
		url: d.url ?? "",
		pairs: pairsOf(d.url ? d.headers : d.env),
	};
}

/** bodyOf is the definition that the form describes; what the form does not show stays. */
function bodyOf(draft: Draft, kept: S["ServerDefinition"] = {}): S["NewServer"] {
	const map = Object.fromEntries(draft.pairs.filter((p) => p.name.trim()).map((p) => [p.name.trim(), p.value]));
	const { command: _c, args: _a, env: _e, cwd: _w, url: _u, headers: _h, type, ...rest } = kept;
	const own: S["NewServer"] = { ...(rest as S["NewServer"]), name: draft.name.trim() };
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
