import { BookOpen, Gauge, ListTree, type LucideIcon, Plug, Server, Settings, Users, Workflow } from "lucide-react";
import { query } from "../api/client";
import { list, quoted, t, tn } from "../lang";
import type { Tone } from "../ui";
import { useSession } from "./session";

export type Place = { href: string; title: string; icon: LucideIcon; key: string; words: string };

// Words by which a page is found beside its title, with the reading of the Japanese one.

/** places are the pages in the order of the sidebar; g and the key lead there. */
export const places = (): Place[] => [
	{ href: "/calls", title: t("Calls"), icon: ListTree, key: "c", words: "log よびだし" },
	{ href: "/workflows", title: t("Workflows"), icon: Workflow, key: "w", words: "rules わーくふろー" },
	{ href: "/tools", title: t("Tools"), icon: Plug, key: "t", words: "つーる" },
	{ href: "/servers", title: t("Servers"), icon: Server, key: "s", words: "さーばー" },
	{ href: "/knowledge", title: t("Knowledge"), icon: BookOpen, key: "k", words: "memory notes なれっじ" },
	{
		href: "/clients",
		title: t("Clients"),
		icon: Users,
		key: "l",
		words: "tokens rights permissions トークン 権限 くらいあんと とーくん けんげん",
	},
	{ href: "/charts", title: t("Charts"), icon: Gauge, key: "h", words: "statistics ぐらふ" },
	{ href: "/settings", title: t("Settings"), icon: Settings, key: ",", words: "せってい" },
];

/** usePlaces are the pages that whoever is signed in has something to see on. */
export function usePlaces(): Place[] {
	const { admin } = useSession();
	const knowledge = useHasKnowledge();
	if (admin) return places();
	const hidden = ["/workflows", "/clients", ...(knowledge === false ? ["/knowledge"] : [])];
	return places().filter(({ href }) => !hidden.includes(href));
}

/** useHasKnowledge tells whether whoever is signed in may use the knowledge base, once that
 * is known. */
export function useHasKnowledge(): boolean | undefined {
	return query.useQuery("get", "/v1/servers").data?.servers.some(({ name }) => name === "kb");
}

/** settings are the parts of the settings, and the words by which they are found. */
export const settings = (): { href: string; title: string; words: string }[] => [
	{ href: "/settings?at=language", title: t("Language"), words: "日本語 english 設定 せってい げんご" },
	{ href: "/settings?at=theme", title: t("Theme"), words: "設定 せってい てーま" },
	{ href: "/settings/history", title: t("The call history"), words: "record retention days 設定 きろく ほぞん" },
	{
		href: "/settings/limits",
		title: t("Limits"),
		words: "budget tokens size rate large answers 設定 じょうげん おうとう",
	},
	{ href: "/settings/secrets", title: t("Secrets"), words: "keys passwords vault 設定 しーくれっと" },
	{ href: "/settings/knowledge", title: t("Knowledge base"), words: "index rebuild 設定 なれっじ さくいん" },
	{ href: "/settings/connected", title: t("n8n and embeddings"), words: "model ollama key 設定 うめこみ" },
	{ href: "/settings/learned", title: t("Learned searches"), words: "forget 設定 けんさく がくしゅう" },
	{ href: "/settings/backup", title: t("Backup"), words: "restore copy database 設定 ばっくあっぷ" },
	{ href: "/settings/doctor", title: t("Doctor"), words: "check problems 設定 しんだん" },
];

/** useServerTone is the worst state of the servers, for the dot beside their page. */
export function useServerTone(): { tone: Tone; title: string } | undefined {
	const { data } = query.useQuery("get", "/v1/servers");
	if (!data) return undefined;
	const down = data.servers.filter((server) => server.state === "down" || server.state === "not responding");
	const signIn = data.servers.filter((server) => server.signIn === "needed");
	if (signIn.length > 0)
		return {
			tone: "warn",
			title: tn(signIn.length, "{names} needs sign-in", "{names} need sign-in", { names: names(signIn) }),
		};
	if (down.length > 0)
		return { tone: "bad", title: tn(down.length, "{names} is down", "{names} are down", { names: names(down) }) };
	return undefined;
}

const names = (servers: { name: string }[]) => list(servers.map((server) => quoted(server.name)));
