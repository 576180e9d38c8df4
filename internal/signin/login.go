package signin

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"slices"
	"strings"

	"genkan/internal/gateway"
)

// Person is the person who signs in. At least one of the functions is needed.
type Person struct {
	// Open opens an address in a browser, or asks the person to. If it fails,
	// Paste is needed. It may block until the person is done; ctx ends with the
	// sign-in.
	Open func(ctx context.Context, address string) error
	// Paste asks for the address that the browser ended up at, for browsers
	// on another machine. It runs after Open, while genkan also waits for the
	// browser, and should end with ctx; what it returns afterwards is left
	// unread.
	Paste func(ctx context.Context) (string, error)
	// Translate translates the final page.
	Translate gateway.Translate
}

// Login are the options of a sign-in.
type Login struct {
	// Challenge is that of the server's refusal. With the zero value the server
	// is asked.
	Challenge Challenge
	// Fresh registers genkan again where it had registered itself, for
	// authorization servers that have forgotten it.
	Fresh bool
}

// SignIn takes a person through signing in to a server and saves the result. It
// ends when ctx does.
func (k *SignIns) SignIn(ctx context.Context, s Server, l Login, p Person) error {
	r := newReach(s, k.network)
	defer r.close()
	before, err := k.before(ctx, s)
	if err != nil {
		return err
	}
	found, challenge, err := r.find(ctx, l.Challenge, []string{s.Client.Issuer, before.Client.Issuer})
	if err != nil {
		return err
	}
	known := before.Client
	if l.Fresh {
		known = registered{}
	}
	wanted := s.RedirectPort
	if wanted == 0 {
		wanted = portOfRedirect(known.RedirectURI)
	}
	loop, err := listenLoopback(ctx, wanted)
	if err != nil {
		return err
	}
	// serve closes it, too; this is for the ways out before that.
	defer loop.listener.Close()
	if s.RedirectPort != 0 && loop.port != s.RedirectPort {
		return gateway.Errorf(gateway.CodeConflict, "port %d, where the browser comes back to after signing in to %s, is taken; end the program that has it", s.RedirectPort, s.Name)
	}
	scopes := chooseScopes(s, challenge, found, before)
	client, err := r.client(ctx, registration{
		target: found, known: known, metadataURL: k.metadataURL, redirectURI: loop.redirectURI(), scopes: scopes, now: k.now(),
	})
	if err != nil {
		return err
	}
	q := newQuestion(found, client, scopes)
	code, err := k.ask(ctx, s, q, loop, p)
	if err != nil {
		return err
	}
	t, err := r.requestToken(ctx, found.issuer.TokenEndpoint, client, q.redeem(code))
	if err != nil {
		return r.notRedeemed(err)
	}
	g := &kept{
		ID: rand.Text(), URL: s.URL, Client: client, Resource: found.resource, Requested: scopes, Granted: scopes,
		TokenEndpoint: found.issuer.TokenEndpoint, RevocationEndpoint: found.issuer.RevocationEndpoint,
	}
	if client.How == byHand {
		g.Client.Secret = "" // the configuration has it
	}
	g.take(t, k.now())
	if err := k.replace(ctx, s, g); err != nil {
		return err
	}
	k.log.Info("signed_in", "server", s.Name, "issuer", client.Issuer, "scopes", g.Granted, "expires", g.Expires, "refreshable", g.Refresh != "")
	return nil
}

// find probes the server and discovers its authorization server. A server that
// neither refuses the request nor has metadata needs no sign-in.
func (r *reach) find(ctx context.Context, c Challenge, preferred []string) (*target, Challenge, error) {
	refuses := true
	var err error
	if c.ResourceMetadata == "" && c.Scopes == nil && c.Error == "" {
		if c, refuses, err = r.probe(ctx); err != nil {
			return nil, c, err
		}
	}
	found, err := r.discover(ctx, c, slices.DeleteFunc(preferred, func(issuer string) bool { return issuer == "" }))
	if errors.Is(err, errNotThere) {
		if !refuses {
			return nil, c, gateway.Errorf(gateway.CodeConflict, "server %s does not ask for sign-in; `genkan servers %s` shows how it is", r.server.Name, r.server.Name)
		}
		found, err = r.discoverLegacy(ctx)
	}
	return found, c, err
}

// before returns the last sign-in to the server, or a zero one.
func (k *SignIns) before(ctx context.Context, s Server) (*kept, error) {
	g, err := k.load(ctx, s)
	if err != nil {
		return nil, err
	}
	if g == nil || !g.isFor(s) {
		return &kept{}, nil
	}
	return g, nil
}

