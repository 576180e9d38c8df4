import { base, failureOf } from "./client";

/** Session is who is signed in, and what Genkan says of itself. */
export type Session = { signedIn: boolean; client: string; admin: boolean; version: string; language?: string };

const url = new URL("session", base);

async function ask(init?: RequestInit): Promise<Response> {
	const response = await fetch(url, { ...init, headers: init?.body ? { "Content-Type": "application/json" } : {} });
	if (!response.ok) throw await failureOf(response);
	return response;
}

/** currentSession tells whether somebody is signed in, and who. */
export const currentSession = async (): Promise<Session> => (await ask()).json();

/** signIn begins a session with a one-time code or a token. */
export const signIn = (by: { code: string } | { token: string }) => ask({ method: "POST", body: JSON.stringify(by) });

export async function signOut(): Promise<void> {
	await ask({ method: "DELETE" });
	sessionStorage.clear(); // what was typed into forms
	location.reload();
}

/** takeCode takes the one-time code out of the address, where it is behind the #, and
 * out of the browser's history. */
export function takeCode(): string | null {
	const code = new URLSearchParams(location.hash.slice(1)).get("code");
	if (code) history.replaceState(history.state, "", location.pathname + location.search);
	return code;
}
