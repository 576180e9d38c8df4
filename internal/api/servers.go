package api

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/catalog"
	"genkan/internal/gateway"
	"genkan/internal/upstream"
)

// serverOf returns a server in REST's form. It omits the command, the environment
// and the headers, because they hold secrets. A server's log can hold anything, so
// only an administrator sees it, and sees what the configuration hides.
func (a *API) serverOf(s *upstream.Server, st upstream.Status, seen *seenServers, id gateway.Identity, withOutput bool) client.Server {
	out := client.Server{
		Name: s.Name(), State: string(st.State), Era: st.Era.String(), ProtocolVersion: st.Version, OtherProtocolVersion: st.OtherVersion, Transport: st.Transport,
		ProcessID: st.PID, Starts: st.Starts, Since: st.Since.UTC(), StartMillis: st.StartTook.Milliseconds(), FirstStart: st.FirstStart,
		Problem: a.language().Text(ProblemOf(st, id)), Cause: st.Cause,
	}
	out.Tools = seen.tools[s.Name()]
	if !st.NextTry.IsZero() {
		next := st.NextTry.UTC()
		out.NextTry = &next
	}
	out.SignIn = st.SignIn
	if !st.SignInExpires.IsZero() {
		expires := st.SignInExpires.UTC()
		out.SignInExpires = &expires
	}
	if !id.Admin {
		return out
	}
	if withOutput {
		out.Output = st.Output
	}
	for _, l := range st.Lists {
		out.ListProblems = append(out.ListProblems, client.ListProblem{List: l.Kind.String(), Problem: a.language().Text(l.Problem)})
	}
	out.Hidden = seen.Filtered(s.Name())
	for _, f := range seen.findings[s.Name()] {
		out.Findings = append(out.Findings, a.findingOf(f))
	}
	for _, f := range catalog.Instructions(s.Name(), s.About().Instructions) {
		one := a.findingOf(f)
		one.Kind = "instructions"
		out.Findings = append(out.Findings, one)
	}
	for _, c := range s.Changes() {
		one := client.DefinitionChange{Tool: c.Tool, Parts: c.Parts, At: c.At, Times: c.Times}
		for _, d := range c.Diffs {
			one.Diffs = append(one.Diffs, client.DefinitionDiff(d))
		}
		out.Changes = append(out.Changes, one)
	}
	return out
}

// ProblemOf returns why a server is not ready, as far as a caller may know it. For an
// administrator, secrets must still be masked in it.
func ProblemOf(st upstream.Status, who gateway.Identity) gateway.Text {
	switch {
	case who.Admin && st.Problem.String() != "" && st.LastLine != "":
		return gateway.Textf("%s; it last printed: %s", st.Problem, st.LastLine)
	case !who.IsLocal():
		return st.Problem.Public()
	default:
		return st.Problem
	}
}

func (a *API) findingOf(f catalog.Finding) client.Finding {
	out := client.Finding{Kind: f.Kind.String(), Name: f.Name, LeftOut: f.LeftOut, TakenBy: f.TakenBy, Replaced: f.Replaced, Suspect: f.Suspect, Notes: []string{}}
	for _, note := range f.Notes {
		out.Notes = append(out.Notes, a.language().Text(note))
	}
	return out
}

// servers returns all configured servers, or the one with the given name, with
// their current state; with details, all that an administrator may see of each. A
// server that the caller may not use is left out, and so is one that has tools, none of
// which the caller sees.
func (a *API) servers(id gateway.Identity, name string, details bool) []client.Server {
	if a.opt.CatchUp != nil {
		a.opt.CatchUp()
	}
	house := a.opt.House()
	// States come first: a server that is ready by then has its tools in what is seen.
	running, states := map[string]*upstream.Server{}, map[string]upstream.Status{}
	for _, s := range house.Servers() {
		running[s.Name()], states[s.Name()] = s, s.Status()
	}
	seen := seenOf(a.seen(id), name)
	all := seen
	if !id.Admin {
		all = seenOf(house.SnapshotOf(gateway.View{}), name)
	}
	hidden := func(name string) bool { // one that is down has no tools to tell by
		return !a.mayUse(id, name) || all.tools[name] > 0 && seen.tools[name] == 0
	}
	var places func(name string) string
	if id.Admin && details {
		places = a.opt.Servers.Places()
	}
	list := []client.Server{}
	for _, each := range house.Declared() {
		if name != "" && each.Name != name || hidden(each.Name) {
			continue
		}
		one := client.Server{Name: each.Name, State: client.StateDisabled}
		if s := running[each.Name]; s != nil {
			one = a.serverOf(s, states[each.Name], seen, id, details)
		}
		list = append(list, a.declaredAs(one, each, id, places))
	}
	for _, s := range house.BuiltIn() {
		if (name == "" || name == s.Name()) && !hidden(s.Name()) {
			list = append(list, a.builtIn(s, seen, id))
		}
	}
	return list
}

// refresh brings the health of the built-in sources up to date, or of the one with the
// given name.
func (a *API) refresh(ctx context.Context, name string) {
	var group sync.WaitGroup
	for _, s := range a.opt.House().BuiltIn() {
		if r, ok := s.(gateway.Refresher); ok && (name == "" || name == s.Name()) {
			group.Go(func() { r.Refresh(ctx) })
		}
	}
	group.Wait()
}

