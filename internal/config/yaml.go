package config

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"

	"genkan/internal/gateway"
)

// parseYAML reads a plain subset of YAML: one document of maps, lists and
// scalars. Anchors, aliases, merge keys, tags and directives are refused
// before the parser sees them, so nothing can grow beyond its own text, and a
// value cannot mean something else than it says.
func parseYAML(text string) (n *node, bad *problem) {
	// The parser is another's and has had panics on odd input; one must not
	// end a gateway that reloads a file being edited.
	defer func() {
		if r := recover(); r != nil {
			n, bad = nil, problemAt(position{}, "the file cannot be read as YAML")
		}
	}()
	tokens, bad := scanYAML(text)
	if bad != nil {
		return nil, bad
	}
	// Duplicates are our own decoder's to report: with all others, and with
	// the path of the map.
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, yamlSyntax(err)
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			return nil, problemAt(yamlStart(doc.Body), "the file has a second YAML document; only one is read, so remove the --- before it")
		}
		body = doc.Body
	}
	if body == nil {
		return nil, nil
	}
	return yamlNode(body, 0)
}

// scanYAML scans token by token instead of through lexer.Tokenize, so that a
// file of brackets is given up before it has become a gigabyte of tokens.
func scanYAML(text string) (token.Tokens, *problem) {
	var s scanner.Scanner
	s.Init(text)
	var tokens token.Tokens
	flow, run, line := 0, 0, 0
	for count := 0; ; {
		scanned, err := s.Scan()
		if errors.Is(err, io.EOF) {
			return tokens, nil
		}
		for _, t := range scanned {
			if t.Type == token.CommentType {
				continue
			}
			at := yamlPosition(t)
			if count++; count > maxTokens {
				return nil, tooMany(at)
			}
			if bad := refusedToken(t, at); bad != nil {
				return nil, bad
			}
			// The parser recurses for each bracket, and for each dash or
			// question mark that follows another one on its line. Nesting by
			// indentation needs quadratically many bytes and is bounded by
			// the size of the file.
			switch t.Type {
			case token.SequenceStartType, token.MappingStartType:
				flow++
			case token.SequenceEndType, token.MappingEndType:
				flow--
			case token.SequenceEntryType, token.MappingKeyType:
				if at.line != line {
					line, run = at.line, 0
				}
				run++
			default:
			}
			if flow > maxDepth || run > maxDepth {
				return nil, tooDeep(at)
			}
			tokens.Add(t)
		}
		if err != nil { // comes with an invalid token, which was refused above
			return nil, problemAt(position{}, "the file is not valid YAML")
		}
	}
}

// refusedToken explains what is not read, for somebody who may only have
// forgotten quotes. It never repeats the text, which may be a password.
func refusedToken(t *token.Token, at position) *problem {
	quote := func(what gateway.Text, char string) *problem {
		return problemAt(at, "YAML %s are not read here; text that begins with %s needs quotes", what, char)
	}
	switch t.Type {
	case token.InvalidType:
		return yamlProblem(at, t.Error)
	case token.AnchorType:
		return quote(gateway.Textf("anchors"), "&")
	case token.AliasType:
		return quote(gateway.Textf("aliases"), "*")
	case token.TagType:
		return quote(gateway.Textf("tags"), "!")
	case token.DirectiveType:
		return quote(gateway.Textf("directives"), "%")
	case token.MergeKeyType:
		return problemAt(at, "YAML merge keys are not read here; write the keys out")
	default:
		return nil
	}
}

// yamlProblem passes on the parser's words up to where they quote the file:
// the "invalid header option" of an unquoted >password is the password.
func yamlProblem(at position, message string) *problem {
	if strings.Contains(message, "\t") {
		return problemAt(at, "the file is not valid YAML: a tab stands here; indent with spaces")
	}
	message, _, _ = strings.Cut(message, `"`)
	return problemAt(at, "the file is not valid YAML: %s", strings.TrimRight(message, ": "))
}

// yamlSyntax takes the bare message: the error's own text quotes the lines
// around it, and those may hold secrets.
func yamlSyntax(err error) *problem {
	var e yaml.Error
	if !errors.As(err, &e) {
		return problemAt(position{}, "the file is not valid YAML")
	}
	return yamlProblem(yamlPosition(e.GetToken()), e.GetMessage())
}

func yamlPosition(t *token.Token) position {
	if t == nil || t.Position == nil {
		return position{}
	}
	return position{t.Position.Line, t.Position.Column}
}

// yamlStart is where a node begins. A block map's own token is its first
// colon, so its first key stands for it.
func yamlStart(n ast.Node) position {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return yamlStart(n.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return yamlStart(n.Key)
	}
	return yamlPosition(n.GetToken())
}

func yamlNode(from ast.Node, depth int) (*node, *problem) {
	n := &node{at: yamlStart(from)}
	if depth >= maxDepth {
		return nil, tooDeep(n.at)
	}
	switch from := from.(type) {
	case *ast.NullNode:
		n.kind = kindNull
	case *ast.BoolNode:
		n.kind, n.text = kindBool, fmt.Sprint(from.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		n.kind, n.text = kindNumber, from.GetToken().Value
	case *ast.StringNode:
		n.kind, n.text = kindText, from.Value
	case *ast.LiteralNode:
		n.kind, n.text = kindText, from.Value.Value
	case *ast.SequenceNode:
		n.kind = kindList
		for _, v := range from.Values {
			item, bad := yamlNode(v, depth+1)
			if bad != nil {
				return nil, bad
			}
			n.items = append(n.items, item)
		}
	case *ast.MappingNode:
		n.kind = kindMap
		for _, v := range from.Values {
			if bad := yamlEntry(n, v, depth+1); bad != nil {
				return nil, bad
			}
		}
	case *ast.MappingValueNode:
		n.kind = kindMap
		if bad := yamlEntry(n, from, depth+1); bad != nil {
			return nil, bad
		}
	default:
		return nil, problemAt(n.at, "this YAML is not read here; write plain maps, lists and values")
	}
	return n, nil
}

func yamlEntry(parent *node, from *ast.MappingValueNode, depth int) *problem {
	e := entry{at: yamlStart(from.Key)}
	switch key := from.Key.(type) {
	case *ast.StringNode:
		e.key = key.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		e.key = key.GetToken().Value
	default:
		return problemAt(e.at, "this kind of YAML key is not read here; write key: value")
	}
	v, bad := yamlNode(from.Value, depth)
	if bad != nil {
		return bad
	}
	e.value = v
	parent.entries = append(parent.entries, e)
	return nil
}
