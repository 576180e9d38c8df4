import { Fragment, lazy, memo, type ReactNode, Suspense, use, useMemo, useState } from "react";
import { isExact, parseExact } from "../api/exact";
import { bytes, t, tn } from "../lang";
import { Button } from "./basics";
import { Json, marked, Sought } from "./json";
import { likeMarkdown } from "./likemarkdown";
import { seen } from "./seen";

const Markdown = lazy(() => import("./markdown"));

type Block = {
	type?: string;
	text?: string;
	data?: string;
	mimeType?: string;
	uri?: string;
	blob?: string;
	name?: string;
	title?: string;
	description?: string;
	resource?: Block;
	content?: Block | Block[];
	role?: string;
};

/** So many blocks of an answer are formatted as Markdown by themselves. */
const mostFormatted = 20;

/** Result shows what a tool, a prompt or a resource answered as people would like to see
 * it: text, Markdown, images, tables. Everything in it is text of others. worked overrides
 * isError: the outline of a large answer is marked as an error because it lacks the declared
 * output schema. */
export default memo(function Result({ result: value, worked }: { result: unknown; worked?: boolean }) {
	const result = (value ?? {}) as {
		content?: Block[];
		contents?: Block[];
		messages?: Block[];
		structuredContent?: unknown;
		isError?: boolean;
		code?: number;
		message?: string;
	};
	const blocks = [result.content, result.contents, result.messages]
		.flatMap((list) => (Array.isArray(list) ? list : []))
		.flatMap(partsOf);
	const structured = result.structuredContent;
	// Servers send what is structured a second time, as text.
	const same = structured === undefined ? undefined : JSON.stringify(structured);
	// Where its only value is the text, the text is easier to read.
	const onlyText =
		typeof structured === "object" && structured !== null && Object.values(structured).length === 1
			? Object.values(structured)[0]
			: undefined;
	const wrapped = onlyText !== undefined && blocks.length === 1 && blocks[0]?.text === onlyText;
	const shown = blocks.filter((block) => {
		if (same === undefined || block?.type !== "text" || typeof block.text !== "string") return true;
		return JSON.stringify(parsed(block.text)) !== same;
	});
	if (typeof result.message === "string" && typeof result.code === "number")
		return (
			<div className="px-4 py-3 break-words whitespace-pre-wrap text-bad">
				{marked(result.message)} <span className="text-muted">({result.code})</span>
			</div>
		);
	if (shown.length === 0 && structured === undefined) {
		if (blocks.length === 0 && !Array.isArray(result.content)) return <Json value={value} />;
		return <p className="px-4 py-3 text-muted">{t("The answer is empty.")}</p>;
	}
	return (
		<div className="flex flex-col divide-y divide-line">
			{structured !== undefined && !wrapped && (
				<div>
					{shown.length > 0 && <Label>structuredContent</Label>}
					<Value value={structured} />
				</div>
			)}
			{shown.map((block, i) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: blocks stay in their order
				<div key={i}>
					{structured !== undefined && !wrapped && i === 0 && <Label>content</Label>}
					<Part block={block} bad={result.isError && !worked} plain={i >= mostFormatted} />
				</div>
			))}
		</div>
	);
});

/** partsOf are the blocks of a message, the first with its role; a block is its only part. */
function partsOf(block: Block): Block[] {
	if (!block?.content || typeof block.content !== "object") return [block];
	const [first, ...others] = [block.content].flat();
	return [{ ...first, role: block.role }, ...others];
}

/** Label is the name of a part of the answer in MCP. */
const Label = ({ children }: { children: string }) => (
	<div data-term className="px-4 pt-3 font-mono text-muted text-xs">
		{children}
	</div>
);

/** word is a name or an address that others give, if it is a text. */
const word = (value: unknown): ReactNode => typeof value === "string" && marked(value);

