import { query } from "@/api/client";

/** most is how many relations of an item are drawn. */
export const most = 30;

/** around asks for what an item is related to. */
export const around = (ref: string) =>
	query.queryOptions("get", "/v1/items/{ref}/related", { params: { path: { ref }, query: { max_results: most } } });
