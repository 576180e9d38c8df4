package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/registry"
	"genkan/internal/testkit"
	"genkan/internal/vault"
)

// lockedRing is a keyring that stays locked. Once it waits, it asks a person who never
// answers.
type lockedRing struct {
	waits atomic.Bool
	asked chan struct{} // closed when somebody is asked
	once  sync.Once
}

func (r *lockedRing) Get(ctx context.Context, _ string) (gateway.Secret, error) {
	if !r.waits.Load() {
		return "", errors.New("locked")
	}
	r.once.Do(func() { close(r.asked) })
	<-ctx.Done()
	return "", context.Cause(ctx)
}

func (r *lockedRing) Set(context.Context, string, gateway.Secret) error { return errors.New("locked") }

func (h *testHouse) keepSecret(name, value string) {
	h.t.Helper()
	if err := h.vault.Save(h.t.Context(), registry.SecretPrefix+name, gateway.Secret(value)); err != nil {
		h.t.Fatal(err)
	}
}

// withSecret is a server that is told one.
func withSecret(t testing.TB, more ...string) conf {
	t.Helper()
	one := child(t, more...)
	one["env"].(conf)["KEY"] = "${secret:key}"
	return servers(conf{"one": one})
}

// A secret that changes makes another server; the calls under way are finished by
// the former one, and those that come meanwhile wait for the new one.
func TestASecretThatChangesDuringCalls(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{}))
	h.keepSecret("key", "one")
	h.reload(withSecret(t))
	h.waitReady("one")
	testkit.Eventually(t, func() bool { return h.lists("one__sleep") }, "listed")
	for round := range 3 {
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() {
				if _, err := h.call("one__sleep", `{"ms":300}`); err != nil {
					t.Error(err)
				}
			})
		}
		h.keepSecret("key", fmt.Sprint("changed ", round))
		if err := h.Reload(); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			calls.Go(func() {
				if _, err := h.call("one__sleep", `{"ms":10}`); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
	}
}

// A secret that is gone: what is under way ends well, and then the server says
// what it lacks; it comes back with the secret.
func TestASecretThatIsRemoved(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{}))
	h.keepSecret("key", "one")
	record, gate := filepath.Join(t.TempDir(), "record"), filepath.Join(t.TempDir(), "gate")
	h.reload(withSecret(t, "-everything", "-record", record))
	h.waitReady("one")
	testkit.Eventually(t, func() bool { return h.lists("one__hold") }, "listed")
	answered := make(chan error, 1)
	go func() {
		_, err := h.call("one__hold", fmt.Sprintf(`{"gate":%q}`, gate))
		answered <- err
	}()
	testkit.Eventually(t, func() bool {
		return slices.ContainsFunc(testkit.Lines(t, record), func(line string) bool { return strings.Contains(line, `"tools/call"`) })
	}, "the call is under way")
	if err := h.vault.Delete(t.Context(), registry.SecretPrefix+"key"); err != nil {
		t.Fatal(err)
	}
	if err := h.Reload(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
	testkit.Eventually(t, func() bool { st := h.server("one"); return st.State == "down" && strings.Contains(st.Problem, "key") }, "it says what it lacks")
	h.keepSecret("key", "again")
	if err := h.Reload(); err != nil {
		t.Fatal(err)
	}
	h.waitReady("one")
	testkit.Eventually(t, func() bool { return h.lists("one__sleep") }, "listed")
	h.mustCall("one__sleep", `{"ms":1}`)
}

// A reload with a locked vault changes nothing. A vault that waits for a person
// does not prevent genkan from stopping.
func TestAReloadWithALockedVault(t *testing.T) {
	t.Parallel()
	dir, ring := t.TempDir(), &lockedRing{asked: make(chan struct{})}
	if err := vault.NewFile(vaultDir(dir), nil).Save(t.Context(), registry.SecretPrefix+"key", "one"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(vaultDir(dir), "key"), filepath.Join(vaultDir(dir), "keyring")); err != nil {
		t.Fatal(err)
	}
	// Bodies of calls are encrypted with a key of the vault.
	without := func(c conf) conf { return with(c, conf{"record": conf{"bodies": "off"}}) }
	h := openHouseIn(t, dir, without(servers(conf{"one": child(t)})), func(opt *Options) { opt.Keyring = ring })
	h.waitReady("one")
	testkit.Eventually(t, func() bool { return h.lists("one__sleep") }, "listed")

	h.write(without(withSecret(t)))
	if err := h.Reload(); err == nil {
		t.Error("it was reloaded with a locked vault")
	}
	h.mustCall("one__sleep", `{"ms":1}`)

	ring.waits.Store(true)
	reloaded := make(chan error, 1)
	go func() { reloaded <- h.Reload() }()
	<-ring.asked
	h.mustCall("one__sleep", `{"ms":1}`)
	h.Process.stop()
	if err := <-reloaded; err == nil {
		t.Error("it was reloaded while the vault waited for a person")
	}
}
