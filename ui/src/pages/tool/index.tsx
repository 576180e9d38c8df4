import { useMutation } from "@tanstack/react-query";
import { Play, SearchX } from "lucide-react";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { api, Failure, queries, query, refresh, type S } from "@/api/client";
import { parseExact } from "@/api/exact";
import { hintsOf } from "@/api/tools";
import { quoted, t, took } from "@/lang";
import { Approval } from "@/pages/calls/approvals";
import { useProgress } from "@/pages/calls/words";
import { ToolSwitch } from "@/pages/tools/switch";
import { Around } from "@/pages/workflows/around";
import { useAddress, useChoice, usePart } from "@/shell/address";
import { useKeys } from "@/shell/keys";
import { useApprovals, useCommand, useSession } from "@/shell/session";
import {
	Button,
	Cap,
	Card,
	Confirm,
	CopyButton,
	Empty,
	Field,
	Input,
	Json,
	LinkButton,
	Loaded,
	messageOf,
	Page,
	Problem,
	Spinner,
	say,
	seen,
	Tabs,
	TextArea,
	Toggle,
} from "@/ui";
import { blank, type Schema, valueAt } from "@/ui/schema";
import { fieldErrors, JSONText, notJSON, SchemaForm, useShowWrong } from "@/ui/schemaform";
import { shellLine } from "@/ui/shell";
import { useDraft } from "@/ui/unsaved";

const Markdown = lazy(() => import("@/ui/markdown"));
const Result = lazy(() => import("@/ui/result"));

const parts = ["try", "schema", "about"] as const;
const ways = ["form", "json"] as const;
const views = ["shown", "json"] as const;

/** Tool is one tool: what it does, a form to try it, its schema, what is said about it. */
export default function Tool() {
	const name = usePart("name");
	const tool = query.useQuery("get", "/v1/tools/{name}", { params: { path: { name } } });
	if (tool.error instanceof Failure && tool.error.status === 404)
		return (
			<Page title={t("Tools")}>
				<Empty
					icon={<SearchX />}
					title={t("There is no tool {name}", { name: quoted(name) })}
					actions={<LinkButton href="/tools">{t("All tools")}</LinkButton>}
				>
					{t("It may have another name now, or its server is gone or has not started yet.")}
				</Empty>
			</Page>
		);
	return <Loaded query={tool}>{(one) => <Shown key={one.name} tool={one} />}</Loaded>;
}

function Shown({ tool }: { tool: S["Tool"] }) {
	const [params] = useAddress();
	const { admin } = useSession();
	const said = useSaid(tool); // its texts outlive another tab
	const [part, choosePart] = useChoice("part", parts);
	// The search that the tool was opened from.
	const sought = params.get("q") ?? "";
	return (
		<Page
			title={tool.name}
			crumb={{ title: t("Tools"), href: sought ? `/tools?${new URLSearchParams({ q: sought })}` : "/tools" }}
			actions={
				<>
					<LinkButton href={`/calls?tool=${encodeURIComponent(tool.name)}`}>{t("Its calls")}</LinkButton>
					<LinkButton href={`/servers/${encodeURIComponent(tool.server)}`}>
						{t("Its server: {name}", { name: tool.server })}
					</LinkButton>
					<ToolSwitch tool={tool} />
				</>
			}
		>
			<div className="mb-4 max-w-[860px] text-[15px] text-muted leading-6">
				<Suspense fallback={seen(tool.description)}>
					<Markdown text={tool.description} />
				</Suspense>
			</div>
			{admin && tool.enabled && <Around tool={tool} />}
			{!tool.enabled && (
				<p className="mb-4 text-muted">
					{t("This tool is off for clients: nobody can call it, and no workflow runs around it.")}
				</p>
			)}
			<Tabs
				label={t("About the tool")}
				className="mb-4"
				current={part}
				onChange={choosePart}
				tabs={[
					{ id: "try", title: t("Try it") },
					{ id: "schema", title: t("Schema") },
					{ id: "about", title: t("Description and tags") },
				]}
			/>
			{part === "try" && <Trial tool={tool} sought={sought} />}
			{part === "schema" && (
				<Card>
					<Cap>
						<span>{t("As clients see it")}</span>
						<CopyButton text={() => JSON.stringify(tool.inputSchema, null, 2)} />
					</Cap>
					<Json value={tool.inputSchema} />
				</Card>
			)}
			{part === "about" && <About said={said} disabled={!admin} />}
		</Page>
	);
}

