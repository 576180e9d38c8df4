package script

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"

	"genkan/internal/jsonrpc"
)

// The engine's own JSON.parse and JSON.stringify take longer than most scripts run. What
// goes into a script and comes out of it is read and written here.

const (
	// lazySize is the length from which a member of an object is decoded when the script
	// first reads it, and lazyDepth how deep such members are looked for: response,
	// request.params.arguments and what is in them.
	lazySize  = 1 << 10
	lazyDepth = 5
)

// decoder turns JSON into values of the engine.
type decoder struct {
	vm   *goja.Runtime
	text string
	at   int
	// lazy makes a member of which the value, text[start:end], is decoded later; nil to
	// decode everything.
	lazy func(object *goja.Object, key string, start, end, depth int)
}

var errNotJSON = errors.New("what the script is given is not JSON")

// decode decodes a text, and returns an empty object for an empty one.
func (d *decoder) decode() (goja.Value, error) {
	if d.text == "" {
		return d.vm.NewObject(), nil
	}
	if !utf8.ValidString(d.text) {
		d.text = string([]rune(d.text)) // U+FFFD for each byte that is wrong
		d.lazy = nil                    // places are those of the original text
	}
	v := d.value(0)
	if v == nil || d.next() != 0 {
		return nil, errNotJSON
	}
	return v, nil
}

// value decodes the value that begins here. It returns nil if there is none.
func (d *decoder) value(depth int) goja.Value {
	switch c := d.next(); c {
	case '{':
		return d.object(depth)
	case '[':
		return d.array(depth)
	case '"':
		if s, ok := d.string(); ok {
			return d.vm.ToValue(s)
		}
		return nil
	case 't':
		return d.word("true", d.vm.ToValue(true))
	case 'f':
		return d.word("false", d.vm.ToValue(false))
	case 'n':
		return d.word("null", goja.Null())
	default:
		return d.number()
	}
}

func (d *decoder) space() {
	for d.at < len(d.text) && (d.text[d.at] == ' ' || d.text[d.at] == '\n' || d.text[d.at] == '\t' || d.text[d.at] == '\r') {
		d.at++
	}
}

// next skips white space and returns the byte behind it; 0 at the end.
func (d *decoder) next() byte {
	d.space()
	if d.at < len(d.text) {
		return d.text[d.at]
	}
	return 0
}

func (d *decoder) word(word string, value goja.Value) goja.Value {
	if !strings.HasPrefix(d.text[d.at:], word) {
		return nil
	}
	d.at += len(word)
	return value
}

