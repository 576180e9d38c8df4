import { RotateCcw, X } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { query, refresh } from "../../../api/client";
import { ago, t, whole } from "../../../lang";
import { Button, Cap, Chip, cx, Loaded, say } from "../../../ui";
import type { Definition } from "../definition";
import { placed } from "../layout";
import { Diff } from "../output";
import { edit, select, undo, useEditor } from "../store";
import { diff } from "../trace";

/** Versions lists the versions of the workflow, compares each with the draft, and makes
 * one the draft again. */
export function Versions({ onClose }: { onClose: () => void }) {
	const id = useEditor((s) => s.id);
	const base = useEditor((s) => s.base);
	const [shown, setShown] = useState<number | null>(null);
	const versions = query.useQuery("get", "/v1/workflows/{id}/versions", { params: { path: { id } } }, { staleTime: 0 });
	// biome-ignore lint/correctness/useExhaustiveDependencies: each saved draft is a version
	useEffect(() => refresh("/v1/workflows/{id}/versions"), [base]);
	return (
		<section aria-label={t("Versions")} className="flex h-full flex-col">
			<Cap>
				{t("Versions")}
				<Button look="quiet" size="iconSmall" aria-label={t("Close")} onClick={onClose}>
					<X />
				</Button>
			</Cap>
			<div className="min-h-0 flex-1 overflow-y-auto p-2">
				<Loaded query={versions}>
					{(data) => (
						<ul>
							{data.versions.slice(0, 200).map((v) => (
								<li key={v.version}>
									<button
										type="button"
										aria-expanded={shown === v.version}
										onClick={() => setShown(shown === v.version ? null : v.version)}
										className={cx(
											"flex h-8 w-full items-center gap-2 rounded-md px-2 hover:bg-sunken focus-visible:-outline-offset-2",
											shown === v.version && "bg-sunken",
										)}
									>
										<b className="tabular">v{v.version}</b>
										{v.running && <Chip tone="ok">{t("active")}</Chip>}
										<span className="num ml-auto text-faint text-xs" title={whole(v.updatedAt)}>
											{ago(v.updatedAt)}
										</span>
									</button>
									{shown === v.version && <Version id={id} version={v.version} />}
								</li>
							))}
						</ul>
					)}
				</Loaded>
			</div>
		</section>
	);
}

function Version({ id, version }: { id: string; version: number }) {
	const draft = useEditor((s) => s.draft);
	const readOnly = useEditor((s) => s.readOnly !== null);
	const details = query.useQuery("get", "/v1/workflows/{id}", { params: { path: { id }, query: { version } } });
	const old = details.data?.definition as unknown as Definition | undefined;
	const lines = useMemo(() => (old ? diff(facts(old), facts(draft)) : []), [old, draft]);
	const same = !lines.some((line) => line.kind === "+" || line.kind === "-");
	return (
		<div className="mb-2 rounded-md border border-line">
			<Loaded query={details} rows={2}>
				{() => (
					<>
						<div className="flex items-center justify-between gap-2 px-3 py-2 text-faint text-xs">
							{same ? t("As the draft.") : t("From this version to the draft:")}
							{!same && !readOnly && (
								<Button
									size="small"
									onClick={() => {
										edit((draft) => placed({ ...old!, version: draft.version, enabled: draft.enabled }));
										select([]);
										say(t("Version {version} is the draft now.", { version }), undo);
									}}
								>
									<RotateCcw />
									{t("Make it the draft")}
								</Button>
							)}
						</div>
						{!same && (
							<div className="max-h-80 overflow-auto border-line border-t">
								<Diff lines={lines} />
							</div>
						)}
					</>
				)}
			</Loaded>
		</div>
	);
}

/** facts are what matters of a definition: not where its nodes are drawn, nor when it was
 * stored. */
function facts(definition: Definition): unknown {
	const { nodes, version: _, enabled: __, ...rest } = definition;
	const { createdAt: ___, updatedAt: ____, ...kept } = rest as Record<string, unknown>;
	return { ...kept, nodes: nodes.map(({ position: _, ...node }) => node) };
}
