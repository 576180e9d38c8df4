// The TypeScript SDK's client as a peer: it reads what to do, a line each, and
// writes what came of it. conformance/peer.go has the other end.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(`${process.env.PEER_MODULES}/`);
const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");

// What the library remarks must not look like an answer.
console.log = console.info = console.debug = console.error;

let client;
const methods = {
  connect: async ({ url, token, command, version, modern, content, reply }) => {
    client = new Client(
      { name: "typescript-peer", version: "1" },
      {
        capabilities: { elicitation: { form: {} }, sampling: {} },
        versionNegotiation: { mode: modern ? { pin: version } : "legacy" },
      },
    );
    client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content }));
    client.setRequestHandler("sampling/createMessage", async () => ({
      role: "assistant",
      model: "none",
      content: { type: "text", text: reply },
    }));
    const transport = url
      ? new StreamableHTTPClientTransport(new URL(url), {
          requestInit: { headers: token ? { Authorization: `Bearer ${token}` } : {} },
        })
      : new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: "inherit" });
    await client.connect(transport);
    return { version: client.getNegotiatedProtocolVersion() };
  },
  "tools/list": (params) => client.listTools(params),
  "tools/call": async (params) => {
    let progress = 0;
    const result = await client.callTool(params, { onprogress: () => progress++ });
    return { ...result, progress };
  },
  "prompts/list": (params) => client.listPrompts(params),
  "prompts/get": (params) => client.getPrompt(params),
  "resources/list": (params) => client.listResources(params),
  "resources/read": (params) => client.readResource(params),
  "resources/templates/list": (params) => client.listResourceTemplates(params),
  "completion/complete": (params) => client.complete(params),
  "logging/setLevel": ({ level }) => client.setLoggingLevel(level),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { method, params } = JSON.parse(line);
  let answer;
  try {
    answer = { result: await methods[method](params) };
  } catch (error) {
    answer = { error: String(error?.message ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await client?.close();
process.exit(0);
