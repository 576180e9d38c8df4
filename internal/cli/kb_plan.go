package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"strconv"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/kb/exchange"
)

// incomingItem is an item of a file that is being imported.
type incomingItem struct {
	place

	item   exchange.Item
	source int
	// known is the existing item; nil if the item is new.
	known *knownItem
	// byRef is set if known was found by its reference. Then the file is about this
	// knowledge base.
	byRef bool
	// changes are the fields that differ in the file.
	changes map[string]any
	// ref is the item's reference in the knowledge base; empty until it has one.
	ref string
	// touched is set if the item was created or changed.
	touched bool
}

// ownRef returns the item's reference in its file; empty for none.
func (i *incomingItem) ownRef() string {
	if i.item.ID == 0 {
		return ""
	}
	return refText(i.item)
}

func refText(item exchange.Item) string { return item.Type + "-" + strconv.FormatInt(item.ID, 10) }

// knownItem is an existing item, without its content.
type knownItem struct {
	item  exchange.Item
	text  textSum
	taken bool
}

// textSum is a hash of an item's type and texts.
type textSum [sha256.Size]byte

// sumOf returns the hash of an item's type and texts. Items with the same hash are
// the same.
func sumOf(item exchange.Item) textSum {
	h := sha256.New()
	for _, text := range []string{item.Type, item.Title, item.Description, item.Content} {
		_, _ = h.Write(strconv.AppendInt(nil, int64(len(text)), 10))
		_, _ = h.Write([]byte{0})
		_, _ = h.Write([]byte(text))
	}
	return textSum(h.Sum(nil))
}

// importPlan is what an import will do.
type importPlan struct {
	known map[string]*knownItem // by reference
	// create, update and same count the items.
	create, update, same int
	// dated is the number of new items with times, which are kept.
	dated int
	// strange are statuses of the files that are not configured here.
	strange []string
	// state is what will happen to the state; empty if the files have none.
	state string
}

// exact returns a time with the precision of the knowledge base.
func exact(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// plan determines which items exist already, and what to change.
func (in *itemImport) plan(ctx context.Context, remote *client.Client) (*importPlan, error) {
	p := &importPlan{known: map[string]*knownItem{}}
	byText := map[textSum][]*knownItem{}
	err := readAll(ctx, remote, func(item exchange.Item) {
		k := &knownItem{item: item, text: sumOf(item)}
		k.item.Content = ""
		p.known[refText(item)] = k
		byText[k.text] = append(byText[k.text], k)
	})
	if err != nil {
		return nil, err
	}
	in.refuseTwice()
	// The files of a folder come in a different order than the lines of an export.
	// Of items with the same text, the first must stay the first.
	slices.SortStableFunc(in.incoming, func(a, b *incomingItem) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.item.ID, b.item.ID))
	})
	in.recognise(p, byText)
	for _, i := range in.incoming {
		if i.known != nil {
			i.ref, i.changes = refText(i.known.item), differences(i.item, i.known)
		} else if !i.item.CreatedAt.IsZero() || !i.item.UpdatedAt.IsZero() {
			p.dated++
		}
	}
	in.count(p)
	in.planStatuses(ctx, remote, p)
	return p, in.planState(ctx, remote, p)
}

// planStatuses finds the statuses that will be refused, so that people can
// configure them first. It is a courtesy: if the statuses cannot be read, the
// refusal reports them.
func (in *itemImport) planStatuses(ctx context.Context, remote *client.Client, p *importPlan) {
	wanted := map[string]bool{}
	for _, i := range in.incoming {
		if _, changed := i.changes["status"]; i.item.Status != "" && (changed || i.known == nil) {
			wanted[i.item.Status] = true
		}
	}
	if len(wanted) == 0 {
		return
	}
	configured, err := remote.Statuses(ctx)
	if err != nil {
		return
	}
	for _, s := range configured.Statuses {
		delete(wanted, s.Name)
	}
	p.strange = slices.Sorted(maps.Keys(wanted))
}

