package crashtest

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"genkan/internal/kb"
)

// scene is a ledger of one writer with two related items, and what can be read
// when all is well.
func scene(t *testing.T) (*ledger, rows) {
	t.Helper()
	l := newLedger()
	l.seq, l.highest = 1, 1
	hear := func(o op, refs map[string]kb.Ref) {
		t.Helper()
		for _, said := range []line{{Op: &o}, {Done: &done{Writer: o.Writer, Refs: refs}}} {
			if err := l.hear(said); err != nil {
				t.Fatal(err)
			}
		}
	}
	hear(op{0, opCreate, []change{{Key: "0.1.1", Version: "1", Type: "docs", Text: new("1 10"), Tags: &[]string{"all", "x"}}}},
		map[string]kb.Ref{"0.1.1": {Type: "docs", ID: 2}})
	hear(op{0, opCreate, []change{{Key: "0.1.2", Version: "2", Type: "docs", Text: new("2 9000"), Tags: &[]string{"all"}, Related: &[]string{"0.1.1", "hub"}}}},
		map[string]kb.Ref{"0.1.2": {Type: "docs", ID: 3}})
	hear(op{0, opRetype, []change{{Key: "0.1.1", Type: "note"}}}, map[string]kb.Ref{"0.1.1": {Type: "note", ID: 4}})
	hear(op{1, opCreate, []change{{Key: "1.1.1", Version: "1", Type: "docs", Text: new("1 10")}}}, map[string]kb.Ref{"1.1.1": {Type: "docs", ID: 5}})
	hear(op{1, opDelete, []change{{Key: "1.1.1"}}}, nil)

	hub, one, two := kb.Ref{Type: "docs", ID: 1}, kb.Ref{Type: "note", ID: 4}, kb.Ref{Type: "docs", ID: 3}
	at := func(ref kb.Ref, key, text, version string, tags []string, related ...kb.Ref) kb.Item {
		return kb.Item{
			ID: ref.ID, Type: ref.Type, Title: title(key, text), Content: content(key, text),
			Version: version, Status: "Open", Tags: tags, Related: related,
		}
	}
	r := rows{
		Seq: 6,
		Items: []kb.Item{
			at(hub, hubKey, "0 10", "", nil, two),
			at(two, "0.1.2", "2 9000", "2", []string{"all"}, hub, one),
			at(one, "0.1.1", "1 10", "1", []string{"all", "x"}, two),
		},
		Found: map[kb.Ref]kb.Ref{{Type: "docs", ID: 2}: one},
	}
	r.recount()
	return l, r
}

