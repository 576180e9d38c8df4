package upstream

import (
	"context"

	"genkan/internal/gateway"
)

// Probe starts a server once, in addition to one that may be running, and closes
// it when it is ready or has failed. It returns the closed server with its lists,
// and its last status. Nothing is saved, and no saved lists are used.
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

// noLists is a ListStore that saves nothing.
type noLists struct{}

func (noLists) LoadList(context.Context, string) (SavedList, bool, error) {
	return SavedList{}, false, nil
}
func (noLists) SaveList(context.Context, string, SavedList) error { return nil }
