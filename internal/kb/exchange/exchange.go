// Package exchange converts items of the knowledge base to and from files: one Markdown
// file with YAML front matter for each item, which people and other tools can read, or
// JSON Lines for all items. It only encodes and decodes items. It reads back exactly
// what it writes. From files of other tools it takes what an item can hold and reports
// what it drops. The knowledge base decides whether an item is acceptable.
package exchange

import (
	"slices"
	"time"
)

// Item is an item in a file. Empty and zero values are unset. Texts are UTF-8.
type Item struct {
	ID          int64
	Type        string
	Title       string
	Description string
	Content     string
	Status      string
	Priority    string
	Category    string
	Version     string
	Start, End  time.Time
	Tags        []string
	Related     []string // references such as docs-12
	Former      []string // references that the item had under other types
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// State is the text about the current state in a file. There is at most one.
type State struct {
	UpdatedBy string
	UpdatedAt time.Time
	Tags      []string
	Related   []string
	Content   string
}

// Record is an item or a state that was read.
type Record struct {
	Item Item
	// State is nil for an item.
	State *State
	// Line is the line at which the record begins in its file, counted from 1.
	Line int
	// Dropped lists the keys that items do not have.
	Dropped []Dropped
}

// Dropped is a key whose value is ignored.
type Dropped struct {
	Key  string
	Line int
}

// field is one field of an item with its name in files.
type field struct {
	name  string
	value any // *int64, *string, *time.Time or *[]string
}

// content is the field that a Markdown file has as its text.
const content = "content"

// fields returns the fields of an item in the order in which they are written.
func (i *Item) fields() []field {
	return []field{
		{"id", &i.ID},
		{"type", &i.Type},
		{"title", &i.Title},
		{"description", &i.Description},
		{"status", &i.Status},
		{"priority", &i.Priority},
		{"category", &i.Category},
		{"version", &i.Version},
		{"start_date", &i.Start},
		{"end_date", &i.End},
		{"tags", &i.Tags},
		{"related", &i.Related},
		{"former", &i.Former},
		{"created_at", &i.CreatedAt},
		{"updated_at", &i.UpdatedAt},
		{content, &i.Content},
	}
}

// stateMark is the key that marks a file or a line as the state.
const stateMark = "current_state"

func (s *State) fields() []field {
	return []field{
		{"updated_by", &s.UpdatedBy},
		{"updated_at", &s.UpdatedAt},
		{"tags", &s.Tags},
		{"related", &s.Related},
		{content, &s.Content},
	}
}

// fieldsOf returns the fields of the record's item, or of its state if marked is set.
func (r *Record) fieldsOf(marked bool) []field {
	if !marked {
		return r.Item.fields()
	}
	r.State = &State{}
	return r.State.fields()
}

// unset reports whether a field is left out of files. The type and the title are always
// written, because every item has them.
func (f field) unset() bool {
	switch value := f.value.(type) {
	case *int64:
		return *value == 0
	case *string:
		return *value == "" && f.name != "type" && f.name != "title"
	case *time.Time:
		return value.IsZero()
	case *[]string:
		return len(*value) == 0
	}
	return true
}

// find returns the field with a name.
func find(fields []field, name string) (field, bool) {
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return field{}, false
	}
	return fields[i], true
}

// stamp formats a time for files.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// layouts lists the accepted formats of times. Times without a zone, as in notes, are
// taken as UTC: the same file must give the same item on every machine.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05",
	"2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
}

func parseTime(text string) (time.Time, bool) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
