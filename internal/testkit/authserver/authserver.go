// Package authserver is an OAuth authorization server, and an MCP server that
// wants its tokens, for tests of who signs in. It is strict about everything
// that a client must get right, and wrong itself in the ways that it is told
// to be.
package authserver

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// Options are how the two servers behave. The zero value is a good pair: all
// described at the first place to look, dynamic registration, PKCE, rotated
// refresh tokens, tokens for an hour.
type Options struct {
	// IssuerPath makes the issuer one of several at its host: /tenant.
	IssuerPath string
	// IssuerAt and ServerAt are the origins that the servers believe to have,
	// when a test leads other names to them.
	IssuerAt, ServerAt string
	TLS                bool

	// IssuerMetadata is where the authorization server is described.
	IssuerMetadata IssuerMetadata
	// ResourceMetadata is where the MCP server describes itself.
	ResourceMetadata ResourceMetadata
	// NoMetadata leaves out every description; with Legacy only the endpoints
	// at the MCP server's root are left.
	NoMetadata bool
	// Legacy makes the MCP server its own authorization server, as in 2025-03-26.
	Legacy bool

	// NoRegistration turns dynamic registration off.
	NoRegistration bool
	// Documents are the client ID metadata documents that it would find; none
	// means that it does not support them.
	Documents []string
	// Clients are registered by hand: secrets by ID.
	Clients map[string]string
	// AuthMethods is what it says the token endpoint takes.
	AuthMethods []string
	// RegisterSecret gives clients that register a secret, for this method.
	RegisterSecret string

	// Scopes are what the MCP server asks for, and the only ones granted if
	// Grantable is nil.
	Scopes    []string
	Grantable []string
	// ToolScopes is what a tool needs beyond that.
	ToolScopes map[string]string
	// ScopesSupported is what the authorization server lists.
	ScopesSupported []string

	// Lifetime of access tokens; negative does not say.
	Lifetime time.Duration
	// NoRefresh gives no refresh tokens, KeepRefresh one that stays.
	NoRefresh, KeepRefresh bool
	Now                    func() time.Time

	// Open lets everybody in, without a token.
	Open bool
	// SSE makes the MCP server one of the transport of 2024-11-05.
	SSE bool

	// What is wrong.
	NoPKCE           bool   // it does not say that it knows PKCE
	ClaimIssuer      string // the issuer in its metadata
	ClaimResource    string // the resource in the MCP server's metadata
	Iss              string // iss in its answers; "-" for none
	AnnounceIss      bool
	Audience         string // the audience of its tokens
	DenyConsent      bool
	QuoteWhatWasSent bool // error descriptions quote the request
	// Before sees each request first, and returns whether it has answered.
	Before func(w http.ResponseWriter, r *http.Request) bool
}

// IssuerMetadata is a well-known place of RFC 8414 or OpenID Connect.
type IssuerMetadata int

// The places, in the order in which clients look.
const (
	OAuthInserted IssuerMetadata = iota
	OpenIDInserted
	OpenIDAppended // the same as inserted for an issuer without a path
)

// ResourceMetadata is a place of RFC 9728.
type ResourceMetadata int

// The places.
const (
	AtHeader ResourceMetadata = iota // an address of its own, in WWW-Authenticate
	AtPath
	AtRoot
	Nowhere
)

// Server is the pair.
type Server struct {
	mu      sync.Mutex
	options Options

	issuer   *httptest.Server
	resource *httptest.Server

	clients  map[string]*client
	codes    map[string]*code
	grants   map[string]*grant // by access token
	refresh  map[string]*grant
	secrets  []string
	faults   []string
	counts   map[string]int
	requests []string
	tokens   []string
}

// Start starts both servers; they end with the test.
func Start(tb testing.TB, o Options) *Server {
	tb.Helper()
	s := &Server{
		options: o, clients: map[string]*client{}, codes: map[string]*code{},
		grants: map[string]*grant{}, refresh: map[string]*grant{}, counts: map[string]int{},
	}
	if s.options.Now == nil {
		s.options.Now = time.Now
	}
	if s.options.Lifetime == 0 {
		s.options.Lifetime = time.Hour
	}
	for id, secret := range o.Clients {
		s.clients[id] = &client{secret: secret, anyRedirect: true}
		s.note(secret)
	}
	for _, id := range o.Documents {
		s.clients[id] = &client{anyRedirect: true}
	}
	// Both exist before either serves: a stranger that knows the port of an earlier
	// test may send a request at once.
	s.issuer = httptest.NewUnstartedServer(s.watched(s.issuerHandler()))
	s.resource = httptest.NewUnstartedServer(s.watched(s.resourceHandler()))
	for _, server := range []*httptest.Server{s.issuer, s.resource} {
		if o.TLS {
			server.StartTLS()
		} else {
			server.Start()
		}
		tb.Cleanup(server.Close)
	}
	return s
}

// URL is the MCP server's address.
func (s *Server) URL() string { return s.serverOrigin() + "/mcp" }

// Issuer is the authorization server's name.
func (s *Server) Issuer() string {
	if s.options.Legacy {
		return s.serverOrigin()
	}
	return s.issuerOrigin() + s.options.IssuerPath
}

// Listeners are the two servers as they are, for tests that lead names to them.
func (s *Server) Listeners() (issuer, resource *httptest.Server) { return s.issuer, s.resource }

func (s *Server) issuerOrigin() string {
	if s.options.Legacy {
		return s.serverOrigin()
	}
	if s.options.IssuerAt != "" {
		return s.options.IssuerAt
	}
	return s.issuer.URL
}

func (s *Server) serverOrigin() string {
	if s.options.ServerAt != "" {
		return s.options.ServerAt
	}
	return s.resource.URL
}

// Change changes how the servers behave from now on.
func (s *Server) Change(change func(*Options)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.options)
}

func (s *Server) now() Options {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.options
}

// Count is how often something happened: register, authorize, code, refresh,
// refused, revoke, call (a request that was let in) and tool (a tool call that
// was).
func (s *Server) Count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[what]
}

func (s *Server) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what]++
}

// Secrets are all codes, tokens and client secrets that there ever were, to
// look for where they must not be.
func (s *Server) Secrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.secrets)
}

// note remembers a secret. The caller has the lock, or is alone.
func (s *Server) note(secret string) {
	if secret != "" {
		s.secrets = append(s.secrets, secret)
	}
}

// Faults are what clients did that a strict server must not see.
func (s *Server) Faults() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.faults)
}

func (s *Server) fault(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, what)
}

// Requests are the methods and paths that came, in order.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Tokens are what the Authorization headers at the MCP server were, in order.
func (s *Server) Tokens() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tokens)
}

// Expire makes all access tokens old.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.grants)
}

// Forget makes the authorization server lose clients and sign-ins.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.grants)
	clear(s.refresh)
	clear(s.clients)
}

func (s *Server) watched(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Method+" "+r.URL.Path)
		before := s.options.Before
		s.mu.Unlock()
		if before == nil || !before(w, r) {
			next.ServeHTTP(w, r)
		}
	})
}
