import { query } from "@/api/client";
import { t } from "@/lang";
import { Dot, type Tone } from "@/ui";

/** priorities are the words of the API for how much an item matters. */
export const priorities: Record<string, { title: string; tone: Tone }> = {
	CRITICAL: { title: /* t */ "Critical", tone: "bad" },
	HIGH: { title: /* t */ "High", tone: "warn" },
	MEDIUM: { title: /* t */ "Medium", tone: "accent" },
	LOW: { title: /* t */ "Low", tone: "idle" },
	MINIMAL: { title: /* t */ "Minimal", tone: "idle" },
};

export const priorityOf = (value: string): string => (priorities[value] ? t(priorities[value].title) : value);

/** useClosed tells whether a status is a closed one. */
export function useClosed(): (status: string) => boolean {
	const statuses = query.useQuery("get", "/v1/statuses").data?.statuses;
	return (status) => statuses?.find((one) => one.name === status)?.closed ?? false;
}

/** Priority is a dot whose colour says how much an item matters. */
export function Priority({ value }: { value: string }) {
	return <Dot tone={priorities[value]?.tone ?? "idle"} title={t("Priority: {name}", { name: priorityOf(value) })} />;
}