function Part({ block, ...rest }: { block: Block; bad?: boolean; plain?: boolean }): ReactNode {
	if (typeof block !== "object" || block === null) return <Json value={block} />;
	if (block.role) {
		const { role, ...inner } = block;
		return (
			<div>
				<div className="px-4 pt-3 font-medium text-muted text-xs">{word(role)}</div>
				<Part block={inner} {...rest} />
			</div>
		);
	}
	if (block.resource)
		return (
			<div>
				<div className="px-4 pt-3 font-medium text-muted text-xs wrap-anywhere">{word(block.resource.uri)}</div>
				<Part block={block.resource} plain={rest.plain} />
			</div>
		);
	if (typeof block.text === "string") return <Text text={block.text} kind={block.mimeType} uri={block.uri} {...rest} />;
	const data = block.data ?? block.blob;
	if (typeof data === "string" && /^image\/[\w.+-]+$/.test(block.mimeType ?? ""))
		return (
			<figure className="px-4 py-3">
				<img
					src={`data:${block.mimeType};base64,${data}`}
					alt={t("Image of the answer")}
					className="max-h-[480px] max-w-full rounded-md border border-line bg-sunken"
				/>
				<figcaption className="mt-1 text-faint text-xs">
					{block.mimeType} · {bytes(Math.round((data.length * 3) / 4))}
				</figcaption>
			</figure>
		);
	if (typeof data === "string")
		return (
			<p className="px-4 py-3 text-muted">
				{word(block.uri ?? block.type)} · {word(block.mimeType ?? t("bytes"))} ·{" "}
				{bytes(Math.round((data.length * 3) / 4))}
			</p>
		);
	if (block.type === "resource_link")
		return (
			<p className="px-4 py-3 break-words">
				<b>{word(block.title ?? block.name)}</b> <code className="wrap-anywhere text-muted">{word(block.uri)}</code>
				{block.description && <span className="block text-muted">{word(block.description)}</span>}
			</p>
		);
	return <Json value={block} />;
}

function parsed(text: string): unknown {
	const first = text.trimStart()[0];
	if ((first !== "{" && first !== "[") || text.length > 2_000_000) return undefined;
	try {
		return parseExact(text);
	} catch {
		return undefined;
	}
}

const longest = 200_000;

function Text({
	text,
	bad,
	plain,
	kind,
	uri,
}: {
	text: string;
	bad?: boolean;
	/** It is formatted only if somebody asks for it. */
	plain?: boolean;
	kind?: string;
	uri?: string;
}) {
	const value = useMemo(() => parsed(text), [text]);
	const all = use(Sought) !== "";
	const [asked, ask] = useState(false);
	const cut = text.length > longest && !all ? `${text.slice(0, longest)}\n…` : text;
	const isMarkdown = useMemo(
		() => value === undefined && !bad && likeMarkdown(cut, kind, uri),
		[value, bad, cut, kind, uri],
	);
	if (value !== undefined) return <Value value={value} />;
	const written = (
		<div
			// biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls is reached by keyboard
			tabIndex={0}
			className={`max-h-[560px] overflow-auto px-4 py-3 break-words whitespace-pre-wrap ${bad ? "text-bad" : ""}`}
		>
			{marked(cut)}
		</div>
	);
	if (!isMarkdown) return written;
	if (plain && !asked)
		return (
			<>
				{written}
				<Button look="quiet" size="small" className="mx-2 mb-2" onClick={() => ask(true)}>
					{t("Show as Markdown")}
				</Button>
			</>
		);
	return (
		<Suspense fallback={written}>
			<div
				// biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls is reached by keyboard
				tabIndex={0}
				className="max-h-[560px] overflow-auto px-4 py-3"
			>
				<Markdown lines text={cut} />
			</div>
		</Suspense>
	);
}

/** Value shows rows of JSON as a table, and everything else as JSON. */
function Value({ value }: { value: unknown }) {
	const rows = rowsOf(value);
	if (!rows) return <Json value={value} />;
	const rest = value && !Array.isArray(value) ? Object.entries(value).filter(([, one]) => one !== rows) : [];
	return (
		<div>
			{rest.length > 0 && <Json value={Object.fromEntries(rest)} className="pb-0!" />}
			<Table rows={rows} />
		</div>
	);
}

