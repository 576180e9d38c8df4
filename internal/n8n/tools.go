package n8n

import (
	"context"
	"encoding/json"
	"slices"

	"genkan/internal/gateway"
)

// The limits of list_workflows.
const maxListed = 100

// listed is a workflow in a list.
type listed struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Active   bool   `json:"active"`
	Archived bool   `json:"archived,omitempty"`
}

// listedWhole is a workflow in a raw list.
type listedWhole struct {
	listed
	Tags      []string `json:"tags"`
	CreatedAt string   `json:"createdAt"`
	UpdatedAt string   `json:"updatedAt"`
	NodeCount int      `json:"nodeCount"`
}

func listWorkflows(ctx context.Context, s *Source, _ *gateway.Call, in *arguments) (answer, error) {
	q := listQuery{
		active: in.choice("active"), tags: in.texts("tags"), archived: in.flag("archived"),
		limit: in.number("limit", maxListed, 1, maxListed), offset: in.number("offset", 0, 0, 1_000_000),
	}
	whole := in.flag("raw")
	if in.err != nil {
		return answer{}, in.err
	}
	found, next, err := s.client.listWorkflows(ctx, q)
	if err != nil {
		return answer{}, err
	}
	short, long := make([]listed, len(found)), make([]listedWhole, len(found))
	for i := range found {
		w := &found[i]
		s.names.put(w.ID, w.Name)
		short[i] = listed{w.ID, w.Name, w.Active, w.IsArchived}
		long[i] = listedWhole{short[i], w.tagNames(), w.CreatedAt, w.UpdatedAt, w.nodeCount()}
	}
	message := gateway.Textf("Found %d workflows", len(found))
	if len(found) == 1 {
		message = say("Found 1 workflow")
	}
	if whole {
		return answer{message: message, data: long, next: next}, nil
	}
	return answer{message: message, data: struct {
		Count     int      `json:"count"`
		Workflows []listed `json:"workflows"`
		Next      int      `json:"nextOffset,omitempty"`
	}{len(found), short, next}}, nil
}

func getWorkflow(ctx context.Context, s *Source, _ *gateway.Call, in *arguments) (answer, error) {
	id, wanted, all := in.id(), in.texts("nodeNames"), in.flag("raw")
	if in.err != nil {
		return answer{}, in.err
	}
	w, err := s.client.getWorkflow(ctx, id, "get workflow")
	if err != nil {
		return answer{}, err
	}
	message := say("Workflow read")
	if in.has("nodeNames") {
		nodes := []json.RawMessage{}
		for _, name := range wanted {
			n, err := w.need("nodeNames", name)
			if err != nil {
				return answer{}, err
			}
			nodes = append(nodes, n.raw)
		}
		return answer{message: message, data: struct {
			ID        string            `json:"id"`
			Name      string            `json:"name"`
			VersionID string            `json:"versionId,omitempty"`
			Nodes     []json.RawMessage `json:"nodes"`
		}{w.id(), w.name(), w.text("versionId"), nodes}}, nil
	}
	if all {
		data, err := w.whole()
		return answer{message: message, data: data}, err
	}
	return answer{message: message, data: struct {
		ID        string   `json:"id"`
		Name      string   `json:"name"`
		Active    bool     `json:"active"`
		Draft     bool     `json:"unpublishedChanges,omitempty"`
		Archived  bool     `json:"archived,omitempty"`
		NodeCount int      `json:"nodeCount"`
		Tags      []string `json:"tags"`
		NodeNames []string `json:"nodeNames"`
	}{w.id(), w.name(), w.flag("active"), w.isDraft(), w.flag("isArchived"), len(w.steps()), w.tags(), w.stepNames()}}, nil
}

// maxNodeNames is how many names of nodes a summary has.
const maxNodeNames = 50

// stepNames returns the names of the nodes, or the first of them and an ellipsis.
func (w *workflow) stepNames() []string {
	names := []string{}
	for _, n := range w.steps() {
		if len(names) == maxNodeNames {
			return append(names, "…")
		}
		names = append(names, n.name)
	}
	return names
}

