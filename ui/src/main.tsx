import { createRoot } from "react-dom/client";
import { base, sessionEnded } from "./api/client";
import { endEvents, startEvents } from "./api/events";
import { currentSession, type Session, signIn, takeCode } from "./api/session";
import { startLang } from "./lang";
import { App } from "./shell/app";
import { fetchPage, fetchPages } from "./shell/pages";
import { SignIn } from "./shell/signin";
import { startTheme } from "./shell/theme";
import "./theme.css";

async function start(): Promise<void> {
	startTheme();
	const page = fetchPage(location.pathname.slice(base.pathname.length - 1));
	const root = createRoot(document.getElementById("root")!);
	let problem: unknown;
	let session: Session | undefined;
	try {
		const code = takeCode();
		if (code) await signIn({ code }).catch((error) => (problem = error));
		session = await currentSession();
	} catch (error) {
		problem = error;
	}
	await startLang(session?.language);
	if (!session?.signedIn) {
		root.render(<SignIn problem={problem} />);
		return returnWhenSignedIn();
	}
	sessionEnded.check = async () => {
		const ended = await currentSession().then(
			(now) => !now.signedIn,
			() => false,
		);
		if (ended) {
			endEvents();
			root.render(<SignIn ended />);
			returnWhenSignedIn();
		}
		return ended;
	};
	forgetOthers(session.client);
	localStorage.setItem(signedInKey, String(Date.now()));
	startEvents();
	await page;
	root.render(<App session={session} />);
	fetchPages();
}

/** forgetOthers forgets what another client has typed into forms of this tab. */
function forgetOthers(client: string): void {
	const key = "genkan.client";
	if (sessionStorage.getItem(key) !== client) sessionStorage.clear();
	sessionStorage.setItem(key, client);
}

// Other tabs are told by this key that somebody has signed in.
const signedInKey = "genkan.signedIn";

/** returnWhenSignedIn draws the page again if its person has signed in elsewhere meanwhile. */
function returnWhenSignedIn(): void {
	const look = () =>
		void currentSession().then(
			({ signedIn }) => signedIn && location.reload(),
			() => {},
		);
	addEventListener("focus", look);
	addEventListener("storage", (event) => event.key === signedInKey && look());
}

// A link that is opened where a page is open already changes only what is behind the #.
addEventListener("hashchange", () => {
	if (location.hash.startsWith("#code=")) location.reload();
});

void start();
