package cli

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/testscript"

	"genkan/internal/kb/exchange"
)

// cmdSameItems compares two exports. Ids and times differ between knowledge bases;
// relations are compared by the titles of their ends.
func cmdSameItems(ts *testscript.TestScript, _ bool, args []string) {
	if diff := gocmp.Diff(itemsOf(ts, args[0]), itemsOf(ts, args[1]), cmpopts.EquateEmpty()); diff != "" {
		ts.Fatalf("-%s +%s:\n%s", args[0], args[1], diff)
	}
}

func itemsOf(ts *testscript.TestScript, name string) []exchange.Item {
	f, err := os.Open(ts.MkAbs(name))
	ts.Check(err)
	defer func() { _ = f.Close() }()
	var items []exchange.Item
	titles, times := map[string]string{}, map[string]int{}
	for record, err := range exchange.ReadLines(name, f) {
		ts.Check(err)
		items = append(items, record.Item)
	}
	// Of items with the same title, the one with more relations is first.
	slices.SortFunc(items, func(a, b exchange.Item) int {
		return cmp.Or(strings.Compare(a.Title, b.Title), cmp.Compare(len(b.Related), len(a.Related)), cmp.Compare(a.ID, b.ID))
	})
	related := map[string]map[string]bool{}
	for _, i := range items {
		times[i.Title]++
		titles[refText(i)] = i.Title + " " + strconv.Itoa(times[i.Title])
	}
	for _, i := range items { // a file may name a relation at one end only
		for _, other := range i.Related {
			relations(related).add(titles[refText(i)], titles[other])
		}
	}
	for n := range items {
		i := &items[n]
		i.Related = nil
		for other := range related[titles[refText(*i)]] {
			i.Related = append(i.Related, other)
		}
		slices.Sort(i.Related)
		i.Status, i.Priority = cmp.Or(i.Status, "Open"), cmp.Or(i.Priority, "MEDIUM")
		i.ID, i.CreatedAt, i.UpdatedAt = 0, time.Time{}, time.Time{}
	}
	return items
}