// recount makes all that is counted agree with the items.
func (r *rows) recount() {
	r.Total, r.Relations = len(r.Items), kb.Relations{Seq: r.Seq}
	r.Counts = map[string]int{}
	used := map[string]int{}
	for _, it := range r.Items {
		r.Counts[it.Type+" "+it.Status]++
		r.Relations.IDs = append(r.Relations.IDs, it.ID)
		for _, tag := range it.Tags {
			used[tag]++
		}
		for _, other := range it.Related {
			if it.ID < other.ID {
				r.Relations.Edges = append(r.Relations.Edges, kb.Edge{A: it.ID, B: other.ID})
			}
		}
	}
	slices.Sort(r.Relations.IDs)
	slices.SortFunc(r.Relations.Edges, func(a, b kb.Edge) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	r.Tags = nil
	for _, name := range slices.SortedFunc(maps.Keys(used), func(a, b string) int { return cmp.Or(used[b]-used[a], strings.Compare(a, b)) }) {
		r.Tags = append(r.Tags, kb.Tag{Name: name, Count: used[name]})
	}
}

// drop takes an item away with everything that leads to it.
func (r *rows) drop(i int) {
	gone := r.Items[i].Ref()
	r.Items = slices.Delete(r.Items, i, i+1)
	for j := range r.Items {
		r.Items[j].Related = slices.DeleteFunc(r.Items[j].Related, func(ref kb.Ref) bool { return ref == gone })
	}
	r.recount()
}

// TestJudge: what the judge must notice, and what is no crime. Most rows agree
// with one another: only who knows what was acknowledged can tell.
func TestJudge(t *testing.T) {
	under := func(o op) func(*ledger) {
		return func(l *ledger) { l.pending[o.Writer] = o }
	}
	text := under(op{0, opUpdate, []change{{Key: "0.1.1", Version: "3", Text: new("3 10")}}})
	bulk := under(op{0, opBulk, []change{{Key: "0.1.1", Version: "3"}, {Key: "0.1.2", Version: "3"}}})
	create := under(op{1, opCreate, []change{{Key: "1.1.2", Version: "2", Type: "docs", Text: new("2 10")}}})
	retype := under(op{0, opRetype, []change{{Key: "0.1.2", Type: "a-b"}}})
	remove := under(op{0, opDelete, []change{{Key: "0.1.1"}}})
	created := func(r *rows, key, text string, id int64) {
		r.Items = append(r.Items, kb.Item{
			ID: id, Type: "docs", Title: title(key, text), Content: content(key, text), Version: "2", Status: "Open",
		})
		r.recount()
	}
	written := func(r *rows, i int, text string) {
		key, _, _ := strings.Cut(r.Items[i].Title, " ")
		r.Items[i].Title, r.Items[i].Content, r.Items[i].Version = title(key, text), content(key, text), "3"
	}
	next := func(r *rows) { r.Seq++; r.recount() }

	for name, c := range map[string]struct {
		said func(*ledger)
		read func(*rows)
		want string // empty: all is well
	}{
		"all is there":                   {},
		"a write under way was not made": {said: text},
		"a write under way was made":     {said: text, read: func(r *rows) { written(r, 2, "3 10"); next(r) }},
		"a create under way was made":    {said: create, read: func(r *rows) { created(r, "1.1.2", "2 10", 6); next(r) }},
		"a delete under way was made":    {said: remove, read: func(r *rows) { r.drop(2); next(r) }},
		"a change of type under way was made": {said: retype, read: func(r *rows) {
			now := kb.Ref{Type: "a-b", ID: 6}
			r.Found[r.Items[1].Ref()] = now
			r.Items[1].Type, r.Items[1].ID = now.Type, now.ID
			r.Items[0].Related, r.Items[2].Related = []kb.Ref{now}, []kb.Ref{now}
			r.Items[1].Related = []kb.Ref{r.Items[0].Ref(), r.Items[2].Ref()}
			next(r)
			r.Relations.Edges = []kb.Edge{{A: 1, B: 6}, {A: 4, B: 6}}
		}},
		"a bulk update under way was made": {said: bulk, read: func(r *rows) {
			r.Items[1].Version, r.Items[2].Version = "3", "3"
			next(r)
		}},

		"an acknowledged create is lost":    {read: func(r *rows) { r.drop(1) }, want: `- 	"0.1.2"`},
		"everything is lost":                {read: func(r *rows) { *r = rows{Seq: r.Seq}; r.recount() }, want: "-acknowledged"},
		"an acknowledged update is lost":    {read: func(r *rows) { written(r, 1, "1 9000") }, want: `Text:    "2 9000"`},
		"an acknowledged delete is undone":  {read: func(r *rows) { created(r, "1.1.1", "1 10", 5) }, want: `+ 	"1.1.1"`},
		"an acknowledged type is lost":      {read: func(r *rows) { r.Items[2].Type = "docs"; r.Items[1].Related[1].Type = "docs"; r.recount() }, want: `Type: "note"`},
		"an acknowledged tag is lost":       {read: func(r *rows) { r.Items[2].Tags = []string{"all"}; r.recount() }, want: `"x"`},
		"an acknowledged relation is lost":  {read: func(r *rows) { r.Items[1].Related, r.Items[2].Related = r.Items[1].Related[:1], nil; r.recount() }, want: `"0.1.1"`},
		"an acknowledged status is another": {read: func(r *rows) { r.Items[1].Status = "Closed"; r.recount() }, want: `Status`},
		"another id than was acknowledged": {read: func(r *rows) {
			r.Items[1].ID = 9
			r.Items[0].Related[0].ID = 9
			r.Items[2].Related[0].ID = 9
			r.recount()
			r.Relations.Edges = []kb.Edge{{A: 1, B: 9}, {A: 4, B: 9}}
		}, want: "ID"},
		"half of a bulk update":              {said: bulk, read: func(r *rows) { r.Items[1].Version = "3"; next(r) }, want: "nor with it"},
		"the content of another write":       {read: func(r *rows) { r.Items[1].Content = content("0.1.2", "3 10") }, want: "does not belong to its title"},
		"a content that was cut":             {read: func(r *rows) { r.Items[1].Content = r.Items[1].Content[:4096] }, want: "does not belong to its title"},
		"an item twice":                      {read: func(r *rows) { created(r, "0.1.1", "1 10", 2) }, want: "are the same item"},
		"an id used again":                   {said: create, read: func(r *rows) { created(r, "1.1.2", "2 10", 5); next(r) }, want: "ID"},
		"an item of nobody":                  {read: func(r *rows) { created(r, "7.1.1", "2 10", 8) }, want: `+ 	"7.1.1"`},
		"a former reference finds nothing":   {read: func(r *rows) { clear(r.Found) }, want: "was once docs-2"},
		"a lost write with one under way":    {said: create, read: func(r *rows) { r.drop(1) }, want: `- 	"0.1.2"`},
		"a lost write of the one under way":  {said: text, read: func(r *rows) { r.Items[2].Tags = nil; r.recount() }, want: "neither without"},
		"the sequence went back":             {read: func(r *rows) { r.Seq = 5; r.recount() }, want: "the sequence is 5"},
		"the sequence has one too many":      {read: func(r *rows) { next(r) }, want: "the sequence is 7"},
		"a write under way without a number": {said: text, read: func(r *rows) { written(r, 2, "3 10") }, want: "the sequence is 6"},
		"a relation to what is gone":         {read: func(r *rows) { r.Items[0].Related = append(r.Items[0].Related, kb.Ref{Type: "docs", ID: 5}) }, want: "which is not there"},
		"a relation under a former type":     {read: func(r *rows) { r.Items[1].Related[1].Type = "docs" }, want: "which is not there"},
		"a relation with one end":            {read: func(r *rows) { r.Items[2].Related = nil }, want: "not the other way"},
		"a relation that no item has":        {read: func(r *rows) { r.Relations.Edges = append(r.Relations.Edges, kb.Edge{A: 4, B: 5}) }, want: "the relations"},
		"a tag counted wrongly":              {read: func(r *rows) { r.Tags[0].Count++ }, want: "the tags"},
		"a tag of nobody":                    {read: func(r *rows) { r.Tags = append(r.Tags, kb.Tag{Name: "stale"}) }, want: "the tags"},
		"a wrong total":                      {read: func(r *rows) { r.Total++ }, want: "the total"},
		"a wrong count":                      {read: func(r *rows) { r.Counts["docs Open"]-- }, want: "the counts"},
	} {
		t.Run(name, func(t *testing.T) {
			l, r := scene(t)
			if c.said != nil {
				c.said(l)
			}
			if c.read != nil {
				c.read(&r)
			}
			err := l.judge(r)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "\u00a0", " "), c.want)):
				t.Errorf("got %v, want %q", err, c.want)
			}
			if err != nil {
				return
			}
			if err := l.judge(r); err != nil {
				t.Errorf("what was right is not any more: %v", err)
			}
		})
	}
}

// TestLedger: what the writers cannot have said.
func TestLedger(t *testing.T) {
	create := op{0, opCreate, []change{{Key: "0.1.1", Type: "docs", Text: new("1 10")}}}
	for name, said := range map[string][]line{
		"two at once":        {{Op: &create}, {Op: &create}},
		"done without begin": {{Done: &done{}}},
		"an error":           {{Error: "the disk is full"}},
		"an id used again": {
			{Op: &create},
			{Done: &done{Refs: map[string]kb.Ref{"0.1.1": {Type: "docs", ID: 1}}}},
			{Op: &op{0, opRetype, []change{{Key: "0.1.1", Type: "note"}}}},
			{Done: &done{Refs: map[string]kb.Ref{"0.1.1": {Type: "note", ID: 1}}}},
		},
	} {
		l := newLedger()
		var err error
		for _, one := range said {
			err = l.hear(one)
		}
		if err == nil {
			t.Errorf("%s: not noticed", name)
		}
	}
}
