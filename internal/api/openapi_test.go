package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"genkan/internal/api"
	"genkan/internal/testkit"
)

// patterns notes what is added to it.
type patterns []string

func (p *patterns) HandleFunc(pattern string, _ func(http.ResponseWriter, *http.Request)) {
	*p = append(*p, pattern)
}

// document is the part of the description that the tests look at.
type document struct {
	OpenAPI string
	Paths   map[string]map[string]struct {
		OperationID string
		Responses   map[string]struct {
			Content map[string]struct{ Schema map[string]any }
		}
	}
	Components struct{ Schemas map[string]any }
}

func (d door) describe() (raw string, doc document) {
	d.t.Helper()
	got := d.send("GET", "/v1/openapi.json", "")
	if got.status != 200 || got.header.Get("Content-Type") != "application/json" {
		d.t.Fatalf("status %d, %s", got.status, got.header.Get("Content-Type"))
	}
	if err := json.Unmarshal([]byte(got.body), &doc); err != nil {
		d.t.Fatal(err)
	}
	return got.body, doc
}

func TestOpenAPI(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	raw, doc := d.describe()
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(raw), "", "  "); err != nil {
		t.Fatal(err)
	}
	testkit.GoldenFile(t, "testdata/openapi.json", pretty.Bytes())

	// Nothing that is served is missing, and nothing else is described.
	var served patterns
	api.New(api.Options{}).Routes(&served)
	// Without a method stands what answers that there is none.
	served = slices.DeleteFunc(served, func(pattern string) bool { return !strings.Contains(pattern, " ") })
	open := []string{"/v1/openapi.json", "/v1/docs"} // without a token
	for _, pattern := range served {
		method, path, _ := strings.Cut(pattern, " ")
		if !strings.HasPrefix(path, "/v1/") || slices.Contains(open, path) {
			continue
		}
		if got := d.send(method, strings.ReplaceAll(path, "{name}", "x"), "", "Authorization", ""); got.status != 401 {
			t.Errorf("%s without a token: %d", pattern, got.status)
		}
	}
	var described []string
	for path, operations := range doc.Paths {
		for method, operation := range operations {
			if path == "/" {
				path = "/{$}"
			}
			described = append(described, strings.ToUpper(method)+" "+path)
			if operation.OperationID == "" || len(operation.Responses) == 0 {
				t.Errorf("%s %s is not described", method, path)
			}
		}
	}
	slices.Sort(described)
	slices.Sort(served)
	if !slices.Equal(described, served) {
		t.Errorf("served and described differ:\n%s\n%s", served, described)
	}
}

