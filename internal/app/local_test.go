package app

import (
	"bufio"
	"context"
	"net"
	"strings"
	"testing"

	"genkan/internal/bridge"
	"genkan/internal/config"
	"genkan/internal/mcpserver"
)

// talk sends lines as the client of a joined process does, and returns as many
// answers.
func (h *testHouse) talk(client mcpserver.StdioOptions, lines ...string) []string {
	h.t.Helper()
	ours, theirs := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- h.ServeJoined(context.Background(), theirs, client) }()
	answers := bufio.NewReader(ours)
	var all []string
	for _, line := range lines {
		if _, err := ours.Write([]byte(line + "\n")); err != nil {
			h.t.Fatal(err)
		}
		answer, err := answers.ReadString('\n')
		if err != nil {
			h.t.Fatal(err)
		}
		all = append(all, answer)
	}
	_ = ours.Close()
	if err := <-served; err != nil && !strings.Contains(err.Error(), "closed") {
		h.t.Error(err)
	}
	return all
}

// A client that starts genkan under a name is known by it: in the log, in the
// configuration, and when it was last seen.
func TestALocalClientIsKnownByName(t *testing.T) {
	t.Parallel()
	h := openHouse(t, conf{
		"mcpServers": conf{"one": child(t), "two": child(t)},
		"profiles":   conf{"few": conf{"servers": []string{"one"}}, "none": conf{"servers": []string{}}},
		"clients":    conf{"cursor": conf{"profile": "few"}, "local": conf{"profile": "none"}},
	})
	h.waitReady("one", "two")
	h.as("cursor") // a token of the same name
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"Cursor","version":"1.7"}}}`
	for name, want := range map[string]bool{"cursor": true, "zed": false, "": false} {
		got := h.talk(mcpserver.StdioOptions{Client: name}, hello, list)
		if strings.Contains(got[1], `"one__echo"`) != want || strings.Contains(got[1], `"two__echo"`) {
			t.Errorf("%q sees %.300s", name, got[1])
		}
	}
	h.talk(mcpserver.StdioOptions{Client: "cursor"}, hello, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"one__echo","arguments":{"text":"x"}}}`)
	var clients []any
	for _, line := range h.logLines("call") {
		clients = append(clients, line["client"])
	}
	if len(clients) != 1 || clients[0] != "local:cursor" {
		t.Errorf("the log names %v", clients)
	}
	if got := h.seenAs("cursor"); got != "never" {
		t.Errorf("the token of that name was seen as %q", got)
	}
	uses, err := h.store.LocalUses(t.Context())
	if err != nil || len(uses) != 2 || uses[0].Name != "cursor" || uses[0].Client != "Cursor 1.7" || uses[0].At.IsZero() {
		t.Errorf("seen: %v, %v", uses, err)
	}
}

// A joining process sends its client's name as a setting, so that a genkan that
// does not know names refuses it instead of treating the client as local.
func TestNamesOfJoiningClients(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{}))
	served := h.receptionOptions()
	opt := Options{DataDir: h.dir, Version: "1.2.3-test"}
	for name, want := range map[string]bridge.Refusal{
		"": "", "cursor": "", "local": bridge.RefusedSettings, "Cursor!": bridge.RefusedSettings,
	} {
		hello := Hello(opt, mcpserver.StdioOptions{Client: name})
		hello.Environment = bridge.FingerprintEnvironment(nil)
		if got, reason := served.Check(&hello); got != want {
			t.Errorf("%q: refused with %q (%s), want %q", name, got, reason, want)
		}
	}
	hello := Hello(opt, mcpserver.StdioOptions{})
	hello.Environment = bridge.FingerprintEnvironment(nil)
	hello.Settings["new"] = "x"
	if got, _ := served.Check(&hello); got != bridge.RefusedSettings {
		t.Errorf("what is not known was refused with %q", got)
	}
	opt.Flags = config.Flags{Lang: "ja"}
	hello = Hello(opt, mcpserver.StdioOptions{Client: "cursor"})
	hello.Environment = bridge.FingerprintEnvironment(nil)
	if got, _ := served.Check(&hello); got != bridge.RefusedSettings {
		t.Errorf("another language was refused with %q", got)
	}
}
