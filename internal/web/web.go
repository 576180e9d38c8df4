// Package web is the edge for browsers. It serves the web UI under /ui/, which is a
// build of the front end in web/ that the binary embeds, and signs browsers in to it.
// The pages themselves contain no data: they read everything over the REST API, with
// the session that /ui/session gives to their browser. Package lock recognizes the
// session.
//
// A process that serves no HTTP opens a Port for the UI while pages are open.
//
// The build tag noui leaves the front end out.
//
// The pages work behind a proxy that strips a prefix from paths. Genkan does not know
// the prefix, so every address in a page and every redirect is relative.
package web

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/lang"
)

// Options configure a UI.
type Options struct {
	// Visit admits requests for pages, and Receive other requests without a token.
	// Admit identifies the sender of a request by its token. When they report false,
	// they have answered the request.
	Visit, Receive func(w http.ResponseWriter, r *http.Request) bool
	Admit          func(w http.ResponseWriter, r *http.Request) (gateway.Identity, bool)
	// Session returns the secret of the session that a request comes with. Cookie is
	// the name of the cookie that has it.
	Session  func(r *http.Request) (secret string, ok bool)
	Cookie   string
	Sessions Sessions
	// Link makes an address of the UI that signs one browser in as administrator, until
	// a time.
	Link func(ctx context.Context) (address string, until time.Time, err error)
	// Opened is called when somebody who is signed in opens the pages; may be nil.
	Opened func()
	// Refused is called for each request that is refused here; may be nil.
	Refused func(r *http.Request, status int, reason string)
	Version string
	// Language returns the current language of messages.
	Language func() lang.Language
}

// Sessions are the sessions of browsers.
type Sessions interface {
	Redeem(ctx context.Context, code string) (gateway.Identity, gateway.Secret, error)
	SignIn(ctx context.Context, token string) (gateway.Identity, gateway.Secret, error)
	Verify(ctx context.Context, secret string) (gateway.Identity, error)
	End(ctx context.Context, secret string) error
}

// UI is the edge for browsers.
type UI struct {
	opt   Options
	files map[string]*file
}

// New returns a UI.
func New(opt Options) (*UI, error) {
	found, err := files()
	if err != nil {
		return nil, err
	}
	loaded, err := load(found)
	if err != nil {
		return nil, err
	}
	return &UI{opt: opt, files: loaded}, nil
}

// Routes adds the routes to a mux.
func (u *UI) Routes(mux *http.ServeMux) {
	mux.HandleFunc("/ui", u.toFolder)
	mux.HandleFunc("/ui/", u.page)
	mux.HandleFunc("/ui/session", u.session)
	mux.HandleFunc("POST /ui/link", u.link)
}

// policy allows the pages to load what genkan serves, and nothing else. Libraries set
// style attributes, which cannot run anything.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; " +
	"img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'"

// secure sets the headers that all answers have.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
}

// toFolder leads from /ui to /ui/. The address is relative, which http.Redirect would
// change.
func (u *UI) toFolder(w http.ResponseWriter, r *http.Request) {
	if !u.readable(w, r) {
		return
	}
	target := "ui/"
	if r.URL.RawQuery != "" {
		target += "?" + r.URL.RawQuery
	}
	w.Header().Set("Location", target)
	w.WriteHeader(http.StatusFound)
}

// readable admits requests for pages. When it reports false, it has answered the
// request.
func (u *UI) readable(w http.ResponseWriter, r *http.Request) bool {
	if !u.opt.Visit(w, r) {
		return false
	}
	secure(w.Header())
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	u.fail(w, http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED", gateway.Errorf(gateway.CodeInvalid, "this path has no such method; there are %s", "GET, HEAD"))
	return false
}

// page serves the files of the front end. Every other path is a view of the front end,
// whose page is index.html.
func (u *UI) page(w http.ResponseWriter, r *http.Request) {
	if !u.readable(w, r) {
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/ui/")
	if f := u.files[name]; f != nil && name != indexFile {
		f.serve(w, r)
		return
	}
	if strings.HasPrefix(name, hashedFiles) {
		// A page of an older build asks for it. The page of a view would be no script.
		w.Header().Set("Cache-Control", "no-store")
		u.fail(w, http.StatusNotFound, "NOT_FOUND", gateway.Errorf(gateway.CodeNotFound, "this file belongs to another version of genkan; reload the page"))
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	index := u.files[indexFile]
	if index == nil {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(u.opt.Language().Text(gateway.Textf("This build of genkan has no web UI; a build without the tag noui has it.")) + "\n"))
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	write(w, r, index.pageBelow(strings.TrimPrefix(r.URL.EscapedPath(), "/ui/")))
}

// base returns the address of /ui/, relative to a path below it. An escaped slash is
// part of a name.
func base(below string) string {
	depth := strings.Count(below, "/")
	if depth == 0 {
		return "./"
	}
	return strings.Repeat("../", depth)
}

// pageBelow returns index.html for a path below /ui/. Its addresses are relative to
// /ui/.
func (f *file) pageBelow(path string) []byte {
	return bytes.Replace(f.read(), []byte("<head>"), []byte(`<head><base href="`+base(path)+`">`), 1)
}

// writeTime is how long a browser may take to read an answer.
const writeTime = time.Minute

// write answers with a body of a known length.
func write(w http.ResponseWriter, r *http.Request, body []byte) {
	if r.Method == http.MethodHead {
		return
	}
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(writeTime))
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	_, _ = w.Write(body)
}
