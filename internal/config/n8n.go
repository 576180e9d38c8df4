package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"

	"genkan/internal/gateway"
)

// N8NSource is the name of an n8n instance that is given none.
const N8NSource = "n8n"

// N8N is an n8n instance, whose tools genkan has itself. It prints and encodes without
// the key.
type N8N struct {
	Name, URL string
	APIKey    gateway.Secret
	// Definition is the JSON object that it was read from.
	Definition gateway.Secret
	// Unresolved describes references to variables and secrets that are not there. The
	// instance is not used before they are.
	Unresolved gateway.Texts
}

type shownN8N struct {
	Name   string         `json:"name"`
	URL    string         `json:"url"`
	APIKey gateway.Secret `json:"apiKey,omitempty"`
}

func (i N8N) cutWord() shownN8N { return shownN8N{i.Name, maskURL(i.URL), i.APIKey} }

// Format keeps secrets out of every verb.
func (i N8N) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "%v", i.cutWord()) }

// MarshalJSON keeps secrets out of JSON.
func (i N8N) MarshalJSON() ([]byte, error) { return json.Marshal(i.cutWord()) }

// LogValue keeps secrets out of structured logs.
func (i N8N) LogValue() slog.Value { return slog.AnyValue(i.cutWord()) }

// n8n decodes one instance, or a list of them.
func (d *decoder) n8n(n *node, at string) (all []N8N) {
	if n.kind != kindList {
		return append(all, d.n8nInstance(n, at))
	}
	names := map[string]bool{}
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", at, i)
		one := d.n8nInstance(item, at)
		if names[one.Name] {
			d.problems.add(item.key("name"), "%s is %q, as that of another; give each instance its own name", join(at, "name"), cutWord(one.Name))
		}
		names[one.Name] = true
		all = append(all, one)
	}
	return all
}

func (d *decoder) n8nInstance(n *node, at string) N8N {
	i := N8N{Name: N8NSource, Definition: gateway.Secret(n.appendJSON(nil))}
	d.unresolved, d.missing = nil, nil
	before := len(d.problems.list)
	d.object(n, at, d.n8nFields(&i))
	switch {
	case len(d.unresolved) > 0:
		i.Unresolved = gateway.Texts{Between: gateway.Apart, Each: d.unresolved}
	case (i.URL == "" || i.APIKey == "") && len(d.problems.list) == before:
		d.problems.add(n.at, "%s needs a url (where n8n is) and an apiKey (from n8n's Settings > n8n API)", at)
	}
	d.unresolved, d.missing = nil, nil
	return i
}

func (d *decoder) n8nFields(i *N8N) []field {
	return []field{
		{"name", func(n *node, at string) {
			name, ok := d.text(n, at)
			if ok && !gateway.IsServerName(name) {
				d.problems.add(n.at, "%q cannot be the name of an n8n instance: use a letter, then letters, digits and - (all lower case, at most %d), such as staging", cutWord(name), gateway.MaxServerName)
				return
			}
			if slices.Contains(builtInSources(), name) {
				d.problems.add(n.at, "%s must not be %s: genkan itself has tools of this name; choose another one, such as staging", at, name)
				return
			}
			i.Name = name
		}},
		{"url", func(n *node, at string) { i.URL, _ = d.expanded(n, at, checkURL) }},
		{"apiKey", func(n *node, at string) {
			v, _ := d.expanded(n, at, checkClientText)
			i.APIKey = gateway.Secret(v)
		}},
	}
}

// builtInSources are the names of sources that are part of genkan.
func builtInSources() []string { return []string{KnowledgeSource, "genkan", "results"} }

// IsBuiltIn reports whether a name is that of a source of genkan itself. A server of
// this name would hide the source from all clients.
func (c *Config) IsBuiltIn(name string) bool {
	return slices.Contains(builtInSources(), name) || c.HasN8N(name)
}

// HasN8N reports whether an n8n instance has a name.
func (c *Config) HasN8N(name string) bool {
	return slices.ContainsFunc(c.N8N, func(i N8N) bool { return i.Name == name })
}

// withN8N returns instances with others in front, which replace those of the same name.
func withN8N(all, others []N8N) []N8N {
	for _, one := range all {
		if !slices.ContainsFunc(others, func(o N8N) bool { return o.Name == one.Name }) {
			others = append(others, one)
		}
	}
	return others
}
