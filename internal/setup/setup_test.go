package setup_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/identity"
	"genkan/internal/setup"
	"genkan/internal/vault"
)

const canary = "s3cr3tCanary0123456789ab"

// machine is a person's machine with clients and a data directory.
type machine struct {
	*testing.T
	*setup.Setup
	home, data string

	mu      sync.Mutex
	secrets map[string]gateway.Secret
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{T: t, home: t.TempDir(), data: t.TempDir(), secrets: map[string]gateway.Secret{}}
	m.Setup = setup.New(setup.Options{
		DataDir: m.data, ConfigFile: m.configFile(), Vault: vault.NewMemory(),
		Sources: func(context.Context) (config.Sources, error) {
			return config.Sources{Env: func(string) (string, bool) { return "", false }, Secret: m.secret}, nil
		},
		SaveSecret: func(_ context.Context, name string, value gateway.Secret) error {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.secrets[name] = value
			return nil
		},
		Tokens: func(context.Context, func(*identity.Tokens) error) error {
			return errors.New("no token is needed here")
		},
		Environment: func() (clients.Environment, error) {
			return clients.Environment{GOOS: "linux", Home: m.home, Getenv: func(string) string { return "" }, Glob: filepath.Glob}, nil
		},
		Listening: func(context.Context) string { return "" },
	})
	return m
}

func (m *machine) configFile() string { return filepath.Join(m.data, "genkan.yaml") }

func (m *machine) secret(name string) (gateway.Secret, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, found := m.secrets[name]
	return value, found, nil
}

// write writes a file below the home folder and returns its path.
func (m *machine) write(name, text string) string {
	m.Helper()
	path := filepath.Join(m.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		m.Fatal(err)
	}
	return path
}

func (m *machine) read(path string) string {
	m.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		m.Fatal(err)
	}
	return string(raw)
}

func (m *machine) plan(sel setup.Selection) *setup.ImportPlan {
	m.Helper()
	plan, err := m.PlanImport(m.Context(), sel)
	if err != nil {
		m.Fatal(err)
	}
	return plan
}

func wantCode(t *testing.T, err error, code gateway.Code) {
	t.Helper()
	if err == nil || gateway.AsError(err).Code != code {
		t.Errorf("got %v, want the code %s", err, code)
	}
}

// A secret is in no plan wherever it stands in a file, and in the vault after the
// import.
func TestSecretsGoToTheVaultAndIntoNoPlan(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.write(".cursor/mcp.json", `{"mcpServers": {
		"env": {"command": "a", "env": {"API_KEY": "`+canary+`"}},
		"arg": {"command": "a", "args": ["--token", "`+canary+`"]},
		"header": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer `+canary+`"}},
		"query": {"url": "https://example.com/mcp?plain=`+canary+`"},
		"user": {"url": "https://mika:`+canary+`@example.com/mcp"}}}`)
	plan := m.plan(setup.Selection{})
	shown, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(shown), canary) {
		t.Errorf("the plan is %s", shown)
	}
	var names []string
	for _, s := range plan.Servers {
		names = append(names, s.Name)
	}
	done, err := m.Import(t.Context(), setup.ImportChoice{Revision: plan.Revision, Servers: names})
	if err != nil || !slices.Equal(done.Added, names) {
		t.Fatal(done, err)
	}
	if strings.Contains(m.read(m.configFile()), canary) {
		t.Errorf("the configuration is %s", m.read(m.configFile()))
	}
	if got := slices.Sorted(maps.Keys(m.secrets)); len(got) != 5 {
		t.Errorf("the vault has %v", got)
	}
	if again := m.plan(setup.Selection{}); slices.ContainsFunc(again.Servers, func(s setup.ImportServer) bool { return !s.Known }) {
		t.Errorf("after the import: %+v", again.Servers)
	}
}