// recognise finds the items that exist already, with the most certain methods
// first. A reference alone is not enough, because another knowledge base may have
// given it to another item.
func (in *itemImport) recognise(p *importPlan, byText map[textSum][]*knownItem) {
	for _, same := range []func(i *incomingItem) *knownItem{
		func(i *incomingItem) *knownItem {
			if k := p.known[i.ownRef()]; k != nil && !i.item.CreatedAt.IsZero() && exact(i.item.CreatedAt).Equal(exact(k.item.CreatedAt)) {
				i.byRef = true
				return k
			}
			return nil
		},
		func(i *incomingItem) *knownItem {
			free := slices.IndexFunc(byText[sumOf(i.item)], func(k *knownItem) bool { return !k.taken })
			if free < 0 {
				return nil
			}
			return byText[sumOf(i.item)][free]
		},
		func(i *incomingItem) *knownItem { // a person's own file about an item
			if k := p.known[i.ownRef()]; k != nil && i.item.CreatedAt.IsZero() && i.item.Title == k.item.Title {
				i.byRef = true
				return k
			}
			return nil
		},
	} {
		for _, i := range in.incoming {
			if i.known != nil {
				continue
			}
			if k := same(i); k != nil && !k.taken {
				i.known, k.taken = k, true
			}
		}
	}
}

// count counts the items to create and to change, including those of which only the
// relations change.
func (in *itemImport) count(p *importPlan) {
	linked := map[*incomingItem]bool{}
	byRef := in.byOwnRef()
	for _, i := range in.incoming {
		for _, text := range i.item.Related {
			other := byRef[sourcedRef{i.source, text}]
			if i.known != nil && (other == nil && i.mayMean(p, text) && !slices.Contains(i.known.item.Related, text) ||
				other != nil && (other.known == nil || !slices.Contains(i.known.item.Related, other.ref))) {
				linked[i] = true
			}
			if other != nil && other.known != nil && (i.known == nil || !slices.Contains(other.known.item.Related, i.ref)) {
				linked[other] = true
			}
		}
	}
	for _, i := range in.incoming {
		switch {
		case i.known == nil:
			p.create++
		case len(i.changes) > 0 || linked[i]:
			p.update++
		default:
			p.same++
		}
	}
}

// sourcedRef is a reference within one argument of the import.
type sourcedRef struct {
	source int
	ref    string
}

func (in *itemImport) byOwnRef() map[sourcedRef]*incomingItem {
	all := map[sourcedRef]*incomingItem{}
	for _, i := range in.incoming {
		if ref := i.ownRef(); ref != "" {
			all[sourcedRef{i.source, ref}] = i
		}
	}
	return all
}

// mayMean reports whether a reference that no file has means the existing item. It
// does not if the file comes from another knowledge base.
func (i *incomingItem) mayMean(p *importPlan, ref string) bool {
	return (i.item.ID == 0 || i.byRef) && p.known[ref] != nil
}

// refuseTwice removes items whose reference another file has too, because it is
// unknown which of them is meant.
func (in *itemImport) refuseTwice() {
	first := map[sourcedRef]*incomingItem{}
	in.incoming = slices.DeleteFunc(in.incoming, func(i *incomingItem) bool {
		ref := i.ownRef()
		if ref == "" {
			return false
		}
		key := sourcedRef{i.source, ref}
		other, twice := first[key]
		if twice {
			in.fail(i.place, in.say("%s stands in %s, line %d, too; keep one of them", ref, other.File, other.Line))
			return true
		}
		first[key] = i
		return false
	})
}

// differences returns the fields that differ between a file and the existing item.
// Fields that the file does not have stay.
func differences(file exchange.Item, k *knownItem) map[string]any {
	changes := map[string]any{}
	there := k.item
	for name, texts := range map[string][2]string{
		"title": {file.Title, there.Title}, "description": {file.Description, there.Description},
		"status": {file.Status, there.Status}, "priority": {file.Priority, there.Priority},
		"category": {file.Category, there.Category}, "version": {file.Version, there.Version},
	} {
		if texts[0] != "" && texts[0] != texts[1] {
			changes[name] = texts[0]
		}
	}
	for name, times := range map[string][2]time.Time{"start_date": {file.Start, there.Start}, "end_date": {file.End, there.End}} {
		if !times[0].IsZero() && !exact(times[0]).Equal(exact(times[1])) {
			changes[name] = times[0].UTC().Format(time.RFC3339Nano)
		}
	}
	if tags := uniqueTexts(file.Tags); len(tags) > 0 && !slices.Equal(tags, there.Tags) {
		changes["tags"] = tags
	}
	// Only the hash of the existing content is known, together with the other texts.
	same := there
	same.Content = file.Content
	if file.Content != "" && sumOf(same) != k.text {
		changes["content"] = file.Content
	}
	return changes
}

func uniqueTexts(texts []string) []string {
	var out []string
	for _, text := range texts {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}
