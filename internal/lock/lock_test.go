package lock_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/lock"
)

const good = "gk_good"

// verify knows one token, and one that makes the store fail.
func verify(_ context.Context, token string) (gateway.Identity, error) {
	switch token {
	case good:
		return gateway.Identity{ClientID: "ann"}, nil
	case "gk_broken":
		return gateway.Identity{}, &gateway.Error{Code: gateway.CodeUnavailable, Message: "the store is away", RetryAfter: 1500 * time.Millisecond, Err: errors.New("secret path")}
	case "gk_bug":
		return gateway.Identity{}, errors.New("secret path")
	default:
		return gateway.Identity{}, gateway.Errorf(gateway.CodeUnauthenticated, "no such token")
	}
}

func newLock() *lock.Lock {
	return lock.New(verify, lock.Rules{
		Hosts:   []string{"Genkan.example.com", "with.port.example:8443"},
		Origins: []string{"https://App.example.com/", "http://other.example:81"},
	})
}

// knock sends a request to the door and returns what it says.
func knock(l *lock.Lock, method, host string, header http.Header) (*httptest.ResponseRecorder, gateway.Identity, bool) {
	r := httptest.NewRequest(method, "/mcp", http.NoBody)
	r.Host = host
	r.Header = http.Header{"Authorization": {"Bearer " + good}}
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	id, ok := l.Admit(w, r)
	return w, id, ok
}

func TestHosts(t *testing.T) {
	l := newLock()
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST:3000": true, "127.0.0.1": true, "127.0.0.1:3000": true, "127.9.9.9:1": true,
		"[::1]": true, "[::1]:3000": true, "[::ffff:127.0.0.1]:80": true, "[0:0:0:0:0:0:0:1]": true,
		"genkan.example.com": true, "GENKAN.example.com:99": true, "with.port.example:8443": true,

		"": false, "evil.example": false, "evil.example:3000": false, "localhost.evil.example": false,
		"127.0.0.1.evil.example": false, "evil.example#localhost": false, "localhost@evil.example": false,
		"with.port.example": false, "with.port.example:80": false, "sub.genkan.example.com": false,
		"genkan.example.com.": false, "localhost.": false, "0.0.0.0": false, "[::]": false, "2130706433": false, "127.1": false,
		"0x7f.0.0.1": false, "192.168.1.1": false, "[fe80::1%25lo]": false, "169.254.169.254": false, " localhost": false,
		"localhost:3000:3000": false, "127.0.0.1,evil.example": false,
	} {
		if _, _, ok := knock(l, http.MethodPost, host, nil); ok != want {
			t.Errorf("Host %q: let in %t, want %t", host, ok, want)
		}
	}
}

func TestOrigins(t *testing.T) {
	l := newLock()
	for origin, want := range map[string]bool{
		"https://app.example.com": true, "HTTPS://APP.EXAMPLE.COM": true, "http://other.example:81": true,
		// A page of this machine, which still needs a token and cannot read
		// the answer.
		"http://localhost:5173": true, "http://127.0.0.1": true, "https://[::1]:8443": true, "http://genkan.example.com": true,

		"": false, "null": false, "https://evil.example": false, "http://app.example.com": false,
		"https://app.example.com:444": false, "https://app.example.com.evil.example": false,
		"https://app.example.com@evil.example": false, "file://": false, "file://localhost": false,
		"chrome-extension://abcdef": false, "data:text/html,x": false, "javascript:alert(1)": false, "localhost": false,
		"http://": false, "http://localhost.evil.example": false, "//localhost": false, "ftp://localhost": false,
		"http://evil.example/localhost": false, "http://%6cocalhost.evil": false,
	} {
		if _, _, ok := knock(l, http.MethodPost, "localhost", http.Header{"Origin": {origin}}); ok != want {
			t.Errorf("Origin %q: let in %t, want %t", origin, ok, want)
		}
	}
	if _, _, ok := knock(l, http.MethodPost, "localhost", http.Header{"Origin": {"https://app.example.com", "https://app.example.com"}}); ok {
		t.Error("two Origins were let in")
	}
	for site, want := range map[string]bool{
		"": true, "none": true, "same-origin": true, "same-site": false, "cross-site": false, "Same-Origin": false, "anything": false,
	} {
		header := http.Header{}
		if site != "" {
			header["Sec-Fetch-Site"] = []string{site}
		}
		if _, _, ok := knock(l, http.MethodPost, "localhost", header); ok != want {
			t.Errorf("Sec-Fetch-Site %q without an Origin: let in %t, want %t", site, ok, want)
		}
	}
}

