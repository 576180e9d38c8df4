import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { api, type S } from "@/api/client";
import { type Event, useConnected, useEvents } from "@/api/events";
import { type Filters, listQuery, mayShow } from "./filters";
import { type Call, rowsOf } from "./rows";

const pageSize = 100;
/** With so many calls, or after so many that ended, the list begins anew when its reader is
 * at the top. */
const mostCalls = 5000;

type Arrived = Call & { seq: number };

/** Feed keeps the calls of a list: pages of the history, and those that events tell of.
 * It tells its watchers at most once in each frame. */
export class Feed {
	private calls = new Map<string, Arrived>();
	private seq = 0;
	private next: string | undefined;
	/** Calls that are not loaded ended at this time or before. */
	private boundary = 0;
	private loading = false;
	/** How often the list began. An answer to a question of an earlier turn is of no use. */
	private turn = 0;
	/** How many calls have ended since then. */
	private ended = 0;
	private closed = false;
	private frame = 0;
	private timer: ReturnType<typeof setTimeout> | undefined;
	/** Whether the newest calls are being fetched, and whether more has happened meanwhile. */
	private fetching = false;
	private stale = false;
	/** When they were asked for last. */
	private asked = 0;
	/** While somebody reads further down, what is newer than this is not shown. */
	private heldAt: number | undefined;
	/** How many of these are only counted. */
	private counted = 0;
	/** Whether there is a first page, and what the history says of itself. */
	ready = false;
	history: S["HistoryState"] | undefined;
	/** How far a search for a text came that ran out of time. */
	searchedUntil: string | undefined;
	error: unknown;

	constructor(
		private readonly filters: Filters,
		private readonly changed: () => void,
	) {}

	private tell(): void {
		if (this.frame || this.closed) return;
		this.frame = requestAnimationFrame(() => {
			this.frame = 0;
			this.changed();
		});
	}

	close(): void {
		this.closed = true;
		cancelAnimationFrame(this.frame);
		clearTimeout(this.timer);
	}

	/** isFull tells whether so many calls are held back that new ones are only counted. */
	private isFull(id: string): boolean {
		return this.heldAt !== undefined && this.seq - this.heldAt >= mostCalls && !this.calls.has(id);
	}

	private put(call: S["ListedCall"] | S["CallStarted"]): void {
		const known = this.calls.get(call.id);
		const ended = known !== undefined && known.outcome === undefined && "outcome" in call;
		this.calls.set(call.id, {
			...known,
			...call,
			arguments: call.arguments ?? known?.arguments,
			started: known?.started ?? Date.parse(call.startedAt),
			alone: known?.alone || (ended && this.heldAt !== undefined && known.seq <= this.heldAt) || undefined,
			seq: known?.seq ?? ++this.seq,
		});
	}

	private async ask(limit: number, after?: string): Promise<S["CallList"]> {
		if (!after) this.asked = Date.now();
		const { data } = await api.GET("/v1/calls", {
			params: { query: { ...listQuery(this.filters), limit, ...(after && { after }) } },
		});
		return data!;
	}

	/** begin loads the newest page in place of everything. */
	async begin(): Promise<void> {
		const turn = ++this.turn;
		const last = this.seq;
		this.ended = 0;
		this.counted = 0;
		this.loading = true;
		try {
			const page = await this.ask(pageSize);
			if (this.closed || turn !== this.turn) return;
			const running = new Map(page.running?.map((call) => [call.id, call]));
			// Some of them have ended since then, and others have begun.
			const kept = [...this.calls.values()].filter((call) => call.seq > last || running.has(call.id));
			this.calls = new Map(kept.map((call) => [call.id, call]));
			this.boundary = 0;
			this.take(page);
			for (const call of running.values()) if (!this.calls.has(call.id) && mayShow(this.filters, call)) this.put(call);
			this.ready = true;
			this.error = undefined;
		} catch (error) {
			if (turn !== this.turn) return;
			this.error = error;
		}
		this.loading = false;
		this.tell();
	}

	/** more loads the next older page. */
	more = async (): Promise<void> => {
		if (this.loading || !this.next || this.closed) return;
		const turn = this.turn;
		this.loading = true;
		try {
			const page = await this.ask(pageSize * 2, this.next);
			if (turn !== this.turn) return;
			this.take(page);
			this.error = undefined;
		} catch (error) {
			if (turn !== this.turn) return;
			this.error = error;
		}
		this.loading = false;
		this.tell();
	};

	private take(page: S["CallList"]): void {
		// What comes from below is no news to somebody who reads there.
		const held = this.heldAt;
		for (const call of page.calls) {
			this.put(call);
			if (held !== undefined) this.calls.get(call.id)!.seq = 0;
			const ended = Date.parse(call.startedAt) + call.tookMillis;
			if (!this.boundary || ended < this.boundary) this.boundary = ended;
		}
		this.next = page.next;
		this.history = page.history;
		this.searchedUntil = page.searchedUntil;
	}

