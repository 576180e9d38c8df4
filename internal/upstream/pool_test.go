package upstream

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/testkit"
)

// client is a legacy session that calls.
type client struct {
	peer
	session gateway.Session
	// name is the client's; the session's id if it is empty.
	name string
}

func newClient(id, capabilities string) *client {
	return &client{session: gateway.Session{ID: id, Capabilities: []byte(capabilities)}}
}

func (c *client) call(t testing.TB, u *upstreamTest, tool, arguments string) (string, error) {
	t.Helper()
	call := u.newCall(gateway.EraLegacy, tool, arguments, "")
	call.Session, call.Peer, call.Identity = &c.session, c, gateway.LocalIdentity(cmp.Or(c.name, c.session.ID))
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	result, err := u.Handle(ctx, call)
	if err != nil {
		return "", err
	}
	return textOf(t, result), nil
}

func answersWith(name string) func(string, []byte) ([]byte, error) {
	return func(string, []byte) ([]byte, error) {
		return fmt.Appendf(nil, `{"action":"accept","content":{"name":%q}}`, name), nil
	}
}

// A legacy server's question names no call. Once a server is known to ask, each
// call that may be asked has a child to itself, so that the question reaches
// the right one however many are under way.
func TestQuestionsReachTheirOwnClient(t *testing.T) {
	t.Parallel()
	u := openReady(t, faultChild(t, "-era", "legacy"))
	first := newClient("first", `{"elicitation":{}}`)
	first.reply = answersWith("first")
	if got, err := first.call(t, u, "elicit", `{}`); err != nil || !strings.Contains(got, `"first"`) {
		t.Fatalf("alone: got %q, %v", got, err)
	}
	const clients = 5
	gathered := make(chan string, clients)
	release := make(chan struct{})
	var calls sync.WaitGroup
	all := make([]*client, clients)
	for i := range all {
		c := newClient(fmt.Sprint("client", i), `{"elicitation":{}}`)
		all[i] = c
		c.reply = func(method string, params []byte) ([]byte, error) {
			gathered <- c.session.ID
			<-release // until all five have been asked
			return answersWith(c.session.ID)(method, params)
		}
		calls.Go(func() {
			question := "for " + c.session.ID
			got, err := c.call(t, u, "elicit", fmt.Sprintf(`{"message":%q}`, question))
			if err != nil || !strings.Contains(got, c.session.ID) {
				t.Errorf("%s: got %q, %v", c.session.ID, got, err)
			}
		})
	}
	for range clients {
		<-gathered
	}
	// Meanwhile those who cannot be asked share the first child.
	if got, err := u.callText("echo", `{"text":"beside"}`); err != nil || got != "beside" {
		t.Errorf("beside: got %q, %v", got, err)
	}
	close(release)
	calls.Wait()
	for _, c := range all {
		heard := c.heard()
		if len(heard) != 1 || !strings.Contains(heard[0], "for "+c.session.ID) {
			t.Errorf("%s was told %v", c.session.ID, heard)
		}
	}
}

// Where several clients have calls under way and nobody knows yet that the
// server asks, its question is put to nobody.
func TestAQuestionThatCouldBeAnybodysIsNobodys(t *testing.T) {
	t.Parallel()
	u := openReady(t, faultChild(t, "-era", "legacy"))
	busy, asked := newClient("busy", `{"elicitation":{}}`), newClient("asked", `{"elicitation":{}}`)
	busy.reply, asked.reply = answersWith("busy"), answersWith("asked")
	ctx, cancel := context.WithCancel(context.Background())
	var calls sync.WaitGroup
	calls.Go(func() {
		call := u.newCall(gateway.EraLegacy, "sleep", `{"ms":600000}`, "")
		call.Session, call.Peer = &busy.session, busy
		_, _ = u.Handle(ctx, call)
	})
	conn := u.stdio(t)
	testkit.Eventually(t, func() bool { return conn.owner() != nil }, "the other call is under way")
	if got, err := asked.call(t, u, "elicit", `{}`); err != nil || !strings.Contains(got, "refused") {
		t.Errorf("got %q, %v", got, err)
	}
	if heard := append(busy.heard(), asked.heard()...); len(heard) != 0 {
		t.Errorf("somebody was told %v", heard)
	}
	cancel()
	calls.Wait()
	// From now on it is known to ask.
	if got, err := asked.call(t, u, "elicit", `{}`); err != nil || !strings.Contains(got, `"asked"`) {
		t.Errorf("got %q, %v", got, err)
	}
}

