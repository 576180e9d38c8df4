import { QueryClientProvider } from "@tanstack/react-query";
import {
	ChevronRight,
	CircleUser,
	HelpCircle,
	Languages,
	ListChecks,
	LogOut,
	Menu as MenuIcon,
	Monitor,
	Moon,
	Search,
	SearchX,
	Sun,
	WifiOff,
} from "lucide-react";
import { Component, type ReactNode, Suspense, useState } from "react";
import { Link, Redirect, Route, Router, Switch, useLocation } from "wouter";
import { Waiting } from "@/ui/title";
import { base, drawn, queries, query, root } from "../api/client";
import { useConnected } from "../api/events";
import { type Session, signOut } from "../api/session";
import { chooseLang, currentLang, number, t, tn } from "../lang";
import {
	Button,
	Chip,
	complain,
	cx,
	Dialog,
	Dot,
	Empty,
	Kbd,
	LinkButton,
	Loading,
	Menu,
	Notes,
	Problem,
	Prose,
} from "../ui";
import { Leaving } from "../ui/leave";
import { shellLine } from "../ui/shell";
import { beforeLeaving } from "../ui/unsaved";
import { useKeys } from "./keys";
import { Mark } from "./mark";
import { places, usePlaces, useServerTone } from "./nav";
import { pages } from "./pages";
import { Palette } from "./palette";
import { SessionContext, useApprovals, useCommand, useSession, useWorkflows } from "./session";
import { useSwitch } from "./switch";
import { chooseTheme, useTheme } from "./theme";

/** App is the frame around every page. */
export function App({ session }: { session: Session }) {
	return (
		<SessionContext value={session}>
			<QueryClientProvider client={queries}>
				<Router
					base={base.pathname.replace(/\/$/, "")}
					aroundNav={(go, to, options) => beforeLeaving(() => go(to, options), to)}
				>
					<Frame />
					<Leaving />
					<PageNotes />
				</Router>
			</QueryClientProvider>
		</SessionContext>
	);
}

function PageNotes() {
	const [path] = useLocation();
	return <Notes page={path} />;
}

function Frame() {
	const [path, go] = useLocation();
	const [window, setWindow] = useState<"palette" | "keys" | "menu" | null>(null);
	const close = () => setWindow(null);
	const approvals = useApprovals();
	const all = places();
	useKeys({
		"mod+k": () => setWindow("palette"),
		"?": () => setWindow("keys"),
		"/": () => document.querySelector<HTMLElement>("[data-search]")?.focus(),
		j: () => {
			const list = document.querySelector<HTMLElement>("[data-list]");
			if (!list || list === document.activeElement) return;
			list.focus();
			list.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true, cancelable: true }));
		},
		...Object.fromEntries(all.map((place) => [`g ${place.key}`, () => go(place.href)])),
	});
	return (
		<div className="min-h-dvh md:grid md:grid-cols-[208px_minmax(0,1fr)]">
			<button
				type="button"
				onClick={() => document.getElementById("main")?.focus()}
				className="fixed top-2 left-2 z-50 -translate-y-16 rounded-md bg-accent px-3 py-1.5 text-accent-text focus:translate-y-0"
			>
				{t("Skip to the page")}
			</button>
			<aside className="sticky top-0 flex h-dvh flex-col border-line border-r px-3 py-4 max-md:hidden">
				<Brand />
				<Button look="plain" className="mb-3 justify-start! text-faint!" onClick={() => setWindow("palette")}>
					<Search />
					<span className="flex-1 text-left">{t("Go to")}</span>
					<Kbd>{navigator.platform.startsWith("Mac") ? "⌘K" : "Ctrl K"}</Kbd>
				</Button>
				<Nav path={path} />
				<Foot onKeys={() => setWindow("keys")} />
			</aside>
			<header className="sticky top-0 z-30 flex h-12 items-center gap-1 border-line border-b bg-bg px-3 md:hidden">
				<Brand />
				<span className="flex-1" />
				<Button look="quiet" size="icon" aria-label={t("Go to")} onClick={() => setWindow("palette")}>
					<Search />
				</Button>
				<Button look="quiet" size="icon" aria-label={t("Menu")} onClick={() => setWindow("menu")}>
					<MenuIcon />
				</Button>
			</header>
			<main
				id="main"
				tabIndex={-1}
				// The editor fills what the notes above it leave.
				className={cx(
					"min-w-0 outline-none",
					path.startsWith("/workflows/") && "flex h-[calc(100dvh-48px)] flex-col md:h-dvh",
				)}
			>
				<Offline />
				<ToldWaiting />
				{path !== "/workflows" && <AllOff />}
				{path !== "/calls" && <Waits />}
				<Waiting value={approvals.data?.approvals.length ?? 0}>
					<Mistake key={/^\/(knowledge|settings|workflows\/)/.exec(path)?.[0] ?? path}>
						<Suspense fallback={<Loading />}>
							<Switch>
								<Route path="/">
									<Redirect to="/calls" replace />
								</Route>
								{pages.map(({ path, component }) => (
									<Route key={path} path={path} component={component} />
								))}
								<Route>
									<Empty
										icon={<SearchX />}
										title={t("There is no such page.")}
										actions={<LinkButton href="/calls">{t("To the calls")}</LinkButton>}
									>
										{t("The address is wrong, or the page has another one now.")}
									</Empty>
								</Route>
							</Switch>
						</Suspense>
					</Mistake>
				</Waiting>
			</main>
			{window === "palette" && <Palette onClose={close} />}
			{window === "keys" && <KeysHelp onClose={close} />}
			{window === "menu" && (
				<Dialog title="Genkan" onClose={close} side>
					{/* biome-ignore lint/a11y: a click on a link closes the menu */}
					<div className="flex h-full flex-col" onClick={close}>
						<Nav path={path} />
						<Foot onKeys={() => setWindow("keys")} />
					</div>
				</Dialog>
			)}
		</div>
	);
}

