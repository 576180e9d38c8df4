package workflow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/script"
)

// Library changes workflows and hook modules, and gives the enabled ones to an Engine
// after each change. It is safe for concurrent use.
type Library struct {
	store  Store
	engine *Engine
	env    Environment
	clock  func() time.Time

	mu sync.Mutex
	// loaded is the fingerprint of what the engine has.
	loaded  string
	changed func(Change)
}

// Change is a change of workflows, whoever made it.
type Change struct {
	// What is one of the Change constants.
	What string
	// Workflow or Module is what was changed, and Version its version now; neither is
	// there for ChangeOn and ChangeOff, which have By, who did it.
	Workflow, Module string
	Version          int
	By               string
}

// The changes.
const (
	ChangeStored   = "stored"
	ChangeEnabled  = "enabled"
	ChangeDisabled = "disabled"
	ChangeDeleted  = "deleted"
	ChangeTested   = "tested" // a test was saved or deleted
	ChangeOn       = "on"
	ChangeOff      = "off"
)

// OnChange sets a function that is called with each change, also those of files and other
// processes. It must not block. It is set before the library is used.
func (l *Library) OnChange(f func(Change)) { l.changed = f }

func (l *Library) tell(c Change) {
	if l.changed != nil {
		l.changed(c)
	}
}

// NewLibrary makes a Library. The environment's Module is the library's own.
func NewLibrary(store Store, engine *Engine, env Environment, clock func() time.Time) *Library {
	return &Library{store: store, engine: engine, env: env, clock: clock}
}

// Load gives the enabled workflows to the engine. One that cannot be compiled any more
// refuses the calls that it matches, unless its failMode is open; its problems are
// returned by its id.
func (l *Library) Load(ctx context.Context) (broken map[string][]Problem, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.load(ctx)
}

func (l *Library) load(ctx context.Context) (broken map[string][]Problem, err error) {
	running, err := l.running(ctx)
	if err != nil {
		return nil, err
	}
	off, err := l.store.Switch(ctx)
	if err != nil {
		return nil, err
	}
	if l.loaded, err = l.fingerprint(ctx, running, off); err != nil {
		return nil, err
	}
	env := l.environment(ctx, Module{})
	env.enabled = true
	broken = map[string][]Problem{}
	var workflows []*Workflow
	for _, d := range running {
		w, problems := Compile(d, env)
		if len(problems) > 0 {
			broken[d.ID] = problems
			if w = refuseAll(d); d.FailMode == open {
				continue
			}
		}
		workflows = append(workflows, w)
	}
	before, now := l.engine.Set(), NewSet(workflows)
	if off.Off {
		now = now.switchedOff()
	}
	l.engine.Use(now)
	l.compare(before, now, off)
	return broken, nil
}

// compare tells which workflows begin and cease to run.
func (l *Library) compare(before, now *Set, off Switch) {
	for _, id := range slices.Sorted(maps.Keys(before.ids)) {
		if !now.has(id) {
			l.tell(Change{What: ChangeDisabled, Workflow: id, Version: before.ids[id].Version})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(now.ids)) {
		was, is := before.ids[id], now.ids[id]
		if was == nil || was.Version != is.Version || was.UpdatedAt != is.UpdatedAt {
			l.tell(Change{What: ChangeEnabled, Workflow: id, Version: is.Version})
		}
	}
	switch {
	case now.off && !before.off:
		l.tell(Change{What: ChangeOff, By: off.By})
	case before.off && !now.off:
		l.tell(Change{What: ChangeOn, By: off.By})
	}
}

// Switch returns whether workflows run at all.
func (l *Library) Switch(ctx context.Context) (Switch, error) { return l.store.Switch(ctx) }

// TurnOff keeps all workflows from running until TurnOn. Calls then pass as if there were
// none, and tools that workflows hide are there. Runs that have begun go on. It is kept,
// and logged.
func (l *Library) TurnOff(ctx context.Context, by string) error { return l.turn(ctx, true, by) }

// TurnOn lets the enabled workflows run again.
func (l *Library) TurnOn(ctx context.Context, by string) error { return l.turn(ctx, false, by) }

func (l *Library) turn(ctx context.Context, off bool, by string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, err := l.store.Switch(ctx)
	if err != nil || now.Off == off {
		return err
	}
	if err := l.store.PutSwitch(ctx, Switch{Off: off, By: by, At: Millis(l.clock().UnixMilli())}); err != nil {
		return err
	}
	if off {
		l.engine.opt.Log.WarnContext(ctx, "all workflows are off: calls pass as if there were none", "client", by)
	} else {
		l.engine.opt.Log.WarnContext(ctx, "workflows run again", "client", by)
	}
	_, err = l.load(ctx)
	return err
}

// refuseAll makes a workflow that refuses the calls that a broken one was for.
func refuseAll(d *Definition) *Workflow {
	end := &step{id: d.ID, kind: "end", Action: Action{Role: RoleEnd, Run: func(context.Context, *Run) (string, error) {
		return "", failure("the workflow cannot be run any more; `genkan workflows` says why")
	}}}
	m := &d.Match
	return &Workflow{
		Definition: d, match: matcher{servers: m.Servers, tools: m.Tools, clients: m.Clients, annotations: m.Annotations},
		start: &step{next: map[string]*step{handleOut: end}},
	}
}

// running returns the versions that are enabled.
func (l *Library) running(ctx context.Context) (all []*Definition, err error) {
	stored, err := l.store.Workflows(ctx)
	for _, s := range stored {
		if err == nil && s.Running != 0 {
			var version Stored
			version, err = l.store.Workflow(ctx, s.ID, s.Running)
			all = append(all, version.Definition)
		}
	}
	return all, err
}

// environment is that of the library, with a module that is not stored yet.
func (l *Library) environment(ctx context.Context, draft Module) *Environment {
	env := l.env
	env.Module = func(reference string) (Module, bool) {
		id, version, ok := splitReference(reference)
		if id == draft.ID && (version == 0 || version == draft.Version) {
			return draft, ok
		}
		m, err := l.store.Module(ctx, id, version)
		return m, ok && err == nil
	}
	return &env
}

// splitReference splits name@version. Without a version it is the newest.
func splitReference(reference string) (id string, version int, ok bool) {
	id, number, pinned := strings.Cut(reference, "@")
	if !pinned {
		return id, 0, true
	}
	version, err := strconv.Atoi(number)
	return id, version, err == nil && version > 0
}

// Save stores a definition as the next version, as a draft. base is the version that it
// was made of, and 0 for a new workflow. The tests in its `tests` member are added to those of
// the workflow, and replace those with the same ids. If they cannot be kept, nothing is stored.
func (l *Library) Save(ctx context.Context, d Definition, base int) (Stored, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.save(ctx, d, Base{Version: base}, "")
}

// SaveDraft is Save for a step of a draft, such as an editor that saves while somebody
// writes. If base is a step of the same draft and was never enabled, this one takes its
// place, under its number. A later time tells the two apart.
func (l *Library) SaveDraft(ctx context.Context, d Definition, base Base, draft string) (Stored, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.save(ctx, d, base, draft)
}

func (l *Library) save(ctx context.Context, d Definition, base Base, draft string) (Stored, error) {
	if !validID(d.ID) {
		return Stored{}, wrongID(d.ID)
	}
	newest, err := l.store.Workflow(ctx, d.ID, 0)
	now, was := Millis(l.clock().UnixMilli()), Millis(0)
	switch {
	case isMissing(err):
		if d.CreatedAt == 0 {
			d.CreatedAt = now
		}
	case err != nil:
		return Stored{}, err
	case newest.File != "":
		return Stored{}, ownedByFile(d.ID, newest.File)
	case newest.Version != base.Version:
		return Stored{}, gateway.Errorf(gateway.CodeConflict, "workflow %q was changed meanwhile: its version is %d, and this change was made to version %d; read it again and repeat the change", d.ID, newest.Version, base.Version)
	case !base.Is(&newest):
		return Stored{}, SavedAgain(d.ID, newest.Version)
	default:
		was = newest.UpdatedAt
		d.CreatedAt = newest.CreatedAt
	}
	d.Version = 1
	if newest.Definition != nil {
		d.Version = newest.Version + 1
		if draft != "" && draft == newest.Draft {
			d.Version = newest.Version
		}
	}
	tests, err := d.Tests()
	if err == nil {
		tests, err = l.newTests(ctx, d.ID, tests)
	}
	if err != nil {
		return Stored{}, err
	}
	d, _ = d.WithTests(nil) // they are kept by themselves
	d.UpdatedAt, d.Enabled = max(now, was+1), false
	if err := l.store.PutWorkflow(ctx, &d, draft, was, tests...); err != nil {
		return Stored{}, err
	}
	l.tell(Change{What: ChangeStored, Workflow: d.ID, Version: d.Version})
	if len(tests) > 0 {
		l.tell(Change{What: ChangeTested, Workflow: d.ID})
	}
	return Stored{Definition: &d, Running: newest.Running, Ran: newest.Ran, Draft: draft}, nil
}

// Enable makes a version of a workflow run; 0 is the newest. A version with problems is
// refused, and the error names all of them. So is one that fails a test.
func (l *Library) Enable(ctx context.Context, id string, version int) error {
	return l.enable(ctx, id, version, false)
}

// ForceEnable is Enable for a version that may fail tests. That is logged.
func (l *Library) ForceEnable(ctx context.Context, id string, version int) error {
	return l.enable(ctx, id, version, true)
}

func (l *Library) enable(ctx context.Context, id string, version int, force bool) error {
	s, err := l.store.Workflow(ctx, id, version)
	switch {
	case err != nil:
		return err
	case s.File != "":
		return ownedByFile(id, s.File)
	}
	// Tests may take their time. RunWorkflow refuses a step of a draft that was saved again.
	var failing []string
	if force {
		failing, err = l.failing(ctx, id, s.Version)
	} else if err := l.mayRun(ctx, s); err != nil {
		return err
	}
	forced := err != nil || len(failing) > 0
	l.mu.Lock()
	defer l.mu.Unlock()
	if problems := Validate(s.Definition, l.environment(ctx, Module{})); len(problems) > 0 {
		return Invalid(s.ID, problems)
	}
	if err := l.store.RunWorkflow(ctx, id, s.Version, s.UpdatedAt); err != nil {
		return err
	}
	if forced {
		l.engine.opt.Log.WarnContext(ctx, "a workflow was enabled by force although tests fail", "workflow", id, "version", s.Version, "tests", failing, "error", err)
	}
	_, err = l.load(ctx)
	return err
}

// mayRun returns why a version cannot be enabled without force: its problems, or the tests
// that it fails.
func (l *Library) mayRun(ctx context.Context, s Stored) error {
	if problems := l.Validate(ctx, s.Definition); len(problems) > 0 {
		return Invalid(s.ID, problems)
	}
	failing, err := l.failing(ctx, s.ID, s.Version)
	name := cmp.Or(s.Name, s.ID)
	switch {
	case err != nil || len(failing) == 0:
		return err
	case len(failing) == 1:
		return gateway.Errorf(gateway.CodeConflict, "workflow %q cannot be enabled: version %d fails the test %q; change the workflow or the test, or enable it in spite of that", name, s.Version, failing[0])
	default:
		return gateway.Errorf(gateway.CodeConflict, "workflow %q cannot be enabled: version %d fails the tests %s; change the workflow or the tests, or enable it in spite of that", name, s.Version, quoted(failing))
	}
}

// quoted is gateway.Names for names that may have spaces.
func quoted(names []string) gateway.Texts {
	list := gateway.Names(names)
	for i, name := range names {
		list.Each[i] = gateway.Textf("%q", name)
	}
	return list
}

// Invalid is the error for a workflow with problems.
func Invalid(id string, problems []Problem) *gateway.Error {
	texts := gateway.Texts{Between: "; "}
	for _, p := range problems {
		texts.Each = append(texts.Each, p.Text())
	}
	return gateway.Errorf(gateway.CodeInvalid, "workflow %q cannot run: %s", id, texts)
}

// Validate returns what keeps a definition from being enabled, with the modules that are
// stored.
func (l *Library) Validate(ctx context.Context, d *Definition) []Problem {
	return Validate(d, l.environment(ctx, Module{}))
}

// Disable stops a workflow.
func (l *Library) Disable(ctx context.Context, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.store.RunWorkflow(ctx, id, 0, 0); err != nil {
		return err
	}
	_, err := l.load(ctx)
	return err
}

// Rollback makes an old version the newest, and runs it if the workflow is enabled. If it
// cannot run, nothing is stored.
func (l *Library) Rollback(ctx context.Context, id string, version int) (Stored, error) {
	s, err := l.store.Workflow(ctx, id, version)
	if err == nil && s.File == "" && s.Running != 0 {
		err = l.mayRun(ctx, s)
	}
	if err != nil {
		return Stored{}, err
	}
	s, err = l.restore(ctx, id, version)
	if err == nil && s.Running != 0 {
		if err = l.Enable(ctx, id, s.Version); err == nil {
			s.Running = s.Version
		}
	}
	return s, err
}

// restore saves an old version as the newest.
func (l *Library) restore(ctx context.Context, id string, version int) (Stored, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old, err := l.store.Workflow(ctx, id, version)
	if err != nil {
		return Stored{}, err
	}
	newest, err := l.store.Workflow(ctx, id, 0)
	if err != nil {
		return Stored{}, err
	}
	return l.save(ctx, *old.Definition, newest.Base(), "")
}

// Delete removes a workflow with all its versions.
func (l *Library) Delete(ctx context.Context, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.store.DeleteWorkflow(ctx, id); err != nil {
		return err
	}
	_, err := l.load(ctx)
	l.tell(Change{What: ChangeDeleted, Workflow: id})
	return err
}

// SaveModule stores the next version of a hook module. The workflows that use its newest
// version run it from then on. It is refused if one of them could not, or has params that
// no longer fit.
func (l *Library) SaveModule(ctx context.Context, m Module, base int) (Module, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !validID(m.ID) {
		e := gateway.AsError(wrongID(m.ID))
		return Module{}, atField(e, "id", "pattern", nil, gateway.Text{Format: e.Message, Values: e.Values})
	}
	newest, err := l.store.Module(ctx, m.ID, 0)
	switch {
	case err != nil && !isMissing(err):
		return Module{}, err
	case err == nil && newest.Version != base:
		return Module{}, gateway.Errorf(gateway.CodeConflict, "hook module %q was changed meanwhile: its version is %d, and this change was made to version %d; read it again and repeat the change", m.ID, newest.Version, base)
	}
	m.Version, m.UpdatedAt = newest.Version+1, Millis(l.clock().UnixMilli())
	if len(m.Params) > 0 && jsonrpc.TypeOf(m.Params) != "object" {
		e := gateway.Errorf(gateway.CodeInvalid, "params of hook module %q must be a JSON Schema, which is an object", m.ID)
		return Module{}, atField(e, "params", "type", map[string]any{"type": "object"}, gateway.Textf("params must be a JSON Schema, which is an object"))
	}
	if _, err := l.env.Compile(m.ID, m.Script); err != nil {
		return Module{}, wrongScript(m.ID, err)
	}
	running, err := l.running(ctx)
	if err != nil {
		return Module{}, err
	}
	for _, d := range running {
		if !slices.Contains(modulesOf(d), m.ID) {
			continue
		}
		before := Validate(d, l.environment(ctx, Module{}))
		problems := slices.DeleteFunc(Validate(d, l.environment(ctx, m)), func(p Problem) bool {
			return slices.ContainsFunc(before, func(b Problem) bool { return b.String() == p.String() })
		})
		if len(problems) > 0 {
			return Module{}, Invalid(d.ID, problems)
		}
	}
	if err := l.store.PutModule(ctx, m); err != nil {
		return Module{}, err
	}
	l.tell(Change{What: ChangeStored, Module: m.ID, Version: m.Version})
	_, err = l.load(ctx)
	return m, err
}

// atField is an error with the field that it is about, for forms.
func atField(e *gateway.Error, field, keyword string, params map[string]any, text gateway.Text) *gateway.Error {
	e.Field, e.Problems = field, []gateway.Problem{{Field: field, Pointer: gateway.Pointer([]string{field}), Keyword: keyword, Params: params, Text: text}}
	return e
}

// wrongScript is the error for a module that cannot be compiled. Its problem has the place
// in the script.
func wrongScript(id string, err error) error {
	why, reason := gateway.Textf("%s", err.Error()), gateway.Textf("%s", err.Error())
	var place map[string]any
	if syntax := (*script.SyntaxError)(nil); errors.As(err, &syntax) {
		why, reason = syntax.Text(), syntax.Text()
		if syntax.Line > 0 {
			place = map[string]any{"line": syntax.Line, "column": syntax.Column}
			why = gateway.Textf("line %d, column %d: %s", syntax.Line, syntax.Column, reason)
		}
	}
	e := gateway.Errorf(gateway.CodeInvalid, "the script of hook module %q cannot be compiled: %s", id, why)
	return atField(e, "script", "compile", place, reason)
}

// DeleteModule removes a hook module that no workflow uses.
func (l *Library) DeleteModule(ctx context.Context, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	users, err := l.users(ctx, id)
	if err != nil {
		return err
	}
	if len(users) > 0 {
		return gateway.Errorf(gateway.CodeConflict, "hook module %q is used by %s; change or delete these workflows first", id, gateway.Names(users))
	}
	err = l.store.DeleteModule(ctx, id)
	if err == nil {
		l.tell(Change{What: ChangeDeleted, Module: id})
	}
	return err
}

// users are the workflows whose newest or enabled version uses a module.
func (l *Library) users(ctx context.Context, module string) (ids []string, err error) {
	stored, err := l.store.Workflows(ctx)
	if err != nil {
		return nil, err
	}
	running, err := l.running(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range stored {
		running = append(running, s.Definition)
	}
	for _, d := range running {
		if slices.Contains(modulesOf(d), module) {
			ids = append(ids, d.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// modulesOf lists the modules that the hooks of a definition refer to.
func modulesOf(d *Definition) (ids []string) {
	for _, n := range d.Nodes {
		var data struct{ Hook struct{ Module string } }
		if json.Unmarshal(n.Data, &data) == nil && data.Hook.Module != "" {
			id, _, _ := splitReference(data.Hook.Module)
			ids = append(ids, id)
		}
	}
	return ids
}

func isMissing(err error) bool {
	var e *gateway.Error
	return errors.As(err, &e) && e.Code == gateway.CodeNotFound
}

// longestID is how many characters an id may have.
const longestID = 128

// validID reports whether a text can be the id of a workflow or a module: it stands in
// URLs and references.
func validID(id string) bool {
	return id != "" && len(id) <= longestID && !strings.ContainsFunc(id, func(c rune) bool {
		return c <= ' ' || c > '~' || strings.ContainsRune(`/\@?#%"`, c)
	})
}

func wrongID(id string) error {
	return gateway.Errorf(gateway.CodeInvalid, "%q cannot be an id: an id has letters (a to z), digits and signs such as . _ -, at most %d in all, but no spaces and none of / \\ @ ? # %% \"", gateway.Short(id), longestID)
}
