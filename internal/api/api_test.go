package api_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/app"
	"genkan/internal/clients"
	"genkan/internal/gateway"
	"genkan/internal/script"
	"genkan/internal/sqlite/blank"
	"genkan/internal/testkit"
)

func TestMain(m *testing.M) {
	script.Main() // does not return in a worker
	testkit.Main(m)
}

// door is a running house with the fault server behind it.
type door struct {
	t       testing.TB
	url     string
	token   string
	data    string
	config  string
	handler http.Handler
	client  *http.Client
	// home is where the files of MCP clients are.
	home string
}

// openDoor opens a house. What is extra goes into its configuration, and with
// "fault-" before it into that of the server.
func openDoor(t testing.TB, extra map[string]any, faultArgs ...string) door {
	t.Helper()
	data, home := t.TempDir(), t.TempDir()
	command, args, env := testkit.FaultCommand(t, faultArgs...)
	fault := map[string]any{"command": command, "args": args, "env": env}
	servers := map[string]any{"fault": fault}
	file := map[string]any{"mcpServers": servers, "kb": map[string]any{"enabled": false}}
	for key, value := range extra {
		own, isServers := strings.CutPrefix(key, "fault-")
		switch {
		case own == "env":
			maps.Copy(env, value.(map[string]string)) //nolint:forcetypeassert // the tests'
		case isServers:
			fault[own] = value
		case key == "mcpServers":
			maps.Copy(servers, value.(map[string]any)) //nolint:forcetypeassert // as above
		default:
			file[key] = value
		}
	}
	raw, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "genkan.yaml"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := blank.Write(filepath.Join(data, "genkan.db")); err != nil {
		t.Fatal(err)
	}
	p, err := app.Open(context.Background(), app.Options{
		DataDir: data, Version: "v-test", Log: slog.New(slog.DiscardHandler),
		LookupEnv: func(string) (string, bool) { return "", false },
		Clients: func() (clients.Environment, error) {
			return clients.Environment{GOOS: "linux", Home: home, Getenv: func(string) string { return "" }, Glob: filepath.Glob}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	handler := p.Handler()
	server := httptest.NewServer(handler)
	transport := &http.Transport{}
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	token, err := os.ReadFile(app.AdminTokenFile(data))
	if err != nil {
		t.Fatal(err)
	}
	d := door{t, server.URL, strings.TrimSpace(string(token)), data, string(raw), handler, client, home}
	d.waitReady()
	return d
}

func (d door) waitReady() {
	d.t.Helper()
	testkit.Eventually(d.t, func() bool {
		return strings.Contains(d.send("GET", "/v1/servers/fault", "").body, `"state":"ready"`)
	}, "the fault server is not ready")
}

type answer struct {
	status int
	header http.Header
	body   string
}

// want checks the status of an answer and the parts that its body has and lacks.
func (a answer) want(t *testing.T, status int, has, hasNot []string) {
	t.Helper()
	if a.status != status {
		t.Errorf("status %d, want %d: %.600s", a.status, status, a.body)
	}
	for _, part := range has {
		if !strings.Contains(a.body, part) {
			t.Errorf("the answer lacks %s: %.600s", part, a.body)
		}
	}
	for _, part := range hasNot {
		if strings.Contains(a.body, part) {
			t.Errorf("the answer has %s: %.600s", part, a.body)
		}
	}
}

func (d door) send(method, path, body string, headers ...string) answer {
	d.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, d.url+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+d.token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		} else {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	resp, err := d.client.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(raw)}
}

// Every answer of the API, good and bad, in one table.
func TestREST(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	call := func(body string) []string { return []string{"POST", "/v1/tools/call", body} }
	for name, c := range map[string]struct {
		request []string
		headers []string
		status  int
		has     []string
		hasNot  []string
	}{
		"health at the root":  {request: []string{"GET", "/", ""}, headers: []string{"Authorization", ""}, status: 200, has: []string{`"status":"ok"`, `"message":"MCP Server is running"`, `"version":"v-test"`, `"uptime":`, `"timestamp":"`}},
		"health":              {request: []string{"GET", "/health", ""}, headers: []string{"Authorization", ""}, status: 200, has: []string{`"status":"ok"`}},
		"no token":            {request: []string{"GET", "/v1/tools", ""}, headers: []string{"Authorization", ""}, status: 401, has: []string{`"code":"AUTHENTICATION_ERROR"`, "tokens add"}},
		"wrong token":         {request: []string{"GET", "/v1/tools", ""}, headers: []string{"Authorization", "Bearer gk_wrong"}, status: 401, has: []string{`"success":false`}},
		"foreign origin":      {request: []string{"GET", "/v1/tools", ""}, headers: []string{"Origin", "https://evil.example"}, status: 403, has: []string{`"code":"AUTHORIZATION_ERROR"`}},
		"all tools":           {request: []string{"GET", "/v1/tools", ""}, status: 200, has: []string{`"name":"fault__echo"`, `"pagination":{"page":1,"limit":50,"total":11,"totalPages":1}`, `"inputSchema":{`}},
		"a page":              {request: []string{"GET", "/v1/tools?page=2&limit=10", ""}, status: 200, has: []string{`"pagination":{"page":2,"limit":10,"total":11,"totalPages":2}`}, hasNot: []string{"fault__echo"}},
		"a page beyond":       {request: []string{"GET", "/v1/tools?page=99", ""}, status: 200, has: []string{`"tools":[]`}},
		"page 0":              {request: []string{"GET", "/v1/tools?page=0", ""}, status: 400, has: []string{`"code":"VALIDATION_ERROR"`, "page must be", `"field":"page"`}},
		"limit 101":           {request: []string{"GET", "/v1/tools?limit=101", ""}, status: 400, has: []string{"limit must be a whole number from 1 to 100"}},
		"limit a word":        {request: []string{"GET", "/v1/tools?limit=many", ""}, status: 400},
		"tools of one server": {request: []string{"GET", "/v1/tools?server=nobody", ""}, status: 200, has: []string{`"total":0`}},
		"one tool": {request: []string{"GET", "/v1/tools/fault__echo", ""}, status: 200, has: []string{
			`"server":"fault"`, `"parameters":[{"name":"text","type":"string","description":"What to return.","required":true}]`, `"version":"1.0.0"`,
			`"enabled":true`, `"tags":[]`, `"examples":[]`, `"registeredAt":"20`,
		}},
		"unknown tool": {request: []string{"GET", "/v1/tools/nothing", ""}, status: 404, has: []string{`"code":"TOOL_NOT_FOUND"`, "Tool not found: nothing"}},
		"servers":      {request: []string{"GET", "/v1/servers", ""}, status: 200, has: []string{`"name":"fault"`, `"era":"modern"`, `"tools":11`}, hasNot: []string{"command", "GENKAN"}},
		// It is pinged where the call that times out came before.
		"one server":              {request: []string{"GET", "/v1/servers/fault", ""}, status: 200, has: []string{`"name":"fault","state":"`, `"transport":"stdio","tools":11`, `"starts":1`}},
		"unknown server":          {request: []string{"GET", "/v1/servers/nobody", ""}, status: 404, has: []string{`"code":"NOT_FOUND"`}},
		"unknown path":            {request: []string{"GET", "/v1/nothing", ""}, status: 404, has: []string{`"code":"NOT_FOUND"`}},
		"seed's path":             {request: []string{"GET", "/tools?limit=3", ""}, status: 302},
		"seed's call path":        {request: []string{"POST", "/tools/call", `{"name":"x"}`}, status: 307},
		"call":                    {request: call(`{"name":"fault__echo","parameters":{"text":"<hi>"}}`), status: 200, has: []string{`"success":true`, `"text":"<hi>"`, `"executionTime":`, `"timestamp":"`}},
		"call without parameters": {request: call(`{"name":"fault__pid"}`), status: 200, has: []string{`"success":true`}},
		"call keeps numbers":      {request: call(`{"name":"fault__raw","parameters":{"result_json":"{\"content\":[],\"structuredContent\":{\"n\":1e400,\"m\":12345678901234567890123}}"}}`), status: 200, has: []string{`"n":1e400`, `"m":12345678901234567890123`}},
		"call, tool's own error":  {request: call(`{"name":"fault__raw","parameters":{"result_json":"{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"no such row\"}]}"}}`), status: 500, has: []string{`"code":"TOOL_EXECUTION_ERROR"`, `"error":"Tool execution failed: fault__raw: no such row"`, `"result":{`}},
		"call, asks a person":     {request: call(`{"name":"fault__raw","parameters":{"result_json":"{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"MCP error -32601: ` + gateway.NotAnnounced + `elicitation/create\"}]}"}}`), status: 422, has: []string{`"code":"CLIENT_NEEDED"`, `"error":"fault__raw asks the person who calls it a question`, "a client that supports elicitation", `"result":{`}},
		"call, asks a model":      {request: call(`{"name":"fault__raw","parameters":{"error_json":"{\"code\":-32601,\"message\":\"` + gateway.NotAnnounced + `sampling/createMessage\"}"}}`), status: 422, has: []string{`"code":"CLIENT_NEEDED"`, "a client that supports sampling"}},
		"call, server's error":    {request: call(`{"name":"fault__raw","parameters":{"error_json":"{\"code\":-32000,\"message\":\"broken inside\"}"}}`), status: 500, has: []string{`"code":"TOOL_EXECUTION_ERROR"`, "Tool execution failed: fault__raw: broken inside"}},
		"call unknown tool":       {request: call(`{"name":"nothing"}`), status: 404, has: []string{`"code":"TOOL_NOT_FOUND"`, `"executionTime":`}},
		"call, name missing":      {request: call(`{"parameters":{}}`), status: 400, has: []string{"name is required", `"field":"name"`}},
		"call, name a number":     {request: call(`{"name":1}`), status: 400, has: []string{"name must be a string, is a number"}},
		"call, unknown field":     {request: call(`{"name":"fault__echo","arguments":{}}`), status: 400, has: []string{"Validation failed: arguments is unknown; there are name, parameters, options", `"field":"arguments"`, `"keyword":"additionalProperties"`}},
		"call, unknown option":    {request: call(`{"name":"fault__echo","options":{"timeot":1,"tries":2}}`), status: 400, has: []string{"Validation failed: options.timeot is unknown; did you mean options.timeout? There are timeout, retry, retryDelay, budget, folder, cwd, query; options.tries is unknown"}},
		"call, not an object":     {request: call(`{"name":"fault__echo","parameters":[1]}`), status: 400, has: []string{"parameters must be an object"}},
		"call, duplicate name":    {request: call(`{"name":"fault__echo","parameters":{"text":"a"}} {"name":"x"}`), status: 400},
		"call, name twice":        {request: call(`{"name":"fault__echo","name":"fault__pid"}`), status: 400, has: []string{"stands twice"}},
		"call, another case":      {request: call(`{"name":"fault__echo","Parameters":{}}`), status: 400, has: []string{"only in case"}},
		"call, not UTF-8":         {request: call("{\"name\":\"fault__echo\",\"parameters\":{\"text\":\"\xff\"}}"), status: 400, has: []string{"UTF-8"}},
		"call, an array":          {request: call(`[1]`), status: 400, has: []string{"an object was expected"}},
		"call, bad JSON":          {request: call(`{"name":`), status: 400, has: []string{"not valid JSON"}},
		"call, negative timeout":  {request: call(`{"name":"fault__echo","options":{"timeout":-1}}`), status: 400, has: []string{"options.timeout must be at least 0, is -1", `"instancePath":"/options/timeout"`}},
		"call, no such cwd":       {request: call(`{"name":"fault__echo","options":{"cwd":"here"}}`), status: 400, has: []string{"options.cwd must be an absolute path"}},
		"call, no such folder":    {request: call(`{"name":"fault__echo","options":{"folder":"here"}}`), status: 400, has: []string{"options.folder must be an absolute path"}},
		"call, endless timeout":   {request: call(`{"name":"fault__echo","parameters":{"text":"a"},"options":{"timeout":9223372036854775807,"retry":10,"retryDelay":9223372036854775807}}`), status: 200},
		"call, times out":         {request: call(`{"name":"fault__sleep","parameters":{"ms":60000},"options":{"timeout":50}}`), status: 408, has: []string{`"code":"TIMEOUT"`, "Execution timeout after 50ms"}},
		"call, 2 MB":              {request: call(`{"name":"fault__echo","parameters":{"text":"` + strings.Repeat("x", 2<<20) + `"}}`), status: 413},
		"call, plain text":        {request: call(`{"name":"fault__echo"}`), headers: []string{"Content-Type", "text/plain"}, status: 415},
		"call, wrong argument":    {request: call(`{"name":"fault__echo","parameters":{"text":7}}`), status: 400, has: []string{`"code":"VALIDATION_ERROR"`, `"field":"text"`, "Invalid type for parameter text: expected string, is a number", `"details":[{"field":"text","instancePath":"/text","keyword":"type","params":{"type":"string"},"message":"text must be a string, is a number"}]`, `"executionTime":`}},
		"call, argument missing":  {request: call(`{"name":"fault__echo"}`), status: 400, has: []string{`"field":"text"`, "Required parameter missing: text"}},
		"metrics":                 {request: []string{"GET", "/metrics", ""}, status: 200, has: []string{"genkan_servers_ready "}},
		"metrics without a token": {request: []string{"GET", "/metrics", ""}, headers: []string{"Authorization", ""}, status: 401},
		"well-known":              {request: []string{"GET", "/.well-known/oauth-protected-resource", ""}, headers: []string{"Authorization", ""}, status: 404, hasNot: []string{"{"}},
		"elsewhere":               {request: []string{"GET", "/elsewhere", ""}, status: 404},
		"elsewhere, no token":     {request: []string{"GET", "/elsewhere", ""}, headers: []string{"Authorization", ""}, status: 401},
	} {
		t.Run(name, func(t *testing.T) {
			got := d.send(c.request[0], c.request[1], c.request[2], c.headers...)
			got.want(t, c.status, c.has, c.hasNot)
		})
	}
	if got := d.send("GET", "/tools?limit=3", ""); got.header.Get("Location") != "/v1/tools?limit=3" {
		t.Errorf("redirected to %s", got.header.Get("Location"))
	}
}

func TestRateLimitSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{"rateLimit": map[string]any{"max": 2, "timeWindow": "1h"}})
	body := `{"name":"fault__echo","parameters":{"text":"a"}}`
	for range 2 {
		if got := d.send("POST", "/v1/tools/call", body); got.status != 200 {
			t.Fatalf("within the limit: %d %s", got.status, got.body)
		}
	}
	got := d.send("POST", "/v1/tools/call", body)
	if got.status != 429 || got.header.Get("Retry-After") == "" || !strings.Contains(got.body, "RATE_LIMIT_EXCEEDED") {
		t.Errorf("over the limit: %d, Retry-After %q, %s", got.status, got.header.Get("Retry-After"), got.body)
	}
	if health := d.send("GET", "/health", ""); health.status != 200 {
		t.Errorf("health is not a call: %d", health.status)
	}
}
