import { useSyncExternalStore } from "react";

// The theme is the system's unless the person chose one.
export type Theme = "system" | "light" | "dark";

const stored = "genkan.theme";
const watchers = new Set<() => void>();
const system = matchMedia("(prefers-color-scheme: dark)");

const currentTheme = (): Theme => (localStorage.getItem(stored) as Theme | null) ?? "system";

export function chooseTheme(theme: Theme): void {
	localStorage.setItem(stored, theme);
	startTheme();
	for (const watch of watchers) watch();
}

// Another tab has chosen.
addEventListener("storage", (event) => {
	if (event.key !== stored) return;
	startTheme();
	for (const watch of watchers) watch();
});

export function startTheme(): void {
	const theme = currentTheme();
	if (theme === "system") delete document.documentElement.dataset.theme;
	else document.documentElement.dataset.theme = theme;
}

function subscribe(watch: () => void): () => void {
	watchers.add(watch);
	system.addEventListener("change", watch);
	return () => {
		watchers.delete(watch);
		system.removeEventListener("change", watch);
	};
}

/** useTheme is the theme that the person chose. */
export const useTheme = (): Theme => useSyncExternalStore(subscribe, currentTheme);

const dark = () => (currentTheme() === "system" ? system.matches : currentTheme() === "dark");

/** useDark tells whether the page is dark now, for what is drawn without CSS. */
export const useDark = (): boolean => useSyncExternalStore(subscribe, dark);
