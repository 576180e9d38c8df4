package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"genkan/internal/api/client"
	"genkan/internal/catalog"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/kb"
)

// A request for the knowledge base becomes a call of the tool with the same task,
// and passes the corridor like an agent's call. It is logged and measured, counts
// against the rate limit, and is inspected. A disabled tool is disabled here too.
// The knowledge base decodes, checks and encodes; this edge only converts the
// answer. Reading an item takes 50 µs that way without its connection, half of it
// in the store (BenchmarkGetItem). A direct request would save a part of the rest,
// and would have to repeat all of the above.

// toolArguments are the arguments of a tool, each as JSON.
type toolArguments map[string]json.RawMessage

func (t toolArguments) text(name, text string) { t[name] = jsonrpc.AppendQuoted(nil, text) }

// ref splits a reference into the two arguments that tools have for it.
func (t toolArguments) ref(field, text, typeName, idName string) error {
	ref, err := kb.ParseRef(field, text)
	if err != nil || !utf8.ValidString(text) {
		return refused(breaks(field, "format", map[string]any{"format": "reference"},
			gateway.Textf("%s must be the reference of an item: its type and its id with a hyphen between them, such as docs-12", field)))
	}
	t.text(typeName, ref.Type)
	t[idName] = strconv.AppendInt(nil, ref.ID, 10)
	return nil
}

// queried converts query parameters, which checkQuery has accepted, into arguments.
type queried struct {
	url.Values
	into     toolArguments
	problems gateway.Problems
}

func newQueried(r *http.Request) *queried {
	return &queried{Values: r.URL.Query(), into: toolArguments{}}
}

func (q *queried) text(name, argument string) {
	if value := q.Get(name); value != "" {
		q.into.text(argument, value)
	}
}

func (q *queried) number(names ...string) {
	for _, name := range names {
		if q.Get(name) != "" {
			q.into[name] = strconv.AppendInt(nil, int64(numberIn(q.Values, name, 0)), 10)
		}
	}
}

func (q *queried) flag(name, argument string) {
	if value := q.Get(name); value != "" {
		q.into[argument] = json.RawMessage(value)
	}
}

// list reads a parameter that may be repeated. If commas is set, a value may hold
// several, separated by commas.
func (q *queried) list(name, argument string, commas bool) {
	var all []string
	for _, value := range q.Values[name] {
		parts := []string{value}
		if commas {
			parts = strings.Split(value, ",")
		}
		for _, part := range parts {
			if commas {
				part = strings.TrimSpace(part)
			}
			if part != "" {
				all = append(all, part)
			}
		}
	}
	if raw, err := json.Marshal(all); err == nil && len(all) > 0 {
		q.into[argument] = raw
	}
}

func (q *queried) ref(name, text, typeName, idName string) {
	if err := q.into.ref(name, text, typeName, idName); err != nil {
		q.problems.Add(gateway.AsError(err).Problems[0])
	}
}

// ask calls a tool with the arguments, or answers with what is wrong.
func (q *queried) ask(a *API, w http.ResponseWriter, r *http.Request, id gateway.Identity, tool string) {
	if wrong := q.problems.Err(); wrong != nil {
		a.fail(w, wrong)
		return
	}
	a.ask(w, r, id, tool, q.into)
}

func (a *API) listItems(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	q := newQueried(r)
	q.number("limit", "offset")
	if q.Get("tag") != "" {
		for _, other := range []string{"status", "includeClosed", "start_date", "end_date"} {
			if q.Get(other) != "" {
				q.problems.Add(breaks("tag", "not", nil, gateway.Textf("tag goes with type, limit and offset only; leave out %s", other)))
			}
		}
		q.text("tag", "tag")
		q.list("type", "types", false)
		q.ask(a, w, r, id, "search_items_by_tag")
		return
	}
	if len(q.Values["type"]) > 1 {
		q.problems.Add(twice("type"))
	}
	for _, name := range []string{"type", "start_date", "end_date"} {
		q.text(name, name)
	}
	q.list("status", "statuses", true)
	q.flag("includeClosed", "includeClosedStatuses")
	q.ask(a, w, r, id, "get_items")
}

func (a *API) searchItems(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	q := newQueried(r)
	for _, name := range []string{"query", "tag", "start_date", "end_date"} {
		q.text(name, name)
	}
	q.list("type", "types", false)
	q.list("status", "statuses", true)
	q.number("limit", "offset")
	q.ask(a, w, r, id, "search_items")
}

