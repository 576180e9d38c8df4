import { Ban, FileCode2, Plus } from "lucide-react";
import { useState } from "react";
import { query, type S } from "@/api/client";
import { ago, list, t, whole } from "@/lang";
import { useSession } from "@/shell/session";
import { type Column, Empty, LinkButton, List, Loaded, Page } from "@/ui";
import { useWorkflowName } from "../calls/words";

/** newModule is the address of a module that is not stored yet. No module can have its
 * name. */
export const newModule = "/modules/@new";

const New = () => (
	<LinkButton look="primary" href={newModule}>
		<Plus />
		{t("New hook module")}
	</LinkButton>
);

const paramsOf = ({ params }: S["HookModule"]): string =>
	list(Object.keys((params as { properties?: object } | undefined)?.properties ?? {}));

/** Modules lists the scripts that several workflows share. */
export default function Modules() {
	const { admin } = useSession();
	const modules = query.useQuery("get", "/v1/hook-modules", undefined, { enabled: admin });
	const nameOf = useWorkflowName();
	const [selected, select] = useState<string>();
	const users = ({ workflows }: S["HookModule"]) =>
		workflows.length > 0 ? list(workflows.map(nameOf)) : t("no workflow");
	const columns: Column<S["HookModule"]>[] = [
		{
			id: "name",
			title: t("Name"),
			width: "minmax(0,1fr)",
			cell: (module) => (
				<>
					<b className="font-medium">{module.id}</b>
					<div className="line text-muted text-xs">{module.description}</div>
					<div className="line text-muted text-xs md:hidden">{t("used by {names}", { names: users(module) })}</div>
				</>
			),
		},
		{
			id: "params",
			title: t("Parameters"),
			width: "minmax(0,200px)",
			wide: true,
			cell: (module) => <code className="text-muted">{paramsOf(module)}</code>,
		},
		{
			id: "users",
			title: t("Used by"),
			width: "minmax(0,280px)",
			wide: true,
			cell: (module) => <span className={module.workflows.length > 0 ? "" : "text-muted"}>{users(module)}</span>,
		},
		{
			id: "version",
			title: t("Version"),
			width: "104px",
			wide: true,
			cell: ({ version }) => <span className="text-muted">v{version}</span>,
		},
		{
			id: "changed",
			title: t("Changed"),
			width: "104px",
			right: true,
			cell: ({ updatedAt }) => (
				<span className="text-muted" title={whole(updatedAt)}>
					{ago(updatedAt)}
				</span>
			),
		},
	];
	const title = { title: t("Hook modules"), crumb: { title: t("Workflows"), href: "/workflows" } };
	if (!admin)
		return (
			<Page {...title}>
				<Empty icon={<Ban />} title={t("Only an administrator sees this.")} />
			</Page>
		);
	return (
		<Page {...title} actions={modules.data && modules.data.hookModules.length > 0 && <New />}>
			<Loaded query={modules}>
				{({ hookModules }) =>
					hookModules.length === 0 ? (
						<Empty icon={<FileCode2 />} title={t("Write a script once, use it in many workflows")} actions={<New />}>
							{t(
								"A hook module is a script that the hooks of several workflows share. A change reaches all of them. Each hook can give it parameters of its own, in a form.",
							)}
						</Empty>
					) : (
						<>
							<p className="mb-3 text-muted">
								{t(
									"A hook is a step of a workflow that runs a script. A hook module is a script that several hooks share.",
								)}
							</p>
							<List
								label={t("Hook modules")}
								rows={hookModules}
								columns={columns}
								row={54}
								narrowRow={72}
								rowKey={({ id }) => id}
								selected={selected}
								onSelect={select}
								href={({ id }) => `/modules/${encodeURIComponent(id)}`}
								height="calc(100dvh - 172px)"
							/>
						</>
					)
				}
			</Loaded>
		</Page>
	);
}
