// Package signin signs genkan in to remote MCP servers: OAuth 2.1 as the MCP
// specification asks for it. It finds out where a server signs in, registers
// genkan there, takes a person through the browser once, and from then on
// hands out an access token that works, refreshing it behind everybody's back.
//
// A Keeper keeps the tokens. Calls ask it for one (Token) and tell it when a
// server did not like it (Refused); both only ever answer or say which command
// mends it, because nobody sits in front of a gateway. People sign in and out
// with SignIn and SignOut. What must outlive the process is in a Vault.
//
// Everything that a server says about where to go is suspect: see reach.
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
	// Client is what genkan was registered as by hand; the zero value if it
	// was not.
	Client Client
	// Scopes are asked for instead of those that the server names.
	Scopes []string
	// RedirectPort is the port that a client registered by hand must be sent
	// back to; 0 takes any that is free.
	RedirectPort int
	// PrivateHosts may be on private addresses though the server is not.
	PrivateHosts []string
}

// Client is a client that was registered by hand.
type Client struct {
	ID     string
	Secret gateway.Secret
	// Issuer is who it was registered with. Empty trusts whoever the server
	// names.
	Issuer string
}

// Options are what a Keeper needs.
type Options struct {
	Vault Vault
	// ClientMetadataURL is where genkan's client ID metadata document is; empty
	// if there is none.
	ClientMetadataURL string
	// RootCAs are trusted instead of the machine's.
	RootCAs *x509.CertPool
	// Log gets what happens to sign-ins, without anything secret.
	Log *slog.Logger
	// Now is the clock; nil is the machine's.
	Now func() time.Time
}

// Keeper keeps the sign-ins of all servers. It is for many goroutines.
type Keeper struct {
	vault       Vault
	metadataURL string
	log         *slog.Logger
	now         func() time.Time
	network     network
	// personPatience bounds how long a person may take in the browser.
	personPatience func(context.Context) (context.Context, context.CancelFunc)

	// life ends with Close, and with it waiting for a turn to refresh.
	life    context.Context
	end     context.CancelFunc
	working sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	servers map[string]*holder
}

// loginPatience is for people who must find their password first.
const loginPatience = 10 * time.Minute

// New makes a Keeper. Close it.
func New(o Options) *Keeper {
	k := &Keeper{
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

// Close waits for refreshes under way, half a minute at most: a refresh that
// is cut off can cost the whole sign-in.
func (k *Keeper) Close() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.end()
	k.working.Wait()
	k.keepUnsaved()
}

// closePatience is for a vault that another process has locked.
const closePatience = 5 * time.Second

// keepUnsaved tries once more to keep what the vault did not take.
func (k *Keeper) keepUnsaved() {
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
		release, err := k.hold(ctx, s)
		if err == nil {
			_, err = k.newest(ctx, s, h)
			release()
		}
		if err != nil {
			k.log.Error("sign_in_not_kept", "server", name, "error", err)
		}
	}
}
