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

// checkSearch returns what is wrong with a search.
func checkSearch(in client.SearchRequest) *gateway.Error {
	var problems []gateway.Problem
	lead := gateway.Text{}
	switch {
	case strings.TrimSpace(in.Query) == "":
		problems = append(problems, gateway.MissingField(nil, "query"))
		lead = gateway.Textf("Query is required") // as the seed says it
	case len(in.Query) > search.MaxQuery:
		problems = append(problems, breaks("query", "maxLength", map[string]any{"limit": search.MaxQuery},
			gateway.Textf("%s must have at most %d bytes, has %d", "query", search.MaxQuery, len(in.Query))))
	}
	if in.Limit < 1 || in.Limit > mostHits {
		problems = append(problems, outside("limit", strconv.Itoa(in.Limit), 1, mostHits))
	}
	if len(problems) == 0 {
		return nil
	}
	return gateway.InvalidArguments(problems, len(problems), lead)
}

// searchTools finds tools by what they do.
func (a *API) searchTools(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	in := client.SearchRequest{Limit: usualHits}
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	if wrong := checkSearch(in); wrong != nil {
		a.fail(w, wrong)
		return
	}
	house := a.opt.House()
	register := a.seen(id)
	q := search.Query{Text: in.Query, Limit: in.Limit, Explain: true, Include: func(server string, d *search.Document) bool {
		return (in.Filters.Server == "" || server == in.Filters.Server) &&
			(in.Filters.Category == "" || d.Category == in.Filters.Category) &&
			!slices.ContainsFunc(in.Filters.Tags, func(tag string) bool { return !slices.Contains(d.Tags, tag) })
	}}
	found := house.Search(r.Context(), id, viewOf(id), q)
	out := client.SearchResult{Query: in.Query, Results: []client.FoundTool{}, Total: found.Total, Confidence: found.Confidence, NoMatch: found.NoMatch()}
	for _, h := range found.Hits {
		if e, ok := register.Entry(h.Document.ID); ok {
			out.Results = append(out.Results, client.FoundTool{Tool: toolOf(e, id, register), Score: h.Score, Matched: h.Matched, Deprecated: h.Document.Deprecated})
		}
	}
	if !id.Page { // people look around; what they run says which search led to it
		house.Shown(id, in.Query, found.Hits)
	}
	encode(w, http.StatusOK, out)
}
