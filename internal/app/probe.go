package app

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"genkan/internal/api"
	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/upstream"
)

// TestServer starts a server once, aside from the one that may be running, and
// tells what it found. Without a definition it is the configured one. The error is
// about what was asked; a server that does not work is a finding.
func (p *Process) TestServer(ctx context.Context, name string, raw []byte) (api.Tested, error) {
	s, err := p.testable(ctx, name, raw)
	if err != nil {
		return api.Tested{}, err
	}
	// It ends with whoever asked, and with the process.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(p.tests, cancel)
	defer stop()
	select {
	case p.testing <- struct{}{}:
		defer func() { <-p.testing }()
	case <-ctx.Done():
		return api.Tested{}, testEnded()
	}
	deps := p.upstreamDeps()
	deps.Log = p.serverLog.With("test", true)
	begun := time.Now()
	var found api.Tested
	done := make(chan struct{})
	p.retired.Go(func() { // so that Close waits for its end
		defer close(done)
		source, status := upstream.Probe(ctx, p.settings(s), deps)
		found = api.Tested{Name: s.Name, Server: source, Status: status, Took: time.Since(begun)}
	})
	<-done
	if ctx.Err() != nil {
		return api.Tested{}, testEnded()
	}
	found.Hide = func(text string) string { return hide(s, text) }
	found.Seen = catalog.New([]catalog.Mount{mountOf(found.Server, s, nil)}, 0, deps.Log).Snapshot()
	return found, nil
}

// testsAtOnce is how many servers are tested at a time; others wait.
const testsAtOnce = 4

func testEnded() error {
	return gateway.Errorf(gateway.CodeCanceled, "the test was ended before the server was ready")
}

// testable is the server that a test is about.
func (p *Process) testable(ctx context.Context, name string, raw []byte) (config.Server, error) {
	cfg := p.Config()
	var written gateway.Secret
	kept := true
	if i := slices.IndexFunc(cfg.Servers, func(s config.Server) bool { return s.Name == name }); i >= 0 {
		if raw == nil {
			return cfg.Servers[i], nil
		}
		written, kept = cfg.Servers[i].Definition, cfg.Servers[i].Stored
	} else if i := slices.IndexFunc(cfg.Rejected, func(s config.RejectedServer) bool { return s.Name == name }); i >= 0 {
		written = cfg.Rejected[i].Definition
	}
	if raw == nil {
		if written == "" {
			return config.Server{}, noServer(name)
		}
		return config.CheckServer(name, []byte(written.Reveal()), p.sources(ctx))
	}
	given, err := readDefinition(raw)
	if err != nil {
		return config.Server{}, err
	}
	// What is shown of a server may be tested as it was shown.
	before, err := readDefinition([]byte(written.Reveal()))
	if err != nil {
		before = nil
	}
	if err := given.unmask(name, before, kept); err != nil {
		return config.Server{}, err
	}
	given.takeUser()
	return config.CheckServer(name, given.json(), p.sources(ctx))
}

// RestartServer ends a server's connection or process and starts it again.
func (p *Process) RestartServer(s *upstream.Server) {
	s.Restart()
	// What came before says nothing about the server that comes now.
	p.executor.Forget(s)
}

// Declared are all servers, disabled ones and those that are set aside too.
func (h *house) Declared() []api.Declared {
	shown := func(name string, written gateway.Secret, kept bool) func() json.RawMessage {
		return func() json.RawMessage {
			d, err := readDefinition([]byte(written.Reveal()))
			if err != nil {
				return nil
			}
			return d.masked(name, kept).json()
		}
	}
	all := make([]api.Declared, 0, len(h.config.Servers))
	for _, s := range h.config.Servers {
		all = append(all, api.Declared{
			Name: s.Name, Stored: s.Stored, Definition: shown(s.Name, s.Definition, s.Stored),
			Hide: func(text string) string { return hide(s, text) },
		})
	}
	for _, aside := range h.config.Rejected {
		at := slices.IndexFunc(all, func(d api.Declared) bool { return d.Name == aside.Name })
		if at >= 0 {
			all[at].Note = gateway.Textf("the database has a server of this name too, which is not used while the file declares one")
			continue
		}
		all = append(all, api.Declared{
			Name: aside.Name, Stored: true, Problem: aside.Reason, Definition: shown(aside.Name, aside.Definition, true),
			Hide: func(text string) string { return text },
		})
	}
	return all
}
