package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"genkan/internal/testkit"
)

// ask is one request and what must come of it, headers included.
type ask struct {
	method, path, body string
	send               []string // headers; an empty value takes one away
	status             int
	headers            map[string]string // "" is: not there
	has, hasNot        []string
}

func (d door) ask(t *testing.T, asked map[string]ask) {
	t.Helper()
	for name, c := range asked {
		t.Run(name, func(t *testing.T) {
			got := d.send(c.method, c.path, c.body, c.send...)
			got.want(t, c.status, c.has, c.hasNot)
			for key, want := range c.headers {
				if have := got.header.Get(key); have != want {
					t.Errorf("%s is %q, want %q", key, have, want)
				}
			}
		})
	}
}

// The front: what everybody may ask, other methods, the first paths, and pages.
func TestTheFront(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	nobody := []string{"Authorization", ""}
	with := func(more ...string) []string { return append([]string{"Authorization", ""}, more...) }
	health := []string{`"status":"ok"`, `"message":"MCP Server is running"`, `"version":"v-test"`, `"uptime":`, `"timestamp":"`}
	d.ask(t, map[string]ask{
		"health for programs":        {method: "GET", path: "/", send: nobody, status: 200, headers: map[string]string{"Content-Type": "application/json", "Vary": "Accept"}, has: health},
		"health for curl":            {method: "GET", path: "/", send: with("Accept", "*/*"), status: 200, has: health},
		"JSON first":                 {method: "GET", path: "/", send: with("Accept", "application/json, text/html"), status: 200, has: health},
		"JSON as good as HTML":       {method: "GET", path: "/", send: with("Accept", "text/html, */*"), status: 200, has: health},
		"HTML refused":               {method: "GET", path: "/", send: with("Accept", "text/html;q=0, application/json;q=0.1"), status: 200, has: health},
		"nonsense":                   {method: "GET", path: "/", send: with("Accept", ";;;,text/html;q=x"), status: 200, has: health},
		"a browser":                  {method: "GET", path: "/", send: with("Accept", browser), status: 302, headers: map[string]string{"Location": "ui/"}},
		"JSON refused":               {method: "GET", path: "/", send: with("Accept", "application/json;q=0, text/html;q=0.1, */*"), status: 302},
		"health is never a page":     {method: "GET", path: "/health", send: with("Accept", browser), status: 200, has: health},
		"health by any name":         {method: "GET", path: "/health", send: with("Origin", "https://evil.example"), status: 200, has: health},
		"HEAD":                       {method: "HEAD", path: "/health", send: nobody, status: 200},
		"the page":                   {method: "GET", path: "/v1/docs", send: with("Accept", browser, "Sec-Fetch-Site", "none"), status: 200, headers: map[string]string{"X-Content-Type-Options": "nosniff", "Access-Control-Allow-Origin": ""}, has: []string{"<h1>"}},
		"the page, wrong token":      {method: "GET", path: "/v1/docs", send: []string{"Authorization", "Bearer gk_wrong"}, status: 200},
		"the description":            {method: "GET", path: "/v1/openapi.json", send: nobody, status: 200, has: []string{`"openapi":"3.1.0"`}},
		"the page for a page":        {method: "GET", path: "/v1/docs", send: with("Origin", "https://evil.example"), status: 403, has: []string{"AUTHORIZATION_ERROR"}, hasNot: []string{"<h1>"}},
		"the page from elsewhere":    {method: "GET", path: "/v1/openapi.json", send: with("Sec-Fetch-Site", "cross-site"), status: 403, hasNot: []string{"openapi"}},
		"nothing else":               {method: "GET", path: "/v1/docs/", send: nobody, status: 401},
		"health has no POST":         {method: "POST", path: "/health", status: 405, headers: map[string]string{"Allow": "GET, HEAD"}, has: []string{`"code":"METHOD_NOT_ALLOWED"`}},
		"the root has no DELETE":     {method: "DELETE", path: "/", status: 405, headers: map[string]string{"Allow": "GET, HEAD"}},
		"and says so to no stranger": {method: "POST", path: "/health", send: nobody, status: 401, headers: map[string]string{"Allow": ""}},
		"a tool has no POST":         {method: "POST", path: "/v1/tools/fault__echo", status: 405, headers: map[string]string{"Allow": "GET, HEAD, PATCH"}, has: []string{"GET, HEAD, PATCH"}},
		"nor for nobody":             {method: "POST", path: "/v1/tools/fault__echo", send: nobody, status: 401, headers: map[string]string{"Allow": ""}},
		"a call is no PUT":           {method: "PUT", path: "/v1/tools/call", status: 405},
		"the first path of the list": {method: "GET", path: "/tools?limit=3&tag=a%20b", status: 302, headers: map[string]string{"Location": "/v1/tools?limit=3&tag=a%20b"}},
		"the first path of calls":    {method: "POST", path: "/tools/call?x=1&y=%2F", body: `{"name":"x"}`, status: 307, headers: map[string]string{"Location": "/v1/tools/call?x=1&y=%2F"}},
		"a misspelt filter":          {method: "GET", path: "/v1/tools?tags=text", status: 400, has: []string{`"code":"VALIDATION_ERROR"`, `"field":"tags"`, "there are category, tag, server, enabled, page, limit"}},
		"the one that is wrong":      {method: "GET", path: "/v1/tools?limit=0&Tag=text&tag=text", status: 400, has: []string{`"field":"Tag"`}},
		"where there are none":       {method: "POST", path: "/v1/tools/call?name=x", body: `{"name":"x"}`, status: 400, has: []string{`"field":"name"`, "this path has none"}},
		"one that cannot be read":    {method: "GET", path: "/v1/servers?%zz", status: 400, has: []string{`"code":"VALIDATION_ERROR"`, "percent-encode"}},
		"only for those who may ask": {method: "GET", path: "/v1/tools?tags=text", send: nobody, status: 401},
		"probes add what they like":  {method: "GET", path: "/health?t=1", status: 200},
		"and so do links":            {method: "GET", path: "/v1/docs?from=mail", status: 200},
		"they need a token":          {method: "GET", path: "/tools", send: nobody, status: 401},
		"the first list is no POST":  {method: "POST", path: "/tools", status: 405, headers: map[string]string{"Allow": "GET, HEAD"}},
	})
}

