package app

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"genkan/internal/testkit"
)

// send writes a modern tools/call to a bare connection.
func (h *testHouse) send(conn net.Conn, tool, arguments, meta string) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{%s%s}}}`,
		tool, arguments, modernMeta, meta)
	_, err := fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: %s\r\nContent-Length: %d\r\n\r\n%s",
		h.token, tool, len(body), body)
	if err != nil {
		h.t.Error(err)
	}
}

// A client that does not read what it asked for is its own problem. The child
// is shared: the answers of everybody else must not wait behind it.
func TestAClientThatDoesNotReadBlocksNobody(t *testing.T) {
	h := openHouse(t, servers(conf{"one": child(t)}))
	h.waitReady("one")
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	// Far more than the buffers of a connection hold.
	h.send(conn, "one__progress", fmt.Sprintf(`{"n":%d}`, testkit.Count(20_000, 300_000)), `,"progressToken":"t"`)
	if line, err := bufio.NewReaderSize(conn, 16).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatalf("got %q, %v", line, err)
	}
	for range 100 {
		began := time.Now()
		if h.mustCall("one__echo", `{"text":"x"}`); time.Since(began) > 20*time.Second { // one that waits does so for half a minute
			t.Fatal("a call waits behind another client's progress")
		}
	}
}

// A dead server blocks neither the start nor a list; its tools stay listed,
// and a call says what is wrong and when the next try is.
func TestADeadServer(t *testing.T) {
	dir := t.TempDir()
	command, argv, env := testkit.FaultCommand(t)
	// A link, so that the same command can be taken away.
	link := t.TempDir() + "/server"
	if err := os.Symlink(command, link); err != nil {
		t.Fatal(err)
	}
	config := servers(conf{"one": conf{"command": link, "args": argv, "env": env}, "well": child(t)})
	t.Run("a good life", func(t *testing.T) {
		h := openHouseIn(t, dir, config)
		h.waitReady("one", "well")
	})
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	h := openHouseIn(t, dir, config)
	names := h.tools()
	took := time.Since(began)
	t.Logf("starting and listing took %v", took)
	if len(names) != 22 || took > 30*time.Second {
		t.Errorf("%d tools after %v", len(names), took)
	}
	testkit.Eventually(t, func() bool { return h.server("one").State == "down" }, "one is down")
	_, err := h.call("one__echo", `{"text":"x"}`)
	if err == nil || !strings.Contains(err.Error(), "one is down") || !strings.Contains(err.Error(), "does not exist") || !strings.Contains(err.Error(), "next try in") {
		t.Errorf("got %v", err)
	}
	if st := h.server("one"); st.NextTry == nil || st.Problem == "" || st.Tools != 11 {
		t.Errorf("status %+v", st)
	}
	h.mustCall("well__echo", `{"text":"x"}`)
	// And when it is mended, it is found out without a restart of ours.
	if err := os.Symlink(command, link); err != nil {
		t.Fatal(err)
	}
	h.waitReady("one")
}

func TestAServerThatNeverStarts(t *testing.T) {
	began := time.Now()
	h := openHouse(t, servers(conf{
		"dead": child(t, "-mode", "crash-loop"),
		"gone": conf{"command": "genkan-no-such-command"},
		"away": conf{"url": "http://127.0.0.1:1/mcp"},
		"well": child(t),
	}), func(opt *Options) { opt.FirstListPatience = time.Hour })
	if !h.lists("well__echo") {
		t.Errorf("listed %v", h.tools())
	}
	t.Logf("starting and listing took %v", time.Since(began))
	for name, problem := range map[string]string{"dead": "exit status 3", "gone": "not found", "away": "cannot be reached"} {
		testkit.Eventually(t, func() bool { return strings.Contains(h.server(name).Problem, problem) }, "%s is down because %s", name, problem)
	}
	h.mustCall("well__echo", `{"text":"x"}`)
}

// A hung server of which nothing is known holds up the first list for a few
// seconds, since many clients never ask again; then no more.
func TestAServerThatHangsAtTheStart(t *testing.T) {
	h := openHouse(t, servers(conf{"hung": child(t, "-mode", "hang-init"), "well": child(t)}), func(opt *Options) { opt.FirstListPatience = 2 * time.Second })
	h.waitReady("well")
	began := time.Now()
	if !h.lists("well__echo") {
		t.Error("the others must be listed")
	}
	t.Logf("the first list took %v", time.Since(began))
	if house := h.house.Load(); !house.settled.Load() || time.Now().Before(house.settleBy) {
		t.Error("the next list would wait, too")
	}
}

// A write whose answer was lost is not sent again, and is not reported as
// done; a read is sent again.
func TestALostAnswer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := openHouse(t, servers(conf{"one": sibling(t, "-mode", "reset", "-record", dir+"/record", "-counter", dir+"/counter")}))
	h.waitReady("one")
	sent := func(tool string) int {
		return strings.Count(strings.Join(testkit.Lines(t, dir+"/record"), "\n"), `"name":"`+tool+`"`)
	}
	if _, err := h.call("one__count", `{}`); err == nil || !strings.Contains(err.Error(), "may or may not have been carried out") {
		t.Errorf("got %v", err)
	}
	if n := sent("count"); n != 1 {
		t.Errorf("the write was sent %d times", n)
	}
	if _, err := h.call("one__echo", `{"text":"x"}`); err == nil {
		t.Error("its answers are always lost")
	}
	if n := sent("echo"); n != 3 {
		t.Errorf("the read was sent %d times, want 3", n)
	}
}

// When a server that failed is back, the next call succeeds: no breaker stands
// in the way of one that was only away.
func TestAServerThatComesBackIsUsedAtOnce(t *testing.T) {
	t.Parallel()
	server := testkit.NewFaultHTTP(t)
	h := openHouse(t, servers(conf{"one": conf{"url": server.URL()}}))
	h.waitReady("one")
	server.Stop()
	for range 8 { // more failures in a row than the breaker takes
		if _, err := h.call("one__echo", `{"text":"x"}`); err == nil {
			t.Fatal("nobody is there")
		}
	}
	_, err := h.call("one__echo", `{"text":"x"}`)
	if err == nil || !strings.Contains(err.Error(), "is down") || !strings.Contains(err.Error(), "next try in") {
		t.Errorf("the call must say what is wrong and when the next try is: %v", err)
	}
	server.Restart()
	began := time.Now()
	if _, err := h.call("one__echo", `{"text":"x"}`); err != nil {
		t.Errorf("it is back: %v", err)
	}
	t.Logf("the next call took %v", time.Since(began))
}

// A crash costs the calls under way. It is one failure, however many they are:
// when the server is ready again, the first call goes through.
func TestACrashWithManyCallsUnderWay(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			dir := t.TempDir()
			record, gate := filepath.Join(dir, "record"), filepath.Join(dir, "gate")
			flags := []string{"-everything", "-record", record}
			var server *testkit.FaultHTTP
			one := conf{}
			if transport == "http" {
				server = testkit.NewFaultHTTP(t, flags...)
				one["url"] = server.URL()
			} else {
				one = child(t, flags...)
			}
			h := openHouse(t, servers(conf{"one": one}))
			h.waitReady("one")
			testkit.Eventually(t, func() bool { return h.lists("one__hold") }, "listed")
			const calls = 30
			answers := make(chan string, calls)
			for range calls {
				go func() { // over REST nothing is sent again
					_, text, err := h.tryRequest(http.MethodPost, "/v1/tools/call", fmt.Sprintf(`{"name":"one__hold","parameters":{"gate":%q}}`, gate), nil)
					answers <- fmt.Sprint(text, err)
				}()
			}
			testkit.Eventually(t, func() bool {
				return strings.Count(strings.Join(testkit.Lines(t, record), "\n"), `"tools/call"`) == calls
			}, "the calls are under way")
			if server != nil {
				server.Restart()
			} else {
				process, err := os.FindProcess(h.server("one").ProcessID)
				if err != nil {
					t.Fatal(err)
				}
				if err := process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			for range calls {
				if text := <-answers; !strings.Contains(text, "UPSTREAM_UNAVAILABLE") {
					t.Errorf("got %s", text)
				}
			}
			h.waitReady("one")
			status, text, err := h.tryRequest(http.MethodPost, "/v1/tools/call", `{"name":"one__echo","parameters":{"text":"x"}}`, nil)
			if err != nil || status != http.StatusOK {
				t.Errorf("the first call after the crash: %d %s %v", status, text, err)
			}
		})
	}
}

// A server that answers nothing any more is no healthy one.
func TestAServerThatNoLongerAnswers(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{"one": with(child(t, "-mode", "stall"), conf{"timeout": "300ms"})}))
	h.waitReady("one")
	if _, err := h.call("one__echo", `{"text":"stall"}`); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("got %v", err)
	}
	st := h.server("one")
	if st.State != "not responding" || !strings.Contains(st.Problem, "no answer") {
		t.Errorf("it is shown as %q: %s", st.State, st.Problem)
	}
	// The next call is not sent before the server responds again.
	if _, err := h.call("one__echo", `{"text":"x"}`); err == nil || !strings.Contains(err.Error(), "does not respond, so the call was not sent") {
		t.Errorf("got %v", err)
	}
	h.must(http.MethodPost, "/v1/servers/one/restart", "", http.StatusAccepted)
	h.waitReady("one")
	// A busy machine may need longer than the timeout.
	testkit.Eventually(t, func() bool { got, err := h.call("one__echo", `{"text":"x"}`); return err == nil && got == "x" }, "it answers")
}

func TestACallThatTakesTooLong(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{"one": with(child(t), conf{"timeout": "700ms"})}))
	h.waitReady("one")
	if _, err := h.call("one__sleep", `{"ms":60000}`); err == nil || !strings.Contains(err.Error(), "700ms") {
		t.Errorf("got %v", err)
	}
	// REST has a timeout of its own, which the caller may choose.
	status, body := h.request(http.MethodPost, "/v1/tools/call", `{"name":"one__sleep","parameters":{"ms":60000},"options":{"timeout":30}}`, nil)
	if status != http.StatusRequestTimeout || !strings.Contains(body, "30ms") {
		t.Errorf("got %d %s", status, body)
	}
}
