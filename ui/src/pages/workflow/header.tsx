import { useQuery } from "@tanstack/react-query";
import { AlertTriangle, ChevronDown, Download, FileUp, FlaskConical, OctagonX, Trash2 } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { Link, useLocation } from "wouter";
import { parseExact } from "@/api/exact";
import { useGo } from "@/shell/address";
import { useLate } from "@/shell/search";
import { useWorkflows } from "@/shell/session";
import { api, refresh, type S } from "../../api/client";
import { between, minute, t, tn } from "../../lang";
import { Button, Chip, complain, Dot, Menu, messageOf, say } from "../../ui";
import { useTitle } from "../../ui/title";
import { noServerText, stateOf } from "../workflows/around";
import { Delete } from "../workflows/delete";
import { useStop } from "../workflows/stop";
import { changesBetween } from "./changes";
import type { Definition } from "./definition";
import { readDefinition } from "./definition";
import { placed } from "./layout";
import { panels } from "./panels";
import { workflowOptions } from "./read";
import { endSitting } from "./sitting";
import { edit, editor, ifMatch, select, setEditor, stillOpen, useEditor } from "./store";
import { check, discard, isRefused, keepDeleted, keepMine, saidOf, save, showProblem, takeTheirs } from "./sync";
import { discardUnread, dropUnread, fieldOf, showUnread, useUnread } from "./unread";

/** Header says what is open, whether it is saved and whether it runs. */
export function Header({ panel, onPanel }: { panel: string | null; onPanel: (id: string | null) => void }) {
	const name = useEditor((s) => s.draft.name || s.id);
	const info = useEditor((s) => s.info);
	const isStored = useEditor((s) => s.base > 0);
	const limited = useEditor((s) => (s.readOnly === "limit" ? s.info?.limitOf : undefined));
	const { stop, question } = useStop((info) => info.id === editor().id && setEditor({ info }));
	const inForce = useInForce();
	useTitle(name);
	return (
		<header className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-2">
			{/* Chips that come and go must not move the drawing: the name gives way to them, and
			    has a line of its own on screens where little would be left of it. */}
			<div className="flex min-w-0 flex-1 items-center gap-x-3 gap-y-2 *:shrink-0 max-[1400px]:basis-full max-sm:flex-wrap">
				<h1 className="flex min-w-0 shrink! items-baseline gap-2 text-lg">
					<Link href="/workflows" className="shrink-0 font-normal text-base text-muted hover:text-text">
						{t("Workflows")} /
					</Link>
					<span className="line" title={name}>
						{name}
					</span>
				</h1>
				<Saved />
				<NotSaved />
				<Running />
				<Problems />
				<Failing onShow={() => onPanel("tests")} />
			</div>
			<div className="ml-auto flex flex-wrap items-center gap-2">
				{panels
					.filter(({ primary }) => !(primary && limited))
					.map(({ id, title, primary, ofStored }) => (
						<Button
							key={id}
							disabled={ofStored && !isStored}
							title={ofStored && !isStored ? t("Nothing is stored yet. The first change is.") : undefined}
							look={primary ? (inForce ? undefined : "primary") : "quiet"}
							aria-pressed={panel === id}
							onClick={() => onPanel(panel === id ? null : id)}
							className={primary ? "order-last" : panel === id ? "bg-accent-soft! text-accent!" : undefined}
						>
							{t(title)}
						</Button>
					))}
				<Files />
				{!limited && (
					<Button
						look="danger"
						disabled={!info?.enabled}
						title={t("Stops this workflow at once. Calls go through without it.")}
						onClick={() => stop(editor().id)}
					>
						<OctagonX />
						{t("Stop")}
					</Button>
				)}
			</div>
			{limited && (
				<p role="note" className="basis-full text-muted">
					{t("This workflow carries out the limit of the token “{name}”.", { name: limited })}
					{between()}
					<Link href="/clients" className="text-accent underline">
						{t("Change the limit")}
					</Link>
				</p>
			)}
			{question}
			<Conflict />
		</header>
	);
}

/** enableVersion makes a version run, in its own mode unless said. */
export async function enableVersion(version: number, more?: Omit<S["EnableRequest"], "version">): Promise<void> {
	const isOpen = stillOpen();
	const { data } = await api.POST("/v1/workflows/{id}/enable", {
		params: { path: { id: editor().id } },
		headers: version === editor().base ? ifMatch() : undefined, // so that nobody else's draft runs
		body: { version, ...more },
	});
	if (isOpen()) setEditor({ info: data! });
	refresh("/v1/workflows");
}

/** useInForce tells whether what runs is what is drawn, also after all changes were undone:
 * enabling would change nothing. What runs in shadow is
 * not in force. */
