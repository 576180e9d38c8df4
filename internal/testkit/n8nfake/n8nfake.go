// Package n8nfake is an n8n for tests: the public API under /api/v1, with the answers and
// error bodies of n8n 2.41.1.
package n8nfake

import (
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Key is the API key that the fake accepts.
const Key = "n8n_api_0123456789abcdef"

// Fault makes the fake misbehave. Each applies to the next request that it fits, or to the
// next Times requests.
type Fault struct {
	// Method and Path select requests; empty means any. Path is below /api/v1.
	Method, Path string
	Times        int
	// Status and Body are answered; 0 for none.
	Status int
	Body   string
	// Header is added to the answer.
	Header map[string]string
	// CutOff ends the connection in the middle of the answer.
	CutOff bool
	// Drop ends the connection without an answer.
	Drop bool
	// After carries the request out before Status or Drop hides its answer.
	After bool
	// Wait holds the answer until the request is canceled or the test ends.
	Wait bool
}

// HTML500 is what n8n answers to malformed JSON.
const HTML500 = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Error</title>\n</head>\n<body>\n<pre>Internal Server Error</pre>\n</body>\n</html>\n"

// N8N is a fake n8n.
type N8N struct {
	URL string

	mu        sync.Mutex
	workflows map[string]map[string]any
	order     []string
	// published has the nodes that are live, by workflow.
	published map[string]any
	// leaving counts the requests for which a workflow is still being unpublished.
	leaving    map[string]int
	tags       []map[string]any
	executions []map[string]any
	hooks      []Hook
	triggered  []Triggered
	faults     []*Fault
	scopes     []string
	requests   []string
	made       int
	hookIDs    int
	done       chan struct{}
	gzip, mcp  bool
	conns      map[string]bool
	// next is the n8n behind the fake; nil for none.
	next http.Handler
}

// New starts a fake that ends with the test.
func New(t testing.TB) *N8N {
	f := &N8N{
		workflows: map[string]map[string]any{}, published: map[string]any{}, leaving: map[string]int{},
		done: make(chan struct{}), conns: map[string]bool{},
	}
	server := httptest.NewServer(http.HandlerFunc(f.serve))
	f.URL = server.URL
	t.Cleanup(func() {
		close(f.done)
		server.Close()
	})
	return f
}

// Add stores a workflow as it is, and returns its id.
func (f *N8N) Add(t testing.TB, raw string) string {
	t.Helper()
	var w map[string]any
	if err := json.Unmarshal([]byte(raw), &w); err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.store(w)
}

// AddExecution stores an execution of a list.
func (f *N8N) AddExecution(t testing.TB, raw string) {
	t.Helper()
	var e map[string]any
	if err := json.Unmarshal([]byte(raw), &e); err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.executions = append(f.executions, e)
}

// Fail adds a fault.
func (f *N8N) Fail(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault.Times = max(fault.Times, 1)
	f.faults = append(f.faults, &fault)
}

// Gzip makes the fake compress its answers.
func (f *N8N) Gzip() { f.mu.Lock(); defer f.mu.Unlock(); f.gzip = true }

// Scopes limits the key to scopes, such as workflow:read.
func (f *N8N) Scopes(scopes ...string) { f.mu.Lock(); defer f.mu.Unlock(); f.scopes = scopes }

// Requests returns the requests so far, such as "GET /workflows/1".
func (f *N8N) Requests() []string { f.mu.Lock(); defer f.mu.Unlock(); return slices.Clone(f.requests) }

// Connections returns how many connections were used.
func (f *N8N) Connections() int { f.mu.Lock(); defer f.mu.Unlock(); return len(f.conns) }

// Workflow returns the draft of a workflow; nil if there is none.
func (f *N8N) Workflow(id string) map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return copyOf(f.workflows[id])
}

// Published returns the nodes of a workflow that are live; nil if it is not published.
func (f *N8N) Published(id string) any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.published[id]
}

// Edit changes a workflow as somebody else would.
func (f *N8N) Edit(id string, change func(w map[string]any)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f.workflows[id])
	f.workflows[id]["versionId"] = f.version()
}

func copyOf(w map[string]any) map[string]any {
	if w == nil {
		return nil
	}
	raw, _ := json.Marshal(w)
	var out map[string]any
	_ = json.Unmarshal(raw, &out)
	return out
}

func (f *N8N) version() string {
	f.made++
	return fmt.Sprintf("00000000-0000-4000-8000-%012d", f.made)
}

