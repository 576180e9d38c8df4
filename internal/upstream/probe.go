package upstream

import (
	"context"

	"genkan/internal/gateway"
)

// Probe starts a server once, aside from one that may be running, and ends it
// when it is ready or has failed. What it listed stays in the returned server,
// which is closed; the status is the last that it had. Nothing of it is kept,
// and no tools of the last time are taken for those of now.
func Probe(ctx context.Context, set Settings, deps Deps) (*Server, Status) {
	deps.Lists, deps.Rearranged = noLists{}, nil
	deps.Publish = func(gateway.Event) {}
	s := Open(set, deps)
	defer s.Close()
	for {
		s.mu.Lock()
		state, changed := s.state, s.changed
		s.mu.Unlock()
		if state != StateStarting {
			return s, s.Status()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return s, s.Status()
		}
	}
}

// noLists keeps nothing.
type noLists struct{}

func (noLists) LoadList(context.Context, string) (SavedList, bool, error) {
	return SavedList{}, false, nil
}
func (noLists) SaveList(context.Context, string, SavedList) error { return nil }