export function useInForce(): boolean {
	const id = useEditor((s) => s.id);
	const draft = useEditor((s) => s.draft);
	const isSaved = useEditor((s) => s.draft === s.saved);
	const base = useEditor((s) => s.base);
	const running = useEditor((s) => (s.info?.mode === "shadow" ? undefined : s.info?.runningVersion));
	const other = running !== undefined && running !== base;
	const { data } = useQuery({
		...workflowOptions(id, running),
		enabled: other,
		staleTime: Number.POSITIVE_INFINITY,
	});
	const same = useMemo(
		() => other && data !== undefined && changesBetween(data.definition as unknown as Definition, draft).length === 0,
		[other, data, draft],
	);
	return isSaved && running !== undefined && (running === base || same);
}

function Saved() {
	const saving = useEditor((s) => s.saving);
	const readOnly = useEditor((s) => s.readOnly);
	const runs = useInForce();
	const isStored = useEditor((s) => s.base > 0);
	const hasRun = useEditor((s) => s.base > 0 && s.base === (s.info?.runningVersion ?? s.info?.stoppedVersion));
	if (readOnly === "limit") return null;
	if (readOnly === "file") return <Chip>{t("kept in a file: it is changed there")}</Chip>;
	if (saving.state === "conflict" || saving.state === "deleted") return null;
	if (saving.state === "failed")
		return (
			<Chip tone="bad" role={isRefused(saving.error) ? undefined : "alert"} title={messageOf(saving.error)}>
				<AlertTriangle />
				{isRefused(saving.error) ? t("not saved") : t("not saved, trying again")}
			</Chip>
		);
	return (
		<Chip role="status" className="tabular">
			{saving.state !== "saved"
				? t("saving…")
				: !isStored
					? t("not stored yet")
					: runs
						? t("no changes to enable")
						: saving.at && !hasRun
							? t("draft, saved {time}", { time: minute(saving.at) })
							: t("saved")}
		</Chip>
	);
}

/** Conflict says on a line of its own why the draft is not saved: the server refuses it, or
 * another tab or person has changed the workflow. */
function Conflict() {
	const saving = useEditor((s) => s.saving);
	const [busy, setBusy] = useState(false);
	const go = useGo();
	const act = (what: () => Promise<void>) => {
		setBusy(true);
		what()
			.catch(complain)
			.finally(() => setBusy(false));
	};
	if (saving.state === "deleted")
		return (
			<div role="alert" className="flex basis-full flex-wrap items-center gap-2 text-warn">
				<AlertTriangle aria-hidden className="size-4 shrink-0" />
				<span>{t("This workflow was deleted elsewhere. What is drawn here is stored no more.")}</span>
				<Button
					size="small"
					busy={busy}
					onClick={() =>
						act(async () => {
							const { id } = editor();
							await keepDeleted();
							if (editor().id !== id) go(`/workflows/${encodeURIComponent(editor().id)}`, { replace: true });
						})
					}
				>
					{t("Keep it as a new workflow")}
				</Button>
			</div>
		);
	if (saving.state === "failed" && isRefused(saving.error))
		return (
			<p role="alert" className="basis-full text-bad">
				{t("The draft is not saved: {why}", { why: messageOf(saving.error) })}
			</p>
		);
	if (saving.state !== "conflict") return null;
	return (
		<div role="alert" className="flex basis-full flex-wrap items-center gap-2 text-warn">
			<AlertTriangle aria-hidden className="size-4 shrink-0" />
			<span title={String((saving.error as Error)?.message ?? "")}>
				{t("Changed elsewhere meanwhile. Your draft is here, and is not saved.")}
			</span>
			<Button size="small" busy={busy} onClick={() => act(keepMine)}>
				{t("Keep mine")}
			</Button>
			<Button size="small" busy={busy} onClick={() => act(takeTheirs)}>
				{t("Take theirs")}
			</Button>
		</div>
	);
}

function Running() {
	const info = useEditor((s) => s.info);
	const all = useWorkflows();
	if (!info || info.state === "draft") return null; // the other chip says so
	const { tone } = stateOf({ ...info, problemCount: 0 }, all.data?.off);
	const version = info.runningVersion!;
	return (
		<Chip tone={tone} title={info.noServers && noServerText(info.noServers)}>
			<Dot tone={tone} />
			{!info.enabled
				? t("stopped")
				: all.data?.off
					? t("paused: v{version}", { version })
					: info.mode === "shadow"
						? t("shadow: v{version}", { version })
						: t("active: v{version}", { version })}
		</Chip>
	);
}

// A button that says what is wrong, in the place of a chip.
const alarm =
	"inline-flex h-6 items-center gap-1.5 rounded-full bg-bad-soft px-2 font-medium text-bad text-xs [&_svg]:size-3";

