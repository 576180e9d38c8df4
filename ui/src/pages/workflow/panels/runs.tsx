import { X } from "lucide-react";
import { useAddress } from "@/shell/address";
import { query, type S } from "../../../api/client";
import { brief, t, took, whole } from "../../../lang";
import { Button, Cap, Chip, cx, Dot, Empty, Loaded, type Tone } from "../../../ui";
import { word } from "../../call/changes";
import { clientName } from "../../calls/words";
import { editor, useEditor } from "../store";
import { showList, showRun, toolsList } from "../sync";

/** Runs lists the last runs around real calls. One that is chosen is painted on the drawing. */
export function Runs({ onClose }: { onClose: () => void }) {
	const id = useEditor((s) => s.id);
	const shown = useEditor((s) => s.replay?.ran);
	const isOn = useEditor((s) => s.info?.enabled === true);
	const isList = useEditor((s) => s.draft.workflowType === toolsList);
	const runs = query.useQuery("get", "/v1/workflows/{id}/runs", { params: { path: { id }, query: { limit: 200 } } });
	const [, setSearch] = useAddress();
	const show = (call: string) => {
		const { sample } = editor();
		if (sample?.id === call) showRun(sample); // also if the draft was replayed meanwhile
		setSearch(
			(params) => {
				params.delete("call");
				params.set("run", call);
				return params;
			},
			{ replace: true },
		);
	};
	return (
		<section aria-label={t("Runs")} className="flex h-full flex-col">
			<Cap>
				{t("Runs")}
				<Button look="quiet" size="iconSmall" aria-label={t("Close")} onClick={onClose}>
					<X />
				</Button>
			</Cap>
			<p className="px-4 pt-3 text-faint text-xs">
				{t("These are the runs since Genkan started. Calls has the earlier ones.")}
			</p>
			<div className="min-h-0 flex-1 overflow-y-auto p-2">
				<Loaded query={runs}>
					{({ runs }) => {
						const waitedFor = runs.filter((run) => !run.detached);
						return waitedFor.length === 0 ? (
							<Empty title={t("It has not run since Genkan started.")}>
								{isList
									? t("It runs when a client lists its tools, once it is enabled or in shadow.")
									: isOn
										? t("It runs at the next call that it is for.")
										: t("It runs around each call that it is for, once it is enabled or in shadow.")}
							</Empty>
						) : (
							<ul>
								{waitedFor.map((run) => {
									const isShown = run.call ? run.call === shown?.call : run.startedAt === shown?.startedAt;
									return (
										<li key={`${run.call} ${run.startedAt}`}>
											<button
												type="button"
												disabled={!run.call && !isList}
												aria-pressed={isShown}
												onClick={() => (run.call ? show(run.call) : showList(run))}
												className={cx(
													"w-full rounded-md px-2 py-1.5 text-left enabled:hover:bg-sunken focus-visible:-outline-offset-2",
													isShown && "bg-sunken",
												)}
											>
												<span className="flex items-center gap-2">
													<Dot tone={toneOf(run)} />
													<span className="tabular text-muted text-xs" title={whole(run.startedAt)}>
														{brief(run.startedAt)}
													</span>
													<span className="line">{outcomeOf(run)}</span>
													{run.mode === "shadow" && !run.changed && <Chip tone="accent">{t("shadow")}</Chip>}
													<span className="num ml-auto shrink-0 text-faint text-xs">
														v{run.version} · {took(run.tookMillis)}
													</span>
												</span>
												{(run.tool || run.client) && (
													<span className="line block pl-4 text-muted text-xs" title={run.tool}>
														{[run.tool, run.client && clientName({ client: run.client })].filter(Boolean).join(" · ")}
													</span>
												)}
											</button>
										</li>
									);
								})}
							</ul>
						);
					}}
				</Loaded>
			</div>
		</section>
	);
}

const toneOf = ({ outcome }: S["WorkflowTrace"]): Tone =>
	outcome === "ok" ? "ok" : outcome === "denied" ? "warn" : "bad";

const outcomeOf = ({ outcome, changed, mode }: S["WorkflowTrace"]): string =>
	outcome === "ok"
		? changed
			? mode === "shadow"
				? t("would change")
				: t("changed")
			: t("unchanged")
		: outcome === "passed"
			? t("failed, and the call passed")
			: outcome === "call_failed"
				? t("the call failed")
				: outcome === "denied" && mode === "shadow"
					? t("would deny")
					: word(outcome);
