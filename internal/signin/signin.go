package signin

import (
	"context"
	"crypto/x509"
	"log/slog"
	"maps"
	"sync"
	"time"

	"genkan/internal/gateway"
)

// Server is a remote MCP server of the configuration.
type Server struct {
	Name string
	URL  string
	// Client is the client that was registered by hand; the zero value if there
	// is none.
	Client Client
	// Scopes are requested instead of those that the server names.
	Scopes []string
	// RedirectPort is the port of the redirect URI of a client registered by
	// hand; 0 for any free port.
	RedirectPort int
	// PrivateHosts may have private addresses although the server has a public
	// one.
	PrivateHosts []string
}

// Client is a client that was registered by hand.
type Client struct {
	ID     string
	Secret gateway.Secret
	// Issuer is the authorization server that the client was registered with.
	// Empty accepts the one that the server names.
	Issuer string
}

// Options configure a SignIns.
type Options struct {
	Vault Vault
	// ClientMetadataURL is the address of genkan's client ID metadata document;
	// empty if there is none.
	ClientMetadataURL string
	// RootCAs are trusted instead of the machine's.
	RootCAs *x509.CertPool
	// Log receives what happens to sign-ins, without secrets.
	Log *slog.Logger
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// SignIns are the sign-ins of all servers. It is safe for concurrent use.
type SignIns struct {
	vault       Vault
	metadataURL string
	log         *slog.Logger
	now         func() time.Time
	network     network
	// personPatience is how long a person may take in the browser.
	personPatience func(context.Context) (context.Context, context.CancelFunc)

	// life ends with Close, and with it the wait for a turn to refresh, and sign-ins in the
	// background.
	life    context.Context
	end     context.CancelFunc
	working sync.WaitGroup

	// begun has the cancel functions of sign-ins in the background, by server.
	begun sync.Map

	mu      sync.Mutex
	closed  bool
	servers map[string]*holder
}

// loginPatience leaves time to find a password.
const loginPatience = 10 * time.Minute

// New returns a SignIns, which must be closed.
func New(o Options) *SignIns {
	k := &SignIns{
		vault: o.Vault, metadataURL: o.ClientMetadataURL, log: o.Log, now: o.Now,
		network: systemNetwork(o.RootCAs), servers: map[string]*holder{},
		personPatience: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, loginPatience)
		},
	}
	if k.now == nil {
		k.now = time.Now
	}
	if k.log == nil {
		k.log = slog.New(slog.DiscardHandler)
	}
	k.life, k.end = context.WithCancel(context.Background())
	return k
}

// Close waits at most half a minute for running refreshes: a refresh that is cut
// off can cost the whole sign-in.
func (k *SignIns) Close() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.end()
	k.working.Wait()
	k.keepUnsaved()
}

// closePatience is how long Close waits for a vault that another process has
// locked.
const closePatience = 5 * time.Second

// keepUnsaved saves sign-ins that the vault could not take before.
func (k *SignIns) keepUnsaved() {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	k.mu.Lock()
	servers := maps.Clone(k.servers)
	k.mu.Unlock()
	for name, h := range servers {
		h.mu.Lock()
		unsaved := h.unsaved
		h.mu.Unlock()
		if !unsaved {
			continue
		}
		s := Server{Name: name}
		release, err := k.lockSignIn(ctx, s)
		if err == nil {
			_, err = k.newest(ctx, s, h)
			release()
		}
		if err != nil {
			k.log.Error("sign_in_not_kept", "server", name, "error", err)
		}
	}
}
