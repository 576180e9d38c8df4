package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
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
func splice(original, changed []byte) (out []byte, patch []Op, err error) {
	was, err := parse(original)
	if err != nil {
		return nil, nil, err
	}
	is, err := parse(changed)
	if err == nil && is.twice {
		err = errNotJSON
	}
	if err != nil {
		return nil, nil, err
	}
	s := splicer{}
	out = s.value(make([]byte, 0, len(original)), &was, &is, "")
	return out, s.patch, nil
}

// withoutDoubles writes a value without the first of two values with one key.
func withoutDoubles(raw []byte) []byte {
	t, err := parse(raw)
	if err != nil {
		return raw
	}
	return (&splicer{}).value(nil, &t, &t, "")
}

type splicer struct {
	patch []Op
}

// value appends is to out, with the bytes of was where both are equal.
func (s *splicer) value(out []byte, was, is *tree, path string) []byte {
	switch {
	case was.hash == is.hash && !was.twice:
		return append(out, was.raw...)
	case was.isObject() && is.isObject():
		return s.object(out, was, is, path)
	case was.isArray() && is.isArray():
		return s.array(out, was, is, path)
	default:
		s.patch = append(s.patch, Op{"replace", path, is.raw})
		return append(out, is.raw...)
	}
}

func (s *splicer) object(out []byte, was, is *tree, path string) []byte {
	known := make(map[string]int, len(is.keys))
	for i := range is.keys {
		known[is.keys[i].text] = i
	}
	out = append(out, '{')
	member := func(key []byte) {
		if out[len(out)-1] != '{' {
			out = append(out, ',')
		}
		out = append(append(out, key...), ':')
	}
	for i, k := range was.keys {
		at := path + "/" + escapePointer.Replace(k.text)
		j, stays := known[k.text]
		if !stays {
			s.patch = append(s.patch, Op{Op: "remove", Path: at})
			continue
		}
		delete(known, k.text)
		member(k.raw)
		out = s.value(out, &was.values[i], &is.values[j], at)
	}
	for j, k := range is.keys {
		if _, fresh := known[k.text]; fresh {
			s.patch = append(s.patch, Op{"add", path + "/" + escapePointer.Replace(k.text), is.values[j].raw})
			member(k.raw)
			out = append(out, is.values[j].raw...)
		}
	}
	return append(out, '}')
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1") //nolint:gochecknoglobals // constant

func (s *splicer) array(out []byte, was, is *tree, path string) []byte {
	from := pair(was.values, is.values)
	sub := splicer{}
	kept := make([]bool, len(was.values))
	inOrder, last := true, -1
	start := len(out)
	out = append(out, '[')
	for j := range is.values {
		if j > 0 {
			out = append(out, ',')
		}
		i := from[j]
		if i < 0 {
			inOrder = false
			out = append(out, is.values[j].raw...)
			continue
		}
		kept[i] = true
		inOrder, last = inOrder && i > last, i
		out = sub.value(out, &was.values[i], &is.values[j], fmt.Sprintf("%s/%d", path, j))
	}
	out = append(out, ']')
	if !inOrder { // elements were added or moved
		s.patch = append(s.patch, Op{"replace", path, bytes.Clone(out[start:])})
		return out
	}
	for i := len(kept) - 1; i >= 0; i-- {
		if !kept[i] {
			s.patch = append(s.patch, Op{Op: "remove", Path: fmt.Sprintf("%s/%d", path, i)})
		}
	}
	s.patch = append(s.patch, sub.patch...)
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
			if t.keys[i].text == other.keys[j].text && t.values[i].hash == other.values[j].hash {
				n++
			}
		}
	}
	return n
}
