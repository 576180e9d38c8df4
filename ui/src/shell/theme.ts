// The theme is the system's unless the person chose one.
export type Theme = "system" | "light" | "dark";

const stored = "genkan.theme";

export const currentTheme = (): Theme => (localStorage.getItem(stored) as Theme | null) ?? "system";

export function chooseTheme(theme: Theme): void {
	localStorage.setItem(stored, theme);
	startTheme();
}

export function startTheme(): void {
	const theme = currentTheme();
	if (theme === "system") delete document.documentElement.dataset.theme;
	else document.documentElement.dataset.theme = theme;
}
