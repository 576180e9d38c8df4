// An MCP server over HTTP that wants people to sign in, and the authorization server that
// they sign in to, which agrees to everything. It prints its address.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const http = createServer(async (request, response) => {
	const here = `http://127.0.0.1:${http.address().port}`;
	const url = new URL(request.url, here);
	const json = (body, status = 200, headers = {}) =>
		response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
	if (url.pathname.startsWith("/.well-known/oauth-protected-resource"))
		return json({ resource: `${here}/mcp`, authorization_servers: [here] });
	if (url.pathname.startsWith("/.well-known/"))
		return json({
			issuer: here,
			authorization_endpoint: `${here}/authorize`,
			token_endpoint: `${here}/token`,
			registration_endpoint: `${here}/register`,
			response_types_supported: ["code"],
			grant_types_supported: ["authorization_code", "refresh_token"],
			code_challenge_methods_supported: ["S256"],
			token_endpoint_auth_methods_supported: ["none"],
			authorization_response_iss_parameter_supported: true,
		});
	if (url.pathname === "/register") {
		let body = "";
		for await (const part of request) body += part;
		return json({ ...JSON.parse(body), client_id: "genkan", token_endpoint_auth_method: "none" }, 201);
	}
	if (url.pathname === "/authorize") {
		const back = new URL(url.searchParams.get("redirect_uri"));
		back.searchParams.set("code", randomUUID());
		back.searchParams.set("state", url.searchParams.get("state"));
		back.searchParams.set("iss", here);
		response.writeHead(200, { "Content-Type": "text/html" });
		return response.end(`<h1>The other side</h1><a href="${back.href.replaceAll("&", "&amp;")}">I agree</a>`);
	}
	if (url.pathname === "/token")
		return json({ access_token: "let-me-in", token_type: "Bearer", expires_in: 3600, refresh_token: "again" });
	if (request.headers.authorization !== "Bearer let-me-in")
		return json({ error: "unauthorized" }, 401, {
			"WWW-Authenticate": `Bearer resource_metadata="${here}/.well-known/oauth-protected-resource/mcp"`,
		});
	const server = new Server({ name: "behind", version: "1.0.0" }, { capabilities: { tools: {} } });
	server.setRequestHandler(ListToolsRequestSchema, () => ({
		tools: [{ name: "behind", inputSchema: { type: "object" } }],
	}));
	const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
	response.on("close", () => void transport.close());
	await server.connect(transport);
	await transport.handleRequest(request, response);
});
http.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
