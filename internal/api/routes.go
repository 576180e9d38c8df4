package api

import (
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/lang"
)

// handler serves a request that was admitted.
type handler func(w http.ResponseWriter, r *http.Request, id gateway.Identity)

// access says who may use a route.
type access uint8

const (
	// forAll is for health. Nothing is checked, not even the Host.
	forAll access = iota
	// forVisitors needs no token, so that a browser can show it. The Host and the
	// Origin must be known.
	forVisitors
	forCallers
	forAdmins
)

// route is one operation of the API: its handler and its description. Its access is
// enforced from here.
type route struct {
	method, path string
	who          access
	id           string // of the operation, for generators of clients
	summary      string
	about        string
	query        []query
	// body and answer are values of the types of the request and the answer; nil for
	// none.
	body, answer any
	// media is the media type of the answer; empty means JSON.
	media string
	// status is the status of the answer; zero means 200.
	status int
	// leads is the status of a redirect that the route may answer with instead; zero
	// for none.
	leads int
	// failures are the failures that not every route of this kind has.
	failures []restError
	// timed is set if every answer tells how long it took.
	timed bool
	// largest is the largest body that it takes, in bytes; 0 for maxBody.
	largest int64
	// upkeep is set for a route that administrators poll, and calls for one that calls
	// a tool.
	upkeep, calls bool
	serve         handler
}

// query is a parameter in the query of a URL.
type query struct {
	name, kind, about string
	// least, most and otherwise are the bounds and the default of an integer.
	least, most, otherwise int
	// repeats is set for a parameter that may occur several times.
	repeats bool
}

