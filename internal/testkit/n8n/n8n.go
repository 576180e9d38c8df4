// Package n8n installs, starts and prepares a real n8n for tests: a pinned version
// in the user's cache, on loopback, with an owner, an API key, workflows and
// executions. `make e2e-n8n` runs the tests that use it.
//
// It is imported by tests only.
package n8n

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// gate is the environment variable that lets tests use a real n8n.
	gate = "GENKAN_E2E_N8N"
	// writeGate lets tests change an n8n that is not theirs.
	writeGate = "E2E_WRITE"
	// installPatience is how long installing may take, startPatience how long n8n
	// may take until it is ready, stopPatience until it has ended.
	installPatience = 30 * time.Minute
	startPatience   = 5 * time.Minute
	stopPatience    = 20 * time.Second
)

// Instance is an n8n that is ready.
type Instance struct {
	// URL is where it is, without a slash at the end and without /api/v1.
	URL string
	// APIKey has all scopes if the instance is ours.
	APIKey string
	// Dir is its N8N_USER_FOLDER, or "" if the instance is not ours.
	Dir string
	// Installed is how long installing it took, perhaps long ago; Started is how
	// long it took until it was ready.
	Installed, Started time.Duration

	installation installation
	pid          int
	session      http.Header // the owner's
	http         *http.Client
}

// Start returns a fresh n8n that ends with the test. It skips the test unless
// GENKAN_E2E_N8N=1. With N8N_URL and N8N_API_KEY it returns the user's own
// instance, which tests only read; see NeedsWriting.
func Start(t *testing.T) *Instance {
	t.Helper()
	if os.Getenv(gate) != "1" {
		t.Skip("needs a real n8n: make e2e-n8n")
	}
	i := &Instance{http: &http.Client{Transport: &http.Transport{}, Timeout: 2 * time.Minute}}
	t.Cleanup(i.http.CloseIdleConnections)
	if url := os.Getenv("N8N_URL"); url != "" {
		i.URL = strings.TrimSuffix(strings.TrimSuffix(url, "/"), "/api/v1")
		if i.APIKey = os.Getenv("N8N_API_KEY"); i.APIKey == "" {
			t.Fatal("N8N_URL is set, N8N_API_KEY is not; set both to read that n8n, or none to start one")
		}
		return i
	}
	ctx, cancel := context.WithTimeout(t.Context(), installPatience)
	defer cancel()
	found, err := install(ctx, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	i.installation, i.Installed = found, found.took
	i.Dir = t.TempDir()
	i.start(t)
	i.setUp(t)
	return i
}

// Own reports whether the instance was started by Start.
func (i *Instance) Own() bool { return i.Dir != "" }

// NeedsWriting skips the test if it must not change the instance: it is the
// user's, and E2E_WRITE=1 is not set.
func (i *Instance) NeedsWriting(t *testing.T) {
	t.Helper()
	if !i.Own() && os.Getenv(writeGate) != "1" {
		t.Skip("changes workflows: N8N_URL names an n8n that is only read unless " + writeGate + "=1")
	}
}

// start starts the process and waits until it is ready.
func (i *Instance) start(t *testing.T) {
	t.Helper()
	port, broker := freePort(t), freePort(t)
	i.URL = "http://127.0.0.1:" + port
	watch := filepath.Join(i.Dir, "watch.cjs")
	if err := os.WriteFile(watch, []byte(watchScript), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), i.installation.node, "--require", watch, i.installation.script(), "start")
	cmd.Dir = i.Dir
	cmd.Env = environment(i.Dir, filepath.Dir(i.installation.node), port, broker)
	inGroup(cmd)
	var log syncedTail
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.WaitDelay = stopPatience
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	i.pid = cmd.Process.Pid
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		endGroup(cmd.Process, false)
		select {
		case <-ended:
		case <-time.After(stopPatience):
		}
		endGroup(cmd.Process, true)
		<-ended
		_ = stdin.Close()
		if t.Failed() {
			t.Logf("the last of n8n's log:\n%s", log.String())
		}
	})
	for deadline := begin.Add(startPatience); ; {
		if status, _, err := i.try(t.Context(), http.MethodGet, "/healthz/readiness", nil, nil); err == nil && status == http.StatusOK {
			break
		}
		select {
		case <-ended:
			t.Fatalf("n8n ended before it was ready:\n%s", log.String())
		case <-time.After(100 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("n8n is not ready after %v:\n%s", startPatience, log.String())
		}
	}
	i.Started = time.Since(begin)
	t.Logf("n8n is ready at %s after %v", i.URL, i.Started.Round(100*time.Millisecond))
}

// watchScript ends n8n and its children, and removes their folder, when the test
// process is gone without having done so: then n8n's standard input ends.
const watchScript = `if (require('node:worker_threads').isMainThread && /n8n$/.test(process.argv[1])) {
	process.stdin.on('end', () => {
		try {
			require('node:fs').rmSync(process.env.N8N_USER_FOLDER, { recursive: true, force: true });
		} finally {
			process.kill(-process.pid, 'SIGKILL');
		}
	}).resume().unref();
}
`

