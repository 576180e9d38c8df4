package catalog_test

import (
	"fmt"
	"strings"
	"testing"

	"genkan/internal/gateway"
)

// withResources is a source with resources and templates.
func withResources(name string, uris, templates []string) *several {
	s := &several{name, map[gateway.Kind][]string{}}
	for _, uri := range uris {
		s.lists[gateway.KindResource] = append(s.lists[gateway.KindResource], fmt.Sprintf(`{"uri":%q,"name":"r"}`, uri))
	}
	for _, template := range templates {
		s.lists[gateway.KindTemplate] = append(s.lists[gateway.KindTemplate], fmt.Sprintf(`{"uriTemplate":%q,"name":"t"}`, template))
	}
	return s
}

// A server cannot take resources that belong to an earlier one, or that another
// one lists; what it tries is reported with the names of both.
func TestResourcesOfOthersAreNotTaken(t *testing.T) {
	first := withResources("first", []string{"a://1", "b://2"}, []string{"a://{x}/notes"})
	second := withResources("second", []string{"a://1", "c://3"}, []string{"a://{x}/notes", "b://{x}", "{+path}", "{scheme}://{+rest}", "d://{+rest}"})
	third := withResources("third", []string{"d://5/6"}, []string{"a://{x}/{y}"})
	c := newCatalog(0, mount(first, "f"), mount(second, "s"), mount(third, "t"))
	for uri, want := range map[string]string{
		"a://1": "first", "b://2": "first", // listed
		"c://3": "second", "d://5/6": "third", // listed, whatever matches
		"a://1/notes": "first", "b://9": "second", "d://9": "second", "a://1/other": "third", // by template
		"z://anything/at?all": "first", // nobody lists it
	} {
		if got := c.Find(gateway.KindResource, uri).Source.Name(); got != want {
			t.Errorf("%s is read from %s, want %s", uri, got, want)
		}
	}
	var got []string
	for _, f := range c.Snapshot().Findings() {
		got = append(got, fmt.Sprintf("%s %s %v %s", f.Server, f.Name, f.Suspect, f.Notes[0].String()))
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{
		"second a://1 false its name is taken by server first",
		"second b://{x} true it matches 1 addresses that server first lists, such as b://2; those are read from first",
		"second {+path} true it matches every address, also those of server first",
		"second {scheme}://{+rest} true it matches every address, also those of server first",
		"second d://{+rest} true it matches 1 addresses that server third lists, such as d://5/6; those are read from third",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not among the findings:\n%s", want, all)
		}
	}
	if n := strings.Count(all, " true "); n != 4 {
		t.Errorf("%d suspect templates:\n%s", n, all)
	}
	// Alone it takes nothing from anybody.
	if found := newCatalog(0, mount(withResources("s", []string{"a://1"}, []string{"{+path}", "a://{x}"}), "")).Snapshot().Findings(); len(found) > 0 {
		t.Errorf("alone: %s", notesOf(found))
	}
}
