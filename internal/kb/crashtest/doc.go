// Package crashtest is the proof that the knowledge base loses nothing that it
// has acknowledged. Processes write into one data directory and are killed, again
// and again; what they had told before is held against what is there.
//
// Each writer owns its items, says what it is about to write, writes it, and says
// that it was acknowledged. So after a kill every item is known exactly, but for
// the one write of each writer that was under way: that is there as a whole, or
// not at all. The judge (judge_test.go) is a function of what was said and what
// was read, and has its own table of crimes that it must notice.
//
// It is all tests: `go test` makes 200 cycles, `make crash` 1,000.
package crashtest
