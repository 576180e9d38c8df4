package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"genkan/internal/gateway"
)

// Fingerprint tells whether two servers are the same process or endpoint:
// it covers command, arguments, environment, working directory, URL, headers
// and how to sign in, and nothing that only changes how we treat it. Secrets are hashed
// in, not shown; as they may be guessable, keep it out of clients' sight.
func (s Server) Fingerprint() string {
	h := sha256.New()
	// Lengths keep neighbours apart: ["ab"] is not ["a","b"].
	length := func(n int) { _, _ = fmt.Fprintf(h, "%d:", n) } // a hash takes every write
	text := func(t string) {
		length(len(t))
		h.Write([]byte(t))
	}
	secrets := func(m map[string]gateway.Secret, name func(string) string) {
		keys := make([]string, 0, len(m))
		for k := range m {
			keys = append(keys, k)
		}
		slices.SortFunc(keys, func(a, b string) int { return strings.Compare(name(a), name(b)) })
		length(len(keys))
		for _, k := range keys {
			text(name(k))
			text(m[k].Reveal())
		}
	}
	text("genkan server 1")
	text(s.Command)
	length(len(s.Args))
	for _, a := range s.Args {
		text(a)
	}
	secrets(s.Env, func(k string) string { return k })
	text(s.Cwd)
	text(s.URL)
	secrets(s.Headers, http.CanonicalHeaderKey)
	length(len(s.Unresolved.Each))
	if o := s.OAuth; o.isSet() { // servers without it keep the fingerprint they had
		_, _ = fmt.Fprintf(h, "%t %d ", o.Off, o.RedirectPort)
		for _, t := range []string{o.ClientID, o.ClientSecret.Reveal(), o.Issuer} {
			text(t)
		}
		for _, list := range [][]string{o.Scopes, o.PrivateHosts} {
			length(len(list))
			for _, t := range list {
				text(t)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Changes says what a reload has to do. Every server of either configuration
// is in exactly one list, in file order.
type Changes struct {
	// Added and Removed are servers that only the new or the old has.
	Added, Removed []string
	// Changed servers need a new connection.
	Changed []string
	// Reconfigured servers keep theirs and are treated in another way.
	Reconfigured []string
	Unchanged    []string
	// RestartNeeded names the settings that differ and that only a new process
	// can honour: listen, tls.cert, tls.key.
	RestartNeeded []string
}

// Diff compares two configurations. A nil one is empty.
func Diff(old, now *Config) Changes {
	if old == nil {
		old = &Config{}
		if now != nil { // nothing runs yet that would need a restart
			old.Listen, old.TLS = now.Listen, now.TLS
		}
	}
	if now == nil {
		now = &Config{Listen: old.Listen, TLS: old.TLS}
	}
	var c Changes
	before := make(map[string]Server, len(old.Servers))
	for _, s := range old.Servers {
		before[s.Name] = s
	}
	after := make(map[string]bool, len(now.Servers))
	for _, s := range now.Servers {
		after[s.Name] = true
		was, existed := before[s.Name]
		switch {
		case !existed:
			c.Added = append(c.Added, s.Name)
		case reconnects(was, s):
			c.Changed = append(c.Changed, s.Name)
		case reconfigures(was, s):
			c.Reconfigured = append(c.Reconfigured, s.Name)
		default:
			c.Unchanged = append(c.Unchanged, s.Name)
		}
	}
	for _, s := range old.Servers {
		if !after[s.Name] {
			c.Removed = append(c.Removed, s.Name)
		}
	}
	for _, setting := range []struct{ name, was, is string }{
		{"listen", old.Listen, now.Listen},
		{"tls.cert", old.TLS.CertFile, now.TLS.CertFile},
		{"tls.key", old.TLS.KeyFile, now.TLS.KeyFile},
	} {
		if setting.was != setting.is {
			c.RestartNeeded = append(c.RestartNeeded, setting.name)
		}
	}
	return c
}

// reconnects: another process or endpoint, another way of calling or sharing
// it, or running where it did not before.
func reconnects(a, b Server) bool {
	return a.Fingerprint() != b.Fingerprint() || a.Transport != b.Transport || a.Isolation != b.Isolation || a.Disabled != b.Disabled
}

func reconfigures(a, b Server) bool {
	return a.Prefix != b.Prefix || a.Overwrite != b.Overwrite || a.Timeout != b.Timeout || a.StartupTimeout != b.StartupTimeout ||
		a.Budget != b.Budget || a.Validate != b.Validate || a.Schemas != b.Schemas ||
		(a.Tools.Allow == nil) != (b.Tools.Allow == nil) || // nil admits all, empty none
		!slices.EqualFunc(a.ToolOptions, b.ToolOptions, ToolOptions.equal) ||
		!slices.Equal(a.Tools.Allow, b.Tools.Allow) || !slices.Equal(a.Tools.Deny, b.Tools.Deny)
}

func (o ToolOptions) equal(other ToolOptions) bool {
	return o.Pattern == other.Pattern && o.ExecuteOptions == other.ExecuteOptions && o.Version == other.Version &&
		o.Category == other.Category && slices.Equal(o.Tags, other.Tags) && (o.Tags == nil) == (other.Tags == nil)
}
