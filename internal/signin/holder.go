package signin

import (
	"context"
	"errors"
	"sync"
	"time"

	"genkan/internal/gateway"
)

// holder is what is known of one server's sign-in, in this process.
type holder struct {
	// turn is who may change what the vault has of this server; the vault's
	// own lock is for other processes.
	turn chan struct{}

	mu sync.Mutex
	// kept is never changed, only replaced. nil: not signed in, or not looked.
	kept *kept
	// unsaved: kept is newer than what the vault has, which failed to take it.
	unsaved bool
	// doubts counts how often another process has changed the sign-in, and
	// settled those after which the vault was asked: in between kept is not used.
	doubts, settled int
	// refused is a token that the server did not take.
	refused   gateway.Secret
	refusedAt time.Time
	// failure is why the last refresh brought nothing, and until when trying
	// again would be rude.
	failure error
	until   time.Time
	// flight is the refresh that everybody waits for.
	flight *flight
}

// flight is one refresh. Its results are read after done is closed.
type flight struct {
	// server is whom it is for, and doubts what the holder's were at its start.
	server Server
	doubts int
	done   chan struct{}
	token  gateway.Secret
	err    error
}

// answers reports whether what the flight brings is what whoever asks now wants
// to know. The name of a server may have become another's meanwhile, and the
// sign-in another person's.
func (f *flight) answers(s Server, doubts int) bool {
	return f.doubts == doubts && f.server.URL == s.URL && f.server.Client == s.Client
}

func (k *Keeper) holder(s Server) *holder {
	k.mu.Lock()
	defer k.mu.Unlock()
	h := k.servers[s.Name]
	if h == nil {
		h = &holder{turn: make(chan struct{}, 1)}
		k.servers[s.Name] = h
	}
	return h
}

// usable is the token at hand, if it needs no renewal.
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

// adopt makes a sign-in the one in use; nil for none.
func (h *holder) adopt(g *kept, unsaved bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if g == nil || h.kept == nil || g.Access != h.kept.Access {
		h.failure, h.until = nil, time.Time{}
	}
	h.kept, h.unsaved = g, unsaved
}

// hold waits for the turn to change a server's sign-in, here and in other
// processes.
func (k *Keeper) hold(ctx context.Context, s Server) (release func(), err error) {
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

// VaultPrefix begins what sign-ins are called in the vault, which has other
// secrets too.
const VaultPrefix = "signin/"

func vaultName(s Server) string { return VaultPrefix + s.Name }

// load reads what the vault has; nil if nothing.
func (k *Keeper) load(ctx context.Context, s Server) (*kept, error) {
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

func (k *Keeper) save(ctx context.Context, s Server, g *kept) error {
	value, err := g.encode()
	if err != nil {
		return errors.New("a sign-in that cannot be encoded")
	}
	return k.vault.Save(ctx, vaultName(s), value)
}

// replace keeps a new sign-in and uses it from now on.
func (k *Keeper) replace(ctx context.Context, s Server, g *kept) error {
	release, err := k.hold(ctx, s)
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
