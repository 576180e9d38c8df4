package api

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"genkan/internal/api/client"
	"genkan/internal/clients"
	"genkan/internal/gateway"
	"genkan/internal/lang"
	"genkan/internal/setup"
)

// Setup imports servers and connects clients, in REST's types. The command line
// uses it when no genkan runs.
type Setup struct {
	setup    *setup.Setup
	language func() lang.Language
}

// NewSetup returns a Setup whose messages are in the given language.
func NewSetup(s *setup.Setup, language func() lang.Language) *Setup { return &Setup{s, language} }

// setupRoutes returns the routes that read and change files of the user that genkan
// runs as.
func (a *API) setupRoutes() []route {
	folder := query{name: "folder", kind: "string", about: "The absolute path of a project, whose files count too."}
	list := []route{
		{
			method: "GET", path: "/v1/import", id: "planImport", summary: "Show what an import of clients' servers would do",
			about: "The servers in the files of the MCP clients on this machine. Servers that came with a project run what its authors chose.",
			query: []query{folder, {
				name: "from", kind: "string", repeats: true,
				about: "The name of a client, or the absolute path of a file; may be repeated. All clients of this machine unless said.",
			}},
			answer: client.ImportPlan{}, serve: a.planImport,
		},
		{
			method: "POST", path: "/v1/import", id: "import", summary: "Import servers of clients",
			about: "Adds the named servers to the configuration, with literal secrets in the vault, and puts it in force. A server that came with a project is only taken if projectServers names it.",
			body:  client.ImportRequest{}, answer: client.ImportResult{}, serve: a.importServers,
		},
		{
			method: "GET", path: "/v1/connections", id: "listConnections", summary: "Show the clients of this machine, and which are connected",
			query: []query{folder}, answer: client.Connections{}, serve: a.listConnections,
		},
		{
			method: "POST", path: "/v1/connections/{client}", id: "connect", summary: "Let a client's servers come through genkan",
			about: "Changes the entries of imported servers in the client's files; the former files are kept. The client all is every one that has a file here; then one that cannot be connected is in the answer and keeps nobody else from being connected.",
			body:  client.ConnectRequest{}, answer: client.ConnectResult{}, serve: a.connect,
		},
		{
			method: "DELETE", path: "/v1/connections/{client}", id: "disconnect", summary: "Put a client's files back as they were",
			about:  "The client all is every one. The client genkan is genkan's own configuration, without what imports added to it.",
			query:  []query{{name: "force", kind: "boolean", about: "Also overwrite what others have changed since."}},
			answer: client.UndoResult{}, serve: a.disconnect,
		},
	}
	for i := range list {
		list[i].who = forAdmins
		list[i].about = list[i].about + " Only for requests from this machine."
		list[i].serve = a.fromHere(list[i].serve)
		list[i].failures = []restError{
			restErrorOf(gateway.CodeInvalid), restErrorOf(gateway.CodeDenied), restErrorOf(gateway.CodeNotFound),
			restErrorOf(gateway.CodeConflict), restErrorOf(gateway.CodeUnavailable),
		}
	}
	return list
}

// fromHere serves only the user that genkan runs as, on this machine.
func (a *API) fromHere(serve handler) handler {
	return func(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
		if !id.IsLocal() || !isFromHere(r) {
			a.fail(w, gateway.Errorf(gateway.CodeDenied, "this changes files of the user whom genkan runs as, so it only answers requests from that machine"))
			return
		}
		serve(w, r, id)
	}
}

