package api

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/workflow"
)

// moduleOf describes a hook module, without its script.
func (a *API) moduleOf(r *http.Request, m workflow.Module) (client.HookModule, error) {
	users, err := a.opt.Workflows.ModuleUsers(r.Context(), m.ID)
	return client.HookModule{
		ID: m.ID, Description: m.Description, Version: m.Version, UpdatedAt: m.UpdatedAt.Time().UTC(), Workflows: append([]string{}, users...),
		Params: m.Params,
	}, err
}

func (a *API) listModules(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	all, err := a.opt.Workflows.Modules(r.Context())
	out := client.HookModuleList{HookModules: []client.HookModule{}}
	for _, m := range all {
		if err != nil {
			break
		}
		var one client.HookModule
		one, err = a.moduleOf(r, m)
		out.HookModules = append(out.HookModules, one)
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	slices.SortFunc(out.HookModules, func(a, b client.HookModule) int { return cmp.Compare(a.ID, b.ID) })
	encode(w, http.StatusOK, out)
}

func (a *API) getModule(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	a.sendModule(w, r, numberIn(r.URL.Query(), "version", 0))
}

func (a *API) sendModule(w http.ResponseWriter, r *http.Request, version int) {
	m, err := a.opt.Workflows.Module(r.Context(), r.PathValue("id"), version)
	var out client.HookModule
	if err == nil {
		out, err = a.moduleOf(r, m)
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	out.Script = m.Script
	encode(w, http.StatusOK, out)
}

func (a *API) putModule(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	var in client.NewHookModule
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	id := r.PathValue("id")
	base, wrong := baseOf(r)
	if wrong != nil {
		a.fail(w, wrong)
		return
	}
	err := checkID(id, in.ID)
	if err == nil && in.Script == "" {
		err = refused(gateway.MissingField(nil, "script"))
	}
	if err == nil && base.Version == 0 {
		if newest, known := a.opt.Workflows.Module(r.Context(), id, 0); known == nil {
			taken := gateway.Errorf(gateway.CodeConflict, "hook module %q exists already, with version %d; to change it, say that the change was made to that version: ?base=%d",
				id, newest.Version, newest.Version)
			taken.Problems = []gateway.Problem{breaks("id", "unique", nil, gateway.Textf("a hook module of this name exists already"))}
			err = taken
		}
	}
	if err == nil {
		_, err = a.opt.Workflows.SaveModule(r.Context(), workflow.Module{ID: id, Description: in.Description, Script: in.Script, Params: orNone(in.Params)}, base.Version)
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	a.sendModule(w, r, 0)
}

// orNone makes null nothing.
func orNone(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

func (a *API) deleteModule(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	id := r.PathValue("id")
	_, err := a.opt.Workflows.Module(r.Context(), id, 0)
	if err == nil {
		err = a.opt.Workflows.DeleteModule(r.Context(), id)
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, client.Done{Success: true})
}
