import { Plus, X } from "lucide-react";
import { type DragEvent, useEffect, useRef, useState } from "react";
import { isExact, parseExact } from "../../api/exact";
import { t } from "../../lang";
import { Button, cx, Input } from "../../ui";
import { useTyped } from "../../ui/typed";
import type { Setting } from "./definition";
import { endGroup, useEditor } from "./store";

/** pathType is what a field of the sample is while it is dragged. */
export const pathType = "application/x-genkan-path";
export type Picked = { path: string; value: unknown };

let lastField: ((picked: Picked) => void) | null = null;

/** pickInto writes a field of the sample into the expression that was edited last. It tells
 * whether there is one. */
export function pickInto(picked: Picked): boolean {
	lastField?.(picked);
	return lastField !== null;
}

/** comparison is a condition that holds for the sample. */
export function comparison({ path, value }: Picked): string {
	if (typeof value === "boolean") return value ? path : `!${path}`;
	if (value === null || typeof value === "number" || typeof value === "string" || isExact(value))
		return `${path} == ${JSON.stringify(value).replace(/^-?\d{20,}$/, "$&.0")}`; // CEL's integers have 64 bits
	return `has(${path})`;
}

/** Cel is a line for an expression. A field of the sample that is dropped on it, or clicked
 * after it, is written into it. */
export function Cel({
	value,
	onChange,
	label,
	condition,
	error,
}: {
	value: string;
	onChange: (value: string) => void;
	label: string;
	/** It must be true or false. */
	condition?: boolean;
	error?: boolean;
}) {
	const input = useRef<HTMLInputElement>(null);
	const [over, setOver] = useState(false);
	const readOnly = useEditor((s) => s.readOnly !== null);
	const pick = (picked: Picked) => {
		const text = condition ? comparison(picked) : picked.path;
		const bare = value.trim();
		endGroup();
		input.current?.focus();
		if (condition) input.current?.select();
		// It is written as if it were typed, so that the undo of the field takes it back.
		document.execCommand("insertText", false, condition && bare && bare !== "true" ? `${bare} && ${text}` : text);
	};
	const latest = useRef(pick);
	latest.current = pick;
	const stable = useRef((picked: Picked) => latest.current(picked));
	useEffect(() => {
		const own = stable.current;
		return () => {
			if (lastField === own) lastField = null;
		};
	}, []);
	return (
		<Input
			ref={input}
			value={value}
			aria-label={label}
			aria-invalid={error || undefined}
			readOnly={readOnly}
			placeholder={condition ? 'args.path == "…"' : "args.path"}
			onChange={(event) => onChange(event.target.value)}
			onFocus={() => {
				lastField = stable.current;
			}}
			onDragOver={(event: DragEvent) => {
				if (!event.dataTransfer.types.includes(pathType)) return;
				event.preventDefault();
				setOver(true);
			}}
			onDragLeave={() => setOver(false)}
			onDrop={(event) => {
				setOver(false);
				const raw = event.dataTransfer.getData(pathType);
				if (!raw) return;
				event.preventDefault();
				pick(parseExact(raw) as Picked);
			}}
			className={cx("font-mono text-[12.5px]", over && "border-accent! bg-accent-soft!")}
		/>
	);
}

const parses = (text: string): boolean => {
	try {
		JSON.parse(text);
		return true;
	} catch {
		return false;
	}
};
const textOf = (value: unknown): string =>
	typeof value === "string" && !parses(value) ? value : value === undefined ? "" : JSON.stringify(value);
const readValue = (text: string): unknown => (parses(text) ? parseExact(text) : text);

function FixedValue({ value, onChange }: { value: unknown; onChange: (value: unknown) => void }) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	const shown = textOf(value);
	const { typed = shown, type, settle } = useTyped(shown);
	return (
		<Input
			aria-label={t("Value")}
			value={typed}
			readOnly={readOnly}
			onChange={(event) => {
				type(event.target.value);
				onChange(readValue(event.target.value));
			}}
			onBlur={settle}
			className="font-mono text-[12.5px]"
		/>
	);
}

/** NameField is a name among others. One that is empty or taken stays in the field, marked,
 * until it is another. */
