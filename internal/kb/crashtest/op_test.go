package crashtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"genkan/internal/kb"
)

// hubKey is the one item that nobody owns: everybody relates to it.
const hubKey = "hub"

// line is what a writing process says. Of the three kinds exactly one is set.
type line struct {
	Opened bool
	// Op is what a writer is about to write.
	Op *op `json:",omitempty"`
	// Done is the writer whose last op was acknowledged, with the references that
	// items got by it.
	Done *done `json:",omitempty"`
	// Error is why the process gave up.
	Error string `json:",omitempty"`
}

type done struct {
	Writer int
	Refs   map[string]kb.Ref `json:",omitempty"`
}

// op is one write: all of its changes or none.
type op struct {
	Writer  int
	Kind    string
	Changes []change
}

// The kinds of writes.
const (
	opCreate = "create"
	opUpdate = "update"
	opBulk   = "bulk update"
	opRetype = "change type"
	opDelete = "delete"
)

// The types and statuses that items have.
func kinds() []string    { return []string{"docs", "note", "a-b"} }
func statuses() []string { return []string{"Open", "Review", "Closed"} }

// change is what a write does to one item. What is nil stays.
type change struct {
	Key string
	// Version is another one in each write, so that every write can be seen.
	Version string    `json:",omitempty"`
	Type    string    `json:",omitempty"` // of a new item, or the new type
	Text    *string   `json:",omitempty"` // what title and content are made of
	Status  *string   `json:",omitempty"`
	Tags    *[]string `json:",omitempty"`
	Related *[]string `json:",omitempty"` // keys
}

// An item's key is WRITER.CYCLE.NUMBER, the first word of its title, and stays
// the same when its type and with it its id changes.
func newKey(writer, cycle, n int) string { return fmt.Sprintf("%d.%d.%d", writer, cycle, n) }

func owner(key string) int {
	first, _, _ := strings.Cut(key, ".")
	n, err := strconv.Atoi(first)
	if err != nil {
		return -1 // the hub
	}
	return n
}

// A text is "NUMBER SIZE"; title and content follow from it and the key, so that
// every byte of them can be checked.
func newText(n, size int) string { return fmt.Sprintf("%d %d", n, size) }

func title(key, text string) string { return key + " " + text }

func content(key, text string) string {
	_, digits, _ := strings.Cut(text, " ")
	size, _ := strconv.Atoi(digits)
	word := key + " " + text + " 設計\n"
	return strings.Repeat(word, 1+size/len(word))
}

// item is what must be true of an item.
type item struct {
	Ref                   kb.Ref // the id is 0 where it is not known: nobody was told
	Version, Text, Status string
	Tags                  []string
	// Related are keys, ordered.
	Related []string
	// Former are references that the item had before, and that go on finding it.
	Former []kb.Ref
}

// part are the items of one writer, by their keys.
type part map[string]item

func (p part) clone() part {
	out := make(part, len(p))
	for key, it := range p {
		it.Tags, it.Related, it.Former = slices.Clone(it.Tags), slices.Clone(it.Related), slices.Clone(it.Former)
		out[key] = it
	}
	return out
}

// after is the part when an op was made.
func (p part) after(o op) part {
	out := p.clone()
	for _, c := range o.Changes {
		it := out[c.Key]
		if o.Kind == opDelete {
			out.relate(c.Key, it.Related, nil)
			delete(out, c.Key)
			continue
		}
		switch o.Kind {
		case opCreate:
			it.Ref, it.Status = kb.Ref{Type: c.Type}, "Open"
		case opRetype:
			it.Former = append(it.Former, it.Ref)
			it.Ref = kb.Ref{Type: c.Type}
		}
		if c.Version != "" {
			it.Version = c.Version
		}
		if c.Text != nil {
			it.Text = *c.Text
		}
		if c.Status != nil {
			it.Status = *c.Status
		}
		if c.Tags != nil {
			it.Tags = *c.Tags
		}
		before := it.Related
		if c.Related != nil {
			it.Related = slices.Sorted(slices.Values(*c.Related))
		}
		out[c.Key] = it
		out.relate(c.Key, before, it.Related)
	}
	return out
}

// relate makes the other ends right. The hub is in no part.
func (p part) relate(key string, before, now []string) {
	for _, other := range before {
		if it, ok := p[other]; ok {
			it.Related = slices.DeleteFunc(it.Related, func(k string) bool { return k == key })
			p[other] = it
		}
	}
	for _, other := range now {
		if it, ok := p[other]; ok && !slices.Contains(it.Related, key) {
			it.Related = slices.Sorted(slices.Values(append(it.Related, key)))
			p[other] = it
		}
	}
}
