package n8n

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"genkan/internal/gateway"
	read "genkan/internal/n8n/execution"
)

const (
	// maxSearched is how many executions one call of search_executions reads, and
	// searchTime how long it may take.
	maxSearched = 50
	searchTime  = 20 * time.Second
	// unreadable is how many executions in a row cannot be read before a search fails.
	unreadable = 3
	// maxFoundText is how many characters of an error a match shows.
	maxFoundText = 200
)

// search is what search_executions looks for, and what it has found.
type search struct {
	executionQuery
	text, node    string
	after, before time.Time
	// last is the execution that the call before ended with; empty for none.
	last string

	matches  []match
	searched int
	unread   []string
}

// match is an execution that was found, with the failure that was looked for.
type match struct {
	*execution
	read.NodeError
}

func searchExecutions(ctx context.Context, s *Source, _ *gateway.Call, in *arguments) (answer, error) {
	q := search{
		executionQuery: in.executionQuery(), text: strings.ToLower(in.text("text")), node: in.text("nodeName"),
		after: in.time("after"), before: in.time("before"),
	}
	q.limit = maxSearched
	whole := in.flag("raw")
	if q.cursor != "" {
		var ok bool
		if q.last, q.cursor, ok = strings.Cut(q.cursor, "."); !ok || strings.Trim(q.last, "0123456789") != "" {
			in.refuse(invalid("cursor", "cursor must be the nextCursor of an answer of search_executions"))
		}
	}
	if in.err != nil {
		return answer{}, in.err
	}
	next, err := s.search(ctx, &q)
	if err != nil {
		return answer{}, err
	}
	found := make([]execution, len(q.matches))
	for i, m := range q.matches {
		found[i] = *m.execution
	}
	named := s.workflowNames(ctx, found)
	shown := make([]any, len(found))
	for i, m := range q.matches {
		if whole {
			fields := map[string]any{}
			_ = json.Unmarshal(m.raw, &fields) // it was decoded before
			fields["workflowName"], fields["nodeName"], fields["error"] = named[m.WorkflowID], m.Node, m.Message
			shown[i] = fields
			continue
		}
		shown[i] = struct {
			ID           string  `json:"id"`
			WorkflowID   string  `json:"workflowId"`
			WorkflowName string  `json:"workflowName,omitempty"`
			Status       string  `json:"status"`
			StartedAt    *string `json:"startedAt,omitempty"`
			NodeName     string  `json:"nodeName,omitempty"`
			Error        string  `json:"error,omitempty"`
		}{m.ID, m.WorkflowID, named[m.WorkflowID], m.Status, m.StartedAt, m.Node, cutText(m.Message, maxFoundText)}
	}
	message := gateway.Textf("Executions searched: %d, found: %d", q.searched, len(found))
	if next != "" {
		message = gateway.Textf("Executions searched: %d, found: %d. Call again with cursor to search older ones", q.searched, len(found))
	}
	return answer{message: message, data: struct {
		Count      int      `json:"count"`
		Searched   int      `json:"searched"`
		Executions []any    `json:"executions"`
		Unread     []string `json:"unread,omitempty"`
		NextCursor string   `json:"nextCursor,omitempty"`
	}{len(found), q.searched, shown, q.unread, next}}, nil
}

// search reads one page of executions, newest first, for as long as it may. It returns
// the cursor of the rest; empty if there is no more.
func (s *Source) search(ctx context.Context, q *search) (next string, err error) {
	page, next, err := s.client.listExecutions(ctx, q.executionQuery)
	if err != nil {
		return "", err
	}
	if next != "" && len(page) > 0 {
		next = page[len(page)-1].ID + "." + next
	}
	limited, cancel := context.WithTimeout(ctx, s.searchTime)
	defer cancel()
	failures, seen := 0, q.last
	for i := range page {
		e := &page[i]
		started, known := timeOf(e.StartedAt)
		switch {
		case q.last != "" && compareIDs(e.ID, q.last) >= 0, known && !q.before.IsZero() && !started.Before(q.before):
			continue
		case known && started.Before(q.after):
			return "", nil // those that follow are older still
		}
		failure, ok, err := s.matches(limited, e, q)
		if limited.Err() != nil && ctx.Err() == nil && q.searched > 0 {
			return seen + "." + q.cursor, nil
		}
		q.searched++
		seen = e.ID
		var own *Error
		switch {
		case err == nil:
			failures = 0
			if ok {
				q.matches = append(q.matches, match{e, failure})
			}
		case ctx.Err() != nil:
			return "", gateway.AsError(ctx.Err())
		case errors.As(err, &own) && own.Name == nameNotFound: // n8n has deleted it meanwhile
		default:
			if ok {
				q.matches = append(q.matches, match{execution: e})
			}
			q.unread = append(q.unread, e.ID)
			if failures++; failures >= unreadable {
				return "", err
			}
		}
	}
	return next, nil
}

// matches reads an execution as a stream and looks for the failure that is searched. If
// none is, every execution matches, and only failed ones are read for their errors.
func (s *Source) matches(ctx context.Context, e *execution, q *search) (failure read.NodeError, ok bool, err error) {
	every := q.text == "" && q.node == ""
	if every && e.Status != "error" && e.Status != "crashed" {
		return failure, true, ctx.Err()
	}
	body, err := s.client.OpenExecution(ctx, e.ID, true)
	if err != nil {
		return failure, every, err
	}
	defer func() { _ = body.Close() }()
	x, err := read.Scan(body)
	if err != nil {
		return failure, every, readingFailed(e.ID, err)
	}
	for _, one := range x.Failures() {
		if (q.node == "" || strings.EqualFold(one.Node, q.node)) && one.Has(q.text) {
			return one, true, nil
		}
	}
	return failure, every, nil
}

// executionQuery returns the arguments that select executions.
func (a *arguments) executionQuery() executionQuery {
	q := executionQuery{workflow: a.text("workflowId"), status: a.text("status"), cursor: a.text("cursor")}
	if q.status != "" && !slices.Contains(statuses(), q.status) {
		a.refuse(invalid("status", "status must be one of %s", strings.Join(statuses(), ", ")))
	}
	return q
}

// time returns a time, or a day in UTC; zero if it is absent.
func (a *arguments) time(key string) (t time.Time) {
	text := a.text(key)
	if text == "" {
		return t
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	a.refuse(invalid(key, "%s must be a time like 2026-11-15T09:00:00Z or a day like 2026-11-15", key))
	return t
}

func timeOf(text *string) (t time.Time, known bool) {
	if text == nil {
		return t, false
	}
	t, err := time.Parse(time.RFC3339, *text)
	return t, err == nil
}

// compareIDs compares ids of executions, which are numbers that grow.
func compareIDs(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// cutText returns the beginning of a text.
func cutText(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
