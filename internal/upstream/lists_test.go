package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
)

// listing is a legacy server without a network, so that time can be faked around
// it. Its answers to lists are decided by a test.
type listing struct {
	// lists answers list methods; those that it does not have hang.
	lists map[string]func() string

	mu     sync.Mutex
	asked  map[string]int
	stream *io.PipeWriter
	opened chan struct{}
}

func newListing() *listing {
	return &listing{
		asked: map[string]int{}, opened: make(chan struct{}),
		lists: map[string]func() string{
			"tools/list":               func() string { return `{"result":` + scriptList + `}` },
			"prompts/list":             func() string { return `{"result":{"prompts":[{"name":"p"}]}}` },
			"resources/list":           func() string { return `{"result":{"resources":[{"name":"r","uri":"r://1"}]}}` },
			"resources/templates/list": func() string { return `{"result":{"resourceTemplates":[]}}` },
		},
	}
}

func (l *listing) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := func(status int, kind string, body io.ReadCloser) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, Request: r, ContentLength: -1, Body: body,
			Header: http.Header{"Content-Type": {kind}},
		}, nil
	}
	if r.Method == http.MethodGet {
		read, write := io.Pipe()
		l.mu.Lock()
		l.stream = write
		l.mu.Unlock()
		close(l.opened)
		go func() {
			<-r.Context().Done()
			_ = write.Close()
		}()
		return answer(http.StatusOK, "text/event-stream", read)
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.asked[m.Method]++
	l.mu.Unlock()
	reply := `{"error":{"code":-32601,"message":"Method not found"}}`
	list, listed := l.lists[m.Method]
	switch {
	case m.ID == nil:
		return answer(http.StatusAccepted, "", http.NoBody)
	case m.Method == "initialize":
		reply = `{"result":` + strings.Replace(scriptInit, `{"tools":{}}`,
			`{"tools":{"listChanged":true},"prompts":{},"resources":{}}`, 1) + `}`
	case listed:
		reply = list()
	case strings.HasSuffix(m.Method, "/list"):
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s`, m.ID, reply[1:])
	return answer(http.StatusOK, "application/json", io.NopCloser(bytes.NewReader([]byte(body))))
}

// changed announces other tools.
func (l *listing) changed() {
	_, _ = io.WriteString(l.stream, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
}

func (l *listing) askedFor(method string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked[method]
}

func openListing(t *testing.T, l *listing) *upstreamTest {
	t.Helper()
	return open(t, Settings{URL: "http://listing.test/mcp"}, func(_ *Settings, d *Deps) { d.Transport = l })
}

// A server whose tools change all the time is asked for them once a second. The
// last change is always seen.
func TestAStormOfListChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newListing()
		version := 0
		l.lists["tools/list"] = func() string {
			l.mu.Lock()
			defer l.mu.Unlock()
			return fmt.Sprintf(`{"result":{"tools":[{"name":"t","description":"version %d"}]}}`, version)
		}
		u := openListing(t, l)
		<-l.opened
		synctest.Wait()
		if st := u.Status(); st.State != StateReady {
			t.Fatalf("%+v", st)
		}
		before, published := l.askedFor("tools/list"), u.published()
		const seconds, perSecond = 10, 100
		for range seconds * perSecond {
			l.mu.Lock()
			version++
			l.mu.Unlock()
			l.changed()
			time.Sleep(time.Second / perSecond)
		}
		if n := l.askedFor("tools/list") - before; n < seconds || n > seconds+relistBurst+1 {
			t.Errorf("the tools were listed %d times in %d seconds", n, seconds)
		}
		if n := u.published() - published; n > seconds+relistBurst+1 {
			t.Errorf("%d changes were announced to clients", n)
		}
		time.Sleep(2 * relistEvery)
		if got := string(u.List(gateway.KindTool)[0].Definition); !strings.Contains(got, fmt.Sprintf("version %d", version)) {
			t.Errorf("the last list is %s, want version %d", got, version)
		}
		u.Close()
	})
}

// A change now and then is seen at once.
func TestASingleListChangeIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newListing()
		u := openListing(t, l)
		<-l.opened
		synctest.Wait()
		before := l.askedFor("tools/list")
		for range 3 {
			l.changed()
			synctest.Wait()
		}
		if n := l.askedFor("tools/list") - before; n != 3 {
			t.Errorf("the tools were listed %d times, want 3", n)
		}
		u.Close()
	})
}

// The tools of a server can be used although another of its lists hangs. The
// status says which one.
func TestAListThatHangsLeavesTheToolsUsable(t *testing.T) {
	t.Parallel()
	for method, hangs := range map[string]struct {
		kind gateway.Kind
		word string
	}{
		"prompts/list":             {gateway.KindPrompt, "prompts"},
		"resources/list":           {gateway.KindResource, "resources"},
		"resources/templates/list": {gateway.KindTemplate, "resourceTemplates"},
	} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newListing()
				delete(l.lists, method)
				u := openListing(t, l)
				time.Sleep(otherListsTimeout / 2)
				if st := u.Status(); st.State != StateStarting || !strings.Contains(st.Problem.String(), "has not listed its "+hangs.word+" yet") {
					t.Errorf("at first it is %s: %s", st.State, st.Problem)
				}
				time.Sleep(otherListsTimeout)
				st := u.Status()
				if st.State != StateReady || st.Tools != 1 {
					t.Errorf("then it is %s with %d tools: %s", st.State, st.Tools, st.Problem)
				}
				if len(st.Lists) != 1 || st.Lists[0].Kind != hangs.kind || !strings.Contains(st.Lists[0].Problem.String(), "has not come yet") {
					t.Errorf("the problems with its lists are %v", st.Lists)
				}
				// A change of the tools is still seen.
				before := l.askedFor("tools/list")
				l.changed()
				synctest.Wait()
				if n := l.askedFor("tools/list") - before; n != 1 {
					t.Errorf("the tools were listed %d times after a change", n)
				}
				time.Sleep(2 * time.Minute)
				if st := u.Status(); len(st.Lists) != 1 || !strings.Contains(st.Lists[0].Problem.String(), "did not answer within 1m") {
					t.Errorf("at the end its problems are %v", st.Lists)
				}
				u.Close()
			})
		})
	}
}

// A list that cannot be read is a problem of the server until it can be.
func TestAListThatCannotBeReadIsShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ method, answer, word string }{
		"an error":              {"prompts/list", `{"error":{"code":-32603,"message":"the database is gone"}}`, "the database is gone"},
		"no list":               {"resources/list", `{"result":{"resources":7}}`, "no list of resources"},
		"tools, after a change": {"tools/list", `{"error":{"code":-32603,"message":"the database is gone"}}`, "the database is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newListing()
				u := openListing(t, l)
				<-l.opened
				synctest.Wait()
				if st := u.Status(); st.State != StateReady || len(st.Lists) > 0 {
					t.Fatalf("at first it is %s with %v", st.State, st.Lists)
				}
				good := l.lists[c.method]
				l.lists[c.method] = func() string { return c.answer }
				u.Try()
				synctest.Wait()
				st := u.Status()
				if st.State != StateReady || len(st.Lists) != 1 || st.Lists[0].Kind.ListMethod() != c.method ||
					!strings.Contains(st.Lists[0].Problem.String(), c.word) {
					t.Errorf("then it is %s with %v", st.State, st.Lists)
				}
				l.lists[c.method] = good
				u.Try()
				synctest.Wait()
				if st := u.Status(); len(st.Lists) > 0 {
					t.Errorf("at the end %v", st.Lists)
				}
				u.Close()
			})
		})
	}
}
