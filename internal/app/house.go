package app

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/guide"
	"genkan/internal/learn"
	"genkan/internal/ratelimit"
	"genkan/internal/registry"
	"genkan/internal/shape"
	"genkan/internal/tasks"
	"genkan/internal/upstream"
	"genkan/internal/views"
)

// house is one configuration at work: its catalog and its corridor. A reload builds
// a new house and moves unchanged upstreams into it, with their connections.
type house struct {
	config  *config.Config
	servers []*upstream.Server
	// builtIn are the sources that are part of genkan.
	builtIn []gateway.Source
	*views.Views
	learned   *learn.Learner
	tasks     *tasks.Registry
	validator *catalog.Validator
	limit     *ratelimit.Limiter
	// mayUse reports whether the limit of a client allows a source.
	mayUse  func(client, source string) bool
	shaper  *shape.Shaper
	handler gateway.Handler
	// inner takes the calls that workflows make. They do not count against the limit.
	inner gateway.Handler
	// arrival is the corridor behind record and limit. It takes the calls that an
	// older house can no longer serve. successor returns the house that serves now.
	arrival   gateway.Handler
	successor func() *house

	// settled is set when every server has been listed once, or when settleBy has
	// passed.
	settled  atomic.Bool
	settleBy time.Time
	// settling makes the first of many callers read the lists for all of them.
	settling sync.Mutex
}

// firstListPatience is the default of Options.FirstListPatience. Many clients
// never ask again after an empty first list, and some give up after ten seconds.
const firstListPatience = 8 * time.Second

// settle waits, once, for servers that have never been listed.
func (h *house) settle(ctx context.Context) {
	if h.settled.Load() {
		return
	}
	timer := time.NewTimer(time.Until(h.settleBy))
	defer timer.Stop()
	for _, s := range h.sources() {
		settled := gateway.Settled(s)
		if settled == nil {
			continue
		}
		select {
		case <-settled:
		case <-timer.C:
			h.settled.Store(true)
			return
		case <-ctx.Done():
			return
		}
	}
	// The sources have their lists now, but the catalog may not have read them yet.
	h.settling.Lock()
	defer h.settling.Unlock()
	if h.settled.Load() {
		return
	}
	names := make([]string, len(h.servers))
	for i, s := range h.servers {
		names[i] = s.Name()
	}
	for _, kind := range gateway.Kinds() {
		h.Refresh(kind, names...)
	}
	h.settled.Store(true)
}

// arrive is the first step of a call in this house. A call of an unknown tool waits
// for servers that have just been started. A call whose source left in a reload
// moves to the current house. No step has inspected or counted the call before
// that.
func (h *house) arrive(next gateway.Handler) gateway.Handler {
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		if !h.settled.Load() {
			keepToLists(call)
			if c, ok := h.Catalog(call.View); !ok || c.Find(call.Kind, call.Name) == nil {
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

// errOvertaken ends a call in a house if its server left in a reload.
var errOvertaken = &gateway.Error{
	Code: gateway.CodeUnavailable, Unsent: true,
	Message: "the server was removed from the configuration",
}

// hold keeps the call's server until the call is done. It begins as soon as the
// server is known, because the call may wait long in the server's queue.
func (h *house) hold(next gateway.Handler) gateway.Handler {
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		source := call.Tool.Source
		if !gateway.Hold(source) {
			return nil, errOvertaken
		}
		defer gateway.Release(source)
		return next.Handle(ctx, call)
	})
}

func (h *house) Handle(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	return h.handler.Handle(ctx, call)
}

// Page returns a page of a list.
func (h *house) Page(ctx context.Context, view gateway.View, kind gateway.Kind, cursor string) (*catalog.Page, error) {
	h.settle(ctx)
	c, ok := h.Catalog(view)
	if !ok {
		return nil, views.Missing(view)
	}
	return c.Page(kind, cursor)
}

func (h *house) Servers() []*upstream.Server { return h.servers }
func (h *house) BuiltIn() []gateway.Source   { return h.builtIn }
func (h *house) Declared() []registry.Server { return registry.List(h.config) }

// sources returns the servers and the built-in sources.
func (h *house) sources() []gateway.Source {
	all := make([]gateway.Source, 0, len(h.servers)+len(h.builtIn))
	for _, s := range h.servers {
		all = append(all, s)
	}
	return append(all, h.builtIn...)
}

// source returns the source with a name; nil if there is none.
func (h *house) source(name string) gateway.Source {
	for _, s := range h.sources() {
		if s.Name() == name {
			return s
		}
	}
	return nil
}

// Tasks lists the caller's tasks. It counts as one call, even though several
// servers may be asked.
func (h *house) Tasks(ctx context.Context, caller *gateway.Call, cursor string) ([]byte, error) {
	if err := h.limit.Admit(caller.Identity); err != nil {
		return nil, err
	}
	caller.View.Audience = caller.Audience()
	return h.tasks.List(ctx, caller, cursor, h.arrival)
}

// build builds a house for a configuration. It takes over the old house's servers
// whose settings are unchanged.
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
	h := &house{config: cfg, tasks: p.tasks, learned: p.learned, settleBy: time.Now().Add(cmp.Or(p.opt.FirstListPatience, firstListPatience)), validator: &catalog.Validator{}, limit: ratelimit.New(cfg.RateLimit.Max, cfg.RateLimit.TimeWindow)}
	if old != nil && old.config.RateLimit == cfg.RateLimit {
		h.limit = old.limit
	}
	var mounts []catalog.Mount
	for _, set := range cfg.Servers {
		if set.Disabled || len(p.opt.Only) > 0 && !slices.Contains(p.opt.Only, set.Name) {
			continue
		}
		s := keep[set.Name]
		if s == nil {
			s = upstream.Open(p.settings(set), p.upstreamDeps())
		}
		h.servers = append(h.servers, s)
		mounts = append(mounts, mountOf(s, set, p.overrides))
	}
	h.builtIn = p.builtIn(cfg)
	for _, s := range h.builtIn {
		mounts = append(mounts, builtInMount(s, p.overrides))
	}
	h.successor, h.mayUse = p.house.Load, p.mayUse
	h.shaper = p.shaper(cfg)
	h.Views = views.New(views.Options{
		Config: cfg, Mounts: mounts, Always: h.everywhere(), Learned: p.learned, Log: p.catalogLog, Translate: language(cfg).Translator(),
		HasLists: p.hasLists, Lists: p.listsOf, MayUse: h.mayUse,
		Vectors: p.vectors.shelfFor(cfg.Embeddings, p.store, p.log),
		Guide: func(view gateway.View) gateway.Source {
			return guide.New(view, language(cfg).Translator(), func() guide.House { return h.successor() })
		},
	})
	h.arrival = h.corridor(p)
	h.handler = gateway.Chain(h.arrival, p.recorder.Middleware, h.meant, h.limit.Middleware)
	h.inner = gateway.Chain(h.arrival, p.recorder.Middleware)
	return h
}

// mountOf returns how the catalog mounts a server's tools.
func mountOf(source gateway.Source, set config.Server, overrides *catalog.Overrides) catalog.Mount {
	claim := catalog.ClaimUsual
	if set.Overwrite {
		claim = catalog.ClaimOverwrite
	}
	return catalog.Mount{
		Source: source, Prefix: set.Prefix, Claim: claim, Allows: set.Tools.Allows,
		Labels: func(tool string) catalog.Labels {
			l := set.LabelsOf(tool)
			return catalog.Labels{Version: l.Version, Category: l.Category, Tags: l.Tags}
		},
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