// A revision is good for what the plan showed, and for nothing else.
func TestRevisionNamesWhatThePlanShows(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	file := func(text string) string {
		m.write(".cursor/mcp.json", text)
		return m.plan(setup.Selection{}).Revision
	}
	first := file(`{"mcpServers": {"a": {"command": "a"}}}`)
	if again := file(`{"mcpServers": {"a": {"command": "a"}}, "other": 1}`); again != first {
		t.Error("a change beside the servers is another revision")
	}
	seen := map[string]bool{first: true}
	for _, text := range []string{
		`{"mcpServers": {"a": {"command": "b"}}}`, `{"mcpServers": {"a": {"command": "a", "disabled": true}}}`,
		`{"mcpServers": {"a": {"command": "a", "env": {"KEY": "` + canary + `"}}}}`, `{"mcpServers": {"b": {"command": "a"}}}`,
	} {
		revision := file(text)
		if seen[revision] {
			t.Errorf("%s has the revision of another plan", text)
		}
		seen[revision] = true
	}
	_, err := m.Import(t.Context(), setup.ImportChoice{Revision: first, Servers: []string{"b"}})
	wantCode(t, err, gateway.CodeConflict)
}

// Two people import the same plan at once: its servers are added once.
func TestImportsOfOnePlanAddItsServersOnce(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.write(".cursor/mcp.json", `{"mcpServers": {"a": {"command": "a"}}}`)
	choice := setup.ImportChoice{Revision: m.plan(setup.Selection{}).Revision, Servers: []string{"a"}}
	var all sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		all.Go(func() { _, errs[i] = m.Import(context.Background(), choice) })
	}
	all.Wait()
	failed := 0
	for _, err := range errs {
		if err != nil {
			wantCode(t, err, gateway.CodeConflict)
			failed++
		}
	}
	if failed != len(errs)-1 || strings.Count(m.read(m.configFile()), "\n  a:") != 1 {
		t.Errorf("%d of %d failed, and the configuration is %s", failed, len(errs), m.read(m.configFile()))
	}
}

// All clients: a file that cannot be read is reported and keeps nobody else from
// being connected. A client that is named and cannot be connected changes nothing.
func TestConnectAllGoesOnAndNamedClientsAreAllOrNone(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	cursor := m.write(".cursor/mcp.json", `{"mcpServers": {"a": {"command": "a"}}}`)
	before := m.read(cursor)
	m.write(".gemini/settings.json", `{"mcpServers": {`)
	plan := m.plan(setup.Selection{From: []string{"cursor"}})
	if _, err := m.Import(t.Context(), setup.ImportChoice{Selection: setup.Selection{From: []string{"cursor"}}, Revision: plan.Revision, Servers: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Connect(t.Context(), setup.ConnectRequest{Clients: []string{"cursor", "gemini"}, Write: true}); err == nil || m.read(cursor) != before {
		t.Errorf("got %v, and the file is %s", err, m.read(cursor))
	}
	done, err := m.Connect(t.Context(), setup.ConnectRequest{Write: true})
	if err != nil || len(done.Files) != 2 || done.Files[0].State != setup.FileChanged || done.Files[1].State != setup.FileFailed || done.Files[1].Err == nil {
		t.Errorf("got %+v, %v", done, err)
	}
	undone, _, err := m.Undo(t.Context(), setup.UndoRequest{Client: "cursor"})
	if err != nil || len(undone) != 1 || undone[0].State != setup.UndoRestored || m.read(cursor) != before {
		t.Errorf("got %+v, %v, and the file is %s", undone, err, m.read(cursor))
	}
}

// An imported server gets no name of a source of genkan itself, such as an n8n instance.
func TestAnImportLeavesTheNamesOfGenkan(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	if err := os.WriteFile(m.configFile(), []byte("n8n: {name: flows, url: 'http://127.0.0.1:1', apiKey: k}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.write(".cursor/mcp.json", `{"mcpServers": {"flows": {"command": "a"}, "n8n": {"command": "b"}, "kb": {"command": "c"},
		"genkan": {"command": "d"}, "results": {"command": "e"}}}`)
	var names []string
	for _, s := range m.plan(setup.Selection{}).Servers {
		names = append(names, s.Name)
	}
	if want := []string{"flows-2", "n8n", "kb-2", "genkan-2", "results-2"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}
