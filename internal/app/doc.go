// Package app is the composition root: it alone knows all other packages. It turns
// a configuration into a house, serves it, replaces it on a reload, and ends
// everything in order.
//
// Process is a running genkan. It owns what outlives a reload: the store, the
// vault, tokens and sign-ins, child processes, sessions and streams, lanes,
// overrides, lessons and the knowledge base. A house (house.go) is one
// configuration at work: its sources, its views and its corridor (corridor.go).
// Each request loads the current house from an atomic pointer.
//
// Process.Reload reads the file and the registered servers, builds a house, stores
// the pointer and retires the sources that the new house did not take over. Sources
// with unchanged settings keep their connections. A file with a mistake changes
// nothing, and neither does one whose secrets cannot be read at the moment if a
// running server would lose them. Changes of listener settings need a restart, and
// the log says so. The hold step keeps a source while a call uses it; the arrive
// step passes a call on to the new house if its source left before the call was
// sent.
//
// Invariants:
//
//   - Open never waits for a server.
//   - A call is recorded and counted once, even if a reload moves it to another
//     house.
//   - Middlewares at inspect see each call once and whole; retries happen behind
//     them.
package app
