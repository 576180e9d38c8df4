// What make bench-ui demands of the pages.

/** The longest time until a page is interactive, in ms. */
export const interactiveLimit = 1000;
/** The longest task of the page's thread while somebody scrolls or drags, in ms. */
export const taskLimit = 100;

/** The longest time until the row of a call appears, in ms. */
export const rowLimit = 200;

/** Measured is a page with the time until it was interactive and the longest task of each
 * thing that was done there, in ms by the clock; or the time until the row of a call appears in
 * it; or why it could not be measured. */
export type Measured =
	| { page: string; interactive: number; tasks: Record<string, number> }
	| { page: string; row: number }
	| { page: string; error: string };

/** tooSlow says which pages are beyond the limits, a sentence for each reason. */
export function tooSlow(measured: Measured[]): string[] {
	if (measured.length === 0) return ["No page was measured."];
	return measured.flatMap((one) => {
		if ("error" in one) return [`${one.page} was not measured: ${one.error}`];
		if ("row" in one)
			return one.row <= rowLimit
				? []
				: [`${one.page} shows a call after ${Math.ceil(one.row)} ms, not ${rowLimit} ms.`];
		const found: string[] = [];
		if (!(one.interactive <= interactiveLimit))
			found.push(`${one.page} is interactive after ${Math.ceil(one.interactive)} ms, not ${interactiveLimit} ms.`);
		for (const [act, task] of Object.entries(one.tasks))
			if (!(task <= taskLimit))
				found.push(`${one.page}, ${act}: a task takes ${Math.ceil(task)} ms, more than ${taskLimit} ms.`);
		return found;
	});
}

/** median is the middle of some values, the upper one of two, by a number. */
export const median = <T>(values: T[], by: (value: T) => number): T =>
	[...values].sort((a, b) => by(a) - by(b))[Math.floor(values.length / 2)]!;
