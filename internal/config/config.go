// Package config is the room where the house is planned: it reads the one
// configuration file, lays environment and flags over it, and hands app a
// Config that needs no further checking. It knows no other room; what a
// setting does is decided where it is used.
//
// The file is written by hand, so the reading is strict and talkative: an
// unknown key, a duplicate, a wrong type or a bad value is refused with its
// line and column, and all problems are told at once. The file holds
// credentials too, so no error, print or encoding ever shows a value that may
// be one.
package config

import (
	"cmp"
	"net"
	"net/netip"
	"path"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// Defaults, where the zero value is not one.
const (
	DefaultHost     = "127.0.0.1"
	DefaultPort     = 3000
	DefaultLogLevel = "info"
	DefaultLang     = "en"
	// DefaultTimeout is long because real tools are slow; every progress
	// message starts it anew.
	DefaultTimeout = 10 * time.Minute
	// DefaultStartupTimeout leaves a cold npx or uvx time to download.
	DefaultStartupTimeout = 180 * time.Second
	// DefaultTimeWindow is what a rate limit counts in.
	DefaultTimeWindow = time.Minute
)

// The kinds of isolation.
const (
	IsolationAuto    = "auto"
	IsolationShared  = "shared"
	IsolationSession = "session"
	IsolationRoot    = "root"
)

// What clients of the legacy era are shown of the tools' schemas.
const (
	SchemasPlain    = "plain"    // combinations at the first level become plain properties
	SchemasOriginal = "original" // as the server wrote them
)

// WorkspaceFolder is a variable that stays in what is read: the folder is the
// client's, and known only when it calls.
const WorkspaceFolder = "${workspaceFolder}"

// How a URL is called, when the file says so.
const (
	TransportHTTP = "http" // streamable HTTP
	TransportSSE  = "sse"  // the transport of MCP 2024-11-05
)

// Config is a complete, checked configuration.
type Config struct {
	// Listen is host:port. The host is empty when every address is meant.
	Listen string
	// LogLevel is one of fatal, error, warn, info, debug, trace.
	LogLevel string
	// Lang is the language of messages: en or ja.
	Lang string

	CORS      CORS
	RateLimit RateLimit
	// AllowedHosts are the names, beyond the loopback ones, that a Host header
	// may have: host or host:port, in lower case.
	AllowedHosts []string
	// Folders are where callers with a token may have servers work, beside the
	// home directory: absolute paths, or paths that begin with ~/.
	Folders []string
	// BehindProxy says that somebody in front ends TLS.
	BehindProxy bool
	TLS         TLS
	// PageSize is how many tools a page of tools/list has; 0 is one page.
	PageSize int
	// LoginShell lets commands that our PATH does not have be looked for in that
	// of the user's login shell.
	LoginShell bool
	// ClientMetadataURL is where genkan's client ID metadata document is, for
	// signing in to servers; empty if nobody hosts one.
	ClientMetadataURL string
	// Learn lets searches learn from the calls that follow them.
	Learn bool
	// Embeddings is the model that texts are compared with; without a URL there is
	// none.
	Embeddings Embeddings
	// Knowledge is the knowledge base.
	Knowledge Knowledge
	// Look is what clients are shown that have no entry of their own.
	Look
	// Profiles and Clients are in file order.
	Profiles []Profile
	Clients  []Client
	// Servers are in file order, which decides who owns a name in doubt. Those
	// that are kept beside the file follow.
	Servers []Server
	// SetAside are kept servers that cannot be used beside the others.
	SetAside []SetAside
}

// KnowledgeRoom is the name that the knowledge base has among the servers.
const KnowledgeRoom = "kb"

// Knowledge says whether there is a knowledge base, and what it can do.
type Knowledge struct {
	Off bool
	// Statuses are those that items may be given, in their order; nil is the usual
	// ones.
	Statuses []Status
	// Semantic is the model of semantic_search; without a URL there is none.
	Semantic Embeddings
}

// Status is a status of items. Lists leave out items in a closed one.
type Status struct {
	Name   string
	Closed bool
}

// CORS says which web pages may call the gateway.
type CORS struct {
	Enabled bool
	// Origins are scheme://host[:port], spelled as browsers send them.
	Origins []string
}

// RateLimit allows each caller Max calls per TimeWindow. A Max of zero is no
// limit.
type RateLimit struct {
	Max        int
	TimeWindow time.Duration
}

// TLS names the files of a certificate and its key: both or neither.
type TLS struct {
	CertFile, KeyFile string
}

// Server is one MCP server: a child process when Command is set, an HTTP
// endpoint when URL is. Exactly one of them is.
//
// A Server prints and encodes without the values of Args, Env, Headers, OAuth's
// secret and the path of URL, because credentials are kept in all of them.
type Server struct {
	Name string

	Command string
	Args    []string
	Env     map[string]gateway.Secret
	Cwd     string

	URL     string
	Headers map[string]gateway.Secret
	// Transport is how URL is called: TransportHTTP, TransportSSE, or empty when
	// the server is to show it.
	Transport string
	// OAuth is how to sign in to URL, where it asks for that.
	OAuth OAuth

	// Prefix is put before the names of the tools; "" mounts them bare.
	Prefix string
	// Overwrite lets its tools take names that others have.
	Overwrite bool
	// Isolation says who shares a process: one of the Isolation constants.
	Isolation string
	// Timeout is how long a call may go without a sign of life.
	Timeout time.Duration
	// StartupTimeout is how long the server may take until it is ready.
	StartupTimeout time.Duration
	Disabled       bool
	Tools          ToolFilter
	// ToolOptions are in file order, which decides.
	ToolOptions []ToolOptions
	// Validate checks arguments against the tool's schema before sending.
	Validate bool
	// Lacking are the variables and secrets that the server refers to and that
	// are not there. It cannot be used before they are; the others can.
	Lacking gateway.Texts
	// Missing names the same things, in the same order.
	Missing []Missing
	// Schemas is what legacy clients are shown of the tools' schemas: one of the
	// Schemas constants.
	Schemas string
	// Kept: it is kept beside the file, not in it.
	Kept bool
	// Written is the server as it was written, as JSON, with its references in
	// place. It may hold literal secrets.
	Written gateway.Secret
}

// Missing is a variable or a secret that a server refers to and that is not
// there, or cannot be read.
type Missing struct {
	Name   string
	Secret bool
}

// OAuth is what the file says about signing in to a server. The zero value
// leaves everything to what the server says of itself.
type OAuth struct {
	// Off: the server is never signed in to.
	Off bool
	// ClientID and ClientSecret are what genkan was registered as by hand, and
	// Issuer where; empty trusts whoever the server names.
	ClientID     string
	ClientSecret gateway.Secret
	Issuer       string
	// Scopes are asked for instead of those that the server names.
	Scopes []string
	// RedirectPort is the port that the browser comes back to; 0 is any.
	RedirectPort int
	// PrivateHosts may be on private addresses though the server is not.
	PrivateHosts []string
}

// isSaid reports whether the file says anything.
func (o OAuth) isSaid() bool {
	return o.Off || o.ClientID != "" || o.ClientSecret != "" || o.Issuer != "" || o.RedirectPort != 0 ||
		len(o.Scopes) > 0 || len(o.PrivateHosts) > 0
}

// ToolFilter says which of a server's tools exist for clients. Patterns are
// path.Match globs over the server's own names, known to be well-formed.
type ToolFilter struct {
	// Allow admits what it matches; nil admits everything.
	Allow []string
	// Deny wins over Allow.
	Deny []string
}

// Allows reports whether the tool with the server's own name passes.
func (f ToolFilter) Allows(tool string) bool {
	matches := func(globs []string) bool {
		for _, g := range globs {
			if ok, err := path.Match(g, tool); ok && err == nil {
				return true
			}
		}
		return false
	}
	return (f.Allow == nil || matches(f.Allow)) && !matches(f.Deny)
}

// ToolOptions are how calls of the tools that a pattern matches are carried out,
// unless the caller says otherwise, and what they are registered with.
type ToolOptions struct {
	Pattern string
	gateway.ExecuteOptions
	ToolLabels
}

// ToolLabels are what is said about a tool in the register, unless somebody has
// said otherwise there.
type ToolLabels struct {
	Version  string
	Category string
	Tags     []string
}

// The most that the file may say for a tool, which is what callers may ask for.
const (
	mostRetries     = 10
	longestRetryGap = time.Minute
)

// OptionsOf are those of the tool with the server's own name. Where several
// patterns match, the first that says a thing counts.
func (s Server) OptionsOf(tool string) gateway.ExecuteOptions {
	var found gateway.ExecuteOptions
	for _, o := range s.ToolOptions {
		if ok, err := path.Match(o.Pattern, tool); !ok || err != nil {
			continue
		}
		found.Timeout = cmp.Or(found.Timeout, o.Timeout)
		found.Retries = cmp.Or(found.Retries, o.Retries)
		found.RetryDelay = cmp.Or(found.RetryDelay, o.RetryDelay)
	}
	return found
}

// LabelsOf are those of the tool with the server's own name. As with options,
// the first pattern that says a thing counts.
func (s Server) LabelsOf(tool string) ToolLabels {
	var found ToolLabels
	for _, o := range s.ToolOptions {
		if ok, err := path.Match(o.Pattern, tool); !ok || err != nil {
			continue
		}
		found.Version = cmp.Or(found.Version, o.Version)
		found.Category = cmp.Or(found.Category, o.Category)
		if found.Tags == nil {
			found.Tags = o.Tags
		}
	}
	return found
}

// Exposed reports whether others than this machine can reach the listener. A
// name other than localhost counts as exposed: what it resolves to may change.
func (c *Config) Exposed() bool {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return true
	}
	if strings.EqualFold(host, "localhost") {
		return false
	}
	addr, err := netip.ParseAddr(host)
	return err != nil || !addr.Unmap().IsLoopback()
}

// CheckExposure refuses to be reachable from outside in the clear: tokens
// would cross the network for anyone to read.
func (c *Config) CheckExposure() error {
	if !c.Exposed() || c.TLS.CertFile != "" || c.BehindProxy {
		return nil
	}
	return gateway.Errorf(gateway.CodeInvalid,
		"listening on %s can be reached from other machines, and tokens would travel unencrypted: "+
			"set tls.cert and tls.key (--tls-cert, --tls-key), or behindProxy (--behind-proxy) if a proxy in front ends TLS, "+
			"or listen on %s", c.Listen, net.JoinHostPort(DefaultHost, portOf(c.Listen)))
}

func portOf(listen string) string {
	if _, port, err := net.SplitHostPort(listen); err == nil {
		return port
	}
	return "3000"
}
