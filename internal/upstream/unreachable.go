package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"

	"genkan/internal/gateway"
)

// The causes of Status.Cause. The doctor has advice for each.
const (
	CauseNoHost      = "no_such_host"
	CauseRefused     = "refused"
	CauseRefusedHere = "refused_here" // on this machine
	CauseNoRoute     = "no_route"
	CauseTimeout     = "timeout"
	CauseExpired     = "certificate_expired"
	CauseAuthority   = "certificate_authority"
	CauseWrongName   = "certificate_name"
	CauseTLS         = "tls"
	CauseNotTLS      = "not_tls"
	CauseNotHTTP     = "not_http"
	CauseClosed      = "closed"
	CauseStatus      = "http_status"
)

// unreachable is the error of an HTTP request without a response.
type unreachable struct {
	cause string
	// text describes the cause without secrets: of the URL only the host.
	text gateway.Text
	// unsent is set when the request cannot have reached the server.
	unsent bool
	err    error
}

func (e *unreachable) Error() string { return e.err.Error() }
func (e *unreachable) Unwrap() error { return e.err }

// whyUnreachable returns the cause of a failed request.
func whyUnreachable(to *url.URL, err error) *unreachable {
	out := &unreachable{unsent: true, err: err}
	if out.certificate(to, err) || out.handshake(to, err) || out.dial(to, err) {
		return out
	}
	out.unsent = false
	switch {
	case strings.Contains(err.Error(), "malformed HTTP response"):
		out.cause = CauseNotHTTP
		out.text = gateway.Textf("%s does not speak HTTP; if it wants TLS, its URL must begin with https", to.Host)
	case isTimeout(err):
		out.cause, out.text = CauseTimeout, gateway.Textf("%s did not answer in time", to.Host)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		out.cause, out.text = CauseClosed, gateway.Textf("%s closed the connection before it had answered", to.Host)
	default:
		out.cause, out.text = CauseClosed, gateway.Textf("the connection to %s broke", to.Host)
	}
	return out
}

// certificate recognizes invalid certificates.
func (e *unreachable) certificate(to *url.URL, err error) bool {
	var invalid x509.CertificateInvalidError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && time.Now().Before(invalid.Cert.NotBefore):
		e.cause = CauseExpired
		e.text = gateway.Textf("the certificate of %s is not valid before %s", to.Host, invalid.Cert.NotBefore.UTC().Format(time.DateOnly))
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		e.cause = CauseExpired
		e.text = gateway.Textf("the certificate of %s has expired on %s", to.Host, invalid.Cert.NotAfter.UTC().Format(time.DateOnly))
	case errors.As(err, &authority):
		e.cause, e.text = CauseAuthority, gateway.Textf("the certificate of %s is from an authority that this machine does not know", to.Host)
	case errors.As(err, &name):
		e.cause, e.text = CauseWrongName, gateway.Textf("the certificate of %s is for another host name", to.Host)
	case errors.As(err, &invalid):
		e.cause, e.text = CauseTLS, gateway.Textf("the certificate of %s cannot be used", to.Host)
	default:
		return false
	}
	return true
}

// handshake recognizes failed TLS handshakes.
func (e *unreachable) handshake(to *url.URL, err error) bool {
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.As(err, &record):
		e.cause, e.text = CauseNotTLS, gateway.Textf("%s does not speak TLS, but its URL begins with https", to.Host)
	case errors.As(err, &alert):
		e.cause, e.text = CauseTLS, gateway.Textf("%s refused the TLS connection (%s)", to.Host, alert.Error())
	case isTimeout(err) && strings.Contains(err.Error(), "TLS handshake"):
		e.cause, e.text = CauseTimeout, gateway.Textf("%s did not finish the TLS handshake in time", to.Host)
	default:
		return false
	}
	return true
}

// dial recognizes failed lookups and connections.
func (e *unreachable) dial(to *url.URL, err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		e.cause, e.text = CauseNoHost, gateway.Textf("the host name %s does not exist (no such host)", dns.Name)
	case errors.As(err, &dns):
		e.cause, e.text = CauseNoHost, gateway.Textf("the host name %s could not be looked up (DNS)", dns.Name)
	case !errors.As(err, &op) || op.Op != "dial" && op.Op != "proxyconnect":
		return false
	case op.Op == "proxyconnect":
		e.cause, e.text = CauseNoRoute, gateway.Textf("the proxy for %s cannot be reached (HTTP_PROXY, HTTPS_PROXY)", to.Host)
	case errors.Is(err, syscall.ECONNREFUSED):
		e.cause, e.text = CauseRefused, gateway.Textf("nothing listens on %s (connection refused)", to.Host)
		if isLoopback(to.Hostname()) {
			e.cause = CauseRefusedHere
		}
	case isTimeout(err):
		e.cause, e.text = CauseTimeout, gateway.Textf("%s did not accept a connection in time", to.Host)
	default:
		e.cause, e.text = CauseNoRoute, gateway.Textf("no connection to %s can be made from this machine (no route to host)", to.Host)
	}
	return true
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// wireError returns the error for a failed HTTP request.
func wireError(server string, to *url.URL, err error) error {
	var signIn *signInError
	if errors.As(err, &signIn) {
		return err
	}
	why := whyUnreachable(to, err)
	if !why.unsent {
		return broken(server, why)
	}
	return &gateway.Error{
		Code: gateway.CodeUnavailable, Err: why, Unsent: true,
		Message: "server %s cannot be reached: %s; `genkan doctor %s` says what mends it",
		Values:  []any{server, why.text, server},
	}
}

// broken is the error of a request that failed after it was sent.
func broken(server string, why *unreachable) error {
	return &gateway.Error{
		Code: gateway.CodeUnavailable, Err: why,
		Message: "the connection to server %s broke: %s; the call may or may not have been carried out",
		Values:  []any{server, why.text},
	}
}

// causeOf returns the Cause constant for an error, or "".
func causeOf(err error) string {
	var why *unreachable
	var status *statusError
	switch {
	case errors.As(err, &why):
		return why.cause
	case errors.As(err, &status):
		return CauseStatus
	default:
		return ""
	}
}

// problem returns the part of an error that may be shown to callers.
func problem(err error) gateway.Text {
	var e *gateway.Error
	var why *unreachable
	var status *statusError
	switch {
	case errors.As(err, &why):
		return gateway.Textf("it cannot be reached: %s", why.text)
	case errors.As(err, &e):
		return gateway.Textf("%s", e)
	case errors.As(err, &status):
		return gateway.Textf("it answered with HTTP status %d", status.status)
	default:
		return gateway.Textf("it cannot be reached")
	}
}
