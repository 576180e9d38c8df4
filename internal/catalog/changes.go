package catalog

import (
	"bytes"
	"slices"

	"genkan/internal/gateway"
)

// ListChange is a list of a source that has changed.
type ListChange struct {
	Source string
	Kind   gateway.Kind
	// Count is how many the list has now.
	Count int
}

// ChangedSince returns the lists of sources that differ from those in before.
func (s *Snapshot) ChangedSince(before *Snapshot) (changes []ListChange) {
	for _, kind := range gateway.Kinds() {
		was, is := bySource(before.List(kind)), bySource(s.List(kind))
		for source := range was {
			if _, still := is[source]; !still {
				is[source] = nil
			}
		}
		for source, list := range is {
			if !slices.EqualFunc(was[source], list, sameTool) {
				changes = append(changes, ListChange{source, kind, len(list)})
			}
		}
	}
	return changes
}

func bySource(list []*gateway.Tool) map[string][]*gateway.Tool {
	sources := map[string][]*gateway.Tool{}
	for _, t := range list {
		sources[t.Source.Name()] = append(sources[t.Source.Name()], t)
	}
	return sources
}

func sameTool(a, b *gateway.Tool) bool {
	return a == b || a.Exposed == b.Exposed && bytes.Equal(a.Definition, b.Definition)
}
