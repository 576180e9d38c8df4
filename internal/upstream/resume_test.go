package upstream

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// A legacy server may close the stream of a call, having numbered its events,
// and finish the answer on a GET with Last-Event-ID. The call must not be sent
// twice for it.
func TestStreamThatWasClosedIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	var calls, resumed atomic.Int64
	var callID atomic.Pointer[string]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.Header.Get("Last-Event-Id") == "" {
			http.Error(w, "no stream of changes", http.StatusMethodNotAllowed)
			return
		}
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			if r.Header.Get("Last-Event-Id") != "stream-7" {
				t.Errorf("resumed after %q", r.Header.Get("Last-Event-Id"))
			}
			if resumed.Add(1) == 1 {
				return // closed again, with nothing on it
			}
			fmt.Fprintf(w, "id: stream-8\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", *callID.Load())
			return
		}
		if r.Method == http.MethodDelete {
			return
		}
		raw, _ := io.ReadAll(r.Body)
		msg, err := jsonrpc.Scan(raw)
		if err != nil {
			t.Error(err)
		}
		switch msg.Method {
		case "initialize":
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Mcp-Session-Id", "s1")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`, msg.ID)
		case "tools/list":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"slow","inputSchema":{"type":"object"}}]}}`, msg.ID)
		case "tools/call":
			calls.Add(1)
			id := string(msg.ID)
			callID.Store(&id)
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: stream-7\nretry: 10\ndata:\n\n")
		case "server/discover":
			w.WriteHeader(http.StatusBadRequest)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	defer server.Close()
	s := Open(Settings{Name: "s", URL: server.URL, StartupTimeout: time.Minute}, Deps{
		Lists: noLists{}, Log: slog.New(slog.DiscardHandler), Publish: func(gateway.Event) {}, Version: "test",
	})
	defer s.Close()
	params, err := jsonrpc.ScanParams([]byte(`{"name":"slow"}`))
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Handle(context.Background(), &gateway.Call{
		Method: "tools/call",
		Name:   "slow",
		Params: params,
		Caller: gateway.Caller{Era: gateway.EraLegacy},
		Tool:   &gateway.Tool{Name: "slow", Exposed: "slow", Source: s},
	})
	if err != nil || !strings.Contains(string(result.Raw), `"content":[]`) {
		t.Fatalf("%v %v", result, err)
	}
	if calls.Load() != 1 || resumed.Load() != 2 {
		t.Errorf("%d calls, %d resumptions", calls.Load(), resumed.Load())
	}
}
