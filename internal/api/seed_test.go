package api_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"genkan/internal/config"
)

// requirement is one line of search-mcp-core.md: what a request must be answered
// with. Rows are asked in their order, because some change what later ones see.
type requirement struct {
	// seed is the section and what it says.
	seed string
	// request is METHOD path body.
	request string
	status  int
	// want are conditions on the JSON of the answer:
	//
	//	a.b=1    the value at a.b, as JSON
	//	a.b~x    a text at a.b that contains x
	//	a.b      there is a value at a.b
	//	!a.b     there is none
	want []string
	// departs says in which way genkan departs on purpose; docs/differences.md has
	// the reason.
	departs string
}

// TestSeed holds the registry against the seed's sections 1 to 5, with a running
// house.
func TestSeed(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{"fault-tools": map[string]any{"options": map[string]any{
		"list_issue": map[string]any{"category": "tracker", "tags": []string{"read", "text"}, "version": "2.1.0"},
		"get_issue":  map[string]any{"category": "tracker", "tags": []string{"read"}},
	}}}, "-tools", "8")
	for _, r := range []requirement{
		// 1. Tool registry.
		{seed: "1.3.1 an entry has metadata, registeredAt, version, enabled, tags, category", request: "GET /v1/tools/fault__list_issue", status: 200, want: []string{
			`name="fault__list_issue"`, `description~Lists issues`, `parameters`, `registeredAt~20`, `version="2.1.0"`, `enabled=true`, `tags=["read","text"]`, `category="tracker"`,
		}},
		{seed: "1.3.1 dependencies of an entry", request: `PATCH /v1/tools/fault__get_issue {"dependencies":["fault__list_issue"]}`, status: 200, want: []string{`dependencies=["fault__list_issue"]`}},
		{seed: "1.3.2 the version is 1.0.0 unless given", request: "GET /v1/tools/fault__echo", status: 200, want: []string{`version="1.0.0"`, `enabled=true`, `tags=[]`, `!category`}},
		{seed: "1.3.2 RegisterOptions: version, tags, category", request: `PATCH /v1/tools/fault__echo {"version":"3.0.0","tags":["a"],"category":"b"}`, status: 200, want: []string{`version="3.0.0"`, `tags=["a"]`, `category="b"`}, departs: "a tool comes from its server; options are changed on it"},
		{seed: "1.3.2 a name that is taken is refused", request: `POST /v1/servers {"name":"fault","command":"x"}`, status: 409, want: []string{`success=false`, `code="CONFLICT"`}, departs: "servers are registered, not single tools"},
		{seed: "1.3.2 names are lower case letters, digits and hyphens", request: "GET /v1/tools/fault__list_issue", status: 200, want: []string{`name="fault__list_issue"`}, departs: "the names that MCP allows"},
		{seed: "1.3.1 disable(name)", request: "POST /v1/tools/fault__pid/disable", status: 200, want: []string{`success=true`, `tool.enabled=false`}},
		{seed: "1.3.3 Tool is disabled: NAME", request: `POST /v1/tools/call {"name":"fault__pid"}`, status: 403, want: []string{`success=false`, `error~Tool is disabled: fault__pid`, `code="TOOL_DISABLED"`, `executionTime`, `timestamp~20`}},
		{seed: "1.3.1 enable(name)", request: "POST /v1/tools/fault__pid/enable", status: 200, want: []string{`tool.enabled=true`}},
		{seed: "1.3.3 Tool not found: NAME", request: `POST /v1/tools/call {"name":"nothing"}`, status: 404, want: []string{`success=false`, `error="Tool not found: nothing"`, `code="TOOL_NOT_FOUND"`, `executionTime`, `timestamp~20`}},
		{seed: "1.3.3 Required parameter missing: NAME", request: `POST /v1/tools/call {"name":"fault__echo"}`, status: 400, want: []string{
			`success=false`, `error="Required parameter missing: text"`, `code="VALIDATION_ERROR"`, `field="text"`, `executionTime`, `timestamp~20`,
			`details.0.instancePath=""`, `details.0.keyword="required"`, `details.0.params.missingProperty="text"`, `details.0.message="text is required"`,
		}},
		{seed: "1.3.3 Invalid type for parameter NAME: expected TYPE", request: `POST /v1/tools/call {"name":"fault__echo","parameters":{"text":7}}`, status: 400, want: []string{`error~Invalid type for parameter text: expected string`, `code="VALIDATION_ERROR"`, `field="text"`, `executionTime`}},
		{seed: "1.3.3 Tool execution failed: NAME", request: `POST /v1/tools/call {"name":"fault__raw","parameters":{"result_json":"{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"no such row\"}]}"}}`, status: 500, want: []string{
			`success=false`, `error="Tool execution failed: fault__raw: no such row"`, `code="TOOL_EXECUTION_ERROR"`, `result.isError=true`, `executionTime`, `timestamp~20`,
		}},

		// 2. HTTP API server.
		{seed: "2.2.1 GET /tools leads to /v1/tools", request: "GET /tools", status: 302},
		{seed: "2.2.1 POST /tools/call leads to /v1/tools/call with 307", request: `POST /tools/call {"name":"fault__pid"}`, status: 307},
		{seed: "2.2.2.1 GET / is the health", request: "GET /", status: 200, want: []string{`status="ok"`, `message="MCP Server is running"`, `version`, `uptime`, `timestamp~20`}},
		{seed: "2.2.2.2 GET /v1/tools: page 1 and limit 50 by default", request: "GET /v1/tools", status: 200, want: []string{`tools.0.name`, `pagination={"limit":50,"page":1,"total":19,"totalPages":1}`}},
		{seed: "2.2.2.2 page and limit", request: "GET /v1/tools?page=2&limit=10", status: 200, want: []string{`tools.8`, `!tools.9`, `pagination={"limit":10,"page":2,"total":19,"totalPages":2}`}},
		{seed: "2.2.2.2 limit may be 100", request: "GET /v1/tools?limit=100", status: 200, want: []string{`pagination.limit=100`}},
		{seed: "2.2.2.2 limit is at most 100", request: "GET /v1/tools?limit=101", status: 400, want: []string{`error~Validation failed`, `code="VALIDATION_ERROR"`, `details.0.instancePath="/limit"`, `details.0.keyword="maximum"`, `details.0.params.limit=100`}},
		{seed: "2.2.2.2 limit is at least 1", request: "GET /v1/tools?limit=0", status: 400, want: []string{`error~Validation failed`, `details.0.keyword="minimum"`, `details.0.params.limit=1`}},
		{seed: "2.2.2.2 page is at least 1", request: "GET /v1/tools?page=0", status: 400, want: []string{`details.0.instancePath="/page"`, `details.0.keyword="minimum"`}},
		{seed: "2.2.2.2 page is an integer", request: "GET /v1/tools?page=x", status: 400, want: []string{`details.0.keyword="type"`, `details.0.params.type="integer"`}},
		{seed: "2.2.2.2 category", request: "GET /v1/tools?category=tracker", status: 200, want: []string{`pagination.total=2`}},
		{seed: "2.2.2.2 tag", request: "GET /v1/tools?tag=text", status: 200, want: []string{`pagination.total=1`, `tools.0.name="fault__list_issue"`}},
		{seed: "2.2.2.2 filters go together", request: "GET /v1/tools?tag=read&category=tracker&enabled=true", status: 200, want: []string{`pagination.total=2`}},
		{seed: "2.2.2.2 enabled=false", request: "GET /v1/tools?enabled=false", status: 200, want: []string{`tools=[]`, `pagination.totalPages=0`}},
		{seed: "2.2.2.2 enabled is a boolean", request: "GET /v1/tools?enabled=maybe", status: 400, want: []string{`details.0.instancePath="/enabled"`, `details.0.params.type="boolean"`}},
		{seed: "2.2.2.2 other parameters are ignored", request: "GET /v1/tools?tags=read", status: 400, want: []string{`field="tags"`}, departs: "they are refused"},
		{seed: "2.2.2.3 a call answers success, result, executionTime", request: `POST /v1/tools/call {"name":"fault__echo","parameters":{"text":"hi"}}`, status: 200, want: []string{`success=true`, `result.content.0.text="hi"`, `executionTime`, `timestamp~20`, `!error`, `!code`}, departs: "result is MCP's"},
		{seed: "2.2.2.3 parameters are {} by default", request: `POST /v1/tools/call {"name":"fault__pid"}`, status: 200, want: []string{`success=true`}},
		{seed: "2.2.2.3 name is required", request: `POST /v1/tools/call {}`, status: 400, want: []string{`error~Validation failed`, `code="VALIDATION_ERROR"`, `details.0.keyword="required"`, `details.0.params.missingProperty="name"`, `executionTime`}},
		{seed: "2.2.2.3 name is a string", request: `POST /v1/tools/call {"name":{}}`, status: 400, want: []string{`details.0.instancePath="/name"`, `details.0.keyword="type"`, `details.0.params.type="string"`}},
		{seed: "2.2.2.3 parameters are an object", request: `POST /v1/tools/call {"name":"fault__pid","parameters":[1]}`, status: 400, want: []string{`details.0.instancePath="/parameters"`, `details.0.params.type="object"`}},
		{seed: "2.2.2.4 GET /v1/tools/NAME of nothing", request: "GET /v1/tools/nothing", status: 404, want: []string{`error="Tool not found: nothing"`}},
		{seed: "2.2.2.5 search answers query, results, total", request: `POST /v1/tools/search {"query":"list issues"}`, status: 200, want: []string{`query="list issues"`, `results.0.name="fault__list_issue"`, `results.0.description`, `results.0.parameters`, `total`}},
		{seed: "2.2.2.5 Query is required", request: `POST /v1/tools/search {"query":" "}`, status: 400, want: []string{`error="Query is required"`}},
		{seed: "2.2.2.5 Query is required, also if there is none", request: `POST /v1/tools/search {}`, status: 400, want: []string{`error="Query is required"`}},
		{seed: "2.2.2.5 filters.category and filters.tags", request: `POST /v1/tools/search {"query":"issue","filters":{"category":"tracker","tags":["read","text"]}}`, status: 200, want: []string{`results.0.name="fault__list_issue"`, `!results.1`, `total=1`}},
		{seed: "2.2.2.5 limit cuts results, not total", request: `POST /v1/tools/search {"query":"issue","limit":1}`, status: 200, want: []string{`results.0`, `!results.1`, `total=8`}},
		{seed: "2.2.2.5 any limit", request: `POST /v1/tools/search {"query":"issue","limit":101}`, status: 400, want: []string{`field="limit"`}, departs: "at most 100"},

		// 3. Tool execution.
		{seed: "3.2 Execution timeout after Nms", request: `POST /v1/tools/call {"name":"fault__sleep","parameters":{"ms":60000},"options":{"timeout":50}}`, status: 408, want: []string{`success=false`, `error~Execution timeout after 50ms`, `code="TIMEOUT"`, `executionTime`, `timestamp~20`}},
		{seed: "3.2 timeout, retry, retryDelay", request: `POST /v1/tools/call {"name":"fault__pid","options":{"timeout":30000,"retry":0,"retryDelay":1000}}`, status: 200, want: []string{`success=true`}},
		{seed: "3.2 any timeout, retry and delay", request: `POST /v1/tools/call {"name":"fault__pid","options":{"timeout":9999999,"retry":99,"retryDelay":9999999}}`, status: 200, want: []string{`success=true`}, departs: "600 s, 10 and 60 s at most"},

		// 4. Errors. Those of the tools are above.
		{seed: "4.1 AuthorizationError: 403 AUTHORIZATION_ERROR", request: "GET /v1/tools Origin: https://evil.example", status: 403, want: []string{`success=false`, `code="AUTHORIZATION_ERROR"`, `error`}},
		{seed: "4.1 AuthenticationError: 401 AUTHENTICATION_ERROR", request: "GET /v1/tools Authorization: Bearer wrong", status: 401, want: []string{`success=false`, `code="AUTHENTICATION_ERROR"`, `error`}},
		{seed: "4.1 ValidationError has the field", request: `POST /v1/tools/call {"name":"fault__sleep","parameters":{"ms":-1}}`, status: 400, want: []string{`field="ms"`, `error="Validation failed: ms must be at least 0, is -1"`}},
		{seed: "4.2 Validation failed, with all details", request: `POST /v1/tools/call {"name":"fault__create_issue","parameters":{"title":"","priority":"none","dry_run":1,"colour":"red"}}`, status: 400, want: []string{
			`success=false`, `code="VALIDATION_ERROR"`, `details.0.field="id"`, `details.1.field="dry_run"`, `details.2.field="colour"`, `details.3.field="priority"`, `details.4.field="title"`, `!details.5`,
			`details.3.message="priority must be one of \"low\", \"normal\", \"high\", \"urgent\", is \"none\""`, `details.4.message="title must have at least 1 characters, has 0"`,
		}, departs: "the seed's text is followed by what is wrong"},
		{seed: "4.2 what is not there", request: "GET /v1/nothing", status: 404, want: []string{`success=false`, `code="NOT_FOUND"`}, departs: "the seed has no name for it"},

		// 5. Types.
		{seed: "5.2 ToolParameter: minimum, maximum, default, required", request: "GET /v1/tools/fault__list_issue", status: 200, want: []string{
			`parameters.1={"default":20,"description":"The most entries to return.","maximum":100,"minimum":1,"name":"limit","required":false,"type":"number"}`, `parameters.3.type="array"`,
		}},
		{seed: "5.2 ToolParameter: enum", request: "GET /v1/tools/fault__create_issue", status: 200, want: []string{`parameters.0.required=true`, `parameters.4.enum=["low","normal","high","urgent"]`, `parameters.5.type="boolean"`}},
		{seed: "5.2 ToolMetadata: author and examples", request: `PATCH /v1/tools/fault__echo {"author":"me","examples":[{"description":"d","parameters":{"text":"a"},"expectedResult":"a"}]}`, status: 200, want: []string{
			`author="me"`, `examples=[{"description":"d","expectedResult":"a","parameters":{"text":"a"}}]`,
		}},
		{seed: "5.2 default is filled in", request: `POST /v1/tools/call {"name":"fault__list_issue"}`, status: 200, want: []string{`success=true`}},
	} {
		t.Run(r.seed, func(t *testing.T) { r.hold(t, d) })
	}
}

