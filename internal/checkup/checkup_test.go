package checkup_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

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
