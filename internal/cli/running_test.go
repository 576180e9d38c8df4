package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"genkan/internal/api/client"
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
	remote := client.NewOver(func(ctx context.Context) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "tcp", servers.Listener.Addr().String())
	}, "token")
	var out bytes.Buffer
	c := &command{std: Streams{Err: &out}}
	if err := c.awaitLists(t.Context(), remote, time.Nanosecond); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "missing here: cold. ") {
		t.Errorf("it says %q", got)
	}
}