	/** onEvent shows what has just begun or ended. */
	onEvent(event: Event): void {
		if (event.name === "call.started") {
			const call = event.data as S["CallStarted"];
			if (!mayShow(this.filters, call) || this.calls.has(call.id) || this.isFull(call.id)) return;
			this.put(call);
			this.tell();
			// The list knows the arguments. Most calls have ended by then.
			this.fetchSoon();
		} else if (event.name === "call.ended") {
			const call = event.data as S["ListedCall"];
			if (this.calls.has(call.id) || mayShow(this.filters, call)) {
				if (this.isFull(call.id)) this.counted++;
				else this.put(call);
				this.tell();
			}
			// What was loaded does not count: where calls fold into few rows, much of it is needed.
			if (++this.ended > mostCalls && this.heldAt === undefined) void this.begin();
			// The history knows the arguments, and which calls a filter selects.
			this.fetchSoon();
		} else if (event.name === "dropped" || event.name === "config.reloaded") void this.begin();
	}

	/** fetchSoon fetches the newest calls: at once, unless they were asked for less than 250 ms
	 * ago. It makes one request at a time: a search may take seconds. */
	private fetchSoon(): void {
		if (this.fetching) this.stale = true;
		else if (!this.timer) {
			const wait = this.asked + 250 - Date.now();
			if (wait > 0) this.timer = setTimeout(() => void this.fetchNewest(), wait);
			else void this.fetchNewest();
		}
	}

	private async fetchNewest(): Promise<void> {
		this.timer = undefined;
		this.fetching = true;
		this.stale = false; // what happens from now on may be too late for this answer
		const turn = this.turn;
		try {
			const page = await this.ask(50);
			if (this.closed || turn !== this.turn) return;
			this.history = page.history;
			for (const call of page.calls) if (!this.isFull(call.id)) this.put(call);
			for (const call of page.running ?? []) {
				const known = this.calls.get(call.id);
				if (known) known.arguments ??= call.arguments; // it may have ended since
			}
			this.tell();
		} catch {
			// The next call asks again.
		} finally {
			this.fetching = false;
			if (this.stale && !this.closed) this.fetchSoon();
		}
	}

	/** hold keeps the list as it is for somebody who reads further down, or lets it go on. */
	hold(held: boolean): void {
		if (held === (this.heldAt !== undefined)) return;
		this.heldAt = held ? this.seq : undefined;
		if (!held) {
			for (const call of this.calls.values()) call.alone = undefined;
			if (this.calls.size > mostCalls || this.counted > 0) void this.begin();
		}
		this.tell();
	}

	/** shown are the calls to draw, and how many newer ones there are. */
	shown(): { calls: Call[]; fresh: number; hasMore: boolean } {
		const calls: Call[] = [];
		let fresh = this.counted;
		for (const call of this.calls.values()) {
			if (this.heldAt !== undefined && call.seq > this.heldAt) fresh++;
			// Older pages may have calls that began later than this one: it waits for them.
			else if (!this.next || call.started >= this.boundary || call.outcome === undefined) calls.push(call);
		}
		return { calls, fresh, hasMore: this.next !== undefined };
	}
}

/** useFeed are the calls of a list with filters, live. */
export function useFeed(filters: Filters, open: ReadonlySet<string>) {
	const [version, setVersion] = useState(0);
	const key = JSON.stringify(filters);
	const ref = useRef<{ key: string; feed: Feed }>(undefined);
	if (ref.current?.key !== key) {
		ref.current?.feed.close();
		ref.current = { key, feed: new Feed(filters, () => setVersion((n) => n + 1)) };
	}
	const feed = ref.current.feed;
	const connected = useConnected();
	// biome-ignore lint/correctness/useExhaustiveDependencies: begins anew after a pause, when events were missed
	useEffect(() => void feed.begin(), [feed, connected]);
	useEvents((event) => feed.onEvent(event));
	// biome-ignore lint/correctness/useExhaustiveDependencies: a version is a change of the feed
	const shown = useMemo(() => ({ ...feed.shown(), ready: feed.ready }), [feed, version]);
	const rows = useMemo(() => rowsOf(shown.calls, open), [shown, open]);
	// Where much waits for older pages, or folds, there may be less than fills the window.
	useEffect(() => {
		if (shown.hasMore && rows.length < 40) void feed.more();
	}, [feed, shown, rows]);
	return {
		rows,
		calls: shown.calls,
		fresh: shown.fresh,
		ready: shown.ready,
		error: feed.error,
		history: feed.history,
		searchedUntil: feed.searchedUntil,
		more: feed.more,
		hold: useCallback((held: boolean) => feed.hold(held), [feed]),
		again: useCallback(() => void feed.begin(), [feed]),
	};
}
