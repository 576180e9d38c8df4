package authserver

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

type client struct {
	secret      string
	method      string
	redirects   []string
	anyRedirect bool // at this machine, whatever the port
}

type code struct {
	client, redirect, challenge, resource string
	scopes                                []string
}

// grant is what somebody agreed to. Tokens come and go; the family stays.
type grant struct {
	client, resource string
	scopes           []string
	expires          time.Time
	refresh          string
	used             bool
	revoked          *bool
}

func (s *Server) issuerHandler() http.Handler {
	mux := http.NewServeMux()
	path := s.options.IssuerPath
	mux.HandleFunc("GET /.well-known/oauth-authorization-server"+path, s.metadata(OAuthInserted))
	mux.HandleFunc("GET /.well-known/openid-configuration"+path, s.metadata(OpenIDInserted))
	if path != "" {
		mux.HandleFunc("GET "+path+"/.well-known/openid-configuration", s.metadata(OpenIDAppended))
	}
	mux.HandleFunc("GET "+path+"/authorize", s.authorize)
	mux.HandleFunc("POST "+path+"/token", s.token)
	mux.HandleFunc("POST "+path+"/register", s.register)
	mux.HandleFunc("POST "+path+"/revoke", s.revoke)
	return mux
}

func (s *Server) metadata(at IssuerMetadata) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		o := s.now()
		want := o.IssuerMetadata
		if o.IssuerPath == "" && want == OpenIDAppended {
			want = OpenIDInserted
		}
		if o.NoMetadata || at != want {
			http.NotFound(w, r)
			return
		}
		base := s.Issuer()
		m := map[string]any{
			"issuer": base, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token",
			"revocation_endpoint": base + "/revoke", "jwks_uri": base + "/jwks",
			"response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code", "refresh_token"},
		}
		if o.ClaimIssuer != "" {
			m["issuer"] = o.ClaimIssuer
		}
		if !o.NoPKCE {
			m["code_challenge_methods_supported"] = []string{"S256"}
		}
		if !o.NoRegistration {
			m["registration_endpoint"] = base + "/register"
		}
		if len(o.Documents) > 0 {
			m["client_id_metadata_document_supported"] = true
		}
		if o.AuthMethods != nil {
			m["token_endpoint_auth_methods_supported"] = o.AuthMethods
		}
		if o.ScopesSupported != nil {
			m["scopes_supported"] = o.ScopesSupported
		}
		if o.AnnounceIss {
			m["authorization_response_iss_parameter_supported"] = true
		}
		answerJSON(w, http.StatusOK, m)
	}
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	s.count("register")
	o := s.now()
	var wish struct {
		Redirects   []string `json:"redirect_uris"`
		Method      string   `json:"token_endpoint_auth_method"`
		Application string   `json:"application_type"`
		Grants      []string `json:"grant_types"`
	}
	if err := json.NewDecoder(r.Body).Decode(&wish); err != nil || len(wish.Redirects) == 0 || o.NoRegistration {
		refuse(w, http.StatusBadRequest, "invalid_client_metadata", "")
		return
	}
	if wish.Application != "native" {
		s.fault("registered without application_type native")
	}
	if !slices.Contains(wish.Grants, "refresh_token") {
		s.fault("registered without the grant refresh_token")
	}
	id, c := "client-"+rand.Text(), &client{redirects: wish.Redirects, method: wish.Method}
	said := map[string]any{"client_id": id, "redirect_uris": wish.Redirects, "token_endpoint_auth_method": wish.Method}
	if o.RegisterSecret != "" {
		c.secret, c.method = rand.Text()+rand.Text(), o.RegisterSecret
		said["client_secret"], said["client_secret_expires_at"], said["token_endpoint_auth_method"] = c.secret, 0, c.method
	}
	s.mu.Lock()
	s.clients[id] = c
	s.note(c.secret)
	s.mu.Unlock()
	answerJSON(w, http.StatusCreated, said)
}

// authorize is the page that a person would see, who always agrees unless told
// otherwise.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	s.count("authorize")
	o, q := s.now(), r.URL.Query()
	s.mu.Lock()
	known := s.clients[q.Get("client_id")]
	s.mu.Unlock()
	redirect := q.Get("redirect_uri")
	switch {
	case known == nil, !known.mayReturnTo(redirect):
		http.Error(w, "unknown client or redirect", http.StatusBadRequest)
		return
	case q.Get("response_type") != "code", q.Get("code_challenge_method") != "S256", len(q.Get("code_challenge")) != 43:
		s.fault("an authorization request without code or PKCE")
	case q.Get("resource") == "":
		s.fault("an authorization request without resource")
	case len(q.Get("state")) < 20:
		s.fault("an authorization request without a state that is hard to guess")
	}
	back := url.Values{"state": {q.Get("state")}}
	switch o.Iss {
	case "":
		back.Set("iss", s.Issuer())
	case "-":
	default:
		back.Set("iss", o.Iss)
	}
	if o.DenyConsent {
		back.Set("error", "access_denied")
	} else {
		c := &code{
			client: q.Get("client_id"), redirect: redirect, challenge: q.Get("code_challenge"),
			resource: q.Get("resource"), scopes: grantable(o, strings.Fields(q.Get("scope"))),
		}
		name := "code-" + rand.Text()
		s.mu.Lock()
		s.codes[name] = c
		s.note(name)
		s.mu.Unlock()
		back.Set("code", name)
	}
	w.Header().Set("Location", redirect+"?"+back.Encode())
	w.WriteHeader(http.StatusFound)
}

