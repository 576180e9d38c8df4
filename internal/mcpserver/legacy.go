package mcpserver

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// negotiate returns the version of a legacy session: the client's version if it is
// supported, and the newest supported one otherwise.
func negotiate(params []byte) string {
	if asked := jsonrpc.LookupText(params, "protocolVersion"); slices.Contains(gateway.LegacyVersions(), asked) {
		return asked
	}
	return gateway.LegacyVersion
}

// clientCapabilities returns the capabilities that a legacy client announces.
// Sessions are kept for long, so only the known capabilities of a large object are
// kept.
func clientCapabilities(msg *jsonrpc.Message) []byte {
	const most = 4 << 10
	raw := jsonrpc.Lookup(msg.Params.Raw, "capabilities")
	switch {
	case len(raw) == 0 || raw[0] != '{':
		return nil
	case len(raw) > most:
		return unpackCapabilities(packCapabilities(raw))
	}
	return bytes.Clone(raw)
}

// introduced reports and returns the name that a client gives itself. Modern clients
// send it with every request. Only list requests report it, so that calls need not
// read it.
func (s *Server) introduced(id gateway.Identity, info []byte) string {
	client := jsonrpc.ClientName(info)
	if s.opt.Introduced != nil && client != "" {
		s.opt.Introduced(id, client)
	}
	return client
}

// capabilities are the capabilities of genkan as a whole. They do not depend on the
// servers of the moment, because servers come and go and a client asks only once.
const capabilities = `{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"completions":{},"logging":{}}`

// capabilitiesOf returns the capabilities of a view. For a single server they are
// those that the server offers. Each list is always announced as one that may
// change.
func capabilitiesOf(d Description, era gateway.Era) string {
	tasks := ""
	switch {
	case era == gateway.EraLegacy && d.Tasks[gateway.EraLegacy]:
		list := ""
		if d.ListsTasks {
			list = `"list":{},`
		}
		tasks = `,"tasks":{` + list + `"cancel":{},"requests":{"tools":{"call":{}}}}`
	case era == gateway.EraModern && d.Tasks[gateway.EraModern]:
		tasks = `,"extensions":{"` + tasksExtension + `":{}}`
	}
	if d.Capabilities == nil {
		return strings.TrimSuffix(capabilities, "}") + tasks + "}"
	}
	out := ""
	for _, c := range []struct{ word, value string }{
		{"tools", `{"listChanged":true}`},
		{"prompts", `{"listChanged":true}`},
		{"resources", `{"subscribe":true,"listChanged":true}`},
		{"completions", "{}"},
		{"logging", "{}"},
	} {
		own := jsonrpc.Lookup(d.Capabilities, c.word)
		if c.word == "resources" && string(jsonrpc.Lookup(own, "subscribe")) != "true" {
			c.value = `{"listChanged":true}`
		}
		if c.word == "tools" || own != nil {
			out += `,"` + c.word + `":` + c.value
		}
	}
	return "{" + out[1:] + tasks + "}"
}

// initializeResult answers initialize.
func (s *Server) initializeResult(version string, view gateway.View) []byte {
	d := s.opt.House().Describe(view)
	b := append([]byte(`{"protocolVersion":"`), version...)
	b = append(append(b, `","capabilities":`...), capabilitiesOf(d, gateway.EraLegacy)...)
	b = append(append(b, `,"serverInfo":`...), s.infoOf(d)...)
	return append(appendInstructions(b, d), '}')
}

func (s *Server) infoOf(d Description) []byte {
	if len(d.Info) > 0 {
		return d.Info
	}
	return s.info
}

func appendInstructions(b []byte, d Description) []byte {
	if d.Instructions == "" {
		return b
	}
	return jsonrpc.AppendQuoted(append(b, `,"instructions":`...), d.Instructions)
}

// legacyResult answers the legacy requests that are not calls.
func (s *Server) legacyResult(ctx context.Context, msg *jsonrpc.Message, sess *session) ([]byte, error) {
	switch msg.Method {
	case "ping":
		return []byte("{}"), nil
	case "logging/setLevel":
		return []byte("{}"), s.setLevel(sess, msg)
	case "resources/subscribe":
		return []byte("{}"), s.subscribe(ctx, sess, msg)
	case "resources/unsubscribe":
		return []byte("{}"), s.unsubscribe(sess, msg)
	case "tasks/list":
		return s.tasksResult(ctx, msg, sess)
	}
	if kind, ok := gateway.KindOfList(msg.Method); ok {
		sess.listing(kind)
	}
	return s.listResult(ctx, msg, sess.view, gateway.EraLegacy)
}

// tasksResult answers tasks/list if the view has servers that list tasks.
func (s *Server) tasksResult(ctx context.Context, msg *jsonrpc.Message, sess *session) ([]byte, error) {
	house := s.opt.House()
	if !house.Describe(sess.view).ListsTasks {
		return nil, methodNotFound(msg.Method)
	}
	cursor, err := cursorOf(msg)
	if err != nil {
		return nil, err
	}
	return house.Tasks(ctx, &gateway.Call{
		Method: msg.Method, Kind: gateway.KindTask,
		Caller: gateway.Caller{View: sess.view, Era: gateway.EraLegacy, Identity: gateway.Identity{ClientID: sess.owner}, Session: sess.known.Load()},
	}, cursor)
}

// notified handles a notification of a legacy client.
func (s *Server) notified(sess *session, msg *jsonrpc.Message) {
	switch msg.Method {
	case "notifications/cancelled":
		sess.cancel(string(jsonrpc.Lookup(msg.Params.Raw, "requestId")))
	case "notifications/roots/list_changed":
		sess.learn(func(known *gateway.Session) { known.Roots++ })
		s.opt.House().ClientNotified(sess.known.Load(), msg.Method, msg.Params.Raw)
	case "notifications/tasks/status":
		s.opt.House().ClientNotified(sess.known.Load(), msg.Method, msg.Params.Raw)
	}
}

func methodNotFound(method string) error {
	const most = 128
	if len(method) > most {
		method = method[:most] + "…"
	}
	return &refusal{gateway.Errorf(gateway.CodeNotFound, "Method not found: %s", gateway.Short(method)), jsonrpc.CodeMethodNotFound, nil}
}
