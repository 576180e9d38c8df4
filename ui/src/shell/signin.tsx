import { Languages } from "lucide-react";
import { useState } from "react";
import { signIn } from "../api/session";
import { chooseLang, currentLang, t } from "../lang";
import { Button, Card, CopyButton, Field, Input, Notes, Problem, Prose, Rich } from "../ui";
import { Mark } from "./mark";

/** SignIn is what a browser sees that has no session, or whose session has ended while a page
 * was open. */
export function SignIn({ problem, ended }: { problem?: unknown; ended?: boolean }) {
	const [token, setToken] = useState("");
	const [error, setError] = useState<unknown>(problem);
	const [busy, setBusy] = useState(false);
	const other = currentLang() === "ja" ? "en" : "ja";
	const enter = async () => {
		if (!token.trim()) return;
		setBusy(true);
		try {
			await signIn({ token: token.trim() });
			location.reload();
		} catch (failure) {
			setError(failure);
			setBusy(false);
		}
	};
	return (
		<main className="mx-auto flex min-h-dvh max-w-[420px] flex-col justify-center gap-5 px-4 py-10">
			<div className="flex items-center gap-2.5 font-semibold text-xl">
				<Mark size={28} />
				Genkan
				<span className="flex-1" />
				<Button look="quiet" size="small" lang={other} onClick={() => chooseLang(other)}>
					<Languages />
					{other === "ja" ? "日本語" : "English"}
				</Button>
			</div>
			{ended && error === undefined && (
				<p role="status" className="rounded-lg bg-warn-soft px-4 py-3 text-warn">
					{t("The session has ended. Drafts of items and workflows are kept: sign in to go on.")}
				</p>
			)}
			{error !== undefined && <Problem error={error} className="[&>*]:first-letter:uppercase" />}
			<Card className="flex flex-col gap-3 p-5">
				<h1 className="text-base">{t("Sign in")}</h1>
				<p className="text-muted">
					{t("On the machine where Genkan runs, this command opens the page with a link that works once:")}
				</p>
				<div className="flex items-center justify-between rounded-md bg-sunken py-1 pr-1 pl-3">
					<code>genkan ui</code>
					<CopyButton text="genkan ui" />
				</div>
				<p className="text-muted text-sm">
					<Prose text={t("If Genkan was started with `--data`, give `genkan ui` the same `--data`.")} />
				</p>
			</Card>
			<Card className="flex flex-col gap-3 p-5">
				<Field
					label={t("Or sign in with a token")}
					hint={
						<Rich
							text={t("An administrator makes one with {command}.")}
							values={{ command: <code>genkan tokens add NAME</code> }}
						/>
					}
				>
					<Input
						type="password"
						name="token"
						value={token}
						onChange={(event) => setToken(event.target.value)}
						onEnter={() => void enter()}
					/>
				</Field>
				<Button look="primary" busy={busy} disabled={!token.trim()} onClick={() => void enter()}>
					{t("Sign in")}
				</Button>
			</Card>
			<Notes />
		</main>
	);
}
