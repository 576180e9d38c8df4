import { X } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useCallback, useId, useState } from "react";
import { useLocation } from "wouter";
import { api, queries, query, type S } from "@/api/client";
import { t } from "@/lang";
import { statusWord } from "@/lang/terms";
import { Button, Chip, composing, Field, Input, Problem, Select, say, TextArea } from "@/ui";
import { useShowWrong } from "@/ui/schemaform";
import { useUnsaved } from "@/ui/unsaved";
import {
	again,
	begin,
	changeOf,
	clashesOf,
	draftOf,
	drop,
	empty,
	type Fields,
	fieldsOf,
	hrefOf,
	isChanged,
	refOf,
	saved,
	type TextField,
	useDrafts,
	write,
	wrongFields,
} from "./drafts";
import { ItemPicker } from "./picker";
import { useTypes } from "./types";
import { priorities, priorityOf } from "./words";

/** edit opens the editor for an item. */
export const edit = (item: S["Item"]): void => begin(refOf(item), fieldsOf(item), item.updated_at);

/** isSave reports whether a key saves what is edited. */
const isSave = (event: KeyboardEvent): boolean =>
	event.key.toLowerCase() === "s" && (event.metaKey || event.ctrlKey) && !composing(event);

/** Editing is the head of an editor: what is edited, and how to end that. mod+s saves. What an
 * error is about is brought into sight. */
export function Editing({
	name,
	title,
	error,
	busy,
	changed,
	inert,
	save,
	leave,
	children,
}: {
	name: string;
	title: ReactNode;
	error: unknown;
	busy: boolean;
	changed: boolean;
	/** Nothing can be written now. */
	inert?: boolean;
	save: () => void;
	leave: () => void;
	children: ReactNode;
}) {
	const [asks, setAsks] = useState(false);
	const around = useShowWrong(error);
	return (
		<div
			role="form"
			aria-label={name}
			onKeyDown={(event) => {
				if (!isSave(event)) return;
				event.preventDefault();
				if (!busy) save();
			}}
		>
			<div className="sticky top-0 z-10 flex min-h-12 flex-wrap items-center gap-2 border-line border-b bg-surface px-4 py-2">
				<h2 className="line min-w-0 flex-1 text-base">{title}</h2>
				{asks && changed ? (
					<>
						<span className="text-muted">{t("Discard what you have written?")}</span>
						<Button look="danger" onClick={leave}>
							{t("Discard the changes")}
						</Button>
						<Button onClick={() => setAsks(false)}>{t("Go on writing")}</Button>
					</>
				) : (
					<>
						<Button onClick={() => (changed ? setAsks(true) : leave())}>{t("Cancel")}</Button>
						<Button look="primary" busy={busy} onClick={save} aria-keyshortcuts="Control+S Meta+S">
							{t("Save")}
						</Button>
					</>
				)}
			</div>
			<div ref={around} inert={inert} className="flex flex-col gap-4 p-4">
				{children}
			</div>
		</div>
	);
}

/** Changed says that another has written meanwhile, and shows what of it a save would replace. */
export function Changed({ id, clashes }: { id: string; clashes: [TextField, string][] }) {
	const titles = {
		title: t("Title"),
		description: t("Description"),
		content: t("Content"),
		status: t("Status"),
		priority: t("Priority"),
	};
	return (
		<div role="status" className="rounded-lg bg-warn-soft px-4 py-3 text-warn">
			{clashes.length === 0
				? t("Another page or an agent has changed this since you began. Saving leaves what it wrote.")
				: t("Another page or an agent has changed this since you began. Saving replaces what it wrote here:")}
			{clashes.map(([field, theirs]) => (
				<details key={field} className="mt-2">
					<summary>{titles[field]}</summary>
					<div className="mt-2 flex items-start gap-2">
						<pre
							// biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls is reached by keyboard
							tabIndex={0}
							className="max-h-60 min-w-0 flex-1 overflow-auto rounded bg-surface px-3 py-2 whitespace-pre-wrap break-words text-text"
						>
							{field === "status" ? statusWord(theirs) : field === "priority" ? priorityOf(theirs) : theirs}
						</pre>
						<Button size="small" onClick={() => write(id, { [field]: theirs })}>
							{t("Take this")}
						</Button>
					</div>
				</details>
			))}
		</div>
	);
}

/** useNewer looks, before something is saved, whether what is stored is newer than what the page
 * has shown, and says so. Changed says the same from then on, and the next save goes on. */
export function useNewer<T>(updatedAt: (stored: T) => string) {
	const [looking, setLooking] = useState(false);
	const find = async (asked: Promise<{ data?: T }>, shown: string): Promise<T | undefined> => {
		setLooking(true);
		const stored = await asked.then(
			({ data }) => data,
			() => undefined, // saving tells why
		);
		setLooking(false);
		if (!stored || updatedAt(stored) === shown) return undefined;
		say(t("Not saved yet: this was changed elsewhere just now. Save again to go on."));
		return stored;
	};
	return { looking, find };
}

