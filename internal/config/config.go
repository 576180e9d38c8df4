// Package config reads genkan's configuration file, applies environment variables
// and flags to it, and returns a Config that needs no further checks. What a
// setting does is decided where it is used.
//
// People write the file by hand, so reading is strict: an unknown or duplicate
// key, a wrong type and an invalid value are errors with line and column, and all
// problems are reported at once. The file may hold credentials, so no error, print
// or encoding shows a value that may be one.
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

// Defaults of settings whose zero value is not the default.
const (
	DefaultHost     = "127.0.0.1"
	DefaultPort     = 3000
	DefaultLogLevel = "info"
	DefaultLang     = "en"
	// DefaultTimeout is long because real tools are slow. Each progress message
	// restarts it.
	DefaultTimeout = 10 * time.Minute
	// DefaultStartupTimeout leaves a cold npx or uvx time to download.
	DefaultStartupTimeout = 180 * time.Second
	// DefaultTimeWindow is the time window of a rate limit.
	DefaultTimeWindow = time.Minute
)

// Values of Server.Isolation.
const (
	IsolationAuto    = "auto"
	IsolationShared  = "shared"
	IsolationSession = "session"
	IsolationRoot    = "root"
)

// Values of Server.Schemas: how legacy clients see the schemas of tools.
const (
	SchemasPlain    = "plain"    // combinations at the first level become plain properties
	SchemasOriginal = "original" // as the server wrote them
)

// WorkspaceFolder is a variable that is not resolved when the file is read: each
// client has a folder of its own, which is known when it calls.
const WorkspaceFolder = "${workspaceFolder}"

// Values of Server.Transport.
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
	// AllowedHosts are values of the Host header that are accepted beside the
	// loopback names: host or host:port, in lower case.
	AllowedHosts []string
	// Folders are those in which servers may work for callers with a token, beside
	// the home directory: absolute paths, or paths that begin with ~/.
	Folders []string
	// BehindProxy says that a proxy in front terminates TLS.
	BehindProxy bool
	TLS         TLS
	// PageSize is how many tools a page of tools/list has; 0 is one page.
	PageSize int
	// LoginShell looks for commands in the PATH of the user's login shell, too.
	LoginShell bool
	// ClientMetadataURL is the URL of genkan's client ID metadata document, for
	// signing in to servers; empty for none.
	ClientMetadataURL string
	// Learn lets searches learn from the calls that follow them.
	Learn bool
	// Embeddings is the model that texts are compared with; without a URL there is
	// none.
	Embeddings Embeddings
	// Knowledge is the knowledge base.
	Knowledge Knowledge
	// N8N are the n8n instances.
	N8N []N8N
	// Workflows is the folder of workflow files: an absolute path, or one that begins
	// with ~/; empty for none.
	Workflows string
	// Approvals are the calls that wait for a person.
	Approvals Approvals
	// Record is the call history.
	Record Record
	// Budget is how many tokens an answer to an agent may have; 0 for the usual number,
	// gateway.NoBudget for any.
	Budget int
	// Listing is for clients without an entry of their own.
	Listing
	// Profiles and Clients are in file order.
	Profiles []Profile
	Clients  []Client
	// Servers are in file order, which decides who owns a name that several have.
	// Stored servers follow.
	Servers []Server
	// Rejected are stored servers that conflict with others.
	Rejected []RejectedServer
}

// Record says what the call history keeps.
type Record struct {
	Off bool
	// Bodies is whose bodies are kept: one of the Bodies constants.
	Bodies string
	// NoReplay leaves out what replaying a call needs.
	NoReplay bool
	// Days and Megabytes are how long and how much is kept.
	Days, Megabytes int
}

// KeptFor is how long calls are kept.
func (r Record) KeptFor() time.Duration { return time.Duration(r.Days) * 24 * time.Hour }

// Values of Record.Bodies.
const (
	BodiesLocal = "local" // of clients of this machine's own user
	BodiesAll   = "all"
	BodiesOff   = "off"
)

// Defaults of Record.
const (
	DefaultRecordDays      = 7
	DefaultRecordMegabytes = 256
)