// stamp is the time of all changes.
const stamp = "2026-11-15T01:02:56.938Z"

func (f *N8N) store(w map[string]any) string {
	id, _ := w["id"].(string)
	if id == "" {
		id = fmt.Sprintf("wf%06d", len(f.order)+1)
	}
	version := f.version()
	defaults := map[string]any{
		"id": id, "description": nil, "active": false, "activeVersionId": nil, "createdAt": stamp, "updatedAt": stamp,
		"isArchived": false, "versionId": version, "versionCounter": 1, "sourceWorkflowId": nil, "triggerCount": 0,
		"nodeGroups": []any{}, "settings": map[string]any{"executionOrder": "v1"}, "staticData": nil, "pinData": nil, "meta": nil,
		"tags": []any{}, "shared": []any{map[string]any{"role": "workflow:owner", "workflowId": id}},
	}
	for key, value := range defaults {
		if _, given := w[key]; !given {
			w[key] = value
		}
	}
	f.workflows[id] = w
	f.order = append(f.order, id)
	if w["active"] == true {
		f.publish(w)
	}
	return id
}

func (f *N8N) publish(w map[string]any) {
	id := w["id"].(string)
	w["active"], w["activeVersionId"], w["triggerCount"] = true, w["versionId"], 0
	nodes, _ := w["nodes"].([]any)
	for _, one := range nodes {
		if kind, _ := one.(map[string]any)["type"].(string); isTrigger(kind) && !strings.HasSuffix(kind, ".executeWorkflowTrigger") {
			w["triggerCount"] = w["triggerCount"].(int) + 1
		}
	}
	f.published[id] = copyOf(w)["nodes"]
	w["activeVersion"] = map[string]any{"versionId": w["versionId"], "nodes": f.published[id]}
}

func (f *N8N) unpublish(w map[string]any) {
	id := w["id"].(string)
	if w["active"] == true {
		f.leaving[id] = 2
	}
	w["active"], w["activeVersionId"], w["activeVersion"] = false, nil, nil
	delete(f.published, id)
}

// reply is an answer.
type reply struct {
	status int
	body   any
}

func message(status int, format string, values ...any) reply {
	return reply{status, map[string]string{"message": fmt.Sprintf(format, values...)}}
}

