package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"genkan/internal/jsonrpc"
)

// TestMain plays the roles too: in tests, this binary is what the harness
// starts.
func TestMain(m *testing.M) {
	if code, ok := runRole(os.Args[1:]); ok {
		os.Exit(code)
	}
	goleak.VerifyTestMain(m)
}

// tinyScale is enough to see that every part works.
var tinyScale = scale{
	name: "tiny", rounds: 1, small: 32, large: 16, attacks: 1, lists: 8, starts: 1,
	memoryCalls: 50, sessions: 50, idle: time.Millisecond,
	kbItems: []int{leastItems}, kbReads: 40, kbSearches: 40, kbClass: 4, kbCreates: 4, kbSeconds: 1,
}

// TestHarness runs every part that needs processes, with genkan as a role of
// the test binary: the harness must not rot between two releases.
func TestHarness(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the harness reads processor time and memory of other processes as Linux tells them")
	}
	t.Setenv(raceOptions, "atexit_sleep_ms=0")
	opt := options{scale: tinyScale, only: "calls,workflows,stdio,list,start,memory,kb", selfAsGenkan: true, kbDir: t.TempDir(), noC: true}
	var progress bytes.Buffer
	r, err := measureAll(t.Context(), opt, &progress)
	if err != nil {
		t.Fatalf("%v\n%s", err, progress.String())
	}
	goals := 0
	for _, row := range r.Rows {
		if row.Goal > 0 {
			goals++
		}
		// How fast it is says nothing here, only that it was measured.
		if row.Value <= 0 && row.Metric != "growth of RssAnon" && !strings.HasPrefix(row.Metric, "added") {
			t.Errorf("%s, %s: %s is %v", row.Part, row.Subject, row.Metric, row.Value)
		}
		if row.Ratio != nil && !(row.Ratio.Median > 0) {
			t.Errorf("%s, %s: the ratio is %v", row.Part, row.Subject, row.Ratio.Median)
		}
	}
	// Four sizes and eras, four for looking, three with workflows, two children, two lists, one
	// start, four looks at memory and the sessions; of the knowledge base the size
	// of its index, opening, search, suggestions, two walks and paths.
	if want := 4 + 4 + 3 + 2 + 2 + 1 + 4 + 1 + 7; goals != want {
		t.Errorf("%d rows have goals, want %d", goals, want)
	}
	var table bytes.Buffer
	r.print(&table)
	if !strings.Contains(table.String(), "reverse proxy") {
		t.Errorf("the table names no floor:\n%s", table.String())
	}
	file := filepath.Join(t.TempDir(), "out.json")
	if err := r.writeJSON(file); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &report{}); err != nil {
		t.Error(err)
	}
}

// TestSlowAnswers: on a busy machine an answer may take so long that it comes
// as a stream, and the next one on the same connection at once.
func TestSlowAnswers(t *testing.T) {
	streams := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, jsonrpc.Lookup(body, "id"))
		if streams++; streams%2 == 0 {
			_, _ = io.WriteString(w, answer)
			return
		}
		_, _ = io.WriteString(w, "id: x-0\ndata: \n\n")
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, "event: message\nid: x-1\ndata: "+answer+"\n\n")
	}))
	defer server.Close()
	c, err := dial(target{Address: server.Listener.Addr().String(), Era: "modern", Method: "tools/call", Tool: "t", Size: 64})
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	for range 4 {
		if err := c.ask(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestArguments(t *testing.T) {
	for size := 32; size < 400; size++ {
		raw := arguments(size)
		if len(raw) != size || !json.Valid(raw) {
			t.Fatalf("arguments(%d) has %d bytes: %s", size, len(raw), raw)
		}
	}
}

func TestRatio(t *testing.T) {
	subject := series{{cpu: 10}, {cpu: 30}, {cpu: 20}}
	floor := series{{cpu: 10}, {cpu: 10}, {cpu: 10}}
	got := subject.against(floor)
	if want := (ratio{Median: 2, Low: 1.5, High: 2.5}); *got != want {
		t.Errorf("ratio %+v, want %+v", *got, want)
	}
	over := row{Value: 100, Ratio: got, Goal: 1.9}
	if !over.over() || (row{Value: 100, Ratio: got, Goal: 2}).over() || (row{Value: 100}).over() {
		t.Error("goals are judged by the ratio")
	}
	if (row{Value: 3, Goal: 2}).over() != true {
		t.Error("without a ratio the value is judged")
	}
}
