package execution

import (
	"io"
	"math"
)

// Strip copies the body of an execution as compact JSON without what no answer shows:
// the resume token, executionData, stacks and requests of errors, and the values of
// well-known credential fields. It holds one item at a time.
func Strip(w io.Writer, body io.Reader) error {
	s := strip{w: w, cutter: cutter{
		reader: newReader(body), limit: math.MaxInt, text: math.MaxInt, list: math.MaxInt, depth: maxDepth,
	}}
	s.keys = math.MaxInt
	if s.next() != '{' {
		s.fail("an execution is an object")
	}
	s.copy(0)
	s.flush()
	if s.err == nil {
		s.rest()
	}
	return s.err
}

type strip struct {
	cutter
	w io.Writer
}

// wayToItems is the way to the items of an execution: keys, any key as *, and [] for an
// array. What is beside it is copied in one piece.
var wayToItems = []string{"data", "resultData", "runData", "*", "[]", "data", "*", "[]", "[]"}

// copy copies the value at a level of the way.
func (s *strip) copy(level int) {
	switch next := s.next(); {
	case level < len(wayToItems) && wayToItems[level] == "[]" && next == '[':
		s.enter('[')
		s.out = append(s.out, '[')
		for n := 0; s.more(']', n); n++ {
			if n > 0 {
				s.out = append(s.out, ',')
			}
			s.copy(level + 1)
			s.flush()
		}
		s.out = append(s.out, ']')
	case level < len(wayToItems) && wayToItems[level] != "[]" && next == '{':
		s.members(level)
	default:
		s.value(1, false)
	}
}

func (s *strip) members(level int) {
	s.enter('{')
	s.out = append(s.out, '{')
	first := true
	for n := 0; s.more('}', n); n++ {
		key := string(s.key())
		if level == 1 && (key == "resumeToken" || key == "executionData") {
			s.skip()
			continue
		}
		s.separate(&first)
		s.out = append(appendString(s.out, []byte(key)), ':')
		if key == wayToItems[level] || wayToItems[level] == "*" {
			s.copy(level + 1)
		} else {
			s.member(fateOf([]byte(key), false), 1)
		}
		s.flush()
	}
	s.out = append(s.out, '}')
}

// flush writes what is copied so far.
func (s *strip) flush() {
	if s.err != nil || len(s.out) == 0 {
		return
	}
	if _, err := s.w.Write(s.out); err != nil {
		s.err, s.end = err, s.pos
	}
	s.out = s.out[:0]
}
