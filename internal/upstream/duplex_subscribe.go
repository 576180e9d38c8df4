package upstream

import (
	"context"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

func (c *duplexConn) watch(ctx context.Context, of topic) (stop func(), err error) {
	if c.proto.era == gateway.EraModern {
		id, p, err := c.subscribe(c.proto, of.filter())
		if err != nil {
			return nil, err
		}
		if err := awaitStream(ctx, p.opened, p.answer); err != nil {
			c.unsubscribe(id)
			return nil, err
		}
		return func() { c.unsubscribe(id) }, nil
	}
	if err := asked(c.ask(ctx, "resources/subscribe", uriParams(of.name))); err != nil {
		return nil, err
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
		defer cancel()
		_, _ = c.ask(ctx, "resources/unsubscribe", uriParams(of.name))
	}, nil
}

// subscribe opens a stream of notifications and returns its id. The request is
// answered when the stream ends; opened receives when the server acknowledges it.
func (c *duplexConn) subscribe(p protocol, filter string) (id uint64, opened *pending, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead != nil {
		return 0, nil, c.dead
	}
	opened = &pending{answer: make(chan answer, 1), opened: make(chan struct{}, 1)}
	id, err = c.enqueueRequest(opened, func(dst []byte, id uint64) []byte {
		dst = jsonrpc.AppendRequestHead(dst, id, "subscriptions/listen")
		return append(append(dst, p.listenParams(filter)...), '}')
	})
	return id, opened, err
}

// unsubscribe closes a stream of notifications.
func (c *duplexConn) unsubscribe(id uint64) {
	c.mu.Lock()
	delete(c.pending, id)
	c.mu.Unlock()
	_ = c.send(jsonrpc.AppendNotification(nil, "notifications/cancelled", canceledParams(id, nil)))
}

// acknowledged records that a stream of notifications is open.
func (c *duplexConn) acknowledged(params []byte) {
	id, _ := parseID(jsonrpc.Lookup(jsonrpc.Lookup(params, "_meta"), jsonrpc.MetaSubscriptionID))
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.pending[id]; p != nil && p.opened != nil {
		select {
		case p.opened <- struct{}{}:
		default:
		}
	}
}
