package n8n

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxPage is the largest page that n8n gives.
const maxPage = 250

// summary is a workflow in a list.
type summary struct {
	ID         string
	Name       string
	Active     bool
	IsArchived bool
	CreatedAt  string
	UpdatedAt  string
	Tags       []struct{ ID, Name string }
	Nodes      []struct{ Type string }
}

func (s *summary) tagNames() []string {
	names := make([]string, len(s.Tags))
	for i, t := range s.Tags {
		names[i] = t.Name
	}
	return names
}

func (s *summary) nodeCount() int {
	n := 0
	for _, one := range s.Nodes {
		if one.Type != sticky {
			n++
		}
	}
	return n
}

// page reads a page of a list, one item at a time, so that a page of large workflows is
// never held as a whole.
func page[T any](ctx context.Context, c *Client, r *request) (items []T, next string, err error) {
	err = c.read(ctx, r, func(d *json.Decoder) error {
		items, next = nil, ""
		if _, err := d.Token(); err != nil {
			return err
		}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return err
			}
			switch key {
			case "data":
				if _, err := d.Token(); err != nil {
					return err
				}
				for d.More() {
					var one T
					if err := d.Decode(&one); err != nil {
						return err
					}
					items = append(items, one)
				}
				if _, err := d.Token(); err != nil {
					return err
				}
			case "nextCursor":
				var cursor *string
				if err := d.Decode(&cursor); err != nil {
					return err
				}
				if cursor != nil {
					next = *cursor
				}
			default:
				var skipped json.RawMessage
				if err := d.Decode(&skipped); err != nil {
					return err
				}
			}
		}
		_, err := d.Token()
		return err
	})
	return items, next, err
}

// listQuery is which workflows a list has.
type listQuery struct {
	active        *bool
	tags          []string
	archived      bool
	limit, offset int
}

// listWorkflows returns workflows, and the offset of the rest; 0 if there is no more.
func (c *Client) listWorkflows(ctx context.Context, q listQuery) (found []summary, next int, err error) {
	query := url.Values{"excludePinnedData": {"true"}}
	if q.active != nil {
		query.Set("active", strconv.FormatBool(*q.active))
	}
	// n8n splits the tags at commas. All tags are checked here, too.
	if joined := strings.Join(q.tags, ","); strings.Count(joined, ",") == max(len(q.tags)-1, 0) && joined != "" {
		query.Set("tags", joined)
	}
	offset := q.offset
	for {
		size := min(maxPage, q.limit-len(found))
		query.Set("limit", strconv.Itoa(size))
		query.Set("offset", strconv.Itoa(offset))
		items, cursor, err := page[summary](ctx, c, &request{
			method: http.MethodGet, path: "/workflows", query: query,
			operation: "list workflows", resource: resourceWorkflow, scope: "workflow:list",
		})
		if err != nil {
			return nil, 0, err
		}
		for i := range items {
			offset++
			if items[i].IsArchived && !q.archived || !hasAll(items[i].tagNames(), q.tags) {
				continue
			}
			found = append(found, items[i])
		}
		switch {
		case cursor == "" || len(items) == 0:
			return found, 0, nil
		case len(found) >= q.limit:
			return found, offset, nil
		}
	}
}

func hasAll(has, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(name string) bool { return !slices.Contains(has, name) })
}

func (c *Client) getWorkflow(ctx context.Context, id, operation string) (*workflow, error) {
	return c.workflow(ctx, &request{
		method: http.MethodGet, path: path("workflows", id),
		operation: operation, resource: resourceWorkflow, id: id, scope: "workflow:read",
	})
}

// workflow sends a request whose answer is a workflow.
func (c *Client) workflow(ctx context.Context, r *request) (*workflow, error) {
	var raw json.RawMessage
	if err := c.do(ctx, r, &raw); err != nil {
		return nil, err
	}
	return parseWorkflow(raw)
}

func (c *Client) postWorkflow(ctx context.Context, body map[string]json.RawMessage) (*workflow, error) {
	return c.workflow(ctx, &request{
		method: http.MethodPost, path: "/workflows", body: body,
		operation: "create workflow", resource: resourceWorkflow, scope: "workflow:create",
	})
}

// putWorkflow saves a workflow. It is not repeated, because somebody else may have changed
// the workflow since. n8n publishes a published one again unless draft is set.
func (c *Client) putWorkflow(ctx context.Context, id string, body map[string]json.RawMessage, draft bool) (*workflow, error) {
	r := &request{
		method: http.MethodPut, path: path("workflows", id), body: body,
		operation: "update workflow", resource: resourceWorkflow, id: id, scope: "workflow:update",
	}
	if draft {
		r.query = url.Values{"publishIfActive": {"false"}}
	}
	w, err := c.workflow(ctx, r)
	if err == nil && !draft && w.flag("active") {
		c.published.Store(id, time.Now())
	}
	return w, err
}

