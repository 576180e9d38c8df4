package clients

import (
	"bytes"
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// parseYAML parses the first document of a YAML file. Aliases are not resolved:
// they are compared as written.
func parseYAML(src []byte) (n *node, bad *fault) {
	// The parser is a third-party package and has panicked on unusual input.
	defer func() {
		if recover() != nil {
			n, bad = nil, faultAt(0, "the file cannot be read as YAML")
		}
	}()
	lines := linesOf(src)
	// The parser counts the two kinds of line ends differently. Without carriage
	// returns, lines have the same numbers and keys the same columns.
	text := strings.ReplaceAll(strings.TrimPrefix(string(src), bom), "\r\n", "\n")
	if flowDepth(text) > maxDepth {
		return nil, faultAt(0, "values are nested deeper than in any list of servers")
	}
	file, err := parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, yamlFault(err, lines)
	}
	for _, doc := range file.Docs {
		if doc.Body != nil {
			if len(file.Docs) > 1 && n != nil {
				return nil, faultAt(lines.offset(doc.Body.GetToken()), "the file has a second YAML document")
			}
			if n, bad = yamlNode(doc.Body, lines, 0); bad != nil {
				return nil, bad
			}
		}
	}
	return n, nil
}

// flowDepth returns an upper bound of the nesting of brackets, because the parser
// recurses.
func flowDepth(text string) int {
	depth, deepest := 0, 0
	for _, c := range []byte(text) {
		switch c {
		case '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return deepest
}

// yamlFault returns the parser's message up to where it quotes the file.
func yamlFault(err error, lines lineTable) *fault {
	var e yaml.Error
	if !errors.As(err, &e) {
		return faultAt(0, "the file is not valid YAML")
	}
	message, _, _ := strings.Cut(e.GetMessage(), `"`)
	message, _, _ = strings.Cut(message, "\n")
	return faultAt(lines.offset(e.GetToken()), "the file is not valid YAML: %s", strings.TrimRight(message, ": "))
}

// lineTable holds the positions where the lines of a file begin.
type lineTable struct {
	src    []byte
	starts []int
}

func linesOf(src []byte) lineTable {
	t := lineTable{src: src, starts: []int{0}}
	if bytes.HasPrefix(src, []byte(bom)) {
		t.starts[0] = len(bom)
	}
	for i, c := range src {
		if c == '\n' {
			t.starts = append(t.starts, i+1)
		}
	}
	return t
}

// offset returns the position of a token. Columns count characters.
func (t lineTable) offset(at *token.Token) int {
	if at == nil || at.Position == nil || at.Position.Line < 1 || at.Position.Line > len(t.starts) {
		return 0
	}
	start := t.starts[at.Position.Line-1]
	line := []rune(string(t.src[start:lineEnd(t.src, start)]))
	return start + len(string(line[:max(0, min(at.Position.Column-1, len(line)))]))
}

func yamlNode(from ast.Node, lines lineTable, depth int) (*node, *fault) {
	n := &node{span: span{start: yamlStart(from, lines)}}
	if depth > maxDepth {
		return nil, faultAt(n.start, "values are nested deeper than in any list of servers")
	}
	var bad *fault
	switch from := from.(type) {
	case *ast.NullNode:
		n.kind = kindNull
	case *ast.BoolNode:
		n.kind, n.text = kindBool, strings.ToLower(from.GetToken().Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		n.kind, n.text = kindNumber, from.GetToken().Value
	case *ast.StringNode:
		n.kind, n.text = kindText, from.Value
	case *ast.LiteralNode:
		n.kind, n.text = kindText, from.Value.Value
	case *ast.SequenceNode:
		n.kind = kindList
		for _, v := range from.Values {
			e := entry{comma: nowhere}
			if e.value, bad = yamlNode(v, lines, depth+1); bad != nil {
				return nil, bad
			}
			e.span = e.value.span
			n.entries = append(n.entries, e)
		}
	case *ast.MappingNode:
		n.kind = kindMap
		for _, v := range from.Values {
			if bad = yamlEntry(n, v, lines, depth); bad != nil {
				return nil, bad
			}
		}
	case *ast.MappingValueNode:
		n.kind = kindMap
		if bad = yamlEntry(n, from, lines, depth); bad != nil {
			return nil, bad
		}
	case *ast.AnchorNode:
		return yamlNode(from.Value, lines, depth+1)
	case *ast.TagNode:
		return yamlNode(from.Value, lines, depth+1)
	default:
		n.kind, n.text = kindOther, from.String()
	}
	return n, nil
}

func yamlEntry(parent *node, from *ast.MappingValueNode, lines lineTable, depth int) *fault {
	e := entry{comma: nowhere, span: span{start: yamlStart(from.Key, lines)}}
	switch key := from.Key.(type) {
	case *ast.StringNode:
		e.key = key.Value
	default:
		e.key = strings.TrimSpace(key.String())
	}
	var bad *fault
	e.value, bad = yamlNode(from.Value, lines, depth+1)
	parent.entries = append(parent.entries, e)
	return bad
}

// yamlStart returns the position where a node begins. The token of a block map is
// its first colon, so its first key is used.
func yamlStart(n ast.Node, lines lineTable) int {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return yamlStart(n.Values[0].Key, lines)
		}
	case *ast.MappingValueNode:
		return yamlStart(n.Key, lines)
	}
	return lines.offset(n.GetToken())
}
