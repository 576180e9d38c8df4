package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/testkit/n8nfake"
)

// Settings are changed in the configuration file, which keeps its comments, and hold at
// once. Keys are kept encrypted.
func TestSettingsAreChangedOverREST(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	fake := n8nfake.New(t)
	file := filepath.Join(d.data, "genkan.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d.walk(t, []step{{name: "written by hand", method: "POST", path: "/v1/reload", status: 200}})
	}
	write("# mine\nrecord: # the history\n  days: 3 # few\n")
	const settings = "/v1/settings"
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer the-key" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":[1,0]}]}`)
	}))
	defer model.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	instance := `{"name":"n8n","url":"` + fake.URL + `","apiKey":"` + n8nfake.Key + `"}`
	d.walk(t, []step{
		{name: "shown", method: "GET", path: settings, status: 200, has: []string{`"settings":{"record":{"days":3}}`, "genkan.yaml"}, hasNot: []string{`"fixed"`}},
		{name: "changed", method: "PATCH", path: settings, body: `{"record":{"days":14},"lang":"ja"}`, status: 200, has: []string{`"days":14`, `"lang":"ja"`}},
		{name: "in force", method: "GET", path: "/v1/calls", status: 200, has: []string{`"days":14`}},
		{name: "taken out", method: "PATCH", path: settings, body: `{"lang":null}`, status: 200, hasNot: []string{`"lang"`}},
		{name: "a wrong value", method: "PATCH", path: settings, body: `{"record":{"days":0}}`, status: 400, has: []string{"record.days", "3650", `"field":"record.days"`}},
		{name: "an unknown field", method: "PATCH", path: settings, body: `{"record":{"dais":7}}`, status: 400, has: []string{"dais", "days"}},
		{name: "not a setting", method: "PATCH", path: settings, body: `{"listen":"0.0.0.0:80"}`, status: 400, has: []string{"listen", "rateLimit", `"field":"listen"`}},
		{name: "no object", method: "PATCH", path: settings, body: `[]`, status: 400},
		{name: "a mask that was not shown", method: "PATCH", path: settings, body: `{"n8n":[{"url":"http://127.0.0.1:1","apiKey":"***"}]}`, status: 400, has: []string{"stands for a secret"}},
		{name: "not by a stranger", method: "PATCH", path: settings, body: `{"record":"off"}`, token: "gk_wrong", status: 401},
		{name: "n8n is tried", method: "POST", path: "/v1/n8n/test", body: instance, status: 200, has: []string{`"ok":true`}},
		{name: "with a wrong key", method: "POST", path: "/v1/n8n/test", body: strings.Replace(instance, n8nfake.Key, "mistaken", 1), status: 200, has: []string{`"ok":false`, "API key"}, hasNot: []string{"mistaken"}},
		{name: "without an address", method: "POST", path: "/v1/n8n/test", body: `{"url":"n8n","apiKey":"x"}`, status: 400, has: []string{"url"}},
		{name: "n8n is added", method: "PATCH", path: settings, body: `{"n8n":[` + instance + `]}`, status: 200, has: []string{"${secret:N8N_API_KEY}"}, hasNot: []string{n8nfake.Key}},
		{name: "it is there", method: "GET", path: "/v1/tools/n8n__list_workflows", status: 200},
		{name: "it is tried with the kept key", method: "POST", path: "/v1/n8n/test", body: `{"url":"` + fake.URL + `","apiKey":"${secret:N8N_API_KEY}"}`, status: 200, has: []string{`"ok":true`}},
		{name: "a model is tried", method: "POST", path: "/v1/embeddings/test", body: `{"url":"` + model.URL + `","model":"m","apiKey":"the-key"}`, status: 200, has: []string{`{"ok":true}`}},
		{name: "a model that is not there", method: "POST", path: "/v1/embeddings/test", body: `{"url":"` + gone.URL + `","model":"m","kind":"ollama"}`, status: 200, has: []string{`"ok":false`, "cannot be reached", "embeddings.url"}, hasNot: []string{gone.URL}},
		{name: "a model with a wrong key", method: "POST", path: "/v1/embeddings/test", body: `{"url":"` + model.URL + `","model":"m","apiKey":"mistaken"}`, status: 200, has: []string{`"ok":false`, "embeddings.apiKey"}, hasNot: []string{"mistaken"}},
		{name: "a model without an address", method: "POST", path: "/v1/embeddings/test", body: `{"url":"x","model":"m"}`, status: 400, has: []string{`"field":"embeddings.url"`}},
		{name: "not tried by a stranger", method: "POST", path: "/v1/embeddings/test", body: `{}`, token: "gk_wrong", status: 401},
		{name: "nothing of it is kept", method: "GET", path: settings, status: 200, hasNot: []string{"embeddings"}},
		{name: "the secret has a user", method: "GET", path: "/v1/secrets", status: 200, has: []string{`{"name":"N8N_API_KEY","servers":["n8n"]}`}},
	})
	if got, want := d.read(file), "# mine\nrecord: # the history\n  days: 14 # few\nn8n:\n"; !strings.HasPrefix(got, want) || strings.Contains(got, n8nfake.Key) {
		t.Errorf("the file is\n%s", got)
	}

	// What is wrong with a model in use is told, until it is gone.
	d.walk(t, []step{
		{name: "a model that is not there is kept", method: "PATCH", path: settings, body: `{"embeddings":{"url":"` + gone.URL + `","model":"m"}}`, status: 200},
		{name: "a search asks it", method: "POST", path: "/v1/tools/search", body: `{"query":"read a file"}`, status: 200},
		{name: "the settings say what is wrong", method: "GET", path: settings, status: 200, has: []string{`"embeddings":{"problem":"the embeddings endpoint cannot be reached`, `"at":"`}},
		{name: "and so does the doctor", method: "GET", path: "/v1/doctor", status: 200, has: []string{`"subject":"embeddings"`, "embeddings cannot be had: the embeddings endpoint cannot be reached", "Settings, n8n and embeddings"}},
		{name: "it goes", method: "PATCH", path: settings, body: `{"embeddings":null}`, status: 200, hasNot: []string{"embeddings"}},
	})

	// Keys that a person wrote into the file stay there, and are never shown. An instance
	// keeps its key when others come and go.
	write("n8n:\n  - {name: a, url: \"http://127.0.0.1:1\", apiKey: first-key}\n  - {name: b, url: \"" + fake.URL + "\", apiKey: " + n8nfake.Key + "}\n")
	d.walk(t, []step{
		{name: "masked", method: "GET", path: settings, status: 200, has: []string{`"apiKey":"***"`}, hasNot: []string{"first-key", n8nfake.Key}},
		{name: "tried by its name", method: "POST", path: "/v1/n8n/test", body: `{"name":"b","url":"` + fake.URL + `","apiKey":"***"}`, status: 200, has: []string{`"ok":true`}},
		{name: "the first goes", method: "PATCH", path: settings, body: `{"n8n":[{"name":"b","url":"` + fake.URL + `","apiKey":"***"}]}`, status: 200},
		{name: "the second works", method: "POST", path: "/v1/tools/call", body: `{"name":"b__list_workflows","parameters":{}}`, status: 200, has: []string{"Found 0 workflows"}},
	})
	if got := d.read(file); !strings.Contains(got, n8nfake.Key) || strings.Contains(got, "first-key") {
		t.Errorf("the file is\n%s", got)
	}

	// A file that somebody protects is left alone.
	if err := os.Chmod(file, 0o400); err != nil {
		t.Fatal(err)
	}
	d.walk(t, []step{
		{name: "says so", method: "GET", path: settings, status: 200, has: []string{`"fixed":"that file is read-only`}},
		{name: "refused", method: "PATCH", path: settings, body: `{"lang":"ja"}`, status: 409, has: []string{"read-only"}},
	})
}
