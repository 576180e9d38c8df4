package identity

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"genkan/internal/gateway"
)

// memory is a store that counts, fails and hangs on demand.
type memory struct {
	mu       sync.Mutex
	tokens   []Token
	sequence int64
	notes    []TokenUse
	noteErr  error
	// localNotes are what NoteLocalUses was told.
	localNotes []LocalUse
	checks     int           // calls of ChangeSequence
	loads      int           // calls of Tokens
	err        error         // what every read fails with
	hang       chan struct{} // reads wait until it is closed, deaf to their context
	slow       chan struct{} // reads wait until it is closed or the context ends
}

func (m *memory) read(ctx context.Context, count *int) error {
	m.mu.Lock()
	*count++
	hang, slow, err := m.hang, m.slow, m.err
	m.mu.Unlock()
	if hang != nil {
		<-hang
	}
	if slow != nil {
		select {
		case <-slow:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

func (m *memory) Tokens(ctx context.Context) ([]Token, error) {
	if err := m.read(ctx, &m.loads); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.tokens), nil
}

func (m *memory) ChangeSequence(ctx context.Context) (int64, error) {
	if err := m.read(ctx, &m.checks); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sequence, nil
}

func (m *memory) AddToken(_ context.Context, token Token) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.ContainsFunc(m.tokens, func(t Token) bool { return t.Name == token.Name }) {
		return gateway.Errorf(gateway.CodeConflict, "taken")
	}
	m.tokens = append(m.tokens, token)
	m.sequence++
	return nil
}

func (m *memory) RevokeToken(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := len(m.tokens)
	m.tokens = slices.DeleteFunc(m.tokens, func(t Token) bool { return t.Name == name })
	if len(m.tokens) == before {
		return gateway.Errorf(gateway.CodeNotFound, "no such token")
	}
	m.sequence++
	return nil
}

func (m *memory) NoteUses(_ context.Context, uses []TokenUse) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.noteErr != nil {
		return m.noteErr
	}
	m.notes = append(m.notes, uses...)
	return nil
}

func (m *memory) LocalUses(context.Context) ([]LocalUse, error) { return nil, nil }

func (m *memory) NoteLocalUses(_ context.Context, uses []LocalUse) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.noteErr != nil {
		return m.noteErr
	}
	m.localNotes = append(m.localNotes, uses...)
	return nil
}

// locals takes what was written down about local clients since the last time.
func (m *memory) locals() []LocalUse {
	m.mu.Lock()
	defer m.mu.Unlock()
	notes := m.localNotes
	m.localNotes = nil
	return notes
}

// noted takes the uses that were written down since the last time.
func (m *memory) noted() []TokenUse {
	m.mu.Lock()
	defer m.mu.Unlock()
	notes := m.notes
	m.notes = nil
	return notes
}

// set changes the store's behaviour.
func (m *memory) set(change func(*memory)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m)
}

func (m *memory) counts() (checks, loads int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.checks, m.loads
}

// issue adds a token behind the keeper's back, as another process would.
func issue(t testing.TB, m *memory, name string, admin bool) string {
	t.Helper()
	token, secret, err := NewToken(name, admin, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := m.AddToken(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	return secret.Reveal()
}

func wantIdentity(t testing.TB, k *Tokens, secret string, want gateway.Identity) {
	t.Helper()
	got, err := k.Verify(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Fatalf("got %+v, want %+v", got, want)
	}
}

func wantRefused(t testing.TB, k *Tokens, secret string, code gateway.Code) {
	t.Helper()
	id, err := k.Verify(t.Context(), secret)
	wantCode(t, err, code)
	if id != (gateway.Identity{}) {
		t.Fatalf("refused, and yet known as %+v", id)
	}
	if secret != "" && strings.Contains(err.Error(), secret) {
		t.Fatal("the error holds the token")
	}
}

const adminSecret = "gk_" + "the-admin-token-of-the-data-directory-000000"

func TestVerify(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		editor, boss := issue(t, m, "editor", false), issue(t, m, "boss", true)
		k := NewTokens(m, adminSecret, time.Now)

		wantIdentity(t, k, editor, gateway.Identity{ClientID: "editor"})
		wantIdentity(t, k, boss, gateway.Identity{ClientID: "boss", Admin: true})
		wantIdentity(t, k, adminSecret, gateway.Identity{ClientID: "admin", Admin: true})
		for _, bad := range []string{
			"", "x", "gk_", editor[:len(editor)-1], editor + "x", strings.ToUpper(editor), " " + editor,
			newSecret(), strings.Repeat("gk_", 1<<20),
		} {
			wantRefused(t, k, bad, gateway.CodeUnauthenticated)
		}
	})
}

