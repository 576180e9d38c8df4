package signin

import (
	"context"
	"errors"
	"sync"
	"time"

	"genkan/internal/gateway"
)

// holder is the state of one server's sign-in in this process.
type holder struct {
	// turn serializes changes of the sign-in in this process; the vault's lock
	// does so between processes.
	turn chan struct{}

	mu sync.Mutex
	// kept is replaced and never changed. It is nil if there is no sign-in or the
	// vault was not read yet.
	kept *kept
	// unsaved is set when saving kept to the vault failed.
	unsaved bool
	// doubts counts the calls of Doubt, and settled those after which the vault
	// was read. While they differ, kept is not used.
	doubts, settled int
	// refused is a token that the server refused.
	refused   gateway.Secret
	refusedAt time.Time
	// failure is the error of the last refresh, and the time until which no other
	// is tried.
	failure error
	until   time.Time
	// flight is the refresh in progress that all callers wait for.
	flight *flight
}

// flight is a refresh. Its results are read after done is closed.
type flight struct {
	// server is the server that the flight is for, and doubts the holder's doubts
	// when it began.
	server Server
	doubts int
	done   chan struct{}
	token  gateway.Secret
	err    error
}

// answers reports whether the flight's result is valid for a caller now: the name
// may belong to another server meanwhile, and the sign-in to another person.
func (f *flight) answers(s Server, doubts int) bool {
	return f.doubts == doubts && f.server.URL == s.URL && f.server.Client == s.Client
}

func (k *SignIns) holder(s Server) *holder {
	k.mu.Lock()
	defer k.mu.Unlock()
	h := k.servers[s.Name]
	if h == nil {
		h = &holder{turn: make(chan struct{}, 1)}
		k.servers[s.Name] = h
	}
	return h
}

// usable returns the current token if it needs no renewal.
func (h *holder) usable(s Server, now time.Time) (gateway.Secret, bool) {
	if g := h.kept; g != nil && !h.isDoubted() && g.isFor(s) && g.Access != h.refused && g.isFresh(now) {
		return g.Access, true
	}
	return "", false
}

func (h *holder) isDoubted() bool { return h.doubts != h.settled }

func (h *holder) isKept() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.kept != nil
}

// adopt makes a sign-in the current one; nil for none.
func (h *holder) adopt(g *kept, unsaved bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if g == nil || h.kept == nil || g.Access != h.kept.Access {
		h.failure, h.until = nil, time.Time{}
	}
	h.kept, h.unsaved = g, unsaved
}

// lockSignIn waits for the turn to change a server's sign-in, in this process and in
// others.
func (k *SignIns) lockSignIn(ctx context.Context, s Server) (release func(), err error) {
	h := k.holder(s)
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	unlock := func() {}
	if locker, ok := k.vault.(Locker); ok {
		if unlock, err = locker.Lock(ctx, vaultName(s)); err != nil {
			<-h.turn
			return nil, err
		}
	}
	return func() { unlock(); <-h.turn }, nil
}

// VaultPrefix is the prefix of sign-ins in the vault, which has other secrets,
// too.
const VaultPrefix = "signin/"

func vaultName(s Server) string { return VaultPrefix + s.Name }

// load reads a sign-in from the vault; nil if there is none.
func (k *SignIns) load(ctx context.Context, s Server) (*kept, error) {
	value, found, err := k.vault.Load(ctx, vaultName(s))
	if err != nil || !found {
		return nil, err
	}
	g, ok := decodeKept(value)
	if !ok {
		return nil, gateway.Errorf(gateway.CodeInternal, "what was kept of the sign-in to %s cannot be read; run `genkan login %s`", s.Name, s.Name)
	}
	return g, nil
}

func (k *SignIns) save(ctx context.Context, s Server, g *kept) error {
	value, err := g.encode()
	if err != nil {
		return errors.New("a sign-in that cannot be encoded")
	}
	return k.vault.Save(ctx, vaultName(s), value)
}

// replace saves a new sign-in and makes it the current one.
func (k *SignIns) replace(ctx context.Context, s Server, g *kept) error {
	release, err := k.lockSignIn(ctx, s)
	if err != nil {
		return err
	}
	defer release()
	if err := k.save(ctx, s, g); err != nil {
		return err
	}
	k.holder(s).adopt(g, false)
	return nil
}
