// Package webhook sends an HTTP request when a call begins to wait for a person's
// approval, so that a chat shows it to somebody who can decide. The configuration names
// the URL.
//
// A failed request is repeated a few times. The approval is pending, whatever becomes of
// it: package workflow keeps approvals, and notes for each how its request went.
//
// The URL is often a key. It is sent to no other host, and appears in no message.
package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/workflow"
)

// PagePath is the path of the pages of approvals. The code of an approval follows it.
const PagePath = "/approvals/"

// Options configure a Sender.
type Options struct {
	// Settings returns the webhook of the configuration in force.
	Settings func() config.Approvals
	// Address returns the URL that this process serves pages at; empty if it serves none.
	// It is used for links unless the settings have an address.
	Address func() string
	// Report notes how the request about an approval went.
	Report func(approval string, told workflow.Told, problem gateway.Text)
	// Translate returns a text in the language of the configuration.
	Translate func(gateway.Text) string
	// Redact takes secrets out of errors.
	Redact  func(string) string
	Log     *slog.Logger
	Version string
	// Pauses are the times between attempts; nil means 1, 5 and 20 seconds.
	Pauses []time.Duration
}

// Sender sends requests about approvals. It is safe for concurrent use.
type Sender struct {
	opt Options
	// secure sends requests over https, and near those over http, which stay on this
	// machine or in private networks.
	secure, near *http.Client

	mu sync.Mutex
	// sending has the cancel functions of requests by approval; nil once it is closed.
	sending map[string]context.CancelFunc
	ended   sync.WaitGroup
}

const (
	requestTime = 10 * time.Second
	maxAnswer   = 64 << 10 // how much of an answer is read, in bytes
)

var errFarAway = errors.New("http is for addresses on this machine or in a private network; use https")

// New returns a Sender.
func New(opt Options) *Sender {
	if opt.Pauses == nil {
		opt.Pauses = []time.Duration{time.Second, 5 * time.Second, 20 * time.Second}
	}
	return &Sender{opt: opt, secure: newClient(false), near: newClient(true), sending: map[string]context.CancelFunc{}}
}

