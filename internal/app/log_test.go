package app

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every call is one line, with the keys that people's dashboards know.
func TestTheLogLine(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{"one": child(t)}))
	h.waitReady("one")
	h.mustCall("one__echo", `{"text":"argument-canary"}`)
	for _, failing := range []struct{ tool, arguments string }{
		{"one__echo", `{}`},
		{"one__raw", `{"error_json":{"code":-32001,"message":"argument-canary"}}`},
		{"no_such_tool", `{}`},
	} {
		if _, err := h.call(failing.tool, failing.arguments); err == nil {
			t.Errorf("%s must fail", failing.tool)
		}
	}
	lines := h.logLines("call")
	if len(lines) != 4 {
		t.Fatalf("%d lines, want 4", len(lines))
	}
	always := []string{
		"client", "level", "msg", "operation", "process_id", "request_id",
		"response_time_ms", "server", "success", "timestamp", "tool_name",
	}
	failed := slices.Sorted(slices.Values(append(slices.Clone(always), "error")))
	for i, want := range []struct {
		keys    []string
		tool    string
		success bool
		error   any
	}{
		{always, "one__echo", true, nil},
		{failed, "one__echo", false, "echo needs a text"},
		{failed, "one__raw", false, "the server answered with error -32001: ***"},
		{failed, "no_such_tool", false, "Unknown tool: no_such_tool. tools/list names the tools there are"},
	} {
		line := lines[i]
		if diff := cmp.Diff(want.keys, slices.Sorted(maps.Keys(line))); diff != "" {
			t.Errorf("line %d: %s", i, diff)
		}
		if line["tool_name"] != want.tool || line["success"] != want.success || line["error"] != want.error {
			t.Errorf("line %d: %v", i, line)
		}
		if line["operation"] != "tools/call" || line["client"] != "admin" || line["process_id"] != float64(os.Getpid()) {
			t.Errorf("line %d: %v", i, line)
		}
	}
	if lines[0]["request_id"] == lines[1]["request_id"] {
		t.Error("two calls have the same request_id")
	}
	if strings.Contains(h.log.String(), "canary") {
		t.Error("the log has arguments")
	}
}

// disguises are the ways in which a secret may be written.
func disguises(secret string) []string {
	all := []string{secret, url.QueryEscape(secret), url.PathEscape(secret)}
	// Base64 looks different at each of three positions; what does not depend
	// on the neighbours is looked for.
	for shift := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + secret))
		inner := strings.TrimRight(encoded[shift*4/3+1:], "=")
		inner = inner[:len(inner)-2]
		all = append(all, inner, strings.NewReplacer("+", "-", "/", "_").Replace(inner))
	}
	return all
}

func TestDisguises(t *testing.T) {
	t.Parallel()
	const secret = "sk-canary/+&=7"
	for i, text := range []string{
		"a " + secret + " b",
		"?q=" + url.QueryEscape(secret),
		base64.StdEncoding.EncodeToString([]byte("Basic:" + secret + "tail")),
		base64.StdEncoding.EncodeToString([]byte("asic:" + secret + "tail")),
		base64.URLEncoding.EncodeToString([]byte("sic:" + secret)),
	} {
		if !slices.ContainsFunc(disguises(secret), func(d string) bool { return strings.Contains(text, d) }) {
			t.Errorf("%d: %s is not recognised", i, text)
		}
	}
}

