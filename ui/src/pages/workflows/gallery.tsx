import { useState } from "react";
import { query, refresh, type S } from "@/api/client";
import { t } from "@/lang";
import { Button, Dialog, Field, Input, Loaded, Problem, say } from "@/ui";
import { blank, type Schema, SchemaForm } from "@/ui/schemaform";

/** Gallery shows the templates. Each is used by filling in a form. It is a dialog if it can
 * be closed. */
export function Gallery({
	asked,
	onMade,
	onClose,
}: {
	asked?: string;
	onMade: (id: string) => void;
	onClose?: () => void;
}) {
	const templates = query.useQuery("get", "/v1/workflow-templates");
	const [chosen, choose] = useState(asked);
	const cards = (
		<Loaded query={templates}>
			{(data) => (
				<div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
					{data.templates.map((template) => (
						<button
							key={template.id}
							type="button"
							onClick={() => choose(template.id)}
							className="flex flex-col gap-1 rounded-lg border border-line bg-surface p-4 text-left hover:border-accent"
						>
							<span className="font-medium">{template.title}</span>
							<span className="text-muted text-sm">{template.description}</span>
						</button>
					))}
				</div>
			)}
		</Loaded>
	);
	const template = templates.data?.templates.find((one) => one.id === chosen);
	const close = onClose ?? (() => choose(undefined));
	return (
		<>
			{onClose && !template ? (
				<Dialog title={t("Templates")} onClose={onClose} size="wide">
					{cards}
				</Dialog>
			) : (
				!onClose && cards
			)}
			{template && <Use template={template} onMade={onMade} onClose={close} />}
		</>
	);
}

/** Use makes workflows of a template. */
function Use({
	template,
	onMade,
	onClose,
}: {
	template: S["Template"];
	onMade: (id: string) => void;
	onClose: () => void;
}) {
	const schema = template.params as Schema;
	const [params, setParams] = useState<unknown>(() => blank(schema) ?? {});
	const [match, setMatch] = useState<unknown>({});
	const [name, setName] = useState(template.title);
	const nodes = query.useQuery("get", "/v1/workflow-nodes");
	const use = query.useMutation("post", "/v1/workflow-templates");
	const settings = nodes.data?.settings as Schema | undefined;
	const matching = settings?.properties?.match;
	const make = () =>
		use.mutate(
			{ body: { template: template.id, name: name.trim() || undefined, match, params } },
			{
				onSuccess: ({ workflows }) => {
					refresh("/v1/workflows");
					say(t("The draft is stored. Try it on past calls, then enable it."));
					onMade(workflows[0]!.id);
				},
			},
		);
	return (
		<Dialog
			title={template.title}
			onClose={onClose}
			size="wide"
			actions={
				<>
					<Button onClick={onClose}>{t("Cancel")}</Button>
					<Button look="primary" busy={use.isPending} onClick={make}>
						{t("Make a draft")}
					</Button>
				</>
			}
		>
			<div className="flex flex-col gap-5">
				<p className="text-muted">{template.description}</p>
				<Field label={t("Name")}>
					<Input value={name} onChange={(event) => setName(event.target.value)} />
				</Field>
				<SchemaForm schema={schema} value={params} onChange={setParams} />
				{matching && (
					<details open={template.needsMatch} className="rounded-lg border border-line">
						<summary className="px-4 py-2.5 font-medium">
							{t("Which calls")}{" "}
							<span className="font-normal text-muted">
								{template.needsMatch ? t("needed: it is not meant for all calls") : t("all, unless you say more here")}
							</span>
						</summary>
						<div className="border-line border-t p-4">
							<SchemaForm schema={{ ...matching, $defs: settings?.$defs }} value={match} onChange={setMatch} />
						</div>
					</details>
				)}
				{use.error && <Problem error={use.error} />}
			</div>
		</Dialog>
	);
}
