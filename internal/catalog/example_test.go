package catalog_test

import (
	"context"
	"fmt"
	"log/slog"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
)

// weather is a source with one tool.
type weather struct{}

func (weather) Name() string { return "weather" }

func (weather) List(kind gateway.Kind) []gateway.Tool {
	if kind != gateway.KindTool {
		return nil
	}
	return []gateway.Tool{{Name: "forecast", Definition: []byte(`{"name":"forecast","inputSchema":{"type":"object"}}`)}}
}

func (weather) Handle(context.Context, *gateway.Call) (*gateway.Result, error) {
	return gateway.NewResult(map[string]any{"content": []any{}})
}

// A catalog gives the tools of its sources the names that clients use, and finds the
// tool of a call.
func Example() {
	c := catalog.New([]catalog.Mount{{
		Source: weather{}, Prefix: "weather", Allows: func(string) bool { return true },
	}}, 100, slog.New(slog.DiscardHandler))
	for _, tool := range c.Snapshot().Tools() {
		fmt.Println(tool.Exposed)
	}
	call := &gateway.Call{Method: "tools/call", Kind: gateway.KindTool, Name: "weather__forecast"}
	if err := c.Resolve(call); err != nil {
		panic(err)
	}
	fmt.Println(call.Tool.Source.Name(), call.Tool.Name)
	call.Name, call.Tool = "weather__forcast", nil
	fmt.Println(c.Resolve(call))
	// Output:
	// weather__forecast
	// weather forecast
	// Unknown tool: weather__forcast. Did you mean weather__forecast? tools/list names the tools there are
}
