package api

import (
	"net/http"
	"slices"
	"strings"

	"genkan/internal/api/client"
	"genkan/internal/catalog"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// defaultVersion is the seed's version for tools without one.
const defaultVersion = "1.0.0"

// usualOnAPage and mostOnAPage are the default and the largest number of tools on a
// page.
const usualOnAPage, mostOnAPage = 50, 100

// toolOf returns a tool in REST's form. seen are the tools that the caller sees; the
// dependencies name no others, except for administrators.
func toolOf(e catalog.Entry, id gateway.Identity, seen *catalog.Snapshot) client.Tool {
	t, o := e.Tool, e.Override
	out := client.Tool{
		Name: t.Exposed, Server: t.Source.Name(),
		Description: jsonrpc.LookupText(t.Definition, "description"),
		InputSchema: jsonrpc.Lookup(t.Definition, "inputSchema"),
		Annotations: jsonrpc.Lookup(t.Definition, "annotations"),
		Parameters:  []client.Parameter{}, Examples: []client.Example{}, Tags: []string{},
		Version: defaultVersion, Enabled: !o.Disabled, Category: o.Category, Author: o.Author,
		RegisteredAt: e.RegisteredAt, Replaces: e.Replaces,
	}
	if id.Admin { // a workflow may hide it from others
		out.OwnName = t.Name
	}
	for _, name := range o.Dependencies {
		if _, ok := seen.Entry(name); ok || id.Admin {
			out.Dependencies = append(out.Dependencies, name)
		}
	}
	for _, p := range catalog.Parameters(t) {
		out.Parameters = append(out.Parameters, client.Parameter{
			Name: p.Name, Type: p.Type, Description: p.Description, Required: p.Required,
			Default: p.Default, Enum: p.Enum, Pattern: p.Pattern, Minimum: p.Minimum, Maximum: p.Maximum,
		})
	}
	for _, example := range o.Examples {
		one := client.Example(example)
		if one.Parameters == nil {
			one.Parameters = []byte("{}")
		}
		out.Examples = append(out.Examples, one)
	}
	if o.Version != "" {
		out.Version = o.Version
	}
	if o.Tags != nil {
		out.Tags = o.Tags
	}
	return out
}

func (a *API) listTools(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	q := r.URL.Query()
	page, limit := numberIn(q, "page", 1), numberIn(q, "limit", usualOnAPage)
	enabled, category, tag, server := q.Get("enabled"), q.Get("category"), q.Get("tag"), q.Get("server")
	list := client.ToolList{Tools: []client.Tool{}, Pagination: client.Pagination{Page: page, Limit: limit}}
	total, from := 0, (page-1)*limit
	seen := a.seen(id)
	entries := seen.Entries()
	for i := range entries {
		e := &entries[i]
		if server != "" && e.Tool.Source.Name() != server ||
			category != "" && e.Override.Category != category ||
			tag != "" && !slices.Contains(e.Override.Tags, tag) ||
			enabled != "" && e.Override.Disabled != (enabled == "false") {
			continue
		}
		if total >= from && total < from+limit {
			list.Tools = append(list.Tools, toolOf(*e, id, seen))
		}
		total++
	}
	list.Pagination.Total, list.Pagination.TotalPages = total, (total+limit-1)/limit
	encode(w, http.StatusOK, list)
}

func (a *API) getTool(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	if e, ok := a.entry(w, id, r.PathValue("name")); ok {
		encode(w, http.StatusOK, toolOf(e, id, a.seen(id)))
	}
}

// entry returns a tool of the catalog, or answers that it does not exist.
func (a *API) entry(w http.ResponseWriter, id gateway.Identity, name string) (catalog.Entry, bool) {
	e, ok := a.seen(id).Entry(name)
	if !ok {
		a.toolNotFound(w, id, viewOf(id), name)
	}
	return e, ok
}

func (a *API) changeTool(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	body, status, wrong := readBody(w, r)
	var in client.ToolChange
	if wrong == nil {
		status, wrong = decode(body, &in)
	}
	if wrong == nil {
		status, wrong = http.StatusBadRequest, clearNulls(body, &in)
	}
	if wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	name := r.PathValue("name")
	if a.change(w, r, id, name, func(configured catalog.Labels, o *catalog.Override) { apply(in, configured.Tags, o) }) {
		a.getTool(w, r, id)
	}
}

// change changes the override of a tool, or answers why it cannot. configured are
// the settings of the configuration.
func (a *API) change(w http.ResponseWriter, r *http.Request, id gateway.Identity, name string, change func(configured catalog.Labels, o *catalog.Override)) bool {
	e, ok := a.entry(w, id, name)
	if !ok {
		return false
	}
	err := a.opt.ChangeTool(r.Context(), e.Key(), func(o *catalog.Override) error {
		change(e.Labels, o)
		return nil
	})
	if err != nil {
		a.fail(w, err)
	}
	return err == nil
}

// clearNulls treats null as an empty value, which restores the server's own.
func clearNulls(body []byte, in *client.ToolChange) (wrong *gateway.Error) {
	_ = jsonrpc.Members(body, func(key, value []byte) bool {
		if string(value) != "null" {
			return true
		}
		switch string(key) {
		case "enabled":
			wrong = refused(gateway.WrongType([]string{"enabled"}, []string{"boolean"}, gateway.TypeName("null")))
		case "description":
			in.Description = new(string)
		case "category":
			in.Category = new(string)
		case "author":
			in.Author = new(string)
		case "version":
			in.Version = new(string)
		case "tags":
			in.Tags = new([]string)
		case "dependencies":
			in.Dependencies = new([]string)
		case "examples":
			in.Examples = new([]client.Example)
		}
		return wrong == nil
	})
	return wrong
}

// apply applies a change to the override of a tool. configured are the tags that
// the tool has without an override.
func apply(in client.ToolChange, configured []string, o *catalog.Override) {
	if in.Enabled != nil {
		o.Disabled = !*in.Enabled
	}
	for _, text := range []struct {
		from *string
		into *string
	}{{in.Description, &o.Description}, {in.Category, &o.Category}, {in.Author, &o.Author}, {in.Version, &o.Version}} {
		if text.from != nil {
			*text.into = *text.from
		}
	}
	if in.Tags != nil {
		o.Tags = *in.Tags
	}
	if len(in.AddTags)+len(in.RemoveTags) > 0 {
		tags := o.Tags
		if len(tags) == 0 && in.Tags == nil {
			tags = configured
		}
		o.Tags = slices.DeleteFunc(slices.Concat(tags, in.AddTags), func(tag string) bool { return slices.Contains(in.RemoveTags, tag) })
	}
	if in.Dependencies != nil {
		o.Dependencies = *in.Dependencies
	}
	if in.Examples != nil {
		o.Examples = nil
		for _, example := range *in.Examples {
			o.Examples = append(o.Examples, catalog.Example(example))
		}
	}
}

func (a *API) enableTool(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	a.switchTool(w, r, id, true)
}

func (a *API) disableTool(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	a.switchTool(w, r, id, false)
}

// switchTool enables or disables a tool, and warns about tools that need it.
func (a *API) switchTool(w http.ResponseWriter, r *http.Request, id gateway.Identity, enabled bool) {
	name := r.PathValue("name")
	if !a.change(w, r, id, name, func(_ catalog.Labels, o *catalog.Override) { o.Disabled = !enabled }) {
		return
	}
	e, ok := a.entry(w, id, name)
	if !ok {
		return
	}
	out := client.ToolSwitched{Success: true, Tool: toolOf(e, id, a.seen(id))}
	if !enabled {
		out.Dependants = a.opt.House().Snapshot().Dependants(name)
	}
	if len(out.Dependants) > 0 {
		out.Warning = a.language().Sprintf("These tools were said to be of no use without it: %s", strings.Join(out.Dependants, ", "))
	}
	encode(w, http.StatusOK, out)
}
