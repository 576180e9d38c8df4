package gateway_test

import (
	"context"
	"fmt"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// A middleware sees a call with its arguments decoded, may change them, and passes
// the call on. Everything else of the params keeps its bytes.
func ExampleMiddleware() {
	shout := func(next gateway.Handler) gateway.Handler {
		return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
			arguments, err := call.Arguments()
			if err != nil {
				return nil, err
			}
			if err := call.SetArguments(map[string]any{"text": fmt.Sprint(arguments["text"], "!")}); err != nil {
				return nil, err
			}
			return next.Handle(ctx, call)
		})
	}
	server := gateway.HandlerFunc(func(_ context.Context, call *gateway.Call) (*gateway.Result, error) {
		fmt.Println(string(call.Params.Raw))
		return gateway.NewResult(map[string]any{"content": []any{}})
	})
	params, err := jsonrpc.ScanParams([]byte(`{ "name":"echo", "arguments":{"text":"hello"}, "_meta":{} }`))
	if err != nil {
		panic(err)
	}
	call := &gateway.Call{Method: "tools/call", Kind: gateway.KindTool, Name: "echo", Params: params}
	if _, err := gateway.Chain(server, shout).Handle(context.Background(), call); err != nil {
		panic(err)
	}
	// Output: { "name":"echo", "arguments":{"text":"hello!"}, "_meta":{} }
}

// An error says what happened and what to do next, in English, with its values
// beside the format so that an edge can translate it.
func ExampleErrorf() {
	err := gateway.Errorf(gateway.CodeNotFound, "there is no server %q; `genkan servers` lists them", "githib")
	fmt.Println(err)
	fmt.Println(err.Message)
	// Output:
	// there is no server "githib"; `genkan servers` lists them
	// there is no server %q; `genkan servers` lists them
}

// A view selects what a caller sees. It is comparable, and a name that no server can
// have selects nothing.
func ExampleView() {
	fmt.Println(gateway.View{Servers: gateway.NewServerSet("github", "files")})
	fmt.Println(gateway.View{Profile: "work", Mode: gateway.ModeSearch})
	fmt.Println(gateway.View{Servers: gateway.NewServerSet("a,b")})
	// Output:
	// files,github
	// @work?mode=search
	// ?
}
