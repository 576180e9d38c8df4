// Package client speaks genkan's REST API, and has the types of its bodies,
// which the API encodes and the client decodes. The command line uses it, so
// that a command does exactly what the API does.
package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// Client speaks with one genkan.
type Client struct {
	base  string
	token gateway.Secret
	http  *http.Client

	// Connection is called with an error when a stream of Events breaks, and with nil
	// when it is open again; nil for nobody. Set it before Events.
	Connection func(err error)
}

// New makes a client for a genkan that listens on host:port, without TLS. It
// sends the token only over connections whose other end has proved that it knows
// the token: another user's program may listen there.
func New(address string, token gateway.Secret) *Client {
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dialProved(ctx, address, token) },
	}
	return &Client{base: "http://" + address, token: token, http: &http.Client{Transport: transport, CheckRedirect: keepHere}}
}

// NewOver makes a client for a genkan that dial connects to.
func NewOver(dial func(ctx context.Context) (net.Conn, error), token gateway.Secret) *Client {
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
	}
	return &Client{base: "http://localhost", token: token, http: &http.Client{Transport: transport}}
}

// Close closes the connections that no request uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// keepHere follows no redirect: genkan sends none.
func keepHere(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Probe asks the server on host:port for its health. It has no token to send, so
// the certificate does not matter: the answer is a hint for people.
func Probe(ctx context.Context, address string, useTLS bool) (Health, error) {
	c := &Client{base: "http://" + address, http: &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // nothing secret is sent or believed
		DisableKeepAlives: true,
	}}}
	if useTLS {
		c.base = "https://" + address
	}
	return c.Health(ctx)
}

// Health asks whether genkan serves. It needs no token.
func (c *Client) Health(ctx context.Context) (Health, error) {
	var out Health
	return out, c.do(ctx, http.MethodGet, "/health", nil, &out)
}

// ToolFilter says which tools are asked for; what is empty does not matter.
type ToolFilter struct {
	Server, Category, Tag string
	Enabled               *bool
}

// Search finds tools by what they do.
func (c *Client) Search(ctx context.Context, in SearchRequest) (SearchResult, error) {
	var out SearchResult
	return out, c.do(ctx, http.MethodPost, "/v1/tools/search", in, &out)
}

// LearnedFilter says which lessons are meant. Without Client and All they are the
// caller's own.
type LearnedFilter struct {
	Client string
	All    bool
	// Server and Tool name a tool by its server's own name for it.
	Server, Tool string
}

func (f LearnedFilter) path() string {
	q := url.Values{}
	for key, value := range map[string]string{"client": f.Client, "server": f.Server, "tool": f.Tool} {
		if value != "" {
			q.Set(key, value)
		}
	}
	if f.All {
		q.Set("all", "true")
	}
	return "/v1/search/learned?" + q.Encode()
}

// Learned shows what searches have taught.
func (c *Client) Learned(ctx context.Context, which LearnedFilter) (LearnedList, error) {
	var out LearnedList
	return out, c.do(ctx, http.MethodGet, which.path(), nil, &out)
}

// Forget forgets what searches have taught.
func (c *Client) Forget(ctx context.Context, which LearnedFilter) (Forgotten, error) {
	var out Forgotten
	return out, c.do(ctx, http.MethodDelete, which.path(), nil, &out)
}

// ShareLearned lets everybody learn from a client's searches.
func (c *Client) ShareLearned(ctx context.Context, name string) (SharedLessons, error) {
	var out SharedLessons
	return out, c.do(ctx, http.MethodPost, "/v1/search/learned/share", ShareRequest{Client: name}, &out)
}

// Tools lists all tools that a filter lets through.
func (c *Client) Tools(ctx context.Context, filter ToolFilter) ([]Tool, error) {
	all := []Tool{}
	for page := 1; ; page++ {
		var out ToolList
		q := url.Values{"page": {strconv.Itoa(page)}, "limit": {"100"}}
		for key, value := range map[string]string{"server": filter.Server, "category": filter.Category, "tag": filter.Tag} {
			if value != "" {
				q.Set(key, value)
			}
		}
		if filter.Enabled != nil {
			q.Set("enabled", strconv.FormatBool(*filter.Enabled))
		}
		if err := c.do(ctx, http.MethodGet, "/v1/tools?"+q.Encode(), nil, &out); err != nil {
			return nil, err
		}
		all = append(all, out.Tools...)
		if page >= out.Pagination.TotalPages {
			return all, nil
		}
	}
}

// Tool shows one tool.
func (c *Client) Tool(ctx context.Context, name string) (Tool, error) {
	var out Tool
	return out, c.do(ctx, http.MethodGet, "/v1/tools/"+url.PathEscape(name), nil, &out)
}

