package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"genkan/internal/api/client"
)

// library is a house with a knowledge base that holds three items: a guide and a
// plan, which are related, and a note that is closed.
func library(t testing.TB, extra map[string]any) door {
	t.Helper()
	all := map[string]any{"kb": map[string]any{"enabled": true}}
	for key, value := range extra {
		all[key] = value
	}
	d := openDoor(t, all)
	for _, body := range []string{
		`{"type":"docs","title":"玄関の案内","content":"# How to come in","tags":["house","guide"]}`,
		`{"type":"docs","title":"Plan","description":"what comes next","priority":"HIGH","start_date":"2026-01-31","related":["docs-1"],"tags":["house"]}`,
		`{"type":"release-notes","title":"Old note","status":"Closed"}`,
	} {
		if got := d.send("POST", "/v1/items", body); got.status != http.StatusCreated {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	return d
}

// What can be asked of the knowledge base, and what is wrong to ask. Each row meets
// what those before it have left.
func TestItems(t *testing.T) {
	t.Parallel()
	d := library(t, nil)
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		has, hasNot              []string
	}{
		{name: "one item", method: "GET", path: "/v1/items/docs-2", status: 200, has: []string{
			`"id":2,"type":"docs","title":"Plan","description":"what comes next","content":"","status":"Open","priority":"HIGH","category":null`,
			`"start_date":"2026-01-31T00:00:00Z","end_date":null,"version":null,"related":["docs-1"],"tags":["house"]`, `"created_at":"20`,
		}},
		{name: "open items", method: "GET", path: "/v1/items", status: 200, has: []string{`"total":2,"limit":20,"offset":0`, "Plan"}, hasNot: []string{"Old note", "come in"}},
		{name: "all items", method: "GET", path: "/v1/items?includeClosed=true&limit=2", status: 200, has: []string{`"total":3`, `"next_offset":2`}},
		{name: "the next page", method: "GET", path: "/v1/items?includeClosed=true&limit=2&offset=2", status: 200, has: []string{`"offset":2`}, hasNot: []string{"next_offset"}},
		{name: "of a type", method: "GET", path: "/v1/items?type=release-notes&status=Closed", status: 200, has: []string{"Old note", `"total":1`}},
		{name: "statuses with commas", method: "GET", path: "/v1/items?status=Open,Closed", status: 200, has: []string{`"total":3`}},
		{name: "statuses repeated", method: "GET", path: "/v1/items?status=Open&status=In%20Progress", status: 200, has: []string{`"total":2`}},
		{name: "an unknown status", method: "GET", path: "/v1/items?status=Opened", status: 409, has: []string{`"code":"CONSTRAINT_VIOLATION"`, `"field":"status[0]"`, "did you mean Open?"}},
		{name: "days", method: "GET", path: "/v1/items?start_date=2001-01-01&end_date=2001-01-02", status: 200, has: []string{`"items":[]`, `"total":0`}},
		{name: "no day", method: "GET", path: "/v1/items?start_date=soon", status: 400, has: []string{`"code":"VALIDATION_ERROR"`, `"field":"start_date"`, "YYYY-MM-DD", `"value":"soon"`}},
		{name: "with a tag", method: "GET", path: "/v1/items?tag=guide&type=docs", status: 200, has: []string{"玄関の案内", `"total":1`}},
		{name: "a tag and a status", method: "GET", path: "/v1/items?tag=guide&status=Open", status: 400, has: []string{`"field":"tag"`, "leave out status"}},
		{name: "a limit too high", method: "GET", path: "/v1/items?limit=101", status: 400, has: []string{`"field":"limit"`, "from 1 to 100"}},
		{name: "a limit in words", method: "GET", path: "/v1/items?limit=ten", status: 400, has: []string{`"field":"limit"`, "a whole number"}},
		{name: "a flag in words", method: "GET", path: "/v1/items?includeClosed=yes", status: 400, has: []string{`"field":"includeClosed"`, "true or false"}},
		{name: "no text", method: "GET", path: "/v1/items/search?query=%ff", status: 400, has: []string{`"field":"query"`, "UTF-8"}},

		{name: "a search", method: "GET", path: "/v1/items/search?query=%E7%8E%84%E9%96%A2", status: 200, has: []string{"玄関の案内", `"snippet":"`, `"score":`, `"total":1`}},
		{name: "a search in a type", method: "GET", path: "/v1/items/search?query=note&type=docs&type=plans", status: 200, has: []string{`"items":[]`}},
		{name: "a search in a status with a tag", method: "GET", path: "/v1/items/search?query=%E7%8E%84%E9%96%A2&status=Open,Closed&tag=guide&start_date=2020-01-01", status: 200, has: []string{"玄関の案内", `"total":1`}},
		{name: "a search with another tag", method: "GET", path: "/v1/items/search?query=%E7%8E%84%E9%96%A2&tag=nobody", status: 200, has: []string{`"items":[]`}},
		{name: "a search in a status that is not there", method: "GET", path: "/v1/items/search?query=x&status=Opne", status: 409, has: []string{`"field":"statuses[0]"`, "did you mean Open"}},
		{name: "a search for nothing", method: "GET", path: "/v1/items/search", status: 400, has: []string{`"field":"query"`, "Query is required"}},
		{name: "a suggestion", method: "GET", path: "/v1/items/suggest?query=pl&limit=5", status: 200, has: []string{`"suggestions":[`}},
		{name: "neighbours", method: "GET", path: "/v1/items/docs-1/related?depth=2", status: 200, has: []string{`"center_item":{"id":1`, `"distance":1,"relationship":"direct"`, `"total_nodes":2`}},
		{name: "too deep", method: "GET", path: "/v1/items/docs-1/related?depth=4", status: 400, has: []string{`"field":"depth"`}},
		{name: "a path", method: "GET", path: "/v1/items/path?from=docs-1&to=docs-2", status: 200, has: []string{`"shortest_path_length":1`, `"length":1,"weight":1`}},
		{name: "no path", method: "GET", path: "/v1/items/path?from=docs-1&to=release-notes-3&max_depth=2", status: 200, has: []string{`"paths":[]`, `"shortest_path_length":-1`}},
		{name: "a path to nowhere", method: "GET", path: "/v1/items/path?from=docs-1", status: 400, has: []string{`"field":"to"`, "such as docs-12"}},
		{name: "tags", method: "GET", path: "/v1/tags", status: 200, has: []string{`{"name":"house","count":2},{"name":"guide","count":1}`}},
		{name: "statuses", method: "GET", path: "/v1/statuses", status: 200, has: []string{`{"name":"Open","closed":false}`, `{"name":"Closed","closed":true}`}},

		{name: "no such item", method: "GET", path: "/v1/items/docs-999", status: 404, has: []string{
			`"success":false`, `"code":"ITEM_NOT_FOUND"`, `"error":"Item not found: docs-999"`, `"details":{"id":999,"requested_id":"docs-999","type":"docs"}`, `"timestamp":"20`,
		}},
		{name: "another type", method: "GET", path: "/v1/items/notes-1", status: 404, has: []string{"This id belongs to docs-1", `"actual_id":"docs-1"`}},
		{name: "no reference", method: "GET", path: "/v1/items/docs", status: 400, has: []string{`"field":"ref"`, "such as docs-12"}},
		{name: "not made", method: "POST", path: "/v1/items", body: `{"type":"docs","title":" "}`, status: 400, has: []string{
			`"field":"title"`, `"constraint":"Title is required and must not be empty"`, `"error":"Validation failed: title: Title is required and must not be empty"`,
		}},
		{name: "without a type", method: "POST", path: "/v1/items", body: `{"title":"x"}`, status: 400, has: []string{`"field":"type"`, "Type is required"}},
		{name: "an unknown field", method: "POST", path: "/v1/items", body: `{"type":"docs","title":"x","colour":"red"}`, status: 400, has: []string{`"field":"colour"`}},
		{name: "a field twice", method: "POST", path: "/v1/items", body: `{"type":"docs","title":"x","title":"y"}`, status: 400},
		{name: "an unknown priority", method: "POST", path: "/v1/items", body: `{"type":"docs","title":"x","priority":"SOON"}`, status: 400, has: []string{`"field":"priority"`, "CRITICAL, HIGH"}},
		{name: "related to nobody", method: "POST", path: "/v1/items", body: `{"type":"docs","title":"x","related":["docs-99"]}`, status: 404, has: []string{`"code":"ITEM_NOT_FOUND"`, `"field":"related[0]"`}},

		{name: "changed", method: "PATCH", path: "/v1/items/docs-2", body: `{"status":"In Progress","start_date":null,"category":"plans"}`, status: 200, has: []string{`"status":"In Progress"`, `"start_date":null`, `"category":"plans"`, `"priority":"HIGH"`}},
		{name: "cleared", method: "PATCH", path: "/v1/items/docs-2", body: `{"category":null,"tags":[]}`, status: 200, has: []string{`"category":null`, `"tags":[]`}},
		{name: "tags added", method: "PATCH", path: "/v1/items/docs-2", body: `{"add_tags":["b","a"],"add_related":["docs-1"]}`, status: 200, has: []string{`"tags":["b","a"]`, `"docs-1"`}, hasNot: []string{"dropped"}},
		{name: "tags removed", method: "PATCH", path: "/v1/items/docs-2", body: `{"remove_tags":["b"]}`, status: 200, has: []string{`"tags":["a"]`}, hasNot: []string{"dropped"}},
		{name: "tags replaced", method: "PATCH", path: "/v1/items/docs-2", body: `{"tags":[]}`, status: 200, has: []string{`"tags":[]`, `"dropped_tags":["a"]`}},
		{name: "a wrong list", method: "PATCH", path: "/v1/items/docs-2", body: `{"add_related":["x"]}`, status: 400, has: []string{`"field":"add_related[0]"`}},
		{name: "changed to itself", method: "PATCH", path: "/v1/items/docs-2", body: `{"related":["docs-2"]}`, status: 400, has: []string{`"field":"related[0]"`, "related to itself"}},
		{name: "an id to change", method: "PATCH", path: "/v1/items/docs-2", body: `{"id":1}`, status: 400, has: []string{`"field":"id"`}},
		{name: "many changed", method: "POST", path: "/v1/items/bulk", body: `{"updates":[{"type":"docs","id":1,"data":{"status":"Review"}},{"type":"docs","id":2,"data":{"status":"Review"}}]}`, status: 200, has: []string{`"updated":2`, `"status":"Review"`}},
		{name: "none changed", method: "POST", path: "/v1/items/bulk", body: `{"updates":[{"type":"docs","id":1,"data":{"status":"Open"}},{"type":"docs","id":99,"data":{"status":"Open"}}]}`, status: 404, has: []string{`"index":1`, `"requested_id":"docs-99"`}},
		{name: "as it was", method: "GET", path: "/v1/items/docs-1", status: 200, has: []string{`"status":"Review"`}},
		{name: "another type for it", method: "POST", path: "/v1/items/docs-1/type", body: `{"type":"guides"}`, status: 200, has: []string{`"id":4,"type":"guides"`, `"related":["docs-2"]`}},
		{name: "no type for it", method: "POST", path: "/v1/items/docs-2/type", body: `{}`, status: 400, has: []string{`"field":"type"`, "is required"}},
		{name: "its old reference", method: "GET", path: "/v1/items/docs-1", status: 200, has: []string{`"moved_from":"docs-1"`}},
		{name: "deleted", method: "DELETE", path: "/v1/items/docs-2", status: 200, has: []string{`{"deleted":true,"type":"docs","id":2}`}},
		{name: "deleted again", method: "DELETE", path: "/v1/items/docs-2", status: 404},
		{name: "without a neighbour", method: "GET", path: "/v1/items/guides-4", status: 200, has: []string{`"related":[]`}},

		{name: "no state yet", method: "GET", path: "/v1/state", status: 200, has: []string{`{"content":"","metadata":{"updated_by":null,"updated_at":null,"related":[],"tags":[]}}`}},
		{name: "a state", method: "PUT", path: "/v1/state", body: `{"content":"# Now","related":["guides-4"]}`, status: 200, has: []string{`"content":"# Now"`, `"updated_by":"admin"`, `"related":["guides-4"]`}},
		{name: "no content", method: "PUT", path: "/v1/state", body: `{"tags":[]}`, status: 400, has: []string{`"field":"content"`}},
		{name: "another method", method: "PUT", path: "/v1/items", body: `{}`, status: 405},

		{name: "restored", method: "POST", path: "/v1/items/restore", body: `{"items":[{"id":20,"type":"old","title":"Kept","created_at":"2020-01-02T03:04:05Z","former":["older-10","older-1"]},{"id":3,"type":"old","title":"Moved","updated_at":"2021-01-01"}],"relations":[{"a":"old-20","b":"guides-4"}],"state":{"content":"then","updated_at":"2020-01-01"}}`, status: 200, has: []string{`{"items":[{"ref":"old-20","former":["older-10"]},{"ref":"old-21","former":[]}]}`}},
		{name: "with its times", method: "GET", path: "/v1/items/older-10", status: 200, has: []string{`"created_at":"2020-01-02T03:04:05Z","updated_at":"2020-01-02T03:04:05Z","moved_from":"older-10"`, `"related":["guides-4"]`}},
		{name: "restored state", method: "GET", path: "/v1/state", status: 200, has: []string{`"content":"then"`, `"updated_at":"2020-01-01T00:00:00Z"`}},
		{name: "nothing restored", method: "POST", path: "/v1/items/restore", body: `{}`, status: 200, has: []string{`{"items":[]}`}},
		{name: "all or none", method: "POST", path: "/v1/items/restore", body: `{"items":[{"type":"old","title":"Good"},{"type":"old","title":"Bad","status":"Nowhere"}]}`, status: 409, has: []string{`"index":1`, "Statuses: Open, "}},
		{name: "a time that is none", method: "POST", path: "/v1/items/restore", body: `{"items":[{"type":"old","title":"x","created_at":"yesterday"}]}`, status: 400, has: []string{`"field":"created_at"`}},
		{name: "a relation to nothing", method: "POST", path: "/v1/items/restore", body: `{"relations":[{"a":"old-20","b":"old-99"}]}`, status: 404, has: []string{`"requested_id":"old-99"`}},
		{name: "a relation to itself", method: "POST", path: "/v1/items/restore", body: `{"relations":[{"a":"old-20","b":"older-10"}]}`, status: 400, has: []string{"related to itself"}},
		{name: "none of it", method: "GET", path: "/v1/items?type=old", status: 200, has: []string{`"total":2`}},

		{name: "how it is", method: "GET", path: "/v1/knowledge", status: 200, has: []string{`"items":4,"types":[{"name":"old","count":2},{"name":"guides","count":1}`, `"index":{"inMemory":true}`}},
		{name: "compared", method: "POST", path: "/v1/knowledge/check", status: 200, has: []string{`"good":true`, `"items":4,"relations":1,"indexed":true`, `"missingTexts":[]`}},
		{name: "made anew", method: "POST", path: "/v1/knowledge/rebuild", status: 200, has: []string{`"success":true`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := d.send(c.method, c.path, c.body)
			got.want(t, c.status, c.has, c.hasNot)
		})
	}
	if got := d.send("PUT", "/v1/items", "{}"); got.header.Get("Allow") != "GET, HEAD, POST" {
		t.Errorf("allowed are %s", got.header.Get("Allow"))
	}
}

// All items are on lines of their own, closed ones too, each as it is answered alone.
func TestItemsAreExported(t *testing.T) {
	t.Parallel()
	d := library(t, nil)
	got := d.send("GET", "/v1/items/export", "")
	lines := strings.Split(strings.TrimSuffix(got.body, "\n"), "\n")
	if got.status != 200 || len(lines) != 3 || got.header.Get(client.TotalHeader) != "3" || got.header.Get("Content-Type") != "application/x-ndjson" {
		t.Fatalf("%d, %v: %s", got.status, got.header, got.body)
	}
	for _, line := range lines {
		var item client.Item
		if err := json.Unmarshal([]byte(line), &item); err != nil {
			t.Fatal(err)
		}
		if alone := d.send("GET", "/v1/items/"+item.Ref(), ""); strings.TrimSpace(alone.body) != line {
			t.Errorf("alone %s\nexported %s", alone.body, line)
		}
	}
}

// REST walks the corridor: what holds for calls holds for it.
func TestItemsAreCalls(t *testing.T) {
	t.Parallel()
	d := library(t, nil)
	if got := d.send("POST", "/v1/tools/get_items/disable", ""); got.status != 200 {
		t.Fatal(got.body)
	}
	for _, path := range []string{"/v1/items", "/v1/items/export"} {
		if got := d.send("GET", path, ""); got.status != 403 || !strings.Contains(got.body, `"code":"TOOL_DISABLED"`) {
			t.Errorf("%s of a disabled tool: %d %s", path, got.status, got.body)
		}
	}
	if got := d.send("GET", "/v1/items/docs-1", ""); got.status != 200 {
		t.Errorf("another tool: %s", got.body)
	}
	d.send("POST", "/v1/tools/get_items/enable", "")
	d.send("POST", "/v1/tools/get_item_detail/disable", "")
	if got := d.send("GET", "/v1/items/export", ""); got.status != 403 || !strings.Contains(got.body, `"code":"TOOL_DISABLED"`) {
		t.Errorf("an export of what may not be read: %d %s", got.status, got.body)
	}
	metrics := d.send("GET", "/metrics", "").body
	if !strings.Contains(metrics, `tool="get_item_detail"`) {
		t.Errorf("the call was not counted: %s", metrics)
	}

	limited := library(t, map[string]any{"rateLimit": map[string]any{"max": 4, "timeWindow": "1h"}})
	limited.send("GET", "/v1/items", "")
	if got := limited.send("GET", "/v1/items", ""); got.status != 429 || got.header.Get("Retry-After") == "" {
		t.Errorf("over the limit: %d %s", got.status, got.body)
	}
}

// Where there is none, the answer names what to change.
func TestNoKnowledgeBase(t *testing.T) {
	t.Parallel()
	off := openDoor(t, nil)
	hidden := openDoor(t, map[string]any{"kb": map[string]any{"enabled": true}, "mcpServers": map[string]any{"kb": map[string]any{"command": "nothing"}}})
	for _, path := range []string{"/v1/items", "/v1/items/docs-1", "/v1/items/export", "/v1/tags", "/v1/state"} {
		if got := off.send("GET", path, ""); got.status != 409 || !strings.Contains(got.body, "kb.enabled: false") {
			t.Errorf("%s where it is off: %d %s", path, got.status, got.body)
		}
		if got := hidden.send("GET", path, ""); got.status != 409 || !strings.Contains(got.body, "name kb") {
			t.Errorf("%s behind a server: %d %s", path, got.status, got.body)
		}
	}
}

// A body is the arguments of a call and nothing beside them.
func TestABodyIsOneObject(t *testing.T) {
	t.Parallel()
	d := library(t, nil)
	for body, says := range map[string]string{
		`{"type":"notes","title":"x"},"_meta":{"progressToken":1}`: "not valid JSON",
		`{"type":"notes","title":"x"},"name":"delete_item"`:        "not valid JSON",
		`{"type":"notes","title":"x"}}`:                            "not valid JSON",
		`{"type":"notes","title":"x"}{}`:                           "not valid JSON",
		`{"type":"notes","title":"x","title":"y"}`:                 "Must be given once",
		`{"type":"notes","Title":"x"}`:                             "did you mean title?",
		`{"type":"notes","title":"x","tags":[null]}`:               "Must be a string",
		`{"type":"notes","title":"x","colour":"red"}`:              "Unknown argument",
		`{"type":"notes","title":1}`:                               "Must be a string",
		`{"type":"notes","title":"\ud83d"}`:                        "half of a surrogate pair",
		"{\"type\":\"notes\",\"title\":\"\xff\"}":                  "UTF-8",
		`["notes","x"]`: "must be an object",
		" ":             "not valid JSON",
	} {
		if got := d.send("POST", "/v1/items", body); got.status != 400 || !strings.Contains(got.body, says) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	if got := d.send("POST", "/v1/items", " {\n\"type\": \"notes\",\n\"title\": \"x\"}\n"); got.status != 201 {
		t.Errorf("with line breaks: %d %s", got.status, got.body)
	}
}

// BenchmarkGetItem is what a request for an item costs, without its connection.
func BenchmarkGetItem(b *testing.B) {
	d := library(b, nil)
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest(http.MethodGet, "http://localhost:3000/v1/items/docs-1", nil)
		r.Header.Set("Authorization", "Bearer "+d.token)
		w := httptest.NewRecorder()
		d.handler.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Body.String())
		}
	}
}