/** useArguments are the arguments that somebody has typed for a tool. They outlive a reload. */
function useArguments(tool: string, first: () => unknown) {
	const key = `genkan.try.${tool}`;
	const [args, setArgs] = useState<unknown>(() => parseExact(sessionStorage.getItem(key) ?? "null") ?? first());
	const put = (value: unknown) => {
		setArgs(value);
		try {
			sessionStorage.setItem(key, JSON.stringify(value));
		} catch {
			sessionStorage.removeItem(key); // too large to be kept
		}
	};
	return [args, put] as const;
}

/** Trial calls the tool with arguments from a form, and shows the answer. Searches learn from
 * the first call that works which of their hits was the right one. */
function Trial({ tool, sought }: { tool: S["Tool"]; sought: string }) {
	const schema = (tool.inputSchema ?? { type: "object" }) as Schema;
	const [args, putArgs] = useArguments(tool.name, () => blank(schema) ?? {});
	// A text that is no JSON is called with nothing: the arguments are earlier ones.
	const [refused, refuse] = useState(false);
	const setArgs = (value: unknown) => {
		putArgs(value);
		refuse(false);
	};
	const [way, setWay] = useChoice("as", ways);
	const [form, setForm] = useState(0);
	const [asking, ask] = useState(false);
	const [view, setView] = useChoice("got", views);
	const { client } = useSession();
	const check = query.useMutation("post", "/v1/tools/{name}/validate");
	const call = useMutation({
		mutationFn: async ({ parameters, signal }: { parameters: unknown; signal: AbortSignal }) => {
			const options = sought && !taught.current ? { query: sought } : undefined;
			const body = { name: tool.name, parameters, options };
			const { data } = await api.POST("/v1/tools/call", { body, parseAs: "text", signal });
			taught.current = true;
			return parseExact(data!) as S["CallResult"];
		},
	});
	const busy = check.isPending || call.isPending;
	const running = useRef<AbortController>(undefined);
	const taught = useRef(false);
	const answer = useRef<HTMLDivElement>(null);
	const run = () => {
		ask(false);
		check.reset();
		running.current = new AbortController();
		answer.current?.scrollIntoView({ block: "nearest" });
		call.mutate({ parameters: args, signal: running.current.signal });
	};
	const readable = () => {
		const field = notJSON(around.current);
		refuse(field !== null);
		field?.focus();
		return field === null;
	};
	const start = () => (hintsOf(tool).destructive ? ask(true) : run());
	// What does not fit is no call, so it is not among the failed ones.
	const validate = () =>
		readable() &&
		check.mutate(
			{ params: { path: { name: tool.name } }, body: { parameters: args } },
			{ onSuccess: start, onError: () => call.reset() },
		);
	useKeys({ "mod+Enter": () => tool.enabled && !busy && validate() });
	const command = useCommand();
	const use = (example: S["Example"]) => {
		setArgs(example.parameters ?? {});
		setForm(form + 1);
	};
	// A workflow may ask a person before the call.
	const approvals = useApprovals({ enabled: call.isPending });
	const waiting = (approvals.data?.approvals ?? []).filter((one) => one.tool === tool.name && one.client === client);
	const error = check.error ?? call.error;
	const problem = error instanceof Failure ? error : undefined;
	// What was wrong with a field is not said about another value of it.
	const sent = check.error ? check.variables?.body.parameters : call.variables?.parameters;
	const isAsSent = (path: string) => JSON.stringify(valueAt(args, path)) === JSON.stringify(valueAt(sent, path));
	const wrong = Object.entries(fieldErrors(problem, schema));
	const errors = Object.fromEntries(wrong.filter(([path]) => isAsSent(path)));
	const around = useShowWrong(problem);
	const marked = wrong.length > 0;
	const mended = marked && Object.keys(errors).length === 0;
	return (
		<div className="grid items-start gap-4 md:grid-cols-2">
			<Card>
				<Cap className="py-0!">
					<Tabs
						label={t("How to write the arguments")}
						className="-mb-px self-end border-0! pb-px"
						tabs={[
							{ id: "form", title: t("Form") },
							{ id: "json", title: "JSON" },
						]}
						current={way}
						// The other way shows the arguments, which a text that is no JSON is not among.
						onChange={(way) => readable() && setWay(way)}
					/>
					<span className="flex gap-2">
						{tool.examples.map((example) => (
							<Button key={example.description} size="small" title={example.description} onClick={() => use(example)}>
								{t("Example")}
							</Button>
						))}
					</span>
				</Cap>
				<div ref={around} className="p-4">
					{way === "form" ? (
						<SchemaForm key={form} schema={schema} value={args} onChange={(to) => setArgs(to ?? {})} errors={errors} />
					) : (
						<Field label={t("Arguments")}>
							<JSONText key={form} rows={14} value={args} onChange={(value) => setArgs(value ?? {})} />
						</Field>
					)}
					{refused && (
						<p role="alert" className="mt-2 text-bad">
							{t("Correct the JSON first. Nothing was done.")}
						</p>
					)}
				</div>
				<div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-line border-t px-4 py-3">
					<Button
						look="primary"
						busy={busy}
						disabled={!tool.enabled}
						title={tool.enabled ? undefined : t("Switch {name} on", { name: tool.name })}
						onClick={validate}
					>
						{!busy && <Play />}
						{t("Run")}
					</Button>
					<span className="whitespace-nowrap text-faint text-xs max-sm:hidden">Ctrl Enter</span>
					<span className="flex-1" />
					<CopyButton
						look="quiet"
						label={t("Copy as genkan call")}
						text={() => readable() && shellLine([...command, "call", tool.name, JSON.stringify(args)])}
					/>
				</div>
			</Card>
			{/* Beside a long form, it stays in sight; below one, it comes into sight. */}
			<Card ref={answer} className="min-w-0 md:sticky md:top-4">
				<Cap>
					<span>{t("Answer")}</span>
					{call.data && (
						<span className="flex items-center gap-1">
							<span className="mr-1">{took(call.data.executionTime)}</span>
							<Toggle on={view === "shown"} onClick={() => setView("shown")}>
								{t("Rendered")}
							</Toggle>
							<Toggle on={view === "json"} onClick={() => setView("json")}>
								JSON
							</Toggle>
							<CopyButton text={() => JSON.stringify(call.data.result, null, 2)} />
						</span>
					)}
				</Cap>
				<div aria-live="polite">
					{call.isPending && (
						<div className="flex flex-wrap items-center gap-3 px-4 py-6 text-muted">
							<Spinner />
							{waiting.length > 0
								? t("Waiting for approval…")
								: t("Waiting for {server}…", { server: quoted(tool.server) })}
							<Elapsed tool={tool.name} client={client} />
							<Button size="small" onClick={() => running.current?.abort()}>
								{t("Cancel the call")}
							</Button>
							{waiting.map((approval) => (
								<div key={approval.id} className="basis-full text-text">
									<Approval approval={approval} />
								</div>
							))}
						</div>
					)}
					{!call.isPending && problem && !mended && (
						<div role="alert" className="px-4 py-3 text-bad">
							<p className="whitespace-pre-wrap break-words">
								{marked && way === "form" ? t("Nothing was called. Look at the marked fields.") : messageOf(problem)}
							</p>
							{marked && way === "json" && (
								<ul className="mt-2 list-disc pl-5">
									{Object.entries(errors).map(([field, text]) => (
										<li key={field}>
											<code>{field}</code>: {text}
										</li>
									))}
								</ul>
							)}
							{check.error && marked && (
								<Button
									className="mt-2"
									size="small"
									title={t("A workflow may fill in or change arguments before they are checked.")}
									onClick={() => readable() && start()}
								>
									{t("Call it anyway")}
								</Button>
							)}
							{!marked && problem.details !== undefined && <Json className="px-0! text-text" value={problem.details} />}
						</div>
					)}
					{!call.isPending && error && !problem && (
						<p className="px-4 py-6 text-muted">
							{running.current?.signal.aborted
								? t(
										"The call is canceled. If it had reached its server, the server was told to stop; what it had done by then stays done.",
									)
								: messageOf(error)}
						</p>
					)}
					{!call.isPending && call.data && (
						<Suspense fallback={<Json value={call.data.result} />}>
							{call.data.notice && <p className="px-4 pt-3 text-warn">{call.data.notice}</p>}
							{view === "json" ? <Json value={call.data.result} /> : <Result result={call.data.result} />}
						</Suspense>
					)}
					{call.isIdle && (!error || mended) && (
						<p className="px-4 py-6 text-muted">{t("What the tool answers appears here.")}</p>
					)}
				</div>
			</Card>
			{asking && (
				<Confirm
					title={t("Run {name}?", { name: quoted(tool.name) })}
					action={t("Run")}
					danger
					onClose={() => ask(false)}
					onConfirm={run}
				>
					{t("Its server says that this tool can destroy things.")}
				</Confirm>
			)}
		</div>
	);
}

