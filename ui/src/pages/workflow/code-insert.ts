/** insertInto writes text at the cursor of the script that is shown. It tells whether there
 * is one. The editor itself listens, so that this needs nothing of CodeMirror. */
export function insertInto(text: string): boolean {
	const host = document.querySelector("[data-settings] [data-editor]");
	return host !== null && !host.dispatchEvent(new CustomEvent("genkan-insert", { detail: text, cancelable: true }));
}
