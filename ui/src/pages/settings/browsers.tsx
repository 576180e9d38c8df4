import { often, query, refresh } from "@/api/client";
import { ago, t, tn, whole } from "@/lang";
import { Button, Card, Chip, complain, Loaded, say } from "@/ui";
import { Section } from "./parts";

const changed = () => refresh("/v1/ui-sessions");

/** Browsers are those that are signed in to these pages. */
export function Browsers() {
	const sessions = query.useQuery("get", "/v1/ui-sessions", undefined, often);
	const end = query.useMutation("delete", "/v1/ui-sessions/{id}");
	const endOthers = query.useMutation("delete", "/v1/ui-sessions");
	const others = sessions.data?.sessions.some((one) => !one.current);
	return (
		<Section
			title={t("Signed-in browsers")}
			about={t("A browser stays signed in for 30 days, or until it was not used for seven.")}
			actions={
				others && (
					<Button
						busy={endOthers.isPending}
						onClick={() =>
							endOthers.mutate(
								{},
								{
									onError: complain,
									onSuccess: ({ ended }) => say(tn(ended, "{n} session has ended.", "{n} sessions have ended.")),
									onSettled: changed,
								},
							)
						}
					>
						{t("End all others")}
					</Button>
				)
			}
		>
			<Card className="overflow-hidden">
				<Loaded query={sessions} rows={2}>
					{(data) =>
						data.sessions.map((one) => (
							<div
								key={one.id}
								className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-line border-b px-4 py-2.5 last:border-0"
							>
								<div className="min-w-0 flex-1 basis-48">
									<span className="flex flex-wrap items-center gap-2">
										<b className="break-all font-medium">{one.client}</b>
										{one.current && <Chip tone="accent">{t("this browser")}</Chip>}
									</span>
									<div className="text-muted text-sm">
										<span title={whole(one.createdAt)}>{t("signed in {time}", { time: ago(one.createdAt) })}</span>
										{!one.current && (
											<span title={whole(one.usedAt)}> · {t("last used {time}", { time: ago(one.usedAt) })}</span>
										)}
									</div>
								</div>
								{!one.current && (
									<Button
										size="small"
										aria-label={t("End the session of {client}, signed in {time}", {
											client: one.client,
											time: whole(one.createdAt),
										})}
										disabled={end.isPending}
										onClick={() =>
											end.mutate({ params: { path: { id: one.id } } }, { onError: complain, onSettled: changed })
										}
									>
										{t("End")}
									</Button>
								)}
							</div>
						))
					}
				</Loaded>
			</Card>
		</Section>
	);
}
