import { Plus } from "lucide-react";
import { useState } from "react";
import { query, type S } from "@/api/client";
import { ended, minute, t, tn } from "@/lang";
import { Button, Card, Confirm, Dot, Field, Input, LinkButton, Loaded, Problem, Select } from "@/ui";
import { fieldErrors, useShowWrong } from "@/ui/schemaform";
import { useDraft } from "@/ui/unsaved";
import { Findings } from "../servers/findings";
import { stateOf } from "../servers/state";
import { Elsewhere, Fixed, objectOf, Setting, SettingForm, useSettings, Value } from "./file";
import { Section } from "./parts";

type Instance = S["N8NInstance"] & { name: string };

/** instancesOf are the instances in the settings, which may have one alone, and without a name. */
const instancesOf = (n8n: unknown): Instance[] =>
	[(n8n ?? []) as S["N8NInstance"] | S["N8NInstance"][]].flat().map((one) => ({ ...one, name: one.name ?? "n8n" }));

/** Connected are the n8n instances, and the model that compares texts. */
export function Connected() {
	return (
		<>
			<Instances />
			<Embeddings />
		</>
	);
}

function Instances() {
	const servers = query.useQuery("get", "/v1/servers");
	const settings = useSettings("/v1/servers", "/v1/secrets", "/v1/tools", "/v1/doctor");
	/** The instance that is being edited; "" for a new one. */
	const [edited, edit] = useState<string>();
	const [removed, remove] = useState<string>();
	const mine = instancesOf(settings.all.n8n);
	const open = (name?: string) => {
		settings.reset();
		edit(name);
	};
	return (
		<Section
			title={t("n8n instances")}
			about={t(
				"With one, agents list, change and debug the workflows of your n8n. The key stays encrypted on this machine.",
			)}
			actions={
				settings.changeable &&
				edited === undefined && (
					<Button onClick={() => open("")}>
						<Plus />
						{t("Add n8n")}
					</Button>
				)
			}
		>
			<Loaded query={servers} rows={2}>
				{(data) => {
					const instances = data.servers.filter((one) => mine.some(({ name }) => name === one.name));
					if (instances.length === 0)
						return (
							edited === undefined && settings.query.data && <p className="text-muted">{t("There is none yet.")}</p>
						);
					return (
						<>
							<Card className="overflow-hidden">
								{instances.map((one) => (
									<Line
										key={one.name}
										server={one}
										url={mine.find(({ name }) => name === one.name)?.url}
										onEdit={settings.changeable ? () => open(one.name) : undefined}
										onRemove={() => remove(one.name)}
									/>
								))}
							</Card>
							{instances.map((one) => (
								<Findings key={one.name} about={`server/${one.name}`} />
							))}
						</>
					);
				}}
			</Loaded>
			{edited !== undefined && (
				<InstanceForm
					key={edited}
					before={mine.find(({ name }) => name === edited)}
					suggested={mine.length === 0 ? "n8n" : ""}
					settings={settings}
					onClose={() => open()}
					onSave={(instance) =>
						settings.save({ n8n: [...mine.filter(({ name }) => name !== edited), instance] }, () => open())
					}
				/>
			)}
			{edited === undefined && <Fixed settings={settings} />}
			{removed !== undefined && (
				<Confirm
					title={t("Remove “{name}”?", { name: removed })}
					action={t("Remove")}
					danger
					busy={settings.busy}
					onClose={() => remove(undefined)}
					onConfirm={() => {
						const left = mine.filter(({ name }) => name !== removed);
						settings.save({ n8n: left.length > 0 ? left : null }, () => remove(undefined));
					}}
				>
					{t("Its tools go away for all clients. Nothing changes in n8n, and its key stays among the secrets.")}
					{settings.error && <Problem className="mt-3" error={settings.error} />}
				</Confirm>
			)}
		</Section>
	);
}

