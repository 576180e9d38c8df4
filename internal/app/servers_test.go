package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// withName is a server as a body of the API.
func withName(t testing.TB, name string, server conf) string {
	t.Helper()
	raw, err := json.Marshal(with(server, conf{"name": name}))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func (h *testHouse) must(method, path, body string, status int) string {
	h.t.Helper()
	got, text := h.request(method, path, body, nil)
	if got != status {
		h.t.Fatalf("%s %s: %d, want %d: %s", method, path, got, status, text)
	}
	return text
}

func secretly(t testing.TB, value string) conf {
	t.Helper()
	one := child(t)
	one["env"].(conf)["API_KEY"] = value
	return one
}

// A server that was added is there after a restart, with its secret; the file
// wins over it from the moment on that it declares the name, and no longer.
func TestAddedServersStay(t *testing.T) {
	t.Parallel()
	const canary = "canary-Zq8Lw3Rt6Yp1"
	dir := t.TempDir()
	file := servers(conf{"one": child(t)})
	t.Run("added", func(t *testing.T) {
		h := openHouseIn(t, dir, file)
		h.waitReady("one")
		pid := h.server("one").ProcessID
		h.must(http.MethodPost, "/v1/servers", withName(t, "two", secretly(t, canary)), http.StatusCreated)
		h.waitReady("two")
		if now := h.server("one").ProcessID; now != pid {
			t.Errorf("the server that stayed was restarted: %d, then %d", pid, now)
		}
		if env := h.mustCall("two__env", `{}`); !strings.Contains(env, "API_KEY="+canary) {
			t.Errorf("it lacks its key: %s", env)
		}
		if strings.Contains(h.log.String(), canary) {
			t.Error("the log has the secret")
		}
	})
	t.Run("after a restart", func(t *testing.T) {
		h := openHouseIn(t, dir, file)
		h.waitReady("one", "two")
		if env := h.mustCall("two__env", `{}`); !strings.Contains(env, "API_KEY="+canary) {
			t.Errorf("it lacks its key: %s", env)
		}
		pid := h.server("two").ProcessID
		h.reload(with(file, conf{"pageSize": 100}))
		if now := h.server("two").ProcessID; now != pid {
			t.Errorf("a reload has restarted it: %d, then %d", pid, now)
		}

		h.reload(servers(conf{"one": child(t), "two": with(child(t), conf{"prefix": "file"})}))
		h.waitReady("two")
		text := h.must(http.MethodGet, "/v1/servers/two", "", http.StatusOK)
		if !strings.Contains(text, `"source":"file"`) || !strings.Contains(text, "the database has a server of this name too") {
			t.Errorf("got %s", text)
		}
		// Without it in the file, the database's is used again.
		h.must(http.MethodDelete, "/v1/servers/two", "", http.StatusOK)
		h.waitReady("two")
		if text := h.must(http.MethodGet, "/v1/servers/two", "", http.StatusOK); !strings.Contains(text, `"source":"database"`) {
			t.Errorf("got %s", text)
		}

		// One whose prefix the file takes is set aside and says so.
		h.reload(servers(conf{"one": with(child(t), conf{"prefix": "two"})}))
		h.waitReady("one")
		if st := h.server("two"); st.State != "down" || !strings.Contains(st.Problem, `it has the prefix "two", as one has`) {
			t.Errorf("got %+v", st)
		}
		h.must(http.MethodPost, "/v1/servers/two/restart", "", http.StatusConflict)
		h.must(http.MethodPost, "/v1/servers/two/test", "", http.StatusOK)
		h.must(http.MethodPatch, "/v1/servers/two", `{"prefix":"zwei"}`, http.StatusOK)
		h.waitReady("two")
		if !h.lists("zwei__env") {
			t.Errorf("listed: %v", h.tools())
		}
	})
	filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error { //nolint:errcheck // what it returns is nil
		if raw, _ := os.ReadFile(path); strings.Contains(string(raw), canary) {
			t.Errorf("%s has the secret", path)
		}
		return nil
	})
}

// Two processes have one data directory: what one is told, the other takes over.
func TestAddedServersReachTheOtherProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := servers(conf{"one": child(t)})
	a, b := openHouseIn(t, dir, file), openHouseIn(t, dir, file)
	a.waitReady("one")
	b.waitReady("one")
	pid := b.server("one").ProcessID
	a.must(http.MethodPost, "/v1/servers", withName(t, "two", secretly(t, "canary-Zq8Lw3Rt6Yp1")), http.StatusCreated)
	b.waitReady("two")
	if env := b.mustCall("two__env", `{}`); !strings.Contains(env, "API_KEY=canary-") {
		t.Errorf("it lacks its key: %s", env)
	}
	b.must(http.MethodPatch, "/v1/servers/two", `{"prefix":"zwei"}`, http.StatusOK)
	testkit.Eventually(t, func() bool { return a.lists("zwei__env") }, "the change is seen")
	a.must(http.MethodDelete, "/v1/servers/two", "", http.StatusOK)
	testkit.Eventually(t, func() bool { return !b.lists("zwei__env") }, "the removal is seen")
	if now := b.server("one").ProcessID; now != pid {
		t.Errorf("the server that stayed was restarted: %d, then %d", pid, now)
	}
	if stored, err := StoredServers(t.Context(), dir); err != nil || len(stored) != 0 {
		t.Errorf("stored: %v, %v", stored, err)
	}
}

