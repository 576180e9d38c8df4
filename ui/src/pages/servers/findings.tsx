import { Stethoscope } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { ask, queries, query, root, type S } from "@/api/client";
import { currentLang, ended, minute, t, tn } from "@/lang";
import { subjectWord } from "@/lang/terms";
import { useCommand } from "@/shell/session";
import { Button, Card, CopyButton, complain, cx, Dot, LinkButton, Prose, say, type Tone } from "@/ui";
import { shellLine } from "@/ui/shell";
import { Connect } from "../clients/connect";

const tones: Record<string, Tone> = { problem: "bad", warning: "warn", note: "accent", ok: "ok" };

const severities: Record<string, string> = {
	problem: /* t */ "problem",
	warning: /* t */ "warning",
	note: /* t */ "note",
	ok: /* t */ "good",
};

/** Findings is what the doctor finds, with the button that mends it. about limits it to
 * one subject; with all, also what is good is told. The worst comes first. Without a finding,
 * instead is drawn. whole is the error that it explains, which is folded below. */
export function Findings({
	about,
	all,
	instead,
	whole,
	onChange,
}: {
	about?: string;
	all?: boolean;
	instead?: ReactNode;
	whole?: string;
	/** Opens the form of the server that it is about. */
	onChange?: () => void;
}) {
	const doctor = query.useQuery("get", "/v1/doctor", undefined, { staleTime: 60_000 });
	const [open, setOpen] = useState(false);
	const worst = Object.keys(severities);
	const found = (doctor.data?.findings ?? [])
		.filter((f) => (all || f.severity === "problem" || f.severity === "warning") && (!about || f.subject === about))
		.sort((a, b) => worst.indexOf(a.severity) - worst.indexOf(b.severity));
	if (found.length === 0) return instead;
	const shown = open || about || all ? found : found.slice(0, 2);
	return (
		<section aria-label={t("What the doctor finds")} className="mb-4">
			<Card className="overflow-hidden">
				{shown.map((finding) => (
					<Found
						key={finding.subject + finding.title}
						finding={finding}
						subject={all ? finding.subject : about ? "" : finding.subject.split("/")[1]}
						onChange={onChange}
					/>
				))}
				{whole && (
					<details className="px-4 py-2 text-muted text-sm">
						<summary className="w-fit cursor-pointer hover:text-text">{t("The whole error")}</summary>
						<p className="mt-1 break-words">{whole}</p>
					</details>
				)}
				{found.length > shown.length && (
					<button
						type="button"
						onClick={() => setOpen(true)}
						className="flex h-9 w-full items-center gap-2 px-4 text-muted hover:bg-sunken"
					>
						<Stethoscope className="size-4" />
						{tn(found.length - shown.length, "{n} more finding", "{n} more findings")}
					</button>
				)}
			</Card>
		</section>
	);
}

/** inSettings says that something is in the settings of the server, where the doctor names a
 * file. Japanese has no spaces around words. */
function inSettings(advice: string | undefined, place: string): string | undefined {
	const [before, after] = advice?.split(place) ?? [];
	if (before === undefined || after === undefined) return advice;
	return currentLang() === "ja"
		? before.trimEnd() + t("its settings") + after.trimStart()
		: before + t("its settings") + after;
}

/** heading begins with a capital letter, unless it begins with a name. What ends with a verb is a
 * sentence. */
const heading = (title: string): string =>
	/^[a-z]+[ ,:]/.test(title)
		? title[0]!.toUpperCase() + title.slice(1)
		: /(です|ます|した|せん|さい)$/.test(title)
			? ended(title)
			: title;

/** pageTitle is what a link to a page says. */
function pageTitle(path: string): string {
	if (path === "/tools") return t("Tools");
	return path === "/servers" ? t("Servers") : t("Its page");
}

