package checkup_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"genkan/internal/api/client"
	"genkan/internal/checkup"
	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/doctor"
	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// vault has no secrets but these.
type vault []string

func (v vault) Names(context.Context, string) ([]string, error) { return slices.Clone(v), nil }
func (vault) KeyPlace() string                                  { return "file" }

// options examine a data directory with a configuration, where no genkan runs.
func options(t *testing.T, yaml string) checkup.Options {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	dir := t.TempDir()
	file := filepath.Join(dir, "genkan.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return checkup.Options{
		Version: "v1", DataDir: dir, UsualDataDir: dir, ConfigFile: file,
		LoadConfig: func(context.Context) (*config.Config, error) {
			return config.Load(file, true, config.Sources{}, config.Flags{})
		},
		AdminTokenFile: filepath.Join(dir, "admin-token"), Database: filepath.Join(dir, "genkan.db"),
		IndexDir: filepath.Join(dir, "index"), ImportsFile: filepath.Join(dir, "imports.json"),
		Backups: clients.Backups{Dir: filepath.Join(dir, "backups")}, Vault: vault{"secret/GITHUB", "backup/1"},
		SecretPrefix: "secret/", SignInPrefix: "signin/",
		Join: func(context.Context, bool) checkup.Joined { return checkup.Joined{} },
	}
}

