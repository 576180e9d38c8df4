import { api, refresh, type S } from "@/api/client";
import { sentences, t } from "@/lang";
import { complain, say } from "@/ui";

type Client = Pick<S["ClientConnection"], "name" | "title">;

/** isEmpty tells whether a client has no servers of its own. Connected, it gets one entry for all. */
export const isEmpty = ({ files }: S["ClientConnection"]): boolean => files.every((file) => file.servers === 0);

/** askEmpty looks once more: an entry for all takes the place of those that a client has. */
export async function askEmpty({ name }: Client): Promise<boolean> {
	const { data } = await api.GET("/v1/connections");
	const now = data!.connections.find((one) => one.name === name);
	return now !== undefined && isEmpty(now);
}

export const oneForAll = (): string =>
	t("One entry leads to all servers. Tools are called by their server and their name, such as github__list_issues.");

/** about names a client for notes: what is told of it later replaces what was told before. */
export const about = ({ name }: Client): string => `client/${name}`;

/** undo puts a client's files back, and tells what became of them. */
export async function undo(client: Client): Promise<void> {
	const { name, title } = client;
	const { data } = await api.DELETE("/v1/connections/{client}", { params: { path: { client: name } } });
	refresh("/v1/connections", "/v1/import", "/v1/doctor", "/v1/tokens");
	const failed = data!.files.find((file) => file.problem);
	if (failed) return complain(failed.problem!.error);
	say(
		sentences(
			data!.files.some((file) => file.state === "entries")
				? t("The entries of {title} are as they were. What was changed in its files since then stays.", { title })
				: t("The files of {title} are as they were.", { title }),
			t("Restart {name} to see the change.", { name: title }),
		),
		undefined,
		about(client),
	);
}

/** unreadable says why a file of a client cannot be read, and what to do. The problem begins with
 * the place of the mistake. */
export const unreadable = (title: string, problem: string): string =>
	t("The file of {title} cannot be read: {problem}. Correct it by hand.", { title, problem });
