import { QueryClient } from "@tanstack/react-query";
import createFetch from "openapi-fetch";
import createHooks from "openapi-react-query";
import { currentLang, t } from "../lang";
import type { components, paths } from "./schema";

/** S is the types of the API: S["Server"]. */
export type S = components["schemas"];

/** base is where the pages are, such as https://host/prefix/ui/; root is what is above. */
export const base = new URL(document.baseURI);
export const root = new URL("..", base);

/** Failure is an answer of the API that is not a success, or none at all. Its message is
 * written for people. */
export class Failure extends Error {
	constructor(
		readonly status: number,
		readonly code: string,
		message: string,
		readonly details?: unknown,
	) {
		super(message);
	}
}

/** failureOf reads what went wrong from an answer. */
export async function failureOf(response: Response): Promise<Failure> {
	const text = await response.text();
	try {
		const body = JSON.parse(text) as Partial<Record<"code" | "message" | "field", string>> & {
			error?: unknown;
			details?: unknown;
		};
		const message = typeof body.error === "string" ? body.error : body.message;
		const details = body.details ?? (body.field && { field: body.field, message });
		if (message) return new Failure(response.status, body.code ?? "", message, details);
	} catch {
		// Not from Genkan: a proxy, perhaps.
	}
	return new Failure(response.status, "", t("The answer was {status}, not from Genkan.", { status: response.status }));
}

/** ask sends a request to Genkan. It throws a Failure unless the answer is a success. */
export async function ask(request: Request): Promise<Response> {
	let response: Response;
	request.headers.set("Accept-Language", currentLang());
	try {
		response = await fetch(request);
	} catch (cause) {
		if (request.signal.aborted) throw cause;
		throw new Failure(0, "unreachable", t("Genkan does not answer. Is it still running?"));
	}
	if (response.status === 401) void sessionEnded.check();
	if (!response.ok) throw await failureOf(response);
	return response;
}

/** api asks the API, as ask does. */
export const api = createFetch<paths>({ baseUrl: root.href.replace(/\/$/, ""), fetch: ask });

/** sessionEnded.check looks whether the session was ended elsewhere, and then leads to the
 * sign-in page. main.tsx sets it. */
export const sessionEnded = { check: async (): Promise<boolean> => false };

/** query has useQuery, useMutation and so on for every route:
 * query.useQuery("get", "/v1/servers"). */
export const query = createHooks(api);

export const queries = new QueryClient({
	defaultOptions: {
		queries: {
			staleTime: 30_000, // events tell of changes earlier
			refetchOnWindowFocus: false,
			retry: (count, error) => count < 2 && (!(error instanceof Failure) || error.status === 0 || error.status >= 500),
		},
	},
});

/** refresh asks again for what was read from these routes. */
export function refresh(...routes: (keyof paths)[]): void {
	for (const route of routes) void queries.invalidateQueries({ queryKey: ["get", route] });
}

/** refreshOften is refresh for what changes all the time: a request under way goes on, because
 * one that takes longer than the time between two changes would never end. */
export function refreshOften(...routes: (keyof paths)[]): void {
	for (const route of routes) void queries.invalidateQueries({ queryKey: ["get", route] }, { cancelRefetch: false });
}

/** often is for what changes without an event: files of clients, tokens, signed-in browsers. */
export const often = { refetchInterval: 5000, staleTime: 0 } as const;

/** drawn are the workflows that people have made: not those that carry out limits of tokens. */
export const drawn = (data: S["WorkflowList"] | undefined): S["Workflow"][] =>
	data?.workflows.filter((workflow) => !workflow.limitOf) ?? [];
