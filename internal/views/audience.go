package views

import (
	"slices"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
)

// listIDs identify the lists of a catalog.
type listIDs = [gateway.KindCount]string

// audiences is what Views knows about views with an audience. Such a view is dropped when
// one of its sources or the workflows change, and made anew at its next use. The lock is
// held while its mounts are selected, but not while workflows make its catalog, because
// they can take long. Guarded by Views.mu.
type audiences struct {
	// uses counts the uses of views with an audience.
	uses uint64
	// dropped has the lists of dropped catalogs, which their clients may still hold.
	dropped map[gateway.View]listIDs
}

// mostAudiences is how many views with an audience are kept; the least recently used go
// first. Each has its own copies of all definitions.
const mostAudiences = 100

// mostDropped bounds the memory of clients that are gone.
const mostDropped = 10_000

// Listed returns the view whose lists the clients of a view see: one without an
// audience, unless workflows give that client lists of its own.
func (v *Views) Listed(view gateway.View) gateway.View {
	if view.Audience != "" && (v.opt.HasLists == nil || !v.opt.HasLists(view.Audience)) {
		view.Audience = ""
	}
	return view
}

// rewritten returns the mounts, for a view with an audience those that it may use, as the
// workflows want them.
func (v *Views) rewritten(view gateway.View) []catalog.Mount {
	if view.Audience == "" {
		return v.opt.Mounts
	}
	mounts := slices.DeleteFunc(slices.Clone(v.opt.Mounts), func(m catalog.Mount) bool {
		return v.opt.MayUse != nil && !v.opt.MayUse(view.Audience, m.Source.Name())
	})
	for i := range mounts {
		source := mounts[i].Source
		mounts[i].Rewrite = func(tools []gateway.Tool) []gateway.Tool {
			left, err := v.opt.Lists(view, source, tools)
			if err != nil {
				v.opt.Log.Warn("the tools of a server could not be listed for a client", "server", source.Name(), "client", view.Audience, "error", err)
			}
			return left
		}
	}
	return mounts
}

// use notes that an entry is used. Called with mu held.
func (v *Views) use(e *entry) {
	v.uses++
	e.used = v.uses
}

// bound drops the least recently used view with an audience if there are too many.
// Called with mu held.
func (v *Views) bound() {
	count := 0
	var oldest gateway.View
	for view, e := range v.others {
		if view.Audience == "" {
			continue
		}
		if count++; oldest.Audience == "" || e.used < v.others[oldest].used {
			oldest = view
		}
	}
	if count > mostAudiences {
		v.drop(oldest)
	}
}

// drop drops a view with an audience. Called with mu held.
func (v *Views) drop(view gateway.View) {
	_, known := v.dropped[view] // its client may hold an older list than this one
	if c := v.others[view].made.Load(); c != nil && !known && len(v.dropped) < mostDropped {
		v.dropped[view] = c.ListIDs()
	}
	delete(v.others, view) // whoever is making its catalog uses it once
}

// dropAudiences drops the views with an audience that have a source.
func (v *Views) dropAudiences(source string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for view, e := range v.others {
		if c := e.made.Load(); view.Audience != "" && (c == nil || c.Has(source)) {
			v.drop(view)
		}
	}
}

// Rewrite lets replace put other workflows into force. Afterwards Renew tells which of the
// connected views changed by that.
func (v *Views) Rewrite(connected []gateway.View, replace func()) {
	held := map[gateway.View]listIDs{}
	for _, view := range connected {
		if c, ok := v.Catalog(view.Shared()); ok && view.Audience != "" {
			held[view] = c.ListIDs()
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for view, ids := range held { // of clients that had no lists of their own so far
		_, dropped := v.dropped[view]
		if _, own := v.others[view]; !own && !dropped {
			v.dropped[view] = ids
		}
	}
	replace()
	for view := range v.others {
		if view.Audience != "" {
			v.drop(view)
		}
	}
}

// Renew makes the dropped catalogs of connected views anew, and returns the views whose
// clients see other lists now, by the kind of the list. It may wait for workflows.
func (v *Views) Renew(connected []gateway.View) (changed map[gateway.Kind][]gateway.View) {
	v.mu.Lock()
	dropped := v.dropped
	v.dropped = map[gateway.View]listIDs{}
	v.mu.Unlock()
	changed = map[gateway.Kind][]gateway.View{}
	for _, view := range connected {
		held, ok := dropped[view]
		if !ok {
			continue
		}
		var ids listIDs
		if c, ok := v.Catalog(view); ok {
			ids = c.ListIDs()
		}
		for _, kind := range gateway.Kinds() {
			if ids[kind] != held[kind] {
				changed[kind] = append(changed[kind], view)
			}
		}
	}
	return changed
}
