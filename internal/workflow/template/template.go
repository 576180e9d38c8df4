// Package template makes workflows for common needs, so that nobody has to write
// JavaScript for them: redact, deny, ask, limit, answer again, trim, fill in, explain errors,
// tag, notify, hide.
//
// A template is a file files/ID.json: its texts, a JSON Schema of its parameters, and the
// definitions of its workflows. A definition refers to what it is made of: "$params" are
// all parameters, "$params.NAME" is one of them, "$host.NAME" the host of a parameter
// that is a URL, and "$FILE.js" the text of a script beside it.
package template

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/workflow"
)

//go:embed files
var files embed.FS

// Template makes workflows.
type Template struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description"`
	// Params is the JSON Schema of the parameters. Each has a title and a description.
	Params json.RawMessage `json:"params"`
	// NeedsMatch is set if the template is not meant for all calls.
	NeedsMatch bool `json:"needsMatch,omitempty"`
	// Hook is the template as a single node; nil if it needs more than one.
	Hook *Hook `json:"hook,omitempty"`

	source *source
}

// Hook is a template as a single node of any workflow: a hook whose template it is.
type Hook struct {
	// Node is the id of the hook in the template's workflows.
	Node string `json:"node"`
	// Behind is set if the hook needs the answer, so it stands behind the call.
	Behind bool `json:"behind,omitempty"`
	// CallOnError is what onError of that call should be, so that the hook sees errors.
	CallOnError string `json:"callOnError,omitempty"`

	// Label is the name of the node, and Script what it runs.
	Label, Script     string `json:"-"`
	Blocking, Partial bool   `json:"-"`
	// Types are the types of workflows that it is for.
	Types []string `json:"-"`
	// Settings are those that a workflow with it should have, unless it has its own:
	// limits.
	Settings map[string]json.RawMessage `json:"-"`
	// State says where it keeps values.
	State workflow.State `json:"-"`
	// host is the parameter that is a URL whose host is reached.
	host string
}

// source is the file of a template.
type source struct {
	Template
	Workflows []json.RawMessage
	// Japanese has the texts, also those of the parameters by their names, and the
	// labels of the nodes by the English ones.
	Japanese struct {
		words
		Params map[string]struct {
			words
			// Default is one that is a text. Choices are titles of the values of an enum.
			Default string
			Choices map[string]string
		}
		Labels map[string]string
	}

	// scripts are those of each workflow, by its type.
	scripts map[string]scripts
	schema  *jsonschema.Schema
	names   []string // of the parameters, in the order of the file
	fields  map[string]struct{ Default json.RawMessage }
}

type words struct{ Title, Description string }

// scripts are the scripts of a workflow, by the ids of their nodes.
type scripts map[string]string

