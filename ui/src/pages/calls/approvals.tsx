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
	const moved = useMoves(data?.approvals);
	if (!data || (!some && !waiting)) return null;
	return (
		<section ref={ref} aria-label={t("Calls that wait for you")} className="mb-4 flex flex-col gap-3">
			{data.approvals.map((approval) => (
				<Approval key={approval.id} approval={approval} moves={moved.get(approval.id)?.moves} />
			))}
			{!some && <p className="text-muted">{t("No call waits for you.")}</p>}
		</section>
	);
}

/** useMoves counts how often each call has come to another place on the page, or to the page
 * when it was open already. */
function useMoves(approvals: S["Approval"][] | undefined) {
	const ref = useRef<Map<string, { index: number; moves: number }>>(undefined);
	const before = ref.current;
	if (approvals)
		ref.current = new Map(
			approvals.map(({ id }, index) => {
				const was = before?.get(id) ?? { index: -1, moves: before ? 0 : -1 };
				return [id, was.index === index ? was : { index, moves: was.moves + 1 }];
			}),
		);
	return ref.current ?? new Map();
}

// A click so soon after a call has moved was meant for what stood there before, in ms.
const settles = 800;

/** useSettling tells whether a call has just moved. */
function useSettling(moves: number): boolean {
	const [settled, setSettled] = useState(0);
	useEffect(() => {
		const timer = setTimeout(() => setSettled(moves), settles);
		return () => clearTimeout(timer);
	}, [moves]);
	return settled !== moves;
}

/** Approval is a call that waits, with the buttons to decide. */
export function Approval({ approval, moves = 0 }: { approval: S["Approval"]; moves?: number }) {
	const settling = useSettling(moves);
	/** meant is what a click does if it is meant for this call. Keys are for what has the focus. */
	const meant = (act: () => void) => (event: { detail: number }) => (event.detail === 0 || !settling) && act();
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
						{t("Asked by the workflow “{name}”.", { name: workflowName(approval.workflow) })}
					</span>
				</div>
				<span className="tabular text-muted text-xs" title={t("Then it is denied.")}>
					{t("{time} left", { time: left })}
				</span>
				{approval.left && <span className="text-muted">{t("Its caller has disconnected.")}</span>}
				{approval.inClient && <span className="text-muted">{t("Its client asks its person, too.")}</span>}
				<Input
					className="max-w-64"
					aria-label={t("Why not? The agent reads it.")}
					placeholder={t("Why not? The agent reads it.")}
					value={reason}
					onChange={(event) => setReason(event.target.value)}
				/>
				<Button size="small" disabled={decided} aria-disabled={settling} onClick={meant(() => void say_("deny"))}>
					{t("Deny")}
				</Button>
				<Button
					size="small"
					look="primary"
					disabled={decided}
					aria-disabled={settling}
					onClick={meant(() => void say_("approve"))}
				>
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
