import { lazy, type ReactNode, Suspense, useState } from "react";
import { Link } from "wouter";
import { query } from "@/api/client";
import { between, t } from "@/lang";
import { aboutStep } from "@/lang/terms";
import { Button, Field, Rich, Select } from "@/ui";
import { blank, type Schema } from "@/ui/schema";
import { SchemaForm } from "@/ui/schemaform";
import { behindCall, type Hook, hookOf, type Node, withHook } from "../definition";
import { isDetached } from "../kinds";
import { hookFrom } from "../menu";
import { edit, editNode, nameOf, type Problem, replayOf, useEditor } from "../store";
import { useTemplate } from "../template";
import { unreadOf, useUnread } from "../unread";
import { Exits } from "./exits";
import { JsonField, NodeName, OnError, set } from "./parts";

const Code = lazy(() => import("../code").then((module) => ({ default: module.Code })));

export function HookSettings({ node, problems }: { node: Node; problems: Problem[] }) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	const step = useEditor((s) => replayOf(s)?.steps[node.id]);
	const modules = query.useQuery("get", "/v1/hook-modules");
	const templates = query.useQuery("get", "/v1/workflow-templates");
	const type = useEditor((s) => s.draft.workflowType);
	const hook = hookOf(node);
	const behind = useEditor((s) => behindCall(s.draft, node.id));
	const [wanted, setMore] = useState(false);
	const ofParams = useUnread().some(({ step, path }) => step === node.id && path === "hook.params");
	// A template's script that nobody has changed is a form, too, until the script is asked for.
	const [asScript, setAsScript] = useState(false);
	const made = useTemplate(node);
	const template = hook.template || !asScript ? made : undefined;
	const mustWait = template?.hook?.blocking;
	const put = (change: Partial<Hook>, group = "") =>
		editNode(
			node.id,
			(data) => ({ ...data, hook: { ...((data.hook ?? {}) as Hook), ...change } }),
			group && `${group} ${node.id}`,
		);
	const marks = problems.filter((p) => p.line).map((p) => ({ line: p.line!, column: p.column, message: p.reason }));
	if (marks.length === 0 && step?.line && step.error)
		marks.push({ line: step.line, column: step.column, message: step.error });
	const usesModule = hook.module !== undefined;
	const more = wanted || (ofParams && !usesModule && !template);
	const putParams = (params: unknown) =>
		editNode(
			node.id,
			(data) => ({ ...data, hook: set((data.hook ?? {}) as Record<string, unknown>, "params", params) }),
			`params ${node.id}`,
		);
	return (
		<div className="relative flex min-h-0 flex-1 flex-col overflow-y-auto">
			<div className="flex shrink-0 flex-wrap items-center gap-2 border-line border-b px-4 py-2">
				<NodeName node={node} aria-label={t("Name")} className="flex-1 basis-24" />
				<Select
					aria-label={t("Whether the call waits")}
					disabled={readOnly || (mustWait && hook.blocking)}
					title={
						mustWait
							? t("The call waits for this step. Otherwise the step could neither change nor refuse it.")
							: undefined
					}
					value={hook.blocking ? "wait" : "beside"}
					onChange={(event) => {
						const blocking = event.target.value === "wait";
						edit((draft) => withHook(draft, node.id, { ...hook, blocking }));
					}}
				>
					<option value="wait">{t("the call waits for it")}</option>
					{!(mustWait && hook.blocking) && <option value="beside">{t("the call does not wait")}</option>}
				</Select>
				<Button look="quiet" size="small" aria-expanded={more} onClick={() => setMore(!more)}>
					{t("More settings")}
				</Button>
				{more && (
					<div className="grid w-full gap-2">
						<Field label={t("Which script")}>
							<Select
								disabled={readOnly}
								value={hook.module ? `module ${hook.module}` : template ? `template ${template.id}` : ""}
								onChange={(event) => {
									const [from, id] = event.target.value.split(" ");
									setAsScript(from === "");
									const chosen = templates.data?.templates.find((one) => from === "template" && one.id === id);
									if (chosen) {
										const { module: _, template: __, script: ___, ...others } = hook;
										edit((draft) => withHook(draft, node.id, { ...others, ...hookFrom(chosen) }));
										return;
									}
									editNode(node.id, (data) => {
										const { module: _, template: __, ...rest } = (data.hook ?? {}) as Hook;
										if (from !== "module") return { ...data, hook: { script: template?.hook?.script ?? "", ...rest } };
										const schema = modules.data?.hookModules.find((m) => m.id === id)?.params as Schema | undefined;
										const params = rest.params ?? (schema && blank(schema));
										return { ...data, hook: { ...rest, module: id, ...(params !== undefined && { params }) } };
									});
								}}
							>
								<option value="">{t("own script")}</option>
								{templates.data?.templates
									.filter((one) => one.id === template?.id || one.hook?.workflowTypes.includes(type))
									.map((one) => (
										<option key={one.id} value={`template ${one.id}`}>
											{one.title}
										</option>
									))}
								{usesModule && !modules.data?.hookModules.some((m) => m.id === hook.module) && (
									<option value={`module ${hook.module}`}>{hook.module}</option>
								)}
								{modules.data?.hookModules.map((m) => (
									<option key={m.id} value={`module ${m.id}`}>
										{m.id}
									</option>
								))}
							</Select>
						</Field>
						{!isDetached(node) && <OnError node={node} />}
						<Exits node={node} />
						{!usesModule && !template && (
							<JsonField
								label={t("Parameters (params) as JSON")}
								path="hook.params"
								step={node.id}
								value={hook.params}
								onChange={putParams}
							/>
						)}
					</div>
				)}
			</div>
			<div className="flex min-h-40 flex-1 flex-col">
				{usesModule ? (
					<ModuleParams
						key={hook.module}
						reference={hook.module!}
						step={node.id}
						value={hook.params}
						onChange={putParams}
					/>
				) : template ? (
					<Params
						about={aboutStep(template, type)}
						schema={template.params as Schema}
						step={node.id}
						value={hook.params}
						onChange={putParams}
					/>
				) : hook.template ? null : (
					<Suspense fallback={null}>
						<p className="px-4 pt-2 text-muted text-xs">
							{behind
								? t("Runs after the call: ctx.response is its answer.")
								: t(
										"Runs before the call: there is no ctx.response yet. To change answers, drag it onto the edge after the call.",
									)}
						</p>
						<div className="min-h-0 flex-1">
							<Code
								key={`${node.id} ${behind}`} // the hint is read once
								label={t("Script of {name}", { name: nameOf(node) })}
								hint={
									isDetached(node)
										? "console.log(ctx.request.params.name);"
										: behind
											? "// mapText(ctx.response, (text) => text.trim());"
											: '// if (/drop/i.test(ctx.request.params.arguments.sql))\n//   return { action: "deny", reason: "…" };'
								}
								value={hook.script ?? ""}
								onChange={(script) => put({ script }, "script")}
								marks={marks}
								readOnly={readOnly}
							/>
						</div>
					</Suspense>
				)}
			</div>
		</div>
	);
}

