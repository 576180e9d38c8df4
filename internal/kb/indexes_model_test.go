package kb_test

import (
	"context"
	"flag"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"genkan/internal/kb"
	"genkan/internal/testkit"
)

// words returns the words of the model's items.
func words() []string {
	return []string{"alpha", "bravo", "kilometer", "設計", "検索", "運用手順"}
}

func drawText(t *rapid.T, what string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words()), 1, 4).Draw(t, what), rapid.SampledFrom([]string{" ", "、", "\n"}).Draw(t, "between"))
}

// slowChecks lowers the number of checks of a slow property to n, unless the command
// line has -rapid.checks.
func slowChecks(t *testing.T, n int) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	if before != f.DefValue && before != "20" { // which testkit.Main sets
		return
	}
	if err := f.Value.Set(strconv.Itoa(n)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(before) })
}

// TestIndexesAgree: after any writes through two processes, each of them finds and walks
// the same as the rows, while files are built all the time.
func TestIndexesAgree(t *testing.T) {
	small := func(k *kb.Indexes) { k.SmallLimits() }
	slowChecks(t, testkit.Count(8, 30))
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			r.Fatal(err)
		}
		two := []*process{openProcess(t, dir, small), openProcess(t, dir, small, (*kb.Indexes).VerifyLater)}
		defer two[0].close()
		defer two[1].close()
		m := &model{two: two, kinds: map[int64]string{}}
		r.Repeat(map[string]func(*rapid.T){
			"create": m.create, "update": m.update, "delete": m.delete, "retype": m.retype, "bulk": m.bulk, "state": m.state,
			"search": m.search, "suggest": m.suggest, "related": m.related, "paths": m.paths, "rebuild": m.rebuild,
		})
		for _, p := range two {
			h, err := p.indexes.Check(context.Background())
			if err != nil || !h.Good() || h.Moving || h.Items != len(m.kinds) {
				r.Fatalf("%d items, and the check says %+v, %v", len(m.kinds), h, err)
			}
		}
	})
}

// model holds two processes and the type of each item.
type model struct {
	two   []*process
	kinds map[int64]string
}

func (m *model) process(t *rapid.T) *process { return m.two[rapid.IntRange(0, 1).Draw(t, "process")] }

func (m *model) ref(t *rapid.T) kb.Ref {
	ids := m.ids()
	if len(ids) == 0 {
		t.Skip("there is nothing yet")
	}
	id := rapid.SampledFrom(ids).Draw(t, "id")
	return kb.Ref{Type: m.kinds[id], ID: id}
}