// hold asks and compares.
func (r requirement) hold(t *testing.T, d door) {
	t.Helper()
	method, rest, _ := strings.Cut(r.request, " ")
	path, body, _ := strings.Cut(rest, " ")
	var headers []string
	if name, value, isHeader := strings.Cut(body, ": "); isHeader && !strings.HasPrefix(body, "{") {
		headers, body = []string{name, value}, ""
	}
	got := d.send(method, path, body, headers...)
	if got.status != r.status {
		t.Errorf("status %d, want %d: %s", got.status, r.status, got.body)
	}
	if got.status/100 == 3 && got.header.Get("Location") != "/v1"+path {
		t.Errorf("it leads to %s", got.header.Get("Location"))
	}
	var answer any
	if r.want != nil {
		if err := json.Unmarshal([]byte(got.body), &answer); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range r.want {
		if problem := compare(answer, want); problem != "" {
			t.Errorf("%s: %s, in %s", want, problem, got.body)
		}
	}
}

// compare holds an answer against one condition of a requirement.
func compare(answer any, want string) (problem string) {
	at, absent := strings.CutPrefix(want, "!")
	end := strings.IndexAny(at, "=~")
	path, sign, value := at, "", ""
	if end >= 0 {
		path, sign, value = at[:end], at[end:end+1], at[end+1:]
	}
	found, there := answer, true
	for part := range strings.SplitSeq(path, ".") {
		switch in := found.(type) {
		case map[string]any:
			found, there = in[part]
		case []any:
			i, err := strconv.Atoi(part)
			if there = err == nil && i < len(in); there {
				found = in[i]
			}
		default:
			there = false
		}
		if !there {
			break
		}
	}
	raw, err := json.Marshal(found)
	switch text, _ := found.(string); {
	case there == absent:
		return fmt.Sprintf("present: %v", there)
	case err != nil:
		return err.Error()
	case sign == "=" && string(raw) != value:
		return "it is " + string(raw)
	case sign == "~" && !strings.Contains(text, value):
		return "it is " + text
	}
	return ""
}

// TestSeedRateLimit holds the rate limit against sections 4.1 and 6.1.
func TestSeedRateLimit(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{"rateLimit": map[string]any{"max": 3, "timeWindow": 60_000}})
	for _, r := range []requirement{
		{seed: "a read counts", request: "GET /v1/tools", status: 200},
		{seed: "a search counts", request: `POST /v1/tools/search {"query":"x"}`, status: 200},
		{seed: "a call counts", request: `POST /v1/tools/call {"name":"fault__pid"}`, status: 200},
		{seed: "4.1 RateLimitError: 429 RATE_LIMIT_EXCEEDED", request: "GET /v1/tools", status: 429, want: []string{`success=false`, `code="RATE_LIMIT_EXCEEDED"`, `error~more than 3 requests in 1m;`, `timestamp~20`}},
		{seed: "health does not count", request: "GET /", status: 200},
	} {
		t.Run(r.seed, func(t *testing.T) { r.hold(t, d) })
	}
	if after := d.send("GET", "/v1/tools", "").header.Get("Retry-After"); after == "" || after > "20" {
		t.Errorf("retryAfter is %q", after)
	}
}

