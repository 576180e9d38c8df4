import { useQuery } from "@tanstack/react-query";
import { ChevronRight, History, RotateCcw, X } from "lucide-react";
import { useEffect, useId, useMemo, useState } from "react";
import { useAddress } from "@/shell/address";
import { api, query, refresh, type S } from "../../../api/client";
import { ago, between, t, tn, whole } from "../../../lang";
import { Button, Cap, Chip, Confirm, complain, cx, Dot, Loaded, Select, say } from "../../../ui";
import { type Change, changesBetween } from "../changes";
import { type Definition, nodeOf } from "../definition";
import { placed } from "../layout";
import { Diff } from "../output";
import { readWorkflow, workflowOptions } from "../read";
import { endSitting } from "../sitting";
import { edit, editor, load, select, undo, useEditor } from "../store";
import { save, toolsList } from "../sync";
import { last, Past } from "./enable";

/** Versions lists the versions of the workflow, compares any two of them, and goes back to
 * one. ?version= and ?with= in the address say which are compared. */
export function Versions({ onClose }: { onClose: () => void }) {
	const id = useEditor((s) => s.id);
	const baseAt = useEditor((s) => s.baseAt);
	const running = useEditor((s) => s.info?.runningVersion);
	const stopped = useEditor((s) => s.info?.stoppedVersion);
	const drafted = useEditor((s) => !s.info || s.info.drafted === true);
	const [search, setSearch] = useAddress();
	const shown = Number(search.get("version")) || null;
	const versions = query.useQuery("get", "/v1/workflows/{id}/versions", { params: { path: { id } } }, { staleTime: 0 });
	const runs = query.useQuery("get", "/v1/workflows/{id}/runs", {
		params: { path: { id }, query: { limit: 200 } },
	});
	const counts = new Map<number, number>();
	for (const run of runs.data?.runs ?? [])
		if (!run.detached) counts.set(run.version, (counts.get(run.version) ?? 0) + 1);
	// biome-ignore lint/correctness/useExhaustiveDependencies: the draft was saved
	useEffect(() => refresh("/v1/workflows/{id}/versions", "/v1/workflows/{id}"), [baseAt]);
	const show = (version: number | null) =>
		setSearch(
			(params) => {
				params.delete("with");
				if (version) params.set("version", String(version));
				else params.delete("version");
				return params;
			},
			{ replace: true },
		);
	return (
		<section aria-label={t("Versions")} className="flex h-full flex-col">
			<Cap>
				{t("Versions")}
				<Button look="quiet" size="iconSmall" aria-label={t("Close")} onClick={onClose}>
					<X />
				</Button>
			</Cap>
			<div className="min-h-0 flex-1 overflow-y-auto p-2">
				<p className="px-2 pb-2 text-muted text-xs">
					{t(
						"What is edited is one version until it is enabled, or until somebody else edits it. Going from shadow to active, or back, makes one, too.",
					)}
				</p>
				<Loaded query={versions}>
					{(data) => (
						<ul>
							{data.versions.slice(0, 200).map((v, i) => (
								<li key={v.version}>
									<button
										type="button"
										aria-expanded={shown === v.version}
										onClick={() => show(shown === v.version ? null : v.version)}
										className={cx(
											"flex h-8 w-full items-center gap-2 rounded-md px-2 hover:bg-sunken focus-visible:-outline-offset-2",
											shown === v.version && "bg-sunken",
										)}
									>
										<ChevronRight
											aria-hidden
											className={cx("size-3.5 shrink-0 text-faint", shown === v.version && "rotate-90")}
										/>
										<b className="tabular">v{v.version}</b>
										{v.version === running && (
											<Chip tone={v.mode === "shadow" ? "accent" : "ok"}>
												<Dot tone={v.mode === "shadow" ? "accent" : "ok"} />
												{v.mode === "shadow" ? t("shadow") : t("active")}
											</Chip>
										)}
										{v.version === stopped && <Chip>{v.mode === "shadow" ? t("was in shadow") : t("was active")}</Chip>}
										{i === 0 &&
											v.version !== running &&
											v.version !== stopped &&
											(drafted ? (
												<Chip>{t("draft")}</Chip>
											) : (
												<span className="text-muted text-xs">
													{t("the same as v{version}", { version: running ?? stopped ?? 0 })}
												</span>
											))}
										{v.version !== running &&
											v.version !== stopped &&
											(i > 0 || v.enabledAt || v.mode === "shadow") && (
												<span className="line text-muted text-xs" title={v.enabledAt && whole(v.enabledAt)}>
													{!v.enabledAt
														? v.mode === "shadow"
															? t("shadow")
															: t("never enabled")
														: v.mode === "shadow"
															? t("in shadow {time}", { time: ago(v.enabledAt) })
															: t("enabled {time}", { time: ago(v.enabledAt) })}
												</span>
											)}
										{counts.has(v.version) && (
											<span className="text-faint text-xs" title={t("Of the last calls around which workflows ran.")}>
												{tn(counts.get(v.version)!, "{n} run", "{n} runs")}
											</span>
										)}
										<span className="num line ml-auto text-faint text-xs" title={whole(v.updatedAt)}>
											{t("saved {time}", { time: ago(v.updatedAt) })}
										</span>
									</button>
									{shown === v.version && <Version id={id} version={v} all={data.versions} />}
								</li>
							))}
						</ul>
					)}
				</Loaded>
			</div>
		</section>
	);
}