func (f *N8N) serve(w http.ResponseWriter, r *http.Request) {
	path, ok := strings.CutPrefix(r.URL.Path, "/api/v1")
	switch {
	case !ok && f.next != nil:
		f.next.ServeHTTP(w, r)
		return
	case !ok:
		f.trigger(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	shown := r.Method + " " + path
	if r.Method == http.MethodPut && r.URL.RawQuery != "" {
		shown += "?" + r.URL.RawQuery
	}
	f.requests = append(f.requests, shown)
	f.conns[r.RemoteAddr] = true
	fault := f.fault(r.Method, path)
	var out reply
	if fault == nil || fault.After || fault.CutOff {
		if f.next != nil {
			out = f.passOn(r, body)
		} else {
			out = f.answer(r, path, body)
		}
	}
	compressed := f.gzip
	f.mu.Unlock()
	if fault != nil {
		for key, value := range fault.Header {
			w.Header().Set(key, value)
		}
		switch {
		case fault.Wait:
			select {
			case <-r.Context().Done():
			case <-f.done:
			}
			return
		case fault.Drop:
			panic(http.ErrAbortHandler)
		case fault.CutOff:
			raw, _ := json.Marshal(out.body)
			w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
			_, _ = w.Write(raw[:len(raw)/2])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		kind := "application/json; charset=utf-8"
		if strings.HasPrefix(fault.Body, "<") {
			kind = "text/html; charset=utf-8"
		}
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(fault.Status)
		_, _ = io.WriteString(w, fault.Body)
		return
	}
	if text, ok := out.body.(string); ok {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(out.status)
		_, _ = io.WriteString(w, text)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	var to io.Writer = w
	if compressed && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer func() { _ = z.Close() }()
		to = z
	}
	w.WriteHeader(out.status)
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	_ = e.Encode(out.body)
}

func (f *N8N) fault(method, path string) *Fault {
	for i, one := range f.faults {
		if (one.Method == "" || one.Method == method) && (one.Path == "" || one.Path == path) {
			if one.Times--; one.Times == 0 {
				f.faults = slices.Delete(f.faults, i, i+1)
			}
			return one
		}
	}
	return nil
}

// scope returns the scope that a request needs.
func scope(method string, parts []string) string {
	kind := strings.TrimSuffix(parts[0], "s")
	if len(parts) == 3 {
		if parts[2] == "tags" {
			return "workflowTags:update"
		}
		return kind + ":" + parts[2]
	}
	return kind + ":" + map[string]string{
		"GET1": "list", "GET2": "read", "POST1": "create", "PUT2": "update", "DELETE2": "delete",
	}[method+strconv.Itoa(len(parts))]
}

func (f *N8N) answer(r *http.Request, path string, body []byte) reply {
	switch key := r.Header.Get("X-N8N-API-KEY"); key {
	case Key:
	case "":
		return message(401, "'X-N8N-API-KEY' header required")
	default:
		return message(401, "Unauthorized")
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if f.scopes != nil && !slices.Contains(f.scopes, scope(r.Method, parts)) {
		return message(403, "Forbidden")
	}
	var sent any
	if len(body) > 0 && json.Unmarshal(body, &sent) != nil {
		return reply{500, HTML500}
	}
	switch parts[0] {
	case "workflows":
		return f.workflow(r, parts[1:], sent)
	case "tags":
		return f.tag(r, sent)
	case "executions":
		return f.execution(r, parts[1:])
	}
	return message(404, "not found")
}

func (f *N8N) workflow(r *http.Request, parts []string, sent any) reply {
	if len(parts) == 0 {
		if r.Method == http.MethodPost {
			return f.create(sent)
		}
		return f.list(r)
	}
	id := parts[0]
	w := f.workflows[id]
	if w == nil {
		return message(404, "Not Found")
	}
	verb := r.Method
	if len(parts) == 2 {
		verb = parts[1]
	}
	switch verb {
	case http.MethodGet:
	case http.MethodPut:
		return f.put(w, r, sent)
	case http.MethodDelete:
		if w["active"] == true {
			return message(409, "Cannot delete a published workflow. Unpublish it before deleting.")
		}
		if f.leaving[id] > 0 {
			f.leaving[id]--
			return message(409, "Workflow is still being unpublished. Please try again in a few moments.")
		}
		delete(f.workflows, id)
		f.order = slices.DeleteFunc(f.order, func(one string) bool { return one == id })
	case "activate", "publish":
		if problem := cannotRun(w); problem != "" {
			return message(400, "%s", problem)
		}
		f.publish(w)
	case "deactivate", "unpublish":
		f.unpublish(w)
	case "tags":
		return f.setTags(w, sent)
	default:
		return message(404, "not found")
	}
	return reply{200, copyOf(w)}
}

func isTrigger(kind string) bool {
	return strings.Contains(strings.ToLower(kind), "trigger") && !strings.HasSuffix(kind, ".manualTrigger") || strings.HasSuffix(kind, ".webhook")
}

// cannotRun says why a workflow cannot be published.
func cannotRun(w map[string]any) string {
	nodes, _ := w["nodes"].([]any)
	for _, one := range nodes {
		n, _ := one.(map[string]any)
		kind, _ := n["type"].(string)
		if isTrigger(kind) {
			return ""
		}
	}
	return "Workflow cannot be activated because it has no trigger node. At least one trigger, webhook, or polling node is required."
}

func (f *N8N) create(sent any) reply {
	body, _ := sent.(map[string]any)
	if problem := cmp.Or(refuse(body, "description", "nodeGroups"), loose(body)); problem != "" {
		return message(400, "%s", problem)
	}
	f.addHooks(body)
	return reply{200, copyOf(f.workflows[f.store(body)])}
}

// put saves the draft even if it then refuses it, as n8n does.
func (f *N8N) put(w map[string]any, r *http.Request, sent any) reply {
	body, _ := sent.(map[string]any)
	problem := refuse(body, "projectId")
	if problem == "" && changes(w, body) {
		problem = loose(body)
	}
	if problem != "" {
		return message(400, "%s", problem)
	}
	f.addHooks(body)
	if raw, _ := json.Marshal(body); strings.Contains(string(raw), "refuse me late") {
		f.overwrite(w, body)
		return message(400, "Workflow could not be activated: refuse me late")
	}
	f.overwrite(w, body)
	counter, _ := w["versionCounter"].(float64)
	w["versionCounter"] = counter + 1
	if w["active"] == true && r.URL.Query().Get("publishIfActive") != "false" {
		if problem := cannotRun(w); problem != "" {
			return message(400, "%s", problem)
		}
		f.publish(w)
	}
	return reply{200, copyOf(w)}
}

// overwrite stores a draft. Other nodes or connections make another version.
func (f *N8N) overwrite(w, body map[string]any) {
	changed := changes(w, body)
	maps.Copy(w, body)
	if changed {
		w["versionId"] = f.version()
	}
}

// addHooks gives webhooks without an id one.
func (f *N8N) addHooks(body map[string]any) {
	nodes, _ := body["nodes"].([]any)
	for _, one := range nodes {
		n, _ := one.(map[string]any)
		if n["type"] == "n8n-nodes-base.webhook" && n["webhookId"] == nil {
			f.hookIDs++
			n["webhookId"] = fmt.Sprintf("00000000-0000-4000-9000-%012d", f.hookIDs)
		}
	}
}

// changes reports whether a body has other nodes or connections than a workflow.
func changes(w, body map[string]any) bool {
	return !reflect.DeepEqual(copyOf(w)["nodes"], body["nodes"]) || !reflect.DeepEqual(copyOf(w)["connections"], body["connections"])
}

// loose says which nodes of a workflow have the same id or name, and which ends of
// connections do not exist.
func loose(body map[string]any) string {
	var found []string
	add := func(format string, values ...any) { found = append(found, fmt.Sprintf(format, values...)) }
	nodes, _ := body["nodes"].([]any)
	ids, names := map[any]any{}, map[any]bool{}
	for i, one := range nodes {
		n, _ := one.(map[string]any)
		if first, known := ids[n["id"]]; known {
			add("nodes[%d].id (duplicate_node_id): Nodes \"%v\" and \"%v\" share the node ID \"%v\"", i, first, n["name"], n["id"])
		} else {
			ids[n["id"]] = n["name"]
		}
		if names[n["name"]] {
			add("nodes[%d].name (duplicate_node_name): Duplicate node name \"%v\"", i, n["name"])
		}
		names[n["name"]] = true
	}
	connections, _ := body["connections"].(map[string]any)
	for _, from := range slices.Sorted(maps.Keys(connections)) {
		if !names[from] {
			add("connections.%s (unknown_connection_source): Connection source \"%s\" does not reference an existing node", from, from)
		}
		kinds, _ := connections[from].(map[string]any)
		for kind, outputs := range kinds {
			list, _ := outputs.([]any)
			for i, ends := range list {
				ends, _ := ends.([]any)
				for j, end := range ends {
					if to := end.(map[string]any)["node"]; !names[to] {
						add("connections.%s.%s[%d][%d].node (unknown_connection_target): Connection target \"%v\" does not reference an existing node", from, kind, i, j, to)
					}
				}
			}
		}
	}
	if len(found) == 0 {
		return ""
	}
	return "Workflow structure is invalid. " + strings.Join(found, "; ")
}

// refuse says why the body of a workflow is refused. The last keys are unknown ones.
func refuse(body map[string]any, unknown ...string) string {
	for _, key := range []string{"name", "nodes", "connections", "settings"} {
		if _, ok := body[key]; !ok {
			return fmt.Sprintf("request/body must have required property '%s'", key)
		}
	}
	for _, key := range []string{
		"id", "active", "tags", "createdAt", "updatedAt", "versionId", "isArchived", "triggerCount", "meta", "activeVersion",
	} {
		if _, ok := body[key]; ok {
			return fmt.Sprintf("request/body/%s is read-only", key)
		}
	}
	known := []string{"name", "nodes", "connections", "settings", "staticData", "pinData", "description", "nodeGroups", "shared"}
	for key := range body {
		if !slices.Contains(known, key) || slices.Contains(unknown, key) {
			return fmt.Sprintf("request/body Unrecognized key(s) in object: '%s'", key)
		}
	}
	nodes, _ := body["nodes"].([]any)
	for i, one := range nodes {
		n, _ := one.(map[string]any)
		for key := range n {
			if !slices.Contains([]string{
				"id", "name", "webhookId", "disabled", "notesInFlow", "notes", "type", "typeVersion", "executeOnce", "alwaysOutputData",
				"retryOnFail", "maxTries", "waitBetweenTries", "continueOnFail", "onError", "position", "parameters", "credentials",
			}, key) {
				return fmt.Sprintf("request/body/nodes/%d Unrecognized key(s) in object: '%s'", i, key)
			}
		}
	}
	return ""
}

func (f *N8N) setTags(w map[string]any, sent any) reply {
	list, _ := sent.([]any)
	tags := []any{}
	for _, one := range list {
		entry, _ := one.(map[string]any)
		i := slices.IndexFunc(f.tags, func(t map[string]any) bool { return t["id"] == entry["id"] })
		if i < 0 {
			return message(404, "Some tags not found")
		}
		tags = append(tags, f.tags[i])
	}
	w["tags"] = tags
	return reply{200, tags}
}

func (f *N8N) tag(r *http.Request, sent any) reply {
	if r.Method == http.MethodPost {
		body, _ := sent.(map[string]any)
		if slices.ContainsFunc(f.tags, func(t map[string]any) bool { return t["name"] == body["name"] }) {
			return message(409, "Tag already exists")
		}
		t := map[string]any{"id": fmt.Sprintf("tag%04d", len(f.tags)+1), "name": body["name"], "createdAt": stamp, "updatedAt": stamp}
		f.tags = append(f.tags, t)
		return reply{201, t}
	}
	return paged(r, f.tags)
}

// paged returns a page of a list.
func paged(r *http.Request, list []map[string]any) reply {
	limit, offset := 100, 0
	query := r.URL.Query()
	if n, err := strconv.Atoi(query.Get("limit")); err == nil {
		limit = n
	}
	if limit > 250 {
		return message(400, "request/query/limit must be <= 250")
	}
	if n, err := strconv.Atoi(query.Get("offset")); err == nil {
		offset = n
	}
	if cursor := query.Get("cursor"); cursor != "" {
		raw, err := base64.StdEncoding.DecodeString(cursor)
		var at struct{ Limit, Offset int }
		if err != nil || json.Unmarshal(raw, &at) != nil {
			return message(400, "An invalid cursor was provided")
		}
		limit, offset = at.Limit, at.Offset
	}
	offset = min(offset, len(list))
	end := min(offset+limit, len(list))
	var next any
	if end < len(list) {
		next = base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `{"limit":%d,"offset":%d}`, limit, end))
	}
	return reply{200, map[string]any{"data": append([]map[string]any{}, list[offset:end]...), "nextCursor": next}}
}

func (f *N8N) list(r *http.Request) reply {
	query := r.URL.Query()
	var found []map[string]any
	for _, id := range f.order {
		w := f.workflows[id]
		if active := query.Get("active"); active != "" && active != strconv.FormatBool(w["active"] == true) {
			continue
		}
		if tags := query.Get("tags"); tags != "" {
			list, _ := w["tags"].([]any)
			lacks := func(name string) bool {
				return !slices.ContainsFunc(list, func(one any) bool { return one.(map[string]any)["name"] == name })
			}
			if slices.ContainsFunc(strings.Split(tags, ","), lacks) {
				continue
			}
		}
		found = append(found, copyOf(w))
	}
	return paged(r, found)
}

func (f *N8N) execution(r *http.Request, parts []string) reply {
	if len(parts) == 0 {
		query := r.URL.Query()
		var found []map[string]any
		for _, e := range slices.Backward(f.executions) {
			status, has := query.Get("status"), e["status"]
			if runs(e, status == "running") {
				e = copyOf(e)
				has, e["status"], e["stoppedAt"] = "running", "running", nil
			}
			if status == "" && (has == "running" || has == "new") || status != "" && has != status {
				continue
			}
			if id := query.Get("workflowId"); id != "" && e["workflowId"] != id {
				continue
			}
			if query.Get("includeData") != "true" {
				e = maps.Clone(e)
				delete(e, "data")
				delete(e, "workflowData")
			}
			found = append(found, e)
		}
		return paged(r, found)
	}
	i := slices.IndexFunc(f.executions, func(e map[string]any) bool { return e["id"] == parts[0] })
	if i < 0 {
		return message(404, "Not Found")
	}
	e := f.executions[i]
	switch {
	case len(parts) == 1:
		return reply{200, e}
	case parts[1] == "retry":
		if e["status"] == "success" {
			return message(409, "The execution succeeded, so it cannot be retried.")
		}
		again := copyOf(e)
		again["id"], again["retryOf"], again["status"] = strconv.Itoa(len(f.executions)+100), e["id"], "success"
		f.executions = append(f.executions, again)
		return reply{200, again}
	default:
		if e["status"] != "running" && e["status"] != "waiting" {
			return message(409, "Only running or waiting executions can be stopped and %v is currently %v", e["id"], e["status"])
		}
		e["status"], e["stoppedAt"] = "canceled", time.Date(2026, 11, 15, 1, 3, 9, 0, time.UTC)
		return reply{200, e}
	}
}
