// Package history keeps what was called: the facts of each call and, where the
// configuration allows it, what was sent and answered.
//
// A Writer appends entries to segment files in a folder of the data directory. Each
// process writes its own segments, so processes never wait for one another. A call
// never waits either: Add puts an entry into a bounded queue, and a goroutine writes
// the queue ten times a second. What does not fit is dropped and counted. A segment
// is a sequence of frames with checksums, and a frame that a crash cut off is
// ignored.
//
// Bodies are stored as they were, encrypted with a key of the vault, and secrets are
// taken out when a body is read. Nothing that is readable in a segment can be a
// secret, rules that are added later apply to older calls, and the same bytes serve
// for replaying a call. Without replay, secrets are taken out before a body is
// stored.
//
// A Reader answers questions about the segments of all processes. It keeps a row of
// 32 bytes for each call in an index file beside its segment, which is derived from
// the segment and made again if it is missing or damaged. A question reads rows and
// not entries: a million rows are read in about 20 milliseconds. A database needs ten
// microseconds to store a row, which is a tenth of what a call costs.
package history
