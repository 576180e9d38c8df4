package n8nfake

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
)

// Before starts a fake in front of a real n8n. It passes requests on, and has nothing but
// faults of its own.
func Before(t testing.TB, target string) *N8N {
	t.Helper()
	at, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	f := New(t)
	f.next = httputil.NewSingleHostReverseProxy(at)
	return f
}

// passOn returns the answer of the n8n behind the fake.
func (f *N8N) passOn(r *http.Request, body []byte) reply {
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.Header.Del("Accept-Encoding")
	got := httptest.NewRecorder()
	f.next.ServeHTTP(got, r)
	if json.Valid(got.Body.Bytes()) {
		return reply{got.Code, json.RawMessage(got.Body.Bytes())}
	}
	return reply{got.Code, got.Body.String()}
}
