package app

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/bridge"
	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

// watcher follows the events of a house.
type watcher struct {
	t      *testing.T
	events chan client.Event
	ended  chan error
}

// watch follows events over connections of dial.
func watch(t *testing.T, token string, dial func(ctx context.Context) (net.Conn, error), topics ...string) watcher {
	t.Helper()
	w := watcher{t, make(chan client.Event, 1000), make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	c := client.NewOver(dial, gateway.Secret(token))
	go func() {
		w.ended <- c.Events(ctx, topics, "", func(e client.Event) error {
			w.events <- e
			return nil
		})
		close(w.ended)
	}()
	t.Cleanup(func() {
		cancel()
		for range w.ended {
		}
		c.Close()
	})
	return w
}

// overHTTP dials the address of the house.
func (h *testHouse) overHTTP(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", strings.TrimPrefix(h.base, "http://"))
}

// until returns the first event with a name whose data has all parts. It passes over
// others.
func (w watcher) until(name string, parts ...string) client.Event {
	w.t.Helper()
	all := w.upTo(name, parts...)
	return all[len(all)-1]
}

// upTo returns the events up to the first with a name whose data has all parts.
func (w watcher) upTo(name string, parts ...string) (all []client.Event) {
	w.t.Helper()
	timeout := time.After(time.Minute)
	for {
		select {
		case e := <-w.events:
			all = append(all, e)
			found := e.Name == name
			for _, part := range parts {
				found = found && strings.Contains(string(e.Data), part)
			}
			if found {
				return all
			}
		case err := <-w.ended:
			w.t.Fatalf("the stream ended: %v", err)
		case <-timeout:
			var others []string
			for _, e := range all {
				others = append(others, e.Name+" "+string(e.Data))
			}
			w.t.Fatalf("no event %s with %q; others were %s", name, parts, strings.Join(others, "\n"))
		}
	}
}

// opened waits until the streams are open: a subscriber gets what happens from then
// on.
func (h *testHouse) opened(watchers ...watcher) {
	h.t.Helper()
	for _, w := range watchers {
		testkit.Eventually(h.t, func() bool {
			h.publishReload(nil)
			return len(w.events) > 0
		}, "the stream is open")
	}
}

func kill(t *testing.T, pid int) {
	t.Helper()
	process, err := os.FindProcess(pid)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What happens in a house reaches those who follow it, over HTTP and over the socket,
// and each as far as it may know it.
func TestEvents(t *testing.T) {
	t.Parallel()
	const canary = "canary-Zq8Lw3Rt6Yp1"
	file := servers(conf{"one": child(t)})
	file["kb"] = conf{"enabled": true}
	h := openHouse(t, file, func(o *Options) { o.Joinable = true })
	h.waitReady("one")
	var made struct{ Token string }
	if err := json.Unmarshal([]byte(h.must(http.MethodPost, "/v1/tokens", `{"name":"alice"}`, http.StatusCreated)), &made); err != nil {
		t.Fatal(err)
	}
	overSocket := func(ctx context.Context) (net.Conn, error) {
		conn, _, err := bridge.Dial(ctx, h.dir, bridge.Hello{Purpose: bridge.PurposeREST})
		return conn, err
	}
	testkit.Eventually(t, func() bool { return listensOn(t, h.dir) != "" }, "the house owns the socket")
	admin, alice, socket := watch(t, h.token, h.overHTTP), watch(t, made.Token, h.overHTTP), watch(t, h.token, overSocket, "servers", "config")
	h.opened(admin, alice, socket)

	// A server that is killed is down at once, and comes back.
	kill(t, h.server("one").ProcessID)
	admin.until(client.EventServerState, `"name":"one"`, `"state":"down"`, `"problem":"its process ended with signal: killed`, `"tools":11`)
	for _, w := range []watcher{alice, socket} {
		w.until(client.EventServerState, `"name":"one"`, `"state":"down"`, `"problem":"its process ended with signal: killed`)
	}
	for _, w := range []watcher{admin, alice, socket} {
		w.until(client.EventServerState, `"name":"one"`, `"state":"ready"`, `"tools":11`)
	}

	// What a server printed is for administrators, and its secrets for nobody.
	broken := conf{"name": "broken", "command": "sh", "args": []string{"-c", "echo my key is $API_KEY >&2; exit 3"}, "env": conf{"API_KEY": canary}}
	raw, err := json.Marshal(broken)
	if err != nil {
		t.Fatal(err)
	}
	h.must(http.MethodPost, "/v1/servers", string(raw), http.StatusCreated)
	socket.until(client.EventConfigReloaded, `"servers":2`)
	admin.until(client.EventServerState, `"name":"broken"`, `"state":"down"`, `it last printed: my key is ***`)
	if e := alice.until(client.EventServerState, `"name":"broken"`, `"state":"down"`); strings.Contains(string(e.Data), "printed") {
		t.Errorf("got %s", e.Data)
	}
	h.must(http.MethodPatch, "/v1/servers/broken", `{"disabled":true}`, http.StatusOK)
	alice.until(client.EventServerState, `"name":"broken"`, `"state":"disabled"`)
	h.must(http.MethodDelete, "/v1/servers/broken", "", http.StatusOK)
	alice.until(client.EventServerState, `"name":"broken"`, `"state":"removed"`)

	// Lists that change.
	h.must(http.MethodPost, "/v1/servers", withName(t, "two", child(t)), http.StatusCreated)
	alice.until(client.EventToolsChanged, `"server":"two"`, `"kind":"tool`, `"count":11`)
	h.must(http.MethodPost, "/v1/tools/two__echo/disable", "", http.StatusOK)
	alice.until(client.EventToolsChanged, `"server":"two"`, `"count":10`)
	admin.until(client.EventToolEdited, `"server":"two","tool":"echo"`)
	h.must(http.MethodDelete, "/v1/servers/two", "", http.StatusOK)
	alice.until(client.EventToolsChanged, `"server":"two"`, `"count":0`)

	// A reload that fails, and long work, are the administrators' business.
	h.writeText("mcpServers: [")
	if err := h.Reload(); err == nil {
		t.Fatal("the file is not valid")
	}
	admin.until(client.EventConfigFailed, `"error":"`)
	h.must(http.MethodGet, "/v1/backup", "", http.StatusOK)
	h.must(http.MethodPost, "/v1/knowledge/check", "", http.StatusOK)
	h.must(http.MethodPost, "/v1/items/restore", `{"items":[{"type":"docs","title":"a"}]}`, http.StatusOK)
	admin.until(client.EventProgress, `"work":"backup"`, `"done":0`)
	admin.until(client.EventProgress, `"work":"backup"`, `"finished":true`)
	admin.until(client.EventProgress, `"work":"kb.check"`, `"finished":true`)
	admin.until(client.EventProgress, `"work":"kb.import"`, `"done":1,"total":1,"finished":true`)
	admin.until(client.EventItemsChanged, `"sequence":1`)
	h.reload(file)
	for reloads := 0; reloads < 2; { // after two was removed, and this one
		switch e := <-alice.events; e.Name {
		case client.EventConfigReloaded:
			if reloads++; strings.Contains(string(e.Data), "servers") {
				t.Errorf("alice learns how many servers there are: %s", e.Data)
			}
		case client.EventConfigFailed, client.EventProgress, client.EventToolEdited:
			t.Errorf("alice got %s", e.Data)
		}
	}
	for len(admin.events)+len(alice.events)+len(socket.events) > 0 {
		var e client.Event
		select {
		case e = <-admin.events:
		case e = <-alice.events:
		case e = <-socket.events:
		}
		if strings.Contains(string(e.Data), canary) {
			t.Errorf("the secret is in %s", e.Data)
		}
	}

	// A stream ends with its token.
	h.must(http.MethodDelete, "/v1/tokens/alice", "", http.StatusOK)
	h.publishReload(nil)
	if err := <-alice.ended; gateway.AsError(err).Code != gateway.CodeUnauthenticated {
		t.Errorf("the token is revoked: %v", err)
	}

	// Stopping does not wait for streams.
	began := time.Now()
	h.stop()
	h.ended <- <-h.ended
	if took := time.Since(began); took > drainTime/2 {
		t.Errorf("stopping took %s", took)
	}
}
