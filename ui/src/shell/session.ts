import { createContext, use } from "react";
import { query } from "../api/client";
import type { Session } from "../api/session";

export const SessionContext = createContext<Session | null>(null);

/** useSession is who is signed in. */
export const useSession = (): Session => use(SessionContext)!;

/** useWorkflows asks for all workflows, which administrators see. */
export const useWorkflows = () => query.useQuery("get", "/v1/workflows", undefined, { enabled: useSession().admin });

/** useCommand is what starts this Genkan in a terminal, with the data directory if that is not
 * the usual one. Administrators on its machine know it. */
export function useCommand(): string[] {
	const { admin } = useSession();
	const { data } = query.useQuery("get", "/v1/connections", undefined, { enabled: admin, retry: false });
	return data?.command ?? ["genkan"];
}

/** useApprovals asks which calls wait for a person, which administrators see. */
export const useApprovals = (options: { enabled?: boolean; refetchInterval?: number | false } = {}) =>
	query.useQuery("get", "/v1/approvals", undefined, {
		...options,
		enabled: useSession().admin && options.enabled !== false,
	});
