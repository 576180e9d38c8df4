package mcpserver

import (
	"testing"

	"genkan/internal/gateway"
)

// TestCapabilitiesOfAServerAlone: what it cannot do is not promised.
func TestCapabilitiesOfAServerAlone(t *testing.T) {
	t.Parallel()
	for own, want := range map[string]string{
		`{}`:                               `{"tools":{"listChanged":true}}`,
		`{"resources":{}}`:                 `{"tools":{"listChanged":true},"resources":{"listChanged":true}}`,
		`{"resources":{"subscribe":true}}`: `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true}}`,
		`{"resources":{"subscribe":false},"logging":{}}`: `{"tools":{"listChanged":true},"resources":{"listChanged":true},"logging":{}}`,
		`{"tasks":{},"experimental":{"x":1}}`:            `{"tools":{"listChanged":true}}`,
	} {
		if got := capabilitiesOf(Description{Capabilities: []byte(own)}, gateway.EraLegacy); got != want {
			t.Errorf("%s is shown as %s, want %s", own, got, want)
		}
	}
	if got := capabilitiesOf(Description{}, gateway.EraModern); got != capabilities {
		t.Errorf("of a server that was never seen, %s is shown", got)
	}
}