// isFromHere reports whether a request comes from this machine and not through a
// proxy. A request over the data directory's socket has no address.
func isFromHere(r *http.Request) bool {
	for name := range r.Header { // present at all: an empty value may hide a second one
		switch {
		case strings.HasPrefix(name, "X-Forwarded-"),
			slices.Contains([]string{"Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip"}, name):
			return false
		}
	}
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || remote.Addr().Unmap().IsLoopback() {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.AddrPort().Addr().Unmap() == remote.Addr().Unmap()
}

func (a *API) setup() *Setup { return NewSetup(a.opt.Setup, a.language) }

func (a *API) planImport(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	q := r.URL.Query()
	out, err := a.setup().PlanImport(r.Context(), client.ImportSelection{Folder: q.Get("folder"), From: q["from"]})
	a.respond(w, out, err)
}

func (a *API) importServers(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	var in client.ImportRequest
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	out, err := a.setup().Import(r.Context(), in)
	if err == nil && len(out.Added) > 0 {
		err = a.opt.Reload()
	}
	a.respond(w, out, err)
}

func (a *API) listConnections(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	out, err := a.setup().Connections(r.Context(), r.URL.Query().Get("folder"))
	a.respond(w, out, err)
}

func (a *API) connect(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	var in client.ConnectRequest
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	concerns(w, r.PathValue("client"))
	if one, ok := w.(*response); ok {
		one.unchanged = in.DryRun
	}
	out, err := a.setup().Connect(r.Context(), r.PathValue("client"), in)
	a.respond(w, out, err)
}

func (a *API) disconnect(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	concerns(w, r.PathValue("client"))
	out, err := a.setup().Undo(r.Context(), r.PathValue("client"), r.URL.Query().Get("force") == "true")
	a.respond(w, out, err)
}

// respond answers with a value, or with an error.
func (a *API) respond(w http.ResponseWriter, out any, err error) {
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, out)
}

// PlanImport returns what an import would do.
func (s *Setup) PlanImport(ctx context.Context, which client.ImportSelection) (client.ImportPlan, error) {
	plan, err := s.setup.PlanImport(ctx, setup.Selection(which))
	if err != nil {
		return client.ImportPlan{}, err
	}
	out := client.ImportPlan{
		Revision: plan.Revision, ConfigFile: plan.ConfigFile, Connected: plan.Connected, MissingVariables: orEmpty(plan.MissingVariables),
		Files: []client.ImportFile{}, Servers: []client.ImportServer{}, Notes: []client.ImportNote{},
	}
	for _, f := range plan.Files {
		one := client.ImportFile{Client: f.Client, Title: clients.Title(f.Client), Path: f.Path, Project: f.Project}
		if f.Err != nil {
			one.Problem = s.language().Error(gateway.AsError(f.Err))
		}
		out.Files = append(out.Files, one)
	}
	for _, n := range plan.Notes {
		out.Notes = append(out.Notes, client.ImportNote{
			Client: n.File.Client, Title: clients.Title(n.File.Client), Path: n.File.Path, Server: n.Server, Section: n.Section, Text: s.language().Text(n.Text),
		})
	}
	for _, server := range plan.Servers {
		out.Servers = append(out.Servers, importServerOf(server))
	}
	return out, nil
}

func importServerOf(s setup.ImportServer) client.ImportServer {
	out := client.ImportServer{
		Name: s.Name, Known: s.Known, Project: s.Project, Disabled: s.Disabled, Command: s.Command, Args: s.Args, Folder: s.Folder,
		URL: s.URL, Secrets: s.Secrets, NameOf: s.NameOf,
	}
	for _, o := range s.Origins {
		out.Origins = append(out.Origins, client.ImportOrigin{Client: o.Client, Title: clients.Title(o.Client), Path: o.Path, Section: o.Section, Name: o.Name})
	}
	for _, v := range s.Variables {
		out.Variables = append(out.Variables, client.ImportVariable(v))
	}
	for _, v := range s.Headers {
		out.Headers = append(out.Headers, client.ImportVariable(v))
	}
	for _, in := range s.Inputs {
		out.Inputs = append(out.Inputs, client.ImportInput(in))
	}
	return out
}

