import {
	ChevronLeft,
	ChevronRight,
	Copy,
	CornerDownRight,
	Link2,
	Play,
	RotateCcw,
	Terminal,
	Workflow,
} from "lucide-react";
import { type ReactNode, useMemo, useRef, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { api, base, query, type S } from "@/api/client";
import { useEvents } from "@/api/events";
import { between, bytes, clock, list, number, t, tn, took, whole } from "@/lang";
import { term } from "@/lang/terms";
import { useSession } from "@/shell/app";
import { useKeys } from "@/shell/keys";
import {
	Button,
	Cap,
	Card,
	Chip,
	Confirm,
	CopyButton,
	complain,
	cx,
	Dialog,
	Dot,
	Empty,
	Json,
	JsonText,
	LinkButton,
	Loaded,
	Menu,
	marked,
	Page,
	RecordMasks,
	Rich,
	rulesIn,
	Spinner,
	say,
	Tabs,
	Toggle,
} from "@/ui";
import { Find } from "@/ui/find";
import Result from "@/ui/result";
import { Approval } from "../calls/approvals";
import { listQuery, readFilters } from "../calls/filters";
import { clientName, Outcome, outcomeTone, outcomeWord, Ticking, toolName, useWorkflowName } from "../calls/words";
import { Changes, changesOf } from "./changes";
import { argumentsOf, asCommand, asCurl, asMarkdown } from "./copy";
import { called, Waterfall } from "./waterfall";

type Details = S["CallDetails"];
type Tab = "bodies" | "changes" | "raw";

/** Call is one call: what was sent and received, and where its time went. */
export default function Call({ params }: { params: { id: string } }) {
	const call = query.useQuery(
		"get",
		"/v1/calls/{id}",
		{ params: { path: { id: params.id } } },
		{ staleTime: 60_000, refetchInterval: ({ state }) => state.data?.outcome === "running" && 5000 },
	);
	useEvents(({ name, data }) => {
		if (name === "call.ended" && (data as { id: string }).id === params.id) void call.refetch();
	});
	const search = new URLSearchParams(useSearch());
	search.delete("tab");
	const back = search.toString() && `?${search}`;
	const crumb = { title: t("Calls"), href: `/calls${back}` };
	if (call.data?.outcome === "running") return <Running call={call.data} crumb={crumb} />;
	if (call.data) return <Shown key={call.data.id} call={call.data} crumb={crumb} back={back} />;
	return (
		<Page title={params.id} crumb={crumb}>
			<Loaded query={call}>{() => null}</Loaded>
		</Page>
	);
}

function useApproval(id: string): S["Approval"] | undefined {
	const { admin } = useSession();
	const { data } = query.useQuery("get", "/v1/approvals", {}, { enabled: admin });
	return data?.approvals.find((approval) => approval.call === id);
}

/** Running is a call that has not ended. */
function Running({ call, crumb }: { call: Details; crumb: { title: string; href: string } }) {
	const waiting = useApproval(call.id);
	const started = new Date(call.startedAt);
	return (
		<Page
			title={`${call.server ? `${call.server} / ` : ""}${toolName(call)}`}
			crumb={crumb}
			beside={
				<Chip tone={waiting ? "warn" : "accent"}>
					{waiting ? <Dot tone="warn" /> : <Spinner />}
					{waiting ? t("waits for approval") : t("running")}
				</Chip>
			}
		>
			<p className="mb-4 text-[15px] leading-6">
				<Rich
					text={t("{client} called {tool} at {time}. The call has not ended yet; this page shows it when it has.")}
					values={{
						client: <b className="font-semibold">{clientName(call)}</b>,
						tool: <b className="font-semibold">{call.tool}</b>,
						time: <time dateTime={call.startedAt}>{clock(started)}</time>,
					}}
				/>
				{between()}
				<span className="tabular text-muted">
					<Ticking since={started.getTime()} />
				</span>
			</p>
			{waiting ? (
				<Approval approval={waiting} />
			) : (
				call.request && <Body call={call} title={t("What the client sent")} body={call.request} request />
			)}
		</Page>
	);
}

function Shown({ call, crumb, back }: { call: Details; crumb: { title: string; href: string }; back: string }) {
	const [, go] = useLocation();
	const search = new URLSearchParams(useSearch());
	const tab = (search.get("tab") ?? "bodies") as Tab;
	const body = useRef<HTMLDivElement>(null);
	const name = `${call.server ? `${call.server} / ` : ""}${toolName(call)}`;
	const choose = (to: Tab) => {
		if (to === "bodies") search.delete("tab");
		else search.set("tab", to);
		go(`/calls/${encodeURIComponent(call.id)}${search.toString() && `?${search}`}`, { replace: true });
	};
	return (
		<Page
			title={name}
			crumb={crumb}
			beside={
				<Chip tone={call.outcome === "ok" ? "ok" : outcomeTone(call.outcome)}>
					<Dot tone={outcomeTone(call.outcome)} />
					{outcomeWord(call.outcome)}
				</Chip>
			}
			actions={
				<>
					<Failures call={call} back={back} />
					<CopyAs call={call} />
					<RunAgain call={call} />
					<Replay call={call} />
				</>
			}
		>
			<Sentence call={call} />
			<Waterfall call={call} />
			<Children call={call} back={back} />
			<div className="mt-5 mb-4 flex flex-wrap items-end justify-between gap-x-4 gap-y-2 border-line border-b">
				<Tabs<Tab>
					label={t("Parts of the call")}
					className="border-0!"
					current={tab}
					onChange={choose}
					tabs={[
						{ id: "bodies", title: t("Request and answer") },
						{ id: "changes", title: t("Changes per node"), count: changesOf(call) },
						{ id: "raw", title: t("Raw") },
					]}
				/>
				<div className="pb-1.5">
					<Find within={body} again={tab} />
				</div>
			</div>
			<div ref={body}>
				{tab === "bodies" && <Bodies call={call} />}
				{tab === "changes" && <Changes call={call} />}
				{tab === "raw" && (
					<Card>
						<Cap>
							<span>{t("As the API tells it")}</span>
							<CopyButton text={() => JSON.stringify(call, null, 2)} />
						</Cap>
						<Json value={call} />
					</Card>
				)}
			</div>
		</Page>
	);
}

/** Sentence says what happened. */
function Sentence({ call }: { call: Details }) {
	const { timing } = call;
	const workflowName = useWorkflowName();
	const parts = [
		timing.queueMillis >= 0.1 && t("queue {time}", { time: took(timing.queueMillis) }),
		timing.hooksMillis > 0 && t("workflows {time}", { time: took(timing.hooksMillis) }),
		timing.askedMillis > 0 && t("questions to you {time}", { time: took(timing.askedMillis) }),
		called(call) ? t("server {time}", { time: took(timing.serverMillis) }) : t("server not called"),
		call.attempts > 1 && t("{n} attempts", { n: call.attempts }),
	].filter(Boolean);
	const denier = call.workflows?.find((trace) => trace.outcome === "denied");
	const values: Record<string, ReactNode> = {
		client: (
			<b className="font-semibold" title={call.program}>
				{clientName(call)}
			</b>
		),
		tool: (
			<Link
				href={`/calls?tool=${encodeURIComponent(call.tool || call.method)}`}
				title={t("All calls of this tool")}
				className="font-semibold decoration-dotted underline-offset-4 hover:underline"
			>
				{call.tool || term(call.method)}
			</Link>
		),
		time: (
			<time dateTime={call.startedAt} title={whole(call.startedAt)}>
				{clock(call.startedAt)}
			</time>
		),
		took: <b className="font-semibold">{took(call.tookMillis)}</b>,
		parts: list(parts as string[]),
		workflow: denier && (
			<Link href={`/workflows/${encodeURIComponent(denier.workflow)}`} className="font-semibold hover:underline">
				{workflowName(denier.workflow)}
			</Link>
		),
		outcome: <b className="font-semibold">{outcomeWord(call.outcome)}</b>,
		through: call.through,
		parent: call.parent && (
			<Link href={`/calls/${encodeURIComponent(call.parent)}`} className="text-accent underline">
				{call.parent}
			</Link>
		),
		n: number(call.tokensOut),
		saved: number(call.tokensSaved ?? 0),
		rules: call.redacted.map((rule, i) => (
			<span key={rule}>
				{i > 0 && list(["", ""])}
				<code>{rule}</code>
			</span>
		)),
	};
	const texts = [
		call.outcome === "ok"
			? t("{client} called {tool} at {time}: {took} ({parts}).")
			: denier
				? t("{client} called {tool} at {time}. The workflow {workflow} denied it after {took} ({parts}).")
				: t("{client} called {tool} at {time}. It failed after {took} ({parts}): {outcome}."),
		call.through && t("It came through {through}."),
		call.parent && t("The call {parent} made it."),
		(call.outcome === "ok" || call.tokensOut > 0) && t("The answer cost {n} tokens."),
		call.tokensSaved && t("An outline saved {saved} tokens."),
		call.redacted.length > 0 && t("This record masks what {rules} found; the call itself had the real values."),
	].filter(Boolean) as string[];
	return (
		<div className="mb-4 max-w-[860px] text-[15px] leading-6">
			{texts.map((text, i) => (
				<span key={text}>
					{i > 0 && between()}
					<Rich text={text} values={values} />
				</span>
			))}
			{call.error && <p className="mt-1 break-words whitespace-pre-wrap text-bad">{call.error}</p>}
		</div>
	);
}

/** Failures steps to the failed call before this one, and to the one after it. */
function Failures({ call, back }: { call: Details; back: string }) {
	const [, go] = useLocation();
	const busy = useRef(false);
	const ended = Date.parse(call.startedAt) + call.tookMillis;
	const wanted = { ...listQuery({ ...readFilters(back), outcome: [] }), outcome: "error" };
	const list = async (more: object) =>
		(await api.GET("/v1/calls", { params: { query: { ...wanted, ...more } } })).data!;
	const earlier = async () => {
		const page = await list({ until: new Date(ended + 1).toISOString(), limit: 50 });
		const at = page.calls.findIndex((one) => one.id === call.id);
		return page.calls.slice(at + 1).find((one) => at >= 0 || endOf(one) <= ended);
	};
	// Lists begin with the newest, so the one that is just later is at the end.
	const later = async () => {
		let last: S["ListedCall"] | undefined;
		let after: string | undefined;
		for (let n = 0; n < 20; n++) {
			const page = await list({
				since: new Date(ended).toISOString(),
				until: undefined,
				limit: 1000,
				...(after && { after }),
			});
			const at = page.calls.findIndex((one) => one.id === call.id);
			const newer = at >= 0 ? page.calls.slice(0, at) : page.calls.filter((one) => endOf(one) > ended);
			last = newer.at(-1) ?? last;
			after = page.next;
			if (at >= 0 || !after) break;
		}
		return last;
	};
	const step = async (find: () => Promise<S["ListedCall"] | undefined>, none: string) => {
		if (busy.current) return;
		busy.current = true;
		try {
			const found = await find();
			if (found) go(`/calls/${encodeURIComponent(found.id)}${back}`);
			else say(none);
		} catch (error) {
			complain(error);
		}
		busy.current = false;
	};
	const before = () => void step(earlier, t("No earlier call failed."));
	const after = () => void step(later, t("No later call failed."));
	useKeys({ "[": before, "]": after });
	return (
		<span className="flex">
			<Button
				look="quiet"
				size="icon"
				title={`${t("The failed call before this one")} [`}
				aria-label={t("The failed call before this one")}
				onClick={before}
			>
				<ChevronLeft />
			</Button>
			<Button
				look="quiet"
				size="icon"
				title={`${t("The failed call after this one")} ]`}
				aria-label={t("The failed call after this one")}
				onClick={after}
			>
				<ChevronRight />
			</Button>
		</span>
	);
}

const endOf = (call: S["ListedCall"]) => Date.parse(call.startedAt) + call.tookMillis;

/** useFullName is the name that a tool has for those who see all servers. A client that sees
 * one server alone calls its tools by their own names. */
function useFullName({ server = "", tool = "", view = "" }: Details): string | undefined {
	const alone = server !== "" && view.split(/[@?]/)[0] === server && !tool.startsWith(`${server}__`);
	const { data, error } = query.useQuery(
		"get",
		"/v1/tools",
		{ params: { query: { server, limit: 100 } } },
		{ enabled: alone },
	);
	if (!alone) return tool;
	const names = data?.tools.map((one) => one.name);
	const found = names?.find((name) => name === tool) ?? names?.find((name) => name.endsWith(`__${tool}`));
	return found ?? (data || error ? `${server}__${tool}` : undefined);
}

function CopyAs({ call }: { call: Details }) {
	const name = useFullName(call);
	const copy = (text: string) => void navigator.clipboard.writeText(text).then(() => say(t("Copied")), complain);
	const known = call.method === "tools/call" && name !== undefined && argumentsOf(call) !== undefined;
	return (
		<Menu
			trigger={
				<Button>
					<Copy />
					{t("Copy as")}
				</Button>
			}
			items={[
				{ title: "genkan call", icon: <Terminal />, disabled: !known, onSelect: () => copy(asCommand(call, name!)) },
				{ title: "curl", icon: <Terminal />, disabled: !known, onSelect: () => copy(asCurl(call, name!)) },
				{
					title: t("Link"),
					icon: <Link2 />,
					onSelect: () => copy(new URL(`calls/${encodeURIComponent(call.id)}`, base).href),
				},
				{ title: t("Markdown for an agent"), icon: <Copy />, onSelect: () => copy(asMarkdown(call)) },
			]}
		/>
	);
}

/** RunAgain calls the tool once more. It asks first, unless the tool only reads. */
function RunAgain({ call }: { call: Details }) {
	const [asking, ask] = useState(false);
	const [busy, setBusy] = useState(false);
	const [result, setResult] = useState<S["CallResult"]>();
	const name = useFullName(call);
	const tool = query.useQuery(
		"get",
		"/v1/tools/{name}",
		{ params: { path: { name: name ?? "" } } },
		{ enabled: call.method === "tools/call" && !!call.server && !!name, retry: false },
	);
	const hints = tool.data?.annotations as { readOnlyHint?: boolean; destructiveHint?: boolean } | undefined;
	const why =
		call.method !== "tools/call" || !call.server
			? t("Only calls of tools that are there can be run again.")
			: argumentsOf(call) === undefined
				? t("The arguments are not kept whole, so this call cannot be run again.")
				: JSON.stringify(argumentsOf(call)).includes("[redacted:")
					? t("Secrets were taken out of the arguments, so this call cannot be run again.")
					: tool.error
						? t("The tool is not there any more.")
						: undefined;
	const run = async () => {
		ask(false);
		setBusy(true);
		try {
			const { data } = await api.POST("/v1/tools/call", {
				body: { name: name!, parameters: argumentsOf(call) },
			});
			setResult(data);
		} catch (error) {
			complain(error);
		}
		setBusy(false);
	};
	return (
		<>
			<Button
				busy={busy}
				disabled={why !== undefined || !tool.data}
				title={why}
				onClick={() => (hints?.readOnlyHint ? void run() : ask(true))}
			>
				{!busy && <RotateCcw />}
				{t("Run again")}
			</Button>
			{asking && (
				<Confirm
					title={t("Run {tool} again?", { tool: call.tool! })}
					action={t("Run again")}
					danger={hints?.destructiveHint !== false}
					onConfirm={() => void run()}
					onClose={() => ask(false)}
				>
					<p className="mb-3">
						{hints?.destructiveHint === false
							? t("It changes something. It is called with the same arguments, as you:")
							: t("It may change or delete something. It is called with the same arguments, as you:")}
					</p>
					<Card>
						<Json value={argumentsOf(call)} className="max-h-72!" />
					</Card>
				</Confirm>
			)}
			{result && (
				<Dialog
					title={t("{tool} answered after {time}", { tool: call.tool!, time: took(result.executionTime) })}
					size="wide"
					onClose={() => setResult(undefined)}
				>
					<Card>
						<Result result={result.result} />
					</Card>
				</Dialog>
			)}
		</>
	);
}

/** Replay opens a workflow with this call as its sample. */
function Replay({ call }: { call: Details }) {
	const [, go] = useLocation();
	const { data } = query.useQuery("get", "/v1/workflows");
	const kept = call.bodies === "kept" && !call.request?.cut && !call.response?.cut;
	const fitting = data?.workflows.filter((workflow) => workflow.workflowType === call.method) ?? [];
	const why = kept ? undefined : t("What was sent and received is not kept whole, so it cannot be replayed.");
	const create = () => go(`/workflows/new?call=${encodeURIComponent(call.id)}`);
	if (fitting.length === 0)
		return (
			<Button disabled={!kept || !data} title={why} onClick={create}>
				<Workflow />
				{t("Make a workflow from this call")}
			</Button>
		);
	return (
		<Menu
			trigger={
				<Button look="primary" disabled={!kept} title={why}>
					<Play />
					{t("Replay through a draft")}
				</Button>
			}
			items={[
				...fitting.map((workflow) => ({
					title: workflow.name || workflow.id,
					hint: workflow.enabled ? t("on") : t("draft"),
					onSelect: () => go(`/workflows/${encodeURIComponent(workflow.id)}?call=${encodeURIComponent(call.id)}`),
				})),
				"line",
				{ title: t("A new workflow"), onSelect: create },
			]}
		/>
	);
}

/** Children are the calls that this one made. */
function Children({ call, back }: { call: Details; back: string }) {
	const ended = new Date(Date.parse(call.startedAt) + call.tookMillis + 1).toISOString();
	const { data } = query.useQuery("get", "/v1/calls", {
		params: { query: { since: call.startedAt, until: ended, limit: 500 } },
	});
	const made = data?.calls.filter((one) => one.parent === call.id).reverse() ?? [];
	if (made.length === 0) return null;
	return (
		<Card className="mt-3 overflow-hidden">
			<Cap>
				<span>{t("Calls that it made")}</span>
				<span>{number(made.length)}</span>
			</Cap>
			<ul className="max-h-72 overflow-auto">
				{made.map((one) => (
					<li key={one.id} className="border-line border-b last:border-0">
						<Link
							href={`/calls/${encodeURIComponent(one.id)}${back}`}
							className="flex h-9 items-center gap-3 px-4 hover:bg-sunken focus-visible:-outline-offset-2"
						>
							<CornerDownRight aria-hidden className="size-3.5 shrink-0 text-faint" />
							<Outcome outcome={one.outcome} />
							<span className="line shrink-0">
								<span className="text-muted">{one.server} / </span>
								<span className="font-medium">{toolName(one)}</span>
							</span>
							<code className="line min-w-0 flex-1 text-muted text-xs">{one.error || one.arguments}</code>
							<span className="num text-sm">{took(one.tookMillis)}</span>
						</Link>
					</li>
				))}
			</ul>
		</Card>
	);
}

function Bodies({ call }: { call: Details }) {
	if (!call.request && !call.response)
		return (
			<Empty
				title={t("What was sent and received is not here.")}
				actions={
					call.bodies === "off" || call.bodies === "local" ? (
						<LinkButton href="/settings">{t("Settings")}</LinkButton>
					) : undefined
				}
			>
				{call.note}
			</Empty>
		);
	return (
		<div className="grid gap-3 md:grid-cols-2">
			<Body call={call} title={t("What the client sent")} body={call.request} request />
			<Body call={call} title={t("What the client got")} body={call.response} />
		</div>
	);
}

type View = "shown" | "json" | "bytes";

/** Masks says which values are masked in the record only, and which a workflow took out
 * before the client got the answer. They look alike in the text. */
function Masks({ call, text, request }: { call: Details; text: string; request?: boolean }) {
	const workflowName = useWorkflowName();
	const found = rulesIn(text);
	const inRecord = found.filter((rule) => call.redacted.includes(rule));
	const workflows = request ? [] : (call.workflows ?? []).filter((trace) => trace.mode !== "shadow");
	const by = workflows.filter((trace) => {
		const patches = JSON.stringify(trace.steps.map((step) => step.patch));
		return found.some((rule) => !inRecord.includes(rule) && patches.includes(`[redacted:${rule}]`));
	});
	const names = (all: string[]) =>
		all.map((name, i) => (
			<span key={name}>
				{i > 0 && list(["", ""])}
				<code className="font-semibold">{name}</code>
			</span>
		));
	return (
		<>
			{inRecord.length > 0 && (
				<Notice>
					<Rich
						text={
							request
								? tn(
										inRecord.length,
										"Masked in this record only, by the rule {rules}. The client sent the real value.",
										"Masked in this record only, by the rules {rules}. The client sent the real value.",
									)
								: tn(
										inRecord.length,
										"Masked in this record only, by the rule {rules}. The client got the real value.",
										"Masked in this record only, by the rules {rules}. The client got the real value.",
									)
						}
						values={{ rules: names(inRecord) }}
					/>
				</Notice>
			)}
			{by.length > 0 && (
				<Notice tone="warn">
					<Rich
						text={tn(
							by.length,
							"Taken out by the workflow {names}. The client did not get it.",
							"Taken out by the workflows {names}. The client did not get it.",
						)}
						values={{ names: names([...new Set(by.map((trace) => workflowName(trace.workflow)))]) }}
					/>
				</Notice>
			)}
		</>
	);
}

/** Notice is a line above what a panel shows. */
function Notice({ tone, children }: { tone?: "warn"; children: ReactNode }) {
	return (
		<p
			className={cx(
				"border-line border-b px-4 py-2 text-sm",
				tone === "warn" ? "bg-warn-soft text-warn" : "bg-sunken text-muted",
			)}
		>
			{children}
		</p>
	);
}

function Body({
	call,
	title,
	body,
	request,
}: {
	call: Details;
	title: string;
	body?: S["CallBody"];
	request?: boolean;
}) {
	const [view, setView] = useState<View>("shown");
	const [size, tokens] = request ? [call.bytesIn, call.tokensIn] : [call.bytesOut, call.tokensOut];
	const masks = useMemo(() => new Set(call.redacted), [call.redacted]);
	const text = body ? (body.text ?? JSON.stringify(body.json)) : "";
	const whole_ = body && !body.cut && body.json !== undefined;
	// Where no server answered, the client got the error that Genkan made.
	const message = !request && !body && call.bytesOut === 0 && call.outcome !== "canceled" ? call.error : undefined;
	return (
		<Card className="min-w-0 self-start overflow-hidden">
			<Cap className="flex-wrap gap-y-1! pt-1.5! pb-[5px]!">
				<span className="line">{title}</span>
				<span className="flex shrink-0 flex-wrap items-center gap-1">
					{!message && (
						<span className="tabular mr-1 font-normal">
							{bytes(size)} · {t("{n} tokens", { n: number(tokens) })}
						</span>
					)}
					{whole_ && (
						<>
							<Toggle on={view === "shown"} onClick={() => setView("shown")}>
								{t("Shown")}
							</Toggle>
							<Toggle on={view === "json"} onClick={() => setView("json")}>
								JSON
							</Toggle>
							<Toggle on={view === "bytes"} onClick={() => setView("bytes")}>
								{t("Bytes")}
							</Toggle>
						</>
					)}
					{body && <CopyButton text={() => (whole_ ? JSON.stringify(body.json, null, 2) : text)} />}
				</span>
			</Cap>
			{!body &&
				(message ? (
					<p className="break-words whitespace-pre-wrap px-4 py-3">{marked(message)}</p>
				) : (
					<p className="px-4 py-3 text-muted">{t("Nothing is kept.")}</p>
				))}
			{body && <Masks call={call} text={text} request={request} />}
			{body && !request && !!call.tokensSaved && (
				<Notice>
					<Rich
						text={t(
							"The answer was large, so the client got this outline of it. All of it is stored; {tool} reads its parts.",
						)}
						values={{ tool: <code className="font-semibold">read_result</code> }}
					/>
				</Notice>
			)}
			<RecordMasks value={masks}>
				{body && !whole_ && (
					<>
						<p className="px-4 pt-3 text-warn">{t("Only the beginning is kept, because it is large.")}</p>
						<JsonText text={text} />
					</>
				)}
				{whole_ &&
					view === "shown" &&
					(request ? <Request json={body.json} /> : <Result result={body.json} worked={call.outcome === "ok"} />)}
				{whole_ && view === "json" && <Json value={body.json} />}
				{whole_ && view === "bytes" && (
					<pre
						// biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls is reached by keyboard
						tabIndex={0}
						className="max-h-[560px] overflow-auto px-4 py-3 text-xs"
					>
						{hex(text)}
					</pre>
				)}
			</RecordMasks>
		</Card>
	);
}

/** Request shows the arguments of a tool, and the whole params of anything else. */
function Request({ json }: { json: unknown }) {
	const params = json as { arguments?: unknown } | null;
	return <Json value={params?.arguments ?? json} />;
}

const mostBytes = 16_384;

/** hex writes a text byte by byte, with its characters beside them. */
function hex(text: string): string {
	const all = new TextEncoder().encode(text);
	const lines: string[] = [];
	for (let at = 0; at < Math.min(all.length, mostBytes); at += 16) {
		const part = [...all.subarray(at, at + 16)];
		const codes = part.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
		const characters = part.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
		lines.push(`${at.toString(16).padStart(6, "0")}  ${codes.padEnd(47)}  ${characters}`);
	}
	if (all.length > mostBytes) lines.push("…");
	return lines.join("\n");
}