func (u *upstreamTest) stdio(t testing.TB) *duplexConn {
	t.Helper()
	u.Server.mu.Lock()
	defer u.Server.mu.Unlock()
	c, ok := u.conn.(*duplexConn)
	if !ok {
		t.Fatal("no child")
	}
	return c
}

// A caller without the capability gets an error instead of a question.
func TestACallerThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	u := openReady(t, faultChild(t, "-era", "legacy"))
	c := newClient("plain", `{}`)
	if got, err := c.call(t, u, "elicit", `{}`); err != nil || !strings.Contains(got, "refused") {
		t.Errorf("got %q, %v", got, err)
	}
}

// A session's own connection keeps its state from others, and from nobody else.
func TestIsolationBySession(t *testing.T) {
	t.Parallel()
	u, _ := openScript(t, "where", func(s *Settings, _ *Deps) { s.Isolation = IsolationSession })
	one, two := newClient("one", `{}`), newClient("two", `{}`)
	pid := func(c *client) string {
		got, err := c.call(t, u, "t", `{}`)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(got)[0]
	}
	first, other := pid(one), pid(two)
	if first == other || pid(one) != first || pid(two) != other {
		t.Error("two sessions share a child, or one has several")
	}
	if got := fmt.Sprint(u.Status().PID); got == first || got == other {
		t.Error("the child that is asked for the lists serves a session")
	}
	// A child that dies is replaced when it is needed.
	process, err := os.FindProcess(atoi(t, first))
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, func() bool { return u.pool.count() == 1 }, "the loss is noticed")
	if again := pid(one); again == first || again == other {
		t.Error("a dead child answered")
	}
}

