package search

import "slices"

// Techniques are what a search is made of beside counting words; evaluation
// takes one away at a time.
func Techniques() []string {
	return []string{"clauses", "kindred", "slips", "grams", "coordination", "names", "glossary", "paths", "about"}
}

// SearchWithout searches without some of the techniques.
func (x *Index) SearchWithout(q Query, without ...string) Result {
	t := defaultTuning()
	off := func(name string, what *float32) {
		if slices.Contains(without, name) {
			*what = 0
		}
	}
	off("clauses", &t.clause)
	off("kindred", &t.related)
	off("slips", &t.slip)
	off("grams", &t.gram)
	off("coordination", &t.coordination)
	off("names", &t.pin)
	off("names", &t.exact)
	off("about", &t.about)
	t.noGlossary = slices.Contains(without, "glossary")
	t.noPaths = slices.Contains(without, "paths")
	return x.search(q, t)
}
