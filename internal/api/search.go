package api

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/search"
)

// usualHits and mostHits are the default and the largest number of hits.
const usualHits, mostHits = 20, 100

// searchTools finds tools by what they do.
func (a *API) searchTools(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	in := client.SearchRequest{Limit: usualHits}
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	switch {
	case strings.TrimSpace(in.Query) == "":
		e := invalid("Query is required") // as the seed says it
		e.Field = "query"
		a.fail(w, e)
		return
	case len(in.Query) > search.MaxQuery:
		a.fail(w, breaks("maxLength", map[string]any{"limit": search.MaxQuery}, "query", "query must not be longer than %d bytes", search.MaxQuery))
		return
	case in.Limit < 1 || in.Limit > mostHits:
		a.fail(w, outside("limit", strconv.Itoa(in.Limit), mostHits))
		return
	}
	house := a.opt.House()
	register := house.Snapshot()
	q := search.Query{Text: in.Query, Limit: in.Limit, Include: func(server string, d *search.Document) bool {
		return (in.Filters.Server == "" || server == in.Filters.Server) &&
			(in.Filters.Category == "" || d.Category == in.Filters.Category) &&
			!slices.ContainsFunc(in.Filters.Tags, func(tag string) bool { return !slices.Contains(d.Tags, tag) })
	}}
	found := house.Search(r.Context(), id, gateway.View{}, q)
	out := client.SearchResult{Query: in.Query, Results: []client.FoundTool{}, Total: found.Total, Confidence: found.Confidence}
	for _, h := range found.Hits {
		if e, ok := register.Entry(h.Document.ID); ok {
			out.Results = append(out.Results, client.FoundTool{Tool: toolOf(e), Score: h.Score, Deprecated: h.Document.Deprecated})
		}
	}
	house.Shown(id, in.Query, found.Hits)
	encode(w, http.StatusOK, out)
}