/** NotSaved lists the fields whose texts are no part of the draft, and leads there. */
function NotSaved() {
	const draft = useEditor((s) => s.draft);
	const unread = useLate(useUnread()); // many can be read as soon as they are written
	if (unread.length === 0) return null;
	return (
		<Menu
			align="start"
			trigger={
				<button type="button" className={alarm}>
					<AlertTriangle />
					{tn(unread.length, "{n} field is not saved", "{n} fields are not saved")}
					<ChevronDown />
				</button>
			}
			items={[
				...unread.slice(0, 30).map((one) => ({ title: fieldOf(draft, one), onSelect: () => showUnread(one) })),
				"line",
				{ title: t("Discard what is written there"), danger: true, onSelect: () => discardUnread(draft.id) },
			]}
		/>
	);
}

/** Problems lists what keeps the draft from being enabled, and leads there. */
function Problems() {
	const problems = useEditor((s) => s.problems);
	const draft = useEditor((s) => s.draft);
	if (problems.length === 0) return null;
	return (
		<Menu
			align="start"
			trigger={
				<button type="button" className={alarm}>
					<AlertTriangle />
					{tn(problems.length, "{n} problem", "{n} problems")}
					<ChevronDown />
				</button>
			}
			items={problems.slice(0, 30).map((p, i) => ({
				title: `${i + 1}. ${saidOf(draft, p)}`,
				onSelect: () => showProblem(p),
			}))}
		/>
	);
}

/** Failing says that tests of the draft fail, and leads to them. */
function Failing({ onShow }: { onShow: () => void }) {
	const results = useEditor((s) => s.tests.results);
	if (!results?.failed) return null;
	return (
		<button type="button" onClick={onShow} className={alarm}>
			<FlaskConical />
			{tn(results.failed, "{n} test fails", "{n} tests fail")}
		</button>
	);
}

function Files() {
	const readOnly = useEditor((s) => s.readOnly !== null);
	const input = useRef<HTMLInputElement>(null);
	const [, go] = useLocation();
	const name = useEditor((s) => s.draft.name || s.id);
	const info = useEditor((s) => s.info);
	const isStored = useEditor((s) => s.base > 0);
	const [asking, ask] = useState(false);
	const take = async (file: File) => {
		const { name } = file;
		const isOpen = stillOpen();
		const read = await file
			.text()
			.then((text) => readDefinition(text) as Partial<Definition> & { workflows?: unknown[] })
			.catch(() => null);
		if (Array.isArray(read?.workflows))
			return complain(
				tn(
					read.workflows.length,
					"The file {name} has {n} workflow, which is imported on the page of the workflows.",
					"The file {name} has {n} workflows, which are imported on the page of the workflows.",
					{ name },
				),
			);
		if (!Array.isArray(read?.nodes) || !Array.isArray(read.edges))
			return complain(t("The file {name} is no workflow: it has no nodes and edges in JSON.", { name }));
		if (!isOpen()) return;
		const { draft } = editor();
		const taken = placed({ ...draft, ...read, id: draft.id, version: draft.version, enabled: draft.enabled });
		try {
			await check(taken);
		} catch (error) {
			return complain(t("{name}: {why}", { name, why: messageOf(error) }));
		}
		await save();
		if (!isOpen()) return;
		endSitting();
		edit(() => taken);
		select([]);
		say(t("The file is the draft now. Undo brings the old one back."));
	};
	return (
		<>
			<Menu
				trigger={
					<Button look="quiet">
						{t("File")}
						<ChevronDown />
					</Button>
				}
				items={[
					{ title: t("Export to a file"), icon: <Download />, onSelect: () => void download().catch(complain) },
					{
						title: t("Import a file into this draft"),
						icon: <FileUp />,
						disabled: readOnly,
						onSelect: () => input.current?.click(),
					},
					"line",
					{
						title: t("Delete this workflow"),
						icon: <Trash2 />,
						danger: true,
						disabled: readOnly || !isStored,
						onSelect: () => ask(true),
					},
				]}
			/>
			{asking && (
				<Delete
					workflow={{ ...info!, name }}
					onClose={() => ask(false)}
					onDone={() => {
						flushSync(discard); // of what is deleted, nothing is unsaved
						go("/workflows");
						dropUnread(editor().id);
						setEditor(useEditor.getInitialState());
					}}
				/>
			)}
			<input
				ref={input}
				type="file"
				accept=".json,application/json"
				aria-label={t("Import a file into this draft")}
				hidden
				onChange={(event) => {
					const file = event.target.files?.[0];
					event.target.value = "";
					if (file) void take(file);
				}}
			/>
		</>
	);
}

/** download saves the draft, with the tests of the workflow, as a file. */
async function download(): Promise<void> {
	await save(true);
	const { id, draft } = editor();
	const { data } = await api.GET("/v1/workflows/{id}/export", { params: { path: { id } }, parseAs: "text" });
	const link = document.createElement("a");
	link.href = URL.createObjectURL(
		new Blob([`${JSON.stringify(parseExact(data!), null, 2)}\n`], { type: "application/json" }),
	);
	link.download = `${(draft.name || id).replace(/[\\/:*?"<>|\s]+/g, "-")}.json`;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
