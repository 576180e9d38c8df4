// A sitting is a series of changes that somebody makes to a workflow without a long pause.
// What is saved in it is one version, until that is enabled. It outlives a reload.

const pause = 30 * 60_000;
const key = "genkan.editor.sitting";
const none = { workflow: "", name: "", at: 0 };
let sitting: typeof none = JSON.parse(sessionStorage.getItem(key) ?? "null") ?? none;

function keep(now: typeof none): void {
	sitting = now;
	sessionStorage.setItem(key, JSON.stringify(now));
}

/** sittingOf is the name of the sitting that a change to a workflow belongs to. */
export function sittingOf(workflow: string): string {
	const now = Date.now();
	const goesOn = sitting.workflow === workflow && now - sitting.at < pause;
	keep({ workflow, name: goesOn ? sitting.name : Math.random().toString(36).slice(2), at: now });
	return sitting.name;
}

/** endSitting makes the next change a version of its own, so that what was there before
 * stays. */
export function endSitting(): void {
	keep(none);
}
