package doctor_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/doctor"
)

// What is said about the knowledge base, and about the database that it is in.
func TestKnowledge(t *testing.T) {
	const (
		index   = "/srv/example/kb-index/7.index"
		rebuild = " > genkan doctor --rebuild"
		slow    = " | who opens it reads every item for each search, which takes longer, and begins to build it anew; a genkan that has it open goes on with it"
		mend    = rebuild + " > rebuild it, which mends what can be mended; copy the data directory first"
		restore = " > stop genkan and put a backup in its place; without one, `genkan kb export FOLDER` saves what can be read"
	)
	for name, c := range map[string]struct {
		change func(k *doctor.Knowledge)
		want   []string
	}{
		"well": {
			func(*doctor.Knowledge) {},
			[]string{"ok knowledge: items: 5000; text index: 3 KB, built 2026-01-02 03:04, writes since then: 3"},
		},
		"not looked at": {func(k *doctor.Knowledge) { *k = doctor.Knowledge{} }, nil},
		"off":           {func(k *doctor.Knowledge) { k.Off = true }, []string{"note knowledge: it is switched off, and keeps what it holds (kb.enabled)"}},
		"hidden": {
			func(k *doctor.Knowledge) { k.Hidden, k.Items, k.Index = true, 7, doctor.Index{InMemory: true} },
			[]string{
				"warning knowledge: a server has the name kb, so the knowledge base is hidden from all clients | what it holds is kept > give that server another name in /srv/example/genkan.yaml, and in the entries of clients that start genkan with --only kb",
				"ok knowledge: items: 7; the text index needs no file",
			},
		},
		"unreadable": {
			func(k *doctor.Knowledge) { *k = doctor.Knowledge{Problem: text("no")} },
			[]string{"problem knowledge: the knowledge base cannot be read | no"},
		},
		"small": {
			func(k *doctor.Knowledge) { k.Items, k.Index = 7, doctor.Index{InMemory: true} },
			[]string{"ok knowledge: items: 7; the text index needs no file"},
		},
		"small, with a file that was removed": {
			func(k *doctor.Knowledge) { k.Items, k.Index.InMemory, k.Index.Missing = 7, true, true },
			[]string{"ok knowledge: items: 7; the text index needs no file"},
		},
		"not built yet": {
			func(k *doctor.Knowledge) { k.Index = doctor.Index{} },
			[]string{"note knowledge: items: 5000; there is no text index yet, and the first search builds it"},
		},
		"being built": {
			func(k *doctor.Knowledge) { k.Index = doctor.Index{Missing: true, Done: 70, Total: 5000} },
			[]string{"note knowledge: items: 5000; the text index is being built: 70 of 5000"},
		},
		"a missing file": {
			func(k *doctor.Knowledge) { k.Index.Missing = true },
			[]string{"warning knowledge: the text index is not there: " + index + slow + rebuild},
		},
		"a damaged file": {
			func(k *doctor.Knowledge) { k.Index.Damage = "checksum" },
			[]string{"warning knowledge: the text index is damaged: " + index + slow + " | checksum" + rebuild},
		},
		"large": {
			func(k *doctor.Knowledge) { k.Checked = "" },
			[]string{
				"note data: the database is large, and was not read as a whole > genkan doctor --full",
				"ok knowledge: items: 5000; text index: 3 KB, built 2026-01-02 03:04, writes since then: 3",
			},
		},
		"damaged": {
			func(k *doctor.Knowledge) { k.Damage = []string{"1", "2", "3", "4", "5", "6"} },
			[]string{
				"problem data: the database is damaged | what is in the damaged parts cannot be relied on; SQLite says: | 1 | 2 | 3 | 4 | 5 | …" + mend,
				"ok knowledge: items: 5000; text index: 3 KB, built 2026-01-02 03:04, writes since then: 3",
			},
		},
		"damaged for good": {
			func(k *doctor.Knowledge) {
				k.Damage, k.MendProblem, k.RebuildProblem, k.Index = []string{"1"}, text("no"), text("no"), doctor.Index{}
			},
			[]string{
				"problem data: the database is damaged | what is in the damaged parts cannot be relied on; SQLite says: | 1" + restore,
				"problem knowledge: what is wrong in the database could not be mended | no",
				"note knowledge: items: 5000; there is no text index yet, and the first search builds it",
				"problem knowledge: text index and graph could not be made anew | no" + rebuild,
			},
		},
		"entries that lead nowhere": {
			func(k *doctor.Knowledge) { k.Orphans, k.Wrong, k.Index = 2, 1, doctor.Index{InMemory: true} },
			[]string{
				"problem knowledge: entries that lead to something that is not there: 2 | relations, tags or references of items that are gone; what is found through them may be wrong" + mend,
				"problem knowledge: counts that do not agree with the items: 1 | lists may tell wrong totals, and changes may be missed" + mend,
				"ok knowledge: items: 5000; the text index needs no file",
			},
		},
		"mended": {
			func(k *doctor.Knowledge) {
				k.Checked, k.Mended, k.Rebuilt, k.Index = doctor.CheckedWhole, true, true, doctor.Index{InMemory: true}
				k.Compared = &doctor.Comparison{Items: 5000, Relations: 9, Indexed: true}
			},
			[]string{
				"ok data: the database was read as a whole, and is as it should be",
				"ok knowledge: what was wrong in the database was mended",
				"ok knowledge: items: 5000; the text index needs no file",
				"ok knowledge: text index and graph were made anew",
				"ok knowledge: text index and graph agree with all rows; items: 5000, relations: 9",
			},
		},
		"index and graph are others": {
			func(k *doctor.Knowledge) {
				k.Index = doctor.Index{InMemory: true}
				k.Compared = &doctor.Comparison{Items: 5000, Indexed: true, Texts: []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, Links: []int64{3}, Damage: "checksum"}
			},
			[]string{
				"ok knowledge: items: 5000; the text index needs no file",
				"warning knowledge: the text index that is in use is damaged | searches may be wrong until it is built anew | checksum" + rebuild,
				"problem knowledge: text index or graph say something else than the rows | searches, related items or paths may be wrong for these | index: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, … | graph: 3" + rebuild,
			},
		},
		"the file is damaged in a part that was not compared": {
			func(k *doctor.Knowledge) {
				k.Index = doctor.Index{Path: index, Damage: "checksum"}
				k.Compared = &doctor.Comparison{Items: 5000, Indexed: true, Damage: "checksum"}
			},
			[]string{"warning knowledge: the text index is damaged: " + index + slow + " | checksum" + rebuild},
		},
		"all the while written to": {
			func(k *doctor.Knowledge) {
				k.Index = doctor.Index{InMemory: true}
				k.Compared = &doctor.Comparison{Items: 5000, Indexed: true, Extra: true, Moving: true}
			},
			[]string{
				"ok knowledge: items: 5000; the text index needs no file",
				"note knowledge: items were changed all the while, so text index and graph could not be compared with the rows > genkan doctor --full > compare again when less is written",
			},
		},
		"nothing to compare, and no way to": {
			func(k *doctor.Knowledge) { k.Compared = &doctor.Comparison{Items: 5000} },
			[]string{
				"ok knowledge: items: 5000; text index: 3 KB, built 2026-01-02 03:04, writes since then: 3",
				"note knowledge: there was no text index to compare with the rows; the graph agrees with them",
			},
		},
		"no comparison": {
			func(k *doctor.Knowledge) { k.Compared = &doctor.Comparison{Problem: text("no")} },
			[]string{
				"ok knowledge: items: 5000; text index: 3 KB, built 2026-01-02 03:04, writes since then: 3",
				"problem knowledge: text index and graph could not be compared with the rows | no",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			facts := healthy()
			facts.Knowledge = doctor.Knowledge{
				Looked: true, Checked: doctor.CheckedQuickly, Sequence: 10, Items: 5000,
				Index: doctor.Index{Path: index, Size: 3000, Built: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local), Covers: 7},
			}
			c.change(&facts.Knowledge)
			var got []string
			for _, f := range doctor.Examine(facts) {
				said := line(f)
				if f.Subject.Kind == doctor.OfKnowledge || f.Subject.Kind == doctor.OfData && said != "ok data: data directory /srv/example" && said != "ok data: database: 5 KB" {
					got = append(got, said)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			checkUnforged(t, facts)
		})
	}
}
