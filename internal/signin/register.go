package signin

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"genkan/internal/gateway"
)

// The authentication methods of the token endpoint (RFC 7591 §2).
const (
	methodNone  = "none"
	methodBasic = "client_secret_basic"
	methodPost  = "client_secret_post"
)

// clientName is shown on the consent page.
const clientName = "Genkan"

// registration is the input for choosing a client.
type registration struct {
	target      *target
	known       registered // from the last sign-in
	metadataURL string
	redirectURI string
	scopes      []string
	now         time.Time
}

// client returns the client to use: the configured one, the metadata document,
// the former registration, or a new one.
func (r *reach) client(ctx context.Context, g registration) (registered, error) {
	m := g.target.issuer
	c := registered{Issuer: m.Issuer, RedirectURI: g.redirectURI}
	switch {
	case r.server.Client.ID != "":
		if want := r.server.Client.Issuer; want != "" && !sameIssuer(want, m.Issuer) {
			return c, gateway.Errorf(gateway.CodeDenied,
				"server %s now signs in at %q, and not where its client id is from; if that is right, register genkan there and change the client in the configuration", r.server.Name, clip(m.Issuer))
		}
		c.How, c.ID, c.Secret, c.Method = byHand, r.server.Client.ID, r.server.Client.Secret, methodNone
		if c.Secret != "" {
			c.Method = secretMethod(m.TokenEndpointAuthMethodsSupported)
		}
		return c, nil
	case isMetadataURL(g.metadataURL) && m.ClientIDMetadataDocumentSupported:
		c.How, c.ID, c.Method = byDocument, g.metadataURL, methodNone
		return c, nil
	case g.known.How == byItself && g.known.Issuer == m.Issuer && g.known.RedirectURI == g.redirectURI &&
		(g.known.SecretExpires.IsZero() || g.now.Before(g.known.SecretExpires)):
		return g.known, nil
	case m.RegistrationEndpoint != "":
		return r.register(ctx, g)
	}
	return c, gateway.Errorf(gateway.CodeDenied,
		"server %s signs in at %s, where genkan cannot register itself; register it there by hand with the redirect address %s, and put the client id into the configuration", r.server.Name, hostOf(m.Issuer), g.redirectURI)
}

// isMetadataURL reports whether an address may be a client ID: HTTPS with a path.
func isMetadataURL(id string) bool {
	u, err := url.Parse(id)
	return err == nil && u.Scheme == "https" && u.Host != "" && strings.Trim(u.Path, "/") != "" && u.Fragment == "" && u.User == nil
}

// secretMethod: what is not said is basic (RFC 8414 §2).
func secretMethod(supported []string) string {
	if !slices.Contains(supported, methodBasic) && slices.Contains(supported, methodPost) {
		return methodPost
	}
	return methodBasic
}

// publicMethod returns the method to register for: none where that is possible,
// because a secret on a person's machine proves nothing.
func publicMethod(supported []string) string {
	if len(supported) == 0 || slices.Contains(supported, methodNone) {
		return methodNone
	}
	return secretMethod(supported)
}

// register registers genkan (RFC 7591).
func (r *reach) register(ctx context.Context, g registration) (registered, error) {
	m := g.target.issuer
	c := registered{Issuer: m.Issuer, RedirectURI: g.redirectURI, How: byItself}
	wish := oauthex.ClientRegistrationMetadata{
		RedirectURIs: []string{g.redirectURI}, ClientName: clientName,
		// Without it an OpenID server takes us for a web application, which
		// cannot be on this machine.
		ApplicationType:         "native",
		GrantTypes:              []string{"authorization_code", "refresh_token"},
		ResponseTypes:           []string{"code"},
		TokenEndpointAuthMethod: publicMethod(m.TokenEndpointAuthMethodsSupported),
		Scope:                   strings.Join(g.scopes, " "),
	}
	raw, err := json.Marshal(wish)
	if err != nil {
		return c, err
	}
	got, err := r.post(ctx, m.RegistrationEndpoint, "application/json", gateway.Secret(raw), nil)
	if err != nil {
		return c, err
	}
	if got.status != http.StatusCreated && got.status != http.StatusOK {
		refused := refusal(got, nil, c)
		return c, because(refused, gateway.Errorf(gateway.CodeDenied,
			"%s does not register genkan for server %s (%s); register it there by hand with the redirect address %s, and put the client id into the configuration", hostOf(m.Issuer), r.server.Name, refused.reason(), g.redirectURI))
	}
	var said struct {
		ID      string  `json:"client_id"`
		Secret  string  `json:"client_secret"`
		Expires float64 `json:"client_secret_expires_at"`
		Method  string  `json:"token_endpoint_auth_method"`
	}
	endpoint, _ := url.Parse(m.RegistrationEndpoint)
	if err := got.decode(&said); err != nil || said.ID == "" {
		return c, r.unusable(endpoint, errNoJSON)
	}
	c.ID, c.Secret, c.Method = said.ID, gateway.Secret(said.Secret), said.Method
	switch {
	case said.Secret == "":
		c.Method = methodNone
	case c.Method != methodPost && c.Method != methodNone:
		c.Method = methodBasic // the default of RFC 7591
	}
	if said.Secret != "" && said.Expires > 0 {
		c.SecretExpires = time.Unix(int64(said.Expires), 0)
	}
	return c, nil
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