func (a *API) suggestItems(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	q := newQueried(r)
	q.text("query", "query")
	q.list("type", "types", false)
	q.number("limit")
	q.ask(a, w, r, id, "search_suggest")
}

func (a *API) findPath(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	q := newQueried(r)
	q.ref("from", q.Get("from"), "from_type", "from_id")
	q.ref("to", q.Get("to"), "to_type", "to_id")
	q.number("max_depth")
	q.ask(a, w, r, id, "find_path")
}

// about begins the arguments of a tool with the item in the path.
func about(r *http.Request) *queried {
	q := newQueried(r)
	q.ref("ref", r.PathValue("ref"), "type", "id")
	return q
}

func (a *API) getItem(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	about(r).ask(a, w, r, id, "get_item_detail")
}

func (a *API) deleteItem(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	about(r).ask(a, w, r, id, "delete_item")
}

func (a *API) relatedItems(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	q := about(r)
	q.number("depth", "max_results")
	q.ask(a, w, r, id, "get_related_items")
}

func (a *API) changeItem(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	args, ok := bodyArguments[client.ItemChange](a, w, r)
	if !ok {
		return
	}
	if err := args.ref("ref", r.PathValue("ref"), "type", "id"); err != nil {
		a.fail(w, err)
		return
	}
	a.ask(w, r, id, "update_item", args)
}

func (a *API) changeItemType(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	body, ok := bodyArguments[client.NewType](a, w, r)
	if !ok {
		return
	}
	args := toolArguments{}
	if kind, given := body["type"]; given {
		args["to_type"] = kind
	}
	if err := args.ref("ref", r.PathValue("ref"), "from_type", "from_id"); err != nil {
		a.fail(w, err)
		return
	}
	a.ask(w, r, id, "change_item_type", args)
}

// asked returns the handler of a tool without arguments.
func (a *API) asked(tool string) handler {
	return func(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
		a.ask(w, r, id, tool, toolArguments{})
	}
}

// posted returns the handler of a tool whose arguments are the body. The tool
// checks them: it knows its fields, refuses duplicates, and reports which field is
// wrong.
func (a *API) posted(tool string, status int) handler {
	return func(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
		body, wrongStatus, wrong := readBody(w, r)
		if wrong != nil {
			a.refuseBody(w, wrongStatus, wrong)
			return
		}
		params, wrong := bodyParams(tool, body)
		if wrong != nil {
			a.refuseBody(w, http.StatusBadRequest, wrong)
			return
		}
		if answer, ok := a.callEncoded(w, r, id, tool, params); ok {
			encode(w, status, answer)
		}
	}
}

// bodyParams returns the params of a call whose arguments are a body.
func bodyParams(tool string, body []byte) (gateway.Params, *gateway.Error) {
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return gateway.Params{}, invalid("the body is not what was expected: %s", gateway.Textf("it is not valid JSON"))
	}
	if body[0] != '{' {
		return gateway.Params{}, invalid("the body is not what was expected: %s", gateway.Textf("it must be an object"))
	}
	params, err := paramsOf(tool, body)
	switch {
	case err == nil:
		return params, nil
	case utf8.Valid(body) && !json.Valid(body):
		return gateway.Params{}, invalid("the body is not what was expected: %s", gateway.Textf("it is not valid JSON"))
	default:
		return gateway.Params{}, invalid("the body is not what was expected: %s", err)
	}
}

// bodyArguments checks a body against a type and returns its members unchanged,
// because the knowledge base distinguishes null from a missing member.
func bodyArguments[T any](a *API, w http.ResponseWriter, r *http.Request) (toolArguments, bool) {
	body, status, wrong := readBody(w, r)
	if wrong == nil {
		status, wrong = decode(body, new(T))
	}
	args := toolArguments{}
	if wrong == nil && json.Unmarshal(body, &args) != nil {
		status, wrong = http.StatusBadRequest, invalid("the body must be one JSON object")
	}
	if wrong != nil {
		a.refuseBody(w, status, wrong)
	}
	return args, wrong == nil
}

