package upstream

import (
	"context"
	"sync"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// maxRounds is how often a server may ask for more input in one call.
const maxRounds = 32

// withInput sends a call. If a modern server answers input_required and the caller
// is a legacy client or the call asks for the final answer, it asks the client and
// sends the call again with the answers, until the call is done.
func (s *Server) withInput(ctx context.Context, c conn, call *gateway.Call) (*gateway.Result, error) {
	in := &call.Params
	if in.InputResponses.Present() {
		var err error
		if in, err = s.withPermittedRoots(call, in); err != nil {
			return nil, err
		}
	}
	for range maxRounds {
		result, err := c.call(ctx, call, in)
		if err != nil || result.Type != gateway.ResultInputRequired || call.Era == gateway.EraModern && !call.Whole {
			return result, err
		}
		responses, err := s.askAll(ctx, call, jsonrpc.Lookup(result.Raw, "inputRequests"))
		if err != nil {
			return nil, err
		}
		again, err := withResponses(&call.Params, responses, jsonrpc.Lookup(result.Raw, "requestState"))
		if err != nil {
			return nil, err
		}
		in = &again
	}
	return nil, gateway.Errorf(gateway.CodeUnavailable, "%s asked for more input %d times and was given up", call.Tool.Exposed, maxRounds)
}

// askAll asks the client all questions of a server and returns the answers by the
// server's keys.
func (s *Server) askAll(ctx context.Context, call *gateway.Call, requests []byte) ([]byte, error) {
	type question struct {
		key, method    string
		params, answer []byte
	}
	var all []*question
	if requests != nil {
		err := jsonrpc.Members(requests, func(key, value []byte) bool {
			q := &question{key: string(key), method: jsonrpc.LookupText(value, "method"), params: jsonrpc.Lookup(value, "params")}
			if q.params == nil {
				q.params = []byte("{}")
			}
			all = append(all, q)
			return true
		})
		if err != nil {
			return nil, unusable("what %s asks for is not valid", call.Tool.Exposed)
		}
	}
	if len(all) > maxAnswering {
		return nil, unusable("%s asks the client %d questions at once, which is more than %d; this is a fault of the server, or an attack",
			call.Tool.Exposed, len(all), maxAnswering)
	}
	for _, q := range all {
		if !canAnswer(call, q.method, q.params) {
			return nil, cannotAnswer(call, q.method)
		}
	}
	// The first failure cancels the other questions.
	asking, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var open sync.WaitGroup
	for _, q := range all {
		open.Go(func() {
			var err error
			if q.answer, err = call.Ask(asking, q.method, q.params); err != nil {
				fail(err)
			} else if q.method == "roots/list" {
				q.answer = s.permitted(call.Identity, q.answer, nil)
			}
		})
	}
	open.Wait()
	if asking.Err() != nil {
		return nil, context.Cause(asking)
	}
	out := []byte{'{'}
	for _, q := range all {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(jsonrpc.AppendQuoted(out, q.key), ':'), q.answer...)
	}
	return append(out, '}'), nil
}

// cannotAnswer is the error of a call whose client lacks a capability that the
// tool needs.
func cannotAnswer(call *gateway.Call, method string) error {
	return gateway.Errorf(gateway.CodeInvalid,
		"%s needs to ask the client (%s), which this client did not announce that it can; use another client for it", call.Tool.Exposed, method)
}

// withResponses adds the answers and the server's state to a call's params.
func withResponses(in *gateway.Params, responses, state []byte) (gateway.Params, error) {
	raw := append([]byte(nil), in.Raw...)
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	extra := append([]byte(`"inputResponses":`), responses...)
	if state != nil {
		extra = append(append(extra, `,"requestState":`...), state...)
	}
	if !isEmptyObject(raw) {
		extra = append([]byte{','}, extra...)
	}
	raw = append(append(raw[:len(raw)-1], extra...), '}')
	again, err := jsonrpc.ScanParams(raw)
	if err != nil {
		return again, unusable("the server's request for more input could not be answered")
	}
	again.Name = in.Name // where it stood, if the house put it elsewhere
	return again, nil
}
