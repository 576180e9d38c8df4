package gateway

import (
	"slices"
	"strings"
)

// How a view shows its tools.
const (
	// ModeAll lists all of them.
	ModeAll = "all"
	// ModeSearch lists four tools that find, describe and call the others.
	ModeSearch = "search"
)

// View selects what a caller sees. The zero View shows everything. Views are
// comparable, so that they can be keys of maps.
type View struct {
	// Servers limits the view to these sources. A single one keeps the names of
	// its own tools.
	Servers ServerSet
	// Profile limits the view to a profile of the configuration.
	Profile string
	// Mode is empty, ModeAll or ModeSearch. An edge that passes on an empty mode
	// leaves the choice to the configuration; in a Call an empty mode lists all
	// tools.
	Mode string
	// Audience is the client that the view is for. Workflows may give it lists of its
	// own; otherwise it sees what all clients see. It never comes from a request: it is
	// the ClientID of who asks, see Caller.Audience.
	Audience string
}

// Searched reports whether the view lists the tools for searching instead of the
// tools themselves.
func (v View) Searched() bool { return v.Mode == ModeSearch }

// Unsearched is the view whose tools a searched view finds.
func (v View) Unsearched() View {
	v.Mode = ""
	return v
}

// Shared is the view as it is for clients without lists of their own.
func (v View) Shared() View {
	v.Audience = ""
	return v
}

// String returns a form that differs for views that differ, for messages and for
// what is signed. It is without the audience: what is signed names the client beside it.
func (v View) String() string {
	s := v.Servers.names
	if v.Profile != "" {
		s += "@" + v.Profile
	}
	if v.Mode != "" {
		s += "?mode=" + v.Mode
	}
	return s
}

// ServerSet is a comparable set of names of sources. The empty set stands for all
// of them.
type ServerSet struct {
	names string // sorted, with commas
}

// NewServerSet makes a set. A name that no server can have stays in the set as
// "?", so that the set never means other servers than were named.
func NewServerSet(names ...string) ServerSet {
	names = slices.Clone(names)
	for i, name := range names {
		if !IsServerName(name) {
			names[i] = "?"
		}
	}
	slices.Sort(names)
	return ServerSet{strings.Join(slices.Compact(names), ",")}
}

// Names lists the names in alphabetical order.
func (s ServerSet) Names() []string {
	if s.names == "" {
		return nil
	}
	return strings.Split(s.names, ",")
}
