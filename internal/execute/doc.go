// Package execute sends calls to their sources. It is the last step of the
// corridor. A call has a deadline and is sent again if that is safe. Each source
// has a lane, which is its queue and its circuit breaker, so that a source that
// hangs delays no other.
//
// Executor belongs to the process, so that lanes outlive reloads; Forget removes
// the lane of a source that was closed. Handle takes a slot of the lane, sends the
// call, waits and sends it again if needed, and counts the answer against the
// caller's share of memory. The calls of a gateway.Forwarder have no lane, because
// the calls that they become have one.
//
// Each option of a call is taken from the first of these that states it: the caller
// (Call.Options), the configuration of the tool (Tool.Options), the edge
// (Call.Usual), the Limits. A timeout that the caller states bounds the whole call,
// with its wait in the queue and its retries. Any other timeout is the time without a
// sign of life. Each sign of life extends it, up to Limits.Total. While the client answers a question,
// the deadline is suspended and the slot is free for others (deadline.go).
//
// Clients share slots and queue places as in gateway.Shares. A slot that becomes
// free goes to the waiting client with the fewest running calls (lane.go).
//
// Invariants:
//
//   - A call is sent again only if it was not sent, or if its tool is read-only or
//     idempotent. A call that the server answered is never sent again.
//   - A call whose connection was lost is sent again once at most, because it may
//     have crashed the server.
//   - The breaker counts only servers that were sent a call and do not answer.
//     Calls that fail together count once. Lost connections, requested restarts and
//     a caller's own short timeout do not count (breakerVerdict).
//   - When a source is ready again, the breaker lets all calls through; the first
//     failure opens it again (breaker.go).
package execute
