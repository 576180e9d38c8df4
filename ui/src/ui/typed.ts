import { useState } from "react";

/** useTyped keeps what somebody types into a field while that stands for the value of the
 * field: the value may be another text than the one that was typed, such as 1 for 1.0, or an
 * earlier one where the text cannot be read. shown is the text of the value. */
export function useTyped(shown: string, first?: string) {
	const [typed, setTyped] = useState<{ text: string; over?: string } | undefined>(
		first === undefined ? undefined : { text: first, over: shown },
	);
	// The value that the text led to is drawn together with it.
	if (typed && typed.over === undefined) setTyped({ ...typed, over: shown });
	return {
		typed: typed && (typed.over ?? shown) === shown ? typed.text : undefined,
		type: (text: string) => setTyped({ text }),
		settle: () => setTyped(undefined),
	};
}
