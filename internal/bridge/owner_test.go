//go:build unix

package bridge

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// serveOwner makes this process the owner of a data directory, who welcomes
// everybody and lets them go when they like to.
func serveOwner(t *testing.T, dataDir string, receive func(*Incoming)) *Owner {
	t.Helper()
	o, err := Claim(dataDir)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { o.Serve(Welcome{Version: "v1"}, receive) })
	t.Cleanup(func() {
		o.Release()
		serving.Wait()
	})
	return o
}

func welcome(v *Incoming) {
	if conn, err := v.Accept(); err == nil {
		_, _ = io.Copy(conn, conn)
	}
}

// A data directory has one owner. When it ends, another can follow, whatever files
// the first left behind.
func TestOneOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var owners atomic.Int64
	var claiming sync.WaitGroup
	claimed := make(chan *Owner, 20)
	for range cap(claimed) {
		claiming.Go(func() {
			switch o, err := Claim(dir); {
			case err == nil:
				owners.Add(1)
				claimed <- o
			case !errors.Is(err, ErrTaken):
				t.Error(err)
			}
		})
	}
	claiming.Wait()
	if owners.Load() != 1 {
		t.Fatalf("there are %d owners", owners.Load())
	}
	first := <-claimed
	if err := first.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	// As a crash does: the lock ends, and the files stay.
	first.listener.SetUnlinkOnClose(false)
	_ = first.listener.Close()
	_ = first.lock.Close()
	if _, err := os.Lstat(filepath.Join(dir, "run", "genkan.sock")); err != nil {
		t.Fatalf("this test leaves no stale socket: %v", err)
	}
	if _, _, err := Dial(t.Context(), dir, Hello{}); !errors.Is(err, ErrNobody) {
		t.Errorf("a stale socket was answered with %v", err)
	}
	serveOwner(t, dir, welcome)
	conn, w, err := Dial(t.Context(), dir, Hello{})
	if err != nil || w.PID != os.Getpid() || w.Version != "v1" {
		t.Fatalf("the second owner: %v, %v", w, err)
	}
	_ = conn.Close()
}

// Only the user can reach the socket, even if the data directory is open to all
// users.
func TestSocketIsPrivate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(dir, "run")
	if err := os.Mkdir(run, 0o755); err != nil {
		t.Fatal(err)
	}
	o := serveOwner(t, dir, welcome)
	for path, want := range map[string]os.FileMode{
		run:                               0o700 | os.ModeDir,
		filepath.Join(run, "genkan.sock"): 0o600 | os.ModeSocket,
		filepath.Join(run, "address"):     0o600,
		filepath.Join(run, "lock"):        0o600,
	} {
		if info, err := os.Lstat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
	// A joining process does not trust a folder that others have had access to.
	if err := os.Chmod(run, 0o750); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Dial(t.Context(), dir, Hello{}); err == nil || !strings.Contains(err.Error(), "open to other users") {
		t.Errorf("an open folder: %v", err)
	}
	o.Release()
	for _, path := range []string{"genkan.sock", "address"} {
		if _, err := os.Lstat(filepath.Join(run, path)); err == nil {
			t.Errorf("%s is left", path)
		}
	}
	// A link could lead anywhere.
	if err := os.RemoveAll(run); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), run); err != nil {
		t.Fatal(err)
	}
	if _, err := Claim(dir); err == nil {
		t.Error("a link was taken for a folder")
	}
}

// A path that no socket can have makes it go elsewhere, also for a process
// whose environment names other places.
func TestLongPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	runtimeDir := t.TempDir()
	short, err := os.MkdirTemp("", "g")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	t.Setenv("TMPDIR", short)
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(runtimeDir, "is", "not", "there"))
	o := serveOwner(t, dir, welcome)
	address, err := os.ReadFile(filepath.Join(dir, "run", "address"))
	if err != nil || !strings.HasPrefix(string(address), short) {
		t.Fatalf("the socket is at %s, %v", address, err)
	}
	place := filepath.Dir(string(address))
	if info, err := os.Lstat(place); err != nil || info.Mode() != 0o700|os.ModeDir {
		t.Errorf("its folder: %v, %v", info.Mode(), err)
	}
	t.Setenv("TMPDIR", runtimeDir)
	conn, _, err := Dial(t.Context(), dir, Hello{})
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	o.Release()
	if _, err := os.Lstat(place); err == nil {
		t.Error("the folder is left")
	}

	// When there is no place at all, it says so.
	t.Setenv("TMPDIR", filepath.Join(short, strings.Repeat("long", 30)))
	o, err = Claim(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Release()
	if err := o.Listen(t.Context()); err == nil || !strings.Contains(err.Error(), "too long for a socket") {
		t.Errorf("without a place: %v", err)
	}
}

