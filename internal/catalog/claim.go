package catalog

import (
	"slices"

	"genkan/internal/gateway"
)

// Claim is how strongly a mount claims the names of its tools. A name that several
// mounts have belongs to the strongest claim; of equal claims, to a mount whose
// prefix the name begins with, and then to the first in the configuration. So the
// owner depends on what is listed, and not on which server was ready first.
type Claim uint8

// The claims, from the weakest to the strongest.
const (
	// ClaimUsual is the claim of servers.
	ClaimUsual Claim = iota
	// ClaimBuiltIn is the claim of built-in sources. A server without a prefix may
	// list any name tomorrow, and must not take over their tools by that.
	ClaimBuiltIn
	// ClaimOverwrite is the claim of servers with overwrite in the configuration.
	ClaimOverwrite
	// ClaimReserved is the claim of genkan's own tools, which nobody takes over.
	ClaimReserved
)

// replaces reports whether a claim is meant to take over names of others.
func (c Claim) replaces(other Claim) bool { return c == ClaimOverwrite && other < ClaimOverwrite }

// before reports whether a mount owns a name although another mount that has it is
// earlier in the configuration. A server without a prefix may list names that begin
// with the prefix of another server, and must not take them over. Only tools have
// prefixes.
func (m *mounted) before(first *mounted, kind gateway.Kind) bool {
	if kind == gateway.KindTool && m.Claim != first.Claim {
		return m.Claim > first.Claim
	}
	return (kind == gateway.KindTool || kind == gateway.KindPrompt) && m.Prefix != "" && first.Prefix == ""
}

// owners returns the mount that owns each name.
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

// leftOut reports a tool whose name another mount owns.
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

// moved returns the sources that gained or lost a name between two snapshots.
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
