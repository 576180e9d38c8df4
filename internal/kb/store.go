package kb

import (
	"context"
	"errors"
	"math"
	"time"
)

// Store is where the knowledge base is kept. Every implementation gives the
// same answers in the same order; the storetest suite says which.
//
// Each write has the next number of the knowledge base's own sequence, and is
// seen only when all with lower numbers are. Every item has the number of its
// last change, and a change of a relation is one of both its ends. So whoever
// keeps something that was derived from items, in whichever process, reads what
// Changes or Links tell since the position they are at.
type Store interface {
	// Sequence is the number of the last write.
	Sequence(ctx context.Context) (int64, error)
	// Changes tells the items that were changed or deleted after a position, in
	// order, at most limit. An item that changes again while somebody reads on is
	// told again.
	Changes(ctx context.Context, after Position, limit int) ([]Change, error)
	// Links is Changes for whoever only wants to know the neighbours.
	Links(ctx context.Context, after Position, limit int) ([]Link, error)

	// Items are all items in the order of their ids, after one and at most limit,
	// without their neighbours. It is for who begins anew: take the sequence
	// first, and read the changes after it when all items are read.
	Items(ctx context.Context, after int64, limit int) ([]Item, error)
	// Relations are all ids and relations in one state, for who begins anew.
	Relations(ctx context.Context) (Relations, error)

	// IndexFile is which file holds the text index of this database; zero if there
	// is none. It is not part of what the sequence counts.
	IndexFile(ctx context.Context) (IndexFile, error)
	SetIndexFile(ctx context.Context, f IndexFile) error

	// Item finds an item by its id, or by one that it had before its type was
	// changed; false if there is none.
	Item(ctx context.Context, id int64) (Found, bool, error)
	// Former are the references that items had under other types, in order, by the
	// items' ids.
	Former(ctx context.Context, ids []int64) (map[int64][]Ref, error)
	// Summaries are those of the items that exist, in the order of the ids.
	Summaries(ctx context.Context, ids []int64) ([]Summary, error)
	// Texts are the items that exist, in the order of the ids, without their tags and
	// neighbours: what is shown of items that were found.
	Texts(ctx context.Context, ids []int64) ([]Item, error)
	// List lists items, the last updated first, among equals the higher id.
	List(ctx context.Context, f Filter) (Page, error)
	// Neighbours are the relations that have one of the items as an end, each
	// once, ordered.
	Neighbours(ctx context.Context, ids []int64) ([]Edge, error)
	// Tags are all tags that items have, the most used first, then by name.
	Tags(ctx context.Context) ([]Tag, error)
	// Statuses are those that items may be given, in their order, and then retired
	// ones that items still have.
	Statuses(ctx context.Context) ([]Status, error)
	State(ctx context.Context) (State, error)

	// Write makes a change: all that it did is there when Write returns nil, and
	// nothing otherwise. It may be run more than once, and must not use the store
	// but for the writer.
	Write(ctx context.Context, change func(ctx context.Context, w Writer) error) error
}

// Writer is a store within one write. It sees what the write has done so far.
type Writer interface {
	Item(ctx context.Context, id int64) (Found, bool, error)
	// Resolve finds which items the ids mean, also former ones. Ids that nobody
	// has are left out.
	Resolve(ctx context.Context, ids []int64) (map[int64]Place, error)
	// Insert adds an item and fills in its ID, and its Status if it has none. Its
	// neighbours must exist. It fails with ErrUnknownStatus.
	Insert(ctx context.Context, item *Item) error
	// Update writes an item that exists. It fails with ErrUnknownStatus.
	Update(ctx context.Context, item *Item, parts Parts) error
	// Delete removes an item with its relations.
	Delete(ctx context.Context, id int64) error
	// Retype puts an item in the place of a former one: it takes over the
	// relations and all former references, and the former item is deleted. The
	// new one gets its ID.
	Retype(ctx context.Context, former Ref, item *Item) error
	// Restore is Insert for an item that was elsewhere, without neighbours: it keeps
	// its id if that is higher than any that was ever given and at most MaxKeptID,
	// and any status that there is. If it does, it also keeps those former references
	// whose ids are lower than its own and nobody's.
	Restore(ctx context.Context, item *Item, former []Ref) (kept []Ref, err error)
	// Relate adds relations between items that exist, which is no update of them.
	Relate(ctx context.Context, edges []Edge) error
	State(ctx context.Context) (State, error)
	SetState(ctx context.Context, state *State) error
	// SetStatuses makes these the statuses that items may be given. Others that items
	// have are retired: their items keep them, also when they are changed.
	SetStatuses(ctx context.Context, statuses []Status) error
}

// ErrUnknownStatus is a store's word for an item with a status that is not
// there, or that it may not be given any more.
var ErrUnknownStatus = errors.New("unknown status")

// Parts are what of an item an update changes beside its own fields.
type Parts struct {
	// Tags is set when they are to be replaced by the item's.
	Tags bool
	// Link and Unlink are the neighbours that come and go.
	Link, Unlink []int64
}

// Place is where an id leads: to an item, directly or because it was this item's
// id under another type.
type Place struct {
	Ref
	Former Ref
}

// Position is how far somebody has read the changes: up to and with the item of
// this id in the write of this number.
type Position struct{ Seq, ID int64 }

// After is the position behind all changes of a write.
func After(seq int64) Position { return Position{seq, math.MaxInt64} }

// Change is an item as it is after its last change.
type Change struct {
	Position
	Deleted bool
	// Item has everything but its neighbours; only the ID if it was deleted.
	Item Item
}

// Link is an item with all its neighbours, ordered; none if it was deleted.
type Link struct {
	Position
	Deleted    bool
	Neighbours []int64
}

// Relations are a knowledge base without its texts. All is ordered.
type Relations struct {
	// Seq is the number of the last write that is in here.
	Seq   int64
	IDs   []int64
	Edges []Edge
}

// IndexFile names a file that was derived from items. It is right for every
// database that names it: what it covers was there when it was named, so that a
// backup, or a copy that has gone its own way since, names it only if it has the
// same past.
type IndexFile struct {
	// Seq is the last write that it covers.
	Seq int64
	// Token tells it from all others.
	Token string
}

// Edge is a relation. The lower id stands first.
type Edge struct{ A, B int64 }

// Filter says which items to list. Exactly one of the parts about statuses
// counts: named ones override Closed.
type Filter struct {
	// Types are alternatives; none is all.
	Types []string
	// Tag, if it is not empty, is one that items must have. It goes with Types
	// only.
	Tag string
	// Statuses are alternatives.
	Statuses []string
	// Closed includes items in closed statuses.
	Closed bool
	// From and Until bound when items were updated: at From or later, and before
	// Until. Zero is no bound.
	From, Until   time.Time
	Limit, Offset int
}

// Page is a part of a list.
type Page struct {
	Items []Summary
	// Total is how many items there are on all pages.
	Total         int
	Limit, Offset int
}
