package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/workflow"
)

func (a *API) exportWorkflow(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	s, err := a.opt.Workflows.Workflow(r.Context(), r.PathValue("id"), numberIn(r.URL.Query(), "version", 0))
	var raw json.RawMessage
	if err == nil {
		raw, err = a.exported(r, s)
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, raw)
}

// exported is the definition of a version with the tests of the workflow.
func (a *API) exported(r *http.Request, s workflow.Stored) (json.RawMessage, error) {
	tests, err := a.opt.Workflows.Tests(r.Context(), s.ID)
	if err != nil {
		return nil, err
	}
	return definitionWith(s, tests)
}

func (a *API) exportWorkflows(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	out := client.WorkflowExport{Workflows: []json.RawMessage{}}
	all, err := a.opt.Workflows.Workflows(r.Context())
	for _, s := range all {
		if limitOf(s.ID) != "" {
			continue // it goes with its token
		}
		var raw json.RawMessage
		if raw, err = a.exported(r, s); err != nil {
			break
		}
		out.Workflows = append(out.Workflows, raw)
	}
	var modules []workflow.Module
	if err == nil {
		modules, err = a.opt.Workflows.Modules(r.Context())
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	for _, m := range modules {
		out.HookModules = append(out.HookModules, client.NewHookModule{ID: m.ID, Description: m.Description, Script: m.Script, Params: m.Params})
	}
	encode(w, http.StatusOK, out)
}

func (a *API) importWorkflows(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	body, status, wrong := readBody(w, r)
	if wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	in := client.WorkflowExport{Workflows: []json.RawMessage{body}}
	if json.Valid(body) && (jsonrpc.Lookup(body, "workflows") != nil || jsonrpc.Lookup(body, "hookModules") != nil) {
		in = client.WorkflowExport{}
		if status, wrong := decode(body, &in); wrong != nil {
			a.refuseBody(w, status, wrong)
			return
		}
	}
	out, err := a.imported(r, in)
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, out)
}

// imported stores workflows and hook modules. All definitions are read, and their tests
// checked, before the first is stored.
func (a *API) imported(r *http.Request, in client.WorkflowExport) (client.WorkflowImport, error) {
	out := client.WorkflowImport{Workflows: []client.ImportedWorkflow{}, HookModules: []client.ImportedWorkflow{}}
	ctx, library := r.Context(), a.opt.Workflows
	var definitions []*workflow.Definition
	for _, raw := range in.Workflows {
		d, err := parseDefinition(raw)
		if err != nil {
			return out, err
		}
		if d.ID == "" {
			return out, invalid("a workflow needs an id: give the file an \"id\", such as \"my-workflow\"")
		}
		if err := checkFree(d.ID); err != nil {
			return out, err
		}
		if err := library.CheckNewTests(ctx, d); err != nil {
			return out, err
		}
		definitions = append(definitions, d)
	}
	for _, m := range in.HookModules {
		was, err := library.Module(ctx, m.ID, 0)
		if err != nil && !isNotFound(err) {
			return out, err
		}
		done := client.ImportedWorkflow{ID: m.ID, Version: was.Version, Status: statusUnchanged}
		if err != nil || was.Script != m.Script || was.Description != m.Description || !bytes.Equal(was.Params, m.Params) {
			done.Status = statusAfter(was.Version)
			made, err := library.SaveModule(ctx, workflow.Module{ID: m.ID, Description: m.Description, Script: m.Script, Params: orNone(m.Params)}, was.Version)
			if err != nil {
				return out, err
			}
			done.Version = made.Version
		}
		out.HookModules = append(out.HookModules, done)
	}
	for _, d := range definitions {
		done, err := a.importOne(r, d)
		if err != nil {
			return out, err
		}
		out.Workflows = append(out.Workflows, done)
	}
	return out, nil
}

func (a *API) importOne(r *http.Request, d *workflow.Definition) (client.ImportedWorkflow, error) {
	ctx, library := r.Context(), a.opt.Workflows
	done := client.ImportedWorkflow{ID: d.ID, Problems: len(library.Validate(ctx, d))}
	was, err := library.Workflow(ctx, d.ID, 0)
	switch {
	case err == nil && sameDefinition(was.Definition, d):
		done.Version, done.Status = was.Version, statusUnchanged
		changed, err := library.SaveTests(ctx, d)
		if changed {
			done.Status = statusChanged
		}
		return done, err
	case err != nil && !isNotFound(err):
		return done, err
	}
	base := 0
	if was.Definition != nil {
		base = was.Version
	}
	done.Status = statusAfter(base)
	s, err := library.Save(ctx, *d, base)
	if err == nil {
		done.Version = s.Version
	}
	return done, err
}

// The statuses of an import.
const statusAdded, statusChanged, statusUnchanged = "added", "changed", "unchanged"

func statusAfter(version int) string {
	if version == 0 {
		return statusAdded
	}
	return statusChanged
}

// sameDefinition reports whether a file says the same as a stored definition, apart from what
// the store sets. The editor also exports where it draws the nodes of a definition that does
// not say so.
func sameDefinition(stored, file *workflow.Definition) bool {
	var values [2]map[string]any
	for i, d := range []workflow.Definition{*stored, *file} {
		d.Version, d.Enabled, d.CreatedAt, d.UpdatedAt = 0, false, 0, 0
		raw, err := json.Marshal(d)
		if err != nil {
			return false
		}
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber() // large numbers that differ are the same as a float64
		if decoder.Decode(&values[i]) != nil {
			return false
		}
		delete(values[i], "tests")
	}
	nodes, others := nodesIn(values[0]), nodesIn(values[1])
	for i, node := range nodes {
		if _, placed := node["position"]; !placed && i < len(others) {
			delete(others[i], "position")
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

// nodesIn returns the nodes of a definition in JSON.
func nodesIn(definition map[string]any) (nodes []map[string]any) {
	all, _ := definition["nodes"].([]any)
	for _, one := range all {
		node, _ := one.(map[string]any)
		nodes = append(nodes, node)
	}
	return nodes
}

// checkFree refuses ids that are paths of their own below /v1/workflows, and those of
// workflows that carry out the limit of a token.
func checkFree(id string) error {
	if limitOf(id) != "" || slices.Contains([]string{"validate", "import", "export", "switch"}, id) {
		return invalid("%q cannot be the id of a workflow; give it another", gateway.Short(id))
	}
	return nil
}

func isNotFound(err error) bool {
	var e *gateway.Error
	return errors.As(err, &e) && e.Code == gateway.CodeNotFound
}
