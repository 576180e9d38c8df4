// Package views has a catalog and a search index for each view that clients ask
// for: of everything, of one server or several, of a profile. It describes views to
// clients, and finds tools in them.
//
// Views belongs to a house, so a reload makes new ones; package app embeds it. The
// catalog of a view is made at its first use. A view of one server keeps the
// server's own names. A view in search mode has the tools of package guide and the
// pinned tools instead of all tools; prompts and resources stay (profiles.go).
// Place completes the view of a client with the profile and mode of the
// configuration.
//
// Refresh reads the changed list of a source into every catalog that has the
// source, updates the search indexes, and returns the views whose clients see a
// different list; only these are notified. A search index is immutable: the tools
// of one server are replaced without touching the others (search.go). Describe
// joins the instructions of several servers so that no server can write in the name
// of another (describe.go).
package views

import (
	"log/slog"
	"slices"
	"strings"
	"sync"

	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/embed"
	"genkan/internal/gateway"
	"genkan/internal/learn"
)

// Options are what views are made of.
type Options struct {
	Config *config.Config
	// Mounts are the sources, in the order in which clients see them.
	Mounts []catalog.Mount
	// Always are sources whose tools are in every view, also in that of a single server
	// and in search mode, under their own names, which nobody takes over. They are not
	// searched.
	Always []gateway.Source
	// Guide returns the source with the tools for searching a view.
	Guide func(view gateway.View) gateway.Source
	// Learned knows which tools searches led to.
	Learned *learn.Learner
	// Vectors has the embeddings of tools; nil if no model is configured.
	Vectors *embed.Shelf
	// Translate is the language of what views say to clients; nil for English.
	Translate gateway.Translate
	Log       *slog.Logger
}

// Views are the views of one configuration. They are safe for concurrent use.
type Views struct {
	opt Options
	// whole is the zero View.
	whole entry
	index indexes

	mu     sync.Mutex
	others map[gateway.View]entry
}

// entry is a view that is in use.
type entry struct {
	*catalog.Catalog
	// several is set when it has more than one external source.
	several bool
}

func (v *Views) newEntry(mounts []catalog.Mount) entry {
	external := 0
	for i := range mounts {
		if gateway.IsExternal(mounts[i].Source) {
			external++
		}
	}
	mounts = slices.Clone(mounts)
	for _, s := range v.opt.Always {
		mounts = append(mounts, reserved(s))
	}
	return entry{catalog.New(mounts, v.opt.Config.PageSize, v.opt.Log), external > 1}
}

// reserved returns how tools of our own are mounted.
func reserved(s gateway.Source) catalog.Mount {
	return catalog.Mount{Source: s, Allows: func(string) bool { return true }, Claim: catalog.ClaimReserved}
}

// New makes the views of a configuration.
func New(opt Options) *Views {
	v := &Views{opt: opt, others: map[gateway.View]entry{}}
	v.whole = v.newEntry(opt.Mounts)
	return v
}

// Catalog returns the catalog of a view, and makes it at its first use. It reports
// false when there is no such view.
func (v *Views) Catalog(view gateway.View) (*catalog.Catalog, bool) {
	e, ok := v.entry(view)
	return e.Catalog, ok
}

func (v *Views) entry(view gateway.View) (entry, bool) {
	if view == (gateway.View{}) {
		return v.whole, true
	}
	v.mu.Lock()
	known, ok := v.others[view]
	v.mu.Unlock()
	if ok {
		return known, true
	}
	mounts, ok := v.mounts(view)
	if !ok {
		return entry{}, false
	}
	if view.Searched() {
		mounts = v.searched(view.Unsearched(), mounts)
	}
	// Without the lock: the tools for searching look at other views for their list.
	made := v.newEntry(mounts)
	v.mu.Lock()
	defer v.mu.Unlock()
	if other, ok := v.others[view]; ok {
		return other, true
	}
	v.others[view] = made
	return made, true
}

// Has reports whether there is such a view.
func (v *Views) Has(view gateway.View) bool {
	_, ok := v.Catalog(view)
	return ok
}

