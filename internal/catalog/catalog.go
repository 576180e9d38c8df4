// Package catalog knows every tool in the house. It holds an immutable
// snapshot of all tools, with everything about them worked out beforehand, and
// swaps it when a source's list changes: a call costs one map look-up, a list
// is bytes that are there already.
package catalog

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// Mount says how a source's tools appear in the house.
type Mount struct {
	Source gateway.Source
	// Prefix stands before the name and two underscores; empty mounts the
	// tools under their own names.
	Prefix string
	// Allows filters by the source's own names; nil lets everything through.
	Allows   func(name string) bool
	Validate bool
	Timeout  time.Duration
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
	tools []*gateway.Tool
}

// keptSnapshots is how many lists ago a client may have begun to page through.
const keptSnapshots = 4

// New makes a catalog. A page size of zero puts every list on one page.
func New(mounts []Mount, pageSize int, log *slog.Logger) *Catalog {
	c := &Catalog{log: log, pageSize: pageSize}
	for _, m := range mounts {
		c.mounts = append(c.mounts, mounted{Mount: m, tools: expose(m, log)})
	}
	c.current.Store(c.build())
	return c
}

// Snapshot is the current one.
func (c *Catalog) Snapshot() *Snapshot { return c.current.Load() }

// Refresh takes over a source's current list, and reports whether that
// changed what clients see.
func (c *Catalog) Refresh(source string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.mounts {
		if c.mounts[i].Source.Name() == source {
			c.mounts[i].tools = expose(c.mounts[i].Mount, c.log)
		}
	}
	old, fresh := c.current.Load(), c.build()
	if old.id == fresh.id {
		// The same bytes, but perhaps other hints: calls use the new one.
		c.current.Store(fresh)
		return false
	}
	c.former = append(c.former, old)
	if len(c.former) > keptSnapshots {
		c.former = append([]*Snapshot(nil), c.former[1:]...)
	}
	c.current.Store(fresh)
	return true
}

// Resolve finds the call's tool. It is the only place that turns a name into a
// tool.
func (c *Catalog) Resolve(next gateway.Handler) gateway.Handler {
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		tool, ok := c.current.Load().byName[call.Name]
		if !ok {
			return nil, c.unknownTool(call.Name)
		}
		call.Tool = tool
		return next.Handle(ctx, call)
	})
}

func (c *Catalog) unknownTool(name string) error {
	for i := range c.mounts {
		m := &c.mounts[i].Mount // its tools are another goroutine's
		if m.Prefix != "" && strings.HasPrefix(name, m.Prefix+"__") && len(m.Source.Tools()) == 0 {
			return gateway.Errorf(gateway.CodeNotFound,
				"Unknown tool: server %s has not listed any tools yet. `genkan servers %s` shows what it is doing",
				m.Source.Name(), m.Source.Name())
		}
	}
	const most = 128
	if len(name) > most {
		name = name[:most] + "…"
	}
	return gateway.Errorf(gateway.CodeNotFound,
		"Unknown tool: %s. tools/list names the tools there are", name)
}

// soleName finds the name in a tool's definition. It must stand there once, in
// no other spelling: of two, clients might show the one and call the other.
func soleName(t *gateway.Tool) (gateway.Span, bool) {
	found := 0
	err := jsonrpc.Members(t.Definition, func(key, _ []byte) bool {
		if bytes.EqualFold(key, []byte("name")) {
			found++
		}
		return true
	})
	named := t.Name != "" && jsonrpc.LookupText(t.Definition, "name") == t.Name
	return jsonrpc.LookupSpan(t.Definition, "name"), err == nil && found == 1 && named
}

// expose turns a source's list into tools as clients see them. A definition
// that cannot be used is left out alone, and said so.
func expose(m Mount, log *slog.Logger) []*gateway.Tool {
	list := m.Source.Tools()
	tools := make([]*gateway.Tool, 0, len(list))
	for _, t := range list {
		if m.Allows != nil && !m.Allows(t.Name) {
			continue
		}
		at, ok := soleName(&t)
		if !ok {
			log.Warn("tool left out: its definition has no name, or more than one", "server", m.Source.Name())
			continue
		}
		t.Exposed = exposedName(m.Prefix, t.Name)
		if t.Exposed != t.Name {
			t.Definition = jsonrpc.Splice(nil, t.Definition,
				jsonrpc.Edit{At: at, With: jsonrpc.AppendQuoted(nil, t.Exposed)})
		}
		t.Source, t.Validate, t.Timeout = m.Source, m.Validate, m.Timeout
		tools = append(tools, &t)
	}
	return tools
}