// newClient returns a client, which connects only to this machine and private networks
// if it is near. It does not follow redirects, which would take the URL of the
// configuration elsewhere.
func newClient(near bool) *http.Client {
	dialer := &net.Dialer{Timeout: requestTime}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: requestTime, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute,
	}
	if near { // whatever the name resolves to
		transport.Proxy = nil
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if ip := at.Addr().Unmap(); err != nil || !ip.IsLoopback() && !ip.IsPrivate() {
				return errFarAway
			}
			return nil
		}
	}
	transport.DialContext = dialer.DialContext
	return &http.Client{
		Transport: transport, Timeout: requestTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Opened sends a request about an approval if the configuration names a webhook. It does
// not block.
func (s *Sender) Opened(a workflow.Approval) {
	set := s.opt.Settings()
	switch {
	case len(set.Unresolved.Each) > 0:
		s.failed(a, gateway.Textf("the webhook of approvals is not used: %s", set.Unresolved))
		return
	case set.Webhook == "":
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sending == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.sending[a.ID] = cancel
	s.opt.Report(a.ID, workflow.TellingNow, gateway.Text{})
	s.ended.Go(func() {
		defer cancel()
		problem := s.send(ctx, set.Webhook, s.body(&a, set.Link))
		switch {
		case ctx.Err() != nil: // the approval has ended
		case problem.Format == "":
			s.opt.Report(a.ID, workflow.ToldWell, gateway.Text{})
		default:
			s.failed(a, problem)
		}
	})
}

func (s *Sender) failed(a workflow.Approval, problem gateway.Text) {
	s.opt.Log.Warn("the webhook of approvals failed; the call waits all the same", "approval", a.ID, "workflow", a.Workflow, "error", problem.String())
	s.opt.Report(a.ID, workflow.ToldFailed, problem)
}

// Closed cancels the request about an approval that has ended.
func (s *Sender) Closed(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.sending[id]; cancel != nil {
		cancel()
		delete(s.sending, id)
	}
}

// Close cancels all requests and waits for their end.
func (s *Sender) Close() {
	s.mu.Lock()
	for _, cancel := range s.sending {
		cancel()
	}
	s.sending = nil
	s.mu.Unlock()
	s.ended.Wait()
	s.secure.CloseIdleConnections()
	s.near.CloseIdleConnections()
}

// body is the body of a request. Chats show its text.
type body struct {
	Event     string    `json:"event"`
	Text      string    `json:"text"`
	Link      string    `json:"link,omitempty"`
	ID        string    `json:"id"`
	Workflow  string    `json:"workflow"`
	Node      string    `json:"node"`
	Message   string    `json:"message,omitempty"`
	Call      string    `json:"call,omitempty"`
	Client    string    `json:"client"`
	Server    string    `json:"server,omitempty"`
	Tool      string    `json:"tool,omitempty"`
	Arguments string    `json:"arguments"`
	Hash      string    `json:"hash"`
	AskedAt   time.Time `json:"askedAt"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// body returns the body of the request about an approval. base is the address of the
// link in it; empty means that of this process.
func (s *Sender) body(a *workflow.Approval, base string) []byte {
	out := body{
		Event: "approval.opened", ID: a.ID, Workflow: a.Workflow, Node: a.Node, Message: a.Message, Call: a.Call, Client: a.Client,
		Server: a.Server, Tool: a.Tool, Arguments: a.Arguments, Hash: a.Hash, AskedAt: a.Asked.UTC(), ExpiresAt: a.ExpiresAt.UTC(),
	}
	tool := gateway.Printable(a.Tool)
	if base == "" {
		base = s.opt.Address()
	}
	if base == "" {
		out.Text = s.opt.Translate(gateway.Textf("%s wants to call %s. `genkan approvals` decides.", a.Client, tool))
	} else {
		out.Link = strings.TrimRight(base, "/") + PagePath + a.Code
		out.Text = s.opt.Translate(gateway.Textf("%s wants to call %s. Decide here: %s", a.Client, tool, out.Link))
	}
	if a.Message != "" {
		out.Text = a.Message + "\n" + out.Text
	}
	raw, _ := json.Marshal(out)
	return raw
}

// send makes the request, and repeats it if that may help. It returns why it failed,
// without the URL.
func (s *Sender) send(ctx context.Context, to gateway.Secret, body []byte) (problem gateway.Text) {
	for attempt := 0; ; attempt++ {
		again := false
		if problem, again = s.try(ctx, to, body); problem.Format == "" || !again || attempt == len(s.opt.Pauses) {
			return problem
		}
		pause := time.NewTimer(s.opt.Pauses[attempt])
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return problem
		}
	}
}

// try makes one request. again reports whether the next attempt may succeed.
func (s *Sender) try(ctx context.Context, to gateway.Secret, body []byte) (problem gateway.Text, again bool) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.Reveal(), bytes.NewReader(body))
	if err != nil {
		return gateway.Textf("the webhook of approvals has no usable URL"), false
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "genkan/"+s.opt.Version)
	client := s.secure
	if request.URL.Scheme == "http" {
		client = s.near
	}
	response, err := client.Do(request)
	if err != nil {
		var with *url.Error
		if errors.As(err, &with) {
			err = with.Err // without the URL
		}
		return gateway.Textf("the webhook of approvals cannot be reached: %s", s.opt.Redact(err.Error())), !errors.Is(err, errFarAway)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.CopyN(io.Discard, response.Body, maxAnswer)
	switch status := response.StatusCode; {
	case status >= 200 && status < 300:
		return gateway.Text{}, false
	default:
		return gateway.Textf("the webhook of approvals answered with status %d", status), status == http.StatusTooManyRequests || status >= 500
	}
}
