// Package guide is the source of search mode. Instead of all tools a client sees
// four: search_tools, describe_tool, and two that call a tool. One of these calls
// only tools that change nothing, so that clients can ask people to approve the
// other.
//
// The calls that it makes pass the whole corridor, like those of any client.
package guide

import (
	"context"
	"encoding/json"
	"errors"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/search"
)

// House is what the guide needs.
type House interface {
	gateway.Handler
	// Search finds tools of a view for a client.
	Search(ctx context.Context, who gateway.Identity, view gateway.View, q search.Query) search.Result
	// Shown records what a client was shown of a search.
	Shown(who gateway.Identity, query string, hits []search.Hit)
	// FindTool returns a tool of a view by the name that clients use; nil if there
	// is none.
	FindTool(view gateway.View, name string) *gateway.Tool
	// ServerNames returns the sources of a view.
	ServerNames(view gateway.View) []string
	// Absent returns why a view has no tool of a name, when its server is not there,
	// and the tool that was probably meant. Both may be empty.
	Absent(view gateway.View, name string) (why gateway.Text, near string)
	// AbsentServer returns why a view has no tools of a server; empty if it has
	// some.
	AbsentServer(view gateway.View, name string) gateway.Text
	// Say translates a text into the configured language.
	Say(gateway.Text) string
}

// Guide is the source of the four tools.
type Guide struct {
	house     func() House
	view      gateway.View
	translate gateway.Translate
}

// New makes the guide of a view. Its tools are described in the language of translate.
func New(view gateway.View, translate gateway.Translate, house func() House) *Guide {
	return &Guide{house, view, translate}
}

// SourceName is the name of the source.
const SourceName = "genkan"

// Name is "genkan".
func (g *Guide) Name() string { return SourceName }

// Forwards says that calls of the guide become calls of the servers, and queue,
// fail and end there.
func (g *Guide) Forwards() {}

// List lists the four tools.
func (g *Guide) List(kind gateway.Kind) []gateway.Tool {
	if kind != gateway.KindTool {
		return nil
	}
	return definitions(g.house().ServerNames(g.view), g.translate)
}

// Handle answers a call of one of them.
func (g *Guide) Handle(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	arguments, err := call.Arguments()
	if err != nil {
		return nil, err
	}
	text := func(key string) string { s, _ := arguments[key].(string); return s }
	switch call.Tool.Name {
	case searchTools:
		return g.search(ctx, call.Identity, search.Query{Text: text("query"), About: text("about")}, text("server"), arguments)
	case describeTool:
		return g.describe(text("name"))
	case callReadTool:
		return g.call(ctx, call, text("name"), true)
	default:
		return g.call(ctx, call, text("name"), false)
	}
}

// call calls a tool on behalf of the client.
func (g *Guide) call(ctx context.Context, outer *gateway.Call, name string, readOnly bool) (*gateway.Result, error) {
	tool := g.house().FindTool(g.view, name)
	switch {
	case name == "":
		return nil, invalid("name", "name is missing: it must be the id of a tool that %s found", searchTools)
	case tool != nil && readOnly && !tool.ReadOnly:
		return nil, invalid("name", "%s may change something, so %s does not call it; use %s", name, callReadTool, callTool)
	}
	params, err := innerParams(outer, name)
	if err != nil {
		return nil, err
	}
	inner := &gateway.Call{
		Method: "tools/call", Params: params, Name: name, Kind: gateway.KindTool,
		Caller: outer.Caller, Parent: outer,
		Terms: gateway.Terms{Options: outer.Options, Complete: true, ReadOnly: readOnly, Included: true},
	}
	inner.View = g.view
	// A sign of life of the inner call is one of the outer.
	inner.OnSignOfLife(outer.SignOfLife)
	result, err := g.house().Handle(ctx, inner)
	// The outer tool exists: what is unknown is its argument. Other failures are those
	// of the outer call, too.
	if e := (*gateway.Error)(nil); errors.As(err, &e) && e.Code == gateway.CodeNotFound && e.RPC == nil {
		return nil, g.unknown(name)
	}
	return result, err
}

// innerParams returns the params of the inner call: its arguments, and the _meta of
// the outer call.
func innerParams(outer *gateway.Call, name string) (gateway.Params, error) {
	in := &outer.Params
	arguments := jsonrpc.Lookup(in.Get(in.Arguments), "arguments")
	if arguments == nil || string(arguments) == "null" {
		arguments = []byte("{}")
	}
	// Some agents send the arguments as a string of JSON.
	if arguments[0] == '"' {
		var written string
		if json.Unmarshal(arguments, &written) == nil && json.Valid([]byte(written)) {
			arguments = []byte(written)
		}
	}
	raw := append(jsonrpc.AppendQuoted([]byte(`{"name":`), name), `,"arguments":`...)
	raw = append(raw, arguments...)
	if meta := in.Get(in.Meta); meta != nil {
		raw = append(append(raw, `,"_meta":`...), meta...)
	}
	params, err := jsonrpc.ScanParams(append(raw, '}'))
	if err != nil {
		return params, &gateway.Error{Code: gateway.CodeInvalid, Err: err, Message: "arguments must be a JSON object"}
	}
	return params, nil
}

// unknown is the error for a name that no tool has.
func (g *Guide) unknown(name string) error {
	why, near := g.house().Absent(g.view, name)
	name = gateway.Short(name)
	switch {
	case why.String() != "":
		return invalid("name", "%s", why)
	case near != "":
		return invalid("name", "Unknown tool: %s. Did you mean %s? %s finds ids", name, near, searchTools)
	}
	return invalid("name", "Unknown tool: %s. Find its id with %s", name, searchTools)
}

// invalid is the error for an argument that the agent has to correct.
func invalid(field, format string, values ...any) error {
	e := gateway.Errorf(gateway.CodeInvalid, format, values...)
	e.Field = field
	return e
}

// shown is a result with text and structured content: clients show either.
func shown(v any) (*gateway.Result, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	return gateway.NewResult(map[string]any{
		"content":           []any{map[string]any{"type": "text", "text": string(raw)}},
		"structuredContent": fields,
	})
}
