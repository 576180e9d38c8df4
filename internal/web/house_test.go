package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"genkan/internal/app"
	"genkan/internal/sqlite/blank"
	"genkan/internal/testkit"
	"genkan/internal/web"
)

// house is a gateway on loopback.
type house struct {
	*app.Process
	t     *testing.T
	dir   string
	base  string // http://127.0.0.1:port
	admin string
	log   *testkit.Buffer
	stop  func()
}

func openHouse(t *testing.T, dir, config string) *house {
	t.Helper()
	h := &house{t: t, dir: dir, log: &testkit.Buffer{}}
	if err := os.WriteFile(filepath.Join(dir, "genkan.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := blank.Write(filepath.Join(dir, "genkan.db")); err != nil {
		t.Fatal(err)
	}
	p, err := app.Open(context.Background(), app.Options{
		DataDir: dir, Version: "v-test", LookupEnv: func(string) (string, bool) { return "", false },
		Log: slog.New(slog.NewJSONHandler(h.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	h.Process = p
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.base = "http://" + l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Serve(ctx, l) }()
	stopped := false
	h.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(h.stop)
	token, err := os.ReadFile(app.AdminTokenFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	h.admin = strings.TrimSpace(string(token))
	return h
}

const noServers = "kb: {enabled: false}\n"

// tab is a page in a browser. It keeps cookies as browsers do, and says where its
// requests come from.
type tab struct {
	h      *house
	base   string
	cookie string
}

func (h *house) tab() *tab { return &tab{h: h, base: h.base} }

type reply struct {
	status int
	header http.Header
	body   string
}

// send sends a request with these headers and the tab's cookie, and nothing else.
func (b *tab) send(method, path, body string, headers ...string) reply {
	b.h.t.Helper()
	r, err := http.NewRequestWithContext(b.h.t.Context(), method, b.base+path, strings.NewReader(body))
	if err != nil {
		b.h.t.Fatal(err)
	}
	if b.cookie != "" {
		r.Header.Set("Cookie", b.cookie)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{
		Timeout:       20 * time.Second, // a stream that should not be open
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(r)
	if err != nil {
		b.h.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.h.t.Fatal(err)
	}
	for _, c := range resp.Cookies() {
		b.cookie = c.Name + "=" + c.Value
		if c.MaxAge < 0 {
			b.cookie = ""
		}
	}
	return reply{resp.StatusCode, resp.Header, string(text)}
}

// fetch is what a script of the page sends.
func (b *tab) fetch(method, path, body string) reply {
	b.h.t.Helper()
	headers := []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"}
	if method != http.MethodGet {
		headers = append(headers, "Origin", b.base, "Content-Type", "application/json")
	}
	return b.send(method, path, body, headers...)
}

func (r reply) want(t *testing.T, status int, has ...string) {
	t.Helper()
	if r.status != status {
		t.Errorf("status %d, want %d: %s", r.status, status, r.body)
	}
	for _, text := range has {
		if !strings.Contains(r.body, text) {
			t.Errorf("%q is not in %s", text, r.body)
		}
	}
}

// needsPages skips a test in a build with the tag noui.
func needsPages(t *testing.T) {
	t.Helper()
	if !web.Built {
		t.Skip("this build has no web UI")
	}
}

// link has genkan make a link, as the command line does, and returns its code.
func (h *house) link() (address, code string) {
	h.t.Helper()
	needsPages(h.t)
	got := h.tab().send(http.MethodPost, "/ui/link", "", "Authorization", "Bearer "+h.admin)
	var made struct{ URL, ExpiresAt string }
	if err := json.Unmarshal([]byte(got.body), &made); err != nil || got.status != 200 || made.ExpiresAt == "" {
		h.t.Fatalf("%d %s", got.status, got.body)
	}
	address, code, ok := strings.Cut(made.URL, "#code=")
	if !ok || address != h.base+"/ui/" {
		h.t.Fatalf("the link is %s", made.URL)
	}
	return address, code
}

// signedIn returns a tab that has signed in with a link.
func (h *house) signedIn() *tab {
	h.t.Helper()
	b := h.tab()
	_, code := h.link()
	b.fetch(http.MethodPost, "/ui/session", `{"code":"`+code+`"}`).want(h.t, 200, `"signedIn":true`)
	return b
}

// The whole sign-in, as a conversation of a browser with genkan.
func TestSignIn(t *testing.T) {
	t.Parallel()
	needsPages(t)
	h := openHouse(t, t.TempDir(), noServers+"lang: ja\n")
	b := h.tab()

	// A person opens the address of genkan, and comes to the page.
	got := b.send(http.MethodGet, "/", "", "Accept", "text/html", "Sec-Fetch-Site", "none")
	got.want(t, 302)
	if got.header.Get("Location") != "ui/" {
		t.Errorf("/ leads to %s", got.header.Get("Location"))
	}
	b.send(http.MethodGet, "/ui/", "", "Sec-Fetch-Site", "none").want(t, 200, `<base href="./">`)

	// The page asks who it is, and learns the language; nobody is signed in yet.
	b.fetch(http.MethodGet, "/ui/session", "").want(t, 200, `{"signedIn":false,"admin":false,"version":"v-test","language":"ja"}`)
	b.fetch(http.MethodGet, "/v1/servers", "").want(t, 401)

	// The link's page is loaded without the code, any number of times.
	_, code := h.link()
	for range 3 {
		h.tab().send(http.MethodGet, "/ui/", "", "Sec-Fetch-Site", "none", "Sec-Purpose", "prefetch").want(t, 200)
	}
	got = b.fetch(http.MethodPost, "/ui/session", `{"code":"`+code+`"}`)
	got.want(t, 200, `{"signedIn":true,"client":"admin","admin":true,"version":"v-test","language":"ja"}`)
	cookie := got.header.Get("Set-Cookie")
	for _, part := range []string{"genkan_session_", "; Path=/", "; HttpOnly", "; SameSite=Strict", "; Max-Age="} {
		if !strings.Contains(cookie, part) {
			t.Errorf("the cookie %q lacks %s", cookie, part)
		}
	}
	if strings.Contains(cookie, "Secure") || strings.Contains(cookie, "Domain") {
		t.Errorf("the cookie is %s", cookie)
	}
	if got.header.Get("Cache-Control") != "no-store" {
		t.Error("a session may be cached")
	}

	// The link was used, and says what to do.
	h.tab().fetch(http.MethodPost, "/ui/session", `{"code":"`+code+`"}`).want(t, 401, "genkan ui", "AUTHENTICATION_ERROR")

	// The page reads, changes something, and follows events.
	b.fetch(http.MethodGet, "/ui/session", "").want(t, 200, `"signedIn":true`)
	b.fetch(http.MethodGet, "/v1/servers", "").want(t, 200, `"servers":`)
	b.fetch(http.MethodPost, "/v1/tokens", `{"name":"ann"}`).want(t, 201, `"name":"ann"`)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.base+"/v1/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Cookie": {b.cookie}, "Sec-Fetch-Site": {"same-origin"}}
	stream, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Body.Close() }()
	events := bufio.NewReader(stream.Body)
	if line, err := events.ReadString('\n'); err != nil || stream.StatusCode != http.StatusOK || !strings.HasPrefix(line, "retry:") {
		t.Errorf("events: %d %q %v", stream.StatusCode, line, err)
	}

	// MCP and metrics take tokens only.
	for _, path := range []string{"/mcp", "/sse", "/metrics", "/messages", "/nowhere"} {
		b.fetch(http.MethodGet, path, "").want(t, 401)
	}
	b.fetch(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`).want(t, 401)
	// A session makes no further links.
	b.fetch(http.MethodPost, "/ui/link", "").want(t, 401)

	// Signing out ends the session, not only the cookie, and with it the events.
	before := b.cookie
	b.fetch(http.MethodDelete, "/ui/session", "").want(t, 204)
	h.tab().send(http.MethodPost, "/v1/reload", "", "Authorization", "Bearer "+h.admin).want(t, 200)
	if rest, err := io.ReadAll(events); err != nil || strings.Contains(string(rest), "data:") {
		t.Errorf("after signing out came %q, %v", rest, err)
	}
	if b.cookie != "" {
		t.Error("the browser keeps the cookie")
	}
	b.cookie = before
	b.fetch(http.MethodGet, "/ui/session", "").want(t, 200, `"signedIn":false`)
	b.fetch(http.MethodGet, "/v1/servers", "").want(t, 401, "genkan ui")
	b.fetch(http.MethodDelete, "/ui/session", "").want(t, 204)

	for _, secret := range []string{code, strings.SplitN(before, "=", 2)[1], h.admin} {
		if strings.Contains(h.log.String(), secret) {
			t.Error("the log has a secret")
		}
	}
}

// With a token the session has its rights, until the token is revoked.
func TestSignInWithAToken(t *testing.T) {
	t.Parallel()
	h := openHouse(t, t.TempDir(), noServers)
	admin := h.tab()
	admin.fetch(http.MethodPost, "/ui/session", `{"token":"`+h.admin+`\n"}`).want(t, 200, `"client":"admin","admin":true`)
	var made struct{ Token string }
	if err := json.Unmarshal([]byte(admin.fetch(http.MethodPost, "/v1/tokens", `{"name":"ann"}`).body), &made); err != nil || made.Token == "" {
		t.Fatal(err)
	}
	ann := h.tab()
	ann.fetch(http.MethodPost, "/ui/session", `{"token":"gk_wrong"}`).want(t, 401, "the token is not known here")
	ann.fetch(http.MethodPost, "/ui/session", `{"token":"`+made.Token+`"}`).want(t, 200, `"client":"ann","admin":false`)
	ann.fetch(http.MethodGet, "/v1/tools", "").want(t, 200)
	ann.fetch(http.MethodGet, "/v1/tokens", "").want(t, 403)
	h.tab().send(http.MethodPost, "/ui/link", "", "Authorization", "Bearer "+made.Token).want(t, 403)
	admin.fetch(http.MethodDelete, "/v1/tokens/ann", "").want(t, 200)
	ann.fetch(http.MethodGet, "/v1/tools", "").want(t, 401)
	ann.fetch(http.MethodGet, "/ui/session", "").want(t, 200, `"signedIn":false`)

	good := `"token":"` + h.admin + `"`
	for _, body := range []string{
		"", "{}", "[]", "null", `{"code":"","token":""}`, `{"code":"a","token":"b"}`, `{"code":1}`,
		`{` + good + `,` + good + `}`, `{` + good + `,"Token":"x"}`, `{"TOKEN":"` + h.admin + `"}`, `{` + good + `,"more":1}`, `{` + good + `} {}`,
	} {
		h.tab().fetch(http.MethodPost, "/ui/session", body).want(t, 400, "genkan ui")
	}
	h.tab().fetch(http.MethodPost, "/ui/session", `{"token":"`+strings.Repeat("x", 5000)+`"}`).want(t, 400, "this is too long to be a token")
	h.tab().fetch(http.MethodPut, "/ui/session", "{}").want(t, 405)
}

// Sign-ins of a client count against its rate limit.
func TestSignInsAreLimited(t *testing.T) {
	t.Parallel()
	h := openHouse(t, t.TempDir(), noServers+"rateLimit: {max: 3, timeWindow: 1h}\n")
	b := h.signedIn()
	var made struct{ Token string }
	if err := json.Unmarshal([]byte(b.fetch(http.MethodPost, "/v1/tokens", `{"name":"ann"}`).body), &made); err != nil || made.Token == "" {
		t.Fatal(err)
	}
	for range 3 {
		h.tab().fetch(http.MethodPost, "/ui/session", `{"token":"`+made.Token+`"}`).want(t, 200)
	}
	got := h.tab().fetch(http.MethodPost, "/ui/session", `{"token":"`+made.Token+`"}`)
	got.want(t, 429, "RATE_LIMIT_EXCEEDED")
	if got.header.Get("Retry-After") == "" || got.header.Get("Set-Cookie") != "" {
		t.Errorf("%v", got.header)
	}
	if !strings.Contains(h.log.String(), "rate_limit_exceeded") {
		t.Error("the refusal is not in the log")
	}
	b.fetch(http.MethodGet, "/v1/tokens", "").want(t, 200)
}

// Pages make several requests each. Whoever sets a limit in the web UI can go on using it:
// of an administrator's requests there only calls of tools count. A token's requests count,
// and those of a client's session, with which its program could sign in.
func TestPagesOfAnAdministratorDoNotCount(t *testing.T) {
	t.Parallel()
	h := openHouse(t, t.TempDir(), "rateLimit: {max: 2, timeWindow: 1h}\n")
	b := h.signedIn()
	looks := func(status int) {
		t.Helper()
		for range 3 {
			b.fetch(http.MethodGet, "/v1/tools", "").want(t, status)
			b.fetch(http.MethodGet, "/v1/calls", "").want(t, status)
			b.fetch(http.MethodPost, "/v1/tools/search", `{"query":"x"}`).want(t, status)
			b.fetch(http.MethodPost, "/v1/tools/nothing/validate", `{}`).want(t, 404)
		}
	}
	looks(200)
	for range 2 {
		b.fetch(http.MethodPost, "/v1/tools/call", `{"name":"nothing"}`).want(t, 404)
	}
	b.fetch(http.MethodPost, "/v1/tools/call", `{"name":"get_statuses"}`).want(t, 429, "more than 2 requests in 1h;")
	b.fetch(http.MethodGet, "/v1/calls?outcome=limited&limit=1", "").want(t, 200, `"server":"kb"`, `"tool":"get_statuses"`)
	looks(200)
	h.tab().send(http.MethodGet, "/v1/tools", "", "Authorization", "Bearer "+h.admin).want(t, 429)

	var made struct{ Token string }
	if err := json.Unmarshal([]byte(b.fetch(http.MethodPost, "/v1/tokens", `{"name":"ann"}`).body), &made); err != nil || made.Token == "" {
		t.Fatal(err)
	}
	ann := h.tab()
	ann.fetch(http.MethodPost, "/ui/session", `{"token":"`+made.Token+`"}`).want(t, 200)
	ann.fetch(http.MethodGet, "/v1/tools", "").want(t, 200)
	ann.fetch(http.MethodGet, "/v1/tools", "").want(t, 429)
}

// A restart signs nobody out, also not onto another port; another data directory knows
// nobody of the first.
func TestARestartKeepsSessions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := openHouse(t, dir, noServers)
	b := first.signedIn()
	first.stop()
	second, other := openHouse(t, dir, noServers), openHouse(t, t.TempDir(), noServers)
	b.h, b.base = second, second.base
	b.fetch(http.MethodGet, "/v1/servers", "").want(t, 200)

	// Two genkans on one host do not replace each other's cookies.
	name, _, _ := strings.Cut(b.cookie, "=")
	if signedIn := other.signedIn(); strings.HasPrefix(signedIn.cookie, name+"=") {
		t.Errorf("both cookies are called %s", name)
	}
	stranger := &tab{h: other, base: other.base, cookie: b.cookie}
	stranger.fetch(http.MethodGet, "/v1/servers", "").want(t, 401)
}

// What a person looks up on the pages is no call of an agent, so the history does not
// have it, nor what a form gets refused. What a person changes or runs there is a call.
func TestReadingOnThePagesIsNotInTheHistory(t *testing.T) {
	t.Parallel()
	h := openHouse(t, t.TempDir(), "")
	b := h.signedIn()
	b.fetch(http.MethodPost, "/v1/items", `{"type":"docs","title":"Keys","content":"Under the mat.","tags":["home"]}`).want(t, 201)
	for _, path := range []string{"/v1/items", "/v1/items/search?query=keys", "/v1/items/docs-1", "/v1/items/docs-1/related", "/v1/tags"} {
		b.fetch(http.MethodGet, path, "").want(t, 200)
	}
	b.fetch(http.MethodGet, "/v1/items/docs-7", "").want(t, 404)
	b.fetch(http.MethodPost, "/v1/items", `{"type":"docs","title":"","content":"Of a form that is refused."}`).want(t, 400, "title")
	b.fetch(http.MethodPost, "/v1/tools/call", `{"name":"get_tags"}`).want(t, 200)
	// A program with a token reads as agents do.
	h.tab().send(http.MethodGet, "/v1/items", "", "Authorization", "Bearer "+h.admin).want(t, 200)
	// So do the pages of a client, but for the lists that they fill their menus with.
	var made struct{ Token string }
	if err := json.Unmarshal([]byte(b.fetch(http.MethodPost, "/v1/tokens", `{"name":"agent"}`).body), &made); err != nil {
		t.Fatal(err)
	}
	agent := h.tab()
	agent.fetch(http.MethodPost, "/ui/session", `{"token":"`+made.Token+`"}`).want(t, 200)
	for _, path := range []string{"/v1/items/docs-1", "/v1/tags", "/v1/statuses"} {
		agent.fetch(http.MethodGet, path, "").want(t, 200)
	}

	var got struct{ Calls []struct{ Tool string } }
	var tools []string
	testkit.Eventually(t, func() bool {
		if err := json.Unmarshal([]byte(b.fetch(http.MethodGet, "/v1/calls", "").body), &got); err != nil {
			t.Fatal(err)
		}
		tools = nil
		for _, c := range got.Calls {
			tools = append(tools, c.Tool)
		}
		return len(tools) >= 4
	}, "the history does not have the calls")
	if want := "get_item_detail get_items get_tags create_item"; strings.Join(tools, " ") != want {
		t.Errorf("the history has %v, want %s", tools, want)
	}
}

// A person who has searched may run a tool that they opened elsewhere. Only a run that says
// which search led to its tool teaches.
func TestBrowsingTeachesNothing(t *testing.T) {
	t.Parallel()
	h := openHouse(t, t.TempDir(), "")
	b := h.signedIn()
	const learned = "/v1/search/learned"
	b.fetch(http.MethodPost, "/v1/tools/search", `{"query":"tags of items"}`).want(t, 200, "get_tags")
	b.fetch(http.MethodPost, "/v1/tools/call", `{"name":"get_tags"}`).want(t, 200)
	b.fetch(http.MethodGet, learned, "").want(t, 200, `"lessons":[]`)
	b.fetch(http.MethodPost, "/v1/tools/call", `{"name":"get_tags","options":{"query":"tags of items"}}`).want(t, 200)
	b.fetch(http.MethodGet, learned, "").want(t, 200, `"tool":"get_tags"`)
}

// What an administrator reads and edits on the pages passes no workflow: a workflow that
// takes numbers out of answers would have the person save an item without them. It
// teaches searches nothing either. Agents, tools that a person runs, and pages of other
// clients have the workflow.
func TestPagesReadAndEditWhatIsThere(t *testing.T) {
	t.Parallel()
	h := openHouse(t, t.TempDir(), "")
	b := h.signedIn()
	bearer := func(method, path, body, token string) reply {
		return h.tab().send(method, path, body, "Authorization", "Bearer "+token, "Content-Type", "application/json")
	}
	const number, gone = "090-1234-5678", "[redacted:phone]"
	b.fetch(http.MethodPut, "/v1/workflows/phone", `{"id":"phone","name":"phone","workflowType":"tools/call","nodes":[
		{"id":"start","type":"start"},{"id":"call","type":"mcp-call"},{"id":"end","type":"end"},
		{"id":"take","type":"hook","data":{"hook":{"blocking":true,"script":"context.response = mapText(context.response, s => s.replaceAll('`+number+`', '`+gone+`'))"}}}],
		"edges":[{"source":"start","target":"call"},{"source":"call","target":"take"},{"source":"take","target":"end"}]}`).want(t, 200)
	b.fetch(http.MethodPost, "/v1/workflows/phone/enable", `{}`).want(t, 200)

	b.fetch(http.MethodPost, "/v1/items", `{"type":"docs","title":"Ann","content":"`+number+`","tags":["people"]}`).want(t, 201, number)
	b.fetch(http.MethodPut, "/v1/state", `{"content":"Call `+number+`"}`).want(t, 200)
	b.fetch(http.MethodGet, "/v1/state", "").want(t, 200, number)
	b.fetch(http.MethodGet, "/v1/items/search?query=ann", "").want(t, 200)
	b.fetch(http.MethodGet, "/v1/items/docs-1", "").want(t, 200, number)
	b.fetch(http.MethodPatch, "/v1/items/docs-1", `{"content":"Mobile: `+number+`"}`).want(t, 200, number)

	b.fetch(http.MethodPost, "/v1/tools/call", `{"name":"get_item_detail","parameters":{"type":"docs","id":1}}`).want(t, 200, gone)
	bearer(http.MethodGet, "/v1/items/docs-1", "", h.admin).want(t, 200, gone)
	var made struct{ Token string }
	if err := json.Unmarshal([]byte(b.fetch(http.MethodPost, "/v1/tokens", `{"name":"agent"}`).body), &made); err != nil || made.Token == "" {
		t.Fatal(err, made)
	}
	agent := h.tab()
	agent.fetch(http.MethodPost, "/ui/session", `{"token":"`+made.Token+`"}`).want(t, 200, `"client":"agent"`)
	agent.fetch(http.MethodGet, "/v1/items/docs-1", "").want(t, 200, gone)

	b.fetch(http.MethodPost, "/v1/tools/search", `{"query":"list every tag","limit":20}`).want(t, 200, "get_tags")
	b.fetch(http.MethodGet, "/v1/tags", "").want(t, 200, "people")
	b.fetch(http.MethodGet, "/v1/search/learned?all=true", "").want(t, 200, `"lessons":[]`)
}

// A person who has signed in lately knows where the page is. A client with a token is not
// that person.
func TestWhoeverHasSignedInIsKnown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := openHouse(t, dir, noServers)
	var made struct{ Token string }
	got := h.tab().send(http.MethodPost, "/v1/tokens", `{"name":"alice"}`, "Authorization", "Bearer "+h.admin, "Content-Type", "application/json")
	if err := json.Unmarshal([]byte(got.body), &made); err != nil {
		t.Fatal(err)
	}
	h.tab().fetch(http.MethodPost, "/ui/session", `{"token":"`+made.Token+`"}`).want(t, 200)
	if h.UISignedIn(t.Context()) {
		t.Error("a client counts as the person")
	}
	b := h.signedIn()
	h.stop()
	again := openHouse(t, dir, noServers)
	if !again.UISignedIn(t.Context()) {
		t.Error("the person is not known after a restart")
	}
	b.h, b.base = again, again.base
	b.fetch(http.MethodDelete, "/ui/session", "").want(t, 204)
	if again.UISignedIn(t.Context()) {
		t.Error("the person has signed out")
	}
}

// A person sees which browsers are signed in, and signs out one, or all but their own.
func TestBrowsersAreSignedOut(t *testing.T) {
	t.Parallel()
	h := openHouse(t, t.TempDir(), noServers)
	mine, lost, other := h.signedIn(), h.signedIn(), h.signedIn()
	type session struct {
		ID, Client string
		Current    bool
	}
	list := func(b *tab) (all []session) {
		t.Helper()
		got := b.fetch(http.MethodGet, "/v1/ui-sessions", "")
		var body struct{ Sessions []session }
		if err := json.Unmarshal([]byte(got.body), &body); err != nil || got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		return body.Sessions
	}
	var gone string
	for _, one := range list(lost) {
		if one.Client != "admin" {
			t.Errorf("%+v", one)
		}
		if one.Current {
			gone = one.ID
		}
	}
	mine.fetch(http.MethodDelete, "/v1/ui-sessions/"+gone, "").want(t, 200)
	mine.fetch(http.MethodDelete, "/v1/ui-sessions/"+gone, "").want(t, 404, "may have ended by itself")
	lost.fetch(http.MethodGet, "/v1/servers", "").want(t, 401)
	other.fetch(http.MethodGet, "/v1/servers", "").want(t, 200)
	mine.fetch(http.MethodDelete, "/v1/ui-sessions", "").want(t, 200, `"ended":1`)
	other.fetch(http.MethodGet, "/v1/servers", "").want(t, 401)
	if left := list(mine); len(left) != 1 || !left[0].Current {
		t.Errorf("left are %+v", left)
	}
	// A program with a token is no browser, and signs out all.
	h.tab().send(http.MethodDelete, "/v1/ui-sessions", "", "Authorization", "Bearer "+h.admin).want(t, 200, `"ended":1`)
	mine.fetch(http.MethodGet, "/v1/servers", "").want(t, 401)
}

// Requests that other pages have a browser send, with its cookie.
func TestOtherPages(t *testing.T) {
	t.Parallel()
	h := openHouse(t, t.TempDir(), noServers+"allowedHosts: [genkan.example]\ncors: {enabled: true, origin: 'https://app.example'}\n")
	b := h.signedIn()
	port := h.base[strings.LastIndex(h.base, ":"):]
	const add = `{"name":"evil","admin":true}`
	cross := []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}
	for name, c := range map[string]struct {
		method, path, body string
		headers            []string
		status             int
	}{
		"a form":                           {"POST", "/v1/tokens", "name=evil", append([]string{"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Mode", "navigate"}, cross...), 403},
		"a form of an old browser":         {"POST", "/v1/tokens", "name=evil", []string{"Content-Type", "application/x-www-form-urlencoded"}, 401},
		"a form with JSON":                 {"POST", "/v1/tokens", add, append([]string{"Content-Type", "text/plain"}, cross...), 403},
		"a form without an Origin":         {"POST", "/v1/tokens", add, []string{"Content-Type", "text/plain", "Sec-Fetch-Site", "cross-site"}, 403},
		"a sandboxed page":                 {"POST", "/v1/tokens", add, []string{"Content-Type", "application/json", "Origin", "null"}, 403},
		"no-cors":                          {"POST", "/v1/reload", "", append([]string{"Content-Type", "text/plain", "Sec-Fetch-Mode", "no-cors"}, cross...), 403},
		"another port":                     {"POST", "/v1/tokens", add, []string{"Content-Type", "application/json", "Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1"}, 401},
		"another port, no-cors":            {"POST", "/v1/reload", "", []string{"Content-Type", "text/plain", "Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors", "Origin", "http://127.0.0.1:1"}, 401},
		"another port of an old browser":   {"POST", "/v1/reload", "", []string{"Origin", "http://127.0.0.1:1"}, 401},
		"a subdomain":                      {"POST", "/v1/reload", "", []string{"Host", "genkan.example", "Sec-Fetch-Site", "same-site", "Origin", "https://sub.genkan.example"}, 403},
		"a page that may call with tokens": {"POST", "/v1/reload", "", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://app.example"}, 401},
		"a rebound name":                   {"POST", "/v1/reload", "", []string{"Host", "evil.example" + port, "Sec-Fetch-Site", "same-origin", "Origin", "http://evil.example" + port}, 403},
		"a rebound name reads":             {"GET", "/v1/servers", "", []string{"Host", "evil.example" + port, "Sec-Fetch-Site", "same-origin"}, 403},
		"a rebound name loads the page":    {"GET", "/ui/", "", []string{"Host", "evil.example" + port, "Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 403},
		"an image":                         {"GET", "/v1/servers", "", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, 403},
		"an image of another port":         {"GET", "/v1/servers", "", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, 403},
		"a link to the API":                {"GET", "/v1/servers", "", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 403},
		"a link to a page":                 {"GET", "/ui/calls", "", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 200},
		"a frame":                          {"GET", "/ui/calls", "", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},
		"a script of another page":         {"GET", "/ui/assets/main.js", "", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "script"}, 403},
		"a WebSocket":                      {"GET", "/v1/events", "", append([]string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}, cross...), 403},
		"events of another port":           {"GET", "/v1/events", "", []string{"Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1"}, 401},
		"signing out":                      {"DELETE", "/ui/session", "", append([]string{"Sec-Fetch-Mode", "cors"}, cross...), 403},
		"signing out by another port":      {"DELETE", "/ui/session", "", []string{"Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1"}, 403},
		"signing in by another port":       {"POST", "/ui/session", `{"code":"x"}`, []string{"Content-Type", "application/json", "Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1"}, 403},
		"signing in by a program":          {"POST", "/ui/session", `{"code":"x"}`, []string{"Content-Type", "application/json"}, 403},
		"signing in by text":               {"POST", "/ui/session", `{"code":"x"}`, []string{"Content-Type", "text/plain", "Sec-Fetch-Site", "same-origin", "Origin", h.base}, 415},
		"a link made by another page":      {"POST", "/ui/link", "", cross, 403},
		"a preflight":                      {"OPTIONS", "/v1/tokens", "", append([]string{"Access-Control-Request-Method", "POST"}, cross...), 403},
	} {
		t.Run(name, func(t *testing.T) {
			got := (&tab{h: h, base: h.base, cookie: b.cookie}).send(c.method, c.path, c.body, c.headers...)
			got.want(t, c.status)
			if got.header.Get("Access-Control-Allow-Credentials") != "" || got.header.Get("Set-Cookie") != "" {
				t.Errorf("%v", got.header)
			}
		})
	}
	b.fetch(http.MethodGet, "/v1/tokens", "").want(t, 200)
	if got := b.fetch(http.MethodGet, "/v1/tokens", "").body; strings.Contains(got, "evil") {
		t.Errorf("another page has made a token: %s", got)
	}
}

// Reading changes nothing: a GET of any described path leaves tokens, servers and the
// session as they were.
func TestReadingChangesNothing(t *testing.T) {
	t.Parallel()
	h := openHouse(t, t.TempDir(), noServers)
	b := h.signedIn()
	var document struct {
		Paths map[string]map[string]struct {
			Responses map[string]any
		}
	}
	if err := json.Unmarshal([]byte(b.fetch(http.MethodGet, "/v1/openapi.json", "").body), &document); err != nil || len(document.Paths) < 20 {
		t.Fatalf("%d paths, %v", len(document.Paths), err)
	}
	state := func() string {
		text := ""
		for _, path := range []string{"/v1/tokens", "/v1/servers", "/v1/workflows", "/v1/secrets", "/ui/session"} {
			text += b.fetch(http.MethodGet, path, "").body
		}
		return text
	}
	before := state()
	for path, methods := range document.Paths {
		if _, ok := methods["get"]; !ok || path == "/v1/events" {
			continue
		}
		b.fetch(http.MethodGet, strings.NewReplacer("{", "", "}", "").Replace(path)+"?delete=1&enabled=true&_method=DELETE", "")
	}
	if after := state(); after != before {
		t.Errorf("before %s\nafter  %s", before, after)
	}
}

// Behind a proxy that strips a prefix and rewrites the Host, with TLS before it.
func TestBehindAProxy(t *testing.T) {
	t.Parallel()
	needsPages(t)
	h := openHouse(t, t.TempDir(), noServers+"allowedHosts: [tools.example]\n")
	target, err := url.Parse(h.base)
	if err != nil {
		t.Fatal(err)
	}
	for name, rewrite := range map[string]func(*httputil.ProxyRequest){
		"that keeps the Host":     func(p *httputil.ProxyRequest) { p.Out.Host = p.In.Host },
		"that rewrites the Host":  func(*httputil.ProxyRequest) {},
		"that says what it knows": func(p *httputil.ProxyRequest) { p.SetXForwarded() },
	} {
		t.Run(name, func(t *testing.T) {
			proxy := httptest.NewServer(http.StripPrefix("/tools", &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
				p.SetURL(target)
				rewrite(p)
			}}))
			defer proxy.Close()
			b := &tab{h: h, base: proxy.URL}
			const origin = "https://tools.example"
			page := []string{"Host", "tools.example", "Sec-Fetch-Site", "same-origin"}
			for path, want := range map[string]string{"/tools/ui": "ui/", "/tools/": "ui/"} {
				got := b.send(http.MethodGet, path, "", append([]string{"Accept", "text/html"}, page...)...)
				got.want(t, 302)
				if got.header.Get("Location") != want {
					t.Errorf("%s leads to %s", path, got.header.Get("Location"))
				}
			}
			b.send(http.MethodGet, "/tools/ui/calls/12", "", page...).want(t, 200, `<base href="../">`)
			_, code := h.link()
			got := b.send(http.MethodPost, "/tools/ui/session", `{"code":"`+code+`"}`, append([]string{"Origin", origin, "Content-Type", "application/json"}, page...)...)
			got.want(t, 200, `"signedIn":true`)
			if cookie := got.header.Get("Set-Cookie"); !strings.Contains(cookie, "; Path=/;") || !strings.Contains(cookie, "; Secure") {
				t.Errorf("the cookie is %s", cookie)
			}
			b.send(http.MethodGet, "/tools/v1/servers", "", page...).want(t, 200)
			b.send(http.MethodPost, "/tools/v1/reload", "", append([]string{"Origin", origin}, page...)...).want(t, 200)
		})
	}
}
