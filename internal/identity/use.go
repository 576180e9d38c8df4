package identity

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"genkan/internal/gateway"
)

// How closely the use of tokens is followed.
const (
	// usePrecision is how often a busy token's time is set anew. Setting it for
	// every request would have all processors fight for one number.
	usePrecision = time.Second
	// noteEvery is how long the store is left alone about a token.
	noteEvery = time.Minute
	// gathering is how long the first use of a token waits for what its client
	// says about itself, and for the uses of others.
	gathering = time.Second
	// maxClient bounds what a client calls itself, in bytes.
	maxClient = 100
)

// use is what is known about the use of one token, or of genkan by one local
// client. All times are microseconds
// since 1970.
type use struct {
	at atomic.Int64
	// noted is what of at the store has, tried when it was last told.
	noted, tried atomic.Int64
	by           atomic.Pointer[program]
}

// program is what uses a token, by its own word.
type program struct {
	name string
	// introduced says that it is the name which the client gave over MCP; a user
	// agent, which is often that of a library, does not replace it.
	introduced bool
	// at is the use that it was heard with.
	at int64
}

func newUse() *use {
	u := &use{}
	u.by.Store(&program{})
	return u
}

// touch notes that a token is used now. It runs on every request.
func (k *Tokens) touch(u *use, now time.Time) {
	at := now.UnixMicro()
	if at-u.at.Load() < usePrecision.Microseconds() {
		return
	}
	u.at.Store(at)
	if at-u.tried.Load() >= noteEvery.Microseconds() {
		select {
		case k.used <- struct{}{}:
		default: // somebody else has woken them
		}
	}
}

// Met notes the user agent of a client that was let in. It runs on every
// request, and does something at most once a second.
func (k *Tokens) Met(id gateway.Identity, userAgent string) {
	u := k.table.Load().uses[id.ClientID]
	if u == nil || userAgent == "" {
		return
	}
	by, at := u.by.Load(), u.at.Load()
	if by.introduced || by.at == at || by.name == userAgent {
		return
	}
	u.by.CompareAndSwap(by, &program{name: presentable(userAgent), at: at})
}

// Introduced notes what a client calls itself.
func (k *Tokens) Introduced(id gateway.Identity, name string) {
	u := k.useOf(id)
	if u == nil || name == "" {
		return
	}
	if by := u.by.Load(); by.introduced && by.name == name {
		return
	}
	u.by.Store(&program{name: presentable(name), introduced: true})
	u.noted.Store(0) // it was noted without the name, perhaps
}

// presentable makes a client's word fit for a table on a terminal.
func presentable(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	if len(name) > maxClient {
		name = strings.ToValidUTF8(name[:maxClient], "") + "…"
	}
	return strings.TrimSpace(name)
}

// NoteUses writes down the use of tokens until ctx ends, each at most once a
// minute. What is left then is for Flush.
func (k *Tokens) NoteUses(ctx context.Context, failed func(error)) {
	for {
		select {
		case <-k.used:
		case <-ctx.Done():
			return
		}
		timer := time.NewTimer(gathering)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		if err := k.note(ctx, noteEvery); err != nil && ctx.Err() == nil {
			failed(err)
		}
	}
}

// Flush writes down all uses that are not written down yet.
func (k *Tokens) Flush(ctx context.Context) error { return k.note(ctx, 0) }

// note writes down all uses that the store has not been told about
// for long enough.
func (k *Tokens) note(ctx context.Context, since time.Duration) error {
	return errors.Join(k.noteTokens(ctx, since), k.noteLocals(ctx, since))
}

// untold is the last use, if the store is to be told of it now.
func (u *use) untold(now int64, since time.Duration) (at time.Time, ok bool) {
	last := u.at.Load()
	if last == 0 || last == u.noted.Load() || now-u.tried.Load() < since.Microseconds() {
		return time.Time{}, false
	}
	// Also when it fails: a store in trouble is not to be asked every second.
	u.tried.Store(now)
	return time.UnixMicro(last).UTC(), true
}

func (k *Tokens) noteTokens(ctx context.Context, since time.Duration) error {
	now := k.clock().UnixMicro()
	var uses []TokenUse
	var told []*use
	for hash, who := range k.table.Load().identities {
		if at, ok := who.use.untold(now, since); ok {
			told = append(told, who.use)
			uses = append(uses, TokenUse{Name: who.ClientID, Hash: hash, At: at, Client: who.use.by.Load().name})
		}
	}
	if len(uses) == 0 {
		return nil
	}
	if err := k.store.NoteUses(ctx, uses); err != nil {
		return err
	}
	for i, u := range told {
		u.noted.Store(uses[i].At.UnixMicro())
	}
	return nil
}
