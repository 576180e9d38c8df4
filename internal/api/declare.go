package api

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"

	"genkan/internal/api/client"
	"genkan/internal/clients"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/registry"
	"genkan/internal/upstream"
)

// Servers is the registry of servers. Definitions are JSON objects with the keys
// of the configuration file.
type Servers interface {
	AddServer(ctx context.Context, name string, definition []byte) error
	// ChangeServer replaces a definition, or changes the keys of a patch.
	ChangeServer(ctx context.Context, name string, definition []byte, patch bool) error
	RemoveServer(ctx context.Context, name string) error
	// TestServer starts a server once. A nil definition means the present one.
	TestServer(ctx context.Context, name string, definition []byte) (registry.TestResult, error)
	RestartServer(s *upstream.Server)
	// FixedFile returns why servers of the configuration file can only be changed
	// there, if so.
	FixedFile() (why gateway.Text, fixed bool)
	// Places reads the configuration file, and returns what finds the file and the line
	// that declare a server.
	Places() func(name string) string
}

// declaredAs adds the declaration of a server to its description, for an administrator
// with the place if places is not nil.
func (a *API) declaredAs(one client.Server, as registry.Server, id gateway.Identity, places func(name string) string) client.Server {
	one.Source, one.Editable = client.SourceDatabase, true
	if !as.Registered {
		why, fixed := a.opt.Servers.FixedFile()
		one.Source, one.Editable = client.SourceFile, !fixed
		if id.Admin {
			one.Fixed = a.language().Text(why)
		}
		if places != nil {
			one.DeclaredIn = places(as.Name)
		}
	}
	if as.Problem.String() != "" {
		one.State, one.Problem = client.StateDown, a.language().Text(as.Problem)
	}
	one.Note = a.language().Text(as.Note)
	if id.Admin { // only an administrator sees what a server printed
		texts := []*string{&one.Output, &one.Problem}
		for i := range one.ListProblems {
			texts = append(texts, &one.ListProblems[i].Problem)
		}
		for _, text := range texts {
			if *text != "" {
				*text = as.Redact(*text)
			}
		}
	}
	if places != nil {
		var d client.ServerDefinition
		if json.Unmarshal(as.Definition(), &d) == nil {
			one.Definition = &d
		}
	}
	return one
}

// accepted answers with the state of a server on which an operation has started.
func (a *API) accepted(w http.ResponseWriter, name string, id gateway.Identity) {
	for _, one := range a.servers(id, name, true) {
		one.Output = ""
		encode(w, http.StatusAccepted, one)
		return
	}
	a.noSuchServer(w, name)
}

// definition reads a body that describes a server. The name may be omitted if the
// path has it.
func (a *API) definition(w http.ResponseWriter, r *http.Request, path string) (name string, rest []byte, ok bool) {
	body, status, wrong := readBody(w, r)
	if wrong != nil {
		a.refuseBody(w, status, wrong)
		return "", nil, false
	}
	name, rest, wrong = splitName(body)
	switch {
	case wrong != nil:
	case name == "":
		name = path
	case path != "" && path != name:
		wrong = refused(breaks("name", "const", map[string]any{"allowedValue": path},
			gateway.Textf("the body is about server %s, but the path about %s; a server keeps its name", name, path)))
	}
	if wrong != nil {
		a.fail(w, wrong)
		return "", nil, false
	}
	concerns(w, name)
	return name, rest, true
}

