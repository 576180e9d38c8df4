import { AlertTriangle } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { readNumber, t } from "@/lang";
import { Field, Input, Select, TextArea } from "@/ui";
import { jsonOf } from "@/ui/schemaform";
import { useTyped } from "@/ui/typed";
import { failsBy, hookOf, type Node } from "../definition";
import { canFail } from "../kinds";
import { rename } from "../node";
import { editNode, editor, nameOf, type Problem, useEditor } from "../store";
import { reasonOf } from "../sync";
import { overOf, unreadOf } from "../unread";

export const Body = ({ children }: { children: ReactNode }) => (
	<div className="relative flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto p-4">{children}</div>
);

/** set is an object with a key set, or without it. */
export function set(object: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
	if (value !== undefined) return { ...object, [key]: value };
	const { [key]: _, ...rest } = object;
	return rest;
}

export function Choice({
	value,
	onChange,
	options,
}: {
	value: string;
	onChange: (value: string) => void;
	options: Record<string, string>;
}) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	return (
		<Select value={value} disabled={readOnly} onChange={(event) => onChange(event.target.value)}>
			{Object.entries(options).map(([key, text]) => (
				<option key={key} value={key}>
					{text}
				</option>
			))}
		</Select>
	);
}

/** NodeName is the name of a node. */
export function NodeName({ node, ...rest }: { node: Node; "aria-label"?: string; className?: string }) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	return (
		<Input
			{...rest}
			value={node.data?.label ?? ""}
			placeholder={nameOf(node)}
			readOnly={readOnly}
			onChange={(event) =>
				event.target.value
					? editNode(node.id, (data) => ({ ...data, label: event.target.value }), `name ${node.id}`)
					: rename(node, "")
			}
		/>
	);
}

export function Message({ node, label, placeholder }: { node: Node; label: string; placeholder: string }) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	return (
		<Field label={label}>
			<TextArea
				rows={2}
				readOnly={readOnly}
				placeholder={placeholder}
				value={String(node.data?.message ?? "")}
				onChange={(event) =>
					editNode(node.id, (data) => ({ ...data, message: event.target.value }), `message ${node.id}`)
				}
			/>
		</Field>
	);
}

export function OnError({ node }: { node: Node }) {
	const branches = useEditor((s) => failsBy(s.draft, node));
	if (!canFail(node)) return null;
	const inHook = node.type === "hook";
	const value = inHook ? hookOf(node).onError : (node.data?.onError as string | undefined);
	return (
		<Field label={t("When it fails")}>
			<Choice
				value={value ?? ""}
				onChange={(value) =>
					editNode(node.id, (data) =>
						inHook
							? { ...data, hook: set((data.hook ?? {}) as Record<string, unknown>, "onError", value || undefined) }
							: set(data, "onError", value || undefined),
					)
				}
				options={{
					"": branches ? t("Default: by its edge “fails”") : t("Default: the workflow fails"),
					fail: t("The workflow fails"),
					continue: t("Go on as if nothing happened"),
					branch: t("By its edge “fails”, which must be there"),
				}}
			/>
		</Field>
	);
}

/** JsonField is a value as JSON. What cannot be read yet, or is refused, is kept beside the
 * draft until it can be taken. */
export function JsonField({
	label,
	value,
	onChange,
	path,
	step,
	refusal,
	hint,
}: {
	label: string;
	hint?: string;
	value: unknown;
	onChange: (value: unknown) => void;
	/** Where the value stands in the workflow, or in a step. */
	path: string;
	step?: string;
	/** Says why another value cannot be taken; otherwise takes it by calling take. */
	refusal?: (value: unknown, take: () => void) => Promise<string | undefined>;
}) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	const workflow = useEditor((s) => s.id);
	const keep = unreadOf(workflow, step);
	const shown = value === undefined ? "" : JSON.stringify(value, null, 2);
	const [first] = useState(() => keep.read(path, shown));
	const { typed, type, settle } = useTyped(shown, first);
	const [refused, setRefused] = useState<{ text: string; why: string }>();
	const last = useRef("");
	const unreadable = typed === undefined ? undefined : jsonOf(typed).why;
	const write = (text: string) => {
		last.current = text;
		type(text);
		keep.write(path, shown, text);
		const { value: read, why } = jsonOf(text);
		if (why !== undefined) return;
		const take = () => {
			if (last.current !== text || editor().id !== workflow) return; // it was written on, or left
			keep.write(path, shown, undefined);
			type(text);
			onChange(read);
		};
		if (!refusal) return take();
		void refusal(read, take).then((why) => setRefused(why === undefined ? undefined : { text, why }));
	};
	// What was refused before a reload is asked about again.
	// biome-ignore lint/correctness/useExhaustiveDependencies: once
	useEffect(() => {
		if (refusal && first !== undefined && !readOnly) write(first);
	}, []);
	return (
		<Field
			label={label}
			hint={hint}
			error={
				unreadable !== undefined
					? t("Not saved: this is not JSON yet ({why}).", { why: unreadable })
					: refused && refused.text === typed && t("Not saved: {why}", { why: refused.why })
			}
		>
			<TextArea
				rows={3}
				readOnly={readOnly}
				value={typed ?? shown}
				onChange={(event) => write(event.target.value)}
				onBlur={() => keep.read(path, shown) === undefined && settle()}
				className="font-mono text-[12.5px]"
			/>
		</Field>
	);
}

/** WholeField is a whole number, or nothing. A text that is none is marked and stays out of the
 * draft. */
export function WholeField({
	label,
	hint,
	placeholder,
	value,
	path,
	step,
	onChange,
	...data
}: {
	label: string;
	hint?: string;
	placeholder: string;
	value: unknown;
	/** Where the value stands in the workflow, or in a step. */
	path: string;
	step?: string;
	onChange: (value: number | undefined) => void;
}) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	const keep = unreadOf(
		useEditor((s) => s.id),
		step,
	);
	const shown = String(value ?? "");
	const [first] = useState(() => keep.read(path, overOf(value)));
	const { typed, type, settle } = useTyped(shown, first);
	const isWrong = (n: unknown) => n !== undefined && !Number.isSafeInteger(n);
	const wrong = typed !== undefined && isWrong(readNumber(typed));
	return (
		<Field label={label} hint={hint} error={wrong && t("Not saved: this must be a whole number.")}>
			<Input
				{...data}
				inputMode="numeric"
				readOnly={readOnly}
				placeholder={placeholder}
				value={typed ?? shown}
				onChange={(event) => {
					const read = readNumber(event.target.value);
					type(event.target.value);
					keep.write(path, overOf(value), isWrong(read) ? event.target.value : undefined);
					if (!isWrong(read)) onChange(read as number | undefined);
				}}
				onBlur={() => !wrong && settle()}
			/>
		</Field>
	);
}

/** Wrong says what is wrong with a node. */
export function Wrong({ problems }: { problems: Problem[] }) {
	return (
		<ul className="shrink-0 border-line border-b bg-bad-soft px-4 py-2 text-bad text-xs">
			{problems.map((p, i) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: two may say the same
				<li key={i} className="flex gap-2">
					<AlertTriangle aria-hidden className="mt-0.5 size-3 shrink-0" />
					<span>
						{p.line
							? t("{name}: {reason}", {
									name: t("line {line}, column {column}", { line: p.line, column: p.column ?? 1 }),
									reason: reasonOf({ ...p, line: undefined }),
								})
							: reasonOf(p)}
					</span>
				</li>
			))}
		</ul>
	);
}
