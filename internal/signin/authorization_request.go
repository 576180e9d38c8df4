package signin

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/url"
	"strings"

	"genkan/internal/gateway"
)

// question is one authorization request, with what is needed to tell its
// answer from any other. It is asked once.
type question struct {
	client   registered
	endpoint string
	resource string
	scopes   []string
	// issuer is who was asked, and announces whether it says its name in its
	// answers (RFC 9207).
	issuer    string
	announces bool

	state    gateway.Secret
	verifier gateway.Secret
}

func newQuestion(p *target, c registered, scopes []string) *question {
	return &question{
		client: c, endpoint: p.issuer.AuthorizationEndpoint, resource: p.resource, scopes: scopes,
		issuer: p.issuer.Issuer, announces: p.issuer.AuthorizationResponseIssParameterSupported,
		state: random(), verifier: random(),
	}
}

// random is 256 bits, as a PKCE verifier is written (RFC 7636 §4.1).
func random() gateway.Secret {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // it cannot fail
	return gateway.Secret(base64.RawURLEncoding.EncodeToString(raw[:]))
}

// address is where the browser goes.
func (q *question) address() string {
	challenge := sha256.Sum256([]byte(q.verifier.Reveal()))
	values := url.Values{
		"response_type":         {"code"},
		"client_id":             {q.client.ID},
		"redirect_uri":          {q.client.RedirectURI},
		"state":                 {q.state.Reveal()},
		"code_challenge":        {base64.RawURLEncoding.EncodeToString(challenge[:])},
		"code_challenge_method": {"S256"},
		"resource":              {q.resource},
	}
	if len(q.scopes) > 0 {
		values.Set("scope", strings.Join(q.scopes, " "))
	}
	for _, scope := range q.scopes {
		if scope == "offline_access" {
			values.Set("prompt", "consent") // OpenID Connect gives no refresh token without
		}
	}
	join := "?"
	if strings.Contains(q.endpoint, "?") {
		join = "&"
	}
	return q.endpoint + join + values.Encode()
}

// redeem is the token request for the code.
func (q *question) redeem(code gateway.Secret) url.Values {
	return url.Values{
		"grant_type":    {"authorization_code"},
		"code":          {code.Reveal()},
		"redirect_uri":  {q.client.RedirectURI},
		"code_verifier": {q.verifier.Reveal()},
		"resource":      {q.resource},
	}
}

// errNotOurs: an answer to somebody else's question.
var errNotOurs = errors.New("the answer belongs to another sign-in")

// read checks an answer and returns its code.
func (q *question) read(s Server, values url.Values) (gateway.Secret, error) {
	for _, key := range []string{"state", "code", "iss", "error"} {
		if len(values[key]) > 1 {
			return "", errNotOurs // which one is meant, nobody can tell
		}
	}
	if subtle.ConstantTimeCompare([]byte(values.Get("state")), []byte(q.state.Reveal())) != 1 {
		return "", errNotOurs
	}
	// Before anything else of it is believed or shown: who says it (RFC 9207).
	if iss := values.Get("iss"); iss != q.issuer && (iss != "" || q.announces || values.Has("iss")) {
		return "", gateway.Errorf(gateway.CodeDenied,
			"the answer to signing in to %s did not come from %s, which was asked; nothing was sent to it. Run `genkan login %s` again, and if this comes back, do not trust that server", s.Name, hostOf(q.issuer), s.Name)
	}
	switch code := values.Get("code"); {
	case values.Get("error") == "access_denied":
		return "", gateway.Errorf(gateway.CodeDenied, "the sign-in to %s was refused in the browser; run `genkan login %s` to try again", s.Name, s.Name)
	case values.Has("error"):
		reason := (&oauthError{code: errorCode(values.Get("error")), description: hide(clip(values.Get("error_description")), q.state)}).reason()
		return "", gateway.Errorf(gateway.CodeDenied,
			"%s does not let genkan sign in to %s (%s); run `genkan login %s` again", hostOf(q.issuer), s.Name, reason, s.Name)
	case code == "":
		return "", errNotOurs
	default:
		return gateway.Secret(code), nil
	}
}
