package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
)

// A list that was not waited for to the end says whose tools it lacks: of servers
// that are starting and have never listed any.
func TestListsSayWhichServersAreStillStarting(t *testing.T) {
	t.Parallel()
	long := time.Now().Add(-time.Hour)
	servers := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(client.ServerList{Servers: []client.Server{
			{Name: "cold", State: client.StateStarting},
			{Name: "known", State: client.StateStarting, Tools: 3},
			{Name: "ready", State: client.StateReady, Tools: 3, Since: long},
			{Name: "empty", State: client.StateReady, Since: long},
			{Name: "dead", State: client.StateDown},
			{Name: "off", State: client.StateDisabled},
		}})
	}))
	defer servers.Close()
	remote := over(servers)
	var out bytes.Buffer
	c := &command{std: Streams{Err: &out}}
	if err := c.awaitLists(t.Context(), remote, time.Nanosecond); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "missing here: cold. ") {
		t.Errorf("it says %q", got)
	}
}

// A signal that comes while a command waits for a server cancels the command. Its
// exit status is that of a cancellation, not that of wrong input.
func TestASignalDuringTheWaitForAServerIsACancellation(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	servers := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(client.ServerList{Servers: []client.Server{
			{Name: "quick", State: client.StateReady}, {Name: "cold", State: client.StateStarting},
		}})
	}))
	defer servers.Close()
	// The line about the first server is written between two requests.
	out := writerFunc(func(p []byte) (int, error) {
		cancel(errors.New("interrupt signal received"))
		return len(p), nil
	})
	c := &command{std: Streams{Out: out, Err: io.Discard}}
	remote := over(servers)
	err := c.await(ctx, remote, []string{"quick", "cold"})
	var e *gateway.Error
	if !errors.As(err, &e) || e.Code != gateway.CodeCanceled {
		t.Errorf("it ends with %v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// over makes a client of a server that takes its connections for genkan's.
func over(server *httptest.Server) *client.Client {
	return client.NewOver(func(ctx context.Context) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "tcp", server.Listener.Addr().String())
	}, "token")
}
