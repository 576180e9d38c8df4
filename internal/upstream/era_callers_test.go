package upstream

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/testkit"
)

// dualServer is a server of both eras, whose tool ask with "during" can ask in
// the legacy era only.
type dualServer struct {
	*upstreamTest
	record, pids string
}

func openDual(t *testing.T, options ...option) *dualServer {
	t.Helper()
	d := &dualServer{record: t.TempDir() + "/record", pids: t.TempDir() + "/pids"}
	d.upstreamTest = openReady(t, faultChild(t, "-everything", "-record", d.record, "-pidfile", d.pids), options...)
	return d
}

// children are the processes that run; started those that ever did.
func (d *dualServer) children() int { return len(d.conns()) }
func (d *dualServer) started() int  { return len(testkit.Pids(d.t, d.pids)) }

func withIsolation(mode string) option { return func(s *Settings, _ *Deps) { s.Isolation = mode } }

// withPackage adds an argument that the fault server ignores, as the name of a
// known package would stand on the command line.
func withPackage(name string) option {
	return func(s *Settings, _ *Deps) { s.Args = append(s.Args, "-counter", "/nowhere/"+name) }
}

func answering(id string) *client {
	c := newClient(id, `{"elicitation":{}}`)
	c.reply = answersWith(id)
	return c
}

// isAsked calls a tool that asks by a request during the call.
func (c *client) isAsked(t *testing.T, u *upstreamTest) {
	t.Helper()
	if got, err := c.call(t, u, "ask", `{"during":true}`); err != nil || !strings.Contains(got, `"`+c.session.ID+`"`) {
		t.Errorf("%s: got %q, %v, want its own answer", c.session.ID, got, err)
	}
}

