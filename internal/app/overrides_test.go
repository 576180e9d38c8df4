package app

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/catalog"
	"genkan/internal/testkit"
)

// Overrides of tools take effect at once and for all clients, and outlive reloads
// and restarts.
func TestOverridesTakeEffectAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := servers(conf{"one": child(t)})
	echo := catalog.ToolKey{Server: "one", Name: "echo"}
	disabled := func(h *testHouse) {
		h.t.Helper()
		if h.lists("one__echo") || !h.lists("one__pid") {
			h.t.Errorf("listed: %v", h.tools())
		}
		if _, err := h.call("one__echo", `{"text":"x"}`); err == nil || !strings.HasPrefix(err.Error(), "Tool is disabled: one__echo") || !strings.Contains(err.Error(), "ask the user") || strings.Contains(err.Error(), "genkan tools") {
			h.t.Errorf("got %v", err)
		}
		if answer, err := h.mcp("tools/call", "one__echo", `"arguments":{},`); err != nil || !strings.Contains(answer, `"isError":true,"_meta":{"genkan/error":{"code":"disabled"}}`) {
			h.t.Errorf("got %s, %v", answer, err)
		}
		_, alone := h.request(http.MethodPost, "/mcp/s/one",
			`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{`+modernMeta+`}}}`,
			http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/list"}})
		if strings.Contains(alone, `"name":"echo"`) || !strings.Contains(alone, "a better word") {
			h.t.Errorf("the server alone lists %s", alone)
		}
	}
	t.Run("changed", func(t *testing.T) {
		h := openHouseIn(t, dir, config)
		h.waitReady("one")
		client := testkit.NewHTTPConn(h.base+"/mcp", h.token, nil)
		t.Cleanup(func() { _ = client.Close() })
		hear := func(part string) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for {
				message, err := client.Receive(ctx)
				if err != nil {
					t.Fatalf("%s was not heard: %v", part, err)
				}
				if strings.Contains(string(message), part) {
					return
				}
			}
		}
		for _, message := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		} {
			if err := client.Send([]byte(message)); err != nil {
				t.Fatal(err)
			}
		}
		hear(`"serverInfo"`)
		change := func(key catalog.ToolKey, change func(*catalog.Override)) {
			t.Helper()
			if err := h.ChangeTool(t.Context(), key, func(o *catalog.Override) error {
				change(o)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		change(catalog.ToolKey{Server: "one", Name: "pid"}, func(o *catalog.Override) { o.Description = "a better word" })
		hear("tools/list_changed")
		change(echo, func(o *catalog.Override) { o.Disabled = true })
		hear("tools/list_changed")
		disabled(h)
	})
	t.Run("after a restart", func(t *testing.T) {
		h := openHouseIn(t, dir, config)
		h.waitReady("one")
		disabled(h)
		h.reload(with(config, conf{"pageSize": 100}))
		disabled(h)
		if err := h.ChangeTool(t.Context(), echo, func(o *catalog.Override) error {
			o.Disabled = false
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if got := h.mustCall("one__echo", `{"text":"x"}`); got != "x" {
			t.Errorf("got %s", got)
		}
	})
}

// Changes, reloads and lists at the same time: the last word holds everywhere.
func TestOverridesWhileReloading(t *testing.T) {
	t.Parallel()
	config := servers(conf{"one": child(t)})
	h := openHouse(t, config)
	h.waitReady("one")
	set := func(tool string, disabled bool) {
		if err := h.ChangeTool(t.Context(), catalog.ToolKey{Server: "one", Name: tool}, func(o *catalog.Override) error {
			o.Disabled = disabled
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	var busy sync.WaitGroup
	for _, tool := range []string{"echo", "pid", "sleep"} {
		busy.Go(func() {
			for n := range 11 { // the last word is: disabled
				set(tool, n%2 == 0)
				if h.disabled(tool) != (n%2 == 0) {
					t.Errorf("%s is not seen as it was set", tool)
				}
			}
		})
	}
	busy.Go(func() {
		for range 10 {
			if err := h.Reload(); err != nil {
				t.Error(err)
			}
		}
	})
	busy.Wait()
	for _, tool := range []string{"echo", "pid", "sleep"} {
		if h.lists("one__" + tool) {
			t.Errorf("%s is listed", tool)
		}
	}
}

// disabled reports whether the current house has the tool disabled.
func (h *testHouse) disabled(tool string) bool {
	entry, ok := h.house.Load().Snapshot().Entry("one__" + tool)
	return ok && entry.Override.Disabled
}
