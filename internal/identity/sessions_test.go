package identity

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/gateway"
)

// memorySessions is a store of sessions that fails on demand.
type memorySessions struct {
	mu    sync.Mutex
	kept  map[[sha256.Size]byte]Session
	reads int
	notes int
	err   error
}

func (m *memorySessions) Session(_ context.Context, hash [sha256.Size]byte) (Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	if m.err != nil {
		return Session{}, m.err
	}
	found, ok := m.kept[hash]
	if !ok {
		return Session{}, gateway.Errorf(gateway.CodeNotFound, "there is no such session")
	}
	return found, nil
}

func (m *memorySessions) AllSessions(context.Context) ([]Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := slices.Collect(maps.Values(m.kept))
	slices.SortFunc(all, func(a, b Session) int { return b.UsedAt.Compare(a.UsedAt) })
	return all, nil
}

func (m *memorySessions) AddSession(_ context.Context, session Session, limits SessionLimits) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	m.kept[session.Hash] = session
	ofToken := slices.DeleteFunc(slices.Collect(maps.Values(m.kept)), func(s Session) bool { return s.Token != session.Token })
	if len(ofToken) > limits.Most {
		oldest := slices.MinFunc(ofToken, func(a, b Session) int { return a.UsedAt.Compare(b.UsedAt) })
		delete(m.kept, oldest.Hash)
	}
	return nil
}

func (m *memorySessions) NoteSession(_ context.Context, hash [sha256.Size]byte, at time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notes++
	s := m.kept[hash]
	s.UsedAt = at
	m.kept[hash] = s
	return m.err
}

func (m *memorySessions) EndSession(_ context.Context, hash [sha256.Size]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, hash)
	return m.err
}

// browsers are sessions with a clock that the test moves.
type browsers struct {
	*Sessions
	t      *testing.T
	tokens *Tokens
	kept   *memorySessions
	now    time.Time
}

func openSessions(t *testing.T) *browsers {
	t.Helper()
	b := &browsers{t: t, now: time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC), kept: &memorySessions{kept: map[[sha256.Size]byte]Session{}}}
	clock := func() time.Time { return b.now }
	b.tokens = NewTokens(&memory{}, adminSecret, clock)
	b.Sessions = NewSessions(b.tokens, b.kept, clock)
	return b
}

func (b *browsers) redeem(code gateway.Secret) gateway.Secret {
	b.t.Helper()
	id, secret, err := b.Redeem(b.t.Context(), code.Reveal())
	if err != nil || id != (gateway.Identity{ClientID: AdminClient, Admin: true}) || secret == "" {
		b.t.Fatalf("the code signs in %+v, %v", id, err)
	}
	return secret
}

// is checks who has signed in; empty for nobody.
func (b *browsers) is(secret gateway.Secret, client string) {
	b.t.Helper()
	id, err := b.Verify(b.t.Context(), secret.Reveal())
	switch {
	case client != "" && (err != nil || id.ClientID != client):
		b.t.Errorf("the session is of %+v, %v; want %s", id, err, client)
	case client == "" && (err == nil || gateway.AsError(err).Code != gateway.CodeUnauthenticated || !strings.Contains(err.Error(), "genkan ui")):
		b.t.Errorf("the session is of %+v, %v; want nobody, and what to do", id, err)
	}
}

// A person sees which browsers have signed in, and ends the session of one or of all
// others. The list gives nothing away that a cookie could be made of.
func TestBrowsersAreListedAndSignedOut(t *testing.T) {
	b := openSessions(t)
	signIn := func() gateway.Secret {
		code, _ := b.NewCode()
		b.now = b.now.Add(time.Minute)
		return b.redeem(code)
	}
	first, second, third := signIn(), signIn(), signIn()
	list, err := b.List(t.Context(), second.Reveal())
	if err != nil || len(list) != 3 || list[0].Current || !list[1].Current || list[2].Current {
		t.Fatalf("%+v, %v", list, err)
	}
	hash := sha256.Sum256([]byte(second.Reveal()))
	if one := list[1]; one.Client != AdminClient || one.CreatedAt.IsZero() || !one.EndsAt.Equal(one.UsedAt.Add(sessionIdle)) ||
		strings.Contains(hex.EncodeToString(hash[:]), one.ID) {
		t.Errorf("%+v", one)
	}
	if err := b.EndID(t.Context(), list[0].ID); err != nil {
		t.Fatal(err)
	}
	b.is(third, "")
	if err := b.EndID(t.Context(), list[0].ID); err == nil || gateway.AsError(err).Code != gateway.CodeNotFound {
		t.Errorf("it ends twice: %v", err)
	}
	if n, err := b.EndOthers(t.Context(), second.Reveal()); n != 1 || err != nil {
		t.Errorf("%d others have ended, %v", n, err)
	}
	b.is(first, "")
	b.is(second, AdminClient)
	b.now = b.now.Add(sessionIdle)
	if list, err := b.List(t.Context(), ""); len(list) != 0 || err != nil {
		t.Errorf("a session that has ended is in %+v, %v", list, err)
	}
}

