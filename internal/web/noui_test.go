//go:build noui

package web_test

import (
	"net/http"
	"testing"
)

// A build without the front end serves everything else, and says what it lacks.
func TestBuildWithoutPages(t *testing.T) {
	t.Parallel()
	h := openHouse(t, t.TempDir(), noServers)
	b := h.tab()
	const why = "This build of genkan has no web UI"
	b.send(http.MethodGet, "/ui/", "", "Sec-Fetch-Site", "none").want(t, 404, why)
	b.send(http.MethodPost, "/ui/link", "", "Authorization", "Bearer "+h.admin).want(t, 503, why)
	b.send(http.MethodGet, "/v1/servers", "", "Authorization", "Bearer "+h.admin).want(t, 200, `"servers":`)
	got := b.send(http.MethodGet, "/", "", "Accept", "text/html", "Sec-Fetch-Site", "none")
	got.want(t, 302)
	if got.header.Get("Location") != "v1/docs" {
		t.Errorf("/ leads to %s", got.header.Get("Location"))
	}
}
