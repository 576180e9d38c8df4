//go:build linux

package launch

import (
	"io"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// The tests here run a stand-in for docker; see testkit.StandInForDocker.

func dockerLauncher(t *testing.T, dataDir string) (*Launcher, *testkit.Buffer) {
	t.Helper()
	log := &testkit.Buffer{}
	l := New(Options{DataDir: dataDir, Home: "home-of-" + dataDir, Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	t.Cleanup(func() {
		l.Close()
		if t.Failed() {
			t.Logf("the log:\n%s", log)
		}
	})
	return l, log
}

func start(t *testing.T, l *Launcher, command string, args ...string) *Child {
	t.Helper()
	c, err := l.Start(t.Context(), Command{Server: "git", Name: command, Args: args, Errors: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.End)
	return c
}

// running waits until there are containers, and returns their names.
func running(t *testing.T, d *testkit.Docker, count int) []string {
	t.Helper()
	testkit.Eventually(t, func() bool { return len(d.Containers()) == count }, "%d containers run", count)
	return slices.Sorted(maps.Keys(d.Containers()))
}

// A container goes with the process that ran it, however that ends.
func TestAContainerGoesWithItsClient(t *testing.T) {
	for name, end := range map[string]func(*Child){
		"it is ended":        (*Child).End,
		"its client crashes": func(c *Child) { _ = c.cmd.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			d := testkit.StandInForDocker(t)
			l, _ := dockerLauncher(t, t.TempDir())
			c := start(t, l, d.Dir+"/docker", "--context", "lab", "run", "-i", "--rm", "image", "cat")
			called := running(t, d, 1)[0]
			if !regexp.MustCompile(`^genkan-git-[a-z2-7]{10}$`).MatchString(called) {
				t.Errorf("it is called %s", called)
			}
			pid := d.Containers()[called]
			end(c)
			testkit.Eventually(t, func() bool { return len(d.Containers()) == 0 && !testkit.Alive(pid) }, "the container is gone")
			l.Close()
			calls := d.Calls()
			if last := calls[len(calls)-1]; last != "--context lab rm --force --volumes "+called {
				t.Errorf("it was removed with: docker %s", last)
			}
		})
	}
}

// Closing waits for what is being removed: nothing is left when genkan ends.
func TestClosingWaitsForContainers(t *testing.T) {
	d := testkit.StandInForDocker(t)
	dir := t.TempDir()
	l, _ := dockerLauncher(t, dir)
	for range 3 {
		start(t, l, d.Dir+"/docker", "run", "-i", "image", "cat").End()
	}
	l.Close()
	if left := d.Containers(); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	if locks, err := os.ReadDir(dir + "/containers"); err != nil || len(locks) > 0 {
		t.Errorf("locks are left: %v, %v", locks, err)
	}
}

// What the user has named is stopped by that name, and the next one of that
// name waits until it is free.
func TestAContainerWithANameOfTheUsers(t *testing.T) {
	d := testkit.StandInForDocker(t)
	l, _ := dockerLauncher(t, t.TempDir())
	for range 3 {
		c := start(t, l, d.Dir+"/docker", "run", "--name", "mine", "-i", "image", "cat")
		if names := running(t, d, 1); names[0] != "mine" {
			t.Fatalf("it is called %v", names)
		}
		c.End()
		if code := c.cmd.ProcessState.ExitCode(); code != 0 {
			t.Fatalf("it ended with %d", code)
		}
	}
	l.Close()
	calls := strings.Join(d.Calls(), "\n")
	if strings.Count(calls, "stop -t 2 mine") != 3 || strings.Contains(calls, "rm ") {
		t.Errorf("the calls:\n%s", calls)
	}
}

// What a killed genkan has left is removed when the server starts again: of
// this data directory, of this server, and of a genkan that is gone.
func TestContainersOfAKilledGenkan(t *testing.T) {
	d := testkit.StandInForDocker(t)
	dir := t.TempDir()
	killed, _ := dockerLauncher(t, dir)
	alive, _ := dockerLauncher(t, dir)
	elsewhere, _ := dockerLauncher(t, t.TempDir())
	start(t, killed, d.Dir+"/docker", "run", "-i", "image", "cat")
	dead := running(t, d, 1)[0]
	start(t, alive, d.Dir+"/docker", "run", "-i", "image", "cat")
	start(t, elsewhere, d.Dir+"/docker", "run", "-i", "image", "cat")
	kept := slices.DeleteFunc(running(t, d, 3), func(name string) bool { return name == dead })
	_ = killed.lock.Close() // as its end does

	l, log := dockerLauncher(t, dir)
	start(t, l, d.Dir+"/docker", "run", "-i", "image", "cat")
	names := running(t, d, 3)
	if slices.Contains(names, dead) || !slices.Contains(names, kept[0]) || !slices.Contains(names, kept[1]) {
		t.Errorf("there are %v; %s should be gone, %v stay", names, dead, kept)
	}
	if !strings.Contains(log.String(), "containers of a genkan that was killed are removed") {
		t.Error("nothing was said of it")
	}
	before := len(d.Calls())
	start(t, l, d.Dir+"/docker", "run", "-i", "image", "cat")
	if calls := d.Calls()[before:]; slices.ContainsFunc(calls, func(call string) bool { return strings.HasPrefix(call, "ps") }) {
		t.Error("they were looked for again")
	}
}

// Where docker does not answer, a server ends all the same.
func TestADockerThatFails(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/docker", "#!/bin/sh\n[ \"$1\" = run ] && exec cat\necho cannot connect >&2\nexit 1\n", 0o700)
	l, log := dockerLauncher(t, dir)
	c := start(t, l, dir+"/docker", "run", "image")
	c.End()
	l.Close()
	if text := log.String(); !strings.Contains(text, "cannot connect") || strings.Contains(text, "level=WARN") || strings.Contains(text, "level=ERROR") {
		t.Errorf("the log:\n%s", text)
	}
}