// A code signs one browser in as administrator, for a while, and says afterwards where
// to get another.
func TestACodeWorksOnceAndForAWhile(t *testing.T) {
	b := openSessions(t)
	refused := func(code gateway.Secret) {
		t.Helper()
		_, secret, err := b.Redeem(t.Context(), code.Reveal())
		if secret != "" || err == nil || gateway.AsError(err).Code != gateway.CodeUnauthenticated || !strings.Contains(err.Error(), "`genkan ui` makes a new one") {
			t.Errorf("the code signed in: %v", err)
		}
	}
	code, until := b.NewCode()
	if !until.Equal(b.now.Add(CodeLife)) || !b.CodesUntil().Equal(until) || len(code.Reveal()) < 26 {
		t.Errorf("a code of %d characters until %s; it is %s", len(code.Reveal()), until, b.now)
	}
	b.is(b.redeem(code), AdminClient)
	refused(code)
	refused("")
	refused("WRONG")
	refused(adminSecret)
	if !b.CodesUntil().IsZero() {
		t.Error("a used code still works")
	}

	late, _ := b.NewCode()
	b.now = b.now.Add(CodeLife)
	refused(late)
	refused(late)

	var codes []gateway.Secret
	for range maxCodes + 1 {
		code, _ := b.NewCode()
		codes = append(codes, code)
	}
	refused(codes[0])
	b.redeem(codes[maxCodes])
	b.redeem(codes[1])
}

// A code is not used up by a sign-in that failed inside.
func TestACodeOutlivesAFailureOfTheStore(t *testing.T) {
	b := openSessions(t)
	code, _ := b.NewCode()
	b.kept.err = errors.New("the disk is full")
	if _, _, err := b.Redeem(t.Context(), code.Reveal()); err == nil {
		t.Fatal("nothing was kept, and the browser has signed in")
	}
	b.kept.err = nil
	b.redeem(code)
}

// A session has the rights of its token, and ends with it.
func TestASessionEndsWithItsToken(t *testing.T) {
	b := openSessions(t)
	_, token, err := b.tokens.Add(t.Context(), "ann", false)
	if err != nil {
		t.Fatal(err)
	}
	id, secret, err := b.SignIn(t.Context(), token.Reveal())
	if err != nil || id != (gateway.Identity{ClientID: "ann"}) {
		t.Fatalf("%+v, %v", id, err)
	}
	b.is(secret, "ann")
	b.is(gateway.Secret(token.Reveal()), "") // a token is no session
	if _, err := b.tokens.Verify(t.Context(), secret.Reveal()); err == nil {
		t.Error("a session is a token")
	}
	if err := b.tokens.Revoke(t.Context(), "ann"); err != nil {
		t.Fatal(err)
	}
	b.is(secret, "")
	if len(b.kept.kept) != 0 {
		t.Error("the session is still kept")
	}
	if _, _, err := b.SignIn(t.Context(), token.Reveal()); err == nil || gateway.AsError(err).Code != gateway.CodeUnauthenticated {
		t.Errorf("a revoked token signs in: %v", err)
	}

	// The admin token is replaced by removing its file; the next process has another.
	code, _ := b.NewCode()
	admin := b.redeem(code)
	b.Sessions = NewSessions(b.tokens, b.kept, func() time.Time { return b.now })
	b.is(admin, AdminClient) // a restart
	replaced := NewTokens(&memory{}, "another-admin-token-of-the-directory", func() time.Time { return b.now })
	b.Sessions = NewSessions(replaced, b.kept, func() time.Time { return b.now })
	b.is(admin, "")
}

