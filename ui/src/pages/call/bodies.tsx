import { memo, type ReactNode, useMemo } from "react";
import type { S } from "@/api/client";
import { between, bytes, list, sentences, t, tn } from "@/lang";
import { useChoice } from "@/shell/address";
import { useSession } from "@/shell/session";
import {
	Cap,
	Card,
	CopyButton,
	cx,
	Empty,
	Json,
	JsonText,
	LinkButton,
	marked,
	RecordMasks,
	Rich,
	rulesIn,
	Toggle,
} from "@/ui";
import Result from "@/ui/result";
import { ranAs } from "./names";

type Details = S["CallDetails"];

/** isUnkept tells whether the configuration keeps no bodies of such calls. */
export const isUnkept = ({ bodies }: Details): boolean => bodies === "off" || bodies === "local";

/** Choose leads to where an administrator chooses whose bodies are kept. */
function Choose({ call }: { call: Details }) {
	const { admin } = useSession();
	return isUnkept(call) && admin ? <LinkButton href="/settings/history">{t("To Settings, History")}</LinkButton> : null;
}

/** Bodies are what was sent and received. */
export const Bodies = memo(function Bodies({ call }: { call: Details }) {
	const { admin } = useSession();
	if (!call.request && !call.response)
		return (
			<Empty title={t("What was sent and received is not here.")} actions={<Choose call={call} />}>
				{!isUnkept(call)
					? call.note
					: call.bodies === "local"
						? t("It is kept only for clients of this machine's user, and this client has a token.")
						: t("It was not kept when the call was made.")}
				{isUnkept(call) && admin && (
					<>
						{between()}
						{t("“What was sent and received” in Settings, History, chooses whose is kept, from then on.")}
					</>
				)}
			</Empty>
		);
	return (
		<div className="grid gap-3 md:grid-cols-2">
			<Body call={call} title={t("What the client sent")} body={call.request} request />
			<Body call={call} title={t("What the client got")} body={call.response} />
		</div>
	);
});

const views = ["shown", "json", "bytes"] as const;

/** gotWhole tells whether it is known that no workflow changed the answer. */
const gotWhole = ({ workflows, timing }: Details): boolean =>
	workflows?.length ? !workflows.some((trace) => trace.changed && trace.mode !== "shadow") : timing.hooksMillis === 0;

/** Masks says which values the record masks, and which a workflow took out before the client
 * got the answer. They look alike in the text. The record also masks what a workflow has
 * put in the place of a secret, if that looks like one. */
function Masks({ call, text, request }: { call: Details; text: string; request?: boolean }) {
	const found = rulesIn(text);
	const inRecord = found.filter((rule) => call.redacted.includes(rule));
	const workflows = request ? [] : (call.workflows ?? []).filter((trace) => trace.mode !== "shadow");
	const by = workflows.filter((trace) => {
		const patches = JSON.stringify(trace.steps.map((step) => step.patch));
		return found.some((rule) => !inRecord.includes(rule) && patches.includes(`[redacted:${rule}]`));
	});
	const otherwise = workflows.filter(
		(trace) =>
			trace.changed &&
			!by.includes(trace) &&
			trace.steps.some((step) =>
				((step.patch ?? []) as { path: string }[]).some(({ path }) => path.startsWith("/response")),
			),
	);
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
										"This view masks values that match the rule {rules}. The client sent the real value.",
										"This view masks values that match the rules {rules}. The client sent the real value.",
									)
								: gotWhole(call)
									? tn(
											inRecord.length,
											"This view masks values that match the rule {rules}. The client got the real value.",
											"This view masks values that match the rules {rules}. The client got the real value.",
										)
									: tn(
											inRecord.length,
											"This view masks values that match the rule {rules}, also those that a workflow put in.",
											"This view masks values that match the rules {rules}, also those that a workflow put in.",
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
						values={{ names: names([...new Set(by.map(ranAs))]) }}
					/>
				</Notice>
			)}
			{otherwise.length > 0 && (
				<Notice tone="warn">
					<Rich
						text={t("Changed by {names}. The client did not get what the server answered.")}
						values={{ names: names([...new Set(otherwise.map(ranAs))]) }}
					/>
				</Notice>
			)}
		</>
	);
}

/** Notice is a line above what a panel shows. */
export function Notice({ tone, children }: { tone?: "warn"; children: ReactNode }) {
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

export function Body({
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
	const [view, setView] = useChoice(request ? "sent" : "got", views);
	const [size, tokens] = request ? [call.bytesIn, call.tokensIn] : [call.bytesOut, call.tokensOut];
	const masks = useMemo(() => new Set(call.redacted), [call.redacted]);
	const text = useMemo(() => (body ? (body.text ?? JSON.stringify(body.json)) : ""), [body]);
	const whole_ = body && !body.cut && body.json !== undefined;
	const notice = request ? undefined : noticeOf(body?.json);
	const counted = [
		request && t("With the name of the tool."),
		rulesIn(text).some((rule) => masks.has(rule)) && t("Before values were masked for this page."),
	];
	// Where no server answered, the client got the error that Genkan made; nothing, if it left.
	const message = !request && !body && call.bytesOut > 0 ? call.error : undefined;
	return (
		<Card className="min-w-0 self-start overflow-hidden">
			<Cap className="flex-wrap gap-y-1! pt-1.5! pb-[5px]!">
				<span className="line">{message && call.via === "rest" ? t("Why it failed") : title}</span>
				<span className="flex shrink-0 flex-wrap items-center gap-1">
					{!message && (
						<span className="tabular mr-1 font-normal" title={sentences(...counted) || undefined}>
							{`${bytes(size)} · ${tn(tokens, "{n} token", "{n} tokens")}`}
						</span>
					)}
					{whole_ && (
						<>
							<Toggle on={view === "shown"} onClick={() => setView("shown")}>
								{t("Rendered")}
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
			{notice && <Notice>{t("Genkan added for the client: {notice}", { notice })}</Notice>}
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
const Request = ({ json }: { json: unknown }) => <Json value={argumentsOf(json) ?? json} />;

const argumentsOf = (json: unknown): unknown => (json as { arguments?: unknown } | null)?.arguments ?? undefined;

/** noticeOf is what Genkan told the client beside the answer. */
const noticeOf = (json: unknown): string | undefined =>
	(json as { _meta?: Record<string, string> } | undefined)?._meta?.["genkan/notice"];

const mostBytes = 16_384;

/** hex writes a text byte by byte, in pairs as xxd does, with its characters beside them. */
function hex(text: string): string {
	const all = new TextEncoder().encode(text);
	const lines: string[] = [];
	for (let at = 0; at < Math.min(all.length, mostBytes); at += 16) {
		const part = [...all.subarray(at, at + 16)];
		const codes = part
			.map((byte, i) => `${i > 0 && i % 2 === 0 ? " " : ""}${byte.toString(16).padStart(2, "0")}`)
			.join("");
		const characters = part.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
		lines.push(`${at.toString(16).padStart(4, "0")}  ${codes.padEnd(39)} ${characters}`);
	}
	if (all.length > mostBytes) lines.push("…");
	return lines.join("\n");
}
