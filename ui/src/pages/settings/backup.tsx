import { Download } from "lucide-react";
import { query, root } from "@/api/client";
import { stamp, t } from "@/lang";
import { useCommand } from "@/shell/session";
import { Button, Problem, Snippet, say } from "@/ui";
import { shellLine } from "@/ui/shell";
import { Bar, Section, useProgress } from "./parts";

const restore = (command: string) => `# ${t("In the data directory, while no genkan runs:")}
mkdir before && mv genkan.db* before/
cp ~/Downloads/genkan-DATE.db genkan.db
chmod 600 genkan.db
${command} serve
`;

/** Backup downloads a copy of the database. The browser writes it to the disk itself, so
 * that its size does not matter. */
export function Backup() {
	const command = shellLine(useCommand());
	const progress = useProgress("backup");
	const making = progress !== undefined && !progress.finished;
	const knowledge = query.useQuery("get", "/v1/knowledge", undefined, { retry: false });
	/** A name is for what Genkan does not name itself. */
	const download = (path: string, name = "") => {
		const link = document.createElement("a");
		link.href = new URL(path, root).href;
		link.download = name;
		link.click();
	};
	return (
		<>
			<Section
				title={t("Backup")}
				about={t(
					"A checked copy of the database: the knowledge base, servers that were added, workflows, what was said about tools, tokens as hashes, and what was learned. Nobody has to wait meanwhile.",
				)}
				actions={
					<Button
						look="primary"
						busy={making}
						onClick={() => {
							download("v1/backup");
							say(t("The copy is made and checked, then the download begins."));
						}}
					>
						{!making && <Download />}
						{t("Download a copy")}
					</Button>
				}
			>
				{making && <Bar title={t("Copying")} done={progress.done} total={progress.total} />}
				{progress?.error && <Problem error={progress.error} />}
				<p className="rounded-lg bg-warn-soft px-4 py-3 text-warn">
					{t(
						"Not in it are the call history, secrets and sign-ins of the vault, the admin token and genkan.yaml. Copy genkan.yaml yourself.",
					)}
				</p>
				<Snippet title={t("The same as a command, for a script")} text={`${command} backup ~/backups/genkan.db\n`} />
			</Section>
			{knowledge.data && (
				<Section
					title={t("Items of the knowledge base")}
					about={t("All items in a file that other programs can read: an item as JSON on each line.")}
					actions={
						<Button onClick={() => download("v1/items/export", `genkan-items-${stamp()}.jsonl`)}>
							<Download />
							{t("Download the items")}
						</Button>
					}
				>
					<Snippet title={t("The same as a command, for a script")} text={`${command} kb export items.jsonl\n`} />
				</Section>
			)}
			<Section
				title={t("Restore")}
				about={t(
					"A restore replaces everything, so it is done where Genkan runs, while it is stopped. Settings, General says where the data directory is.",
				)}
			>
				<Snippet title={t("In a terminal")} text={restore(command)} />
			</Section>
		</>
	);
}
