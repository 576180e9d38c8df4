package upstream

import (
	"context"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// handshake finds out the server's era and agrees on a version.
func (c *duplexConn) handshake(ctx context.Context, us self, known gateway.Era) (protocol, error) {
	discovered := make(chan answer, 1)
	initialized := make(chan answer, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ask := func(method string, params []byte, to chan<- answer) {
		go func() {
			msg, err := c.ask(ctx, method, params)
			to <- answer{msg, err}
		}()
	}
	asked, probed, answered := false, false, false
	initialize := func() {
		if !asked {
			asked = true
			ask("initialize", us.initializeParams(), initialized)
		}
	}
	discover := func() {
		probed = true
		ask("server/discover", us.discoverParams(), discovered)
	}
	patience := time.NewTimer(c.limits.discoverTimeout)
	defer patience.Stop()
	if known == gateway.EraLegacy {
		initialize()
	} else {
		discover()
	}
	// refused is what a server said to initialize. It stands once the modern
	// way has led nowhere either.
	var refused error
	for {
		select {
		case a := <-discovered:
			answered = true
			switch {
			case a.err != nil:
				return protocol{}, a.err
			case a.msg.Kind == jsonrpc.Response:
				if p, ok := fromDiscover(a.msg.Result.Raw, us); ok {
					p.both = p.both && refused == nil
					return p, c.listen(ctx, p)
				}
			case isModernError(a.msg.Error):
				return protocol{}, rpcError(a.msg.Error)
			}
			if refused != nil {
				return protocol{}, refused
			}
			initialize()
		case a := <-initialized:
			switch {
			case a.err != nil:
				return protocol{}, a.err
			case a.msg.Kind == jsonrpc.ErrorResponse:
				refused = rpcError(a.msg.Error)
				switch {
				case answered:
					return protocol{}, refused
				case !probed:
					// It was legacy the last time; perhaps it was updated.
					discover()
				}
				// A modern server that was slow to start refuses this and may
				// still answer the other.
				patience.Reset(c.limits.discoverTimeout)
				continue
			}
			p, err := fromInitialize(a.msg.Result.Raw, us)
			if err != nil {
				return protocol{}, err
			}
			return p, c.send(jsonrpc.AppendNotification(nil, "notifications/initialized", nil))
		case <-patience.C:
			if refused != nil {
				return protocol{}, refused
			}
			initialize()
		case <-ctx.Done():
			return protocol{}, context.Cause(ctx)
		}
	}
}

// listen opens the stream of changes that modern servers have. The request
// stays open for as long as the connection.
func (c *duplexConn) listen(_ context.Context, p protocol) error {
	if !p.announcesAny() {
		return nil
	}
	_, _, err := c.subscribe(p, p.listenFilter())
	return err
}

// initialize opens a legacy session: this transport has no other.
func (c *duplexConn) initialize(ctx context.Context, us self) (protocol, error) {
	msg, err := c.ask(ctx, "initialize", us.initializeParams())
	if err == nil && msg.Kind == jsonrpc.ErrorResponse {
		err = rpcError(msg.Error)
	}
	if err != nil {
		return protocol{}, err
	}
	p, err := fromInitialize(msg.Result.Raw, us)
	if err != nil {
		return protocol{}, err
	}
	return p, c.send(jsonrpc.AppendNotification(nil, "notifications/initialized", nil))
}
