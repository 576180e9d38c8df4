import { useEffect, useRef, useState } from "react";
import { query, refresh, type S } from "@/api/client";
import { useConnected } from "@/api/events";
import { between, t, tn } from "@/lang";
import { useApprovals } from "@/shell/session";
import { Button, Card, complain, Dot, Input, indented, JsonText, Rich, say, seen } from "@/ui";
import { clientName, toolName, useWorkflowName } from "./words";

/** Approvals are the calls that wait for a person, with what they would do. */
export function Approvals({ waiting }: { waiting: boolean }) {
	// Events tell when one is opened or closed. Without them the page looks itself.
	const connected = useConnected();
	const { data } = useApprovals({ refetchInterval: connected ? false : 3000 });
	const ref = useRef<HTMLElement>(null);
	const some = (data?.approvals.length ?? 0) > 0;
	// Whoever has followed the link decides with the next key. A call that arrives later takes
	// nobody's focus.
	const led = useRef(false);
	useEffect(() => {
		if (!waiting) led.current = false;
		if (!waiting || !data || led.current) return;
		led.current = true;
		const at = document.activeElement;
		if (at === document.body || at?.closest("a")) ref.current?.querySelector("button")?.focus();
	}, [waiting, data]);
	if (!data || (!some && !waiting)) return null;
	return (
		<section ref={ref} aria-label={t("Calls that wait for you")} className="mb-4 flex flex-col gap-3">
			{data.approvals.map((approval) => (
				<Approval key={approval.id} approval={approval} />
			))}
			{!some && <p className="text-muted">{t("No call waits for you.")}</p>}
		</section>
	);
}

/** Approval is a call that waits, with the buttons to decide. */
export function Approval({ approval }: { approval: S["Approval"] }) {
	const workflowName = useWorkflowName();
	const decide = query.useMutation("post", "/v1/approvals/{id}");
	const [left, setLeft] = useState("");
	// One decision is enough: a second click says nothing new.
	const [decided, setDecided] = useState(false);
	const once = useRef(false);
	const [reason, setReason] = useState("");
	useEffect(() => {
		const count = () => {
			const seconds = Math.max(0, Math.round((Date.parse(approval.expiresAt) - Date.now()) / 1000));
			setLeft(`${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`);
		};
		count();
		const timer = setInterval(count, 1000);
		return () => clearInterval(timer);
	}, [approval.expiresAt]);
	const tool = seen(approval.server ? `${approval.server} / ${toolName(approval)}` : toolName(approval));
	const say_ = async (decision: "approve" | "deny") => {
		if (once.current) return;
		once.current = true;
		setDecided(true);
		try {
			await decide.mutateAsync({
				params: { path: { id: approval.id } },
				body: { decision, reason: (decision === "deny" && reason.trim()) || undefined },
			});
			say(decision === "approve" ? t("{tool} is allowed.", { tool }) : t("{tool} is denied.", { tool }));
		} catch (error) {
			complain(error);
			once.current = false;
			setDecided(false);
		}
		refresh("/v1/approvals");
	};
	return (
		<Card className="overflow-hidden border-warn!">
			<div className="flex flex-wrap items-center gap-x-3 gap-y-2 bg-warn-soft px-4 py-2.5">
				<Dot tone="warn" />
				<div className="min-w-[min(320px,calc(100%-20px))] flex-1 break-words">
					<Rich
						text={t("{client} wants to call {tool}.")}
						values={{ client: <b>{clientName(approval)}</b>, tool: <b>{tool}</b> }}
					/>
					{between()}
					{approval.message && <span className="text-muted">{seen(approval.message)}</span>}
					{between()}
					<span className="text-muted">
						{t("Asked by the workflow {name}.", { name: workflowName(approval.workflow) })}
					</span>
				</div>
				<span className="tabular text-muted text-xs" title={t("Then it is denied.")}>
					{t("{time} left", { time: left })}
				</span>
				{approval.left && <span className="text-muted">{t("Its caller has disconnected.")}</span>}
				{approval.inClient && <span className="text-muted">{t("Its client asks its person, too.")}</span>}
				<Input
					className="max-w-52"
					aria-label={t("Why not? The agent reads it.")}
					placeholder={t("Why not? The agent reads it.")}
					maxLength={300}
					value={reason}
					onChange={(event) => setReason(event.target.value)}
				/>
				<Button size="small" disabled={decided} onClick={() => void say_("deny")}>
					{t("Deny")}
				</Button>
				<Button size="small" look="primary" disabled={decided} onClick={() => void say_("approve")}>
					{t("Allow")}
				</Button>
			</div>
			<Arguments approval={approval} />
		</Card>
	);
}

/** Arguments are those of a call that waits. It says what is missing, and shows all of it
 * on request. */
function Arguments({ approval }: { approval: S["Approval"] }) {
	const whole = query.useMutation("get", "/v1/approvals/{id}", { onError: complain });
	const showAll = () => whole.mutate({ params: { path: { id: approval.id } } });
	const shown = whole.data ?? approval;
	return (
		<>
			{!!shown.notShown && (
				<p className="flex flex-wrap items-center gap-3 bg-bad-soft px-4 py-2 font-semibold text-bad">
					{tn(
						shown.notShown,
						"{n} byte of the arguments is not shown here.",
						"{n} bytes of the arguments are not shown here.",
					)}
					<Button size="small" disabled={whole.isPending} onClick={showAll}>
						{t("Show all of them")}
					</Button>
				</p>
			)}
			{shown.masked && (
				<p className="bg-bad-soft px-4 py-2 font-semibold text-bad">
					{t("Parts of the arguments are hidden, because Genkan keeps them secret.")}
				</p>
			)}
			<JsonText text={indented(shown.arguments)} className={whole.data ? "" : "max-h-60!"} />
		</>
	);
}