function Brand() {
	return (
		<Link href="/calls" className="flex items-center gap-2 px-2 font-semibold text-[15px] tracking-[-.01em] md:mb-4">
			<Mark />
			Genkan
		</Link>
	);
}

function Nav({ path }: { path: string }) {
	const tone = useServerTone();
	const tools = query.useQuery("get", "/v1/tools", { params: { query: { limit: 1, enabled: true } } });
	const workflows = useWorkflows();
	const approvals = useApprovals();
	const waiting = approvals.data?.approvals.length ?? 0;
	const servers = query.useQuery("get", "/v1/servers");
	// Before there are servers, the tools are those that Genkan brings along.
	const own = servers.data?.servers.some((server) => server.source !== "built-in");
	const counts: Record<string, ReactNode> = {
		"/tools": own && tools.data && number(tools.data.pagination.total),
		"/workflows": workflows.data && number(drawn(workflows.data).length),
		"/servers": tone && <Dot tone={tone.tone} title={tone.title} />,
	};
	return (
		<nav aria-label={t("Pages")} className="flex flex-col gap-1">
			{usePlaces().map(({ href, title, icon: Icon }) => {
				// Hook modules belong to the workflows. A workflow may be called "modules".
				const on = `${path.replace(/^\/modules\b/, "/workflows")}/`.startsWith(`${href}/`);
				return (
					<Link
						key={href}
						href={href}
						aria-current={on ? "page" : undefined}
						className={cx(
							"flex h-8 items-center gap-2.5 rounded-md px-2 font-medium",
							on ? "bg-accent-soft text-accent" : "text-muted hover:bg-sunken hover:text-text",
						)}
					>
						<Icon aria-hidden className="size-4" strokeWidth={1.8} />
						{title}
						<span className={cx("tabular ml-auto font-normal text-xs", !on && "text-faint")}>{counts[href]}</span>
					</Link>
				);
			})}
			{waiting > 0 && (
				<Link href="/calls?waiting=1" className="mt-2 px-2">
					<Chip tone="warn">
						<Dot tone="warn" />
						<span className="line">{tn(waiting, "{n} call waits for you", "{n} calls wait for you")}</span>
					</Chip>
				</Link>
			)}
		</nav>
	);
}

function Foot({ onKeys }: { onKeys: () => void }) {
	const session = useSession();
	const [, go] = useLocation();
	const theme = useTheme();
	const icons = { system: <Monitor />, light: <Sun />, dark: <Moon /> };
	const titles = { system: t("Same as the system"), light: t("Light"), dark: t("Dark") };
	return (
		<div className="mt-auto flex items-center gap-1 pt-4 text-faint text-xs">
			<Menu
				align="start"
				trigger={
					<button
						type="button"
						className="flex h-7 min-w-0 flex-1 items-center gap-2 rounded-md px-2 text-left hover:bg-sunken hover:text-text"
						title={`${session.client} · ${root.host} · ${session.version}`}
					>
						<CircleUser aria-hidden className="size-4 shrink-0" />
						<span className="line">{session.client}</span>
					</button>
				}
				items={[{ title: t("Sign out"), icon: <LogOut />, onSelect: () => void signOut().catch(complain) }]}
			/>
			<Menu
				trigger={
					<Button look="quiet" size="iconSmall" aria-label={t("Theme")} title={t("Theme")}>
						{icons[theme]}
					</Button>
				}
				items={(["system", "light", "dark"] as const).map((to) => ({
					title: titles[to],
					icon: icons[to],
					hint: to === theme ? "✓" : undefined,
					onSelect: () => chooseTheme(to),
				}))}
			/>
			<Menu
				trigger={
					<Button look="quiet" size="iconSmall" aria-label={t("Help and language")} title={t("Help and language")}>
						<HelpCircle />
					</Button>
				}
				items={[
					...(session.admin
						? [{ title: t("Getting started"), icon: <ListChecks />, onSelect: () => go("/calls?start=1") }]
						: []),
					{ title: t("Keys"), icon: <Kbd>?</Kbd>, onSelect: onKeys },
					{
						title: currentLang() === "ja" ? "English" : "日本語",
						icon: <Languages />,
						onSelect: () => chooseLang(currentLang() === "ja" ? "en" : "ja"),
					},
				]}
			/>
		</div>
	);
}