// KnowledgeSource is the name that the knowledge base has among the servers.
const KnowledgeSource = "kb"

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
	// Budget is how many tokens an answer to an agent may have; 0 if it is not set.
	Budget int
	// Validate checks arguments against the tool's schema before sending.
	Validate bool
	// Unresolved describes references to variables and secrets that do not exist.
	// The server cannot be used until they do; other servers can.
	Unresolved gateway.Texts
	// Missing names these variables and secrets, in the same order.
	Missing []Missing
	// Schemas is what legacy clients are shown of the tools' schemas: one of the
	// Schemas constants.
	Schemas string
	// Stored says that the server is in the database, not in the file.
	Stored bool
	// Definition is the server as JSON, with unresolved references. It may hold
	// literal secrets.
	Definition gateway.Secret
}

// Missing is a variable or a secret that a server refers to and that does not
// exist or cannot be read.
type Missing struct {
	Name   string
	Secret bool
}

// OAuth configures signing in to a server. The zero value uses what the server
// announces.
type OAuth struct {
	// Off disables signing in.
	Off bool
	// ClientID and ClientSecret are those of a manual registration with Issuer. An
	// empty Issuer is the one that the server names.
	ClientID     string
	ClientSecret gateway.Secret
	Issuer       string
	// Scopes replace those that the server names.
	Scopes []string
	// RedirectPort is the port of the redirect URL; 0 is any free port.
	RedirectPort int
	// PrivateHosts may have private addresses although the server has a public one.
	PrivateHosts []string
}

// isSet reports whether the file configures anything.
func (o OAuth) isSet() bool {
	return o.Off || o.ClientID != "" || o.ClientSecret != "" || o.Issuer != "" || o.RedirectPort != 0 ||
		len(o.Scopes) > 0 || len(o.PrivateHosts) > 0
}

// ToolFilter selects the tools of a server that clients see. Patterns are
// well-formed path.Match globs for the server's own names.
type ToolFilter struct {
	// Allow selects tools; nil selects all.
	Allow []string
	// Deny overrides Allow.
	Deny []string
}

// Allows reports whether the filter selects a tool by the server's own name.
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

// ToolOptions are the defaults for calls of the tools that Pattern matches, and
// their labels.
type ToolOptions struct {
	Pattern string
	gateway.ExecuteOptions
	ToolLabels
}

// ToolLabels describe a tool in the registry. What people set there overrides them.
type ToolLabels struct {
	Version  string
	Category string
	Tags     []string
}

// Limits of ToolOptions, the same as those for callers.
const (
	mostRetries     = 10
	longestRetryGap = time.Minute
)

// OptionsOf returns the options of a tool by the server's own name. If several
// patterns match, the first that sets an option applies.
func (s Server) OptionsOf(tool string) gateway.ExecuteOptions {
	var found gateway.ExecuteOptions
	for _, o := range s.ToolOptions {
		if ok, err := path.Match(o.Pattern, tool); !ok || err != nil {
			continue
		}
		found.Timeout = cmp.Or(found.Timeout, o.Timeout)
		found.Retries = cmp.Or(found.Retries, o.Retries)
		found.RetryDelay = cmp.Or(found.RetryDelay, o.RetryDelay)
		found.Budget = cmp.Or(found.Budget, o.Budget)
	}
	found.Budget = cmp.Or(found.Budget, s.Budget)
	return found
}

// LabelsOf returns the labels of a tool by the server's own name. If several
// patterns match, the first that sets a label applies.
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

// HasBudget reports whether any answer to an agent has a budget.
func (c *Config) HasBudget() bool {
	if c.Budget >= 0 {
		return true
	}
	for _, client := range c.Clients {
		if client.Budget > 0 {
			return true
		}
	}
	for _, s := range c.Servers {
		if s.Budget > 0 {
			return true
		}
		for _, o := range s.ToolOptions {
			if o.Budget > 0 {
				return true
			}
		}
	}
	return false
}

// Exposed reports whether other machines can reach the listener. A host name other
// than localhost counts as exposed, because what it resolves to may change.
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

// CheckExposure returns an error if other machines can reach the listener without
// TLS: tokens would cross the network in the clear.
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
