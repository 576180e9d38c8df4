package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/logs"
)

// refusalLog is a log that a timer writes to, too.
type refusalLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *refusalLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// refusalLines takes the lines out of a log.
func refusalLines(t *testing.T, log *refusalLog) []map[string]any {
	t.Helper()
	log.mu.Lock()
	defer log.mu.Unlock()
	var lines []map[string]any
	for line := range strings.Lines(log.text.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fields)
	}
	log.text.Reset()
	return lines
}

// A line says what was refused, without the query, and with a path that is
// bounded and has no control characters.
func TestARefusalIsLogged(t *testing.T) {
	var log refusalLog
	r := New(slog.New(slog.NewJSONHandler(&log, nil)), redacted).Refusals()
	req := httptest.NewRequest(http.MethodPost, "/v1/servers?token=hidden", nil)
	req.RemoteAddr = "192.0.2.1:5000"
	req.Header.Set("Authorization", "Bearer hidden")
	r.Note(req, 403, "admin_only", "cursor")
	line := refusalLines(t, &log)[0]
	if text := fmt.Sprint(line); strings.Contains(text, "hidden") {
		t.Errorf("the log has a secret: %s", text)
	}
	for key, want := range map[string]any{
		"level": "WARN", "reason": "admin_only", "status": 403.0, "method": "POST", "path": "/v1/servers",
		"client": "cursor", "remote_address": "192.0.2.1:5000",
	} {
		if line[key] != want {
			t.Errorf("%s is %v, want %v", key, line[key], want)
		}
	}
	for path, want := range map[string]string{
		"/no/such/path": "/no/such/path",
		"/mcp/" + strings.Repeat("k", 43) + "/more": "/mcp/…/more",
	} {
		r.Note(httptest.NewRequest(http.MethodGet, path, nil), 404, "not_found", "")
		if got := refusalLines(t, &log)[0]["path"]; got != want {
			t.Errorf("the path is %v, want %v", got, want)
		}
	}
	req = httptest.NewRequest(http.MethodGet, "/v1/tools/hidden", nil)
	req.Pattern = "GET /v1/tools/{name}"
	r.Note(req, 404, "tool_not_found", "")
	if got := refusalLines(t, &log)[0]["path"]; got != "/v1/tools/{name}" {
		t.Errorf("the path is %v", got)
	}
	req = httptest.NewRequest(strings.Repeat("M", 100), "/%0Afalse%1B[31m"+strings.Repeat("x", 1000), nil)
	r.Note(req, 404, "not_found", "")
	line = refusalLines(t, &log)[0]
	if path := fmt.Sprint(line["path"]); strings.ContainsAny(path, "\n\x1b") || len(path) > maxLoggedPath+3 {
		t.Errorf("the path is %q", path)
	}
	if method := fmt.Sprint(line["method"]); len(method) > maxLoggedMethod+3 {
		t.Errorf("the method is %q", method)
	}
	r.Flush()
}

// A flood is a few lines and one sum for each reason and source; all of it is
// counted.
func TestAFloodOfRefusalsIsSummedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log refusalLog
		recorder := New(slog.New(slog.NewJSONHandler(&log, nil)), redacted)
		r := recorder.Refusals()
		flood := func(n int, from, reason string) {
			for port := range n {
				req := httptest.NewRequest(http.MethodGet, "/mcp", nil)
				req.RemoteAddr = fmt.Sprintf("%s:%d", from, port)
				r.Note(req, 401, reason, "")
			}
		}
		flood(1000, "192.0.2.1", "wrong_token")
		flood(1, "192.0.2.1", "no_token")
		flood(1, "192.0.2.2", "wrong_token")
		if lines := refusalLines(t, &log); len(lines) != logs.AtOnce+2 {
			t.Errorf("%d lines at once", len(lines))
		}
		time.Sleep(logs.Window + time.Second)
		synctest.Wait()
		lines := refusalLines(t, &log)
		if len(lines) != 1 || lines[0]["count"] != float64(1000-logs.AtOnce) || lines[0]["remote_address"] != "192.0.2.1" || lines[0]["reason"] != "wrong_token" {
			t.Errorf("the sums are %v", lines)
		}
		families, err := recorder.Registry().Gather()
		if err != nil {
			t.Fatal(err)
		}
		counted := 0.0
		for _, f := range families {
			for _, m := range f.GetMetric() {
				if f.GetName() == "genkan_refusals_total" {
					counted += m.GetCounter().GetValue()
				}
			}
		}
		if counted != 1002 {
			t.Errorf("%v were counted", counted)
		}
		// The next window begins with lines again.
		flood(1, "192.0.2.1", "wrong_token")
		if lines := refusalLines(t, &log); len(lines) != 1 {
			t.Errorf("then %v", lines)
		}
		// Sources without end are bounded.
		const sources = 1000
		for i := range 10 * sources {
			flood(1, fmt.Sprintf("2001:db8::%x", i), "wrong_token")
		}
		if lines := refusalLines(t, &log); len(lines) > sources+logs.AtOnce {
			t.Errorf("%d lines at once", len(lines))
		}
		r.Flush()
	})
}
