package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestLegacyStdioRefusesDiscoverAndPassesTheRest(t *testing.T) {
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":"a","method":"server/discover","params":{}}`,
		`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}`,
		`{"jsonrpc":"2.0","id":3,"result":{}}`, "",
	}, "\n")
	var server, client bytes.Buffer
	shared := &lines{out: &client}
	// The server has begun a line when the answer comes.
	if _, err := shared.Write([]byte(`{"jsonrpc":`)); err != nil {
		t.Fatal(err)
	}
	if err := refuseDiscover(strings.NewReader(in), &server, shared); err != nil {
		t.Fatal(err)
	}
	if _, err := shared.Write([]byte("\"2.0\"}\n")); err != nil {
		t.Fatal(err)
	}
	if _, want, _ := strings.Cut(in, "\n"); server.String() != want {
		t.Errorf("the server was told %q, not %q", server.String(), want)
	}
	if got, want := client.String(), `{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"Method not found"}}`+"\n"+`{"jsonrpc":"2.0"}`+"\n"; got != want {
		t.Errorf("the client was told %q, not %q", got, want)
	}
}
