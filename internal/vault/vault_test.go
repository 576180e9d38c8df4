package vault

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/zalando/go-keyring"

	"genkan/internal/gateway"
)

// ring is a keyring that may be locked.
type ring struct {
	mu     sync.Mutex
	values map[string]gateway.Secret
	locked bool
	deaf   bool // takes what it does not give back
}

func (r *ring) Get(_ context.Context, account string) (gateway.Secret, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	value, ok := r.values[account]
	if r.locked || !ok {
		return "", errors.New("locked")
	}
	return value, nil
}

func (r *ring) Set(_ context.Context, account string, value gateway.Secret) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.locked {
		return errors.New("locked")
	}
	if !r.deaf {
		r.values[account] = value
	}
	return nil
}

func newRing() *ring { return &ring{values: map[string]gateway.Secret{}} }

// vaultUnderTest is what every vault does.
type vaultUnderTest interface {
	Load(ctx context.Context, name string) (value gateway.Secret, found bool, err error)
	Save(ctx context.Context, name string, value gateway.Secret) error
	Delete(ctx context.Context, name string) error
}

// TestVaults: what every vault does.
func TestVaults(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) vaultUnderTest{
		"memory":               func(*testing.T) vaultUnderTest { return NewMemory() },
		"file":                 func(t *testing.T) vaultUnderTest { return NewFile(t.TempDir(), nil) },
		"file with a keyring":  func(t *testing.T) vaultUnderTest { return NewFile(t.TempDir(), newRing()) },
		"file, locked keyring": func(t *testing.T) vaultUnderTest { return NewFile(t.TempDir(), &ring{locked: true}) },
		"file, deaf keyring":   func(t *testing.T) vaultUnderTest { return NewFile(t.TempDir(), &ring{deaf: true}) },
		"file in a new folder": func(t *testing.T) vaultUnderTest { return NewFile(filepath.Join(t.TempDir(), "a", "b"), nil) },
		"file, system's keyring": func(t *testing.T) vaultUnderTest {
			keyring.MockInit()
			return NewFile(t.TempDir(), systemKeyring{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, v := t.Context(), open(t)
			if _, found, err := v.Load(ctx, "a"); found || err != nil {
				t.Errorf("an empty one: %v, %v", found, err)
			}
			if err := v.Delete(ctx, "a"); err != nil {
				t.Error(err)
			}
			names := []string{"a", "A", "signin/a", "../a", strings.Repeat("長い", 200), "\x00", ""}
			for _, round := range []string{"first ", "second "} {
				for _, n := range names {
					if err := v.Save(ctx, n, gateway.Secret(round+n)); err != nil {
						t.Fatal(err)
					}
				}
				for _, n := range names {
					if value, found, err := v.Load(ctx, n); value.Reveal() != round+n || !found || err != nil {
						t.Errorf("%q: %q, %v, %v", n, value.Reveal(), found, err)
					}
				}
			}
			if err := v.Delete(ctx, "a"); err != nil {
				t.Error(err)
			}
			if _, found, err := v.Load(ctx, "a"); found || err != nil {
				t.Errorf("a deleted one: %v, %v", found, err)
			}
			if _, found, _ := v.Load(ctx, "A"); !found {
				t.Error("another one was deleted with it")
			}
		})
	}
}

// TestFilesTellNothing: neither secrets nor names, and nobody else may look.
func TestFilesTellNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	v := NewFile(dir, newRing())
	if err := v.Save(t.Context(), "signin/github", "c4n4ry-token"); err != nil {
		t.Fatal(err)
	}
	for name, text := range filesIn(t, dir) {
		if strings.Contains(text, "c4n4ry") || strings.Contains(text+name, "github") || strings.Contains(text, "AGE-SECRET-KEY") {
			t.Errorf("%s tells", name)
		}
	}
	if info, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// filesIn reads all files of a folder, and checks that they are private.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		t.Fatal("no files", err)
	}
	texts := map[string]string{}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if info, err := e.Info(); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
		if strings.HasPrefix(e.Name(), ".new-") {
			t.Errorf("%s was left behind", e.Name())
		}
		texts[e.Name()] = string(raw)
	}
	return texts
}

// TestTheKeyStaysWhereItIs: a keyring that comes or goes later does not lose
// what is kept.
func TestTheKeyStaysWhereItIs(t *testing.T) {
	ctx := t.Context()
	t.Run("in the file", func(t *testing.T) {
		dir := t.TempDir()
		if err := NewFile(dir, nil).Save(ctx, "a", "x"); err != nil {
			t.Fatal(err)
		}
		r := newRing()
		if value, _, err := NewFile(dir, r).Load(ctx, "a"); value != "x" || err != nil {
			t.Error(err)
		}
		if len(r.values) != 0 {
			t.Error("there are two keys")
		}
	})
	t.Run("in the keyring", func(t *testing.T) {
		dir, r := t.TempDir(), newRing()
		if err := NewFile(dir, r).Save(ctx, "a", "x"); err != nil {
			t.Fatal(err)
		}
		if value, _, err := NewFile(dir, r).Load(ctx, "a"); value != "x" || err != nil {
			t.Error(err)
		}
		for name, gone := range map[string]Keyring{"locked": &ring{locked: true}, "another": newRing(), "none": nil} {
			_, _, err := NewFile(dir, gone).Load(ctx, "a")
			wantError(t, err, gateway.CodeUnavailable, "keyring, which does not give it out; unlock the keyring, or move "+dir+" away")
			wantError(t, NewFile(dir, gone).Save(ctx, "b", "y"), gateway.CodeUnavailable, "unlock the keyring")
			if err := NewFile(dir, gone).Delete(ctx, "b"); err != nil {
				t.Errorf("%s: forgetting needs no key: %v", name, err)
			}
		}
	})
	t.Run("nobody is asked before there is something", func(t *testing.T) {
		v := NewFile(t.TempDir(), &ring{locked: true})
		if _, found, err := v.Load(ctx, "a"); found || err != nil {
			t.Error(found, err)
		}
		if entries, _ := os.ReadDir(v.dir); len(entries) != 0 {
			t.Errorf("%d files", len(entries))
		}
	})
}

