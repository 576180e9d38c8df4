package history

import (
	"bufio"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"genkan/internal/testkit"
)

var kills = flag.Int("crash.cycles", testkit.Count(2, 10), "how often a process is killed while it writes the history")

// writerEnv names the folder that this process is to write to until it is killed.
const writerEnv = "GENKAN_TEST_HISTORY"

// writeUntilKilled adds calls from several goroutines as fast as it can, and says ten
// times a second how many it has added a second ago at least.
func writeUntilKilled(dir string) {
	run := os.Getenv(writerEnv + "_RUN")
	w := NewWriter(Options{Dir: dir, Run: run, Key: goodKey, Log: slog.New(slog.DiscardHandler)})
	body := strings.Repeat("body ", 400)
	numbers := make(chan int)
	for range 4 {
		go func() {
			for n := range numbers {
				e := call(run, n)
				e.Started, e.Caller = time.Now(), run
				w.Add(e, Bodies{Request: []byte(strconv.Itoa(n) + " " + body[:n%len(body)]), Response: []byte(`{}`)}, false)
			}
		}()
	}
	type mark struct {
		at time.Time
		n  int
	}
	var marks []mark
	for n := 1; ; n++ {
		numbers <- n
		if n%20 != 0 {
			continue
		}
		time.Sleep(2 * time.Millisecond) // the load of a busy gateway, not a flood that is dropped
		marks = append(marks, mark{time.Now(), n})
		for len(marks) > 1 && time.Since(marks[1].at) > time.Second {
			marks = marks[1:]
		}
		if time.Since(marks[0].at) > time.Second {
			fmt.Println(marks[0].n)
		}
	}
}

// A process that is killed loses at most the calls of its last second. Nothing that is
// damaged is shown, and others go on in the same folder.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "calls")
	random := rand.New(rand.NewPCG(1, 2))
	shown := 0
	for cycle := range *kills {
		run := fmt.Sprintf("RUN%d", cycle)
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), writerEnv+"="+dir, writerEnv+"_RUN="+run)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		safe := 0
		for range 1 + random.IntN(10) {
			if !lines.Scan() {
				t.Fatalf("the process ended: %v", lines.Err())
			}
			if safe, err = strconv.Atoi(lines.Text()); err != nil {
				t.Fatal(err)
			}
		}
		_ = cmd.Process.Kill()
		for lines.Scan() { // what it still said before it ended
			safe, _ = strconv.Atoi(lines.Text())
		}
		_ = cmd.Wait()

		r := NewReader(dir, goodKey)
		kept := map[int]bool{}
		q := Query{Caller: run, Limit: MaxLimit}
		for {
			page, err := r.List(t.Context(), q, asIs)
			if err != nil {
				t.Fatal(err)
			}
			for i, e := range page.Calls {
				of, n, ok := splitID(e.ID)
				if want := call(of, int(n)); !ok || of != run || e.Caller != run || e.Took != want.Took || e.Tool != want.Tool {
					t.Fatalf("shown: %+v", e)
				}
				b, err := r.open(t.Context(), page.sealed[i])
				if err != nil || !strings.HasPrefix(string(b.Request), strconv.Itoa(int(n))+" ") {
					t.Fatalf("%s has %q, %v", e.ID, b.Request, err)
				}
				kept[int(n)] = true
			}
			if q.After = page.Next; page.Next == "" {
				break
			}
		}
		for n := 1; n <= safe; n++ {
			if !kept[n] {
				t.Fatalf("cycle %d: call %d of %d is missing; it was made a second before the kill", cycle, n, safe)
			}
		}
		shown += len(kept)
		if err := Prune(dir, Keep{Bytes: 20 << 20}, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, %d calls kept", *kills, shown)
}
