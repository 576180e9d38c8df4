package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"genkan/internal/app"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/logs"
)

// gatewayRole is genkan with a middleware that looks into calls. What a
// workflow will do in script, it does in Go, so that what is measured is the
// price of looking: decoding and encoding once.
//
//	gateway none|miss|match DATADIR ADDRESS
func gatewayRole(args []string) error {
	args, stopProfile, err := profiled(args)
	if err != nil {
		return err
	}
	defer stopProfile()
	if len(args) != 3 {
		return errors.New("usage: gateway none|miss|match DATADIR ADDRESS")
	}
	sink := logs.NewSink(os.Stderr)
	defer sink.Close()
	level := new(slog.LevelVar)
	opt := app.Options{
		DataDir: args[1], Flags: config.Flags{Listen: args[2]}, Version: "bench",
		Level: level, Sink: sink, Log: logs.New(sink, level, false),
	}
	switch args[0] {
	case "none":
	case "miss":
		opt.Inspect = []gateway.Middleware{inspect("another_tool")}
	case "match":
		opt.Inspect = []gateway.Middleware{inspect("echo")}
	default:
		return fmt.Errorf("%q is not none, miss or match", args[0])
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p, err := app.Open(ctx, opt)
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }()
	l, err := p.Listen(ctx)
	if err != nil {
		return err
	}
	return p.Serve(ctx, l)
}

// inspect rewrites an argument and the text of the result of one tool.
func inspect(tool string) gateway.Middleware {
	return func(next gateway.Handler) gateway.Handler {
		return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
			if call.Tool.Name != tool {
				return next.Handle(ctx, call)
			}
			args, err := call.Arguments()
			if err != nil {
				return nil, err
			}
			args = maps.Clone(args)
			args["upper"] = true
			if err := call.SetArguments(args); err != nil {
				return nil, err
			}
			result, err := next.Handle(ctx, call)
			if err != nil {
				return nil, err
			}
			fields, err := result.Fields()
			if err != nil {
				return nil, err
			}
			return rewrite(fields)
		})
	}
}

// rewrite changes the text of a result. The first occurrence only: the price
// of replacing is not what is measured.
func rewrite(fields map[string]any) (*gateway.Result, error) {
	fields = maps.Clone(fields)
	content, _ := fields["content"].([]any)
	changed := make([]any, 0, len(content))
	for _, item := range content {
		block, ok := item.(map[string]any)
		if text, isText := block["text"].(string); ok && isText {
			block = maps.Clone(block)
			block["text"] = strings.Replace(text, "visitor", "guest", 1)
			item = block
		}
		changed = append(changed, item)
	}
	fields["content"] = changed
	return gateway.NewResult(fields)
}
