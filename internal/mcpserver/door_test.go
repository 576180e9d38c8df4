package mcpserver_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"genkan/internal/testkit"
)

// claim sends the head of a request that says how long its body is, and
// returns the status without sending any of it.
func (h *house) claim(length int64) int {
	h.tb.Helper()
	return h.rawRequest(h.claimHead(length))
}

func (h *house) claimHead(length int64) string {
	return fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", h.token, length)
}

// rawRequest writes bytes to a connection of their own and returns the status.
func (h *house) rawRequest(head string) int {
	h.tb.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.base, "http://"))
	if err != nil {
		h.tb.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, head); err != nil {
		h.tb.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		h.tb.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// metric reads one number of /metrics.
func (h *house) metric(name string) string {
	h.tb.Helper()
	for line := range strings.Lines(string(h.send(request{method: http.MethodGet, path: "/metrics"}).body)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	h.tb.Fatalf("there is no metric %s", name)
	return ""
}

// TestDoor: who does not come in, at every path. No attack may reach a server.
func TestDoor(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	h := openHouse(t, servers{"fault": child(t, "-record", record)}, map[string]any{
		"cors":         map[string]any{"enabled": true, "origin": []string{"https://app.example.com"}},
		"allowedHosts": []string{"genkan.example.com"},
	})
	call := modernCall("1", "fault__count", "{}")
	with := func(pairs ...string) request {
		r := request{body: call.body, header: call.header.Clone()}
		for i := 0; i < len(pairs); i += 2 {
			r.header.Set(pairs[i], pairs[i+1])
		}
		return r
	}
	send := func(t *testing.T, r request, status int) response {
		t.Helper()
		got := h.send(r)
		if got.status != status {
			t.Errorf("status %d, want %d: %s", got.status, status, got.body)
		}
		if cookies := got.header.Values("Set-Cookie"); len(cookies) > 0 {
			t.Errorf("a cookie was set: %s", cookies)
		}
		return got
	}

	t.Run("browsers", func(t *testing.T) {
		for name, r := range map[string]request{
			"a foreign page":            with("Origin", "https://evil.example"),
			"a page without an origin":  with("Origin", "null"),
			"an origin that looks ours": with("Origin", "http://127.0.0.1.evil.example"),
			"user info":                 with("Origin", "http://localhost@evil.example"),
			"another scheme":            with("Origin", "file://localhost"),
			"an extension":              with("Origin", "chrome-extension://localhost"),
			"an empty origin":           with("Origin", ""),
			"another port of ours":      with("Origin", "https://app.example.com:8443"),
			"the allowed one in http":   with("Origin", "http://app.example.com"),
			"a rebound name":            with("Host", "evil.example"),
			"a rebound name and port":   with("Host", "evil.example:3000"),
			"a name that begins right":  with("Host", "localhost.evil.example"),
			"a decimal address":         with("Host", "2130706433"),
			"a short address":           with("Host", "127.1"),
			"another machine":           with("Host", "192.168.0.1"),
			"cross-site without origin": with("Sec-Fetch-Site", "cross-site"),
			"same-site without origin":  with("Sec-Fetch-Site", "same-site"),
			"a foreign one, same-site":  with("Origin", "https://evil.example", "Sec-Fetch-Site", "same-origin"),
		} {
			t.Run(name, func(t *testing.T) {
				send(t, r, http.StatusForbidden)
				get := request{method: http.MethodGet, path: "/v1/tools", header: r.header}
				send(t, get, http.StatusForbidden)
			})
		}
		twice := with("Origin", "https://app.example.com")
		twice.header.Add("Origin", "https://evil.example")
		send(t, twice, http.StatusForbidden)
	})
	t.Run("tokens", func(t *testing.T) {
		twice := with()
		twice.header["Authorization"] = []string{"Bearer " + h.token, "Bearer " + h.token}
		for name, r := range map[string]request{
			"none":           {body: call.body, header: without(call.header, "Authorization")},
			"another scheme": with("Authorization", "Basic "+h.token),
			"no scheme":      with("Authorization", h.token),
			"empty":          with("Authorization", "Bearer "),
			"spaces":         with("Authorization", "Bearer    "),
			"wrong":          with("Authorization", "Bearer gk_"+strings.Repeat("A", 43)),
			"cut":            with("Authorization", "Bearer "+h.token[:len(h.token)-1]),
			"two":            twice,
			"in a cookie":    {body: call.body, header: without(with("Cookie", "token="+h.token).header, "Authorization")},
			"in the query":   {path: "/mcp?access_token=" + h.token, body: call.body, header: without(call.header, "Authorization")},
		} {
			t.Run(name, func(t *testing.T) {
				if got := send(t, r, http.StatusUnauthorized); got.header.Get("Www-Authenticate") == "" {
					t.Error("no WWW-Authenticate")
				}
			})
		}
		for _, path := range []string{"/mcp", "/mcp/", "/mcp/s/fault", "/sse", "/sse/s/fault", "/messages", "/messages?sessionId=x", "/v1/", "/v1/tools", "/v1/tools/fault__echo", "/v1/servers", "/v1/servers/fault", "/metrics", "/tools", "/nothing", "/health/", "/debug/pprof/", "/favicon.ico"} {
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodPut, http.MethodOptions} {
				r := request{method: method, path: path, header: headers()}
				r.header["Authorization"] = nil
				if got := h.send(r); got.status != http.StatusUnauthorized {
					t.Errorf("%s %s without a token: %d", method, path, got.status)
				}
			}
		}
		for _, path := range []string{"/", "/health"} {
			r := request{method: http.MethodGet, path: path, header: headers()}
			r.header["Authorization"] = nil
			if got := send(t, r, http.StatusOK); strings.Contains(string(got.body), "fault") {
				t.Errorf("%s tells strangers about servers: %s", path, got.body)
			}
			r.method = http.MethodPost
			send(t, r, http.StatusUnauthorized)
		}
		for path, post := range map[string]int{"/ui/": http.StatusMethodNotAllowed, "/ui/session": http.StatusForbidden, "/ui/link": http.StatusUnauthorized} {
			r := request{method: http.MethodGet, path: path, header: headers()}
			r.header["Authorization"] = nil
			if got := send(t, r, http.StatusOK); strings.Contains(string(got.body), "fault") {
				t.Errorf("%s tells strangers about servers: %s", path, got.body)
			}
			r.method = http.MethodPost
			send(t, r, post)
		}
		// Clients look for an authorization server before they have a token;
		// anything but a plain 404 sends them into a sign-in that does not exist.
		for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration", "/.well-known/x"} {
			for _, auth := range []string{"", "Bearer " + h.token} {
				r := request{method: http.MethodGet, path: path, header: headers("Authorization", auth)}
				if auth == "" {
					r.header["Authorization"] = nil
				}
				got := send(t, r, http.StatusNotFound)
				if !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") || got.header.Get("Www-Authenticate") != "" {
					t.Errorf("%s: %v %s", path, got.header, got.body)
				}
			}
		}
	})
	t.Run("forms of the request", func(t *testing.T) {
		for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp", "application/json-rpc", "text/plain; application/json", "application/json; charset=utf-16", `application/json; x=y; Charset="latin1"`, ""} {
			r := with("Content-Type", kind)
			if kind == "" {
				r.header["Content-Type"] = nil
			}
			send(t, r, http.StatusUnsupportedMediaType)
		}
		for _, kind := range []string{"application/json; charset=utf-8", "Application/JSON", "application/json;charset=utf-8", `application/json; Charset="UTF-8"`, "application/json;"} {
			ping := legacy(h.initialize(h.token), "1", "ping", "")
			ping.header.Set("Content-Type", kind)
			send(t, ping, http.StatusOK)
		}
		for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodHead, http.MethodOptions, "TRACE", "BREW"} {
			r := with()
			r.method = method
			if got := send(t, r, http.StatusMethodNotAllowed); !strings.Contains(got.header.Get("Allow"), "POST") {
				t.Errorf("%s: Allow is %q", method, got.header.Get("Allow"))
			}
		}
		// Framings that a proxy before us could read in another way.
		auth := "Host: localhost\r\nAuthorization: Bearer " + h.token + "\r\nContent-Type: application/json\r\n"
		for name, head := range map[string]string{
			"two lengths":          "POST /mcp HTTP/1.1\r\n" + auth + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}}",
			"a length that is not": "POST /mcp HTTP/1.1\r\n" + auth + "Content-Length: -1\r\n\r\n",
			"no host":              "POST /mcp HTTP/1.1\r\nAuthorization: Bearer " + h.token + "\r\nContent-Length: 2\r\n\r\n{}",
			"two hosts":            "POST /mcp HTTP/1.1\r\n" + auth + "Host: evil.example\r\nContent-Length: 2\r\n\r\n{}",
		} {
			if status := h.rawRequest(head); status != http.StatusBadRequest {
				t.Errorf("%s: %d", name, status)
			}
		}
		if status := h.rawRequest("GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 128<<10) + "\r\n\r\n"); status != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("a head of 128 KiB: %d", status)
		}
	})
	if n := len(calls(t, record)); n != 0 {
		t.Fatalf("%d calls reached the server", n)
	}

	t.Run("those who may", func(t *testing.T) {
		for name, r := range map[string]request{
			"an allowed page":          with("Origin", "https://app.example.com", "Sec-Fetch-Site", "cross-site"),
			"a page of this machine":   with("Origin", "http://localhost:5173"),
			"another name":             with("Host", "genkan.example.com"),
			"another name, with port":  with("Host", "genkan.example.com:8443"),
			"IPv6":                     with("Host", "[::1]:3000"),
			"localhost":                with("Host", "LocalHost:1"),
			"the scheme in other case": with("Authorization", "bEARER "+h.token),
			"typed into the bar":       with("Sec-Fetch-Site", "none"),
		} {
			t.Run(name, func(t *testing.T) { send(t, r, http.StatusOK) })
		}
	})
	t.Run("preflight", func(t *testing.T) {
		ask := func(origin string) request {
			r := request{method: http.MethodOptions, header: headers("Origin", origin, "Access-Control-Request-Method", "POST",
				"Access-Control-Request-Headers", "authorization, content-type, mcp-method, mcp-name, mcp-param-region, mcp-protocol-version")}
			r.header["Authorization"], r.header["Content-Type"] = nil, nil
			return r
		}
		allowed := send(t, ask("https://app.example.com"), http.StatusNoContent)
		if got := allowed.header.Get("Access-Control-Allow-Origin"); got != "https://app.example.com" {
			t.Errorf("Access-Control-Allow-Origin is %q", got)
		}
		if allowed.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Error("credentials are allowed, though there are no cookies")
		}
		if !strings.Contains(strings.Join(allowed.header.Values("Vary"), ","), "Origin") {
			t.Error("Vary lacks Origin: a cache could give one page's answer to another")
		}
		lower := strings.ToLower(allowed.header.Get("Access-Control-Allow-Headers"))
		for _, name := range []string{"authorization", "content-type", "mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-region"} {
			if !strings.Contains(lower, name) {
				t.Errorf("Access-Control-Allow-Headers lacks %s: %s", name, lower)
			}
		}
		for _, origin := range []string{"https://evil.example", "null", "http://app.example.com"} {
			if refused := send(t, ask(origin), http.StatusForbidden); refused.header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s may read the refusal", origin)
			}
		}
		// The page must also be able to read a refusal, and the session id.
		denied := with("Origin", "https://app.example.com")
		denied.header["Authorization"] = nil
		got := send(t, denied, http.StatusUnauthorized)
		if got.header.Get("Access-Control-Allow-Origin") != "https://app.example.com" || !strings.Contains(got.header.Get("Access-Control-Expose-Headers"), "Mcp-Session-Id") {
			t.Errorf("the headers of a refusal are %v", got.header)
		}
	})
	t.Run("the client's token stays here", func(t *testing.T) {
		sink := recordFile(t)
		g := openHouse(t, servers{"fault": sibling(t, "-record", sink, "-record-headers")})
		r := modernCall("1", "fault__echo", `{"text":"x"}`)
		r.header.Set("Cookie", "session=canary")
		r.header.Set("X-Api-Key", "canary")
		g.send(r).want(t, http.StatusOK, 0)
		for _, line := range testkit.Lines(t, sink) {
			if strings.Contains(line, g.token) || strings.Contains(line, "canary") {
				t.Errorf("the server received %s", line)
			}
		}
	})
}

// TestLargeHeadersAreRefused: a call keeps its headers until it ends.
func TestLargeHeadersAreRefused(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{})
	for size, want := range map[int]bool{30_000: true, 50_000: false} {
		r := h.build(t.Context(), request{
			body:   `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`,
			header: headers("Mcp-Param-Text", strings.Repeat("x", size)),
		})
		resp, err := h.client.Do(r)
		if err == nil {
			_ = resp.Body.Close()
		}
		// The connection may be closed before all of the headers were sent.
		if ok := err == nil && resp.StatusCode == http.StatusOK; ok != want {
			t.Errorf("%d bytes are answered with %v, %v", size, resp, err)
		}
	}
}
