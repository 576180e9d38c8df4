import { query } from "@/api/client";
import { t, tn } from "@/lang";
import { Card, Dot, LinkButton, Loaded, Snippet } from "@/ui";
import { Findings } from "../servers/findings";
import { stateOf } from "../servers/state";
import { Section } from "./parts";

const n8n = () => `n8n:
  url: http://127.0.0.1:5678      # ${t("with or without /api/v1")}
  apiKey: \${secret:N8N_API_KEY}   # ${t("n8n: Settings > n8n API")}
`;
const several = `n8n:
  - {name: n8n-home, url: "http://127.0.0.1:5678", apiKey: "\${secret:N8N_HOME_KEY}"}
  - {name: n8n-work, url: "https://n8n.example.com", apiKey: "\${secret:N8N_WORK_KEY}"}
`;
const ollama = `embeddings: {url: "http://127.0.0.1:11434", model: nomic-embed-text, kind: ollama}
`;
const openai = `embeddings: {url: "https://api.example.com/v1", model: some-model, apiKey: "\${secret:EMBEDDINGS_KEY}"}
`;

/** own are the built-in parts that are no n8n instance and that no instance may be named after. */
const own = ["kb", "genkan", "results"];

/** Connected shows the n8n instances, and how one and a model for embeddings are named. */
export function Connected() {
	const servers = query.useQuery("get", "/v1/servers");
	return (
		<>
			<Section
				title={t("n8n instances")}
				about={t("Genkan has tools for the workflows and executions of n8n. The key n8n of genkan.yaml names one.")}
			>
				<Loaded query={servers} rows={2}>
					{(data) => {
						const instances = data.servers.filter((one) => one.source === "built-in" && !own.includes(one.name));
						if (instances.length === 0) return <p className="text-muted">{t("There is none yet.")}</p>;
						return (
							<>
								<Card className="overflow-hidden">
									{instances.map((one) => (
										<div
											key={one.name}
											className="flex flex-wrap items-center gap-3 border-line border-b px-4 py-3 last:border-0"
										>
											<div className="min-w-0 flex-1 basis-64">
												<div className="flex items-center gap-2 font-medium">
													<Dot tone={stateOf(one).tone} />
													{one.name}
													<span className="font-normal text-muted">
														{stateOf(one).word} · {tn(one.tools, "{n} tool", "{n} tools")}
													</span>
												</div>
												{one.note && <div className="text-muted text-sm">{one.note}</div>}
											</div>
											<LinkButton size="small" href={`/tools?server=${encodeURIComponent(one.name)}`}>
												{t("Tools")}
											</LinkButton>
										</div>
									))}
								</Card>
								{instances.map((one) => (
									<Findings key={one.name} about={`server/${one.name}`} />
								))}
							</>
						);
					}}
				</Loaded>
				<div className="grid gap-3">
					<Snippet title={t("genkan.yaml: one instance")} text={n8n()} />
					<Snippet title={t("genkan.yaml: several")} text={several} />
				</div>
				<div>
					<LinkButton size="small" href="/settings/secrets?name=N8N_API_KEY">
						{t("Keep the secret N8N_API_KEY")}
					</LinkButton>
				</div>
			</Section>
			<Section
				title={t("Embeddings")}
				about={t(
					"With a model, searches also find tools by meaning. Names and descriptions of tools, and queries, are sent to it. It is off unless the key embeddings of genkan.yaml names one.",
				)}
			>
				<Snippet title={t("genkan.yaml: a model of Ollama")} text={ollama} />
				<Snippet title={t("genkan.yaml: an endpoint of OpenAI's API")} text={openai} />
				<div>
					<LinkButton size="small" href="/settings/secrets?name=EMBEDDINGS_KEY">
						{t("Keep the secret EMBEDDINGS_KEY")}
					</LinkButton>
				</div>
			</Section>
		</>
	);
}
