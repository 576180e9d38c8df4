import { BookOpen, Gauge, ListTree, type LucideIcon, Plug, Server, Settings, Users, Workflow } from "lucide-react";
import { query } from "../api/client";
import { t } from "../lang";
import type { Tone } from "../ui";

export type Place = { href: string; title: string; icon: LucideIcon; key: string };

/** places are the pages in the order of the sidebar; g and the key lead there. */
export const places = (): Place[] => [
	{ href: "/calls", title: t("Calls"), icon: ListTree, key: "c" },
	{ href: "/workflows", title: t("Workflows"), icon: Workflow, key: "w" },
	{ href: "/tools", title: t("Tools"), icon: Plug, key: "t" },
	{ href: "/servers", title: t("Servers"), icon: Server, key: "s" },
	{ href: "/knowledge", title: t("Knowledge"), icon: BookOpen, key: "k" },
	{ href: "/clients", title: t("Clients"), icon: Users, key: "l" },
	{ href: "/charts", title: t("Charts"), icon: Gauge, key: "h" },
	{ href: "/settings", title: t("Settings"), icon: Settings, key: "," },
];

/** useServerTone is the worst state of the servers, for the dot beside their page. */
export function useServerTone(): { tone: Tone; title: string } | undefined {
	const { data } = query.useQuery("get", "/v1/servers");
	if (!data) return undefined;
	const down = data.servers.filter((server) => server.state === "down" || server.state === "not responding");
	const signIn = data.servers.filter((server) => server.signIn === "needed");
	if (signIn.length > 0) return { tone: "warn", title: t("{names} needs sign-in", { names: names(signIn) }) };
	if (down.length > 0) return { tone: "bad", title: t("{names} is down", { names: names(down) }) };
	return undefined;
}

const names = (servers: { name: string }[]) => servers.map((server) => server.name).join(", ");
