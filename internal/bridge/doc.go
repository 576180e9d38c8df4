// Package bridge lets the genkan processes of one data directory share one set of
// servers. One process owns the directory's socket and serves the processes that
// join. The others are bridges: they carry their client's messages to the owner and
// back. When the owner ends, a bridge finds or starts another one and brings it up
// to date, so that its client loses no more than the calls in flight.
//
// The package knows how processes find one another and how messages travel between
// them. Package reception decides which processes may join, and serves them.
//
// # The owner
//
// Claim and TakeOver make a process the Owner. An owner holds a lock in the run
// directory (rundir.go), which a crash releases. Owner.Listen opens the socket;
// Owner.Serve reads the Hello of each connection and passes it on as an Incoming,
// to be accepted or refused. Joined is an accepted client as the owner sees it
// (joined.go). TakeOver asks a background process to give up the socket; a `genkan
// serve` keeps it.
//
// # The bridge
//
// Joiner.Join connects to the owner, or starts a background process (launch.go) and
// connects to that. Run then carries the messages of one client until its input
// ends. A link is the connection to one owner. An owner that leaves sends
// genkan/retiring: it answers the requests that it has, and new ones go to the next
// owner. Meanwhile they wait in a bounded queue (waiting.go). sessionState
// (session_state.go) replays to the next owner what the last one knew: initialize,
// log level, subscriptions and open streams.
//
// # Invariants
//
//   - Only requests that change nothing (repeatable) are sent to another owner. All
//     others fail with CodeUnavailable, because they may have been carried out.
//   - The run directory belongs to the user alone; whoever could write there could
//     pose as the owner.
//   - Environment shows the owner whether two processes have the same variables,
//     and never their values.
//   - Nothing is written to the client while bridge.mu is held.
//   - Protocol changes when an older genkan could misunderstand a newer one.
package bridge