function Found({
	finding,
	subject,
	onChange,
}: {
	finding: S["DoctorFinding"];
	subject?: string;
	onChange?: () => void;
}) {
	const servers = query.useQuery("get", "/v1/servers");
	const [here] = useLocation();
	const [kind, name = ""] = finding.subject.split("/");
	const changeable =
		finding.place && kind === "server" && servers.data?.servers.find((one) => one.name === name)?.editable;
	const [program = "genkan"] = useCommand();
	// The doctor's commands are for a terminal that finds genkan by its name, and have its flags.
	const command = finding.command?.replace(/(^|&& )genkan(?= )/g, (_, before) => before + shellLine([program]));
	const [busy, setBusy] = useState(false);
	const [connecting, connect] = useState(false);
	const connections = query.useQuery("get", "/v1/connections", undefined, { retry: false, enabled: kind === "client" });
	// Without a folder of a project or servers to import before, it is what the button does, too.
	const connectable =
		finding.command?.startsWith(`genkan connect ${name} --write`) &&
		!finding.command.includes("&&") &&
		connections.data?.connections.find((one) => one.name === name);
	const mend = async (request: S["DoctorRequest"]) => {
		setBusy(true);
		try {
			await ask(
				new Request(new URL(request.path.replace(/^\//, ""), root), {
					method: request.method,
					headers: { "Content-Type": "application/json" },
					body: request.body ?? (request.method === "POST" ? "{}" : undefined),
				}),
			);
			say(t("Done. Looking again."));
			void queries.invalidateQueries();
		} catch (error) {
			complain(error);
		} finally {
			setBusy(false);
		}
	};
	const { request } = finding;
	const secret = request?.path.match(/^\/v1\/secrets\/(.+)$/)?.[1];
	const tool = request?.path.match(/^\/v1\/tools\/(.+)$/)?.[1];
	const mendable = request && (["POST", "DELETE"].includes(request.method) || request.body !== undefined);
	// What is to be looked at has a page of the same path, unless this is that page.
	const looks = request?.method === "GET" ? request.path.replace("/v1", "") : undefined;
	const page = looks && looks !== here ? looks : undefined;
	const { place } = finding;
	const advice = changeable && place ? inSettings(finding.advice, place) : finding.advice;
	const lines = finding.lines?.join("\n") ?? "";
	const detail = finding.detail?.slice(0, finding.detail.length - lines.length).trimEnd();
	const local = (text: string) =>
		(finding.times ?? []).reduce((said, at) => said.replaceAll(at.text, minute(at.time)), text);
	return (
		<div className="flex flex-wrap items-start gap-x-3 gap-y-2 border-line border-b px-4 py-3 last:border-0">
			<span className="flex h-5 items-center">
				<Dot tone={tones[finding.severity] ?? "idle"} title={t(severities[finding.severity] ?? finding.severity)} />
			</span>
			<div className="min-w-0 flex-1 basis-64">
				<div className={cx("break-words", finding.severity !== "ok" && "font-medium")}>
					{subject && (
						<span data-term className="mr-2 font-normal text-faint" title={finding.subject}>
							{subjectWord(finding.subject)}
						</span>
					)}
					<Prose text={heading(local(finding.title))} />
				</div>
				{finding.detail && (
					<div
						// biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls is reached by keyboard
						tabIndex={0}
						className="mt-0.5 max-h-24 overflow-auto whitespace-pre-wrap break-words text-muted text-sm"
					>
						{detail && <Prose text={ended(local(detail))} />}
						{lines && <pre className="whitespace-pre-wrap break-words font-mono text-xs">{local(lines)}</pre>}
					</div>
				)}
				{advice && (
					<div className="mt-0.5 text-muted text-sm">
						<Prose text={ended(advice)} />
					</div>
				)}
				{(finding.command || request || changeable) && (
					<div className="mt-2 flex flex-wrap items-center gap-2">
						{changeable &&
							(onChange ? (
								<Button size="small" onClick={onChange}>
									{t("Change")}
								</Button>
							) : (
								<LinkButton size="small" href={`/servers/${encodeURIComponent(name)}?change=1`}>
									{t("Change")}
								</LinkButton>
							))}
						{connectable && (
							<Button size="small" onClick={() => connect(true)}>
								{t("Connect")}
							</Button>
						)}
						{command && (
							<span className="flex min-w-0 items-center gap-1 rounded-md bg-sunken pr-1 pl-2">
								<code className="break-all">{command}</code>
								<CopyButton text={command} />
							</span>
						)}
						{page && (
							<LinkButton size="small" href={page}>
								{pageTitle(page)}
							</LinkButton>
						)}
						{secret && (
							<LinkButton size="small" href={`/settings/secrets?name=${secret}`}>
								{t("Set the secret")}
							</LinkButton>
						)}
						{tool && (
							<LinkButton size="small" href={`/tools/${tool}?part=about`}>
								{t("Describe it")}
							</LinkButton>
						)}
						{mendable && (
							<Button size="small" busy={busy} onClick={() => void mend(request)}>
								{request.path.startsWith("/v1/connections/") ? t("Put its file back") : t("Mend it")}
							</Button>
						)}
					</div>
				)}
			</div>
			{connecting && connectable && <Connect client={connectable} onClose={() => connect(false)} />}
		</div>
	);
}
