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
	"genkan/internal/kb"
	"genkan/internal/shape"
	"genkan/internal/workflow"
)

// The limit of a token is carried out by workflows, one for each of these. limitServers,
// limitWrites, limitPrompts and limitResources are prefixes of workflow ids; the token's name
// follows. No other workflow may have such an id. While the first is in force, the views of
// the client leave out all other servers (Reach).
const (
	limitServers   = "limit-servers-"   // hides the tools of other servers
	limitWrites    = "limit-writes-"    // hides tools that are not marked as read-only
	limitPrompts   = "limit-prompts-"   // refuses the prompts of other servers
	limitResources = "limit-resources-" // refuses the resources of other servers
)

// needed returns the sources that every client needs: the tools that find others, and the
// one that reads large answers. They reach nothing beyond the limit.
func needed() []string { return []string{guide.SourceName, shape.SourceName} }

func limitRoute(a *API) route {
	return route{
		method: "PUT", path: "/v1/tokens/{name}/limit", who: forAdmins, id: "limitToken", summary: "Say what a token may use",
		about: "It replaces the former limit; {} lifts it. Tools beyond it are neither listed nor called, and other servers are unknown to it. " +
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
	known, err := a.hasToken(r.Context(), name)
	if err == nil && !known {
		err = gateway.Errorf(gateway.CodeNotFound, "there is no token named %q: `genkan tokens list` shows all", gateway.Short(name))
	}
	if err == nil {
		err = a.limit(r.Context(), name, in)
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, client.TokenLimited{Name: name, Limit: a.limitInForce(name)})
}

func (a *API) hasToken(ctx context.Context, name string) (bool, error) {
	if name == "" {
		return false, nil
	}
	all, err := a.opt.Tokens.List(ctx)
	return slices.ContainsFunc(all, func(t identity.Token) bool { return t.Name == name }), err
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
	for _, prefix := range limitPrefixes() {
		id := prefix + name
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

// limitPrefixes returns what the ids of workflows that carry out a limit begin with.
func limitPrefixes() []string {
	return []string{limitServers, limitPrompts, limitResources, limitWrites}
}

// limitOf returns the token whose limit a workflow with this id carries out; empty for none.
func limitOf(id string) string {
	for _, prefix := range limitPrefixes() {
		if token, ok := strings.CutPrefix(id, prefix); ok {
			return token
		}
	}
	return ""
}

// exceptLimits refuses changes of a workflow that carries out the limit of a token: half of a
// limit is none. What a token that is gone has left may be changed.
func (a *API) exceptLimits(serve handler) handler {
	return func(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
		token := limitOf(r.PathValue("id"))
		known, err := a.hasToken(r.Context(), token)
		if known {
			err = gateway.Errorf(gateway.CodeConflict,
				"this workflow carries out the limit of the token %s, so it is not changed by itself; change the limit on the page of the clients, or with PUT /v1/tokens/%s/limit", token, token)
		}
		if err != nil {
			a.fail(w, err)
			return
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
		others := allBut(append(needed(), in.Servers...))
		add(limitServers, workflow.ToolsList, workflow.Match{Servers: others})
		add(limitPrompts, workflow.PromptsGet, workflow.Match{Servers: others})
		add(limitResources, workflow.ResourcesRead, workflow.Match{Servers: others})
	}
	if in.ReadOnly {
		add(limitWrites, workflow.ToolsList, workflow.Match{
			Servers: allBut(needed()), Annotations: map[string]bool{"readOnlyHint": false},
		})
	}
	return all
}

// allBut returns patterns for all servers except some.
func allBut(servers []string) []string {
	patterns := make([]string, 0, len(servers))
	for _, server := range servers {
		patterns = append(patterns, "!"+server)
	}
	return patterns
}

// Reach returns the servers that the limit of a token allows, with the parts of Genkan that
// every client needs; nil if it allows all.
func Reach(running *workflow.Set, token string) []string {
	limit := limiting(running, limitServers+token)
	if limit == nil {
		return nil
	}
	reach := make([]string, 0, len(limit.Match.Servers))
	for _, pattern := range limit.Match.Servers {
		reach = append(reach, strings.TrimPrefix(pattern, "!"))
	}
	return reach
}

// MayUse reports whether the limit of a token allows a server.
func MayUse(running *workflow.Set, token, server string) bool {
	reach := Reach(running, token)
	return reach == nil || slices.Contains(reach, server)
}

// mayUse reports whether a caller may use a server.
func (a *API) mayUse(id gateway.Identity, server string) bool {
	return id.Admin || a.opt.Engine == nil || MayUse(a.opt.Engine.Set(), id.ClientID, server)
}

// readsKnowledgeOnly reports whether a caller may read the knowledge base and not write to it.
func (a *API) readsKnowledgeOnly(id gateway.Identity) bool {
	return !id.Admin && a.opt.Engine != nil && a.mayUse(id, kb.SourceName) && limiting(a.opt.Engine.Set(), limitWrites+id.ClientID) != nil
}

// limiting returns the workflow of a limit that is in force; nil for none.
func limiting(running *workflow.Set, id string) *workflow.Definition {
	w := running.Workflow(id)
	if w == nil || !w.Always || w.Mode != "" && w.Mode != modeEnforce {
		return nil
	}
	return w.Definition
}

// limitInForce returns the limit of a token; nil for none.
func (a *API) limitInForce(token string) *client.TokenLimit {
	if a.opt.Engine == nil {
		return nil
	}
	running := a.opt.Engine.Set()
	limit := client.TokenLimit{ReadOnly: limiting(running, limitWrites+token) != nil}
	for _, server := range Reach(running, token) {
		if !slices.Contains(needed(), server) {
			limit.Servers = append(limit.Servers, server)
		}
	}
	if limit.Servers == nil && !limit.ReadOnly {
		return nil
	}
	return &limit
}
