package n8n

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"genkan/internal/gateway"
)

func updateWorkflow(ctx context.Context, s *Source, _ *gateway.Call, in *arguments) (answer, error) {
	id, publish, active, tags, whole := in.id(), in.flag("publish"), in.choice("active"), in.texts("tags"), in.flag("raw")
	version := in.text("versionId")
	if in.err != nil {
		return answer{}, in.err
	}
	sent, err := fromArguments(in)
	if err != nil {
		return answer{}, err
	}
	old, err := s.client.getWorkflow(ctx, id, "update workflow")
	if err != nil {
		return answer{}, err
	}
	if current := old.text("versionId"); version != "" && current != version {
		return answer{}, changedMeanwhile(id, current)
	}
	next, err := parseWorkflow(mustEncode(old.fields))
	if err != nil {
		return answer{}, err
	}
	if err := next.take(sent); err != nil {
		return answer{}, err
	}
	if in.has("operations") {
		if err := next.apply(in.object("operations")); err != nil {
			return answer{}, err
		}
	}
	edited := in.has("operations")
	for _, key := range workflowKeys() {
		edited = edited || in.has(key)
	}
	if !edited && active == nil && !publish && !in.has("tags") {
		return answer{}, invalid("", "Nothing to change. Give operations, name, nodes, connections, settings, tags, active or publish")
	}
	out := saved{ID: id, Name: old.name()}
	now := old
	if edited {
		if now, err = s.save(ctx, old, next, publish, &out, "staticData", "pinData"); err != nil {
			return answer{}, err
		}
	}
	message := say("Workflow updated")
	switch {
	case publish && (active == nil || *active) && !(edited && old.flag("active")):
		// Saving a published workflow has published it already.
		if now, err = s.client.setActive(ctx, id, true); err != nil {
			out.ActivationError, now = s.told(err), old
			out.Published = new(false)
		} else {
			out.Published = new(true)
		}
	case out.Published != nil && !*out.Published:
		message = say("Workflow saved as a draft; the published version is unchanged. publish: true or activate_workflow publishes it")
	}
	if out.Published != nil && *out.Published {
		message = say("Workflow updated and published")
	}
	if active != nil && *active && !publish && !edited && now.flag("active") && now.isDraft() {
		message = say("The workflow is published already, and its draft is not. publish: true or activate_workflow publishes the draft")
		out.Published = new(false)
	}
	s.finish(ctx, &out, now, active, tags, in.has("tags"))
	return s.written(ctx, message, out, now, whole)
}

// take replaces the parts of a workflow that were sent.
func (w *workflow) take(sent *workflow) error {
	for key, value := range sent.fields {
		w.fields[key] = value
	}
	if sent.fields["nodes"] != nil {
		if err := w.keep(sent.nodes); err != nil {
			return err
		}
		for _, n := range sent.nodes {
			n.complete(w.replaced(n) == nil)
		}
		w.nodes = sent.nodes
	}
	if sent.fields["connections"] != nil {
		w.links = sent.links
	}
	return nil
}

// save puts a changed workflow, and restores the old one if n8n refuses it: n8n overwrites
// the draft even then.
func (s *Source) save(ctx context.Context, old, next *workflow, publish bool, out *saved, also ...string) (*workflow, error) {
	found, before := next.check(), old.check()
	// A workflow may have been wrong before, which must not stop other changes.
	if err := refusal(found); err != nil && refusal(before) == nil {
		return nil, err
	}
	if err := s.checkCode(old, next); err != nil {
		return nil, err
	}
	var fields []string
	for _, key := range also {
		if !bytes.Equal(old.fields[key], next.fields[key]) {
			fields = append(fields, key)
		}
	}
	body, err := next.body(fields...)
	if err != nil {
		return nil, err
	}
	id, active := old.id(), old.flag("active")
	now, err := s.client.getWorkflow(ctx, id, "update workflow")
	if err != nil {
		return nil, err
	}
	if version := now.text("versionId"); version != old.text("versionId") {
		return nil, changedMeanwhile(id, version)
	}
	if now, err = s.client.putWorkflow(ctx, id, body, active && !publish); err != nil {
		if now = s.stored(ctx, old, body, publish, err); now == nil {
			return nil, s.restore(ctx, old, body, err)
		}
	}
	out.Name, out.Warnings = now.name(), s.warnings(found, before)
	// A new name is live at once: only nodes and connections have versions.
	if active && (publish || now.isDraft()) {
		out.Published = new(publish)
	}
	s.names.put(id, now.name())
	return now, nil
}

