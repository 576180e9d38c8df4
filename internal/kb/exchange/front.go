package exchange

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"
)

const (
	// frontLine is the first line of front matter, after the line of hyphens.
	frontLine = 2
	// maxNesting limits the nesting, because the parser is recursive.
	maxNesting = 32
	// maxTokens limits the scanner. It is more than the largest item needs.
	maxTokens = 20_000
)

// readFront fills the item from front matter and returns the fields that it sets. YAML
// that is not a map is not front matter.
func (r *Record) readFront(name, front string) (stated map[string]bool, mapped bool, bad *Problem) {
	entries, mapped, bad := parseFront(name, strings.ReplaceAll(front, "\r\n", "\n"))
	if bad != nil || !mapped {
		return nil, false, bad
	}
	stated = map[string]bool{}
	fields := r.fieldsOf(slices.ContainsFunc(entries, func(e *ast.MappingValueNode) bool {
		text, _, _ := textOf(e.Value)
		return e.Key.GetToken().Value == stateMark && text == "true"
	}))
	for _, e := range entries {
		at := place{name, lineOf(e.Key.GetToken())}
		key := e.Key.GetToken().Value
		if key == stateMark && r.State != nil {
			continue
		}
		f, known := find(fields, key)
		if !known || key == content { // The content is the text below the front matter.
			r.Dropped = append(r.Dropped, Dropped{Key: key, Line: at.line})
			continue
		}
		if _, twice := stated[key]; twice {
			return nil, false, at.wrong(key, "stands there twice")
		}
		set, bad := f.fill(at, e.Value)
		if bad != nil {
			return nil, false, bad
		}
		stated[key] = set
	}
	return stated, true, nil
}

// fill sets a field to a YAML value. It returns false for null and for an empty list.
func (f field) fill(at place, from ast.Node) (bool, *Problem) {
	if to, ok := f.value.(*[]string); ok {
		list, bad := listOf(at, f.name, from)
		*to = list
		return list != nil, bad
	}
	text, set, ok := textOf(from)
	if !ok {
		return false, at.wrong(f.name, "must be a single value")
	}
	if !set {
		return false, nil
	}
	switch to := f.value.(type) {
	case *int64:
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id < 1 {
			return false, at.wrong(f.name, "must be a whole number, 1 or more, and is %q", text)
		}
		*to = id
	case *time.Time:
		t, ok := parseTime(text)
		if !ok {
			return false, at.wrong(f.name, "must be a date such as 2026-01-31 or a time such as 2026-01-31T09:30:00Z, and is %q", text)
		}
		*to = t
	case *string:
		*to = text
	}
	return true, nil
}

// listOf reads a list, or a text of words separated by commas. An empty list is nil.
func listOf(at place, name string, from ast.Node) ([]string, *Problem) {
	sequence, ok := from.(*ast.SequenceNode)
	if !ok {
		text, _, ok := textOf(from)
		if !ok {
			return nil, at.wrong(name, "must be a list, or words with commas between them")
		}
		var list []string
		for word := range strings.SplitSeq(text, ",") {
			if word = strings.TrimSpace(word); word != "" {
				list = append(list, word)
			}
		}
		return list, nil
	}
	var list []string
	for _, value := range sequence.Values {
		text, set, ok := textOf(value)
		if !ok {
			return nil, place{at.file, lineOf(value.GetToken())}.wrong(name, "must be a list of single values")
		}
		if set {
			list = append(list, text)
		}
	}
	return list, nil
}

// textOf returns a scalar as it is written: version 1.10 is not 1.1, and a title may be
// a number. Set is false for null, and ok is false if the node is no scalar.
func textOf(from ast.Node) (text string, set, ok bool) {
	switch from := from.(type) {
	case nil, *ast.NullNode:
		return "", false, true
	case *ast.StringNode:
		return from.Value, true, true
	case *ast.LiteralNode:
		return from.Value.Value, true, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return from.GetToken().Value, true, true
	}
	return "", false, false
}

// parseFront parses YAML down to the entries of its map.
func parseFront(name, front string) (entries []*ast.MappingValueNode, mapped bool, bad *Problem) {
	at := place{name, frontLine}
	// The parser is a third-party package: a panic on odd input must not end the process.
	defer func() {
		if recover() != nil {
			entries, mapped, bad = nil, false, at.problem("the front matter cannot be read as YAML")
		}
	}()
	tokens, bad := scan(at, front)
	if bad != nil {
		return nil, false, bad
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		if e := yaml.Error(nil); errors.As(err, &e) {
			at.line = lineOf(e.GetToken())
			return nil, false, at.problem("the front matter is not valid YAML: %s", e.GetMessage())
		}
		return nil, false, at.problem("the front matter cannot be read as YAML")
	}
	for _, doc := range file.Docs {
		switch body := doc.Body.(type) {
		case nil, *ast.NullNode: // nothing, or comments
			mapped = true
		case *ast.MappingNode:
			return body.Values, true, nil
		case *ast.MappingValueNode:
			return []*ast.MappingValueNode{body}, true, nil
		default:
			return nil, false, nil
		}
	}
	return nil, mapped || len(file.Docs) == 0, nil
}

// scan reads the tokens one by one, so that input that would exhaust the parser is
// refused before it is parsed. It also refuses anchors and tags, because they give a
// value another meaning than its text.
func scan(at place, front string) (token.Tokens, *Problem) {
	var s scanner.Scanner
	s.Init(front)
	var tokens token.Tokens
	nesting := 0
	lines := map[int]int{} // dashes, question marks and the like on one line are nesting, too
	for {
		scanned, err := s.Scan()
		if errors.Is(err, io.EOF) {
			return tokens, nil
		}
		for _, t := range scanned {
			at.line = lineOf(t)
			switch t.Type {
			case token.CommentType:
				continue
			case token.InvalidType:
				return nil, at.problem("the front matter is not valid YAML: %s", t.Error)
			case token.AnchorType, token.AliasType, token.TagType, token.DirectiveType, token.MergeKeyType:
				return nil, at.problem("anchors, aliases and tags of YAML are not read; text that begins with &, * or ! needs quotes")
			case token.SequenceStartType, token.MappingStartType:
				nesting++
			case token.SequenceEndType, token.MappingEndType:
				nesting--
			case token.SequenceEntryType, token.MappingKeyType:
				lines[at.line]++
			default:
			}
			if nesting > maxNesting || lines[at.line] > maxNesting {
				return nil, at.problem("the front matter is nested deeper than any item needs")
			}
			if len(tokens) >= maxTokens {
				return nil, at.problem("the front matter has more values than any item needs")
			}
			tokens.Add(t)
		}
		if err != nil {
			return nil, at.problem("the front matter cannot be read as YAML")
		}
	}
}

// lineOf returns the line of a token in the file.
func lineOf(t *token.Token) int {
	if t == nil || t.Position == nil {
		return frontLine
	}
	return t.Position.Line + frontLine - 1
}
