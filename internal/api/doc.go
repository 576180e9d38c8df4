// Package api is the edge for REST: /health for everybody, and under /v1 the tools,
// servers, items, tokens and settings for callers with a token. It decodes a
// request, calls the House or a service of Options, and encodes the answer. A call
// of a tool passes the corridor like any other.
//
// The table of routes (routes.go, items_routes.go) is the center. A route has its
// method and path, who may use it, its types, its failures and its handler.
// API.Routes adds the routes to a mux and enforces who may use them, and the
// OpenAPI document (openapi.go) and the page for people (docs.go) are made of it.
// The types of bodies are those of package api/client, which the command line uses.
// The survey (survey_test.go) reads the document of a running genkan, makes right
// and wrong requests of it as an administrator, a client and a stranger, and
// compares every answer with it. So a described route is a tested route.
//
// A route of the knowledge base makes a call of the tool with the same task, in the
// view of the knowledge base alone, and sends it through the corridor (items.go).
// Only the export and the import reach the knowledge base in another way; the
// export asks for a list first, so that it is recorded and refused as a list is.
//
// Invariants:
//
//   - The row of a route says who may use it, and guard enforces that before the
//     handler runs. A handler may only be stricter (fromHere).
//   - Bodies are strict: unknown and duplicate keys are refused (body.go).
//   - A call of REST sets Call.Complete: its arguments are validated, and completed
//     with defaults. The tools of the knowledge base check their arguments
//     themselves. Nothing is sent again unless the caller asks for it (call.go).
//   - client.ErrorCodes has every gateway.Code.
//   - Bodies and answers count against the caller's share of memory.
package api
