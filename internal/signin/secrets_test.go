package signin

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"genkan/internal/testkit/authserver"
	"genkan/internal/vault"
)

// TestNoSecretIsEverSeen: a whole life of sign-ins, with an authorization
// server that quotes what it was sent, logged in every detail. No code, token
// or client secret may be in a log, an error or a file, however it is written.
func TestNoSecretIsEverSeen(t *testing.T) {
	t.Parallel()
	const byHand = "by-hand-s3cr3t/+="
	r := newRig(t, authserver.Options{
		QuoteWhatWasSent: true, RegisterSecret: methodPost, Scopes: []string{"a"}, ToolScopes: map[string]string{"write": "b"},
		Clients: map[string]string{"me": byHand},
	})
	dir := filepath.Join(t.TempDir(), "vault")
	r.vault = vault.NewFile(dir, nil)
	r.keeper = r.another()
	var seen strings.Builder // every error, as the log and as people see it
	note := func(err error) {
		if err != nil {
			fmt.Fprintf(&seen, "%v\n%+v\n%#v\n", err, err, err)
			for e := err; e != nil; {
				fmt.Fprintf(&seen, "%+v\n", e)
				u, ok := e.(interface{ Unwrap() error })
				if !ok {
					break
				}
				e = u.Unwrap()
			}
		}
	}
	life := func() {
		r.mustSignIn()
		note(r.tryCall("read"))
		note(r.tryCall("write"))
		r.clock.advance(2 * time.Hour)
		note(r.tryCall("read"))
		r.Expire()
		r.clock.advance(10 * time.Minute)
		note(r.tryCall("read"))
		if g, err := r.keeper.load(t.Context(), r.server); err == nil {
			fmt.Fprintf(&seen, "%v %+v %#v\n", g, g, *g)
		}
		status, err := r.keeper.Status(t.Context(), r.server)
		note(err)
		fmt.Fprintf(&seen, "%+v\n", status)
		// Every kind of answer that quotes a token.
		for _, answer := range []string{"502", "400", "200"} {
			r.Change(func(o *authserver.Options) { o.Before = quoting(answer) })
			r.clock.advance(2 * time.Hour)
			note(r.tryCall("read"))
			note(r.keeper.SignIn(t.Context(), r.server, Login{Fresh: true}, r.browser()))
		}
		r.Change(func(o *authserver.Options) { o.Before = nil })
		// Codes that come back wrong.
		note(r.keeper.SignIn(t.Context(), r.server, Login{}, Person{
			Paste: func(context.Context) (string, error) {
				return "http://127.0.0.1/callback?code=code-CANARYCANARY&state=%zz", nil
			},
		}))
		r.Forget()
		r.clock.advance(2 * time.Hour)
		note(r.tryCall("read"))
		note(r.keeper.SignOut(t.Context(), r.server))
	}
	life()
	files, secrets := filesIn(t, dir), r.Secrets()
	r = nextLife(r)
	r.server.Client = Client{ID: "me", Secret: byHand}
	fmt.Fprintf(&seen, "%+v %#v\n", r.server, r.server)
	life()
	for name, text := range filesIn(t, dir) {
		files["second "+name] = text
	}
	files["the log"], files["an error"] = r.log.String(), seen.String()
	secrets = append(append(secrets, r.Secrets()...), "code-CANARYCANARY", byHand, "me:"+url.QueryEscape(byHand))
	if len(secrets) < 15 || len(files["the log"]) < 1000 || len(files["an error"]) < 1000 {
		t.Fatalf("%d secrets in %d and %d bytes: this test would pass without looking at anything", len(secrets), len(files["the log"]), len(files["an error"]))
	}
	for _, secret := range secrets {
		for _, written := range []string{
			secret, url.QueryEscape(secret), hex.EncodeToString([]byte(secret)),
			base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)),
		} {
			for name, text := range files {
				if strings.Contains(text, written) {
					t.Errorf("%s shows %s", name, written)
				}
			}
		}
	}
}

// nextLife is the same house with the next server pair, whose clients are
// still known.
func nextLife(r *rig) *rig {
	next := newRig(r.t, authserver.Options{
		QuoteWhatWasSent: true, Scopes: []string{"a"}, ToolScopes: map[string]string{"write": "b"},
		Clients: map[string]string{"me": "by-hand-s3cr3t/+="},
	})
	next.vault, next.log = r.vault, r.log
	next.keeper = next.another()
	return next
}

// quoting answers every POST of the authorization server with what was sent.
func quoting(kind string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost || r.URL.Path == "/mcp" {
			return false
		}
		_ = r.ParseForm()
		sent := r.PostForm.Encode() + " " + r.Header.Get("Authorization")
		switch kind {
		case "502":
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write([]byte(sent))
		case "400":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, `{"error":"invalid_request","error_description":%q}`, sent)
		default:
			_, _ = fmt.Fprintf(w, `{"client_id":"x","access_token":%q,"token_type":"bearer"}`, sent) // not a token: it has a space
		}
		return true
	}
}

// filesIn reads all files of a folder.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		t.Fatal("no files", err)
	}
	texts := map[string]string{}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		texts[e.Name()] = string(raw)
	}
	return texts
}
