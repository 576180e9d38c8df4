package kb

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// arguments reads the arguments of one call. Values that were read are not used if
// there is an error.
type arguments struct {
	values map[string]any
	// onlyCheck is set if the tool is not to be carried out.
	onlyCheck bool
	refusal
}

// exact refuses arguments that could not be stored as given: only one value of a
// duplicate key would count, and half of a surrogate pair would be replaced by
// another character.
func (a *arguments) exact(raw []byte) {
	if !jsonrpc.HasLoneSurrogate(raw) && jsonrpc.CheckUnique(raw) == nil {
		return
	}
	seen := map[string]bool{}
	_ = jsonrpc.Members(raw, func(name, value []byte) bool { // raw was decoded before, so it is an object
		key := string(name)
		switch {
		case seen[key]:
			a.refuse(Invalid(key, a.values[key], "Must be given once"))
		case jsonrpc.HasLoneSurrogate(value):
			a.refuse(Invalid(key, a.values[key], "Must not have half of a surrogate pair, such as \\ud83d alone; send whole characters"))
		case jsonrpc.CheckUnique(value) != nil:
			a.refuse(Invalid(key, a.values[key], "Must not have a key twice"))
		}
		seen[key] = true
		return a.err == nil
	})
}

// only refuses arguments that the tool does not have: they would be lost silently.
func (a *arguments) only(known []string) {
	for _, key := range slices.Sorted(maps.Keys(a.values)) {
		if slices.Contains(known, key) {
			continue
		}
		near := gateway.Nearest(key, slices.Values(known))
		switch value := a.values[key]; {
		case near != "":
			a.refuse(Invalid(key, value, "Unknown argument; did you mean %s?", near))
		case len(known) == 0:
			a.refuse(Invalid(key, value, "Unknown argument; this tool has none"))
		default:
			a.refuse(Invalid(key, value, "Unknown argument; known are %s", strings.Join(known, ", ")))
		}
	}
}

// require refuses a call that lacks a required argument.
func (a *arguments) require(keys []string) {
	for _, key := range keys {
		if a.values[key] == nil {
			a.refuse(Invalid(key, nil, "%s is required", strings.ToUpper(key[:1])+key[1:]))
		}
	}
}

// text returns a text, or nil if the argument is absent. Null is the empty text.
func (a *arguments) text(key string) *string {
	value, given := a.values[key]
	if !given {
		return nil
	}
	text, ok := value.(string)
	if !ok && value != nil {
		a.refuse(Invalid(key, value, "Must be a string"))
	}
	return &text
}

// word returns a text, empty if the argument is absent.
func (a *arguments) word(key string) string {
	if text := a.text(key); text != nil {
		return *text
	}
	return ""
}

func (a *arguments) flag(key string) bool {
	value := a.values[key]
	flag, ok := value.(bool)
	if !ok && value != nil {
		a.refuse(Invalid(key, value, "Must be true or false"))
	}
	return flag
}

// integer returns an integer, 0 if the argument is absent. JSON has one number type,
// so 1.0 is 1.
func (a *arguments) integer(key string) int64 {
	value := a.values[key]
	if value == nil {
		return 0
	}
	n, ok := wholeNumber(value)
	if !ok {
		a.refuse(Invalid(key, value, "Must be an integer"))
	}
	return n
}

func wholeNumber(value any) (int64, bool) {
	var f float64
	switch v := value.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return n, true
		}
		var err error
		if f, err = v.Float64(); err != nil {
			return 0, false
		}
	case float64:
		f = v
	case int:
		return int64(v), true
	case int64:
		return v, true
	default:
		return 0, false
	}
	const exact = 1 << 53 // beyond it a float64 may stand for a neighbouring integer
	return int64(f), f == math.Trunc(f) && math.Abs(f) <= exact
}

// count returns an integer from 1 to most, 0 if the argument is absent.
func (a *arguments) count(key string, most int) int {
	if a.values[key] == nil {
		return 0
	}
	n := a.integer(key)
	if n < 1 || n > int64(most) {
		a.refuse(checkCount(key, int(min(max(n, math.MinInt32), math.MaxInt32)), most))
	}
	return int(n)
}

// page returns the limit and the offset of a list.
func (a *arguments) page(most int) (limit, offset int) {
	limit = a.count("limit", most)
	if n := a.integer("offset"); n < 0 || n > maxOffset {
		a.refuse(Invalid("offset", n, "Must be an integer of 0 or more"))
	} else {
		offset = int(n)
	}
	return limit, offset
}

