package upstream

import (
	"context"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// conn is a connection to a server over any transport.
type conn interface {
	// call sends a call and waits for its answer. When ctx ends, it sends the
	// server a cancellation. in are the call's own params, or those with answers
	// to the server's questions.
	call(ctx context.Context, call *gateway.Call, in *gateway.Params) (*gateway.Result, error)
	// list reads all pages of a list.
	list(ctx context.Context, kind gateway.Kind) (listed, error)
	// ask sends a request of genkan's own.
	ask(ctx context.Context, method string, params []byte) (jsonrpc.Message, error)
	// watch subscribes to a topic until stop is called.
	watch(ctx context.Context, of topic) (stop func(), err error)
	// sendNotification sends a notification if it can. It does not wait.
	sendNotification(method string, params []byte)
	// taskTable returns the tasks of the connection, the server's and the clients'.
	taskTable() *taskTable
	// setRoots sets the answer to roots/list; nil for an empty list.
	setRoots(roots []byte)
	protocol() protocol
	pid() int
	// received counts how often anything came from the server.
	received() uint64
	// busy reports whether calls wait for their answers.
	busy() bool
	// lost is closed when the connection is broken or ended; cause returns why.
	lost() <-chan struct{}
	cause() error
	// end breaks the connection: requests in flight fail with why. close must
	// still be called.
	end(why error)
	// close closes the connection and ends its process, if it has one.
	close()
}
