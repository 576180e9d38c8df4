package signin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"genkan/internal/gateway"
	"genkan/internal/testkit/authserver"
	"genkan/internal/vault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock stands still until a test moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// rig is a keeper and the pair of servers that it signs in to.
type rig struct {
	*authserver.Server
	t      *testing.T
	clock  *clock
	log    *logBuffer
	vault  Vault
	keeper *SignIns
	server Server
}

type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func newRig(t *testing.T, o authserver.Options) *rig {
	t.Helper()
	c := &clock{now: time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)}
	o.Now = c.Now
	r := &rig{t: t, Server: authserver.Start(t, o), clock: c, log: &logBuffer{}, vault: vault.NewMemory()}
	r.server = Server{Name: "one", URL: r.URL()}
	r.keeper = r.another()
	return r
}

// another is a second genkan with the same vault.
func (r *rig) another() *SignIns {
	k := New(Options{
		Vault: r.vault, Now: r.clock.Now,
		Log: slog.New(slog.NewJSONHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	r.t.Cleanup(k.Close)
	return k
}

// browser is a person whose browser follows where it is sent.
func (r *rig) browser() Person {
	return Person{Open: func(ctx context.Context, address string) error {
		_, err := r.Browse(ctx, address)
		return err
	}}
}

func (r *rig) signIn() error {
	return r.keeper.SignIn(r.t.Context(), r.server, Login{}, r.browser())
}

func (r *rig) mustSignIn() {
	r.t.Helper()
	if err := r.signIn(); err != nil {
		r.t.Fatal(err)
	}
	r.noFaults()
}

func (r *rig) mustToken() gateway.Secret {
	r.t.Helper()
	token, err := r.keeper.Token(r.t.Context(), r.server)
	if err != nil {
		r.t.Fatal(err)
	}
	return token
}

func (r *rig) noFaults() {
	r.t.Helper()
	if faults := r.Faults(); len(faults) > 0 {
		r.t.Errorf("the authorization server complains: %q", faults)
	}
}

// call calls a tool with a token, once.
func (r *rig) call(tool string, token gateway.Secret) (status int, header http.Header) {
	r.t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{}}}`
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.URL(), strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Close = true
	req.Header.Set("Authorization", "Bearer "+token.Reveal())
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response.StatusCode, response.Header
}

// mustCall calls as upstream will: with a token, and once more if told so.
func (r *rig) mustCall(tool string) {
	r.t.Helper()
	if err := r.tryCall(tool); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) tryCall(tool string) error {
	r.t.Helper()
	for range 2 {
		token, err := r.keeper.Token(r.t.Context(), r.server)
		if err != nil {
			return err
		}
		status, header := r.call(tool, token)
		if status == http.StatusOK {
			return nil
		}
		if err := r.keeper.Refused(r.t.Context(), r.server, token, status, header); err != nil {
			return err
		}
	}
	return errors.New("refused twice")
}

// wantError fails the test unless the error has the code and says the words,
// without its cause.
func wantError(t *testing.T, err error, code gateway.Code, words string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s: …%s…", code, words)
	}
	e := gateway.AsError(err)
	if e.Code != code || !strings.Contains(e.Text(), words) {
		t.Errorf("got %s: %v\nwant %s: …%s…", e.Code, err, code, words)
	}
}
