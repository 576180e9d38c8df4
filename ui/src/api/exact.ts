// Browsers know this; TypeScript does not yet.
const { rawJSON, isRawJSON } = JSON as unknown as {
	rawJSON?: (text: string) => object;
	isRawJSON?: (value: unknown) => boolean;
};

/** parseExact is JSON.parse, but keeps what a number would lose: 12345678901234567890 and 1.0
 * stay what they are when JSON.stringify writes them. Such a number is an object, isExact. */
export const parseExact = (text: string): unknown => JSON.parse(text, keep);

function keep(_: string, value: unknown, { source }: { source?: string } = {}): unknown {
	return typeof value === "number" && source !== undefined && String(value) !== source
		? (rawJSON?.(source) ?? value)
		: value;
}

/** isExact tells whether a value is a number that parseExact kept. */
export const isExact = (value: unknown): boolean => isRawJSON?.(value) ?? false;

/** numberOf is the number that a text writes, kept exactly; the text if it writes none. */
export function numberOf(text: string): unknown {
	try {
		const value = parseExact(text);
		return typeof value === "number" || isExact(value) ? value : text;
	} catch {
		return text;
	}
}
