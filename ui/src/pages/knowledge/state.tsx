import { Flag, Pencil } from "lucide-react";
import { lazy, Suspense, useCallback } from "react";
import { api, queries, query, type S } from "@/api/client";
import { ago, t, whole } from "@/lang";
import { Button, Card, Empty, Field, Loaded, Loading, Problem, say, TextArea } from "@/ui";
import { useUnsaved } from "@/ui/unsaved";
import {
	again,
	begin,
	clashesOf,
	draftOf,
	drop,
	empty,
	isChanged,
	saved,
	useDrafts,
	write,
	wrongFields,
} from "./drafts";
import { Changed, Editing, useNewer } from "./edit";

const Markdown = lazy(() => import("@/ui/markdown"));

const key = "state";
const start = (state: S["State"]) => begin(key, { ...empty, content: state.content }, state.metadata.updated_at ?? "");

/** State is the text about where things stand, which agents read first. */
export function State() {
	const state = query.useQuery("get", "/v1/state");
	const editing = useDrafts(({ drafts }) => drafts[key] !== undefined);
	return (
		<Card className="overflow-hidden">
			<Loaded query={state}>{(data) => (editing ? <Edit state={data} /> : <Shown state={data} />)}</Loaded>
		</Card>
	);
}

function Shown({ state }: { state: S["State"] }) {
	const { updated_at: at, updated_by: by } = state.metadata;
	if (!state.content)
		return (
			<Empty
				icon={<Flag />}
				title={t("Nothing is said about where things stand")}
				actions={
					<Button look="primary" onClick={() => start(state)}>
						<Pencil />
						{t("Write it")}
					</Button>
				}
			>
				{t("One text that every agent can read when it begins: what is being done, what comes next.")}
			</Empty>
		);
	return (
		<>
			<div className="flex min-h-12 items-center gap-2 border-line border-b px-4">
				<span className="min-w-0 flex-1 text-muted text-xs" title={at ? whole(at) : undefined}>
					{at &&
						(by ? t("{who} wrote this {when}", { who: by, when: ago(at) }) : t("changed {when}", { when: ago(at) }))}
				</span>
				<Button size="small" onClick={() => start(state)}>
					<Pencil />
					{t("Edit")}
				</Button>
			</div>
			<div className="p-4">
				<Suspense fallback={<Loading />}>
					<Markdown text={state.content} />
				</Suspense>
			</div>
		</>
	);
}

function Edit({ state }: { state: S["State"] }) {
	const draft = useDrafts(({ drafts }) => drafts[key]);
	const put = query.useMutation("put", "/v1/state");
	const newer = useNewer<S["State"]>((stored) => stored.metadata.updated_at ?? "");
	const forget = useCallback(() => drop(key), []);
	useUnsaved(isChanged(draft), forget, "browser");
	if (!draft) return null;
	const wrong = wrongFields(put.error);
	const save = async () => {
		const newest = await newer.find(api.GET("/v1/state"), state.metadata.updated_at ?? "");
		if (newest) return queries.setQueryData(["get", "/v1/state"], newest);
		const sent = draftOf(key)?.now;
		if (!sent) return;
		put.mutateAsync({ body: { content: sent.content } }).then(
			(stored) => {
				queries.setQueryData(["get", "/v1/state"], stored);
				saved(key, sent, stored.metadata.updated_at ?? "");
				again();
				say(t("Saved."));
			},
			() => {}, // the mutation has the error
		);
	};
	return (
		<Editing
			name={t("Current state")}
			title={t("Current state")}
			error={put.error}
			busy={put.isPending || newer.looking}
			changed={isChanged(draft)}
			save={() => void save()}
			leave={forget}
		>
			{wrong[""] && <Problem error={put.error} retry={() => void save()} />}
			{(state.metadata.updated_at ?? "") !== draft.updatedAt && (
				<Changed id={key} clashes={clashesOf(draft, { content: state.content })} />
			)}
			<Field label={t("Where things stand")} error={wrong.content} hint={t("Markdown")}>
				<TextArea
					rows={18}
					className="font-mono text-[12.5px]"
					value={draft.now.content}
					onChange={(event) => write(key, { content: event.target.value })}
					autoFocus
				/>
			</Field>
		</Editing>
	);
}
