package mcpserver

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// TestAnIDIsGoodForAMonth, also when nothing of its session is in memory.
func TestAnIDIsGoodForAMonth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newQuietServer(quietHouse{})
		defer s.Close()
		open := func() string { return post(s, "", initializeBody).Header().Get("Mcp-Session-Id") }
		idle := open()
		time.Sleep(sessionLife - time.Hour)
		if got := post(s, idle, pingBody).Code; got != http.StatusOK {
			t.Errorf("before a month: %d", got)
		}
		time.Sleep(2 * time.Hour)
		// It was used an hour ago at most, and is in memory; when it is not any
		// more, it is over.
		time.Sleep(2 * time.Hour)
		if got := post(s, idle, pingBody).Code; got != http.StatusNotFound {
			t.Errorf("after a month: %d", got)
		}
	})
}

// TestAForgottenSubscriptionEnds: a client that subscribed and went away
// without a word does not hold its session for ever.
func TestAForgottenSubscriptionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watching := &watchingHouse{}
		s := newQuietServer(watching)
		defer s.Close()
		session := post(s, "", initializeBody).Header().Get("Mcp-Session-Id")
		if w := post(s, session, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"x://y"}}`); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		// It may come back and hear of what it missed.
		time.Sleep(48 * time.Hour)
		if s.Sessions() != 1 || watching.count() != 1 {
			t.Errorf("%d sessions, %d subscriptions after two days", s.Sessions(), watching.count())
		}
		time.Sleep(sessionLife)
		synctest.Wait()
		if s.Sessions() != 0 || watching.count() != 0 {
			t.Errorf("%d sessions, %d subscriptions after a month", s.Sessions(), watching.count())
		}
	})
}

// watchingHouse counts the subscriptions that are open.
type watchingHouse struct {
	quietHouse
	mu   sync.Mutex
	open int
}

func (h *watchingHouse) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open
}

func (h *watchingHouse) Subscribe(context.Context, *gateway.Call, func(string)) (func(), error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.open--
	}, nil
}

// TestSubscribingAtOnce: however a client races with itself, one subscription
// is left, and none when it has left.
func TestSubscribingAtOnce(t *testing.T) {
	t.Parallel()
	watching := &watchingHouse{}
	s := newQuietServer(watching)
	defer s.Close()
	session := post(s, "", initializeBody).Header().Get("Mcp-Session-Id")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			method := "resources/subscribe"
			if i%5 == 4 {
				method = "resources/unsubscribe"
			}
			post(s, session, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"uri":"x://y"}}`, i, method))
			s.Resubscribe()
		})
	}
	all.Wait()
	post(s, session, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"x://y"}}`)
	eventually(t, func() bool { return watching.count() == 1 })
	r := httptest.NewRequest(http.MethodDelete, "/mcp", http.NoBody)
	r.Header.Set("Mcp-Session-Id", session)
	s.ServeHTTP(httptest.NewRecorder(), r)
	eventually(t, func() bool { return watching.count() == 0 })
}

func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never came to be")
		}
	}
}

// TestCapabilitiesSurvive: what a session's id says of its client is what it
// said itself, as far as anybody asks.
func TestCapabilitiesSurvive(t *testing.T) {
	t.Parallel()
	for said, kept := range map[string]string{
		``:                                    `{}`,
		`{}`:                                  `{}`,
		`{"elicitation":{}}`:                  `{"elicitation":{}}`,
		`{"elicitation":{"url":{}}}`:          `{"elicitation":{"url":{}}}`,
		`{"roots":{"listChanged":true}}`:      `{"roots":{"listChanged":true}}`,
		`{"roots":{"listChanged":false}}`:     `{"roots":{}}`,
		`{"experimental":{"x":1},"tasks":{}}`: `{}`,
		`{"sampling":null}`:                   `{}`,
		`{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}}`: `{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}`,
	} {
		if got := string(unpackCapabilities(packCapabilities([]byte(said)))); got != kept {
			t.Errorf("%s is kept as %s, want %s", said, got, kept)
		}
	}
}

// FuzzTicket: whatever bytes are in an id, reading them does no harm, and what
// was read is what is written.
func FuzzTicket(f *testing.F) {
	ticket := newTicket(gateway.View{Profile: "view"}, gateway.LegacyVersion, []byte(`{"elicitation":{"url":{}}}`))
	f.Add(ticket.encode())
	f.Add([]byte{})
	f.Add(make([]byte, 15))
	f.Fuzz(func(t *testing.T, raw []byte) {
		ticket, ok := decodeTicket(raw)
		if !ok {
			return
		}
		if err := jsonrpc.CheckUnique(ticket.capabilities); err != nil {
			t.Errorf("the capabilities are %s: %v", ticket.capabilities, err)
		}
		again, ok := decodeTicket(ticket.encode())
		if !ok || again.view != ticket.view || again.version != ticket.version || !again.opened.Equal(ticket.opened) ||
			again.nonce != ticket.nonce || string(again.capabilities) != string(ticket.capabilities) {
			t.Errorf("%+v is read as %+v", ticket, again)
		}
	})
}

// FuzzCapabilities: what a client says of itself can be anything, and is kept
// as an object that says no more.
func FuzzCapabilities(f *testing.F) {
	f.Add([]byte(`{"elicitation":{"url":{}},"roots":{"listChanged":true}}`))
	f.Add([]byte(`{"elicitation":[]}`))
	f.Add([]byte(`{"roots":{"listChanged":"no"},"roots":7}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		bits := packCapabilities(raw)
		kept := unpackCapabilities(bits)
		if err := jsonrpc.CheckUnique(kept); err != nil {
			t.Errorf("%s is kept as %s: %v", raw, kept, err)
		}
		if packCapabilities(kept) != bits {
			t.Errorf("%s is kept as %s, which says something else", raw, kept)
		}
	})
}

