package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// speaker is an MCP server over HTTP that says of itself what a test wants.
type speaker struct {
	url string

	mu           sync.Mutex
	instructions string
	// tools, resources and templates are the definitions, as JSON.
	tools, resources, templates []string
	// fails is a method that is answered with an error.
	fails string
}

func newSpeaker(t testing.TB, tools ...string) *speaker {
	t.Helper()
	s := &speaker{tools: tools}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL + "/mcp"
	return s
}

func (s *speaker) conf() conf { return conf{"url": s.url, "type": "http"} }

// say changes what the server says, beginning with its next answer.
func (s *speaker) say(change func(*speaker)) *speaker {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
	return s
}

func (s *speaker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := func(key string, all []string) string { return `{"` + key + `":[` + strings.Join(all, ",") + `]}` }
	w.Header().Set("Content-Type", "application/json")
	switch m.Method {
	case s.fails:
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the database is gone"}}`, m.ID)
	case "initialize":
		said, _ := json.Marshal(s.instructions)
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{}},`+
			`"serverInfo":{"name":"speaker","version":"1"},"instructions":%s}}`, m.ID, said)
	case "tools/list":
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, list("tools", s.tools))
	case "resources/list":
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, list("resources", s.resources))
	case "resources/templates/list":
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, list("resourceTemplates", s.templates))
	case "resources/read":
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"contents":[{"uri":"x://","text":%q}]}}`, m.ID, s.url)
	default:
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
	}
}

// toolSaying is a definition with a description.
func toolSaying(name, description string) string {
	quoted, _ := json.Marshal(description)
	return fmt.Sprintf(`{"name":%q,"description":%s,"inputSchema":{"type":"object"}}`, name, quoted)
}
