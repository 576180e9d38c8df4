package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"genkan/internal/config"
	"genkan/internal/gateway"
)

const emptyFile = "mcpServers: {}"

// remote is the definition of a server that is not started, with a key.
func remote(key string) string {
	return fmt.Sprintf(`{"headers":{"X-Api-Key":%q},"url":"http://127.0.0.1:1/mcp"}`, key)
}

// A registered server is stored with references to its secrets, and in force with
// their values. Its secrets go with it.
func TestARegisteredServerIsStoredWithoutItsSecrets(t *testing.T) {
	t.Parallel()
	f := newFixture(t, emptyFile)
	f.add("one", remote("canary-0123"))
	f.wantStored(map[string]string{"one": remote("${secret:one.X-Api-Key}")})
	f.wantSecrets(map[string]string{"one.X-Api-Key": "canary-0123"})
	if s := f.server("one"); !s.Stored || s.Headers["X-Api-Key"].Reveal() != "canary-0123" {
		t.Errorf("in force: %+v", s)
	}
	if s, definition := f.listed("one"); !s.Registered || definition != remote("${secret:one.X-Api-Key}") {
		t.Errorf("listed: %+v, %s", s, definition)
	}
	f.remove("one")
	f.wantStored(nil)
	f.wantSecrets(nil)
	if left := f.inForce().Servers; len(left) != 0 {
		t.Errorf("in force: %v", left)
	}
	if log := f.log.String(); strings.Contains(log, "canary") || !strings.Contains(log, "secrets of a server are kept") || !strings.Contains(log, "secrets of a server are forgotten") {
		t.Errorf("logged: %s", log)
	}
}

// A new value of a secret gets a name of its own: the former value is in use until
// the change is stored. It is deleted afterwards.
func TestAChangedSecretGetsAFreeName(t *testing.T) {
	t.Parallel()
	f := newFixture(t, emptyFile)
	f.add("one", remote("canary-0"))
	f.patch("one", `{"headers":{"X-Api-Key":"canary-1"}}`)
	f.wantStored(map[string]string{"one": remote("${secret:one.X-Api-Key-2}")})
	f.wantSecrets(map[string]string{"one.X-Api-Key-2": "canary-1"})
	f.patch("one", `{"prefix":"uno"}`)
	f.wantSecrets(map[string]string{"one.X-Api-Key-2": "canary-1"})
	if s := f.server("one"); s.Prefix != "uno" || s.Headers["X-Api-Key"].Reveal() != "canary-1" {
		t.Errorf("in force: %+v", s)
	}
}

// A definition may be sent back as it was shown: masked values keep what they
// stand for. A mask that was not shown is refused.
func TestMaskedValuesAreSentBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t, emptyFile)
	f.add("one", `{"env":{"REGION_KEY":"${REGION:-canary-0123}"},"command":"x"}`)
	_, shown := f.listed("one")
	if shown != `{"command":"x","env":{"REGION_KEY":"${REGION:-***}"}}` {
		t.Fatalf("shown as %s", shown)
	}
	if err := f.ChangeServer(t.Context(), "one", []byte(shown), false); err != nil {
		t.Fatal(err)
	}
	if s := f.server("one"); s.Env["REGION_KEY"].Reveal() != "canary-0123" {
		t.Errorf("in force: %s", s.Env["REGION_KEY"].Reveal())
	}
	err := f.ChangeServer(t.Context(), "one", []byte(`{"env":{"OTHER":"***"}}`), true)
	wantRefused(t, err, gateway.CodeInvalid, "env.OTHER", "stands for a secret")
	err = f.AddServer(t.Context(), "two", []byte(shown))
	wantRefused(t, err, gateway.CodeInvalid, "env.REGION_KEY", "stands for a secret")
}

