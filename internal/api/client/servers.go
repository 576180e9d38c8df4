package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// ServerDefinition says what a server is, in the keys of the configuration file.
type ServerDefinition struct {
	Command        string            `json:"command,omitempty" doc:"The program of a server that is a process. It is run as it is, by no shell."`
	Args           []string          `json:"args,omitempty"`
	Env            map[string]string `json:"env,omitempty" doc:"Texts by name; ${secret:NAME} and ${env:NAME} are filled in when the server starts. Literal secrets of servers that are added go into the vault."`
	Cwd            string            `json:"cwd,omitempty"`
	URL            string            `json:"url,omitempty" doc:"The address of a server that is called."`
	Type           string            `json:"type,omitempty" doc:"stdio, http or sse; found out where it is not said."`
	Headers        map[string]string `json:"headers,omitempty" doc:"As env."`
	OAuth          json.RawMessage   `json:"oauth,omitempty" doc:"How to sign in to the server, an object; false for never."`
	Prefix         *string           `json:"prefix,omitempty" doc:"What the names of its tools begin with; the server's name unless said."`
	Overwrite      bool              `json:"overwrite,omitempty" doc:"Lets its tools take names that tools of other servers or of the knowledge base have. Those are left out as long as it has them."`
	Isolation      string            `json:"isolation,omitempty" doc:"auto, shared, session or root."`
	Timeout        json.RawMessage   `json:"timeout,omitempty" doc:"Milliseconds, or a text such as 30s."`
	StartupTimeout json.RawMessage   `json:"startupTimeout,omitempty" doc:"Milliseconds, or a text such as 30s. It is also how long a test may take."`
	Disabled       bool              `json:"disabled,omitempty"`
	Tools          *DefinedTools     `json:"tools,omitempty"`
	Validate       bool              `json:"validate,omitempty"`
	Schemas        string            `json:"schemas,omitempty" doc:"plain or original."`
}

// DefinedTools says which of a server's tools there are, and how they are called.
type DefinedTools struct {
	Allow   []string        `json:"allow,omitempty" doc:"Patterns over the server's own names."`
	Deny    []string        `json:"deny,omitempty" doc:"Patterns over the server's own names."`
	Options json.RawMessage `json:"options,omitempty" doc:"How calls of tools are carried out, an object: by pattern timeout, retry and retryDelay, and version, category and tags that the tools are listed with. Of several patterns that match, the first that says a thing counts, in the order that they are written in; a PATCH changes patterns in their place and puts new ones behind."`
}

// NewServer is a server with its name.
type NewServer struct {
	Name string `json:"name,omitempty" doc:"A letter, then letters, digits and -; all lower case, at most 32. Needed to add a server; where the path names one, it may be left out."`
	ServerDefinition
}

// PastedText is a text in which a person has found servers.
type PastedText struct {
	Text string `json:"text" doc:"As a client's file or the documentation of a server has it."`
}

// PastedServers are the servers in a text.
type PastedServers struct {
	Servers []PastedServer `json:"servers"`
	Notes   []PastedNote   `json:"notes" doc:"What was not understood or not taken over."`
}

// PastedNote is what was not understood of a text, or not taken over.
type PastedNote struct {
	Server string `json:"server,omitempty" doc:"The name of the entry in the text."`
	Text   string `json:"text"`
}

// PastedServer is a server in a text.
type PastedServer struct {
	Name       string          `json:"name"`
	Was        string          `json:"was,omitempty" doc:"Its name in the text, where that is none that a server may have."`
	Definition json.RawMessage `json:"definition" doc:"The body of POST /v1/servers, without the name."`
}

// SignInAddress is where a person signs in to a server.
type SignInAddress struct {
	URL string `json:"url"`
}

// ServerTest is what a test of a server found.
type ServerTest struct {
	Success         bool            `json:"success" doc:"Whether the server started and listed what it has."`
	Name            string          `json:"name"`
	Error           string          `json:"error,omitempty" doc:"Why it does not work, and what to do next."`
	Era             string          `json:"era,omitempty" doc:"legacy or modern."`
	ProtocolVersion string          `json:"protocolVersion,omitempty"`
	Transport       string          `json:"transport,omitempty"`
	ServerInfo      json.RawMessage `json:"serverInfo,omitempty" doc:"What the server says it is: name, version and more."`
	Instructions    string          `json:"instructions,omitempty"`
	Tools           int             `json:"tools"`
	Prompts         int             `json:"prompts"`
	Resources       int             `json:"resources"`
	Templates       int             `json:"resourceTemplates"`
	TookMillis      int64           `json:"tookMs" doc:"How long it took, in milliseconds."`
	SignIn          string          `json:"signIn,omitempty" doc:"needed, signed in, or nothing where none is needed or known."`
	Output          []string        `json:"output,omitempty" doc:"The last lines of its standard error, when it failed. What looks like a secret is ***."`
	Findings        []Finding       `json:"findings,omitempty" doc:"What clients would not see as the server sent it."`
}

// ServerLog is the end of what a server wrote to its standard error.
type ServerLog struct {
	Name  string   `json:"name"`
	Lines []string `json:"lines" doc:"The oldest first. What looks like a secret is ***. At each start there is a line of Genkan's own with the local time: --- started 12:03:04 ---"`
}

// ServerPing says whether a server responded to a ping.
type ServerPing struct {
	Name      string `json:"name"`
	Responded bool   `json:"responded" doc:"Whether anything came from the server in time."`
	Millis    int64  `json:"millis" doc:"How long that took, or was waited for."`
	Busy      bool   `json:"busy,omitempty" doc:"Whether calls wait for their answers. A server that works on one request at a time answers nothing meanwhile."`
	Problem   string `json:"problem,omitempty" doc:"Why it did not respond."`
}

func serverPath(name string) string { return "/v1/servers/" + url.PathEscape(name) }

// AddServer adds a server, which genkan keeps.
func (c *Client) AddServer(ctx context.Context, in NewServer) (Server, error) {
	var out Server
	return out, c.do(ctx, http.MethodPost, "/v1/servers", in, &out)
}

// ReplaceServer gives a server another definition.
func (c *Client) ReplaceServer(ctx context.Context, name string, in NewServer) (Server, error) {
	var out Server
	return out, c.do(ctx, http.MethodPut, serverPath(name), in, &out)
}

// RemoveServer removes a server.
func (c *Client) RemoveServer(ctx context.Context, name string) error {
	var out Done
	return c.do(ctx, http.MethodDelete, serverPath(name), nil, &out)
}

// RestartServer ends a server and starts it again.
func (c *Client) RestartServer(ctx context.Context, name string) (Server, error) {
	var out Server
	return out, c.do(ctx, http.MethodPost, serverPath(name)+"/restart", nil, &out)
}

// TestServer has a server started once, aside from the running one.
func (c *Client) TestServer(ctx context.Context, name string) (ServerTest, error) {
	var out ServerTest
	return out, c.do(ctx, http.MethodPost, serverPath(name)+"/test", nil, &out)
}

// TestNewServer has a server started once that genkan does not have.
func (c *Client) TestNewServer(ctx context.Context, in NewServer) (ServerTest, error) {
	var out ServerTest
	return out, c.do(ctx, http.MethodPost, "/v1/servers/test", in, &out)
}

// ServerLog is the end of what a server wrote to its standard error.
func (c *Client) ServerLog(ctx context.Context, name string, lines int) (ServerLog, error) {
	var out ServerLog
	return out, c.do(ctx, http.MethodGet, serverPath(name)+"/log?lines="+strconv.Itoa(lines), nil, &out)
}

// PingServer asks a server for a sign of life, and waits at most for timeout.
func (c *Client) PingServer(ctx context.Context, name string, timeout time.Duration) (ServerPing, error) {
	var out ServerPing
	return out, c.do(ctx, http.MethodGet, serverPath(name)+"/ping?timeoutMillis="+strconv.FormatInt(timeout.Milliseconds(), 10), nil, &out)
}
