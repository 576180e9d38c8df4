package jsonrpc_test

import (
	"fmt"

	"genkan/internal/jsonrpc"
)

// A call is scanned once. Renaming its tool and replacing its id leaves all other
// bytes as they came.
func Example() {
	line := []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"files__read","arguments":{"n":1.10}}}`)
	msg, err := jsonrpc.Scan(line)
	if err != nil {
		fmt.Println(err)
		return
	}
	params := jsonrpc.Splice(nil, msg.Params.Raw, jsonrpc.Edit{At: msg.Params.Name, With: []byte(`"read"`)})
	fmt.Println(msg.Method, string(msg.ID))
	fmt.Println(string(jsonrpc.AppendRequest(nil, []byte("1"), msg.Method, params)))
	// Output:
	// tools/call 7
	// {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"n":1.10}}}
}

// A message that two parsers could read differently is refused. Its id is still
// known, for the answer.
func ExampleScan_refused() {
	msg, err := jsonrpc.Scan([]byte(`{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/call"}`))
	fmt.Println(string(msg.ID), err)
	// Output: 7 a key stands twice: "method" (at byte 40)
}
