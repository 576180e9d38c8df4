package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/kb"
)

// startPatience is how long the house waits for a plugin to be ready, and
// endPatience for it to end.
const startPatience, endPatience = 10 * time.Second, 10 * time.Second

// Options are what a manager is made of.
type Options struct {
	// Base and Store are the knowledge base.
	Base  *kb.Base
	Store kb.Store
	// Tools are the sixteen, which come first in the list.
	Tools *kb.Tools
	// Storage is where plugins keep what is theirs.
	Storage Storage
	Log     *slog.Logger
}

// Manager is the source of the knowledge base with the tools of its plugins. It is
// safe for concurrent use.
type Manager struct {
	opt  Options
	ctx  context.Context // ends with Close, and with it the calls under way
	stop context.CancelFunc

	adding sync.Mutex   // one plugin is added at a time
	mu     sync.RWMutex // guards what follows
	all    []*member
	tools  map[string]*offer
	list   []gateway.Tool
	closed bool
	calls  sync.WaitGroup

	gateway.Holds
}

// member is a plugin that somebody has added.
type member struct {
	plugin                     Plugin
	name, version, description string
	tools                      []string
	err                        error // why it is left out
}

// offer is one tool of a plugin.
type offer struct {
	*member
	known, required []string
}

// New makes a manager without plugins.
func New(opt Options) *Manager {
	ctx, stop := context.WithCancel(context.Background())
	return &Manager{opt: opt, ctx: ctx, stop: stop, tools: map[string]*offer{}, list: opt.Tools.List(gateway.KindTool)}
}

// Add adds a plugin. One that cannot be used is left out, which the log and
// Plugins tell, too: whoever adds plugins may go on after an error.
func (m *Manager) Add(ctx context.Context, p Plugin, config any) error {
	m.adding.Lock()
	defer m.adding.Unlock()
	one := &member{plugin: p}
	list, offers, err := m.admit(ctx, one, config)
	m.mu.Lock()
	one.err = err
	m.all = append(m.all, one)
	if err == nil {
		maps.Copy(m.tools, offers)
		m.list = slices.Concat(m.list, list) // a new one: others hold the old
	}
	m.mu.Unlock()
	if err != nil {
		m.opt.Log.Error("a plugin of the knowledge base is left out", "plugin", one.name, "version", one.version, "error", err)
		return err
	}
	m.opt.Log.Info("a plugin of the knowledge base is in use", "plugin", one.name, "version", one.version, "tools", one.tools)
	return nil
}

// admit checks a plugin and makes it ready.
func (m *Manager) admit(ctx context.Context, one *member, config any) (list []gateway.Tool, offers map[string]*offer, err error) {
	var tools []Tool
	// All that a plugin does is done where a panic of it ends.
	err = guard(func() error {
		one.name, one.version, one.description = one.plugin.Name(), one.plugin.Version(), one.plugin.Description()
		tools = one.plugin.Tools()
		return nil
	})
	if err != nil {
		return nil, nil, failed(one.name, err)
	}
	if list, offers, err = m.check(one, tools); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	err = guard(func() error {
		return one.plugin.Initialize(ctx, Context{
			Database: &Database{m.opt.Base, m.opt.Store, m.opt.Storage, one.name},
			Logger:   m.opt.Log.With("plugin", one.name),
			Config:   config,
		})
	})
	if err != nil {
		return nil, nil, failed(one.name, err)
	}
	return list, offers, nil
}

func failed(name string, err error) error {
	return &gateway.Error{
		Code: gateway.CodeUnavailable, Err: err,
		Message: "plugin %s could not be made ready and is left out: %s", Values: []any{name, gateway.AsError(err)},
	}
}

// made reports whether a name has 1 to most characters, all of them among some.
func made(name string, most int, among string) bool {
	return name != "" && len(name) <= most && strings.Trim(name, among) == ""
}

const (
	small    = "abcdefghijklmnopqrstuvwxyz0123456789-_"
	letters  = small + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	longName = 50
	longTool = 64 // which every client takes
)

