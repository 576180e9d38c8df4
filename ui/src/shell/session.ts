import { createContext, use } from "react";
import { query } from "../api/client";
import type { Session } from "../api/session";

export const SessionContext = createContext<Session | null>(null);

/** useSession is who is signed in. */
export const useSession = (): Session => use(SessionContext)!;

/** useWorkflows asks for all workflows, which administrators see. */
export const useWorkflows = () => query.useQuery("get", "/v1/workflows", {}, { enabled: useSession().admin });

/** useApprovals asks which calls wait for a person, which administrators see. */
export const useApprovals = (options: { enabled?: boolean; refetchInterval?: number | false } = {}) =>
	query.useQuery("get", "/v1/approvals", {}, { ...options, enabled: useSession().admin && options.enabled !== false });
