import { Plus, Trash2 } from "lucide-react";
import { createContext, type ReactNode, type RefObject, use, useEffect, useId, useMemo, useRef, useState } from "react";
import { Failure } from "../api/client";
import { isExact, numberOf, parseExact } from "../api/exact";
import { ended, list as listed, sentences, t } from "../lang";
import { whyNoJSON } from "../lang/terms";
import { Button, cx, Field, Input, NumberInput, Picked, Select, Switch, TextArea } from "./basics";
import {
	blank,
	choicesOf,
	fits,
	isGroup,
	isObject,
	memberOf,
	mostDepth,
	namesOf,
	resolve,
	type Schema,
	starting,
	suitsForm,
	typeOf,
} from "./schema";
import { seen } from "./seen";
import { useTyped } from "./typed";

type Props = {
	schema: Schema;
	value: unknown;
	onChange: (value: unknown) => void;
	root: Schema;
	depth: number;
	/** Where the value stands, with dots: address.lines.0. */
	path: string;
	required?: boolean;
};

/** Wrong is what the API says about the input, one for each field. */
type Wrong = {
	field?: string;
	keyword?: string;
	params?: { type?: string | string[]; limit?: number; missingProperties?: string[] };
	message?: string;
	constraint?: string;
	others?: Wrong[];
};

const types: Record<string, string> = {
	string: /* t */ "a text",
	number: /* t */ "a number",
	integer: /* t */ "a whole number",
	boolean: /* t */ "true or false",
	array: /* t */ "a list",
	object: /* t */ "an object",
	null: /* t */ "null",
};

function sentence({ field, keyword, params, message, constraint }: Wrong): string | undefined {
	if (keyword === "required" || (keyword === "minLength" && params?.limit === 1)) return t("This is needed.");
	const wanted = [params?.type ?? []].flat();
	if (keyword === "type" && wanted.length > 0)
		return t("This must be {type}.", { type: wanted.map((type) => t(types[type] ?? type)).join(t(" or ")) });
	const text = message ?? constraint;
	// It stands at the field, which has another name there.
	if (field && text?.startsWith(`${field} `)) return ended(t("This value ") + text.slice(field.length + 1));
	if (field && text?.startsWith(`${field}: `)) return ended(text.slice(field.length + 2));
	return text && ended(text[0]!.toUpperCase() + text.slice(1));
}

/** fieldErrors is what an error of the API says about fields, by where they stand. The
 * schema has the titles of the fields. */
export function fieldErrors(error: unknown, schema?: Schema): Record<string, string> {
	const out: Record<string, string> = {};
	const details = error instanceof Failure ? error.details : undefined;
	if (typeof details !== "object" || details === null) return out;
	for (const one of [details as Wrong | Wrong[]].flat())
		for (const wrong of [one, ...(one?.others ?? [])]) {
			const missing = wrong?.params?.missingProperties;
			const field = wrong?.field || missing?.[0];
			const text = missing
				? t("At least one of these is needed: {fields}.", {
						fields: listed(missing.map((name) => schema?.properties?.[name]?.title ?? name)),
					})
				: field && sentence(wrong);
			if (field && text) out[field] = out[field] ? `${out[field]} ${text}` : text;
		}
	return out;
}

/** isAtFields tells whether all that an error says stands at these fields. */
export function isAtFields(error: unknown, fields: string[]): boolean {
	const wrong = Object.keys(fieldErrors(error));
	return wrong.length > 0 && wrong.every((field) => fields.includes(field));
}

/** useShowWrong returns a ref for what is around the fields. When an error comes, the first
 * field that it marks is brought into sight, with the cursor in it. */
export function useShowWrong(error: unknown): RefObject<HTMLDivElement | null> {
	const around = useRef<HTMLDivElement>(null);
	useEffect(() => {
		const at = error ? around.current?.querySelector<HTMLElement>("[data-wrong], [aria-invalid=true]") : undefined;
		if (!at) return;
		at.closest("details")?.setAttribute("open", "");
		at.scrollIntoView({ block: "center" });
		const control = at.matches("[data-wrong]") ? at.querySelector<HTMLElement>("input, textarea, select, button") : at;
		control?.focus({ preventScroll: true });
	}, [error]);
	return around;
}

const Errors = createContext<Record<string, string>>({});

/** SchemaForm is a form for a value that a JSON Schema describes. It has no rules of its
 * own: what the server finds wrong is given as errors, and stands at its field. */