func (m *model) ids() []int64 {
	var ids []int64
	for id := range m.kinds {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (m *model) patch(t *rapid.T, without int64) kb.Patch {
	title, content := drawText(t, "title"), drawText(t, "content")
	patch := kb.Patch{Title: &title, Content: &content}
	if rapid.Bool().Draw(t, "mark") {
		tags, status := []string{tagOf(t)}, statusOf(t)
		patch.Tags, patch.Status = &tags, &status
	}
	if rapid.Bool().Draw(t, "relate") {
		related := []kb.Ref{}
		for _, id := range m.ids() {
			if id != without && rapid.IntRange(0, 2).Draw(t, "with") == 0 {
				related = append(related, kb.Ref{Type: m.kinds[id], ID: id})
			}
		}
		patch.Related = &related
	}
	return patch
}

func kindOf(t *rapid.T) string { return rapid.SampledFrom([]string{"docs", "issues"}).Draw(t, "kind") }

func tagOf(t *rapid.T) string { return rapid.SampledFrom([]string{"red", "青"}).Draw(t, "tag") }

func statusOf(t *rapid.T) string {
	return rapid.SampledFrom([]string{"Open", "Closed"}).Draw(t, "status")
}

func (m *model) create(t *rapid.T) {
	item, err := m.process(t).Create(context.Background(), kindOf(t), m.patch(t, 0))
	if err != nil {
		t.Fatal(err)
	}
	m.kinds[item.ID] = item.Type
}

func (m *model) update(t *rapid.T) {
	ref := m.ref(t)
	if _, err := m.process(t).Update(context.Background(), ref, m.patch(t, ref.ID)); err != nil {
		t.Fatal(err)
	}
}

func (m *model) delete(t *rapid.T) {
	ref := m.ref(t)
	if _, err := m.process(t).Delete(context.Background(), ref); err != nil {
		t.Fatal(err)
	}
	delete(m.kinds, ref.ID)
}

func (m *model) retype(t *rapid.T) {
	ref := m.ref(t)
	other := map[string]string{"docs": "issues", "issues": "docs"}[ref.Type]
	found, err := m.process(t).ChangeType(context.Background(), ref, other)
	if err != nil {
		t.Fatal(err)
	}
	delete(m.kinds, ref.ID)
	m.kinds[found.Item.ID] = other
}

// bulk changes all items in one write, which is more than a page and a step.
func (m *model) bulk(t *rapid.T) {
	var edits []kb.Edit
	for _, id := range m.ids() {
		content := drawText(t, "content")
		edits = append(edits, kb.Edit{Ref: kb.Ref{Type: m.kinds[id], ID: id}, Patch: kb.Patch{Content: &content}})
	}
	if len(edits) == 0 {
		t.Skip("there is nothing yet")
	}
	if _, err := m.process(t).BulkUpdate(context.Background(), edits); err != nil {
		t.Fatal(err)
	}
}

// state is a write that changes no item.
func (m *model) state(t *rapid.T) {
	text := drawText(t, "state")
	if _, _, err := m.process(t).SetState(context.Background(), kb.StatePatch{Content: text, UpdatedBy: "tester"}); err != nil {
		t.Fatal(err)
	}
}

func (m *model) search(t *rapid.T) {
	q := kb.Query{Text: strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(words(), "計", "用手", "ALPHA ")), 1, 2).Draw(t, "words"), " "), Limit: kb.MaxPage}
	if rapid.Bool().Draw(t, "typed") {
		q.Types = []string{kindOf(t)}
	}
	if rapid.Bool().Draw(t, "tagged") {
		q.Tag = tagOf(t)
	}
	if rapid.Bool().Draw(t, "with a status") {
		q.Statuses = []string{statusOf(t)}
	}
	sameAsRows(t, m.process(t), q)
}

func (m *model) suggest(t *rapid.T) {
	p, q := m.process(t), kb.Query{Text: rapid.SampledFrom([]string{"al", "Bravo", "設", "設計、", "検索", "kilo"}).Draw(t, "begun"), Limit: kb.MaxSuggestions}
	want, err := kb.NewScan(p.store).Suggest(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.indexes.Suggest(context.Background(), q)
	if diff := gocmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("%q: %v (-want +got)\n%s", q.Text, err, diff)
	}
}

func (m *model) related(t *rapid.T) {
	p, id := m.process(t), m.ref(t).ID
	depth, most := rapid.IntRange(1, kb.MaxDepth).Draw(t, "depth"), rapid.IntRange(1, 8).Draw(t, "most")
	want, err := kb.NewWalk(p.store).Related(context.Background(), id, depth, most)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.indexes.Related(context.Background(), id, depth, most)
	if diff := gocmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("around %d: %v (-want +got)\n%s", id, err, diff)
	}
}

func (m *model) paths(t *rapid.T) {
	p, from, to := m.process(t), m.ref(t).ID, m.ref(t).ID
	if from == to {
		return
	}
	want, err := kb.NewWalk(p.store).Paths(context.Background(), from, to, 5, 3)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.indexes.Paths(context.Background(), from, to, 5, 3)
	if diff := gocmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("from %d to %d: %v (-want +got)\n%s", from, to, err, diff)
	}
}

func (m *model) rebuild(t *rapid.T) {
	err := m.process(t).indexes.Rebuild(context.Background(), nil)
	if err != nil && !strings.Contains(err.Error(), "another process is building") {
		t.Fatal(err)
	}
}
