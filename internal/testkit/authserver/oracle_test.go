package authserver_test

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"go.uber.org/goleak"

	"genkan/internal/testkit/authserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const redirect = "http://127.0.0.1:1/callback"

// TestTheSDKSignsIn: the official client signs in to these servers and calls a
// tool, wherever they are described.
func TestTheSDKSignsIn(t *testing.T) {
	byItself := func(c *auth.AuthorizationCodeHandlerConfig) {
		c.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			RedirectURIs: []string{redirect}, GrantTypes: []string{"authorization_code", "refresh_token"},
			TokenEndpointAuthMethod: "none",
		}}
	}
	byHand := func(c *auth.AuthorizationCodeHandlerConfig) {
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: "me", ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: "s3cret"}}
	}
	const document = "https://genkan.example/client.json"
	byDocument := func(c *auth.AuthorizationCodeHandlerConfig) {
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: document}
	}
	for name, c := range map[string]struct {
		options authserver.Options
		client  func(*auth.AuthorizationCodeHandlerConfig)
	}{
		"by default":          {authserver.Options{}, byItself},
		"described at path":   {authserver.Options{ResourceMetadata: authserver.AtPath}, byItself},
		"described at root":   {authserver.Options{ResourceMetadata: authserver.AtRoot}, byItself},
		"OpenID":              {authserver.Options{IssuerMetadata: authserver.OpenIDInserted}, byItself},
		"a tenant":            {authserver.Options{IssuerPath: "/tenant"}, byItself},
		"an OpenID tenant":    {authserver.Options{IssuerPath: "/tenant", IssuerMetadata: authserver.OpenIDInserted}, byItself},
		"an appending tenant": {authserver.Options{IssuerPath: "/tenant", IssuerMetadata: authserver.OpenIDAppended}, byItself},
		"legacy":              {authserver.Options{Legacy: true}, byItself},
		"nothing described":   {authserver.Options{Legacy: true, NoMetadata: true}, byItself},
		"with scopes":         {authserver.Options{Scopes: []string{"a", "b"}}, byItself},
		"by hand": {authserver.Options{
			NoRegistration: true, Clients: map[string]string{"me": "s3cret"}, AuthMethods: []string{"client_secret_post"},
		}, byHand},
		"by document":   {authserver.Options{NoRegistration: true, Documents: []string{document}}, byDocument},
		"says its name": {authserver.Options{AnnounceIss: true}, byItself},
	} {
		t.Run(name, func(t *testing.T) {
			s := authserver.Start(t, c.options)
			config := &auth.AuthorizationCodeHandlerConfig{
				RedirectURL: redirect, AcceptUnadvertisedIss: true, Client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}},
				AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
					back, err := s.Visit(ctx, args.URL)
					if err != nil {
						return nil, err
					}
					u, err := url.Parse(back)
					if err != nil {
						return nil, err
					}
					q := u.Query()
					return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
				},
			}
			c.client(config)
			handler, err := auth.NewAuthorizationCodeHandler(config)
			if err != nil {
				t.Fatal(err)
			}
			session, err := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
				Endpoint: s.URL(), OAuthHandler: handler, DisableStandaloneSSE: true,
				HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "read"})
			if err != nil || result.IsError {
				t.Fatalf("%v, %v", result, err)
			}
			if faults := s.Faults(); len(faults) > 0 {
				t.Errorf("the official client is found wanting: %q", faults)
			}
		})
	}
}

// dial is the system's: a client that dials by itself may reach loopback.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, address)
}
