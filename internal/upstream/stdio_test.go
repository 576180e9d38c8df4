package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/testkit"
)

func TestStdioStartsListsAndCalls(t *testing.T) {
	t.Parallel()
	for _, era := range bothEras {
		t.Run(era.String(), func(t *testing.T) {
			u := openReady(t, faultChild(t, "-era", era.String(), "-tools", "25", "-page", "7"))
			st := u.Status()
			if st.Era != era || st.PID == 0 || st.Starts != 1 || st.Problem.String() != "" || !st.NextTry.IsZero() {
				t.Errorf("status %+v", st)
			}
			// Eleven tools of its own and the generated ones, over several pages.
			if names := u.toolNames(); len(names) != 11+25 || names[0] != "echo" {
				t.Errorf("%d tools: %v", len(names), names)
			}
			for _, tool := range u.List(gateway.KindTool) {
				if want := tool.Name == "echo"; want && !tool.ReadOnly {
					t.Error("echo is read-only")
				}
				if tool.Name == "count" && tool.RetrySafe() {
					t.Error("count is not safe to send twice")
				}
			}
			u.mustEcho("こんにちは \u0000 \" \\")
			if n := u.published(); n != 1 {
				t.Errorf("%d events, want 1: the list changed once", n)
			}
			saved, ok, _ := u.lists.LoadList(context.Background(), "srv")
			if !ok || saved.Era != era || saved.Fingerprint != "one" || !json.Valid(saved.Tools) {
				t.Errorf("saved %+v", saved)
			}
		})
	}
}

// A caller of either era can use a server of either era, and what it sent
// arrives as it was sent.
func TestStdioBridgesTheEras(t *testing.T) {
	t.Parallel()
	for _, server := range bothEras {
		for _, caller := range []gateway.Era{gateway.EraNone, gateway.EraLegacy, gateway.EraModern} {
			t.Run(fmt.Sprintf("%s to %s", caller, server), func(t *testing.T) {
				record := t.TempDir() + "/record"
				u := openReady(t, faultChild(t, "-era", server.String(), "-record", record))
				call := u.newCall(caller, "echo", `{"text":"x", "odd" : 1.50e1}`, `"com.example/trace":{"a":[1, 2]}`)
				result, err := u.Handle(context.Background(), call)
				if err != nil {
					t.Fatal(err)
				}
				sent := recorded(t, record, "tools/call")
				for _, want := range []string{`{"text":"x", "odd" : 1.50e1}`, `"com.example/trace":{"a":[1, 2]}`} {
					if !strings.Contains(sent, want) {
						t.Errorf("%s did not pass unchanged: %s", want, sent)
					}
				}
				isModern := strings.Contains(sent, "io.modelcontextprotocol/protocolVersion")
				if isModern != (server == gateway.EraModern) {
					t.Errorf("the server speaks %s, and was sent %s", server, sent)
				}
				hasType := strings.Contains(string(result.Raw), `"resultType":"complete"`)
				if caller == gateway.EraModern && !hasType {
					t.Errorf("a modern caller must be told the type of %s", result.Raw)
				}
			})
		}
	}
}

// A legacy server that says resultType by itself must not make us say it
// twice: strict clients refuse duplicate keys, as we do.
func TestNoKeyIsSaidTwice(t *testing.T) {
	t.Parallel()
	u, _ := openScript(t, "foreign-result-type")
	result, err := u.Handle(context.Background(), u.newCall(gateway.EraModern, "t", `{}`, ""))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(result.Raw), `"resultType"`); n != 1 {
		t.Errorf("resultType stands %d times: %s", n, result.Raw)
	}
}

// The name that clients use is ours; the server hears its own.
func TestStdioUsesTheServersOwnName(t *testing.T) {
	t.Parallel()
	record := t.TempDir() + "/record"
	u := openReady(t, faultChild(t, "-record", record))
	call := u.newCall(gateway.EraLegacy, "srv__echo", `{"text":"x"}`, "")
	call.Tool.Name = "echo"
	if _, err := u.Handle(context.Background(), call); err != nil {
		t.Fatal(err)
	}
	if sent := recorded(t, record, "tools/call"); !strings.Contains(sent, `"name":"echo"`) {
		t.Error(sent)
	}
}

