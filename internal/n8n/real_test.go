package n8n_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"genkan/internal/lang"
	"genkan/internal/n8n"
	n8nreal "genkan/internal/testkit/n8n"
	"genkan/internal/testkit/n8nfake"
)

// TestRealN8n runs the tools against a real n8n. The subtests share it.
func TestRealN8n(t *testing.T) {
	i := n8nreal.Start(t)
	t.Run("conversations", func(t *testing.T) { realConversations(t, i) })
	t.Run("tools", func(t *testing.T) {
		l := newRealLab(t, i)
		t.Run("tokens", l.tokens)
		l.executions(t)
		l.listing(t)
		l.running(t)
		l.updates(t)
		l.tagging(t)
		l.largeWorkflow(t)
		l.searching(t)
		l.runs(t)
		l.scopes(t)
		l.Keep(t, "tools", l.report.String())
	})
	t.Run("reads", func(t *testing.T) {
		l := &realLab{Instance: i, source: realSource(t, i.URL, i.APIKey)}
		l.reads(t)
	})
}

// realConversations plays the conversations in testdata against a real n8n, which must
// have no workflows. Faults happen on the way to it. Left out are exchanges after a comment
// with "Only the fake", and conversations that say so.
func realConversations(t *testing.T, i *n8nreal.Instance) {
	i.NeedsWriting(t)
	var list struct{ Data []any }
	i.Must(t, http.MethodGet, "/workflows?limit=1", nil, &list)
	if len(list.Data) > 0 {
		t.Skip("the conversations need an n8n without workflows")
	}
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			arc, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(arc.Comment), "Only the fake") {
				t.Skip("not with a real n8n")
			}
			newReplay(t, i, arc).play(arc)
		})
	}
}

// replay is a conversation with a real n8n. Its ids, versions and times differ from those
// that are written down.
type replay struct {
	t      *testing.T
	i      *n8nreal.Instance
	front  *n8nfake.N8N
	setup  n8n.Setup
	source *n8n.Source
	dir    string
	ids    map[string]string // real ids by those of the conversation
	played int
}