// ask calls a tool of the knowledge base and sends its answer.
func (a *API) ask(w http.ResponseWriter, r *http.Request, id gateway.Identity, tool string, args toolArguments) {
	if answer, ok := a.callKnowledge(w, r, id, tool, args); ok {
		encode(w, http.StatusOK, answer)
	}
}

// callKnowledge calls a tool of the knowledge base. When it reports false, it has
// answered with the error.
func (a *API) callKnowledge(w http.ResponseWriter, r *http.Request, id gateway.Identity, tool string, args toolArguments) (json.RawMessage, bool) {
	raw, err := json.Marshal(args)
	if err != nil {
		a.fail(w, err)
		return nil, false
	}
	params, err := paramsOf(tool, raw)
	if err != nil {
		a.fail(w, err)
		return nil, false
	}
	return a.callEncoded(w, r, id, tool, params)
}

// callEncoded is callKnowledge with encoded params.
func (a *API) callEncoded(w http.ResponseWriter, r *http.Request, id gateway.Identity, tool string, params gateway.Params) (json.RawMessage, bool) {
	house := a.opt.House()
	if err := house.Knowledge(); err != nil {
		a.fail(w, err)
		return nil, false
	}
	call := a.callOf(tool, params, id)
	// In the view of the knowledge base its tools keep their own names, even if
	// servers have tools of the same name. It checks its arguments itself and
	// reports errors in the terms of its protocol.
	call.Via = gateway.ViaItems
	call.View.Servers, call.Complete, call.Budget = gateway.NewServerSet(kb.SourceName), false, a.opt.Budget
	// The pages of a client ask for these two by themselves, and they are no items. What a client
	// reads of items is kept, as its token is in the hands of an agent.
	aside := id.Page && (tool == "get_tags" || tool == "get_statuses")
	call.Browsing = (call.OfPage() || aside) && r.Method == http.MethodGet
	defer call.Release()
	var result *gateway.Result
	var err error
	if call.OfPage() && !call.Browsing { // what a form gets refused is no failed call
		result, err = house.Check(r.Context(), call)
	}
	if result == nil && err == nil {
		result, err = house.Handle(r.Context(), call)
		recorded(w)
	}
	switch {
	case err != nil && call.Tool == nil && isUnknownTool(err) && r.Method != http.MethodGet && a.readsKnowledgeOnly(id):
		a.fail(w, gateway.Errorf(gateway.CodeDenied, "this token may only read"))
	case err != nil && call.Tool == nil && isUnknownTool(err):
		a.toolNotFound(w, id, call.View, tool)
	case err != nil:
		a.fail(w, err)
	case result.IsError:
		a.itemFailure(w, tool, result)
	default:
		answer := jsonrpc.Lookup(result.Raw, "structuredContent")
		if answer != nil {
			return answer, true
		}
		a.fail(w, gateway.Errorf(gateway.CodeInternal, "the answer of %s has not the form that it should have", tool))
	}
	return nil, false
}

// linesMedia is the media type of JSON Lines.
const linesMedia = "application/x-ndjson"

// exportItems streams all items. No tool returns all of them, but a caller that may
// list and read items may have them all. So it asks for the list first, and an
// export is recorded, counted and refused as a list is.
func (a *API) exportItems(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	list, ok := a.callKnowledge(w, r, id, "get_items", toolArguments{"limit": json.RawMessage("1"), "includeClosedStatuses": json.RawMessage("true")})
	if !ok {
		return
	}
	const reads = "get_item_detail"
	view := viewOf(id)
	view.Servers = gateway.NewServerSet(kb.SourceName)
	switch e, ok := a.opt.House().SnapshotOf(view).Entry(reads); {
	case !ok:
		a.toolNotFound(w, id, view, reads)
		return
	case e.Override.Disabled:
		a.fail(w, catalog.Disabled(reads))
		return
	}
	w.Header().Set("Content-Type", linesMedia)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set(client.TotalHeader, string(jsonrpc.Lookup(list, "total")))
	w.WriteHeader(http.StatusOK)
	err := a.opt.Items.Every(r.Context(), func(item kb.Item, former []kb.Ref) error {
		line, err := kb.EncodeItem(item, former)
		if err == nil {
			_, err = w.Write(line)
		}
		return err
	})
	if err != nil {
		if r.Context().Err() == nil {
			a.opt.Log.Error("an export broke off", "error", err)
		}
		panic(http.ErrAbortHandler) // the only way to signal that the answer is incomplete
	}
}
