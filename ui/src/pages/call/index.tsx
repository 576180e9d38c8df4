import { useQuery } from "@tanstack/react-query";
import { CornerDownRight } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { Link, useSearch } from "wouter";
import { api, query, type S } from "@/api/client";
import { useEvents } from "@/api/events";
import { parseExact } from "@/api/exact";
import { between, clock, list, number, t, tn, took, whole } from "@/lang";
import { term } from "@/lang/terms";
import { useChoice, useGo } from "@/shell/address";
import { useKeys } from "@/shell/keys";
import { useApprovals } from "@/shell/session";
import { Cap, Card, Chip, CopyButton, Dot, Json, LinkButton, Loaded, Page, Rich, Spinner, Tabs } from "@/ui";
import { Find, Sought } from "@/ui/find";
import { Approval } from "../calls/approvals";
import { CancelCall } from "../calls/cancel";
import { clientName, Outcome, outcomeTone, outcomeWord, Progress, Ticking, toolName } from "../calls/words";
import { CopyAs, Failures, Replay, RunAgain, WhyNot } from "./actions";
import { Bodies, Body } from "./bodies";
import { Changes, changesOf, wouldHave } from "./changes";
import { ranAs } from "./names";
import { called, Waterfall } from "./waterfall";

type Details = S["CallDetails"];
const tabs = ["bodies", "changes", "raw"] as const;

/** Call is one call: what was sent and received, and where its time went. */
export default function Call({ params }: { params: { id: string } }) {
	const call = useQuery({
		queryKey: ["get", "/v1/calls/{id}", params.id],
		queryFn: async ({ signal }) => {
			const path = { id: params.id };
			const { data } = await api.GET("/v1/calls/{id}", { params: { path }, parseAs: "text", signal });
			return parseExact(data!) as Details;
		},
		staleTime: 60_000,
		refetchInterval: ({ state }) => state.data?.outcome === "running" && 5000,
		structuralSharing: false, // it would copy what parseExact keeps
	});
	useEvents(({ name, data }) => {
		if (name === "call.ended" && (data as { id: string }).id === params.id) void call.refetch();
	});
	const search = new URLSearchParams(useSearch());
	for (const name of ["tab", "sent", "got"]) search.delete(name); // how one call is shown
	const back = search.toString() && `?${search}`;
	const crumb = { title: t("Calls"), href: `/calls${back}` };
	const go = useGo();
	const toList = () => go(crumb.href);
	useKeys({ Escape: toList });
	if (call.data?.outcome === "running") return <Running call={call.data} crumb={crumb} />;
	if (call.data) return <Shown key={call.data.id} call={call.data} crumb={crumb} back={back} />;
	return (
		<Page title={params.id} crumb={crumb}>
			<Loaded query={call}>{() => null}</Loaded>
			{call.error && (
				<LinkButton href={crumb.href} className="mt-3">
					{t("To the calls")}
				</LinkButton>
			)}
		</Page>
	);
}

function useApproval(id: string): S["Approval"] | undefined {
	const { data } = useApprovals();
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
			actions={<CancelCall id={call.id} />}
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
					<Progress id={call.id} className="ml-2" />
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
	const [tab, choose] = useChoice("tab", tabs);
	const body = useRef<HTMLDivElement>(null);
	const [sought, seek] = useState("");
	const name = `${call.server ? `${call.server} / ` : ""}${toolName(call)}`;
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
					{call.method === "tools/call" && <RunAgain call={call} />}
					<Replay call={call} />
				</>
			}
		>
			<Sentence call={call} />
			<WhyNot call={call} />
			<WhyFailed call={call} />
			<Waterfall call={call} />
			<Children call={call} back={back} />
			<div className="mt-5 mb-4 flex flex-wrap items-end justify-between gap-x-4 gap-y-2 border-line border-b">
				<Tabs
					label={t("Parts of the call")}
					className="border-0!"
					current={tab}
					onChange={choose}
					tabs={[
						{ id: "bodies", title: t("Request and answer") },
						{ id: "changes", title: t("Changes per step"), count: changesOf(call) || undefined },
						{ id: "raw", title: t("Raw") },
					]}
				/>
				<div className="pb-1.5">
					<Find within={body} again={tab} onSeek={seek} />
				</div>
			</div>
			<div ref={body}>
				<Sought value={sought}>
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
				</Sought>
			</div>
		</Page>
	);
}

