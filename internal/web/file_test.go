package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"genkan/internal/gateway"
	"genkan/internal/lang"
)

// bundle is a file that is worth compressing.
var bundle = strings.Repeat("console.log('genkan');\n", 100)

// serveFiles serves a small front end to everybody.
func serveFiles(t *testing.T, files fstest.MapFS) *httptest.Server {
	t.Helper()
	loaded, err := load(files)
	if err != nil {
		t.Fatal(err)
	}
	everybody := func(http.ResponseWriter, *http.Request) bool { return true }
	u := &UI{files: loaded, opt: Options{
		Visit: everybody, Receive: everybody,
		Admit:    func(http.ResponseWriter, *http.Request) (gateway.Identity, bool) { return gateway.Identity{}, true },
		Language: func() lang.Language { return lang.English },
	}}
	mux := http.NewServeMux()
	u.Routes(mux)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func frontEnd() fstest.MapFS {
	return fstest.MapFS{
		"index.html":            {Data: []byte("<!doctype html><html><head><title>Genkan</title></head><body></body></html>")},
		"favicon.svg":           {Data: []byte("<svg/>")},
		"assets/main-abc123.js": {Data: []byte(bundle)},
		"assets/font-1.woff2":   {Data: []byte(strings.Repeat("x", 100))},
	}
}

// get sends a request, follows no redirects, and asks for no compression by itself.
func get(t *testing.T, method, address string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableCompression: true, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// A view of the front end is its page, whose addresses are relative to /ui/.
func TestEveryViewIsThePage(t *testing.T) {
	t.Parallel()
	s := serveFiles(t, frontEnd())
	for path, base := range map[string]string{
		"/ui/":                           "./",
		"/ui/index.html":                 "./",
		"/ui/calls":                      "./",
		"/ui/calls/":                     "../",
		"/ui/calls/12":                   "../",
		"/ui/tools/a%2Fb":                "../",
		"/ui/workflows/1/versions/2?q=/": "../../../",
		"/ui/assets":                     "./",
		"/ui/%3Cscript%3E":               "./",
	} {
		resp, body := get(t, http.MethodGet, s.URL+path)
		if resp.StatusCode != http.StatusOK || !strings.HasPrefix(body, `<!doctype html><html><head><base href="`+base+`"><title>Genkan`) {
			t.Errorf("%s: %d %s", path, resp.StatusCode, body)
		}
		if got := resp.Header; got.Get("Cache-Control") != "no-store" || got.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestTheFolderIsRelative(t *testing.T) {
	t.Parallel()
	s := serveFiles(t, frontEnd())
	for path, want := range map[string]string{"/ui": "ui/", "/ui?lang=ja": "ui/?lang=ja"} {
		if resp, _ := get(t, http.MethodGet, s.URL+path); resp.StatusCode != http.StatusFound || resp.Header.Get("Location") != want {
			t.Errorf("%s: %d, %s", path, resp.StatusCode, resp.Header.Get("Location"))
		}
	}
}

// Hashed files are kept for ever, others are asked for each time; a copy is good while
// its tag is the same.
func TestFilesAreCached(t *testing.T) {
	t.Parallel()
	s := serveFiles(t, frontEnd())
	for path, want := range map[string][3]string{
		"/ui/assets/main-abc123.js": {"public, max-age=31536000, immutable", "text/javascript; charset=utf-8", bundle},
		"/ui/assets/font-1.woff2":   {"public, max-age=31536000, immutable", "font/woff2", strings.Repeat("x", 100)},
		"/ui/favicon.svg":           {"no-cache", "image/svg+xml", "<svg/>"},
	} {
		resp, body := get(t, http.MethodGet, s.URL+path)
		if resp.StatusCode != http.StatusOK || resp.Header.Get("Cache-Control") != want[0] || resp.Header.Get("Content-Type") != want[1] || body != want[2] {
			t.Errorf("%s: %d %v", path, resp.StatusCode, resp.Header)
		}
		tag := resp.Header.Get("Etag")
		if tag == "" || resp.Header.Get("Vary") != "Accept-Encoding" || resp.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %v", path, resp.Header)
		}
		for _, sent := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
			if resp, body := get(t, http.MethodGet, s.URL+path, "If-None-Match", sent); resp.StatusCode != http.StatusNotModified || body != "" || resp.Header.Get("Etag") != tag {
				t.Errorf("%s with %s: %d", path, sent, resp.StatusCode)
			}
		}
		if resp, _ := get(t, http.MethodGet, s.URL+path, "If-None-Match", `"other"`); resp.StatusCode != http.StatusOK {
			t.Errorf("%s with another tag: %d", path, resp.StatusCode)
		}
		if resp, body := get(t, http.MethodHead, s.URL+path); resp.StatusCode != http.StatusOK || body != "" || resp.ContentLength != int64(len(want[2])) {
			t.Errorf("HEAD %s: %d, %d bytes", path, resp.StatusCode, resp.ContentLength)
		}
	}
}

func TestFilesAreCompressed(t *testing.T) {
	t.Parallel()
	s := serveFiles(t, frontEnd())
	plain, _ := get(t, http.MethodGet, s.URL+"/ui/assets/main-abc123.js")
	for accept, want := range map[string]bool{
		"gzip": true, "br, GZIP": true, "gzip;q=0.5": true, "gzip; q=1": true,
		"": false, "br": false, "gzip;q=0": false, "identity": false, "xgzip": false,
	} {
		resp, body := get(t, http.MethodGet, s.URL+"/ui/assets/main-abc123.js", "Accept-Encoding", accept)
		if got := resp.Header.Get("Content-Encoding") == "gzip"; got != want {
			t.Errorf("%q: compressed %t", accept, got)
			continue
		}
		if !want {
			continue
		}
		if resp.Header.Get("Etag") == plain.Header.Get("Etag") {
			t.Error("the compressed file has the same tag")
		}
		z, err := gzip.NewReader(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if unpacked, err := io.ReadAll(z); err != nil || string(unpacked) != bundle || len(body) > len(bundle)/2 {
			t.Errorf("%d bytes, %v", len(unpacked), err)
		}
	}
	// What gains nothing is left as it is.
	if resp, _ := get(t, http.MethodGet, s.URL+"/ui/favicon.svg", "Accept-Encoding", "gzip"); resp.Header.Get("Content-Encoding") != "" {
		t.Error("a small file is compressed")
	}
}

// A file of another build is missing: the page of a view would be a broken script.
func TestMissingFiles(t *testing.T) {
	t.Parallel()
	s := serveFiles(t, frontEnd())
	for _, path := range []string{"/ui/assets/main-old.js", "/ui/assets/", "/ui/assets/..%2findex.html"} {
		if resp, body := get(t, http.MethodGet, s.URL+path); resp.StatusCode != http.StatusNotFound || resp.Header.Get("Cache-Control") != "no-store" || !strings.Contains(body, "reload the page") {
			t.Errorf("%s: %d %s", path, resp.StatusCode, body)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch} {
		for _, path := range []string{"/ui", "/ui/", "/ui/calls", "/ui/assets/main-abc123.js"} {
			if resp, _ := get(t, method, s.URL+path); resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d", method, path, resp.StatusCode)
			}
		}
	}
}

// A build without the front end says so.
func TestNoUI(t *testing.T) {
	t.Parallel()
	s := serveFiles(t, fstest.MapFS{})
	for _, path := range []string{"/ui/", "/ui/calls/1"} {
		resp, body := get(t, http.MethodGet, s.URL+path)
		if resp.StatusCode != http.StatusNotFound || resp.Header.Get("Content-Type") != "text/plain; charset=utf-8" || body != "This build of genkan has no web UI; a build without the tag noui has it.\n" {
			t.Errorf("%s: %d %s", path, resp.StatusCode, body)
		}
	}
}

// Everything below /ui/ has the headers that keep other pages and scripts out.
func TestHeaders(t *testing.T) {
	t.Parallel()
	s := serveFiles(t, frontEnd())
	for _, path := range []string{"/ui", "/ui/", "/ui/calls", "/ui/assets/main-abc123.js", "/ui/assets/missing.js", "/ui/favicon.svg"} {
		resp, _ := get(t, http.MethodGet, s.URL+path)
		policy := resp.Header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'self'", "connect-src 'self'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: the policy %q lacks %s", path, policy, part)
			}
		}
		if strings.Contains(policy, "unsafe-eval") || strings.Contains(policy, "script-src 'self' ") {
			t.Errorf("%s: %s", path, policy)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if resp.Header.Get("Permissions-Policy") == "" {
			t.Errorf("%s has no Permissions-Policy", path)
		}
	}
}
