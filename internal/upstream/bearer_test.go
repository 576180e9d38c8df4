package upstream

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"genkan/internal/gateway"
)

// keyring is a sign-in whose tokens the test makes.
// It is for one request at a time.
type keyring struct {
	token  gateway.Secret
	err    error
	others []gateway.Secret
}

func (k *keyring) Token(context.Context) (gateway.Secret, error) {
	if k.token == "" && k.err == nil {
		return "", gateway.Errorf(gateway.CodeUnauthenticated, "server %s needs sign-in; run `genkan login %s`", "srv", "srv")
	}
	return k.token, k.err
}

func (k *keyring) Refused(ctx context.Context, _ gateway.Secret, _ int, _ http.Header) error {
	if len(k.others) > 0 {
		k.token, k.others = k.others[0], k.others[1:]
		return nil
	}
	k.token = ""
	_, err := k.Token(ctx)
	return err
}

func (k *keyring) Doubt() {}

func (k *keyring) SignIn() string {
	if k.token == "" {
		return ""
	}
	return "a person's"
}

func (k *keyring) Known() (bool, time.Time) { return k.token != "", time.Time{} }

// gatekeeper answers every request and remembers what came.
type gatekeeper struct {
	accepts string
	seen    []string
}

func (w *gatekeeper) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(raw)
	}
	got := r.Header.Get("Authorization")
	w.seen = append(w.seen, r.Method+" "+r.URL.Host+" "+got+" "+body)
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: r}
	if w.accepts != "" && got != w.accepts {
		resp.StatusCode = http.StatusUnauthorized
	}
	return resp, nil
}

func request(t testing.TB, method, address, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Which requests carry which token.
func TestSignedTransport(t *testing.T) {
	t.Parallel()
	const home, elsewhere = "https://mcp.example/mcp", "https://mcp.example:8443/mcp"
	for name, c := range map[string]struct {
		accepts       string
		keys          keyring
		header        string
		method, to    string
		want          []string
		code          gateway.Code
		fails, unsent bool
	}{
		"none, and none is wanted":    {method: "POST", to: home, want: []string{"POST mcp.example  body"}},
		"the sign-in's":               {keys: keyring{token: "t"}, method: "POST", to: home, want: []string{"POST mcp.example Bearer t body"}},
		"the same origin, with port":  {keys: keyring{token: "t"}, method: "POST", to: "https://mcp.example:443/x", want: []string{"POST mcp.example:443 Bearer t body"}},
		"none to another origin":      {keys: keyring{token: "t"}, method: "POST", to: elsewhere, want: []string{"POST mcp.example:8443  body"}},
		"another, with the same body": {accepts: "Bearer u", keys: keyring{token: "t", others: []gateway.Secret{"u"}}, method: "POST", to: home, want: []string{"POST mcp.example Bearer t body", "POST mcp.example Bearer u body"}},
		"the header's":                {accepts: "Bearer h", header: "Bearer h", keys: keyring{token: "t"}, method: "POST", to: home, want: []string{"POST mcp.example Bearer h body"}},
		"after the header's":          {accepts: "Bearer t", header: "Bearer h", keys: keyring{others: []gateway.Secret{"t"}}, method: "POST", to: home, want: []string{"POST mcp.example Bearer h body", "POST mcp.example Bearer t body"}},
		"none is there": {
			accepts: "Bearer t", method: "POST", to: home, want: []string{"POST mcp.example  body"},
			fails: true, code: gateway.CodeUnauthenticated,
		},
		"none for a last farewell": {accepts: "Bearer t", method: "DELETE", to: home, want: []string{"DELETE mcp.example  body"}},
		"it cannot be renewed": {
			keys: keyring{err: gateway.Errorf(gateway.CodeUnavailable, "genkan is stopping")}, method: "POST", to: home,
			fails: true, unsent: true, code: gateway.CodeUnavailable,
		},
		"no end of tokens": {
			accepts: "Bearer never", keys: keyring{token: "1", others: []gateway.Secret{"2", "3", "4", "5", "6"}}, method: "POST", to: home,
			want:  []string{"POST mcp.example Bearer 1 body", "POST mcp.example Bearer 2 body", "POST mcp.example Bearer 3 body"},
			fails: true, code: gateway.CodeUnauthenticated,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &gatekeeper{accepts: c.accepts}
			set := &Settings{Name: "srv", URL: home, Bearer: &c.keys}
			if c.header != "" {
				set.Headers = map[string]gateway.Secret{"authorization": gateway.Secret(c.header)}
			}
			s := newSignedTransport(set, w)
			s.prepare(t.Context())
			s.uses.Store(s.uses.Load() || c.keys.err != nil)
			r := request(t, c.method, c.to, "body")
			if c.header != "" {
				r.Header.Set("Authorization", c.header)
			}
			resp, err := s.RoundTrip(r)
			if resp != nil {
				_ = resp.Body.Close()
			}
			if got := strings.Join(w.seen, "\n"); got != strings.Join(c.want, "\n") {
				t.Errorf("sent:\n%s\nwant:\n%s", got, strings.Join(c.want, "\n"))
			}
			if (err != nil) != c.fails {
				t.Fatalf("error %v", err)
			}
			if e := gateway.AsError(err); c.fails && (e.Code != c.code || e.Unsent != c.unsent || e.Answered == c.unsent) {
				t.Errorf("%+v", e)
			}
		})
	}
}

// silent is a wire that costs nothing.
type silent struct{ resp *http.Response }

func (s silent) RoundTrip(*http.Request) (*http.Response, error) { return s.resp, nil }

// A server that wants no sign-in pays nothing for those that do.
func TestSignedTransportCostsNothing(t *testing.T) {
	s := newSignedTransport(&Settings{Name: "srv", URL: "https://mcp.example/mcp", Bearer: &keyring{}},
		silent{&http.Response{StatusCode: http.StatusOK, Body: http.NoBody}})
	s.prepare(t.Context())
	r := request(t, http.MethodPost, "https://mcp.example/mcp", "body")
	if got := testing.AllocsPerRun(100, func() {
		if _, err := s.RoundTrip(r); err != nil { //nolint:bodyclose // there is none
			t.Error(err)
		}
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
