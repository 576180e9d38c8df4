package signin

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"
)

// network makes the connections of this package.
type network struct {
	resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	connect func(ctx context.Context, network, address string) (net.Conn, error)
	proxy   func(*http.Request) (*url.URL, error)
	roots   *x509.CertPool
	// patience bounds one request.
	patience func(context.Context) (context.Context, context.CancelFunc)
}

const (
	requestPatience = 30 * time.Second
	connectPatience = 10 * time.Second
	maxRedirects    = 5
)

func systemNetwork(roots *x509.CertPool) network {
	dialer := &net.Dialer{Timeout: connectPatience}
	return network{
		resolve: func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		},
		connect: dialer.DialContext,
		proxy:   http.ProxyFromEnvironment,
		roots:   roots,
		patience: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, requestPatience)
		},
	}
}

// reach is a way to the outside on behalf of one server. What that server and
// its authorization server tell us decides where we go, so every address is
// checked when it is dialed: a name checked earlier may have moved since.
type reach struct {
	server    Server
	network   network
	transport *http.Transport

	mu      sync.Mutex
	proxies map[string]bool // their addresses; the environment vouches for them
}

func newReach(s Server, n network) *reach {
	r := &reach{server: s, network: n, proxies: map[string]bool{}}
	r.transport = &http.Transport{
		Proxy: r.proxyFor, DialContext: r.dial, ForceAttemptHTTP2: true,
		TLSClientConfig:        &tls.Config{RootCAs: n.roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    connectPatience,
		MaxResponseHeaderBytes: 64 << 10,
	}
	return r
}

func (r *reach) close() { r.transport.CloseIdleConnections() }

// insideError: somebody tried to send us where the server has no business.
type insideError struct{ host string }

func (e *insideError) Error() string {
	return fmt.Sprintf("%s is at an address that only a server there may name", e.host)
}

func (r *reach) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if r.isProxy(address) {
		return r.network.connect(ctx, network, address)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addresses, err := r.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	err = error(&insideError{host})
	for _, ip := range addresses {
		if !r.server.permits(host, ip) {
			continue
		}
		// The address and not the name is dialed: a name could be answered
		// differently the second time.
		conn, failed := r.network.connect(ctx, network, net.JoinHostPort(ip.String(), port))
		if failed == nil {
			return conn, nil
		}
		err = failed
	}
	return nil, err
}

func (r *reach) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, nil
	}
	return r.network.resolve(ctx, host)
}

// proxyFor asks the environment. Behind a proxy it is the proxy that resolves
// names; what we can check is what is written.
func (r *reach) proxyFor(req *http.Request) (*url.URL, error) {
	proxy, err := r.network.proxy(req)
	if proxy == nil || err != nil {
		return nil, err
	}
	host := req.URL.Hostname()
	if ip, err := netip.ParseAddr(host); err == nil && !r.server.permits(host, ip) {
		return nil, &insideError{host}
	}
	port := proxy.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[proxy.Scheme]
	}
	r.mu.Lock()
	r.proxies[net.JoinHostPort(proxy.Hostname(), port)] = true
	r.mu.Unlock()
	return proxy, nil
}

func (r *reach) isProxy(address string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.proxies[address]
}

var (
	errUnsafeRedirect = errors.New("it redirects to an address that is neither HTTPS nor on this machine")
	errManyRedirects  = errors.New("it redirects too often")
)

// follower is for reading what is public: metadata may have moved.
func (r *reach) follower() *http.Client {
	return &http.Client{Transport: r.transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return errManyRedirects
		}
		downgraded := via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https"
		if _, safe := parseEndpoint(req.URL.String()); !safe || downgraded {
			return errUnsafeRedirect
		}
		return nil
	}}
}

// sender is for secrets: they go where they were meant to go, or nowhere.
func (r *reach) sender() *http.Client {
	return &http.Client{Transport: r.transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
}