export function NameField({
	label,
	name,
	taken,
	onRename,
	className,
}: {
	label: string;
	name: string;
	/** The names of all. */
	taken: string[];
	onRename: (name: string) => void;
	className?: string;
}) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	const { typed = name, type, settle } = useTyped(name);
	return (
		<Input
			aria-label={label}
			value={typed}
			aria-invalid={typed !== name || undefined}
			readOnly={readOnly}
			onChange={(event) => {
				const to = event.target.value;
				type(to);
				if (to && !taken.includes(to)) onRename(to);
			}}
			onBlur={settle}
			className={className}
		/>
	);
}

/** Values are names with a value or an expression each. */
export function Values({
	values,
	onChange,
	label,
	names,
}: {
	values: Record<string, Setting>;
	onChange: (values: Record<string, Setting>) => void;
	label: string;
	/** Names that are offered. */
	names?: string[];
}) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	const rows = Object.entries(values);
	const write = (i: number, name: string, setting: Setting) =>
		onChange(Object.fromEntries(rows.map((row, at) => (at === i ? [name, setting] : row))));
	const free = names?.find((name) => !Object.hasOwn(values, name)) ?? freeName(values);
	// A row stays the same when it is renamed, also where it moves: names like 1 come first.
	const keys = useRef(new Map<string, number>());
	const last = useRef(0);
	const keyOf = (name: string): number => {
		if (!keys.current.has(name)) keys.current.set(name, last.current++);
		return keys.current.get(name)!;
	};
	return (
		<fieldset className="flex flex-col gap-2">
			<legend className="mb-1 font-medium text-muted text-xs">{label}</legend>
			{rows.map(([name, setting], i) => {
				const cel = setting?.cel !== undefined;
				return (
					<div key={keyOf(name)} className="flex items-center gap-1.5">
						<NameField
							label={t("Name")}
							name={name}
							taken={Object.keys(values)}
							onRename={(to) => {
								keys.current.set(to, keyOf(name));
								keys.current.delete(name);
								write(i, to, setting);
							}}
							className="max-w-28 font-mono text-[12.5px]"
						/>
						<button
							type="button"
							disabled={readOnly}
							title={cel ? t("An expression. Click for a fixed value.") : t("A fixed value. Click for an expression.")}
							aria-label={
								cel ? t("An expression. Click for a fixed value.") : t("A fixed value. Click for an expression.")
							}
							onClick={() =>
								write(
									i,
									name,
									cel
										? { value: setting.cel }
										: {
												cel:
													typeof setting?.value === "string"
														? JSON.stringify(setting.value)
														: textOf(setting?.value) || "args",
											},
								)
							}
							className={cx(
								"h-8 w-9 shrink-0 rounded-md border font-mono text-xs",
								cel ? "border-accent bg-accent-soft text-accent" : "border-line-strong text-muted",
							)}
						>
							{cel ? "ƒ" : "="}
						</button>
						{cel ? (
							<Cel
								label={t("Expression")}
								value={setting.cel ?? ""}
								onChange={(text) => write(i, name, { cel: text })}
							/>
						) : (
							<FixedValue value={setting?.value} onChange={(value) => write(i, name, { value })} />
						)}
						{!readOnly && (
							<Button
								look="quiet"
								size="iconSmall"
								aria-label={t("Remove {name}", { name })}
								onClick={() => onChange(Object.fromEntries(rows.filter((_, at) => at !== i)))}
							>
								<X />
							</Button>
						)}
					</div>
				);
			})}
			{!readOnly && (
				<Button
					look="quiet"
					size="small"
					className="self-start"
					onClick={() => onChange({ ...values, [free]: { value: "" } })}
				>
					<Plus />
					{t("Add a value")}
				</Button>
			)}
		</fieldset>
	);
}

function freeName(values: Record<string, unknown>): string {
	for (let n = 1; ; n++) if (!(`name${n}` in values)) return `name${n}`;
}

/** Patterns are names or patterns in one line. */
export function Patterns({
	value,
	onChange,
	placeholder,
	...more
}: {
	value: string[];
	onChange: (value: string[]) => void;
	placeholder?: string;
	/** The id of a datalist. */
	list?: string;
	onFocus?: () => void;
	onBlur?: () => void;
}) {
	const split = (text: string) => text.split(/[\s,、]+/).filter(Boolean);
	const readOnly = useEditor((s) => s.readOnly !== null);
	const shown = value.join(", ");
	const { typed = shown, type } = useTyped(shown);
	return (
		<Input
			value={typed}
			placeholder={placeholder}
			readOnly={readOnly}
			{...more}
			onChange={(event) => {
				type(event.target.value);
				onChange(split(event.target.value));
			}}
			className="font-mono text-[12.5px]"
		/>
	);
}
