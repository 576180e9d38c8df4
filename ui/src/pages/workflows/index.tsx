import { useMutationState } from "@tanstack/react-query";
import { Download, Ellipsis, Plus, Power, Trash2, Upload, Workflow as WorkflowIcon } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { drawn, query, refresh, root, type S } from "@/api/client";
import { soon, useEvents } from "@/api/events";
import { parseExact } from "@/api/exact";
import { ago, list, t, tn, whole } from "@/lang";
import { aroundWord, whyNoJSON } from "@/lang/terms";
import { useAddress, useGo } from "@/shell/address";
import { useSession, useWorkflows } from "@/shell/session";
import { useSwitch } from "@/shell/switch";
import {
	Button,
	Chip,
	type Column,
	Confirm,
	complain,
	Dialog,
	Dot,
	Empty,
	Input,
	LinkButton,
	List,
	Loaded,
	Menu,
	messageOf,
	Page,
	SearchBox,
	Switch,
	say,
} from "@/ui";
import { useWorkflowName } from "../calls/words";
import {
	ClientNames,
	enabledText,
	ForAdministrators,
	matchText,
	noServer,
	noServerText,
	runsText,
	stateOf,
} from "./around";
import { Delete } from "./delete";
import { Gallery } from "./gallery";
import { useStop } from "./stop";

