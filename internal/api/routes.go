package api

import (
	"net/http"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
)

// handler serves somebody who was let in.
type handler func(w http.ResponseWriter, r *http.Request, id gateway.Identity)

// access says who may use a route.
type access uint8

const (
	forAll access = iota
	forCallers
	forAdmins
)

// route is one thing that can be asked of the API: what serves it, and what its
// description says. Who may use it is enforced from here.
type route struct {
	method, path string
	who          access
	id           string // of the operation, for programs that make clients
	summary      string
	about        string
	query        []query
	// body and answer are values of the types that go in and come out; nil for
	// none.
	body, answer any
	// media is the type of the answer, JSON unless said.
	media string
	// status is that of the answer, 200 unless said.
	status int
	// failures are those beside the ones that every such route has.
	failures []restError
	serve    handler
}

// query is a parameter in the query of a URL.
type query struct {
	name, kind, about string
	// least, most and otherwise are of numbers.
	least, most, otherwise int
}

// routes are all that there is.
func (a *API) routes() []route {
	var (
		badInput     = restErrors[gateway.CodeInvalid]
		noSuchThing  = restErrors[gateway.CodeNotFound]
		inTheWay     = restErrors[gateway.CodeConflict]
		notReachable = restErrors[gateway.CodeUnavailable]
		noSuchTool   = restError{http.StatusNotFound, "TOOL_NOT_FOUND"}
	)
	return []route{
		{
			method: "GET", path: "/{$}", who: forAll, id: "root", summary: "Whether genkan serves",
			answer: client.Health{}, serve: a.health,
		},
		{
			method: "GET", path: "/health", who: forAll, id: "health", summary: "Whether genkan serves",
			answer: client.Health{}, serve: a.health,
		},
		{
			method: "GET", path: "/v1/tools", who: forCallers, id: "listTools", summary: "List the tools",
			about: "All tools in the order of the configuration, disabled ones too, in pages. Filters go together.",
			query: []query{
				{name: "category", kind: "string", about: "Only tools of this category."},
				{name: "tag", kind: "string", about: "Only tools with this tag."},
				{name: "server", kind: "string", about: "Only tools of this server."},
				{name: "enabled", kind: "boolean", about: "Only tools that are enabled, or only those that are not."},
				{name: "page", kind: "integer", least: 1, otherwise: 1},
				{name: "limit", kind: "integer", about: "Tools on a page.", least: 1, most: mostOnAPage, otherwise: usualOnAPage},
			},
			answer: client.ToolList{}, failures: []restError{badInput}, serve: a.listTools,
		},
		{
			method: "GET", path: "/v1/tools/{name}", who: forCallers, id: "getTool", summary: "Show a tool",
			answer: client.Tool{}, failures: []restError{noSuchTool}, serve: a.getTool,
		},
		{
			method: "PATCH", path: "/v1/tools/{name}", who: forAdmins, id: "changeTool", summary: "Change what is said about a tool",
			about: "What the body does not name stays. Changes hold for all clients at once, and are kept.",
			body:  client.ToolChange{}, answer: client.Tool{}, failures: []restError{noSuchTool, notReachable}, serve: a.changeTool,
		},
		{
			method: "POST", path: "/v1/tools/{name}/enable", who: forAdmins, id: "enableTool", summary: "Give a disabled tool back to all clients",
			answer: client.ToolSwitched{}, failures: []restError{noSuchTool, notReachable}, serve: a.enableTool,
		},
		{
			method: "POST", path: "/v1/tools/{name}/disable", who: forAdmins, id: "disableTool", summary: "Take a tool away from all clients",
			about:  "The answer warns of tools that were said to depend on it.",
			answer: client.ToolSwitched{}, failures: []restError{noSuchTool, notReachable}, serve: a.disableTool,
		},
		{
			method: "POST", path: "/v1/tools/search", who: forCallers, id: "searchTools", summary: "Find tools by what they do",
			about: "The best first. All given tags must be there.",
			body:  client.SearchRequest{}, answer: client.SearchResult{}, failures: []restError{badInput}, serve: a.searchTools,
		},
		{
			method: "GET", path: "/v1/search/learned", who: forCallers, id: "listLearned", summary: "Show what searches have taught",
			about: "A search that was followed by a successful call of one of its hits is a lesson about that tool. Everybody sees their own; admins may ask for others'.",
			query: learnedQuery(), answer: client.LearnedList{},
			failures: []restError{badInput, restErrors[gateway.CodeDenied], notReachable}, serve: a.listLearned,
		},
		{
			method: "DELETE", path: "/v1/search/learned", who: forCallers, id: "forgetLearned", summary: "Forget what searches have taught",
			about: "Everybody may forget their own; admins also what others' searches, or all, have taught.",
			query: learnedQuery(), answer: client.Forgotten{},
			failures: []restError{badInput, restErrors[gateway.CodeDenied], notReachable}, serve: a.forgetLearned,
		},
		{
			method: "POST", path: "/v1/search/learned/share", who: forAdmins, id: "shareLearned", summary: "Let everybody learn from a client's searches",
			about: "Copies the client's lessons to those of client *, which count for everybody.",
			body:  client.ShareRequest{}, answer: client.SharedLessons{},
			failures: []restError{badInput, noSuchThing, notReachable}, serve: a.shareLearned,
		},
		{
			method: "POST", path: "/v1/tools/call", who: forCallers, id: "callTool", summary: "Call a tool",
			about: "A tool that reports an error is a 500 TOOL_EXECUTION_ERROR whose body has its result too.",
			body:  client.CallRequest{}, answer: client.CallResult{},
			failures: []restError{
				{http.StatusForbidden, "TOOL_DISABLED"},
				noSuchTool, restErrors[gateway.CodeTimeout], restErrors[gateway.CodeLimited],
				{http.StatusInternalServerError, "TOOL_EXECUTION_ERROR"},
				restErrors[gateway.CodeUnauthenticated], notReachable,
			},
			serve: a.callTool,
		},
		{
			method: "GET", path: "/v1/servers", who: forCallers, id: "listServers", summary: "Show how the servers are",
			answer: client.ServerList{}, serve: a.listServers,
		},
		{
			method: "GET", path: "/v1/servers/{name}", who: forCallers, id: "getServer", summary: "Show how a server is",
			answer: client.Server{}, failures: []restError{noSuchThing}, serve: a.getServer,
		},
		{
			method: "POST", path: "/v1/servers/{name}/try", who: forAdmins, id: "tryServer", summary: "Try a server that is down at once",
			answer: client.Server{}, status: http.StatusAccepted, failures: []restError{noSuchThing, inTheWay}, serve: a.tryServer,
		},
		{
			method: "POST", path: "/v1/reload", who: forAdmins, id: "reload", summary: "Read the configuration again",
			about:  "A bad one leaves everything as it is.",
			answer: client.Done{}, failures: []restError{badInput}, serve: a.reload,
		},
		{
			method: "GET", path: "/v1/openapi.json", who: forCallers, id: "openapi", summary: "This description, as OpenAPI 3.1",
			answer: map[string]any{}, serve: a.openAPI,
		},
		{
			method: "GET", path: "/v1/docs", who: forCallers, id: "docs", summary: "This description, for people",
			answer: "", media: "text/html", serve: a.docs,
		},
		{
			method: "GET", path: "/tools", who: forCallers, id: "oldListTools", summary: "Leads to /v1/tools, with the query",
			status: http.StatusFound, serve: redirect(http.StatusFound),
		},
		{
			method: "POST", path: "/tools/call", who: forCallers, id: "oldCallTool", summary: "Leads to /v1/tools/call",
			status: http.StatusTemporaryRedirect, serve: redirect(http.StatusTemporaryRedirect),
		},
	}
}

// Mux is what paths are added to: an *http.ServeMux.
type Mux interface {
	HandleFunc(pattern string, serve func(http.ResponseWriter, *http.Request))
}

// Routes adds the edge's paths to a mux.
func (a *API) Routes(mux Mux) {
	for _, one := range a.routes() {
		mux.HandleFunc(one.method+" "+one.path, a.guard(one.who, one.serve))
	}
	// What is not there is said in the API's own form, and only to those who
	// may come in.
	mux.HandleFunc("/v1/", a.guard(forCallers, func(w http.ResponseWriter, _ *http.Request, _ gateway.Identity) {
		a.fail(w, gateway.Errorf(gateway.CodeNotFound, "there is nothing here; /v1/docs tells what there is"))
	}))
}

// guard lets in whoever may.
func (a *API) guard(who access, serve handler) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		var id gateway.Identity
		if who != forAll {
			var ok bool
			if id, ok = a.opt.Admit(w, r); !ok {
				return
			}
		}
		if who == forAdmins && !id.Admin {
			a.fail(w, gateway.Errorf(gateway.CodeDenied, "this needs the admin token, which is in the file admin-token of the data directory"))
			return
		}
		serve(w, r, id)
	}
}
