import { query } from "@/api/client";
import { t } from "@/lang";
import { Field, Input } from "@/ui";
import type { Node, Setting } from "../definition";
import { Values } from "../fields";
import { editNode, useEditor } from "../store";
import { set } from "./parts";

export function SampleValues({ node, setting, label }: { node: Node; setting: "arguments" | "vars"; label: string }) {
	const sample = useEditor((s) => s.sample);
	const args = (sample?.request?.json as { arguments?: object } | undefined)?.arguments;
	return (
		<Values
			label={label}
			names={setting === "arguments" && args ? Object.keys(args) : undefined}
			values={(node.data?.[setting] ?? {}) as Record<string, Setting>}
			onChange={(values) =>
				editNode(
					node.id,
					(data) => set(data, setting, Object.keys(values).length > 0 || setting === "arguments" ? values : undefined),
					`${setting} ${node.id}`,
				)
			}
		/>
	);
}

export function ToolFields({ node }: { node: Node }) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	const tools = query.useQuery("get", "/v1/tools", { params: { query: { limit: 100 } } });
	const put = (key: string, value: unknown) => editNode(node.id, (data) => set(data, key, value), `${key} ${node.id}`);
	return (
		<>
			<Field label={t("Tool")} hint={t("It is called with the rights of the caller.")}>
				<Input
					list="editor-tools"
					value={String(node.data?.tool ?? "")}
					readOnly={readOnly}
					placeholder="server__tool"
					onChange={(event) => put("tool", event.target.value)}
					className="font-mono text-[12.5px]"
				/>
			</Field>
			<datalist id="editor-tools">
				{tools.data?.tools.map((tool) => (
					<option key={tool.name} value={tool.name} />
				))}
			</datalist>
			<Values
				label={t("Arguments")}
				values={(node.data?.arguments ?? {}) as Record<string, Setting>}
				onChange={(values) => put("arguments", values)}
			/>
			<Field label={t("Keep the result in the variable")}>
				<Input
					value={String(node.data?.into ?? "")}
					readOnly={readOnly}
					onChange={(event) => put("into", event.target.value || undefined)}
					className="font-mono text-[12.5px]"
				/>
			</Field>
		</>
	);
}
