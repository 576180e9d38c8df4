// Package lock decides which HTTP requests come in. The port is on loopback, but
// every page in a browser and every process on the machine can reach it. So the
// Host and the Origin of a request must be known, and every caller needs a token.
// A browser that has signed in to genkan's own pages has a session instead, in a
// cookie that counts only for requests of these pages.
package lock

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/lang"
)

// Rules are the configured rules for admission.
type Rules struct {
	// Hosts are the host names that requests may have, in addition to those of
	// loopback.
	Hosts []string
	// Origins are the origins of pages that may call from a browser, as
	// scheme://host.
	Origins []string
	// Language is the language of refusals.
	Language lang.Language
}

// Lock admits or refuses HTTP requests.
type Lock struct {
	verify func(ctx context.Context, token string) (gateway.Identity, error)
	// Met is called with the identity and the user agent of each admitted request.
	// Set it before the first request; may be nil.
	Met func(id gateway.Identity, userAgent string)
	// Refused is called for each refused request, with the reason. Set it before the
	// first request; may be nil.
	Refused func(r *http.Request, status int, reason string)
	// Sessions are the sessions of browsers. Set them before the first request.
	Sessions Sessions
	rules    atomic.Pointer[compiled]
}

// Sessions recognize browsers that have signed in.
type Sessions struct {
	// Cookie is the name of the cookie that has the secret of a session; empty if
	// there are no sessions. Verify tells whose session it is.
	Cookie string
	Verify func(ctx context.Context, secret string) (gateway.Identity, error)
}

type compiled struct {
	hosts, origins map[string]bool
	language       lang.Language
}

// New returns a Lock that verifies tokens with verify.
func New(verify func(ctx context.Context, token string) (gateway.Identity, error), rules Rules) *Lock {
	l := &Lock{verify: verify}
	l.Set(rules)
	return l
}

// Set replaces the rules.
func (l *Lock) Set(rules Rules) {
	c := &compiled{hosts: map[string]bool{}, origins: map[string]bool{}, language: rules.Language}
	for _, h := range rules.Hosts {
		c.hosts[strings.ToLower(h)] = true
	}
	for _, o := range rules.Origins {
		c.origins[strings.ToLower(strings.TrimSuffix(o, "/"))] = true
	}
	l.rules.Store(c)
}

// Admit identifies the caller by a token. When it reports false, it has answered the
// request.
func (l *Lock) Admit(w http.ResponseWriter, r *http.Request) (gateway.Identity, bool) {
	rules := l.rules.Load()
	if !l.receive(w, r, rules) {
		return gateway.Identity{}, false
	}
	return l.identify(w, r, rules, false)
}

// AdmitPage is Admit for what genkan's own pages use. It identifies the caller by a
// token, or else by the session of a browser.
func (l *Lock) AdmitPage(w http.ResponseWriter, r *http.Request) (gateway.Identity, bool) {
	rules := l.rules.Load()
	if !l.receive(w, r, rules) {
		return gateway.Identity{}, false
	}
	return l.identify(w, r, rules, true)
}

// Visit is Receive for pages that people may come to from anywhere, by a link. The
// pages contain no secrets and change nothing.
func (l *Lock) Visit(w http.ResponseWriter, r *http.Request) bool {
	rules := l.rules.Load()
	if isVisit(r) && rules.allowsHost(r.Host) {
		return true
	}
	return l.receive(w, r, rules)
}

