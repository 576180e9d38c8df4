package cli

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"genkan/internal/testkit/authserver"
)

// lock is the server of a script that wants a sign-in.
type lock struct {
	t    *testing.T
	auth *authserver.Server
}

type lockKey struct{}

func lockOf(ts *testscript.TestScript) *lock {
	l, ok := ts.Value(lockKey{}).(*lock)
	if !ok {
		ts.Fatalf("the script has no lock")
	}
	return l
}

func cmdLocked(ts *testscript.TestScript, _ bool, args []string) {
	o := authserver.Options{QuoteWhatWasSent: true, RegisterSecret: "client_secret_post"}
	for _, option := range args[1:] {
		switch option {
		case "byhand":
			o.NoRegistration, o.Clients = true, map[string]string{"me": "by-hand-s3cr3t"}
		case "refuses":
			o.DenyConsent = true
		default:
			ts.Fatalf("unknown option %s", option)
		}
	}
	l := lockOf(ts)
	l.auth = authserver.Start(l.t, o)
	ts.Setenv(args[0], l.auth.URL())
}

func cmdLockDoes(ts *testscript.TestScript, _ bool, args []string) {
	switch auth := lockOf(ts).auth; args[0] {
	case "expire":
		auth.Expire()
	case "forget":
		auth.Forget()
	default:
		ts.Fatalf("unknown: %s", args[0])
	}
}

func cmdPastes(ts *testscript.TestScript, neg bool, args []string) {
	genkan := ""
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if found, err := exec.LookPath(filepath.Join(dir, "genkan")); err == nil && genkan == "" {
			genkan = found
		}
	}
	cmd := exec.Command(genkan, append([]string{"login", "--no-browser"}, args...)...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "XDG_DATA_HOME", "GORACE", "LOCK", "UNLOCKED"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StderrPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		ts.Check(err)
		_, _ = ts.Stderr().Write([]byte(line))
		if address := strings.TrimSpace(line); strings.HasPrefix(address, "http") {
			back, err := lockOf(ts).auth.Visit(context.Background(), address)
			ts.Check(err)
			if neg {
				back = "http://127.0.0.1/callback?code=somebody-elses&state=x"
			}
			_, err = io.WriteString(in, back+"\n")
			ts.Check(err)
			break
		}
	}
	_, err = io.Copy(ts.Stderr(), lines)
	ts.Check(err)
	if failed := cmd.Wait() != nil; failed != neg {
		ts.Fatalf("genkan login failed: %v", failed)
	}
}

func cmdUnseen(ts *testscript.TestScript, neg bool, args []string) {
	secrets := lockOf(ts).auth.Secrets()
	if len(secrets) < 5 {
		ts.Fatalf("there are only %d secrets to look for", len(secrets))
	}
	for _, secret := range secrets {
		cmdNowhere(ts, neg, append([]string{secret}, args...))
	}
}

func TestBrowserCommands(t *testing.T) {
	t.Setenv("BROWSER", strings.Join([]string{"first --new %s", "second"}, string(filepath.ListSeparator)))
	got := browsers("https://x/?a=b&c=d")
	want := [][]string{{"first", "--new", "https://x/?a=b&c=d"}, {"second", "https://x/?a=b&c=d"}}
	for i, words := range want {
		if strings.Join(got[i], " ") != strings.Join(words, " ") {
			t.Errorf("got %q, want %q", got[i], words)
		}
	}
	if len(got) < 3 {
		t.Error("the system's own is missing")
	}
}

// Over SSH the browser would be on the wrong machine.
func TestHasBrowser(t *testing.T) {
	t.Setenv("DISPLAY", ":0")
	t.Setenv("BROWSER", "")
	t.Setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
	if hasBrowser() {
		t.Error("there is one over SSH")
	}
	t.Setenv("BROWSER", "lynx")
	if !hasBrowser() {
		t.Error("the one that was named is not used")
	}
}