// benchmarkPost posts an item and wants a status, without a connection.
func benchmarkPost(b *testing.B, d door, body []byte, status int) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest(http.MethodPost, "http://localhost:3000/v1/items", bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+d.token)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		d.handler.ServeHTTP(w, r)
		if w.Code != status {
			b.Fatal(w.Body.String())
		}
	}
}

// BenchmarkCreateItem is what a request that makes an item costs, without its
// connection: a short one, and one as long as a page of documentation.
func BenchmarkCreateItem(b *testing.B) {
	for name, content := range map[string]string{"short": "Under the mat.", "16KB": strings.Repeat("Words of \"a\" page, 言葉.\n", 640)} {
		b.Run(name, func(b *testing.B) {
			d := library(b, nil)
			body, err := json.Marshal(client.NewItem{Type: "notes", Title: "Where the keys are", Content: content, Tags: []string{"house", "keys"}})
			if err != nil {
				b.Fatal(err)
			}
			benchmarkPost(b, d, body, http.StatusCreated)
		})
	}
}

// BenchmarkRefuseItem is what a request costs that the knowledge base refuses: the
// reading of its body, without the store.
func BenchmarkRefuseItem(b *testing.B) {
	d := library(b, nil)
	body, err := json.Marshal(client.NewItem{Type: "notes", Title: "x", Priority: "NONE", Content: strings.Repeat("Words of \"a\" page, 言葉.\n", 640)})
	if err != nil {
		b.Fatal(err)
	}
	benchmarkPost(b, d, body, http.StatusBadRequest)
}
