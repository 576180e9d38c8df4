package n8n

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"genkan/internal/gateway"
)

const (
	// usualWait and maxWait are how many seconds run_workflow waits. Many clients give up
	// after a minute.
	usualWait, maxWait = 45, 300
	// maxResponse is how much of a trigger's answer is read, and shownResponse how many
	// bytes of it are shown unless raw is asked for.
	maxResponse, shownResponse = 1 << 20, 4_000
	// findTries is how often an execution is looked for after the trigger has answered.
	findTries = 6
	// noForm is in the page that n8n answers for a form that is not there.
	noForm = "<title>Problem loading form</title>"
	// runHeader tells the executions of several callers apart.
	runHeader = "X-Genkan-Run"
	// maxMark is the longest mark that is looked for, in bytes.
	maxMark = 1 << 10
)

// response is what a trigger answered.
type response struct {
	Status int `json:"status"`
	// Body is JSON, or a text.
	Body any `json:"body,omitempty"`
	// Bytes is the size of a body that is not shown whole.
	Bytes int `json:"bytes,omitempty"`
}

// run is one call of run_workflow.
type run struct {
	source   *Source
	workflow string
	trigger  *trigger
	request  *http.Request
	// mark is in the data of the execution.
	mark string
	// before is the newest execution that there was.
	before string
	// raw asks for everything.
	raw bool
	// published is the version that should run, and ran the one that did; empty if n8n
	// does not say.
	published, ran string
	// others are executions that began meanwhile and may be the one, too.
	others []string
}

func runWorkflow(ctx context.Context, s *Source, call *gateway.Call, in *arguments) (answer, error) {
	id, name, wanted, test := in.id(), in.text("trigger"), in.text("method"), in.flag("test")
	wait := in.number("wait", usualWait, 1, maxWait)
	r := run{source: s, workflow: id, raw: in.flag("raw"), mark: newID()}
	data, headers := map[string]any{}, map[string]string{}
	if json.Unmarshal(orObject(in.object("data")), &data) != nil {
		in.refuse(invalid("data", "data must be an object"))
	}
	if json.Unmarshal(orObject(in.object("headers")), &headers) != nil {
		in.refuse(invalid("headers", "headers must be an object of texts"))
	}
	if in.err != nil {
		return answer{}, in.err
	}
	w, err := s.client.getWorkflow(ctx, id, "run workflow")
	if err != nil {
		return answer{}, err
	}
	if r.trigger, err = w.trigger(name, test); err != nil {
		return answer{}, err
	}
	if !test && !w.flag("active") {
		return answer{}, invalid("id", "Workflow '%s' is not active, so its triggers do not run it. Publish it with activate_workflow, or call again with test: true while n8n's editor listens for a test event", id)
	}
	if !test {
		r.published = w.text("activeVersionId")
	}
	if err := r.trigger.check(headers); err != nil {
		return answer{}, err
	}
	if err := r.prepare(wanted, test, data, headers); err != nil {
		return answer{}, err
	}
	newest, _, err := s.executions(ctx, executionQuery{workflow: id, limit: 2})
	if err != nil {
		return answer{}, err
	}
	if len(newest) > 0 {
		r.before = newest[0].ID
	}
	if !test {
		if err := s.client.settled(ctx, id); err != nil {
			return answer{}, gateway.AsError(err)
		}
	}
	return r.do(ctx, call, time.Duration(wait)*time.Second, test)
}

