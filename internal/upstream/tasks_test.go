package upstream

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/testkit"
)

// mailbox is a client that keeps what it is told.
type mailbox struct{ told []string }

func (m *mailbox) Notify(_ string, params []byte) { m.told = append(m.told, string(params)) }

func (m *mailbox) Ask(context.Context, string, []byte) ([]byte, error) { return nil, nil }

// A server that says whatever it likes about tasks reaches nobody but those
// whose tasks they are, and takes no more memory than that needs.
func TestAServerThatFloodsWithStatuses(t *testing.T) {
	t.Parallel()
	var table taskTable
	mine, others := &mailbox{}, &mailbox{}
	for id, m := range map[string]*mailbox{"mine": mine, "other": others} {
		session := &gateway.Session{ID: id, Peer: m}
		table.mu.Lock()
		table.serverTasks.put(id, session)
		table.mu.Unlock()
	}
	status := func(id, filling string) []byte {
		return fmt.Appendf(nil, `{"taskId":%q,"status":"working","statusMessage":%q}`, id, filling)
	}
	for i := range testkit.Count(200, 1000) {
		table.status(status(fmt.Sprint("unknown ", i), strings.Repeat("x", i%20*1000)), nil)
	}
	kept := 0
	for _, e := range table.early {
		kept += len(e.params)
	}
	if len(table.early) > maxEarly || kept > maxEarly*maxEarlySize {
		t.Errorf("%d statuses of %d bytes are kept", len(table.early), kept)
	}
	if len(mine.told)+len(others.told) != 0 {
		t.Errorf("told: %q, %q", mine.told, others.told)
	}
	table.status(status("mine", ""), nil)
	if len(mine.told) != 1 || len(others.told) != 0 {
		t.Errorf("told: %q, %q", mine.told, others.told)
	}
	// On the stream of another's call it is still the owner's.
	table.status(status("mine", ""), &gateway.Call{Caller: gateway.Caller{Session: &gateway.Session{ID: "other", Peer: others}, Peer: others}})
	if len(mine.told) != 2 || len(others.told) != 0 {
		t.Errorf("told: %q, %q", mine.told, others.told)
	}
}

// Ids that nobody needs are not remembered, on either side.
func TestTaskIDsWithoutEnd(t *testing.T) {
	t.Parallel()
	var table taskTable
	long := strings.Repeat("x", maxTaskID+1)
	session := &gateway.Session{ID: "s", Peer: &mailbox{}}
	for _, id := range []string{long, "short"} {
		raw := fmt.Appendf(nil, `{"task":{"taskId":%q,"status":"working"}}`, id)
		if got := table.addClientTask(session, raw); string(got) != string(raw) {
			t.Errorf("became %.80s", got)
		}
		params, err := jsonrpc.ScanParams([]byte(`{"name":"t","task":{}}`))
		if err != nil {
			t.Fatal(err)
		}
		call := &gateway.Call{Caller: gateway.Caller{Era: gateway.EraLegacy, Session: session}, Params: params}
		table.note(call, &gateway.Result{Raw: raw})
		call.Release()
	}
	if len(table.clientTasks.byID) != 1 || len(table.serverTasks.byID) != 1 {
		t.Errorf("%d and %d are remembered", len(table.clientTasks.byID), len(table.serverTasks.byID))
	}
}

// What clients say beside their calls does not pile up before a server that takes
// its time.
func TestAClientThatFloods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		posted, release := atomic.Int64{}, make(chan struct{})
		c := &httpConn{
			name: "srv", log: slog.New(slog.DiscardHandler), url: &url.URL{Scheme: "https", Host: "mcp.example"},
			sending: make(chan struct{}, maxNotifications),
			transport: wireFunc(func(*http.Request) (*http.Response, error) {
				posted.Add(1)
				<-release
				return &http.Response{StatusCode: http.StatusAccepted, Body: http.NoBody}, nil
			}),
		}
		c.life, c.endLife = context.WithCancelCause(t.Context())
		defer c.endLife(nil)
		for range 10 * maxNotifications {
			c.sendNotification(statusOfTask, []byte(`{"taskId":"1"}`))
		}
		synctest.Wait()
		if got := posted.Load(); got != maxNotifications {
			t.Errorf("%d are on their way", got)
		}
		close(release)
		synctest.Wait()
		c.sendNotification(statusOfTask, []byte(`{"taskId":"1"}`))
		synctest.Wait()
		if got := posted.Load(); got != maxNotifications+1 {
			t.Errorf("%d were told", got)
		}
		c.streams.Wait()
	})
}
