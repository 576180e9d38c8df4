package storetest

import (
	"crypto/sha256"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/identity"
)

func testSessions(t *testing.T, s Stores) {
	noon := instant()
	session := func(name string, created, used time.Duration) identity.Session {
		return identity.Session{
			Hash: sha256.Sum256([]byte(name)), Token: sha256.Sum256([]byte("a token")),
			CreatedAt: noon.Add(created), UsedAt: noon.Add(used),
		}
	}
	add := func(one identity.Session, most int) {
		t.Helper()
		must(t, s.Sessions.AddSession(t.Context(), one, identity.SessionLimits{
			CreatedAfter: noon.Add(-time.Hour), UsedAfter: noon.Add(-time.Minute), Most: most,
		}))
	}
	wantKept := func(ones ...identity.Session) {
		t.Helper()
		for _, one := range ones {
			got, err := s.Another(t).Sessions.Session(t.Context(), one.Hash)
			must(t, err)
			wantEqual(t, got, one)
		}
	}
	wantGone := func(ones ...identity.Session) {
		t.Helper()
		for _, one := range ones {
			_, err := s.Sessions.Session(t.Context(), one.Hash)
			wantCode(t, err, gateway.CodeNotFound)
		}
	}
	before := sequenceOf(t, s)
	first, second := session("first", 0, 0), session("second", -time.Minute, time.Second)
	wantGone(first)
	add(first, 10)
	add(second, 10)
	wantKept(first, second)
	all, err := s.Sessions.AllSessions(t.Context())
	must(t, err)
	wantEqual(t, all, []identity.Session{second, first})

	// What was used is kept; another process may be late with what it knows.
	first.UsedAt = noon.Add(time.Minute)
	must(t, s.Sessions.NoteSession(t.Context(), first.Hash, first.UsedAt))
	must(t, s.Sessions.NoteSession(t.Context(), first.Hash, noon))
	must(t, s.Sessions.NoteSession(t.Context(), sha256.Sum256([]byte("unknown")), noon))
	wantKept(first)

	// A new one counts, even if its clock is behind, and replaces the least used.
	third := session("third", 0, -time.Second)
	add(third, 2)
	wantKept(first, third)
	wantGone(second)

	// The sessions of other tokens do not count.
	other := session("other", 0, -2*time.Second)
	other.Token = sha256.Sum256([]byte("another token"))
	add(other, 2)
	wantKept(first, third, other)
	fourth := session("fourth", 0, 0)
	add(fourth, 2)
	wantKept(first, fourth, other)
	wantGone(third)
	must(t, s.Sessions.EndSession(t.Context(), fourth.Hash))
	must(t, s.Sessions.EndSession(t.Context(), other.Hash))
	add(third, 2)

	old, unused := session("old", -time.Hour, 0), session("unused", 0, -time.Minute)
	add(old, 10)
	add(unused, 10)
	add(second, 10)
	wantKept(first, second, third)
	wantGone(old, unused)

	must(t, s.Sessions.EndSession(t.Context(), first.Hash))
	must(t, s.Sessions.EndSession(t.Context(), first.Hash))
	wantGone(first)
	wantKept(second)
	if after := sequenceOf(t, s); after != before {
		t.Errorf("sessions moved the change sequence from %d to %d", before, after)
	}
}
