// Package catalog has the tools, prompts and resources of a view under the names
// that clients use. It prepares definitions for clients of both eras, applies what
// people say about tools, and validates arguments.
//
// A Catalog is made of Mounts, one for each source, and has a current Snapshot.
// When the list of a source arrives, package views calls Refresh, which prepares
// the list (expose.go) and builds the next snapshot. Former snapshots are kept for
// clients that are paging through them. Names, arguments that travel as headers and
// schemas are worked out then, so resolving a call is a map look-up and a page of a
// list is encoded bytes.
//
//   - Resolve sets the tool of a call. A resource belongs to the server that lists
//     it, then to one with a matching template, then to the first with resources;
//     no server is asked (resolve.go).
//   - A name that several mounts have belongs to the strongest Claim, and never to
//     the server that was ready first (claim.go).
//   - Definitions that clients of an era cannot take are mended (mend.go,
//     flatten.go); see docs/adr/0007-schemas-mended-by-era.md. Definitions that are
//     left out, changed or suspect are in Snapshot.Findings.
//   - Overrides are what people say about tools: disabled, a description, tags,
//     examples. The process has one, over an OverrideStore, for all catalogs. A
//     change is a write followed by a Refresh of the server's list.
//   - Validator checks arguments, and CompareHeaders checks that headers agree with
//     them. Both are steps of the corridor.
//
// Invariants:
//
//   - A Snapshot is immutable.
//   - A well-formed definition keeps its bytes.
//   - Arguments are validated against the server's own schema, not the mended one.
//   - An exposed name depends only on prefix and name, so that it survives
//     restarts.
//   - An override belongs to the server and its own name of the tool (ToolKey). A
//     disabled tool keeps its exposed name, and is among Snapshot.Entries but not
//     Snapshot.Tools.
//   - Errors and findings do not repeat argument values, which may be secrets.
package catalog