// setActive publishes the current version of a workflow, or unpublishes it.
func (c *Client) setActive(ctx context.Context, id string, active bool) (*workflow, error) {
	verb := map[bool]string{true: "activate", false: "deactivate"}[active]
	w, err := c.workflow(ctx, &request{
		method: http.MethodPost, path: path("workflows", id, verb), again: true,
		operation: verb + " workflow", resource: resourceWorkflow, id: id, scope: "workflow:" + verb,
	})
	if err == nil && active {
		c.published.Store(id, time.Now())
	}
	return w, err
}

// settled waits until n8n should have put a version in place that this client has just
// published. n8n does so a moment after its answer, and its API does not say when.
func (c *Client) settled(ctx context.Context, id string) error {
	at, ok := c.published.LoadAndDelete(id)
	if !ok {
		return nil
	}
	return c.pause(ctx, c.settling-time.Since(at.(time.Time)))
}

// These say how long deleteWorkflow waits for n8n to unpublish.
const (
	unpublishTries = 25
	unpublishPause = 200 * time.Millisecond
)

// deleteWorkflow deletes a workflow, after unpublishing it if it is published.
func (c *Client) deleteWorkflow(ctx context.Context, id string) error {
	r := &request{
		method: http.MethodDelete, path: path("workflows", id),
		operation: "delete workflow", resource: resourceWorkflow, id: id, scope: "workflow:delete",
	}
	unpublished := false
	for tries := 0; ; tries++ {
		err := c.do(ctx, r, nil)
		switch {
		case err == nil:
			return nil
		case statusOf(err) != http.StatusConflict || tries >= unpublishTries:
			if unpublished {
				err = explain(err, "The workflow is unpublished now but not deleted")
			}
			return err
		case !unpublished && !strings.Contains(err.Error(), "being unpublished"):
			if _, err := c.setActive(ctx, id, false); err != nil {
				return explain(err, "A published workflow must be unpublished before it is deleted")
			}
			unpublished = true
			continue
		}
		if err := c.pause(ctx, unpublishPause); err != nil {
			return err
		}
	}
}

// tag is a tag of n8n.
type tag struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
}

// setTags gives a workflow tags by name, and creates those that do not exist.
func (c *Client) setTags(ctx context.Context, id string, names []string) error {
	ids := map[string]string{}
	for cursor := ""; len(names) > 0; {
		query := url.Values{"limit": {strconv.Itoa(maxPage)}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		tags, next, err := page[tag](ctx, c, &request{
			method: http.MethodGet, path: "/tags", query: query, operation: "list tags", resource: resourceTag, scope: "tag:list",
		})
		if err != nil {
			return err
		}
		for _, t := range tags {
			ids[t.Name] = t.ID
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	set := []tag{}
	for _, name := range names {
		if ids[name] == "" {
			var made tag
			if err := c.do(ctx, &request{
				method: http.MethodPost, path: "/tags", body: map[string]string{"name": name},
				operation: "create tag", resource: resourceTag, id: name, scope: "tag:create",
			}, &made); err != nil {
				return err
			}
			ids[name] = made.ID
		}
		if one := (tag{ID: ids[name]}); !slices.Contains(set, one) {
			set = append(set, one)
		}
	}
	return c.do(ctx, &request{
		method: http.MethodPut, path: path("workflows", id, "tags"), body: set, again: true,
		operation: "set tags", resource: resourceWorkflow, id: id, scope: "workflowTags:update",
	}, nil)
}

// execution is an execution in a list.
type execution struct {
	raw json.RawMessage

	ID, WorkflowID, Status         string
	StartedAt, StoppedAt, WaitTill *string
}

func (e *execution) UnmarshalJSON(raw []byte) error {
	var fields struct {
		ID, WorkflowID                 any
		Status                         string
		StartedAt, StoppedAt, WaitTill *string
	}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	*e = execution{slices.Clone(raw), textOf(fields.ID), textOf(fields.WorkflowID), fields.Status, fields.StartedAt, fields.StoppedAt, fields.WaitTill}
	return nil
}

// textOf returns an id, which older versions of n8n write as a number.
func textOf(id any) string {
	switch v := id.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatInt(int64(v), 10)
	}
	return ""
}

type executionQuery struct {
	workflow, status, cursor string
	limit                    int
}

func (c *Client) listExecutions(ctx context.Context, q executionQuery) ([]execution, string, error) {
	query := url.Values{"limit": {strconv.Itoa(q.limit)}, "includeData": {"false"}}
	for key, value := range map[string]string{"workflowId": q.workflow, "status": q.status, "cursor": q.cursor} {
		if value != "" {
			query.Set(key, value)
		}
	}
	return page[execution](ctx, c, &request{
		method: http.MethodGet, path: "/executions", query: query,
		operation: "list executions", resource: resourceExecution, scope: "execution:list",
	})
}

// runExecution retries or stops an execution.
func (c *Client) runExecution(ctx context.Context, id, verb string, body any) (execution, error) {
	var out execution
	err := c.do(ctx, &request{
		method: http.MethodPost, path: path("executions", id, verb), body: body, again: verb == "stop",
		operation: verb + " execution", resource: resourceExecution, id: id, scope: "execution:" + verb,
	}, &out)
	return out, err
}

func (c *Client) pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