// What is not a hello of this kind is refused or let go.
func TestHello(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	serveOwner(t, dir, func(v *Incoming) {
		if v.Hello.Version != "v1" {
			v.Refuse(RefusedVersion, "it is of version v1")
			return
		}
		if v.Hello.Dir != "/somewhere" || v.Hello.Only[0] != "a" || v.Hello.PID != os.Getpid() || v.Hello.Purpose != PurposeMCP {
			t.Errorf("it heard %+v", v.Hello)
		}
		welcome(v)
	})
	conn, _, err := Dial(t.Context(), dir, Hello{Version: "v1", Purpose: PurposeMCP, Dir: "/somewhere", Only: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintln(conn, "echo"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || line != "echo\n" {
		t.Errorf("after the welcome came %q, %v", line, err)
	}
	_ = conn.Close()

	var refused *RefusedError
	if _, _, err := Dial(t.Context(), dir, Hello{Version: "v2"}); !errors.As(err, &refused) || refused.Refusal != RefusedVersion || !strings.Contains(err.Error(), "it is of version v1") {
		t.Errorf("another version: %v", err)
	}
	raw := func(text string) string {
		conn, err := net.Dial("unix", filepath.Join(dir, "run", "genkan.sock"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, text)
		answer, _ := io.ReadAll(conn)
		return string(answer)
	}
	if got := raw(`{"genkan":99}` + "\n"); !strings.Contains(got, `"refusal":"protocol"`) {
		t.Errorf("another protocol: %q", got)
	}
	if got := raw("GET / HTTP/1.1\n"); got != "" {
		t.Errorf("no hello: %q", got)
	}
	if got := raw(strings.Repeat("x", maxHello+64<<10)); got != "" {
		t.Errorf("a long hello: %q", got)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Dial(canceled, dir, Hello{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// A background process that is asked to go leaves its place before it says so,
// and hears when the other one serves.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var first *Owner
	serves := make(chan struct{})
	first = serveOwner(t, dir, func(v *Incoming) {
		first.Release()
		conn, err := v.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.Copy(io.Discard, conn)
		close(serves)
	})
	second, err := TakeOver(t.Context(), dir, Hello{})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Release()
	select {
	case <-serves:
		t.Error("it heard too early")
	default:
	}
	if err := second.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-serves
}

// One that is no background process stays.
func TestTakeOverRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	serveOwner(t, dir, func(v *Incoming) { v.Refuse(RefusedPurpose, "it stays") })
	if _, err := TakeOver(t.Context(), dir, Hello{}); !errors.Is(err, ErrTaken) || !strings.Contains(err.Error(), "it stays") {
		t.Errorf("got %v", err)
	}
}

// However many want to join at the same moment, all join one owner.
func TestJoinTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var started atomic.Int64
	start := func(ctx context.Context) (string, error) {
		o, err := Claim(dir)
		if errors.Is(err, ErrTaken) {
			return Taken, nil
		}
		if err != nil {
			return "", err
		}
		started.Add(1)
		if err := o.Listen(ctx); err != nil {
			return "", err
		}
		done := make(chan struct{})
		go func() {
			o.Serve(Welcome{Version: "v1"}, welcome)
			close(done)
		}()
		t.Cleanup(func() {
			o.Release()
			<-done
		})
		return Ready, nil
	}
	var joining sync.WaitGroup
	for range 20 {
		joining.Go(func() {
			j := Joiner{DataDir: dir, Start: start}
			conn, err := j.Join(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			_ = conn.Close()
		})
	}
	joining.Wait()
	if started.Load() != 1 {
		t.Errorf("%d owners were started", started.Load())
	}
}

// Why nobody could be joined is told, not tried for ever.
func TestJoinFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := Joiner{DataDir: dir, Start: func(context.Context) (string, error) { return "", errors.New("no such luck") }}
	if _, err := j.Join(t.Context()); err == nil || err.Error() != "no such luck" {
		t.Errorf("got %v", err)
	}
	j.DataDir = filepath.Join(dir, "file", "below")
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Join(t.Context()); err == nil {
		t.Error("it joined somebody below a file")
	}
}

// The background process's word is waited for, and its silence is told from
// its end.
func TestLaunch(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"echo ready; exec sleep 0.01": Ready,
		"echo taken":                  Taken,
		"echo oops; exit 3":           `said "oops"`,
		"echo reason >&2; exit 3":     "ended at once",
	} {
		dir := t.TempDir()
		word, err := Launch{Command: []string{"/bin/sh", "-c", script}, DataDir: dir, Dir: dir}.Start(t.Context())
		if word != want && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %q, %v", script, word, err)
		}
		if log, err := os.ReadFile(LogFile(dir)); err != nil || strings.Contains(script, "reason") && string(log) != "reason\n" {
			t.Errorf("%s: the log is %q, %v", script, log, err)
		}
	}
	if _, err := (Launch{Command: []string{"/there/is/no/such"}, DataDir: t.TempDir()}).Start(t.Context()); err == nil {
		t.Error("what is not there was started")
	}
}

// Lines of a new process stay whole after a process that was killed while it wrote one.
func TestLogEndsAPartialLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, text := range []string{"a\nb", "c\n", ""} {
		log, err := OpenLog(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := log.WriteString(text); err != nil {
			t.Error(err)
		}
		_ = log.Close()
	}
	if text, err := os.ReadFile(LogFile(dir)); err != nil || string(text) != "a\nb\nc\n" {
		t.Errorf("the log is %q, %v", text, err)
	}
}

// A log that has become too long is shortened to its last lines, also while the
// process that writes it runs.
func TestLogIsTrimmed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o, err := Claim(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Release()
	synctest.Test(t, func(t *testing.T) {
		log, err := OpenLog(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = log.Close() }()
		write := func(size int, last string) {
			line := strings.Repeat("x", 99) + "\n"
			text := strings.Repeat(line, size/len(line)+1)[:size-len(last)-1] + "\n" + last
			if _, err := log.WriteString(text); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		var keeping sync.WaitGroup
		keeping.Go(func() { o.KeepLogShort(ctx, func(err error) { t.Error(err) }) })
		synctest.Wait()
		write(maxLog, "the last but one\n")
		time.Sleep(trimEvery + time.Second)
		if info, err := os.Stat(LogFile(dir)); err != nil || info.Size() != maxLog {
			t.Errorf("a log of %d bytes became %d, %v", maxLog, info.Size(), err)
		}
		write(100, "the last\n")
		time.Sleep(trimEvery)
		if text, err := os.ReadFile(LogFile(dir)); err != nil || len(text) > keptLog || len(text) < keptLog/2 ||
			!strings.HasPrefix(string(text), "xxx") || !strings.HasSuffix(string(text), "the last\n") {
			t.Errorf("a long log has %d bytes, %v", len(text), err)
		}
		// What is written later is appended.
		write(100, "later\n")
		if text, err := os.ReadFile(LogFile(dir)); err != nil || !strings.HasSuffix(string(text), "later\n") || !strings.Contains(string(text), "the last\n") || text[0] != 'x' {
			t.Errorf("then it has %d bytes, %v", len(text), err)
		}
		cancel()
		keeping.Wait()
	})
}

// An owner can tell whether a variable has its own value, and nothing else.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	e := FingerprintEnvironment([]string{"A=1", "EMPTY=", "=C:=odd", "B=1"})
	for _, c := range []struct {
		name, value string
		isSet, want bool
	}{
		{"A", "1", true, true},
		{"A", "2", true, false},
		{"A", "", false, false},
		{"EMPTY", "", true, true},
		{"EMPTY", "", false, false},
		{"NOT_SET", "", false, true},
		{"NOT_SET", "", true, false},
	} {
		if got := e.Has(c.name, c.value, c.isSet); got != c.want {
			t.Errorf("%s=%q, set %v: %v", c.name, c.value, c.isSet, got)
		}
	}
	if again := FingerprintEnvironment([]string{"A=1"}); again.Values["A"] == e.Values["A"] {
		t.Error("the same value looks the same in another hello")
	}
}
