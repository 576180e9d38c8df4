// A sitting is a series of changes that somebody makes to a workflow without a long pause.
// What is saved in it is one version, until that is enabled.

const pause = 30 * 60_000;
let sitting = { workflow: "", name: "", at: 0 };

/** sittingOf is the name of the sitting that a change to a workflow belongs to. */
export function sittingOf(workflow: string): string {
	const now = Date.now();
	const goesOn = sitting.workflow === workflow && now - sitting.at < pause;
	sitting = { workflow, name: goesOn ? sitting.name : Math.random().toString(36).slice(2), at: now };
	return sitting.name;
}

/** endSitting makes the next change a version of its own, so that what was there before
 * stays. */
export function endSitting(): void {
	sitting = { workflow: "", name: "", at: 0 };
}
