import { queryOptions } from "@tanstack/react-query";
import { api, type S } from "../../api/client";
import { parseExact } from "../../api/exact";
import { readDefinition } from "./definition";

// Workflows are read with all digits of their numbers, because they are stored again.

/** readWorkflow reads a version of a workflow, or the newest. */
export async function readWorkflow(id: string, version?: number, signal?: AbortSignal): Promise<S["WorkflowDetails"]> {
	const params = { path: { id }, query: { version } };
	const { data } = await api.GET("/v1/workflows/{id}", { params, signal, parseAs: "text" });
	const details = parseExact(data!) as { definition: object };
	return { ...JSON.parse(data!), definition: readDefinition(JSON.stringify(details.definition)) };
}

/** workflowOptions are what useQuery reads a workflow with. */
export const workflowOptions = (id: string, version?: number) =>
	queryOptions({
		queryKey: ["get", "/v1/workflows/{id}", { params: { path: { id }, query: { version } } }],
		queryFn: ({ signal }) => readWorkflow(id, version, signal),
		structuralSharing: false, // it would copy what parseExact keeps
	});
