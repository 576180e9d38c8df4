package api

import (
	"net/http"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/catalog"
	"genkan/internal/gateway"
	"genkan/internal/kb"
)

// restoreRoute returns the route for imports. No tool does this, because a caller
// that creates an item cannot set its time.
func (a *API) restoreRoute() route {
	return route{
		method: "POST", path: "/v1/items/restore", who: forAdmins, id: "restoreItems", summary: "Bring in items as they were elsewhere",
		about: "With their times, and with their ids and former references where these are free. All are made, or none if anything is wrong.",
		body:  client.Restoration{}, answer: client.Restored{}, failures: knowledgeFailures(), serve: a.restoreItems,
	}
}

func (a *API) restoreItems(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	house := a.opt.House()
	if err := house.Knowledge(); err != nil {
		a.fail(w, err)
		return
	}
	for _, e := range house.Snapshot().Entries() {
		if e.Tool.Source.Name() == kb.SourceName && e.Tool.Name == "create_item" && e.Override.Disabled {
			a.fail(w, catalog.Disabled(e.Tool.Name))
			return
		}
	}
	var in client.Restoration
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	all, err := restoration(in)
	var became []kb.RestoredAs
	if err == nil {
		became, err = a.opt.Items.Restore(r.Context(), all)
	}
	if err != nil {
		result, err := a.opt.Items.Answer(nil, err, a.language().Translator())
		if err != nil {
			a.fail(w, err)
			return
		}
		a.itemFailure(w, "restore", result)
		return
	}
	out := client.Restored{Items: []client.RestoredAs{}}
	for _, one := range became {
		as := client.RestoredAs{Ref: one.Ref.String(), Former: []string{}}
		for _, ref := range one.Former {
			as.Former = append(as.Former, ref.String())
		}
		out.Items = append(out.Items, as)
	}
	encode(w, http.StatusOK, out)
}

// reading converts texts of a body. It keeps the first error.
type reading struct{ err error }

func (r *reading) time(field, text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	t, err := kb.ParseTime(field, text)
	if r.err == nil {
		r.err = err
	}
	return t
}

func (r *reading) refs(field string, texts ...string) (refs []kb.Ref) {
	for _, text := range texts {
		ref, err := kb.ParseRef(field, text)
		if r.err == nil {
			r.err = err
		}
		refs = append(refs, ref)
	}
	return refs
}

// restoration converts a body into the types of the knowledge base.
func restoration(in client.Restoration) (kb.Restoration, error) {
	var r reading
	var out kb.Restoration
	for _, i := range in.Items {
		out.Items = append(out.Items, kb.RestoredItem{Item: kb.Item{
			ID: i.ID, Type: i.Type, Title: i.Title, Description: i.Description, Content: i.Content, Status: i.Status,
			Priority: kb.Priority(i.Priority), Category: i.Category, Version: i.Version, Tags: i.Tags,
			Start: r.time("start_date", i.StartDate), End: r.time("end_date", i.EndDate),
			CreatedAt: r.time("created_at", i.CreatedAt), UpdatedAt: r.time("updated_at", i.UpdatedAt),
		}, Former: r.refs("former", i.Former...)})
	}
	for _, pair := range in.Relations {
		ends := r.refs("relations", pair.A, pair.B)
		out.Relations = append(out.Relations, [2]kb.Ref{ends[0], ends[1]})
	}
	if s := in.State; s != nil {
		out.State = &kb.State{
			Content: s.Content, UpdatedBy: s.UpdatedBy, UpdatedAt: r.time("state.updated_at", s.UpdatedAt),
			Related: r.refs("state.related", s.Related...), Tags: s.Tags,
		}
	}
	return out, r.err
}