// environment is all that n8n gets: nothing of the user's but the system's PATH.
// It asks nobody outside the machine.
func environment(dir, node, port, broker string) []string {
	return []string{
		"PATH=" + strings.Join([]string{node, "/usr/local/bin", "/usr/bin", "/bin"}, string(os.PathListSeparator)),
		"HOME=" + dir,
		"TMPDIR=" + dir,
		"TZ=UTC",
		"GENERIC_TIMEZONE=UTC",
		"NODE_ENV=production",
		"N8N_USER_FOLDER=" + dir,
		"N8N_HOST=127.0.0.1",
		"N8N_LISTEN_ADDRESS=127.0.0.1",
		"N8N_PORT=" + port,
		"N8N_PROTOCOL=http",
		"N8N_SECURE_COOKIE=false",
		"N8N_RUNNERS_BROKER_LISTEN_ADDRESS=127.0.0.1",
		"N8N_RUNNERS_BROKER_PORT=" + broker,
		"N8N_DIAGNOSTICS_ENABLED=false",
		"N8N_VERSION_NOTIFICATIONS_ENABLED=false",
		"N8N_TEMPLATES_ENABLED=false",
		"N8N_PERSONALIZATION_ENABLED=false",
		"N8N_HIRING_BANNER_ENABLED=false",
		"N8N_DYNAMIC_BANNERS_ENABLED=false",
		"N8N_DISABLED_MODULES=mcp-registry", // it downloads a list
		"N8N_COMMUNITY_PACKAGES_ENABLED=false",
		"N8N_LICENSE_AUTO_RENEW_ENABLED=false",
		"EXTERNAL_FRONTEND_HOOKS_URLS=",
	}
}

// freePort returns a port of the loopback that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// setUp makes the owner and a key with every scope that an owner may give.
func (i *Instance) setUp(t *testing.T) {
	t.Helper()
	owner, _ := json.Marshal(map[string]string{
		"email": "owner@example.com", "firstName": "Test", "lastName": "Owner", "password": "Aa1" + rand.Text(),
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, i.URL+"/rest/owner/setup", bytes.NewReader(owner))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := i.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("the owner cannot be made: %d %v %s", resp.StatusCode, err, answer)
	}
	i.session = http.Header{}
	for _, c := range resp.Cookies() {
		i.session.Add("Cookie", c.Name+"="+c.Value)
	}
	var scopes struct{ Data []string }
	i.internal(t, http.MethodGet, "/rest/api-keys/scopes", nil, &scopes)
	i.APIKey = i.Key(t, scopes.Data...)
}

// Key makes an API key with some scopes, such as "workflow:read". The instance must
// be ours.
func (i *Instance) Key(t *testing.T, scopes ...string) string {
	t.Helper()
	var made struct{ Data struct{ RawAPIKey string } }
	i.internal(t, http.MethodPost, "/rest/api-keys", map[string]any{"label": rand.Text(), "expiresAt": nil, "scopes": scopes}, &made)
	if made.Data.RawAPIKey == "" {
		t.Fatal("n8n made no API key")
	}
	return made.Data.RawAPIKey
}

// internal calls the API that n8n's own pages use.
func (i *Instance) internal(t *testing.T, method, path string, body, into any) {
	t.Helper()
	status, answer, err := i.try(t.Context(), method, path, i.session, body)
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s %s: %d %v %s", method, path, status, err, answer)
	}
	if err := json.Unmarshal(answer, into); err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
}

// Call calls the public API, with a path such as "/workflows?limit=1". The body is
// sent as JSON, one of type string as it is; nil sends none.
func (i *Instance) Call(t *testing.T, method, path string, body any) (status int, answer []byte) {
	t.Helper()
	status, answer, err := i.try(context.WithoutCancel(t.Context()), method, "/api/v1"+path, http.Header{"X-N8N-API-KEY": {i.APIKey}}, body)
	if err != nil {
		t.Fatal(err)
	}
	return status, answer
}

// try sends one request.
func (i *Instance) try(ctx context.Context, method, path string, header http.Header, body any) (status int, answer []byte, err error) {
	var send io.Reader
	switch body := body.(type) {
	case nil:
	case string:
		send = strings.NewReader(body)
	default:
		raw, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		send = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, i.URL+path, send)
	if err != nil {
		return 0, nil, err
	}
	for name, values := range header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := i.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err = io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return resp.StatusCode, answer, nil
}

// syncedTail is a tail that several goroutines may use.
type syncedTail struct {
	mu   sync.Mutex
	tail tail
}

func (s *syncedTail) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tail.Write(p)
}

func (s *syncedTail) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tail.String()
}
