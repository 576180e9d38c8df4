package execution

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxShownDepth is how deep values nest in answers.
const maxShownDepth = 60

// masked stands for the value of a credential.
const masked = `"***"`

// cutter copies a value as JSON without what answers never show. It writes a valid
// value whatever happens: where the limit is reached or the reader fails, it closes
// what is open and reads no further.
type cutter struct {
	*reader
	out []byte
	// limit is the length of out that ends the copy; text and list limit each string,
	// in bytes, and each array, in values.
	limit, text, list int
	// depth is how deep values may nest; 0 is maxShownDepth.
	depth int
	// shortened is set when something was left out for its length, stopped when the
	// reader is not at the end of the value.
	shortened, stopped bool
	// marked is set when the value says that it was cut.
	marked bool
}

// done reports whether nothing more is to be copied.
func (c *cutter) done() bool {
	if len(c.out) >= c.limit || c.err != nil {
		c.shortened, c.stopped = true, true
	}
	return c.stopped
}

// item copies one item: its json, error and metadata of binary data.
func (c *cutter) item() {
	if !c.enter('{') {
		c.value(1, false)
		return
	}
	c.object(0, func(key []byte) fate {
		switch string(key) {
		case "json":
			return whole
		case "error":
			return asError
		case "binary":
			return asBinary
		}
		return dropped
	})
}

// brief copies the json of an item without the headers that a webhook adds.
func (c *cutter) brief() {
	if !c.enter('{') {
		c.value(1, false)
		return
	}
	empty := true
	for n := 0; c.more('}', n) && !c.stopped; n++ {
		if string(c.key()) != "json" || !empty || !c.enter('{') {
			c.skip()
			continue
		}
		empty = false
		c.object(1, func(key []byte) fate {
			switch string(key) {
			case "headers", "webhookUrl", "executionMode":
				return dropped
			}
			return fateOf(key, false)
		})
	}
	if empty {
		c.out = append(c.out, "{}"...)
	}
}

// fate is what becomes of a member of an object.
type fate byte

const (
	whole fate = iota
	dropped
	hidden
	asError
	asBinary
	asFile
)

// value copies a value. inError is set inside of an error.
func (c *cutter) value(depth int, inError bool) {
	switch next := c.next(); {
	case c.err != nil:
		c.out = append(c.out, "null"...)
		c.shortened, c.stopped = true, true
	case next == '"':
		c.string(inError)
	case next == '{':
		c.enter('{')
		if depth > cmp.Or(c.depth, maxShownDepth) {
			c.tooDeep('}')
			return
		}
		c.object(depth, func(key []byte) fate { return fateOf(key, inError) })
	case next == '[':
		c.enter('[')
		if depth > cmp.Or(c.depth, maxShownDepth) {
			c.tooDeep(']')
			return
		}
		c.array(depth, inError)
	default:
		c.out = append(c.out, c.scalar()...)
	}
}

// tooDeep replaces a container that nests too deep for a page.
func (c *cutter) tooDeep(closing byte) {
	c.shortened = true
	c.out = append(c.out, `"…"`...)
	for n := 0; c.more(closing, n); n++ {
		if closing == '}' {
			c.key()
		}
		c.skip()
	}
}

// fateOf decides about a member of an item's data or of parameters.
func fateOf(key []byte, inError bool) fate {
	if isCredential(key) {
		return hidden
	}
	switch string(key) {
	case "error":
		return asError
	case "stack", "context", "request", "config", "node":
		if inError {
			return dropped
		}
	}
	if inError {
		return asError
	}
	return whole
}

