package api

import (
	"net/http"

	"genkan/internal/api/client"
	"genkan/internal/catalog"
	"genkan/internal/gateway"
	"genkan/internal/learn"
)

// learnedQuery returns the parameters that select lessons.
func learnedQuery() []query {
	return []query{
		{name: "client", kind: "string", about: "Those of this client; * are those that count for everybody. For admins, unless it is the caller."},
		{name: "all", kind: "boolean", about: "Those of all clients. For admins."},
		{name: "server", kind: "string", about: "With tool: only those about this tool."},
		{name: "tool", kind: "string", about: "With server: the server's own name for the tool."},
	}
}

// selection returns the lessons that a request selects. It returns an error if the
// caller may not see them.
func selection(r *http.Request, id gateway.Identity) (learn.Selection, error) {
	q := r.URL.Query()
	which := learn.Selection{Client: q.Get("client"), Tool: learn.Tool{Server: q.Get("server"), Name: q.Get("tool")}}
	all := q.Get("all") == "true"
	var problems gateway.Problems
	if all && which.Client != "" {
		problems.Add(breaks("all", "not", nil, gateway.Textf("give either client, or all")))
	}
	if (which.Tool.Server == "") != (which.Tool.Name == "") {
		given, missing := "tool", "server"
		if which.Tool.Name == "" {
			given, missing = missing, given
		}
		problems.Add(breaks(missing, "dependentRequired", map[string]any{"property": given, "missingProperty": missing},
			gateway.Textf("server and tool go together: they name one tool")))
	}
	if wrong := problems.Err(); wrong != nil {
		return which, wrong
	}
	if !all && which.Client == "" {
		which.Client = id.ClientID
	}
	if which.Client != id.ClientID && !id.Admin {
		return which, gateway.Errorf(gateway.CodeDenied, "what others' searches have taught is for admins; leave out client and all to get your own")
	}
	return which, nil
}

func (a *API) listLearned(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	which, err := selection(r, id)
	if err != nil {
		a.fail(w, err)
		return
	}
	lessons, err := a.opt.Learned.Lessons(r.Context(), which)
	if err != nil {
		a.fail(w, err)
		return
	}
	house := a.opt.House()
	names := map[catalog.ToolKey]string{}
	for _, e := range a.seen(id).Entries() {
		names[e.Key()] = e.Tool.Exposed
	}
	hidden := map[catalog.ToolKey]bool{}
	for _, e := range house.Snapshot().Entries() {
		hidden[e.Key()] = names[e.Key()] == ""
	}
	out := client.LearnedList{Enabled: house.Learns(), Lessons: []client.Lesson{}}
	for _, l := range lessons {
		if hidden[catalog.ToolKey(l.Tool)] {
			continue
		}
		out.Lessons = append(out.Lessons, client.Lesson{
			Client: l.Client, Server: l.Tool.Server, Tool: l.Tool.Name, Name: names[catalog.ToolKey(l.Tool)],
			Terms: l.Terms, Times: l.Times, LastAt: l.At,
		})
	}
	encode(w, http.StatusOK, out)
}

func (a *API) forgetLearned(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	which, err := selection(r, id)
	if err != nil {
		a.fail(w, err)
		return
	}
	concerns(w, which.Client)
	n, err := a.opt.Learned.Forget(r.Context(), which)
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, client.Forgotten{Forgotten: n})
}

func (a *API) shareLearned(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	var in client.ShareRequest
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	concerns(w, in.Client)
	n, err := a.opt.Learned.Share(r.Context(), in.Client)
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, client.SharedLessons{Shared: n})
}