// isVisit reports whether a browser shows the answer as a page of its own.
func isVisit(r *http.Request) bool {
	return isSafe(r.Method) && len(r.Header["Origin"]) == 0 &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// isSafe reports whether requests with a method change nothing.
func isSafe(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// FromOwnPage reports whether a page that genkan serves has made a request, and no
// other page of this machine or of another site. Programs that are no browsers can
// pretend it; they have no session.
//
// Browsers say where a request comes from in Sec-Fetch-Site, unless the page was
// loaded without TLS from another machine; then the Origin of a request that may
// change something is the Host of this one. A cookie with SameSite=Strict comes with
// requests of all ports of a host, so it does not tell.
func FromOwnPage(r *http.Request) bool {
	switch sites := r.Header["Sec-Fetch-Site"]; {
	case len(sites) > 1 || len(r.Header["Origin"]) > 1:
		return false
	case len(sites) == 1:
		// "none" is what a person typed.
		return sites[0] == "same-origin" || sites[0] == "none" && isSafe(r.Method)
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return isSafe(r.Method)
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// Session returns the secret of the session that a request of genkan's own pages
// comes with.
func (l *Lock) Session(r *http.Request) (secret string, ok bool) {
	if l.Sessions.Cookie == "" || !FromOwnPage(r) {
		return "", false
	}
	// Another port of this host may have set a second cookie of this name. Which of
	// them is genkan's is unknown.
	found := r.CookiesNamed(l.Sessions.Cookie)
	if len(found) != 1 || found[0].Value == "" {
		return "", false
	}
	return found[0].Value, true
}

// Receive admits requests to public pages. It needs no token, but it refuses
// unknown origins and unknown host names as Admit does. When it reports false, it
// has answered the request.
func (l *Lock) Receive(w http.ResponseWriter, r *http.Request) bool {
	return l.receive(w, r, l.rules.Load())
}

// receive checks everything but the token.
func (l *Lock) receive(w http.ResponseWriter, r *http.Request, c *compiled) bool {
	if !c.allowsHost(r.Host) {
		l.tell(r, http.StatusForbidden, "foreign_host")
		c.refuse(w, http.StatusForbidden, "AUTHORIZATION_ERROR", gateway.Errorf(gateway.CodeDenied,
			"this Host is not allowed; if you reach genkan by another name, start it with --allowed-host NAME"))
		return false
	}
	if !c.allowsOrigin(r.Header) {
		l.tell(r, http.StatusForbidden, "foreign_origin")
		c.refuse(w, http.StatusForbidden, "AUTHORIZATION_ERROR", gateway.Errorf(gateway.CodeDenied,
			"this Origin is not allowed; to let a web page call genkan, name it in cors.origin"))
		return false
	}
	return !c.cors(w, r)
}

// tell reports a refusal.
func (l *Lock) tell(r *http.Request, status int, reason string) {
	if l.Refused != nil {
		l.Refused(r, status, reason)
	}
}

// Client returns the client of an admitted request; empty if its token is no longer
// valid.
func (l *Lock) Client(r *http.Request) string {
	id, err := l.credential(r, true).verify(r.Context())
	if err != nil {
		return ""
	}
	return id.ClientID
}

// Recognizes reports whether a request that was admitted before would be admitted
// now. A stream must not outlive its token.
func (l *Lock) Recognizes(r *http.Request) bool {
	_, err := l.credential(r, true).verify(r.Context())
	// Refuse only a token that is known to be invalid. A store that cannot be read
	// says nothing about the token.
	return err == nil || gateway.AsError(err).Code != gateway.CodeUnauthenticated
}

// credential is what a request presents.
type credential struct {
	secret string
	check  func(ctx context.Context, secret string) (gateway.Identity, error)
	// refusal is the reason that is reported if it is not valid.
	refusal string
}

// verify tells whose credential it is.
func (c credential) verify(ctx context.Context) (gateway.Identity, error) {
	if c.check == nil {
		return gateway.Identity{}, gateway.Errorf(gateway.CodeUnauthenticated,
			"a token is needed: send \"Authorization: Bearer TOKEN\". The admin token is in the file admin-token in genkan's data directory; `genkan tokens add NAME` makes others")
	}
	return c.check(ctx, c.secret)
}

// credential returns the token of a request. If it has none and sessions count, it
// returns the session of the browser.
func (l *Lock) credential(r *http.Request, sessions bool) credential {
	if token, ok := bearer(r.Header); ok {
		return credential{token, l.verify, "wrong_token"}
	}
	if sessions && len(r.Header["Authorization"]) == 0 {
		if secret, ok := l.Session(r); ok {
			return credential{secret, l.Sessions.Verify, "ended_session"}
		}
	}
	return credential{refusal: "no_token"}
}

func (l *Lock) identify(w http.ResponseWriter, r *http.Request, rules *compiled, sessions bool) (gateway.Identity, bool) {
	presented := l.credential(r, sessions)
	id, err := presented.verify(r.Context())
	if err == nil {
		if l.Met != nil {
			l.Met(id, r.UserAgent())
		}
		return id, true
	}
	e := gateway.AsError(err)
	if e.Code != gateway.CodeUnauthenticated {
		retryAfter(w, e)
		rules.refuse(w, http.StatusServiceUnavailable, "UPSTREAM_UNAVAILABLE", e)
		return gateway.Identity{}, false
	}
	l.tell(r, http.StatusUnauthorized, presented.refusal)
	challenge := "Bearer"
	if presented.refusal == "wrong_token" {
		challenge = `Bearer error="invalid_token"`
	}
	w.Header()["Www-Authenticate"] = []string{challenge}
	rules.refuse(w, http.StatusUnauthorized, "AUTHENTICATION_ERROR", e)
	return gateway.Identity{}, false
}

// Refuse answers an admitted request that cannot be served now.
func (l *Lock) Refuse(w http.ResponseWriter, r *http.Request, reason string, e *gateway.Error) {
	l.tell(r, http.StatusTooManyRequests, reason)
	retryAfter(w, e)
	l.rules.Load().refuse(w, http.StatusTooManyRequests, "RATE_LIMIT_EXCEEDED", e)
}

func retryAfter(w http.ResponseWriter, e *gateway.Error) {
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((e.RetryAfter+time.Second-1)/time.Second)))
	}
}

// bearer returns the only token of a request. A proxy could read two Authorization
// headers differently.
func bearer(h http.Header) (string, bool) {
	values := h["Authorization"]
	if len(values) != 1 {
		return "", false
	}
	const scheme = "bearer "
	v := values[0]
	if len(v) <= len(scheme) || !strings.EqualFold(v[:len(scheme)], scheme) {
		return "", false
	}
	return strings.TrimSpace(v[len(scheme):]), true
}

func (c *compiled) allowsHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	return isLoopback(host) || c.hosts[host] || c.hosts[strings.ToLower(hostport)]
}

