// An MCP server with the tools of $TOLD (see Told in genkan.ts). A tool without a result
// answers with its arguments.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const { instructions, says, tools } = JSON.parse(process.env.TOLD);
if (says) console.error(says);
const server = new Server({ name: "told", version: "1.0.0" }, { capabilities: { tools: {} }, instructions });
server.setRequestHandler(ListToolsRequestSchema, () => ({
	tools: tools.map(({ result: _, inputSchema = { type: "object" }, ...tool }) => ({ ...tool, inputSchema })),
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
	const tool = tools.find(({ name }) => name === params.name);
	console.error(`called ${params.name}`);
	return tool?.result ?? { content: [{ type: "text", text: JSON.stringify(params.arguments) }] };
});
await server.connect(new StdioServerTransport());
