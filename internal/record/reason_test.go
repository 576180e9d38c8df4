package record

import (
	"testing"

	"genkan/internal/gateway"
)

type builtIn struct{ gateway.Source }

type external struct{ gateway.Source }

func (external) External() {}

// forwarder is built in, but its answers are those of other sources.
type forwarder struct{ gateway.Source }

func (forwarder) Forwards() {}

// TestOwnFailures: an error of a built-in source is logged by its kind and field,
// so that no argument is logged, and none masks a word of genkan.
func TestOwnFailures(t *testing.T) {
	t.Parallel()
	const definition = `{"name":"create_item","inputSchema":{"type":"object","properties":{"title":{},"tags":{}}}}`
	answer := func(field string) string {
		return `{"structuredContent":{"code":1002,"message":"Validation failed: canary","data":{"type":"ValidationError","details":{"field":"` + field + `","value":"canary"}}}}`
	}
	for name, c := range map[string]struct {
		source    gateway.Source
		raw, want string
	}{
		"a field":         {builtIn{}, answer("title"), "ValidationError: title"},
		"in a list":       {builtIn{}, answer("tags[1]"), "ValidationError: tags"},
		"an unknown one":  {builtIn{}, answer("canary"), "ValidationError"},
		"of another form": {builtIn{}, `{"content":[]}`, ""},
		"of a server":     {external{}, answer("title"), ""},
		"of a forwarder":  {forwarder{}, answer("title"), ""},
	} {
		if got := ownFailure(&gateway.Tool{Source: c.source, Definition: []byte(definition)}, []byte(c.raw)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
