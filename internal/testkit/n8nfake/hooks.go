package n8nfake

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Hook is a trigger of a workflow that listens.
type Hook struct {
	// Method and Path select requests, such as POST /webhook/orders.
	Method, Path string
	// Status and Body are answered.
	Status int
	Body   json.RawMessage
	// Executions are stored when the trigger is called. $RUN in them is the mark of the
	// request.
	Executions []json.RawMessage
	// Running is for how many lists the executions run on.
	Running int
	// Drop ends the connection without an answer, and Wait holds the answer until the
	// request is canceled or the test ends.
	Drop, Wait bool
}

// Triggered is a request of a trigger.
type Triggered struct {
	Method, URL string
	Header      http.Header
	Body        string
}

// Listen adds a trigger.
func (f *N8N) Listen(h Hook) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hooks = append(f.hooks, h)
}

// Triggered returns the requests of triggers so far.
func (f *N8N) Triggered() []Triggered {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Triggered{}, f.triggered...)
}

// runningFor is the field of an execution that counts for how many lists it runs on.
const runningFor = "runningFor"

// OfferMCP makes the fake have an MCP server of its own, as newer versions do.
func (f *N8N) OfferMCP() { f.mu.Lock(); defer f.mu.Unlock(); f.mcp = true }

func (f *N8N) trigger(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.mcp && r.URL.Path == "/mcp-server/http" {
			w.Header().Set("WWW-Authenticate", `Bearer realm="n8n MCP Server"`)
			w.WriteHeader(http.StatusUnauthorized)
		}
		return
	}
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	f.requests = append(f.requests, r.Method+" "+r.URL.Path)
	f.triggered = append(f.triggered, Triggered{r.Method, r.URL.RequestURI(), r.Header.Clone(), string(body)})
	var hook *Hook
	for i := range f.hooks {
		if f.hooks[i].Method == r.Method && f.hooks[i].Path == r.URL.Path {
			hook = &f.hooks[i]
		}
	}
	if hook != nil {
		for _, raw := range hook.Executions {
			var e map[string]any
			text := strings.ReplaceAll(string(raw), "$RUN", r.Header.Get("X-Genkan-Run"))
			if err := json.Unmarshal([]byte(text), &e); err != nil {
				panic(err)
			}
			e[runningFor] = hook.Running
			f.executions = append(f.executions, e)
		}
	}
	f.mu.Unlock()
	switch {
	case hook == nil && strings.HasPrefix(r.URL.Path, "/form"):
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "<!DOCTYPE html>\n<html lang='en'>\n<head>\n  <title>Problem loading form</title>\n</head>\n</html>")
	case hook == nil:
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"code": 404, "message": fmt.Sprintf("The requested webhook \"%s %s\" is not registered.", r.Method, strings.SplitN(r.URL.Path, "/", 3)[2]),
			"hint": "The workflow must be active for a production URL to run successfully.",
		})
	case hook.Drop:
		panic(http.ErrAbortHandler)
	case hook.Wait:
		select {
		case <-r.Context().Done():
		case <-f.done:
		}
	default:
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(max(hook.Status, http.StatusOK))
		var text string
		if json.Unmarshal(hook.Body, &text) == nil {
			hook.Body = json.RawMessage(text)
		}
		_, _ = w.Write(hook.Body)
	}
}

// runs reports whether an execution is still under way, and counts that it was asked.
func runs(e map[string]any, count bool) bool {
	left, _ := e[runningFor].(int)
	if count && left > 0 {
		e[runningFor] = left - 1
	}
	return left > 0
}

// AddHook adds a trigger that is described in JSON.
func (f *N8N) AddHook(t testing.TB, raw string) {
	t.Helper()
	var h Hook
	if err := json.Unmarshal([]byte(raw), &h); err != nil {
		t.Fatal(err)
	}
	f.Listen(h)
}
