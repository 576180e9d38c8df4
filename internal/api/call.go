package api

import (
	"bytes"
	"cmp"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/catalog"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/kb"
)

// These are the seed's defaults for REST callers. Nothing is sent again unless the
// caller asks for it.
const (
	defaultTimeout    = 30 * time.Second
	defaultRetryDelay = time.Second
)

func (a *API) callTool(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	// A call is counted on its way, and a request that becomes none is counted here.
	var in client.CallRequest
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		if a.count(w, id) {
			a.refuseBody(w, status, wrong)
		}
		return
	}
	call, err := a.newCall(in, id)
	if err != nil {
		if a.count(w, id) {
			a.fail(w, err)
		}
		return
	}
	call.Budget, call.Included = a.opt.Budget, false
	defer call.Release()
	result, err := a.opt.House().Handle(r.Context(), call)
	recorded(w)
	cover(w, call)
	notice := ""
	if err == nil && result.Notice.Format != "" {
		notice = a.language().Text(result.Notice)
	}
	switch {
	case err != nil && call.Tool == nil && isUnknownTool(err):
		a.toolNotFound(w, id, viewOf(id), in.Name)
	case err != nil && gateway.AsError(err).RPC != nil && askedCaller(call.Tool.Exposed, gateway.AsError(err).Text()) != nil:
		a.answer(w, needsClient, askedCaller(call.Tool.Exposed, gateway.AsError(err).Text()))
	case err != nil && isToolFailure(gateway.AsError(err)):
		a.answer(w, toolFailed, gateway.Errorf(gateway.CodeUnavailable, "Tool execution failed: %s: %s", call.Tool.Exposed, gateway.AsError(err)))
	case err != nil:
		a.fail(w, err)
	case result.IsError:
		a.callFailure(w, call.Tool, result, notice)
	default:
		kept := ""
		if !a.calls.Record().Off {
			kept = call.RequestID
		}
		encode(w, http.StatusOK, client.CallResult{
			Success: true, Result: result.Raw, Notice: notice, Call: kept, ExecutionTime: *executionTime(w), Timestamp: timestamp(),
		})
	}
}

// validateCall checks the parameters of a call, and calls nothing.
func (a *API) validateCall(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	var in client.CallCheck
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	name := r.PathValue("name")
	call, err := a.newCall(client.CallRequest{Name: name, Parameters: in.Parameters}, id)
	if err != nil {
		a.fail(w, err)
		return
	}
	call.Budget = a.opt.Budget
	defer call.Release()
	result, err := a.opt.House().Check(r.Context(), call)
	switch {
	case err != nil && call.Tool == nil && isUnknownTool(err):
		a.toolNotFound(w, id, viewOf(id), name)
	case err != nil:
		a.fail(w, err)
	case result != nil:
		a.callFailure(w, call.Tool, result, "")
	default:
		encode(w, http.StatusOK, client.Done{Success: true})
	}
}

// callFailure answers with the error that a tool reported. An error of the knowledge
// base has a status and an object for it.
func (a *API) callFailure(w http.ResponseWriter, tool *gateway.Tool, result *gateway.Result, notice string) {
	if tool.Source.Name() == kb.SourceName && !gateway.IsExternal(tool.Source) {
		if rest, out, known := a.knowledgeFailure(tool.Name, result, false); known {
			a.sendFailure(w, rest, out)
			return
		}
	}
	text := a.textOf(result)
	rest, why := toolFailed, a.language().Sprintf("Tool execution failed: %s: %s", tool.Exposed, text)
	if asked := askedCaller(tool.Exposed, text); asked != nil {
		rest, why = needsClient, a.language().Error(asked)
	}
	encode(w, rest.status, client.CallResult{
		Result: result.Raw, Error: why, Code: rest.code, Notice: notice,
		ExecutionTime: *executionTime(w), Timestamp: timestamp(),
	})
}