func TestTokens(t *testing.T) {
	l := newLock()
	for name, c := range map[string]struct {
		values []string
		status int
	}{
		"good":           {[]string{"Bearer " + good}, 200},
		"other case":     {[]string{"bearer " + good}, 200},
		"spaces":         {[]string{"Bearer   " + good + "  "}, 200},
		"none":           {nil, 401},
		"empty":          {[]string{""}, 401},
		"no token":       {[]string{"Bearer"}, 401},
		"no token still": {[]string{"Bearer "}, 401},
		"basic":          {[]string{"Basic " + good}, 401},
		"bare":           {[]string{good}, 401},
		"glued":          {[]string{"Bearer" + good}, 401},
		"tab":            {[]string{"Bearer\t" + good}, 401},
		"two":            {[]string{"Bearer " + good, "Bearer " + good}, 401},
		"two in one":     {[]string{"Bearer " + good + ", Bearer " + good}, 401},
		"unknown":        {[]string{"Bearer gk_other"}, 401},
		"store is away":  {[]string{"Bearer gk_broken"}, 503},
		"bug":            {[]string{"Bearer gk_bug"}, 503},
	} {
		t.Run(name, func(t *testing.T) {
			w, id, ok := knock(l, http.MethodPost, "localhost", http.Header{"Authorization": c.values})
			if ok != (c.status == 200) || w.Code != c.status {
				t.Fatalf("let in %t, status %d, want %d", ok, w.Code, c.status)
			}
			if ok {
				if id.ClientID != "ann" || w.Body.Len() != 0 {
					t.Errorf("let in as %+v, after writing %q", id, w.Body)
				}
				return
			}
			var body struct {
				Success *bool
				Error   string
				Code    string
			}
			if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || body.Success == nil || *body.Success || body.Error == "" || body.Code == "" {
				t.Errorf("the refusal is %s", w.Body)
			}
			if strings.Contains(w.Body.String(), "secret") || strings.Contains(w.Body.String(), good) {
				t.Errorf("the refusal tells too much: %s", w.Body)
			}
			if (w.Header().Get("Www-Authenticate") != "") != (c.status == 401) {
				t.Errorf("WWW-Authenticate is %q", w.Header().Get("Www-Authenticate"))
			}
			if name == "store is away" && w.Header().Get("Retry-After") != "2" {
				t.Errorf("Retry-After is %q", w.Header().Get("Retry-After"))
			}
			if w.Header().Get("Set-Cookie") != "" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("the headers are %v", w.Header())
			}
		})
	}
}

// TestPreflight: only a page that is named may ask, and what it may send is
// what MCP clients send.
func TestPreflight(t *testing.T) {
	l := newLock()
	ask := func(origin, headers string) *httptest.ResponseRecorder {
		w, _, ok := knock(l, http.MethodOptions, "localhost", http.Header{
			"Origin": {origin}, "Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {headers}, "Authorization": nil,
		})
		if ok {
			t.Errorf("a preflight of %s was let in", origin)
		}
		return w
	}
	w := ask("https://app.example.com", "authorization,mcp-param-region, Mcp-Param-X_1 ,x-evil,mcp-param-a\r\nb,mcp-param-é")
	if w.Code != http.StatusNoContent || w.Header().Get("Access-Control-Allow-Origin") != "https://app.example.com" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if got := w.Header().Get("Access-Control-Allow-Headers"); !strings.HasSuffix(got, "Mcp-Name, mcp-param-region, mcp-param-x_1") || !strings.Contains(got, " Last-Event-ID,") || strings.Contains(got, "evil") {
		t.Errorf("Access-Control-Allow-Headers is %q", got)
	}
	if got := w.Header().Get("Access-Control-Allow-Methods"); got != "GET, POST, PUT, PATCH, DELETE" {
		t.Errorf("Access-Control-Allow-Methods is %q", got)
	}
	// A page of this machine may be let in, but is not told that it may read.
	for origin, status := range map[string]int{"http://localhost:5173": 401, "https://evil.example": 403, "null": 403} {
		if w := ask(origin, ""); w.Code != status || w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d %v", origin, w.Code, w.Header())
		}
	}
	// OPTIONS that is no preflight needs a token like anything else.
	w, _, ok := knock(l, http.MethodOptions, "localhost", http.Header{"Origin": {"https://app.example.com"}, "Authorization": nil})
	if ok || w.Code != http.StatusUnauthorized {
		t.Errorf("OPTIONS without a token: %d", w.Code)
	}
}

