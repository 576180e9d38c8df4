import { Ban, Trash2 } from "lucide-react";
import { lazy, Suspense, useCallback, useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { Failure, queries, query, refresh, type S } from "@/api/client";
import { ended, t } from "@/lang";
import { useAddress } from "@/shell/address";
import { useSession } from "@/shell/session";
import {
	Button,
	Cap,
	Card,
	Confirm,
	complain,
	composing,
	cx,
	Dialog,
	Empty,
	Field,
	Input,
	Loaded,
	Page,
	Problem,
	Select,
	say,
	TextArea,
} from "@/ui";
import { fieldErrors, isAtFields, jsonOf, useShowWrong } from "@/ui/schemaform";
import { useUnsaved } from "@/ui/unsaved";
import { useWorkflowName } from "../calls/words";
import { newModule } from ".";

const Code = lazy(() => import("../workflow/code").then((module) => ({ default: module.Code })));

const crumb = () => ({ title: t("Hook modules"), href: "/modules" });

/** Module shows a hook module, or an older version of it, and changes it. */
export default function Module() {
	const { id } = useParams<{ id: string }>();
	const { admin } = useSession();
	const [address] = useAddress();
	const version = Number(address.get("version")) || undefined;
	const isNew = newModule.endsWith(`/${id}`);
	const enabled = admin && !isNew;
	const newest = query.useQuery("get", "/v1/hook-modules/{id}", { params: { path: { id } } }, { enabled });
	const old = query.useQuery(
		"get",
		"/v1/hook-modules/{id}",
		{ params: { path: { id }, query: { version } } },
		{ enabled: enabled && version !== undefined },
	);
	if (isNew && admin) return <Form />;
	const shown = version === undefined ? newest : old;
	if (newest.data && shown.data) return <Form key={version} newest={newest.data} shown={shown.data} />;
	return (
		<Page title={id} crumb={crumb()}>
			{admin ? (
				<Loaded query={newest.error ? newest : shown}>{() => null}</Loaded>
			) : (
				<Empty icon={<Ban />} title={t("Only an administrator sees this.")} />
			)}
		</Page>
	);
}

type Texts = Record<"id" | "description" | "script" | "params", string>;

const textsOf = (module?: S["HookModule"]): Texts => ({
	id: module?.id ?? "",
	description: module?.description ?? "",
	script: module?.script ?? "",
	params: module?.params === undefined ? "" : JSON.stringify(module.params, null, 2),
});

type Draft = { base?: number; texts: Partial<Texts> };

/** draftOf is what of the texts is not in others; undefined if that is nothing. */
function draftOf(base: number | undefined, texts: Partial<Texts>, others: Partial<Texts>): Draft | undefined {
	const left = Object.entries(texts).filter(([key, text]) => text !== others[key as keyof Texts]);
	return left.length > 0 ? { base, texts: Object.fromEntries(left) } : undefined;
}

type Place = { line: number; column: number };

/** placeIn is where the script is wrong; undefined if it is missing, for example. */
function placeIn(error: unknown): Place | undefined {
	if (!(error instanceof Failure) || !Array.isArray(error.details)) return;
	const { params } =
		(error.details as { field: string; params?: Partial<Place> }[]).find((one) => one.field === "script") ?? {};
	return params?.line === undefined ? undefined : (params as Place);
}

function Form({ newest, shown }: { newest?: S["HookModule"]; shown?: S["HookModule"] }) {
	const [, go] = useLocation();
	const [, setAddress] = useAddress();
	const put = query.useMutation("put", "/v1/hook-modules/{id}");
	const [asking, ask] = useState(false);
	// What is written, and the version that was the newest then: the API refuses to write over
	// a later one.
	const [draft, setDraft] = useState<Draft>();
	const stored = textsOf(shown);
	const texts = { ...stored, ...draft?.texts };
	const changed = Object.keys(texts).some((key) => texts[key as keyof Texts] !== stored[key as keyof Texts]);
	const isOld = shown?.version !== newest?.version;
	const base = draft?.base ?? newest?.version;
	const discard = useCallback(() => setDraft(undefined), []);
	useUnsaved(changed, discard);
	// What was wrong stands at a field until that is changed.
	const [mended, mend] = useState<string[]>([]);
	const set = (field: keyof Texts) => (text: string) => {
		setDraft(draftOf(base, { ...draft?.texts, [field]: text }, put.isPending ? {} : stored));
		mend([...mended, field]);
	};
	const params = jsonOf(texts.params);
	const wrong = fieldErrors(put.error);
	for (const field of mended) delete wrong[field];
	const place = wrong.script ? placeIn(put.error) : undefined;
	const around = useShowWrong(put.error);
	const path = { id: texts.id.trim() };
	const save = () => {
		if (params.wrong || !path.id) return;
		mend([]);
		put.mutate(
			{
				params: { path, query: { base: base || undefined } },
				body: { description: texts.description, script: texts.script, params: params.value },
			},
			{
				onSuccess: (module) => {
					queries.setQueryData(["get", "/v1/hook-modules/{id}", { params: { path } }], module);
					refresh("/v1/hook-modules");
					setDraft((now) => draftOf(module.version, now?.texts ?? {}, draft?.texts ?? {})); // what was typed meanwhile
					say(t("“{name}” is saved as v{version}.", { name: module.id, version: module.version }));
					setTimeout(() => go(`/modules/${encodeURIComponent(module.id)}`, { replace: true })); // when the draft is gone
				},
			},
		);
	};
	return (
		<Page
			title={newest?.id ?? t("New hook module")}
			crumb={crumb()}
			beside={
				newest &&
				newest.version > 1 && (
					<Select
						aria-label={t("Version")}
						disabled={changed}
						title={changed ? t("Save or discard your changes first.") : undefined}
						value={shown!.version}
						onChange={({ target: { value } }) =>
							setAddress(Number(value) === newest.version ? {} : { version: value }, { replace: true })
						}
					>
						{Array.from({ length: newest.version }, (_, i) => newest.version - i).map((n) => (
							<option key={n} value={n}>
								{n === newest.version ? t("v{n}, the newest", { n }) : `v${n}`}
							</option>
						))}
					</Select>
				)
			}
			actions={
				<>
					{newest && (
						<Button look="danger" onClick={() => ask(true)}>
							<Trash2 />
							{t("Delete")}
						</Button>
					)}
					{changed && newest && (
						<Button
							onClick={() => {
								put.reset();
								discard();
							}}
						>
							{t("Discard")}
						</Button>
					)}
					<Button
						look="primary"
						busy={put.isPending}
						disabled={!path.id || Boolean(params.wrong) || (!changed && !isOld)}
						onClick={save}
						aria-keyshortcuts="Control+S Meta+S"
					>
						{isOld ? t("Save as the newest version") : t("Save")}
					</Button>
				</>
			}
		>
			<div
				ref={around}
				role="form"
				aria-label={newest?.id ?? t("New hook module")}
				inert={put.isPending && (!newest || isOld)} // its page follows, without what is typed meanwhile
				className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_340px]"
				onKeyDown={(event) => {
					if (event.key.toLowerCase() !== "s" || !(event.metaKey || event.ctrlKey) || composing(event)) return;
					event.preventDefault();
					if (!put.isPending && (changed || isOld)) save();
				}}
			>
				<div className="flex flex-col gap-3 lg:col-span-2 empty:hidden">
					{put.error && !isAtFields(put.error, Object.keys(texts)) && <Problem error={put.error} />}
					{draft && !put.isPending && newest && base !== newest.version && (
						<p role="status" className="rounded-lg bg-warn-soft px-4 py-3 text-warn">
							{t(
								"Somebody has saved v{n} since you began. Copy what you have written, discard it, and write it into v{n}.",
								{ n: newest.version },
							)}
						</p>
					)}
				</div>
				<Card className="flex min-w-0 flex-col self-start overflow-hidden" data-wrong={wrong.script ? "" : undefined}>
					<Cap>{t("Script")}</Cap>
					{wrong.script && (
						<p role="alert" className="border-line border-b bg-bad-soft px-4 py-2 text-bad text-xs">
							{place
								? t("Line {line}, column {column}: {why}", { ...place, why: ended(wrong.script) })
								: ended(wrong.script)}
						</p>
					)}
					<div className="h-[max(320px,calc(100dvh-190px))] max-lg:h-[50dvh]">
						<Suspense fallback={null}>
							<Code
								label={t("Script")}
								hint={
									'// if (ctx.request.params.arguments.text === params.word)\n//   return { action: "deny", reason: "…" };'
								}
								value={texts.script}
								onChange={set("script")}
								marks={place ? [{ ...place, message: wrong.script! }] : []}
								ownHistory
							/>
						</Suspense>
					</div>
				</Card>
				<div className={cx("flex min-w-0 flex-col gap-4", !newest && "max-lg:order-first")}>
					{!newest && (
						<Field
							label={t("Name")}
							needed={!texts.id.trim() || "filled"}
							error={wrong.id}
							hint={t("Hooks refer to it. It cannot be changed later.")}
						>
							<Input autoFocus value={texts.id} onChange={(event) => set("id")(event.target.value)} />
						</Field>
					)}
					<Field label={t("Description")} error={wrong.description}>
						<TextArea rows={2} value={texts.description} onChange={(event) => set("description")(event.target.value)} />
					</Field>
					<Field
						label={t("Parameters as a JSON Schema")}
						error={params.wrong ?? wrong.params}
						hint={t("Each hook that uses the module fills in a form of these. The script has the values in params.")}
					>
						<TextArea
							rows={10}
							spellCheck={false}
							className="font-mono text-[12.5px]"
							placeholder={'{\n  "properties": {\n    "word": { "type": "string" }\n  }\n}'}
							value={texts.params}
							onChange={(event) => set("params")(event.target.value)}
						/>
					</Field>
					{newest && (
						<section>
							<h2 className="mb-1 font-medium text-muted text-xs">{t("Used by")}</h2>
							{newest.workflows.length > 0 ? (
								<Users of={newest} />
							) : (
								<p className="text-muted">
									{t("No workflow uses it yet. In the editor of a workflow, add a step and choose it by its name.")}
								</p>
							)}
						</section>
					)}
				</div>
			</div>
			{asking && <Delete module={newest!} onDone={discard} onClose={() => ask(false)} />}
		</Page>
	);
}

