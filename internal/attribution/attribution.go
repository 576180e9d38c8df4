// Package attribution names the server in what it says to people, where a client
// sees several servers at one address. Otherwise a server could speak in the name
// of another one, or of genkan.
package attribution

import (
	"bytes"
	"context"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// metaServer names the server that a request to the client comes from.
const metaServer = gateway.MetaPrefix + "server"

// Middleware names the server of a call in its messages to the client where
// several reports that the client's view has more than one server. It also removes
// keys from results that only genkan sets.
func Middleware(several func(view gateway.View) bool) gateway.Middleware {
	return func(next gateway.Handler) gateway.Handler {
		return middleware(next, several)
	}
}

func middleware(next gateway.Handler, several func(view gateway.View) bool) gateway.Handler {
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		if !gateway.IsExternal(call.Tool.Source) {
			return next.Handle(ctx, call)
		}
		server, joined := call.Tool.Source.Name(), several(call.View)
		if joined && call.Peer != nil {
			call.Peer = namedPeer{call.Peer, server}
		}
		if session := call.Session; joined && session != nil && session.Peer != nil {
			named := *session
			named.Peer = namedPeer{session.Peer, server}
			call.Session = &named
		}
		result, err := next.Handle(ctx, call)
		if err != nil {
			return nil, err
		}
		if result.HasMeta {
			result.Raw = jsonrpc.WithoutMeta(result.Raw, gateway.MetaPrefix)
		}
		if result.Type == gateway.ResultInputRequired {
			if !joined {
				server = ""
			}
			result.Raw = nameQuestions(result.Raw, server)
		}
		return result, err
	})
}

// namedPeer is the way back to a client that sees several servers.
type namedPeer struct {
	gateway.Peer
	server string
}

// Ask passes a request on with the name of its server.
func (p namedPeer) Ask(ctx context.Context, method string, params []byte) ([]byte, error) {
	return p.Peer.Ask(ctx, method, nameQuestion(method, params, p.server))
}

// Notify passes on the notifications that MCP has. Others mean what the clients
// of one server agreed on with it.
func (p namedPeer) Notify(method string, params []byte) {
	switch method {
	case "notifications/message":
		params = nameLogger(params, p.server)
	case "notifications/progress", "notifications/cancelled", "notifications/elicitation/complete",
		"notifications/tasks", "notifications/tasks/status", "notifications/resources/updated":
	default:
		return
	}
	p.Peer.Notify(method, params)
}

// Prolong passes on that the answer will take its time.
func (p namedPeer) Prolong() {
	if peer, ok := p.Peer.(gateway.Prolonger); ok {
		peer.Prolong()
	}
}

// nameQuestion begins the message of a question with the server's name. A request
// for sampling, which has no such message, names it in its _meta.
//
// An empty name only removes keys that genkan sets.
func nameQuestion(method string, params []byte, server string) []byte {
	params = jsonrpc.WithoutMeta(params, gateway.MetaPrefix)
	if server == "" {
		return params
	}
	switch method {
	case "elicitation/create":
		if text, at := jsonrpc.TextAt(params, "message"); at.Present() {
			return jsonrpc.Splice(nil, params, jsonrpc.Edit{At: at, With: jsonrpc.AppendQuoted(nil, "["+server+"] "+text)})
		}
		return withMember(params, "message", jsonrpc.AppendQuoted(nil, "["+server+"]"))
	case "sampling/createMessage":
		meta := jsonrpc.Lookup(params, "_meta")
		if len(meta) == 0 || meta[0] != '{' {
			meta = []byte("{}")
		}
		return withMember(jsonrpc.Without(params, "_meta"), "_meta", withMember(meta, metaServer, jsonrpc.AppendQuoted(nil, server)))
	default:
		return params
	}
}

// nameLogger begins the logger of a log message with the server's name.
func nameLogger(params []byte, server string) []byte {
	logger, at := jsonrpc.TextAt(params, "logger")
	switch {
	case !at.Present():
		return withMember(params, "logger", jsonrpc.AppendQuoted(nil, server))
	case logger != "":
		server += "/" + logger
	}
	return jsonrpc.Splice(nil, params, jsonrpc.Edit{At: at, With: jsonrpc.AppendQuoted(nil, server)})
}

// nameQuestions names the server in the questions of a result that asks for more
// input.
func nameQuestions(raw []byte, server string) []byte {
	at := jsonrpc.LookupSpan(raw, "inputRequests")
	if !at.Present() {
		return raw
	}
	requests := []byte{'{'}
	err := jsonrpc.Members(raw[at.Start:at.End], func(key, request []byte) bool {
		if params := jsonrpc.LookupSpan(request, "params"); params.Present() {
			named := nameQuestion(jsonrpc.LookupText(request, "method"), request[params.Start:params.End], server)
			request = jsonrpc.Splice(nil, request, jsonrpc.Edit{At: params, With: named})
		}
		if len(requests) > 1 {
			requests = append(requests, ',')
		}
		requests = append(append(jsonrpc.AppendQuoted(requests, string(key)), ':'), request...)
		return true
	})
	if err != nil {
		return raw
	}
	return jsonrpc.Splice(nil, raw, jsonrpc.Edit{At: at, With: append(requests, '}')})
}

// withMember adds a member to an object that does not have it.
func withMember(object []byte, key string, value []byte) []byte {
	member := append(append(jsonrpc.AppendQuoted(nil, key), ':'), value...)
	empty := true
	if err := jsonrpc.Members(object, func([]byte, []byte) bool { empty = false; return false }); err != nil {
		return object
	}
	if !empty {
		member = append([]byte{','}, member...)
	}
	end := uint32(bytes.LastIndexByte(object, '}')) //nolint:gosec // at most MaxMessage
	return jsonrpc.Splice(nil, object, jsonrpc.Edit{At: gateway.Span{Start: end, End: end}, With: member})
}
