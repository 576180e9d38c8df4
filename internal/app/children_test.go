//go:build linux

package app

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"genkan/internal/testkit"
)

// A command that only the login shell knows is found; the shell is not asked
// when there is nothing to find, or when it must not be.
func TestACommandOfTheLoginShell(t *testing.T) {
	home := t.TempDir()
	script := func(file, text string) string {
		t.Helper()
		file = filepath.Join(home, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return file
	}
	t.Setenv("HOME", home)
	t.Setenv("SHELL", script("shell", "#!/bin/sh\necho asked >> $HOME/asked\nexec /bin/sh \"$@\"\n"))
	script(".profile", "PATH=$PATH:$HOME/tools\n")
	full := child(t)
	script("tools/genkan-test-server", "#!/bin/sh\nexec "+full["command"].(string)+" \"$@\"\n")
	asked := func() int { return len(testkit.Lines(t, filepath.Join(home, "asked"))) }

	near := with(child(t), conf{})
	far := with(full, conf{"command": "genkan-test-server"})
	h := openHouse(t, with(servers(conf{"near": near}), conf{"loginShell": true}))
	h.waitReady("near")
	if asked() != 0 {
		t.Error("the login shell was asked although every command was found")
	}
	h.write(with(servers(conf{"near": near, "far": far}), conf{"loginShell": false}))
	if err := h.Reload(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, func() bool {
		return strings.Contains(h.server("far").Problem, `"genkan-test-server" was not found; install it`)
	}, "it is not found without the shell")
	if asked() != 0 {
		t.Error("the login shell was asked although it must not be")
	}
	h.write(servers(conf{"near": near, "far": far}))
	if err := h.Reload(); err != nil {
		t.Fatal(err)
	}
	h.waitReady("far")
	if asked() != 1 {
		t.Errorf("the login shell was asked %d times", asked())
	}
}

// A container outlives a genkan that is killed, whose guard knows only of
// processes; the next one removes it. A genkan that ends does so by itself.
func testContainersOfAKilledGenkan(t *testing.T, path string) {
	d := testkit.StandInForDocker(t)
	server := child(t)
	boxed := with(server, conf{
		"command": filepath.Join(d.Dir, "docker"),
		"args":    append([]string{"run", "-i", "image", server["command"].(string)}, server["args"].([]string)...),
	})
	dir := t.TempDir()
	killed := startProcessIn(t, path, dir, servers(conf{"boxed": boxed}))
	killed.waitReady("boxed")
	if err := killed.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-killed.ended
	left := d.Containers()
	if len(left) != 1 {
		t.Fatalf("there are %v", left)
	}
	next := startProcessIn(t, path, dir, servers(conf{"boxed": boxed}))
	next.waitReady("boxed")
	now := d.Containers()
	for name := range left {
		if _, still := now[name]; still || len(now) != 1 {
			t.Errorf("there were %v, and are %v", left, now)
		}
	}
	if err := next.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-next.ended
	if left := d.Containers(); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

// A command that is no MCP server says what it is doing; what it printed is
// for admins, because it can be anything.
func TestAStartingServerInREST(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{"odd": conf{
		"command": "/bin/sh", "args": []string{"-c", "echo 'Password for ann:' >&2; while read -r line; do :; done"},
	}}))
	seen := func(path string) string {
		_, text := h.request(http.MethodGet, path, "", nil)
		return text
	}
	for _, path := range []string{"/v1/servers", "/v1/servers/odd"} {
		testkit.Eventually(t, func() bool {
			text := seen(path)
			return strings.Contains(text, `"state":"starting"`) && strings.Contains(text, "has not answered `initialize` yet; it last printed: Password for ann:")
		}, "an admin sees it at %s", path)
	}
	_, other, err := h.tokens.Add(t.Context(), "other", false)
	if err != nil {
		t.Fatal(err)
	}
	h.token = other.Reveal()
	for _, path := range []string{"/v1/servers", "/v1/servers/odd"} {
		if text := seen(path); !strings.Contains(text, "has not answered `initialize` yet") || strings.Contains(text, "Password") {
			t.Errorf("others see at %s: %s", path, text)
		}
	}
}