export function SchemaForm({
	errors = {},
	keep,
	...props
}: {
	schema: Schema;
	value: unknown;
	onChange: (value: unknown) => void;
	errors?: Record<string, string>;
	keep?: Kept;
}) {
	return (
		<Errors value={errors}>
			<KeptTexts value={keep}>
				<Form {...props} />
			</KeptTexts>
		</Errors>
	);
}

function Form({ schema, value, onChange }: Pick<Props, "schema" | "value" | "onChange">) {
	const suits = useMemo(() => suitsForm(schema), [schema]);
	if (!suits)
		return (
			<div className="flex flex-col gap-2">
				<p className="text-muted">{t("What it takes is too large for a form. Write the arguments as JSON.")}</p>
				<JSONText value={value} onChange={onChange} rows={12} path="" />
			</div>
		);
	const known = resolve(schema, schema);
	const props = { schema: known, value, onChange, root: schema, depth: 0, path: "" };
	if (hasMembers(known)) return <Members {...props} />;
	if (known.oneOf || known.anyOf || known.additionalProperties) return <Value {...props} />;
	return <p className="text-muted">{t("It takes no arguments.")}</p>;
}

/** hasMembers tells whether Members has something to show. */
const hasMembers = (schema: Schema): boolean =>
	namesOf(schema).length > 0 || typeof schema.additionalProperties === "object";

function Members({ schema, value, onChange, root, depth, path }: Props) {
	const object = isObject(value) ? value : {};
	const names = namesOf(schema);
	// What may be left out as a whole needs nothing yet.
	const required = new Set(depth > 0 && value === undefined ? [] : schema.required);
	names.sort((a, b) => Number(required.has(b)) - Number(required.has(a)));
	const set = (name: string, to: unknown) => {
		const next = { ...object };
		if (to === undefined) delete next[name];
		else next[name] = to;
		onChange(next);
	};
	return (
		<div className={cx("flex flex-col gap-4", depth > 0 && "border-line border-l-2 pl-4")}>
			{names.map((name) => (
				<Member
					key={name}
					name={name}
					required={required.has(name)}
					schema={resolve(schema.properties![name]!, root)}
					value={memberOf(object, name)}
					onChange={(to) => set(name, to)}
					root={root}
					depth={depth}
					path={path ? `${path}.${name}` : name}
				/>
			))}
			{schema.additionalProperties && typeof schema.additionalProperties === "object" && (
				<Others
					schema={schema.additionalProperties}
					known={names}
					object={object}
					onChange={onChange}
					root={root}
					depth={depth}
					path={path}
				/>
			)}
		</div>
	);
}

function Member({ name, ...props }: Props & { name: string }) {
	const { schema, value, onChange, required } = props;
	const label = (
		<>
			<span className={cx("text-text", !schema.title && "font-mono")} title={schema.title && name}>
				{schema.title || name}
			</span>{" "}
			{required && <span className={value === undefined ? "text-bad" : "text-faint"}>{t("needed")}</span>}
		</>
	);
	const found = use(Errors)[props.path];
	// The API counts milliseconds.
	const wrong =
		found && schema["x-unit"] === "ms" && typeof value === "number"
			? t("This must be from {least} to {most} seconds.", {
					least: (schema.minimum ?? 0) / 1000,
					most: (schema.maximum ?? 0) / 1000,
				})
			: found && schema.enum && value === undefined
				? t("Choose one.")
				: found;
	const error = wrong && (
		<p role="alert" className="text-bad text-xs">
			{wrong}
		</p>
	);
	if (isGroup(schema, props.root))
		return (
			<fieldset className="flex min-w-0 flex-col gap-2" data-wrong={wrong ? "" : undefined}>
				<legend className="mb-1 font-medium text-muted text-xs">{label}</legend>
				{schema.description && <p className="wrap-anywhere text-faint text-xs">{seen(schema.description)}</p>}
				<Value {...props} />
				{error}
			</fieldset>
		);
	if (typeOf(schema) === "boolean")
		return (
			<div className="flex items-start gap-3" data-wrong={wrong ? "" : undefined}>
				<Switch on={value === true} label={schema.title || name} onChange={onChange} />
				<div className="min-w-0">
					<div className="font-medium text-muted text-xs leading-5">{label}</div>
					{schema.description && <p className="wrap-anywhere text-faint text-xs">{seen(schema.description)}</p>}
					{error}
				</div>
			</div>
		);
	return (
		<Field label={label} hint={schema.description && seen(schema.description)} error={wrong}>
			<Value {...props} />
		</Field>
	);
}