/** ToldWaiting tells those who listen that calls wait for a person: they expire by themselves. */
function ToldWaiting() {
	const waiting = useApprovals().data?.approvals.length ?? 0;
	return (
		<p role="status" className="sr-only">
			{waiting > 0 && tn(waiting, "{n} call waits for you", "{n} calls wait for you")}
		</p>
	);
}

/** Waits leads to the calls that wait for a person, where no sidebar does. */
function Waits() {
	const waiting = useApprovals().data?.approvals.length ?? 0;
	if (waiting === 0) return null;
	return (
		<Link
			href="/calls?waiting=1"
			className="sticky top-12 z-20 flex items-center gap-2 bg-warn-soft px-4 py-2.5 font-medium text-warn md:hidden"
		>
			<Dot tone="warn" />
			<span className="flex-1">{tn(waiting, "{n} call waits for you", "{n} calls wait for you")}</span>
			<ChevronRight aria-hidden className="size-4" />
		</Link>
	);
}

/** Offline says that what is shown may be old. */
function Offline() {
	const connected = useConnected();
	const [been, setBeen] = useState(false);
	const command = useCommand();
	// The open pages look for Genkan where it was. Another host than this machine is a proxy.
	const here = /^(127\.0\.0\.1|localhost)$/.test(root.hostname) ? ["--port", root.port] : [];
	if (connected && !been) setBeen(true);
	if (connected || !been) return null;
	return (
		<div role="status" className="flex items-center gap-2 bg-warn-soft px-7 py-2 font-medium text-warn">
			<WifiOff className="size-4" />
			<span>
				<Prose
					text={t("Genkan does not answer. What you see may be old. If it has ended, `{command}` starts it.", {
						command: shellLine([...command, "serve", ...here]),
					})}
				/>
			</span>
		</div>
	);
}

/** AllOff says that no workflow runs, wherever a person looks. */
function AllOff() {
	const { data } = useWorkflows();
	const { turn, busy } = useSwitch(data?.workflows);
	if (!data?.off) return null;
	return (
		<div role="status" className="flex flex-wrap items-center gap-x-3 bg-warn-soft px-7 py-2 text-warn">
			<b className="font-medium">
				{t("All workflows are off: nothing is redacted, denied or hidden. Limits of tokens stay.")}
			</b>
			<Button size="small" busy={busy} onClick={() => turn(true)}>
				{t("Turn them on")}
			</Button>
		</div>
	);
}

/** Mistake shows an error of the page instead of nothing at all. */
class Mistake extends Component<{ children: ReactNode }, { error?: unknown }> {
	state: { error?: unknown } = {};
	static getDerivedStateFromError(error: unknown) {
		return { error };
	}
	render() {
		if (this.state.error === undefined) return this.props.children;
		return <Problem className="m-7" error={this.state.error} retry={() => location.reload()} />;
	}
}

function KeysHelp({ onClose }: { onClose: () => void }) {
	const keys: [string, string][] = [
		["Ctrl K · ⌘K", t("Go to a page, setting, server, workflow, item or tool")],
		["/", t("Search on this page")],
		["j  k  ↓  ↑", t("Move in a list")],
		["Enter", t("Open")],
		["[  ]", t("In a call: previous and next failed call")],
		["Esc", t("From a call back to the list")],
		["Ctrl Enter · ⌘Enter", t("Run the tool; in a workflow, replay the input")],
		["?", t("These keys")],
		...places().map((place): [string, string] => [`g ${place.key}`, place.title]),
		["Tab", t("Drawing: add a step")],
		["C", t("Drawing: connect the step")],
		["F2", t("Drawing: rename the step")],
		["D", t("Drawing: duplicate the step")],
		["Delete", t("Drawing: remove the step")],
		["Ctrl Z · ⌘Z", t("Undo; in a text, only what was written")],
		["Shift Ctrl Z · ⇧⌘Z", t("Drawing: redo")],
	];
	return (
		<Dialog title={t("Keys")} onClose={onClose}>
			<dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
				{keys.map(([key, what]) => (
					<div key={key} className="contents">
						<dt>
							<Kbd>{key}</Kbd>
						</dt>
						<dd>{what}</dd>
					</div>
				))}
			</dl>
		</Dialog>
	);
}