// Pages of others may call only where the configuration names them.
func TestPagesOfOthers(t *testing.T) {
	t.Parallel()
	const page, stranger = "https://app.example.com", "https://evil.example"
	preflight := func(origin, method string) []string {
		return []string{"Authorization", "", "Origin", origin, "Access-Control-Request-Method", method}
	}
	closed := map[string]string{"Access-Control-Allow-Origin": "", "Access-Control-Allow-Methods": ""}
	t.Run("unless configured", func(t *testing.T) {
		d := openDoor(t, map[string]any{"cors": map[string]any{"enabled": false, "origin": page}})
		d.ask(t, map[string]ask{
			"preflight": {method: "OPTIONS", path: "/v1/tools", send: preflight(page, "GET"), status: 403, headers: closed},
			"request":   {method: "GET", path: "/v1/tools", send: []string{"Origin", page}, status: 403, headers: closed},
			"the page":  {method: "GET", path: "/v1/docs", send: []string{"Origin", page}, status: 403, headers: closed},
			"our own":   {method: "GET", path: "/v1/tools", send: []string{"Origin", "http://localhost:3000"}, status: 200, headers: closed},
		})
	})
	t.Run("configured", func(t *testing.T) {
		d := openDoor(t, map[string]any{"cors": map[string]any{"enabled": true, "origin": page}})
		open := map[string]string{"Access-Control-Allow-Origin": page, "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE", "Access-Control-Allow-Credentials": ""}
		d.ask(t, map[string]ask{
			"preflight":              {method: "OPTIONS", path: "/v1/tools", send: preflight(page, "GET"), status: 204, headers: open},
			"preflight of a change":  {method: "OPTIONS", path: "/v1/tools/fault__echo", send: preflight(page, "PATCH"), status: 204, headers: open},
			"preflight of the page":  {method: "OPTIONS", path: "/v1/openapi.json", send: preflight(page, "GET"), status: 204, headers: open},
			"a stranger's preflight": {method: "OPTIONS", path: "/v1/tools", send: preflight(stranger, "GET"), status: 403, headers: closed},
			"request":                {method: "GET", path: "/v1/tools", send: []string{"Origin", page}, status: 200, headers: map[string]string{"Access-Control-Allow-Origin": page, "Vary": "Origin"}},
			"request without token":  {method: "GET", path: "/v1/tools", send: []string{"Origin", page, "Authorization", ""}, status: 401, headers: map[string]string{"Access-Control-Allow-Origin": page}},
			"a stranger's":           {method: "GET", path: "/v1/tools", send: []string{"Origin", stranger}, status: 403, headers: closed},
			"no preflight":           {method: "OPTIONS", path: "/v1/tools", send: []string{"Origin", page}, status: 405},
		})
	})
}