// builtIn returns a built-in source in the form of a server.
func (a *API) builtIn(s gateway.Source, seen *seenServers, id gateway.Identity) client.Server {
	health := gateway.HealthOf(s)
	if !id.IsLocal() {
		health.Problem = health.Problem.Public()
	}
	out := client.Server{
		Name: s.Name(), State: client.StateReady, Source: client.SourceBuiltIn, Tools: seen.tools[s.Name()],
		Note: a.language().Kept(gateway.AboutOf(s).Description), Problem: a.language().Text(health.Problem),
	}
	if health.Down {
		out.State = client.StateDown
	}
	return out
}

// seenServers is a snapshot by server: how many tools clients see of each, and what the
// catalog found about it. With a name it is about that server only.
type seenServers struct {
	*catalog.Snapshot
	tools    map[string]int
	findings map[string][]catalog.Finding
}

func seenOf(s *catalog.Snapshot, only string) *seenServers {
	by := &seenServers{Snapshot: s, tools: map[string]int{}, findings: map[string][]catalog.Finding{}}
	for _, t := range s.Tools() {
		if name := t.Source.Name(); only == "" || only == name {
			by.tools[name]++
		}
	}
	for _, f := range s.Findings() {
		by.findings[f.Server] = append(by.findings[f.Server], f)
	}
	return by
}

func (a *API) listServers(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	a.refresh(r.Context(), "")
	encode(w, http.StatusOK, client.ServerList{Servers: a.servers(id, "", r.URL.Query().Get("details") == "true")})
}

// tryServer makes a server that is down retry at once.
func (a *API) tryServer(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	name := r.PathValue("name")
	for _, s := range a.opt.House().Servers() {
		if s.Name() == name {
			s.Try()
			a.accepted(w, name, id)
			return
		}
	}
	a.noSuchServer(w, name)
}

// signIn begins a sign-in to a server and answers where a person goes on with it.
func (a *API) signIn(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	address, err := a.opt.SignIn(r.Context(), r.PathValue("name"), a.language())
	a.respond(w, client.SignInAddress{URL: address}, err)
}

// usualPingMillis and mostPingMillis are the default and the longest wait for a
// ping.
const usualPingMillis, mostPingMillis = 5_000, 30_000

// pingServer pings a server.
func (a *API) pingServer(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	millis := numberIn(r.URL.Query(), "timeoutMillis", usualPingMillis)
	name := r.PathValue("name")
	for _, s := range a.opt.House().Servers() {
		if s.Name() == name {
			p := s.Ping(time.Duration(millis) * time.Millisecond)
			encode(w, http.StatusOK, client.ServerPing{
				Name: name, Responded: p.Responded, Millis: p.Took.Milliseconds(), Busy: p.Busy, Problem: a.language().Text(p.Problem),
			})
			return
		}
	}
	a.noSuchServer(w, name)
}

// checkIsServer returns an error for the name of a part of genkan, which is listed
// with the servers.
func (a *API) checkIsServer(name string) error {
	for _, s := range a.opt.House().BuiltIn() {
		if s.Name() == name {
			return gateway.Errorf(gateway.CodeConflict, "%s is a part of genkan and no server; it has no process to start, test or remove", name)
		}
	}
	return nil
}

// failServer answers with an error of the registry, which knows nothing of parts of
// genkan.
func (a *API) failServer(w http.ResponseWriter, name string, err error) {
	if part := a.checkIsServer(name); part != nil && gateway.AsError(err).Code == gateway.CodeNotFound {
		err = part
	}
	a.fail(w, err)
}

func (a *API) noSuchServer(w http.ResponseWriter, name string) {
	if err := a.checkIsServer(name); err != nil {
		a.fail(w, err)
		return
	}
	var names []string
	for _, each := range a.opt.House().Declared() {
		names = append(names, each.Name)
		switch {
		case each.Name != name:
		case each.Problem.String() != "":
			a.fail(w, gateway.Errorf(gateway.CodeConflict, "server %s is not used: %s", name, each.Problem))
			return
		default:
			a.fail(w, gateway.Errorf(gateway.CodeConflict, "server %s is switched off (\"disabled\": true); switch it on to use it", name))
			return
		}
	}
	if near := gateway.Nearest(name, slices.Values(names)); near != "" {
		a.fail(w, gateway.Errorf(gateway.CodeNotFound, "there is no server %q; did you mean %q?", gateway.Short(name), near))
		return
	}
	a.fail(w, noServer(name))
}

func noServer(name string) error {
	return gateway.Errorf(gateway.CodeNotFound, "there is no server %q; `genkan servers` lists them", gateway.Short(name))
}

// reload reloads the configuration.
func (a *API) reload(w http.ResponseWriter, _ *http.Request, _ gateway.Identity) {
	if err := a.opt.Reload(); err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, client.Done{Success: true})
}

// getServer answers with everything about one server.
func (a *API) getServer(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	name := r.PathValue("name")
	if name != "" {
		a.refresh(r.Context(), name)
		if found := a.servers(id, name, true); len(found) > 0 {
			encode(w, http.StatusOK, found[0])
			return
		}
	}
	if !id.Admin { // nothing is said about servers that the caller does not see
		a.fail(w, noServer(name))
		return
	}
	a.noSuchServer(w, name)
}
