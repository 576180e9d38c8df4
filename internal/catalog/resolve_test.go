package catalog

import (
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"genkan/internal/gateway"
)

// library is a source that has resources it does not list.
type library struct {
	gateway.Source
	name      string
	templates []gateway.Tool
}

func (l library) Name() string { return l.name }
func (l library) List(kind gateway.Kind) []gateway.Tool {
	if kind == gateway.KindTemplate {
		return l.templates
	}
	return nil
}
func (library) Offers(kind gateway.Kind) bool { return kind == gateway.KindResource }

// A resource belongs to whoever lists it, then to whose template matches, then
// to the first that has any. Whoever it is, what is said about it names it.
func TestWhoOwnsAResource(t *testing.T) {
	template := gateway.Tool{Name: "b://{x}/y", Definition: []byte(`{"uriTemplate":"b://{x}/y","name":"n"}`)}
	c := New([]Mount{{Source: library{name: "a"}}, {Source: library{name: "b", templates: []gateway.Tool{template}}}}, 0, slog.New(slog.DiscardHandler))
	for uri, want := range map[string]string{
		"b://1/y": "b", "b://1/2/y": "a", "b://1/z": "a", "x": "a", "": "a",
	} {
		call := gateway.Call{Kind: gateway.KindResource, Name: uri}
		if err := c.Resolve(&call); err != nil {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		if got := call.Tool.Source.Name(); got != want || !call.Tool.ReadOnly {
			t.Errorf("%s is of %s, want %s", uri, got, want)
		}
		if call.Tool.Exposed == "" && uri != "" {
			t.Errorf("%s has no name", uri)
		}
	}
}

// TestAnUnknownNameCostsLittle, however long it is.
func TestAnUnknownNameCostsLittle(t *testing.T) {
	c := New([]Mount{{Source: library{name: "a"}}, {Source: library{name: "b"}}}, 0, slog.New(slog.DiscardHandler))
	name := strings.Repeat("x-", 100_000)
	const times = 50
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		if c.Resolve(&gateway.Call{Kind: gateway.KindTool, Name: name}) == nil {
			t.Error("it was found")
		}
	}
	runtime.ReadMemStats(&after)
	if bytes := (after.TotalAlloc - before.TotalAlloc) / times; bytes > 10_000 {
		t.Errorf("an unknown name of %d bytes allocates %d", len(name), bytes)
	}
}
