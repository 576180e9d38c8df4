package registry

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/upstream"
)

// A test starts the given definition with its masked values restored, or the
// configured server, also one that is set aside. Nothing is stored.
func TestServersAreTestedBeforeTheyAreRegistered(t *testing.T) {
	t.Parallel()
	f := newFixture(t, `{"mcpServers": {"file": {"url": "http://127.0.0.1:1/mcp", "prefix": "taken", "headers": {"X-Api-Key": "canary-f", "X-Region": "eu"}}}}`)
	f.add("one", remote("canary-0"))
	f.add("second", `{"url":"http://127.0.0.1:1/mcp","prefix":"spare","headers":{"X-Api-Key":"canary-1"}}`)
	f.edit(`{"mcpServers": {"file": {"url": "http://127.0.0.1:1/mcp", "prefix": "spare", "headers": {"X-Api-Key": "canary-f", "X-Region": "eu"}}}}`)
	var started config.Server
	f.probe = func(_ context.Context, s config.Server) Probe {
		started = s
		return Probe{Status: upstream.Status{Output: "the key is " + s.Headers["X-Api-Key"].Reveal()}}
	}
	for name, c := range map[string]struct{ server, definition, key string }{
		"a new one":                {"new", remote("canary-n"), "canary-n"},
		"a registered one":         {"one", "", "canary-0"},
		"changes of it":            {"one", remote("canary-c"), "canary-c"},
		"with a reference":         {"one", remote("${secret:second.X-Api-Key}"), "canary-1"},
		"one of the file":          {"file", "", "canary-f"},
		"one of the file as shown": {"file", `{"headers":{"X-Api-Key":"***","X-Region":"***"},"url":"http://127.0.0.1:1/mcp"}`, "canary-f"},
		"one that is set aside":    {"second", "", "canary-1"},
	} {
		t.Run(name, func(t *testing.T) {
			var raw []byte
			if c.definition != "" {
				raw = []byte(c.definition)
			}
			result, err := f.TestServer(t.Context(), c.server, raw)
			if err != nil {
				t.Fatal(err)
			}
			if got := started.Headers["X-Api-Key"].Reveal(); result.Name != c.server || got != c.key {
				t.Errorf("%s was started with %s", result.Name, got)
			}
			if shown := result.Redact(result.Status.Output); shown != "the key is ***" {
				t.Errorf("shown: %s", shown)
			}
		})
	}
	f.wantSecrets(map[string]string{"one.X-Api-Key": "canary-0", "second.X-Api-Key": "canary-1"})

	for name, c := range map[string]struct {
		server, definition string
		code               gateway.Code
		field, message     string
	}{
		"unknown":         {"unknown", "", gateway.CodeNotFound, "", `no server "unknown"`},
		"not JSON":        {"new", "x", gateway.CodeInvalid, "", "a JSON object"},
		"a mask":          {"new", remote("***"), gateway.CodeInvalid, "headers.X-Api-Key", "stands for a secret"},
		"neither command": {"new", `{"env":{}}`, gateway.CodeInvalid, "", "command"},
	} {
		t.Run(name, func(t *testing.T) {
			var raw []byte
			if c.definition != "" {
				raw = []byte(c.definition)
			}
			_, err := f.TestServer(t.Context(), c.server, raw)
			wantRefused(t, err, c.code, c.field, c.message)
		})
	}
}

// blockingTests returns a registry whose tests send on started, when a server has
// started and when it has stopped, and end with their
// context.
func blockingTests(started chan<- struct{}) *Registry {
	return New(context.Background(), Options{
		Config: func() *config.Config {
			return &config.Config{Servers: []config.Server{{Name: "one"}}}
		},
		Probe: func(ctx context.Context, _ config.Server) Probe {
			started <- struct{}{}
			<-ctx.Done()
			time.Sleep(time.Second) // its process takes a moment to stop
			started <- struct{}{}
			return Probe{}
		},
	})
}

// Four tests run at once. Close ends them and those that wait, and returns when
// their servers have stopped; later tests are refused.
func TestCloseEndsTests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		events := make(chan struct{}, 100)
		r := blockingTests(events)
		const all = maxTests + 3
		errs := make(chan error, all)
		for range all {
			go func() {
				_, err := r.TestServer(t.Context(), "one", nil)
				errs <- err
			}()
		}
		synctest.Wait()
		if len(events) != 4 {
			t.Errorf("%d tests run at once", len(events))
		}
		r.Close()
		if len(events) != 2*maxTests {
			t.Errorf("Close returned after %d of %d servers have stopped", len(events)-maxTests, maxTests)
		}
		for range all {
			wantRefused(t, <-errs, gateway.CodeCanceled, "", "the test was ended")
		}
		_, err := r.TestServer(t.Context(), "one", nil)
		wantRefused(t, err, gateway.CodeCanceled, "", "the test was ended")
		r.Close()
	})
}

// A test ends with the request that asked for it.
func TestATestEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := blockingTests(make(chan struct{}, 100))
		defer r.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		_, err := r.TestServer(ctx, "one", nil)
		wantRefused(t, err, gateway.CodeCanceled, "", "the test was ended")
		if took := time.Since(begun); took != time.Minute+time.Second {
			t.Errorf("it took %s", took)
		}
	})
}