function Line({
	server,
	url,
	onEdit,
	onRemove,
}: {
	server: S["Server"];
	/** Nothing for one that the environment names. */
	url?: string;
	onEdit?: () => void;
	onRemove: () => void;
}) {
	return (
		<div className="flex flex-wrap items-center gap-3 border-line border-b px-4 py-3 last:border-0">
			<div className="min-w-0 flex-1 basis-64">
				<div className="flex items-center gap-2 font-medium">
					<Dot tone={stateOf(server).tone} />
					{server.name}
					<span className="font-normal text-muted">
						{stateOf(server).word} · {tn(server.tools, "{n} tool", "{n} tools")}
					</span>
				</div>
				<div className="break-words text-muted text-sm">
					{url ?? t("Set by environment variables or flags.")}
					{server.note && ` · ${server.note}`}
				</div>
			</div>
			<LinkButton size="small" href={`/tools?server=${encodeURIComponent(server.name)}`}>
				{t("Tools")}
			</LinkButton>
			{url !== undefined && onEdit && (
				<>
					<Button size="small" aria-label={t("Edit {name}", { name: server.name })} onClick={onEdit}>
						{t("Edit")}
					</Button>
					<Button size="small" look="danger" aria-label={t("Remove {name}", { name: server.name })} onClick={onRemove}>
						{t("Remove")}
					</Button>
				</>
			)}
		</div>
	);
}

function InstanceForm({
	before,
	suggested,
	settings,
	onClose,
	onSave,
}: {
	before?: Instance;
	suggested: string;
	settings: ReturnType<typeof useSettings>;
	onClose: () => void;
	onSave: (instance: Instance) => void;
}) {
	const test = query.useMutation("post", "/v1/n8n/test");
	const { values, set } = useDraft({ name: before?.name ?? suggested, url: before?.url ?? "", key: "" }, () => {
		test.reset();
		settings.reset();
	});
	const instance = {
		name: values.name.trim(),
		url: values.url.trim(),
		apiKey: values.key.trim() || before?.apiKey || "",
	};
	const ready = instance.name !== "" && instance.url !== "" && instance.apiKey !== "";
	const error = test.error ?? settings.error;
	// The instance is one of a list in the file.
	const wrong = fieldErrors(error);
	const fields = Object.keys(wrong).filter((field) => /^n8n\[\d+\]\.(name|url|apiKey)$/.test(field));
	const wrongOf = (key: keyof Instance) => wrong[fields.find((field) => field.endsWith(`.${key}`)) ?? ""];
	const around = useShowWrong(error);
	const save = () => {
		test.reset();
		onSave(instance);
	};
	return (
		<Card>
			<div ref={around} className="grid gap-3 px-4 py-3 sm:grid-cols-2">
				<Field label={t("Name")} hint={t("Its tools begin with it.")} error={wrongOf("name")}>
					<Input value={values.name} onChange={(event) => set({ name: event.target.value })} />
				</Field>
				<Field label={t("Address")} error={wrongOf("url")}>
					<Input
						value={values.url}
						placeholder="http://127.0.0.1:5678"
						onChange={(event) => set({ url: event.target.value })}
					/>
				</Field>
				<Field label={t("API key")} hint={t("Made in n8n: Settings > n8n API.")} error={wrongOf("apiKey")}>
					<Input
						type="password"
						autoComplete="new-password"
						value={values.key}
						placeholder={before && t("kept; fill in to replace it")}
						onChange={(event) => set({ key: event.target.value })}
						onEnter={() => ready && save()}
					/>
				</Field>
			</div>
			{test.data?.ok && (
				<p role="status" className="mx-4 mb-3 text-ok">
					{t("n8n answers and accepts the key.")} {test.data.advice}
				</p>
			)}
			{test.data?.problem && <Problem className="mx-4 mb-3" error={test.data.problem} />}
			<Elsewhere className="mx-4 mb-3" error={error} fields={fields} />
			<div className="flex flex-wrap justify-end gap-2 border-line border-t px-4 py-3">
				<Button
					disabled={!ready}
					busy={test.isPending}
					className="mr-auto"
					onClick={() => {
						settings.reset();
						test.mutate({ body: instance });
					}}
				>
					{t("Test")}
				</Button>
				<Button look="quiet" onClick={onClose}>
					{t("Cancel")}
				</Button>
				<Button look="primary" disabled={!ready} busy={settings.busy} onClick={save}>
					{t("Save")}
				</Button>
			</div>
		</Card>
	);
}

const kinds: Record<string, string> = {
	"": /* t */ "none: words alone",
	ollama: /* t */ "Ollama",
	openai: /* t */ "an endpoint of OpenAI's API",
};