func orObject(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

// prepare makes the request. It never has the API key, which the workflow would see.
func (r *run) prepare(wanted string, test bool, data map[string]any, headers map[string]string) error {
	method, err := r.trigger.method(wanted)
	if err != nil {
		return err
	}
	at, err := r.trigger.path(test, data)
	if err != nil {
		return err
	}
	header := r.mark
	if session := plain(data["sessionId"]); r.trigger.kind == chatTrigger && data["sessionId"] != nil && len(session) <= maxMark {
		r.mark = session // the execution of a chat shows no headers
	}
	body, contentType, query, err := r.trigger.body(method, data, r.mark)
	if err != nil {
		return err
	}
	if query != "" {
		at += "?" + query
	}
	if r.request, err = http.NewRequest(method, r.source.client.url()+at, bytes.NewReader(body)); err != nil { //nolint:noctx // do adds it
		return invalid("trigger", "The URL of '%s' cannot be called", r.trigger.name)
	}
	if contentType != "" {
		r.request.Header.Set("Content-Type", contentType)
	}
	r.request.Header.Set(runHeader, header)
	for key, value := range headers {
		if !isHeader(key) || strings.ContainsAny(value, "\r\n\x00") {
			return invalid("headers", "%s is no HTTP header", gateway.Short(key))
		}
		r.request.Header.Set(key, value)
	}
	return nil
}

func isHeader(key string) bool {
	return key != "" && !strings.ContainsFunc(key, func(c rune) bool {
		return c <= ' ' || c > '~' || strings.ContainsRune(`()<>@,;:\"/[]?={}`, c)
	})
}

// do calls the trigger once, waits until the execution is over, and sums it up.
func (r *run) do(ctx context.Context, call *gateway.Call, wait time.Duration, test bool) (answer, error) {
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	got, callErr := r.send(limited, test)
	var own *Error
	if errors.As(callErr, &own) {
		return answer{}, own // nothing ran
	}
	e, err := r.find(ctx, limited)
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Response  *response `json:"response,omitempty"`
		Others    []string  `json:"otherExecutions,omitempty"`
		Execution any       `json:"execution,omitempty"`
	}{Response: got, Others: r.others}
	if e == nil {
		if callErr != nil {
			return answer{}, r.source.client.failed(r.about(), callErr, gateway.Textf(
				"The trigger gave no answer, and n8n has stored no execution. It is not known whether the workflow ran; look with list_executions before you call again"))
		}
		return answer{message: gateway.Textf("The trigger answered, but n8n has stored no execution. The settings of the workflow may not save it"), data: out}, nil
	}
	q := ExecutionQuery{ID: e.ID, Raw: r.raw, Translate: r.source.Translate, Caller: call.Caller}
	summed, err := r.source.Executions.Summary(ctx, r.source.client, q)
	if err != nil {
		return answer{}, explain(err, "The workflow ran as execution %s. Do not run it again to see the result", e.ID)
	}
	out.Execution = summed.Data
	message := gateway.Textf("Workflow run, status %s", e.Status)
	switch {
	case len(r.others) > 0:
		message = gateway.Textf("Workflow run. Several executions began meanwhile; this one is the oldest, and may be of another caller")
	case !isOver(e.Status):
		message = gateway.Textf("The workflow still runs. get_execution with id %s shows how it goes on; do not run it again", e.ID)
	case r.ran != "" && r.published != "" && r.ran != r.published:
		// n8n exchanges the versions of a workflow a moment after it has said so.
		message = gateway.Textf("Workflow run, status %s. It was an older version, as n8n had not yet put the published one in place. To see that one, call again", e.Status)
	case callErr != nil:
		message = gateway.Textf("The trigger's answer was lost, but the workflow ran, status %s", e.Status)
	}
	return answer{message: message, data: out}, nil
}

// about returns what errors are about.
func (r *run) about() *request {
	return &request{operation: "run workflow", resource: resourceWorkflow, id: r.workflow}
}

// send sends the request, once. An *Error says that the workflow did not run.
func (r *run) send(ctx context.Context, test bool) (*response, error) {
	c := r.source.client
	failed := r.about()
	got, err := c.patient.Do(r.request.WithContext(ctx))
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) && op.Op == "dial" && ctx.Err() == nil {
			return nil, c.unreachable(failed, err)
		}
		return nil, redactURL(err)
	}
	defer func() { _ = got.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(got.Body, maxResponse))
	var said struct{ Message string }
	_ = json.Unmarshal(raw, &said) // n8n's own errors are JSON
	auth := r.trigger.Parameters.Authentication
	switch {
	case got.StatusCode == http.StatusNotFound && (strings.Contains(said.Message, "not registered") || bytes.Contains(raw, []byte(noForm))):
		details := gateway.Textf("n8n does not listen at %s. If the workflow was published just now, call again in a moment; else publish it again with activate_workflow", r.address())
		if test {
			details = gateway.Textf("n8n does not listen at %s. Ask the user to open the workflow in n8n's editor and to execute it there; then call again. It listens for one call", r.address())
		}
		e := c.failed(failed, nil, details)
		e.StatusCode, e.Said = got.StatusCode, c.shown(said.Message)
		return nil, e
	case (got.StatusCode == http.StatusUnauthorized || got.StatusCode == http.StatusForbidden) && auth != "" && auth != "none":
		e := c.failed(failed, nil, gateway.Textf("'%s' refuses the authentication in headers. It asks for %s, as its credential in n8n says", r.trigger.name, auth))
		e.StatusCode = got.StatusCode
		return nil, e
	}
	return r.shown(got, raw), err
}

