package identity

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
)

// following is a keeper that writes uses down, in a bubble where time is ours.
func following(t *testing.T, test func(t *testing.T, m *memory, k *Tokens, secret string, failures *[]error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		secret := issue(t, m, "editor", false)
		k := NewTokens(m, adminSecret, time.Now)
		ctx, stop := context.WithCancel(t.Context())
		var failures []error
		done := make(chan struct{})
		go func() {
			defer close(done)
			k.NoteUses(ctx, func(err error) { failures = append(failures, err) })
		}()
		test(t, m, k, secret, &failures)
		stop()
		<-done
	})
}

var editor = gateway.Identity{ClientID: "editor"}

func TestUsesAreNotedOnceAMinute(t *testing.T) {
	following(t, func(t *testing.T, m *memory, k *Tokens, secret string, _ *[]error) {
		began := time.Now()
		for range 3000 { // five minutes
			wantIdentity(t, k, secret, editor)
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		notes := m.noted()
		if len(notes) != 5 {
			t.Fatalf("%d notes in five minutes: %v", len(notes), notes)
		}
		for i, note := range notes {
			if age := note.At.Sub(began.Add(time.Duration(i) * time.Minute)); age < 0 || age > 5*time.Second {
				t.Errorf("note %d is of %s", i, note.At)
			}
		}
		// What came after the last note is not lost.
		last := time.Now().Add(-100 * time.Millisecond)
		must(t, k.Flush(t.Context()))
		notes = m.noted()
		if len(notes) != 1 || last.Sub(notes[0].At) >= usePrecision {
			t.Errorf("at the end: %v, want about %s", notes, last)
		}
		must(t, k.Flush(t.Context()))
		if again := m.noted(); len(again) != 0 {
			t.Errorf("nothing happened, and yet: %v", again)
		}
	})
}

func TestClientsAreKnownByTheirOwnWord(t *testing.T) {
	for name, c := range map[string]struct {
		say  func(k *Tokens)
		want string
	}{
		"nothing said":       {func(*Tokens) {}, ""},
		"a user agent":       {func(k *Tokens) { k.Met(editor, "node/22") }, "node/22"},
		"over MCP":           {func(k *Tokens) { k.Introduced(editor, "cursor 1.2") }, "cursor 1.2"},
		"over MCP counts":    {func(k *Tokens) { k.Introduced(editor, "cursor 1.2"); k.Met(editor, "node/22") }, "cursor 1.2"},
		"over MCP replaces":  {func(k *Tokens) { k.Met(editor, "node/22"); k.Introduced(editor, "cursor 1.2") }, "cursor 1.2"},
		"the last one":       {func(k *Tokens) { k.Introduced(editor, "a 1"); k.Introduced(editor, "a 2") }, "a 2"},
		"nobody we know":     {func(k *Tokens) { k.Met(gateway.Identity{ClientID: "x"}, "y"); k.Introduced(gateway.Identity{}, "z") }, ""},
		"control characters": {func(k *Tokens) { k.Introduced(editor, "a\x1b[2J\nb\xff") }, "a[2Jb"},
		"a long one":         {func(k *Tokens) { k.Introduced(editor, strings.Repeat("é", 80)) }, strings.Repeat("é", 50) + "…"},
	} {
		t.Run(name, func(t *testing.T) {
			following(t, func(t *testing.T, m *memory, k *Tokens, secret string, _ *[]error) {
				wantIdentity(t, k, secret, editor)
				c.say(k)
				time.Sleep(2 * gathering)
				synctest.Wait()
				if notes := m.noted(); len(notes) != 1 || notes[0].Name != "editor" || notes[0].Client != c.want {
					t.Errorf("got %q, want %q", notes, c.want)
				}
			})
		})
	}
}

func TestANameThatComesLateIsNoted(t *testing.T) {
	t.Parallel()
	following(t, func(t *testing.T, m *memory, k *Tokens, secret string, _ *[]error) {
		wantIdentity(t, k, secret, editor)
		time.Sleep(2 * gathering)
		k.Introduced(editor, "late 1.0")
		must(t, k.Flush(t.Context()))
		notes := m.noted()
		if len(notes) != 2 || notes[1].Client != "late 1.0" || !notes[1].At.Equal(notes[0].At) {
			t.Errorf("got %v", notes)
		}
	})
}

func TestAStoreThatFailsIsLeftAloneForAMinute(t *testing.T) {
	following(t, func(t *testing.T, m *memory, k *Tokens, secret string, failures *[]error) {
		m.set(func(m *memory) { m.noteErr = errors.New("disk full") })
		for range 90 {
			wantIdentity(t, k, secret, editor)
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if len(*failures) != 2 {
			t.Errorf("%d failures in 90 s", len(*failures))
		}
		m.set(func(m *memory) { m.noteErr = nil })
		must(t, k.Flush(t.Context()))
		if notes := m.noted(); len(notes) != 1 {
			t.Errorf("got %v", notes)
		}
	})
}

// A token's use outlives a change to the tokens, and ends with the token.
func TestUsesFollowTheirToken(t *testing.T) {
	t.Parallel()
	following(t, func(t *testing.T, m *memory, k *Tokens, secret string, _ *[]error) {
		wantIdentity(t, k, secret, editor)
		k.Introduced(editor, "cursor 1.2")
		if _, _, err := k.Add(t.Context(), "other", false); err != nil {
			t.Fatal(err)
		}
		must(t, k.Flush(t.Context()))
		if notes := m.noted(); len(notes) != 1 || notes[0].Client != "cursor 1.2" {
			t.Errorf("got %v", notes)
		}
		must(t, k.Revoke(t.Context(), "editor"))
		k.Introduced(editor, "ghost")
		must(t, k.Flush(t.Context()))
		if notes := m.noted(); len(notes) != 0 {
			t.Errorf("a revoked token was noted: %v", notes)
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What every request does for this costs no memory.
func TestFollowingUsesDoesNotAllocate(t *testing.T) {
	m := &memory{}
	secret := issue(t, m, "editor", false)
	now := time.Unix(1_000_000, 0)
	k := NewTokens(m, "", func() time.Time { return now })
	wantIdentity(t, k, secret, editor)
	k.Met(editor, "node/22")
	if n := testing.AllocsPerRun(1000, func() {
		if _, err := k.Verify(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		k.Met(editor, "node/22")
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