// TestSeedConfiguration holds the settings against section 6.1.
func TestSeedConfiguration(t *testing.T) {
	t.Parallel()
	load := func(text string, variables url.Values) (*config.Config, error) {
		return config.Parse([]byte(text), "genkan.yaml", config.Sources{Env: func(name string) (string, bool) {
			return variables.Get(name), variables.Has(name)
		}}, config.Flags{})
	}
	for _, c := range []struct {
		seed, text, environment string
		want                    string // "" for a refusal
		departs                 string
	}{
		{seed: "port is 3000, host 0.0.0.0, logLevel info, CORS off, no limit", want: "127.0.0.1:3000 info [] 0 0s", departs: "the host is 127.0.0.1"},
		{seed: "PORT, HOST, LOG_LEVEL", environment: "PORT=4000&HOST=0.0.0.0&LOG_LEVEL=debug", want: "0.0.0.0:4000 debug [] 0 0s"},
		{seed: "CORS_ENABLED and CORS_ORIGIN", environment: "CORS_ENABLED=true&CORS_ORIGIN=https://a.example", want: "127.0.0.1:3000 info [https://a.example] 0 0s"},
		{seed: "origin is * by default", environment: "CORS_ENABLED=true", departs: "an origin must be named"},
		{seed: "the file has the same names", text: "port: 5000\nhost: 10.0.0.1\nlogLevel: trace\ncors: {enabled: true, origin: [https://a.example, https://b.example]}\nrateLimit: {max: 7, timeWindow: 60000}\n", want: "10.0.0.1:5000 trace [https://a.example https://b.example] 7 1m0s"},
		{seed: "one origin may be a text", text: "cors: {enabled: true, origin: https://a.example}\n", want: "127.0.0.1:3000 info [https://a.example] 0 0s"},
		{seed: "logLevel fatal", text: "logLevel: fatal\n", want: "127.0.0.1:3000 fatal [] 0 0s"},
		{seed: "logLevel is one of six", text: "logLevel: loud\n"},
	} {
		t.Run(c.seed, func(t *testing.T) {
			variables, err := url.ParseQuery(c.environment)
			if err != nil {
				t.Fatal(err)
			}
			got, err := load(c.text, variables)
			if err != nil {
				if c.want != "" {
					t.Error(err)
				}
				return
			}
			origins := slices.Clone(got.CORS.Origins)
			if said := fmt.Sprint(got.Listen, " ", got.LogLevel, " ", origins, " ", got.RateLimit.Max, " ", got.RateLimit.TimeWindow); said != c.want {
				t.Errorf("got %s, want %s", said, c.want)
			}
		})
	}
}
