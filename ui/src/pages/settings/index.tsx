import { KeyRound } from "lucide-react";
import type { ReactNode } from "react";
import { useLocation, useParams } from "wouter";
import { t } from "@/lang";
import { useSession } from "@/shell/session";
import { Empty, LinkButton, Page, Tabs } from "@/ui";
import { Backup } from "./backup";
import { Connected } from "./connected";
import { Doctor } from "./doctor";
import { General } from "./general";
import { History } from "./history";
import { Knowledge } from "./knowledge";
import { Learned } from "./learned";
import { Limits } from "./limits";
import { Secrets } from "./secrets";

type Part = { id: string; title: string; admin?: boolean; part: () => ReactNode };

const parts = (): Part[] => [
	{ id: "general", title: t("General"), part: General },
	{ id: "history", title: t("History"), part: History },
	{ id: "limits", title: t("Limits"), admin: true, part: Limits },
	{ id: "secrets", title: t("Secrets"), admin: true, part: Secrets },
	{ id: "knowledge", title: t("Knowledge base"), admin: true, part: Knowledge },
	{ id: "connected", title: t("n8n and embeddings"), admin: true, part: Connected },
	{ id: "learned", title: t("Learned searches"), part: Learned },
	{ id: "backup", title: t("Backup"), admin: true, part: Backup },
	{ id: "doctor", title: t("Doctor"), admin: true, part: Doctor },
];

/** Settings shows how Genkan is set up, and changes what the API can change. */
export default function Settings() {
	const [, go] = useLocation();
	const { part = "general" } = useParams<{ part?: string }>();
	const { admin } = useSession();
	const all = parts().filter((one) => admin || !one.admin);
	const shown = parts().find((one) => one.id === part);
	const Part = shown?.part;
	return (
		<Page title={t("Settings")} tab={shown && `${shown.title} · ${t("Settings")}`}>
			<Tabs
				label={t("Settings")}
				className="mb-5"
				tabs={all}
				current={part}
				onChange={(id) => go(id === "general" ? "/settings" : `/settings/${id}`)}
			/>
			{!Part ? (
				<Empty
					title={t("There is no such page.")}
					actions={<LinkButton href="/settings">{t("Settings")}</LinkButton>}
				/>
			) : shown.admin && !admin ? (
				<Empty icon={<KeyRound />} title={t("Only an administrator sees this.")} />
			) : (
				<div key={part} className="max-w-[880px]">
					<Part />
				</div>
			)}
		</Page>
	);
}
