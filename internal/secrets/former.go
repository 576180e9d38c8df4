package secrets

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"time"

	"genkan/internal/gateway"
)

// former is a secret that genkan has held.
type former struct {
	Name  string    `json:"name"`
	Value string    `json:"value"`
	Seen  time.Time `json:"seen"`
}

const (
	// formerName is the vault's name of the former secrets.
	formerName = "history/secrets"
	// rememberEvery is how old the note may be that a secret was held.
	rememberEvery = 24 * time.Hour
	// watchEvery is how often Watch looks at the vault.
	watchEvery = time.Minute
)

// Remember keeps the secrets of today, so that they are recognized in the call history
// after they were replaced. From now on the vault is read for texts, too.
func (s *Secrets) Remember(ctx context.Context) {
	s.usesVault.Store(true)
	if err := s.remember(ctx, time.Now()); err != nil {
		s.opt.Log.Warn("the vault does not remember the secrets of today; if they are replaced, older calls in the history may show them", "error", err)
	}
}

// Reloaded remembers the secrets of a new configuration if Remember has been called.
func (s *Secrets) Reloaded(ctx context.Context) {
	if s.usesVault.Load() {
		s.Remember(ctx)
	}
}

// Watch remembers secrets that are put into the vault without a reload, such as renewed
// tokens, if Remember has been called. It returns when ctx ends.
func (s *Secrets) Watch(ctx context.Context) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	var seen time.Time
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		if info, err := os.Stat(s.opt.VaultDir); err == nil && s.usesVault.Load() && !info.ModTime().Equal(seen) {
			s.Remember(ctx)
			seen = info.ModTime()
		}
	}
}

// former returns the secrets that were held.
func (s *Secrets) former(ctx context.Context) ([]former, error) {
	text, found, err := s.opt.Vault.Load(ctx, formerName)
	if err != nil || !found {
		return nil, err
	}
	var all []former
	return all, json.Unmarshal([]byte(text.Reveal()), &all)
}

// remember keeps the secrets that genkan holds now for as long as calls are kept.
func (s *Secrets) remember(ctx context.Context, now time.Time) error {
	unlock, err := s.opt.Vault.Lock(ctx, formerName)
	if err != nil {
		return err
	}
	defer unlock()
	cfg := s.opt.Config()
	held, err := s.held(ctx, cfg)
	if err != nil {
		return err
	}
	before, err := s.former(ctx)
	if err != nil {
		return err
	}
	var all []former
	for _, h := range held {
		all = append(all, former{h.Name, h.Value.Reveal(), now})
	}
	changed := false
	for _, f := range before {
		i := slices.IndexFunc(all, func(s former) bool { return s.Name == f.Name && s.Value == f.Value })
		switch {
		case i >= 0 && now.Sub(f.Seen) < rememberEvery:
			all[i].Seen = f.Seen
		case i >= 0:
			changed = true
		case now.Sub(f.Seen) <= cfg.Record.KeptFor()+rememberEvery:
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
	return s.opt.Vault.Save(ctx, formerName, gateway.Secret(text))
}
