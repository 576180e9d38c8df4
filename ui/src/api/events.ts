import { useEffect, useRef, useSyncExternalStore } from "react";
import { currentLang } from "@/lang";
import { queries, refresh, root, type S, sessionEnded } from "./client";

// A browser opens six connections to a host, so all tabs of a language share one stream:
// the tab that has the lock reads it and passes it on.

export type Event = S["Event"];

const listeners = new Set<(event: Event) => void>();
const watchers = new Set<() => void>();
let connected = false;
let been = false;
let lastID = "";

let channel: BroadcastChannel;
type Message = { event: Event } | { connected: boolean } | { ask: true };

function deliver(message: Message): void {
	if ("event" in message) {
		lastID = message.event.id;
		apply(message.event);
		for (const listener of listeners) listener(message.event);
	} else if ("connected" in message && message.connected !== connected) {
		connected = message.connected;
		// What happened meanwhile is unknown. A page that has just been opened knows it nearly,
		// and is drawn first.
		if (connected) setTimeout(() => void queries.invalidateQueries(), been ? 0 : 1500);
		been ||= connected;
		for (const watch of watchers) watch();
	}
}

type Route = Parameters<typeof refresh>[number];
const stale = new Set<Route>();
let asked = 0;

/** soon asks again for what was read from these routes: at once, and what changes right
 * after that together, a moment later. A thousand servers that start are a thousand
 * events. */
export function soon(...routes: Route[]): void {
	if (stale.size === 0) setTimeout(ask, Math.max(0, asked + 1000 - Date.now()));
	for (const route of routes) stale.add(route);
}

function ask(): void {
	asked = Date.now();
	refresh(...stale);
	stale.clear();
}

/** itemRoutes are the routes whose answers a write to the knowledge base may change. */
export const itemRoutes = [
	"/v1/items",
	"/v1/items/search",
	"/v1/items/{ref}",
	"/v1/items/{ref}/related",
	"/v1/items/path",
	"/v1/tags",
	"/v1/state",
	"/v1/knowledge",
] as const;

/** apply asks again for what an event says has changed. */
function apply(event: Event): void {
	switch (event.name) {
		case "server.state":
			soon("/v1/servers", "/v1/doctor");
			if ((event.data as { state?: string }).state !== "removed") soon("/v1/servers/{name}");
			return;
		case "tools.changed":
			return soon("/v1/tools", "/v1/tools/{name}", "/v1/servers", "/v1/servers/{name}");
		case "tool.edited":
			return soon("/v1/tools", "/v1/tools/{name}");
		case "items.changed":
			return soon(...itemRoutes);
		case "config.reloaded":
		case "dropped":
			void queries.invalidateQueries();
	}
	if (event.name === "workflow.run") soon("/v1/workflows/{id}/stats", "/v1/workflows/{id}/runs");
	else if (event.name === "workflow.tested") soon("/v1/workflows/{id}/tests");
	else if (event.topic === "workflows") {
		// A change of a workflow may be that it uses a module.
		soon("/v1/workflows", "/v1/workflows/{id}", "/v1/workflows/switch", "/v1/hook-modules");
		if (event.name !== "module.deleted") soon("/v1/hook-modules/{id}");
	}
	if (event.topic === "approvals") soon("/v1/approvals");
}

const names = [
	"call.started",
	"call.progress",
	"call.ended",
	"server.state",
	"tools.changed",
	"tool.edited",
	"config.reloaded",
	"config.failed",
	"progress",
	"dropped",
	"workflow.run",
	"workflow.stored",
	"workflow.enabled",
	"workflow.disabled",
	"workflow.deleted",
	"workflow.tested",
	"module.stored",
	"module.deleted",
	"workflows.on",
	"workflows.off",
	"approval.opened",
	"approval.closed",
	"items.changed",
];

function read(tell: (message: Message) => void): EventSource {
	const url = new URL("v1/events", root);
	url.searchParams.set("lang", currentLang());
	if (lastID) url.searchParams.set("after", lastID);
	const source = new EventSource(url);
	for (const name of names)
		source.addEventListener(name, (message) => tell({ event: JSON.parse((message as MessageEvent).data) }));
	source.onopen = () => {
		// A tab that takes over from another, and has seen no event to go on from, may have
		// missed some.
		if (connected && !lastID) tell({ event: { id: "", name: "dropped", topic: "", data: { missed: -1 } } as never });
		tell({ connected: true });
	};
	source.onerror = () => {
		tell({ connected: false });
		// The browser tries again by itself, except after an answer that is no stream.
		if (source.readyState !== EventSource.CLOSED) return;
		void sessionEnded.check().then((ended) => ended || setTimeout(() => (stream = read(tell)), 2000));
	};
	return source;
}
let stream: EventSource | undefined;

/** startEvents follows what happens, until the page is closed or the session has ended. */
export function startEvents(): void {
	const name = `genkan.events.${currentLang()}.${root.href}`;
	channel = new BroadcastChannel(name);
	const both = (message: Message) => {
		deliver(message);
		channel.postMessage(message);
	};
	channel.onmessage = ({ data }: MessageEvent<Message>) => {
		if ("ask" in data) {
			if (stream) channel.postMessage({ connected } satisfies Message);
		} else deliver(data);
	};
	channel.postMessage({ ask: true } satisfies Message);
	const { signal } = ended;
	const lead = () => {
		stream = read(both);
		return new Promise<void>((done) => signal.addEventListener("abort", () => done()));
	};
	signal.addEventListener("abort", () => stream?.close());
	// Only pages from loopback or over TLS have locks.
	if (navigator.locks)
		navigator.locks.request(name, { signal }, lead).catch(() => {}); // ended before its turn
	else void lead();
}

const ended = new AbortController();

/** endEvents leaves the stream to the other tabs. */
export const endEvents = (): void => ended.abort();

/** useEvents calls listen with each event while the component is shown. */
export function useEvents(listen: (event: Event) => void): void {
	const latest = useRef(listen);
	latest.current = listen;
	useEffect(() => {
		const listener = (event: Event) => latest.current(event);
		listeners.add(listener);
		return () => void listeners.delete(listener);
	}, []);
}

/** useConnected tells whether events arrive. */
export const useConnected = (): boolean =>
	useSyncExternalStore(
		(watch) => {
			watchers.add(watch);
			return () => void watchers.delete(watch);
		},
		() => connected,
	);