func getConnections(ctx context.Context, s *Source, _ *gateway.Call, in *arguments) (answer, error) {
	id, whole := in.id(), in.flag("raw")
	if in.err != nil {
		return answer{}, in.err
	}
	w, err := s.client.getWorkflow(ctx, id, "get workflow connections")
	if err != nil {
		return answer{}, err
	}
	data := w.graph()
	if whole {
		data.RawConnections = orNull(w.fields["connections"])
	}
	return answer{message: say("Workflow connections read"), data: data}, nil
}

// fromArguments returns the workflow that the arguments of a call are.
func fromArguments(in *arguments) (*workflow, error) {
	w := &workflow{fields: map[string]json.RawMessage{}}
	for _, key := range workflowKeys() {
		if in.has(key) {
			w.fields[key] = in.object(key)
		}
	}
	var err error
	if w.nodes, err = parseNodes(w.fields["nodes"]); err != nil {
		return nil, err
	}
	w.links, err = parseLinks(w.fields["connections"])
	return w, err
}

// saved is the answer about a workflow that was written.
type saved struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Active is set for new workflows, and where the call changes it.
	Active *bool `json:"active,omitempty"`
	// Published says whether the change of a published workflow is live.
	Published *bool    `json:"published,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`
	// ActivationError and TagsError say what failed after the workflow was saved.
	ActivationError string `json:"activationError,omitempty"`
	TagsError       string `json:"tagsError,omitempty"`
}

// create checks and creates a workflow.
func (s *Source) create(ctx context.Context, w *workflow) (*workflow, []string, error) {
	for _, n := range w.nodes {
		n.complete(true)
	}
	found := w.check()
	if err := refusal(found); err != nil {
		return nil, nil, err
	}
	if err := s.checkCode(nil, w); err != nil {
		return nil, nil, err
	}
	body, err := w.body("staticData", "pinData")
	if err != nil {
		return nil, nil, err
	}
	made, err := s.client.postWorkflow(ctx, body)
	if err != nil {
		return nil, nil, err
	}
	s.names.put(made.id(), made.name())
	return made, s.warnings(found, nil), nil
}

// complete gives a node the fields that n8n requires. A new trigger gets a webhookId, too,
// without which its URL has the name of the node; another one keeps its URL.
func (n *node) complete(isNew bool) {
	fields := n.decoded()
	defaults := map[string]any{"id": newID(), "typeVersion": json.Number("1"), "parameters": map[string]any{}, "position": []int{0, 0}}
	if isNew && isCallable(n.kind) {
		defaults["webhookId"] = newID()
	}
	for key, value := range defaults {
		if fields[key] == nil {
			fields[key] = value
			n.changed = true
		}
	}
}

// warnings returns the warnings that the old workflow did not have.
func (s *Source) warnings(found, old findings) (texts []string) {
	for _, f := range found {
		same := func(before finding) bool { return before.text.String() == f.text.String() }
		if f.warning && !slices.ContainsFunc(old, same) {
			texts = append(texts, f.text.In(s.Translate))
		}
	}
	return texts
}

func createWorkflow(ctx context.Context, s *Source, _ *gateway.Call, in *arguments) (answer, error) {
	active, tags, whole := in.choice("active"), in.texts("tags"), in.flag("raw")
	if in.err != nil {
		return answer{}, in.err
	}
	w, err := fromArguments(in)
	if err != nil {
		return answer{}, err
	}
	made, warnings, err := s.create(ctx, w)
	if err != nil {
		return answer{}, err
	}
	out := saved{ID: made.id(), Name: made.name(), Active: new(made.flag("active")), Warnings: warnings}
	s.finish(ctx, &out, made, active, tags, in.has("tags"))
	return s.written(ctx, say("Workflow created"), out, made, whole)
}

// finish sets what n8n takes in requests of its own: whether a workflow is published, and
// its tags. Failures are reported beside the saved workflow.
func (s *Source) finish(ctx context.Context, out *saved, w *workflow, active *bool, tags []string, setTags bool) {
	if active != nil && *active != w.flag("active") {
		now, err := s.client.setActive(ctx, out.ID, *active)
		if err != nil {
			out.ActivationError = s.told(err)
			out.Active = new(w.flag("active"))
		} else {
			out.Active = new(now.flag("active"))
		}
	}
	if setTags && !slices.Equal(tags, w.tags()) {
		if err := s.client.setTags(ctx, out.ID, tags); err != nil {
			out.TagsError = s.told(err)
		}
	}
}

