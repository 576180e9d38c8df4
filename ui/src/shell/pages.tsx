import { type ComponentType, lazy, useState } from "react";

/** page is a component that is loaded when it is drawn, unless it was fetched before.
 * React shows the fallback of one that was not fetched for at least 300 ms. */
function page(path: string, load: () => Promise<{ default: ComponentType<never> }>) {
	const loading = load as () => Promise<{ default: ComponentType }>;
	const Later = lazy(loading);
	let fetched: ComponentType | undefined;
	return {
		path,
		fits: new RegExp(`^${path.replace(/\/:\w+\?/, "(/[^/]+)?").replace(/:\w+/, "[^/]+")}$`),
		fetch: async () => {
			fetched = (await loading()).default;
		},
		component: function Page(props: object) {
			const [Content] = useState(() => fetched ?? Later);
			return <Content {...props} />;
		},
	};
}

/** pages are the pages with their paths. */
export const pages = [
	page("/calls", () => import("../pages/calls")),
	page("/calls/:id", () => import("../pages/call")),
	page("/servers", () => import("../pages/servers")),
	page("/servers/:name", () => import("../pages/server")),
	page("/tools", () => import("../pages/tools")),
	page("/tools/:name", () => import("../pages/tool")),
	page("/workflows", () => import("../pages/workflows")),
	page("/workflows/:id", () => import("../pages/workflow")),
	page("/modules", () => import("../pages/modules")),
	page("/modules/:id", () => import("../pages/modules/module")),
	page("/knowledge/:ref?", () => import("../pages/knowledge")),
	page("/clients", () => import("../pages/clients")),
	page("/charts", () => import("../pages/charts")),
	page("/settings/:part?", () => import("../pages/settings")),
];

/** fetchPage fetches the page at a path. A page that cannot be fetched says so when it is
 * drawn. */
export async function fetchPage(path: string): Promise<void> {
	await pages
		.find(({ fits }) => fits.test(path === "/" ? "/calls" : path))
		?.fetch()
		.catch(() => {});
}

/** fetchPages fetches all pages, one after the other, once the first one is there. */
export function fetchPages(): void {
	setTimeout(async () => {
		for (const { fetch } of pages) await fetch().catch(() => {});
	}, 2000);
}