func TestNoAdminTokenIsNotTheEmptyToken(t *testing.T) {
	t.Parallel()
	k := NewTokens(&memory{}, "", time.Now)
	wantRefused(t, k, "", gateway.CodeUnauthenticated)
}

func TestAdminTokenNeedsNoStore(t *testing.T) {
	t.Parallel()
	m := &memory{err: errors.New("gone")}
	k := NewTokens(m, adminSecret, time.Now)
	wantIdentity(t, k, adminSecret, gateway.Identity{ClientID: "admin", Admin: true})
	if checks, _ := m.counts(); checks != 0 {
		t.Errorf("the store was asked %d times", checks)
	}
}

func TestKnownTokensDoNotTouchTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		secret := issue(t, m, "editor", false)
		k := NewTokens(m, "", time.Now)
		for range 10_000 { // ten seconds
			wantIdentity(t, k, secret, gateway.Identity{ClientID: "editor"})
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		checks, loads := m.counts()
		if checks > 13 || loads != 1 {
			t.Errorf("%d checks and %d loads in 10 s, want at most 13 and 1", checks, loads)
		}
	})
}

func TestSteadyTrafficNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		secret := issue(t, m, "editor", false)
		k := NewTokens(m, "", time.Now)
		wantIdentity(t, k, secret, gateway.Identity{ClientID: "editor"})
		m.set(func(m *memory) { m.slow = make(chan struct{}) })
		defer close(m.slow)
		time.Sleep(checkEvery)
		before := time.Now()
		wantIdentity(t, k, secret, gateway.Identity{ClientID: "editor"})
		if waited := time.Since(before); waited != 0 {
			t.Errorf("waited %v for the store", waited)
		}
	})
}

func TestRevocationByAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		secret := issue(t, m, "editor", false)
		k := NewTokens(m, "", time.Now)
		// However long nobody called before, and with requests arriving together.
		for _, idle := range []time.Duration{staleAfter, 1500 * time.Millisecond, time.Hour} {
			wantIdentity(t, k, secret, gateway.Identity{ClientID: "editor"})
			if err := m.RevokeToken(t.Context(), "editor"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(idle)
			errs := make([]error, 10)
			var wg sync.WaitGroup
			for i := range errs {
				wg.Go(func() { _, errs[i] = k.Verify(t.Context(), secret) })
			}
			wg.Wait()
			for _, err := range errs {
				wantCode(t, err, gateway.CodeUnauthenticated)
			}
			secret = issue(t, m, "editor", false)
			time.Sleep(time.Second) // the ten used up this second's lookups
		}
	})
}

func TestNewTokenWorksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		k := NewTokens(m, "", time.Now)
		wantRefused(t, k, newSecret(), gateway.CodeUnauthenticated)
		// Another process adds it, a moment after the last look.
		wantIdentity(t, k, issue(t, m, "editor", false), gateway.Identity{ClientID: "editor"})

		token, secret, err := k.Add(t.Context(), "second", true)
		if err != nil {
			t.Fatal(err)
		}
		if token.Name != "second" || !token.Admin || !token.CreatedAt.Equal(time.Now()) {
			t.Errorf("got %+v", token)
		}
		wantIdentity(t, k, secret.Reveal(), gateway.Identity{ClientID: "second", Admin: true})
		_, _, err = k.Add(t.Context(), "second", false)
		wantCode(t, err, gateway.CodeConflict)
		_, _, err = k.Add(t.Context(), "admin", false)
		wantCode(t, err, gateway.CodeInvalid)
	})
}