func TestProgress(t *testing.T) {
	for _, server := range bothEras {
		for _, caller := range bothEras {
			for _, token := range []string{`"abc"`, `7`, ``} {
				t.Run(fmt.Sprintf("%s to %s, token %s", caller, server, token), func(t *testing.T) {
					t.Parallel()
					record := t.TempDir() + "/record"
					u := openReady(t, faultChild(t, "-era", server.String(), "-record", record))
					testProgress(t, u, record, caller, token)
				})
			}
		}
	}
}

// testProgress checks that the server is always asked for progress, under a
// token of ours, and that the caller hears of it under its own, if it has one.
func testProgress(t *testing.T, u *upstreamTest, record string, caller gateway.Era, token string) {
	t.Helper()
	meta := ""
	if token != "" {
		meta = `"progressToken":` + token
	}
	call := u.newCall(caller, "progress", `{"n":3}`, meta)
	var client peer
	var alive atomic.Int32
	call.Peer = &client
	call.OnSignOfLife(func() { alive.Add(1) })
	result, err := u.Handle(context.Background(), call)
	if err != nil || textOf(t, result) != "3 steps" {
		t.Fatalf("got %v, %v", result, err)
	}
	if alive.Load() != 3 {
		t.Errorf("%d signs of life, want 3, whether or not the client wants to hear of them", alive.Load())
	}
	sent := recorded(t, record, "tools/call")
	var seen struct {
		ID     json.Number
		Params struct {
			Meta struct {
				ProgressToken json.RawMessage `json:"progressToken"`
			} `json:"_meta"`
		}
	}
	if err := json.Unmarshal([]byte(sent), &seen); err != nil {
		t.Fatal(err)
	}
	if own := seen.Params.Meta.ProgressToken; len(own) == 0 || string(own) == token || strings.Count(sent, "progressToken") != 1 {
		t.Errorf("the server must get one token, and one of ours: %s", sent)
	}
	if token == "" {
		if notes := client.heard(); len(notes) > 0 {
			t.Errorf("the client asked for no progress and got %q", notes)
		}
		return
	}
	want := []string{}
	for i := 1; i <= 3; i++ {
		want = append(want, fmt.Sprintf(`notifications/progress {"progressToken":%s,"progress":%d,"total":3,"message":"step %d of 3"}`, token, i, i))
	}
	if diff := cmp.Diff(want, client.heard()); diff != "" {
		t.Error(diff)
	}
}

func TestCancelReachesTheChild(t *testing.T) {
	t.Parallel()
	for _, era := range bothEras {
		t.Run(era.String(), func(t *testing.T) {
			record := t.TempDir() + "/record"
			u := openReady(t, faultChild(t, "-era", era.String(), "-record", record))
			ctx, cancel := context.WithCancelCause(context.Background())
			startTimeoutDetail := &gateway.Error{Code: gateway.CodeCanceled, Message: "the user pressed escape"}
			ended := make(chan error, 1)
			call := u.newCall(gateway.EraLegacy, "sleep", `{"ms":60000}`, "")
			go func() {
				_, err := u.Handle(ctx, call)
				ended <- err
			}()
			sent := recorded(t, record, "tools/call")
			cancel(startTimeoutDetail)
			if err := <-ended; err != startTimeoutDetail { //nolint:errorlint // the very cause is handed on
				t.Errorf("got %v", err)
			}
			id := string(jsonrpc.Lookup([]byte(sent), "id"))
			recorded(t, record, "notifications/cancelled", `"requestId":`+id)
			recorded(t, record, "cancelled "+id) // the child has stopped its work
			u.mustEcho("still there")
		})
	}
}