func grantable(o Options, asked []string) []string {
	if o.Grantable == nil {
		return asked
	}
	return slices.DeleteFunc(asked, func(scope string) bool { return !slices.Contains(o.Grantable, scope) })
}

func (c *client) mayReturnTo(redirect string) bool {
	if c.anyRedirect {
		u, err := url.Parse(redirect)
		return err == nil && u.Hostname() == "127.0.0.1" && u.Scheme == "http"
	}
	return slices.Contains(c.redirects, redirect) // as it is, with its port
}

// token gives out tokens for codes and refresh tokens.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	o := s.now()
	quote := ""
	if o.QuoteWhatWasSent {
		quote = r.PostForm.Encode()
	}
	id, ok := s.authenticate(r)
	switch {
	case !ok:
		s.count("refused")
		refuse(w, http.StatusUnauthorized, "invalid_client", quote)
		return
	case r.PostForm.Get("resource") == "":
		s.fault("a token request without resource")
	}
	var g *grant
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		s.count("code")
		g = s.redeem(id, r.PostForm)
	case "refresh_token":
		s.count("refresh")
		g = s.renew(id, r.PostForm, o)
	}
	if g == nil {
		s.count("refused")
		refuse(w, http.StatusBadRequest, "invalid_grant", quote)
		return
	}
	answerJSON(w, http.StatusOK, s.give(g, o))
}

func (s *Server) authenticate(r *http.Request) (id string, ok bool) {
	id, secret, method := r.PostForm.Get("client_id"), r.PostForm.Get("client_secret"), "client_secret_post"
	if name, password, basic := r.BasicAuth(); basic {
		id, _ = url.QueryUnescape(name)
		secret, _ = url.QueryUnescape(password)
		method = "client_secret_basic"
	} else if secret == "" {
		method = "none"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.clients[id]
	if c == nil || c.secret != secret || c.method != "" && c.method != method {
		return id, false
	}
	return id, true
}

func (s *Server) redeem(id string, form url.Values) *grant {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := form.Get("code")
	c := s.codes[name]
	delete(s.codes, name)
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	if c == nil || c.client != id || c.redirect != form.Get("redirect_uri") || c.resource != form.Get("resource") ||
		c.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
		return nil
	}
	return &grant{client: id, resource: c.resource, scopes: c.scopes, revoked: new(bool)}
}

// renew spends a refresh token. One that was spent before ends the sign-in:
// somebody has stolen it.
func (s *Server) renew(id string, form url.Values, o Options) *grant {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.refresh[form.Get("refresh_token")]
	if old == nil || old.client != id || *old.revoked {
		return nil
	}
	if old.used {
		s.faults = append(s.faults, "a refresh token was used twice")
		*old.revoked = true
		return nil
	}
	old.used = !o.KeepRefresh
	g := &grant{client: id, resource: old.resource, scopes: old.scopes, revoked: old.revoked}
	if o.KeepRefresh {
		g.refresh = old.refresh
	}
	return g
}

func (s *Server) give(g *grant, o Options) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	access := "access-" + rand.Text()
	s.note(access)
	s.grants[access] = g
	said := map[string]any{"access_token": access, "token_type": "Bearer", "scope": strings.Join(g.scopes, " ")}
	if o.Lifetime > 0 {
		g.expires = o.Now().Add(o.Lifetime)
		said["expires_in"] = int(o.Lifetime.Seconds())
	}
	if o.Audience != "" {
		g.resource = o.Audience
	}
	if !o.NoRefresh && g.refresh == "" {
		g.refresh = "refresh-" + rand.Text()
		s.note(g.refresh)
		s.refresh[g.refresh] = g
		said["refresh_token"] = g.refresh
	}
	return said
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	s.count("revoke")
	_ = r.ParseForm()
	token := r.PostForm.Get("token")
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range []*grant{s.refresh[token], s.grants[token]} {
		if g != nil {
			*g.revoked = true
		}
	}
	w.WriteHeader(http.StatusOK)
}

func refuse(w http.ResponseWriter, status int, code, description string) {
	said := map[string]any{"error": code}
	if description != "" {
		said["error_description"] = description
	}
	answerJSON(w, status, said)
}

func answerJSON(w http.ResponseWriter, status int, said any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(said)
}
