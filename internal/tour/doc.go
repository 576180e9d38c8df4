// Package tour walks through the first five minutes with Genkan as a newcomer
// would: a fresh home directory, editors that have servers already, the real
// binary. Its test checks the way with servers of our own; `make tour` goes it
// with real ones and writes docs/first-five-minutes.md.
package tour