// A test of a server that never comes up does not keep genkan from stopping.
func TestAStopEndsTests(t *testing.T) {
	t.Parallel()
	pids := filepath.Join(t.TempDir(), "pids")
	h := openHouse(t, servers(conf{}))
	answer := make(chan string, 1)
	body := withName(t, "slow", child(t, "-mode", "hang-init", "-pidfile", pids))
	go func() {
		_, text, err := h.tryRequest(http.MethodPost, "/v1/servers/test", body, nil)
		answer <- fmt.Sprint(text, err)
	}()
	testkit.Eventually(t, func() bool { return len(testkit.Pids(t, pids)) == 1 }, "the test is under way")
	h.stop()
	if text := <-answer; !strings.Contains(text, "the test was ended") {
		t.Errorf("got %s", text)
	}
}

// A restart ends the process; a call under way is told, one that does no harm twice
// is sent again, and those that come meanwhile wait for the next process.
func TestRestartDuringCalls(t *testing.T) {
	t.Parallel()
	record, gate := filepath.Join(t.TempDir(), "record"), filepath.Join(t.TempDir(), "gate")
	h := openHouse(t, servers(conf{"one": child(t, "-everything", "-record", record)}))
	h.waitReady("one")
	testkit.Eventually(t, func() bool { return h.lists("one__hold") }, "listed")
	pid := h.server("one").ProcessID
	const calls = 8 // more than open a breaker
	answers := make(chan string, calls)
	for range calls {
		go func() { // over REST nothing is sent again
			_, text, err := h.tryRequest(http.MethodPost, "/v1/tools/call", fmt.Sprintf(`{"name":"one__hold","parameters":{"gate":%q}}`, gate), nil)
			answers <- fmt.Sprint(text, err)
		}()
	}
	again := make(chan error, 1)
	go func() {
		_, err := h.call("one__hold", fmt.Sprintf(`{"gate":%q}`, gate))
		again <- err
	}()
	underWay := func(want int) func() bool {
		return func() bool {
			n := 0
			for _, line := range testkit.Lines(t, record) {
				if strings.Contains(line, `"tools/call"`) {
					n++
				}
			}
			return n == want
		}
	}
	testkit.Eventually(t, underWay(calls+1), "the calls are under way")
	h.must(http.MethodPost, "/v1/servers/one/restart", "", http.StatusAccepted)
	for range calls {
		if text := <-answers; !strings.Contains(text, "UPSTREAM_UNAVAILABLE") || !strings.Contains(text, "it was restarted; the call may or may not have been carried out") {
			t.Errorf("got %s", text)
		}
	}
	if now := h.mustCall("one__echo", `{"text":"x"}`); now != "x" {
		t.Errorf("got %s", now)
	}
	testkit.Eventually(t, underWay(calls+3), "the harmless call is sent again")
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-again; err != nil {
		t.Error(err)
	}
	if st := h.server("one"); st.ProcessID == pid || st.Starts != 2 {
		t.Errorf("process %d, then %+v", pid, st)
	}
	testkit.Eventually(t, func() bool { return !testkit.Alive(pid) }, "the former process is gone")
}

// Tool options of a registered server apply in the order in which they were
// written, as in the file: when they are added, changed, and after a restart.
func TestToolOptionsOfARegisteredServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	category := func(h *testHouse, tool string) string {
		h.t.Helper()
		_, after, _ := strings.Cut(h.must(http.MethodGet, "/v1/tools/"+tool, "", http.StatusOK), `"category":"`)
		found, _, _ := strings.Cut(after, `"`)
		return found
	}
	t.Run("added", func(t *testing.T) {
		h := openHouseIn(t, dir, servers(conf{}))
		body := withName(t, "stored", child(t))
		body = strings.TrimSuffix(body, "}") + `,"tools":{"options":{"p*":{"category":"first"},"*":{"category":"second"},"echo":{"category":"third"}}}}`
		h.must(http.MethodPost, "/v1/servers", body, http.StatusCreated)
		h.waitReady("stored")
		if pid, echo := category(h, "stored__pid"), category(h, "stored__echo"); pid != "first" || echo != "second" {
			t.Errorf("pid is %s, echo %s", pid, echo)
		}
		shown := h.must(http.MethodGet, "/v1/servers/stored", "", http.StatusOK)
		if want := `"options":{"p*":{"category":"first"},"*":{"category":"second"},"echo":{"category":"third"}}`; !strings.Contains(shown, want) {
			t.Errorf("shown as %s", shown)
		}
		h.must(http.MethodPatch, "/v1/servers/stored", `{"tools":{"options":{"*":null,"a*":{"category":"fourth"}}}}`, http.StatusOK)
		h.must(http.MethodPatch, "/v1/servers/stored", `{"tools":{"options":{"*":{"category":"last"}}}}`, http.StatusOK)
	})
	t.Run("started again", func(t *testing.T) {
		h := openHouseIn(t, dir, servers(conf{}))
		h.waitReady("stored")
		for tool, want := range map[string]string{"pid": "first", "echo": "third", "add_tool": "fourth", "raw": "last"} {
			if got := category(h, "stored__"+tool); got != want {
				t.Errorf("%s is %s, want %s", tool, got, want)
			}
		}
	})
}
