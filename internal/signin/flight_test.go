package signin

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/testkit/authserver"
	"genkan/internal/vault"
)

// answered is what Token said.
type answered struct {
	token gateway.Secret
	err   error
}

func (r *rig) tokenLater(s Server) chan answered {
	got := make(chan answered, 1)
	go func() {
		token, err := r.keeper.Token(context.Background(), s)
		got <- answered{token, err}
	}()
	return got
}

// TestARenewalIsForItsServerOnly: whoever asks for the token of another address,
// or of another client, under the same name is not given it.
func TestARenewalIsForItsServerOnly(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Server){
		"another address": func(s *Server) { s.URL = "https://elsewhere.example/mcp" },
		"another client":  func(s *Server) { s.Client.ID = "me" },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, authserver.Options{})
			r.mustSignIn()
			reached, release := make(chan struct{}), make(chan struct{})
			r.Change(func(o *authserver.Options) {
				o.Before = func(_ http.ResponseWriter, r *http.Request) bool {
					if r.URL.Path == "/token" {
						close(reached)
						<-release
					}
					return false
				}
			})
			r.clock.advance(2 * time.Hour)
			first := r.tokenLater(r.server)
			<-reached
			other := r.server
			change(&other)
			second := r.tokenLater(other)
			for range 1000 { // so that it waits, most likely, for the renewal
				runtime.Gosched()
			}
			close(release)
			if got := <-first; got.err != nil {
				t.Error(got.err)
			}
			got := <-second
			if got.token != "" {
				t.Error("it was given the token of another")
			}
			wantError(t, got.err, gateway.CodeUnauthenticated, "needs sign-in")
		})
	}
}

// lateVault comes back late from keeping a renewed token.
type lateVault struct {
	Vault
	saved, release chan struct{}
}

func (v *lateVault) Save(ctx context.Context, name string, value gateway.Secret) error {
	err := v.Vault.Save(ctx, name, value)
	if v.saved != nil {
		v.saved <- struct{}{}
		<-v.release
	}
	return err
}

// TestASignInDuringARenewal: who asks after another process has said that it
// signed in is given that sign-in's token.
func TestASignInDuringARenewal(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{})
	inner := vault.NewMemory()
	late := &lateVault{Vault: inner}
	r.vault = late
	r.keeper = r.another()
	r.mustSignIn()
	late.saved, late.release = make(chan struct{}), make(chan struct{})
	r.clock.advance(2 * time.Hour)
	first := r.tokenLater(r.server)
	<-late.saved // and the lock is as good as free
	value, _, err := inner.Load(t.Context(), vaultName(r.server))
	if err != nil {
		t.Fatal(err)
	}
	g, _ := decodeKept(value)
	g.ID, g.Access, g.Obtained = "another", "another", r.clock.Now()
	if value, err = g.encode(); err != nil {
		t.Fatal(err)
	}
	if err := inner.Save(t.Context(), vaultName(r.server), value); err != nil {
		t.Fatal(err)
	}
	r.keeper.Doubt(r.server)
	second := r.tokenLater(r.server)
	close(late.release)
	if got := <-first; got.err != nil {
		t.Error(got.err)
	}
	if got := <-second; got.err != nil || got.token != "another" {
		t.Errorf("got %v of another sign-in", got.err)
	}
	if got := r.keeper.Bearer(r.server).SignIn(); !strings.HasSuffix(got, "another") {
		t.Error(got)
	}
}