// A refused change leaves the database, the vault and the configuration as they
// are.
func TestRefusedChangesChangeNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, `{"mcpServers": {"file": {"url": "http://127.0.0.1:1/mcp"}}, "profiles": {"p": {"servers": ["file"]}}, "n8n": {"name": "flows", "url": "http://127.0.0.1:1", "apiKey": "canary-n"}}`)
	f.add("one", remote("canary-0"))
	f.edit(`{"mcpServers": {"file": {"url": "http://127.0.0.1:1/mcp"}}, "profiles": {"p": {"servers": ["one"]}}, "n8n": {"name": "flows", "url": "http://127.0.0.1:1", "apiKey": "canary-n"}}`)
	before := f.inForce()
	add := func(name, definition string) func() error {
		return func() error { return f.AddServer(t.Context(), name, []byte(definition)) }
	}
	for name, c := range map[string]struct {
		change         func() error
		code           gateway.Code
		field, message string
	}{
		"not an object":              {add("two", `[]`), gateway.CodeInvalid, "", "a JSON object"},
		"wrong name":                 {add("Two!", remote("canary-1")), gateway.CodeInvalid, "name", "cannot be the name"},
		"wrong key":                  {add("two", `{"url":"http://127.0.0.1:1/mcp","uri":"x","headers":{"X-Api-Key":"canary-1"}}`), gateway.CodeInvalid, "uri", "uri"},
		"name of the knowledge base": {add("kb", remote("canary-1")), gateway.CodeInvalid, "name", "genkan itself has tools under the name kb"},
		"name of an n8n":             {add("flows", remote("canary-1")), gateway.CodeInvalid, "name", "genkan itself has tools under the name flows"},
		"no name, nor a free one":    {add("ONE", remote("canary-1")), gateway.CodeInvalid, "name", `how about "one-2"?`},
		"name in database":           {add("one", remote("canary-1")), gateway.CodeConflict, "", "there is a server one already"},
		"name in file":               {add("file", remote("canary-1")), gateway.CodeConflict, "", "there is a server file already"},
		"prefix in use": {
			add("two", `{"url":"http://127.0.0.1:1/mcp","prefix":"one","headers":{"X-Api-Key":"canary-1"}}`),
			gateway.CodeConflict, "prefix", "cannot be used beside the others",
		},
		"change an unknown server": {func() error { return f.ChangeServer(t.Context(), "two", []byte(`{}`), true) }, gateway.CodeNotFound, "", `no server "two"`},
		"remove an unknown server": {func() error { return f.RemoveServer(t.Context(), "two") }, gateway.CodeNotFound, "", `no server "two"`},
		"remove a profile's server": {
			func() error { return f.RemoveServer(t.Context(), "one") },
			gateway.CodeConflict, "", "the profile p in " + f.file() + " names server one",
		},
	} {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, c.change(), c.code, c.field, c.message)
			f.wantStored(map[string]string{"one": remote("${secret:one.X-Api-Key}")})
			f.wantSecrets(map[string]string{"one.X-Api-Key": "canary-0"})
			if f.inForce() != before {
				t.Error("another configuration is in force")
			}
		})
	}
}

// Nothing changes while the configuration file is broken, and the error names it.
func TestABrokenFileRefusesChanges(t *testing.T) {
	t.Parallel()
	f := newFixture(t, emptyFile)
	f.write("mcpServers: [")
	err := f.AddServer(t.Context(), "one", []byte(remote("canary-0")))
	wantRefused(t, err, gateway.CodeConflict, "", "nothing was changed")
	wantRefused(t, err, gateway.CodeConflict, "", f.file())
	f.wantStored(nil)
	f.wantSecrets(nil)
}

// A server that the file begins to declare while it is added is refused.
func TestTheFileDeclaresTheServerMeanwhile(t *testing.T) {
	t.Parallel()
	f := newFixture(t, emptyFile)
	f.write(`{"mcpServers": {"one": {"url": "http://127.0.0.1:1/mcp"}}}`)
	err := f.AddServer(t.Context(), "one", []byte(remote("canary-0")))
	wantRefused(t, err, gateway.CodeConflict, "", "was declared in "+f.file())
	f.wantStored(nil)
	f.wantSecrets(nil)
}

// A change of the same server by another process is not overwritten, and a store
// that fails leaves no secret behind.
func TestAChangeThatCannotBeStored(t *testing.T) {
	t.Parallel()
	f := newFixture(t, emptyFile)
	f.add("one", remote("canary-0"))
	apply := f.opt.Apply
	f.opt.Apply = func(registered []config.StoredServer, commit func(*config.Config) error) error {
		err := f.store.ChangeStoredServer(t.Context(), "one", func(was *config.StoredServer) (*config.StoredServer, error) {
			return &config.StoredServer{Name: "one", Definition: []byte(`{"command":"other"}`), Secrets: was.Secrets}, nil
		})
		return errors.Join(err, apply(registered, commit))
	}
	err := f.ChangeServer(t.Context(), "one", []byte(remote("canary-1")), false)
	wantRefused(t, err, gateway.CodeConflict, "", "was changed by somebody else")
	f.wantStored(map[string]string{"one": `{"command":"other"}`})
	f.wantSecrets(map[string]string{"one.X-Api-Key": "canary-0"})

	f.opt.Apply = func([]config.StoredServer, func(*config.Config) error) error { return os.ErrPermission }
	if err := f.AddServer(t.Context(), "two", []byte(remote("canary-1"))); !errors.Is(err, os.ErrPermission) {
		t.Errorf("got %v", err)
	}
	f.wantSecrets(map[string]string{"one.X-Api-Key": "canary-0"})
}

// fullVault is a vault that saves one secret.
type fullVault struct {
	Vault
	saved bool
}

