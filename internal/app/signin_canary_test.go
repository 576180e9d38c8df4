package app

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"genkan/internal/registry"
	"genkan/internal/testkit/authserver"
)

// TestNoSecretOfASignInIsSeen: a whole life of sign-ins at the most talkative
// log level. No code, token or client secret is in the log, in what clients and
// the API are told, or in a file of the data directory.
func TestNoSecretOfASignInIsSeen(t *testing.T) {
	t.Parallel()
	const byHand = "by-hand-s3cr3t/+="
	d := openDoor(t, authserver.Options{
		QuoteWhatWasSent: true, NoRegistration: true, Clients: map[string]string{"me": byHand},
		Scopes: []string{"a"}, ToolScopes: map[string]string{"write": "b"},
	}, conf{"oauth": conf{"clientId": "me", "clientSecret": "${secret:client}"}}, func(o *Options) { o.Flags.LogLevel = "trace" })
	if err := OpenVault(d.dir).Save(t.Context(), registry.SecretPrefix+"client", byHand); err != nil {
		t.Fatal(err)
	}
	if err := d.Reload(); err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	look := func() {
		for _, tool := range []string{"one__read", "one__write"} {
			for _, path := range []string{"/v1/servers", "/v1/servers/one", "/metrics"} {
				_, text := d.request(http.MethodGet, path, "", nil)
				seen.WriteString(text)
			}
			text, err := d.call(tool, "{}")
			_, answer := d.request(http.MethodPost, "/v1/tools/call", `{"name":"`+tool+`"}`, nil)
			fmt.Fprintln(&seen, text, err, answer)
		}
	}
	look()
	d.mustLogin()
	look()
	d.clock.advance(2 * time.Hour)
	look()
	d.auth.Expire()
	d.clock.advance(10 * time.Minute)
	look()
	// The authorization server fails, and quotes what it was sent.
	d.auth.Change(func(o *authserver.Options) {
		o.Before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/token" {
				return false
			}
			_ = r.ParseForm()
			w.WriteHeader(http.StatusBadGateway)
			_, _ = fmt.Fprintf(w, `{"error":"server_error","error_description":%q}`, r.PostForm.Encode()+r.Header.Get("Authorization"))
			return true
		}
	})
	d.clock.advance(2 * time.Hour)
	look()
	d.auth.Change(func(o *authserver.Options) { o.Before = nil })
	d.clock.advance(time.Minute)
	look()
	d.logout()
	look()
	d.mustLogin()
	d.auth.Forget()
	d.clock.advance(2 * time.Hour)
	look()

	texts := map[string]string{"the log": d.log.String(), "an answer": seen.String()}
	if err := filepath.WalkDir(d.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		texts[path] = string(raw)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	secrets := append(d.auth.Secrets(), byHand)
	if len(secrets) < 8 || len(texts) < 5 || len(texts["the log"]) < 2000 || len(texts["an answer"]) < 2000 {
		t.Fatalf("%d secrets in %d texts of %d and %d bytes: this test would pass without looking at anything", len(secrets), len(texts), len(texts["the log"]), len(texts["an answer"]))
	}
	for _, secret := range secrets {
		for _, written := range []string{
			secret, url.QueryEscape(secret), hex.EncodeToString([]byte(secret)),
			base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)),
		} {
			for name, text := range texts {
				if strings.Contains(text, written) {
					t.Errorf("%s shows %s", name, written)
				}
			}
		}
	}
}
