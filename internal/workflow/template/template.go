// Package template makes workflows for common needs, so that nobody has to write
// JavaScript for them: redact, deny, ask, trim, fill in, notify, hide.
//
// A template is a file files/ID.json: its texts, a JSON Schema of its parameters, and the
// definitions of its workflows. A definition refers to what it is made of: "$params" are
// all parameters, "$params.NAME" is one of them, "$host.NAME" the host of a parameter
// that is a URL, and "$FILE.js" the text of a script beside it.
package template

import (
	"embed"
	"encoding/json"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"genkan/internal/gateway"
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

	source *source
}

// source is the file of a template.
type source struct {
	Template
	Workflows []json.RawMessage
	// Japanese has the texts, also those of the parameters by their names.
	Japanese struct {
		words
		Params map[string]words
	}

	schema *jsonschema.Schema
	fields map[string]struct{ Default json.RawMessage }
}

type words struct{ Title, Description string }

// Options are what is not special to a template.
type Options struct {
	// ID is that of the first workflow; empty for the template's. Those of others have
	// a suffix.
	ID string `json:"id,omitempty"`
	// Name is shown to people and agents; empty for the template's title.
	Name string `json:"name,omitempty"`
	// Match says which calls the workflow is for.
	Match workflow.Match `json:"match,omitzero"`
}

// All returns the templates, with English texts.
func All() []Template {
	var all []Template
	for _, s := range sources() {
		all = append(all, s.Template)
	}
	return all
}

// Japanese returns the template with Japanese texts.
func (t Template) Japanese() Template {
	ja := &t.source.Japanese
	t.Title, t.Description = ja.Title, ja.Description
	var schema map[string]any
	_ = json.Unmarshal(t.Params, &schema)
	properties, _ := schema["properties"].(map[string]any)
	for name, property := range properties {
		property, _ := property.(map[string]any)
		property["title"], property["description"] = ja.Params[name].Title, ja.Params[name].Description
	}
	t.Params, _ = json.Marshal(schema)
	return t
}

// Use makes the workflows of a template. They are not enabled.
func Use(id string, params json.RawMessage, options Options) ([]workflow.Definition, error) {
	all := sources()
	i := slices.IndexFunc(all, func(s *source) bool { return s.ID == id })
	if i < 0 {
		var ids []string
		for _, s := range all {
			ids = append(ids, s.ID)
		}
		return nil, gateway.Errorf(gateway.CodeNotFound, "there is no template %q; there are %s", gateway.Short(id), gateway.List(ids))
	}
	return all[i].use(params, options)
}

func (s *source) use(params json.RawMessage, options Options) ([]workflow.Definition, error) {
	if len(params) == 0 {
		params = []byte("{}")
	}
	if err := s.check(params); err != nil {
		return nil, err
	}
	m := options.Match
	if err := m.Check(); err != nil {
		return nil, err
	}
	if s.NeedsMatch && len(m.Servers)+len(m.Tools)+len(m.Clients)+len(m.Annotations)+len(m.When) == 0 {
		return nil, gateway.Errorf(gateway.CodeInvalid, "the template %s is for some calls only: say for which, by match.tools (such as github__merge_*), match.servers or match.clients", s.ID)
	}
	values := map[string]json.RawMessage{}
	if err := json.Unmarshal(params, &values); err != nil {
		return nil, err
	}
	for name, field := range s.fields {
		if values[name] == nil && field.Default != nil {
			values[name] = field.Default
		}
	}
	var made []workflow.Definition
	for _, text := range s.Workflows {
		d, err := workflow.Parse(fill(text, values))
		if err != nil {
			return nil, err
		}
		d.ID, d.Name = options.ID, options.Name
		if d.ID == "" {
			d.ID = s.ID
		}
		if d.Name == "" {
			d.Name = s.Title
		}
		d.Description, d.Match = s.Description, m
		if len(made) > 0 {
			d.ID += suffixes[d.Type]
			d.Match.When = "" // it is about a call of a tool
		}
		made = append(made, *d)
	}
	return made, nil
}

// suffixes tell the ids of the workflows of one template apart.
var suffixes = map[string]string{
	workflow.ToolsList: "-list", workflow.ResourcesRead: "-resources", workflow.PromptsGet: "-prompts",
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
			var text string
			_ = json.Unmarshal(values[name], &text)
			u, _ := url.Parse(text) // the schema asks for a URL
			return encode(u.Hostname())
		default:
			script, err := files.ReadFile(path.Join("files", what))
			if err != nil {
				panic(err)
			}
			return encode(string(script))
		}
	})
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
		s.schema, err = compile(s.Params)
		must(err)
		all = append(all, s)
	}
	return all
})
