// Package exchange is how items enter and leave the knowledge base as files: one
// Markdown file with YAML front matter for each, which people and other tools can
// read, or JSON Lines for all of them. It only turns items into bytes and bytes into
// items. What it writes it reads back exactly; of what others wrote it takes what an
// item can hold and tells what it had to drop. Whether an item is acceptable is for
// the knowledge base to say.
package exchange

import (
	"slices"
	"time"
)

// Item is an item as it stands in a file. What is empty or zero is unset. Texts are
// UTF-8.
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
	Former      []string // references that it had under other types
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// State is the text about where things stand, as it stands in a file. There is one at
// most.
type State struct {
	UpdatedBy string
	UpdatedAt time.Time
	Tags      []string
	Related   []string
	Content   string
}

// Record is an item that was read, or the state.
type Record struct {
	Item Item
	// State is nil for an item.
	State *State
	// Line is where it begins in its file, counted from 1.
	Line int
	// Dropped are the keys that stood there and that items do not have.
	Dropped []Dropped
}

// Dropped is a key whose value was not taken over.
type Dropped struct {
	Key  string
	Line int
}

// field is one part of an item under the name that it has in files.
type field struct {
	name  string
	value any // *int64, *string, *time.Time or *[]string
}

// content is the field that is the text of a Markdown file.
const content = "content"

// fields are the parts of an item, in the order in which they are written.
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

// stateMark is the key that says that a file or a line is the state.
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

// fieldsOf are those of what a record is about. Marked says that it is the state.
func (r *Record) fieldsOf(marked bool) []field {
	if !marked {
		return r.Item.fields()
	}
	r.State = &State{}
	return r.State.fields()
}

// unset reports whether a field is left out of files. An item without a type or a
// title is none, so these are written whatever they are.
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

// find is the field of a name.
func find(fields []field, name string) (field, bool) {
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return field{}, false
	}
	return fields[i], true
}

// stamp is a time in files.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// layouts are the times that are understood. Those without a zone, as notes have them,
// are taken for UTC: the same file must give the same item on every machine.
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
