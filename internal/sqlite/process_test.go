package sqlite

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/identity"
	"genkan/internal/testkit"
	"genkan/internal/upstream"
)

// The other process is this test binary, told its role.
const (
	roleVariable = "GENKAN_SQLITE_TEST_ROLE"
	pathVariable = "GENKAN_SQLITE_TEST_PATH"
)

func otherProcess(t testing.TB, binary, role, path string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), binary)
	c.Env = append(os.Environ(), roleVariable+"="+role, pathVariable+"="+path,
		"GORACE=atexit_sleep_ms=0") // the race detector lingers for a second otherwise
	return c
}

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// play is what the other process does. It reports on stdout.
func play(role, path string) int {
	ctx, logger := context.Background(), slog.New(slog.DiscardHandler)
	switch role {
	case "open":
		// Wait for the word, so that all begin together.
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		s, err := Open(ctx, path, logger)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		token, _, err := identity.NewToken("p"+strconv.Itoa(os.Getpid()), false, time.Now())
		if err == nil {
			err = s.AddToken(ctx, token)
		}
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			fmt.Println(err)
			return 1
		}
		return 0
	case "refused":
		s, err := Open(ctx, path, logger)
		if err == nil {
			fmt.Println("opened")
			_ = s.Close()
			return 0
		}
		fmt.Println(gateway.AsError(err).Code, gateway.AsError(err).Text())
		return 0
	case "sealed":
		if err := sealAndUnseal(ctx, path); err != nil {
			fmt.Println(err)
			return 1
		}
		return 0
	case "write":
		return writeForever(ctx, path, logger)
	case "create":
		return createForever(ctx, path, logger)
	}
	fmt.Println("unknown role", role)
	return 1
}

// writeForever writes until it is killed, and tells each write that was
// acknowledged.
func writeForever(ctx context.Context, path string, logger *slog.Logger) int {
	s, err := Open(ctx, path, logger)
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	var wg sync.WaitGroup
	for id := range 4 {
		wg.Go(func() {
			for round := 0; ; round++ {
				name := fmt.Sprintf("%d-%d-%d", os.Getpid(), id, round)
				list := upstream.SavedList{
					Fingerprint: name, Tools: bytes.Repeat([]byte(name), 500), SavedAt: time.Now(),
				}
				if err := s.SaveList(ctx, name, list); err != nil {
					fmt.Println("error", err)
					os.Exit(1)
				}
				fmt.Println("wrote", name)
			}
		})
	}
	wg.Wait()
	return 0
}

func TestProcessesOpenAFreshDirectoryAtOnce(t *testing.T) {
	t.Parallel()
	processes := testkit.Count(4, 6)
	for round := range testkit.Count(2, 5) {
		path := newPath(t)
		others := make([]*exec.Cmd, processes)
		outputs := make([]bytes.Buffer, processes)
		word := make([]func(), processes)
		for i := range others {
			others[i] = otherProcess(t, self(t), "open", path)
			others[i].Stdout = &outputs[i]
			in, err := others[i].StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			word[i] = func() { _ = in.Close() }
			if err := others[i].Start(); err != nil {
				t.Fatal(err)
			}
		}
		for i := range word {
			word[i]()
		}
		for i, other := range others {
			if err := other.Wait(); err != nil {
				t.Errorf("round %d: %v: %s", round, err, &outputs[i])
			}
		}
		s := openStore(t, path)
		tokens, err := s.Tokens(t.Context())
		if err != nil || len(tokens) != processes {
			t.Fatalf("round %d: %d tokens, want %d: %v", round, len(tokens), processes, err)
		}
		var applied int
		err = s.reader.QueryRowContext(t.Context(), "SELECT count(*) FROM schema_version").Scan(&applied)
		files, _ := migrations.ReadDir("migrations")
		if err != nil || applied != len(files)+1 { // goose counts from zero
			t.Errorf("round %d: %d migrations recorded, %v", round, applied, err)
		}
	}
}

// TestKilledBeforeWALMode: a process was killed while it wrote the first pages of
// the database. What it leaves is made here as SQLite leaves it: a copy of the
// files in the middle of a transaction.
func TestKilledBeforeWALMode(t *testing.T) {
	begun, path := filepath.Join(t.TempDir(), "begun.db"), newPath(t)
	db := raw(t, begun)
	for _, statement := range []string{
		"PRAGMA journal_mode = DELETE", "PRAGMA cache_size = 2", "BEGIN", "CREATE TABLE half (content BLOB)",
		"INSERT INTO half VALUES (zeroblob(100000))", // more than the cache holds, so it is in the file
	} {
		run(t, db, statement)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-journal"} {
		content, err := os.ReadFile(begun + suffix)
		if err != nil || len(content) == 0 {
			t.Fatalf("%d bytes of %q, %v", len(content), suffix, err)
		}
		if err := os.WriteFile(path+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, db, "ROLLBACK")
	if err := openStore(t, path).SaveList(t.Context(), "server", upstream.SavedList{Tools: []byte("[]"), SavedAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
}

func TestKilledWhileWriting(t *testing.T) {
	t.Parallel()
	cycles := testkit.Count(4, 20)
	path := newPath(t)
	acknowledged := map[string]bool{}
	for cycle := range cycles {
		other := otherProcess(t, self(t), "write", path)
		out, err := other.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		// A different moment each time, by the number of writes it got to.
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			kind, name, _ := strings.Cut(lines.Text(), " ")
			if kind != "wrote" {
				t.Fatal(lines.Text())
			}
			acknowledged[name] = true
			if n == 3+cycle*7%50 {
				_ = other.Process.Kill() // SIGKILL; what it told before is still read
			}
		}
		_ = other.Wait()

		s := openStore(t, path)
		for name := range acknowledged {
			list, found, err := s.LoadList(t.Context(), name)
			if err != nil || !found || !bytes.Equal(list.Tools, bytes.Repeat([]byte(name), 500)) {
				t.Fatalf("cycle %d: the acknowledged write %s is gone: %v", cycle, name, err)
			}
		}
		var verdict string
		if err := s.reader.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
			t.Fatalf("cycle %d: integrity %s, %v", cycle, verdict, err)
		}
		var rows int64
		if err := s.reader.QueryRowContext(t.Context(), "SELECT count(*) FROM tool_lists").Scan(&rows); err != nil {
			t.Fatal(err)
		}
		if sequence, err := s.ChangeSequence(t.Context()); err != nil || sequence != rows {
			t.Fatalf("cycle %d: %d rows, but the change sequence is %d, %v", cycle, rows, sequence, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d acknowledged writes survived %d kills", len(acknowledged), cycles)
}

// copySelf puts the test binary where another user can run it.
func copySelf(t testing.TB, dir string) string {
	t.Helper()
	content, err := os.ReadFile(self(t))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "other")
	if err := os.WriteFile(path, content, 0o755); err != nil { // another user runs it
		t.Fatal(err)
	}
	return path
}
