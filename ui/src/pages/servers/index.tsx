import { Plus, RotateCw, Server as ServerIcon, Upload } from "lucide-react";
import { useMemo, useState } from "react";
import { query, type S } from "@/api/client";
import { ago, ended, list, number, t, tn, whole } from "@/lang";
import { useAddress } from "@/shell/address";
import { useSession } from "@/shell/session";
import { Button, type Column, Dot, Empty, List, Loaded, Page, SearchBox, Toggle } from "@/ui";
import { ownServers, partName } from "../calls/words";
import { AddServer } from "./add";
import { Findings } from "./findings";
import { ImportServers } from "./import";
import { moves, stateOf } from "./state";

/** Servers lists the servers and how they are. */
export default function Servers() {
	const [params, setParams] = useAddress();
	const { admin } = useSession();
	const servers = query.useQuery(
		"get",
		"/v1/servers",
		{},
		{ refetchInterval: ({ state }) => moves(state.data?.servers) },
	);
	const [selected, select] = useState<string>();
	const text = params.get("text") ?? "";
	const broken = params.get("broken") !== null;
	const adding = admin && params.get("add");
	const set = (name: string, value: string | null) =>
		setParams(
			(old) => {
				if (value === null) old.delete(name);
				else old.set(name, value);
				if (!old.has("add")) old.delete("as"); // it says how to add
				return old;
			},
			{ replace: true },
		);

	const all = servers.data?.servers;
	const shown = useMemo(
		() =>
			(all ?? []).filter(
				(server) =>
					`${server.name} ${server.problem ?? ""}`.toLowerCase().includes(text.toLowerCase()) &&
					(!broken || stateOf(server).tone === "bad" || stateOf(server).tone === "warn"),
			),
		[all, text, broken],
	);
	const none = all?.every((server) => server.source === "built-in") ?? false;

	const columns: Column<S["Server"]>[] = [
		{
			id: "state",
			title: <span className="max-md:sr-only">{t("State")}</span>,
			width: "148px",
			narrow: "36px",
			cell: (server) => {
				const { tone, word } = stateOf(server);
				return (
					<span className="flex items-center gap-2">
						<Dot tone={tone} />
						<span className="max-md:sr-only">{word}</span>
					</span>
				);
			},
		},
		{
			id: "name",
			title: t("Name"),
			width: "minmax(120px,220px)",
			narrow: "minmax(0,1fr)",
			cell: (s) => (
				<>
					<b className="line block font-medium" title={s.name}>
						{s.name}
					</b>
					<span aria-hidden="true" className="line block text-muted text-xs md:hidden">
						{stateOf(s).word}
					</span>
				</>
			),
		},
		{
			id: "about",
			title: t("Connection or problem"),
			width: "minmax(0,1fr)",
			wide: true,
			cell: (s) =>
				s.problem ? (
					<span className={s.state === "starting" ? "text-muted" : "text-bad"} title={ended(s.problem)}>
						{ended(s.problem)}
					</span>
				) : (
					<span className="text-muted">{s.note ?? where(s)}</span>
				),
		},
		{
			id: "start",
			title: t("Since"),
			width: "112px",
			right: true,
			wide: true,
			cell: (s) =>
				s.since && (
					<span className="text-muted" title={whole(s.since)}>
						{ago(s.since)}
					</span>
				),
		},
		{ id: "tools", title: t("Tools"), width: "80px", right: true, cell: (s) => number(s.tools) },
	];

	return (
		<Page
			title={t("Servers")}
			beside={all && !none && <span className="text-muted">{upWord(all)}</span>}
			actions={
				admin && (
					<>
						<Button onClick={() => set("add", "import")}>
							<Upload />
							{t("Import")}
						</Button>
						<Button look="primary" onClick={() => set("add", "form")}>
							<Plus />
							{t("Add a server")}
						</Button>
					</>
				)
			}
		>
			{admin && <Findings />}
			{none ? (
				<Empty
					icon={<ServerIcon />}
					title={t("No servers yet")}
					actions={
						<>
							<Button look="primary" onClick={() => set("add", "import")}>
								<Upload />
								{t("Import from my editors")}
							</Button>
							<Button onClick={() => set("add", "form")}>
								<Plus />
								{t("Add a server")}
							</Button>
						</>
					}
				>
					{t("Take over the servers that your editors have, or add one. Its tools are then behind one endpoint.")}
				</Empty>
			) : (
				<>
					<div className="mb-2 flex flex-wrap items-center gap-2">
						<SearchBox
							className="w-full sm:w-80"
							label={t("Filter by name or problem")}
							value={text}
							onChange={(value) => set("text", value || null)}
						/>
						<Toggle on={broken} onClick={() => set("broken", broken ? null : "")}>
							{t("Only what needs attention")}
						</Toggle>
						<span className="flex-1" />
						{admin && <Reload />}
					</div>
					<Loaded query={servers}>
						{() => (
							<List
								label={t("Servers")}
								rows={shown}
								columns={columns}
								rowKey={(server) => server.name}
								selected={selected}
								onSelect={select}
								href={(server) => `/servers/${encodeURIComponent(server.name)}`}
								narrowRow={54}
								height="calc(100dvh - 220px)"
								empty={<p className="px-4 py-8 text-center text-muted">{t("No server matches.")}</p>}
							/>
						)}
					</Loaded>
				</>
			)}
			{adding === "import" && <ImportServers onClose={() => set("add", null)} />}
			{adding && adding !== "import" && <AddServer onClose={() => set("add", null)} />}
		</Page>
	);
}

/** upWord says how many servers are up. Parts of Genkan are listed, too, and are none of them. */
function upWord(servers: S["Server"][]): string {
	const own = ownServers(servers);
	const up = own.filter((server) => server.state === "ready").length;
	const off = servers.filter((server) => server.state === "disabled").length;
	const parts = servers.filter((server) => server.source === "built-in").map((server) => partName(server.name));
	const said = list(
		[
			own.length > 0 && t("{up} of {n} up", { up: number(up), n: number(own.length) }),
			off > 0 && t("{n} off", { n: number(off) }),
		].filter((one) => typeof one === "string"),
	);
	return parts.length > 0 ? t("{said}, and the built-in {names}", { said, names: list(parts) }) : said;
}

function where(server: S["Server"]): string {
	if (server.source === "built-in") return t("A part of Genkan");
	const parts = [server.transport, server.protocolVersion && `MCP ${server.protocolVersion}`].filter(Boolean);
	if (server.starts > 1) parts.push(tn(server.starts, "started once", "started {n} times"));
	return parts.join(" · ");
}

function Reload() {
	const reload = query.useMutation("post", "/v1/reload");
	return (
		<Button look="quiet" busy={reload.isPending} onClick={() => reload.mutate({})}>
			{!reload.isPending && <RotateCw />}
			{t("Read the configuration again")}
		</Button>
	);
}
