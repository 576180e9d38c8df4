package kb

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// ParseRef parses a reference that was given as an argument.
func ParseRef(field, text string) (Ref, error) {
	ref, ok := splitRef(text)
	if !ok || utf8.RuneCountInString(ref.Type) > MaxType {
		return Ref{}, Invalid(field, text, "Must be a reference of the form type-id, such as docs-12")
	}
	return ref, nil
}

// ParseTime parses a date-time that was given as an argument. A date alone is the
// beginning of that day in UTC.
func ParseTime(field, text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil && !at.IsZero() {
			return at.UTC().Truncate(time.Microsecond), nil
		}
	}
	return time.Time{}, Invalid(field, text, "Must be a date-time such as 2026-01-15T10:30:00Z")
}

// ParseDay parses a day that was given as an argument.
func ParseDay(field, text string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || day.IsZero() {
		return time.Time{}, Invalid(field, text, "Must be a date of the form YYYY-MM-DD")
	}
	return day, nil
}

// checkText checks a text of any kind. It refuses characters that some databases
// cannot store unchanged.
func checkText(field, text string, most int) error {
	switch {
	case !utf8.ValidString(text):
		return Invalid(field, strings.ToValidUTF8(text, "�"), "Must be valid UTF-8")
	case strings.ContainsRune(text, 0):
		return Invalid(field, text, "Must not contain the NUL character")
	case len(text) > most && utf8.RuneCountInString(text) > most: // a character has at least a byte
		return Invalid(field, text, "Must have at most %d characters; it has %d", most, utf8.RuneCountInString(text))
	}
	return nil
}

// maxTitleSpace is the maximum length of a title with its surrounding white space.
const maxTitleSpace = 1_000

func checkTitle(title string) error {
	trimmed := strings.TrimSpace(title)
	if trimmed == "" {
		return Invalid("title", title, "Title is required and must not be empty")
	}
	if err := checkText("title", trimmed, MaxTitle); err != nil {
		return err
	}
	// Surrounding white space does not count, up to maxTitleSpace.
	return checkText("title", title, maxTitleSpace)
}

func checkType(field, name string) error {
	if strings.TrimSpace(name) == "" {
		return Invalid(field, name, "Type is required and must not be empty")
	}
	return checkText(field, name, MaxType)
}

func checkTypes(field string, names []string) error {
	for i, name := range names {
		if err := checkType(at(field, i), name); err != nil {
			return err
		}
	}
	return nil
}

func checkRef(typeField, idField string, ref Ref) error {
	if err := checkType(typeField, ref.Type); err != nil {
		return err
	}
	if ref.ID < 1 {
		return Invalid(idField, ref.ID, "Must be a positive integer")
	}
	return nil
}

func checkPriority(p Priority) error {
	if p.Valid() {
		return nil
	}
	words := make([]string, 0, len(Priorities()))
	for _, known := range Priorities() {
		words = append(words, string(known))
	}
	return Invalid("priority", p, "Must be one of %s", strings.Join(words, ", "))
}

func checkTag(tag string) error {
	if strings.TrimSpace(tag) == "" {
		return Invalid("tag", tag, "Tag is required and must not be empty")
	}
	return checkText("tag", tag, MaxTag)
}

// checkTags checks tags and returns them without repetitions.
func checkTags(field string, tags []string) ([]string, error) {
	if len(tags) > MaxTags {
		return nil, Invalid(field, len(tags), "Must have at most %d tags", MaxTags)
	}
	unique, seen := make([]string, 0, len(tags)), make(map[string]bool, len(tags))
	for i, tag := range tags {
		if strings.TrimSpace(tag) == "" {
			return nil, Invalid(at(field, i), tag, "A tag must not be empty")
		}
		if err := checkText(at(field, i), tag, MaxTag); err != nil {
			return nil, err
		}
		if !seen[tag] {
			seen[tag], unique = true, append(unique, tag)
		}
	}
	return unique, nil
}

func checkRelated(field string, refs []Ref) error {
	if len(refs) > MaxRelated {
		return Invalid(field, len(refs), "Must have at most %d references", MaxRelated)
	}
	for i, ref := range refs {
		if checkRef("", "", ref) != nil {
			return Invalid(at(field, i), ref.String(), "Must be a reference of the form type-id, such as docs-12")
		}
	}
	return nil
}

func checkTimes(start, end *time.Time) error {
	for i, t := range []*time.Time{start, end} {
		// Answers use RFC 3339, which has only years of four digits.
		if t != nil && !t.IsZero() && (t.UTC().Year() < 0 || t.UTC().Year() > 9999) {
			return Invalid([]string{"start_date", "end_date"}[i], t.String(), "Must be in the years 0 to 9999")
		}
	}
	return nil
}

func checkCount(field string, n, most int) error {
	if n < 1 || n > most {
		return Invalid(field, n, "Must be an integer from 1 to %d", most)
	}
	return nil
}

// maxOffset keeps offsets within the integer range of every database.
const maxOffset = 1 << 31

func checkPage(limit *int, offset, usual, most int) error {
	if *limit == 0 {
		*limit = usual
	}
	if err := checkCount("limit", *limit, most); err != nil {
		return err
	}
	if offset < 0 || offset > maxOffset {
		return Invalid("offset", offset, "Must be an integer of 0 or more")
	}
	return nil
}

func checkQuery(text string) error {
	if strings.TrimSpace(text) == "" {
		return Invalid("query", text, "Query is required and must not be empty")
	}
	return checkText("query", text, MaxQuery)
}

// check validates the patch as far as possible without the item, and drops repeated
// tags.
func (p *Patch) check() error {
	if p.Title != nil {
		if err := checkTitle(*p.Title); err != nil {
			return err
		}
	}
	for _, text := range []struct {
		field string
		text  *string
		most  int
	}{
		{"description", p.Description, MaxDescription},
		{"content", p.Content, MaxContent},
		{"status", p.Status, MaxType},
		{"category", p.Category, MaxWords},
		{"version", p.Version, MaxWords},
	} {
		if text.text == nil {
			continue
		}
		if err := checkText(text.field, *text.text, text.most); err != nil {
			return err
		}
	}
	if p.Priority != nil && *p.Priority != "" {
		if err := checkPriority(*p.Priority); err != nil {
			return err
		}
	}
	if err := checkTimes(p.Start, p.End); err != nil {
		return err
	}
	for _, list := range []struct {
		field string
		refs  *[]Ref
	}{{"related", p.Related}, {"add_related", p.AddRelated}, {"remove_related", p.RemoveRelated}} {
		if list.refs == nil {
			continue
		}
		if err := checkRelated(list.field, *list.refs); err != nil {
			return err
		}
	}
	for _, list := range []struct {
		field string
		tags  **[]string
	}{{"tags", &p.Tags}, {"add_tags", &p.AddTags}, {"remove_tags", &p.RemoveTags}} {
		if *list.tags == nil {
			continue
		}
		tags, err := checkTags(list.field, **list.tags)
		if err != nil {
			return err
		}
		*list.tags = &tags
	}
	return nil
}

// at returns the name of an element of a list.
func at(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }
