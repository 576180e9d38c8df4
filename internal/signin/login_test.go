package signin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/testkit/authserver"
)

// TestThePageAtTheEnd tells the person to go back, in their language, and lets
// nothing out.
func TestThePageAtTheEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{})
	pages := make(chan string, 1)
	person := Person{
		Open: func(ctx context.Context, address string) error {
			page, err := r.Browse(context.WithoutCancel(ctx), address)
			pages <- page
			return err
		},
		Translate: func(format string) string { return "«" + format + "» <b>" },
	}
	if err := r.keeper.SignIn(t.Context(), r.server, Login{}, person); err != nil {
		t.Fatal(err)
	}
	page := <-pages
	if !strings.Contains(page, "«Genkan has your answer. You can close this window") || strings.Contains(page, "<b>") {
		t.Error(page)
	}
	for _, secret := range r.Secrets() {
		if strings.Contains(page, secret) {
			t.Errorf("the page shows %s", secret)
		}
	}
}

// TestThePage: its headers, and who gets it.
func TestThePage(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{})
	person := Person{Open: func(ctx context.Context, address string) error {
		back, err := r.Visit(ctx, address)
		if err != nil {
			return err
		}
		for name, c := range map[string]struct {
			method, address, host string
			status                int
		}{
			"another path":     {"GET", strings.Replace(back, "/callback", "/", 1), "", http.StatusNotFound},
			"another method":   {"POST", back, "", http.StatusNotFound},
			"another host":     {"GET", back, "rebound.example", http.StatusNotFound},
			"no state":         {"GET", strings.Replace(back, "state=", "x=", 1), "", http.StatusBadRequest},
			"another state":    {"GET", strings.Replace(back, "state=", "state=x", 1), "", http.StatusBadRequest},
			"two states":       {"GET", back + "&state=x", "", http.StatusBadRequest},
			"two codes":        {"GET", back + "&code=x", "", http.StatusBadRequest},
			"an error, forged": {"GET", strings.Replace(back, "state=", "error=access_denied&x=", 1), "", http.StatusBadRequest},
			"no code":          {"GET", strings.Replace(back, "code=", "x=", 1), "", http.StatusBadRequest},
		} {
			req, err := http.NewRequestWithContext(ctx, c.method, c.address, nil)
			if err != nil {
				return err
			}
			req.Close = true
			if c.host != "" {
				req.Host = c.host
			}
			response, err := http.DefaultClient.Do(req)
			if err != nil {
				return err
			}
			_ = response.Body.Close()
			if response.StatusCode != c.status {
				t.Errorf("%s: %s", name, response.Status)
			}
			if c.status == http.StatusBadRequest {
				for key, want := range map[string]string{"Referrer-Policy": "no-referrer", "Cache-Control": "no-store"} {
					if got := response.Header.Get(key); got != want {
						t.Errorf("%s: %s: %s", name, key, got)
					}
				}
				if csp := response.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") {
					t.Errorf("%s: %s", name, csp)
				}
			}
		}
		// None of these has ended the sign-in: a page that knows nothing of it
		// could otherwise.
		_, err = authserver.Open(ctx, back)
		return err
	}}
	if err := r.keeper.SignIn(t.Context(), r.server, Login{}, person); err != nil {
		t.Fatal(err)
	}
}

// TestPasting is for a browser on another machine, which ends at an address
// that it cannot open.
func TestPasting(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		paste func(back string) string
		words string
	}{
		"the address":       {func(back string) string { return back }, ""},
		"with spaces":       {func(back string) string { return " \t" + back + "\r\n" }, ""},
		"in quotes":         {func(back string) string { return `"` + back + `"` }, ""},
		"its query":         {func(back string) string { _, query, _ := strings.Cut(back, "?"); return query }, ""},
		"with a fragment":   {func(back string) string { return back + "#_=_" }, ""},
		"another's":         {func(back string) string { return strings.Replace(back, "state=", "state=x", 1) }, "not the address"},
		"the code only":     {func(back string) string { u, _ := url.Parse(back); return u.Query().Get("code") }, "not the address"},
		"nothing":           {func(string) string { return "" }, "not the address"},
		"nonsense":          {func(string) string { return "%zz;&&" }, "not the address"},
		"from a stranger":   {func(back string) string { return strings.Replace(back, "iss=", "iss=x", 1) }, "did not come from"},
		"the first address": {func(string) string { return "https://auth.example/authorize?state=x" }, "not the address"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, authserver.Options{})
			shown := make(chan string, 1)
			err := r.keeper.SignIn(t.Context(), r.server, Login{}, Person{
				Open: func(_ context.Context, address string) error {
					shown <- address
					return errors.New("no browser here")
				},
				Paste: func(ctx context.Context) (string, error) {
					back, err := r.Visit(ctx, <-shown)
					return c.paste(back), err
				},
			})
			if c.words != "" {
				if e := gateway.AsError(err); err == nil || !strings.Contains(e.Text(), c.words) {
					t.Fatal(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			r.mustCall("read")
		})
	}
}