// Lists, filters and search, with right and wrong questions.
func TestLookingForTools(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	for tool, body := range map[string]string{
		"echo": `{"tags":["text","fast"],"category":"words"}`, "raw": `{"tags":["text"],"category":"words"}`, "sleep": `{"tags":["fast"]}`,
	} {
		if got := d.send("PATCH", "/v1/tools/fault__"+tool, body); got.status != 200 {
			t.Fatal(got.body)
		}
	}
	list := func(query string, total int, has ...string) ask {
		return ask{method: "GET", path: "/v1/tools?" + query, status: 200, has: append(has, fmt.Sprintf(`"total":%d`, total))}
	}
	badList := func(query, field string) ask {
		return ask{method: "GET", path: "/v1/tools?" + query, status: 400, has: []string{`"code":"VALIDATION_ERROR"`, fmt.Sprintf(`"field":%q`, field)}}
	}
	search := func(body string, status int, has ...string) ask {
		return ask{method: "POST", path: "/v1/tools/search", body: body, status: status, has: has}
	}
	bad := func(body string, has ...string) ask {
		return search(body, 400, append(has, `"code":"VALIDATION_ERROR"`)...)
	}
	d.ask(t, map[string]ask{
		"a tag":                     list("tag=text", 2),
		"a tag and a category":      list("tag=fast&category=words", 1, `"name":"fault__echo"`),
		"a tag that is part of one": list("tag=tex", 0),
		"all filters":               list("tag=text&category=words&server=fault&enabled=true", 2),
		"of another server":         list("tag=text&server=other", 0),
		"empty is none":             list("tag=&category=&server=&enabled=&page=&limit=", 11),
		"the last page":             list("page=3&limit=4", 11, `"pagination":{"page":3,"limit":4,"total":11,"totalPages":3}`),
		"one to a page":             list("limit=1", 11, `"pagination":{"page":1,"limit":1,"total":11,"totalPages":11}`),
		"the most":                  list("limit=100", 11, `"totalPages":1`),
		"nothing has no pages":      list("tag=none", 0, `"tools":[]`, `"pagination":{"page":1,"limit":50,"total":0,"totalPages":0}`),
		"a far page":                list("page=2147483647&limit=100", 11, `"tools":[]`),
		"page 0":                    badList("page=0", "page"),
		"page -1":                   badList("page=-1", "page"),
		"page a word":               badList("page=first", "page"),
		"half a page":               badList("page=1.5", "page"),
		"a page beyond numbers":     badList("page=99999999999999999999", "page"),
		"limit 0":                   badList("limit=0", "limit"),
		"limit 101":                 badList("limit=101", "limit"),
		"enabled yes":               badList("enabled=yes", "enabled"),
		"enabled TRUE":              badList("enabled=TRUE", "enabled"),

		"search":                  search(`{"query":"return the text"}`, 200, `"query":"return the text"`, `"name":"fault__echo"`, `"score":`, `"total":`, `"confidence":`, `"noMatch":false`, `"parameters":[`),
		"search for nothing":      search(`{"query":"milk sugar bread flour camel passport visa hotel beach holiday text"}`, 200, `"noMatch":true`),
		"search with one tag":     search(`{"query":"text time","filters":{"tags":["fast"]}}`, 200, `"name":"fault__echo"`, `"name":"fault__sleep"`),
		"all tags must be there":  {method: "POST", path: "/v1/tools/search", body: `{"query":"text time","filters":{"tags":["fast","text"]}}`, status: 200, has: []string{`"name":"fault__echo"`}, hasNot: []string{`"name":"fault__sleep"`, `"name":"fault__raw"`}},
		"search in a category":    {method: "POST", path: "/v1/tools/search", body: `{"query":"text time","filters":{"category":"words"}}`, status: 200, has: []string{`"name":"fault__echo"`}, hasNot: []string{`"name":"fault__sleep"`}},
		"search with null":        search(`{"query":"text","filters":null,"limit":null}`, 200, `"results":[`),
		"search of another":       search(`{"query":"text","filters":{"server":"other"}}`, 200, `"results":[]`),
		"one hit":                 search(`{"query":"text","limit":1}`, 200, `"results":[{`),
		"no query":                bad(`{}`, "Query is required", `"field":"query"`),
		"an empty query":          bad(`{"query":" \t"}`, "Query is required"),
		"a query that is null":    bad(`{"query":null}`, "Query is required"),
		"a query of numbers":      bad(`{"query":7}`, "query must be a string, is a number", `"field":"query"`),
		"search, unknown field":   bad(`{"query":"x","page":1}`, "page is unknown; there are query, filters, limit", `"field":"page"`),
		"search, unknown filter":  bad(`{"query":"x","filters":{"tag":"a"}}`, "filters.tag is unknown; did you mean filters.tags? There are category, tags, server"),
		"search, filters a list":  bad(`{"query":"x","filters":[]}`, `"field":"filters"`),
		"search, a tag of null":   bad(`{"query":"x","filters":{"tags":[null]}}`, "filters.tags.0 must be a string, is null"),
		"search, tags twice":      bad(`{"query":"x","filters":{"tags":["a"],"tags":[]}}`, "stands twice"),
		"search, Tags":            bad(`{"query":"x","filters":{"Tags":["a"]}}`, "only in case"),
		"search, limit 0":         bad(`{"query":"x","limit":0}`, `"field":"limit"`),
		"search, limit 101":       bad(`{"query":"x","limit":101}`, "from 1 to 100"),
		"search, bad JSON":        bad(`{"query":"x"`, "not valid JSON"),
		"search, no body":         {method: "POST", path: "/v1/tools/search", send: []string{"Content-Type", "application/json"}, status: 400},
		"search, no content type": {method: "POST", path: "/v1/tools/search", body: `{"query":"x"}`, send: []string{"Content-Type", ""}, status: 415},
		"search, a long query":    {method: "POST", path: "/v1/tools/search", body: `{"query":"` + strings.Repeat("x", 9000) + `"}`, status: 400, has: []string{`"field":"query"`, "8192 bytes"}, hasNot: []string{strings.Repeat("x", 200)}},
		"search, a long field":    {method: "POST", path: "/v1/tools/search", body: `{"query":"x","` + strings.Repeat("x", 9000) + `":1}`, status: 400, has: []string{"is unknown; there are query, filters, limit"}, hasNot: []string{strings.Repeat("x", 200)}},
		"search, a long number":   {method: "POST", path: "/v1/tools/search", body: `{"query":"x","limit":1` + strings.Repeat("0", 9000) + `}`, status: 400, hasNot: []string{strings.Repeat("0", 200)}},
		"search, 2 MB":            search(`{"query":"`+strings.Repeat("x", 2<<20)+`"}`, 413),
		"search, nobody":          {method: "POST", path: "/v1/tools/search", body: `{"query":"x"}`, send: []string{"Authorization", ""}, status: 401},
	})
}