/** Workflows lists what happens around calls, in the order in which it happens. */
export default function Workflows() {
	const go = useGo();
	const [params, setParams] = useAddress();
	const { admin } = useSession();
	const tool = params.get("tool") ?? "";
	const client = params.get("client") ?? "";
	const asked = { ...(tool && { tool }), ...(client && { client }) };
	const workflows = useWorkflows();
	const nameOf = useWorkflowName();
	useEvents(({ name }) => name === "workflow.run" && soon("/v1/workflows")); // which tells how many runs there were
	const applying = query.useQuery(
		"get",
		"/v1/workflows",
		{ params: { query: asked } },
		{
			enabled: admin && Boolean(tool || client),
			retry: false,
			placeholderData: (before: S["WorkflowList"] | undefined) => before,
		},
	);
	const tools = query.useQuery("get", "/v1/tools", { params: { query: { limit: 100 } } }, { enabled: admin });
	const enable = query.useMutation("post", "/v1/workflows/{id}/enable", {
		onSuccess: (workflow) => say(enabledText(workflow, workflows.data?.off)),
		onError: complain,
		onSettled: () => refresh("/v1/workflows", "/v1/workflows/{id}"),
	});
	const enabling = useMutationState({
		filters: { mutationKey: ["post", "/v1/workflows/{id}/enable"], status: "pending" },
		select: ({ state }) => (state.variables as { params: { path: { id: string } } }).params.path.id,
	});
	const [selected, select] = useState<string>();
	const [deleting, askDelete] = useState<S["Workflow"]>();
	const file = useRef<HTMLInputElement>(null);
	const bring = query.useMutation("post", "/v1/workflows/import");
	const text = params.get("text") ?? "";
	const open = (id: string) => go(`/workflows/${encodeURIComponent(id)}`);
	const set = (name: string, value: string | null) =>
		setParams(
			(old) => {
				if (value) old.set(name, value);
				else old.delete(name);
				return old;
			},
			{ replace: true },
		);

	const { stop, question } = useStop();
	const goOn = ({ id, stoppedVersion }: S["Workflow"]) =>
		enable.mutate({ params: { path: { id } }, body: { version: stoppedVersion } });
	// What enabling a draft would do is told in the editor.
	const flip = (workflow: S["Workflow"], on: boolean) => {
		if (on && ranBefore(workflow)) goOn(workflow);
		else if (on) go(`/workflows/${encodeURIComponent(workflow.id)}?panel=enable`);
		else stop(workflow.id);
	};
	/** What of an import did not go well. */
	const [failed, setFailed] = useState<string[]>([]);
	const [imported, setImported] = useState(false);
	const read = async (files: File[]) => {
		const done: S["ImportedWorkflow"][] = [];
		const wrong: string[] = [];
		for (const { name, text } of files.map((file) => ({ name: file.name, text: file.text() }))) {
			try {
				done.push(...(await bring.mutateAsync({ body: parseExact(await text) as never })).workflows);
			} catch (error) {
				wrong.push(
					error instanceof SyntaxError
						? t("{name} is not JSON: {why}", { name, why: whyNoJSON(error) })
						: t("{name}: {why}", { name, why: messageOf(error) }),
				);
			}
		}
		const by = (status: string) => done.filter((workflow) => workflow.status === status);
		const [added, changed, same] = [by("added"), by("changed"), by("unchanged")];
		for (const { id, problemCount } of [...added, ...changed])
			if (problemCount > 0)
				wrong.push(
					tn(
						problemCount,
						"“{name}” has {n} problem, and cannot be enabled before that is mended. Open it to see which.",
						"“{name}” has {n} problems, and cannot be enabled before they are mended. Open it to see which.",
						{ name: id },
					),
				);
		setFailed(wrong);
		setImported(done.length > 0);
		if (added.length > 0)
			say(tn(added.length, "{n} workflow is imported, as a draft.", "{n} workflows are imported, as drafts."));
		const [first, ...more] = changed;
		if (first && more.length === 0)
			say(
				t("“{name}” was there already. The file is its draft now, v{version}; what runs stays.", {
					name: nameOf(first.id),
					version: first.version,
				}),
			);
		else if (first)
			say(
				t("{names} were there already. The files are their drafts now; what runs stays.", {
					names: list(changed.map(({ id }) => nameOf(id))),
				}),
			);
		if (same.length > 0)
			say(
				tn(
					same.length,
					"{n} workflow is already as in the file. Nothing has changed.",
					"{n} workflows are already as in the file. Nothing has changed.",
				),
			);
		refresh("/v1/workflows");
	};
	if (!admin) return <ForAdministrators />;

	const state = (workflow: S["Workflow"]) => {
		const { tone, word } = stateOf(workflow, workflows.data?.off ?? false);
		return (
			<span className="flex items-center gap-2">
				<Dot tone={tone} />
				{word}
			</span>
		);
	};
	const columns: Column<S["Workflow"]>[] = [
		{ id: "state", title: t("State"), width: "176px", wide: true, cell: state },
		{
			id: "name",
			title: t("Name"),
			width: "minmax(0,1fr)",
			cell: (workflow) => (
				<>
					<b title={workflow.name} className="font-medium max-md:line-clamp-2 max-md:whitespace-normal">
						{workflow.name}
					</b>
					{workflow.description && <span className="ml-2 text-muted max-md:hidden">{workflow.description}</span>}
					<div className="line text-muted text-xs max-md:hidden">
						{workflow.noServers ? (
							<span className="text-warn" title={noServerText(workflow.noServers)}>
								{noServer(workflow.noServers)}
							</span>
						) : (
							<span title={t("Runs since it was enabled, or since Genkan started.")}>
								{[matchText(workflow), runsText(workflow)].filter(Boolean).join(" · ")}
							</span>
						)}
					</div>
					<div className="text-muted text-xs md:hidden">{state(workflow)}</div>
				</>
			),
		},
		{
			id: "around",
			title: t("Around"),
			width: "136px",
			wide: true,
			cell: (workflow) => (
				<span data-term className="text-muted" title={workflow.workflowType}>
					{aroundWord(workflow.workflowType)}
				</span>
			),
		},
		{
			id: "version",
			title: t("Version"),
			width: "132px",
			wide: true,
			cell: ({ runningVersion, stoppedVersion, newestVersion, drafted }) => {
				const enabled = runningVersion ?? stoppedVersion;
				return (
					<span className="text-muted">
						{[enabled && `v${enabled}`, drafted && t("draft v{n}", { n: newestVersion })].filter(Boolean).join(" · ")}
					</span>
				);
			},
		},
		{
			id: "changed",
			title: t("Changed"),
			width: "92px",
			right: true,
			wide: true,
			cell: (workflow) => (
				<span className="text-muted" title={whole(workflow.updatedAt)}>
					{ago(workflow.updatedAt)}
				</span>
			),
		},
		{
			id: "switch",
			title: <span className="sr-only">{t("On or off")}</span>,
			width: "64px",
			right: true,
			cell: (workflow) => (
				<Switch
					on={workflow.enabled}
					disabled={!workflow.enabled && workflow.problemCount > 0}
					busy={enabling.includes(workflow.id)}
					label={
						workflow.enabled
							? t("Stop “{name}”", { name: workflow.name })
							: t("Enable “{name}”", { name: workflow.name })
					}
					title={
						workflow.enabled || ranBefore(workflow)
							? undefined
							: t("Enable “{name}” in the editor, which shows what that would do", { name: workflow.name })
					}
					onChange={(on) => flip(workflow, on)}
				/>
			),
		},
		{
			id: "more",
			title: <span className="sr-only">{t("More")}</span>,
			width: "52px",
			right: true,
			cell: (workflow) => (
				<Menu
					trigger={
						<Button look="quiet" size="iconSmall" aria-label={t("More about {name}", { name: workflow.name })}>
							<Ellipsis />
						</Button>
					}
					items={[
						{ title: t("Open"), onSelect: () => open(workflow.id) },
						{
							title: t("Delete"),
							icon: <Trash2 />,
							danger: true,
							disabled: workflow.source === "file",
							onSelect: () => askDelete(workflow),
						},
					]}
				/>
			),
		},
	];

	return (
		<Page
			title={t("Workflows")}
			beside={
				<>
					<LinkButton look="quiet" href="/modules" title={t("Scripts that several workflows share")}>
						{t("Hook modules")}
					</LinkButton>
					{workflows.data?.off && <Chip tone="bad">{t("All workflows are off")}</Chip>}
				</>
			}
			actions={
				<>
					<KillSwitch off={workflows.data?.off ?? false} workflows={drawn(workflows.data)} />
					<Button onClick={() => file.current?.click()} busy={bring.isPending}>
						<Upload />
						{t("Import")}
					</Button>
					<a
						href={new URL("v1/workflows/export", root).href}
						download="workflows.json"
						className="inline-flex h-8 items-center gap-2 rounded-md border border-line-strong bg-surface px-3 font-medium text-sm hover:bg-sunken [&_svg]:size-4"
					>
						<Download />
						{t("Export")}
					</a>
					<Button onClick={() => set("template", "all")}>{t("From a template")}</Button>
					<Button look="primary" onClick={() => open("new")}>
						<Plus />
						{t("New workflow")}
					</Button>
					<input
						ref={file}
						type="file"
						accept=".json,application/json"
						multiple
						hidden
						onChange={(event) => {
							const files = [...(event.target.files ?? [])]; // the list itself is emptied
							event.target.value = "";
							void read(files);
						}}
					/>
				</>
			}
		>
			<Loaded query={workflows}>
				{(data) => {
					if (drawn(data).length === 0)
						return (
							<>
								<Empty icon={<WorkflowIcon />} title={t("Decide what happens around a tool call")}>
									{t(
										"Redact, block, rewrite, answer or ask a person first. A workflow runs around a call; it never starts by itself. For schedules use cron and genkan call, or n8n.",
									)}
								</Empty>
								<Gallery onMade={open} />
							</>
						);
					const listed = drawn(tool || client ? applying.data : data);
					const shown = listed.filter((workflow) =>
						`${workflow.name} ${workflow.id} ${workflow.description ?? ""}`.toLowerCase().includes(text.toLowerCase()),
					);
					return (
						<>
							<div className="mb-2 flex flex-wrap items-center gap-2">
								<SearchBox
									className="w-full sm:w-64"
									label={t("Filter by name")}
									value={text}
									onChange={(value) => set("text", value)}
								/>
								<span className="text-muted text-sm max-sm:w-full sm:ml-1">{t("Only those that run for")}</span>
								<Written
									label={t("the tool")}
									list="workflows-tools"
									value={tool}
									onChange={(value) => set("tool", value)}
								/>
								<Written
									label={t("the client")}
									list="workflows-clients"
									value={client}
									onChange={(value) => set("client", value)}
								/>
								<datalist id="workflows-tools">
									{tools.data?.tools.map((one) => (
										<option key={one.name} value={one.name} />
									))}
								</datalist>
								<ClientNames id="workflows-clients" />
								{applying.error && (tool || client) && (
									<span role="alert" className="text-bad text-sm">
										{messageOf(applying.error)}
									</span>
								)}
							</div>
							<List
								label={t("Workflows")}
								rows={shown}
								columns={columns}
								row={54}
								narrowRow={72}
								rowKey={(workflow) => workflow.id}
								selected={selected}
								onSelect={select}
								href={({ id }) => `/workflows/${encodeURIComponent(id)}`}
								height="calc(100dvh - 180px)"
								empty={<p className="px-4 py-8 text-center text-muted">{t("No workflow matches.")}</p>}
							/>
							<p className="mt-2 text-faint text-xs">
								{t(
									"A call passes through them from top to bottom, its answer from bottom to top. “Order” in the settings of a workflow changes its place.",
								)}{" "}
								{drawn(data).length < data.workflows.length && (
									<>
										{t("Limits of tokens are set under")}{" "}
										<Link href="/clients" className="underline">
											{t("Clients")}
										</Link>
									</>
								)}
							</p>
						</>
					);
				}}
			</Loaded>
			{question}
			{failed.length > 0 && (
				<Dialog
					title={imported ? t("Not all could be imported") : t("Nothing was imported")}
					onClose={() => setFailed([])}
				>
					<ul className="flex list-disc flex-col gap-1 pl-5">
						{failed.map((text) => (
							<li key={text}>{text}</li>
						))}
					</ul>
				</Dialog>
			)}
			{deleting && (
				<Delete workflow={deleting} onClose={() => askDelete(undefined)} onDone={() => askDelete(undefined)} />
			)}
			{params.get("template") && (
				<Gallery
					asked={params.get("template") === "all" ? undefined : params.get("template")!}
					onMade={open}
					onClose={() => set("template", null)}
				/>
			)}
		</Page>
	);
}

