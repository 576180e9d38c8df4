// Package mcpserver is the edge for MCP clients. It serves both eras at one URL
// over streamable HTTP, both over stdio, and the legacy era over the old SSE
// transport. It scans each message, makes a gateway.Call of each request for a
// tool, prompt, resource or task (calls.go), and passes the call to the current
// House.
//
// Server outlives reloads. Package app makes it and adds View, SSE and Messages to
// its mux; ServeStdio serves one client over a pair of streams, also those of
// joined processes.
//
// # Sessions
//
// A legacy client has a session (session.go, sessions.go). Its id is signed and
// contains what is needed to resume the session after a restart (sessionid.go).
// Each client has a share of all sessions. A modern client has no session: every
// request stands alone (modern.go).
//
// # Answers and streams
//
// The answer to a call is a JSON body. It becomes a stream of events when something
// must be sent before the answer (reply.go): progress, a question, or a sign of
// life after 15 s. For clients of 2025-11-25 it becomes one after 50 ms, so that
// they can resume it. A list is the only event of a stream for clients that accept
// streams. The stream of a legacy call is a journal (journal.go), and a connection
// is only its reader: first the POST, then each GET with a Last-Event-ID
// (resume.go). A journal without a reader is kept for five minutes; then its call
// is canceled. Clients over stdio and SSE are a duplexConn with different outlets
// (duplex.go, stdio.go, sse.go).
//
// Call.Ask sends a server's question to the client. A legacy client gets a request
// on the stream of its call, or on that of its session. A modern client gets
// input_required, and its call is parked until the client sends the answers
// (park.go). See docs/adr/0006-questions-and-parks.md.
//
// # Invariants
//
//   - A legacy client that disconnects has not canceled its call; a modern client
//     has. Over SSE the end of the stream ends the session.
//   - Everything that waits for a client is bounded and counts against the client's
//     share of memory (quota.go, outbox.go). Progress is dropped; an answer counts
//     with its call until it is written.
//   - Notify never blocks: its caller reads from a server that others share.
//   - A stream goes on only while its token is valid (Options.Recognizes).
//   - wireErrors (errors.go) has every gateway.Code.
package mcpserver
