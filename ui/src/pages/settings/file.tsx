import { type ComponentProps, type ReactNode, useId } from "react";
import { queries, query, refresh } from "@/api/client";
import type { paths } from "@/api/schema";
import { t } from "@/lang";
import { useSession } from "@/shell/session";
import { Button, Card, Input, Problem, say } from "@/ui";
import { fieldErrors, isAtFields, useShowWrong } from "@/ui/schemaform";

type Values = Record<string, unknown>;

/** unsay takes the note of the last success away. */
let unsay = () => {};

/** useSettings are the settings of genkan.yaml. save changes some of them, and asks again
 * for what depends on them. */
export function useSettings(...depends: (keyof paths)[]) {
	const { admin } = useSession();
	const settings = query.useQuery("get", "/v1/settings", undefined, { enabled: admin, staleTime: 0 });
	const patch = query.useMutation("patch", "/v1/settings");
	return {
		query: settings,
		all: (settings.data?.settings ?? {}) as Values,
		/** Why they can only be changed in the file. */
		fixed: settings.data?.fixed,
		changeable: settings.data !== undefined && !settings.data.fixed,
		busy: patch.isPending,
		error: patch.error,
		/** What is wrong, by the paths of the fields. */
		wrong: fieldErrors(patch.error),
		reset: () => patch.isError && patch.reset(),
		save: (body: Values, done?: () => void) => {
			unsay();
			patch.mutate(
				{ body },
				{
					onSuccess: (data) => {
						queries.setQueryData(["get", "/v1/settings"], data);
						refresh("/v1/settings", ...depends);
						done?.();
						unsay = say(t("Saved in {file}. It holds from now on.", { file: data.file.replace(/^.*[\\/]/, "") }));
					},
				},
			);
		},
	};
}

/** objectOf is a setting that is an object in the file, or an empty one. */
export const objectOf = (value: unknown): Values =>
	typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Values) : {};

/** SettingForm is a card of settings with its buttons, which are there once something was
 * changed. What is wrong with one of its fields stands there, and anything else below. */
export function SettingForm({
	settings,
	fields,
	dirty,
	onSave,
	onDiscard,
	children,
}: {
	settings: ReturnType<typeof useSettings>;
	/** The paths of its fields. */
	fields: string[];
	dirty: boolean;
	onSave: () => void;
	onDiscard: () => void;
	children: ReactNode;
}) {
	const around = useShowWrong(settings.error);
	return (
		<>
			<Card>
				<div ref={around}>{children}</div>
				{dirty && (
					<div className="flex flex-wrap justify-end gap-2 border-line border-t px-4 py-3">
						<Button
							look="quiet"
							onClick={() => {
								settings.reset();
								onDiscard();
							}}
						>
							{t("Discard")}
						</Button>
						<Button look="primary" busy={settings.busy} onClick={onSave}>
							{t("Save")}
						</Button>
					</div>
				)}
			</Card>
			<Elsewhere error={settings.error} fields={fields} />
			<Fixed settings={settings} />
		</>
	);
}

/** Elsewhere is an error that does not stand at one of these fields. */
export function Elsewhere({ error, fields, className }: { error: unknown; fields: string[]; className?: string }) {
	if (!error || isAtFields(error, fields)) return null;
	return <Problem className={className} error={error} />;
}

/** Fixed says why settings cannot be changed here. */
export function Fixed({ settings }: { settings: ReturnType<typeof useSettings> }) {
	if (settings.query.error) return <Problem error={settings.query.error} />;
	return (
		settings.fixed && (
			<p className="text-muted">
				{t("The settings are in {file}: {why}.", { file: settings.query.data!.file, why: settings.fixed })}
			</p>
		)
	);
}

/** Setting is a line of a form. */
export function Setting({ label, children, help }: { label: string; children: ReactNode; help?: string }) {
	return (
		<div className="grid min-h-11 gap-x-4 gap-y-1 border-line border-b px-4 py-2.5 last:border-0 sm:grid-cols-[200px_minmax(0,1fr)] sm:items-center">
			<span className="text-muted">{label}</span>
			<span className="flex min-w-0 flex-wrap items-center gap-2">
				{children}
				{help && <span className="text-faint text-sm">{help}</span>}
			</span>
		</div>
	);
}

/** Value is an input in a line of a form, with what is wrong with it below. */
export function Value({ wrong, ...props }: ComponentProps<typeof Input> & { wrong?: string }) {
	const id = useId();
	return (
		<>
			<Input aria-invalid={wrong ? true : undefined} aria-describedby={wrong && id} {...props} />
			{wrong && (
				<span id={id} className="order-last basis-full text-bad text-xs">
					{wrong}
				</span>
			)}
		</>
	);
}