// A check that began before the token was added must not answer for it.
func TestNewTokenDuringACheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		known := issue(t, m, "known", false)
		k := NewTokens(m, "", time.Now)
		wantIdentity(t, k, known, gateway.Identity{ClientID: "known"})
		slow := make(chan struct{})
		m.set(func(m *memory) { m.slow = slow })
		old := k.start()
		synctest.Wait() // it is in the store now
		secret := issue(t, m, "editor", false)
		m.set(func(m *memory) { m.slow = nil })
		go func() {
			time.Sleep(10 * time.Millisecond)
			close(slow)
		}()
		wantIdentity(t, k, secret, gateway.Identity{ClientID: "editor"})
		<-old.done
	})
}

func TestRevokeAndList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		k := NewTokens(m, adminSecret, time.Now)
		_, secret, err := k.Add(t.Context(), "editor", false)
		if err != nil {
			t.Fatal(err)
		}
		wantIdentity(t, k, secret.Reveal(), gateway.Identity{ClientID: "editor"})
		list, err := k.List(t.Context())
		if err != nil || len(list) != 1 || list[0].Name != "editor" {
			t.Fatalf("listed %v, %v", list, err)
		}
		if err := k.Revoke(t.Context(), "editor"); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, k, secret.Reveal(), gateway.CodeUnauthenticated)
		wantCode(t, k.Revoke(t.Context(), "editor"), gateway.CodeNotFound)
		wantCode(t, k.Revoke(t.Context(), "admin"), gateway.CodeInvalid)

		if _, _, err := k.Add(t.Context(), "other", false); err != nil {
			t.Fatal(err)
		}
		m.set(func(m *memory) { m.err = errors.New("gone") })
		if err := k.Revoke(t.Context(), "other"); err == nil {
			t.Error("an unconfirmed revocation is reported as effective")
		}
	})
}

// Revocations are told once, whoever revokes, and only when the token is refused.
func TestRevocationsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		k := NewTokens(m, adminSecret, time.Now)
		var told []string
		k.Revoked = func(name string) {
			if err := k.Check(t.Context(), gateway.Identity{ClientID: name}); err == nil {
				t.Errorf("%s is told and works", name)
			}
			told = append(told, name)
		}
		ctx, end := context.WithCancel(t.Context())
		go k.Watch(ctx)
		defer end()
		for _, name := range []string{"here", "elsewhere", "renewed", "stays"} {
			issue(t, m, name, false)
		}
		time.Sleep(staleAfter)
		synctest.Wait()
		if err := k.Revoke(t.Context(), "here"); err != nil || !slices.Equal(told, []string{"here"}) {
			t.Errorf("told %q, %v", told, err)
		}
		for _, name := range []string{"elsewhere", "renewed"} {
			if err := m.RevokeToken(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		issue(t, m, "renewed", false) // a new token of the same name is the same client
		time.Sleep(staleAfter)
		synctest.Wait()
		if !slices.Equal(told, []string{"here", "elsewhere"}) {
			t.Errorf("told %q", told)
		}
	})
}

// A client has its name since its token was made. One whose token was revoked has it no
// more.
func TestNameSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := NewTokens(&memory{}, adminSecret, time.Now)
		made, _, err := k.Add(t.Context(), "editor", false)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		for who, want := range map[string]time.Time{"editor": made.CreatedAt, "revoked": time.Now(), "local:cursor": {}} {
			if got, err := k.NameSince(t.Context(), gateway.Identity{ClientID: who}); err != nil || !got.Equal(want) {
				t.Errorf("%s: since %s, %v", who, got, err)
			}
		}
	})
}

// A client that was let in is checked again by its name, and only with the rights that it
// had.
func TestCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := NewTokens(&memory{}, adminSecret, time.Now)
		for name, admin := range map[string]bool{"editor": false, "boss": true} {
			if _, _, err := k.Add(t.Context(), name, admin); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			who  gateway.Identity
			good bool
		}{
			{gateway.Identity{ClientID: "editor"}, true},
			{gateway.Identity{ClientID: "boss", Admin: true}, true},
			{gateway.Identity{ClientID: "editor", Admin: true}, false}, // made again without
			{gateway.Identity{ClientID: "revoked"}, false},
			{gateway.Identity{ClientID: "local", Admin: true}, true},
			{gateway.Identity{ClientID: "local:cursor"}, true},
			{gateway.Identity{ClientID: "admin", Admin: true}, true},
		} {
			if err := k.Check(t.Context(), c.who); (err == nil) != c.good {
				t.Errorf("%+v: %v", c.who, err)
			}
		}
	})
}

func TestFloodOfBadTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		known := issue(t, m, "known", false)
		k := NewTokens(m, "", time.Now)
		const seconds = 10
		for range seconds {
			for range 1000 {
				wantRefused(t, k, newSecret(), gateway.CodeUnauthenticated)
				wantIdentity(t, k, known, gateway.Identity{ClientID: "known"})
				time.Sleep(time.Millisecond)
			}
		}
		synctest.Wait()
		checks, loads := m.counts()
		if limit := (unknownPerSecond + 2) * (seconds + 1); checks > limit || loads != 1 {
			t.Errorf("%d checks, want at most %d; %d loads, want 1", checks, limit, loads)
		}
		// A token added during the flood works within a second all the same.
		secret := issue(t, m, "editor", false)
		for range unknownPerSecond + 1 {
			wantRefused(t, k, newSecret(), gateway.CodeUnauthenticated)
		}
		time.Sleep(staleAfter)
		wantIdentity(t, k, secret, gateway.Identity{ClientID: "editor"})
	})
}

func TestStoreFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		secret := issue(t, m, "editor", false)
		k := NewTokens(m, "", time.Now)
		wantIdentity(t, k, secret, gateway.Identity{ClientID: "editor"})
		time.Sleep(time.Minute) // idle time does not count as failing
		m.set(func(m *memory) { m.err = errors.New("gone") })
		failing := time.Now()
		for time.Since(failing) <= grace {
			wantIdentity(t, k, secret, gateway.Identity{ClientID: "editor"})
			time.Sleep(100 * time.Millisecond)
		}
		wantRefused(t, k, secret, gateway.CodeUnavailable)
		wantRefused(t, k, newSecret(), gateway.CodeUnavailable)
		checks, _ := m.counts()
		if checks > 50 {
			t.Errorf("the failing store was asked %d times in 30 s", checks)
		}
		m.set(func(m *memory) { m.err = nil })
		time.Sleep(checkEvery)
		wantIdentity(t, k, secret, gateway.Identity{ClientID: "editor"})
		wantRefused(t, k, newSecret(), gateway.CodeUnauthenticated)
	})
}

func TestStoreFailsFromTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{err: errors.New("gone")}
		secret := issue(t, m, "editor", false)
		k := NewTokens(m, "", time.Now)
		wantRefused(t, k, secret, gateway.CodeUnavailable)
		m.set(func(m *memory) { m.err = nil })
		time.Sleep(checkEvery)
		wantIdentity(t, k, secret, gateway.Identity{ClientID: "editor"})
	})
}

func TestUnknownTokenWhileTheStoreFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		known := issue(t, m, "known", false)
		k := NewTokens(m, "", time.Now)
		wantIdentity(t, k, known, gateway.Identity{ClientID: "known"})
		m.set(func(m *memory) { m.err = errors.New("gone") })
		wantRefused(t, k, newSecret(), gateway.CodeUnavailable)
		wantIdentity(t, k, known, gateway.Identity{ClientID: "known"})
	})
}

// A disk that stalls does not hear a context.
func TestStoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		secret := issue(t, m, "editor", false)
		k := NewTokens(m, "", time.Now)
		wantIdentity(t, k, secret, gateway.Identity{ClientID: "editor"})
		hang := make(chan struct{})
		m.set(func(m *memory) { m.hang = hang })
		time.Sleep(time.Minute)

		before := time.Now()
		wantIdentity(t, k, secret, gateway.Identity{ClientID: "editor"})
		if waited := time.Since(before); waited > checkTimeout {
			t.Errorf("the first request waited %v", waited)
		}
		before = time.Now()
		for range 100 {
			wantIdentity(t, k, secret, gateway.Identity{ClientID: "editor"})
			wantRefused(t, k, newSecret(), gateway.CodeUnavailable)
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(before); took > 11*time.Second {
			t.Errorf("requests wait for the store that hangs: %v", took)
		}
		time.Sleep(grace)
		wantRefused(t, k, secret, gateway.CodeUnavailable)
		checks, _ := m.counts()
		if checks > 3 {
			t.Errorf("%d checks pile up in the store", checks)
		}
		m.set(func(m *memory) { m.hang = nil })
		close(hang)
		synctest.Wait()
		wantIdentity(t, k, secret, gateway.Identity{ClientID: "editor"})
	})
}

func TestRequestThatGivesUpWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{slow: make(chan struct{})}
		secret := issue(t, m, "editor", false)
		k := NewTokens(m, "", time.Now)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err := k.Verify(ctx, secret)
		wantCode(t, err, gateway.CodeTimeout)
		close(m.slow)
		synctest.Wait()
		// Its check went on for the others.
		wantIdentity(t, k, secret, gateway.Identity{ClientID: "editor"})
	})
}

// Whatever happens in whatever order, with a store that answers: who was
// revoked a second ago stays out, and who has a token comes in.
func TestKeeperFollowsTheStore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var mu sync.Mutex
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
		m := &memory{}
		k := NewTokens(m, "", clock)
		type holder struct {
			secret  string
			revoked time.Time // zero while valid
		}
		var holders []*holder
		names := map[*holder]string{}
		r.Repeat(map[string]func(*rapid.T){
			"add": func(*rapid.T) {
				h := &holder{}
				names[h] = "t" + strings.Repeat("x", len(holders)%60)
				token, secret, _ := NewToken(names[h], false, clock())
				if m.AddToken(t.Context(), token) == nil {
					h.secret = secret.Reveal()
					holders = append(holders, h)
				}
			},
			"revoke": func(r *rapid.T) {
				if len(holders) == 0 {
					r.Skip()
				}
				h := rapid.SampledFrom(holders).Draw(r, "holder")
				if h.revoked.IsZero() {
					_ = m.RevokeToken(t.Context(), names[h])
					h.revoked = clock()
				}
			},
			"time passes": func(r *rapid.T) {
				d := time.Duration(rapid.IntRange(1, 1500).Draw(r, "ms")) * time.Millisecond
				mu.Lock()
				defer mu.Unlock()
				now = now.Add(d)
			},
			"": func(r *rapid.T) {
				for _, h := range holders {
					_, err := k.Verify(t.Context(), h.secret)
					switch {
					case h.revoked.IsZero() && err != nil:
						// Only the limit on lookups may delay a new token.
						mu.Lock()
						now = now.Add(staleAfter)
						mu.Unlock()
						if _, err := k.Verify(t.Context(), h.secret); err != nil {
							r.Fatalf("a valid token is refused: %v", err)
						}
					case !h.revoked.IsZero() && clock().Sub(h.revoked) >= staleAfter && err == nil:
						r.Fatalf("a token is accepted %v after it was revoked", clock().Sub(h.revoked))
					}
				}
			},
		})
	})
}

func FuzzVerify(f *testing.F) {
	for _, seed := range []string{"", "gk_", adminSecret, adminSecret + "\n", newSecret(), "\xff"} {
		f.Add(seed)
	}
	k := NewTokens(&memory{}, adminSecret, time.Now)
	f.Fuzz(func(t *testing.T, presented string) {
		id, err := k.Verify(t.Context(), presented)
		if (err == nil) != (presented == adminSecret) {
			t.Fatalf("%q: %+v, %v", presented, id, err)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	m := &memory{}
	var secret string
	for _, name := range []string{"a", "b", "c", "editor"} {
		secret = issue(b, m, name, false)
	}
	k := NewTokens(m, adminSecret, time.Now)
	for name, presented := range map[string]string{"known": secret, "admin": adminSecret} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := k.Verify(b.Context(), presented); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("known parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := k.Verify(b.Context(), secret); err != nil {
					b.Error(err)
				}
			}
		})
	})
	b.Run("flood", func(b *testing.B) {
		b.ReportAllocs()
		bad := newSecret()
		for b.Loop() {
			if _, err := k.Verify(b.Context(), bad); err == nil {
				b.Fatal("let in")
			}
		}
	})
}
