package app

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
	"genkan/internal/mcpserver"
)

// views are the catalogs of the views that were asked for. One server alone keeps
// its own names, so that nothing changes for a client that used it directly; of
// several, each keeps its prefix.
type views struct {
	mounts   []catalog.Mount
	pageSize int
	log      *slog.Logger

	mu     sync.Mutex
	byView map[gateway.View]*catalog.Catalog
}

func (v *views) init(pageSize int, log *slog.Logger) {
	v.pageSize, v.log = pageSize, log
	v.byView = map[gateway.View]*catalog.Catalog{}
}

// view finds the catalog of a view, and makes it when it is asked for first.
// It reports false when a server in it does not exist.
func (h *house) view(name gateway.View) (*catalog.Catalog, bool) {
	if name == (gateway.View{}) {
		return h.catalog, true
	}
	v := &h.views
	v.mu.Lock()
	known, ok := v.byView[name]
	v.mu.Unlock()
	if ok {
		return known, true
	}
	if name.Mode != "" && !name.Searched() {
		return nil, false
	}
	mounts, ok := h.mountsOf(name)
	if !ok {
		return nil, false
	}
	if name.Searched() {
		mounts = h.guided(name.Unsearched(), mounts)
	}
	// Without the lock: the guide looks at other views for its list.
	c := catalog.New(mounts, v.pageSize, v.log)
	v.mu.Lock()
	defer v.mu.Unlock()
	if other, ok := v.byView[name]; ok {
		return other, true
	}
	v.byView[name] = c
	return c, true
}

// mountsOf returns the mounts of a view, and false if it names a profile or a
// server that there is not.
func (h *house) mountsOf(view gateway.View) ([]catalog.Mount, bool) {
	all := h.views.mounts
	if view.Profile != "" {
		profile, ok := h.config.Profile(view.Profile)
		if !ok {
			return nil, false
		}
		all = profiled(all, profile)
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
	if len(mounts) == 1 {
		mounts[0].Prefix = ""
	}
	return mounts, len(mounts) == len(servers)
}

// all lists the catalogs that are in use.
func (h *house) all() map[gateway.View]*catalog.Catalog {
	h.views.mu.Lock()
	defer h.views.mu.Unlock()
	all := map[gateway.View]*catalog.Catalog{{}: h.catalog}
	for name, c := range h.views.byView {
		all[name] = c
	}
	return all
}

// refresh takes over a source's list everywhere, and returns the views that
// look different now.
func (h *house) refresh(source string, kind gateway.Kind) (changed []gateway.View) {
	for name, c := range h.all() {
		if !c.Has(source) {
			continue
		}
		differs, between := c.Refresh(source, kind)
		if differs {
			changed = append(changed, name)
		}
		if kind == gateway.KindTool { // also for what is said about tools and not listed
			h.reindex(name, source, c)
			for _, other := range between { // a name has gone from one to the other
				if other != source {
					h.reindex(name, other, c)
				}
			}
		}
	}
	return changed
}

// resolve finds the call's tool in the caller's view.
func (h *house) resolve(next gateway.Handler) gateway.Handler {
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		if err := h.find(call); err != nil {
			return nil, err
		}
		if call.Reading && !call.Tool.ReadOnly {
			return nil, gateway.Errorf(gateway.CodeDenied, "%s may change something now, so it is not called here; look at it again", call.Name)
		}
		return next.Handle(ctx, call)
	})
}

// find finds what a call is for, in the caller's view.
func (h *house) find(call *gateway.Call) error {
	c, ok := h.view(call.View)
	if !ok {
		return noSuchView(call.View)
	}
	if call.Kind == gateway.KindTask {
		call.Tool = h.tasks.Resolve(call, h.source)
	}
	if call.Tool == nil {
		return c.Resolve(call)
	}
	return nil
}

func noSuchView(view gateway.View) error {
	return gateway.Errorf(gateway.CodeNotFound, "there is no server %q; `genkan servers` lists them", gateway.Short(view.String()))
}

// Has reports whether there is such a view.
func (h *house) Has(view gateway.View) bool {
	_, ok := h.view(view)
	return ok
}

// Describe tells what a view is: a single server speaks for itself.
func (h *house) Describe(view gateway.View) mcpserver.Description {
	c, ok := h.view(view)
	if !ok {
		return mcpserver.Description{}
	}
	tasks, listed := map[gateway.Era]bool{}, false
	var shown []gateway.Source
	for _, s := range h.sources() {
		if !c.Has(s.Name()) {
			continue
		}
		shown = append(shown, s)
		if era, makes, lists := gateway.TasksOf(s); makes {
			tasks[era] = true
			listed = listed || lists
		}
	}
	if view != (gateway.View{}) && !view.Searched() && len(shown) == 1 && gateway.IsExternal(shown[0]) {
		about := gateway.AboutOf(shown[0])
		return mcpserver.Description{
			Info: about.Info, Capabilities: about.Capabilities, Instructions: about.Instructions,
			Tasks: tasks, ListsTasks: listed,
		}
	}
	var said []instructions
	for _, s := range shown {
		if text := gateway.AboutOf(s).Instructions; strings.TrimSpace(text) != "" {
			said = append(said, instructions{s.Name(), text})
		}
	}
	return mcpserver.Description{Instructions: joinInstructions(said), Tasks: tasks, ListsTasks: listed}
}

// Subscribe asks the owner of a resource or task to tell of its changes.
func (h *house) Subscribe(ctx context.Context, call *gateway.Call, told func(what string)) (func(), error) {
	h.settle(ctx)
	if err := h.find(call); err != nil {
		return nil, err
	}
	if call.Kind == gateway.KindTask {
		translate, tell := h.tasks.States(call), told
		told = func(state string) { tell(translate(state)) }
	}
	return gateway.Subscribe(ctx, call, told)
}

// isJoined reports whether a view has several servers.
func (h *house) isJoined(view gateway.View) bool {
	if view.Profile == "" {
		named := view.Servers.Names()
		return len(named) > 1 || named == nil && len(h.servers) > 1
	}
	mounts, _ := h.mountsOf(view)
	servers := 0
	for _, m := range mounts {
		if gateway.IsExternal(m.Source) {
			servers++
		}
	}
	return servers > 1
}

// Hear tells the servers what a client says beside its calls; each knows
// whether it is meant for it.
func (h *house) Hear(session *gateway.Session, method string, params []byte) {
	for l := range gateway.Listeners(h.sources()) {
		l.Hear(session, method, params)
	}
}

// Forget ends what the servers keep for a session that is over.
func (h *house) Forget(session string) {
	for l := range gateway.Listeners(h.sources()) {
		l.Forget(session)
	}
}

// SetLogLevel says how loud the loudest client wants the servers.
func (h *house) SetLogLevel(level string) {
	for l := range gateway.Listeners(h.sources()) {
		l.SetLogLevel(context.Background(), level)
	}
}
