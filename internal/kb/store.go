package kb

import (
	"context"
	"errors"
	"math"
	"time"
)

// Store stores the knowledge base. Every implementation returns the same answers in
// the same order; the storetest suite defines them.
//
// Each write has the next number of the knowledge base's own sequence, and becomes
// visible only after all writes with lower numbers. Every item has the number of its
// last change, and a change of a relation is a change of both its ends. So any process
// that derives data from items can catch up with Changes or Links from its position.
type Store interface {
	// Sequence returns the number of the last write.
	Sequence(ctx context.Context) (int64, error)
	// Changes returns the items that were changed or deleted after a position, in order,
	// at most limit. An item that changes again between two calls is returned again.
	Changes(ctx context.Context, after Position, limit int) ([]Change, error)
	// Links is Changes for callers that need only the neighbours.
	Links(ctx context.Context, after Position, limit int) ([]Link, error)

	// Items returns the items after an id, in the order of their ids, at most limit,
	// without their neighbours. To read everything from the beginning, take the sequence
	// first, then read all items, then the changes after that sequence.
	Items(ctx context.Context, after int64, limit int) ([]Item, error)
	// Relations returns all ids and relations of one state, to build a graph from the
	// beginning.
	Relations(ctx context.Context) (Relations, error)

	// IndexFile returns the file that holds the text index of this database, zero if
	// there is none. The sequence does not count changes of it.
	IndexFile(ctx context.Context) (IndexFile, error)
	SetIndexFile(ctx context.Context, f IndexFile) error

	// Item finds an item by its id, or by an id from before a change of its type. It
	// returns false if there is none.
	Item(ctx context.Context, id int64) (Found, bool, error)
	// Former returns the references that items had under other types, in order, by the
	// items' ids.
	Former(ctx context.Context, ids []int64) (map[int64][]Ref, error)
	// Summaries returns the summaries of the items that exist, in the order of the ids.
	Summaries(ctx context.Context, ids []int64) ([]Summary, error)
	// Texts returns the items that exist, in the order of the ids, without their
	// neighbours. Search results are made from them.
	Texts(ctx context.Context, ids []int64) ([]Item, error)
	// List lists items, the last updated first, among equals the higher id first.
	List(ctx context.Context, f Filter) (Page, error)
	// Neighbours returns the relations that have one of the items as an end, each once,
	// ordered.
	Neighbours(ctx context.Context, ids []int64) ([]Edge, error)
	// Tags returns all tags of items, the most used first, then by name.
	Tags(ctx context.Context) ([]Tag, error)
	// Types returns the types that items have, the most used first, then by name, at most
	// limit.
	Types(ctx context.Context, limit int) ([]Type, error)
	// Statuses returns the statuses that can be assigned to items, in order, and then the
	// retired ones that items still have.
	Statuses(ctx context.Context) ([]Status, error)
	State(ctx context.Context) (State, error)

	// Write runs a change in a transaction: all of it is stored when Write returns nil,
	// and nothing otherwise. Change may run more than once, and must use the writer only
	// and not the store.
	Write(ctx context.Context, change func(ctx context.Context, w Writer) error) error
}

// Writer is a store within one write. It sees the changes of the write so far.
type Writer interface {
	Item(ctx context.Context, id int64) (Found, bool, error)
	// Resolve maps current and former ids to items. Unknown ids are left out.
	Resolve(ctx context.Context, ids []int64) (map[int64]Place, error)
	// Insert adds an item and sets its ID, and its Status if it has none. Its neighbours
	// must exist. It fails with ErrUnknownStatus.
	Insert(ctx context.Context, item *Item) error
	// Update stores an existing item. It fails with ErrUnknownStatus.
	Update(ctx context.Context, item *Item, parts Parts) error
	// Delete removes an item with its relations.
	Delete(ctx context.Context, id int64) error
	// Retype replaces a former item by a new one. The new item gets a new ID, the
	// relations and all former references; the former item is deleted.
	Retype(ctx context.Context, former Ref, item *Item) error
	// Restore is Insert for an imported item, without neighbours. The item keeps any
	// existing status. It keeps its id if that is higher than any id ever assigned and at
	// most MaxKeptID. In that case it also keeps the former references whose ids are lower
	// than its own and unused.
	Restore(ctx context.Context, item *Item, former []Ref) (kept []Ref, err error)
	// Relate adds relations between existing items. It does not change their update times.
	Relate(ctx context.Context, edges []Edge) error
	State(ctx context.Context) (State, error)
	SetState(ctx context.Context, state *State) error
	// SetStatuses replaces the statuses that can be assigned to items. Other statuses that
	// items still have are retired: their items keep them, also when they are changed.
	SetStatuses(ctx context.Context, statuses []Status) error
}

// ErrUnknownStatus says that the status of an item does not exist or can no longer be
// assigned.
var ErrUnknownStatus = errors.New("unknown status")

// Parts are the lists of an item that an update changes in addition to its fields.
type Parts struct {
	// Tags is set if the item's tags replace the stored ones.
	Tags bool
	// Link and Unlink are the ids of added and removed neighbours.
	Link, Unlink []int64
}

// Place is the item that an id refers to, either as its current id or as its id under
// another type.
type Place struct {
	Ref
	Former Ref
}

// Position is a position in the feed of changes: after the item with this id in the
// write with this number.
type Position struct{ Seq, ID int64 }

// After returns the position after all changes of a write.
func After(seq int64) Position { return Position{seq, math.MaxInt64} }

// Change is an item in the state after its last change.
type Change struct {
	Position
	Deleted bool
	// Item is complete except for its neighbours. A deleted item has only its ID.
	Item Item
}

// Link is an item with all its neighbours, ordered. A deleted item has none.
type Link struct {
	Position
	Deleted    bool
	Neighbours []int64
}

// Relations holds all ids and relations of a knowledge base. All is ordered.
type Relations struct {
	// Seq is the number of the last write that is included.
	Seq   int64
	IDs   []int64
	Edges []Edge
}

// IndexFile names a file that was derived from items. It is valid for every database
// that names it: the database contained everything that the file covers when it was
// named. So a backup, or a copy that has been changed since, names the file only if it
// shares that history.
type IndexFile struct {
	// Seq is the last write that the file covers.
	Seq int64
	// Token distinguishes the file from all others.
	Token string
}

// Edge is a relation. The lower id comes first.
type Edge struct{ A, B int64 }

// Filter selects the items of a list. If Statuses is set, Closed is ignored.
type Filter struct {
	// Types lists alternatives. An empty list matches all.
	Types []string
	// Tag, if it is not empty, selects items with this tag. It can be combined with Types
	// only.
	Tag string
	// Statuses lists alternatives.
	Statuses []string
	// Closed includes items in closed statuses.
	Closed bool
	// From and Until bound the time of the last update: at From or later, and before
	// Until. Zero is no bound.
	From, Until   time.Time
	Limit, Offset int
}

// Page is a page of a list.
type Page struct {
	Items []Summary
	// Total is the number of items on all pages.
	Total         int
	Limit, Offset int
}
