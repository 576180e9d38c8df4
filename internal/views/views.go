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
// A client that workflows give lists of its own is the audience of its views: they have
// catalogs and indexes of their own (audience.go). What the workflows leave out is not
// in them, so it cannot be found, called or suggested there.
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
	"sync/atomic"

	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/embed"
	"genkan/internal/gateway"
	"genkan/internal/learn"
	"genkan/internal/search"
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
	// HasLists reports whether workflows give a client lists of its own, and Lists
	// returns what they leave of the tools of a source for the audience of a view, with
	// their definitions as that client shall see them. Nil for no workflows. If they
	// fail, Lists returns the tools that may be seen nevertheless, and the error.
	HasLists func(client string) bool
	Lists    func(view gateway.View, source gateway.Source, tools []gateway.Tool) ([]gateway.Tool, error)
	// MayUse reports whether a client with lists of its own may use a source. Views of that
	// client leave out all other sources. Nil for all.
	MayUse func(client, source string) bool
	Log    *slog.Logger
}

// Views are the views of one configuration. They are safe for concurrent use.
type Views struct {
	opt Options
	// whole is the zero View.
	whole *entry
	// indexing is held while an index is made or changed, so that no change is lost.
	indexing sync.Mutex

	mu     sync.Mutex
	others map[gateway.View]*entry
	audiences
}

// entry is a view that is in use. Its catalog is made at its first use.
type entry struct {
	make    sync.Once
	made    atomic.Pointer[catalog.Catalog]
	catalog func() *catalog.Catalog
	// several is set when it has more than one external source.
	several bool
	// index is made at the first search, or by PrepareSearch. After that, the tools of a server are replaced
	// when they change. An index is immutable, so searches do not wait for changes.
	index atomic.Pointer[search.Index]
	// used says when it was used last, for views with an audience. Guarded by Views.mu.
	used uint64
}

// get returns the catalog.
func (e *entry) get() *catalog.Catalog {
	e.make.Do(func() { e.made.Store(e.catalog()) })
	return e.made.Load()
}

func (v *Views) newEntry(mounts []catalog.Mount) *entry {
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
	return &entry{several: external > 1, catalog: func() *catalog.Catalog {
		return catalog.New(mounts, v.opt.Config.PageSize, v.opt.Log)
	}}
}

// reserved returns how tools of our own are mounted.
func reserved(s gateway.Source) catalog.Mount {
	return catalog.Mount{Source: s, Allows: func(string) bool { return true }, Claim: catalog.ClaimReserved}
}

// New makes the views of a configuration.
func New(opt Options) *Views {
	v := &Views{opt: opt, others: map[gateway.View]*entry{}, audiences: audiences{dropped: map[gateway.View]listIDs{}}}
	v.whole = v.newEntry(opt.Mounts)
	v.whole.get()
	return v
}

// Catalog returns the catalog of a view, and makes it at its first use. It reports
// false when there is no such view.
func (v *Views) Catalog(view gateway.View) (*catalog.Catalog, bool) {
	e, ok := v.entry(view)
	if !ok {
		return nil, false
	}
	// Without the lock: the tools for searching look at other views for their list.
	return e.get(), true
}

func (v *Views) entry(view gateway.View) (*entry, bool) {
	view = v.Listed(view)
	if view == (gateway.View{}) {
		return v.whole, true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if known, ok := v.others[view]; ok {
		v.use(known)
		return known, true
	}
	// With the lock, so that Rewrite drops an entry whose mounts were selected by former
	// workflows. Catalog makes the catalog later, without the lock.
	mounts, ok := v.mounts(view)
	if !ok {
		return nil, false
	}
	if view.Searched() {
		mounts = v.searched(view.Unsearched(), mounts)
	}
	fresh := v.newEntry(mounts)
	v.others[view] = fresh
	v.use(fresh)
	v.bound()
	return fresh, true
}

// Has reports whether there is such a view.
func (v *Views) Has(view gateway.View) bool {
	_, ok := v.entry(view)
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
func (v *Views) Snapshot() *catalog.Snapshot { return v.whole.get().Snapshot() }

// SnapshotOf returns the tools of a view; none if there is no such view.
func (v *Views) SnapshotOf(view gateway.View) *catalog.Snapshot {
	c, ok := v.Catalog(view)
	if !ok {
		return &catalog.Snapshot{}
	}
	return c.Snapshot()
}

// Unknown returns what can be said to a client about a name that no tool of its view
// has. It names only servers and tools that the client sees.
func (v *Views) Unknown(who gateway.Identity, view gateway.View, name string) catalog.Unknown {
	placed := v.Place(who, view).Unsearched()
	placed.Audience = view.Audience
	c, ok := v.Catalog(placed)
	if !ok {
		return catalog.Unknown{}
	}
	return c.Unknown(name)
}

// Each calls visit with each view that is in use and its catalog, except views with an
// audience.
func (v *Views) Each(visit func(gateway.View, *catalog.Catalog)) {
	v.each(func(view gateway.View, e *entry) { visit(view, e.get()) })
}

func (v *Views) each(visit func(gateway.View, *entry)) {
	v.mu.Lock()
	views := []gateway.View{{}}
	entries := []*entry{v.whole}
	for view, e := range v.others {
		if view.Audience == "" {
			views, entries = append(views, view), append(entries, e)
		}
	}
	v.mu.Unlock()
	for i, view := range views {
		visit(view, entries[i])
	}
}

// Refresh reads the sources' lists of a kind into all catalogs, and returns the views
// that changed for clients. A catalog is made once for all of the sources. Catalogs with
// an audience are dropped; see Renew.
func (v *Views) Refresh(kind gateway.Kind, sources ...string) (changed []gateway.View) {
	for _, source := range sources {
		v.dropAudiences(source)
	}
	v.each(func(view gateway.View, e *entry) {
		c := e.get()
		mounted := slices.DeleteFunc(slices.Clone(sources), func(source string) bool { return !c.Has(source) })
		if len(mounted) == 0 {
			return
		}
		differs, between := c.Refresh(kind, mounted...)
		if differs {
			changed = append(changed, view)
		}
		if kind == gateway.KindTool { // also for what is searched and not listed
			v.reindex(e, append(mounted, between...)) // between gained or lost a name
		}
	})
	return changed
}

// mounts returns the mounts of a view. It reports false when there is no such view.
func (v *Views) mounts(view gateway.View) ([]catalog.Mount, bool) {
	if view.Mode != "" && !view.Searched() {
		return nil, false
	}
	all := v.rewritten(view)
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
	e, ok := v.entry(view)
	return ok && e.several
}
