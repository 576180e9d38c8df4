package app

import (
	"context"

	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/upstream"
)

// house is one configuration at work: its catalog and its corridor. A reload
// builds another one; upstreams that stay the same move into it with their
// connections.
type house struct {
	config    *config.Config
	servers   []*upstream.Server
	catalog   *catalog.Catalog
	validator *catalog.Validator
	limit     *limiter
	handler   gateway.Handler
}

func (h *house) Handle(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	return h.handler.Handle(ctx, call)
}

func (h *house) Page(cursor string) (*catalog.Page, error) { return h.catalog.Page(cursor) }
func (h *house) Snapshot() *catalog.Snapshot               { return h.catalog.Snapshot() }
func (h *house) Servers() []*upstream.Server               { return h.servers }

// build furnishes a house for a configuration. Servers that the old house has
// and that are still the same are taken over.
func (p *Process) build(cfg *config.Config, old *house) *house {
	keep := map[string]*upstream.Server{}
	if old != nil {
		changes := config.Diff(old.config, cfg)
		reused := map[string]bool{}
		for _, names := range [][]string{changes.Unchanged, changes.Reconfigured} {
			for _, name := range names {
				reused[name] = true
			}
		}
		for _, s := range old.servers {
			if reused[s.Name()] {
				keep[s.Name()] = s
			}
		}
	}
	h := &house{config: cfg, validator: &catalog.Validator{}, limit: newLimiter(cfg.RateLimit)}
	if old != nil && old.config.RateLimit == cfg.RateLimit {
		h.limit = old.limit
	}
	var mounts []catalog.Mount
	for _, set := range cfg.Servers {
		if set.Disabled {
			continue
		}
		s := keep[set.Name]
		if s == nil {
			s = upstream.Open(settings(set), p.upstreamDeps())
		}
		h.servers = append(h.servers, s)
		mounts = append(mounts, catalog.Mount{
			Source: s, Prefix: set.Prefix, Allows: set.Tools.Allows,
			Validate: set.Validate, Timeout: set.Timeout,
		})
	}
	h.catalog = catalog.New(mounts, cfg.PageSize, p.log)
	h.handler = h.corridor(p)
	return h
}

func settings(s config.Server) upstream.Settings {
	return upstream.Settings{
		Name: s.Name, Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Cwd,
		URL: s.URL, Headers: s.Headers,
		StartupTimeout: s.StartupTimeout, Fingerprint: s.Fingerprint(),
	}
}
