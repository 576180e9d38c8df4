package n8n

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"genkan/internal/gateway"
)

// These are the limits of the client.
const (
	// maxAnswer is the size of the largest answer that is decoded, in bytes.
	maxAnswer = 64 << 20
	// maxErrorBody is how much of an error's body is read, and maxSaid how many
	// characters of n8n's message are shown.
	maxErrorBody, maxSaid = 64 << 10, 600
	// attempts is how often a request is sent, and usualBackoff how long the client waits
	// before the second attempt.
	attempts     = 3
	usualBackoff = 300 * time.Millisecond
	// maxRetryAfter is the longest wait that n8n may ask for.
	maxRetryAfter = 5 * time.Second
	// usualSettling is how long n8n takes to put a published version in place.
	usualSettling = time.Second
	// usualPatience is how long n8n may take to begin an answer.
	usualPatience = 60 * time.Second
)

// The resources of the API, as errors name them.
const (
	resourceWorkflow  = "Workflow"
	resourceExecution = "Execution"
	resourceTag       = "Tag"
)

// Options are the options of a client.
type Options struct {
	// Name is the name of the instance; empty means n8n.
	Name string
	// URL is the address of n8n, with or without /api/v1.
	URL string
	// Key is the API key.
	Key gateway.Secret
	// Patience is how long n8n may take to begin an answer; 0 means a minute.
	Patience time.Duration
	// Backoff is the wait before the second attempt; 0 means 300 ms.
	Backoff time.Duration
}

// Client is a client of the public API of one n8n instance.
type Client struct {
	name string
	base *url.URL
	key  gateway.Secret
	http *http.Client
	// patient calls triggers of workflows and reads data of executions, which may take
	// their time.
	patient *http.Client
	backoff time.Duration
	// published has when this client published workflows that it has not run since, by id,
	// and settling is how long n8n may take to put a version in place.
	published sync.Map
	settling  time.Duration
	// problem is what the last request found wrong with the instance, which was at that
	// time; nil if it answered.
	problem atomic.Pointer[gateway.Text]
	at      atomic.Int64
}

// NewClient returns a client. It does not connect.
func NewClient(o Options) (*Client, error) {
	if o.Name == "" {
		o.Name = SourceName
	}
	base, err := parseURL(o.URL)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(o.Key.Reveal()) == "" {
		return nil, gateway.Errorf(gateway.CodeInvalid,
			"n8n instance %s has no API key. Create one in n8n under Settings > n8n API and set it as apiKey (N8N_API_KEY)", o.Name)
	}
	if strings.ContainsFunc(strings.TrimSpace(o.Key.Reveal()), func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, gateway.Errorf(gateway.CodeInvalid, "the API key of n8n instance %s has a space or a character that no key has. Copy it again", o.Name)
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 8, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2: true, ResponseHeaderTimeout: o.Patience,
	}
	if o.Patience == 0 {
		transport.ResponseHeaderTimeout = usualPatience
	}
	if base.Scheme == "http" {
		// The key travels in the clear, so it must not leave the local network, whatever
		// the name resolves to.
		transport.Proxy = nil
		dialer.Control = nearby
	}
	transport.DialContext = dialer.DialContext
	c := &Client{name: o.Name, base: base, key: gateway.Secret(strings.TrimSpace(o.Key.Reveal())), backoff: o.Backoff, settling: usualSettling}
	if c.backoff == 0 {
		c.backoff = usualBackoff
	}
	// The standard library would send the key along to another host.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &http.Client{Transport: transport, CheckRedirect: stay}
	patient := transport.Clone()
	patient.ResponseHeaderTimeout = 0
	patient.DisableKeepAlives = true // or the standard library would send some requests again
	c.patient = &http.Client{Transport: patient, CheckRedirect: stay}
	return c, nil
}

// Close closes idle connections.
func (c *Client) Close() {
	c.http.CloseIdleConnections()
	c.patient.CloseIdleConnections()
}