// routes returns all routes.
func (a *API) routes() []route {
	var (
		badInput     = restErrorOf(gateway.CodeInvalid)
		noSuchThing  = restErrorOf(gateway.CodeNotFound)
		inTheWay     = restErrorOf(gateway.CodeConflict)
		notReachable = restErrorOf(gateway.CodeUnavailable)
		noSuchTool   = restError{http.StatusNotFound, "TOOL_NOT_FOUND"}
	)
	return slices.Concat([]route{
		{
			method: "GET", path: "/{$}", who: forAll, id: "root", summary: "Whether genkan serves",
			about:  "A browser, which prefers text/html, is led to the web UI at /ui/.",
			answer: client.Health{}, leads: http.StatusFound, serve: a.root,
		},
		{
			method: "GET", path: "/health", who: forAll, id: "health", summary: "Whether genkan serves",
			about:  "503 with the reason as the message while genkan stops because its data directory was removed or replaced.",
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
				{name: "page", kind: "integer", least: 1, most: math.MaxInt32, otherwise: 1},
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
			failures: []restError{badInput, restErrorOf(gateway.CodeDenied), notReachable}, serve: a.listLearned,
		},
		{
			method: "DELETE", path: "/v1/search/learned", who: forCallers, id: "forgetLearned", summary: "Forget what searches have taught",
			about: "Everybody may forget their own; admins also what others' searches, or all, have taught.",
			query: learnedQuery(), answer: client.Forgotten{},
			failures: []restError{badInput, restErrorOf(gateway.CodeDenied), notReachable}, serve: a.forgetLearned,
		},
		{
			method: "POST", path: "/v1/search/learned/share", who: forAdmins, id: "shareLearned", summary: "Let everybody learn from a client's searches",
			about: "Copies the client's lessons to those of client *, which count for everybody.",
			body:  client.ShareRequest{}, answer: client.SharedLessons{},
			failures: []restError{badInput, noSuchThing, notReachable}, serve: a.shareLearned,
		},
		{
			method: "POST", path: "/v1/tools/call", who: forCallers, id: "callTool", summary: "Call a tool",
			about: "A tool that reports an error is a 500 TOOL_EXECUTION_ERROR whose body has its result too. Errors of the knowledge base have its codes, details and data.",
			body:  client.CallRequest{}, answer: client.CallResult{},
			failures: append(knowledgeFailures(), restErrorOf(gateway.CodeUnauthenticated), needsClient, notReachable),
			timed:    true, calls: true, serve: a.callTool,
		},
		{
			method: "POST", path: "/v1/tools/{name}/validate", who: forCallers, id: "validateCall", summary: "Check the parameters of a call",
			about: "Parameters that do not fit are refused as a call with them is. Nothing is called, and the history has nothing of it. Workflows, which may change the parameters of a call, do not run.",
			body:  client.CallCheck{}, answer: client.Done{}, serve: a.validateCall,
			failures: []restError{noSuchTool, {http.StatusForbidden, "TOOL_DISABLED"}, restErrorOf(gateway.CodeLimited)},
		},
		{
			method: "GET", path: "/v1/servers", who: forCallers, id: "listServers", summary: "Show how the servers are",
			query:  []query{{name: "details", kind: "boolean", about: "Everything about each, as GET /v1/servers/{name} tells it."}},
			answer: client.ServerList{}, upkeep: true, serve: a.listServers,
		},
		{
			method: "GET", path: "/v1/servers/{name}", who: forCallers, id: "getServer", summary: "Show how a server is",
			answer: client.Server{}, failures: []restError{noSuchThing}, upkeep: true, serve: a.getServer,
		},
		{
			method: "POST", path: "/v1/servers", who: forAdmins, id: "addServer", summary: "Add a server",
			about: "A server that has a command is a program, which genkan starts. It is kept in the database, with literal secrets in the vault, and in force at once.",
			body:  client.NewServer{}, answer: client.Server{}, status: http.StatusCreated,
			failures: []restError{inTheWay, notReachable}, serve: a.addServer,
		},
		{
			method: "PUT", path: "/v1/servers/{name}", who: forAdmins, id: "replaceServer", summary: "Give a server another definition",
			about: "What the body does not name is not there any more. A mask that an answer had, given back where it stood, stands for what it hid.",
			body:  client.NewServer{}, answer: client.Server{}, failures: []restError{noSuchThing, inTheWay, notReachable}, serve: a.replaceServer,
		},
		{
			method: "PATCH", path: "/v1/servers/{name}", who: forAdmins, id: "changeServer", summary: "Change a server's definition",
			about: "What the body does not name stays, null takes a key out, and an object changes the one that is there.",
			body:  client.NewServer{}, answer: client.Server{}, failures: []restError{noSuchThing, inTheWay, notReachable}, serve: a.patchServer,
		},
		{
			method: "DELETE", path: "/v1/servers/{name}", who: forAdmins, id: "removeServer", summary: "Remove a server",
			about:  "With the secrets that were made of its literal ones. Calls under way may end first.",
			answer: client.Done{}, failures: []restError{noSuchThing, inTheWay, notReachable}, serve: a.removeServer,
		},
		{
			method: "POST", path: "/v1/servers/test", who: forAdmins, id: "testNewServer", summary: "Try a definition out",
			about: "The server is started once, asked for what it has, and ended; nothing is kept. A server that does not work is an answer without success.",
			body:  client.NewServer{}, answer: client.ServerTest{}, failures: []restError{badInput}, serve: a.testNewServer,
		},
		{
			method: "POST", path: "/v1/servers/read", who: forAdmins, id: "readServers", summary: "Read servers in a text that a person pasted",
			about: "A whole file of any client, the servers alone, or one entry, as JSON, YAML or TOML. Nothing is kept: add the definitions with POST /v1/servers.",
			body:  client.PastedText{}, answer: client.PastedServers{}, failures: []restError{badInput}, serve: a.readServers,
		},
		{
			method: "POST", path: "/v1/servers/{name}/test", who: forAdmins, id: "testServer", summary: "Try a server out, aside from the running one",
			answer: client.ServerTest{}, failures: []restError{badInput, noSuchThing, inTheWay}, serve: a.testServer,
		},
		{
			method: "POST", path: "/v1/servers/{name}/restart", who: forAdmins, id: "restartServer", summary: "End a server and start it again",
			about:  "Calls under way in its process fail, and say so; those that come meanwhile wait.",
			answer: client.Server{}, status: http.StatusAccepted, failures: []restError{noSuchThing, inTheWay}, serve: a.restartServer,
		},
		{
			method: "GET", path: "/v1/servers/{name}/log", who: forAdmins, id: "serverLog", summary: "Show what a server wrote to its standard error",
			query:  []query{{name: "lines", kind: "integer", about: "How many of the last lines.", least: 1, most: mostLines, otherwise: usualLines}},
			answer: client.ServerLog{}, failures: []restError{badInput, noSuchThing, inTheWay}, serve: a.serverLog,
		},
		{
			method: "POST", path: "/v1/servers/{name}/try", who: forAdmins, id: "tryServer", summary: "Try a server that is down at once",
			answer: client.Server{}, status: http.StatusAccepted, failures: []restError{noSuchThing, inTheWay}, serve: a.tryServer,
		},
		{
			method: "POST", path: "/v1/servers/{name}/sign-in", who: forAdmins, id: "signIn", summary: "Begin to sign in to a server",
			about:  "The answer has the address where a person signs in, with a browser on the machine that genkan runs on. Genkan waits there for ten minutes, and the server's state tells when it is done. Only for requests from this machine.",
			answer: client.SignInAddress{}, failures: []restError{badInput, restErrorOf(gateway.CodeDenied), noSuchThing, inTheWay, restErrorOf(gateway.CodeUnavailable), restErrorOf(gateway.CodeTimeout)}, serve: a.fromHere(a.signIn),
		},
		{
			method: "GET", path: "/v1/servers/{name}/ping", who: forAdmins, id: "pingServer", summary: "Ask a server for a sign of life",
			about:  "A server that does not respond is an answer with responded false. Anything that comes from the server counts.",
			query:  []query{{name: "timeoutMillis", kind: "integer", about: "How long to wait.", least: 1, most: mostPingMillis, otherwise: usualPingMillis}},
			answer: client.ServerPing{}, failures: []restError{badInput, noSuchThing, inTheWay}, serve: a.pingServer,
		},
		{
			method: "POST", path: "/v1/reload", who: forAdmins, id: "reload", summary: "Read the configuration again",
			about:  "A bad one leaves everything as it is.",
			answer: client.Done{}, failures: []restError{badInput}, serve: a.reload,
		},
	}, a.callRoutes(), a.workflowRoutes(), a.approvalRoutes(), a.tokenRoutes(), a.uiSessionRoutes(), a.budgetRoutes(), a.secretRoutes(), a.settingRoutes(), a.setupRoutes(), a.itemRoutes(), a.upkeepRoutes(), []route{
		a.restoreRoute(),
		a.backupRoute(),
		a.doctorRoute(),
		a.eventsRoute(),
		{
			method: "GET", path: "/v1/openapi.json", who: forVisitors, id: "openapi", summary: "This description, as OpenAPI 3.1",
			answer: map[string]any{}, serve: a.openAPI,
		},
		{
			method: "GET", path: "/v1/docs", who: forVisitors, id: "docs", summary: "This description, for people",
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
	})
}

// Mux is the part of http.ServeMux that Routes uses.
type Mux interface {
	HandleFunc(pattern string, serve func(http.ResponseWriter, *http.Request))
}

type muxFunc func(pattern string, serve func(http.ResponseWriter, *http.Request))

func (f muxFunc) HandleFunc(pattern string, serve func(http.ResponseWriter, *http.Request)) {
	f(pattern, serve)
}

// Routes adds the routes to a mux. A request that asks for another language than the API's
// own is answered in that one.
func (a *API) Routes(mux Mux) {
	in := map[lang.Language]func() http.Handler{}
	for _, l := range lang.All() {
		in[l] = sync.OnceValue(func() http.Handler {
			routes := http.NewServeMux()
			a.in(l).addRoutes(routes)
			return routes
		})
	}
	a.addRoutes(muxFunc(func(pattern string, serve func(http.ResponseWriter, *http.Request)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if l := a.wanted(r); l != a.language() {
				in[l]().ServeHTTP(w, r)
				return
			}
			serve(w, r)
		})
	}))
}