func atoi(t testing.TB, s string) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(s, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A server that works in its client's folder is another one for each folder,
// and is started there.
func TestIsolationByFolder(t *testing.T) {
	t.Parallel()
	u, _ := openScript(t, "where", func(s *Settings, _ *Deps) {
		s.Env["FOLDER"] = gateway.Secret("in " + WorkspaceFolder)
	})
	folders := []string{realDir(t), realDir(t)}
	at := func(folder string) func(string, []byte) ([]byte, error) {
		return func(method string, _ []byte) ([]byte, error) {
			return fmt.Appendf(nil, `{"roots":[{"uri":"file://%s"}]}`, filepath.ToSlash(folder)), nil
		}
	}
	seen := map[string]string{}
	for i, folder := range []string{folders[0], folders[1], folders[0]} {
		c := newClient(fmt.Sprint("client", i), `{"roots":{}}`)
		c.reply = at(folder)
		for range 2 {
			got, err := c.call(t, u, "t", `{}`)
			if err != nil {
				t.Fatal(err)
			}
			words := strings.Fields(got)
			if words[1] != folder || words[3] != folder {
				t.Errorf("in %s: %s", folder, got)
			}
			if pid, ok := seen[folder]; ok && pid != words[0] {
				t.Errorf("%s has two children", folder)
			}
			seen[folder] = words[0]
		}
		if heard := c.heard(); len(heard) != 1 {
			t.Errorf("the client was asked %v", heard)
		}
		// When it moves, it is asked again.
		c.session.Roots++
		c.reply = at(folders[0])
		if got, err := c.call(t, u, "t", `{}`); err != nil || !strings.Contains(got, folders[0]) {
			t.Errorf("after a move: %q, %v", got, err)
		}
	}
	if seen[folders[0]] == seen[folders[1]] {
		t.Error("two folders share a child")
	}
	// A client that spawned us works where it did that.
	spawned := newClient("spawned", `{}`)
	spawned.session.Dir = folders[1]
	if got, err := spawned.call(t, u, "t", `{}`); err != nil || !strings.HasPrefix(got, seen[folders[1]]+" ") {
		t.Errorf("a client that spawned us: %q, %v", got, err)
	}
	// One that does not say where it works cannot use it.
	_, err := newClient("nowhere", `{}`).call(t, u, "t", `{}`)
	wantError(t, err, gateway.CodeInvalid, "srv", "roots")
}

func realDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// There is an end to how many children clients can have started.
func TestThePoolIsBounded(t *testing.T) {
	if !testkit.Full() {
		t.Skip("TestManySessionsEndTheirOwnClientsProcesses fills the pool as well")
	}
	t.Parallel()
	u, _ := openScript(t, "where", func(s *Settings, _ *Deps) { s.Isolation = IsolationSession })
	for i := range maxPooled + 3 {
		if _, err := newClient(fmt.Sprint("client", i), `{}`).call(t, u, "t", `{}`); err != nil {
			t.Fatalf("client %d: %v", i, err)
		}
	}
	testkit.Eventually(t, func() bool { return u.pool.count() <= maxPooled }, "there are at most %d", maxPooled)
}

// A client whose calls are under way in many folders leaves connections for
// others.
func TestOneClientCannotTakeAllFolders(t *testing.T) {
	t.Parallel()
	set := faultChild(t, "-era", "legacy")
	set.Env["WORK"] = WorkspaceFolder
	u := openReady(t, set)
	in := func(ctx context.Context, client, folder, tool, arguments string) error {
		call := u.newCall(gateway.EraLegacy, tool, arguments, "")
		call.Dir, call.Identity.ClientID = folder, client
		_, err := u.Handle(ctx, call)
		return err
	}
	var calls sync.WaitGroup
	defer calls.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	refused := make(chan error, maxPooled)
	for range maxPooled {
		folder := realDir(t)
		calls.Go(func() {
			if err := in(ctx, "greedy", folder, "sleep", `{"ms":600000}`); ctx.Err() == nil {
				refused <- err
			}
		})
	}
	const share = maxPooled * 3 / 4
	testkit.Eventually(t, func() bool { return u.pool.count() >= share }, "a client gets its share")
	if err := in(t.Context(), "other", realDir(t), "echo", `{"text":"x"}`); err != nil {
		t.Fatalf("another client in its own folder: %v", err)
	}
	for range maxPooled - share {
		wantError(t, <-refused, gateway.CodeLimited, "srv", fmt.Sprint(share), "this client")
	}
}

// A client with many sessions ends the longest-idle process of its own for the
// next one, and none of another client.
func TestManySessionsEndTheirOwnClientsProcesses(t *testing.T) {
	t.Parallel()
	u, _ := openScript(t, "where", func(s *Settings, _ *Deps) { s.Isolation = IsolationSession })
	pid := func(c *client) string {
		got, err := c.call(t, u, "t", `{}`)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(got)[0]
	}
	quiet := newClient("quiet", `{}`)
	before := pid(quiet)
	sessions, pids := make([]*client, maxPooled+1), make([]string, maxPooled+1)
	for i := range sessions {
		sessions[i] = newClient(fmt.Sprint("session", i), `{}`)
		sessions[i].name = "greedy"
		pids[i] = pid(sessions[i])
	}
	if after := pid(quiet); after != before {
		t.Error("another client's process was ended, and what it knew is lost")
	}
	last := len(sessions) - 1
	if pid(sessions[last]) != pids[last] {
		t.Error("the newest session has lost its process")
	}
	if pid(sessions[0]) == pids[0] {
		t.Error("the oldest session has kept its process: whose was ended?")
	}
	testkit.Eventually(t, func() bool { return u.pool.count() <= maxPooled }, "there are at most %d", maxPooled)
}

// A session that a server may ask has one child, which remembers what it did;
// so has a modern caller, for one call after the other. Both end with it.
func TestACallerKeepsItsChild(t *testing.T) {
	t.Parallel()
	u := openReady(t, faultChild(t, "-era", "legacy"))
	c := newClient("one", `{"elicitation":{}}`)
	c.reply = answersWith("one")
	for range 5 {
		if _, err := c.call(t, u, "elicit", `{}`); err != nil {
			t.Fatal(err)
		}
		if _, err := c.call(t, u, "echo", `{"text":"x"}`); err != nil {
			t.Fatal(err)
		}
	}
	if got := u.pool.count(); got != 1 {
		t.Errorf("a session has %d children", got)
	}
	modern := func() {
		call := u.newCall(gateway.EraModern, "echo", `{"text":"x"}`, "")
		call.Params, _ = jsonrpc.ScanParams([]byte(strings.Replace(string(call.Params.Raw), `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{}}`, 1)))
		call.Identity.ClientID = "modern"
		if _, err := u.Handle(context.Background(), call); err != nil {
			t.Error(err)
		}
	}
	for range 5 {
		modern()
	}
	if got := u.pool.count(); got != 2 {
		t.Errorf("a modern caller has %d children", got-1)
	}
	u.Forget("one")
	testkit.Eventually(t, func() bool { return u.pool.count() == 1 }, "the session's child ends with it")
}

// Nobody can take all the children, and who gets none is served by the trunk.
func TestOneCallerCannotTakeAllChildren(t *testing.T) {
	t.Parallel()
	u := openReady(t, faultChild(t, "-era", "legacy"))
	teacher := newClient("teacher", `{"elicitation":{}}`)
	teacher.reply = answersWith("teacher")
	if _, err := teacher.call(t, u, "elicit", `{}`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var calls sync.WaitGroup
	const many = maxExclusive + 5
	for range many {
		call := u.newCall(gateway.EraModern, "sleep", `{"ms":600000}`, "")
		call.Params, _ = jsonrpc.ScanParams([]byte(strings.Replace(string(call.Params.Raw), `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{}}`, 1)))
		call.Identity.ClientID = "greedy"
		calls.Go(func() { _, _ = u.Handle(ctx, call) })
	}
	conn := u.stdio(t)
	testkit.Eventually(t, func() bool {
		conn.mu.Lock()
		defer conn.mu.Unlock()
		return len(conn.pending) == many-maxExclusive
	}, "the rest is served by the trunk")
	if got := u.pool.count(); got > maxExclusive+1 {
		t.Errorf("one caller has %d children", got)
	}
	if got, err := teacher.call(t, u, "elicit", `{}`); err != nil || !strings.Contains(got, "teacher") {
		t.Errorf("another: %q, %v", got, err)
	}
	cancel()
	calls.Wait()
}

// What changes in one client's child is told to those who watch it there, and
// goes on being told when the child is another one.
func TestSubscriptionsStayInTheirChild(t *testing.T) {
	t.Parallel()
	u := openReady(t, faultChild(t, "-everything", "-era", "legacy"), func(s *Settings, _ *Deps) { s.Isolation = IsolationSession })
	told := map[string]chan string{}
	clients := map[string]*client{}
	for _, name := range []string{"a", "b"} {
		c, heard := newClient(name, `{}`), make(chan string, 100)
		clients[name], told[name] = c, heard
		stop, err := u.Subscribe(context.Background(), &gateway.Call{
			Kind:   gateway.KindResource,
			Name:   "fault://text",
			Caller: gateway.Caller{Era: gateway.EraLegacy, Session: &c.session},
		}, func(uri string) { heard <- uri })
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
	}
	if _, err := clients["a"].call(t, u, "touch", `{"uri":"fault://text"}`); err != nil {
		t.Fatal(err)
	}
	if got := <-told["a"]; got != "fault://text" {
		t.Errorf("told of %s", got)
	}
	if _, err := clients["a"].call(t, u, "crash", `{}`); err == nil {
		t.Error("it did not crash")
	}
	if got := <-told["a"]; got != "fault://text" { // it may have changed meanwhile
		t.Errorf("told of %s", got)
	}
	if len(told["b"]) != 0 {
		t.Errorf("another client was told of %s", <-told["b"])
	}
}
