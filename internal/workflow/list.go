package workflow

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// lists remembers the lists that workflows made. The zero value is ready for use.
type lists struct {
	mu   sync.Mutex
	made map[listKey]madeList
}

// listKey is whose list it is. What a client says of itself does not count.
type listKey struct {
	client string
	view   gateway.View
	server string
}

type madeList struct {
	// of is the hash of the server's list and of the versions that made it what it is.
	of    uint64
	tools []gateway.Tool
}

// mostLists bounds the memory of clients and views that are gone.
const mostLists = 10_000

// markTool is the key in _meta of a definition that tells which tool it was.
const markTool = gateway.MetaPrefix + "tool"

// ListsFor reports whether tools/list workflows apply to a client: its views then have
// lists of its own.
func (s *Set) ListsFor(client string) bool {
	return slices.ContainsFunc(s.lists, func(w *Workflow) bool { return w.match.clients.match(client) })
}

// listing returns the tools/list workflows for a client.
func (s *Set) listing(client string) (found []*Workflow) {
	for _, w := range s.lists {
		if w.match.clients.match(client) {
			found = append(found, w)
		}
	}
	return found
}

// Tools returns the tools of a server as the tools/list workflows let a client see them:
// some are left out, and others have another name or description in their definition.
// Name and InputSchema stay the server's own. A tool that is left out must not be
// reachable for the client by any way.
//
// If a workflow fails, the last list that was made for the client stands, and without
// one no tool is listed; the error says so.
func (e *Engine) Tools(ctx context.Context, who gateway.Identity, view gateway.View, source gateway.Source, tools []gateway.Tool) ([]gateway.Tool, error) {
	workflows := e.set.Load().listing(who.ClientID)
	if len(workflows) == 0 || len(tools) == 0 {
		return tools, nil
	}
	key := listKey{who.ClientID, view, source.Name()}
	of := listHash(workflows, tools)
	e.lists.mu.Lock()
	last, known := e.lists.made[key]
	e.lists.mu.Unlock()
	if known && last.of == of {
		return last.tools, nil
	}
	made, err, w := tools, error(nil), (*Workflow)(nil)
	for i := len(workflows) - 1; i >= 0 && err == nil; i-- { // answers pass the innermost first
		w = workflows[i]
		made, err = e.list(ctx, w, gateway.Caller{Identity: who, View: view}, source, made)
	}
	if err != nil {
		stands := gateway.Textf("its tools are hidden from this client")
		if known {
			stands = gateway.Textf("the last list that it made stands")
		}
		return last.tools, &gateway.Error{
			Code: gateway.CodeUnavailable, Message: "the tools of server %s cannot be listed for client %s: %s; %s",
			Values: []any{source.Name(), who.ClientID, w.reason(e, err), stands}, Err: err,
		}
	}
	e.lists.mu.Lock()
	defer e.lists.mu.Unlock()
	if len(e.lists.made) >= mostLists || e.lists.made == nil {
		e.lists.made = map[listKey]madeList{}
	}
	e.lists.made[key] = madeList{of, made}
	return made, nil
}

func listHash(workflows []*Workflow, tools []gateway.Tool) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, w := range workflows {
		// A workflow that is compiled anew may have other modules.
		_, _ = fmt.Fprintf(&h, "%p %s@%d;", w, w.ID, w.Version)
	}
	for i := range tools {
		_, _ = fmt.Fprintf(&h, "%d %s %d ", len(tools[i].Name), tools[i].Name, len(tools[i].Definition))
		_, _ = h.Write(tools[i].Definition)
	}
	return h.Sum64()
}

