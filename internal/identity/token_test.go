package identity

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"genkan/internal/gateway"
)

func wantCode(t testing.TB, err error, code gateway.Code) {
	t.Helper()
	var e *gateway.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v is not a gateway.Error", err)
	}
	if e.Code != code {
		t.Fatalf("code %v, want %v (%v)", e.Code, code, err)
	}
}

func TestNewToken(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 3, 2, 1, 123456789, time.FixedZone("JST", 9*60*60))
	token, secret, err := NewToken("claude-desktop", true, now)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^gk_[A-Za-z0-9_-]{43}$`).MatchString(secret.Reveal()) {
		t.Errorf("the secret does not look as documented (%d characters)", len(secret.Reveal()))
	}
	if !looksIssued(secret.Reveal()) {
		t.Error("a token that was just issued does not look issued")
	}
	want := Token{
		Name:      "claude-desktop",
		Hash:      sha256.Sum256([]byte(secret.Reveal())),
		Admin:     true,
		CreatedAt: time.Date(2026, 5, 3, 18, 2, 1, 123456000, time.UTC),
	}
	if token != want {
		t.Errorf("got %+v, want %+v", token, want)
	}
	if shown := fmt.Sprintf("%v %+v %s %q", secret, secret, secret, secret); strings.Contains(shown, prefix) {
		t.Errorf("the secret shows itself: %s", shown)
	}
	_, again, err := NewToken("claude-desktop", true, now)
	if err != nil {
		t.Fatal(err)
	}
	if again == secret {
		t.Error("two tokens have the same secret")
	}
}

func TestTokenNames(t *testing.T) {
	t.Parallel()
	for name, valid := range map[string]bool{
		"a": true, "0": true, "claude": true, "vs-code.2_x": true, strings.Repeat("a", 64): true,
		"administrator": true, "localhost": true,
		"": false, strings.Repeat("a", 65): false, "local": false, "admin": false,
		"-a": false, ".a": false, "_a": false, "A": false, "a b": false, "a/b": false,
		"é": false, "a\n": false, "a\x00": false, "a'b": false,
	} {
		_, _, err := NewToken(name, false, time.Now())
		if valid && err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if !valid {
			wantCode(t, err, gateway.CodeInvalid)
		}
	}
}

func TestNamesMatchTheirPattern(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z0-9._-]{0,66}`)).Draw(t, "name")
		// Go's $ without (?m) matches at the very end only.
		if got, want := validName(name), pattern.MatchString(name); got != want {
			t.Fatalf("validName(%q) = %v, want %v", name, got, want)
		}
	})
}