/** Version compares a version with the draft or another version. */
function Version({
	id,
	version: { version, mode },
	all,
}: {
	id: string;
	version: S["WorkflowVersion"];
	all: S["WorkflowVersion"][];
}) {
	const draft = useEditor((s) => s.draft);
	const info = useEditor((s) => s.info);
	const readOnly = useEditor((s) => s.readOnly !== null);
	const [search, setSearch] = useAddress();
	const chosen = Number(search.get("with")) || 0;
	const [busy, setBusy] = useState(false);
	/** What is asked about. */
	const [asking, ask] = useState<"draft" | "run" | null>(null);
	const field = useId();
	const details = useQuery(workflowOptions(id, version));
	const other = useQuery({ ...workflowOptions(id, chosen), enabled: chosen > 0 });
	const old = details.data?.definition as unknown as Definition | undefined;
	const against = chosen > 0 ? (other.data?.definition as unknown as Definition | undefined) : draft;
	const later = chosen > 0 && chosen < version; // than the other one
	const changes = useMemo(() => {
		if (!old || !against) return null;
		return later ? changesBetween(against, old) : changesBetween(old, against);
	}, [old, against, later]);
	const [one, another] = [`v${version}`, chosen > 0 ? `v${chosen}` : t("the draft")];
	const direction = later ? { from: another, to: one } : { from: one, to: another };

	/** What makes it run. */
	const action =
		mode === "shadow"
			? t("Run it in shadow mode")
			: version < (info?.runningVersion ?? 0)
				? t("Roll back to it")
				: t("Make it active now");
	const back = async () => {
		setBusy(true);
		try {
			await save();
			const path = { id };
			await api.POST("/v1/workflows/{id}/rollback", { params: { path }, body: { version } });
			const now = await readWorkflow(id);
			if (editor().id === id) load(now);
			refresh("/v1/workflows", "/v1/workflows/{id}/versions");
			const what = { name: now.name, version, now: now.version };
			say(
				now.mode === "shadow"
					? t("“{name}”: v{version} runs again, as v{now}. It only watches: calls are not changed.", what)
					: t("“{name}”: what was v{version} runs again, as v{now}.", what),
			);
		} catch (error) {
			complain(error);
		} finally {
			setBusy(false);
			ask(null);
		}
	};
	const restore = async () => {
		ask(null);
		await save();
		endSitting(); // what was drawn until now stays a version
		edit((draft) => placed({ ...old!, version: draft.version, enabled: draft.enabled }));
		select([]);
		say(t("v{version} is the draft now.", { version }), undo);
	};

	return (
		<div className="mb-2 rounded-md border border-line">
			<Loaded query={details} rows={2}>
				{() => (
					<>
						<div className="flex flex-wrap items-center gap-2 px-3 py-2 text-xs">
							<label htmlFor={field} className="flex items-center gap-2 text-muted">
								{t("Compared with")}
								<Select
									id={field}
									value={chosen}
									onChange={(event) =>
										setSearch(
											(params) => {
												if (event.target.value === "0") params.delete("with");
												else params.set("with", event.target.value);
												return params;
											},
											{ replace: true },
										)
									}
									className="h-7! w-auto"
								>
									<option value={0}>{t("the draft")}</option>
									{all
										.filter((v) => v.version !== version)
										.slice(0, 100)
										.map((v) => (
											<option key={v.version} value={v.version}>
												v{v.version}
											</option>
										))}
								</Select>
							</label>
						</div>
						{!readOnly && (
							<div className="flex flex-wrap gap-2 px-3 pb-2">
								<Button
									size="small"
									disabled={chosen === 0 && changes?.length === 0}
									onClick={() => (mode === (draft.mode ?? "enforce") ? void restore().catch(complain) : ask("draft"))}
								>
									<History />
									{t("Make it the draft")}
								</Button>
								{info?.enabled && info.runningVersion !== version && (
									<Button
										size="small"
										busy={busy}
										title={t("It runs at once, as a new version.")}
										onClick={() => ask("run")}
									>
										<RotateCcw />
										{action}
									</Button>
								)}
							</div>
						)}
						{changes && changes.length > 0 && (
							<p className="px-3 pb-2 text-muted text-xs">{t("What changed from {from} to {to}:", direction)}</p>
						)}
						{changes && <Changes changes={changes} />}
					</>
				)}
			</Loaded>
			{asking === "draft" && (
				<Confirm
					title={t("Make v{version} the draft?", { version })}
					action={t("Make it the draft")}
					onClose={() => ask(null)}
					onConfirm={() => void restore().catch(complain)}
				>
					{mode === "shadow"
						? t("v{version} is in shadow mode, and the draft is not. What runs now stays.", { version })
						: t("The draft is in shadow mode, and v{version} is not. What runs now stays.", { version })}
				</Confirm>
			)}
			{asking === "run" && (
				<Confirm
					title={
						mode === "shadow"
							? t("Run v{version} in shadow mode?", { version })
							: t("Let v{version} act on calls?", { version })
					}
					action={action}
					danger={mode === "shadow" && info?.mode !== "shadow"}
					busy={busy}
					onClose={() => ask(null)}
					onConfirm={() => void back()}
				>
					{mode === "shadow" && info?.mode === "shadow"
						? t("It takes the place of what runs now, for all calls from now on.")
						: mode === "shadow"
							? t("The active version acts on calls. v{version} only watches: calls then go through unchanged.", {
									version,
								})
							: info?.mode === "shadow"
								? t("What runs now only watches. v{version} changes and refuses calls at once.", { version })
								: t("It takes the place of what runs now, for all calls from now on.")}
					{between()}
					{t("The draft becomes the same; what it was stays in the list of versions.")}
					{mode !== "shadow" && old && details.data?.problems.length === 0 && <WouldDo definition={old} />}
				</Confirm>
			)}
		</div>
	);
}