// list runs one workflow on the tools that it matches. The others stay.
func (e *Engine) list(ctx context.Context, w *Workflow, caller gateway.Caller, source gateway.Source, tools []gateway.Tool) ([]gateway.Tool, error) {
	marked := make(map[string][]byte, len(tools))
	originals := make(map[string]gateway.Tool, len(tools))
	answer := []byte(`{"tools":[`)
	for _, t := range tools {
		t.Source = source
		if w.match.tool(&t) {
			definition := mark(t.Definition, t.Name)
			if len(marked) > 0 {
				answer = append(answer, ',')
			}
			answer = append(answer, definition...)
			marked[t.Name], originals[t.Name] = definition, t
		}
	}
	if len(marked) == 0 {
		return tools, nil
	}
	result := &gateway.Result{Raw: append(answer, "]}"...)}
	call := &gateway.Call{Method: ToolsList, Params: gateway.Params{Raw: []byte("{}")}, Caller: caller, Tool: &gateway.Tool{Source: source}}
	r := e.newRun(ctx, w, call, &chain{})
	applies, err := w.match.applies(ctx, r)
	if err == nil && !applies {
		return tools, nil
	}
	r.dry = w.Mode == shadow
	r.forward = func(context.Context, *Run) (*gateway.Result, error) { return result, nil }
	if err == nil {
		err = r.walk()
	}
	changed, err := e.outcome(r, err, func(context.Context) (*gateway.Result, error) { return result, nil })
	r.report()
	switch {
	case r.dry:
		return tools, nil
	case r.trace.Outcome == OutcomeDenied: // nothing of it is for this client
		changed = &gateway.Result{Raw: []byte(`{"tools":[]}`)}
	case err != nil:
		return nil, err
	}
	return w.listed(changed.Raw, tools, originals, marked)
}

// listed finds the tools in what a workflow made of a list. The order is the workflow's,
// and the tools that it was not for come behind.
func (w *Workflow) listed(raw []byte, tools []gateway.Tool, originals map[string]gateway.Tool, marked map[string][]byte) (listed []gateway.Tool, err error) {
	names := map[string]bool{}
	walk := jsonrpc.Elements(jsonrpc.Lookup(raw, "tools"), func(definition []byte) bool {
		name := jsonrpc.LookupText(jsonrpc.Lookup(definition, "_meta"), markTool)
		if name == "" {
			name = jsonrpc.LookupText(definition, "name")
		}
		t, ok := originals[name]
		shown := jsonrpc.LookupText(definition, "name")
		switch {
		case !ok:
			err = failure("workflow %q lists the tool %q, which the server does not have; it can leave out, rename and describe tools, and keeps the _meta of each", w.title(), gateway.Short(shown))
		case shown == "" || names[shown]:
			err = failure("workflow %q lists two tools as %q", w.title(), gateway.Short(shown))
		}
		if err != nil {
			return false
		}
		names[shown] = true
		if !bytes.Equal(definition, marked[name]) {
			if t.InputSchema == nil {
				t.InputSchema = jsonrpc.Lookup(t.Definition, "inputSchema")
			}
			if t.Rewritten == nil {
				t.Rewritten = &gateway.Rewritten{Annotations: jsonrpc.Lookup(t.Definition, "annotations")}
			}
			t.Definition = unmark(definition)
		}
		listed = append(listed, t)
		return true
	})
	if err == nil {
		err = walk
	}
	for _, t := range tools {
		if _, own := originals[t.Name]; !own {
			listed = append(listed, t)
		}
	}
	return listed, err
}

// mark writes the name of a tool into its definition.
func mark(definition []byte, name string) []byte {
	value := append(jsonrpc.AppendQuoted(append(jsonrpc.AppendQuoted(nil, markTool), ':'), name), '}')
	meta := jsonrpc.WithoutMeta(definition, markTool)
	at := jsonrpc.LookupSpan(meta, "_meta")
	if !at.Present() || meta[at.Start] != '{' {
		rest := bytes.TrimLeft(jsonrpc.Without(meta, "_meta")[1:], " \t\r\n")
		return append(append([]byte(`{"_meta":{`), value...), append(comma(rest), rest...)...)
	}
	inner := bytes.TrimLeft(meta[at.Start+1:at.End], " \t\r\n")
	with := append([]byte{'{'}, value[:len(value)-1]...)
	return jsonrpc.Splice(nil, meta, jsonrpc.Edit{At: at, With: append(with, append(comma(inner), inner...)...)})
}

// comma stands before the rest of an object that has more members.
func comma(rest []byte) []byte {
	if rest[0] == '}' {
		return nil
	}
	return []byte{','}
}

// unmark undoes mark.
func unmark(definition []byte) []byte {
	out := jsonrpc.WithoutMeta(definition, markTool)
	if meta := jsonrpc.Lookup(out, "_meta"); meta != nil && len(bytes.Trim(meta, "{} \t\r\n")) == 0 {
		out = jsonrpc.Without(out, "_meta")
	}
	return out
}
