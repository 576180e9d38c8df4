package app

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/workflow"
)

// approvalPath is where the pages of approvals are.
const approvalPath = "/approvals/"

// webhook tells somebody of calls that wait for a person, by an HTTP request.
type webhook struct {
	p *Process
	// secure and near send requests over https, and over http on this machine and in
	// private networks.
	secure, near *http.Client
	// pauses are the times between attempts.
	pauses []time.Duration

	mu sync.Mutex
	// sending has what ends the requests of pending approvals; nil once it is closed.
	sending map[string]context.CancelFunc
	ended   sync.WaitGroup
}

const (
	webhookTime   = 10 * time.Second
	webhookAnswer = 64 << 10 // how much of an answer is read, in bytes
)

var errFarAway = errors.New("http is for addresses on this machine or in a private network; use https")

func newWebhook(p *Process) *webhook {
	// Neither follows redirects, which would take the URL of the configuration elsewhere.
	client := func(near bool) *http.Client {
		dialer := &net.Dialer{Timeout: webhookTime}
		transport := &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: webhookTime, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
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
			Transport: transport, Timeout: webhookTime,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	return &webhook{
		p: p, secure: client(false), near: client(true), sending: map[string]context.CancelFunc{},
		pauses: []time.Duration{time.Second, 5 * time.Second, 20 * time.Second},
	}
}

// opened tells of an approval, if the configuration names a webhook. It does not block.
// The approval is pending, whatever becomes of that.
func (h *webhook) opened(a workflow.Approval) {
	set := h.p.Config().Approvals
	switch {
	case len(set.Unresolved.Each) > 0:
		h.failed(a, gateway.Textf("the webhook of approvals is not used: %s", set.Unresolved))
		return
	case set.Webhook == "":
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sending == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.sending[a.ID] = cancel
	h.p.workflows.desk.Tell(a.ID, workflow.TellingNow, gateway.Text{})
	h.ended.Go(func() {
		defer cancel()
		problem := h.send(ctx, set.Webhook, h.payload(&a, set.Link))
		switch {
		case ctx.Err() != nil: // the approval has ended
		case problem.Format == "":
			h.p.workflows.desk.Tell(a.ID, workflow.ToldWell, gateway.Text{})
		default:
			h.failed(a, problem)
		}
	})
}

func (h *webhook) failed(a workflow.Approval, problem gateway.Text) {
	h.p.log.Warn("the webhook of approvals failed; the call waits all the same", "approval", a.ID, "workflow", a.Workflow, "error", problem.String())
	h.p.workflows.desk.Tell(a.ID, workflow.ToldFailed, problem)
}

// closed ends the request about an approval.
func (h *webhook) closed(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if cancel := h.sending[id]; cancel != nil {
		cancel()
		delete(h.sending, id)
	}
}

// close ends all requests.
func (h *webhook) close() {
	h.mu.Lock()
	for _, cancel := range h.sending {
		cancel()
	}
	h.sending = nil
	h.mu.Unlock()
	h.ended.Wait()
	h.secure.CloseIdleConnections()
	h.near.CloseIdleConnections()
}

// told is the body of a request. Chats show text.
type told struct {
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

func (h *webhook) payload(a *workflow.Approval, base string) []byte {
	out := told{
		Event: "approval.opened", ID: a.ID, Workflow: a.Workflow, Node: a.Node, Message: a.Message, Call: a.Call, Client: a.Client,
		Server: a.Server, Tool: a.Tool, Arguments: a.Arguments, Hash: a.Hash, AskedAt: a.Asked.UTC(), ExpiresAt: a.ExpiresAt.UTC(),
	}
	if base == "" && h.p.listening() != "" {
		base = "http://" + h.p.listening()
		if h.p.Config().TLS.CertFile != "" {
			base = "https://" + h.p.listening()
		}
	}
	language := h.p.language()
	out.Text = language.Sprintf("%s wants to call %s. `genkan approvals` decides.", a.Client, a.Tool)
	if base != "" {
		out.Link = strings.TrimRight(base, "/") + approvalPath + a.Code
		out.Text = language.Sprintf("%s wants to call %s. Decide here: %s", a.Client, a.Tool, out.Link)
	}
	if a.Message != "" {
		out.Text = a.Message + "\n" + out.Text
	}
	raw, _ := json.Marshal(out)
	return raw
}

// send makes the request, several times if it may help. It returns why that failed, and
// never shows the URL.
func (h *webhook) send(ctx context.Context, to gateway.Secret, body []byte) (problem gateway.Text) {
	for attempt := 0; ; attempt++ {
		again := false
		if problem, again = h.try(ctx, to, body); problem.Format == "" || !again || attempt == len(h.pauses) {
			return problem
		}
		pause := time.NewTimer(h.pauses[attempt])
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return problem
		}
	}
}

// try makes one request. again reports whether another one may succeed.
func (h *webhook) try(ctx context.Context, to gateway.Secret, body []byte) (problem gateway.Text, again bool) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.Reveal(), bytes.NewReader(body))
	if err != nil {
		return gateway.Textf("the webhook of approvals has no usable URL"), false
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "genkan/"+h.p.opt.Version)
	client := h.secure
	if request.URL.Scheme == "http" {
		client = h.near
	}
	response, err := client.Do(request)
	if err != nil {
		var with *url.Error
		if errors.As(err, &with) {
			err = with.Err // without the URL
		}
		return gateway.Textf("the webhook of approvals cannot be reached: %s", h.p.withoutSecrets(err.Error())), !errors.Is(err, errFarAway)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.CopyN(io.Discard, response.Body, webhookAnswer)
	switch status := response.StatusCode; {
	case status >= 200 && status < 300:
		return gateway.Text{}, false
	default:
		return gateway.Textf("the webhook of approvals answered with status %d", status), status == http.StatusTooManyRequests || status >= 500
	}
}
