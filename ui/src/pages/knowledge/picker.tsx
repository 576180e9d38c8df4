import { useId, useLayoutEffect, useRef, useState } from "react";
import { query, type S } from "@/api/client";
import { t } from "@/lang";
import { useLate } from "@/shell/search";
import { composing, cx, Input } from "@/ui";
import { refOf } from "./drafts";

type Summary = S["ItemSummary"];

/** ItemPicker finds an item by its words or its reference. */
export function ItemPicker({
	label,
	without,
	onPick,
	className,
}: {
	label: string;
	/** References that are not offered. */
	without: string[];
	onPick: (item: Summary) => void;
	className?: string;
}) {
	const id = useId();
	const [text, setText] = useState("");
	const [open, setOpen] = useState(false);
	const [at, setAt] = useState(0);
	const wanted = useLate(text.trim());
	const found = query.useQuery(
		"get",
		"/v1/items/search",
		{ params: { query: { query: wanted, limit: 8 } } },
		{ enabled: wanted !== "", placeholderData: (before: unknown) => before as never },
	);
	const all: Summary[] = wanted === "" || text.trim() === "" ? [] : (found.data?.items ?? []);
	const items = all.filter((one) => !without.includes(refOf(one)));
	const shown = open && text.trim() !== "";
	// Where it would leave the card, the list opens upwards.
	const box = useRef<HTMLDivElement>(null);
	const [up, setUp] = useState(false);
	useLayoutEffect(() => {
		if (!shown || !box.current) return;
		const at = box.current.getBoundingClientRect();
		const card = box.current.closest('[role="form"]')?.parentElement?.getBoundingClientRect();
		setUp(Math.min(card?.bottom ?? innerHeight, innerHeight) - at.bottom < 300 && at.top > 300);
	}, [shown]);
	const pick = (item: Summary | undefined) => {
		if (!item) return;
		onPick(item);
		setText("");
		setAt(0);
	};
	return (
		<div ref={box} className={cx("relative min-w-0", className)}>
			<Input
				role="combobox"
				aria-label={label}
				placeholder={label}
				aria-expanded={shown}
				aria-controls={id}
				aria-autocomplete="list"
				aria-activedescendant={shown && items[at] ? `${id}-${at}` : undefined}
				value={text}
				onChange={(event) => {
					setText(event.target.value);
					setOpen(true);
					setAt(0);
				}}
				onFocus={() => setOpen(true)}
				onBlur={() => setOpen(false)}
				onEnter={() => pick(items[at])}
				onKeyDown={(event) => {
					if (composing(event)) return;
					const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
					if (step && items.length > 0) {
						event.preventDefault();
						setAt((at + step + items.length) % items.length);
					} else if (event.key === "Escape" && text) {
						event.preventDefault();
						event.stopPropagation();
						setText("");
					}
				}}
			/>
			<div
				id={id}
				role="listbox"
				aria-label={label}
				className={cx(
					"absolute inset-x-0 z-20 max-h-72 overflow-auto rounded-lg border border-line bg-surface p-1 shadow-card",
					up ? "bottom-9" : "top-9",
					!shown && "hidden",
				)}
			>
				{items.map((item, i) => (
					// biome-ignore lint/a11y/useKeyWithClickEvents: the input takes the keys
					<div
						key={item.id}
						id={`${id}-${i}`}
						role="option"
						aria-selected={i === at}
						onMouseDown={(event) => event.preventDefault()}
						onClick={() => pick(item)}
						className={cx(
							"flex min-h-8 cursor-pointer items-center gap-2 rounded-md px-2.5",
							i === at ? "bg-accent-soft" : "hover:bg-sunken",
						)}
					>
						<span className="line flex-1">{item.title}</span>
						<span className="text-faint text-xs">{refOf(item)}</span>
					</div>
				))}
				{items.length === 0 && (
					<p className="px-2.5 py-1.5 text-muted">
						{wanted !== text.trim() || found.isFetching ? t("Searching …") : t("No item has these words.")}
					</p>
				)}
			</div>
		</div>
	);
}
