package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/testkit"
)

// faultHTTP is a fault server that is called over HTTP.
func faultHTTP(t testing.TB, args ...string) Settings {
	t.Helper()
	return Settings{URL: testkit.StartFaultHTTP(t, args...)}
}

func TestHTTPStartsListsAndCalls(t *testing.T) {
	t.Parallel()
	for _, era := range bothEras {
		for _, answers := range []string{"json", "sse"} {
			t.Run(era.String()+" "+answers, func(t *testing.T) {
				u := openReady(t, faultHTTP(t, "-era", era.String(), "-tools", "25", "-page", "7", fmt.Sprintf("-sse=%v", answers == "sse")))
				if st := u.Status(); st.Era != era || st.PID != 0 || st.Starts != 1 {
					t.Errorf("status %+v", st)
				}
				if names := u.toolNames(); len(names) != 11+25 {
					t.Errorf("%d tools: %v", len(names), names)
				}
				u.mustEcho("こんにちは \u0000 \" \\")
				var calls sync.WaitGroup
				for i := range testkit.Count(20, 50) {
					calls.Go(func() {
						text := fmt.Sprint(i)
						if got, err := u.callText("echo", fmt.Sprintf(`{"text":%q}`, text)); err != nil || got != text {
							t.Errorf("%s: got %q, %v", text, got, err)
						}
					})
				}
				calls.Wait()
			})
		}
	}
}

func TestHTTPBridgesTheEras(t *testing.T) {
	t.Parallel()
	for _, server := range bothEras {
		for _, caller := range []gateway.Era{gateway.EraNone, gateway.EraLegacy, gateway.EraModern} {
			t.Run(fmt.Sprintf("%s to %s", caller, server), func(t *testing.T) {
				record := t.TempDir() + "/record"
				u := openReady(t, faultHTTP(t, "-era", server.String(), "-record", record))
				// The fault server is strict about headers that repeat the body.
				call := u.newCall(caller, "srv__echo", `{"text":"x", "odd" : 1.50e1}`, `"com.example/trace":{"a":[1, 2]}`)
				call.Tool.Name = "echo"
				if _, err := u.Handle(context.Background(), call); err != nil {
					t.Fatal(err)
				}
				sent := recorded(t, record, "tools/call")
				for _, want := range []string{`{"text":"x", "odd" : 1.50e1}`, `"com.example/trace":{"a":[1, 2]}`} {
					if !strings.Contains(sent, want) {
						t.Errorf("%s did not pass unchanged: %s", want, sent)
					}
				}
			})
		}
	}
}

func TestHTTPProgress(t *testing.T) {
	for _, server := range bothEras {
		for _, token := range []string{`"abc"`, `7`, ``} {
			t.Run(fmt.Sprintf("%s, token %s", server, token), func(t *testing.T) {
				t.Parallel()
				record := t.TempDir() + "/record"
				u := openReady(t, faultHTTP(t, "-era", server.String(), "-record", record))
				testProgress(t, u, record, gateway.EraLegacy, token)
			})
		}
	}
}

// A legacy server is told that nobody waits any more; a modern one sees the
// connection end.
func TestHTTPCancel(t *testing.T) {
	t.Parallel()
	for _, era := range bothEras {
		t.Run(era.String(), func(t *testing.T) {
			record := t.TempDir() + "/record"
			u := openReady(t, faultHTTP(t, "-era", era.String(), "-record", record))
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
			recorded(t, record, "cancelled "+id)
			if told := lineWith(t, record, "notifications/cancelled", `"requestId":`+id) != ""; told != (era == gateway.EraLegacy) {
				t.Errorf("told with a notification: %v", told)
			}
			u.mustEcho("still there")
		})
	}
}

