package crashtest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"genkan/internal/kb"
)

// ledger is what the writers have said: what must be there.
type ledger struct {
	parts   map[int]part
	pending map[int]op // at most one of each writer
	// seq and highest are the sequence and the highest id at the last reckoning,
	// done the writes that were acknowledged since.
	seq, highest, done int64
	// told are the ids that were given away since.
	told map[int64]bool
	// acknowledged counts all of them by kind; made and unmade are those that were
	// under way at a kill.
	acknowledged map[string]int
	made, unmade int
}

func newLedger() *ledger {
	return &ledger{parts: map[int]part{}, pending: map[int]op{}, told: map[int64]bool{}, acknowledged: map[string]int{}}
}

// hear takes a line down.
func (l *ledger) hear(said line) error {
	switch {
	case said.Error != "":
		return errors.New(said.Error)
	case said.Op != nil:
		if before, ok := l.pending[said.Op.Writer]; ok {
			return fmt.Errorf("writer %d begins something while %+v is under way", said.Op.Writer, before)
		}
		l.pending[said.Op.Writer] = *said.Op
	case said.Done != nil:
		o, ok := l.pending[said.Done.Writer]
		if !ok {
			return fmt.Errorf("writer %d was acknowledged nothing", said.Done.Writer)
		}
		now := l.parts[o.Writer].after(o)
		for key, ref := range said.Done.Refs {
			if !l.fresh(ref.ID) {
				return fmt.Errorf("%s has an id that was used before", ref)
			}
			l.told[ref.ID] = true
			it := now[key]
			it.Ref = ref
			now[key] = it
		}
		l.parts[o.Writer] = now
		l.acknowledged[o.Kind]++
		l.done++
		delete(l.pending, o.Writer)
	}
	return nil
}

// fresh reports whether an id can be a new item's: none is used again.
func (l *ledger) fresh(id int64) bool { return id > l.highest && !l.told[id] }

// rows are all that can be read.
type rows struct {
	Seq       int64
	Items     []kb.Item // with their neighbours
	Tags      []kb.Tag
	Total     int
	Counts    map[string]int // by type and status
	Relations kb.Relations
	// Found is where references lead: the former ones that the ledger knows.
	Found map[kb.Ref]kb.Ref
}

// former are the references that rows must have looked up.
func (l *ledger) former() (all []kb.Ref) {
	for _, p := range l.parts {
		for _, it := range p {
			all = append(all, it.Former...)
		}
	}
	for _, o := range l.pending {
		for _, it := range l.parts[o.Writer].after(o) {
			all = append(all, it.Former...)
		}
	}
	return all
}

// judge compares what was said with what is there, and fails if anything that was
// acknowledged is not there as it was, if anything is there that nobody said, or
// if the rows contradict each other. When all is well the ledger goes on from
// what was found: the writes that were under way have been made or not.
func (l *ledger) judge(r rows) error {
	if err := r.coherent(); err != nil {
		return err
	}
	found, err := r.parts()
	if err != nil {
		return err
	}
	made, settled := l.done, map[int]part{}
	for writer := range l.pending {
		settled[writer] = nil
	}
	for writer := range l.parts {
		settled[writer] = nil
	}
	for writer := range found {
		settled[writer] = nil
	}
	for writer := range settled {
		now, problem := l.settle(l.parts[writer], found[writer], r.Found)
		if o, ok := l.pending[writer]; ok && problem != "" {
			var with string
			if now, with = l.settle(l.parts[writer].after(o), found[writer], r.Found); with != "" {
				return fmt.Errorf("writer %d (-acknowledged +there): neither without the write under way:\n%s\nnor with it, %+v:\n%s", writer, problem, o, with)
			}
			made++
		} else if problem != "" {
			return fmt.Errorf("writer %d (-acknowledged +there)\n%s", writer, problem)
		}
		settled[writer] = now
	}
	if r.Seq != l.seq+made {
		return fmt.Errorf("the sequence is %d: it was %d, and %d writes came", r.Seq, l.seq, made)
	}
	applied := int(made - l.done)
	l.made, l.unmade = l.made+applied, l.unmade+len(l.pending)-applied
	for _, it := range r.Items {
		l.highest = max(l.highest, it.ID)
	}
	for id := range l.told {
		l.highest = max(l.highest, id)
	}
	clear(l.told)
	l.parts, l.seq, l.done, l.pending = settled, r.Seq, 0, map[int]op{}
	return nil
}

