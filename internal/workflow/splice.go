package workflow

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"genkan/internal/jsonrpc"
)

// Op is an operation of a JSON Patch.
type Op struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

// splice returns original with what is different in changed, and the difference as a
// JSON Patch. Equal parts keep the bytes of original: a script turns
// 1234567890123456789 into 1234567890123456800, reorders keys and spells strings in
// its own way, and has changed nothing by that.
//
// Elements of arrays are equal parts wherever they stand, so that a filtered or sorted
// array keeps its elements' bytes.
//
// Both must be valid JSON. It fails if changed is different and has a key twice.
func splice(original, changed []byte) (out []byte, patch []Op, err error) {
	if bytes.Equal(original, changed) {
		return original, nil, nil
	}
	if err := jsonrpc.CheckUnique(bytes.TrimSpace(changed)); err != nil {
		return nil, nil, err
	}
	s := splicer{}
	out = s.bytes(make([]byte, 0, len(original)), bytes.TrimSpace(original), bytes.TrimSpace(changed), "")
	return out, s.patch, nil
}

// withoutDoubles writes a value without the first of two values with one key.
func withoutDoubles(raw []byte) []byte {
	t := parse(raw)
	return (&splicer{}).value(nil, &t, &t, "")
}

type splicer struct {
	patch []Op
	// doubles is set when an object was written without one of its keys that stood
	// twice.
	doubles bool
}

// bytes is value for what is not parsed yet. Most of a value is usually the same, byte for
// byte, and need not be.
func (s *splicer) bytes(out, was, is []byte, path string) []byte {
	if bytes.Equal(was, is) {
		return append(out, was...)
	}
	start, sub := len(out), splicer{}
	out = sub.differ(out, was, is, path)
	if len(sub.patch) == 0 && !sub.doubles { // only white space differs
		return append(out[:start], was...)
	}
	s.join(&sub)
	return out
}

// join takes over what another splicer found.
func (s *splicer) join(sub *splicer) {
	s.patch, s.doubles = append(s.patch, sub.patch...), s.doubles || sub.doubles
}

// differ is bytes for what is not the same. Far down, where each level would be read once
// more, it parses.
func (s *splicer) differ(out, was, is []byte, path string) []byte {
	const shallow = 8
	switch {
	case strings.Count(path, "/") > shallow:
	case was[0] == '{' && is[0] == '{':
		keys, values := parts(was)
		sameKeys, changed := parts(is)
		if !slices.EqualFunc(keys, sameKeys, bytes.Equal) {
			break
		}
		out = append(out, '{')
		for i, k := range keys {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(append(out, k...), ':')
			if bytes.Equal(values[i], changed[i]) {
				out = append(out, values[i]...)
				continue
			}
			text, _ := jsonrpc.Unquote(k)
			out = s.bytes(out, values[i], changed[i], pointer(path, text))
		}
		return append(out, '}')
	case was[0] == '[' && is[0] == '[':
		_, values := parts(was)
		_, changed := parts(is)
		front, back := 0, 0
		for front < min(len(values), len(changed)) && bytes.Equal(values[front], changed[front]) {
			front++
		}
		for back < min(len(values), len(changed))-front && bytes.Equal(values[len(values)-1-back], changed[len(changed)-1-back]) {
			back++
		}
		before, after := values[:front], values[len(values)-back:]
		return s.array(out, trees(values[front:len(values)-back]), trees(changed[front:len(changed)-back]), before, after, path)
	}
	old, fresh := parse(was), parse(is)
	return s.value(out, &old, &fresh, path)
}

func trees(values [][]byte) []tree {
	all := make([]tree, len(values))
	var p parser
	for i, raw := range values {
		p.data, p.at = raw, 0
		all[i] = p.value()
	}
	return all
}

// value appends is to out, with the bytes of was where both are equal.
func (s *splicer) value(out []byte, was, is *tree, path string) []byte {
	switch {
	case was.same(is):
		return append(out, was.raw...)
	case was.isObject() && is.isObject():
		return s.object(out, was, is, path)
	case was.isArray() && is.isArray():
		return s.array(out, was.values, is.values, nil, nil, path)
	default:
		s.patch = append(s.patch, Op{"replace", path, is.raw})
		return append(out, is.raw...)
	}
}

