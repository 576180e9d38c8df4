package registry

import (
	"context"
	"slices"
	"time"

	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/upstream"
)

// Probe is the outcome of starting a server once.
type Probe struct {
	// Server is closed. Its lists are those of the probe.
	Server *upstream.Server
	Status upstream.Status
	// Findings are the problems of the tools that it listed.
	Findings []catalog.Finding
}

// TestResult is the outcome of a test of a server.
type TestResult struct {
	Probe

	Name string
	Took time.Duration
	// Redact masks the server's secrets in a text.
	Redact func(text string) string
}

// maxTests is how many tests run at once. Further tests wait.
const maxTests = 4

// TestServer starts a server once, beside the one that may be running. A nil
// definition tests the configured server. The error is about the request; a
// server that does not work is a result.
func (r *Registry) TestServer(ctx context.Context, name string, raw []byte) (TestResult, error) {
	s, err := r.serverToTest(ctx, name, raw)
	if err != nil {
		return TestResult{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(r.testing, cancel)
	defer stop()
	select {
	case r.testSlots <- struct{}{}:
		defer func() { <-r.testSlots }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil || r.testing.Err() != nil {
		return TestResult{}, errTestEnded()
	}
	begun := time.Now()
	probe := r.opt.Probe(ctx, s)
	if ctx.Err() != nil {
		return TestResult{}, errTestEnded()
	}
	return TestResult{
		Probe: probe, Name: s.Name, Took: time.Since(begun),
		Redact: func(text string) string { return redactOutput(s, text) },
	}, nil
}

func errTestEnded() error {
	return gateway.Errorf(gateway.CodeCanceled, "the test was ended before the server was ready")
}

// EndTests ends the running tests and refuses new ones.
func (r *Registry) EndTests() { r.endTests() }

// Close ends the running tests and waits until their servers have stopped.
func (r *Registry) Close() {
	r.EndTests()
	for range maxTests {
		r.testSlots <- struct{}{}
	}
	for range maxTests {
		<-r.testSlots
	}
}

// serverToTest reads the given definition of a server, or finds the configured
// one.
func (r *Registry) serverToTest(ctx context.Context, name string, raw []byte) (config.Server, error) {
	cfg := r.opt.Config()
	var written gateway.Secret // the configured definition, also of a server that was rejected
	registered := true
	if i := slices.IndexFunc(cfg.Servers, func(s config.Server) bool { return s.Name == name }); i >= 0 {
		if raw == nil {
			return cfg.Servers[i], nil
		}
		written, registered = cfg.Servers[i].Definition, cfg.Servers[i].Stored
	} else if i := slices.IndexFunc(cfg.Rejected, func(s config.RejectedServer) bool { return s.Name == name }); i >= 0 {
		written = cfg.Rejected[i].Definition
	}
	if raw == nil {
		if written == "" {
			return config.Server{}, errNoServer(name)
		}
		return config.CheckServer(name, []byte(written.Reveal()), r.sources(ctx))
	}
	given, err := parseDefinition(raw)
	if err != nil {
		return config.Server{}, err
	}
	current, err := parseDefinition([]byte(written.Reveal()))
	if err != nil {
		current = nil
	}
	if err := given.restoreMasked(name, current, registered); err != nil {
		return config.Server{}, err
	}
	given.moveUserToHeader()
	return config.CheckServer(name, given.json(), r.sources(ctx))
}

// RestartServer ends a server's connection or process and starts it again.
func (r *Registry) RestartServer(s *upstream.Server) {
	s.Restart()
	r.opt.Restarted(s)
}