func (c *cutter) object(depth int, decide func(key []byte) fate) {
	c.out = append(c.out, '{')
	first := true
	var credential bool
	var value Span // where the value of a {name, value} pair is in out
	for n := 0; c.more('}', n); n++ {
		key := c.key()
		if c.err != nil {
			break
		}
		what := decide(key)
		if what == dropped {
			c.skip()
			continue
		}
		if c.done() {
			break
		}
		isStack := bytes.Contains(bytes.ToLower(key), []byte("stack"))
		isName, isValue := string(key) == "name", string(key) == "value"
		before, wasFirst := len(c.out), first
		c.separate(&first)
		c.out = appendString(c.out, key)
		c.out = append(c.out, ':')
		start := len(c.out)
		c.member(what, depth+1)
		switch {
		case isStack && bytes.Contains(c.out[start:], []byte(`\n    at `)):
			c.out, first = c.out[:before], wasFirst
		case isName:
			credential = credential || isCredential(bytes.Trim(c.out[start:], `"`))
		case isValue:
			value = Span{int64(start), int64(len(c.out))}
		}
		if c.stopped {
			break
		}
	}
	if credential && value.End > 0 {
		c.out = append(append(c.out[:value.Start:value.Start], masked...), c.out[value.End:]...)
	}
	if c.stopped && !c.marked {
		c.marked = true
		c.separate(&first)
		c.out = append(c.out, `"…":"cut"`...)
	}
	c.out = append(c.out, '}')
	c.done()
}

// member copies the value of an object's member.
func (c *cutter) member(what fate, depth int) {
	switch next := c.next(); {
	case what == hidden && next != '{' && next != '[' && next != 'n':
		c.skip()
		c.out = append(c.out, masked...)
	case what == asBinary && c.enter('{'):
		c.object(depth, func([]byte) fate { return asFile })
	case what == asFile && c.enter('{'):
		c.object(depth, func(key []byte) fate {
			switch string(key) {
			case "mimeType", "fileName", "fileSize", "bytes", "fileExtension", "fileType":
				return whole
			}
			return dropped
		})
	default:
		c.value(depth, what == asError)
	}
}

func (c *cutter) separate(first *bool) {
	if !*first {
		c.out = append(c.out, ',')
	}
	*first = false
}

func (c *cutter) array(depth int, inError bool) {
	c.out = append(c.out, '[')
	n, left := 0, 0
	for ; c.more(']', n); n++ {
		if n >= c.list {
			left++
			c.skip()
			continue
		}
		if n > 0 {
			c.out = append(c.out, ',')
		}
		if c.done() {
			c.marked = true
			c.out = append(c.out, `"… cut"`...)
			break
		}
		c.value(depth+1, inError)
		if c.stopped {
			break
		}
	}
	if left > 0 {
		c.shortened = true
		if c.list > 0 {
			c.out = append(c.out, ',')
		}
		c.out = fmt.Appendf(c.out, `"… %d more"`, left)
	}
	c.out = append(c.out, ']')
	c.done()
}

// string copies a string, cut to the limit, and without the stack that the message of
// an error may have.
func (c *cutter) string(inError bool) {
	start := c.offset()
	kept := c.str(c.text)
	if len(kept) > 7 && strings.EqualFold(string(kept[:7]), "Bearer ") {
		c.out = append(c.out, masked...)
		return
	}
	long := c.offset()-start-2 > int64(c.text) && len(kept) > c.text-utf8.UTFMax
	if long || c.err != nil {
		c.shortened = true
		kept = fmt.Appendf(kept, "… (%d bytes)", c.offset()-start)
	}
	if inError {
		kept, _, _ = bytes.Cut(kept, stackLine)
	}
	c.out = appendString(c.out, kept)
}

// appendString appends a text as a JSON string.
func appendString(out, text []byte) []byte {
	if utf8.Valid(text) && !slices.ContainsFunc(text, func(c byte) bool { return c < ' ' || c == '"' || c == '\\' }) {
		return append(append(append(out, '"'), text...), '"')
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(string(text)); err != nil {
		return append(out, `""`...)
	}
	return append(out, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

// isCredential reports whether a field or a header has a credential by its name.
func isCredential(name []byte) bool {
	if len(name) > 24 {
		return false
	}
	var plain [24]byte
	n := 0
	for _, c := range name {
		if c == '-' || c == '_' {
			continue
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		plain[n] = c
		n++
	}
	switch string(plain[:n]) {
	case "authorization", "proxyauthorization", "cookie", "setcookie", "apikey", "xapikey", "xn8napikey",
		"xauthtoken", "password", "passwd", "secret", "clientsecret", "accesstoken", "refreshtoken", "idtoken",
		"authtoken", "bearertoken", "sessiontoken", "privatekey", "resumetoken":
		return true
	}
	return false
}