// stored looks up a workflow after a save whose answer was lost. It returns nil if the
// change is not stored as it was sent, or n8n refused it.
func (s *Source) stored(ctx context.Context, old *workflow, sent map[string]json.RawMessage, publish bool, cause error) *workflow {
	if status := statusOf(cause); status != 0 && status < http.StatusInternalServerError {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), usualPatience)
	defer cancel()
	now, err := s.client.getWorkflow(ctx, old.id(), "update workflow")
	if err != nil || sameParts(now.fields, old.fields, "name", "nodes", "connections", "settings") ||
		!sameParts(now.fields, sent, "name", "nodes", "connections") || publish && now.isDraft() {
		return nil
	}
	return now
}

func changedMeanwhile(id, version string) error {
	return invalid("versionId", "Workflow '%s' was changed by somebody else: it has version %s now. Read it again and repeat the change", id, version)
}

// restore puts the old workflow back after a failed save, if n8n has stored the new one.
// It returns the error of the save.
func (s *Source) restore(ctx context.Context, old *workflow, sent map[string]json.RawMessage, cause error) error {
	switch statusOf(cause) {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return cause // nothing was stored
	}
	// The caller may have gone; the workflow must be restored all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), usualPatience)
	defer cancel()
	id := old.id()
	now, err := s.client.getWorkflow(ctx, id, "update workflow")
	switch {
	case err != nil:
		return explain(cause, "It is not known whether n8n has stored a part of the change. Read the workflow with get_workflow before you go on")
	case sameParts(now.fields, old.fields, slices.Collect(maps.Keys(sent))...):
		return explain(cause, "The workflow is unchanged")
	case !sameParts(now.fields, sent, "name", "nodes", "connections"):
		return explain(cause, "Somebody else has changed the workflow meanwhile, so it was not restored. Read it with get_workflow")
	}
	body, err := old.body()
	if err == nil {
		for key := range sent {
			if body[key] == nil {
				body[key] = orNull(old.fields[key])
			}
		}
		_, err = s.client.putWorkflow(ctx, id, body, old.flag("active"))
	}
	if err != nil {
		return explain(cause, "n8n has stored the refused change as a draft, and restoring the workflow failed (%s). Restore it in n8n's version history", s.told(err))
	}
	return explain(cause, "n8n had stored the refused change; the workflow was restored")
}

// sameParts reports whether parts of two workflows are the same. The ids that n8n gives new
// webhooks do not count.
func sameParts(a, b map[string]json.RawMessage, keys ...string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool {
		var x, y any
		return json.Unmarshal(orNull(a[key]), &x) != nil || json.Unmarshal(orNull(b[key]), &y) != nil || !reflect.DeepEqual(withoutHooks(x), withoutHooks(y))
	})
}

func withoutHooks(part any) any {
	nodes, _ := part.([]any)
	for _, one := range nodes {
		if n, ok := one.(map[string]any); ok {
			delete(n, "webhookId")
		}
	}
	return part
}

// checkCode parses the JavaScript of new and changed nodes.
func (s *Source) checkCode(old, next *workflow) error {
	if s.CheckCode == nil {
		return nil
	}
	for _, n := range next.nodes {
		parameters, _ := n.decoded()["parameters"].(map[string]any)
		code, _ := parameters["jsCode"].(string)
		language, _ := parameters["language"].(string)
		if code == "" || strings.HasPrefix(code, "=") || strings.HasPrefix(language, "python") {
			continue // an expression is no code, and neither is what Python left
		}
		if old != nil {
			if before := old.find(n.name); before != nil {
				had, _ := before.decoded()["parameters"].(map[string]any)
				if had["jsCode"] == code {
					continue
				}
			}
		}
		if err := s.CheckCode(code); err != nil {
			return invalid("nodes", "The code of node '%s' is not valid JavaScript: %s. Nothing was saved", n.name, gateway.AsError(err))
		}
	}
	return nil
}
