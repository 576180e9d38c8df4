package index

// Has reports whether the index has exactly this document. For a document of the delta it
// compares everything. For one of the base it compares the data besides the lists; Verify
// tells whether the lists are as they were built.
func (x *Index) Has(d *Document) bool {
	p := prepare(d)
	x.mu.RLock()
	defer x.mu.RUnlock()
	if doc, ok := x.delta.byID[d.ID]; ok {
		held := &x.delta.docs[doc].document
		return x.delta.is(doc, d, &p) &&
			held.Title == d.Title && held.Description == d.Description && held.Content == d.Content
	}
	if x.base == nil {
		return false
	}
	doc, ok := x.base.number(d.ID)
	if !ok || x.dead.has(doc) || !x.base.is(doc, d, &p) {
		return false
	}
	title, _ := x.base.titles.at(doc)
	return string(title) == d.Title
}

// Verify reads the whole base, if there is one, and compares the checksums. Changes wait
// meanwhile.
func (x *Index) Verify() error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.base == nil {
		return nil
	}
	return x.base.Verify()
}

func (c *columns) is(doc uint32, d *Document, p *prepared) bool {
	return c.length(doc) == p.length && c.head(doc) == p.head && c.changed(doc) == d.Updated &&
		nameAt(c.typeNames, c.kind(doc)) == d.Type && nameAt(c.states, c.state(doc)) == d.Status
}

func nameAt(names []string, at uint32) string {
	if int64(at) >= int64(len(names)) {
		return ""
	}
	return names[at]
}
