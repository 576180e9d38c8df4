package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/guide"
	"genkan/internal/identity"
	"genkan/internal/shape"
	"genkan/internal/workflow"
)

// The limit of a token is carried out by workflows, one for each of these. Their ids
// end with the name of the token, so that no two tokens share one.
const (
	limitServers   = "limit-servers-"   // hides the tools of other servers
	limitWrites    = "limit-writes-"    // hides tools that are not marked as read-only
	limitPrompts   = "limit-prompts-"   // refuses the prompts of other servers
	limitResources = "limit-resources-" // refuses the resources of other servers
)

// always returns patterns that exclude what every client needs: the tools that find
// others, and the one that reads large answers. They reach nothing beyond the limit.
func always() []string { return []string{"!" + guide.SourceName, "!" + shape.SourceName} }

func limitRoute(a *API) route {
	return route{
		method: "PUT", path: "/v1/tokens/{name}/limit", who: forAdmins, id: "limitToken", summary: "Say what a token may use",
		about: "It replaces the former limit; {} lifts it. Tools beyond it are neither listed nor called, prompts and resources are refused. " +
			"The workflows limit-*-NAME carry it out, also while all workflows are turned off.",
		body: client.TokenLimit{}, answer: client.TokenLimited{},
		failures: []restError{restErrorOf(gateway.CodeInvalid), restErrorOf(gateway.CodeNotFound), restErrorOf(gateway.CodeConflict)},
		serve:    a.limitToken,
	}
}

func (a *API) limitToken(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	var in client.TokenLimit
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	name := r.PathValue("name")
	all, err := a.opt.Tokens.List(r.Context())
	if err != nil {
		a.fail(w, err)
		return
	}
	if !slices.ContainsFunc(all, func(t identity.Token) bool { return t.Name == name }) {
		a.fail(w, gateway.Errorf(gateway.CodeNotFound, "there is no token named %q: `genkan tokens list` shows all", gateway.Short(name)))
		return
	}
	if err := a.limit(r.Context(), name, in); err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, client.TokenLimited{Name: name, Limit: a.limits(r.Context())[name]})
}

// checkLimit refuses a limit that names an unknown server.
func (a *API) checkLimit(in client.TokenLimit) error {
	var problems gateway.Problems
	for _, server := range in.Servers {
		known := slices.ContainsFunc(a.opt.House().BuiltIn(), func(s gateway.Source) bool { return s.Name() == server })
		if !known && !a.isDeclared(server) {
			problems.Add(breaks("servers", "enum", nil, gateway.Textf("there is no server %q; `genkan servers` lists them", gateway.Short(server))))
		}
	}
	if wrong := problems.Err(); wrong != nil {
		return wrong
	}
	return nil
}

// limit puts the limit of a token into force. What is new runs before what is old is
// removed, so that the token never has more than one of the two allows.
func (a *API) limit(ctx context.Context, name string, in client.TokenLimit) error {
	if err := a.checkLimit(in); err != nil {
		return err
	}
	if a.opt.Workflows == nil {
		return nil // nothing is kept
	}
	wanted := limitWorkflows(name, in)
	for _, d := range wanted {
		base := 0
		if old, err := a.opt.Workflows.Workflow(ctx, d.ID, 0); err == nil {
			base = old.Version
		}
		saved, err := a.opt.Workflows.Save(ctx, d, base)
		if err == nil {
			err = a.opt.Workflows.Enable(ctx, d.ID, saved.Version)
		}
		if err != nil {
			return err
		}
	}
	for _, id := range limitIDs(name) {
		if slices.ContainsFunc(wanted, func(d workflow.Definition) bool { return d.ID == id }) {
			continue
		}
		if _, err := a.opt.Workflows.Workflow(ctx, id, 0); err != nil {
			continue // there is none
		}
		if err := a.opt.Workflows.Delete(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func limitIDs(name string) []string {
	return []string{limitServers + name, limitPrompts + name, limitResources + name, limitWrites + name}
}

// limitOf returns the token whose limit a workflow carries out; empty for none.
func limitOf(d *workflow.Definition) string {
	if d.Always && len(d.Match.Clients) == 1 && slices.Contains(limitIDs(d.Match.Clients[0]), d.ID) {
		return d.Match.Clients[0]
	}
	return ""
}

// exceptLimits refuses changes of workflows that carry out the limit of a token: half of a
// limit is none.
func (a *API) exceptLimits(serve handler) handler {
	return func(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
		if s, err := a.opt.Workflows.Workflow(r.Context(), r.PathValue("id"), 0); err == nil {
			if token := limitOf(s.Definition); token != "" {
				a.fail(w, gateway.Errorf(gateway.CodeConflict,
					"this workflow carries out the limit of the token %s, so it is not changed by itself; change the limit on the page of the clients, or with PUT /v1/tokens/%s/limit", token, token))
				return
			}
		}
		serve(w, r, id)
	}
}

// limitWorkflows returns the workflows of a limit.
func limitWorkflows(name string, in client.TokenLimit) (all []workflow.Definition) {
	add := func(id, method string, match workflow.Match) {
		match.Clients = []string{name}
		all = append(all, workflow.Definition{
			ID: id + name, Name: "Limit of " + name, Type: method, Match: match, Always: true,
			Description: "What the token " + name + " may use. Change it on the page of the clients.",
			Nodes: []workflow.Node{
				{ID: "start", Type: "start"},
				{ID: "end", Type: "end", Data: json.RawMessage(`{"outcome":"deny","message":"this token may not use it"}`)},
			},
			Edges: []workflow.Edge{{ID: "e1", Source: "start", Target: "end"}},
		})
	}
	if len(in.Servers) > 0 {
		others := always()
		for _, server := range in.Servers {
			others = append(others, "!"+server)
		}
		add(limitServers, workflow.ToolsList, workflow.Match{Servers: others})
		add(limitPrompts, workflow.PromptsGet, workflow.Match{Servers: others})
		add(limitResources, workflow.ResourcesRead, workflow.Match{Servers: others})
	}
	if in.ReadOnly {
		add(limitWrites, workflow.ToolsList, workflow.Match{
			Servers: always(), Annotations: map[string]bool{"readOnlyHint": false},
		})
	}
	return all
}

// limits returns the limits in force, by the names of tokens.
func (a *API) limits(ctx context.Context) map[string]*client.TokenLimit {
	if a.opt.Workflows == nil {
		return nil
	}
	found := map[string]*client.TokenLimit{}
	all, err := a.opt.Workflows.Workflows(ctx)
	if err != nil {
		return found
	}
	of := func(name string) *client.TokenLimit {
		if found[name] == nil {
			found[name] = &client.TokenLimit{}
		}
		return found[name]
	}
	for _, s := range all {
		name, isServers := strings.CutPrefix(s.ID, limitServers)
		other, isWrites := strings.CutPrefix(s.ID, limitWrites)
		if !isServers && !isWrites || s.Running == 0 {
			continue
		}
		if s.Running != s.Version { // a draft lies above what runs
			if s, err = a.opt.Workflows.Workflow(ctx, s.ID, s.Running); err != nil {
				continue
			}
		}
		if s.Mode != "" && s.Mode != modeEnforce {
			continue
		}
		if isWrites {
			of(other).ReadOnly = true
			continue
		}
		for _, pattern := range s.Match.Servers {
			if server, ok := strings.CutPrefix(pattern, "!"); ok && !slices.Contains(always(), pattern) {
				of(name).Servers = append(of(name).Servers, server)
			}
		}
	}
	return found
}