func (s *splicer) object(out []byte, was, is *tree, path string) []byte {
	s.doubles = s.doubles || was.twice
	var many map[string]int
	stays := make([]bool, len(is.keys))
	out = append(out, '{')
	member := func(key []byte) {
		if out[len(out)-1] != '{' {
			out = append(out, ',')
		}
		out = append(append(out, key...), ':')
	}
	for i, k := range was.keys {
		j := i // most objects keep their keys
		if j >= len(is.keys) || !bytes.Equal(is.keys[j].text, k.text) {
			j = find(is.keys, k.text, &many)
		}
		if j < 0 {
			s.patch = append(s.patch, Op{Op: "remove", Path: pointer(path, k.text)})
			continue
		}
		stays[j] = true
		member(k.raw)
		if was.values[i].same(&is.values[j]) {
			out = append(out, was.values[i].raw...)
			continue
		}
		out = s.value(out, &was.values[i], &is.values[j], pointer(path, k.text))
	}
	for j, k := range is.keys {
		if !stays[j] {
			s.patch = append(s.patch, Op{"add", pointer(path, k.text), is.values[j].raw})
			member(k.raw)
			out = append(out, is.values[j].raw...)
		}
	}
	return append(out, '}')
}

// pointer is the JSON Pointer of a member.
func pointer(path string, key []byte) string { return path + "/" + escapePointer.Replace(string(key)) }

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1") //nolint:gochecknoglobals // constant

// array appends an array. Before and after are elements that both arrays begin and end
// with.
func (s *splicer) array(out []byte, was, is []tree, before, after [][]byte, path string) []byte {
	from := pair(was, is)
	sub := splicer{}
	kept := make([]bool, len(was))
	inOrder, last := true, -1
	start := len(out)
	out = append(out, '[')
	element := func() {
		if len(out) > start+1 {
			out = append(out, ',')
		}
	}
	for _, raw := range before {
		element()
		out = append(out, raw...)
	}
	for j := range is {
		element()
		i := from[j]
		if i < 0 {
			inOrder = false
			out = append(out, is[j].raw...)
			continue
		}
		kept[i] = true
		inOrder, last = inOrder && i > last, i
		if was[i].same(&is[j]) {
			out = append(out, was[i].raw...)
			continue
		}
		out = sub.value(out, &was[i], &is[j], path+"/"+strconv.Itoa(len(before)+j))
	}
	for _, raw := range after {
		element()
		out = append(out, raw...)
	}
	out = append(out, ']')
	if !inOrder { // elements were added or moved
		s.patch, s.doubles = append(s.patch, Op{"replace", path, bytes.Clone(out[start:])}), s.doubles || sub.doubles
		return out
	}
	for i := len(kept) - 1; i >= 0; i-- {
		if !kept[i] {
			s.patch = append(s.patch, Op{Op: "remove", Path: path + "/" + strconv.Itoa(len(before)+i)})
		}
	}
	s.join(&sub)
	return out
}

// pair finds for each element of is the element of was that it is, or was made of; -1
// for none. No element of was is found twice.
func pair(was, is []tree) []int {
	from := make([]int, len(is))
	equal := map[uint64][]int{} // where the elements of was with a hash are
	for i := range was {
		equal[was[i].hash] = append(equal[was[i].hash], i)
	}
	used := make([]bool, len(was))
	for j := range is {
		from[j] = -1
		if same := equal[is[j].hash]; len(same) > 0 {
			from[j], used[same[0]], equal[is[j].hash] = same[0], true, same[1:]
		}
	}
	next := 0 // the first unused element
	for j := range is {
		if from[j] >= 0 {
			continue
		}
		for next < len(was) && used[next] {
			next++
		}
		if len(was) == len(is) && !used[j] {
			from[j], used[j] = j, true
			continue
		}
		best, most := -1, -1
		for i := next; i < len(was) && i < next+nearby; i++ {
			if n := was[i].common(&is[j]); !used[i] && n > most {
				best, most = i, n
			}
		}
		if best >= 0 && most > 0 {
			from[j], used[best] = best, true
		}
	}
	return from
}

// nearby is among how many elements of an array the origin of a changed one is sought,
// and by how many of its members.
const nearby = 32

// common counts the members that two objects have in common, among the first.
func (t *tree) common(other *tree) (n int) {
	for i := range min(len(t.keys), nearby) {
		for j := range min(len(other.keys), nearby) {
			if bytes.Equal(t.keys[i].text, other.keys[j].text) && t.values[i].hash == other.values[j].hash {
				n++
			}
		}
	}
	return n
}