func newReplay(t *testing.T, i *n8nreal.Instance, arc *txtar.Archive) *replay {
	r := &replay{t: t, i: i, front: n8nfake.Before(t, i.URL), dir: t.TempDir(), ids: map[string]string{}}
	reader := &n8n.Reader{Dir: r.dir}
	r.setup.Executions = reader
	t.Cleanup(func() {
		reader.Close()
		for _, id := range r.ids {
			i.Delete(t, id)
		}
	})
	for _, f := range arc.Files {
		switch {
		case strings.HasPrefix(f.Name, "workflows/"):
			r.store(f.Data)
		case strings.HasPrefix(f.Name, "files/"):
			if err := os.WriteFile(filepath.Join(r.dir, filepath.Base(f.Name)), f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
		case f.Name == "lang":
			l, _ := lang.Parse(strings.TrimSpace(string(f.Data)))
			r.setup.Translate = l.Translator()
		}
	}
	r.source = newSource(t, r.front.URL, i.APIKey, r.setup)
	return r
}

// store makes a workflow of the conversation.
func (r *replay) store(raw []byte) {
	r.t.Helper()
	var w map[string]any
	if err := json.Unmarshal(raw, &w); err != nil {
		r.t.Fatal(err)
	}
	sent := maps.Clone(w)
	for _, key := range []string{"id", "active", "isArchived", "tags"} {
		delete(sent, key)
	}
	if sent["settings"] == nil {
		sent["settings"] = map[string]any{"executionOrder": "v1"}
	}
	id := r.i.Create(r.t, sent)
	r.ids[w["id"].(string)] = id
	at := "/workflows/" + id
	tags := []any{}
	list, _ := w["tags"].([]any)
	for _, one := range list {
		tags = append(tags, map[string]any{"id": r.tag(one.(map[string]any)["name"])})
	}
	r.i.Must(r.t, http.MethodPut, at+"/tags", tags, nil)
	if w["active"] == true {
		r.i.Must(r.t, http.MethodPost, at+"/activate", nil, nil)
	}
	if w["isArchived"] == true {
		r.i.Must(r.t, http.MethodPost, at+"/archive", nil, nil)
	}
}

// tag returns the id of a tag, which is made if it is not there.
func (r *replay) tag(name any) (id string) {
	r.t.Helper()
	var known struct{ Data []struct{ ID, Name string } }
	r.i.Must(r.t, http.MethodGet, "/tags?limit=250", nil, &known)
	for _, one := range known.Data {
		if one.Name == name {
			return one.ID
		}
	}
	var made struct{ ID string }
	r.i.Must(r.t, http.MethodPost, "/tags", map[string]any{"name": name}, &made)
	r.t.Cleanup(func() { r.i.Call(r.t, http.MethodDelete, "/tags/"+made.ID, nil) })
	return made.ID
}

func (r *replay) play(arc *txtar.Archive) {
	var sent string
	skip := false
	for _, f := range arc.Files {
		if f.Name != "talk" {
			continue
		}
		for line := range strings.Lines(string(f.Data)) {
			mark, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch {
			case mark == "#" && strings.Contains(rest, "Only the fake"):
				skip = true
			case mark == "->" && strings.HasPrefix(rest, `{"fault"`):
				if !skip {
					r.front.Fail(faultIn(r.t, rest))
				}
			case mark == "->" && strings.HasPrefix(rest, `{"key"`):
				key := r.i.APIKey
				if !strings.Contains(rest, n8nfake.Key) {
					key = "wrong-key"
				}
				r.source = newSource(r.t, r.front.URL, key, r.setup)
			case mark == "->":
				sent = rest
			case mark == "<-" && skip:
				skip = false
			case mark == "<-":
				r.exchange(sent, rest)
			}
		}
	}
	r.t.Logf("%d exchanges", r.played)
}

func (r *replay) exchange(sent, want string) {
	r.t.Helper()
	r.played++
	line := sent
	for shown, id := range r.ids {
		line = strings.ReplaceAll(line, `"`+shown+`"`, `"`+id+`"`)
	}
	text, err := call(r.t.Context(), r.source, r.dir, []byte(line))
	if err != nil {
		r.t.Errorf("%s\n%v", sent, err)
		return
	}
	got := strings.ReplaceAll(string(text), r.front.URL, "http://n8n.test")
	if made := regexp.MustCompile(`wf\d{6}`).FindString(want); made != "" && r.ids[made] == "" {
		var answer struct{ Data struct{ ID string } }
		if err := json.Unmarshal(text, &answer); err != nil || answer.Data.ID == "" {
			r.t.Errorf("%s\nnothing was created: %s", sent, text)
			return
		}
		r.ids[made] = answer.Data.ID
	}
	for shown, id := range r.ids {
		got = strings.ReplaceAll(got, id, shown)
	}
	if !reflect.DeepEqual(timeless(r.t, want), timeless(r.t, got)) {
		r.t.Errorf("%s\nthe fake answers %s\nn8n answers     %s", sent, want, got)
	}
}

// timeless returns an answer without the versions and times that differ each time. n8n
// gives tags any order, and lists workflows by id.
func timeless(t *testing.T, answer string) (v any) {
	t.Helper()
	answer = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`).ReplaceAllString(answer, "VERSION")
	answer = regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z`).ReplaceAllString(answer, "TIME")
	answer = regexp.MustCompile(`"tags":\["[^]]*\]`).ReplaceAllStringFunc(answer, func(tags string) string {
		names := strings.Split(tags[len(`"tags":[`):len(tags)-1], ",")
		slices.Sort(names)
		return `"tags":[` + strings.Join(names, ",") + "]"
	})
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	data := v.(map[string]any)["data"]
	if fields, ok := data.(map[string]any); ok {
		data = fields["workflows"]
	}
	if list, ok := data.([]any); ok {
		slices.SortFunc(list, func(a, b any) int {
			return strings.Compare(a.(map[string]any)["id"].(string), b.(map[string]any)["id"].(string))
		})
	}
	return v
}