function Users({ of }: { of: S["HookModule"] }) {
	const nameOf = useWorkflowName();
	return (
		<ul className="flex flex-col gap-1">
			{of.workflows.map((id) => (
				<li key={id}>
					<Link href={`/workflows/${encodeURIComponent(id)}`} className="text-accent hover:underline">
						{nameOf(id)}
					</Link>
				</li>
			))}
		</ul>
	);
}

/** Delete asks whether to delete a module, and does it. One that is used stays, and the
 * workflows that use it are named. */
function Delete({ module, onDone, onClose }: { module: S["HookModule"]; onDone: () => void; onClose: () => void }) {
	const [, go] = useLocation();
	const remove = query.useMutation("delete", "/v1/hook-modules/{id}", { onError: complain });
	const { id: name } = module;
	if (module.workflows.length > 0)
		return (
			<Dialog
				title={t("“{name}” is in use", { name })}
				onClose={onClose}
				actions={<Button onClick={onClose}>{t("Close")}</Button>}
			>
				<p className="mb-3">
					{t(
						"It can be deleted once no workflow uses it. Choose another script in the hooks of these workflows first:",
					)}
				</p>
				<Users of={module} />
			</Dialog>
		);
	return (
		<Confirm
			title={t("Delete the hook module “{name}”?", { name })}
			action={t("Delete")}
			danger
			busy={remove.isPending}
			onClose={onClose}
			onConfirm={() =>
				remove.mutate(
					{ params: { path: { id: name } } },
					{
						onSuccess: () => {
							say(t("The hook module “{name}” is deleted.", { name }));
							onDone();
							setTimeout(() => {
								go("/modules"); // when the draft is gone
								refresh("/v1/hook-modules");
								queries.removeQueries({ queryKey: ["get", "/v1/hook-modules/{id}"] });
							});
						},
					},
				)
			}
		>
			{t("No workflow uses it. All its versions go with it.")}
		</Confirm>
	);
}