// newCall makes a Call of a request.
func (a *API) newCall(in client.CallRequest, id gateway.Identity) (*gateway.Call, error) {
	var problems gateway.Problems
	if in.Name == "" {
		problems.Add(gateway.MissingField(nil, "name"))
	}
	args := bytes.TrimSpace(in.Parameters)
	if len(args) == 0 || string(args) == "null" {
		args = []byte("{}")
	}
	if args[0] != '{' {
		problems.Add(gateway.NotAnObject("parameters", jsonrpc.TypeOf(args)))
	}
	notNegative := func(option string, n int64) {
		if n < 0 {
			problems.Add(breaks("options."+option, "minimum", map[string]any{"comparison": ">=", "limit": 0},
				gateway.Textf("%s must be at least %s, is %s", "options."+option, "0", strconv.FormatInt(n, 10))))
		}
	}
	notNegative("timeout", in.Options.Timeout)
	if in.Options.Retry != nil {
		notNegative("retry", int64(*in.Options.Retry))
	}
	notNegative("retryDelay", in.Options.RetryDelay)
	if in.Options.Budget != 0 && in.Options.Budget < gateway.LeastBudget {
		problems.Add(breaks("options.budget", "minimum", map[string]any{"comparison": ">=", "limit": gateway.LeastBudget},
			gateway.Textf("%s must be at least %s, is %s", "options.budget", strconv.Itoa(gateway.LeastBudget), strconv.Itoa(in.Options.Budget))))
	}
	for _, at := range []struct{ option, path string }{{"folder", in.Options.Folder}, {"cwd", in.Options.Cwd}} {
		if at.path != "" && !filepath.IsAbs(at.path) {
			problems.Add(breaks("options."+at.option, "format", map[string]any{"format": "absolute path"}, gateway.Textf("%s must be an absolute path", "options."+at.option)))
		}
	}
	if wrong := problems.Err(); wrong != nil {
		return nil, wrong
	}
	params, err := paramsOf(in.Name, args)
	if err != nil {
		return nil, &gateway.Error{Code: gateway.CodeInvalid, Message: "parameters: %s", Values: []any{err}}
	}
	call := a.callOf(in.Name, params, id)
	call.Dir, call.DirStated = cmp.Or(in.Options.Folder, in.Options.Cwd), in.Options.Folder != ""
	call.Query = in.Options.Query
	call.Options = gateway.ExecuteOptions{Timeout: millis(in.Options.Timeout), RetryDelay: millis(in.Options.RetryDelay), Budget: in.Options.Budget}
	if in.Options.Retry != nil {
		call.Options.Retries = cmp.Or(*in.Options.Retry, gateway.NoRetries)
	}
	return call, nil
}

// viewOf returns what a caller sees over REST. Administrators look after all tools.
func viewOf(id gateway.Identity) gateway.View {
	caller := gateway.Caller{Identity: id, Via: gateway.ViaREST}
	return gateway.View{Audience: caller.Audience()}
}

// seen returns the tools that a caller sees.
func (a *API) seen(id gateway.Identity) *catalog.Snapshot {
	return a.opt.House().SnapshotOf(viewOf(id))
}

// callOf returns a REST call of a tool, without the caller's options.
func (a *API) callOf(name string, params gateway.Params, id gateway.Identity) *gateway.Call {
	return &gateway.Call{
		Method: "tools/call", Params: params, Name: name,
		Caller: gateway.Caller{Identity: id, Via: gateway.ViaREST, View: viewOf(id), Translate: a.language().Translator()},
		Terms: gateway.Terms{
			Complete: true,
			Included: true, // the request was counted
			Usual:    gateway.ExecuteOptions{Timeout: defaultTimeout, Retries: gateway.NoRetries, RetryDelay: defaultRetryDelay},
		},
	}
}

// paramsOf returns the params of a call. It checks that the arguments are one JSON
// value; they come unchecked from the request.
func paramsOf(name string, arguments []byte) (gateway.Params, error) {
	raw := make([]byte, 0, len(arguments)+len(name)+32)
	raw = jsonrpc.AppendQuoted(append(raw, `{"name":`...), name)
	raw = append(append(raw, `,"arguments":`...), arguments...)
	params, err := jsonrpc.ScanParams(append(raw, '}'))
	if err == nil && len(params.Get(params.Arguments)) != len(arguments) {
		err = invalid("it must be an object") // more than one value, such as {},"name":"x"
	}
	return params, err
}

// millis converts milliseconds into a Duration without overflow. The limits of
// package execute are lower than its ceiling.
func millis(n int64) time.Duration {
	return time.Duration(min(n, time.Hour.Milliseconds())) * time.Millisecond
}

// textOf returns the text of a result that reports an error.
func (a *API) textOf(result *gateway.Result) string {
	var parts []string
	err := jsonrpc.Elements(jsonrpc.Lookup(result.Raw, "content"), func(item []byte) bool {
		if text := jsonrpc.LookupText(item, "text"); text != "" {
			parts = append(parts, text)
		}
		return true
	})
	if err != nil || len(parts) == 0 {
		return a.language().Sprintf("the tool reported an error without a text")
	}
	return strings.Join(parts, "\n")
}
