package identity

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
)

func TestLocalNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"cursor": "", "claude-code": "", "my.editor_2": "", strings.Repeat("a", 64): "",
		"": "it is empty", "Cursor": `it has capital letters; how about "cursor"?`,
		"local:cursor": `only a-z, 0-9 and ., _, - can be in it; how about "local-cursor"?`, "-x": `it begins with "-"; how about "x"?`,
		"a b": `it has spaces; how about "a-b"?`, "a\n": `it has spaces; how about "a"?`, "日本": "can be in it",
		strings.Repeat("a", 65): "it has more than 64 characters; how about \"" + strings.Repeat("a", 64) + "\"?", "Local": `how about "local-client"?`,
		"local": "is reserved", "admin": "is reserved",
	} {
		err := CheckLocalName(name)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "how about") != strings.Contains(want, "how about")) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}

// A local client that takes the name of a token's is somebody else: no token can
// be called what it is known by.
func TestLocalClientsAreNoTokens(t *testing.T) {
	t.Parallel()
	local := gateway.LocalIdentity("editor")
	if local.ClientID != "local:editor" || local.Admin {
		t.Errorf("got %+v", local)
	}
	if _, _, err := NewToken(local.ClientID, false, time.Now()); err == nil {
		t.Error("a token may have the name of a local client")
	}
	following(t, func(t *testing.T, m *memory, k *Tokens, secret string, _ *[]error) {
		wantIdentity(t, k, secret, editor)
		k.Introduced(local, "somebody else") // who was never seen
		k.Local("editor")()
		k.Introduced(local, "an editor 1")
		must(t, k.Flush(t.Context()))
		if notes := m.noted(); len(notes) != 1 || notes[0].Client != "" {
			t.Errorf("the token was used by %v", notes)
		}
		if notes := m.locals(); len(notes) != 1 || notes[0].Client != "an editor 1" {
			t.Errorf("the local client was seen as %v", notes)
		}
	})
}

func TestLocalClientsAreSeen(t *testing.T) {
	following(t, func(t *testing.T, m *memory, k *Tokens, _ string, failures *[]error) {
		k.Local("")() // is not followed
		began := time.Now()
		seen := k.Local("cursor")
		for range 1500 { // two and a half minutes
			seen()
			k.Introduced(gateway.LocalIdentity("cursor"), "Cursor 1.7")
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		notes := m.locals()
		if len(notes) != 3 || notes[0].Name != "cursor" || notes[0].Client != "Cursor 1.7" || notes[0].At.Before(began) {
			t.Fatalf("notes of two and a half minutes: %v", notes)
		}
		// Several connections of one client are one; what came last is not lost.
		k.Local("cursor")()
		must(t, k.Flush(t.Context()))
		if notes = m.locals(); len(notes) != 1 || time.Since(notes[0].At) >= usePrecision {
			t.Errorf("at the end: %v", notes)
		}
		m.set(func(m *memory) { m.noteErr = errors.New("the disk is full") })
		time.Sleep(2 * time.Minute)
		seen()
		time.Sleep(2 * gathering)
		synctest.Wait()
		if len(*failures) != 1 {
			t.Errorf("the failures: %v", *failures)
		}
	})
}
