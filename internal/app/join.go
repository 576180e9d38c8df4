package app

import (
	"context"
	"net"
	"sync"
	"time"

	"genkan/internal/bridge"
	"genkan/internal/gateway"
	"genkan/internal/identity"
	"genkan/internal/mcpserver"
	"genkan/internal/reception"
)

// Hello returns the message that a process with these options sends to join another
// process.
func Hello(opt Options, client mcpserver.StdioOptions) bridge.Hello {
	return reception.NewHello(reception.BuildID(opt.Version),
		reception.Settings{ConfigFile: realPath(opt.configFile()), Lang: opt.Flags.Lang},
		reception.Client{Name: client.Client, Dir: client.Dir, View: client.View})
}

// receptionOptions returns the options for serving joined processes.
func (p *Process) receptionOptions() reception.Options {
	return reception.Options{
		Welcome: bridge.Welcome{Version: p.buildID, Config: p.configPath()},
		Settings: func() reception.Settings {
			return reception.Settings{ConfigFile: realPath(p.ConfigFile()), Lang: p.Config().Lang, Variables: *p.variables.Load()}
		},
		CheckName: identity.CheckLocalName,
		CheckView: func(view gateway.View) error { return p.mcp.Check(mcpserver.StdioOptions{View: view}) },
		ServeClient: func(ctx context.Context, conn *bridge.Joined, client reception.Client) error {
			return p.serveJoined(ctx, conn, mcpserver.StdioOptions{Client: client.Name, View: client.View, Dir: client.Dir})
		},
		REST: p.httpServer(), Shutdown: p.shutDown, Log: p.log,
	}
}

// ServeBackground serves only the processes that join over the socket, and the web UI
// while a page of it is open. It ends when ctx ends, when the process has been idle for
// the given time, or when another genkan takes over. It calls ready when processes can
// connect. It fails when the database is lost.
func (p *Process) ServeBackground(ctx context.Context, owner *bridge.Owner, idle time.Duration, ready func()) error {
	if err := owner.Listen(ctx); err != nil {
		return err
	}
	ctx, end := p.whileHealthy(ctx)
	defer end()
	ready()
	opt := p.receptionOptions()
	opt.IdleTimeout, opt.Busy = idle, p.uiPort.IsOpen
	defer p.uiPort.Close()
	reception.Serve(ctx, owner, opt)
	return p.Health()
}

// joining reports the end of the service for joined processes. handedOver is closed
// when their clients have moved to another owner. ended is closed when the service
// has ended.
type joining struct {
	handedOver, ended chan struct{}
}

// letOthersJoin serves joining processes from when this process owns the socket,
// which may be never, until ctx ends. It tells them that this process listens on
// the given host:port.
func (p *Process) letOthersJoin(ctx context.Context, listen string) joining {
	j := joining{handedOver: make(chan struct{}), ended: make(chan struct{})}
	handedOver := sync.OnceFunc(func() { close(j.handedOver) })
	go func() {
		defer close(j.ended)
		defer handedOver()
		if !p.opt.Joinable {
			return
		}
		owner := reception.Claim(ctx, p.opt.DataDir, p.buildID, p.log)
		if owner == nil {
			return
		}
		opt := p.receptionOptions()
		opt.Welcome.Listen, opt.Welcome.TLS = listen, p.Config().TLS.CertFile != ""
		opt.HandedOver = handedOver
		reception.Serve(ctx, owner, opt)
	}()
	return j
}

// ServeJoined serves a client that joined over a connection until the client leaves
// or ctx ends.
func (p *Process) ServeJoined(ctx context.Context, conn net.Conn, opt mcpserver.StdioOptions) error {
	client := bridge.NewJoined(conn)
	defer client.Close()
	return p.serveJoined(ctx, client, opt)
}

func (p *Process) serveJoined(ctx context.Context, client *bridge.Joined, opt mcpserver.StdioOptions) error {
	opt.Gone, opt.Seen = client.Gone(), p.tokens.Local(opt.Client)
	return p.mcp.ServeStdio(ctx, client, client, opt)
}