func gather(t *testing.T, opt checkup.Options) doctor.Facts {
	t.Helper()
	got, err := checkup.Gather(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return got.Facts
}

func TestFactsWithoutARunningGenkan(t *testing.T) {
	opt := options(t, `
mcpServers:
  gone: {command: genkan-no-such-command}
  off: {command: genkan-no-such-command, disabled: true}
  lacking: {command: sh, env: {KEY: "${NO_SUCH_VARIABLE}"}}
`)
	asked := false
	opt.Join = func(_ context.Context, enabled bool) checkup.Joined {
		asked = enabled
		return checkup.Joined{}
	}
	facts := gather(t, opt)
	if problem := facts.Config.Problem; problem.Format != "" {
		t.Fatal(problem.In(nil))
	}
	if !asked {
		t.Error("a genkan is not asked for, though servers are enabled")
	}
	if facts.Data.Secrets != 1 || facts.Data.Key != "file" {
		t.Errorf("%d secrets with the key in %q, want the one that people stored", facts.Data.Secrets, facts.Data.Key)
	}
	if facts.Flags != "" {
		t.Errorf("commands need %q, for the usual data directory", facts.Flags)
	}
	found := map[string]doctor.Server{}
	for _, s := range facts.Servers {
		found[s.Name] = s
	}
	if s := found["gone"]; s.Known || s.Found || s.Command == "" {
		t.Errorf("a command that does not exist: %+v", s)
	}
	if s := found["off"]; s.State != "disabled" || s.Command != "" {
		t.Errorf("a disabled server: %+v", s)
	}
	if s := found["lacking"]; !s.Found || len(s.Missing) != 1 || s.Missing[0].Name != "NO_SUCH_VARIABLE" {
		t.Errorf("a server without its variable: %+v", s)
	}
}

func TestAnotherDataDirectoryIsNamedInCommands(t *testing.T) {
	opt := options(t, "")
	opt.UsualDataDir, opt.ConfigNamed = t.TempDir(), true
	if flags := gather(t, opt).Flags; flags != " --data "+doctor.Quote(opt.DataDir)+" --config "+doctor.Quote(opt.ConfigFile) {
		t.Errorf("commands need %q", flags)
	}
}

func TestADataDirectoryThatIsAFile(t *testing.T) {
	opt := options(t, "")
	opt.DataDir = opt.ConfigFile
	opt.Join = func(context.Context, bool) checkup.Joined {
		t.Error("a genkan is started there")
		return checkup.Joined{}
	}
	facts := gather(t, opt)
	if facts.Data.Dir.Problem.Format == "" || !facts.Config.Unread {
		t.Errorf("the directory %+v, the configuration %+v", facts.Data.Dir, facts.Config)
	}
}

func TestAMistakeInTheConfigurationIsAFact(t *testing.T) {
	facts := gather(t, options(t, "mcpServers: 7"))
	if facts.Config.Problem.Format == "" {
		t.Error("the mistake is not reported")
	}
	if facts.Port.Listen != "" {
		t.Errorf("the port %s of an unreadable configuration is reported", facts.Port.Listen)
	}
}

func TestAPortThatAnotherProgramHolds(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	go func() {
		for {
			conn, err := other.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	facts := gather(t, options(t, "listen: "+other.Addr().String()))
	if facts.Port.Holder != "other" {
		t.Errorf("the port is held by %q", facts.Port.Holder)
	}
}

func TestACanceledCheckup(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := checkup.Gather(ctx, options(t, "")); gateway.AsError(err).Code != gateway.CodeCanceled {
		t.Errorf("got %v", err)
	}
}

func TestCallable(t *testing.T) {
	for listen, want := range map[string]string{
		"0.0.0.0:3000": "127.0.0.1:3000", ":3000": "127.0.0.1:3000", "[::]:3000": "127.0.0.1:3000",
		"127.0.0.1:80": "127.0.0.1:80", "example.org:443": "example.org:443",
	} {
		if got := checkup.Callable(listen); got != want {
			t.Errorf("%s is called at %s, want %s", listen, got, want)
		}
	}
}

// The running genkan is asked for all servers at once, and for a sign of life of each.
func TestServersAreAskedForAtOnce(t *testing.T) {
	opt := options(t, "{}")
	var mu sync.Mutex
	asked := map[string]int{}
	running := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.URL.RequestURI()]++
		output := ""
		switch {
		case r.URL.Path != "/v1/servers":
			http.Error(w, "{}", http.StatusNotFound)
			return
		case r.URL.Query().Get("details") == "true":
			output = `,"output":"out of paper\n"`
		}
		_, _ = fmt.Fprintf(w, `{"servers":[{"name":"a","state":"down"%[1]s},{"name":"b","state":"down"%[1]s},{"name":"c","state":"ready"}]}`, output)
	}))
	t.Cleanup(running.Close)
	var dialer net.Dialer
	remote := client.NewOver(func(ctx context.Context) (net.Conn, error) {
		return dialer.DialContext(ctx, "tcp", running.Listener.Addr().String())
	}, "token")
	t.Cleanup(remote.Close)
	opt.Join = func(context.Context, bool) checkup.Joined { return checkup.Joined{Remote: remote} }
	opt.Tools = func() ([]client.Tool, error) { return []client.Tool{{Server: "c", Name: "c__t"}}, nil }
	cursor := filepath.Join(os.Getenv("HOME"), ".cursor", "mcp.json")
	entries := `{"mcpServers":{"b":{"command":"genkan","args":["stdio","--only","b"]},"c":{"command":"genkan","args":["stdio","--only","c"]}}}`
	if err := errors.Join(os.Mkdir(filepath.Dir(cursor), 0o700), os.WriteFile(cursor, []byte(entries), 0o600)); err != nil {
		t.Fatal(err)
	}
	facts := gather(t, opt)
	// Each entry also shows read_result.
	if len(facts.Clients) != 1 || facts.Clients[0].Tools != 3 {
		t.Errorf("clients %+v", facts.Clients)
	}
	for _, s := range facts.Servers {
		if s.State == client.StateDown && !slices.Equal(s.Output, []string{"out of paper"}) || s.Name == "c" && !slices.Equal(s.Undescribed, []string{"c__t"}) {
			t.Errorf("%+v", s)
		}
	}
	of := 0
	for path, times := range asked {
		if strings.HasPrefix(path, "/v1/servers") || strings.HasPrefix(path, "/v1/tools") {
			of += times
		}
	}
	if len(facts.Servers) != 3 || of != 3 || asked["/v1/servers/c/ping?timeoutMillis=5000"] != 1 {
		t.Errorf("%d servers, asked %v", len(facts.Servers), asked)
	}
}
