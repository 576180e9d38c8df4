// Package workflow runs what people want to happen around calls: redact, block, rewrite,
// answer, enrich, watch, hold for approval.
//
// A Definition is a graph of nodes, as an editor writes it. Compile checks it and makes a
// Workflow; a definition with problems can be kept as a draft but not enabled. A Set has
// the enabled workflows, and an Engine runs them: its Middleware is a step of the
// corridor. The workflows that match a call nest, and one call is in the middle. A run
// holds the call as JSON, changes its own copy, and touches the call when it sends it
// on, so a run that fails open leaves no trace in it.
//
// A node type is a NodeType (node_*.go). Scripts run elsewhere, through Runner; what they
// ask for is done by host.go. What a script returns is compared with what it got, and
// only the difference is taken over (splice.go).
//
// A Library changes workflows in a Store: it keeps drafts, enables versions, and runs the
// tests that are kept with a workflow (tests.go). A Folder is a Store that adds the
// workflows in files (folder.go).
//
// Invariants:
//
//   - A call is sent at most once, whatever a workflow does.
//   - A workflow never gives a caller more rights: calls that it makes are the caller's.
//   - A call that matches no workflow costs no allocation.
//   - Parts of a call or an answer that no node has changed keep their bytes.
//   - A workflow that fails refuses the call, unless its failMode is open.
//   - A trace holds what was called; only the Sink knows what is secret.
package workflow
