package mcpserver_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// putOff is a server that puts the clients of its tool off: it closes the stream
// of a call with the word to come back later, and tells no event to come back to.
func putOff(t *testing.T) map[string]any {
	t.Helper()
	results := map[string]string{
		"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`,
		"tools/list": `{"tools":[{"name":"later","inputSchema":{"type":"object"}}]}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var asked struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		_ = json.Unmarshal(raw, &asked)
		result, known := results[asked.Method]
		switch {
		case asked.Method == "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "retry: 5\ndata: \n\n")
		case asked.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case !known:
			w.WriteHeader(http.StatusBadRequest)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(asked.ID)+`,"result":`+result+`}`)
		}
	}))
	t.Cleanup(server.Close)
	return map[string]any{"url": server.URL}
}

// TestAClientIsPutOffWithItsServer: a client that waits for such a server gets a
// stream to resume, even if nothing else is sent.
func TestAClientIsPutOffWithItsServer(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"slow": putOff(t)})
	h.waitForServer("slow")
	session := h.initialize(h.token)
	stream := h.open(callWithMeta(legacyEra, session, `"a"`, "slow__later", `{}`, `"progressToken":1`))
	stream.primed()
	stream.want("the connection to server slow broke")
	stream.over()
}