func (a *API) addRoutes(mux Mux) {
	known := http.NewServeMux()
	fixed := map[string]bool{} // the paths without names in them
	var outside []string
	for _, one := range a.routes() {
		known.HandleFunc(one.method+" "+one.path, func(http.ResponseWriter, *http.Request) {})
		fixed[one.path] = !strings.Contains(one.path, "{")
		if !strings.HasPrefix(one.path, "/v1/") {
			outside = append(outside, one.path)
		}
	}
	// Unknown paths are answered in the API's own form, and only to admitted
	// callers.
	absent := a.guard(route{who: forCallers}, func(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
		a.absent(w, r, known, fixed[r.URL.Path] && !a.isNamed(r.URL.Path))
	})
	for _, path := range append(outside, "/v1/") {
		mux.HandleFunc(path, absent)
	}
	for _, one := range a.routes() {
		serve := a.guard(one, a.logChanges(one, a.strictly(one)))
		mux.HandleFunc(one.method+" "+one.path, func(w http.ResponseWriter, r *http.Request) {
			// The path of another route, such as /v1/tools/call, also has the form of a
			// path with a name. It means the tool or server of that name only if there
			// is one.
			if !fixed[one.path] && fixed[r.URL.Path] && !a.isNamed(r.URL.Path) {
				absent(w, r)
				return
			}
			serve(w, r)
		})
	}
}

