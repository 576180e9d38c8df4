package workflow

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
	"strconv"

	"genkan/internal/jsonrpc"
)

// tree is a JSON value with the bytes of all its parts.
type tree struct {
	raw []byte
	// hash is equal for values that a script cannot tell apart: white space, the
	// order of keys, the spelling of strings and digits beyond those of a float64
	// do not count.
	hash uint64
	// keys are those of an object, as written and unescaped, and values its values
	// or those of an array.
	keys   []key
	values []tree
	// twice is set if an object in the value has a key twice. A script saw the last
	// value, and another reader may take the first: the object is written anew.
	twice bool
}

type key struct{ raw, text []byte }

// seed is that of every hash: trees of different calls are never compared, but both
// trees of a comparison need the same.
var seed = maphash.MakeSeed() //nolint:gochecknoglobals // constant for the process

// parse reads a value of valid JSON. Of a key that an object has twice it keeps the last, as
// JavaScript does.
func parse(raw []byte) tree {
	p := parser{data: raw}
	return p.value()
}

// parser reads valid JSON. Trees and keys come from chunks, because there are many.
type parser struct {
	data  []byte
	at    int
	open  []tree // values of the objects and arrays that are being read
	names []key
	trees []tree
	keys  []key
}

// firstChunk and largestChunk are how many trees or keys are made at once.
const firstChunk, largestChunk = 16, 512

// take moves the end of a stack into a slice of its own.
func take[T any](stack *[]T, from int, chunks *[]T) []T {
	n := len(*stack) - from
	if n > cap(*chunks)-len(*chunks) {
		*chunks = make([]T, 0, max(n, min(max(2*cap(*chunks), firstChunk), largestChunk)))
	}
	start := len(*chunks)
	*chunks = append(*chunks, (*stack)[from:]...)
	*stack = (*stack)[:from]
	return (*chunks)[start:len(*chunks):len(*chunks)]
}

func (p *parser) space() {
	for p.at < len(p.data) && p.data[p.at] <= ' ' {
		p.at++
	}
}

func (p *parser) value() tree {
	p.space()
	start := p.at
	var t tree
	switch p.data[p.at] {
	case '{':
		t = p.object()
	case '[':
		t = p.array()
	case '"':
		text, _ := jsonrpc.Unquote(p.text())
		t.hash = sum('"', maphash.Bytes(seed, text))
	default:
		for p.at < len(p.data) && !ends(p.data[p.at]) {
			p.at++
		}
		t.hash = scalar(p.data[start:p.at])
	}
	t.raw = p.data[start:p.at:p.at]
	return t
}

// scalar is the hash of a number, true, false or null. A number that is no float64
// becomes null in a script.
func scalar(raw []byte) uint64 {
	n, err := strconv.ParseFloat(string(raw), 64)
	switch {
	case raw[0] == 't' || raw[0] == 'f':
		return sum(raw[0], 0)
	case raw[0] == 'n' || err != nil:
		return sum('n', 0)
	default:
		return sum('0', math.Float64bits(n+0)) // -0 is 0
	}
}

// text reads a string with its quotes.
func (p *parser) text() []byte {
	start := p.at
	for p.at++; p.data[p.at] != '"'; p.at++ {
		if p.data[p.at] == '\\' {
			p.at++
		}
	}
	p.at++
	return p.data[start:p.at:p.at]
}

// skip reads a value without a look at it.
func (p *parser) skip() []byte {
	p.space()
	start, depth := p.at, 0
	for {
		switch p.data[p.at] {
		case '"':
			p.text()
			p.at--
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',', ':', ' ', '\t', '\r', '\n':
		default: // a number or a word
			for p.at+1 < len(p.data) && !ends(p.data[p.at+1]) {
				p.at++
			}
		}
		p.at++
		if depth == 0 {
			return p.data[start:p.at:p.at]
		}
	}
}

// ends reports whether a byte stands behind a number or a word.
func ends(c byte) bool { return c <= ' ' || c == ',' || c == ']' || c == '}' }

// parts returns the raw keys and values of an object, or the values of an array.
func parts(raw []byte) (keys, values [][]byte) {
	p := parser{data: raw}
	closing := raw[0] + 2 // '}' for '{', ']' for '['
	for p.at++; p.next(closing); {
		if closing == '}' {
			keys = append(keys, p.text())
			p.space()
			p.at++ // the colon
		}
		values = append(values, p.skip())
	}
	return keys, values
}

// next reports whether another part follows, and goes to it.
func (p *parser) next(end byte) bool {
	p.space()
	if p.data[p.at] == ',' {
		p.at++
		p.space()
	}
	if p.data[p.at] == end {
		p.at++
		return false
	}
	return true
}

func (p *parser) object() (t tree) {
	from, names := len(p.open), len(p.names)
	var many map[string]int // where the keys of a large object are
	for p.at++; p.next('}'); {
		k := key{raw: p.text()}
		k.text, _ = jsonrpc.Unquote(k.raw)
		p.space()
		p.at++ // the colon
		value := p.value()
		t.twice = t.twice || value.twice
		if i := find(p.names[names:], k.text, &many); i >= 0 {
			p.names[names+i], p.open[from+i], t.twice = k, value, true
			continue
		}
		p.open, p.names = append(p.open, value), append(p.names, k)
	}
	t.values, t.keys = take(&p.open, from, &p.trees), take(&p.names, names, &p.keys)
	for i := range t.keys { // a sum, because the order of keys does not count
		t.hash += sum(':', maphash.Bytes(seed, t.keys[i].text), t.values[i].hash)
	}
	t.hash = sum('{', t.hash)
	return t
}

// find is the index of a key; -1 if there is none. The keys of a large object are put
// into a map.
func find(keys []key, text []byte, many *map[string]int) int {
	const few = 16
	if len(keys) < few {
		return slices.IndexFunc(keys, func(k key) bool { return bytes.Equal(k.text, text) })
	}
	if *many == nil {
		*many = map[string]int{}
	}
	for i := len(*many); i < len(keys); i++ {
		(*many)[string(keys[i].text)] = i
	}
	if i, ok := (*many)[string(text)]; ok {
		return i
	}
	return -1
}

func (p *parser) array() (t tree) {
	from := len(p.open)
	t.hash = sum('[', 0)
	for p.at++; p.next(']'); {
		value := p.value()
		p.open = append(p.open, value)
		t.hash, t.twice = sum(',', t.hash, value.hash), t.twice || value.twice
	}
	t.values = take(&p.open, from, &p.trees)
	return t
}

// sum is the hash of a kind and of the hashes of its parts.
func sum(kind byte, parts ...uint64) uint64 {
	var b [17]byte
	b[0] = kind
	for i, part := range parts {
		binary.LittleEndian.PutUint64(b[1+8*i:], part)
	}
	return maphash.Bytes(seed, b[:])
}

func (t *tree) isObject() bool { return t.raw[0] == '{' }
func (t *tree) isArray() bool  { return t.raw[0] == '[' }
