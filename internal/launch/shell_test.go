//go:build unix

package launch

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

// write makes a file with a mode, and the folders above it.
func write(t *testing.T, file, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// newLauncher is one that asks the login shell, and the log that it writes.
func newLauncher(t *testing.T) (*Launcher, *testkit.Buffer) {
	t.Helper()
	log := &testkit.Buffer{}
	l := New(Options{Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	l.AskLoginShell(true)
	t.Cleanup(l.Close)
	return l, log
}

// atDesktop is what a program sees that a desktop has started: a PATH with
// little in it, and a home.
func atDesktop(t *testing.T, shell string) (home string) {
	t.Helper()
	home = t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("PATH", "/usr/bin:/bin")
	t.Setenv("SHELL", shell)
	return home
}

// Shells that are here say the PATH that their start files make, whatever else
// these do.
func TestThePathOfTheLoginShell(t *testing.T) {
	for name, test := range map[string]struct{ shell, file, script string }{
		"bash":                  {"bash", ".bash_profile", `export PATH="$HOME/tools:$PATH"`},
		"bash for its terminal": {"bash", ".bash_profile", `case $- in *i*) PATH="$PATH:$HOME/tools";; esac`},
		"dash":                  {"dash", ".profile", `PATH=$HOME/tools:$PATH; export PATH`},
		"sh":                    {"sh", ".profile", `PATH=$HOME/tools:$PATH; export PATH`},
		"noise":                 {"bash", ".bash_profile", `echo welcome; echo oops >&2; printf "no newline"; export PATH="$HOME/tools:$PATH"`},
		"trace":                 {"bash", ".bash_profile", `exec 2>&1; set -xv; export PATH="$HOME/tools:$PATH"`},
		"reads":                 {"bash", ".bash_profile", `read -r answer; PATH="$HOME/tools:$PATH"`},
		"something stays":       {"bash", ".bash_profile", `sleep 600 & export PATH="$HOME/tools:$PATH"`},
		"told why":              {"bash", ".bash_profile", `if [ "$GENKAN_RESOLVING_PATH" = 1 ] && [ "$TERM" = dumb ]; then PATH="$HOME/tools:$PATH"; fi`},
		"no secrets":            {"bash", ".bash_profile", `if [ -z "$CANARY" ]; then PATH="$HOME/tools:$PATH"; fi`},
	} {
		t.Run(name, func(t *testing.T) {
			shell, err := exec.LookPath(test.shell)
			if err != nil {
				t.Skipf("there is no %s", test.shell)
			}
			home := atDesktop(t, shell)
			t.Setenv("CANARY", "secret")
			write(t, home+"/"+test.file, test.script+"\n", 0o600)
			write(t, home+"/tools/genkan-tool", "#!/bin/sh\n", 0o700)
			l, log := newLauncher(t)
			file, env, err := l.locate(t.Context(), Command{Name: "genkan-tool"})
			if err != nil || file != home+"/tools/genkan-tool" {
				t.Fatalf("found %q: %v\n%s", file, err, log)
			}
			path := lookup("linux", env, "PATH")
			if !strings.HasPrefix(path, "/usr/bin:/bin:") || !strings.Contains(path, home+"/tools") {
				t.Errorf("its PATH is %s", path)
			}
		})
	}
}

// What is found in our own PATH does not need the shell, and nobody asks it;
// what was learnt for another is of use, though.
func TestTheShellIsAskedOnlyWhenNeeded(t *testing.T) {
	home := atDesktop(t, "")
	shell := home + "/shell"
	t.Setenv("SHELL", shell)
	write(t, shell, "#!/bin/sh\necho asked >> $HOME/asked\nexec /bin/sh \"$@\"\n", 0o700)
	write(t, home+"/.profile", "PATH=$PATH:$HOME/tools\n", 0o600)
	write(t, home+"/tools/genkan-tool", "#!/bin/sh\n", 0o700)
	write(t, home+"/mine/genkan-mine", "#!/bin/sh\n", 0o700)
	write(t, home+"/.local/bin/genkan-usual", "#!/bin/sh\n", 0o700)
	l, log := newLauncher(t)
	asked := func() int { return len(testkit.Lines(t, home+"/asked")) }
	pathFor := func(command Command) string {
		t.Helper()
		_, env, err := l.locate(t.Context(), command)
		if err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
		return lookup("linux", env, "PATH")
	}
	mine := map[string]gateway.Secret{"PATH": gateway.Secret(home + "/mine")}

	if path := pathFor(Command{Name: "sh"}); !strings.HasPrefix(path, "/usr/bin:/bin") || !strings.Contains(path, home+"/.local/bin") {
		t.Errorf("PATH is %s", path)
	}
	pathFor(Command{Name: "/no/such/file"}) // which says where it is
	if path := pathFor(Command{Name: "genkan-mine", Env: mine}); path != home+"/mine" {
		t.Errorf("a declared PATH became %s", path)
	}
	if asked() != 0 {
		t.Fatal("the shell was asked for nothing")
	}
	pathFor(Command{Name: "genkan-tool"})
	pathFor(Command{Name: "genkan-usual"})
	if path := pathFor(Command{Name: "sh"}); !strings.Contains(path, home+"/tools") {
		t.Errorf("PATH is %s", path)
	}
	if asked() != 1 {
		t.Errorf("the shell was asked %d times", asked())
	}
	l.AskLoginShell(true) // as a reload does
	pathFor(Command{Name: "genkan-tool"})
	if asked() != 2 {
		t.Errorf("the shell was asked %d times", asked())
	}
	l.AskLoginShell(false)
	_, _, err := l.locate(t.Context(), Command{Name: "genkan-tool"})
	if err == nil || !strings.Contains(err.Error(), `"genkan-tool" was not found; install it, or give its full path. Looked in the PATH of genkan and in the usual folders: `) {
		t.Errorf("got %v", err)
	}
	if asked() != 2 {
		t.Error("the shell was asked although it must not be")
	}
}

// A shell that does not answer leaves us with our own PATH and one line in the
// log, however many ask.
func TestAShellThatDoesNotAnswer(t *testing.T) {
	for name, test := range map[string]struct{ script, want string }{
		"fails":          {"exit 3", "did not print its PATH"},
		"says nothing":   {"cat", "did not print its PATH"},
		"is not one":     {"", "exec format error"},
		"prints and on":  {"exec yes", "did not print its PATH"},
		"sends no marks": {"echo $PATH", "did not print its PATH"},
	} {
		t.Run(name, func(t *testing.T) {
			home := atDesktop(t, "")
			t.Setenv("SHELL", home+"/shell")
			if test.script != "" {
				test.script = "#!/bin/sh\n" + test.script
			}
			write(t, home+"/shell", test.script+"\n", 0o700)
			write(t, home+"/.local/bin/genkan-usual", "#!/bin/sh\n", 0o700)
			l, log := newLauncher(t)
			for range 3 {
				_, _, err := l.locate(t.Context(), Command{Name: "genkan-nowhere"})
				if err == nil || !strings.Contains(err.Error(), "the login shell "+home+"/shell did not say its PATH") ||
					!strings.Contains(err.Error(), "folders (/usr/bin, /bin, ") || !strings.Contains(err.Error(), home+"/.local/bin") {
					t.Errorf("got %v", err)
				}
			}
			if _, _, err := l.locate(t.Context(), Command{Name: "genkan-usual"}); err != nil {
				t.Error(err)
			}
			if text := log.String(); strings.Count(text, "login shell") != 1 || !strings.Contains(text, test.want) {
				t.Errorf("the log:\n%s", text)
			}
		})
	}
}

// A shell that hangs is not waited for by those who give up, and goes with us.
func TestAShellThatHangs(t *testing.T) {
	home := atDesktop(t, "")
	t.Setenv("SHELL", home+"/shell")
	write(t, home+"/shell", "#!/bin/sh\ntrap '' TERM HUP INT\necho $$ >> $HOME/pids\nsleep 600 &\necho $! >> $HOME/pids\nwait\n", 0o700)
	l, _ := newLauncher(t)
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, _, err := l.locate(ctx, Command{Name: "genkan-nowhere"})
		ended <- err
	}()
	var pids []int
	testkit.Eventually(t, func() bool { pids = testkit.Pids(t, home+"/pids"); return len(pids) == 2 }, "the shell runs")
	cancel(enough)
	if err := <-ended; !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	l.Close()
	testkit.Eventually(t, func() bool { return !testkit.Alive(pids[0]) && !testkit.Alive(pids[1]) }, "the shell is gone")
	if _, _, err := l.locate(t.Context(), Command{Name: "genkan-nowhere"}); err == nil {
		t.Error("found")
	}
}

func TestWhichShell(t *testing.T) {
	users := t.TempDir() + "/users"
	write(t, users, "root:x:0:0::/root:/bin/sh\nann:x:7:7:Ann,,:/a:/usr/bin/fish\nweb:x:8:8::/w:/usr/sbin/nologin\nbroken\n", 0o600)
	for name, test := range map[string]struct {
		goos, shell string
		uid         int
		want        string
	}{
		"as the environment says":    {"linux", "/bin/zsh", 7, "/bin/zsh"},
		"as the user database says":  {"linux", "", 7, "/usr/bin/fish"},
		"a user without a shell":     {"linux", "", 8, ""},
		"an environment without one": {"linux", "/bin/false", 7, ""},
		"nobody knows":               {"linux", "", 9, ""},
		"nobody knows, on a mac":     {"darwin", "", 501, "/bin/zsh"},
		"not a full path":            {"linux", "zsh", 7, ""},
		"never on windows":           {"windows", "/usr/bin/bash", 7, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := loginShell(test.goos, []string{"SHELL=" + test.shell}, test.uid, users); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// How each kind of shell is asked.
func TestShellArguments(t *testing.T) {
	for shell, want := range map[string]string{
		"/bin/bash":               `-l|-i|-c|printf '%s' "@${PATH}@"`,
		"/opt/homebrew/bin/zsh":   `-l|-i|-c|printf '%s' "@${PATH}@"`,
		"/usr/bin/fish":           `-l|-i|-c|printf '%s' "@"(string join : $PATH)"@"`,
		"/bin/tcsh":               `-i|-c|printf '%s' "@${PATH}@"`,
		"/usr/bin/nu":             `-l|-i|-c|print --no-newline $"@($env.PATH | str join ':')@"`,
		"/usr/local/bin/xonsh":    `-l|-i|-c|print("@" + ":".join($PATH) + "@", end="")`,
		"/usr/bin/pwsh":           `-Login|-Command|[Console]::Write("@$($env:PATH)@")`,
		"/usr/bin/something-else": `-l|-i|-c|printf '%s' "@${PATH}@"`,
	} {
		if got := strings.Join(shellArguments(shell, "@"), "|"); got != want {
			t.Errorf("%s: %s\nwant %s", shell, got, want)
		}
	}
}