// FuzzState: no text opens a parked call but the one that was given out.
func FuzzState(f *testing.F) {
	s := newQuietServer(quietHouse{})
	f.Cleanup(s.Close)
	call := &gateway.Call{
		Method: "tools/call",
		Name:   "t",
		Caller: gateway.Caller{Era: gateway.EraModern, Identity: gateway.Identity{ClientID: "me"}},
	}
	call.Tool = &gateway.Tool{Source: nowhere{}}
	k := &park{server: s, call: call, finished: make(chan struct{}), asked: make(chan struct{}, 1), cancel: func(error) {}}
	close(k.finished)
	k.questions = []*question{{key: "q", method: "m", params: []byte("{}")}}
	good, err := s.parks.add(k)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { k.expiry.Stop() })
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add(statePrefix)
	f.Add(statePrefix + base64.RawURLEncoding.EncodeToString(make([]byte, 16+18)))
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		if text == good || strings.ContainsRune(text, 0xfffd) {
			return
		}
		params, err := jsonrpc.ScanParams(append(jsonrpc.AppendQuoted([]byte(`{"requestState":`), text), '}'))
		if err != nil {
			return // it does not come in
		}
		retry := &gateway.Call{
			Method: "tools/call",
			Name:   "t",
			Params: params,
			Caller: gateway.Caller{Era: gateway.EraModern, Identity: call.Identity},
		}
		if found, ours, err := s.parks.take(retry); ours || found != nil || err != nil {
			t.Errorf("%q opens %v, %v, %v", text, found, ours, err)
		}
	})
}

// TestAStreamTakesOver what the former one had not sent: a newer stream of the
// session, or the next after a broken one.
func TestAStreamTakesOver(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*session, *stream){
		"replaced": func(*session, *stream) {},
		"broken":   func(s *session, st *stream) { s.shut(st) },
	} {
		s := newSession(gateway.Identity{ClientID: "me"}, nil, gateway.View{}, gateway.LegacyVersion, nil, time.Minute)
		first := s.open()
		if !s.push([]byte("a question")) {
			t.Fatal("there is no stream")
		}
		s.updated("x://y")
		s.changed(gateway.KindPrompt)
		leave(s, first)
		var sent []string
		for _, message := range s.open().take(nil, everyKind) {
			sent = append(sent, string(message))
		}
		got := strings.Join(sent, "\n")
		for _, want := range []string{"a question", `"uri":"x://y"`, "prompts/list_changed"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s is not sent on the next stream, only %s", name, want, got)
			}
		}
	}
}

// Messages that wait for a client without a stream, or for one that does not read
// it, are bounded in number and in bytes. A single message may have the largest
// allowed size.
func TestWhatWaitsForAClientIsBounded(t *testing.T) {
	t.Parallel()
	large := make([]byte, mostWaitingBytes*3/4)
	l := newListener(gateway.View{}, account{})
	if !l.push(append(large, large...)) || l.push(large) {
		t.Error("a large one waits alone, and no other with it")
	}
	if got := len(l.take(nil, everyKind)); got != 1 {
		t.Errorf("%d messages", got)
	}
	waiting := 0
	for range 2 * mostWaiting {
		if l.push(large[:mostWaitingBytes/100]) {
			waiting++
		}
	}
	if waiting != 100 {
		t.Errorf("%d wait", waiting)
	}
	s := newSession(gateway.Identity{ClientID: "t"}, nil, gateway.View{}, primingVersion, nil, time.Minute)
	for i := range 2 * mostUnsent {
		sessionPeer{s}.Notify("notifications/tasks/status", large[:(i%2)*2*longestUnsent])
	}
	size := 0
	for _, message := range s.unsent {
		size += len(message)
	}
	if len(s.unsent) != mostUnsent || size > mostUnsent*longestUnsent {
		t.Errorf("%d messages of %d bytes wait", len(s.unsent), size)
	}
}