// ChangeTool changes what is said about a tool.
func (c *Client) ChangeTool(ctx context.Context, name string, change ToolChange) (Tool, error) {
	var out Tool
	return out, c.do(ctx, http.MethodPatch, "/v1/tools/"+url.PathEscape(name), change, &out)
}

// SwitchTool enables or disables a tool.
func (c *Client) SwitchTool(ctx context.Context, name string, enabled bool) (ToolSwitched, error) {
	act := "disable"
	if enabled {
		act = "enable"
	}
	var out ToolSwitched
	return out, c.do(ctx, http.MethodPost, "/v1/tools/"+url.PathEscape(name)+"/"+act, nil, &out)
}

// Servers lists the servers.
func (c *Client) Servers(ctx context.Context) ([]Server, error) {
	var out ServerList
	return out.Servers, c.do(ctx, http.MethodGet, "/v1/servers", nil, &out)
}

// ServersInDetail lists the servers, each as Server shows it.
func (c *Client) ServersInDetail(ctx context.Context) ([]Server, error) {
	var out ServerList
	return out.Servers, c.do(ctx, http.MethodGet, "/v1/servers?details=true", nil, &out)
}

// Server shows one server.
func (c *Client) Server(ctx context.Context, name string) (Server, error) {
	var out Server
	return out, c.do(ctx, http.MethodGet, "/v1/servers/"+url.PathEscape(name), nil, &out)
}

// Try has a server that is down tried at once.
func (c *Client) Try(ctx context.Context, name string) (Server, error) {
	var out Server
	return out, c.do(ctx, http.MethodPost, "/v1/servers/"+url.PathEscape(name)+"/try", nil, &out)
}

// Reload has the configuration read again.
func (c *Client) Reload(ctx context.Context) error {
	var out struct{}
	return c.do(ctx, http.MethodPost, "/v1/reload", nil, &out)
}

// Call calls a tool. A tool that reports an error is a result without success, not an
// error.
func (c *Client) Call(ctx context.Context, name string, parameters json.RawMessage, options CallOptions) (CallResult, error) {
	in := CallRequest{Name: name, Parameters: parameters, Options: options}
	var out CallResult
	err := c.do(ctx, http.MethodPost, "/v1/tools/call", in, &out)
	if err != nil && out.Code == "TOOL_EXECUTION_ERROR" {
		return out, nil
	}
	return out, err
}

// do sends a request and decodes the answer, also that of a failure.
func (c *Client) do(ctx context.Context, method, path string, in, out any) error {
	resp, err := c.send(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	return c.read(resp, out)
}

// send sends a request. Who reads the answer closes its body.
func (c *Client) send(ctx context.Context, method, path string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	}
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(r)
	if err != nil && ctx.Err() != nil {
		return nil, &gateway.Error{Code: gateway.CodeCanceled, Err: err, Message: "canceled"}
	}
	if err != nil {
		var unproved *gateway.Error
		if errors.As(err, &unproved) {
			return nil, unproved
		}
		var op *net.OpError
		if errors.As(err, &op) && op.Op == "dial" {
			return nil, &gateway.Error{
				Code: gateway.CodeUnavailable, Err: err,
				Message: "genkan does not answer at %s; start it with `genkan serve`",
				Values:  []any{c.base},
			}
		}
		return nil, &gateway.Error{Code: gateway.CodeUnavailable, Err: err, Message: "the connection to genkan broke; look into its log, and try again"}
	}
	return resp, nil
}

// read decodes an answer, also that of a failure.
func (c *Client) read(resp *http.Response, out any) error {
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 2*gateway.MaxResult))
	if err != nil && resp.Request.Context().Err() != nil {
		return &gateway.Error{Code: gateway.CodeCanceled, Err: err, Message: "canceled"}
	}
	if err != nil {
		return &gateway.Error{Code: gateway.CodeUnavailable, Err: err, Message: "genkan's answer could not be read"}
	}
	decodeErr := json.Unmarshal(raw, out)
	if resp.StatusCode < 400 && decodeErr == nil {
		return nil
	}
	var failure Failure
	if !strings.HasPrefix(c.base, "https:") && resp.StatusCode == http.StatusBadRequest && bytes.Contains(raw, []byte("HTTP request to an HTTPS server")) {
		return gateway.Errorf(gateway.CodeUnavailable, "%s serves TLS; leave out --listen, and name the data directory of that genkan with --data", c.base)
	}
	if json.Unmarshal(raw, &failure) != nil || failure.Error == "" {
		return &gateway.Error{
			Code: gateway.CodeUnavailable, Err: decodeErr,
			Message: "what answers at %s is not genkan (HTTP status %d, and no answer of the API); check --listen, or stop that program and start `genkan serve`",
			Values:  []any{c.base, resp.StatusCode},
		}
	}
	e := gateway.Errorf(CodeOf(failure.Code, resp.StatusCode), "%s", failure.Error) // in genkan's own language
	e.Field = failure.Field
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}