/** WhyFailed says what the error of a call leaves out: why a step of a workflow failed. */
function WhyFailed({ call }: { call: Details }) {
	const why = (call.workflows ?? [])
		.filter(({ mode, outcome }) => mode !== "shadow" && (outcome === "failed" || outcome === "passed"))
		.flatMap(({ steps }) => steps)
		.find(({ error }) => error)?.error;
	return why && !call.error?.includes(why) && <p className="-mt-2 mb-4 whitespace-pre-wrap text-bad">{why}</p>;
}

/** Sentence says what happened. */
function Sentence({ call }: { call: Details }) {
	const { timing } = call;
	const parts = [
		timing.queueMillis >= 0.1 && t("queue {time}", { time: took(timing.queueMillis, true) }),
		timing.hooksMillis > 0 && t("workflows {time}", { time: took(timing.hooksMillis, true) }),
		timing.askedMillis > 0 && t("waited for a person {time}", { time: took(timing.askedMillis, true) }),
		called(call) ? t("server {time}", { time: took(timing.serverMillis, true) }) : t("server not called"),
		call.attempts > 1 && t("{n} attempts", { n: call.attempts }),
	].filter(Boolean);
	const denier = call.workflows?.find((trace) => trace.outcome === "denied" && trace.mode !== "shadow");
	const withheld = call.workflows?.some(
		({ mode, detached, sent, outcome }) =>
			mode !== "shadow" && !detached && sent && (outcome === "failed" || outcome === "denied"),
	);
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
		took: <b className="font-semibold">{took(call.tookMillis, true)}</b>,
		parts: list(parts as string[]),
		workflow: denier && (
			<Link href={`/workflows/${encodeURIComponent(denier.workflow)}`} className="font-semibold hover:underline">
				{ranAs(denier)}
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
	};
	const texts = [
		call.outcome === "ok"
			? t("{client} called {tool} at {time}: {took} ({parts}).")
			: denier
				? t("{client} called {tool} at {time}. The workflow “{workflow}” denied it after {took} ({parts}).")
				: call.outcome === "canceled"
					? t("{client} called {tool} at {time}. It was canceled after {took} ({parts}).")
					: t("{client} called {tool} at {time}. It failed after {took} ({parts}): {outcome}."),
		withheld && t("The tool was called, and its answer was withheld."),
		call.through && t("It came through {through}."),
		call.parent && t("The call {parent} made it."),
		(call.outcome === "ok" || call.tokensOut > 0) &&
			tn(call.tokensOut, "The answer cost {n} token.", "The answer cost {n} tokens."),
		call.tokensSaved && t("An outline saved {saved} tokens."),
	].filter(Boolean) as string[];
	return (
		<div className="mb-4 max-w-[860px] text-[15px] leading-6">
			{texts.map((text, i) => (
				<span key={text}>
					{i > 0 && between()}
					<Rich text={text} values={values} />
				</span>
			))}
			{call.workflows
				?.filter((trace) => trace.mode === "shadow" && (trace.changed || ["denied", "failed"].includes(trace.outcome)))
				.map((trace) => (
					<p key={`${trace.workflow} ${trace.startedAt}`} className="mt-1 text-muted">
						{t("The workflow “{name}” was in shadow mode at this call.", { name: ranAs(trace) })}
						{between()}
						{wouldHave(trace)}
					</p>
				))}
			{call.error && <p className="mt-1 break-words whitespace-pre-wrap text-bad">{call.error}</p>}
		</div>
	);
}

/** Children are the calls that this one made. */
function Children({ call, back }: { call: Details; back: string }) {
	const ended = new Date(Date.parse(call.startedAt) + call.tookMillis + 1).toISOString();
	const { data } = query.useQuery("get", "/v1/calls", {
		params: { query: { parent: call.id, since: call.startedAt, until: ended, limit: 500 } },
	});
	const made = data?.calls.toReversed() ?? [];
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
							<span className="num text-sm">{took(one.tookMillis, true)}</span>
						</Link>
					</li>
				))}
			</ul>
		</Card>
	);
}
