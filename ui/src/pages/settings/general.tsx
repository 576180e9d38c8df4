import { ExternalLink, LogOut } from "lucide-react";
import { useEffect } from "react";
import { query, root } from "@/api/client";
import { signOut } from "@/api/session";
import { chooseLang, currentLang, type Lang, t } from "@/lang";
import { useAddress } from "@/shell/address";
import { useSession } from "@/shell/session";
import { chooseTheme, type Theme, useTheme } from "@/shell/theme";
import { Button, Card, Chip, complain, Problem, Select } from "@/ui";
import { Browsers } from "./browsers";
import { Fixed, Setting, useSettings } from "./file";
import { Facts, Section } from "./parts";

/** General is about this page, and about the Genkan that serves it. */
export function General() {
	const session = useSession();
	const theme = useTheme();
	const doctor = query.useQuery("get", "/v1/doctor", undefined, { enabled: session.admin, staleTime: 60_000 });
	// The address may name a field, which then has the cursor.
	const [params, setParams] = useAddress();
	const at = params.get("at");
	useEffect(() => {
		if (!at) return;
		const field = document.getElementById(at);
		field?.scrollIntoView({ block: "center" });
		field?.focus();
		const without = (old: URLSearchParams) => {
			old.delete("at");
			return old;
		};
		setParams(without, { replace: true });
	}, [at, setParams]);
	const said = (subject: string) => doctor.data?.findings.filter((f) => f.subject === subject) ?? [];
	return (
		<>
			<Section title={t("This page")} about={t("Kept in this browser.")}>
				<Facts
					facts={[
						[
							t("Language"),
							<Select
								key="lang"
								id="language"
								aria-label={t("Language")}
								value={currentLang()}
								onChange={(event) => chooseLang(event.target.value as Lang)}
							>
								<option value="en">English</option>
								<option value="ja">日本語</option>
							</Select>,
						],
						[
							t("Theme"),
							<Select
								key="theme"
								id="theme"
								aria-label={t("Theme")}
								value={theme}
								onChange={(event) => chooseTheme(event.target.value as Theme)}
							>
								<option value="system">{t("Same as the system")}</option>
								<option value="light">{t("Light")}</option>
								<option value="dark">{t("Dark")}</option>
							</Select>,
						],
						[
							t("Signed in as"),
							<span key="who" className="flex flex-wrap items-center gap-2">
								{session.client}
								{session.admin && <Chip>{t("administrator")}</Chip>}
								<Button size="small" className="ml-auto" onClick={() => void signOut().catch(complain)}>
									<LogOut />
									{t("Sign out")}
								</Button>
							</span>,
						],
					]}
				/>
			</Section>
			{session.admin && <Language />}
			{session.admin && <Browsers />}
			<Section title="Genkan">
				<Facts
					facts={[
						[t("Version"), session.version],
						[t("Address"), <code key="at">{root.href}</code>],
						...(["data", "config", "port"] as const).map((subject): [string, string] | false => {
							const found = said(subject);
							return found.length > 0 && [t(names[subject]), found.map((f) => f.title).join(" · ")];
						}),
						[
							t("REST API"),
							<span key="docs" className="flex flex-wrap gap-x-5 gap-y-1">
								<Outside href="v1/docs">{t("Every route")}</Outside>
								<Outside href="v1/openapi.json">OpenAPI</Outside>
							</span>,
						],
					]}
				/>
			</Section>
		</>
	);
}

/** Language is that of what Genkan says to agents and in a terminal. */
function Language() {
	const settings = useSettings("/v1/doctor");
	return (
		<Section title={t("For everybody")}>
			<Card>
				<Setting label={t("What Genkan says to agents")}>
					<Select
						aria-label={t("What Genkan says to agents")}
						disabled={!settings.changeable || settings.busy}
						value={String(settings.all.lang ?? "")}
						onChange={(event) => settings.save({ lang: event.target.value || null })}
					>
						<option value="">{t("in the language of this machine")}</option>
						<option value="en">{t("in English")}</option>
						<option value="ja">{t("in Japanese")}</option>
					</Select>
				</Setting>
			</Card>
			{settings.error && <Problem error={settings.error} />}
			<Fixed settings={settings} />
		</Section>
	);
}

const names = { data: /* t */ "Data", config: /* t */ "Configuration", port: /* t */ "Port" };

function Outside({ href, children }: { href: string; children: string }) {
	return (
		<a
			href={new URL(href, root).href}
			target="_blank"
			rel="noreferrer"
			className="inline-flex items-center gap-1.5 text-accent underline"
		>
			{children}
			<ExternalLink aria-hidden className="size-3.5" />
		</a>
	);
}