// A hundred callers share the child, and each hears its own answer.
func TestCallsAreNotCrossed(t *testing.T) {
	t.Parallel()
	u := openReady(t, faultChild(t))
	var calls sync.WaitGroup
	for i := range 100 {
		calls.Go(func() {
			for n := range 5 {
				text := fmt.Sprintf("%d-%d", i, n)
				if got, err := u.callText("echo", fmt.Sprintf(`{"text":%q}`, text)); err != nil || got != text {
					t.Errorf("%s: got %q, %v", text, got, err)
				}
			}
		})
	}
	calls.Wait()
}

// What a server asks of its client gets an answer, or it would wait for ever:
// a ping is answered, a caller that cannot be asked says so, and where many
// share a connection there are no roots.
func TestAServersOwnRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	u, record := openScript(t, "asks")
	if got, err := u.callText("t", `{}`); err != nil || got != "done" {
		t.Fatalf("got %q, %v", got, err)
	}
	sees(t, record, `"id":"a"`, `"result":{}`)
	sees(t, record, `"id":"b"`, `"error"`, "-32601")
	sees(t, record, `"id":"c"`, `"result":{"roots":[]}`)
}

func TestChangedToolsAreListedAndAnnounced(t *testing.T) {
	t.Parallel()
	for _, era := range bothEras {
		t.Run(era.String(), func(t *testing.T) {
			u := openReady(t, faultChild(t, "-era", era.String()))
			before := u.published()
			if _, err := u.callText("add_tool", `{"name":"fresh"}`); err != nil {
				t.Fatal(err)
			}
			testkit.Eventually(t, func() bool { return strings.Contains(strings.Join(u.toolNames(), " "), "fresh") }, "the new tool is listed")
			testkit.Eventually(t, func() bool { return u.published() == before+1 }, "the change is announced once")
			saved, _, _ := u.lists.LoadList(context.Background(), "srv")
			if !strings.Contains(string(saved.Tools), "fresh") {
				t.Error("the new list was not kept for the next start")
			}
		})
	}
}

func TestAServerWithoutTools(t *testing.T) {
	t.Parallel()
	u, record := openScript(t, "no-tools")
	if len(u.List(gateway.KindTool)) != 0 {
		t.Errorf("tools: %v", u.toolNames())
	}
	if lineWith(t, record, "tools/list") != "" {
		t.Error("a server that announced no tools was asked for them")
	}
}

func TestAListIsMendedOrRefused(t *testing.T) {
	t.Parallel()
	t.Run("a definition that cannot be used is left out alone", func(t *testing.T) {
		u, _ := openScript(t, "odd-list")
		if diff := cmp.Diff([]string{"t"}, u.toolNames()); diff != "" {
			t.Error(diff)
		}
	})
	for name, problem := range map[string]string{"endless-list": "no end", "broken-list": "no list of tools"} {
		t.Run(name, func(t *testing.T) {
			set, _ := scripted(t, name)
			u := open(t, set)
			testkit.Eventually(t, func() bool { return u.Status().State == StateDown }, "it is down")
			if st := u.Status(); !strings.Contains(st.Problem.String(), problem) {
				t.Errorf("problem: %s", st.Problem)
			}
		})
	}
}

// Calls that come while the server starts wait for it.
func TestACallDuringTheStartWaits(t *testing.T) {
	t.Parallel()
	open(t, faultChild(t, "-mode", "slow-start", "-delay", "300ms")).mustEcho("patience")
	// One that cannot wait so long is told why, and that nothing was sent.
	v := open(t, faultChild(t, "-mode", "hang-init"))
	if st := v.Status(); st.State != StateStarting {
		t.Fatalf("state %s", st.State)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := v.Handle(ctx, v.newCall(gateway.EraLegacy, "echo", `{}`, ""))
	if e := wantError(t, err, gateway.CodeTimeout, "srv", "not started"); !e.Unsent {
		t.Error("nothing was sent")
	}
}