// Missing is the error for a view that does not exist.
func Missing(view gateway.View) error {
	servers := strings.Join(view.Servers.Names(), ",")
	switch {
	case view.Mode != "" && !view.Searched():
		return gateway.Errorf(gateway.CodeNotFound, "there is no mode %q; the modes are all and search", gateway.Short(view.Mode))
	case view.Profile == "":
		return gateway.Errorf(gateway.CodeNotFound, "there is no server %q; `genkan servers` lists them", gateway.Short(servers))
	case servers == "":
		return gateway.Errorf(gateway.CodeNotFound, "there is no profile %q; `profiles` of the configuration has them", gateway.Short(view.Profile))
	default:
		return gateway.Errorf(gateway.CodeNotFound, "there is no profile %q with the server %q; `profiles` of the configuration has them", gateway.Short(view.Profile), gateway.Short(servers))
	}
}

// Snapshot returns the tools of all sources.
func (v *Views) Snapshot() *catalog.Snapshot { return v.whole.Snapshot() }

// Unknown returns what can be said to a client about a name that no tool of its view
// has. It names only servers and tools that the client sees.
func (v *Views) Unknown(who gateway.Identity, view gateway.View, name string) catalog.Unknown {
	c, ok := v.Catalog(v.Place(who, view).Unsearched())
	if !ok {
		return catalog.Unknown{}
	}
	return c.Unknown(name)
}

// Each calls visit with each view that is in use and its catalog.
func (v *Views) Each(visit func(gateway.View, *catalog.Catalog)) {
	v.mu.Lock()
	views := []gateway.View{{}}
	catalogs := []*catalog.Catalog{v.whole.Catalog}
	for view, c := range v.others {
		views, catalogs = append(views, view), append(catalogs, c.Catalog)
	}
	v.mu.Unlock()
	for i, view := range views {
		visit(view, catalogs[i])
	}
}

// Refresh reads a source's list into all catalogs, and returns the views that
// changed for clients.
func (v *Views) Refresh(source string, kind gateway.Kind) (changed []gateway.View) {
	v.Each(func(view gateway.View, c *catalog.Catalog) {
		if !c.Has(source) {
			return
		}
		differs, between := c.Refresh(source, kind)
		if differs {
			changed = append(changed, view)
		}
		if kind == gateway.KindTool { // also for what is searched and not listed
			v.reindex(view, source, c)
			for _, other := range between { // sources that gained or lost a name
				if other != source {
					v.reindex(view, other, c)
				}
			}
		}
	})
	return changed
}

// mounts returns the mounts of a view. It reports false when there is no such view.
func (v *Views) mounts(view gateway.View) ([]catalog.Mount, bool) {
	if view.Mode != "" && !view.Searched() {
		return nil, false
	}
	all := v.opt.Mounts
	if view.Profile != "" {
		profile, ok := v.opt.Config.Profile(view.Profile)
		if !ok {
			return nil, false
		}
		all = inProfile(all, profile)
	}
	servers := view.Servers.Names()
	if servers == nil {
		return slices.Clone(all), true
	}
	var mounts []catalog.Mount
	for _, m := range all {
		if slices.Contains(servers, m.Source.Name()) {
			mounts = append(mounts, m)
		}
	}
	// A server alone keeps its own names: nothing changes for a client that used it
	// directly.
	if len(mounts) == 1 {
		mounts[0].PrefixInAll, mounts[0].Prefix = mounts[0].Prefix, ""
	}
	return mounts, len(mounts) == len(servers)
}

// sources returns the sources that a catalog has.
func (v *Views) sources(c *catalog.Catalog) []gateway.Source {
	var sources []gateway.Source
	for _, m := range v.opt.Mounts {
		if c.Has(m.Source.Name()) {
			sources = append(sources, m.Source)
		}
	}
	return sources
}

// HasSeveralServers reports whether the clients of a view see more than one external
// source.
func (v *Views) HasSeveralServers(view gateway.View) bool {
	e, _ := v.entry(view)
	return e.several
}
