package upstream

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// sseServer is a small server of the old transport, with bad habits to choose
// from. Its stream is at /sse, its endpoint at /messages.
type sseServer struct {
	*httptest.Server
	t testing.TB
	// endpoint is what it announces for a session; nil for the usual.
	endpoint func(session string) string
	// before is what it writes on a new stream first.
	before string
	// accept decides about a message before it is looked at; it reports false
	// when it has answered. Nil for none.
	accept func(w http.ResponseWriter, r *http.Request, m sseMessage) bool
	// whenDone makes it accept a call only when it is done, as the Java SDK does.
	whenDone bool
	// capabilities are announced; empty for tools that change.
	capabilities string

	mu       sync.Mutex
	sessions map[string]*sseSession
	last     int
	tools    []string
	requests []*http.Request
	seen     []string
}

type sseMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string         `json:"name"`
		URI       string         `json:"uri"`
		Arguments map[string]any `json:"arguments"`
		Meta      struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
}

// sseSession is one open stream.
type sseSession struct {
	out chan string
	end chan struct{}
	cut sync.Once
	// answers are what the client said to our questions.
	answers chan sseMessage
}

func (s *sseSession) say(format string, args ...any) {
	select {
	case s.out <- fmt.Sprintf(format, args...):
	case <-s.end:
	}
}

func (s *sseSession) close() { s.cut.Do(func() { close(s.end) }) }

// startSSE starts a server; change sets its habits.
func startSSEServer(t testing.TB, change ...func(*sseServer)) *sseServer {
	t.Helper()
	s := &sseServer{t: t, sessions: map[string]*sseSession{}, tools: []string{"echo", "sleep", "ask", "progress", "add", "cut", "huge", "touch"}}
	for _, c := range change {
		c(s)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sse", s.stream)
	mux.HandleFunc("POST /messages", s.message)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r)
		s.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.forget(true)
		s.Close()
	})
	return s
}

func (s *sseServer) url() string { return s.URL + "/sse" }

func (s *sseServer) settings() Settings { return Settings{URL: s.url(), Transport: TransportSSE} }

// forget is what a restart does to sessions; a proxy in between may keep their
// streams open.
func (s *sseServer) forget(cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cut {
		for _, session := range s.sessions {
			session.close()
		}
	}
	s.sessions = map[string]*sseSession{}
}

// asked lists the HTTP requests so far, as "METHOD /path".
func (s *sseServer) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, r := range s.requests {
		all = append(all, r.Method+" "+r.URL.Path)
	}
	return all
}

// heard counts the messages with these words.
func (s *sseServer) heard(words ...string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, m := range s.seen {
		all := true
		for _, w := range words {
			all = all && strings.Contains(m, w)
		}
		if all {
			n++
		}
	}
	return n
}

func (s *sseServer) each(do func(*sseSession)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		do(session)
	}
}

func (s *sseServer) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	session := &sseSession{out: make(chan string, 1000), end: make(chan struct{}), answers: make(chan sseMessage, 10)}
	s.mu.Lock()
	s.last++
	name := fmt.Sprint("s", s.last)
	s.sessions[name] = session
	s.mu.Unlock()
	announced := "/messages?session=" + name
	if s.endpoint != nil {
		announced = s.endpoint(name)
	}
	_, _ = io.WriteString(w, ": hello\n\n"+s.before)
	if announced != "" {
		_, _ = fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", announced)
	}
	_ = http.NewResponseController(w).Flush()
	for {
		select {
		case message := <-session.out:
			_, _ = fmt.Fprintf(w, "event: message\ndata: %s\n\n", message)
			_ = http.NewResponseController(w).Flush()
		case <-session.end:
			return
		case <-r.Context().Done():
			session.close()
			return
		}
	}
}

func (s *sseServer) message(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var m sseMessage
	if err != nil || json.Unmarshal(body, &m) != nil {
		http.Error(w, "not a message", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	session := s.sessions[r.URL.Query().Get("session")]
	s.seen = append(s.seen, string(body))
	s.mu.Unlock()
	if s.accept != nil && !s.accept(w, r, m) {
		return
	}
	switch {
	case session == nil:
		http.Error(w, "Could not find session", http.StatusNotFound)
	case s.whenDone:
		s.receive(session, m)
		w.WriteHeader(http.StatusOK)
	default:
		go s.receive(session, m)
		w.WriteHeader(http.StatusAccepted)
	}
}

func (s *sseServer) receive(session *sseSession, m sseMessage) {
	result := func(format string, args ...any) {
		session.say(`{"result":%s,"jsonrpc":"2.0","id":%s}`, fmt.Sprintf(format, args...), m.ID)
	}
	switch m.Method {
	case "":
		session.answers <- m
	case "initialize":
		capabilities := s.capabilities
		if capabilities == "" {
			capabilities = `{"tools":{"listChanged":true},"resources":{"subscribe":true}}`
		}
		result(`{"protocolVersion":"2024-11-05","capabilities":%s,"serverInfo":{"name":"old","version":"1"}}`, capabilities)
	case "tools/list":
		s.mu.Lock()
		var tools []string
		for _, name := range s.tools {
			tools = append(tools, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
		}
		s.mu.Unlock()
		result(`{"tools":[%s]}`, strings.Join(tools, ","))
	case "resources/list":
		result(`{"resources":[]}`)
	case "resources/templates/list":
		result(`{"resourceTemplates":[]}`)
	case "resources/subscribe", "resources/unsubscribe", "ping":
		result(`{}`)
	case "tools/call":
		s.call(session, m, result)
	}
}

func (s *sseServer) call(session *sseSession, m sseMessage, result func(string, ...any)) {
	text := func(text any) {
		quoted, _ := json.Marshal(fmt.Sprint(text))
		result(`{"content":[{"type":"text","text":%s}]}`, quoted)
	}
	switch m.Params.Name {
	case "echo":
		text(m.Params.Arguments["text"])
	case "sleep":
		ms, _ := m.Params.Arguments["ms"].(float64)
		select {
		case <-time.After(time.Duration(ms) * time.Millisecond):
			text("slept")
		case <-session.end:
		}
	case "ask":
		session.say(`{"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{}}}}`)
		select {
		case answer := <-session.answers:
			text(string(answer.Result))
		case <-session.end:
		}
	case "progress":
		session.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"total":2}}`, m.Params.Meta.ProgressToken)
		text("done")
	case "add":
		s.mu.Lock()
		s.tools = append(s.tools, fmt.Sprint(m.Params.Arguments["name"]))
		s.mu.Unlock()
		session.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		text("added")
	case "touch":
		session.say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q}}`, m.Params.Arguments["uri"])
		text("touched")
	case "cut":
		session.close()
	case "huge":
		result(`{"content":[{"type":"text","text":"%s"}]}`, strings.Repeat("0", 33<<20))
	}
}
