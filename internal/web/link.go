package web

import (
	"net"
	"time"

	"genkan/internal/gateway"
)

// Codes make the codes of links. A code signs one browser in as administrator.
type Codes interface {
	// NewCode returns a code, and until when it can be used.
	NewCode() (code gateway.Secret, until time.Time)
	// CodesUntil returns until when one of the codes that were not used works.
	CodesUntil() time.Time
}

// Link adds a new code to an address of the UI. Browsers do not send what follows the #,
// so the code is in no log of a proxy, and a program that only looks at the page does not
// use it up.
func Link(codes Codes, address string) (link string, until time.Time) {
	code, until := codes.NewCode()
	return address + "#code=" + code.Reveal(), until
}

// Address returns the address of the UI of a process that listens on a host:port. A host
// beyond loopback must be one of the allowed hosts. So must any host with TLS, because a
// certificate is for a name.
func Address(listen string, allowedHosts []string, tls bool) string {
	scheme := "http"
	host, port, err := net.SplitHostPort(listen)
	ip := net.ParseIP(host)
	if tls {
		scheme, ip = "https", nil
	}
	if err == nil && len(allowedHosts) > 0 && (ip == nil || !ip.IsLoopback()) {
		listen = allowedHosts[0]
		if _, _, err := net.SplitHostPort(listen); err != nil {
			listen = net.JoinHostPort(listen, port)
		}
	}
	return scheme + "://" + listen + "/ui/"
}
