package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestEveryPathSaysWhichMethodsItHas: each described path answers any other method
// with 405, also if the path has the form of one with a name in it.
func TestEveryPathSaysWhichMethodsItHas(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	_, doc := d.describe()
	user := d.newToken()
	for path, described := range doc.Paths {
		allowed := []string{}
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
			if _, has := described[strings.ToLower(strings.Replace(method, "HEAD", "GET", 1))]; has {
				allowed = append(allowed, method)
			}
		}
		target := strings.NewReplacer("{name}", "nothing", "{ref}", "docs-1", "{client}", "nobody").Replace(path)
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			if slices.Contains(allowed, method) {
				continue
			}
			for who, token := range map[string]string{"an administrator": d.token, "a client": user} {
				got := d.send(method, target, `{}`, "Authorization", "Bearer "+token)
				if want := strings.Join(allowed, ", "); got.status != http.StatusMethodNotAllowed || got.header.Get("Allow") != want {
					t.Errorf("%s %s of %s: status %d, Allow %q, want %q: %s", method, target, who, got.status, got.header.Get("Allow"), want, got.body)
				}
			}
			if got := d.send(method, target, `{}`, "Authorization", ""); got.status != http.StatusUnauthorized {
				t.Errorf("%s %s of a stranger: status %d: %s", method, target, got.status, got.body)
			}
		}
	}
}

// TestAPathMeansTheServerOfItsName: a server may be called as the last part of
// another route's path.
func TestAPathMeansTheServerOfItsName(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{"mcpServers": map[string]any{"test": map[string]any{"url": "http://127.0.0.1:1/mcp", "disabled": true}}})
	d.ask(t, map[string]ask{
		"shown":            {method: "GET", path: "/v1/servers/test", status: 200, has: []string{`"name":"test"`}},
		"what else it has": {method: "OPTIONS", path: "/v1/servers/test", status: 405, headers: map[string]string{"Allow": "GET, HEAD, POST, PUT, PATCH, DELETE"}},
		"tools are not":    {method: "GET", path: "/v1/tools/call", status: 405, headers: map[string]string{"Allow": "POST"}, has: []string{"there are POST"}},
	})
}