/** WouldDo says what a version would have done to the last calls, as before enabling. */
function WouldDo({ definition }: { definition: Definition }) {
	const [found, setFound] = useState<S["BacktestResult"] | null>(null);
	useEffect(() => {
		if (definition.workflowType === toolsList) return;
		const asking = new AbortController();
		api
			.POST("/v1/workflows/{id}/backtest", {
				params: { path: { id: editor().id } },
				body: { last, definition: definition as never },
				signal: asking.signal,
			})
			.then(
				({ data }) => setFound(data!),
				() => {}, // the question can be answered without it
			);
		return () => asking.abort();
	}, [definition]);
	return found && <p className="mt-3">{<Past found={found} passes={definition.failMode === "open"} />}</p>;
}

/** Changes lists what differs, a part after the other. */
function Changes({ changes }: { changes: Change[] }) {
	const draft = useEditor((s) => s.draft);
	if (changes.length === 0)
		return <p className="border-line border-t px-3 py-2 text-faint text-xs">{t("Nothing differs.")}</p>;
	return (
		<ul aria-label={t("What differs")}>
			{changes.map((change) => (
				<li key={`${change.kind} ${change.key}`} className="border-line border-t">
					<div className="flex items-center gap-2 px-3 pt-2 text-xs">
						<Chip tone={change.kind === "added" ? "ok" : change.kind === "removed" ? "bad" : "accent"}>
							{{ added: t("added"), removed: t("removed"), changed: t("changed") }[change.kind]}
						</Chip>
						{change.node && nodeOf(draft, change.node) ? (
							<button type="button" className="line font-medium hover:underline" onClick={() => select([change.node!])}>
								{change.title}
							</button>
						) : (
							<b className="line font-medium">{change.title}</b>
						)}
					</div>
					<div className="max-h-80 overflow-auto text-[12px] [&_pre]:py-2">
						<Diff lines={change.lines} />
					</div>
				</li>
			))}
		</ul>
	);
}