// Import imports servers of clients.
func (s *Setup) Import(ctx context.Context, in client.ImportRequest) (client.ImportResult, error) {
	choice := setup.ImportChoice{
		Selection: setup.Selection(in.ImportSelection), Revision: in.Revision, Servers: in.Servers, ProjectServers: in.ProjectServers,
		Values: map[string]gateway.Secret{},
	}
	for name, value := range in.Values {
		choice.Values[name] = gateway.Secret(value)
	}
	done, err := s.setup.Import(ctx, choice)
	return client.ImportResult{ConfigFile: done.ConfigFile, Added: orEmpty(done.Added)}, err
}

// Connections lists the clients of this machine, including the files of a project's
// folder.
func (s *Setup) Connections(ctx context.Context, folder string) (client.Connections, error) {
	found, err := s.setup.Connections(ctx, folder)
	if err != nil {
		return client.Connections{}, err
	}
	out := client.Connections{ConfigFile: found.ConfigFile, Command: found.Command, Clients: []client.ClientConnection{}, Changes: []client.ClientChange{}, Unreadable: found.Unreadable}
	for _, c := range found.Clients {
		one := client.ClientConnection{Name: c.Name, Title: c.Title, Files: []client.ClientFile{}, Lacking: orEmpty(c.Lacking)}
		for _, f := range c.Files {
			file := client.ClientFile{Path: f.Path, Project: f.Project, Exists: f.Exists, Servers: f.Servers, Connected: f.Connected, Names: orEmpty(f.Names)}
			if f.Err != nil {
				file.Problem = s.language().Error(gateway.AsError(f.Err))
			}
			one.Files = append(one.Files, file)
		}
		out.Clients = append(out.Clients, one)
	}
	for _, c := range found.Changes {
		out.Changes = append(out.Changes, client.ClientChange{ID: c.ID, Client: c.Client, Path: c.Path, Time: c.Time, Created: c.Created})
	}
	return out, nil
}

// Connect points the entries of one client, or of all, to genkan.
func (s *Setup) Connect(ctx context.Context, name string, in client.ConnectRequest) (client.ConnectResult, error) {
	req := setup.ConnectRequest{
		Folder: in.Folder, Clients: slices.Concat([]string{name}, in.Also),
		Aggregate: in.Aggregate, Add: in.Add, URL: in.URL, Project: in.Project, Write: !in.DryRun,
	}
	if name == setup.AllClients {
		req.Clients = nil
	}
	done, err := s.setup.Connect(ctx, req)
	out := client.ConnectResult{Files: []client.ConnectedFile{}, BaseURL: done.BaseURL, Revoked: done.Revoked}
	for _, f := range done.Files {
		one := client.ConnectedFile{
			Client: f.Client, Title: clients.Title(f.Client), Path: f.Path, State: string(f.State),
			Replaced: f.Replaced, NotImported: f.NotImported, Diff: f.Diff, Problem: s.problem(f.Err),
		}
		for _, e := range f.Entries {
			one.Entries = append(one.Entries, client.ConnectedEntry(e))
		}
		out.Files = append(out.Files, one)
	}
	return out, err
}

// Undo restores the files of one client, or of all.
func (s *Setup) Undo(ctx context.Context, name string, force bool) (client.UndoResult, error) {
	req := setup.UndoRequest{Client: name, Force: force}
	if name == setup.AllClients {
		req.Client = ""
	}
	files, unreadable, err := s.setup.Undo(ctx, req)
	out := client.UndoResult{Files: []client.UndoneFile{}, Unreadable: unreadable}
	for _, f := range files {
		out.Files = append(out.Files, client.UndoneFile{Client: f.Client, Path: f.Path, State: string(f.State), Problem: s.problem(f.Err)})
	}
	return out, err
}

func (s *Setup) problem(err error) *client.FileProblem {
	if err == nil {
		return nil
	}
	e := gateway.AsError(err)
	return &client.FileProblem{Error: s.language().Error(e), Code: restErrorOf(e.Code).code}
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