// A server's changes are heard on its stream: a GET in the legacy era, a
// subscription in the modern one.
func TestHTTPHearsOfChanges(t *testing.T) {
	t.Parallel()
	for _, era := range bothEras {
		t.Run(era.String(), func(t *testing.T) {
			record := t.TempDir() + "/record"
			set := faultHTTP(t, "-era", era.String(), "-record", record, "-record-headers")
			u := openReady(t, set)
			stream := "subscriptions/listen"
			if era == gateway.EraLegacy {
				stream = `"http":"GET"`
			}
			recorded(t, record, stream)
			before := u.published()
			// Another client changes the tools: nothing of it comes with an
			// answer of ours.
			other := openReady(t, Settings{Name: "other", URL: set.URL})
			if _, err := other.callText("add_tool", `{"name":"fresh"}`); err != nil {
				t.Fatal(err)
			}
			testkit.Eventually(t, func() bool { return strings.Contains(strings.Join(u.toolNames(), " "), "fresh") }, "the new tool is listed")
			testkit.Eventually(t, func() bool { return u.published() == before+1 }, "the change is announced once")
		})
	}
}

func TestHTTPEraDetection(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, server string
		known        gateway.Era
		want         gateway.Era
		methods      string
	}{
		{"modern", "modern", gateway.EraNone, gateway.EraModern, "server/discover"},
		{"legacy", "legacy", gateway.EraNone, gateway.EraLegacy, "server/discover initialize tools/list"},
		{"both is modern", "both", gateway.EraNone, gateway.EraModern, "server/discover"},
		{"legacy, remembered: no probe", "legacy", gateway.EraLegacy, gateway.EraLegacy, "initialize tools/list"},
		{"was legacy, is modern", "modern", gateway.EraLegacy, gateway.EraModern, "initialize server/discover"},
		{"was modern, is legacy", "legacy", gateway.EraModern, gateway.EraLegacy, "server/discover initialize tools/list"},
	} {
		t.Run(test.name, func(t *testing.T) {
			record := t.TempDir() + "/record"
			u := openReady(t, faultHTTP(t, "-era", test.server, "-record", record), remember(test.known))
			if st := u.Status(); st.Era != test.want {
				t.Errorf("era %s, want %s", st.Era, test.want)
			}
			if got := methods(t, record); !strings.HasPrefix(got, test.methods) {
				t.Errorf("asked %q, want %q first", got, test.methods)
			}
			u.mustEcho("x")
		})
	}
}

// The client's own credentials end at our door. Ours, for the server, go on
// every request; of the client's headers only Mcp-Param-* pass.
func TestHTTPHeaders(t *testing.T) {
	t.Parallel()
	for _, era := range bothEras {
		t.Run(era.String(), func(t *testing.T) {
			record := t.TempDir() + "/record"
			u := openReady(t, faultHTTP(t, "-era", era.String(), "-record", record, "-record-headers", "-param-tool"),
				withHeader("authorization", "Bearer ours"))
			call := u.newCall(era, "lookup", `{"region":"eu-west"}`, "")
			call.ParamHeaders = map[string][]string{"Mcp-Param-Region": {"eu-west"}}
			call.Identity = gateway.Identity{ClientID: "client-canary"}
			if _, err := u.Handle(context.Background(), call); err != nil {
				t.Fatal(err)
			}
			u.Close() // so that the DELETE is seen too
			requests := 0
			for _, line := range testkit.Lines(t, record) {
				var seen struct {
					HTTP    string
					Headers map[string][]string
				}
				if json.Unmarshal([]byte(line), &seen) != nil || seen.HTTP == "" {
					continue
				}
				requests++
				if got := strings.Join(seen.Headers["Authorization"], ","); got != "Bearer ours" {
					t.Errorf("%s with Authorization %q", seen.HTTP, got)
				}
				if strings.Contains(line, "client-canary") {
					t.Error(line)
				}
				for name := range seen.Headers {
					if name == "Cookie" || name == "Accept-Encoding" || strings.HasPrefix(name, "X-") {
						t.Errorf("%s has a header %s", seen.HTTP, name)
					}
				}
			}
			if requests < 3 { // the stream of changes may not have been opened yet
				t.Errorf("only %d requests were recorded", requests)
			}
			if strings.Contains(u.log.String(), "Bearer") {
				t.Error("the log has our credentials")
			}
		})
	}
}
