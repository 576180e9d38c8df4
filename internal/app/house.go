package app

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/learn"
	"genkan/internal/signin"
	"genkan/internal/upstream"
)

// house is one configuration at work: its catalog and its corridor. A reload
// builds another one; upstreams that stay the same move into it with their
// connections.
type house struct {
	config    *config.Config
	servers   []*upstream.Server
	rooms     []room
	catalog   *catalog.Catalog
	views     views
	finder    finder
	learned   *learn.Keeper
	tasks     *tasks
	validator *catalog.Validator
	limit     *limiter
	handler   gateway.Handler
	// arrival is the corridor behind record and limit, where calls come in that an
	// older house can no longer serve; successor is the house that serves now.
	arrival   gateway.Handler
	successor func() *house

	// settled is set when every server has been listed once, or was given up
	// waiting for; settleBy is when that is.
	settled  atomic.Bool
	settleBy time.Time
}

// firstListPatience is how long the first list waits for servers that have
// never been listed. Many clients never ask again after an empty first list,
// and some give up after ten seconds.
const firstListPatience = 8 * time.Second

// settle waits, once, for servers of which nothing is known yet.
func (h *house) settle(ctx context.Context) {
	if h.settled.Load() {
		return
	}
	timer := time.NewTimer(time.Until(h.settleBy))
	defer timer.Stop()
	for _, s := range h.servers {
		select {
		case <-s.Settled():
		case <-timer.C:
			h.settled.Store(true)
			return
		case <-ctx.Done():
			return
		}
	}
	// The lists are in the sources; the catalog may not have heard of it yet.
	for _, s := range h.servers {
		for _, kind := range gateway.Kinds() {
			h.refresh(s.Name(), kind)
		}
	}
	h.settled.Store(true)
}

// arrive is where a call meets this house. One for a tool that is not known
// yet waits for the servers that have just been started. One that a reload
// has overtaken goes on to the house that serves now: nobody has looked into
// it or counted it before that is decided.
func (h *house) arrive(next gateway.Handler) gateway.Handler {
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		if !h.settled.Load() {
			if view, ok := h.view(call.View); !ok || view.Find(call.Kind, call.Name) == nil {
				h.settle(ctx)
			}
		}
		result, err := next.Handle(ctx, call)
		if err != nil && (call.Tool == nil || errors.Is(err, errOvertaken)) && ctx.Err() == nil {
			if now := h.successor(); now != h {
				call.Tool = nil
				return now.arrival.Handle(ctx, call)
			}
		}
		return result, err
	})
}

// errOvertaken ends a call in a house whose server has left meanwhile.
var errOvertaken = &gateway.Error{
	Code: gateway.CodeUnavailable, Unsent: true,
	Message: "the server was removed from the configuration",
}

// hold keeps the call's server until the call is done, from the moment on that
// the call is known to be for it: it may wait for its turn for long.
func (h *house) hold(next gateway.Handler) gateway.Handler {
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		if s, ok := call.Tool.Source.(*upstream.Server); ok {
			if !s.Hold() {
				return nil, errOvertaken
			}
			defer s.Release()
		}
		return next.Handle(ctx, call)
	})
}

func (h *house) Handle(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	return h.handler.Handle(ctx, call)
}

// Page returns a page of a list.
func (h *house) Page(ctx context.Context, view gateway.View, kind gateway.Kind, cursor string) (*catalog.Page, error) {
	h.settle(ctx)
	c, ok := h.view(view)
	if !ok {
		return nil, noSuchView(view)
	}
	return c.Page(kind, cursor)
}

func (h *house) Snapshot() *catalog.Snapshot { return h.catalog.Snapshot() }
func (h *house) Servers() []*upstream.Server { return h.servers }

// Unknown is what can be said about a name that no tool has.
func (h *house) Unknown(name string) catalog.Unknown { return h.catalog.Unknown(name) }

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
	p.launcher.AskLoginShell(cfg.LoginShell)
	h := &house{config: cfg, tasks: &p.tasks, learned: p.learned, settleBy: time.Now().Add(firstListPatience), validator: &catalog.Validator{}, limit: newLimiter(cfg.RateLimit)}
	h.finder.shelf = p.meaning.shelfFor(cfg.Embeddings, p.store, p.log)
	if old != nil && old.config.RateLimit == cfg.RateLimit {
		h.limit = old.limit
	}
	for _, set := range cfg.Servers {
		if set.Disabled || len(p.opt.Only) > 0 && !slices.Contains(p.opt.Only, set.Name) {
			continue
		}
		s := keep[set.Name]
		if s == nil {
			s = upstream.Open(p.settings(set), p.upstreamDeps())
		}
		h.servers = append(h.servers, s)
		h.views.mounts = append(h.views.mounts, mountOf(s, set, p.overrides))
	}
	h.rooms = p.rooms(cfg)
	for _, r := range h.rooms {
		h.views.mounts = append(h.views.mounts, r.mount(p.overrides))
	}
	h.catalog = catalog.New(h.views.mounts, cfg.PageSize, p.serverLog)
	h.views.init(cfg.PageSize, p.serverLog)
	h.successor = p.house.Load
	h.arrival = h.corridor(p)
	h.handler = gateway.Chain(h.arrival, p.recorder.Middleware, h.limit.middleware)
	return h
}

// mountOf is how a server's tools come into a catalog.
func mountOf(source gateway.Source, set config.Server, overrides *catalog.Overrides) catalog.Mount {
	claim := catalog.ClaimUsual
	if set.Overwrite {
		claim = catalog.ClaimOverwrite
	}
	return catalog.Mount{
		Source: source, Prefix: set.Prefix, Claim: claim, Allows: set.Tools.Allows,
		Labels:   func(tool string) catalog.Labels { return catalog.Labels(set.LabelsOf(tool)) },
		Validate: set.Validate, Timeout: set.Timeout, Options: set.OptionsOf, OriginalSchemas: set.Schemas == config.SchemasOriginal,
		Overrides: overrides,
	}
}

func (p *Process) settings(s config.Server) upstream.Settings {
	var bearer upstream.Bearer
	if s.URL != "" && !s.OAuth.Off {
		bearer = p.signIns.Bearer(SignInServer(s))
	}
	return upstream.Settings{
		Name: s.Name, Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Cwd,
		URL: s.URL, Headers: s.Headers, Transport: s.Transport, Isolation: s.Isolation,
		StartupTimeout: s.StartupTimeout, Fingerprint: s.Fingerprint(), Lacking: s.Unresolved, Bearer: bearer,
	}
}

// SignInServer is a server of the configuration, for signing in to it.
func SignInServer(s config.Server) signin.Server {
	return signin.Server{
		Name: s.Name, URL: s.URL, Scopes: s.OAuth.Scopes, RedirectPort: s.OAuth.RedirectPort, PrivateHosts: s.OAuth.PrivateHosts,
		Client: signin.Client{ID: s.OAuth.ClientID, Secret: s.OAuth.ClientSecret, Issuer: s.OAuth.Issuer},
	}
}
