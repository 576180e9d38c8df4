package catalog

import (
	"slices"

	"genkan/internal/gateway"
)

// Claim is how strongly a source claims the names of its tools. The strongest
// claim has a name that several have; of equal ones, one whose prefix makes the
// name, and then the first in the configuration. So whose a name is depends on what is listed alone, and not on
// who came up first. Only who mounts a source gives it its claim.
type Claim uint8

// The claims, the weakest first.
const (
	// ClaimUsual is that of servers.
	ClaimUsual Claim = iota
	// ClaimBuiltIn is that of the house's own rooms: a server mounted without a
	// prefix may list anything tomorrow, and must not get between a client and
	// them by that.
	ClaimBuiltIn
	// ClaimOverwrite is that of servers of which the configuration says so.
	ClaimOverwrite
	// ClaimReserved is for names that stand for the house itself, which nobody
	// takes.
	ClaimReserved
)

// replaces reports whether a claim was made to take names from another, as
// opposed to having been first.
func (c Claim) replaces(other Claim) bool { return c == ClaimOverwrite && other < ClaimOverwrite }

// before reports whether a mount has a name rather than one that comes first in the
// configuration. Only tools are claimed. Without a prefix a server may list any
// name, also those behind the prefix of another, and must not get between that one
// and its callers by that. Addresses have no prefix.
func (m *mounted) before(first *mounted, kind gateway.Kind) bool {
	if kind == gateway.KindTool && m.Claim != first.Claim {
		return m.Claim > first.Claim
	}
	return (kind == gateway.KindTool || kind == gateway.KindPrompt) && m.Prefix != "" && first.Prefix == ""
}

// owners says which mount has a name that those of several have.
func (c *Catalog) owners(kind gateway.Kind) map[string]int {
	owners := map[string]int{}
	for i := range c.mounts {
		for _, t := range c.mounts[i].lists[kind] {
			has, there := owners[t.Exposed]
			if !there || c.mounts[i].before(&c.mounts[has], kind) {
				owners[t.Exposed] = i
			}
		}
	}
	return owners
}

// leftOut tells of one whose name another has.
func (c *Catalog) leftOut(m, owner *mounted, t *gateway.Tool) Finding {
	by := owner.Source.Name()
	f := Finding{Kind: t.Kind, Server: m.Source.Name(), Name: t.Name, LeftOut: true, TakenBy: by}
	if f.Replaced = t.Kind == gateway.KindTool && owner.Claim.replaces(m.Claim); f.Replaced {
		f.Notes = []gateway.Text{gateway.Textf("the tool of server %s stands in its place, as the configuration says (overwrite)", by)}
		return f
	}
	c.log.Warn("left out: its name is taken", "kind", t.Kind.String(), "tool_name", t.Exposed, "server", f.Server, "taken_by", by)
	f.Notes = []gateway.Text{gateway.Textf("its name is taken by server %s", by)}
	return f
}

// moved are the sources that lost or got a name to or from another between two
// snapshots.
func moved(old, fresh *Snapshot) []string {
	var names []string
	add := func(e *Entry) {
		if name := e.Tool.Source.Name(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i := range fresh.entries {
		e := &fresh.entries[i]
		if at, there := old.byName[e.Tool.Exposed]; there && old.entries[at].Tool.Source.Name() != e.Tool.Source.Name() {
			add(e)
			add(&old.entries[at])
		}
	}
	return names
}