// chooseScopes returns the scopes to request: those that the server names, and
// those that the former sign-in had or lacked, because the new one replaces it.
func chooseScopes(s Server, c Challenge, found *target, before *kept) []string {
	first := found.scopes
	if len(c.Scopes) > 0 {
		first = c.Scopes
	}
	same := before.Client.Issuer == found.issuer.Issuer
	switch {
	case len(s.Scopes) > 0 && same:
		first = union(s.Scopes, before.Wanted)
	case len(s.Scopes) > 0:
		first = s.Scopes
	case same:
		first = union(first, before.Granted, before.Wanted)
	}
	const offline = "offline_access" // refresh tokens, where they must be asked for
	if slices.Contains(found.issuer.ScopesSupported, offline) {
		first = union(first, []string{offline})
	}
	return first
}

// notRedeemed is the error of a code that brought no token.
func (r *reach) notRedeemed(err error) error {
	var refused *oauthError
	if !errors.As(err, &refused) {
		return err
	}
	return because(refused, gateway.Errorf(gateway.CodeDenied,
		"the sign-in to %s was not completed (%s); run `genkan login %s` again", r.server.Name, refused.reason(), r.server.Name))
}

// ask sends the person to the browser and waits for the answer, whichever way
// it comes.
func (k *SignIns) ask(ctx context.Context, s Server, q *question, loop *loopback, p Person) (gateway.Secret, error) {
	type outcome struct {
		code gateway.Secret
		err  error
	}
	outcomes := make(chan outcome, 1)
	settle := func(code gateway.Secret, err error) {
		select {
		case outcomes <- outcome{code, err}:
		default: // a page that was loaded again
		}
	}
	waiting, enough := k.personPatience(ctx)
	defer enough()
	serving, stop := context.WithCancel(waiting)
	served := make(chan struct{})
	go func() {
		defer close(served)
		loop.serve(serving, p.Translate, func(query url.Values) (bool, error) {
			code, err := q.read(s, query)
			if errors.Is(err, errNotOurs) {
				return false, nil
			}
			settle(code, err)
			return true, err
		})
	}()
	defer func() { stop(); <-served }()

	go func() {
		code, err := p.answer(serving, s, q)
		if serving.Err() == nil && (code != "" || err != nil) {
			settle(code, err)
		}
	}()
	select {
	case o := <-outcomes:
		return o.code, o.err
	case <-waiting.Done():
		if ctx.Err() != nil {
			return "", because(context.Cause(ctx), gateway.Errorf(gateway.CodeCanceled, "the sign-in to %s was given up; run `genkan login %s` to start again", s.Name, s.Name))
		}
		return "", because(context.Cause(waiting), gateway.Errorf(gateway.CodeTimeout, "nobody signed in to %s in time; run `genkan login %s` to start again", s.Name, s.Name))
	}
}

// answer shows the question to the person, and reads the answer if it is to
// come from them. Without a code and an error it comes from the browser.
func (p Person) answer(ctx context.Context, s Server, q *question) (gateway.Secret, error) {
	opened := errors.New("nobody to open it")
	if p.Open != nil {
		opened = p.Open(ctx, q.address())
	}
	if p.Paste == nil {
		if opened != nil {
			return "", because(opened, gateway.Errorf(gateway.CodeUnavailable, "no browser could be opened to sign in to %s; run `genkan login %s` where there is one", s.Name, s.Name))
		}
		return "", nil
	}
	pasted, err := p.Paste(ctx)
	if err != nil {
		return "", because(err, gateway.Errorf(gateway.CodeCanceled, "the sign-in to %s was given up; run `genkan login %s` to start again", s.Name, s.Name))
	}
	return q.readPasted(s, pasted)
}

// readPasted accepts the whole address or its query.
func (q *question) readPasted(s Server, pasted string) (gateway.Secret, error) {
	text := strings.Trim(strings.TrimSpace(pasted), `"'`)
	if _, query, found := strings.Cut(text, "?"); found {
		text = query
	}
	text, _, _ = strings.Cut(text, "#")
	values, err := url.ParseQuery(text)
	if err != nil {
		err = errNotOurs // the cause quotes what was pasted
	}
	var code gateway.Secret
	if err == nil {
		code, err = q.read(s, values)
	}
	if errors.Is(err, errNotOurs) {
		return "", gateway.Errorf(gateway.CodeInvalid, "what was pasted is not the address that this sign-in to %s ended at; run `genkan login %s` again, and copy the whole address from the browser's address bar", s.Name, s.Name)
	}
	return code, err
}