function Value(props: Props): ReactNode {
	const { schema, value, onChange, root, depth } = props;
	const choices = choicesOf(schema, root);
	if (choices.length > 0) return <Choice {...props} choices={choices} />;
	if (schema.const !== undefined) return <Input value={JSON.stringify(schema.const)} readOnly />;
	if (schema.enum) {
		const title = (one: unknown) => schema["x-titles"]?.[String(one)] ?? String(one);
		return (
			<Select
				value={value === undefined ? "" : String(schema.enum.indexOf(value))}
				onChange={(event) => onChange(event.target.value === "" ? undefined : schema.enum![Number(event.target.value)])}
			>
				<option value="">
					{props.required
						? t("Choose one")
						: schema.default !== undefined && schema.enum.includes(schema.default)
							? t("default ({choice})", { choice: title(schema.default) })
							: t("not set")}
				</option>
				{schema.enum.map((one, i) => (
					<option key={JSON.stringify(one)} value={i}>
						{title(one)}
					</option>
				))}
			</Select>
		);
	}
	switch (typeOf(schema)) {
		case "string":
			return <Text {...props} />;
		case "integer":
		case "number":
			if (schema["x-unit"] === "ms") return <Seconds {...props} />;
			return (
				<NumberInput
					className="tabular"
					value={typeof value === "object" && value !== null ? JSON.stringify(value) : value}
					placeholder={placeholder(schema)}
					onChange={(to) => onChange(typeof to === "string" ? numberOf(to) : to)}
				/>
			);
		case "boolean":
			return <Switch on={value === true} onChange={onChange} />;
		case "array":
			if (typeof schema.items === "object" && resolve(schema.items, root).enum)
				return <Several {...props} items={resolve(schema.items, root)} />;
			if (typeof schema.items === "object") return <Items {...props} items={resolve(schema.items, root)} />;
			return <JSONText value={value} onChange={onChange} path={props.path} />;
		case "object":
			if (depth < mostDepth && hasMembers(schema)) return <Members {...props} depth={depth + 1} />;
			return <JSONText value={value} onChange={onChange} path={props.path} />;
		default:
			return <JSONText value={value} onChange={onChange} path={props.path} />;
	}
}

const placeholder = (schema: Schema): string | undefined => {
	const example = schema.examples?.[0];
	return example === undefined ? undefined : String(example);
};

/** Seconds is a time in milliseconds, which is written in seconds. */
function Seconds({ value: ms, onChange }: Props) {
	const value = isExact(ms) ? Number(JSON.stringify(ms)) : ms;
	return (
		<div className="flex items-center gap-2">
			<NumberInput
				className="tabular max-w-32"
				value={typeof value === "number" ? value / 1000 : value}
				onChange={(to) => onChange(typeof to === "number" ? Math.round(to * 1000) : to)}
			/>
			<span className="text-muted">{t("seconds")}</span>
		</div>
	);
}

/** A text of at most so many characters is a line. */
const shortText = 200;

function Text({ schema, value, onChange }: Props) {
	const id = useId();
	const known = schema["x-known"];
	const text = typeof value === "string" ? value : (value ?? undefined) === undefined ? "" : JSON.stringify(value);
	const pasted = useRef(false);
	const common = {
		value: text,
		placeholder: placeholder(schema),
		onChange: (event: { target: { value: string } }) =>
			onChange(event.target.value === "" ? undefined : event.target.value),
	};
	const oneLine = known || schema.format || (schema.maxLength ?? Number.POSITIVE_INFINITY) <= shortText;
	if (!oneLine || /[\r\n]/.test(text))
		return (
			<>
				<TextArea
					{...common}
					autoFocus={pasted.current}
					rows={Math.min(12, text.split("\n").length)}
					className="field-sizing-content max-h-80 min-h-8"
				/>
				{/[\r\n]/.test(text) && (
					<p className="text-faint text-xs empty:hidden" role="status">
						{sentences(
							/^[\r\n]/.test(text) && t("It begins with a line break."),
							/[\r\n]$/.test(text) && t("It ends with a line break."),
						)}
					</p>
				)}
			</>
		);
	return (
		<>
			<Input
				{...common}
				list={known && id}
				onPaste={(event) => {
					// A line cannot hold what has several: it becomes a text area.
					const lines = event.clipboardData.getData("text/plain");
					if (!/[\r\n]/.test(lines)) return;
					event.preventDefault();
					pasted.current = true;
					const { selectionStart: from, selectionEnd: to } = event.currentTarget;
					onChange(text.slice(0, from ?? text.length) + lines + text.slice(to ?? text.length));
				}}
			/>
			{known && (
				<datalist id={id}>
					{known.map((one) => (
						<option key={one} value={one} />
					))}
				</datalist>
			)}
		</>
	);
}

