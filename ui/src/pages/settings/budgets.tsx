import { query, type S } from "@/api/client";
import { number, t, tn } from "@/lang";
import { LinkButton, Loaded, Snippet } from "@/ui";
import { Facts, Section } from "./parts";

const keys = () => `budget: 25000                 # ${t("everybody; a number of 500 or more, or off")}
clients:
  ci: {budget: 10000}         # ${t("a client, by the name of its token or of --client")}
mcpServers:
  docs:
    budget: 5000              # ${t("the tools of a server")}
    tools:
      options:
        "search*": {budget: 2000}   # ${t("some of its tools")}
`;

const words = ({ tokens }: S["Budget"]): string =>
	tokens === 0 ? t("any size") : tn(tokens, "{n} token", "{n} tokens");

/** Budgets says from which size on an agent gets an outline instead of an answer. */
export function Budgets() {
	const budgets = query.useQuery("get", "/v1/budgets", {}, { staleTime: 0 });
	return (
		<Section
			title={t("Large answers")}
			about={t(
				"A larger answer is stored, and the agent gets its outline and reads the parts that it needs with read_result. Of several sizes, that of the tool counts first, then server, client, program, everybody.",
			)}
			actions={<LinkButton href="/charts">{t("Charts")}</LinkButton>}
		>
			<Loaded query={budgets} rows={3}>
				{(data) => (
					<Facts
						facts={[
							[
								t("Everybody"),
								data.usual
									? t("{size}, unless said otherwise", { size: words(data.everybody) })
									: words(data.everybody),
							],
							...data.programs.map((one): [string, string] => [t("Program {name}", { name: one.name! }), words(one)]),
							...data.clients.map((one): [string, string] => [t("Client {name}", { name: one.name! }), words(one)]),
							...data.servers.map((one): [string, string] => [t("Server {name}", { name: one.name! }), words(one)]),
							...data.tools.map((one): [string, string] => [
								t("Tools {name}", { name: `${one.server}: ${one.name}` }),
								words(one),
							]),
						]}
					/>
				)}
			</Loaded>
			<p className="mt-2 text-muted">
				{t("The keys budget of genkan.yaml set this. A change of the file holds at once. The smallest size is {n}.", {
					n: number(500),
				})}
			</p>
			<Snippet title="genkan.yaml" text={keys()} />
		</Section>
	);
}
