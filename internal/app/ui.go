package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/web"
)

// sessionCookie returns the name of the cookie of browsers that have signed in.
// Browsers keep one set of cookies for all ports of a host, so each data directory has
// a name of its own: two genkans on one host do not sign each other's users out, and
// one that comes back on another port knows its own.
func sessionCookie(admin gateway.Secret) string {
	sum := sha256.Sum256([]byte("genkan session cookie\x00" + admin.Reveal()))
	return "genkan_session_" + hex.EncodeToString(sum[:4])
}

// home returns where / leads browsers to.
func home() string {
	if web.Built {
		return "ui/"
	}
	return "v1/docs"
}

// openUI makes the edge for browsers.
func (p *Process) openUI() (err error) {
	p.uiPort = uiPort{p: p, linger: uiLinger}
	p.ui, err = web.New(web.Options{
		Visit: p.lock.Visit, Receive: p.lock.Receive, Admit: p.admit,
		Session: p.lock.Session, Cookie: p.lock.Sessions.Cookie, Sessions: p.sessions,
		Link: p.linkToUI, Refused: p.refused, Version: p.opt.Version, Language: p.language,
	})
	return err
}

// UIAddress returns the address of the web UI on a listener.
func (p *Process) UIAddress(l net.Listener) string { return p.uiAddress(reachable(l.Addr())) }

// UILink returns an address of the web UI on a listener that signs one browser in as
// administrator, and until when it does.
func (p *Process) UILink(l net.Listener) (string, time.Time) { return p.uiLink(p.UIAddress(l)) }

// uiLink adds a code to an address of the web UI. Browsers do not send what follows the
// #, so the code is in no log of a proxy, and a program that only looks at the page does
// not use it up.
func (p *Process) uiLink(address string) (string, time.Time) {
	code, until := p.sessions.NewCode()
	return address + "#code=" + code.Reveal(), until
}

// uiAddress returns the address of the web UI on a host:port. A host beyond loopback
// must be an allowed one, and a certificate is for a name.
func (p *Process) uiAddress(address string) string {
	cfg, scheme := p.Config(), "http"
	host, port, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	if cfg.TLS.CertFile != "" {
		scheme, ip = "https", nil
	}
	if err == nil && len(cfg.AllowedHosts) > 0 && (ip == nil || !ip.IsLoopback()) {
		address = cfg.AllowedHosts[0]
		if _, _, err := net.SplitHostPort(address); err != nil {
			address = net.JoinHostPort(address, port)
		}
	}
	return scheme + "://" + address + "/ui/"
}

// linkToUI returns a link to the web UI of this process. A process that serves no HTTP
// opens a port for it.
func (p *Process) linkToUI(ctx context.Context) (string, time.Time, error) {
	if !web.Built {
		return "", time.Time{}, gateway.Errorf(gateway.CodeUnavailable, "This build of genkan has no web UI; a build without the tag noui has it.")
	}
	address := p.listening()
	if address == "" {
		return p.uiPort.link(ctx)
	}
	link, until := p.uiLink(p.uiAddress(address))
	return link, until, nil
}
