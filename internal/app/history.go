package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"genkan/internal/api"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/history"
	"genkan/internal/record"
)

// historyDir returns the folder of the call history in a data directory.
func historyDir(dataDir string) string { return filepath.Join(dataDir, "calls") }

// openHistory connects the recorder with the call history.
func (p *Process) openHistory() {
	key := func(ctx context.Context) ([]byte, error) { return history.Key(ctx, p.vault) }
	writer := history.NewWriter(history.Options{
		Dir: historyDir(p.opt.DataDir), Run: p.recorder.Run(), Log: p.log,
		Key: func(ctx context.Context) ([]byte, error) {
			found, err := key(ctx)
			if err == nil {
				p.secrets.Remember(ctx)
			}
			return found, err
		},
		Redact: p.redactJSON, RedactText: p.redactText,
		Trace:  func(id string, redact bool) []byte { return p.workflows.traces.Encoded(id, redact, history.MaxTrace) },
		Effect: func(id string) string { return p.workflows.traces.Effect(id) },
		Keep:   func() history.Keep { return keepOf(p.Config().Record) },
	})
	p.calls = &history.Archive{
		Reader: history.NewReader(historyDir(p.opt.DataDir), key), Writer: writer, Log: p.log,
		Running: p.recorder.Running, AllRunning: p.recorder.AllRunning, CancelRunning: p.recorder.Cancel,
		Redact: p.secrets.Redactor, Since: p.tokens.NameSince,
	}
	say := p.say
	p.recorder.Keep(func() record.Keeping {
		k := keepingOf(p.Config().Record, writer)
		k.Say = say
		return k
	}, p.callStarted, p.callEnded)
	p.recorder.Follow(p.callProgressed)
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
	known := opt.secrets(stored, gateway.Secret(strings.TrimSpace(string(admin))), func() *config.Config { return cfg })
	key := func(ctx context.Context) ([]byte, error) { return history.LoadKey(ctx, stored) }
	return &api.CallHistory{
		Calls: &history.Archive{
			Reader: history.NewReader(historyDir(opt.DataDir), key), Log: traceLog(opt.DataDir),
			Redact: known.Redactor,
		},
		Record: func() config.Record { return cfg.Record },
	}, nil
}

// keepOf returns how much of the history a configuration keeps.
func keepOf(r config.Record) history.Keep {
	return history.Keep{For: r.KeptFor(), Bytes: int64(r.Megabytes) << 20}
}

// keepingOf returns what a configuration keeps of calls.
func keepingOf(r config.Record, writer *history.Writer) record.Keeping {
	k := record.Keeping{History: writer, Replay: !r.NoReplay, Bodies: func(who gateway.Identity) bool { return keepsBodies(r, who) }}
	if r.Off {
		k.History = nil
	}
	return k
}

// keepsBodies reports whether a configuration keeps what a caller sends and receives.
func keepsBodies(r config.Record, who gateway.Identity) bool {
	switch {
	case r.Off, r.Bodies == config.BodiesOff:
		return false
	case r.Bodies == config.BodiesAll:
		return true
	default:
		return who.IsLocal()
	}
}