// sum identifies the scripts; empty if there are none.
func (s scripts) sum() string {
	if len(s) == 0 {
		return ""
	}
	h := sha256.New()
	for _, node := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(h, "%q%q", node, s[node])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Options are what is not special to a template.
type Options struct {
	// ID is that of the first workflow; empty for the template's. Those of others have
	// a suffix.
	ID string `json:"id,omitempty"`
	// Name is shown to people and agents; empty for the template's title. Those of others
	// have a suffix.
	Name string `json:"name,omitempty"`
	// Match says which calls the workflow is for.
	Match workflow.Match `json:"match,omitzero"`
	// Japanese makes workflows with Japanese texts.
	Japanese bool `json:"-"`
}

// All returns the templates, with English texts.
func All() []Template {
	var all []Template
	for _, s := range sources() {
		all = append(all, s.Template)
	}
	return all
}

// Types returns the types of the workflows that the template makes, one for each.
func (t Template) Types() (types []string) {
	for _, raw := range t.source.Workflows {
		types = append(types, jsonrpc.LookupText(raw, "workflowType"))
	}
	return types
}

// Japanese returns the template with Japanese texts.
func (t Template) Japanese() Template {
	ja := &t.source.Japanese
	t.Title, t.Description = ja.Title, ja.Description
	if t.Hook != nil {
		hook := *t.Hook
		hook.Label = ja.Labels[hook.Label]
		t.Hook = &hook
	}
	var schema map[string]any
	_ = json.Unmarshal(t.Params, &schema)
	properties, _ := schema["properties"].(map[string]any)
	var ordered bytes.Buffer
	for _, name := range t.source.names {
		property, _ := properties[name].(map[string]any)
		said := ja.Params[name]
		property["title"], property["description"] = said.Title, said.Description
		if said.Default != "" {
			property["default"] = said.Default
		}
		if items, ok := property["items"].(map[string]any); ok && said.Choices != nil {
			items["x-titles"] = said.Choices
		} else if said.Choices != nil {
			property["x-titles"] = said.Choices
		}
		text, _ := json.Marshal(property)
		fmt.Fprintf(&ordered, ",%q:%s", name, text)
	}
	if ordered.Len() > 0 {
		schema["properties"] = json.RawMessage("{" + ordered.String()[1:] + "}")
	}
	t.Params, _ = json.Marshal(schema)
	return t
}

// Use makes the workflows of a template. They are not enabled.
func Use(id string, params json.RawMessage, options Options) ([]workflow.Definition, error) {
	s, err := find(id, func(*source) bool { return true })
	if err != nil {
		return nil, err
	}
	return s.use(params, options)
}

// find returns a template of those that are wanted.
func find(id string, wanted func(*source) bool) (*source, error) {
	var ids []string
	for _, s := range sources() {
		if !wanted(s) {
			continue
		}
		if s.ID == id {
			return s, nil
		}
		ids = append(ids, s.ID)
	}
	return nil, gateway.Errorf(gateway.CodeNotFound, "there is no template %q; there are %s", gateway.Short(id), gateway.List(ids))
}

// HookOf returns what a hook runs that names a template.
func HookOf(id string, params json.RawMessage) (workflow.TemplateHook, error) {
	s, err := find(id, func(s *source) bool { return s.Hook != nil })
	if err != nil {
		return workflow.TemplateHook{}, err
	}
	hook := workflow.TemplateHook{Script: s.Hook.Script, Blocking: s.Hook.Blocking, Side: workflow.BeforeCall, State: s.Hook.State}
	if s.Hook.Behind {
		hook.Side = workflow.BehindCall
	}
	values, err := s.values(params, nil, false)
	if err != nil {
		return hook, err
	}
	hook.Params = encode(values)
	if s.Hook.host != "" {
		hook.Hosts = []string{hostOf(values[s.Hook.host])}
	}
	return hook, nil
}

func (s *source) use(params json.RawMessage, options Options) ([]workflow.Definition, error) {
	m := options.Match
	if err := m.Check(); err != nil {
		return nil, err
	}
	values, err := s.values(params, &m, options.Japanese)
	if err != nil {
		return nil, err
	}
	var made []workflow.Definition
	for _, text := range s.Workflows {
		if options.Japanese {
			text = s.japaneseLabels(text)
		}
		d, err := workflow.Parse(fill(text, values))
		if err != nil {
			return nil, err
		}
		d.ID, d.Name = options.ID, options.Name
		if d.ID == "" {
			d.ID = s.ID
		}
		said := words{s.Title, s.Description}
		if options.Japanese {
			said = s.Japanese.words
		}
		if d.Name == "" {
			d.Name = said.Title
		}
		d.Description, d.Match = said.Description, m
		d.MadeFrom = workflow.Origin{Template: s.ID, Scripts: s.scripts[d.Type].sum()}
		if len(made) > 0 {
			suffix := suffixes[d.Type]
			d.ID += suffix.id
			if options.Japanese {
				d.Name += suffix.japanese
			} else {
				d.Name += suffix.english
			}
			d.Match.When = "" // it is about a call of a tool
		}
		made = append(made, *d)
	}
	return made, nil
}

// values checks parameters, and a match unless it is nil. It returns the parameters with
// the defaults.
func (s *source) values(params json.RawMessage, m *workflow.Match, japanese bool) (map[string]json.RawMessage, error) {
	if len(params) == 0 {
		params = []byte("{}")
	}
	if err := s.check(params, m); err != nil {
		return nil, err
	}
	values := map[string]json.RawMessage{}
	if err := json.Unmarshal(params, &values); err != nil {
		return nil, err
	}
	for name, field := range s.fields {
		if values[name] != nil || field.Default == nil {
			continue
		}
		values[name] = field.Default
		if ja := s.Japanese.Params[name].Default; japanese && ja != "" {
			values[name], _ = json.Marshal(ja)
		}
	}
	return values, nil
}

// Newer returns a workflow with the scripts that its template has now. All else stays, as
// it may have been changed. It reports false if the template had these scripts when the
// workflow was made, or is not known.
func Newer(d workflow.Definition) (workflow.Definition, bool) {
	all := sources()
	i := slices.IndexFunc(all, func(s *source) bool { return s.ID == d.MadeFrom.Template })
	if i < 0 {
		return d, false
	}
	now := all[i].scripts[d.Type]
	if d.MadeFrom.Scripts == now.sum() {
		return d, false
	}
	d.MadeFrom.Scripts = now.sum()
	d.Nodes = slices.Clone(d.Nodes)
	for i := range d.Nodes {
		var data, hook map[string]json.RawMessage
		text, found := now[d.Nodes[i].ID]
		if !found || json.Unmarshal(d.Nodes[i].Data, &data) != nil || json.Unmarshal(data["hook"], &hook) != nil || hook["script"] == nil {
			continue // the node has become another one
		}
		hook["script"] = encode(text)
		data["hook"] = encode(hook)
		d.Nodes[i].Data = encode(data)
	}
	return d, true
}

// Set names the workflows that a template has made together, for several types of calls; it is
// empty for a workflow that no template has made.
func Set(d *workflow.Definition) string {
	if d.MadeFrom.Template == "" {
		return ""
	}
	return d.MadeFrom.Template + "/" + strings.TrimSuffix(d.ID, suffixes[d.Type].id)
}

// japaneseLabels replaces the labels of the nodes in a definition.
func (s *source) japaneseLabels(definition []byte) []byte {
	return label.ReplaceAllFunc(definition, func(found []byte) []byte {
		ja, ok := s.Japanese.Labels[string(label.FindSubmatch(found)[1])]
		if !ok {
			return found
		}
		return []byte(`"label": "` + ja + `"`)
	})
}

var label = regexp.MustCompile(`"label": *"([^"]*)"`)

// suffixes tell the ids and names of the workflows of one template apart.
var suffixes = map[string]struct{ id, english, japanese string }{
	workflow.ToolsList:     {"-list", " (list of tools)", "（ツールの一覧）"},
	workflow.ResourcesRead: {"-resources", " (resources)", "（リソース）"},
	workflow.PromptsGet:    {"-prompts", " (prompts)", "（プロンプト）"},
}

var reference = regexp.MustCompile(`"\$(params|host|[a-z-]+\.js)(?:\.(\w+))?"`)

// fill replaces the references in a definition. Values are put in as they were written.
func fill(definition []byte, values map[string]json.RawMessage) []byte {
	return reference.ReplaceAllFunc(definition, func(found []byte) []byte {
		parts := reference.FindSubmatch(found)
		what, name := string(parts[1]), string(parts[2])
		switch {
		case what == "params" && name == "":
			return encode(values)
		case what == "params":
			return values[name]
		case what == "host":
			return encode(hostOf(values[name]))
		default:
			return encode(script(what))
		}
	})
}

// hostOf returns the host of a value that is a URL, as its schema asks for.
func hostOf(value json.RawMessage) string {
	var text string
	_ = json.Unmarshal(value, &text)
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// script returns the text of a file beside the templates.
func script(file string) string {
	text, err := files.ReadFile(path.Join("files", file))
	if err != nil {
		panic(err)
	}
	return string(text)
}

// scriptsOf returns the scripts of the workflows of a template.
func scriptsOf(definitions []json.RawMessage) (map[string]scripts, error) {
	all := map[string]scripts{}
	for _, raw := range definitions {
		var d struct {
			Type  string `json:"workflowType"`
			Nodes []struct {
				ID   string
				Data struct{ Hook struct{ Script string } }
			}
		}
		if err := json.Unmarshal(raw, &d); err != nil {
			return nil, err
		}
		all[d.Type] = scripts{}
		for _, n := range d.Nodes {
			if file, ok := strings.CutPrefix(n.Data.Hook.Script, "$"); ok {
				all[d.Type][n.ID] = script(file)
			}
		}
	}
	return all, nil
}

// readHook completes the hook by what the workflows say of its node.
func (s *source) readHook() error {
	h := s.Hook
	if h == nil {
		return nil
	}
	for i, raw := range s.Workflows {
		var d struct {
			Type   string `json:"workflowType"`
			Limits map[string]json.RawMessage
			State  workflow.State
			Nodes  []struct {
				ID   string
				Data struct {
					Label string
					Hook  struct{ Blocking, Partial bool }
				}
			}
		}
		if err := json.Unmarshal(raw, &d); err != nil {
			return err
		}
		script, found := s.scripts[d.Type][h.Node]
		if !found {
			continue
		}
		h.Types = append(h.Types, d.Type)
		if i > 0 {
			continue
		}
		h.Script, h.State, h.Settings = script, d.State, map[string]json.RawMessage{}
		for _, n := range d.Nodes {
			if n.ID == h.Node {
				h.Label, h.Blocking, h.Partial = n.Data.Label, n.Data.Hook.Blocking, n.Data.Hook.Partial
			}
		}
		if found := reference.FindSubmatch(d.Limits["fetchHosts"]); found != nil {
			h.host = string(found[2])
			delete(d.Limits, "fetchHosts")
		}
		if len(d.Limits) > 0 {
			h.Settings["limits"] = encode(d.Limits)
		}
	}
	return nil
}

// encode writes JSON with <, > and & as they are, so that scripts stay readable.
func encode(value any) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err)
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}

