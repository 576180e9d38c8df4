package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// parseJSON reads JSON. The last result is false when the text is not JSON at
// all; the problem then says where it stops being so.
func parseJSON(data []byte) (*node, *problem, bool) {
	if !json.Valid(data) {
		return nil, jsonSyntax(data), false
	}
	// The text is known to be well-formed from here on, so Token cannot fail
	// and its leniency about commas does not matter.
	r := jsonReader{tokens: json.NewDecoder(bytes.NewReader(data)), cursor: cursor{data: data}}
	r.tokens.UseNumber()
	n, bad := r.value(0)
	return n, bad, true
}

func jsonSyntax(data []byte) *problem {
	var ignored json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal(data, &ignored); !errors.As(err, &syntax) {
		return problemAt(position{}, "the file is not valid JSON")
	}
	c := cursor{data: data}
	c.to(int(syntax.Offset) - 1) // Offset is behind the byte that is wrong
	// The message names at most one character of the file.
	return problemAt(c.position(), "the file is not valid JSON: %s", syntax.Error())
}

type jsonReader struct {
	tokens *json.Decoder
	cursor cursor
	count  int
}

// next returns a token and where it begins. The decoder only tells where the
// previous one ended; between them are spaces, commas and colons.
func (r *jsonReader) next() (json.Token, position, *problem) {
	start := int(r.tokens.InputOffset())
	for start < len(r.cursor.data) && bytes.IndexByte([]byte(" \t\r\n,:"), r.cursor.data[start]) >= 0 {
		start++
	}
	r.cursor.to(start)
	at := r.cursor.position()
	if r.count++; r.count > maxTokens {
		return nil, at, tooMany(at)
	}
	t, err := r.tokens.Token()
	if err != nil {
		return nil, at, problemAt(at, "the file is not valid JSON")
	}
	return t, at, nil
}

func (r *jsonReader) value(depth int) (*node, *problem) {
	t, at, bad := r.next()
	if bad != nil {
		return nil, bad
	}
	n := &node{at: at}
	switch t := t.(type) {
	case nil:
		n.kind = kindNull
	case bool:
		n.kind, n.text = kindBool, fmt.Sprint(t)
	case json.Number:
		n.kind, n.text = kindNumber, t.String()
	case string:
		n.kind, n.text = kindText, t
	case json.Delim:
		if depth >= maxDepth {
			return nil, tooDeep(at)
		}
		n.kind = kindList
		if t == '{' {
			n.kind = kindMap
		}
		for r.tokens.More() {
			if bad := r.element(n, depth+1); bad != nil {
				return nil, bad
			}
		}
		_, _, bad := r.next() // the closing bracket
		return n, bad
	}
	return n, nil
}

func (r *jsonReader) element(parent *node, depth int) *problem {
	var key string
	var at position
	if parent.kind == kindMap {
		t, keyAt, bad := r.next()
		if bad != nil {
			return bad
		}
		key, _ = t.(string)
		at = keyAt
	}
	v, bad := r.value(depth)
	if bad != nil {
		return bad
	}
	if parent.kind == kindMap {
		parent.entries = append(parent.entries, entry{key, at, v})
	} else {
		parent.items = append(parent.items, v)
	}
	return nil
}

func tooMany(at position) *problem {
	return problemAt(at, "the file has more values than any configuration needs; reading stops here")
}

func tooDeep(at position) *problem {
	return problemAt(at, "values are nested more than %d deep; reading stops here", maxDepth)
}