// modernAsk calls the tool ask as a modern client that can be asked, and returns
// the first result.
func modernAsk(t *testing.T, u *upstreamTest, p *peer, arguments string) *gateway.Result {
	t.Helper()
	call := u.newCall(gateway.EraModern, "ask", arguments, "")
	params, err := jsonrpc.ScanParams([]byte(strings.Replace(string(call.Params.Raw), `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{}}`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	call.Params = params
	call.Identity = gateway.LocalIdentity("agent")
	if p != nil {
		call.Peer = p
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	result, err := u.Handle(ctx, call)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// The first caller that can be asked decides the era of a command that nobody has
// used yet. The next start opens it in that era at once.
func TestTheFirstCallerDecidesTheEra(t *testing.T) {
	t.Parallel()
	d := openDual(t)
	first := answering("first")
	first.isAsked(t, d.upstreamTest)
	if st := d.Status(); st.Era != gateway.EraLegacy || st.OtherVersion != "" || d.children() != 1 {
		t.Errorf("%d children, status %+v", d.children(), st)
	}
	if d.started() != 2 {
		t.Errorf("started %d times", d.started())
	}
	if saved, _, _ := d.lists.LoadList(t.Context(), "srv"); !saved.BothEras {
		t.Error("that it speaks both eras is not saved")
	}
	d.Close()

	again := openDual(t, withLists(d.lists))
	answering("second").isAsked(t, again.upstreamTest) // in a child of its own: the server is known to ask
	if again.started() != 2 || lineWith(t, again.record, "server/discover") != "" {
		t.Errorf("started %d times, asked %s", again.started(), methods(t, again.record))
	}
	// Nobody has used the child for the lists, so a modern caller decides again.
	result := modernAsk(t, again.upstreamTest, nil, `{}`)
	if result.Type != gateway.ResultInputRequired || lineWith(t, again.record, "server/discover") == "" {
		t.Errorf("got %s", result.Raw)
	}
}

// A server that only says that it speaks the legacy era, too, is spoken to in the
// modern one, whoever calls. The legacy one is tried once.
func TestACommandThatFailsInTheOtherEra(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"legacy-refused", "legacy-crashes"} {
		for _, used := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", used ", used), func(t *testing.T) {
				u, record := openScript(t, name)
				if used {
					if _, err := u.callText("t", `{}`); err != nil {
						t.Fatal(err)
					}
				}
				for range 2 {
					if got, err := answering("one").call(t, u, "t", `{}`); err != nil || got != "done" {
						t.Errorf("got %q, %v", got, err)
					}
				}
				if st := u.Status(); st.Era != gateway.EraModern || st.State != StateReady || st.OtherVersion != "" {
					t.Errorf("status %+v", st)
				}
				if n := countLines(t, record, `"initialize"`); n != 1 {
					t.Errorf("the legacy era was tried %d times", n)
				}
			})
		}
	}
}

// Modern and legacy clients of a command that speaks both eras are each served in
// their own, at the same time.
func TestClientsOfBothErasAtOnce(t *testing.T) {
	t.Parallel()
	d := openDual(t)
	if result := modernAsk(t, d.upstreamTest, nil, `{}`); result.Type != gateway.ResultInputRequired {
		t.Fatalf("got %s", result.Raw)
	}
	pid := d.Status().PID
	editor := answering("editor")
	var calls sync.WaitGroup
	calls.Go(func() { editor.isAsked(t, d.upstreamTest) })
	calls.Go(func() {
		if result := modernAsk(t, d.upstreamTest, nil, `{}`); result.Type != gateway.ResultInputRequired {
			t.Errorf("got %s", result.Raw)
		}
	})
	calls.Wait()
	st := d.Status()
	if st.Era != gateway.EraModern || st.OtherVersion != gateway.LegacyVersion || st.PID != pid || st.Starts != 1 {
		t.Errorf("status %+v", st)
	}
	// The connection of the other era can end, and the server is still there.
	for _, one := range d.pool.of(poolKey.isShared) {
		one.conn.end(errNotResponding)
	}
	testkit.Eventually(t, func() bool { return d.Status().OtherVersion == "" }, "one child is left")
	editor.isAsked(t, d.upstreamTest)
	d.Restart()
	d.waitStart(2)
	testkit.Eventually(t, func() bool { return d.children() == 1 }, "a restart ends all children")
}

// A caller that cannot be asked is served in whatever era is spoken.
func TestACallerThatCannotBeAskedOpensNoConnection(t *testing.T) {
	t.Parallel()
	d := openDual(t)
	for range 2 {
		plain := newClient("plain", `{"roots":{}}`)
		if got, err := plain.call(t, d.upstreamTest, "echo", `{"text":"x"}`); err != nil || got != "x" {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if st := d.Status(); d.started() != 1 || st.Era != gateway.EraModern {
		t.Errorf("started %d times, status %+v", d.started(), st)
	}
}

// A command that must not run twice has one child, in the legacy era. Modern
// clients are asked through it.
func TestACommandThatMustNotRunTwice(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]option{
		"isolation: shared":   withIsolation(IsolationShared),
		"known to keep state": withPackage("server-memory"),
	} {
		t.Run(name, func(t *testing.T) {
			d := openDual(t, o)
			editor := answering("editor")
			editor.isAsked(t, d.upstreamTest)
			agent := &peer{reply: answersWith("agent")}
			if got := textOf(t, modernAsk(t, d.upstreamTest, agent, `{"during":true}`)); !strings.Contains(got, "agent") {
				t.Errorf("got %q", got)
			}
			editor.isAsked(t, d.upstreamTest)
			if st := d.Status(); d.started() != 1 || st.Era != gateway.EraLegacy {
				t.Errorf("started %d times, status %+v", d.started(), st)
			}
		})
	}
}

// A modern server that must not run twice is asked in the legacy way first, and
// works all the same.
func TestAModernCommandThatMustNotRunTwice(t *testing.T) {
	t.Parallel()
	u := openReady(t, faultChild(t, "-era", "modern"), withIsolation(IsolationShared))
	u.mustEcho("x")
	if st := u.Status(); st.Era != gateway.EraModern || st.Starts != 1 {
		t.Errorf("status %+v", st)
	}
}

// Sessions that have a child each are served in their own era.
func TestTheChildOfASessionIsOfItsEra(t *testing.T) {
	t.Parallel()
	d := openDual(t, withIsolation(IsolationSession))
	answering("editor").isAsked(t, d.upstreamTest)
	if result := modernAsk(t, d.upstreamTest, nil, `{}`); result.Type != gateway.ResultInputRequired {
		t.Fatalf("got %s", result.Raw)
	}
	rest := d.newCall(gateway.EraNone, "echo", `{"text":"x"}`, "")
	rest.Identity = gateway.LocalIdentity("agent")
	if _, err := d.Handle(t.Context(), rest); err != nil {
		t.Error(err)
	}
	if d.children() != 3 || d.started() != 3 { // the lists have one, too
		t.Errorf("%d children, %d started", d.children(), d.started())
	}
	d.Forget("editor")
	testkit.Eventually(t, func() bool { return d.children() == 2 }, "the child ends with its session")
}

// A server with a URL has a legacy session beside the modern connection, for
// those who can be asked.
func TestAURLOfBothEras(t *testing.T) {
	t.Parallel()
	record := t.TempDir() + "/record"
	u := openReady(t, Settings{URL: testkit.StartFaultHTTP(t, "-everything", "-record", record)})
	u.mustEcho("x")
	if lineWith(t, record, `"initialize"`) != "" {
		t.Error("a session was opened for a caller that cannot be asked")
	}
	for _, id := range []string{"one", "two", "one"} {
		answering(id).isAsked(t, u)
	}
	if result := modernAsk(t, u, nil, `{}`); result.Type != gateway.ResultInputRequired {
		t.Errorf("got %s", result.Raw)
	}
	if n := countLines(t, record, `"initialize"`); n != 1 {
		t.Errorf("%d sessions", n)
	}
	if st := u.Status(); st.Era != gateway.EraModern || st.OtherVersion != gateway.LegacyVersion || st.Starts != 1 {
		t.Errorf("status %+v", st)
	}
}

// A legacy server without sessions cannot be answered, so a server of both eras
// is spoken to in the modern one. It is tried once.
func TestAURLOfBothErasWithoutSessions(t *testing.T) {
	t.Parallel()
	record := t.TempDir() + "/record"
	to, err := url.Parse(testkit.StartFaultHTTP(t, "-everything", "-record", record))
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL, r.Out.Host = to, "" },
		ModifyResponse: func(r *http.Response) error {
			r.Header.Del("Mcp-Session-Id")
			return nil
		},
		FlushInterval: -1,
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	u := openReady(t, Settings{URL: server.URL})
	for range 2 {
		c := answering("one")
		if got, err := c.call(t, u, "ask", `{}`); err != nil || !strings.Contains(got, `"one"`) {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if n := countLines(t, record, `"method":"initialize"`); n != 1 || u.Status().OtherVersion != "" {
		t.Errorf("%d sessions, status %+v", n, u.Status())
	}
}

// However many call at once while nobody has used a server yet, no call is lost to
// the restart in another era.
func TestFirstCallersOfBothErasAtOnce(t *testing.T) {
	t.Parallel()
	for range testkit.Count(2, 20) {
		d := openDual(t)
		var calls sync.WaitGroup
		for i := range 8 {
			calls.Go(func() {
				var err error
				switch i % 4 {
				case 0:
					_, err = answering(fmt.Sprint("editor", i)).call(t, d.upstreamTest, "echo", `{"text":"x"}`)
				case 1:
					_, err = newClient("plain", `{}`).call(t, d.upstreamTest, "echo", `{"text":"x"}`)
				case 2:
					_, err = d.callText("echo", `{"text":"x"}`)
				default:
					if result := modernAsk(t, d.upstreamTest, nil, `{}`); result.Type != gateway.ResultInputRequired {
						err = fmt.Errorf("got %s", result.Raw)
					}
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		if st := d.Status(); d.children() != 2 || st.OtherVersion == "" || st.Starts > 2 {
			t.Errorf("%d children, status %+v", d.children(), st)
		}
		d.Close()
	}
}