var errNotPrivate = errors.New("the address is neither loopback nor private")

// nearby refuses connections to addresses that are not near.
func nearby(_, address string, _ syscall.RawConn) error {
	if at, err := netip.ParseAddrPort(address); err != nil || !isNear(at.Addr()) {
		return errNotPrivate
	}
	return nil
}

// isNear reports whether an address is on this machine or in a private network.
func isNear(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast()
}

// parseURL returns the address of n8n without /api/v1.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, gateway.Errorf(gateway.CodeInvalid, "the URL of n8n must be like https://n8n.example.com")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, gateway.Errorf(gateway.CodeInvalid, "the URL of n8n must have no user, password, query or fragment")
	}
	u.Path = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/api/v1"), "/")
	u.RawPath = ""
	if a, err := netip.ParseAddr(u.Hostname()); u.Scheme == "http" && err == nil && !isNear(a) {
		return nil, gateway.Errorf(gateway.CodeInvalid,
			"http://%s would send the API key unencrypted over the internet; use https. http is for loopback and private addresses only", u.Host)
	}
	return u, nil
}

func (c *Client) url() string { return c.base.String() }

// shown returns a text of n8n for an error: short, and without the key.
func (c *Client) shown(text string) string {
	text = strings.ReplaceAll(strings.TrimSpace(text), c.key.Reveal(), "***")
	return strings.TrimSuffix(cutText(text, maxSaid), ".")
}

// request is one request of the API.
type request struct {
	method string
	// path is below /api/v1; its parts are escaped.
	path  string
	query url.Values
	// body is encoded as JSON; nil for none.
	body any
	// again is set if the request may be sent again when its fate is unknown. GET and
	// DELETE always may.
	again bool
	// operation, resource, id and scope are for errors.
	operation, resource, id, scope string
	// patient is set if the answer may take long to begin.
	patient bool
}

func path(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(p))
	}
	return b.String()
}

// do sends a request and decodes the answer into out, which may be nil.
func (c *Client) do(ctx context.Context, r *request, out any) error {
	return c.read(ctx, r, func(d *json.Decoder) error {
		if out == nil {
			return nil
		}
		return d.Decode(out)
	})
}

// read sends a request and lets decode read the answer. A GET whose answer is cut off is
// sent again, so decode may be called several times.
func (c *Client) read(ctx context.Context, r *request, decode func(*json.Decoder) error) error {
	for attempt := 1; ; attempt++ {
		body, err := c.open(ctx, r, &attempt)
		if err != nil {
			return err
		}
		counted := &io.LimitedReader{R: body, N: maxAnswer}
		err = decode(json.NewDecoder(counted))
		if err == nil {
			// What is left is read, so that the connection can be used again.
			_, _ = io.CopyN(io.Discard, counted, maxErrorBody)
		}
		_ = body.Close()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return gateway.AsError(ctx.Err())
		case counted.N <= 0:
			return c.failed(r, err, gateway.Textf("The answer of n8n is larger than %d MiB. Ask for less: a smaller limit, or single nodes", maxAnswer>>20))
		case r.method == http.MethodGet && attempt < attempts && !isSyntax(err):
			if err := c.wait(ctx, attempt, 0); err != nil {
				return err
			}
		case isSyntax(err):
			return c.failed(r, err, c.noN8N())
		default:
			return c.failed(r, err, gateway.Textf("The answer of n8n was cut off. Check that %s is well, and try again", c.url()))
		}
	}
}

func isSyntax(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.As(err, &kind) || errors.As(err, &syntax)
}