/** listName is what a list is called: by its title or its name, and in a list by the item's number. */
function listName(schema: Schema, path: string): string {
	const [last = "", ...before] = path.split(".").reverse();
	if (schema.title || !/^\d+$/.test(last)) return schema.title || last;
	return `${before.find((name) => !/^\d+$/.test(name)) ?? ""} ${Number(last) + 1}`.trim();
}

function Items({ schema, items, value, onChange, root, depth, path }: Props & { items: Schema }) {
	const errors = use(Errors);
	const list = Array.isArray(value) ? value : [];
	// What is chosen and typed in an item stays with it when one before it is removed.
	const keys = useRef<number[]>([]);
	const last = useRef(0);
	while (keys.current.length < list.length) keys.current.push(last.current++);
	const all = useRef<HTMLDivElement>(null);
	const added = useRef(false);
	useEffect(() => {
		if (!added.current) return;
		added.current = false;
		const newest = all.current?.children[list.length - 1];
		newest?.querySelector<HTMLElement>("input, textarea, select, button")?.focus();
	}, [list.length]);
	return (
		<div ref={all} className="flex flex-col gap-2">
			{list.map((one, i) => (
				<div key={keys.current[i]} className="flex items-start gap-2">
					<div className="min-w-0 flex-1">
						<Named label={t("Item {n}", { n: i + 1 })} plain={!isGroup(items, root)} error={errors[`${path}.${i}`]}>
							<Value
								schema={items}
								value={one}
								onChange={(to) => onChange(list.map((old, at) => (at === i ? (to ?? starting(items)) : old)))}
								root={root}
								depth={depth}
								path={`${path}.${i}`}
							/>
						</Named>
					</div>
					<Button
						look="quiet"
						size="icon"
						aria-label={t("Remove item {n}", { n: i + 1 })}
						onClick={() => {
							keys.current.splice(i, 1);
							onChange(list.length === 1 ? undefined : list.filter((_, at) => at !== i));
						}}
					>
						<Trash2 />
					</Button>
				</div>
			))}
			<div>
				<Button
					size="small"
					aria-label={path ? t("Add to {name}", { name: listName(schema, path) }) : t("Add an item")}
					onClick={() => {
						added.current = true;
						onChange([...list, blank(items, root) ?? starting(items)]);
					}}
				>
					<Plus />
					{t("Add")}
				</Button>
			</div>
		</div>
	);
}

/** Several is a list of values of which each is there or not. */
function Several({ items, value, onChange }: Props & { items: Schema }) {
	const choices = items.enum ?? [];
	const chosen = Array.isArray(value) ? value : [];
	return (
		<div className="flex flex-wrap gap-1.5">
			{choices.map((one) => (
				<Picked
					key={JSON.stringify(one)}
					on={chosen.includes(one)}
					onClick={() => {
						const next = choices.filter((other) => chosen.includes(other) !== (other === one));
						onChange(next.length > 0 ? next : undefined);
					}}
				>
					{items["x-titles"]?.[String(one)] ?? String(one)}
				</Picked>
			))}
		</div>
	);
}

/** Named names a control for those who do not see where it stands. */
function Named({
	label,
	plain,
	error,
	children,
}: {
	label: string;
	plain: boolean;
	error?: string;
	children: ReactNode;
}) {
	if (!plain)
		return (
			<div data-wrong={error ? "" : undefined}>
				{children}
				{error && <p className="text-bad text-xs">{error}</p>}
			</div>
		);
	return (
		<Field label={<span className="sr-only">{label}</span>} error={error}>
			{children}
		</Field>
	);
}

/** Choice is a value that may have one of several forms. */
function Choice({ choices, ...props }: Props & { choices: Schema[] }) {
	const id = useId();
	const { value, onChange, root } = props;
	const [chosen, choose] = useState(() =>
		Math.max(
			0,
			choices.findIndex((one) => fits(one, value)),
		),
	);
	const form = choices[chosen] ?? {};
	const title = (one: Schema, i: number) =>
		one.title ?? one.description?.slice(0, 60) ?? (typeOf(one) === "any" ? t("Form {n}", { n: i + 1 }) : typeOf(one));
	return (
		<div className="flex flex-col gap-2">
			<Select
				id={id}
				aria-label={t("Which form")}
				value={chosen}
				onChange={(event) => {
					const to = Number(event.target.value);
					choose(to);
					onChange(blank(choices[to]!, root));
				}}
			>
				{choices.map((one, i) => (
					// biome-ignore lint/suspicious/noArrayIndexKey: forms have no other name
					<option key={i} value={i}>
						{title(one, i)}
					</option>
				))}
			</Select>
			<Named label={title(form, chosen)} plain={!isGroup(form, root)}>
				<Value {...props} schema={form} value={value} />
			</Named>
		</div>
	);
}

