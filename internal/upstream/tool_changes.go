package upstream

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// Change is a change of the definition of a known tool. A changed description may
// tell a model something that nobody has reviewed.
type Change struct {
	Tool string `json:"tool"`
	// Parts are the members of the definition that changed.
	Parts []string `json:"parts"`
	// Diffs are excerpts of these parts, where they changed.
	Diffs []Diff `json:"diffs,omitempty"`
	// At is the time of the last change, and Times how many there were.
	At    time.Time `json:"at"`
	Times int       `json:"times"`
}

// Diff is an excerpt of a part before and after a change; empty if the part was not there.
type Diff struct {
	Part   string `json:"part"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Limits of the saved changes of one server.
const (
	keepChanges = 7 * 24 * time.Hour
	maxChanges  = 50
	// maxGone is how many bytes of definitions are kept of tools that the server
	// lists no more. A tool that is gone for a moment comes back as the same.
	maxGone = 256 << 10
	// maxLogged is how many changes are logged at once.
	maxLogged = 20
)

// comparedParts are the members of a definition that are compared. Others, such
// as _meta, may differ at each listing and tell a model nothing.
func comparedParts() []string {
	return []string{"title", "description", "inputSchema", "outputSchema", "annotations"}
}

// Changes returns the changes of the last days, oldest first.
func (s *Server) Changes() []Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	return lately(s.known.Changes, time.Now())
}

func lately(changes []Change, now time.Time) []Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return now.Sub(c.At) > keepChanges })
}

// compare returns the changes between two lists. Added and removed tools are no
// changes.
func compare(former, list []gateway.Tool, now time.Time) (changes []Change) {
	known := make(map[string][]byte, len(former))
	for i := range former {
		if _, twice := known[former[i].Name]; !twice {
			known[former[i].Name] = former[i].Definition
		}
	}
	for i := range list {
		name, after := list[i].Name, list[i].Definition
		before, ok := known[name]
		if !ok || bytes.Equal(before, after) {
			continue
		}
		delete(known, name) // of two of a name only the first is used
		c := Change{Tool: gateway.Short(name), At: now, Times: 1}
		for _, part := range comparedParts() {
			was, is := jsonrpc.Lookup(before, part), jsonrpc.Lookup(after, part)
			if !sameJSON(was, is) {
				c.Parts = append(c.Parts, part)
				d := Diff{Part: part}
				d.Before, d.After = excerpts(plainText(was), plainText(is))
				c.Diffs = append(c.Diffs, d)
			}
		}
		if len(c.Parts) > 0 {
			changes = append(changes, c)
		}
	}
	return changes
}

// sameJSON reports whether two values are equal, whatever the order of their
// keys.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if a == nil || b == nil {
		return false
	}
	x, ok := decoded(a)
	y, too := decoded(b)
	return ok && too && reflect.DeepEqual(x, y)
}

func decoded(raw []byte) (value any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return value, d.Decode(&value) == nil
}

// plainText returns a JSON value as text: that of a string, or JSON with sorted keys.
func plainText(raw []byte) string {
	switch value, _ := decoded(raw); value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	default:
		sorted, _ := json.Marshal(value)
		return string(sorted)
	}
}

// excerpts show two texts where they begin to differ, in printable characters.
func excerpts(before, after string) (string, string) {
	const lead, most = 30, 120
	x := []rune(strings.Join(strings.Fields(before), " "))
	y := []rune(strings.Join(strings.Fields(after), " "))
	same := 0
	for same < min(len(x), len(y)) && x[same] == y[same] {
		same++
	}
	from := max(0, same-lead)
	show := func(text []rune) string {
		part := gateway.Printable(string(text[from:min(len(text), from+most)]))
		if from > 0 {
			part = "…" + part
		}
		if len(text) > from+most {
			part += "…"
		}
		return part
	}
	return show(x), show(y)
}

// addChanges adds fresh changes to those that are kept, one for each tool.
func addChanges(kept, fresh []Change, now time.Time) []Change {
	kept = lately(kept, now)
	for _, c := range fresh {
		if at := slices.IndexFunc(kept, func(old Change) bool { return old.Tool == c.Tool }); at >= 0 {
			old := kept[at]
			c.Times += old.Times
			for _, part := range old.Parts {
				if !slices.Contains(c.Parts, part) {
					c.Parts = append(c.Parts, part)
				}
			}
			for _, d := range old.Diffs {
				if !slices.ContainsFunc(c.Diffs, func(fresh Diff) bool { return fresh.Part == d.Part }) {
					c.Diffs = append(c.Diffs, d)
				}
			}
			kept = slices.Delete(kept, at, at+1)
		}
		kept = append(kept, c)
	}
	return slices.Clip(kept[max(0, len(kept)-maxChanges):])
}

// goneOf returns the definitions of former tools that are not in the list, as a
// JSON array.
func goneOf(former, list []gateway.Tool) []byte {
	names := make(map[string]bool, len(list))
	for i := range list {
		names[list[i].Name] = true
	}
	gone := []byte{'['}
	for i := range former {
		t := &former[i]
		if names[t.Name] || len(gone)+len(t.Definition) > maxGone {
			continue
		}
		names[t.Name] = true
		if len(gone) > 1 {
			gone = append(gone, ',')
		}
		gone = append(gone, t.Definition...)
	}
	if len(gone) == 1 {
		return nil
	}
	return append(gone, ']')
}

// noteChanges compares a new list of tools with the known one, logs the changes
// and adds them to fresh. Called with mu held.
func (s *Server) noteChanges(fresh *SavedList, list []gateway.Tool) {
	former := s.List(gateway.KindTool)
	if gone, err := s.parse(fresh.Gone, gateway.KindTool, fresh.Era); err == nil {
		former = slices.Concat(former, gone)
	}
	changes := compare(former, list, fresh.SavedAt.UTC())
	for _, c := range changes[:min(len(changes), maxLogged)] {
		s.log.Warn("the definition of a tool changed", "tool_name", c.Tool, "parts", c.Parts)
	}
	if more := len(changes) - maxLogged; more > 0 {
		s.log.Warn("the definitions of more tools changed", "tools", more)
	}
	fresh.Changes = addChanges(fresh.Changes, changes, fresh.SavedAt)
	fresh.Gone = goneOf(former, list)
}
