package kb_test

import (
	"encoding/json"
	"strings"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/kb"
	"genkan/internal/lang"
	"genkan/internal/search"
)

func inLanguage(l lang.Language) kb.Languages {
	return kb.Languages{Translate: l.Translator(), Others: l.Others()}
}

// searched returns the tools of the knowledge base as the search over tools knows them.
func searched(t *testing.T, l lang.Language) search.Server {
	t.Helper()
	tools := kb.NewTools(kb.New(newBase(t).store, kb.Options{}), inLanguage(l))
	about := tools.About()
	server := search.Server{Name: tools.Name(), Title: about.Title, Description: about.Description}
	for _, tool := range tools.List(gateway.KindTool) {
		var said struct {
			Title, Description string
			InputSchema        struct {
				Properties map[string]struct{ Description string }
			}
		}
		if err := json.Unmarshal(tool.Definition, &said); err != nil {
			t.Fatal(err)
		}
		d := search.Document{
			ID: tool.Name, Name: tool.Name, Description: said.Title + " " + said.Description + " " + tool.Labels.Translations,
			Category: tool.Labels.Category, Tags: tool.Labels.Tags,
		}
		for _, e := range tool.Labels.Examples {
			d.Examples = append(d.Examples, e.Description)
		}
		for name, p := range said.InputSchema.Properties {
			d.Parameters = append(d.Parameters, search.Parameter{Name: name, Text: p.Description})
		}
		server.Documents = append(server.Documents, d)
	}
	return server
}

// crowd returns a hundred tools of other servers, which also create, search and update.
func crowd() []search.Server {
	var all []search.Server
	for _, thing := range strings.Fields("file issue branch message channel event page customer invoice container email contact ticket image playlist table dashboard meeting order reminder") {
		server := search.Server{Name: thing + "s", Title: strings.ToUpper(thing[:1]) + thing[1:] + "s"}
		for verb, text := range map[string]string{
			"create": "Create a new ", "get": "Get the details of a ", "list": "List and filter every ", "update": "Update or rename a ", "search": "Search by keywords for a ",
		} {
			server.Documents = append(server.Documents, search.Document{ID: verb + "_" + thing, Name: verb + "_" + thing, Description: text + thing + "."})
		}
		all = append(all, server)
	}
	return all
}

// TestFound: agents find the tools by what they want to do, in English and Japanese,
// whatever the language of the definitions.
func TestFound(t *testing.T) {
	for _, l := range lang.All() {
		index := search.New(append(crowd(), searched(t, l))...)
		for query, want := range map[string]string{
			"remember this decision":            "create_item",
			"note this for later":               "create_item",
			"覚えておく":                             "create_item",
			"覚えておいて":                            "create_item",
			"メモして":                              "create_item",
			"これを記録して":                           "create_item",
			"what do we know about the gateway": "search_items",
			"what do we know about caching":     "search_items",
			"調べて":                               "search_items",
			"API について調べて":                       "search_items",
			"関連アイテム":                            "get_related_items",
			"which items are related":           "get_related_items",
			"how are two items connected":       "find_path",
			"where did we stop last time":       "get_current_state",
			"前回はどこまで進んだか":                       "get_current_state",
			"現在状態を更新":                           "update_current_state",
			"タグ一覧":                              "get_tags",
			"update many items at once":         "bulk_update",
		} {
			r := index.Search(search.Query{Text: query, Limit: 3})
			if len(r.Hits) == 0 || r.Hits[0].Document.ID != want {
				var got []string
				for _, h := range r.Hits {
					got = append(got, h.Document.ID)
				}
				t.Errorf("%s, %q: %v, want %s", l, query, got, want)
			}
		}
	}
}
