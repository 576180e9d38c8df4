package workflow

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/maphash"
	"math"
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

type key struct {
	raw  []byte
	text string
}

// seed is that of every hash: trees of different calls are never compared, but both
// trees of a comparison need the same.
var seed = maphash.MakeSeed() //nolint:gochecknoglobals // constant for the process

var errNotJSON = errors.New("the value is not JSON")

// parse reads a JSON value. Of a key that an object has twice it keeps the last, as
// JavaScript does.
func parse(raw []byte) (tree, error) {
	if !json.Valid(raw) {
		return tree{}, errNotJSON
	}
	p := parser{data: raw}
	return p.value(), nil
}

// parser reads valid JSON.
type parser struct {
	data []byte
	at   int
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
		for p.at < len(p.data) && !bytes.ContainsRune([]byte(",]} \t\r\n"), rune(p.data[p.at])) {
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
	at := map[string]int{}
	for p.at++; p.next('}'); {
		k := key{raw: p.text()}
		text, _ := jsonrpc.Unquote(k.raw)
		k.text = string(text)
		p.space()
		p.at++ // the colon
		value := p.value()
		if i, known := at[k.text]; known {
			t.keys[i], t.values[i], t.twice = k, value, true
			continue
		}
		at[k.text] = len(t.keys)
		t.keys, t.values = append(t.keys, k), append(t.values, value)
	}
	for i := range t.keys { // a sum, because the order of keys does not count
		t.twice = t.twice || t.values[i].twice
		t.hash += sum(':', maphash.String(seed, t.keys[i].text), t.values[i].hash)
	}
	t.hash = sum('{', t.hash)
	return t
}

func (p *parser) array() (t tree) {
	t.hash = sum('[')
	for p.at++; p.next(']'); {
		value := p.value()
		t.values = append(t.values, value)
		t.hash, t.twice = sum(',', t.hash, value.hash), t.twice || value.twice
	}
	return t
}

// sum is the hash of a kind and of the hashes of its parts.
func sum(kind byte, parts ...uint64) uint64 {
	var buffer [17]byte
	b := append(buffer[:0], kind)
	for _, part := range parts {
		b = binary.LittleEndian.AppendUint64(b, part)
	}
	return maphash.Bytes(seed, b)
}

func (t *tree) isObject() bool { return t.raw[0] == '{' }
func (t *tree) isArray() bool  { return t.raw[0] == '[' }