// check finds what keeps a plugin from being one of these.
func (m *Manager) check(one *member, tools []Tool) ([]gateway.Tool, map[string]*offer, error) {
	if !made(one.name, longName, small) {
		return nil, nil, gateway.Errorf(gateway.CodeInvalid,
			"a plugin is refused: %q is no name for one; it takes 1 to 50 small letters, digits, - and _", one.name)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return nil, nil, closing()
	}
	if slices.ContainsFunc(m.all, func(other *member) bool { return other.name == one.name && other.err == nil }) {
		return nil, nil, gateway.Errorf(gateway.CodeConflict, "plugin %s is refused: there is another plugin of this name", one.name)
	}
	var list []gateway.Tool
	offers := map[string]*offer{}
	for _, tool := range tools {
		if !made(tool.Name, longTool, letters) {
			return nil, nil, gateway.Errorf(gateway.CodeInvalid,
				"plugin %s is refused: %q is no name for a tool; it takes 1 to 64 letters, digits, - and _", one.name, tool.Name)
		}
		if owner, taken := m.owner(tool.Name, offers); taken {
			return nil, nil, gateway.Errorf(gateway.CodeConflict,
				"plugin %s is refused: its tool %s has the name of one of %s; give it another name", one.name, tool.Name, owner)
		}
		var schema struct {
			Type       string                     `json:"type"`
			Properties map[string]json.RawMessage `json:"properties"`
			Required   []string                   `json:"required"`
		}
		if err := json.Unmarshal(tool.InputSchema, &schema); err != nil || schema.Type != "object" {
			return nil, nil, gateway.Errorf(gateway.CodeInvalid,
				"plugin %s is refused: the input schema of its tool %s is no JSON Schema of type object", one.name, tool.Name)
		}
		offers[tool.Name] = &offer{one, slices.Sorted(maps.Keys(schema.Properties)), schema.Required}
		list = append(list, encode(tool, m.opt.Tools.Say))
		one.tools = append(one.tools, tool.Name)
	}
	return list, offers, nil
}

// owner says whose tool has a name, if somebody's has.
func (m *Manager) owner(tool string, own map[string]*offer) (gateway.Text, bool) {
	if own[tool] != nil {
		return gateway.Textf("its own"), true
	}
	if other := m.tools[tool]; other != nil {
		return gateway.Textf("plugin %s", other.name), true
	}
	taken := slices.ContainsFunc(m.list, func(t gateway.Tool) bool { return t.Name == tool })
	return gateway.Textf("the knowledge base"), taken
}

// encode is a tool as clients see it. say translates its texts.
func encode(t Tool, say gateway.Translate) gateway.Tool {
	type annotations struct {
		Title       string `json:"title"`
		ReadOnly    bool   `json:"readOnlyHint"`
		Destructive bool   `json:"destructiveHint"`
		Idempotent  bool   `json:"idempotentHint"`
		OpenWorld   bool   `json:"openWorldHint"`
	}
	if t.Title == "" {
		t.Title = t.Name
	}
	t.Title, t.Description, t.InputSchema = say(t.Title), say(t.Description), translated(t.InputSchema, say)
	// What is encoded are texts, and a schema that has been read: it cannot fail.
	definition, _ := json.Marshal(struct {
		Name        string          `json:"name"`
		Title       string          `json:"title"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
		Annotations annotations     `json:"annotations"`
	}{t.Name, t.Title, t.Description, t.InputSchema, annotations{t.Title, t.ReadOnly, t.Destructive, t.ReadOnly || t.Idempotent, t.OpenWorld}})
	return gateway.Tool{
		Kind: gateway.KindTool, Name: t.Name, ReadOnly: t.ReadOnly, Idempotent: t.ReadOnly || t.Idempotent,
		Definition: definition,
	}
}

// translated returns a schema with the descriptions of its properties in another
// language.
func translated(schema json.RawMessage, say gateway.Translate) json.RawMessage {
	_ = jsonrpc.Members(jsonrpc.Lookup(schema, "properties"), func(_, property []byte) bool {
		if text := jsonrpc.LookupText(property, "description"); text != "" {
			schema = bytes.Replace(schema, jsonrpc.Lookup(property, "description"), jsonrpc.AppendQuoted(nil, say(text)), 1)
		}
		return true
	})
	return schema
}

// About describes the knowledge base.
func (m *Manager) About() gateway.About { return m.opt.Tools.About() }

// Name is the source's: plugins are a part of the knowledge base.
func (m *Manager) Name() string { return m.opt.Tools.Name() }

// List lists the sixteen tools, then those of the plugins in the order in which
// they were added.
func (m *Manager) List(kind gateway.Kind) []gateway.Tool {
	if kind != gateway.KindTool {
		return m.opt.Tools.List(kind)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.list
}

// Check checks the arguments of a call. Those of a plugin's tool are left to the call.
func (m *Manager) Check(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	m.mu.RLock()
	_, ofPlugin := m.tools[call.Tool.Name]
	m.mu.RUnlock()
	if ofPlugin {
		return nil, nil //nolint:nilnil // they fit, as far as is known
	}
	return m.opt.Tools.Check(ctx, call)
}

// Handle answers a call, of whoever's tool it is.
func (m *Manager) Handle(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	m.mu.RLock()
	tool, closed := m.tools[call.Tool.Name], m.closed
	if tool != nil && !closed {
		m.calls.Add(1)
	}
	m.mu.RUnlock()
	if tool == nil {
		return m.opt.Tools.Handle(ctx, call)
	}
	if closed {
		return nil, closing()
	}
	defer m.calls.Done()
	values, err := call.Arguments()
	if err != nil {
		return nil, err
	}
	in := kb.NewArguments(values, tool.known, tool.required)
	if err := in.Err(); err != nil {
		return m.opt.Tools.Answer(call, nil, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	var answer any
	err = guard(func() (err error) {
		answer, err = tool.plugin.Call(ctx, Call{Tool: call.Tool.Name, Arguments: in, Caller: call.Identity})
		return err
	})
	var broken *panicError
	if errors.As(err, &broken) {
		m.opt.Log.Error("a plugin of the knowledge base has failed in a call", "plugin", tool.name, "tool", call.Tool.Name, "error", err, "stack", broken.stack)
		return nil, &gateway.Error{
			Code: gateway.CodeInternal, Err: err,
			Message: "plugin %s has failed in this call; the log has the details", Values: []any{tool.name},
		}
	}
	return m.opt.Tools.Answer(call, answer, err)
}

func closing() error {
	return gateway.Errorf(gateway.CodeUnavailable, "the plugins of the knowledge base are being closed; call again in a moment")
}

// Status is what there is to say of a plugin.
type Status struct {
	Name, Version string
	// Description is the plugin's own, and why it is left out if it is.
	Description string
	Tools       []string
	// Err is why it is left out.
	Err error
}

// Plugins are all that were added, in order, also those that are left out.
func (m *Manager) Plugins() []Status {
	m.mu.RLock()
	defer m.mu.RUnlock()
	all := make([]Status, len(m.all))
	for i, one := range m.all {
		all[i] = Status{one.name, one.version, one.description, slices.Clone(one.tools), one.err}
		if one.err != nil {
			all[i].Description += " (not in use: " + gateway.AsError(one.err).Text() + ")"
		}
	}
	return all
}

// Retire closes the manager when its calls are done or ctx ends. What goes wrong is
// in the log.
func (m *Manager) Retire(ctx context.Context) {
	m.Wait(ctx)
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
	defer cancel()
	_ = m.Close(patience)
}

// Close cancels the calls under way and ends the plugins, the last one first. One
// that fails does not keep the others.
func (m *Manager) Close(ctx context.Context) error {
	m.adding.Lock()
	defer m.adding.Unlock()
	m.mu.Lock()
	first := !m.closed
	m.closed = true
	all := m.all
	m.mu.Unlock()
	if !first {
		return nil
	}
	m.stop()
	m.calls.Wait()
	var errs []error
	for _, one := range slices.Backward(all) {
		if one.err != nil {
			continue
		}
		if err := end(ctx, one); err != nil {
			m.opt.Log.Error("a plugin of the knowledge base could not be ended properly", "plugin", one.name, "error", err)
			errs = append(errs, fmt.Errorf("plugin %s: %w", one.name, err))
		}
	}
	return errors.Join(errs...)
}

func end(ctx context.Context, one *member) error {
	ctx, cancel := context.WithTimeout(ctx, endPatience)
	defer cancel()
	return guard(func() error { return one.plugin.Cleanup(ctx) })
}

// panicError is what a plugin has thrown.
type panicError struct {
	value any
	stack string
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// guard makes a panic an error: no plugin takes the house down.
func guard(do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value, string(debug.Stack())}
		}
	}()
	return do()
}