/** Elapsed is how long a client's call of a tool takes already, and how far it is. */
function Elapsed({ tool, client }: { tool: string; client: string }) {
	const progress = useProgress((call, of) => call.tool === tool && of === client);
	const [since] = useState(() => Date.now());
	const [now, setNow] = useState(since);
	useEffect(() => {
		const timer = setInterval(() => setNow(Date.now()), 1000);
		return () => clearInterval(timer);
	}, []);
	return (
		<span aria-hidden className="tabular">
			{t("{n} s", { n: Math.round((now - since) / 1000) })}
			{progress && ` · ${progress}`}
		</span>
	);
}

/** useSaid is what people say about the tool, while it is changed. */
function useSaid(tool: S["Tool"]) {
	const change = query.useMutation("patch", "/v1/tools/{name}");
	const draft = useDraft(
		{ description: tool.description, category: tool.category ?? "", tags: tool.tags.join(", ") },
		() => change.isError && change.reset(),
	);
	const { values, isChanged, saved } = draft;
	const path = { name: tool.name };
	const save = () =>
		change.mutate(
			{
				params: { path },
				body: {
					...(isChanged("description") && { description: values.description }),
					...(isChanged("category") && { category: values.category }),
					...(isChanged("tags") && {
						tags: values.tags
							.split(/[,、，]/)
							.map((tag) => tag.trim())
							.filter(Boolean),
					}),
				},
			},
			{
				onSuccess: (stored) => {
					queries.setQueryData(["get", "/v1/tools/{name}", { params: { path } }], stored);
					saved();
					refresh("/v1/tools", "/v1/tools/{name}");
					say(t("Saved. Searches use it at once."));
				},
			},
		);
	return { ...draft, error: change.error, busy: change.isPending, save };
}

/** About is what people say about the tool, which helps agents to find it. */
function About({ said, disabled }: { said: ReturnType<typeof useSaid>; disabled: boolean }) {
	const { values, set } = said;
	return (
		<Card className="flex max-w-[720px] flex-col gap-4 p-4">
			<Field
				label={t("Description")}
				hint={t("Shown to agents in place of the server's. Empty gives the word back to the server.")}
			>
				<TextArea
					rows={6}
					disabled={disabled}
					value={values.description}
					onChange={(event) => set({ description: event.target.value })}
				/>
			</Field>
			<div className="grid gap-4 sm:grid-cols-2">
				<Field label={t("Category")}>
					<Input
						disabled={disabled}
						value={values.category}
						onChange={(event) => set({ category: event.target.value })}
					/>
				</Field>
				<Field label={t("Tags, with commas between them")}>
					<Input disabled={disabled} value={values.tags} onChange={(event) => set({ tags: event.target.value })} />
				</Field>
			</div>
			{said.error && <Problem error={said.error} />}
			<div>
				<Button look="primary" disabled={disabled || !said.dirty} busy={said.busy} onClick={said.save}>
					{t("Save")}
				</Button>
			</div>
		</Card>
	);
}
