// Package secrets knows the secrets that genkan holds and has held, and takes them out of
// what is stored, shown and logged.
//
// They are the secrets of the configuration and of the vault, and those that were
// replaced while the call history has calls from their time. The vault keeps the latter.
// Package redact has the rules that find secrets in a text.
//
// A vault may be locked, and reading it may ask a person. So Text and Said use the vault
// only after Remember has been called, when the bodies of calls are kept.
package secrets

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/redact"
	"genkan/internal/registry"
)

// Options configure a Secrets.
type Options struct {
	Vault Vault
	// VaultDir is the folder of the vault. Its time of modification tells whether the
	// vault has changed.
	VaultDir string
	// Prefixes begin the vault's names of tokens. The secrets of definitions, which have
	// registry.SecretPrefix, are found in any case.
	Prefixes []string
	Admin    gateway.Secret
	// Config returns the configuration in force.
	Config func() *config.Config
	Log    *slog.Logger
}

// Vault keeps secrets.
type Vault interface {
	registry.SecretVault
	Lock(ctx context.Context, name string) (unlock func(), err error)
}

// Secrets are the secrets that genkan holds and has held. It is safe for concurrent use.
type Secrets struct {
	opt Options
	// usesVault is set once the vault may be read for texts.
	usesVault atomic.Bool
	// masking has the rules of Mask.
	masking atomic.Pointer[masking]

	mu sync.Mutex
	// rules were made for a configuration and a state of the vault.
	rules   *redact.Rules
	made    *config.Config
	changed time.Time
}

// New returns a Secrets. It does not read the vault.
func New(opt Options) *Secrets { return &Secrets{opt: opt} }

// Redactor returns a function that takes secrets out of JSON and names them.
func (s *Secrets) Redactor(ctx context.Context) (func([]byte) ([]byte, []string), error) {
	rules, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	return rules.JSON, nil
}

// unreadable replaces data from which secrets cannot be taken out.
const unreadable = `"[redacted: the vault cannot be read]"`

// JSON takes secrets out of JSON. Nothing of it is left if the vault cannot be read.
func (s *Secrets) JSON(ctx context.Context, raw []byte) []byte {
	rules, err := s.current(ctx)
	if err != nil {
		return []byte(unreadable)
	}
	out, _ := rules.JSON(raw)
	return out
}

// Known takes the secrets that genkan holds out of JSON, and leaves what only looks like a
// secret. It returns an error if the vault cannot be read.
func (s *Secrets) Known(ctx context.Context, raw []byte) ([]byte, error) {
	rules, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	out, _ := rules.KnownOnly().JSON(raw)
	return out, nil
}

// Text takes secrets out of an error before it is stored. Mask has been applied to it;
// these rules know the vault, too.
func (s *Secrets) Text(ctx context.Context, text string) string {
	if !s.usesVault.Load() {
		return text // the vault may be locked, and nothing else needs it
	}
	rules, err := s.current(ctx)
	if err != nil {
		return unreadable
	}
	text, _ = rules.Text(text)
	return text
}

// Said takes secrets out of what a script says to callers, which may be JSON.
func (s *Secrets) Said(ctx context.Context, text string) string {
	if !s.usesVault.Load() {
		return text // as in Text
	}
	return string(s.JSON(ctx, []byte(text)))
}

// masking are the rules for texts that servers and callers have written, which find the
// secrets of a configuration.
type masking struct {
	config *config.Config
	rules  *redact.Rules
}

// Mask masks what may be secret in a text for the log. It does not read the vault.
func (s *Secrets) Mask(text string) string {
	cfg := s.opt.Config()
	m := s.masking.Load()
	if m == nil || m.config != cfg {
		known := append(registry.SecretValues(cfg), redact.Known{Name: "admin-token", Value: s.opt.Admin})
		m = &masking{cfg, redact.New(known, redact.Strict)}
		s.masking.Store(m)
	}
	text, _ = m.rules.Text(text)
	return text
}

// current returns the rules that find all secrets.
func (s *Secrets) current(ctx context.Context) (*redact.Rules, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cfg := s.opt.Config()
	var changed time.Time
	if info, err := os.Stat(s.opt.VaultDir); err == nil {
		changed = info.ModTime()
	}
	if s.rules != nil && s.made == cfg && s.changed.Equal(changed) {
		return s.rules, nil
	}
	known, err := s.held(ctx, cfg)
	if err != nil {
		return nil, err
	}
	former, err := s.former(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range former {
		known = append(known, redact.Known{Name: f.Name, Value: gateway.Secret(f.Value)})
	}
	s.rules, s.made, s.changed = redact.New(known), cfg, changed
	return s.rules, nil
}

// held returns the secrets that genkan holds now.
func (s *Secrets) held(ctx context.Context, cfg *config.Config) ([]redact.Known, error) {
	known := append(registry.SecretValues(cfg),
		redact.Known{Name: "admin-token", Value: s.opt.Admin},
		redact.Known{Name: "approvals.webhook", Value: cfg.Approvals.Webhook},
		redact.Known{Name: "embeddings.apiKey", Value: cfg.Embeddings.APIKey},
		redact.Known{Name: "kb.semantic.apiKey", Value: cfg.Knowledge.Semantic.APIKey})
	for _, i := range cfg.N8N {
		known = append(known, redact.Known{Name: "n8n." + i.Name + ".apiKey", Value: i.APIKey})
	}
	names, err := s.opt.Vault.Names(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		shown, ok := strings.CutPrefix(name, registry.SecretPrefix)
		if !ok && !slices.ContainsFunc(s.opt.Prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			continue
		}
		value, found, err := s.opt.Vault.Load(ctx, name)
		if err != nil {
			return nil, err
		}
		if found {
			known = append(known, partsOf(shown, value)...)
		}
	}
	return slices.DeleteFunc(known, func(s redact.Known) bool { return s.Value == "" }), nil
}

// partsOf returns a value of the vault, or the tokens in it if it is a JSON object.
func partsOf(name string, value gateway.Secret) []redact.Known {
	var object map[string]any
	if json.Unmarshal([]byte(value.Reveal()), &object) != nil {
		return []redact.Known{{Name: name, Value: value}}
	}
	var parts []redact.Known
	var walk func(key string, value any)
	walk = func(key string, value any) {
		switch value := value.(type) {
		case string:
			if key = strings.ToLower(key); strings.Contains(key, "token") || strings.Contains(key, "secret") || strings.Contains(key, "access") || strings.Contains(key, "refresh") {
				parts = append(parts, redact.Known{Name: name, Value: gateway.Secret(value)})
			}
		case map[string]any:
			for k, v := range value {
				walk(k, v)
			}
		case []any:
			for _, v := range value {
				walk(key, v)
			}
		}
	}
	walk("", object)
	return parts
}