func (d *decoder) number() goja.Value {
	start := d.at
	for d.at < len(d.text) && strings.IndexByte("0123456789+-.eE", d.text[d.at]) >= 0 {
		d.at++
	}
	text := d.text[start:d.at]
	if len(text) < 16 && text != "-0" { // an integer below 2^53
		if n, err := strconv.Atoi(text); err == nil {
			return d.vm.ToValue(n)
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil
	}
	return d.vm.ToValue(n)
}

// string decodes the string that begins here.
func (d *decoder) string() (string, bool) {
	start := d.at
	if !d.skipString() {
		return "", false
	}
	text := d.text[start+1 : d.at-1]
	if strings.IndexByte(text, '\\') >= 0 {
		unquoted, _ := jsonrpc.Unquote([]byte(d.text[start:d.at]))
		text = string(unquoted)
	}
	return text, true
}

func (d *decoder) skipString() bool {
	for d.at++; ; d.at++ {
		i := strings.IndexByte(d.text[d.at:], '"')
		if i < 0 {
			return false
		}
		d.at += i
		escapes := d.at - 1
		for d.text[escapes] == '\\' {
			escapes--
		}
		if (d.at-escapes)%2 == 1 {
			d.at++
			return true
		}
	}
}

// skip goes behind the object or array that begins here.
func (d *decoder) skip() bool {
	for depth := 0; d.at < len(d.text); {
		switch d.text[d.at] {
		case '"':
			if !d.skipString() {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if d.at++; depth == 0 {
			return true
		}
	}
	return false
}

func (d *decoder) object(depth int) goja.Value {
	object := d.vm.NewObject()
	d.at++
	if d.next() == '}' {
		d.at++
		return object
	}
	for {
		if d.next() != '"' {
			return nil
		}
		key, ok := d.string()
		if !ok || d.next() != ':' {
			return nil
		}
		d.at++
		if !d.later(object, key, depth) {
			value := d.value(depth + 1)
			if value == nil {
				return nil
			}
			define(object, key, value)
		}
		switch d.next() {
		case ',':
			d.at++
		case '}':
			d.at++
			return object
		default:
			return nil
		}
	}
}

// define sets a member as JSON.parse does, whatever its prototype says. A frozen object stays
// what it is.
func define(object *goja.Object, key string, value goja.Value) {
	_ = object.DefineDataProperty(key, value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

// later leaves a long member to be decoded when it is read.
func (d *decoder) later(object *goja.Object, key string, depth int) bool {
	if d.lazy == nil || depth >= lazyDepth || len(d.text)-d.at < lazySize {
		return false
	}
	if c := d.next(); c != '{' && c != '[' {
		return false
	}
	start := d.at
	if !d.skip() || d.at-start < lazySize {
		d.at = start
		return false
	}
	d.lazy(object, key, start, d.at, depth+1)
	return true
}

func (d *decoder) array(depth int) goja.Value {
	var values []any
	d.at++
	if d.next() == ']' {
		d.at++
		return d.vm.NewArray()
	}
	for {
		value := d.value(depth + 1)
		if value == nil {
			return nil
		}
		values = append(values, value)
		switch d.next() {
		case ',':
			d.at++
		case ']':
			d.at++
			return d.vm.NewArray(values...)
		default:
			return nil
		}
	}
}

// given is the JSON value that a script sees as context. Its long members are decoded when
// the script reads them. Those that it does not read are not written either.
type given struct {
	vm   *goja.Runtime
	text string
	// While the encoder reads the member key of object, a getter returns unread for a
	// member that was not decoded, and notes where its text is.
	object *goja.Object
	key    string
	unread *goja.Object
	found  part
}

// part is a part of the text of a given value, and the place in an encoded text where it
// belongs.
type part struct{ at, start, end int }

func (g *given) decode() (goja.Value, error) {
	d := decoder{vm: g.vm, text: g.text, lazy: g.lazy}
	return d.decode()
}

// lazy defines a member that becomes an ordinary one when it is read or written.
func (g *given) lazy(object *goja.Object, key string, start, end, depth int) {
	var value goja.Value
	get := func(goja.FunctionCall) goja.Value {
		switch {
		case value != nil: // the object was frozen
		case g.object == object && g.key == key:
			g.found = part{start: start, end: end}
			return g.unread
		default:
			d := decoder{vm: g.vm, text: g.text, at: start, lazy: g.lazy}
			if value = d.value(depth); value == nil || d.at != end {
				panic(g.vm.NewTypeError(errNotJSON.Error()))
			}
			define(object, key, value)
		}
		return value
	}
	set := func(c goja.FunctionCall) goja.Value {
		if this, ok := c.This.(*goja.Object); ok {
			define(this, key, c.Argument(0))
		}
		return nil
	}
	if g.unread == nil {
		g.unread = g.vm.NewObject()
	}
	_ = object.DefineAccessorProperty(key, g.vm.ToValue(get), g.vm.ToValue(set), goja.FLAG_TRUE, goja.FLAG_TRUE)
}

// encoder writes values of the engine as JSON.stringify does. What is still as it was given
// is left out of out and noted in kept.
type encoder struct {
	given *given
	out   []byte
	kept  []part
}

// encode returns the JSON text of a value; nil for undefined and functions.
func (g *given) encode(v goja.Value) (e encoder, err error) {
	// Reading a member may run code of the script, which may throw or be interrupted.
	defer func() {
		switch x := recover().(type) {
		case nil:
		case *goja.InterruptedError:
			err = x
		case *goja.StackOverflowError:
			err = x
		default:
			panic(x)
		}
	}()
	e.given = g
	plain := false
	if thrown := g.vm.Try(func() { plain = e.value(v, 0) }); thrown != nil {
		return e, thrown
	}
	if plain {
		return e, nil
	}
	// It has something that only the engine knows how to write.
	holder := g.vm.CreateObject(nil)
	define(holder, "", v)
	out, err := holder.MarshalJSON()
	e.out, e.kept = nil, nil
	if out, ok := bytes.CutPrefix(out, []byte(`{"":`)); ok {
		e.out = out[:len(out)-1]
	}
	return e, err
}

// deepest is how deep values are written here, at most. Those that contain themselves are
// deeper.
const deepest = 1000

// value appends a value. It reports false if it cannot.
func (e *encoder) value(v goja.Value, depth int) bool {
	switch v := v.(type) {
	case goja.String:
		e.string(v)
		return true
	case *goja.Object:
		return depth < deepest && e.object(v, depth)
	case nil:
		return false
	}
	if goja.IsNull(v) {
		e.out = append(e.out, "null"...)
		return true
	}
	switch n := v.Export().(type) {
	case int64:
		e.out = strconv.AppendInt(e.out, n, 10)
	case float64:
		if math.IsNaN(n) || math.IsInf(n, 0) {
			e.out = append(e.out, "null"...)
		} else {
			e.out = append(e.out, v.String()...)
		}
	case bool:
		e.out = strconv.AppendBool(e.out, n)
	default: // undefined, and what is no JSON
		return false
	}
	return true
}

func (e *encoder) string(s goja.String) {
	text := s.String()
	if !strings.Contains(text, "\uFFFD") {
		e.out = jsonrpc.AppendQuoted(e.out, text)
		return
	}
	// It may stand for half of a surrogate pair.
	e.out = append(e.out, '"')
	for i, n := 0, s.Length(); i < n; i++ {
		r := rune(s.CharAt(i))
		if utf16.IsSurrogate(r) {
			pair := rune(utf8.RuneError)
			if i+1 < n {
				pair = utf16.DecodeRune(r, rune(s.CharAt(i+1)))
			}
			if pair == utf8.RuneError {
				e.out = fmt.Appendf(e.out, `\u%04x`, r)
				continue
			}
			r, i = pair, i+1
		}
		quoted := jsonrpc.AppendQuoted(nil, string(r))
		e.out = append(e.out, quoted[1:len(quoted)-1]...)
	}
	e.out = append(e.out, '"')
}

func (e *encoder) object(o *goja.Object, depth int) bool {
	class, kind := o.ClassName(), o.ExportType() // a proxy has the class Object
	array := class == "Array" && kind == arrayType
	if !array && (class != "Object" || kind != objectType) || !undefined(o.Get("toJSON")) {
		return false
	}
	if array {
		e.out = append(e.out, '[')
		for i := range o.Get("length").ToInteger() {
			if i > 0 {
				e.out = append(e.out, ',')
			}
			if v := o.Get(strconv.FormatInt(i, 10)); undefined(v) {
				e.out = append(e.out, "null"...)
			} else if !e.value(v, depth+1) {
				return false
			}
		}
		e.out = append(e.out, ']')
		return true
	}
	e.out = append(e.out, '{')
	start := len(e.out)
	for _, key := range o.Keys() {
		if strings.Contains(key, "\uFFFD") {
			return false // it may be another key
		}
		e.given.object, e.given.key = o, key
		v := o.Get(key)
		e.given.object = nil
		if undefined(v) {
			continue
		}
		if len(e.out) > start {
			e.out = append(e.out, ',')
		}
		e.out = append(jsonrpc.AppendQuoted(e.out, key), ':')
		if v == goja.Value(e.given.unread) {
			e.kept = append(e.kept, part{len(e.out), e.given.found.start, e.given.found.end})
		} else if !e.value(v, depth+1) {
			return false
		}
	}
	e.out = append(e.out, '}')
	return true
}

//nolint:gochecknoglobals // constant
var arrayType, objectType = reflect.TypeFor[[]any](), reflect.TypeFor[map[string]any]()

func undefined(v goja.Value) bool { return v == nil || goja.IsUndefined(v) }

// encodeParts and joinParts carry the parts of a context that a script did not read.
func encodeParts(parts []part) (out []byte) {
	for _, p := range parts {
		for _, n := range []int{p.at, p.start, p.end} {
			out = binary.LittleEndian.AppendUint32(out, uint32(n)) //nolint:gosec // payloads are bounded
		}
	}
	return out
}

// joinParts puts parts of a given text into an encoded one, which must not be longer than
// limit then.
func joinParts(text, given, parts []byte, limit int) ([]byte, error) {
	if len(parts) == 0 {
		return text, nil
	}
	out := make([]byte, 0, min(len(text)+len(given), limit))
	from := 0
	for ; len(parts) >= 12; parts = parts[12:] {
		n := func(i int) int { return int(binary.LittleEndian.Uint32(parts[4*i:])) }
		at, start, end := n(0), n(1), n(2)
		if at < from || at > len(text) || start > end || end > len(given) || len(out)+end-start > limit {
			return nil, errFrame
		}
		out = append(append(out, text[from:at]...), given[start:end]...)
		from = at
	}
	return append(out, text[from:]...), nil
}
