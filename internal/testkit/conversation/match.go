package conversation

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// Expectations are compared byte by byte after the white space between tokens
// is gone: the order of keys and the spelling of numbers and strings count,
// because passing bytes on unchanged is what we promise.
//
// An expectation may leave things open:
//
//	"..." or "<any>"   stands for any value
//	"...": anything    as an object's last member, for any further members
//	"$name"            stands for any value and remembers it; later it stands
//	                   for that same value, also in lines that are sent

// captures are the values that $names stand for, as raw JSON.
type captures map[string]string

// matchJSON reports whether got is what pattern describes, and keeps what the
// pattern captures if it is.
func matchJSON(pattern, got []byte, c captures) bool {
	p, errP := compact(pattern)
	g, errG := compact(got)
	if errP != nil || errG != nil {
		return bytes.Equal(bytes.TrimSpace(pattern), bytes.TrimSpace(got))
	}
	tentative := make(captures)
	for name, value := range c {
		tentative[name] = value
	}
	if !tentative.match(p, g) {
		return false
	}
	for name, value := range tentative {
		c[name] = value
	}
	return true
}

func compact(raw []byte) ([]byte, error) {
	var buf bytes.Buffer
	err := json.Compact(&buf, raw)
	return buf.Bytes(), err
}

func isAny(raw []byte) bool { return string(raw) == `"..."` || string(raw) == `"<any>"` }

// captureName finds "$name", quotes included.
func captureName() *regexp.Regexp { return regexp.MustCompile(`"\$[A-Za-z_][A-Za-z0-9_]*"`) }

func isCapture(raw []byte) bool {
	return len(raw) > 3 && raw[1] == '$' && len(captureName().Find(raw)) == len(raw)
}

func (c captures) match(p, g []byte) bool {
	switch {
	case isAny(p):
		return true
	case isCapture(p):
		if known, ok := c[string(p)]; ok {
			return known == string(g)
		}
		c[string(p)] = string(g)
		return true
	case p[0] != g[0]:
		return false
	case p[0] == '{':
		return c.matchObject(members(p), members(g))
	case p[0] == '[':
		ps, gs := elements(p), elements(g)
		if len(ps) != len(gs) {
			return false
		}
		for i := range ps {
			if !c.match(ps[i], gs[i]) {
				return false
			}
		}
		return true
	default:
		return bytes.Equal(p, g)
	}
}

func (c captures) matchObject(ps, gs []member) bool {
	for i, m := range ps {
		if string(m.key) == `"..."` && i == len(ps)-1 {
			return true
		}
		if i >= len(gs) || !bytes.Equal(m.key, gs[i].key) || !c.match(m.value, gs[i].value) {
			return false
		}
	}
	return len(ps) == len(gs)
}

// fill replaces every "$name" that is known in a line to be sent.
func (c captures) fill(line []byte) []byte {
	return captureName().ReplaceAllFunc(line, func(name []byte) []byte {
		if value, ok := c[string(name)]; ok {
			return []byte(value)
		}
		return name
	})
}

// mergeJSON is got, with what the pattern left open left open again, where the
// two still have the same shape. It keeps -update from writing down the
// accidents of one run.
func mergeJSON(pattern, got []byte) []byte {
	p, errP := compact(pattern)
	g, errG := compact(got)
	if errG != nil {
		return bytes.TrimSpace(got)
	}
	if errP != nil {
		return g
	}
	return merge(p, g)
}

func merge(p, g []byte) []byte {
	switch {
	case isAny(p) || isCapture(p):
		return p
	case p[0] != g[0]:
		return g
	case p[0] == '[':
		return mergeArrays(elements(p), elements(g))
	case p[0] == '{':
		return mergeObjects(members(p), members(g))
	default:
		return g
	}
}

func mergeArrays(ps, gs [][]byte) []byte {
	merged := []byte{'['}
	for i, g := range gs {
		if i > 0 {
			merged = append(merged, ',')
		}
		if i < len(ps) {
			g = merge(ps[i], g)
		}
		merged = append(merged, g...)
	}
	return append(merged, ']')
}

func mergeObjects(ps, gs []member) []byte {
	merged := []byte{'{'}
	for i, m := range gs {
		if i > 0 {
			merged = append(merged, ',')
		}
		if i < len(ps) && string(ps[i].key) == `"..."` {
			merged = append(merged, ps[i].key...)
			merged = append(merged, ':')
			merged = append(merged, ps[i].value...)
			break
		}
		value := m.value
		for _, p := range ps {
			if bytes.Equal(p.key, m.key) {
				value = merge(p.value, value)
			}
		}
		merged = append(merged, m.key...)
		merged = append(merged, ':')
		merged = append(merged, value...)
	}
	return append(merged, '}')
}

// member is one member of an object, with its key as it is spelt.
type member struct{ key, value []byte }

// members splits an object, elements an array. Both take compact, valid JSON
// and keep the bytes as they are, duplicates included, which decoding would
// not.
func members(object []byte) []member {
	var out []member
	for i := 1; object[i] != '}'; {
		if object[i] == ',' {
			i++
		}
		keyEnd := valueEnd(object, i)
		end := valueEnd(object, keyEnd+1)
		out = append(out, member{object[i:keyEnd], object[keyEnd+1 : end]})
		i = end
	}
	return out
}

func elements(array []byte) [][]byte {
	var out [][]byte
	for i := 1; array[i] != ']'; {
		if array[i] == ',' {
			i++
		}
		end := valueEnd(array, i)
		out = append(out, array[i:end])
		i = end
	}
	return out
}

// valueEnd is where the value that begins at i ends.
func valueEnd(b []byte, i int) int {
	depth := 0
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // the end of what surrounds a number or literal
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}
