package upstream

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/gateway"
)

// Bearer hands out the tokens of a server's sign-in.
type Bearer interface {
	// Token returns a token that is not known to be refused. An error with
	// CodeUnauthenticated says what a person must do.
	Token(ctx context.Context) (gateway.Secret, error)
	// Refused reports that the server refused a request with the token, or
	// without one. It returns nil if another Token is worth one more request.
	Refused(ctx context.Context, token gateway.Secret, status int, header http.Header) error
	// SignIn identifies the sign-in of the last Token; empty for none. Renewed
	// tokens belong to the same sign-in.
	SignIn() string
	// Doubt drops cached knowledge: another process may have signed in or out.
	Doubt()
	// Known reports whether there is a sign-in, and when its token expires.
	Known() (signedIn bool, expires time.Time)
}

// The values of Status.SignIn.
const (
	SignInNeeded = "needed"
	SignedIn     = "signed in"
)

// signInError is the error of a request that was refused for lack of a sign-in.
// The connection is intact.
type signInError struct{ because *gateway.Error }

func (e *signInError) Error() string { return e.because.Error() }
func (e *signInError) Unwrap() error { return e.because }

// needsPerson reports whether only a sign-in by a person can mend an error.
func needsPerson(err error) bool {
	var e *signInError
	return errors.As(err, &e) && (e.because.Code == gateway.CodeUnauthenticated || e.because.Code == gateway.CodeDenied)
}

// signedTransport adds the token of a sign-in to requests where the server asks
// for one. A configured Authorization header comes first, and a server that asks
// for nothing gets no token.
type signedTransport struct {
	next   http.RoundTripper
	bearer Bearer
	server string
	home   *url.URL
	// hasHeader is set when the configuration has an Authorization header.
	hasHeader bool
	// uses is set while requests are sent with a token.
	uses atomic.Bool
	// needed is set when a request was refused and only a person can help.
	needed atomic.Bool
	// changed is called after needed has changed; may be nil.
	changed func()

	mu sync.Mutex
	// begun is the sign-in that the connections were opened with.
	begun string
}

func newSignedTransport(set *Settings, next http.RoundTripper) *signedTransport {
	home, err := url.Parse(set.URL)
	if err != nil {
		home = &url.URL{} // connecting will say so
	}
	t := &signedTransport{next: next, bearer: set.Bearer, server: set.Name, home: home}
	for name := range set.Headers {
		t.hasHeader = t.hasHeader || strings.EqualFold(name, "Authorization")
	}
	return t
}

// prepare looks for a sign-in before a connection is opened.
func (t *signedTransport) prepare(ctx context.Context) {
	if t == nil {
		return
	}
	t.needed.Store(false)
	begun := ""
	if !t.hasHeader {
		if _, err := t.bearer.Token(ctx); err == nil { // else the server's refusal tells why
			begun = t.bearer.SignIn()
		}
	}
	t.mu.Lock()
	t.begun = begun
	t.mu.Unlock()
	t.uses.Store(begun != "")
}

// use adds a token to all further requests.
func (t *signedTransport) use() {
	t.mu.Lock()
	if t.begun == "" {
		t.begun = t.bearer.SignIn()
	}
	t.mu.Unlock()
	t.uses.Store(true)
}

// signInChanged reports whether the sign-in differs from the one that the
// connections were opened with.
func (t *signedTransport) signInChanged(ctx context.Context) bool {
	if t == nil {
		return false
	}
	now := ""
	switch _, err := t.bearer.Token(ctx); {
	case err == nil:
		now = t.bearer.SignIn()
	case gateway.AsError(err).Code != gateway.CodeUnauthenticated:
		return false // nobody knows
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return now != t.begun && (!t.hasHeader || t.begun != "" || t.needed.Load())
}

// maxTokens is how many tokens are tried for a request: the current one, a
// renewed one, and one of a sign-in that happens meanwhile.
const maxTokens = 3

// RoundTrip sends the request, and again with another token if the server refuses
// it.
func (t *signedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	var token gateway.Secret
	if t.uses.Load() {
		var err error
		switch token, err = t.bearer.Token(r.Context()); {
		case err == nil:
		case gateway.AsError(err).Code == gateway.CodeUnauthenticated:
			t.uses.Store(false) // the server decides whether it does without
		default:
			return nil, t.refused(r.Context(), err, true)
		}
	}
	for tried := 1; ; tried++ {
		resp, err := t.next.RoundTrip(t.sign(r, token))
		if err != nil || r.Method == http.MethodDelete || !wantsToken(resp, token) {
			if err == nil && (token != "" || t.hasHeader) && t.needed.CompareAndSwap(true, false) {
				t.tellChanged()
			}
			return resp, err
		}
		finish(resp.Body) // one without an end is not waited for
		if err := t.bearer.Refused(r.Context(), token, resp.StatusCode, resp.Header); err != nil {
			return nil, t.refused(r.Context(), t.orHeader(err, token, resp.StatusCode), false)
		}
		if tried == maxTokens {
			return nil, t.refused(r.Context(), gateway.Errorf(gateway.CodeUnauthenticated,
				"server %s refuses every token that it is given; run `genkan login %s`, and if that does not help, tell whoever runs the server", t.server, t.server), false)
		}
		if token, err = t.bearer.Token(r.Context()); err != nil {
			return nil, t.refused(r.Context(), err, false)
		}
		t.use()
		if r, err = again(r); err != nil {
			return nil, err
		}
	}
}

// wantsToken reports whether a response asks for a token, or for one with more
// rights.
func wantsToken(resp *http.Response, token gateway.Secret) bool {
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		return true
	case http.StatusForbidden:
		return token != "" && strings.Contains(strings.Join(resp.Header["Www-Authenticate"], " "), "insufficient_scope")
	default:
		return false
	}
}

// sign adds the token to requests to the server's own origin.
func (t *signedTransport) sign(r *http.Request, token gateway.Secret) *http.Request {
	here := r.URL.Scheme == t.home.Scheme && r.URL.Host == t.home.Host // as it nearly always is
	if token == "" || !here && origin(r.URL) != origin(t.home) {
		return r
	}
	signed := *r
	signed.Header = r.Header.Clone()
	signed.Header["Authorization"] = []string{"Bearer " + token.Reveal()}
	return &signed
}

// again copies a request that the server refused.
func again(r *http.Request) (*http.Request, error) {
	fresh := *r
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		fresh.Body = body
	}
	return &fresh, nil
}

// orHeader replaces the error where the configured header was refused.
func (t *signedTransport) orHeader(err error, token gateway.Secret, status int) error {
	if token != "" || !t.hasHeader || gateway.AsError(err).Code != gateway.CodeUnauthenticated {
		return err
	}
	return gateway.Errorf(gateway.CodeUnauthenticated,
		"server %s does not take the Authorization header of its configuration (HTTP %d); correct it, or run `genkan login %s`", t.server, status, t.server)
}

// refused is the error of a request without a usable response.
func (t *signedTransport) refused(ctx context.Context, err error, unsent bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e := *gateway.AsError(err)
	e.Unsent, e.Answered = unsent, !unsent
	if e.Code == gateway.CodeUnauthenticated && t.needed.CompareAndSwap(false, true) {
		t.tellChanged()
	}
	return &signInError{&e}
}

func (t *signedTransport) tellChanged() {
	if t.changed != nil {
		t.changed()
	}
}

// CloseIdleConnections closes idle connections of the underlying transport.
func (t *signedTransport) CloseIdleConnections() { closeIdle(t.next) }

func closeIdle(t http.RoundTripper) {
	if c, ok := t.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