// Servers and the configuration.
func TestAskingForServers(t *testing.T) {
	t.Parallel()
	off := map[string]any{"command": "true", "disabled": true}
	d := openDoor(t, map[string]any{"mcpServers": map[string]any{"off": off}})
	user := d.newToken()
	d.ask(t, map[string]ask{
		"a disabled one":         {method: "GET", path: "/v1/servers/off", status: 200, has: []string{`"state":"disabled"`}},
		"cannot be tried":        {method: "POST", path: "/v1/servers/off/try", status: 409, has: []string{`"code":"CONFLICT"`, "switched off"}},
		"one that is not there":  {method: "POST", path: "/v1/servers/nobody/try", status: 404, has: []string{`"code":"NOT_FOUND"`}},
		"a long name":            {method: "GET", path: "/v1/servers/" + strings.Repeat("x", 4000), status: 404, hasNot: []string{strings.Repeat("x", 200)}},
		"a name with a slash":    {method: "GET", path: "/v1/servers/a%2Fb", status: 404},
		"one that is well":       {method: "POST", path: "/v1/servers/fault/try", status: 202, has: []string{`"name":"fault"`}},
		"a user may not try":     {method: "POST", path: "/v1/servers/fault/try", send: []string{"Authorization", "Bearer " + user}, status: 403, has: []string{"AUTHORIZATION_ERROR"}},
		"a user may not reload":  {method: "POST", path: "/v1/reload", send: []string{"Authorization", "Bearer " + user}, status: 403},
		"the configuration":      {method: "POST", path: "/v1/reload", status: 200, has: []string{`"success":true`}},
		"a user sees no output":  {method: "GET", path: "/v1/servers/fault", send: []string{"Authorization", "Bearer " + user}, status: 200, hasNot: []string{`"output"`, `"findings"`}},
		"the list for strangers": {method: "GET", path: "/v1/servers", send: []string{"Authorization", "Bearer gk_x"}, status: 401},
	})
	if err := os.WriteFile(filepath.Join(d.data, "genkan.yaml"), []byte("lisen: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.ask(t, map[string]ask{
		"a bad configuration": {method: "POST", path: "/v1/reload", status: 400, has: []string{`"code":"VALIDATION_ERROR"`, "lisen"}},
	})
}

