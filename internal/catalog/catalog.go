package catalog

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/gateway"
)

// Mount says how the tools of a source appear in a catalog.
type Mount struct {
	Source gateway.Source
	// Prefix stands before the name and two underscores; empty mounts the
	// tools under their own names.
	Prefix string
	// PrefixInAll is the prefix in the view of all servers, if this view has none.
	PrefixInAll string
	// Claim decides which mount owns a name that several have.
	Claim Claim
	// Allows filters by the source's own names; nil lets everything through.
	Allows   func(name string) bool
	Validate bool
	Timeout  time.Duration
	// Options returns the options for calls of a tool, by the source's own name;
	// nil for none.
	Options func(name string) gateway.ExecuteOptions
	// Labels returns the version, category and tags that the configuration gives a
	// tool, by the source's own name; nil for none. Overrides come first.
	Labels func(name string) Labels
	// OriginalSchemas shows combinations at the first level of a schema to
	// everybody; otherwise clients of the legacy era see plain properties.
	OriginalSchemas bool
	// Overrides are what people say about tools; nil for nothing.
	Overrides *Overrides
	// Rewrite returns the tools that are left of a list, with the definitions that
	// clients shall see; nil for all of them as they are. A definition may have another
	// name. All else is the source's own, whatever Rewrite says.
	Rewrite func(tools []gateway.Tool) []gateway.Tool
}

// Catalog is the current snapshot and what it is made of.
type Catalog struct {
	log      *slog.Logger
	pageSize int
	current  atomic.Pointer[Snapshot]

	mu     sync.Mutex // serialises rebuilding
	mounts []mounted
	// former snapshots answer the cursors that name them
	former []*Snapshot
}

type mounted struct {
	Mount
	lists [gateway.KindCount][]*gateway.Tool
	// findings are what was remarkable about the lists.
	findings [gateway.KindCount][]Finding
	// filtered are the tools that Allows does not let through.
	filtered []string
	// overrides are what is said about the tools of the list, and since is when
	// each was listed first, by the source's own names.
	overrides map[string]Override
	since     map[string]time.Time
	// resources stands for what the source can read without listing it.
	resources *gateway.Tool
}

// keptSnapshots is how many lists ago a client may have begun to page through.
const keptSnapshots = 4

// New makes a catalog. A page size of zero puts every list on one page.
func New(mounts []Mount, pageSize int, log *slog.Logger) *Catalog {
	c := &Catalog{log: log, pageSize: pageSize}
	for _, m := range mounts {
		in := mounted{Mount: m, resources: &gateway.Tool{
			Kind: gateway.KindResource, Source: m.Source, Timeout: m.Timeout, ReadOnly: true,
		}}
		for _, kind := range gateway.Kinds() {
			in.take(kind, log)
		}
		c.mounts = append(c.mounts, in)
	}
	c.current.Store(c.build())
	return c
}

// Snapshot is the current one.
func (c *Catalog) Snapshot() *Snapshot { return c.current.Load() }

// Refresh reads the sources' current lists of a kind. It reports whether clients see a
// different list, and returns the sources that gained or lost a name. A source that
// is not mounted changes nothing.
func (c *Catalog) Refresh(kind gateway.Kind, sources ...string) (changed bool, between []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stale := make(map[string]bool, len(sources))
	for _, source := range sources {
		stale[source] = true
	}
	for i := range c.mounts {
		if stale[c.mounts[i].Source.Name()] {
			c.mounts[i].take(kind, c.log)
		}
	}
	old, fresh := c.current.Load(), c.build()
	if old.lists[kind].id == fresh.lists[kind].id {
		// The same bytes, but perhaps other hints: calls use the new one.
		c.current.Store(fresh)
		return false, moved(old, fresh)
	}
	c.former = append(c.former, old)
	if len(c.former) > keptSnapshots {
		c.former = append([]*Snapshot(nil), c.former[1:]...)
	}
	c.current.Store(fresh)
	return true, moved(old, fresh)
}

// Has reports whether the source is mounted here.
func (c *Catalog) Has(source string) bool {
	for i := range c.mounts {
		if c.mounts[i].Source.Name() == source {
			return true
		}
	}
	return false
}