/** Edit is the form of an item, or of a new one, whose key is "new". */
export function Edit({ id, item }: { id: string; item?: S["Item"] }) {
	const [, go] = useLocation();
	const draft = useDrafts((state) => state.drafts[id]);
	const statuses = query.useQuery("get", "/v1/statuses");
	const tags = query.useQuery("get", "/v1/tags");
	const types = useTypes();
	const add = query.useMutation("post", "/v1/items");
	const change = query.useMutation("patch", "/v1/items/{ref}");
	const newer = useNewer<S["Item"]>((stored) => stored.updated_at);
	const forget = useCallback(() => drop(id), [id]);
	useUnsaved(isChanged(draft), forget, "browser");
	const listID = useId();
	const related = query.useQuery(
		"get",
		"/v1/items/{ref}/related",
		{ params: { path: { ref: id } } },
		{ enabled: !!item },
	);
	const [picked, setPicked] = useState<S["ItemSummary"][]>([]);
	const titles = new Map(
		[...(related.data?.related_items.map((one) => one.item) ?? []), ...picked].map((one) => [refOf(one), one.title]),
	);
	const [mended, setMended] = useState<string[]>([]); // fields that were written since the API refused them
	if (!draft) return null;
	const { now } = draft;
	const wrong = wrongFields(item ? change.error : add.error);
	for (const name of mended) delete wrong[name];
	const set = (fields: Partial<Fields>) => {
		write(id, fields);
		setMended((old) => [...new Set([...old, ...Object.keys(fields)])]);
	};

	const save = async () => {
		const from = location.pathname;
		if (item) {
			const path = { ref: refOf(item) };
			const newest = await newer.find(api.GET("/v1/items/{ref}", { params: { path } }), item.updated_at);
			if (newest) return queries.setQueryData(["get", "/v1/items/{ref}", { params: { path } }], newest);
		}
		const latest = draftOf(id);
		if (!latest) return;
		setMended([]);
		const done = (stored: S["Item"]) => {
			const ref = refOf(stored);
			queries.setQueryData(["get", "/v1/items/{ref}", { params: { path: { ref } } }], stored);
			saved(id, latest.now, stored.updated_at);
			again();
			say(item ? t("Saved.") : t("“{title}” is made.", { title: stored.title }));
			// When the draft is gone. Back leads to where the item was begun, and not to an empty form.
			if (!item && location.pathname === from) setTimeout(() => go(hrefOf(ref), { replace: true }));
		};
		const failed = () => {}; // the mutation has the error
		if (item) {
			const path = { ref: refOf(item) };
			change.mutateAsync({ params: { path }, body: changeOf(latest) }).then(done, failed);
		} else {
			const { status, priority, ...rest } = latest.now;
			const body = { ...rest, ...(status ? { status } : {}), ...(priority ? { priority } : {}) };
			add.mutateAsync({ body }).then(done, failed);
		}
	};
	const usual = statuses.data?.statuses.find((one) => !one.closed)?.name;
	const known = statuses.data?.statuses.map((one) => one.name) ?? [];
	return (
		<Editing
			name={item ? t("Edit {ref}", { ref: refOf(item) }) : t("New item")}
			title={item ? t("Edit {ref}", { ref: refOf(item) }) : t("New item")}
			error={(item ? change : add).error}
			busy={add.isPending || change.isPending || newer.looking}
			changed={isChanged(draft)}
			inert={add.isPending} // its page follows, without what is typed meanwhile
			save={() => void save()}
			leave={() => {
				drop(id);
				if (!item) setTimeout(() => go("/knowledge", { replace: true }));
			}}
		>
			{wrong[""] && (
				<div data-wrong>
					<Problem error={(item ? change : add).error} retry={() => void save()} />
				</div>
			)}
			{item && item.updated_at !== draft.updatedAt && <Changed id={id} clashes={clashesOf(draft, fieldsOf(item))} />}
			{!item && (
				<Field
					label={t("Type")}
					needed={!now.type.trim() || "filled"}
					error={wrong.type}
					hint={t("Any text, such as notes, decisions or issues. The ID begins with it, such as {id}.", {
						id: `${now.type.trim() || "notes"}-12`,
					})}
				>
					<Input list={`${listID}-types`} value={now.type} onChange={(event) => set({ type: event.target.value })} />
				</Field>
			)}
			<datalist id={`${listID}-types`}>
				{types.map((one) => (
					<option key={one.name} value={one.name} />
				))}
			</datalist>
			<Field label={t("Title")} needed={!now.title.trim() || "filled"} error={wrong.title}>
				<Input value={now.title} onChange={(event) => set({ title: event.target.value })} autoFocus={!item} />
			</Field>
			<Field label={t("Description")} error={wrong.description}>
				<TextArea rows={2} value={now.description} onChange={(event) => set({ description: event.target.value })} />
			</Field>
			<Field label={t("Content")} error={wrong.content} hint={t("Markdown")}>
				<TextArea
					rows={14}
					className="font-mono text-[12.5px]"
					value={now.content}
					onChange={(event) => set({ content: event.target.value })}
				/>
			</Field>
			<div className="grid gap-4 sm:grid-cols-2">
				<Field
					label={t("Status")}
					error={wrong.status}
					hint={
						["Completed", "Closed"].every((name) => known.includes(name)) &&
						t("Completed: it was done. Closed: nothing more is to be done about it.")
					}
				>
					<Select value={now.status} onChange={(event) => set({ status: event.target.value })}>
						{!item && <option value="">{t("Default ({name})", { name: statusWord(usual ?? "") })}</option>}
						{now.status && !known.includes(now.status) && <option value={now.status}>{now.status}</option>}
						{known.map((name) => (
							<option key={name} value={name}>
								{statusWord(name)}
							</option>
						))}
					</Select>
				</Field>
				<Field label={t("Priority")} error={wrong.priority}>
					<Select value={now.priority} onChange={(event) => set({ priority: event.target.value })}>
						{!item && <option value="">{t("Default ({name})", { name: priorityOf("MEDIUM") })}</option>}
						{Object.entries(priorities).map(([value, { title }]) => (
							<option key={value} value={value}>
								{t(title)}
							</option>
						))}
					</Select>
				</Field>
			</div>
			<Tags
				tags={now.tags}
				known={tags.data?.tags.map((tag) => tag.name) ?? []}
				error={wrong.tags}
				onChange={(tags) => set({ tags })}
			/>
			<Field
				label={t("Relations")}
				error={wrong.related}
				hint={t("Relations have no direction: the other item gets this one, too.")}
			>
				<div className="flex flex-col gap-2">
					{now.related.length > 0 && (
						<div className="flex flex-wrap gap-1">
							{now.related.map((ref) => (
								<Removable
									key={ref}
									text={ref}
									title={titles.get(ref)}
									onRemove={() => set({ related: now.related.filter((one) => one !== ref) })}
								/>
							))}
						</div>
					)}
					<ItemPicker
						label={t("Find an item to relate")}
						without={item ? [...now.related, refOf(item)] : now.related}
						onPick={(picked) => {
							setPicked((old) => [...old, picked]);
							set({ related: [...now.related, refOf(picked)] });
						}}
					/>
				</div>
			</Field>
		</Editing>
	);
}

