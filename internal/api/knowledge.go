package api

import (
	"context"
	"net/http"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/kb"
)

// Upkeep checks and rebuilds the data derived from items.
type Upkeep interface {
	Look(ctx context.Context) (kb.Glance, kb.Work, error)
	Check(ctx context.Context) (kb.Health, error)
	Rebuild(ctx context.Context) error
}

// upkeepRoutes returns the routes for the knowledge base as a whole.
func (a *API) upkeepRoutes() []route {
	list := []route{
		{
			method: "GET", path: "/v1/knowledge", id: "getKnowledge", summary: "Show how the knowledge base is",
			about:  "What can be said without reading it, and how far a check or a rebuild is.",
			answer: client.Knowledge{}, serve: a.getKnowledge,
		},
		{
			method: "POST", path: "/v1/knowledge/check", id: "checkKnowledge", summary: "Compare index and graph with all rows",
			about:  "Answers when it is done; GET /v1/knowledge tells how far it is. Who goes away ends it.",
			answer: client.KnowledgeHealth{}, serve: a.checkKnowledge,
		},
		{
			method: "POST", path: "/v1/knowledge/rebuild", id: "rebuildKnowledge", summary: "Make index and graph anew from the rows",
			about:  "Answers when it is done. Questions are answered meanwhile. Who goes away ends it, and the former index stays.",
			answer: client.Done{}, serve: a.rebuildKnowledge,
		},
	}
	for i := range list {
		list[i].who = forAdmins
		list[i].failures = []restError{restErrorOf(gateway.CodeConflict), restErrorOf(gateway.CodeUnavailable)}
	}
	return list
}

// upkeep returns nil if there is no knowledge base. Then it has answered the
// request.
func (a *API) upkeep(w http.ResponseWriter) Upkeep {
	if err := a.opt.House().Knowledge(); err != nil {
		a.fail(w, err)
		return nil
	}
	return a.opt.Upkeep
}

func (a *API) getKnowledge(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	u := a.upkeep(w)
	if u == nil {
		return
	}
	g, work, err := u.Look(r.Context())
	if err != nil {
		a.fail(w, err)
		return
	}
	out := client.Knowledge{Sequence: g.Sequence, Items: g.Items, Types: make([]client.ItemType, 0, len(g.Types)), Index: client.KnowledgeIndex{
		InMemory: g.InMemory, File: g.File, Size: g.Size, Covers: g.Covers, Missing: g.Missing, Damage: said(g.Damage),
	}}
	for _, one := range g.Types {
		out.Types = append(out.Types, client.ItemType{Name: one.Name, Count: one.Count})
	}
	if !g.Built.IsZero() {
		built := g.Built.UTC()
		out.Index.Built = &built
	}
	if work.What != "" {
		out.Work = &client.KnowledgeWork{What: work.What, Done: work.Done, Total: work.Total}
	}
	encode(w, http.StatusOK, out)
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (a *API) checkKnowledge(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	u := a.upkeep(w)
	if u == nil {
		return
	}
	h, err := u.Check(r.Context())
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, HealthOf(h))
}

// HealthOf returns the comparison of index and graph with the rows in REST's form.
func HealthOf(h kb.Health) client.KnowledgeHealth {
	return client.KnowledgeHealth{
		Good: h.Good(), Sequence: h.Sequence, Items: h.Items, Relations: h.Relations, Indexed: h.Indexed, Damage: said(h.Damage),
		MissingTexts: append([]int64{}, h.MissingTexts...), MissingLinks: append([]int64{}, h.MissingLinks...),
		ExtraTexts: h.ExtraTexts, ExtraItems: h.ExtraItems, ExtraRelations: h.ExtraRelations, Moving: h.Moving,
	}
}

func (a *API) rebuildKnowledge(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	u := a.upkeep(w)
	if u == nil {
		return
	}
	if err := u.Rebuild(r.Context()); err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, client.Done{Success: true})
}
