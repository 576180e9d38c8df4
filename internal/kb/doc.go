// Package kb is the knowledge base: items with a type, a status and tags, relations
// between them, and one text about the current state. It gives no meaning to types
// and contents.
//
// Base implements the behaviour, once for MCP, REST and the command line. Tools is the
// gateway.Source of its sixteen tools: it decodes arguments, calls Base and encodes
// the answer. REST calls these tools through the corridor; only exports (Every) and
// imports (Restore) use Base directly. The process has one Base. Package plugin
// adds tools.
//
// Package sqlite implements Store. Store.Write is the only way to change items: a
// function that runs in a transaction, sees its own changes and may run more than
// once. Each write has the next number of the sequence. Each item has the number of
// its last change, a deleted item leaves its number behind, and a change of a relation
// is a change of both its ends. So any process that derives data from items can catch
// up with Changes or Links from the Position that it has reached.
//
// Finder and Graph answer searches and questions about relations. Scan and Walk
// answer from the rows and define the correct answers. Indexes answers faster, with
// packages index and graph. Each question first reads the sequence and waits until
// the index has caught up, in one goroutine for all waiting questions. A search that
// would wait more than a second, or a walk more than 250 ms, is answered from the rows.
//
// Up to 2,000 items the text index is in memory. Beyond that it is a file in a
// folder beside the database, and the changes since (textindex.go, textfile.go).
// When an eighth of the items has changed (at least 2,000, at most 20,000), or the
// changes take 48 MB and a quarter of the file, one process builds a new file in
// the background; other processes adopt it when their own file is due. The database
// names its file by a random token (IndexFile), in a row that is written when the file
// is complete, so a restored backup never uses a file from after the backup. A missing
// or damaged file is built again from the rows. Indexes.Check compares index and graph
// with the rows, Rebuild builds them again, and Glance examines only the file; `genkan
// doctor` uses all three.
//
// # Invariants
//
//   - An answer includes every write that any process acknowledged before the
//     question.
//   - Equal concurrent questions share one answer, which callers must not modify
//     (share.go).
//   - Everything in the index folder can be built again from the database.
//   - A status that items still have is retired and not removed (SetStatuses).
package kb