// Secrets and arguments walk every path, at the loudest level, and are seen
// nowhere but where they belong.
func TestNoSecretIsSeen(t *testing.T) {
	t.Parallel()
	canary := func(n int) string { return fmt.Sprintf("sk-canary%02d/+&=%02d", n, n) }
	env, args, header, query := canary(1), canary(2), canary(3), canary(4)
	wantsOther := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Www-Authenticate", r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(w, "bad token %s", r.Header.Get("Authorization"))
	}))
	defer wantsOther.Close()
	withSecrets := func(s conf) conf {
		return with(s, conf{"env": with(s["env"].(conf), conf{"API_KEY": env})})
	}
	headers := conf{"headers": conf{"Authorization": "Bearer " + header}}
	web := with(sibling(t), headers)
	web["url"] = web["url"].(string) + "?key=" + url.QueryEscape(query)
	h := openHouse(t, with(servers(conf{
		"one":     withSecrets(child(t)),
		"strict":  withSecrets(with(child(t), conf{"validate": true})),
		"loop":    withSecrets(child(t, "-mode", "crash-loop")),
		"noisy":   withSecrets(child(t, "-mode", "noise,malformed")),
		"short":   withSecrets(with(child(t), conf{"timeout": "30ms"})),
		"web":     web,
		"reset":   with(sibling(t, "-mode", "reset"), headers),
		"refused": with(conf{"url": wantsOther.URL + "/mcp?key=" + url.QueryEscape(query)}, headers),
		"away":    with(conf{"url": "http://127.0.0.1:1/mcp?key=" + url.QueryEscape(query)}, headers),
		"nothing": conf{"command": "genkan-no-such-command", "args": []string{"--key", env}, "env": conf{"API_KEY": env}},
	}), conf{"logLevel": "trace"}))
	h.waitReady("one", "strict", "noisy", "short", "web", "reset")

	errorsSeen := &strings.Builder{}
	try := func(tool, arguments string) {
		if _, err := h.call(tool, arguments); err != nil {
			fmt.Fprintln(errorsSeen, tool, err)
		}
		_, body := h.request(http.MethodPost, "/v1/tools/call", fmt.Sprintf(`{"name":%q,"parameters":%s,"options":{"timeout":50}}`, tool, arguments), nil)
		if strings.Contains(body, `"success":false`) && !strings.Contains(body, `"result":`) {
			fmt.Fprintln(errorsSeen, tool, body)
		}
	}
	for _, tool := range []string{"one__echo", "strict__echo", "noisy__echo", "web__echo", "reset__echo", "reset__count"} {
		try(tool, fmt.Sprintf(`{"text":%q}`, args))
		try(tool, fmt.Sprintf(`{"text":7,%q:%q}`, args, args))
	}
	try("short__sleep", fmt.Sprintf(`{"ms":60000,"x":%q}`, args))
	try("one__crash", fmt.Sprintf(`{"x":%q}`, args))
	h.request(http.MethodPost, "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":%q}`, args, args), nil)
	h.request(http.MethodPost, "/v1/tools/call", fmt.Sprintf(`{"name":%q}`, args), nil)
	h.request(http.MethodGet, "/v1/tools/"+url.PathEscape(args), "", nil)
	h.request(http.MethodGet, "/v1/tools?server="+url.QueryEscape(args), "", http.Header{"Authorization": {"Bearer " + args}})

	seen := map[string]string{"the log": h.log.String(), "an error": errorsSeen.String()}
	for _, path := range []string{
		"/metrics", "/v1/servers", "/v1/tools", "/v1/tools?limit=100&page=2", "/health",
		"/v1/servers/one", "/v1/servers/loop", "/v1/servers/refused", "/v1/servers/away", "/v1/servers/nothing", "/v1/servers/web",
	} {
		_, seen[path] = h.request(http.MethodGet, path, "", nil)
	}
	if !strings.Contains(seen["/v1/servers/refused"], "Authorization header") || !strings.Contains(seen["/metrics"], "genkan_calls_total") {
		t.Error("the pages that are looked through are not the right ones")
	}
	for _, secret := range []string{env, args, header, query, h.token} {
		for place, text := range seen {
			for _, d := range disguises(secret) {
				if i := strings.Index(text, d); i >= 0 {
					t.Errorf("%s shows %q: …%s…", place, secret, text[max(i-200, 0):min(i+100, len(text))])
					break
				}
			}
		}
	}
}

// A client's credentials are not forwarded: neither its token nor its cookies.
func TestTheClientsTokenGoesNoFurther(t *testing.T) {
	t.Parallel()
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			record := t.TempDir() + "/record"
			h := openHouse(t, servers(conf{
				"web":   with(sibling(t, "-era", era, "-record", record, "-record-headers"), conf{"headers": conf{"X-Key": "ours"}}),
				"child": child(t, "-era", era, "-record", record+"-child"),
			}))
			h.waitReady("web", "child")
			for _, tool := range []string{"web__echo", "child__echo"} {
				h.mustCall(tool, `{"text":"x"}`)
				h.request(http.MethodPost, "/v1/tools/call", fmt.Sprintf(`{"name":%q,"parameters":{"text":"x"}}`, tool),
					http.Header{"Cookie": {"session=cookie-canary"}, "X-Api-Key": {"header-canary"}})
			}
			for _, file := range []string{record, record + "-child"} {
				seen, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Count(string(seen), `"tools/call"`) < 2 {
					t.Errorf("the calls were not recorded: %s", seen)
				}
				for _, secret := range []string{h.token, "cookie-canary", "header-canary"} {
					for _, d := range disguises(secret) {
						if strings.Contains(string(seen), d) {
							t.Errorf("the server saw %q", secret)
							break
						}
					}
				}
			}
			if seen, _ := os.ReadFile(record); !strings.Contains(string(seen), `"X-Key":["ours"]`) {
				t.Error("the configured header is missing")
			}
		})
	}
}