// TestSet: other rules hold from the next request on.
func TestSet(t *testing.T) {
	l := newLock()
	l.Set(lock.Rules{Hosts: []string{"new.example"}})
	for host, want := range map[string]bool{"new.example": true, "genkan.example.com": false, "localhost": true} {
		if _, _, ok := knock(l, http.MethodGet, host, nil); ok != want {
			t.Errorf("Host %q: let in %t, want %t", host, ok, want)
		}
	}
	if _, _, ok := knock(l, http.MethodGet, "localhost", http.Header{"Origin": {"https://app.example.com"}}); ok {
		t.Error("an origin of the former rules was let in")
	}
}

const (
	cookie  = "genkan_session_1"
	session = "the-secret-of-a-session"
)

// newPageLock is a lock that also knows one session.
func newPageLock() *lock.Lock {
	l := newLock()
	l.Sessions = lock.Sessions{Cookie: cookie, Verify: func(_ context.Context, secret string) (gateway.Identity, error) {
		if secret != session {
			return gateway.Identity{}, gateway.Errorf(gateway.CodeUnauthenticated, "this browser is not signed in any more")
		}
		return gateway.Identity{ClientID: "admin", Admin: true}, nil
	}}
	return l
}

// A session counts for requests of genkan's own pages, and for no others: not for
// other pages of the same host, whose requests a cookie with SameSite=Strict comes with.
func TestSessionsCountForOwnPages(t *testing.T) {
	l := newPageLock()
	for name, c := range map[string]struct {
		method, host string
		header       http.Header
		status       int
	}{
		"a page reads":                        {"GET", "127.0.0.1:3000", http.Header{"Sec-Fetch-Site": {"same-origin"}}, 200},
		"a page writes":                       {"POST", "127.0.0.1:3000", http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {"http://127.0.0.1:3000"}}, 200},
		"a page writes, behind a proxy":       {"POST", "127.0.0.1:3000", http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {"https://genkan.example.com"}}, 200},
		"a page reads, without TLS":           {"GET", "genkan.example.com", nil, 200},
		"a page writes, without TLS":          {"DELETE", "genkan.example.com", http.Header{"Origin": {"http://GENKAN.example.com"}}, 200},
		"a person typed the address":          {"GET", "127.0.0.1:3000", http.Header{"Sec-Fetch-Site": {"none"}}, 200},
		"a person cannot type a POST":         {"POST", "127.0.0.1:3000", http.Header{"Sec-Fetch-Site": {"none"}}, 401},
		"a write from nowhere":                {"POST", "127.0.0.1:3000", nil, 401},
		"a removal from nowhere":              {"DELETE", "127.0.0.1:3000", nil, 401},
		"another port reads":                  {"GET", "127.0.0.1:3000", http.Header{"Sec-Fetch-Site": {"same-site"}}, 403},
		"another port reads with its Origin":  {"GET", "127.0.0.1:3000", http.Header{"Sec-Fetch-Site": {"same-site"}, "Origin": {"http://127.0.0.1:8080"}}, 401},
		"another port writes":                 {"POST", "127.0.0.1:3000", http.Header{"Sec-Fetch-Site": {"same-site"}, "Origin": {"http://127.0.0.1:8080"}}, 401},
		"another port of an old browser":      {"POST", "127.0.0.1:3000", http.Header{"Origin": {"http://127.0.0.1:8080"}}, 401},
		"another name of this machine":        {"POST", "127.0.0.1:3000", http.Header{"Origin": {"http://localhost:3000"}}, 401},
		"another site":                        {"POST", "127.0.0.1:3000", http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}}, 403},
		"a subdomain":                         {"POST", "genkan.example.com", http.Header{"Sec-Fetch-Site": {"same-site"}, "Origin": {"https://sub.genkan.example.com"}}, 403},
		"a page that may call with a token":   {"POST", "127.0.0.1:3000", http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://app.example.com"}}, 401},
		"such a page reads":                   {"GET", "127.0.0.1:3000", http.Header{"Origin": {"https://app.example.com"}}, 401},
		"a sandboxed frame":                   {"POST", "127.0.0.1:3000", http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"null"}}, 403},
		"a rebound name":                      {"GET", "evil.example:3000", http.Header{"Sec-Fetch-Site": {"same-origin"}}, 403},
		"two answers to where it comes from":  {"POST", "127.0.0.1:3000", http.Header{"Sec-Fetch-Site": {"same-origin", "cross-site"}}, 401},
		"another session":                     {"GET", "127.0.0.1:3000", http.Header{"Cookie": {cookie + "=other"}}, 401},
		"two sessions":                        {"GET", "127.0.0.1:3000", http.Header{"Cookie": {cookie + "=" + session + "; " + cookie + "=" + session}}, 401},
		"an empty session":                    {"GET", "127.0.0.1:3000", http.Header{"Cookie": {cookie + "="}}, 401},
		"a cookie of another genkan as well":  {"GET", "127.0.0.1:3000", http.Header{"Cookie": {"genkan_session_2=x; " + cookie + "=" + session}}, 200},
		"a wrong token is not made good":      {"GET", "127.0.0.1:3000", http.Header{"Authorization": {"Bearer gk_other"}}, 401},
		"an empty token is not made good":     {"GET", "127.0.0.1:3000", http.Header{"Authorization": {""}}, 401},
		"a token comes before the session":    {"POST", "127.0.0.1:3000", http.Header{"Authorization": {"Bearer " + good}}, 200},
		"a token from a page that may use it": {"POST", "127.0.0.1:3000", http.Header{"Authorization": {"Bearer " + good}, "Origin": {"https://app.example.com"}}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, "/v1/tools", http.NoBody)
			r.Host = c.host
			r.Header = http.Header{"Cookie": {cookie + "=" + session}}
			for key, values := range c.header {
				r.Header[key] = values
			}
			w := httptest.NewRecorder()
			id, ok := l.AdmitPage(w, r)
			if ok != (c.status == 200) || w.Code != c.status {
				t.Fatalf("let in %t, status %d, want %d: %s", ok, w.Code, c.status, w.Body)
			}
			want := "admin"
			if len(r.Header["Authorization"]) > 0 {
				want = "ann"
			}
			if ok && (id.ClientID != want || l.Client(r) != want || !l.Recognizes(r)) {
				t.Errorf("let in as %+v", id)
			}
			if w.Header().Get("Access-Control-Allow-Credentials") != "" {
				t.Error("other pages may send cookies")
			}
			// MCP takes tokens only.
			if _, ok := l.Admit(httptest.NewRecorder(), r); ok != (want == "ann" && c.status == 200) {
				t.Errorf("let in without a token: %t", ok)
			}
		})
	}
}

