package signin

import (
	"context"
	"errors"
	"strings"
	"testing"

	"genkan/internal/testkit/authserver"
)

// A sign-in in the background returns its address at once. The next one takes its place.
func TestASignInInTheBackground(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{})
	signedIn := make(chan string, 2)
	begin := func(which string) string {
		t.Helper()
		address, err := r.keeper.Begin(t.Context(), r.server, nil, func() { signedIn <- which })
		if err != nil {
			t.Fatal(err)
		}
		return address
	}
	first := begin("first")
	second := begin("second")
	if _, err := r.Browse(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if got := <-signedIn; got != "second" || first == second {
		t.Errorf("%s signed in; the addresses are %s and %s", got, first, second)
	}
	r.mustToken()
	r.noFaults()
	if !strings.Contains(r.log.String(), `"msg":"signed in"`) || strings.Contains(r.log.String(), "nobody signed in") {
		t.Errorf("logged %s", r.log)
	}
}

// A sign-in that waits ends with its SignIns, and none begins afterwards.
func TestASignInInTheBackgroundEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{})
	never := func() { t.Error("somebody signed in") }
	if _, err := r.keeper.Begin(t.Context(), r.server, nil, never); err != nil {
		t.Fatal(err)
	}
	r.keeper.Close()
	if _, err := r.keeper.Begin(t.Context(), r.server, nil, never); !errors.Is(err, context.Canceled) {
		t.Errorf("one began: %v", err)
	}
}
