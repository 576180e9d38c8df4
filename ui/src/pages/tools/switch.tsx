import { queries, query, refresh, type S } from "@/api/client";
import { t } from "@/lang";
import { useSession } from "@/shell/session";
import { complain, cx, Switch, say } from "@/ui";

/** toolsOf is the key of all tools of a server. */
export const toolsOf = (server: string) => ["get", "/v1/tools", "all of", server];

/** ToolSwitch switches a tool on and off for all clients. In a list, its words stand elsewhere where
 * the window is narrow. */
export function ToolSwitch({ tool, inList }: { tool: S["Tool"]; inList?: boolean }) {
	const { admin } = useSession();
	const { name, server } = tool;
	const how = {
		onError: complain,
		onSuccess: ({ tool: now, warning }: S["ToolSwitched"]) => {
			queries.setQueryData<S["Tool"][]>(toolsOf(server), (all) => all?.map((one) => (one.name === name ? now : one)));
			queries.setQueryData(["get", "/v1/tools/{name}", { params: { path: { name } } }], now);
			refresh("/v1/servers", "/v1/servers/{name}"); // and lists of tools at the event
			if (warning) say(warning);
		},
	};
	const enable = query.useMutation("post", "/v1/tools/{name}/enable", how);
	const disable = query.useMutation("post", "/v1/tools/{name}/disable", how);
	return (
		// biome-ignore lint/a11y/noLabelWithoutControl: the switch is a button
		<label className="flex items-center gap-3">
			<span className={cx("text-muted text-xs", inList && "max-md:hidden")} aria-hidden="true">
				{tool.enabled ? t("On for clients") : t("Off for clients")}
			</span>
			<Switch
				on={tool.enabled}
				disabled={!admin}
				busy={enable.isPending || disable.isPending}
				label={tool.enabled ? t("Switch {name} off", { name }) : t("Switch {name} on", { name })}
				onChange={(on) => (on ? enable : disable).mutate({ params: { path: { name } } })}
			/>
		</label>
	);
}
