package upstream

import (
	"strings"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// What a server says of itself is bounded, and what was bounded once stays as it
// is when it is read from the store.
func TestWhatAServerSaysOfItselfIsBounded(t *testing.T) {
	t.Parallel()
	small := About{Capabilities: []byte(`{"tools":{}}`), Info: []byte(`{"name":"x"}`), Instructions: strings.Repeat("x", maxAbout)}
	if got := small.bounded(); got.Instructions != small.Instructions || string(got.Info) != string(small.Info) || string(got.Capabilities) != string(small.Capabilities) {
		t.Error("what is within the limits is changed")
	}
	filler := strings.Repeat("x", 1<<20)
	large := About{
		Capabilities: []byte(`{"experimental":{"a":"` + filler + `"},"tools":{"listChanged":true},"resources":{"x":"` + filler + `"}}`),
		Info:         []byte(`{"name":"` + filler + `"}`),
		Instructions: strings.Repeat("玄", 1<<20),
	}.bounded()
	if n := len(large.Instructions); n > maxAbout || !strings.HasSuffix(large.Instructions, " more bytes of these instructions are not shown]") {
		t.Errorf("%d bytes of instructions", n)
	}
	if again := large.bounded(); again.Instructions != large.Instructions {
		t.Error("it is cut a second time")
	}
	if len(large.Info) > 0 {
		t.Errorf("%d bytes of info", len(large.Info))
	}
	if got := string(large.Capabilities); got != `{"tools":{"listChanged":true},"resources":{}}` {
		t.Errorf("the capabilities are %.200s", got)
	}
	var p protocol
	p.introduce([]byte(`{"capabilities":{"tools":{}},"instructions":"`+filler+`"}`), nil)
	if !p.offers[gateway.KindTool] || len(p.about.Instructions) > maxAbout || jsonrpc.Lookup(p.about.Capabilities, "tools") == nil {
		t.Errorf("introduced as %.200v", p.about)
	}
}