// Each caller has requests of its own to make, and is told in seconds when there
// will be another. All of /v1 counts but the description and what an administrator
// needs to mend something. The window is the seed's: a number is milliseconds.
func TestTheLimitIsEachCallers(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{"rateLimit": map[string]any{"max": 1, "timeWindow": 3_600_000}})
	other := d.newToken()
	call := func(token string, status int) answer {
		t.Helper()
		got := d.send("POST", "/v1/tools/call", `{"name":"fault__pid"}`, "Authorization", "Bearer "+token)
		if got.status != status {
			t.Fatalf("status %d, want %d: %s", got.status, status, got.body)
		}
		return got
	}
	call(d.token, 200)
	refused := call(d.token, 429)
	if n, err := strconv.Atoi(refused.header.Get("Retry-After")); err != nil || n < 3500 || n > 3600 {
		t.Errorf("Retry-After is %q", refused.header.Get("Retry-After"))
	}
	if !strings.Contains(refused.body, `"executionTime":`) || !strings.Contains(refused.body, "more than one request in 1h;") {
		t.Errorf("got %s", refused.body)
	}
	call(other, 200)
	call(other, 429)
	d.ask(t, map[string]ask{
		"a list":                               {method: "GET", path: "/v1/tools", status: 429, has: []string{`"code":"RATE_LIMIT_EXCEEDED"`}},
		"a tool":                               {method: "GET", path: "/v1/tools/fault__echo", status: 429},
		"a bad request":                        {method: "POST", path: "/v1/tools/call", body: `{"name":1}`, status: 429},
		"a call of nothing":                    {method: "POST", path: "/v1/tools/call", body: `{"name":"nothing"}`, status: 429, has: []string{`"executionTime":`}},
		"a search":                             {method: "POST", path: "/v1/tools/search", body: `{"query":"x"}`, status: 429},
		"what is not there":                    {method: "GET", path: "/v1/nothing", status: 429},
		"a redirect":                           {method: "GET", path: "/tools", status: 302},
		"health":                               {method: "GET", path: "/health", status: 200},
		"the description":                      {method: "GET", path: "/v1/openapi.json", status: 200},
		"an operator's look at the servers":    {method: "GET", path: "/v1/servers", status: 200},
		"an operator's look at a server":       {method: "GET", path: "/v1/servers/fault", status: 200},
		"a client's look at the servers":       {method: "GET", path: "/v1/servers", send: []string{"Authorization", "Bearer " + other}, status: 429},
		"an operator's change":                 {method: "PATCH", path: "/v1/tools/fault__echo", body: `{"tags":["a"]}`, status: 200},
		"an operator's other management route": {method: "GET", path: "/v1/tokens", status: 200},
	})
}

// A server that is gone, and one that wants somebody to sign in: the caller's
// own token is good, so neither is a 401.
func TestServersThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	gone, guarded := testkit.NewFaultHTTP(t), testkit.NewFaultHTTP(t)
	behind, err := url.Parse(guarded.URL())
	if err != nil {
		t.Fatal(err)
	}
	var locked atomic.Bool
	through := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: behind.Scheme, Host: behind.Host})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if locked.Load() {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	d := openDoor(t, map[string]any{"mcpServers": map[string]any{
		"gone": map[string]any{"url": gone.URL(), "type": "http"}, "guarded": map[string]any{"url": front.URL + "/mcp", "type": "http"},
	}})
	for _, name := range []string{"gone", "guarded"} {
		testkit.Eventually(t, func() bool { return d.send("GET", "/v1/tools/"+name+"__echo", "").status == 200 }, "%s is not there", name)
	}
	gone.Stop()
	locked.Store(true)
	call := func(name string, status int, has ...string) ask {
		return ask{method: "POST", path: "/v1/tools/call", body: `{"name":"` + name + `","parameters":{"text":"x"}}`, status: status, has: append(has, `"executionTime":`, `"success":false`)}
	}
	d.ask(t, map[string]ask{
		"a server that is gone":  call("gone__echo", 503, `"code":"UPSTREAM_UNAVAILABLE"`, "gone"),
		"one that wants sign-in": call("guarded__echo", 502, `"code":"SIGN_IN_NEEDED"`, "genkan login guarded"),
		"the others":             {method: "POST", path: "/v1/tools/call", body: `{"name":"fault__pid"}`, status: 200},
	})
}