// told returns an error in the language of the tools.
func (s *Source) told(err error) string {
	if own, ok := err.(*Error); ok { //nolint:errorlint // the client returns it unwrapped
		if details := own.details(s.Translate); details != "" {
			return own.Message(s.Translate) + ": " + details
		}
		return own.Message(s.Translate)
	}
	return gateway.AsError(err).In(s.Translate)
}

// written returns the answer about a workflow that was saved.
func (s *Source) written(ctx context.Context, message gateway.Text, out saved, w *workflow, whole bool) (answer, error) {
	if !whole {
		return answer{message: message, data: out}, nil
	}
	// Tags and publication came after the answer of n8n.
	if fresh, err := s.client.getWorkflow(ctx, out.ID, "get workflow"); err == nil {
		w = fresh
	}
	data, err := w.whole()
	if err != nil {
		return answer{}, err
	}
	for key, value := range map[string]any{
		"published": out.Published, "warnings": out.Warnings, "activationError": out.ActivationError, "tagsError": out.TagsError,
	} {
		if raw := mustEncode(value); string(raw) != "null" && string(raw) != `""` {
			data[key] = raw
		}
	}
	return answer{message: message, data: data}, nil
}

func deleteWorkflow(ctx context.Context, s *Source, _ *gateway.Call, in *arguments) (answer, error) {
	id := in.id()
	in.flag("raw")
	if in.err != nil {
		return answer{}, in.err
	}
	if err := s.client.deleteWorkflow(ctx, id); err != nil {
		return answer{}, err
	}
	s.names.put(id, deletedName)
	return answer{message: say("Workflow deleted"), data: map[string]string{"id": id}}, nil
}

func activateWorkflow(ctx context.Context, s *Source, call *gateway.Call, in *arguments) (answer, error) {
	return setActive(ctx, s, call, in, true)
}

func deactivateWorkflow(ctx context.Context, s *Source, call *gateway.Call, in *arguments) (answer, error) {
	return setActive(ctx, s, call, in, false)
}

func setActive(ctx context.Context, s *Source, _ *gateway.Call, in *arguments, active bool) (answer, error) {
	id, whole := in.id(), in.flag("raw")
	if in.err != nil {
		return answer{}, in.err
	}
	w, err := s.client.setActive(ctx, id, active)
	if err != nil {
		return answer{}, err
	}
	message := say("Workflow activated")
	if !active {
		message = say("Workflow deactivated")
	}
	return s.written(ctx, message, saved{ID: id, Name: w.name(), Active: new(w.flag("active"))}, w, whole)
}

func validateWorkflow(ctx context.Context, s *Source, _ *gateway.Call, in *arguments) (answer, error) {
	in.flag("raw")
	if in.err != nil {
		return answer{}, in.err
	}
	var w *workflow
	var err error
	switch {
	case in.has("nodes") || !in.has("id"):
		if !in.has("nodes") {
			return answer{}, invalid("nodes", "Give the id of a workflow, or nodes and connections")
		}
		if !in.has("name") {
			in.values["name"] = json.RawMessage(`"-"`) // only the nodes are of interest
		}
		w, err = fromArguments(in)
	default:
		id := in.id()
		if in.err != nil {
			return answer{}, in.err
		}
		w, err = s.client.getWorkflow(ctx, id, "validate workflow")
	}
	if err != nil {
		return answer{}, err
	}
	type problem struct {
		Level   string `json:"level"`
		Node    string `json:"node,omitempty"`
		Message string `json:"message"`
	}
	problems, valid := []problem{}, true
	for _, f := range w.check() {
		level := "warning"
		if !f.warning {
			level, valid = "error", false
		}
		problems = append(problems, problem{level, f.node, f.text.In(s.Translate)})
	}
	if err := s.checkCode(nil, w); err != nil {
		valid = false
		problems = append(problems, problem{"error", "", s.told(err)})
	}
	message := say("The workflow is valid")
	if !valid {
		message = say("The workflow is not valid")
	}
	return answer{message: message, data: map[string]any{"valid": valid, "problems": problems}}, nil
}
