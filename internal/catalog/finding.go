package catalog

import "genkan/internal/gateway"

// Finding is something remarkable about one definition of a server: it is not
// shown, not shown as the server sent it, or suspect.
type Finding struct {
	Kind gateway.Kind
	// Server and Name are the source's and its own name for it.
	Server, Name string
	// LeftOut says that clients do not see it at all.
	LeftOut bool
	// TakenBy is the server that has its name; empty when that is not why it is
	// left out.
	TakenBy string
	// Replaced: TakenBy has its name because the configuration says so, and not
	// by chance.
	Replaced bool
	// Suspect says that clients see it, and that it may mislead them or people.
	Suspect bool
	// Notes say what is wrong with it or what was mended.
	Notes []gateway.Text
}
