package signin

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
	"syscall"

	"genkan/internal/gateway"
)

// maxAnswerBytes is more than any metadata document or token response needs.
const maxAnswerBytes = 1 << 20

var (
	// errNotThere means that the document is not at this address. Others may have
	// it.
	errNotThere = errors.New("there is no such document")
	errTooLarge = errors.New("the answer is larger than 1 MiB")
	errNoJSON   = errors.New("the answer is not the JSON that was expected")
)

// answer is a complete response.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// isObject checks the body, not its content type: static files have odd ones.
func (a *answer) isObject() bool { return bytes.HasPrefix(bytes.TrimSpace(a.body), []byte("{")) }

// decode decodes the body. Its error does not quote the body.
func (a *answer) decode(into any) error {
	if json.Unmarshal(a.body, into) != nil {
		return errNoJSON
	}
	return nil
}

// send sends a request. Its error can be shown.
func (r *reach) send(ctx context.Context, client *http.Client, req *http.Request) (*answer, error) {
	inner, cancel := r.network.patience(ctx)
	defer cancel()
	response, err := client.Do(req.WithContext(inner))
	if err != nil {
		return nil, r.failed(ctx, req.URL, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes+1))
	if err == nil && len(body) > maxAnswerBytes {
		err = errTooLarge
	}
	if err != nil {
		return nil, r.failed(ctx, req.URL, err)
	}
	return &answer{response.StatusCode, response.Header, body}, nil
}

// failed returns the error of a request without a response. Of the address it
// shows only the host: a path or a query may be secret.
func (r *reach) failed(ctx context.Context, u *url.URL, err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	host, name := u.Hostname(), r.server.Name
	var blocked *insideError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx) // the caller's own end, and not a fault of the server
	case errors.As(err, &blocked):
		return because(err, gateway.Errorf(gateway.CodeDenied,
			"signing in to %s leads to %s, an address inside a network, where that server must not send genkan; if it is right, name the host in the server's privateHosts", name, blocked.host))
	case errors.Is(err, errUnsafeRedirect):
		return because(err, gateway.Errorf(gateway.CodeDenied,
			"%s, where server %s sends genkan to sign in, redirects to an address without encryption; tell whoever runs it", host, name))
	case errors.Is(err, errTooLarge), errors.Is(err, errManyRedirects):
		return r.unusable(u, err)
	case errors.Is(err, context.DeadlineExceeded):
		return because(err, gateway.Errorf(gateway.CodeTimeout,
			"%s, where server %s sends genkan to sign in, does not answer in time; try again later", host, name))
	}
	if own, parseErr := url.Parse(r.server.URL); parseErr == nil && own.Host == u.Host { // it has sent genkan nowhere
		return because(err, gateway.Errorf(gateway.CodeUnavailable,
			"server %s cannot be reached: %s; `genkan doctor %s` says what mends it", name, whyUnreachable(u, err), name))
	}
	return because(err, gateway.Errorf(gateway.CodeUnavailable,
		"%s, where server %s sends genkan to sign in, cannot be reached: %s; check the network and try again", host, name, whyUnreachable(u, err)))
}

// whyUnreachable returns why a request got no response. Of the URL it shows only
// the host.
func whyUnreachable(to *url.URL, err error) gateway.Text {
	var dns *net.DNSError
	var op *net.OpError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return gateway.Textf("the proxy for %s cannot be reached (HTTP_PROXY, HTTPS_PROXY)", to.Host)
	case errors.As(err, &dns) && dns.IsNotFound:
		return gateway.Textf("the host name %s does not exist (no such host)", dns.Name)
	case errors.As(err, &dns):
		return gateway.Textf("the host name %s could not be looked up (DNS)", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return gateway.Textf("nothing listens on %s (connection refused)", to.Host)
	case errors.As(err, &certificate):
		return gateway.Textf("the certificate of %s cannot be used", to.Host)
	case errors.As(err, &record):
		return gateway.Textf("%s does not speak TLS, but its URL begins with https", to.Host)
	case errors.As(err, &op) && op.Op == "dial":
		return gateway.Textf("no connection to %s can be made from this machine (no route to host)", to.Host)
	default:
		return gateway.Textf("the connection to %s broke", to.Host)
	}
}

// unusable is the error for a response that cannot be used.
func (r *reach) unusable(u *url.URL, err error) error {
	return because(err, gateway.Errorf(gateway.CodeUnavailable,
		"%s, where server %s sends genkan to sign in, gives an answer that cannot be used; tell whoever runs it", u.Hostname(), r.server.Name))
}

// insecure is the error for an address that nothing may be sent to.
func (r *reach) insecure(what string) error {
	return because(errors.New(what), gateway.Errorf(gateway.CodeDenied,
		"server %s wants sign-in at an address without encryption; only HTTPS is used, and HTTP on this machine", r.server.Name))
}

// because adds the cause, which is logged.
func because(cause error, e *gateway.Error) *gateway.Error {
	e.Err = cause
	return e
}

// getJSON reads a public document. It returns errNotThere if another address may
// have it.
func (r *reach) getJSON(ctx context.Context, address string, into any) error {
	u, safe := parseEndpoint(address)
	if !safe {
		return r.insecure("a metadata document")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return r.unusable(u, err)
	}
	req.Header.Set("Accept", "application/json")
	got, err := r.send(ctx, r.follower(), req)
	switch {
	case err != nil:
		return err
	case got.status >= 400 && got.status < 500, got.status == http.StatusOK && !got.isObject():
		// Some servers answer every address with a page for people.
		return errNotThere
	case got.status != http.StatusOK:
		return r.unusable(u, errors.New("HTTP "+strconv.Itoa(got.status)))
	}
	if err := got.decode(into); err != nil {
		return r.unusable(u, err)
	}
	return nil
}

// post sends a secret to this address. It follows no redirect.
func (r *reach) post(ctx context.Context, endpoint, kind string, body gateway.Secret, header http.Header) (*answer, error) {
	u, safe := parseEndpoint(endpoint)
	if !safe {
		return nil, r.insecure("an endpoint")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader(body.Reveal()))
	if err != nil {
		return nil, r.unusable(u, err)
	}
	for key, values := range header {
		req.Header[key] = values
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Accept", "application/json")
	got, err := r.send(ctx, r.sender(), req)
	if err == nil && got.status >= 300 && got.status < 400 {
		return nil, r.unusable(u, errors.New("it answers a POST with a redirect"))
	}
	return got, err
}
