import { Download } from "lucide-react";
import { root } from "@/api/client";
import { t } from "@/lang";
import { Button, Problem, Snippet, say } from "@/ui";
import { Bar, Section, useProgress } from "./parts";

const restore = () => `# ${t("In the data directory, while no genkan runs:")}
mkdir before && mv genkan.db* before/
cp ~/Downloads/genkan-DATE.db genkan.db
chmod 600 genkan.db
genkan serve
`;

/** Backup downloads a copy of the database. The browser writes it to the disk itself, so
 * that its size does not matter. */
export function Backup() {
	const progress = useProgress("backup");
	const making = progress !== undefined && !progress.finished;
	const download = () => {
		const link = document.createElement("a");
		link.href = new URL("v1/backup", root).href;
		link.download = `genkan-${new Date().toISOString().slice(0, 10)}.db`;
		link.click();
		say(t("The copy is made and checked, then the download begins."));
	};
	return (
		<>
			<Section
				title={t("Backup")}
				about={t(
					"A checked copy of the database: the knowledge base, servers that were added, workflows, what was said about tools, tokens as hashes, and what was learned. Nobody has to wait meanwhile.",
				)}
				actions={
					<Button look="primary" busy={making} onClick={download}>
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
				<Snippet title={t("The same as a command, for a script")} text={"genkan backup ~/backups/genkan.db\n"} />
			</Section>
			<Section
				title={t("Restore")}
				about={t(
					"A restore replaces everything, so it is done where Genkan runs, while it is stopped. Settings, General says where the data directory is.",
				)}
			>
				<Snippet title={t("In a terminal")} text={restore()} />
			</Section>
		</>
	);
}