// splitName separates the name from the rest of a definition.
func splitName(body []byte) (name string, rest []byte, wrong *gateway.Error) {
	if !json.Valid(body) {
		return "", nil, invalid("the body is not what was expected: %s", gateway.Textf("it is not valid JSON"))
	}
	if err := jsonrpc.CheckObject(body, fieldsOf(&client.NewServer{})...); err != nil {
		return "", nil, invalid("the body is not what was expected: %s", err)
	}
	if err := jsonrpc.CheckUnique(body); err != nil {
		return "", nil, invalid("the body is not what was expected: %s", err)
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil || fields == nil {
		return "", nil, invalid("the body is not what was expected: %s", gateway.Textf("it must be an object"))
	}
	if raw, ok := fields["name"]; ok {
		if err := json.Unmarshal(raw, &name); err != nil || name == "" {
			return "", nil, refused(breaks("name", "minLength", map[string]any{"limit": 1}, gateway.Textf("name must be a text that is not empty")))
		}
		delete(fields, "name")
	}
	rest, err := json.Marshal(fields)
	if err != nil {
		return "", nil, invalid("the body is not what was expected: %s", gateway.Textf("it is not valid JSON"))
	}
	return name, rest, nil
}

func (a *API) addServer(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	name, definition, ok := a.definition(w, r, "")
	if !ok {
		return
	}
	if err := a.opt.Servers.AddServer(r.Context(), name, definition); err != nil {
		a.fail(w, err)
		return
	}
	a.changed(w, http.StatusCreated, name, id)
}

// changed answers with the state of a server that was added or changed.
func (a *API) changed(w http.ResponseWriter, status int, name string, id gateway.Identity) {
	for _, one := range a.servers(id, name, true) {
		encode(w, status, one)
		return
	}
	a.noSuchServer(w, name) // it has been removed meanwhile
}

func (a *API) replaceServer(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	a.changeServer(w, r, id, false)
}

func (a *API) patchServer(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	a.changeServer(w, r, id, true)
}

func (a *API) changeServer(w http.ResponseWriter, r *http.Request, id gateway.Identity, patch bool) {
	name, definition, ok := a.definition(w, r, r.PathValue("name"))
	if !ok {
		return
	}
	if err := a.opt.Servers.ChangeServer(r.Context(), name, definition, patch); err != nil {
		a.failServer(w, name, err)
		return
	}
	a.changed(w, http.StatusOK, name, id)
}

func (a *API) removeServer(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	name := r.PathValue("name")
	if err := a.opt.Servers.RemoveServer(r.Context(), name); err != nil {
		a.failServer(w, name, err)
		return
	}
	encode(w, http.StatusOK, client.Done{Success: true})
}

// restartServer restarts a server.
func (a *API) restartServer(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	name := r.PathValue("name")
	for _, s := range a.opt.House().Servers() {
		if s.Name() == name {
			a.opt.Servers.RestartServer(s)
			a.accepted(w, name, id)
			return
		}
	}
	a.noSuchServer(w, name)
}

// usualLines and mostLines are the default and the largest number of log lines in
// an answer.
const usualLines, mostLines = 100, 1000

func (a *API) serverLog(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	most := numberIn(r.URL.Query(), "lines", usualLines)
	name, house := r.PathValue("name"), a.opt.House()
	for _, as := range house.Declared() {
		if as.Name != name {
			continue
		}
		out := client.ServerLog{Name: name, Lines: []string{}}
		for _, s := range house.Servers() {
			if s.Name() == name {
				out.Lines = lastLines(as.Redact(s.Log(a.language().Text)), most)
			}
		}
		encode(w, http.StatusOK, out)
		return
	}
	a.noSuchServer(w, name)
}

func lastLines(text string, most int) []string {
	text = strings.TrimRight(strings.ToValidUTF8(text, "?"), "\r\n")
	if text == "" {
		return []string{}
	}
	lines := strings.Split(text, "\n")
	return lines[max(len(lines)-most, 0):]
}

// anonymous is the name of a server in a test without a name.
const anonymous = "test"

// readServers answers with the servers in a text of any client's form.
func (a *API) readServers(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	var in client.PastedText
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	home, _ := os.UserHomeDir() // without one, ~ stays as it is
	read, err := clients.ReadText(in.Text, home)
	out := client.PastedServers{Servers: []client.PastedServer{}, Notes: []client.PastedNote{}}
	taken := map[string]bool{}
	for _, s := range a.servers(id, "", false) {
		taken[s.Name] = true
	}
	for _, s := range read.Servers {
		one := client.PastedServer{Name: s.Name, Definition: s.Definition()}
		if s.OriginalName != s.Name {
			one.Was = s.OriginalName
			one.Name = clients.NameFor(s, func(name string) bool { return taken[name] })
		}
		taken[one.Name] = true
		out.Servers = append(out.Servers, one)
	}
	for _, n := range read.Notes {
		out.Notes = append(out.Notes, client.PastedNote{Server: n.Server, Text: a.language().Text(n.Text)})
	}
	a.respond(w, out, err)
}

func (a *API) testNewServer(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	name, definition, ok := a.definition(w, r, "")
	if !ok {
		return
	}
	if name == "" {
		name = anonymous
	}
	a.test(w, r, name, definition)
}

func (a *API) testServer(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	a.test(w, r, r.PathValue("name"), nil)
}

// linesOfFailure is how many log lines a failed test shows.
const linesOfFailure = 20

func (a *API) test(w http.ResponseWriter, r *http.Request, name string, definition []byte) {
	found, err := a.opt.Servers.TestServer(r.Context(), name, definition)
	if err != nil {
		a.failServer(w, name, err)
		return
	}
	st := found.Status
	out := client.ServerTest{
		Success: st.State == upstream.StateReady, Name: found.Name, Transport: st.Transport,
		TookMillis: found.Took.Milliseconds(), SignIn: st.SignIn,
	}
	if !out.Success {
		out.Error = found.Redact(a.language().Text(st.Problem))
		out.Output = lastLines(found.Redact(st.Output), linesOfFailure)
		encode(w, http.StatusOK, out)
		return
	}
	about := found.Server.About()
	out.Era, out.ProtocolVersion, out.Instructions = st.Era.String(), st.Version, about.Instructions
	if json.Valid(about.Info) {
		out.ServerInfo = about.Info
	}
	for kind, count := range map[gateway.Kind]*int{
		gateway.KindTool: &out.Tools, gateway.KindPrompt: &out.Prompts,
		gateway.KindResource: &out.Resources, gateway.KindTemplate: &out.Templates,
	} {
		*count = len(found.Server.List(kind))
	}
	for _, f := range found.Findings {
		out.Findings = append(out.Findings, a.findingOf(f))
	}
	encode(w, http.StatusOK, out)
}
