// Package events keeps the latest events of the process for readers that follow them
// live: calls, states of servers, changed lists, reloads, progress of long work,
// workflows, approvals.
//
// A Hub has one ring of events, which all readers share. A reader is a position in
// the ring, so Publish costs the same for any number of readers, never blocks and
// never waits for one. An event is encoded when it is first delivered, once for
// administrators and once for others.
//
// A reader that the ring has lapped, or that resumes from an event that is gone, gets
// the event Dropped and goes on with the newest. Nothing is skipped silently.
//
// A publisher whose events cost something to make asks whether anybody follows them,
// and else skips them.
//
// Package app connects the publishers; package api serves the events over REST.
package events
