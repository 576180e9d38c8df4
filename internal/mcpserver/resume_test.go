package mcpserver_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"genkan/internal/testkit"
)

// event is one event of a stream, also one without data.
type event struct{ id, retry, data string }

// event reads the next event.
func (s *stream) event() (e event, err error) {
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return event{}, err
		}
		name, value, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		switch name {
		case "id":
			e.id = value
		case "retry":
			e.retry = value
		case "data":
			e.data = value
		case "":
			if e.id != "" || e.data != "" {
				return e, nil
			}
		}
	}
}

// want reads an event that holds a text.
func (s *stream) want(text string) event {
	s.tb.Helper()
	e, err := s.event()
	if err != nil || !strings.Contains(e.data, text) {
		s.tb.Fatalf("%+v, %v; want %s", e, err, text)
	}
	return e
}

// primed reads the event that a stream begins with.
func (s *stream) primed() event {
	s.tb.Helper()
	e, err := s.event()
	if err != nil || e.data != "" || e.id == "" || e.retry == "" {
		s.tb.Fatalf("the stream begins with %+v, %v", e, err)
	}
	return e
}

// over reads the end of a stream.
func (s *stream) over() {
	s.tb.Helper()
	if e, err := s.event(); err == nil {
		s.tb.Errorf("then came %+v", e)
	}
}

func resume(session, lastEvent string) request {
	return request{method: http.MethodGet, header: headers("Mcp-Session-Id", session, "Last-Event-ID", lastEvent)}
}

// waitForOrphans until genkan has noticed that connections are broken.
func (h *house) waitForOrphans(n int) {
	h.tb.Helper()
	testkit.Eventually(h.tb, func() bool { return h.metric("genkan_orphaned_streams") == fmt.Sprint(n) }, "%d streams wait for their clients", n)
}

// step is what a report of progress says.
func step(n int) string { return fmt.Sprintf(`"progress":%d,`, n) }

// TestABrokenStreamIsResumed: what was said since the event that the client has
// seen last is said again, and then the rest; the tool runs once.
func TestABrokenStreamIsResumed(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	for name, server := range behind(t, "-record", record) {
		t.Run(name, func(t *testing.T) {
			h := openHouse(t, servers{"fault": server})
			before := len(calls(t, record))
			session := h.initialize(h.token)
			third, last := newGate(t), newGate(t)
			stream := h.open(callWithMeta(legacyEra, session, `"a"`, "fault__progress",
				fmt.Sprintf(`{"n":4,"gates":["","",%q,"",%q]}`, third, last), `"progressToken":1`))
			first := stream.primed()
			one, two := stream.want(step(1)), stream.want(step(2))
			stream.close()
			h.waitForOrphans(1)
			third.open(t)

			// Its connection broke before the second step arrived.
			stream = h.open(resume(session, one.id))
			if again := stream.primed(); again.id != one.id {
				t.Errorf("resumed after %s, not %s", again.id, one.id)
			}
			if again := stream.want(step(2)); again != two {
				t.Errorf("%+v became %+v", two, again)
			}
			three, four := stream.want(step(3)), stream.want(step(4))
			seen := map[string]bool{}
			for _, e := range []event{first, one, two, three, four} {
				if seen[e.id] {
					t.Errorf("%s stands for two events", e.id)
				}
				seen[e.id] = true
			}

			// The client may know of a broken connection before genkan does.
			next := h.open(resume(session, four.id))
			next.primed()
			stream.over()
			last.open(t)
			if answer := next.want(`"id":"a"`); text(answer.data) != "4 steps" {
				t.Errorf("the answer is %s", answer.data)
			}
			next.over()
			if n := len(calls(t, record)) - before; n != 1 {
				t.Errorf("the tool was called %d times", n)
			}
			// An answer that was lost on its way can be had again.
			lost := h.open(resume(session, three.id))
			lost.primed()
			lost.want(step(4))
			lost.want("4 steps")
			lost.over()
		})
	}
}

