package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"slices"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/identity"
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
	p.uiPort = web.NewPort(p.uiPortOptions())
	p.ui, err = web.New(web.Options{
		Visit: p.lock.Visit, Receive: p.lock.Receive, Admit: p.admit,
		Session: p.lock.Session, Cookie: p.lock.Sessions.Cookie, Sessions: p.sessions,
		Link: p.linkToUI, Opened: p.uiOpened, Refused: p.refused, Version: p.opt.Version, Language: p.language,
	})
	return err
}

// uiOpened notes that somebody has opened the web UI.
func (p *Process) uiOpened() {
	select {
	case p.opened <- struct{}{}:
	default: // it is noted already
	}
}

// prepareSearches makes the search index of all tools when somebody opens the web UI, so
// that their first search need not wait for it. It returns when ctx ends.
func (p *Process) prepareSearches(ctx context.Context) {
	for {
		select {
		case <-p.opened:
		case <-ctx.Done():
			return
		}
		h := p.house.Load()
		h.settle(ctx) // each server that comes later would change the index
		h.PrepareSearch()
		p.log.DebugContext(ctx, "the search index is ready")
	}
}

func (p *Process) uiPortOptions() web.PortOptions {
	return web.PortOptions{Server: p.httpServer, Codes: p.sessions, ShutDown: p.shutDown, Log: p.log}
}

// UIAddress returns the address of the web UI on a listener.
func (p *Process) UIAddress(l net.Listener) string { return p.uiAddress(reachable(l.Addr())) }

// UILink returns an address of the web UI on a listener that signs one browser in as
// administrator, and until when it does.
func (p *Process) UILink(l net.Listener) (string, time.Time) {
	return web.Link(p.sessions, p.UIAddress(l))
}

// UISignedIn reports whether a browser is signed in to the web UI as administrator, and
// was used lately. Its person knows the address.
func (p *Process) UISignedIn(ctx context.Context) bool {
	list, err := p.sessions.List(ctx, "")
	return err == nil && slices.ContainsFunc(list, func(s identity.SignedIn) bool { return s.Client == identity.AdminClient })
}

// uiAddress returns the address of the web UI on a host:port.
func (p *Process) uiAddress(address string) string {
	cfg := p.Config()
	return web.Address(address, cfg.AllowedHosts, cfg.TLS.CertFile != "")
}

// linkToUI returns a link to the web UI of this process. A process that serves no HTTP
// opens a port for it.
func (p *Process) linkToUI(ctx context.Context) (string, time.Time, error) {
	if !web.Built {
		return "", time.Time{}, gateway.Errorf(gateway.CodeUnavailable, "This build of genkan has no web UI; a build without the tag noui has it.")
	}
	address := p.listening()
	if address == "" {
		return p.uiPort.Link(ctx)
	}
	link, until := web.Link(p.sessions, p.uiAddress(address))
	return link, until, nil
}
