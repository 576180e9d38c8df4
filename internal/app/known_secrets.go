package app

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/redact"
	"genkan/internal/registry"
	"genkan/internal/setup"
	"genkan/internal/signin"
	"genkan/internal/vault"
)

// knownSecrets are the secrets that genkan holds: those of the configuration and of the
// vault, and those that they have had as long as the call history reaches back. A
// secret that was replaced is still in older calls.
type knownSecrets struct {
	vault  *vault.File
	dir    string // of the vault
	admin  gateway.Secret
	config func() *config.Config

	mu sync.Mutex
	// rules were made for a configuration and a state of the vault.
	rules   *redact.Rules
	made    *config.Config
	changed time.Time
}

// rulesNow returns the rules that find all of them.
func (k *knownSecrets) rulesNow(ctx context.Context) (*redact.Rules, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	cfg := k.config()
	var changed time.Time
	if info, err := os.Stat(k.dir); err == nil {
		changed = info.ModTime()
	}
	if k.rules != nil && k.made == cfg && k.changed.Equal(changed) {
		return k.rules, nil
	}
	known, err := k.held(ctx, cfg)
	if err != nil {
		return nil, err
	}
	former, err := k.former(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range former {
		known = append(known, redact.Known{Name: f.Name, Value: gateway.Secret(f.Value)})
	}
	k.rules, k.made, k.changed = redact.New(known), cfg, changed
	return k.rules, nil
}

// redact returns what takes them out of a body.
func (k *knownSecrets) redact(ctx context.Context) (func([]byte) ([]byte, []string), error) {
	rules, err := k.rulesNow(ctx)
	if err != nil {
		return nil, err
	}
	return rules.JSON, nil
}

// held returns the secrets that genkan holds now.
func (k *knownSecrets) held(ctx context.Context, cfg *config.Config) ([]redact.Known, error) {
	known := append(registry.SecretValues(cfg),
		redact.Known{Name: "admin-token", Value: k.admin},
		redact.Known{Name: "approvals.webhook", Value: cfg.Approvals.Webhook},
		redact.Known{Name: "embeddings.apiKey", Value: cfg.Embeddings.APIKey},
		redact.Known{Name: "kb.semantic.apiKey", Value: cfg.Knowledge.Semantic.APIKey})
	for _, i := range cfg.N8N {
		known = append(known, redact.Known{Name: "n8n." + i.Name + ".apiKey", Value: i.APIKey})
	}
	names, err := k.vault.Names(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		shown, ok := strings.CutPrefix(name, registry.SecretPrefix)
		if !ok && !strings.HasPrefix(name, setup.TokenPrefix) && !strings.HasPrefix(name, signin.VaultPrefix) {
			continue
		}
		value, found, err := k.vault.Load(ctx, name)
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

// formerSecret is a secret that genkan has held.
type formerSecret struct {
	Name  string    `json:"name"`
	Value string    `json:"value"`
	Seen  time.Time `json:"seen"`
}

// formerName is the vault's name of the former secrets.
const formerName = "history/secrets"

func (k *knownSecrets) former(ctx context.Context) ([]formerSecret, error) {
	text, found, err := k.vault.Load(ctx, formerName)
	if err != nil || !found {
		return nil, err
	}
	var all []formerSecret
	return all, json.Unmarshal([]byte(text.Reveal()), &all)
}

// remember keeps the secrets that genkan holds now for as long as calls are kept.
func (k *knownSecrets) remember(ctx context.Context, now time.Time) error {
	unlock, err := k.vault.Lock(ctx, formerName)
	if err != nil {
		return err
	}
	defer unlock()
	cfg := k.config()
	held, err := k.held(ctx, cfg)
	if err != nil {
		return err
	}
	before, err := k.former(ctx)
	if err != nil {
		return err
	}
	var all []formerSecret
	for _, h := range held {
		all = append(all, formerSecret{h.Name, h.Value.Reveal(), now})
	}
	changed := false
	for _, f := range before {
		i := slices.IndexFunc(all, func(s formerSecret) bool { return s.Name == f.Name && s.Value == f.Value })
		switch {
		case i >= 0 && now.Sub(f.Seen) < rememberEvery:
			all[i].Seen = f.Seen
		case i >= 0:
			changed = true
		case now.Sub(f.Seen) <= keepOf(cfg.Record).For+rememberEvery:
			all = append(all, f)
		default:
			changed = true // it is forgotten
		}
	}
	if !changed && len(all) == len(before) {
		return nil
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return k.vault.Save(ctx, formerName, gateway.Secret(text))
}

// rememberEvery is how old the note may be that a secret was held.
const rememberEvery = 24 * time.Hour

// masking are the rules for texts that servers and callers have written, which find the
// secrets of a configuration.
type masking struct {
	config *config.Config
	rules  *redact.Rules
}

// withoutSecrets masks what may be secret in a text for the log.
func (p *Process) withoutSecrets(text string) string {
	cfg := p.Config()
	m := p.masking.Load()
	if m == nil || m.config != cfg {
		known := append(registry.SecretValues(cfg), redact.Known{Name: "admin-token", Value: p.admin})
		m = &masking{cfg, redact.New(known, redact.Strict)}
		p.masking.Store(m)
	}
	text, _ = m.rules.Text(text)
	return text
}
