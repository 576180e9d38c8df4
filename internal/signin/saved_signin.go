package signin

import (
	"encoding/json"
	"slices"
	"time"

	"genkan/internal/gateway"
)

// kept is a sign-in to one server as it is saved in the vault.
type kept struct {
	// ID identifies the sign-in. Renewing its tokens does not change it.
	ID string
	// URL is the server's address. A token is never sent to another address with
	// the same name.
	URL    string
	Client registered

	Resource           string
	TokenEndpoint      string
	RevocationEndpoint string

	// Requested are the scopes of the last sign-in, Granted those that were
	// granted, and Wanted those that calls lacked since. The next sign-in
	// requests all.
	Requested, Granted, Wanted []string

	Access, Refresh gateway.Secret
	Obtained        time.Time
	Expires         time.Time // zero: unknown
}

// registered is genkan's registration with one authorization server.
type registered struct {
	Issuer string
	ID     string
	Secret gateway.Secret
	// Method is how the client authenticates at the token endpoint: none,
	// client_secret_basic or client_secret_post.
	Method        string
	How           how
	RedirectURI   string
	SecretExpires time.Time // zero: never
}

// how is the way in which genkan was registered.
type how string

const (
	byHand     how = "hand"     // somebody registered it; the configuration says as what
	byDocument how = "document" // its client ID is the address of a document
	byItself   how = "itself"   // it registered itself, and may do it again
)

// keptText and registeredText are the saved forms. Only here secrets are plain
// text, before they are encrypted.
type keptText struct {
	ID                 string         `json:"id,omitempty"`
	URL                string         `json:"url"`
	Client             registeredText `json:"client"`
	Resource           string         `json:"resource"`
	TokenEndpoint      string         `json:"tokenEndpoint"`
	RevocationEndpoint string         `json:"revocationEndpoint,omitempty"`
	Requested          []string       `json:"requested,omitempty"`
	Granted            []string       `json:"granted,omitempty"`
	Wanted             []string       `json:"wanted,omitempty"`
	Access             string         `json:"access,omitempty"`
	Refresh            string         `json:"refresh,omitempty"`
	Obtained           time.Time      `json:"obtained,omitzero"`
	Expires            time.Time      `json:"expires,omitzero"`
}

type registeredText struct {
	Issuer        string    `json:"issuer"`
	ID            string    `json:"id"`
	Secret        string    `json:"secret,omitempty"`
	Method        string    `json:"method"`
	How           how       `json:"how"`
	RedirectURI   string    `json:"redirectUri"`
	SecretExpires time.Time `json:"secretExpires,omitzero"`
}

func (g *kept) encode() (gateway.Secret, error) {
	c := g.Client
	raw, err := json.Marshal(keptText{
		ID: g.ID, URL: g.URL, Resource: g.Resource, TokenEndpoint: g.TokenEndpoint, RevocationEndpoint: g.RevocationEndpoint,
		Requested: g.Requested, Granted: g.Granted, Wanted: g.Wanted,
		Access: g.Access.Reveal(), Refresh: g.Refresh.Reveal(), Obtained: g.Obtained, Expires: g.Expires,
		Client: registeredText{
			Issuer: c.Issuer, ID: c.ID, Secret: c.Secret.Reveal(), Method: c.Method, How: c.How,
			RedirectURI: c.RedirectURI, SecretExpires: c.SecretExpires,
		},
	})
	return gateway.Secret(raw), err
}

func decodeKept(value gateway.Secret) (*kept, bool) {
	var t keptText
	if json.Unmarshal([]byte(value.Reveal()), &t) != nil {
		return nil, false
	}
	c := t.Client
	return &kept{
		ID: t.ID, URL: t.URL, Resource: t.Resource, TokenEndpoint: t.TokenEndpoint, RevocationEndpoint: t.RevocationEndpoint,
		Requested: t.Requested, Granted: t.Granted, Wanted: t.Wanted,
		Access: gateway.Secret(t.Access), Refresh: gateway.Secret(t.Refresh), Obtained: t.Obtained, Expires: t.Expires,
		Client: registered{
			Issuer: c.Issuer, ID: c.ID, Secret: gateway.Secret(c.Secret), Method: c.Method, How: c.How,
			RedirectURI: c.RedirectURI, SecretExpires: c.SecretExpires,
		},
	}, true
}

// isFor reports whether the sign-in is for the server as it is configured now:
// its address, and the client registered by hand.
func (g *kept) isFor(s Server) bool {
	if g.Client.How == byHand || s.Client.ID != "" {
		return g.URL == s.URL && g.Client.How == byHand && g.Client.ID == s.Client.ID
	}
	return g.URL == s.URL
}

// client returns genkan's client for the token endpoint. A configured secret is
// not in the vault, and may have changed.
func (g *kept) client(s Server) registered {
	c := g.Client
	if c.How == byHand {
		c.Secret = s.Client.Secret
	}
	return c
}

// early returns how long before its expiry a token is renewed: calls take time to
// arrive, and clocks differ.
func (g *kept) early() time.Duration {
	const most = time.Minute
	if g.Refresh == "" {
		return 0 // there is no other; it is good for as long as it is
	}
	return min(most, g.Expires.Sub(g.Obtained)/5)
}

// isFresh reports whether the token needs no renewal yet.
func (g *kept) isFresh(now time.Time) bool {
	return g.Access != "" && (g.Expires.IsZero() || now.Before(g.Expires.Add(-g.early())))
}

// isAlive reports whether the token has not expired.
func (g *kept) isAlive(now time.Time) bool {
	return g.Access != "" && (g.Expires.IsZero() || now.Before(g.Expires))
}

// isYoung reports whether the token is so new that another would be no better.
func (g *kept) isYoung(now time.Time) bool {
	youth := time.Minute
	if !g.Expires.IsZero() {
		youth = min(youth, g.Expires.Sub(g.Obtained)/2)
	}
	return now.Before(g.Obtained.Add(youth)) && !now.Before(g.Obtained)
}

// take records a token response.
func (g *kept) take(t *tokens, now time.Time) {
	g.Access, g.Obtained, g.Expires = t.access, now, time.Time{}
	if t.lifetime > 0 {
		g.Expires = now.Add(t.lifetime)
	}
	if t.refresh != "" { // otherwise the old one stays good
		g.Refresh = t.refresh
	}
	if t.scopes != nil {
		g.Granted = t.scopes
	}
}

// union returns all scopes, each once, in order.
func union(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		for _, scope := range list {
			if !slices.Contains(all, scope) {
				all = append(all, scope)
			}
		}
	}
	return all
}