/** ranBefore tells whether switching a workflow on makes run again what ran before: it has no
 * newer draft. */
const ranBefore = ({ stoppedVersion, newestVersion, problemCount }: S["Workflow"]): boolean =>
	stoppedVersion === newestVersion && problemCount === 0;

/** Written is a text that counts when it is chosen or left, not while it is written. */
function Written({
	label,
	list,
	value,
	onChange,
}: {
	label: string;
	list: string;
	value: string;
	onChange: (value: string | null) => void;
}) {
	const [text, setText] = useState(value);
	useEffect(() => setText(value), [value]);
	const settle = (to: string) => to.trim() !== value && onChange(to.trim() || null);
	return (
		<Input
			aria-label={label}
			placeholder={label}
			list={list}
			value={text}
			className="w-44! max-sm:w-auto! max-sm:min-w-0 max-sm:flex-1"
			onChange={(event) => {
				setText(event.target.value);
				// Choosing from the list is no typing.
				if (!(event.nativeEvent as InputEvent).inputType || event.target.value === "") settle(event.target.value);
			}}
			onBlur={() => settle(text)}
			onEnter={() => settle(text)}
		/>
	);
}

/** KillSwitch turns all workflows off at once, which is asked about, and on again, which is
 * safe: then it says what is in force. */
function KillSwitch({ off, workflows }: { off: boolean; workflows: S["Workflow"][] }) {
	const [asking, ask] = useState(false);
	const { turn, busy } = useSwitch(workflows);
	if (off)
		return (
			<Button busy={busy} onClick={() => turn(true)}>
				<Power />
				{t("Turn them on")}
			</Button>
		);
	return (
		<>
			<Button
				look="danger"
				disabled={workflows.length === 0}
				title={t("Turns all workflows off at once, until you turn them on again")}
				onClick={() => ask(true)}
			>
				<Power />
				{t("Kill switch")}
			</Button>
			{asking && (
				<Confirm
					title={t("Turn all workflows off?")}
					action={t("Turn them off")}
					danger
					busy={busy}
					onClose={() => ask(false)}
					onConfirm={() => turn(false, () => ask(false))}
				>
					{t(
						"Calls pass as if there were none: nothing is redacted, denied or hidden, until you turn them on again. Limits of tokens stay. Runs that have begun go on.",
					)}
				</Confirm>
			)}
		</>
	);
}
