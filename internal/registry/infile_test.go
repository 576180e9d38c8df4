package registry

import (
	"errors"
	"os"
	"strings"
	"testing"

	"genkan/internal/config"
	"genkan/internal/gateway"
)

const commented = `# mine
mcpServers:
  file: # by hand
    url: http://127.0.0.1:1/mcp
    headers:
      X-Api-Key: canary-f # literal
      X-Auth-Token: ${secret:kept}
  other:
    url: http://127.0.0.1:1/mcp
`

func (f *fixture) wantFile(want string) {
	f.t.Helper()
	if got, err := os.ReadFile(f.file()); err != nil || string(got) != want {
		f.t.Errorf("%v; the file is\n%s\nwant\n%s", err, got, want)
	}
}

// A server of the file is changed and removed there, and in force at once. Masked
// values stay as they are written, and new secrets go to the vault.
func TestServersOfTheFileAreChangedThere(t *testing.T) {
	t.Parallel()
	f := newFixture(t, commented)
	f.patch("file", `{"disabled":true}`)
	off := strings.Replace(commented, "${secret:kept}\n", "${secret:kept}\n    disabled: true\n", 1)
	f.wantFile(off)
	if !f.server("file").Disabled {
		t.Error("it is still on")
	}
	f.patch("file", `{"disabled":null}`)
	f.wantFile(commented)

	_, shown := f.listed("file")
	if err := f.ChangeServer(t.Context(), "file", []byte(shown), false); err != nil {
		t.Fatal(err)
	}
	f.wantFile(commented)
	f.patch("file", `{"headers":{"X-Auth-Token":"canary-n"},"url":"http://127.0.0.1:2/mcp"}`)
	changed := strings.Replace(commented, "X-Auth-Token: ${secret:kept}", `X-Auth-Token: "${secret:file.X-Auth-Token}"`, 1)
	changed = strings.Replace(changed, "url: http://127.0.0.1:1/mcp", `url: "http://127.0.0.1:2/mcp"`, 1)
	f.wantFile(changed)
	f.wantSecrets(map[string]string{"file.X-Auth-Token": "canary-n"})

	f.remove("file")
	f.wantFile("# mine\nmcpServers:\n  other:\n    url: http://127.0.0.1:1/mcp\n")
	f.wantSecrets(map[string]string{"file.X-Auth-Token": "canary-n"})
	f.remove("other")
	f.wantFile("# mine\nmcpServers: {}\n")
	if len(f.inForce().Servers) != 0 {
		t.Error("servers are left")
	}
}

// What is refused changes neither the file nor the vault, and says where the server
// is declared.
func TestRefusedChangesOfTheFile(t *testing.T) {
	t.Parallel()
	disable := func(f *fixture) error {
		return f.ChangeServer(f.t.Context(), "file", []byte(`{"disabled":true,"headers":{"X-New-Token":"canary-0123456789"}}`), true)
	}
	for name, c := range map[string]struct {
		before  func(f *fixture)
		change  func(f *fixture) error
		message string
	}{
		"read-only": {func(f *fixture) { _ = os.Chmod(f.file(), 0o400) }, disable, "genkan.yaml:3: that file is read-only"},
		"foreign":   {func(f *fixture) { f.opt.ForeignFile = true }, disable, "genkan.yaml:3: that file was given with --config"},
		"changed meanwhile": {
			func(f *fixture) { f.write(strings.Replace(commented, "canary-f", "canary-g", 1)) }, disable, "was changed meanwhile",
		},
		"broken meanwhile":  {func(f *fixture) { f.write("mcpServers: [") }, disable, "is not in order"},
		"removed meanwhile": {func(f *fixture) { f.write(emptyFile) }, disable, "was changed meanwhile"},
		"prefix in use": {
			func(*fixture) {}, func(f *fixture) error {
				return f.ChangeServer(f.t.Context(), "file", []byte(`{"prefix":"other"}`), true)
			},
			"would not be in order",
		},
		"not in force": {func(f *fixture) {
			f.opt.Apply = func([]config.StoredServer, func(*config.Config) error) error { return errors.New("no") }
		}, disable, "no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, commented)
			c.before(f)
			before, err := os.ReadFile(f.file())
			if err != nil {
				t.Fatal(err)
			}
			err = c.change(f)
			if e := gateway.AsError(err); e == nil || !strings.Contains(e.Error(), c.message) {
				t.Errorf("got %v", err)
			}
			f.wantFile(string(before))
			f.wantSecrets(nil)
		})
	}
}