// TestOlderVersionsResume too, if they have seen an event; they are not sent
// one without data.
func TestOlderVersionsResume(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t)})
	for _, version := range []string{"2025-06-18", "2025-03-26", "2024-11-05"} {
		session := h.openSession("/mcp", h.token, version, `{}`)
		gate := newGate(t)
		stream := h.open(callWithMeta(legacyEra, session, "1", "fault__progress", fmt.Sprintf(`{"n":2,"gates":["",%q]}`, gate), `"progressToken":1`))
		one := stream.want(step(1))
		stream.close()
		h.waitForOrphans(1)
		stream = h.open(resume(session, one.id))
		gate.open(t)
		stream.want(step(2))
		stream.want("2 steps")
		stream.over()
		h.send(request{method: http.MethodDelete, header: headers("Mcp-Session-Id", session)})
		h.waitForOrphans(0)
	}
	// A modern stream cannot be resumed, and does not say so.
	r := h.send(callWithMeta(modernEra, "", "1", "fault__progress", `{"n":2}`, `"progressToken":1`))
	if len(r.messages) != 3 || strings.Contains(string(r.body), "\nid:") || strings.Contains(string(r.body), "retry:") {
		t.Errorf("a modern stream is %s", r.body)
	}
}

// TestNobodyResumesForAnother: an event's id is worth nothing outside its
// session, nor is one that was made up or that a former process gave out.
func TestNobodyResumesForAnother(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t, "-everything")})
	session := h.initialize(h.token)
	other := h.newToken("other")
	gate := newGate(t)
	stream := h.open(legacyCall(session, "1", "fault__hold", fmt.Sprintf(`{"gate":%q}`, gate)))
	first := stream.primed()
	stream.close()
	h.waitForOrphans(1)
	as := func(token string, r request) request {
		r.header.Set("Authorization", "Bearer "+token)
		return r
	}
	refused := func(h *house, r request, status int) {
		t.Helper()
		got := h.send(r)
		got.want(t, status, -32600)
		if strings.Contains(string(got.body), "held") {
			t.Errorf("answered %s", got.body)
		}
	}
	refused(h, resume(h.initialize(h.token), first.id), http.StatusBadRequest)
	refused(h, as(other, resume(h.initialize(other), first.id)), http.StatusBadRequest)
	refused(h, as(other, resume(session, first.id)), http.StatusNotFound)
	name := strings.TrimSuffix(first.id, "-1-0")
	for _, madeUp := range []string{
		"x", "0", name, name + "-1", name + "-1-", name + "-1-1", name + "-1--1", name + "-2-0", name + "-0-0", name + "-1-0-0",
		name + "-1-99999999999999999999", "-1-0", "OTHER-1-0", strings.Repeat("1-", 1000),
	} {
		refused(h, resume(session, madeUp), http.StatusBadRequest)
	}
	stream = h.open(resume(session, first.id))
	stream.primed()
	gate.open(t)
	stream.want("held")
	stream.over()

	h = h.again()
	refused(h, resume(session, first.id), http.StatusBadRequest)
	h.send(legacy(session, "1", "ping", "")).want(t, http.StatusOK, 0)
}

// TestAQuestionIsResumed: a client that has not seen the question is asked when
// it comes back, and nowhere else.
func TestAQuestionIsResumed(t *testing.T) {
	t.Parallel()
	h := openHouse(t, upstreams(t))
	for _, server := range []string{"lh", "ls", "mh", "ms"} {
		session := h.openSession("/mcp", h.token, "2025-11-25", canBeAsked)
		own := h.open(request{method: http.MethodGet, header: headers("Mcp-Session-Id", session)})
		stream := h.open(legacyCall(session, "1", server+"__ask", `{}`))
		first := stream.primed()
		asked := stream.want("elicitation/create")
		stream.close()
		h.waitForOrphans(1)
		stream = h.open(resume(session, first.id))
		stream.primed()
		if again := stream.want("elicitation/create"); again != asked {
			t.Errorf("%s: %+v became %+v", server, asked, again)
		}
		h.send(request{
			body:   `{"jsonrpc":"2.0","id":` + member(t, asked.data, "id") + `,` + accept(question{method: "elicitation/create"}) + `}`,
			header: headers("Mcp-Session-Id", session),
		}).want(t, http.StatusAccepted, 0)
		if answer := stream.want(`"id":1`); !strings.Contains(answer.data, "Hana") {
			t.Errorf("%s: the answer is %s", server, answer.data)
		}
		stream.over()
		h.send(request{method: http.MethodDelete, header: headers("Mcp-Session-Id", session)})
		if said, err := own.read(); err == nil {
			t.Errorf("%s: the session's own stream said %s", server, said)
		}
	}
}

