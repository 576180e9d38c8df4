package web

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/identity"
	"genkan/internal/jsonrpc"
	"genkan/internal/lock"
)

// maxCredential bounds the body of a sign-in, in bytes.
const maxCredential = 4 << 10

// signIn is the body of a sign-in. It has one of the two.
type signIn struct {
	// Code is the code of a link.
	Code string `json:"code"`
	// Token is any token.
	Token string `json:"token"`
}

// sessionInfo tells a page who has signed in.
type sessionInfo struct {
	SignedIn bool `json:"signedIn"`
	// Client is the name of the client whose rights the session has, and Admin
	// whether they are those of an administrator.
	Client  string `json:"client,omitempty"`
	Admin   bool   `json:"admin"`
	Version string `json:"version"`
	// Language is the configured language, en or ja.
	Language string `json:"language"`
}

// session serves /ui/session: who has signed in, signing in, and signing out.
func (u *UI) session(w http.ResponseWriter, r *http.Request) {
	if !u.opt.Receive(w, r) {
		return
	}
	secure(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Add("Vary", "Cookie")
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		u.whoIs(w, r)
	case http.MethodPost:
		u.signIn(w, r)
	case http.MethodDelete:
		u.signOut(w, r)
	default:
		const methods = "GET, HEAD, POST, DELETE"
		w.Header().Set("Allow", methods)
		u.fail(w, http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED", gateway.Errorf(gateway.CodeInvalid, "this path has no such method; there are %s", methods))
	}
}

// whoIs answers who has signed in. Nobody is an answer, not an error.
func (u *UI) whoIs(w http.ResponseWriter, r *http.Request) {
	secret, ok := u.opt.Session(r)
	if !ok {
		u.tell(w, gateway.Identity{}, false)
		return
	}
	id, err := u.opt.Sessions.Verify(r.Context(), secret)
	if err != nil && gateway.AsError(err).Code != gateway.CodeUnauthenticated {
		u.failWith(w, err)
		return
	}
	if err == nil {
		Admitted(r)
		if u.opt.Opened != nil {
			u.opt.Opened()
		}
	}
	u.tell(w, id, err == nil)
}

// tell answers with a sessionInfo.
func (u *UI) tell(w http.ResponseWriter, id gateway.Identity, signedIn bool) {
	encode(w, http.StatusOK, sessionInfo{
		SignedIn: signedIn, Client: id.ClientID, Admin: id.Admin, Version: u.opt.Version, Language: u.opt.Language().String(),
	})
}

// fromPage refuses requests that do not come from a page that genkan serves.
func (u *UI) fromPage(w http.ResponseWriter, r *http.Request) bool {
	if lock.FromOwnPage(r) {
		return true
	}
	u.refused(r, http.StatusForbidden, "foreign_origin")
	u.fail(w, http.StatusForbidden, "AUTHORIZATION_ERROR", gateway.Errorf(gateway.CodeDenied,
		"only a page that genkan serves can sign in or out; a program sends a token with each request instead"))
	return false
}

// signIn gives the browser a session for a code or a token.
func (u *UI) signIn(w http.ResponseWriter, r *http.Request) {
	if !u.fromPage(w, r) {
		return
	}
	if !jsonrpc.IsJSON(r.Header.Get("Content-Type")) {
		u.fail(w, http.StatusUnsupportedMediaType, "VALIDATION_ERROR", gateway.Errorf(gateway.CodeInvalid, "the Content-Type must be application/json, in UTF-8"))
		return
	}
	in, err := readSignIn(w, r)
	if err != nil {
		u.failWith(w, err)
		return
	}
	var id gateway.Identity
	var secret gateway.Secret
	if in.Code != "" {
		id, secret, err = u.opt.Sessions.Redeem(r.Context(), in.Code)
	} else {
		id, secret, err = u.opt.Sessions.SignIn(r.Context(), in.Token)
	}
	if err != nil {
		switch gateway.AsError(err).Code {
		case gateway.CodeUnauthenticated:
			u.refused(r, http.StatusUnauthorized, "wrong_token")
		case gateway.CodeLimited:
			u.refused(r, http.StatusTooManyRequests, "rate_limit_exceeded")
		default: // the recorder notes refusals only
		}
		u.failWith(w, err)
		return
	}
	Admitted(r)
	if former, ok := u.opt.Session(r); ok {
		_ = u.opt.Sessions.End(r.Context(), former) // the browser forgets it in any case
	}
	http.SetCookie(w, u.cookie(r, secret.Reveal(), int(identity.SessionLife.Seconds())))
	u.tell(w, id, true)
}

// cookie returns the cookie of a session. The page may have come over TLS that ends at
// a proxy; its origin tells.
func (u *UI) cookie(r *http.Request, value string, maxAge int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // without TLS a Secure cookie would not come back
		Name: u.opt.Cookie, Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || strings.HasPrefix(r.Header.Get("Origin"), "https://"),
	}
}

// readSignIn reads the body of a sign-in.
func readSignIn(w http.ResponseWriter, r *http.Request) (signIn, error) {
	var in signIn
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(writeTime))
	defer func() { _ = control.SetReadDeadline(time.Time{}) }()
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxCredential+1))
	if len(raw) > maxCredential {
		return in, gateway.Errorf(gateway.CodeInvalid, "this is too long to be a token of genkan; copy the token again")
	}
	if err == nil {
		err = decodeSignIn(raw, &in)
	}
	if err != nil || (in.Code == "") == (in.Token == "") {
		return in, gateway.Errorf(gateway.CodeInvalid, `send {"code": "…"} with the code of a link that "genkan ui" makes, or {"token": "…"} with a token`)
	}
	in.Token = strings.TrimSpace(in.Token) // people paste line ends, too
	return in, nil
}

// decodeSignIn decodes the body of a sign-in as strictly as the REST API decodes bodies:
// one object that has only the fields of signIn, each once.
func decodeSignIn(raw []byte, in *signIn) error {
	if err := json.Unmarshal(raw, in); err != nil {
		return err
	}
	if err := jsonrpc.CheckObject(raw, "code", "token"); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(in)
}

// signOut ends the session of the browser.
func (u *UI) signOut(w http.ResponseWriter, r *http.Request) {
	if !u.fromPage(w, r) {
		return
	}
	if secret, ok := u.opt.Session(r); ok {
		if err := u.opt.Sessions.End(r.Context(), secret); err != nil {
			u.failWith(w, err)
			return
		}
	}
	http.SetCookie(w, u.cookie(r, "", -1))
	w.WriteHeader(http.StatusNoContent)
}

// link answers with an address that signs one browser in. It is for the command line,
// which has the admin token: a session makes no further ones.
func (u *UI) link(w http.ResponseWriter, r *http.Request) {
	id, ok := u.opt.Admit(w, r)
	if !ok {
		return
	}
	secure(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	if !id.Admin {
		u.refused(r, http.StatusForbidden, "admin_only")
		u.failWith(w, gateway.Errorf(gateway.CodeDenied, "only an administrator may do this"))
		return
	}
	address, until, err := u.opt.Link(r.Context())
	if err != nil {
		u.failWith(w, err)
		return
	}
	encode(w, http.StatusOK, uiLink{address, until.UTC().Truncate(time.Second)})
}

// uiLink is an address that signs one browser in.
type uiLink struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expiresAt"`
}

func (u *UI) refused(r *http.Request, status int, reason string) {
	if u.opt.Refused != nil {
		u.opt.Refused(r, status, reason)
	}
}