const embeddingFields = ["url", "model", "apiKey"].map((key) => `embeddings.${key}`);

function Embeddings() {
	const settings = useSettings("/v1/secrets", "/v1/doctor");
	const test = query.useMutation("post", "/v1/embeddings/test");
	const set_ = objectOf(settings.all.embeddings) as { url?: string; model?: string; kind?: string; apiKey?: string };
	const { values, dirty, set, discard, saved } = useDraft(
		{
			kind: set_.url ? (set_.kind ?? "openai") : "",
			url: set_.url ?? "",
			model: set_.model ?? "",
			key: "",
		},
		() => {
			test.reset();
			settings.reset();
		},
	);
	const off = !settings.changeable;
	const { apiKey, ...rest } = set_;
	const key = values.key.trim() || apiKey;
	const model = {
		...rest,
		url: values.url.trim(),
		model: values.model.trim(),
		kind: values.kind,
		...(key && { apiKey: key }),
	};
	const ready = model.kind !== "" && model.url !== "" && model.model !== "";
	const save = () => {
		test.reset();
		settings.save({ embeddings: model.kind === "" ? null : model }, () => {
			saved();
			// A wrong address is saved, too: the model may not run now.
			if (ready) test.mutate({ body: model });
		});
	};
	const failing = values.kind !== "" && !dirty && !test.data && !test.isPending && settings.query.data?.embeddings;
	const error = test.error ?? settings.error;
	const wrong = fieldErrors(error);
	return (
		<Section
			title={t("Embeddings")}
			about={t(
				"With a model, searches also find tools by meaning. Names and descriptions of tools, and queries, are sent to it.",
			)}
		>
			<SettingForm settings={settings} fields={embeddingFields} dirty={dirty} onSave={save} onDiscard={discard}>
				<Setting label={t("Model")}>
					<Select
						aria-label={t("Model")}
						disabled={off}
						value={values.kind}
						onChange={(event) =>
							set({
								kind: event.target.value,
								...(event.target.value === "ollama" && !values.url && { url: "http://127.0.0.1:11434" }),
							})
						}
					>
						{Object.entries(kinds).map(([value, word]) => (
							<option key={value} value={value}>
								{t(word)}
							</option>
						))}
					</Select>
				</Setting>
				{values.kind !== "" && (
					<>
						<Setting label={t("Address")}>
							<Value
								wrong={wrong["embeddings.url"]}
								aria-label={t("Address")}
								disabled={off}
								placeholder={values.kind === "ollama" ? "http://127.0.0.1:11434" : "https://api.example.com/v1"}
								value={values.url}
								onChange={(event) => set({ url: event.target.value })}
							/>
						</Setting>
						<Setting label={t("Name of the model")}>
							<Value
								wrong={wrong["embeddings.model"]}
								aria-label={t("Name of the model")}
								disabled={off}
								placeholder={values.kind === "ollama" ? "nomic-embed-text" : "text-embedding-3-small"}
								value={values.model}
								onChange={(event) => set({ model: event.target.value })}
								onEnter={save}
							/>
						</Setting>
						<Setting label={t("API key")}>
							<Value
								wrong={wrong["embeddings.apiKey"]}
								aria-label={t("API key")}
								type="password"
								autoComplete="new-password"
								disabled={off}
								placeholder={set_.apiKey ? t("kept; fill in to replace it") : t("none, if it needs none")}
								value={values.key}
								onChange={(event) => set({ key: event.target.value })}
								onEnter={save}
							/>
						</Setting>
						<Setting label="">
							<Button
								disabled={!ready || settings.busy}
								busy={test.isPending}
								onClick={() => {
									settings.reset();
									test.mutate({ body: model });
								}}
							>
								{t("Test")}
							</Button>
							{test.data?.ok && (
								<span role="status" className="text-ok">
									{t("The model answers.")}
								</span>
							)}
						</Setting>
					</>
				)}
			</SettingForm>
			{test.data?.problem && <Problem error={test.data.problem} />}
			<Elsewhere error={test.error} fields={embeddingFields} />
			{failing && (
				<Problem
					error={
						failing.at
							? t("Last tried {time}: {why}", {
									why: ended(failing.problem),
									time: minute(failing.at),
								})
							: failing.problem
					}
				/>
			)}
		</Section>
	);
}