func (v *fullVault) Save(ctx context.Context, name string, value gateway.Secret) error {
	if v.saved {
		return os.ErrPermission
	}
	v.saved = true
	return v.Vault.Save(ctx, name, value)
}

// If the second secret of a server cannot be saved, the first one is deleted.
func TestASecretThatCannotBeSaved(t *testing.T) {
	t.Parallel()
	f := newFixture(t, emptyFile)
	f.opt.Vault = &fullVault{Vault: f.vault}
	err := f.AddServer(t.Context(), "one", []byte(`{"url":"http://127.0.0.1:1/mcp","headers":{"X-Api-Key":"canary-0","Authorization":"Bearer canary-1"}}`))
	if !errors.Is(err, os.ErrPermission) || !f.opt.Vault.(*fullVault).saved {
		t.Errorf("got %v", err)
	}
	f.wantStored(nil)
	f.wantSecrets(nil)
}

// A secret that another server refers to is kept, also if that server is set
// aside.
func TestASecretStaysWhileAServerRefersToIt(t *testing.T) {
	t.Parallel()
	f := newFixture(t, emptyFile)
	f.add("first", remote("canary-0"))
	f.add("second", `{"url":"http://127.0.0.1:1/mcp","prefix":"taken","headers":{"X-Api-Key":"${secret:first.X-Api-Key}"}}`)
	f.edit(`{"mcpServers": {"file": {"url": "http://127.0.0.1:1/mcp", "prefix": "taken"}}}`)
	if s, _ := f.listed("second"); !s.Registered || !strings.Contains(s.Problem.String(), "prefix") {
		t.Errorf("it is not set aside: %+v", s)
	}
	f.remove("first")
	f.wantSecrets(map[string]string{"first.X-Api-Key": "canary-0"})
}

// A server of the file has priority over a registered one of the same name, and is
// listed with a note.
func TestServersOfTheFileHavePriority(t *testing.T) {
	t.Parallel()
	f := newFixture(t, emptyFile)
	f.add("one", remote("canary-0"))
	f.edit(`{"mcpServers": {"one": {"command": "x", "disabled": true, "env": {"A": "plain"}}}}`)
	if all := List(f.inForce()); len(all) != 1 {
		t.Errorf("listed: %v", all)
	}
	s, definition := f.listed("one")
	if s.Registered || s.Problem.String() != "" || !strings.Contains(s.Note.String(), "the database has a server of this name too") {
		t.Errorf("listed: %+v", s)
	}
	if definition != `{"command":"x","disabled":true,"env":{"A":"***"}}` {
		t.Errorf("shown as %s", definition)
	}
	f.edit(emptyFile)
	if s := f.server("one"); !s.Stored || s.URL == "" {
		t.Errorf("in force: %+v", s)
	}
}

// Concurrent requests for different names all succeed; of those for one name, one
// does.
func TestServersAreAddedConcurrently(t *testing.T) {
	t.Parallel()
	f := newFixture(t, emptyFile)
	const many = 8
	want := map[string]string{}
	errs := make(chan error, 2*many)
	var all sync.WaitGroup
	for i := range many {
		name := fmt.Sprint("s", i)
		want[name+".X-Api-Key"] = fmt.Sprint("canary-", i)
		for _, name := range []string{name, "same"} {
			all.Go(func() { errs <- f.AddServer(t.Context(), name, []byte(remote(fmt.Sprint("canary-", i)))) })
		}
	}
	all.Wait()
	close(errs)
	conflicts := 0
	for err := range errs {
		if err != nil {
			wantRefused(t, err, gateway.CodeConflict, "", "there is a server same already")
			conflicts++
		}
	}
	if conflicts != many-1 {
		t.Errorf("%d conflicts", conflicts)
	}
	want["same.X-Api-Key"] = f.server("same").Headers["X-Api-Key"].Reveal()
	f.wantSecrets(want)
}

// Of two processes that add one name at the same time one succeeds, and the other
// leaves the secrets of that server alone.
func TestServersAreAddedConcurrentlyByTwoProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	processes := []*fixture{newFixtureIn(t, dir, emptyFile), newFixtureIn(t, dir, emptyFile)}
	want := map[string]string{}
	for i := range 8 {
		name := fmt.Sprint("s", i)
		errs := make([]error, len(processes))
		var both sync.WaitGroup
		for n, f := range processes {
			both.Go(func() { errs[n] = f.AddServer(t.Context(), name, []byte(remote(fmt.Sprint("canary-", n)))) })
		}
		both.Wait()
		winner := 0
		if errs[0] != nil {
			winner = 1
		}
		if errs[winner] != nil {
			t.Fatal(errs)
		}
		wantRefused(t, errs[1-winner], gateway.CodeConflict, "", "there is a server "+name+" already")
		want[name+".X-Api-Key"] = fmt.Sprint("canary-", winner)
		processes[0].wantSecrets(want)
	}
}