function Removable({ text, title, onRemove }: { text: string; title?: string; onRemove: () => void }) {
	return (
		<Chip className="max-w-full pr-1">
			{title && <span className="line text-text">{title}</span>}
			<span className={title ? "shrink-0" : "line"}>{text}</span>
			<button
				type="button"
				aria-label={t("Remove {name}", { name: text })}
				onClick={onRemove}
				className="rounded-full p-0.5 hover:text-text"
			>
				<X />
			</button>
		</Chip>
	);
}

/** Tags are chips, and a line that becomes one at Enter or a comma. */
function Tags({
	tags,
	known,
	error,
	onChange,
}: {
	tags: string[];
	known: string[];
	error?: string;
	onChange: (tags: string[]) => void;
}) {
	const id = useId();
	const [text, setText] = useState("");
	const add = (value: string) => {
		const names = value.split(/[,、，]/).map((name) => name.trim());
		const fresh = names.filter((name, i) => name && !tags.includes(name) && names.indexOf(name) === i);
		if (fresh.length > 0) onChange([...tags, ...fresh]);
		setText("");
	};
	return (
		<Field label={t("Tags")} error={error} hint={t("Enter or a comma ends a tag.")}>
			<div className="flex flex-col gap-2">
				{tags.length > 0 && (
					<div className="flex flex-wrap gap-1">
						{tags.map((tag) => (
							<Removable key={tag} text={tag} onRemove={() => onChange(tags.filter((one) => one !== tag))} />
						))}
					</div>
				)}
				<Input
					list={id}
					value={text}
					placeholder={t("Add a tag")}
					onChange={(event) => {
						const { value } = event.target;
						const typing = (event.nativeEvent as InputEvent).isComposing;
						if (!typing && /[,、，]$/.test(value)) add(value);
						else setText(value);
					}}
					onEnter={add}
					onBlur={() => text && add(text)}
					onKeyDown={(event) => {
						if (isSave(event)) add(text);
						if (event.key === "Backspace" && text === "" && !composing(event)) onChange(tags.slice(0, -1));
					}}
				/>
				<datalist id={id}>
					{known
						.filter((name) => !tags.includes(name))
						.map((name) => (
							<option key={name} value={name} />
						))}
				</datalist>
			</div>
		</Field>
	);
}

/** startNew begins a new item. */
export const startNew = (): void => begin("new", empty, "");
