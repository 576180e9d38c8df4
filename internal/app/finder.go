package app

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"genkan/internal/catalog"
	"genkan/internal/embed"
	"genkan/internal/gateway"
	"genkan/internal/guide"
	"genkan/internal/search"
)

// finder has the indexes of the views that somebody searches. One is made when it
// is first needed; after that, the tools of a server are replaced when they
// change. Whoever searches reads an index that does not change, and does not wait
// for the next one.
type finder struct {
	// making is held while an index is made or changed, so that no change is lost.
	making sync.Mutex
	// byView has *search.Index by gateway.View.
	byView sync.Map
	// shelf has the vectors of tools; nil if nobody makes them.
	shelf *embed.Shelf
}

func (f *finder) made(view gateway.View) *search.Index {
	x, _ := f.byView.Load(view)
	made, _ := x.(*search.Index)
	return made
}

// Search finds tools of a view for somebody.
func (h *house) Search(ctx context.Context, who gateway.Identity, view gateway.View, q search.Query) search.Result {
	c, ok := h.view(view)
	if !ok {
		return search.Result{}
	}
	if h.config.Learn {
		q.Evidence = h.learned.Evidence(who.ClientID)
	}
	x := h.index(view, c)
	if h.finder.shelf != nil {
		q.Dense = search.Dense{Vector: h.finder.shelf.Query(ctx, q.Text), Weight: float32(h.config.Embeddings.Weight)}
	}
	return x.Search(q)
}

// FindTool is a tool of a view.
func (h *house) FindTool(view gateway.View, name string) *gateway.Tool {
	c, ok := h.view(view)
	if !ok {
		return nil
	}
	return c.Find(gateway.KindTool, name)
}

// ServerNames are those whose tools a view has.
func (h *house) ServerNames(view gateway.View) []string {
	c, ok := h.view(view)
	if !ok {
		return nil
	}
	var names []string
	for _, s := range h.sources() {
		if c.Has(s.Name()) {
			names = append(names, s.Name())
		}
	}
	return names
}

// Absent is what can be said about a name that no tool of a view has.
func (h *house) Absent(view gateway.View, name string) guide.Absence {
	c, ok := h.view(view)
	if !ok {
		return guide.Absence{}
	}
	why := c.Unknown(name)
	return guide.Absence{Why: why.Sentence(), Near: why.Near}
}

// AbsentServer is why a view has no tools of a server; empty if it has some.
func (h *house) AbsentServer(view gateway.View, name string) gateway.Text {
	names := h.ServerNames(view)
	if !slices.Contains(names, name) {
		return gateway.Textf("there is no server %q here; the connected servers are %s", gateway.Short(name), strings.Join(names, ", "))
	}
	for _, s := range h.sources() {
		if s.Name() != name || len(s.List(gateway.KindTool)) > 0 {
			continue
		}
		health := gateway.HealthOf(s)
		return catalog.Unknown{Server: name, Problem: health.Problem, Down: health.Down}.Sentence()
	}
	return gateway.Text{}
}

// Say says something in the house's language.
func (h *house) Say(t gateway.Text) string { return language(h.config).Text(t) }

func (h *house) index(view gateway.View, c *catalog.Catalog) *search.Index {
	if x := h.finder.made(view); x != nil {
		return x
	}
	h.finder.making.Lock()
	defer h.finder.making.Unlock()
	if x := h.finder.made(view); x != nil {
		return x
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
			servers = append(servers, h.aboutServer(e.Tool.Source))
		}
		servers[i].Documents = append(servers[i].Documents, h.finder.documentOf(e))
	}
	x := search.New(servers...)
	h.finder.byView.Store(view, x)
	return x
}

// reindex takes over a server's tools in the index of a view, if there is one.
func (h *house) reindex(view gateway.View, source string, c *catalog.Catalog) {
	f := &h.finder
	f.making.Lock()
	defer f.making.Unlock()
	x := f.made(view)
	if x == nil {
		return
	}
	var server search.Server
	for _, e := range c.Snapshot().Entries() {
		if e.Tool.Source.Name() == source && !e.Override.Disabled {
			if server.Name == "" {
				server = h.aboutServer(e.Tool.Source)
			}
			server.Documents = append(server.Documents, f.documentOf(e))
		}
	}
	if server.Name == "" {
		f.byView.Store(view, x.Without(source))
	} else {
		f.byView.Store(view, x.With(server))
	}
}

// aboutServer is what a server says of itself, for those who look for its tools.
func (h *house) aboutServer(source gateway.Source) search.Server {
	about := gateway.AboutOf(source)
	return search.Server{Name: source.Name(), Title: about.Title, Description: about.Description}
}

// documentOf is a tool as it is searched, with what people have said about it.
// Its id is the name that clients use.
func (f *finder) documentOf(e catalog.Entry) search.Document {
	t := e.Tool
	var said struct {
		Title       string `json:"title"`
		Description string `json:"description"`
	}
	_ = json.Unmarshal(t.Definition, &said)
	d := search.Document{
		ID: t.Exposed, Name: t.Name, Description: said.Title + " " + said.Description,
		Category: e.Override.Category, Tags: e.Override.Tags,
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
	_ = json.Unmarshal(t.InputSchema, &schema)
	for name, p := range schema.Properties {
		d.Parameters = append(d.Parameters, search.Parameter{Name: name, Text: p.Description})
	}
	if f.shelf != nil {
		d.Vector = f.shelf.Vector(t.Source.Name() + " " + t.Name + "\n" + said.Title + "\n" + said.Description)
	}
	return d
}
