// Package upstream connects to MCP servers of both eras, over stdio, streamable
// HTTP and the old SSE transport. Each server is a Server, which is a
// gateway.Source. Package app opens one for each server of the configuration.
//
// Open returns at once, with the lists that the ListStore has saved. One goroutine
// (supervise.go) then connects, reads the lists, watches the connection and starts
// over when it is lost, until Close. The wait between attempts grows from 160 ms to
// 30 s; a server is never given up. A server is ready when its tools are listed.
// Lists are read again when the server announces a change, at a bounded rate
// (list_refresh.go).
//
// Calls wait for a server that starts, and fail at once if it is down (ready.go).
// After a call without an answer the server is pinged; if nothing arrives, it is
// not responding and is restarted (liveness.go). A server that needs a sign-in is
// down, its error names the command to run, and Try connects again after the
// sign-in. Restart closes all connections; its errors wrap gateway.ErrWanted, so
// that they do not count against the server. A reload calls Retire, which closes
// the server when no call holds it. Probe starts a server once, as a test, and
// saves nothing.
//
// # Connections
//
// conn is a connection over any transport. duplexConn is used for commands
// (stdio.go) and the old SSE transport (sse.go), httpConn for streamable HTTP. A
// duplexConn serves many callers at once: request ids and progress tokens are
// numbers of genkan's own, one goroutine writes what is queued, and one reads and
// delivers the answers. The supervisor's connection is shared. The file
// isolation.go decides which callers get another one from the pool (pool.go), for
// their session or for their folder (workspace.go). The file era.go decides in
// which era a server of both eras is spoken to.
//
// The params of a call are forwarded byte for byte, except for the name, the
// progress token and the _meta of the server's era (protocol.go).
// clientState.ownerOf (client_requests.go) finds the client for a server's request.
// A modern server's input_required is asked of legacy callers question by question
// (input_required.go). taskTable (tasks.go) knows whose each task is.
// signedTransport (bearer.go) adds the token of a sign-in.
//
// # Invariants
//
//   - Open, List and Status never wait for a server, and lists are read on the
//     shared connection only.
//   - A request or a task that belongs to no known client reaches no client.
//   - A token is sent to the server's own origin only.
//   - An error tells whether its call was sent (Error.Unsent, Lost, Answered);
//     package execute decides about retries by that.
package upstream
