import { query } from "../../api/client";
import { setKinds } from "./kinds";

/** useKinds asks the server for the kinds of nodes. Nothing is drawn before it has told them. */
export function useKinds() {
	const told = query.useQuery("get", "/v1/workflow-nodes", {}, { staleTime: Number.POSITIVE_INFINITY });
	if (told.data) setKinds(told.data.kinds);
	return told;
}