// sources reads the files. They are part of the program, so an error is a mistake in it.
var sources = sync.OnceValue(func() (all []*source) { //nolint:gochecknoglobals // read once
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	entries, err := files.ReadDir("files")
	must(err)
	for _, entry := range entries {
		if path.Ext(entry.Name()) != ".json" {
			continue
		}
		raw, err := files.ReadFile("files/" + entry.Name())
		must(err)
		s := &source{}
		must(json.Unmarshal(raw, s))
		s.source = s
		var schema struct {
			Properties map[string]struct{ Default json.RawMessage }
		}
		must(json.Unmarshal(s.Params, &schema))
		s.fields = schema.Properties
		s.names = keys(s.Params, "properties")
		s.schema, err = compile(s.Params)
		must(err)
		s.scripts, err = scriptsOf(s.Workflows)
		must(err)
		must(s.readHook())
		all = append(all, s)
	}
	return all
})

// keys are the names in an object's member, in their order.
func keys(object json.RawMessage, member string) (names []string) {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(object, &members)
	d := json.NewDecoder(bytes.NewReader(members[member]))
	_, _ = d.Token()
	for d.More() {
		name, _ := d.Token()
		names = append(names, fmt.Sprint(name))
		var value json.RawMessage
		_ = d.Decode(&value)
	}
	return names
}
