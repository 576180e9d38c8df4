package kb

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Item is one node of the knowledge base. Texts that are empty and times that
// are zero are not set.
type Item struct {
	ID          int64
	Type        string
	Title       string
	Description string
	Content     string
	Status      string
	Priority    Priority
	Category    string
	Version     string
	Start, End  time.Time
	// Related are the neighbours, ordered by id. Relations have no direction:
	// each end has the other here.
	Related []Ref
	// Tags are in the order in which they were given.
	Tags                 []string
	CreatedAt, UpdatedAt time.Time
}

// Ref is the item's reference.
func (i *Item) Ref() Ref { return Ref{i.Type, i.ID} }

// Summary is what lists say of an item.
type Summary struct {
	ID                   int64
	Type                 string
	Title                string
	Status               string
	Priority             Priority
	CreatedAt, UpdatedAt time.Time
}

// Summary is what lists say of the item.
func (i *Item) Summary() Summary {
	return Summary{i.ID, i.Type, i.Title, i.Status, i.Priority, i.CreatedAt, i.UpdatedAt}
}

// Found is an item, and the reference that it was asked for under if that is a
// former one.
type Found struct {
	Item   Item
	Former Ref
	// DroppedTags and DroppedRelated are what an update took away by replacing the
	// lists.
	DroppedTags    []string
	DroppedRelated []Ref
}

// Ref is what people call an item: docs-12. Ids are unique across types; the
// type is there so that a mistaken id is noticed.
type Ref struct {
	Type string
	ID   int64
}

func (r Ref) String() string { return r.Type + "-" + strconv.FormatInt(r.ID, 10) }

// IsZero reports whether there is no reference.
func (r Ref) IsZero() bool { return r == Ref{} }

// splitRef splits at the last hyphen: types may have hyphens, too.
func splitRef(text string) (Ref, bool) {
	at := strings.LastIndexByte(text, '-')
	if at < 1 {
		return Ref{}, false
	}
	digits := text[at+1:]
	id, err := strconv.ParseInt(digits, 10, 64)
	// One item has one reference: neither +1 nor 01.
	if err != nil || id < 1 || strconv.FormatInt(id, 10) != digits {
		return Ref{}, false
	}
	return Ref{text[:at], id}, true
}

// Priority is one of five words.
type Priority string

// The priorities.
const (
	PriorityCritical Priority = "CRITICAL"
	PriorityHigh     Priority = "HIGH"
	PriorityMedium   Priority = "MEDIUM"
	PriorityLow      Priority = "LOW"
	PriorityMinimal  Priority = "MINIMAL"
)

// Priorities lists them, the most urgent first.
func Priorities() []Priority {
	return []Priority{PriorityCritical, PriorityHigh, PriorityMedium, PriorityLow, PriorityMinimal}
}

// Valid reports whether it is one of the five.
func (p Priority) Valid() bool { return slices.Contains(Priorities(), p) }

// Status is what an item may be in. Lists leave out items in a closed one,
// unless they are asked for.
type Status struct {
	Name   string
	Closed bool
	// Retired says that it is not configured any more: items that have it keep it,
	// and no other gets it.
	Retired bool
}

// DefaultStatuses are those of a knowledge base that is told no others. The first
// open one is what an item gets that is given none.
func DefaultStatuses() []Status {
	return []Status{
		{Name: "Open"},
		{Name: "Specification"},
		{Name: "Waiting"},
		{Name: "Ready"},
		{Name: "In Progress"},
		{Name: "Review"},
		{Name: "Testing"},
		{Name: "Pending"},
		{Name: "Completed", Closed: true},
		{Name: "Closed", Closed: true},
		{Name: "Canceled", Closed: true},
		{Name: "Rejected", Closed: true},
	}
}

// Tag is a tag with how many items have it.
type Tag struct {
	Name  string
	Count int
}

// State is the one text about where things stand. Before it was first written
// UpdatedAt is zero.
type State struct {
	Content   string
	UpdatedBy string
	UpdatedAt time.Time
	Related   []Ref
	Tags      []string
}

// The limits, in characters or entries. What is over is refused, never cut.
const (
	MaxType        = 50
	MaxTitle       = 200
	MaxDescription = 1_000
	MaxContent     = 102_400
	MaxTags        = 100
	MaxTag         = 100
	MaxRelated     = 1_000
	MaxBulk        = 1_000
	MaxQuery       = 1_000
	MaxStatuses    = 100
	// MaxWords is for texts of a few words: category, version, who wrote.
	MaxWords = 200

	UsualPage, MaxPage               = 20, 100
	UsualSuggestions, MaxSuggestions = 10, 20
	UsualDepth, MaxDepth             = 1, 3
	UsualRelated, MaxRelatedResults  = 50, 1_000
	UsualPathDepth, MaxPathDepth     = 5, 10
	// MaxPaths is how many shortest paths are told.
	MaxPaths = 100
)