// settle is a part with the ids that nobody was told, and how it is not what was
// found; empty if it is.
func (l *ledger) settle(want, got part, found map[kb.Ref]kb.Ref) (part, string) {
	want = want.clone()
	for key, it := range want {
		if id := got[key].Ref.ID; it.Ref.ID == 0 && l.fresh(id) {
			it.Ref.ID = id
		}
		want[key] = it
	}
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(item{}, "Former")); diff != "" {
		return nil, diff
	}
	for _, it := range want {
		for _, former := range it.Former {
			if found[former] != it.Ref {
				return nil, fmt.Sprintf("%s was once %s, which finds %v", it.Ref, former, found[former])
			}
		}
	}
	return want, ""
}

// parts are the rows as writers would say it.
func (r rows) parts() (map[int]part, error) {
	keys := map[int64]string{}
	seen := map[string]kb.Ref{}
	for _, it := range r.Items {
		key, _, _ := strings.Cut(it.Title, " ")
		if other, ok := seen[key]; ok {
			return nil, fmt.Errorf("%s and %s are the same item %s", it.Ref(), other, key)
		}
		seen[key], keys[it.ID] = it.Ref(), key
	}
	out := map[int]part{}
	for _, it := range r.Items {
		key, text, _ := strings.Cut(it.Title, " ")
		if it.Content != content(key, text) {
			return nil, fmt.Errorf("the content of %s does not belong to its title %q: %.60q", it.Ref(), it.Title, it.Content)
		}
		if key == hubKey {
			continue
		}
		as := item{Ref: it.Ref(), Version: it.Version, Text: text, Status: it.Status, Tags: it.Tags}
		for _, other := range it.Related {
			as.Related = append(as.Related, keys[other.ID])
		}
		slices.Sort(as.Related)
		writer := owner(key)
		if out[writer] == nil {
			out[writer] = part{}
		}
		out[writer][key] = as
	}
	return out, nil
}

// coherent checks the rows against one another: both ends of each relation, the
// counts of tags, the total.
func (r rows) coherent() error {
	items := map[int64]kb.Item{}
	for _, it := range r.Items {
		items[it.ID] = it
	}
	edges, used, counts := map[kb.Edge]bool{}, map[string]int{}, map[string]int{}
	for _, it := range r.Items {
		for _, ref := range it.Related {
			other, ok := items[ref.ID]
			if !ok || other.Ref() != ref {
				return fmt.Errorf("%s is related to %s, which is not there", it.Ref(), ref)
			}
			if !slices.Contains(other.Related, it.Ref()) {
				return fmt.Errorf("%s is related to %s, and not the other way", it.Ref(), ref)
			}
			edges[kb.Edge{A: min(it.ID, ref.ID), B: max(it.ID, ref.ID)}] = true
		}
		for _, tag := range it.Tags {
			used[tag]++
		}
		counts[it.Type+" "+it.Status]++
	}
	var tags []kb.Tag
	for name, n := range used {
		tags = append(tags, kb.Tag{Name: name, Count: n})
	}
	slices.SortFunc(tags, func(a, b kb.Tag) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	ordered := slices.SortedFunc(maps.Keys(edges), func(a, b kb.Edge) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	for what, pair := range map[string][2]any{
		"the tags and their counts": {tags, r.Tags},
		"the total":                 {len(r.Items), r.Total},
		"the counts":                {counts, r.Counts},
		"the sequence":              {r.Seq, r.Relations.Seq},
		"the ids":                   {slices.Sorted(maps.Keys(items)), r.Relations.IDs},
		"the relations":             {ordered, r.Relations.Edges},
	} {
		if diff := gocmp.Diff(pair[0], pair[1], cmpopts.EquateEmpty()); diff != "" {
			return fmt.Errorf("%s (-by the items +there)\n%s", what, diff)
		}
	}
	return nil
}
