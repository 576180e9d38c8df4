import { CircleStop } from "lucide-react";
import { useEffect, useState } from "react";
import { query, refresh } from "@/api/client";
import { t } from "@/lang";
import { Button, complain, say } from "@/ui";

/** CancelCall ends a call that is running. The event of its end draws the rest. */
export function CancelCall({ id, small }: { id: string; small?: boolean }) {
	const cancel = query.useMutation("post", "/v1/calls/{id}/cancel");
	const run = async () => {
		try {
			await cancel.mutateAsync({ params: { path: { id } } });
			say(
				t(
					"The call is canceled. If it had reached its server, the server was told to stop; what it had done by then stays done.",
				),
			);
		} catch (error) {
			complain(error); // it has ended
			refresh("/v1/calls/{id}", "/v1/calls");
		}
	};
	return (
		<Button
			size={small ? "small" : "normal"}
			busy={cancel.isPending}
			disabled={cancel.isSuccess}
			aria-label={t("Cancel the call")}
			onClick={() => void run()}
		>
			{!cancel.isPending && !small && <CircleStop />}
			{small ? t("Cancel") : t("Cancel the call")}
		</Button>
	);
}

/** CancelSlow is CancelCall for a row, of calls that run for longer than a moment. */
export function CancelSlow({ id, since }: { id: string; since: number }) {
	const [slow, setSlow] = useState(false);
	useEffect(() => {
		const timer = setTimeout(() => setSlow(true), since + 1000 - Date.now());
		return () => clearTimeout(timer);
	}, [since]);
	return slow ? <CancelCall id={id} small /> : <>…</>;
}
