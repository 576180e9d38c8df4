package app

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"time"

	"genkan/internal/api"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/history"
	"genkan/internal/record"
	"genkan/internal/vault"
)

// historyDir returns the folder of the call history in a data directory.
func historyDir(dataDir string) string { return filepath.Join(dataDir, "calls") }

// openHistory connects the recorder with the call history.
func (p *Process) openHistory() {
	p.secrets = &knownSecrets{vault: p.vault, dir: vaultDir(p.opt.DataDir), admin: p.admin, config: p.Config}
	key := historyKey(p.vault)
	writer := history.NewWriter(history.Options{
		Dir: historyDir(p.opt.DataDir), Run: p.recorder.Run(), Log: p.log,
		Key: func(ctx context.Context) ([]byte, error) {
			found, err := key(ctx)
			if err == nil {
				p.keepsBodies.Store(true)
				p.rememberSecrets(ctx)
			}
			return found, err
		},
		Redact: p.redactBody, RedactText: p.redactText,
		Trace: func(id string, redact bool) []byte { return p.workflows.traces.Encoded(id, redact, history.MaxTrace) },
		Keep:  func() history.Keep { return keepOf(p.Config().Record) },
	})
	p.calls = &history.Archive{
		Reader: history.NewReader(historyDir(p.opt.DataDir), key), Writer: writer, Log: p.log,
		Redact: p.secrets.redact, Since: p.holdsNameSince,
	}
	p.recorder.Keep(func() record.Keeping { return keepingOf(p.Config().Record, writer) }, p.callStarted, p.callEnded)
}

// CallHistory returns the call history of a data directory that no running genkan
// serves.
func CallHistory(opt Options) (*api.CallHistory, error) {
	cfg, err := ReadConfig(opt)
	if err != nil {
		return nil, err
	}
	stored := OpenVault(opt.DataDir)
	admin, _ := os.ReadFile(AdminTokenFile(opt.DataDir)) // without it there is nothing of it to find
	secrets := &knownSecrets{
		vault: stored, dir: vaultDir(opt.DataDir), admin: gateway.Secret(strings.TrimSpace(string(admin))),
		config: func() *config.Config { return cfg },
	}
	key := func(ctx context.Context) ([]byte, error) { return loadHistoryKey(ctx, stored) }
	return &api.CallHistory{
		Calls: &history.Archive{
			Reader: history.NewReader(historyDir(opt.DataDir), key), Log: traceLog(opt.DataDir),
			Redact: secrets.redact,
		},
		Record: func() config.Record { return cfg.Record },
	}, nil
}

// keepOf returns how much of the history a configuration keeps.
func keepOf(r config.Record) history.Keep {
	return history.Keep{For: time.Duration(r.Days) * 24 * time.Hour, Bytes: int64(r.Megabytes) << 20}
}

// keepingOf returns what a configuration keeps of calls.
func keepingOf(r config.Record, writer *history.Writer) record.Keeping {
	k := record.Keeping{History: writer, Replay: !r.NoReplay}
	switch {
	case r.Off:
		k.History = nil
	case r.Bodies == config.BodiesAll:
		k.Bodies = everybody
	case r.Bodies == config.BodiesOff:
		k.Bodies = nobody
	default:
		k.Bodies = gateway.Identity.IsLocal
	}
	return k
}

func everybody(gateway.Identity) bool { return true }
func nobody(gateway.Identity) bool    { return false }

// historyKeyName is the vault's name of the key that bodies are encrypted with.
const historyKeyName = "history/key"

// historyKey returns a function that returns the key of the history, and makes it if
// there is none.
func historyKey(v *vault.File) func(context.Context) ([]byte, error) {
	return func(ctx context.Context) ([]byte, error) {
		if key, err := loadHistoryKey(ctx, v); key != nil || err != nil {
			return key, err
		}
		unlock, err := v.Lock(ctx, historyKeyName)
		if err != nil {
			return nil, err
		}
		defer unlock()
		if key, err := loadHistoryKey(ctx, v); key != nil || err != nil {
			return key, err
		}
		key := make([]byte, history.KeySize)
		_, _ = rand.Read(key) // never fails
		return key, v.Save(ctx, historyKeyName, gateway.Secret(base64.StdEncoding.EncodeToString(key)))
	}
}

func loadHistoryKey(ctx context.Context, v *vault.File) ([]byte, error) {
	text, found, err := v.Load(ctx, historyKeyName)
	if err != nil || !found {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(text.Reveal())
}

// unreadableVault replaces a body from which secrets cannot be taken out.
const unreadableVault = `"[redacted: the vault cannot be read]"`

// redactBody takes the secrets out of a body before it is stored.
func (p *Process) redactBody(body []byte) []byte {
	rules, err := p.secrets.rulesNow(p.life)
	if err != nil {
		return []byte(unreadableVault)
	}
	body, _ = rules.JSON(body)
	return body
}

// redactText takes the secrets out of an error before it is stored. The log's rules have
// been applied to it; these know the vault, too.
func (p *Process) redactText(text string) string {
	if !p.keepsBodies.Load() {
		return text // the vault may be locked, and nothing else needs it
	}
	rules, err := p.secrets.rulesNow(p.life)
	if err != nil {
		return unreadableVault
	}
	text, _ = rules.Text(text)
	return text
}

// rememberSecrets lets the secrets of today be recognised in the history later.
func (p *Process) rememberSecrets(ctx context.Context) {
	if err := p.secrets.remember(ctx, time.Now()); err != nil {
		p.log.Warn("the vault does not remember the secrets of today; if they are replaced, older calls in the history may show them", "error", err)
	}
}

// watchSecrets remembers secrets that are put into the vault without a reload, such as
// renewed tokens.
func (p *Process) watchSecrets(ctx context.Context) {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	var seen time.Time
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		if info, err := os.Stat(vaultDir(p.opt.DataDir)); err == nil && p.keepsBodies.Load() && !info.ModTime().Equal(seen) {
			p.rememberSecrets(ctx)
			seen = info.ModTime()
		}
	}
}

// holdsNameSince returns since when a client with a token has its name.
func (p *Process) holdsNameSince(ctx context.Context, who gateway.Identity) (time.Time, error) {
	if who.IsLocal() {
		return time.Time{}, nil
	}
	tokens, err := p.tokens.List(ctx)
	for _, t := range tokens {
		if t.Name == who.ClientID {
			return t.CreatedAt, err
		}
	}
	return time.Now(), err // it was revoked a moment ago
}
