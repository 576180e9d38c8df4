import { query } from "@/api/client";
import { useSession } from "@/shell/session";

/** useKnowledge is how the knowledge base is as a whole, which administrators see. */
export function useKnowledge() {
	const { admin } = useSession();
	return query.useQuery("get", "/v1/knowledge", undefined, { enabled: admin }).data;
}

/** useTypes are the types that items have, the most used first. */
export const useTypes = () => useKnowledge()?.types ?? [];