// texts returns a list of texts, or nil if the argument is absent. Null is the empty list.
func (a *arguments) texts(key string) *[]string {
	value, given := a.values[key]
	if !given {
		return nil
	}
	list, ok := value.([]any)
	if !ok && value != nil {
		a.refuse(Invalid(key, value, "Must be an array of strings"))
	}
	texts := make([]string, 0, len(list))
	for i, one := range list {
		text, ok := one.(string)
		if !ok {
			a.refuse(Invalid(at(key, i), one, "Must be a string"))
		}
		texts = append(texts, text)
	}
	return &texts
}

func (a *arguments) words(key string) []string {
	if texts := a.texts(key); texts != nil {
		return *texts
	}
	return nil
}

// oneOrAll returns a list with one text, or nil if the argument is absent.
func (a *arguments) oneOrAll(key string) []string {
	if a.values[key] == nil {
		return nil
	}
	return []string{a.word(key)}
}

func (a *arguments) refs(key string) *[]Ref {
	texts := a.texts(key)
	if texts == nil {
		return nil
	}
	refs := make([]Ref, 0, len(*texts))
	for i, text := range *texts {
		ref, err := ParseRef(at(key, i), text)
		if err != nil {
			a.refuse(err)
		}
		refs = append(refs, ref)
	}
	return &refs
}

// time returns a time, or nil if the argument is absent. Null and the empty text are the
// zero time.
func (a *arguments) time(key string) *time.Time {
	text := a.text(key)
	if text == nil {
		return nil
	}
	if *text == "" {
		return &time.Time{}
	}
	t, err := ParseTime(key, *text)
	if err != nil {
		a.refuse(err)
	}
	return &t
}

func (a *arguments) day(key string) time.Time {
	if a.values[key] == nil {
		return time.Time{}
	}
	day, err := ParseDay(key, a.word(key))
	if err != nil {
		a.refuse(err)
	}
	return day
}

func (a *arguments) ref(typeKey, idKey string) Ref {
	return Ref{a.word(typeKey), a.integer(idKey)}
}

// patch reads the fields of an item.
func (a *arguments) patch() Patch {
	p := Patch{
		Title: a.text("title"), Description: a.text("description"), Content: a.text("content"),
		Status: a.text("status"), Category: a.text("category"), Version: a.text("version"),
		Start: a.time("start_date"), End: a.time("end_date"),
		Related: a.refs("related"), AddRelated: a.refs("add_related"), RemoveRelated: a.refs("remove_related"),
		Tags: a.texts("tags"), AddTags: a.texts("add_tags"), RemoveTags: a.texts("remove_tags"),
	}
	if text := a.text("priority"); text != nil {
		p.Priority = new(Priority(*text))
	}
	return p
}

// edits reads the entries of a bulk update. An error names the wrong ones.
func (a *arguments) edits(key string, known []string) []Edit {
	list, ok := a.values[key].([]any)
	if !ok {
		a.refuse(Invalid(key, a.values[key], "Must be an array of {type, id, data}"))
		return nil
	}
	if len(list) > MaxBulk {
		return make([]Edit, len(list)) // BulkUpdate refuses this number of entries
	}
	edits := make([]Edit, 0, len(list))
	for i, one := range list {
		values, ok := one.(map[string]any)
		if !ok {
			a.refuse(Invalid(at(key, i), one, "Must be an object {type, id, data}"))
			edits = append(edits, Edit{})
			continue
		}
		entry := &arguments{values: values}
		entry.only([]string{"type", "id", "data"})
		entry.require([]string{"type", "id", "data"})
		edit := Edit{Ref: entry.ref("type", "id")}
		fields, ok := values["data"].(map[string]any)
		if !ok {
			entry.refuse(Invalid("data", values["data"], "Must be an object with the fields to change"))
		}
		data := &arguments{values: fields}
		data.only(known)
		edit.Patch = data.patch()
		entry.refuse(data.err)
		a.refuse(atIndex(entry.err, key, i))
		edits = append(edits, edit)
	}
	for i := range edits {
		if _, ok := list[i].(map[string]any); ok && a.err != nil {
			a.refuse(atIndex(edits[i].check(), key, i))
		}
	}
	return edits
}