// open sends a request until it succeeds, and returns the body of the answer. It counts
// the attempts.
func (c *Client) open(ctx context.Context, r *request, attempt *int) (io.ReadCloser, error) {
	var body []byte
	if r.body != nil {
		var err error
		if body, err = encodeJSON(r.body); err != nil {
			return nil, err
		}
	}
	for ; ; *attempt++ {
		response, err := c.send(ctx, r, body)
		if err == nil && response.StatusCode < 300 {
			c.note(nil)
			return response.Body, nil
		}
		if ctx.Err() != nil {
			if response != nil {
				_ = response.Body.Close()
			}
			return nil, gateway.AsError(ctx.Err())
		}
		again := r.again || r.method == http.MethodGet || r.method == http.MethodDelete
		var asked time.Duration
		if err != nil {
			err = c.unreachable(r, err)
			var op *net.OpError
			again = again && !errors.Is(err, errNotPrivate) || errors.As(err, &op) && op.Op == "dial" && !errors.Is(err, errNotPrivate)
		} else {
			status := response.StatusCode
			raw, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBody))
			_ = response.Body.Close()
			refused := c.refused(r, status, response.Header.Get("Content-Type"), raw)
			err = refused
			c.noteStatus(status, refused)
			again = again && status >= 500 && status != http.StatusNotImplemented || status == http.StatusTooManyRequests
			if seconds, bad := strconv.Atoi(response.Header.Get("Retry-After")); bad == nil {
				asked = time.Duration(seconds) * time.Second
			}
		}
		if !again || *attempt >= attempts || asked > maxRetryAfter {
			return nil, err
		}
		if err := c.wait(ctx, *attempt, asked); err != nil {
			return nil, err
		}
	}
}

func (c *Client) send(ctx context.Context, r *request, body []byte) (*http.Response, error) {
	target := c.url() + "/api/v1" + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, r.method, target, reader)
	if err != nil {
		return nil, err
	}
	request.Header.Set("X-N8N-API-KEY", c.key.Reveal())
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if r.patient {
		return c.patient.Do(request)
	}
	return c.http.Do(request)
}

// wait waits before the next attempt.
func (c *Client) wait(ctx context.Context, attempt int, asked time.Duration) error {
	pause := c.backoff << (attempt - 1)
	pause += rand.N(pause/2 + 1) //nolint:gosec // no secret
	timer := time.NewTimer(max(pause, asked))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return gateway.AsError(ctx.Err())
	}
}

// failed returns the error of a request that has no usable answer.
func (c *Client) failed(r *request, err error, details gateway.Text) *Error {
	return &Error{
		Name: nameAPI, Operation: r.operation, ResourceType: r.resource, ResourceID: r.id,
		Details: []gateway.Text{details}, Err: err,
	}
}

// unreachable returns the error of a request without an answer.
func (c *Client) unreachable(r *request, err error) *Error {
	var (
		dns       *net.DNSError
		untrusted *tls.CertificateVerificationError
		plain     tls.RecordHeaderError
		timeout   net.Error
		details   gateway.Text
	)
	switch {
	case errors.Is(err, errNotPrivate):
		details = gateway.Textf("%s is not on this machine or in a private network, and http would send the API key unencrypted. Use https", c.url())
	case errors.As(err, &dns):
		details = gateway.Textf("There is no host of the name in %s. Check the URL of n8n", c.url())
	case errors.As(err, &untrusted):
		details = gateway.Textf("The TLS certificate of %s is not trusted. Check the URL; a private certificate authority must be installed on this machine", c.url())
	case errors.As(err, &plain) || c.base.Scheme == "https" && strings.Contains(err.Error(), "HTTP response to HTTPS client"):
		details = c.otherScheme("http")
	case c.base.Scheme == "http" && isCut(err) && c.speaksTLS():
		details = c.otherScheme("https")
	case errors.As(err, &timeout) && timeout.Timeout():
		details = c.slow()
	default:
		details = gateway.Textf("n8n at %s cannot be reached. Check that it is running and that the URL has the right host and port", c.url())
	}
	c.note(&details)
	return c.failed(r, err, details)
}

// otherScheme says that the URL has the wrong scheme.
func (c *Client) otherScheme(right string) gateway.Text {
	u := *c.base
	u.Scheme = right
	return gateway.Textf("n8n at %s speaks %s, not %s. Set its URL to %s", c.base.Host, right, c.base.Scheme, u.String())
}

// isCut reports whether a connection was closed without an answer.
func isCut(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

// probeTime is how long speaksTLS takes at most.
const probeTime = 3 * time.Second

// speaksTLS reports whether TLS is spoken at the address of n8n.
func (c *Client) speaksTLS() bool {
	address := c.base.Host
	if c.base.Port() == "" {
		address = net.JoinHostPort(c.base.Hostname(), "80")
	}
	dialer := tls.Dialer{
		NetDialer: &net.Dialer{Control: nearby},
		Config:    &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.base.Hostname()},
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err == nil {
		_ = conn.Close()
	}
	var untrusted *tls.CertificateVerificationError
	return err == nil || errors.As(err, &untrusted)
}

// note notes what a request found wrong with the instance; nil for nothing.
func (c *Client) note(problem *gateway.Text) {
	c.problem.Store(problem)
	c.at.Store(time.Now().UnixNano())
}

// noteStatus notes whether an error is about the instance rather than the call.
func (c *Client) noteStatus(status int, e *Error) {
	silent := status == http.StatusBadRequest && e.Said == "" // n8n says what is wrong with a call
	if (status == http.StatusUnauthorized || status >= 500 || status < 400 || silent) && len(e.Details) > 0 {
		c.note(&e.Details[0])
		return
	}
	c.note(nil)
}

// Check asks the instance once whether it can be used.
func (c *Client) Check(ctx context.Context) error {
	r := &request{
		method: http.MethodGet, path: "/workflows", query: url.Values{"limit": {"1"}, "excludePinnedData": {"true"}},
		operation: "check n8n", resource: resourceWorkflow, scope: "workflow:list",
	}
	attempt := attempts
	body, err := c.open(ctx, r, &attempt)
	if errors.Is(err, context.DeadlineExceeded) {
		slow := c.slow()
		c.note(&slow)
		return c.failed(r, err, slow)
	}
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	d := json.NewDecoder(body)
	begin, err := d.Token()
	if key, _ := d.Token(); begin != json.Delim('{') || key != "data" && key != "nextCursor" {
		other := c.noN8N()
		c.note(&other)
		return c.failed(r, err, other)
	}
	return nil
}

// MCPServer returns the URL of n8n's own MCP server; empty if it has none.
func (c *Client) MCPServer(ctx context.Context) string {
	at := c.url() + "/mcp-server/http"
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, at, nil)
	if err != nil {
		return ""
	}
	response, err := c.patient.Do(request)
	if err != nil {
		return ""
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized { // it wants a sign-in; without the server n8n answers with its page
		return ""
	}
	return at
}

func (c *Client) slow() gateway.Text {
	return gateway.Textf("n8n at %s does not answer in time. Check that it is running and not overloaded", c.url())
}

func (c *Client) noN8N() gateway.Text {
	return gateway.Textf("%s did not answer with the JSON of n8n. Check that this is the URL of n8n", c.url())
}

// OpenExecution returns the JSON of an execution as a stream, with its data if asked. The
// caller closes it. A stream that is cut off is not sent again.
func (c *Client) OpenExecution(ctx context.Context, id string, data bool) (io.ReadCloser, error) {
	r := &request{
		method: http.MethodGet, path: path("executions", id), query: url.Values{"includeData": {strconv.FormatBool(data)}},
		operation: "get execution", resource: resourceExecution, id: id, scope: "execution:read", patient: data,
	}
	if data {
		r.query.Set("ignoreDataSizeLimit", "true")
	}
	attempt := 1
	body, err := c.open(ctx, r, &attempt)
	if statusOf(err) == http.StatusBadRequest && data {
		// Older versions of n8n do not know the parameter.
		r.query.Del("ignoreDataSizeLimit")
		return c.open(ctx, r, &attempt)
	}
	return body, err
}

func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, &gateway.Error{Code: gateway.CodeInternal, Message: "the answer cannot be encoded as JSON", Err: err}
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