// A session ends when it is not used for a week, and after a month in any case.
func TestASessionEndsWithTime(t *testing.T) {
	b := openSessions(t)
	first, _ := b.NewCode()
	unused := b.redeem(first)
	second, _ := b.NewCode()
	used := b.redeem(second)
	for begun := b.now; b.now.Sub(begun) < SessionLife-time.Hour; b.now = b.now.Add(sessionIdle - time.Hour) {
		b.is(used, AdminClient)
	}
	b.is(unused, "")
	b.now = b.now.Add(24 * time.Hour)
	b.is(used, "")
}

// A client that signs in again and again ends its own sessions only, and each sign-in
// counts against its rate limit.
func TestSignInsEndNoSessionsOfOthers(t *testing.T) {
	b := openSessions(t)
	code, _ := b.NewCode()
	admin := b.redeem(code)
	_, token, err := b.tokens.Add(t.Context(), "ann", false)
	if err != nil {
		t.Fatal(err)
	}
	counted := 0
	b.Count = func(who gateway.Identity) error {
		if who.ClientID != "ann" {
			t.Errorf("counted for %s", who.ClientID)
		}
		if counted++; counted > 200 {
			return gateway.Errorf(gateway.CodeLimited, "too many")
		}
		return nil
	}
	var first, last gateway.Secret
	for range 200 {
		b.now = b.now.Add(time.Second)
		if _, last, err = b.SignIn(t.Context(), token.Reveal()); err != nil {
			t.Fatal(err)
		}
		first = cmp.Or(first, last)
	}
	if _, secret, err := b.SignIn(t.Context(), token.Reveal()); secret != "" || gateway.AsError(err).Code != gateway.CodeLimited {
		t.Errorf("beyond the rate limit: %v", err)
	}
	if _, _, err := b.SignIn(t.Context(), adminSecret); err != nil {
		t.Errorf("an administrator was counted: %v", err)
	}
	if _, _, err := b.SignIn(t.Context(), "wrong"); counted != 201 || gateway.AsError(err).Code != gateway.CodeUnauthenticated {
		t.Errorf("counted %d sign-ins, %v", counted, err)
	}
	b.now = b.now.Add(staleAfter)
	b.is(admin, AdminClient)
	b.is(first, "")
	b.is(last, "ann")
	if n := len(b.kept.kept); n != maxSessions+2 {
		t.Errorf("%d sessions are kept", n)
	}
}

// Signing out ends a session at once. Further sessions end those that are used least.
func TestSessionsEnd(t *testing.T) {
	b := openSessions(t)
	var secrets []gateway.Secret
	for range maxSessions + 1 {
		b.now = b.now.Add(2 * time.Second)
		code, _ := b.NewCode()
		secrets = append(secrets, b.redeem(code))
	}
	b.is(secrets[0], "")
	b.is(secrets[1], AdminClient)
	if err := b.End(t.Context(), secrets[1].Reveal()); err != nil {
		t.Fatal(err)
	}
	b.is(secrets[1], "")
	b.is(secrets[2], AdminClient)
	if err := b.End(t.Context(), "unknown"); err != nil {
		t.Error(err)
	}
}

// The store is asked about once a second for a session, and told of its use now and
// then. A flood of wrong ones does not reach it.
func TestSessionsSpareTheStore(t *testing.T) {
	b := openSessions(t)
	code, _ := b.NewCode()
	secret := b.redeem(code)
	for range 100 {
		b.is(secret, AdminClient)
	}
	if b.kept.reads != 0 || b.kept.notes != 0 {
		t.Errorf("%d reads, %d notes", b.kept.reads, b.kept.notes)
	}
	for range 100 {
		b.is("wrong", "")
	}
	if b.kept.reads > unknownPerSecond {
		t.Errorf("%d reads", b.kept.reads)
	}
	// Tabs whose session has ended make such a flood. Whoever signs in meanwhile is in.
	code, _ = b.NewCode()
	b.is(b.redeem(code), AdminClient)
	b.now = b.now.Add(noteSessionEvery)
	for range 100 {
		b.is(secret, AdminClient)
	}
	if b.kept.notes != 1 {
		t.Errorf("%d notes", b.kept.notes)
	}
	// Whether a session is good is unknown while the store fails.
	b.now = b.now.Add(staleAfter)
	b.kept.err = errors.New("the disk is gone")
	if _, err := b.Verify(t.Context(), secret.Reveal()); err == nil || gateway.AsError(err).Code != gateway.CodeUnavailable {
		t.Errorf("%v", err)
	}
}
