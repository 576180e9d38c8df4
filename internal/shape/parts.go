package shape

import (
	"bytes"
	"slices"
	"strconv"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/tokens"
)

// part is an item of a result's content, or its structured content.
type part struct {
	// name is how read_result names the part.
	name string
	// raw is the item as it came.
	raw []byte
	// kind is the item's type, such as text or image.
	kind string
	// text is what read_result reads: the text of an item that has one, else raw.
	text []byte
	// isText is set if text is the item's text.
	isText bool
	tokens int
}

// The names of parts that are no items of the content.
const (
	partStructured = "structuredContent"
	partRaw        = "raw"
)

// content is a result in parts.
type content struct {
	items      []part
	structured *part // nil if there is none
	// wraps is set if the structured content has nothing but the text of an item, as
	// servers make it that must have some.
	wraps bool
}

// split splits a result in parts.
func split(raw []byte) content {
	var c content
	_ = jsonrpc.Members(raw, func(key, value []byte) bool {
		switch {
		case string(key) == "content":
			_ = jsonrpc.Elements(value, func(item []byte) bool {
				c.items = append(c.items, newPart(strconv.Itoa(len(c.items)), item))
				return true
			})
		case string(key) == partStructured && value[0] == '{':
			c.structured = &part{name: partStructured, raw: value, kind: partStructured, text: value, tokens: tokens.Count(value)}
		}
		return true
	})
	c.wraps = c.structured != nil && c.isWrapped(c.structured.raw)
	return c
}

// isWrapped reports whether an object has one member, which is the text of an item.
func (c *content) isWrapped(object []byte) bool {
	members, found := 0, false
	_ = jsonrpc.Members(object, func(_, value []byte) bool {
		members++
		text, ok := jsonrpc.Unquote(value)
		found = ok && slices.ContainsFunc(c.items, func(p part) bool { return p.isText && bytes.Equal(p.text, text) })
		return members == 1
	})
	return members == 1 && found
}

func newPart(name string, item []byte) part {
	p := part{name: name, raw: item, text: item}
	if item[0] != '{' {
		p.tokens = tokens.Count(item)
		return p
	}
	p.kind = jsonrpc.LookupText(item, "type")
	switch p.kind {
	case "text":
		p.setText(jsonrpc.Lookup(item, "text"))
	case "resource":
		resource := jsonrpc.Lookup(item, "resource")
		if resource != nil && resource[0] == '{' {
			p.setText(jsonrpc.Lookup(resource, "text"))
		}
	case "image", "audio":
		p.tokens = tokens.Media(len(jsonrpc.Lookup(item, "data")))
		return p
	}
	p.tokens = tokens.Count(p.text)
	return p
}

func (p *part) setText(quoted []byte) {
	if text, ok := jsonrpc.Unquote(quoted); ok {
		p.text, p.isText = text, true
	}
}

// tokens returns how many tokens of a result a model reads. Clients show it either
// the content or the structured content.
func (c *content) tokens() int {
	total := 0
	for i := range c.items {
		total += c.items[i].tokens + 1 // clients put something between the items
	}
	if c.structured != nil {
		total = max(total, c.structured.tokens)
	}
	return total
}

// chars returns how many bytes of text the result has.
func (c *content) chars() int {
	total := 0
	for i := range c.items {
		if p := &c.items[i]; p.isText {
			total += len(p.text)
		}
	}
	if c.structured != nil {
		total = max(total, len(c.structured.text))
	}
	return total
}

// main returns the part that read_result reads if no part is named: the structured
// content, unless it only wraps a text, or the largest item; nil if there is none.
func (c *content) main() *part {
	if c.structured != nil && !c.wraps {
		return c.structured
	}
	var largest *part
	for i := range c.items {
		if p := &c.items[i]; largest == nil || p.tokens > largest.tokens {
			largest = p
		}
	}
	return largest
}

// document is what read_result reads of a stored result.
type document struct {
	// text is the whole text, and value the JSON value in it; nil if it is not JSON.
	text, value []byte
	// others is set if the result has other parts.
	others bool
}

// find returns a part of a stored result.
func find(raw []byte, name string) (*document, error) {
	if name == partRaw {
		return &document{text: raw, value: bytes.TrimSpace(raw)}, nil
	}
	c := split(raw)
	var found *part
	switch index, err := strconv.Atoi(name); {
	case name == "":
		found = c.main()
	case name == partStructured:
		found = c.structured
	case err == nil && index >= 0 && index < len(c.items):
		found = &c.items[index]
	}
	switch {
	case found != nil:
		d := &document{text: found.text, others: len(c.items) > 1 || c.structured != nil && !c.wraps && len(c.items) > 0}
		if value, ok := found.json(); ok {
			d.value = value
		}
		return d, nil
	case name == "":
		return &document{text: raw, value: bytes.TrimSpace(raw)}, nil
	}
	return nil, invalid("part", "the result has no part %s. It has %d content items, which are numbered from 0; raw is the whole result", gateway.Short(name), len(c.items))
}

// json returns the JSON value of a part, and whether it is one.
func (p *part) json() ([]byte, bool) {
	if !p.isText {
		return p.text, true
	}
	value := bytes.TrimSpace(p.text)
	return value, isJSON(value)
}