// isNamed reports whether the last part of a path is the name of a tool or server.
func (a *API) isNamed(path string) bool {
	if name, ok := strings.CutPrefix(path, "/v1/tools/"); ok {
		_, ok = a.opt.House().Snapshot().Entry(name)
		return ok
	}
	name, ok := strings.CutPrefix(path, "/v1/servers/")
	return ok && (a.isDeclared(name) || a.checkIsServer(name) != nil)
}

// absent answers that a path does not exist, or does not support the method. If fixed
// is set, only routes with exactly this path count.
func (a *API) absent(w http.ResponseWriter, r *http.Request, known *http.ServeMux, fixed bool) {
	var methods []string
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
		_, pattern := known.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host})
		if pattern != "" && !(fixed && strings.Contains(pattern, "{")) {
			methods = append(methods, method)
		}
	}
	if len(methods) == 0 {
		a.Nothing(w)
		return
	}
	allowed := strings.Join(methods, ", ")
	w.Header().Set("Allow", allowed)
	a.answer(w, restError{http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED"},
		invalid("this path has no such method; there are %s", allowed))
}

// Nothing answers that a path does not exist.
func (a *API) Nothing(w http.ResponseWriter) {
	a.fail(w, gateway.Errorf(gateway.CodeNotFound, "there is nothing here; /v1/docs tells what there is"))
}

// guard admits the callers that may use a route, and counts their requests.
func (a *API) guard(one route, serve handler) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		var id gateway.Identity
		ok := true
		switch one.who {
		case forAll:
		case forVisitors:
			ok = a.opt.Visit(w, r)
		case forCallers, forAdmins:
			id, ok = a.opt.Admit(w, r)
		}
		if !ok {
			return
		}
		if one.who == forAdmins && !id.Admin {
			if a.opt.Refused != nil {
				a.opt.Refused(r, http.StatusForbidden, "admin_only")
			}
			a.fail(w, gateway.Errorf(gateway.CodeDenied, "only an administrator may do this"))
			return
		}
		if !one.needsToken() { // a request without a caller has no share
			serve(w, r, id)
			return
		}
		caller := &response{ResponseWriter: w, api: a, r: r, id: id, largest: one.largest}
		defer caller.release()
		if one.timed {
			caller.began = time.Now()
		}
		if one.counts(id) && !a.count(caller, id) {
			return
		}
		serve(caller, r, id)
	}
}

// count counts a request against its caller's rate limit, or refuses it.
func (a *API) count(w http.ResponseWriter, id gateway.Identity) bool {
	err := a.opt.House().Count(id)
	if err != nil {
		a.fail(w, err)
	}
	return err == nil
}

// counts reports whether requests of a caller count against its rate limit. Routes
// for administrators do not count, nor does an administrator's look at the servers:
// whoever has to mend something must not be locked out by their own scripts. In the web
// UI, of which each page makes several requests, only an administrator's calls of tools
// count. Calls of tools are counted on their way, so that the history has those that are
// refused. A client's session counts as its token does: the program that holds the token
// can sign in with it. A redirect does not count, because the request that follows it
// does.
func (r *route) counts(id gateway.Identity) bool {
	spared := r.calls || id.Admin && (r.upkeep || id.Page)
	return r.who == forCallers && r.good() < http.StatusMultipleChoices && !spared
}