// TestACallWithoutAConnectionEnds when its client says so.
func TestACallWithoutAConnectionEnds(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	h := openHouse(t, servers{"fault": child(t, "-everything", "-record", record)})
	begin := func(session string) event {
		stream := h.open(legacyCall(session, "7", "fault__hold", fmt.Sprintf(`{"gate":%q}`, newGate(t))))
		defer h.waitForOrphans(1)
		defer stream.close()
		return stream.primed()
	}
	session := h.initialize(h.token)
	first := begin(session)
	h.send(legacyCall(session, "7", "fault__echo", `{"text":"x"}`)).want(t, http.StatusOK, -32602) // its id is in use
	h.send(legacy(session, "", "notifications/cancelled", `{"requestId":7}`))
	stream := h.open(resume(session, first.id))
	stream.primed()
	if answer := stream.want(`"id":7`); errorCode(answer.data) != 499 {
		t.Errorf("a canceled call is answered with %s", answer.data)
	}
	testkit.Eventually(t, func() bool { return countLines(t, record, "cancelled ") == 1 }, "the server hears of it")
	h.send(request{method: http.MethodDelete, header: headers("Mcp-Session-Id", session)})

	session = h.initialize(h.token)
	first = begin(session)
	h.send(request{method: http.MethodDelete, header: headers("Mcp-Session-Id", session)})
	testkit.Eventually(t, func() bool { return countLines(t, record, "cancelled ") == 2 }, "the server hears of the session's end")
	h.send(resume(session, first.id)).want(t, http.StatusNotFound, -32600)
	h.waitForOrphans(0)
}

// cutting is a network that breaks while a stream is read.
type cutting struct {
	http.RoundTripper
	cut   chan struct{} // closed when it breaks, once
	armed atomic.Bool
	gets  atomic.Int64
}

func (c *cutting) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") != "" {
		c.gets.Add(1)
	}
	resp, err := c.RoundTripper.RoundTrip(r)
	if err == nil && r.Method == http.MethodPost && c.armed.Swap(false) {
		body := resp.Body
		go func() {
			<-c.cut
			_ = body.Close()
		}()
		resp.Body = &cutBody{ReadCloser: body, cut: c.cut}
	}
	return resp, err
}

type cutBody struct {
	io.ReadCloser
	cut chan struct{}
}

func (b *cutBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	select {
	case <-b.cut:
		return 0, io.ErrUnexpectedEOF
	default:
		return n, err
	}
}

// TestTheOfficialClientResumes by itself, and notices nothing.
func TestTheOfficialClientResumes(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	h := openHouse(t, servers{"fault": child(t, "-record", record)})
	for i, version := range []string{"2025-11-25", "2025-06-18"} {
		t.Run(version, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			var mu sync.Mutex
			var progress []float64
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			network := &cutting{RoundTripper: transport, cut: make(chan struct{})}
			client := mcp.NewClient(&mcp.Implementation{Name: "oracle", Version: "1"}, &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
					mu.Lock()
					defer mu.Unlock()
					if progress = append(progress, r.Params.Progress); len(progress) == 2 {
						close(network.cut)
					}
				},
			})
			session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
				Endpoint: h.base + "/mcp", HTTPClient: &http.Client{Transport: bearer{h.token, network}},
			}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = session.Close() }()
			gate := newGate(t)
			params := &mcp.CallToolParams{Name: "fault__progress", Arguments: map[string]any{"n": 4, "gates": []string{"", "", string(gate)}}}
			params.SetProgressToken("p")
			network.armed.Store(true)
			go func() {
				<-network.cut
				gate.open(t)
			}()
			result, err := session.CallTool(ctx, params)
			if err != nil {
				t.Fatal(err)
			}
			if got := result.Content[0].(*mcp.TextContent).Text; got != "4 steps" {
				t.Errorf("the answer is %s", got)
			}
			// The SDK may hand out the answer before what came first.
			testkit.Eventually(t, func() bool {
				mu.Lock()
				defer mu.Unlock()
				return fmt.Sprint(progress) == "[1 2 3 4]"
			}, "all progress is heard of, once")
			if network.gets.Load() != 1 || len(calls(t, record)) != i+1 {
				t.Errorf("resumed %d times, %d calls", network.gets.Load(), len(calls(t, record)))
			}
		})
	}
}
