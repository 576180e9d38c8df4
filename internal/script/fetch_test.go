package script

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Fetch sends what the script asks for, follows no redirects, and bounds the answer.
func TestFetch(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/echo":
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("X-Kind", r.Header.Get("X-Kind"))
			_, _ = io.WriteString(w, r.Method+" "+string(body))
		case "/elsewhere":
			http.Redirect(w, r, "/echo", http.StatusFound)
		default:
			_, _ = io.WriteString(w, strings.Repeat("x", fetchSize+len(r.URL.RawQuery)))
		}
	}))
	defer func() {
		server.Close()
		fetcher.CloseIdleConnections()
	}()
	got, err := Fetch(t.Context(), Request{Method: http.MethodPut, URL: server.URL + "/echo", Header: map[string]string{"X-Kind": "a"}, Body: "hello"})
	if err != nil || got.Status != http.StatusOK || got.Body != "PUT hello" || got.Header["x-kind"] != "a" {
		t.Errorf("%v: %+v", err, got)
	}
	if got, err := Fetch(t.Context(), Request{Method: http.MethodGet, URL: server.URL + "/elsewhere"}); err != nil || got.Status != http.StatusFound || got.Header["location"] != "/echo" {
		t.Errorf("%v: %+v", err, got)
	}
	if got, err := Fetch(t.Context(), Request{Method: http.MethodGet, URL: server.URL}); err != nil || len(got.Body) != fetchSize {
		t.Errorf("%v: %d bytes", err, len(got.Body))
	}
	if _, err := Fetch(t.Context(), Request{Method: http.MethodGet, URL: server.URL + "/?x"}); err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes") {
		t.Errorf("got %v", err)
	}
}
