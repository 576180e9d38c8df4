import { RotateCw } from "lucide-react";
import { query } from "@/api/client";
import { sentences, t, tn } from "@/lang";
import { useCommand } from "@/shell/session";
import { Button, Loaded, Snippet } from "@/ui";
import { shellLine } from "@/ui/shell";
import { Findings } from "../servers/findings";
import { Section } from "./parts";

/** Doctor tells everything that was found, also what is good. */
export function Doctor() {
	const doctor = query.useQuery("get", "/v1/doctor", undefined, { staleTime: 60_000 });
	const command = useCommand();
	const wrong = doctor.data?.findings.filter((f) => f.severity === "problem" || f.severity === "warning").length ?? 0;
	const notes = doctor.data?.findings.filter((f) => f.severity === "note").length ?? 0;
	return (
		<Section
			title={t("Doctor")}
			about={
				doctor.data &&
				sentences(
					wrong === 0 ? t("Nothing is wrong.") : tn(wrong, "{n} thing needs attention.", "{n} things need attention."),
					notes > 0 && tn(notes, "There is {n} note.", "There are {n} notes."),
				)
			}
			actions={
				<Button busy={doctor.isFetching} onClick={() => void doctor.refetch()}>
					{!doctor.isFetching && <RotateCw />}
					{t("Look again")}
				</Button>
			}
		>
			<Loaded query={doctor}>{() => <Findings all />}</Loaded>
			<Snippet title={t("The same in a terminal")} text={`${shellLine([...command, "doctor"])}\n`} />
		</Section>
	);
}