// What is answered fits the description.
func TestAnswersFitTheDescription(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	raw, doc := d.describe()
	whole, err := jsonschema.UnmarshalJSON(strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource("openapi.json", whole); err != nil {
		t.Fatal(err)
	}
	for name := range doc.Components.Schemas {
		if _, err := compiler.Compile("openapi.json#/components/schemas/" + name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	const tool = "/v1/tools/{name}"
	for _, c := range []struct{ method, path, described, body, status string }{
		{"GET", "/", "/", "", "200"},
		{"GET", "/health", "/health", "", "200"},
		{"PATCH", "/v1/tools/fault__echo", tool, `{"tags":["a"],"examples":[{"description":"d"}]}`, "200"},
		{"PATCH", "/v1/tools/fault__echo", tool, `{"tags":[1]}`, "400"},
		{"PATCH", "/v1/tools/nothing", tool, `{}`, "404"},
		{"GET", "/v1/tools", "/v1/tools", "", "200"},
		{"GET", "/v1/tools?page=0", "/v1/tools", "", "400"},
		{"GET", "/v1/tools/fault__echo", tool, "", "200"},
		{"GET", "/v1/tools/nothing", tool, "", "404"},
		{"POST", "/v1/tools/call", "/v1/tools/call", `{"name":"fault__echo","parameters":{"text":"a"}}`, "200"},
		{"POST", "/v1/tools/call", "/v1/tools/call", `{"name":"fault__echo"}`, "400"},
		{"POST", "/v1/tools/call", "/v1/tools/call", `{"name":"fault__raw","parameters":{"result_json":"{\"isError\":true,\"content\":[]}"}}`, "500"},
		{"POST", "/v1/tools/fault__pid/disable", tool + "/disable", "", "200"},
		{"POST", "/v1/tools/call", "/v1/tools/call", `{"name":"fault__pid"}`, "403"},
		{"POST", "/v1/tools/fault__pid/enable", tool + "/enable", "", "200"},
		{"GET", "/v1/servers", "/v1/servers", "", "200"},
		{"GET", "/v1/servers/fault", "/v1/servers/{name}", "", "200"},
		{"POST", "/v1/servers/fault/try", "/v1/servers/{name}/try", "", "202"},
		{"POST", "/v1/servers/nobody/try", "/v1/servers/{name}/try", "", "404"},
		{"POST", "/v1/servers", "/v1/servers", `{"name":"more","url":"http://127.0.0.1:1/mcp","oauth":false,"tools":{"deny":["x"]},"timeout":"5s"}`, "201"},
		{"POST", "/v1/servers", "/v1/servers", `{"name":"more","url":"http://127.0.0.1:1/mcp"}`, "409"},
		{"POST", "/v1/servers", "/v1/servers", `{"name":"m","comand":"x"}`, "400"},
		{"GET", "/v1/servers/more", "/v1/servers/{name}", "", "200"},
		{"PATCH", "/v1/servers/more", "/v1/servers/{name}", `{"disabled":true}`, "200"},
		{"PUT", "/v1/servers/more", "/v1/servers/{name}", `{"command":"x","disabled":true}`, "200"},
		{"PUT", "/v1/servers/nobody", "/v1/servers/{name}", `{"command":"x"}`, "404"},
		{"POST", "/v1/servers/more/test", "/v1/servers/{name}/test", "", "200"},
		{"POST", "/v1/servers/fault/test", "/v1/servers/{name}/test", "", "200"},
		{"POST", "/v1/servers/test", "/v1/servers/test", `{"url":"http://127.0.0.1:1/mcp"}`, "200"},
		{"POST", "/v1/servers/more/restart", "/v1/servers/{name}/restart", "", "409"},
		{"POST", "/v1/servers/fault/restart", "/v1/servers/{name}/restart", "", "202"},
		{"GET", "/v1/servers/fault/log", "/v1/servers/{name}/log", "", "200"},
		{"DELETE", "/v1/servers/more", "/v1/servers/{name}", "", "200"},
		{"POST", "/v1/reload", "/v1/reload", "", "200"},
	} {
		got := d.send(c.method, c.path, c.body)
		answer, ok := doc.Paths[c.described][strings.ToLower(c.method)].Responses[c.status]
		if !ok || c.status != strconv.Itoa(got.status) {
			t.Errorf("%s %s: status %d, described %v: %s", c.method, c.path, got.status, ok, got.body)
			continue
		}
		ref, _ := answer.Content["application/json"].Schema["$ref"].(string)
		schema, err := compiler.Compile("openapi.json" + ref)
		if err != nil {
			t.Errorf("%s %s: %v", c.method, c.path, err)
			continue
		}
		body, err := jsonschema.UnmarshalJSON(strings.NewReader(got.body))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(body); err != nil {
			t.Errorf("%s %s does not fit: %v\n%s", c.method, c.path, err, got.body)
		}
		for key := range body.(map[string]any) {
			properties := doc.Components.Schemas[ref[strings.LastIndex(ref, "/")+1:]].(map[string]any)["properties"].(map[string]any)
			if properties[key] == nil && key != "result" { // a tool's own error has it too
				t.Errorf("%s %s: %s is not described", c.method, c.path, key)
			}
		}
	}
}

// The page is whole by itself, and has everything that the description has.
func TestDocsPage(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	_, doc := d.describe()
	got := d.send("GET", "/v1/docs", "", "Authorization", "", "Accept", "text/html", "Sec-Fetch-Site", "none")
	if got.status != 200 || !strings.HasPrefix(got.header.Get("Content-Type"), "text/html") {
		t.Fatalf("status %d, %v", got.status, got.header)
	}
	// A browser shows exactly the style that is there, and does nothing else.
	style := sha256.Sum256([]byte(got.body[strings.Index(got.body, "<style>")+len("<style>") : strings.Index(got.body, "</style>")]))
	for _, part := range []string{"default-src 'none'", "'sha256-" + base64.StdEncoding.EncodeToString(style[:]) + "'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(got.header.Get("Content-Security-Policy"), part) {
			t.Errorf("the policy lacks %s: %s", part, got.header.Get("Content-Security-Policy"))
		}
	}
	if strings.Contains(got.header.Get("Content-Security-Policy"), "unsafe") {
		t.Errorf("the policy is unsafe: %s", got.header.Get("Content-Security-Policy"))
	}
	for _, foreign := range []string{"http://", "https://", "<script", "src=", "@import", "url(", "style=", "<link", "<img", "<form"} {
		if strings.Contains(got.body, foreign) {
			t.Errorf("the page has %s", foreign)
		}
	}
	for path, operations := range doc.Paths {
		for _, operation := range operations {
			if !strings.Contains(got.body, path) || !strings.Contains(got.body, `id="`+operation.OperationID+`"`) {
				t.Errorf("the page lacks %s", path)
			}
		}
	}
	for name := range doc.Components.Schemas {
		if !strings.Contains(got.body, `id="type-`+name+`"`) {
			t.Errorf("the page lacks %s", name)
		}
	}
}
