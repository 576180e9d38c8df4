package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// maxBody is the largest body of a REST request, in bytes, and bodyPatience how
// long it may take to come.
const (
	maxBody      = 1 << 20
	bodyPatience = 30 * time.Second
)

// toolOf is a tool in REST's form.
func toolOf(t *gateway.Tool) client.Tool {
	return client.Tool{
		Name: t.Exposed, Server: t.Source.Name(),
		Description: jsonrpc.LookupText(t.Definition, "description"),
		InputSchema: jsonrpc.Lookup(t.Definition, "inputSchema"),
	}
}

type pagination struct {
	Page       int `json:"page"`
	Limit      int `json:"limit"`
	Total      int `json:"total"`
	TotalPages int `json:"totalPages"`
}

func (a *API) listTools(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	q := r.URL.Query()
	page, err := positive(q.Get("page"), 1, 1<<31-1, "page")
	if err != nil {
		a.fail(w, err)
		return
	}
	limit, err := positive(q.Get("limit"), 50, 100, "limit")
	if err != nil {
		a.fail(w, err)
		return
	}
	server := q.Get("server")
	found := []client.Tool{}
	for _, t := range a.opt.House().Snapshot().Tools() {
		if server == "" || t.Source.Name() == server {
			found = append(found, toolOf(t))
		}
	}
	total := len(found)
	from := min((page-1)*limit, total)
	encode(w, http.StatusOK, struct {
		Tools      []client.Tool `json:"tools"`
		Pagination pagination    `json:"pagination"`
	}{found[from:min(from+limit, total)], pagination{page, limit, total, (total + limit - 1) / limit}})
}

func positive(text string, otherwise, most int, field string) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, gateway.Errorf(gateway.CodeInvalid, "%s must be a whole number from 1 to %d", field, most)
	}
	return n, nil
}

func (a *API) getTool(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	name := r.PathValue("name")
	t, ok := a.opt.House().Snapshot().Tool(name)
	if !ok {
		a.toolNotFound(w, name, nil)
		return
	}
	encode(w, http.StatusOK, toolOf(t))
}

// callRequest is the body of POST /v1/tools/call.
type callRequest struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
	Options    struct {
		Timeout    int64 `json:"timeout"`
		Retry      int   `json:"retry"`
		RetryDelay int64 `json:"retryDelay"`
	} `json:"options"`
}

// defaultTimeout is the seed's, for callers of REST.
const defaultTimeout = 30 * time.Second

func (a *API) callTool(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	began := time.Now()
	took := func() *float64 {
		ms := float64(time.Since(began).Microseconds()) / 1000
		return &ms
	}
	var in callRequest
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.answer(w, restError{status, "VALIDATION_ERROR"}, wrong, took())
		return
	}
	call, err := in.call(id)
	if err != nil {
		a.failAfter(w, err, took())
		return
	}
	call.Budget = a.opt.Budget
	defer call.Release()
	result, err := a.opt.House().Handle(r.Context(), call)
	switch {
	case err != nil && call.Tool == nil && gateway.AsError(err).Code == gateway.CodeNotFound:
		a.toolNotFound(w, in.Name, took())
	case err != nil:
		a.failAfter(w, err, took())
	case result.IsError:
		encode(w, http.StatusInternalServerError, struct {
			errorBody
			Result json.RawMessage `json:"result"`
		}{errorBody{Error: a.textOf(result), Code: "TOOL_EXECUTION_ERROR", ExecutionTime: took(), Timestamp: timestamp()}, result.Raw})
	default:
		encode(w, http.StatusOK, struct {
			Success       bool            `json:"success"`
			Result        json.RawMessage `json:"result"`
			ExecutionTime *float64        `json:"executionTime"`
			Timestamp     string          `json:"timestamp"`
		}{true, result.Raw, took(), timestamp()})
	}
}

// call makes the request into a Call.
func (in *callRequest) call(id gateway.Identity) (*gateway.Call, error) {
	if in.Name == "" {
		return nil, gateway.Errorf(gateway.CodeInvalid, "name is required: the name of the tool to call")
	}
	if in.Options.Timeout < 0 || in.Options.Retry < 0 || in.Options.RetryDelay < 0 {
		return nil, gateway.Errorf(gateway.CodeInvalid, "options.timeout, options.retry and options.retryDelay must not be negative")
	}
	args := bytes.TrimSpace(in.Parameters)
	if len(args) == 0 || string(args) == "null" {
		args = []byte("{}")
	}
	if args[0] != '{' {
		return nil, gateway.Errorf(gateway.CodeInvalid, "parameters must be an object")
	}
	raw := jsonrpc.AppendQuoted([]byte(`{"name":`), in.Name)
	raw = append(append(raw, `,"arguments":`...), args...)
	params, err := jsonrpc.ScanParams(append(raw, '}'))
	if err != nil {
		return nil, &gateway.Error{Code: gateway.CodeInvalid, Message: "parameters: %s", Values: []any{err}}
	}
	call := &gateway.Call{
		Method: "tools/call", Params: params, Name: in.Name, Identity: id, Via: "rest",
		Options: gateway.ExecuteOptions{
			Timeout: defaultTimeout,
			Retries: in.Options.Retry, RetryDelay: time.Duration(in.Options.RetryDelay) * time.Millisecond,
		},
	}
	if in.Options.Timeout > 0 {
		call.Options.Timeout = time.Duration(in.Options.Timeout) * time.Millisecond
	}
	return call, nil
}

// textOf is the text of a result that reports an error.
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

// decodeBody reads a JSON body strictly. The status goes with the error.
func decodeBody(w http.ResponseWriter, r *http.Request, into any) (status int, wrong *gateway.Error) {
	// A body that does not come must not hold a connection for ever.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyPatience))
	defer func() { _ = control.SetReadDeadline(time.Time{}) }()
	if !jsonrpc.IsJSON(r.Header.Get("Content-Type")) {
		return http.StatusUnsupportedMediaType, invalid("the Content-Type must be application/json")
	}
	body, err := jsonrpc.ReadBodyLimit(r.Body, r.ContentLength, maxBody)
	if errors.Is(err, jsonrpc.ErrTooLarge) {
		// Read on for a while: a client that is still sending would find its
		// connection broken instead of the answer.
		_, _ = io.CopyN(io.Discard, r.Body, 16*maxBody)
		return http.StatusRequestEntityTooLarge, invalid("the body is larger than %d MiB", maxBody>>20)
	}
	if err != nil {
		return http.StatusBadRequest, invalid("the body could not be read")
	}
	if err := jsonrpc.CheckObject(body, "name", "parameters", "options"); err != nil && json.Valid(body) {
		return http.StatusBadRequest, invalid("the body is not what was expected: %s", err)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return http.StatusBadRequest, invalid("the body is not what was expected: %s", bodyProblem(err))
	}
	if d.More() {
		return http.StatusBadRequest, invalid("the body must be one JSON object")
	}
	return 0, nil
}

func invalid(format string, values ...any) *gateway.Error {
	return gateway.Errorf(gateway.CodeInvalid, format, values...)
}

// bodyProblem says what is wrong without the words of Go.
func bodyProblem(err error) gateway.Text {
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		if wrongType.Field == "" {
			return gateway.Textf("it must be an object")
		}
		return gateway.Textf("%s must not be a %s", wrongType.Field, wrongType.Value)
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return gateway.Textf("unknown field %s; there are name, parameters and options", field)
	}
	return gateway.Textf("it is not valid JSON")
}
