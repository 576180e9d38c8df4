import { Json } from "./json";

/** Result shows what a tool answered. */
export default function Result({ result }: { result: unknown }) {
	return <Json value={result} />;
}