// TestABrowserBeatsThePaste: who pastes nothing is not waited for.
func TestABrowserBeatsThePaste(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{})
	person := r.browser()
	ended := make(chan error, 1)
	person.Paste = func(ctx context.Context) (string, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return "", ctx.Err()
	}
	if err := r.keeper.SignIn(t.Context(), r.server, Login{}, person); err != nil {
		t.Fatal(err)
	}
	<-ended
}

// TestGivingUp says what to do, whoever gives up.
func TestGivingUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{})
	t.Run("no browser", func(t *testing.T) {
		err := r.keeper.SignIn(t.Context(), r.server, Login{}, Person{Open: func(context.Context, string) error { return errors.New("none") }})
		wantError(t, err, gateway.CodeUnavailable, "no browser could be opened")
		wantError(t, r.keeper.SignIn(t.Context(), r.server, Login{}, Person{}), gateway.CodeUnavailable, "no browser could be opened")
	})
	t.Run("the caller", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		err := r.keeper.SignIn(ctx, r.server, Login{}, Person{Open: func(context.Context, string) error { cancel(); return nil }})
		wantError(t, err, gateway.CodeCanceled, "given up; run `genkan login one`")
	})
	t.Run("who pastes", func(t *testing.T) {
		err := r.keeper.SignIn(t.Context(), r.server, Login{}, Person{Paste: func(context.Context) (string, error) { return "", errors.New("EOF") }})
		wantError(t, err, gateway.CodeCanceled, "given up; run `genkan login one`")
	})
	t.Run("patience", func(t *testing.T) {
		ended, end := context.WithCancel(context.Background())
		r.keeper.personPatience = func(ctx context.Context) (context.Context, context.CancelFunc) {
			inner, cancel := context.WithCancel(ctx)
			stop := context.AfterFunc(ended, cancel)
			return inner, func() { stop(); cancel() }
		}
		err := r.keeper.SignIn(t.Context(), r.server, Login{}, Person{Open: func(context.Context, string) error { end(); return nil }})
		wantError(t, err, gateway.CodeTimeout, "nobody signed in to one in time; run `genkan login one`")
	})
}

// TestErrorsOfTheAuthorizationServer are shown, cut to size, and only its own.
func TestErrorsOfTheAuthorizationServer(t *testing.T) {
	t.Parallel()
	q := &question{issuer: "https://auth.example", state: "a-state", announces: true}
	s := Server{Name: "one"}
	answer := func(pairs ...string) url.Values {
		v := url.Values{"state": {"a-state"}, "iss": {"https://auth.example"}}
		for i := 0; i < len(pairs); i += 2 {
			v.Set(pairs[i], pairs[i+1])
		}
		return v
	}
	for name, c := range map[string]struct {
		values     url.Values
		want, wont string
	}{
		"a reason":            {answer("error", "invalid_scope", "error_description", "no such scope"), "(invalid_scope: no such scope)", ""},
		"control characters":  {answer("error", "invalid_scope", "error_description", "a\x1b[31m\r\nb"), "a [31m", "\x1b"},
		"a novel":             {answer("error", "server_error", "error_description", strings.Repeat("é", 9999)), "éé…", strings.Repeat("é", 300)},
		"a code that is none": {answer("error", "<script>"), "does not let genkan sign in", "script"},
		"another's":           {answer("error", "invalid_scope", "error_description", "call 0800", "iss", "https://evil.example"), "did not come from auth.example", "0800"},
		"a slash more":        {answer("code", "x", "iss", "https://auth.example/"), "did not come from", ""},
		"another case":        {answer("code", "x", "iss", "https://AUTH.example"), "did not come from", ""},
		"an empty name":       {answer("code", "x", "iss", ""), "did not come from", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := q.read(s, c.values)
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), c.want) || c.wont != "" && strings.Contains(err.Error(), c.wont) {
				t.Error(err)
			}
		})
	}
}

// TestScopes that a sign-in asks for.
func TestScopes(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{Scopes: []string{"a"}, ScopesSupported: []string{"a", "offline_access", "z"}})
	var asked string
	person := Person{Open: func(ctx context.Context, address string) error {
		u, err := url.Parse(address)
		if err != nil {
			return err
		}
		asked = u.Query().Get("scope")
		if (u.Query().Get("prompt") == "consent") != strings.Contains(asked, "offline_access") {
			t.Error("consent is asked for with offline_access, and only then")
		}
		_, err = r.Browse(ctx, address)
		return err
	}}
	for _, step := range []struct {
		name   string
		change func()
		want   string
	}{
		{"what the server asks for", func() {}, "a offline_access"},
		{"and what it had before", func() { r.Change(func(o *authserver.Options) { o.Scopes = []string{"b"} }) }, "b a offline_access"},
		{"what the configuration says", func() { r.server.Scopes = []string{"c"} }, "c offline_access"},
	} {
		step.change()
		if err := r.keeper.SignIn(t.Context(), r.server, Login{}, person); err != nil {
			t.Fatal(err)
		}
		if asked != step.want {
			t.Errorf("%s: %q", step.name, asked)
		}
	}
}