// People may follow a link to a page from anywhere; nothing else comes in that way.
func TestVisits(t *testing.T) {
	l := newPageLock()
	visit := func(change func(r *http.Request)) int {
		r := httptest.NewRequest(http.MethodGet, "/ui/", http.NoBody)
		r.Host = "localhost:3000"
		r.Header = http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}}
		change(r)
		w := httptest.NewRecorder()
		l.Visit(w, r)
		return w.Code
	}
	for name, c := range map[string]struct {
		change func(r *http.Request)
		status int
	}{
		"a link":            {func(*http.Request) {}, 200},
		"a typed address":   {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }, 200},
		"a program":         {func(r *http.Request) { r.Header = http.Header{} }, 200},
		"a frame":           {func(r *http.Request) { r.Header.Set("Sec-Fetch-Dest", "iframe") }, 403},
		"a script":          {func(r *http.Request) { r.Header.Set("Sec-Fetch-Mode", "no-cors") }, 403},
		"a form":            {func(r *http.Request) { r.Method = http.MethodPost }, 403},
		"a form's origin":   {func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		"a rebound name":    {func(r *http.Request) { r.Host = "evil.example:3000" }, 403},
		"a page of its own": {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") }, 200},
	} {
		if got := visit(c.change); got != c.status {
			t.Errorf("%s: %d, want %d", name, got, c.status)
		}
	}
}
