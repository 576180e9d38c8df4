package views

import (
	"context"
	"encoding/json"
	"slices"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
	"genkan/internal/search"
)

// Search finds tools of a view for a client.
func (v *Views) Search(ctx context.Context, who gateway.Identity, view gateway.View, q search.Query) search.Result {
	e, ok := v.entry(view)
	if !ok {
		return search.Result{}
	}
	if v.opt.Config.Learn {
		q.Evidence = v.opt.Learned.Evidence(who.ClientID)
	}
	index := v.searchIndex(e)
	if v.opt.Vectors != nil {
		q.Dense = search.Dense{Vector: v.opt.Vectors.Query(ctx, q.Text), Weight: float32(v.opt.Config.Embeddings.Weight)}
	}
	return index.Search(q)
}

// FindTool is a tool of a view.
func (v *Views) FindTool(view gateway.View, name string) *gateway.Tool {
	c, ok := v.Catalog(view)
	if !ok {
		return nil
	}
	return c.Find(gateway.KindTool, name)
}

// ServerNames are those whose tools a view has.
func (v *Views) ServerNames(view gateway.View) []string {
	c, ok := v.Catalog(view)
	if !ok {
		return nil
	}
	var names []string
	for _, s := range v.sources(c) {
		names = append(names, s.Name())
	}
	return names
}

// Absent returns why a view has no tool of a name, when its server is not there, and
// the tool that was probably meant. Both may be empty.
func (v *Views) Absent(view gateway.View, name string) (why gateway.Text, near string) {
	c, ok := v.Catalog(view)
	if !ok {
		return gateway.Text{}, ""
	}
	unknown := c.Unknown(name)
	return unknown.Sentence(), unknown.Near
}

// AbsentServer is why a view has no tools of a server; empty if it has some.
func (v *Views) AbsentServer(view gateway.View, name string) gateway.Text {
	names := v.ServerNames(view)
	if !slices.Contains(names, name) {
		return gateway.Textf("there is no server %q here; the connected servers are %s", gateway.Short(name), gateway.Names(names))
	}
	for i := range v.opt.Mounts {
		s := v.opt.Mounts[i].Source
		if s.Name() != name || len(s.List(gateway.KindTool)) > 0 {
			continue
		}
		health := gateway.HealthOf(s)
		return catalog.Unknown{Server: name, Problem: health.Problem, Down: health.Down}.Sentence()
	}
	return gateway.Text{}
}

// PrepareSearch makes the search index of all tools, which the first search would make.
func (v *Views) PrepareSearch() { v.searchIndex(v.whole) }

func (v *Views) searchIndex(of *entry) *search.Index {
	if index := of.index.Load(); index != nil {
		return index
	}
	c := of.get()
	v.indexing.Lock()
	defer v.indexing.Unlock()
	if index := of.index.Load(); index != nil {
		return index
	}
	var servers []search.Server
	at := map[string]int{}
	for _, e := range c.Snapshot().Entries() {
		if e.Override.Disabled {
			continue
		}
		name := e.Tool.Source.Name()
		i, ok := at[name]
		if !ok {
			i = len(servers)
			at[name] = i
			servers = append(servers, searchServer(e.Tool.Source))
		}
		servers[i].Documents = append(servers[i].Documents, v.document(e))
	}
	index := search.New(servers...)
	of.index.Store(index)
	return index
}

// reindex takes over a server's tools in the index of a view, if there is one.
func (v *Views) reindex(of *entry, sources []string) {
	v.indexing.Lock()
	defer v.indexing.Unlock()
	index := of.index.Load()
	if index == nil {
		return
	}
	servers := make(map[string]search.Server, len(sources))
	for _, source := range sources {
		servers[source] = search.Server{}
	}
	for _, e := range of.get().Snapshot().Entries() {
		name := e.Tool.Source.Name()
		server, wanted := servers[name]
		if !wanted || e.Override.Disabled {
			continue
		}
		if server.Name == "" {
			server = searchServer(e.Tool.Source)
		}
		server.Documents = append(server.Documents, v.document(e))
		servers[name] = server
	}
	for source, server := range servers {
		if server.Name == "" {
			index = index.Without(source)
		} else {
			index = index.With(server)
		}
	}
	of.index.Store(index)
}

// searchServer is a source as it is searched.
func searchServer(source gateway.Source) search.Server {
	about := gateway.AboutOf(source)
	return search.Server{Name: source.Name(), Title: about.Title, Description: about.Description}
}

// document is a tool as it is searched, with what people have said about it. Its id
// is the name that clients use.
func (v *Views) document(e catalog.Entry) search.Document {
	t := e.Tool
	var said struct {
		Title       string `json:"title"`
		Description string `json:"description"`
	}
	_ = json.Unmarshal(t.Definition, &said)
	d := search.Document{
		ID: t.Exposed, Name: t.ListedName(), Description: said.Title + " " + said.Description,
		Category: e.Override.Category, Tags: e.Override.Tags,
		Deprecated: search.Deprecated(said.Title) || search.Deprecated(said.Description),
	}
	if t.Labels != nil {
		d.Description += " " + t.Labels.Translations
	}
	for _, example := range e.Override.Examples {
		d.Examples = append(d.Examples, example.Description)
		if d.Sample == nil {
			d.Sample = example.Parameters
		}
	}
	var schema struct {
		Properties map[string]struct {
			Description string `json:"description"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(t.ListedSchema(), &schema)
	for name, p := range schema.Properties {
		d.Parameters = append(d.Parameters, search.Parameter{Name: name, Text: p.Description})
	}
	if v.opt.Vectors != nil {
		d.Vector = v.opt.Vectors.Vector(t.Source.Name() + " " + t.Name + "\n" + said.Title + "\n" + said.Description)
	}
	return d
}
