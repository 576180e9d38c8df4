package api

import (
	"bytes"
	"cmp"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// These are the seed's defaults for REST callers. Nothing is sent again unless the
// caller asks for it.
const (
	defaultTimeout    = 30 * time.Second
	defaultRetryDelay = time.Second
)

func (a *API) callTool(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	began := time.Now()
	took := func() *float64 {
		ms := float64(time.Since(began).Microseconds()) / 1000
		return &ms
	}
	var in client.CallRequest
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong, took())
		return
	}
	call, err := newCall(in, id)
	if err != nil {
		a.failAfter(w, err, took())
		return
	}
	call.Budget = a.opt.Budget
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
		a.toolNotFound(w, in.Name, took())
	case err != nil:
		a.failAfter(w, err, took())
	case result.IsError:
		encode(w, http.StatusInternalServerError, client.CallResult{
			Result: result.Raw, Error: a.textOf(result), Code: "TOOL_EXECUTION_ERROR", Notice: notice,
			ExecutionTime: *took(), Timestamp: timestamp(),
		})
	default:
		encode(w, http.StatusOK, client.CallResult{
			Success: true, Result: result.Raw, Notice: notice, ExecutionTime: *took(), Timestamp: timestamp(),
		})
	}
}

// newCall makes a Call of a request.
func newCall(in client.CallRequest, id gateway.Identity) (*gateway.Call, error) {
	if in.Name == "" {
		return nil, invalidField("name", "name is required: the name of the tool to call")
	}
	if in.Options.Timeout < 0 || in.Options.Retry != nil && *in.Options.Retry < 0 || in.Options.RetryDelay < 0 {
		return nil, invalidField("options", "options.timeout, options.retry and options.retryDelay must not be negative")
	}
	if in.Options.Folder != "" && !filepath.IsAbs(in.Options.Folder) {
		return nil, invalidField("options.folder", "options.folder must be an absolute path")
	}
	args := bytes.TrimSpace(in.Parameters)
	if len(args) == 0 || string(args) == "null" {
		args = []byte("{}")
	}
	if args[0] != '{' {
		return nil, invalidField("parameters", "parameters must be an object")
	}
	params, err := paramsOf(in.Name, args)
	if err != nil {
		return nil, &gateway.Error{Code: gateway.CodeInvalid, Message: "parameters: %s", Values: []any{err}}
	}
	call := callOf(in.Name, params, id)
	call.Dir = in.Options.Folder
	call.Options = gateway.ExecuteOptions{Timeout: millis(in.Options.Timeout), RetryDelay: millis(in.Options.RetryDelay)}
	if in.Options.Retry != nil {
		call.Options.Retries = cmp.Or(*in.Options.Retry, gateway.NoRetries)
	}
	return call, nil
}

// callOf returns a REST call of a tool, without the caller's options.
func callOf(name string, params gateway.Params, id gateway.Identity) *gateway.Call {
	return &gateway.Call{
		Method: "tools/call", Params: params, Name: name,
		Caller: gateway.Caller{Identity: id, Via: "rest"},
		Terms: gateway.Terms{
			Complete: true,
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