// address returns the URL of the trigger without its query.
func (r *run) address() string {
	return r.request.Method + " " + r.request.URL.Scheme + "://" + r.request.URL.Host + r.request.URL.Path
}

// redactURL returns the cause of an error of net/http, whose text has the query.
func redactURL(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// shown returns the answer of a trigger as it is shown.
func (r *run) shown(got *http.Response, raw []byte) *response {
	out := &response{Status: got.StatusCode}
	raw = bytes.TrimSpace(raw)
	most := shownResponse
	if r.raw {
		most = maxResponse
	}
	switch {
	case len(raw) == 0:
		if to := got.Header.Get("Location"); to != "" {
			out.Body = to
		}
	case !utf8.Valid(raw):
		out.Bytes = len(raw)
		out.Body = got.Header.Get("Content-Type")
	case len(raw) > most:
		out.Bytes = len(raw)
		out.Body = cutText(string(raw), most)
	case json.Valid(raw):
		out.Body = json.RawMessage(raw)
	default:
		out.Body = string(raw)
	}
	return out
}

// isOver reports whether an execution with a status does nothing for now.
func isOver(status string) bool { return status != "running" && status != "new" && status != "unknown" }

// find waits for the execution of the run until limited ends. It returns nil if there is
// none. Executions of other callers lack the mark; forms have none.
func (r *run) find(ctx, limited context.Context) (*execution, error) {
	hasMark := map[string]bool{}
	for tries := 1; ; tries++ {
		list, _, err := r.source.executions(ctx, executionQuery{workflow: r.workflow, limit: maxExecutions})
		if err != nil {
			return nil, explain(err, "The trigger was called. Look with list_executions before you call again")
		}
		list = slices.DeleteFunc(list, func(e execution) bool { return compareIDs(e.ID, r.before) <= 0 })
		running := false
		for i := range list {
			e := &list[i]
			if !isOver(e.Status) {
				running = true
				continue
			}
			if _, known := hasMark[e.ID]; !known && r.trigger.kind != formTrigger {
				if hasMark[e.ID], err = r.marked(ctx, e.ID); err != nil {
					return nil, explain(err, "The trigger was called. Look with list_executions before you call again")
				}
			}
			if hasMark[e.ID] {
				return e, nil
			}
		}
		isForm := r.trigger.kind == formTrigger && len(list) > 0
		if limited.Err() != nil || !running && (isForm || tries >= findTries) {
			return r.oldest(list, hasMark), nil
		}
		_ = r.source.client.wait(limited, min(tries, 3), 0) // then it is looked at once more
		if ctx.Err() != nil {
			return nil, gateway.AsError(ctx.Err())
		}
	}
}

// oldest returns the oldest of the executions that began after the call, those without
// the mark only if there are no others.
func (r *run) oldest(list []execution, hasMark map[string]bool) *execution {
	unknown := slices.DeleteFunc(slices.Clone(list), func(e execution) bool { _, known := hasMark[e.ID]; return known })
	if len(unknown) > 0 {
		list = unknown
	}
	if len(list) == 0 {
		return nil
	}
	for i := range list[:len(list)-1] {
		r.others = append(r.others, list[i].ID)
	}
	return &list[len(list)-1]
}

// marked reports whether the data of an execution has the mark of this run.
func (r *run) marked(ctx context.Context, id string) (bool, error) {
	body, err := r.source.client.OpenExecution(ctx, id, true)
	if err != nil {
		return false, err
	}
	defer func() { _ = body.Close() }()
	mark := []byte(r.mark)
	window := make([]byte, 0, 64<<10)
	version := ""
	for first := true; ; first = false {
		n, err := io.ReadFull(body, window[len(window):cap(window)])
		window = window[:len(window)+n]
		if first {
			version = versionIn(window)
		}
		if bytes.Contains(window, mark) {
			r.ran = version
			return true, nil
		}
		if err != nil {
			return false, nil //nolint:nilerr // it ended
		}
		window = window[:copy(window, window[len(window)-len(mark):])]
	}
}

// versionIn returns the version of the workflow in the beginning of an execution; empty
// if there is none.
func versionIn(head []byte) string {
	_, rest, _ := bytes.Cut(head, []byte(`"workflowVersionId":"`))
	version, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(version)
}