// TestDamage is told as such, without what was in the file.
func TestDamage(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	v := NewFile(dir, nil)
	for _, name := range []string{"a", "b"} {
		if err := v.Save(ctx, name, "c4n4ry"); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path string, content []byte) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good, err := os.ReadFile(v.path("a", ".age"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"empty": {}, "cut": good[:len(good)-5], "not encrypted": []byte(`{"name":"b","value":"c4n4ry"}`), "another's": good,
	} {
		write(v.path("b", ".age"), content)
		_, _, err := v.Load(ctx, "b")
		wantError(t, err, gateway.CodeInternal, v.path("b", ".age")+", a kept secret, cannot be read; put that file back")
		if err != nil && strings.Contains(err.Error(), "c4n4ry") {
			t.Errorf("%s: %v", name, err)
		}
	}
	write(filepath.Join(dir, keyFile), []byte("AGE-SECRET-KEY-1NONSENSE"))
	_, _, err = NewFile(dir, nil).Load(ctx, "a")
	wantError(t, err, gateway.CodeInternal, "cannot be read")
	if strings.Contains(err.Error(), "NONSENSE") {
		t.Error(err)
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(filepath.Join(dir, keyFile), 0o644); err != nil {
			t.Fatal(err)
		}
		_, _, err = NewFile(dir, nil).Load(ctx, "a")
		wantError(t, err, gateway.CodeInternal, "others can read")
	}
	if err := os.Mkdir(v.path("c", ".age"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, _, err = v.Load(ctx, "c")
	wantError(t, err, gateway.CodeInternal, "cannot be read")
}

// TestALostKeyIsNotReplaced: what it has locked is readable again once it is
// found.
func TestALostKeyIsNotReplaced(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	if err := NewFile(dir, nil).Save(ctx, "a", "value"); err != nil {
		t.Fatal(err)
	}
	key, away := filepath.Join(dir, keyFile), filepath.Join(t.TempDir(), keyFile)
	if err := os.Rename(key, away); err != nil {
		t.Fatal(err)
	}
	if err := NewFile(dir, nil).Save(ctx, "b", "other"); err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("saving without the key: %v", err)
	}
	if _, _, err := NewFile(dir, nil).Load(ctx, "a"); err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("loading without the key: %v", err)
	}
	if err := os.Rename(away, key); err != nil {
		t.Fatal(err)
	}
	if value, found, err := NewFile(dir, nil).Load(ctx, "a"); err != nil || !found || value != "value" {
		t.Errorf("with the key again: %v, %v", found, err)
	}
}

// TestManyProcessesMakeOneKey, whoever is first.
func TestManyProcessesMakeOneKey(t *testing.T) {
	for name, r := range map[string]Keyring{"file": nil, "keyring": newRing()} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var all sync.WaitGroup
			for i := range 8 {
				all.Go(func() {
					if err := NewFile(dir, r).Save(t.Context(), string(rune('a'+i)), "x"); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			v := NewFile(dir, r)
			for i := range 8 {
				if value, _, err := v.Load(t.Context(), string(rune('a'+i))); value != "x" || err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestLocks are for one at a time, and waiting for one can be given up.
func TestLocks(t *testing.T) {
	v := NewFile(t.TempDir(), nil)
	unlock, err := v.Lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	other, err := v.Lock(t.Context(), "b")
	if err != nil {
		t.Fatal("another name's lock:", err)
	}
	other()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewFile(v.dir, nil).Lock(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	unlock()
	again, err := v.Lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	again()
}

// TestAKeyringThatHangs is given up with the caller.
func TestAKeyringThatHangs(t *testing.T) {
	release := make(chan struct{})
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := withPatience(ctx, func() (gateway.Secret, error) {
		defer close(done)
		cancel()
		<-release
		return "", nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(release)
	<-done
}

// TestNoKeyringWithoutABus: looking for one must not start one.
func TestNoKeyringWithoutABus(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("buses are Linux's")
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
	if SystemKeyring() == nil {
		t.Error("there is a bus")
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	if hasSessionBus() != (SystemKeyring() != nil) {
		t.Error("the bus decides")
	}
}

func wantError(t *testing.T, err error, code gateway.Code, words string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s: …%s…", code, words)
	}
	e := gateway.AsError(err)
	if e.Code != code || !strings.Contains(e.Text(), words) {
		t.Errorf("got %s: %v\nwant %s: …%s…", e.Code, err, code, words)
	}
}
