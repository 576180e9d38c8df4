import { GraduationCap } from "lucide-react";
import { useState } from "react";
import { query, refresh, type S } from "@/api/client";
import { ago, number, t, tn, whole } from "@/lang";
import { useSession } from "@/shell/session";
import { Button, Card, type Column, Confirm, complain, Empty, List, Loaded, Snippet, say } from "@/ui";
import { Section } from "./parts";

type Asked = { client?: string; server?: string; tool?: string; all?: boolean };

/** Learned shows which words of searches led to which tools, and forgets them. */
export function Learned() {
	const { admin } = useSession();
	const whose = admin ? { all: true } : {};
	const learned = query.useQuery("get", "/v1/search/learned", { params: { query: whose } }, { staleTime: 0 });
	const forget = query.useMutation("delete", "/v1/search/learned");
	const [sure, setSure] = useState(false);
	const drop = (asked: Asked) =>
		forget.mutate(
			{ params: { query: asked } },
			{
				onError: complain,
				onSuccess: ({ forgotten }) => {
					refresh("/v1/search/learned");
					setSure(false);
					say(tn(forgotten, "{n} lesson is forgotten.", "{n} lessons are forgotten."));
				},
			},
		);
	const columns: Column<S["Lesson"]>[] = [
		{
			id: "tool",
			title: t("Tool"),
			width: "minmax(0,1fr)",
			cell: (lesson) => <span className="font-medium">{lesson.name ?? `${lesson.server} / ${lesson.tool}`}</span>,
		},
		{
			id: "words",
			title: t("Words, without endings"),
			width: "minmax(0,1fr)",
			cell: (lesson) => (
				<span className="text-muted" title={lesson.terms.join(" ")}>
					{lesson.terms.join(" ")}
				</span>
			),
		},
		{
			id: "client",
			title: t("Client"),
			width: "120px",
			wide: true,
			cell: (lesson) => (lesson.client === "*" ? t("everybody") : lesson.client),
		},
		{ id: "times", title: t("Times"), width: "64px", right: true, wide: true, cell: (lesson) => number(lesson.times) },
		{
			id: "last",
			title: t("Last"),
			width: "96px",
			right: true,
			wide: true,
			cell: (lesson) => <span title={whole(lesson.lastAt)}>{ago(lesson.lastAt)}</span>,
		},
		{
			id: "forget",
			title: <span className="sr-only">{t("Forget")}</span>,
			width: "88px",
			right: true,
			cell: ({ client, server, tool }) => (
				<Button
					look="quiet"
					size="small"
					title={t("Forget what {client} has taught about {tool}", { client, tool })}
					onClick={() => drop(admin ? { client, server, tool } : { server, tool })}
				>
					{t("Forget")}
				</Button>
			),
		},
	];
	return (
		<Section
			title={t("Learned searches")}
			about={t(
				"A search that is followed by a call of one of its hits teaches which tool was meant. Each client learns for itself. Searches are not kept as they were typed, only their words without endings: “creat” stands for create, creates and created. With Japanese words, the English ones for them are kept, too.",
			)}
			actions={
				learned.data &&
				learned.data.lessons.length > 0 && (
					<Button look="danger" onClick={() => setSure(true)}>
						{t("Forget all")}
					</Button>
				)
			}
		>
			<Loaded query={learned} rows={4}>
				{({ enabled, lessons }) => (
					<>
						{!enabled && (
							<p className="rounded-lg bg-warn-soft px-4 py-3 text-warn">
								{t("Searches do not learn: the configuration says learn: false. What was learned stays, unused.")}
							</p>
						)}
						{lessons.length === 0 ? (
							<Card>
								<Empty icon={<GraduationCap />} title={t("Nothing is learned yet")}>
									{t("Lessons appear when agents search for tools and then call one of them.")}
								</Empty>
							</Card>
						) : (
							<List
								label={t("Learned searches")}
								rows={lessons}
								columns={columns}
								rowKey={(lesson) => `${lesson.client} ${lesson.server} ${lesson.tool} ${lesson.terms.join(" ")}`}
								height="max(240px, calc(100dvh - 420px))"
							/>
						)}
						{enabled && <Snippet title={t("genkan.yaml: learn nothing")} text={"learn: false\n"} />}
					</>
				)}
			</Loaded>
			{sure && (
				<Confirm
					title={t("Forget all that was learned?")}
					action={t("Forget all")}
					danger
					busy={forget.isPending}
					onClose={() => setSure(false)}
					onConfirm={() => drop(whose)}
				>
					{admin
						? t("The lessons of all clients go. Searches then go by names and descriptions alone.")
						: t("Your lessons go. Searches then go by names and descriptions alone.")}
				</Confirm>
			)}
		</Section>
	);
}
