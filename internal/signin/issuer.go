package signin

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"genkan/internal/gateway"
)

// The SDK's types are used here and not its functions: those refuse private
// addresses also where the server itself is there, and put whole answers,
// with what is secret in them, into their errors.

// issuerAddresses are where an authorization server's metadata may be, in the
// order that the MCP specification sets.
func issuerAddresses(issuer *url.URL) []string {
	const oauth, openID = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	root, path := origin(issuer), strings.TrimSuffix(issuer.EscapedPath(), "/")
	if path == "" {
		return []string{root + oauth, root + openID}
	}
	return []string{root + oauth + path, root + openID + path, root + path + openID}
}

// issuerMetadata reads and checks what an authorization server says of itself
// (RFC 8414, OpenID Connect Discovery). errNotThere: it says nothing.
func (r *reach) issuerMetadata(ctx context.Context, issuer string) (*oauthex.AuthServerMeta, error) {
	u, safe := parseEndpoint(issuer)
	if !safe {
		return nil, r.insecure("an authorization server")
	}
	wrong := errNotThere
	for _, address := range issuerAddresses(u) {
		var m oauthex.AuthServerMeta
		err := r.getJSON(ctx, address, &m)
		if err == nil {
			err = r.checkIssuer(u, issuer, &m)
		}
		if err == nil {
			return &m, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		// A document that must not be used is no reason to look no further,
		// but it is the reason to give when there is no other.
		if errors.Is(wrong, errNotThere) {
			wrong = err
		}
	}
	return nil, wrong
}

// sameIssuer forgives one slash at the end: servers name their issuer both
// ways, and no two issuers differ in that.
func sameIssuer(a, b string) bool {
	return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/")
}

func (r *reach) checkIssuer(u *url.URL, issuer string, m *oauthex.AuthServerMeta) error {
	switch {
	case !sameIssuer(m.Issuer, issuer):
		return gateway.Errorf(gateway.CodeDenied,
			"server %s signs in at %s, which says that it is %q; genkan does not sign in to somebody who goes by another name. Tell whoever runs it", r.server.Name, u.Hostname(), clip(m.Issuer))
	case m.AuthorizationEndpoint == "" || m.TokenEndpoint == "":
		return r.unusable(u, errors.New("its metadata names no endpoints"))
	case !slices.Contains(m.CodeChallengeMethodsSupported, "S256"):
		return gateway.Errorf(gateway.CodeDenied,
			"server %s signs in at %s, which does not say that it protects codes with PKCE (S256); without it others could take over the sign-in. Tell whoever runs it", r.server.Name, u.Hostname())
	}
	for _, endpoint := range []string{m.AuthorizationEndpoint, m.TokenEndpoint, m.RegistrationEndpoint, m.RevocationEndpoint} {
		if endpoint == "" {
			continue
		}
		e, safe := parseEndpoint(endpoint)
		if !safe {
			return r.insecure("an endpoint of the authorization server")
		}
		// The browser is sent to one of them, where nobody checks what is dialed.
		if !r.server.permitsName(e.Hostname()) {
			return r.failed(context.Background(), e, &insideError{e.Hostname()})
		}
	}
	return nil
}

// discoverLegacy is for servers of 2025-03-26, which describe only their
// authorization server, at their own root, or have its endpoints there
// without describing anything.
func (r *reach) discoverLegacy(ctx context.Context) (*target, error) {
	u, safe := parseEndpoint(r.server.URL)
	if !safe {
		return nil, r.insecure("the server")
	}
	root := origin(u)
	p := &target{resource: canonical(u)}
	var err error
	p.issuer, err = r.issuerMetadata(ctx, root)
	if errors.Is(err, errNotThere) {
		p.issuer, err = &oauthex.AuthServerMeta{
			Issuer:                root,
			AuthorizationEndpoint: root + "/authorize",
			TokenEndpoint:         root + "/token",
			RegistrationEndpoint:  root + "/register",
		}, nil
	}
	return p, err
}
