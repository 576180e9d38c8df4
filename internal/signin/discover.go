package signin

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"genkan/internal/gateway"
)

// target is the verified authorization server of a server, with the resource and
// scopes to request.
type target struct {
	// resource is the resource of the token (RFC 8707).
	resource string
	// scopes are those that the server names in its metadata.
	scopes []string
	issuer *oauthex.AuthServerMeta
}

// probe sends the server a request without a token and returns its challenge. A
// ping has no effect on servers that answer it; servers of the old SSE transport
// answer only a GET.
func (r *reach) probe(ctx context.Context) (c Challenge, refuses bool, err error) {
	u, safe := parseEndpoint(r.server.URL)
	if !safe {
		return c, false, r.insecure("the server")
	}
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		if c, refuses, err = r.knock(ctx, u, method); refuses || err != nil {
			return c, refuses, err
		}
	}
	return c, false, nil
}

func (r *reach) knock(ctx context.Context, u *url.URL, method string) (c Challenge, refuses bool, err error) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	var body io.Reader
	accept := "text/event-stream"
	if method == http.MethodPost {
		body, accept = strings.NewReader(ping), "application/json, text/event-stream"
	}
	inner, cancel := r.network.patience(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(inner, method, u.String(), body)
	if err != nil {
		return c, false, r.unusable(u, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", accept)
	response, err := r.sender().Do(req)
	if err != nil {
		return c, false, r.failed(ctx, u, err)
	}
	// The body may be an endless stream; only the header is needed.
	defer response.Body.Close()
	return ParseChallenge(response.Header), response.StatusCode == http.StatusUnauthorized, nil
}

// discover finds the authorization server. preferred are issuers that genkan
// knows, the most preferred first. It returns errNotThere if the server has no
// metadata about signing in.
func (r *reach) discover(ctx context.Context, c Challenge, preferred []string) (*target, error) {
	u, safe := parseEndpoint(r.server.URL)
	if !safe {
		return nil, r.insecure("the server")
	}
	described, err := r.resourceMetadata(ctx, u, c.ResourceMetadata)
	switch {
	case err != nil:
		return nil, err
	case len(described.AuthorizationServers) == 0:
		return nil, r.unusable(u, errors.New("its metadata names no authorization server"))
	}
	p := &target{resource: described.Resource, scopes: described.ScopesSupported}
	var first error
	for _, issuer := range arrange(described.AuthorizationServers, preferred) {
		p.issuer, err = r.issuerMetadata(ctx, issuer)
		if err == nil {
			return p, nil
		}
		if errors.Is(err, errNotThere) {
			err = r.unusable(u, errors.New("its authorization server publishes no metadata"))
		}
		if ctx.Err() != nil {
			return nil, err
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// arrange moves the preferred issuers to the front and keeps the server's order
// otherwise.
func arrange(offered, preferred []string) []string {
	rank := func(issuer string) int {
		if i := slices.IndexFunc(preferred, func(p string) bool { return sameIssuer(p, issuer) }); i >= 0 {
			return i
		}
		return len(preferred)
	}
	arranged := slices.Clone(offered)
	slices.SortStableFunc(arranged, func(a, b string) int { return rank(a) - rank(b) })
	return arranged
}

// resourceMetadata reads the server's metadata (RFC 9728): at the address in the
// challenge, else at its path, else at its root. Invalid metadata is an error,
// never a reason to continue with less.
func (r *reach) resourceMetadata(ctx context.Context, u *url.URL, told string) (*oauthex.ProtectedResourceMetadata, error) {
	const wellKnown = "/.well-known/oauth-protected-resource"
	var addresses []string
	if told != "" {
		addresses = append(addresses, told)
	}
	if path := strings.TrimSuffix(u.EscapedPath(), "/"); path != "" {
		addresses = append(addresses, origin(u)+wellKnown+path)
	}
	addresses = append(addresses, origin(u)+wellKnown)
	for _, address := range addresses {
		var described oauthex.ProtectedResourceMetadata
		err := r.getJSON(ctx, address, &described)
		if errors.Is(err, errNotThere) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !covers(described.Resource, u) {
			return nil, gateway.Errorf(gateway.CodeDenied,
				"server %s describes itself as %q, which is not its address; a token for that would be a token for somebody else. Check its url in the configuration", r.server.Name, clip(described.Resource))
		}
		return &described, nil
	}
	return nil, errNotThere
}

// covers reports whether a token for the resource is valid for the server: the
// same origin, and the server's path or one above it. RFC 9728 requires equality,
// but servers that describe their root, or differ in a slash, are common, and no
// other party answers at that origin.
func covers(resource string, server *url.URL) bool {
	u, err := url.Parse(resource)
	if err != nil || u.Fragment != "" || u.User != nil || u.Opaque != "" {
		return false
	}
	if !strings.EqualFold(u.Scheme, server.Scheme) || !strings.EqualFold(u.Hostname(), server.Hostname()) || portOf(u) != portOf(server) {
		return false
	}
	above, path := strings.TrimSuffix(u.EscapedPath(), "/"), strings.TrimSuffix(server.EscapedPath(), "/")
	return path == above || strings.HasPrefix(path, above+"/")
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case strings.EqualFold(u.Scheme, "http"):
		return "80"
	}
	return "443"
}

// canonical returns the resource of a server without metadata.
func canonical(u *url.URL) string {
	path := u.EscapedPath()
	if path == "/" {
		path = ""
	}
	return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Host) + path
}

// clip shortens a server's words that are shown.
func clip(text string) string {
	const most = 200
	clean := strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, "?"))
	if runes := []rune(clean); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return clean
}
