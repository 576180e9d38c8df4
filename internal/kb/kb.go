package kb

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Item is one node of the knowledge base. Empty texts and zero times are not set.
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
	// Related are the neighbours, ordered by id. Relations have no direction: each end
	// lists the other.
	Related []Ref
	// Tags are in the order in which they were given.
	Tags                 []string
	CreatedAt, UpdatedAt time.Time
}

// Ref returns the item's reference.
func (i *Item) Ref() Ref { return Ref{i.Type, i.ID} }

// Summary is an item in a list.
type Summary struct {
	ID                   int64
	Type                 string
	Title                string
	Status               string
	Priority             Priority
	Tags                 []string
	CreatedAt, UpdatedAt time.Time
}

// Ref returns the item's reference.
func (s *Summary) Ref() Ref { return Ref{s.Type, s.ID} }

// Summary returns the item's form in lists.
func (i *Item) Summary() Summary {
	return Summary{i.ID, i.Type, i.Title, i.Status, i.Priority, i.Tags, i.CreatedAt, i.UpdatedAt}
}

// Found is an item, with the requested reference if that is a former one.
type Found struct {
	Item   Item
	Former Ref
	// DroppedTags and DroppedRelated are the entries that an update removed by replacing
	// the lists.
	DroppedTags    []string
	DroppedRelated []Ref
	// Changed are the names of the fields that a write has changed; nil for a read and a
	// new item.
	Changed []string
}

// Ref is the reference of an item, such as docs-12. Ids are unique across types; the
// type makes a mistaken id noticeable.
type Ref struct {
	Type string
	ID   int64
}

func (r Ref) String() string { return r.Type + "-" + strconv.FormatInt(r.ID, 10) }

// IsZero reports whether the reference is empty.
func (r Ref) IsZero() bool { return r == Ref{} }

// splitRef splits at the last hyphen, because types may contain hyphens.
func splitRef(text string) (Ref, bool) {
	at := strings.LastIndexByte(text, '-')
	if at < 1 {
		return Ref{}, false
	}
	digits := text[at+1:]
	id, err := strconv.ParseInt(digits, 10, 64)
	// Each item has one spelling of its reference: neither +1 nor 01 is an id.
	if err != nil || id < 1 || strconv.FormatInt(id, 10) != digits {
		return Ref{}, false
	}
	return Ref{text[:at], id}, true
}

// Priority is one of five words.
type Priority string

// These are the priorities.
const (
	PriorityCritical Priority = "CRITICAL"
	PriorityHigh     Priority = "HIGH"
	PriorityMedium   Priority = "MEDIUM"
	PriorityLow      Priority = "LOW"
	PriorityMinimal  Priority = "MINIMAL"
)

// Priorities returns the priorities, the most urgent first.
func Priorities() []Priority {
	return []Priority{PriorityCritical, PriorityHigh, PriorityMedium, PriorityLow, PriorityMinimal}
}

// Valid reports whether the priority is one of the five.
func (p Priority) Valid() bool { return slices.Contains(Priorities(), p) }

// Status is a status of items. Lists leave out items in a closed status, unless the
// filter asks for them.
type Status struct {
	Name   string
	Closed bool
	// Retired is set if the status is no longer configured: items that have it keep it,
	// and no other item can get it.
	Retired bool
}

// DefaultStatuses returns the statuses of a knowledge base without configured ones.
// The first open status is the default of a new item.
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

// Tag is a tag with the number of its items.
type Tag struct {
	Name  string
	Count int
}

// Type is a type with the number of its items.
type Type struct {
	Name  string
	Count int
}

// State is the text about the current state. UpdatedAt is zero before the first
// write.
type State struct {
	Content   string
	UpdatedBy string
	UpdatedAt time.Time
	Related   []Ref
	Tags      []string
}

// These are the limits, in characters or entries. Longer values are refused, never cut.
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
	// MaxWords is the limit of short texts: category, version, author.
	MaxWords = 200

	UsualPage, MaxPage               = 20, 100
	UsualSuggestions, MaxSuggestions = 10, 20
	UsualDepth, MaxDepth             = 1, 3
	UsualRelated, MaxRelatedResults  = 50, 1_000
	UsualPathDepth, MaxPathDepth     = 5, 10
	// MaxPaths is the maximum number of paths in an answer.
	MaxPaths = 10
	// ShownTypes is the maximum number of types that hints and instructions name.
	ShownTypes = 20
)
