package catalog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"genkan/internal/gateway"
)

// Lists that gained, lost or changed a tool are named with their new length; others are
// not.
func TestChangedSince(t *testing.T) {
	t.Parallel()
	same, more, gone, other := source("same", "a"), source("more", "a"), source("gone", "a", "b"), source("other", "a")
	c := newCatalog(0, mount(same, "same"), mount(more, "more"), mount(gone, "gone"), mount(other, "other"))
	before := c.Snapshot()
	same.set(definition("a"))
	more.add("b", definition("b"))
	gone.set()
	other.set(`{"name":"a","description":"new","inputSchema":{"type":"object"}}`)
	c.Refresh(gateway.KindTool, "same", "more", "gone", "other")
	var got []string
	for _, change := range c.Snapshot().ChangedSince(before) {
		got = append(got, fmt.Sprint(change.Source, " ", change.Kind, " ", change.Count))
	}
	slices.Sort(got)
	if want := "gone tools 0, more tools 2, other tools 1"; strings.Join(got, ", ") != want {
		t.Errorf("got %q", got)
	}
	if changes := before.ChangedSince(before); changes != nil {
		t.Errorf("got %+v", changes)
	}
}