/** ModuleParams are the params that a hook gives to a module: a form, if the module says
 * which it takes. */
function ModuleParams({
	reference,
	...given
}: {
	reference: string;
	step: string;
	value: unknown;
	onChange: (params: unknown) => void;
}) {
	const [id, version] = reference.split("@");
	const module = query.useQuery(
		"get",
		"/v1/hook-modules/{id}",
		{ params: { path: { id: id! }, query: { version: Number(version) || undefined } } },
		{ retry: false },
	);
	if (module.isLoading) return null;
	const name = (
		<Link
			href={`/modules/${encodeURIComponent(id!)}${version ? `?version=${version}` : ""}`}
			className="text-accent underline"
		>
			{reference}
		</Link>
	);
	return (
		<Params
			about={
				<>
					{module.data?.description && module.data.description + between()}
					<Rich
						text={t("The script is the shared module {name}. A change to it reaches all workflows that use it.")}
						values={{ name }}
					/>
				</>
			}
			schema={module.data?.params as Schema | undefined}
			{...given}
		/>
	);
}

/** Params are those of a hook, as a form if there is a schema of them. */
function Params({
	about,
	schema,
	step,
	value,
	onChange,
}: {
	about: ReactNode;
	schema?: Schema;
	step: string;
	value: unknown;
	onChange: (params: unknown) => void;
}) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	const workflow = useEditor((s) => s.id);
	return (
		<div className="relative flex h-full flex-col gap-3 overflow-y-auto p-4">
			<p className="text-muted">{about}</p>
			{schema ? (
				<fieldset disabled={readOnly} aria-label={t("Parameters")}>
					<SchemaForm
						schema={schema}
						value={value ?? {}}
						onChange={onChange}
						keep={unreadOf(workflow, step, "hook.params")}
					/>
				</fieldset>
			) : (
				<JsonField
					label={t("Parameters (params) as JSON")}
					path="hook.params"
					step={step}
					value={value}
					onChange={onChange}
				/>
			)}
		</div>
	);
}
