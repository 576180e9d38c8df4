package app

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"genkan/internal/testkit"
)

func TestReloadAddsRemovesAndChanges(t *testing.T) {
	t.Parallel()
	one, two := child(t), child(t)
	h := openHouse(t, servers(conf{"one": one}))
	h.waitReady("one")
	pid := h.server("one").ProcessID

	h.reload(servers(conf{"one": one, "two": two}))
	h.waitReady("two")
	if h.mustCall("two__echo", `{"text":"x"}`) != "x" || !h.lists("two__echo") {
		t.Error("the added server does not answer")
	}
	if now := h.server("one").ProcessID; now != pid {
		t.Errorf("the server that stayed was restarted: %d, then %d", pid, now)
	}

	other := with(one, conf{"env": with(one["env"].(conf), conf{"ANOTHER": "1"})})
	h.reload(servers(conf{"one": other, "two": two}))
	testkit.Eventually(t, func() bool { return !testkit.Alive(pid) }, "the changed server's former process is gone")
	h.waitReady("one")
	if env := h.mustCall("one__env", `{}`); !strings.Contains(env, "ANOTHER=1") {
		t.Errorf("the change is not in force:\n%s", env)
	}

	pid = h.server("two").ProcessID
	h.reload(servers(conf{"one": other}))
	testkit.Eventually(t, func() bool { return !testkit.Alive(pid) }, "the removed server's process is gone")
	if h.lists("two__echo") || !h.lists("one__echo") {
		t.Errorf("listed: %v", h.tools())
	}
	if _, err := h.call("two__echo", `{"text":"x"}`); err == nil || !strings.Contains(err.Error(), "Unknown tool") {
		t.Errorf("got %v", err)
	}

	pid = h.server("one").ProcessID
	h.reload(servers(conf{"one": with(other, conf{"disabled": true})}))
	testkit.Eventually(t, func() bool { return !testkit.Alive(pid) }, "the disabled server's process is gone")
	if names := h.tools(); len(names) != 0 {
		t.Errorf("listed: %v", names)
	}
	h.reload(servers(conf{"one": other}))
	h.waitReady("one")
}

