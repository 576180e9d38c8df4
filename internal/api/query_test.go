package api_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/api/client"
)

// TestAQueryParameterStandsOnce: which of two is meant cannot be known.
func TestAQueryParameterStandsOnce(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	d.ask(t, map[string]ask{
		"once":  {method: "GET", path: "/v1/tools?server=a", status: 200},
		"twice": {method: "GET", path: "/v1/tools?server=a&server=b", status: 400, has: []string{"stands twice", `"keyword":"maxItems","params":{"limit":1}`}},
	})
}

// TestEverythingWrongIsToldAtOnce: who has corrected what an answer tells is not
// refused again.
func TestEverythingWrongIsToldAtOnce(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	for name, c := range map[string]struct {
		method, path, body string
		want               []client.InputProblem
	}{
		"values of a query": {"GET", "/v1/tools?limit=x&page=-1&enabled=maybe", "", []client.InputProblem{
			{Field: "enabled", InstancePath: "/enabled", Keyword: "type", Params: map[string]any{"type": "boolean"}, Message: `enabled must be true or false, is "maybe"`},
			{Field: "page", InstancePath: "/page", Keyword: "minimum", Params: map[string]any{"comparison": ">=", "limit": 1.0}, Message: `page must be a whole number from 1 to 2147483647, is -1`},
			{Field: "limit", InstancePath: "/limit", Keyword: "type", Params: map[string]any{"type": "integer"}, Message: `limit must be a whole number from 1 to 100, is "x"`},
		}},
		"names and values": {"GET", "/v1/tools?limit=101&Tag=a&page=99999999999999999999", "", []client.InputProblem{
			{Field: "Tag", Keyword: "additionalProperties", Params: map[string]any{"additionalProperty": "Tag"}, Message: `there is no query parameter "Tag" here; there are category, tag, server, enabled, page, limit`},
			{Field: "page", InstancePath: "/page", Keyword: "maximum", Params: map[string]any{"comparison": "<=", "limit": 2147483647.0}, Message: `page must be a whole number from 1 to 2147483647, is 99999999999999999999`},
			{Field: "limit", InstancePath: "/limit", Keyword: "maximum", Params: map[string]any{"comparison": "<=", "limit": 100.0}, Message: `limit must be a whole number from 1 to 100, is 101`},
		}},
		"a query of the knowledge base": {"GET", "/v1/items?limit=0&offset=-1&includeClosed=yes", "", []client.InputProblem{
			{Field: "includeClosed", InstancePath: "/includeClosed", Keyword: "type", Params: map[string]any{"type": "boolean"}, Message: `includeClosed must be true or false, is "yes"`},
			{Field: "limit", InstancePath: "/limit", Keyword: "minimum", Params: map[string]any{"comparison": ">=", "limit": 1.0}, Message: `limit must be a whole number from 1 to 100, is 0`},
			{Field: "offset", InstancePath: "/offset", Keyword: "minimum", Params: map[string]any{"comparison": ">=", "limit": 0.0}, Message: `offset must be a whole number from 0 to 2147483647, is -1`},
		}},
		"what goes together": {"GET", "/v1/search/learned?all=true&client=a&tool=x", "", []client.InputProblem{
			{Field: "all", InstancePath: "/all", Keyword: "not", Message: "give either client, or all"},
			{Field: "server", InstancePath: "/server", Keyword: "dependentRequired", Params: map[string]any{"property": "tool", "missingProperty": "server"}, Message: "server and tool go together: they name one tool"},
		}},
		"a search": {"POST", "/v1/tools/search", `{"query":" ","limit":0}`, []client.InputProblem{
			{Field: "query", Keyword: "required", Params: map[string]any{"missingProperty": "query"}, Message: "query is required"},
			{Field: "limit", InstancePath: "/limit", Keyword: "minimum", Params: map[string]any{"comparison": ">=", "limit": 1.0}, Message: "limit must be a whole number from 1 to 100, is 0"},
		}},
		"a call": {"POST", "/v1/tools/call", `{"name":"","parameters":"{\"text\":\"a\"}","options":{"timeout":-1,"folder":"here"}}`, []client.InputProblem{
			{Field: "name", Keyword: "required", Params: map[string]any{"missingProperty": "name"}, Message: "name is required"},
			{
				Field: "parameters", InstancePath: "/parameters", Keyword: "type", Params: map[string]any{"type": "object"},
				Message: "parameters must be an object, is a string; give the JSON object itself, not a string that contains it",
			},
			{Field: "options.timeout", InstancePath: "/options/timeout", Keyword: "minimum", Params: map[string]any{"comparison": ">=", "limit": 0.0}, Message: "options.timeout must be at least 0, is -1"},
			{Field: "options.folder", InstancePath: "/options/folder", Keyword: "format", Params: map[string]any{"format": "absolute path"}, Message: "options.folder must be an absolute path"},
		}},
		"a change of a tool": {"PATCH", "/v1/tools/fault__echo", `{"category":" a","tags":["b","c\nd"],"examples":[{"description":""}]}`, []client.InputProblem{
			{Field: "category", InstancePath: "/category", Keyword: "format", Params: map[string]any{"format": "word"}, Message: `category must be one line of at most 128 bytes, without space around it, is " a"`},
			{Field: "tags", InstancePath: "/tags", Keyword: "format", Params: map[string]any{"format": "word"}, Message: `tags must be one line of at most 128 bytes, without space around it, is "c\nd"`},
			{Field: "examples.0.description", InstancePath: "/examples/0", Keyword: "required", Params: map[string]any{"missingProperty": "description"}, Message: "examples.0.description is required"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := d.send(c.method, c.path, c.body)
			var failure client.Failure
			var details []client.InputProblem
			if err := json.Unmarshal([]byte(got.body), &failure); err != nil || got.status != 400 {
				t.Fatalf("status %d: %s", got.status, got.body)
			}
			if err := json.Unmarshal(failure.Details, &details); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, details); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