func isLoopback(host string) bool {
	if host == "127.0.0.1" || host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// allowsOrigin refuses requests that a browser made for an unknown page. Programs
// send neither header.
func (c *compiled) allowsOrigin(h http.Header) bool {
	origins := h["Origin"]
	switch {
	case len(origins) > 1:
		return false
	case len(origins) == 1:
		return c.knowsOrigin(origins[0])
	}
	switch h.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	default:
		return false
	}
}

func (c *compiled) knowsOrigin(origin string) bool {
	if c.origins[strings.ToLower(origin)] {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return false
	}
	return c.allowsHost(u.Host)
}

// cors answers a preflight, or adds the headers that let the page read the answer.
// It never allows cookies, only tokens.
func (c *compiled) cors(w http.ResponseWriter, r *http.Request) (answered bool) {
	origin := r.Header.Get("Origin")
	if origin == "" || !c.origins[strings.ToLower(origin)] {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, Retry-After")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
	h.Set("Access-Control-Allow-Headers", allowedHeaders+paramHeaders(r.Header))
	h.Set("Access-Control-Max-Age", strconv.Itoa(int((10 * time.Minute).Seconds())))
	w.WriteHeader(http.StatusNoContent)
	return true
}

// allowedHeaders are the headers that a page may send.
const allowedHeaders = "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name"

// paramHeaders returns the headers that a page asks to send because a tool's schema
// requires them. Their names are not known in advance.
func paramHeaders(h http.Header) string {
	allowed := ""
	for name := range strings.SplitSeq(strings.Join(h["Access-Control-Request-Headers"], ","), ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if strings.HasPrefix(name, "mcp-param-") && !strings.ContainsFunc(name, notInToken) {
			allowed += ", " + name
		}
	}
	return allowed
}

// notInToken reports whether a character is not allowed in the name of a header.
func notInToken(c rune) bool {
	return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.'
}

// refuse answers with an error in the form of the REST API.
func (c *compiled) refuse(w http.ResponseWriter, status int, code string, e *gateway.Error) {
	body := jsonrpc.AppendQuoted([]byte(`{"success":false,"error":`), c.language.Error(e))
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	body = append(body, `,"code":"`+code+`","timestamp":"`+now+"\"}\n"...)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
