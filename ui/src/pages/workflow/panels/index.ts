import type { ComponentType } from "react";
import { EnableBar } from "./enable";
import { Runs } from "./runs";
import { Tests } from "./tests";
import { Versions } from "./versions";

/** Panel stands beside the drawing, or above it, below its button. It reads the state of the editor from
 * ../store. ?panel=ID in the address opens it. */
export type Panel = {
	id: string;
	/** The text of its button, translated when it is shown. */
	title: string;
	place: "top" | "side";
	primary?: boolean;
	/** It shows what the server keeps with the workflow, so the workflow must be stored. */
	ofStored?: boolean;
	Panel: ComponentType<{ onClose: () => void }>;
};

/** panels are in the order of their buttons. */
export const panels: Panel[] = [
	{ id: "runs", title: /* t */ "Runs", place: "side", ofStored: true, Panel: Runs },
	{ id: "tests", title: /* t */ "Tests", place: "side", ofStored: true, Panel: Tests },
	{ id: "versions", title: /* t */ "Versions", place: "side", ofStored: true, Panel: Versions },
	{ id: "enable", title: /* t */ "Enable…", place: "top", primary: true, Panel: EnableBar },
];
