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

// checkType checks the name of a type and returns it without surrounding white space.
func checkType(field, name string) (string, error) {
	trimmed := strings.TrimSpace(name)
	if trimmed == "" {
		return "", Invalid(field, name, "Type is required and must not be empty")
	}
	return trimmed, checkText(field, trimmed, MaxType)
}

// checkTypes checks the types of a filter and returns them as checkType does, without
// repetitions.
func checkTypes(field string, names []string) ([]string, error) {
	var r refusal
	types := make([]string, len(names))
	for i, name := range names {
		kind, err := checkType(at(field, i), name)
		r.refuse(err)
		types[i] = kind
	}
	return unique(types), r.err
}

func checkRef(typeField, idField string, ref Ref) error {
	var r refusal
	_, err := checkType(typeField, ref.Type)
	r.refuse(err)
	if ref.ID < 1 {
		r.refuse(Invalid(idField, ref.ID, "Must be a positive integer"))
	}
	return r.err
}

// checkEnds checks the ends of a path.
func checkEnds(from, to Ref) error {
	var r refusal
	r.refuse(checkRef("from_type", "from_id", from))
	r.refuse(checkRef("to_type", "to_id", to))
	return r.err
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

// checkTag checks the tag of a filter and returns it without surrounding white space.
func checkTag(tag string) (string, error) {
	trimmed := strings.TrimSpace(tag)
	if trimmed == "" {
		return "", Invalid("tag", tag, "Tag is required and must not be empty")
	}
	return trimmed, checkText("tag", trimmed, MaxTag)
}

// checkTags checks tags and returns them without surrounding white space and without
// repetitions.
func checkTags(field string, tags []string) ([]string, error) {
	if len(tags) > MaxTags {
		return nil, Invalid(field, len(tags), "Must have at most %d tags", MaxTags)
	}
	var r refusal
	unique, seen := make([]string, 0, len(tags)), make(map[string]bool, len(tags))
	for i, given := range tags {
		tag := strings.TrimSpace(given)
		if tag == "" {
			r.refuse(Invalid(at(field, i), given, "A tag must not be empty"))
		}
		r.refuse(checkText(at(field, i), tag, MaxTag))
		if !seen[tag] {
			seen[tag], unique = true, append(unique, tag)
		}
	}
	return unique, r.err
}

func checkRelated(field string, refs []Ref) error {
	if len(refs) > MaxRelated {
		return Invalid(field, len(refs), "Must have at most %d references", MaxRelated)
	}
	var r refusal
	for i, ref := range refs {
		if checkRef("", "", ref) != nil {
			r.refuse(Invalid(at(field, i), ref.String(), "Must be a reference of the form type-id, such as docs-12"))
		}
	}
	return r.err
}

func checkTimes(start, end *time.Time) error {
	var r refusal
	for i, t := range []*time.Time{start, end} {
		// Answers use RFC 3339, which has only years of four digits.
		if t != nil && !t.IsZero() && (t.UTC().Year() < 0 || t.UTC().Year() > 9999) {
			r.refuse(Invalid([]string{"start_date", "end_date"}[i], t.String(), "Must be in the years 0 to 9999"))
		}
	}
	return r.err
}

// checkSpan refuses an item that ends before it starts. The error is about the date that
// the patch has.
func (p *Patch) checkSpan(start, end time.Time) error {
	switch {
	case start.IsZero() || end.IsZero() || !end.Before(start):
		return nil
	case p.Start != nil:
		return Invalid("start_date", moment(start), "Must not be after end_date (%s); it is %s", moment(end), moment(start))
	case p.End != nil:
		return Invalid("end_date", moment(end), "Must not be before start_date (%s); it is %s", moment(start), moment(end))
	}
	return nil // neither is changed
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
	var r refusal
	r.refuse(checkCount("limit", *limit, most))
	if offset < 0 || offset > maxOffset {
		r.refuse(Invalid("offset", offset, "Must be an integer of 0 or more"))
	}
	return r.err
}

func checkQuery(text string) error {
	if strings.TrimSpace(text) == "" {
		return Invalid("query", text, "Query is required and must not be empty")
	}
	return checkText("query", text, MaxQuery)
}

// check validates the patch as far as possible without the item. It makes tags as
// checkTags does.
func (p *Patch) check() error {
	var r refusal
	if p.Title != nil {
		r.refuse(checkTitle(*p.Title))
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
		if text.text != nil {
			r.refuse(checkText(text.field, *text.text, text.most))
		}
	}
	if p.Priority != nil && *p.Priority != "" {
		r.refuse(checkPriority(*p.Priority))
	}
	r.refuse(checkTimes(p.Start, p.End))
	for _, list := range []struct {
		field string
		refs  *[]Ref
	}{{"related", p.Related}, {"add_related", p.AddRelated}, {"remove_related", p.RemoveRelated}} {
		if list.refs != nil {
			r.refuse(checkRelated(list.field, *list.refs))
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
		r.refuse(err)
		*list.tags = &tags
	}
	return r.err
}

// checkNew validates a new item: its type, which it returns as checkType does, and its
// fields.
func checkNew(kind string, fields *Patch) (string, error) {
	var r refusal
	kind, err := checkType("type", kind)
	r.refuse(err)
	if fields.Title == nil {
		fields.Title = new(string)
	}
	r.refuse(fields.check())
	r.refuse(fields.checkDates())
	return kind, r.err
}

// checkDates is checkSpan for a patch that has both dates.
func (p *Patch) checkDates() error {
	if p.Start == nil || p.End == nil {
		return nil
	}
	return p.checkSpan(*p.Start, *p.End)
}

// check validates the edit as far as possible without the item.
func (e *Edit) check() error {
	var r refusal
	r.refuse(checkRef("type", "id", e.Ref))
	r.refuse(e.Patch.check())
	r.refuse(e.Patch.checkDates())
	return r.err
}

// checkRetype validates a change of an item's type and returns the type as checkType
// does.
func checkRetype(ref Ref, kind string) (string, error) {
	var r refusal
	r.refuse(checkRef("from_type", "from_id", ref))
	kind, err := checkType("to_type", kind)
	r.refuse(err)
	if kind != "" && sameType(kind, ref.Type) {
		r.refuse(Invalid("to_type", kind, "Must be another type than the item has"))
	}
	return kind, r.err
}

// check validates the patch as far as possible without the state.
func (p *StatePatch) check() error {
	var r refusal
	r.refuse(checkText("content", p.Content, MaxContent))
	r.refuse(checkText("updated_by", p.UpdatedBy, MaxWords))
	if p.Related != nil {
		r.refuse(checkRelated("related", *p.Related))
	}
	if p.Tags != nil {
		tags, err := checkTags("tags", *p.Tags)
		r.refuse(err)
		p.Tags = &tags
	}
	return r.err
}

// check validates the filter of a list. It sets the limit if there is none, and makes
// types as checkTypes does.
func (f *Filter) check() error {
	var r refusal
	types := make([]string, len(f.Types))
	for i, name := range f.Types { // get_items has one, so that its argument is no list
		kind, err := checkType("type", name)
		r.refuse(err)
		types[i] = kind
	}
	f.Types = unique(types)
	r.refuse(checkPage(&f.Limit, f.Offset, UsualPage, MaxPage))
	r.refuse(checkDays(f.From, f.Until))
	return r.err
}

// checkByTag is check for a list of items that have a tag.
func (f *Filter) checkByTag() error {
	var r refusal
	var err error
	f.Tag, err = checkTag(f.Tag)
	r.refuse(err)
	f.Types, err = checkTypes("types", f.Types)
	r.refuse(err)
	r.refuse(checkPage(&f.Limit, f.Offset, UsualPage, MaxPage))
	return r.err
}

// check validates the query of a search or of suggestions as Filter.check does.
func (q *Query) check(usual, most int) error {
	var r refusal
	var err error
	r.refuse(checkQuery(q.Text))
	q.Types, err = checkTypes("types", q.Types)
	r.refuse(err)
	if q.Tag != "" {
		q.Tag, err = checkTag(q.Tag)
		r.refuse(err)
	}
	r.refuse(checkPage(&q.Limit, q.Offset, usual, most))
	r.refuse(checkDays(q.From, q.Until))
	return r.err
}

// sameType reports whether two names are the same type. A type that was stored by an
// older version may have surrounding white space.
func sameType(a, b string) bool { return a == b || strings.TrimSpace(a) == strings.TrimSpace(b) }

// at returns the name of an element of a list.
func at(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }
