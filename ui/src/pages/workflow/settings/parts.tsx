import { AlertTriangle } from "lucide-react";
import { type ReactNode, useState } from "react";
import { readNumber, t } from "@/lang";
import { Field, Input, Select, TextArea } from "@/ui";
import { useJSON } from "@/ui/schemaform";
import { canFail, hookOf, type Node } from "../definition";
import { editNode, type Problem, useEditor } from "../store";
import { unreadOf } from "../unread";

export const Body = ({ children }: { children: ReactNode }) => (
	<div className="flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto p-4">{children}</div>
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
					"": t("By its edge “fails”, or the workflow fails"),
					fail: t("The workflow fails"),
					continue: t("Go on as if nothing happened"),
					branch: t("By its edge “fails”"),
				}}
			/>
		</Field>
	);
}

/** JsonField is a value as JSON. What cannot be read yet is kept beside the draft until it
 * can. */
export function JsonField({
	label,
	value,
	onChange,
	path,
	step,
}: {
	label: string;
	value: unknown;
	onChange: (value: unknown) => void;
	/** Where the value stands in the workflow, or in a step. */
	path: string;
	step?: string;
}) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	const workflow = useEditor((s) => s.id);
	const { text, wrong, write, settle } = useJSON(value, onChange, path, unreadOf(workflow, step));
	return (
		<Field label={label} error={wrong && t("Not saved: this is not JSON yet ({why}).", { why: wrong })}>
			<TextArea
				rows={3}
				readOnly={readOnly}
				value={text}
				onChange={(event) => write(event.target.value)}
				onBlur={settle}
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
	onChange,
	...data
}: {
	label: string;
	hint?: string;
	placeholder: string;
	value: unknown;
	onChange: (value: number | undefined) => void;
}) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	// What is being written, until the value is another one.
	const [written, write] = useState<{ text: string; value: unknown; wrong: boolean }>();
	const current = written && written.value === value ? written : undefined;
	return (
		<Field label={label} hint={hint} error={current?.wrong && t("Not saved: this must be a whole number.")}>
			<Input
				{...data}
				inputMode="numeric"
				readOnly={readOnly}
				placeholder={placeholder}
				value={current?.text ?? String(value ?? "")}
				onChange={(event) => {
					const text = event.target.value;
					const read = readNumber(text);
					const wrong = read !== undefined && !Number.isSafeInteger(read);
					write({ text, value: wrong ? value : read, wrong });
					if (!wrong) onChange(read as number | undefined);
				}}
				onBlur={() => !current?.wrong && write(undefined)}
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
						{p.reason}
						{p.line ? t("{title} ({name})", { title: "", name: `${p.line}:${p.column}` }) : ""}
					</span>
				</li>
			))}
		</ul>
	);
}
