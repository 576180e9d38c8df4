package registry

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/config"
	"genkan/internal/testkit"
)

// changingStore is a store that other processes change.
type changingStore struct {
	Store

	mu       sync.Mutex
	sequence int64
	servers  []config.StoredServer
	err      error
}

// set changes the store.
func (s *changingStore) set(servers []config.StoredServer, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil { // the end of a failure is no change
		s.sequence++
	}
	s.servers, s.err = servers, err
}

func (s *changingStore) ChangeSequence(context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sequence, nil
}

func (s *changingStore) StoredServers(context.Context) ([]config.StoredServer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.servers, s.err
}

// Servers that another process has changed come into force within a second. Other
// changes of the database cause no reload.
func TestWatchReloadsChangedServers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one := config.StoredServer{Name: "one", Definition: []byte(`{"command":"x"}`)}
		store := &changingStore{}
		inForce := []config.StoredServer{one}
		var reloads atomic.Int64
		var log testkit.Buffer
		r := New(t.Context(), Options{
			Store: store, Log: slog.New(slog.NewTextHandler(&log, nil)),
			InForce: func() []config.StoredServer { return inForce },
			Reload: func() error {
				reloads.Add(1)
				stored, _ := store.StoredServers(t.Context())
				if len(stored) == 0 {
					return errors.New("canary")
				}
				inForce = stored
				return nil
			},
		})
		defer r.Close()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r.Watch(ctx)
		}()
		time.Sleep(watchInterval / 2) // changes come between two checks
		changed := config.StoredServer{Name: "one", Definition: []byte(`{"command":"y"}`)}
		for _, step := range []struct {
			name    string
			servers []config.StoredServer
			err     error
			reloads int64
		}{
			{"the servers are the same", []config.StoredServer{one}, nil, 0},
			{"a definition has changed", []config.StoredServer{changed}, nil, 1},
			{"something else has changed", []config.StoredServer{changed}, nil, 1},
			{"the store cannot be read", nil, errors.New("locked"), 1},
			{"it can again", []config.StoredServer{changed, {Name: "two"}}, nil, 2},
			{"a server was removed", []config.StoredServer{{Name: "two"}}, nil, 3},
			{"the reload fails", nil, nil, 4},
		} {
			store.set(step.servers, step.err)
			time.Sleep(watchInterval)
			if got := reloads.Load(); got != step.reloads {
				t.Errorf("%s: %d reloads, want %d", step.name, got, step.reloads)
			}
		}
		if strings.Count(log.String(), "canary") != 1 {
			t.Errorf("logged: %s", log.String())
		}
		stop()
		<-ended
	})
}
