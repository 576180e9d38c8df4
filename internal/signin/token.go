package signin

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// tokens is the response of a token endpoint.
type tokens struct {
	access, refresh gateway.Secret
	lifetime        time.Duration // 0: not said
	scopes          []string      // nil: those that were asked for
}

// oauthError is an error response of OAuth (RFC 6749 §5.2).
type oauthError struct {
	status      int
	code        string
	description string
}

func (e *oauthError) Error() string {
	return fmt.Sprintf("HTTP %d %s %q", e.status, e.code, e.description)
}

// reason returns the part of the error that is shown.
func (e *oauthError) reason() string {
	switch {
	case e.description != "":
		return e.code + ": " + e.description
	case e.code != "":
		return e.code
	}
	return "HTTP " + strconv.Itoa(e.status)
}

// requestToken sends a request to a token endpoint. The error is an *oauthError
// if the endpoint refused, otherwise one to show.
func (r *reach) requestToken(ctx context.Context, endpoint string, c registered, form url.Values) (*tokens, error) {
	header := c.prove(form)
	got, err := r.post(ctx, endpoint, "application/x-www-form-urlencoded", gateway.Secret(form.Encode()), header)
	if err != nil {
		return nil, err
	}
	if got.status != http.StatusOK {
		return nil, refusal(got, form, c)
	}
	t, err := parseTokens(got)
	if err != nil {
		u, _ := url.Parse(endpoint)
		return nil, r.unusable(u, err)
	}
	return t, nil
}

// prove adds the client's credentials by its method.
func (c registered) prove(form url.Values) http.Header {
	if c.Method == methodBasic {
		return http.Header{"Authorization": {"Basic " + c.basic().Reveal()}}
	}
	form.Set("client_id", c.ID)
	if c.Method == methodPost {
		form.Set("client_secret", c.Secret.Reveal())
	}
	return nil
}

// basic returns the credentials as a header value. RFC 6749 §2.3.1: both are
// form-encoded before they are joined.
func (c registered) basic() gateway.Secret {
	pair := url.QueryEscape(c.ID) + ":" + url.QueryEscape(c.Secret.Reveal())
	return gateway.Secret(base64.StdEncoding.EncodeToString([]byte(pair)))
}

// refusal parses an error response. An endpoint that quotes the request must not
// bring secrets into a message.
func refusal(got *answer, form url.Values, c registered) *oauthError {
	var said struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = got.decode(&said)
	e := &oauthError{status: got.status, code: errorCode(said.Error), description: clip(said.Description)}
	for _, key := range []string{"code", "code_verifier", "refresh_token", "client_secret", "token"} {
		e.description = hide(e.description, gateway.Secret(form.Get(key)))
	}
	e.description = hide(hide(e.description, c.Secret), c.basic())
	return e
}

// hide removes a secret from a server's text. A text with a part of it, or with
// another encoding of it, is dropped altogether.
func hide(text string, secret gateway.Secret) string {
	const enough = 8
	raw := secret.Reveal()
	if raw == "" || text == "" {
		return text
	}
	for _, written := range []string{
		raw, url.QueryEscape(raw), base64.StdEncoding.EncodeToString([]byte(raw)), base64.RawURLEncoding.EncodeToString([]byte(raw)),
	} {
		if strings.Contains(text, written[:min(enough, len(written))]) {
			return ""
		}
	}
	return text
}

// errorCode returns a code that has the form of one, otherwise "".
func errorCode(code string) string {
	const longest = 60
	for _, c := range code {
		if (c < 'a' || c > 'z') && c != '_' {
			return ""
		}
	}
	if len(code) > longest {
		return ""
	}
	return code
}

func parseTokens(got *answer) (*tokens, error) {
	var said struct {
		Access  string          `json:"access_token"`
		Type    string          `json:"token_type"`
		Expires json.RawMessage `json:"expires_in"`
		Refresh string          `json:"refresh_token"`
		Scope   *string         `json:"scope"`
	}
	if err := got.decode(&said); err != nil {
		return nil, err
	}
	if !isToken(said.Access) || said.Refresh != "" && !isToken(said.Refresh) {
		return nil, errors.New("it gives no token, or one that cannot be sent")
	}
	if !strings.EqualFold(said.Type, "bearer") {
		return nil, errors.New("it gives a token that is no bearer token")
	}
	t := &tokens{access: gateway.Secret(said.Access), refresh: gateway.Secret(said.Refresh), lifetime: lifetime(said.Expires)}
	if said.Scope != nil {
		t.scopes = append([]string{}, strings.Fields(*said.Scope)...)
	}
	return t, nil
}

// isToken reports whether a text can be sent in a header.
func isToken(text string) bool {
	const longest = 32 << 10
	for i := range len(text) {
		if text[i] <= ' ' || text[i] >= 0x7f {
			return false
		}
	}
	return text != "" && len(text) <= longest
}

// lifetime parses expires_in, which some servers write as text.
func lifetime(raw json.RawMessage) time.Duration {
	const longest = 10 * 365 * 24 * time.Hour
	seconds, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil || !(seconds > 0) { // not a number is neither
		return 0
	}
	return time.Duration(min(seconds, longest.Seconds()) * float64(time.Second))
}
