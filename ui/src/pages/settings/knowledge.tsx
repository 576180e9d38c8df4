import { query, refresh, type S } from "@/api/client";
import { bytes, list, number, t, tn, whole } from "@/lang";
import { Button, cx, LinkButton, Loaded, Problem, say } from "@/ui";
import { Bar, Facts, Section, useProgress } from "./parts";

/** Knowledge is the state of the knowledge base's index, with its check and its repair. */
export function Knowledge() {
	const knowledge = query.useQuery("get", "/v1/knowledge", undefined, { staleTime: 0, retry: false });
	const check = query.useMutation("post", "/v1/knowledge/check");
	const rebuild = query.useMutation("post", "/v1/knowledge/rebuild");
	const progress = useProgress("kb.check", "kb.rebuild", "kb.index");
	const work = knowledge.data?.work;
	const at = progress && !progress.finished ? progress : work && { ...work, work: `kb.${work.what}` };
	const busy = check.isPending || rebuild.isPending;
	const begin = (what: typeof check | typeof rebuild) => {
		check.reset();
		rebuild.reset();
		what.mutate(
			{},
			{
				onSuccess: () => what === rebuild && say(t("The index is new.")),
				onSettled: () => refresh("/v1/knowledge", "/v1/doctor"),
			},
		);
	};
	return (
		<Section
			title={t("Knowledge base")}
			about={t("Items are in the database. The text index and the graph of relations are made of them.")}
			actions={<LinkButton href="/knowledge">{t("To the items")}</LinkButton>}
		>
			<Loaded query={knowledge} rows={4}>
				{({ items, index }) => (
					<>
						<Facts
							facts={[
								[t("Items"), number(items)],
								[
									t("Text index"),
									index.inMemory
										? t("in memory: there are so few items that no file is needed")
										: index.missing
											? t("missing; it is built anew by itself")
											: [index.file, index.size !== undefined && bytes(index.size)].filter(Boolean).join(" · "),
								],
								index.built ? [t("Built"), whole(index.built)] : undefined,
								index.damage ? [t("Damage"), index.damage] : undefined,
							]}
						/>
						<div className="flex flex-wrap gap-2">
							<Button busy={check.isPending} disabled={busy} onClick={() => begin(check)}>
								{t("Check")}
							</Button>
							<Button busy={rebuild.isPending} disabled={busy} onClick={() => begin(rebuild)}>
								{t("Rebuild the index")}
							</Button>
						</div>
						{at && (busy || work) && (
							<Bar title={at.work === "kb.check" ? t("Checking") : t("Rebuilding")} done={at.done} total={at.total} />
						)}
						{check.data && <Health health={check.data} />}
						{(check.error ?? rebuild.error) && <Problem error={check.error ?? rebuild.error} />}
					</>
				)}
			</Loaded>
		</Section>
	);
}

function Health({ health }: { health: S["KnowledgeHealth"] }) {
	const wrong = [
		health.damage,
		health.missingTexts.length > 0 &&
			t("The text index lacks these items or has them otherwise: {ids}", { ids: list(health.missingTexts) }),
		health.missingLinks.length > 0 &&
			t("The graph has other relations for these items: {ids}", { ids: list(health.missingLinks) }),
		health.extraTexts !== 0 && t("Items too many in the text index: {n}", { n: health.extraTexts }),
		health.extraItems !== 0 && t("Items too many in the graph: {n}", { n: health.extraItems }),
		health.extraRelations !== 0 && t("Relations too many in the graph: {n}", { n: health.extraRelations }),
		health.moving && t("Items were changed all the while, so nothing of this is certain. Check again."),
	].filter((one) => typeof one === "string");
	return (
		<div
			role="status"
			className={cx(
				"rounded-lg px-4 py-3",
				health.good ? "bg-ok-soft text-ok" : health.moving ? "bg-warn-soft text-warn" : "bg-bad-soft text-bad",
			)}
		>
			{health.good
				? tn(
						health.items,
						"Index and graph agree with the one item and {relations} relations.",
						"Index and graph agree with all {n} items and {relations} relations.",
						{ relations: number(health.relations) },
					)
				: t("Index or graph do not agree with the items. Rebuilding mends it; no item is lost.")}
			{wrong.map((one) => (
				<div key={one} className="mt-1 break-words text-sm">
					{one}
				</div>
			))}
		</div>
	);
}