/** Others are members that the schema does not name. */
function Others({
	schema,
	known,
	object,
	onChange,
	root,
	depth,
	path,
}: Omit<Props, "value"> & { known: string[]; object: Record<string, unknown> }) {
	const [name, setName] = useState("");
	const others = Object.keys(object).filter((key) => !known.includes(key));
	const add = () => {
		const key = name.trim();
		if (!key || key === "__proto__" || Object.hasOwn(object, key)) return;
		onChange({ ...object, [key]: blank(schema, root) ?? starting(resolve(schema, root)) });
		setName("");
	};
	return (
		<>
			{others.map((key) => (
				<div key={key} className="flex items-end gap-2">
					<div className="min-w-0 flex-1">
						<Member
							name={key}
							required={false}
							schema={resolve(schema, root)}
							value={object[key]}
							onChange={(to) => onChange({ ...object, [key]: to })}
							root={root}
							depth={depth}
							path={path ? `${path}.${key}` : key}
						/>
					</div>
					<Button
						look="quiet"
						size="icon"
						aria-label={t("Remove {name}", { name: key })}
						onClick={() => onChange(Object.fromEntries(Object.entries(object).filter(([other]) => other !== key)))}
					>
						<Trash2 />
					</Button>
				</div>
			))}
			<div className="flex gap-2">
				<Input
					className="max-w-56"
					aria-label={t("Name of another member")}
					placeholder={t("Name of another member")}
					value={name}
					onChange={(event) => setName(event.target.value)}
					onEnter={add}
				/>
				<Button disabled={!name.trim()} onClick={add}>
					<Plus />
					{t("Add")}
				</Button>
			</div>
		</>
	);
}

/** jsonOf reads a text that may be empty, or says why it is no JSON: wrong is the sentence. */
export function jsonOf(text: string): { value?: unknown; why?: string; wrong?: string } {
	try {
		return text.trim() === "" ? {} : { value: parseExact(text) };
	} catch (error) {
		const why = whyNoJSON(error);
		return { why, wrong: ended(t("This is not JSON yet: {why}", { why })) };
	}
}

/** notJSON is the first field below an element whose text is no JSON, so that its value is
 * an earlier one. */
export const notJSON = (around: HTMLElement | null): HTMLElement | null =>
	around?.querySelector<HTMLElement>("[data-not-json]") ?? null;

/** Kept keeps texts that are no JSON yet, by where their value stands. over is the value,
 * as it is shown. */
export type Kept = {
	read: (path: string, over: string) => string | undefined;
	write: (path: string, over: string, text: string | undefined) => void;
};

const KeptTexts = createContext<Kept | undefined>(undefined);

/** JSONText is a value that is written as JSON. The value is an earlier one while the text cannot
 * be read. */
export function JSONText({
	value,
	onChange,
	rows = 4,
	path = "",
}: {
	value: unknown;
	onChange: (value: unknown) => void;
	rows?: number;
	path?: string;
}) {
	const keep = use(KeptTexts);
	const shown = value === undefined ? "" : JSON.stringify(value, null, 2);
	const [first] = useState(() => keep?.read(path, shown));
	const { typed, type } = useTyped(shown, first);
	const wrong = useMemo(() => jsonOf(typed ?? "").wrong, [typed]);
	const write = (text: string) => {
		type(text);
		const read = jsonOf(text);
		keep?.write(path, shown, read.wrong && text);
		if (!read.wrong) onChange(read.value);
	};
	return (
		<>
			<TextArea
				className="font-mono text-[12.5px]"
				rows={rows}
				spellCheck={false}
				placeholder="{ }"
				value={typed ?? shown}
				aria-invalid={wrong ? true : undefined}
				data-not-json={wrong ? true : undefined}
				onChange={(event) => write(event.target.value)}
			/>
			{wrong && <div className="text-bad text-xs">{wrong}</div>}
		</>
	);
}
