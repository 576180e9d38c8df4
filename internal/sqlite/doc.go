// Package sqlite is the default store: one SQLite file in the data directory. It
// implements the interfaces that other packages declare and keeps rows and SQL to
// itself. Store implements identity.Store, upstream.ListStore,
// catalog.OverrideStore, config.ServerStore, learn.Store, embed.Store and
// workflow.Store. Store.Knowledge returns the part that implements kb.Store, semantic.Store and
// plugin.Storage. The suite of package storetest defines what a store must do; the
// tests here add what is particular to a file that several processes share.
//
// Open creates the file or brings its schema up to date (schema.go). The schema is
// the sum of the files in migrations; a released file never changes, and an older
// genkan refuses a newer database. Any number of processes may open the file. WAL
// mode lets them read while one writes. A store has one connection for writing and
// a few for reading.
//
// Every write that a cache may depend on adds one to the change sequence
// (Store.write). Caches in all processes watch it, so a revoked token is refused
// within a second. The knowledge base has its own sequence. Its writes that
// arrive while another is being committed share the next commit, each in its own
// savepoint (kb_commit.go). Lists walk along an index and end after a page; totals
// are counted when items are written (kb_list.go).
//
// Verify finds damage and counts that disagree with their rows, and Mend repairs
// what can be restored from the rows (verify.go). Backup copies the database while
// it is in use (backup.go).
//
// Invariants:
//
//   - When a write returns, it is on disk, and the file is still at its path
//     (Store.Check). A write into a file that was removed or replaced fails.
//   - A database that was created before and is missing now is never replaced by an
//     empty one (CheckNotLost).
//   - A wait for another process's lock is made of short waits and ends with the
//     context (retry).
//   - The statements of the knowledge base are a small fixed set and stay
//     prepared (statements.go); sets of ids and texts are passed as JSON arrays.
package sqlite