// A setting that only changes how genkan treats a server does not restart its
// process.
func TestReconfiguringKeepsTheProcess(t *testing.T) {
	t.Parallel()
	one := child(t)
	h := openHouse(t, servers(conf{"one": one}))
	h.waitReady("one")
	pid := h.mustCall("one__pid", `{}`)
	for name, change := range map[string]struct {
		set   conf
		tool  string
		check func() error
	}{
		"another prefix": {conf{"prefix": "uno"}, "uno__pid", nil},
		"no prefix":      {conf{"prefix": ""}, "pid", nil},
		"fewer tools": {conf{"tools": conf{"allow": []string{"p*"}}}, "one__pid", func() error {
			if got := strings.Join(h.tools(), " "); got != "one__progress one__pid" {
				return fmt.Errorf("listed %s", got)
			}
			return nil
		}},
		"validate": {conf{"validate": true}, "one__pid", func() error {
			if _, err := h.call("one__echo", `{"text":7}`); err == nil || !strings.Contains(err.Error(), "parameter text: expected string") {
				return fmt.Errorf("got %w", err)
			}
			return nil
		}},
		"a timeout": {conf{"timeout": "3s"}, "one__pid", func() error {
			if _, err := h.call("one__sleep", `{"ms":60000}`); err == nil || !strings.Contains(err.Error(), "after 3000ms") {
				return fmt.Errorf("got %w", err)
			}
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h.reload(servers(conf{"one": with(one, change.set)}))
			if now, err := h.call(change.tool, `{}`); err != nil || now != pid {
				t.Errorf("process %s, then %s (%v)", pid, now, err)
			}
			if change.check != nil {
				if err := change.check(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestABadConfigurationChangesNothing(t *testing.T) {
	t.Parallel()
	good := servers(conf{"one": child(t)})
	h := openHouse(t, good)
	h.waitReady("one")
	pid := h.mustCall("one__pid", `{}`)
	for name, bad := range map[string]string{
		"not YAML":          "mcpServers: [",
		"an unknown key":    `{"mcpServerz":{}}`,
		"a reachable port":  `{"listen":"0.0.0.0:3000"}`,
		"a missing command": `{"mcpServers":{"one":{}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			h.writeText(bad)
			if err := h.Reload(); err == nil {
				t.Error("it was taken")
			}
			if now := h.mustCall("one__pid", `{}`); now != pid {
				t.Errorf("process %s, then %s", pid, now)
			}
		})
	}
	h.reload(good)
	if now := h.mustCall("one__pid", `{}`); now != pid {
		t.Errorf("process %s, then %s", pid, now)
	}
}

// The file is watched, however it is written: replaced, or written in place
// and in several steps.
func TestTheFileIsWatched(t *testing.T) {
	t.Parallel()
	one, two := child(t), child(t)
	h := openHouse(t, servers(conf{"one": one}))
	h.waitReady("one")
	h.write(servers(conf{"one": one, "two": two}))
	h.waitReady("two")

	// In place: what is half written is either not read or refused.
	whole, err := os.ReadFile(h.file())
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(whole), `"two"`, `"three"`, 1)
	file, err := os.OpenFile(h.file(), os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{text[:len(text)/2], text[len(text)/2:]} {
		if _, err := file.WriteString(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	h.waitReady("three")

	h.writeText("mcpServers: nonsense")
	testkit.Eventually(t, func() bool {
		return len(h.logLines("the changed configuration is not used; the former one stays in force")) > 0
	}, "the log says why it is not used")
	said := h.logLines("the changed configuration is not used; the former one stays in force")[0]
	if reason := fmt.Sprint(said["error"]); !strings.Contains(reason, "mcpServers") {
		t.Errorf("the log does not say why: %v", said)
	}
	if h.mustCall("three__echo", `{"text":"x"}`) != "x" {
		t.Error("the former configuration is not in force")
	}
}

// load calls a tool from several clients until it is told to stop, and counts.
type load struct {
	calls, failed atomic.Int64
	first         atomic.Pointer[string]
	stop          chan struct{}
	running       sync.WaitGroup
}

func (h *testHouse) startLoad(clients int, tool, arguments string) *load {
	l := &load{stop: make(chan struct{})}
	for range clients {
		l.running.Go(func() {
			for {
				select {
				case <-l.stop:
					return
				default:
				}
				if _, err := h.call(tool, arguments); err != nil {
					l.failed.Add(1)
					text := err.Error()
					l.first.CompareAndSwap(nil, &text)
				}
				l.calls.Add(1)
			}
		})
	}
	return l
}

func (l *load) end(t *testing.T) {
	t.Helper()
	close(l.stop)
	l.running.Wait()
	t.Logf("%d calls, %d failed", l.calls.Load(), l.failed.Load())
	if l.failed.Load() > 0 {
		t.Errorf("%d calls failed; the first: %s", l.failed.Load(), *l.first.Load())
	}
}

// Callers do not notice a hundred reloads, neither on an unchanged server nor on
// one that many reloads change.
func TestAHundredReloads(t *testing.T) {
	t.Parallel()
	stays, changes := child(t), child(t)
	config := func(i int) conf {
		all := conf{
			"stays":   with(stays, conf{"timeout": fmt.Sprintf("%ds", 60+i)}),
			"changes": with(changes, conf{"env": with(changes["env"].(conf), conf{"N": fmt.Sprint(i / 4)})}),
		}
		if i%2 == 0 {
			all["comes-and-goes"] = child(t)
		}
		return servers(all)
	}
	h := openHouse(t, config(0))
	h.waitReady("stays", "changes")
	pid := h.mustCall("stays__pid", `{}`)
	steady := h.startLoad(4, "stays__echo", `{"text":"x"}`)
	shaken := h.startLoad(2, "changes__echo", `{"text":"x"}`)
	began := time.Now()
	count := testkit.Count(10, 100)
	for i := 1; i <= count; i++ {
		h.reload(config(i))
		// Calls get through between reloads, also to the changed one.
		before := shaken.calls.Load()
		testkit.Eventually(t, func() bool { return shaken.calls.Load() > before }, "a call to the changed server ends")
	}
	t.Logf("%d reloads took %v", count, time.Since(began))
	steady.end(t)
	shaken.end(t)
	if now := h.mustCall("stays__pid", `{}`); now != pid {
		t.Errorf("the server that stays was restarted")
	}
}

// A call that is under way on a server that a reload removes is finished.
func TestReloadLetsCallsFinish(t *testing.T) {
	t.Parallel()
	record := t.TempDir() + "/record"
	h := openHouse(t, servers(conf{"one": child(t, "-record", record)}))
	h.waitReady("one")
	ended := make(chan error, 1)
	go func() {
		_, err := h.call("one__sleep", `{"ms":500}`)
		ended <- err
	}()
	testkit.Eventually(t, func() bool { return strings.Contains(strings.Join(testkit.Lines(t, record), "\n"), "tools/call") }, "the call is under way")
	h.reload(servers(conf{}))
	if err := <-ended; err != nil {
		t.Errorf("the call under way failed: %v", err)
	}
}

// Settings that only a new process can honour are said so.
func TestWhatNeedsARestart(t *testing.T) {
	t.Parallel()
	h := openHouse(t, conf{})
	h.reload(conf{"listen": "127.0.0.1:45678"})
	if said := h.logLines("a changed setting needs a restart and is not in force yet"); len(said) != 1 || said[0]["settings"] != "listen" {
		t.Errorf("the log says %v", said)
	}
	if status, _ := h.request(http.MethodGet, "/health", "", nil); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
}

// Editors move a file away before they write the new one, and a shell empties
// it first. Neither is a wish to have no servers.
func TestAFileThatIsGoneOrEmptyChangesNothing(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{"one": child(t)}))
	h.waitReady("one")
	pid := h.server("one").ProcessID
	if err := os.Truncate(h.file(), 0); err != nil {
		t.Fatal(err)
	}
	if err := h.Reload(); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("an empty file: %v", err)
	}
	if err := os.Remove(h.file()); err != nil {
		t.Fatal(err)
	}
	if err := h.Reload(); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("a missing file: %v", err)
	}
	if now := h.server("one").ProcessID; now != pid {
		t.Errorf("the server was restarted: %d, was %d", now, pid)
	}
	// An explicitly empty list of servers takes effect.
	h.writeText("mcpServers: {}\nkb: {enabled: false}\n")
	if err := h.Reload(); err != nil {
		t.Fatal(err)
	}
	if tools := h.tools(); len(tools) != 0 {
		t.Errorf("tools %v", tools)
	}
}