type Record_ = Record<string, unknown>;

/** rowsOf is the list of objects that a value is, or has; undefined for none. */
function rowsOf(value: unknown): Record_[] | undefined {
	const isRows = (list: unknown): list is Record_[] =>
		Array.isArray(list) &&
		list.length > 0 &&
		list.every((row) => typeof row === "object" && row !== null && !Array.isArray(row) && !isExact(row));
	if (isRows(value)) return value;
	if (typeof value !== "object" || value === null) return undefined;
	const lists = Object.values(value).filter(isRows);
	return lists.length === 1 ? lists[0] : undefined;
}

const mostColumns = 12;
/** So many rows with a text that is looked for are drawn beyond the first ones. */
const mostFound = 1000;

function Table({ rows }: { rows: Record_[] }) {
	const [shown, setShown] = useState(50);
	const sought = use(Sought);
	const columns = useMemo(() => {
		const names = new Set<string>();
		for (const row of rows.slice(0, 100)) for (const name of Object.keys(row)) names.add(name);
		const first = [...names].slice(0, mostColumns);
		const found = new Set(first);
		if (sought)
			for (const row of rows)
				for (const [name, value] of Object.entries(row))
					if (!found.has(name) && (has(name, sought) || has(value, sought))) found.add(name);
		return [...found];
	}, [rows, sought]);
	const drawn = useMemo(() => {
		const first = rows.slice(0, shown).map((row, i) => ({ row, i }));
		if (!sought) return first;
		const found = rows.flatMap((row, i) =>
			i >= shown && Object.values(row).some((value) => has(value, sought)) ? [{ row, i }] : [],
		);
		return [...first, ...found.slice(0, mostFound)];
	}, [rows, shown, sought]);
	return (
		<div
			// biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls is reached by keyboard
			tabIndex={0}
			className="max-h-[560px] overflow-auto"
		>
			<table className="w-full border-collapse text-sm">
				<thead className="sticky top-0 bg-surface">
					<tr>
						{columns.map((name) => (
							<th
								key={name}
								scope="col"
								className="h-8 border-line border-b px-4 text-left font-medium text-faint text-xs"
							>
								{seen(name)}
							</th>
						))}
					</tr>
				</thead>
				<tbody>
					{drawn.map(({ row, i }, at) => (
						<Fragment key={i}>
							{at > 0 && drawn[at - 1]!.i < i - 1 && (
								<tr className="border-line border-b text-faint">
									<td colSpan={columns.length} className="px-4">
										…
									</td>
								</tr>
							)}
							<tr className="border-line not-last:border-b">
								{columns.map((name) => (
									<td
										key={name}
										className={isNumber(row[name]) ? "num px-4 py-1.5" : "line max-w-80 px-4 py-1.5 align-top"}
									>
										{cell(row[name])}
									</td>
								))}
							</tr>
						</Fragment>
					))}
				</tbody>
			</table>
			{rows.length > shown && (
				<Button look="quiet" size="small" className="m-2" onClick={() => setShown(shown + 200)}>
					{tn(rows.length - shown, "{n} more row", "{n} more rows")}
				</Button>
			)}
		</div>
	);
}

const isNumber = (value: unknown): boolean => typeof value === "number" || isExact(value);

/** has tells whether a cell shows a text that is looked for. */
const has = (value: unknown, sought: string): boolean =>
	value !== undefined &&
	value !== null &&
	(typeof value === "string" ? value : JSON.stringify(value)).toLowerCase().includes(sought);

function cell(value: unknown): ReactNode {
	if (value === undefined || value === null) return <span className="text-faint">–</span>;
	if (typeof value === "string") return <span title={seen(value)}>{marked(value)}</span>;
	const text = seen(JSON.stringify(value));
	if (isNumber(value)) return text;
	return (
		<code title={text} className="text-xs">
			{marked(text)}
		</code>
	);
}
