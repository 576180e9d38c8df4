import { ChevronLeft, ChevronRight, Copy, Link2, Play, RotateCcw, Terminal, Workflow } from "lucide-react";
import { useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { api, base, drawn, Failure, query, type S } from "@/api/client";
import { parseExact } from "@/api/exact";
import { hintsOf } from "@/api/tools";
import { between, sentences, t, took } from "@/lang";
import { useGo } from "@/shell/address";
import { useKeys } from "@/shell/keys";
import { useCommand, useWorkflows } from "@/shell/session";
import { Button, Card, Confirm, complain, Dialog, Json, Menu, messageOf, rulesIn, say, writeClipboard } from "@/ui";
import Result from "@/ui/result";
import { listQuery, readFilters } from "../calls/filters";
import { newFor, stateOf } from "../workflows/around";
import { Notice } from "./bodies";
import { argumentsOf, asCommand, asCurl, asMarkdown } from "./copy";

type Details = S["CallDetails"];

/** Failures steps to the failed call before this one, and to the one after it. */
export function Failures({ call, back }: { call: Details; back: string }) {
	const go = useGo();
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
	if (call.outcome === "ok") return null; // it is none of them
	return (
		<span className="flex rounded-md border border-line *:-my-px">
			<Button
				look="quiet"
				size="icon"
				title={`${t("The failed call before this one")} [`}
				aria-label={t("The failed call before this one")}
				onClick={before}
			>
				<ChevronLeft />
			</Button>
			<span aria-hidden className="self-center text-muted text-sm">
				{t("failed calls")}
			</span>
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
export function useFullName({ server = "", tool = "", view = "" }: Details): string | undefined {
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

export function CopyAs({ call }: { call: Details }) {
	const name = useFullName(call);
	const command = useCommand();
	const copy = (text: string) => void writeClipboard(text).then(() => say(t("Copied")), complain);
	const copyCommand = (text: string) => {
		const [mask] = rulesIn(text);
		void writeClipboard(text).then(
			() =>
				say(
					mask
						? t("Copied. Put the real value in place of {mask} before you run it.", { mask: `[redacted:${mask}]` })
						: t("Copied"),
				),
			complain,
		);
	};
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
				{
					title: "genkan call",
					icon: <Terminal />,
					disabled: !known,
					onSelect: () => copyCommand(asCommand(command, call, name!)),
				},
				{ title: "curl", icon: <Terminal />, disabled: !known, onSelect: () => copyCommand(asCurl(call, name!)) },
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

/** useAgain is the tool of a call, and why the call cannot be run again if it cannot. */
function useAgain(call: Details) {
	const name = useFullName(call);
	const tool = query.useQuery(
		"get",
		"/v1/tools/{name}",
		{ params: { path: { name: name ?? "" } } },
		{ enabled: call.method === "tools/call" && !!call.server && !!name, retry: false },
	);
	const isGone = tool.error instanceof Failure && tool.error.status === 404;
	const why = !call.server
		? t("Only calls of tools that are there can be run again.")
		: argumentsOf(call) === undefined
			? t("The arguments are not kept whole, so this call cannot be run again.")
			: rulesIn(JSON.stringify(argumentsOf(call))).length > 0
				? t("This view masks secrets in the arguments, so the call cannot be run again from here.")
				: isGone
					? t("The tool is not there any more.")
					: tool.error
						? messageOf(tool.error)
						: undefined;
	return { name, tool: tool.data, why };
}

const whyNoReplay = ({ replayable }: Details): string | undefined =>
	replayable
		? undefined
		: t("It did not reach a server, or what was sent and answered is not kept whole, so it cannot be replayed.");

/** WhyNot says why a call cannot be run again, or replayed. */
export function WhyNot({ call }: { call: Details }) {
	const { why } = useAgain(call);
	const text = sentences(call.method === "tools/call" && why, whyNoReplay(call));
	return text ? <p className="mt-1 mb-4 text-faint text-sm">{text}</p> : null;
}

/** RunAgain calls the tool once more. It asks first, unless the tool only reads. */
export function RunAgain({ call }: { call: Details }) {
	const [asking, ask] = useState(false);
	const [busy, setBusy] = useState(false);
	const [result, setResult] = useState<S["CallResult"]>();
	const { name, tool, why } = useAgain(call);
	const hints = hintsOf(tool);
	const run = async () => {
		ask(false);
		setBusy(true);
		try {
			const { data } = await api.POST("/v1/tools/call", {
				body: { name: name!, parameters: argumentsOf(call) },
				parseAs: "text",
			});
			setResult(parseExact(data!) as S["CallResult"]);
		} catch (error) {
			complain(error);
		}
		setBusy(false);
	};
	return (
		<>
			<Button
				busy={busy}
				disabled={why !== undefined || !tool}
				title={why}
				onClick={() => (hints.readOnly ? void run() : ask(true))}
			>
				{!busy && <RotateCcw />}
				{t("Run again")}
			</Button>
			{asking && (
				<Confirm
					title={t("Run {tool} again?", { tool: call.tool! })}
					action={t("Run again")}
					danger={hints.destructive !== false}
					onConfirm={() => void run()}
					onClose={() => ask(false)}
				>
					<p className="mb-3">
						{hints.destructive === false
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
					title={t("{tool} answered after {time}", { tool: call.tool!, time: took(result.executionTime, true) })}
					size="wide"
					onClose={() => setResult(undefined)}
				>
					<Card className="overflow-hidden">
						<Notice tone="warn">
							{sentences(
								t("This is the answer as the client gets it. Secrets in it are not masked here."),
								rulesIn(JSON.stringify(result.result)).length > 0 && t("Yellow marks are what a workflow took out."),
							)}
							{result.call && (
								<>
									{between()}
									<Link href={`/calls/${encodeURIComponent(result.call)}`} className="text-accent underline">
										{t("Show the call in the record")}
									</Link>
								</>
							)}
						</Notice>
						<Result result={result.result} />
					</Card>
				</Dialog>
			)}
		</>
	);
}

/** Replay opens a workflow with this call as its sample. */
export function Replay({ call }: { call: Details }) {
	const [, go] = useLocation();
	const { data } = useWorkflows();
	const fitting = drawn(data).filter((workflow) => workflow.workflowType === call.method);
	const tool = call.server && call.ownName ? `${call.server}__${call.ownName}` : "";
	const found = query.useQuery(
		"get",
		"/v1/workflows",
		{ params: { query: { tool, drafts: true } } },
		{ enabled: call.replayable && call.method === "tools/call" && tool !== "" && fitting.length > 0, retry: false },
	);
	/** isFor tells whether a workflow is for calls of the tool, if that is still there. */
	const isFor = (workflow: S["Workflow"]) => found.data?.workflows.some(({ id }) => id === workflow.id) ?? true;
	const inOrder = [...fitting.filter(isFor), ...fitting.filter((workflow) => !isFor(workflow))];
	const why = whyNoReplay(call);
	const { id, server, ownName, method } = call;
	const create = () =>
		go(
			server && ownName
				? newFor({ server, ownName }, { call: id })
				: `/workflows/new?${new URLSearchParams({ type: method, call: id })}`,
		);
	if (fitting.length === 0)
		return (
			<Button disabled={!call.replayable || !data} title={why} onClick={create}>
				<Workflow />
				{t("Make a workflow from this call")}
			</Button>
		);
	return (
		<Menu
			trigger={
				<Button look="primary" disabled={!call.replayable} title={why}>
					<Play />
					{t("Replay through a draft")}
				</Button>
			}
			items={[
				...inOrder.map((workflow) => ({
					title: workflow.name || workflow.id,
					hint: isFor(workflow) ? stateOf({ ...workflow, problemCount: 0 }, data?.off).word : t("not for this tool"),
					onSelect: () => go(`/workflows/${encodeURIComponent(workflow.id)}?call=${encodeURIComponent(call.id)}`),
				})),
				"line",
				{ title: t("Make a workflow from this call"), onSelect: create },
			]}
		/>
	);
}
