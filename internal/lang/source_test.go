package lang

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"strconv"
	"strings"
)

const module = "genkan/"

// source is one Go file. Its path is relative to the module and uses slashes.
type source struct{ path, text string }

// said is a text that the source says to people or agents.
type said struct {
	where  string
	format string
	// values is how many stand in its places; unknown when the source passes a
	// slice on.
	values int
}

const unknown = -1

// listen reads the source for everything that is said: what becomes the
// Message of a gateway.Error or the Format of a gateway.Text. A function that
// makes its parameter one of these is a mouth, and what its callers pass is
// listened to in turn. A text that is not a constant is a breach: nobody could
// have translated it. So is one that goes past the language.
//
// It looks at syntax only and tells functions apart by their package and name,
// methods by their name alone. That is enough for one house, and build tags
// hide nothing.
func listen(files []source) (texts []said, breaches []string) {
	var parsed []*file
	constants := map[string]ast.Expr{}
	for _, s := range files {
		f, err := parse(s)
		if err != nil {
			return nil, []string{err.Error()}
		}
		parsed = append(parsed, f)
		f.collectConstants(constants)
	}
	mouths := map[string]int{} // which parameter is the format
	for {
		known := len(mouths)
		texts, breaches = nil, nil
		for _, f := range parsed {
			l := &listener{file: f, constants: constants, mouths: mouths}
			l.listen()
			texts, breaches = append(texts, l.texts...), append(breaches, l.breaches...)
		}
		if len(mouths) == known {
			return texts, breaches
		}
	}
}

type file struct {
	*ast.File
	set *token.FileSet
	dir string
	// imports are directories of this module, or library paths, by local name.
	imports map[string]string
}

func parse(s source) (*file, error) {
	f := &file{set: token.NewFileSet(), dir: path.Dir(s.path), imports: map[string]string{}}
	var err error
	if f.File, err = parser.ParseFile(f.set, s.path, s.text, parser.SkipObjectResolution); err != nil {
		return nil, err
	}
	for _, spec := range f.Imports {
		where, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(where)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		f.imports[name] = strings.TrimPrefix(where, module)
	}
	return f, nil
}

// collectConstants notes the constants of the file, those of functions too.
func (f *file) collectConstants(into map[string]ast.Expr) {
	ast.Inspect(f.File, func(n ast.Node) bool {
		if decl, ok := n.(*ast.GenDecl); ok && decl.Tok == token.CONST {
			for _, spec := range decl.Specs {
				values, _ := spec.(*ast.ValueSpec)
				for i, name := range values.Names {
					if i < len(values.Values) {
						into[f.dir+"."+name.Name] = values.Values[i]
					}
				}
			}
		}
		return true
	})
}

// listener listens to one file.
type listener struct {
	*file
	constants map[string]ast.Expr
	mouths    map[string]int

	// inside is the function that is being read, and its parameters.
	inside     string
	parameters map[string]int

	texts    []said
	breaches []string
}

func (l *listener) listen() {
	for _, decl := range l.Decls {
		l.inside, l.parameters = "", nil
		if f, ok := decl.(*ast.FuncDecl); ok {
			l.enter(f)
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				l.literal(n)
			case *ast.AssignStmt:
				l.assignment(n)
			case *ast.CallExpr:
				l.call(n)
			}
			return true
		})
	}
}

func (l *listener) enter(f *ast.FuncDecl) {
	l.inside = functionIn(l.dir, f.Name.Name)
	if f.Recv != nil {
		l.inside = methodIn(l.dir, f.Name.Name)
	}
	l.parameters = map[string]int{}
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			l.parameters[name.Name] = len(l.parameters)
		}
	}
}

func functionIn(dir, name string) string { return dir + "." + name }
func methodIn(dir, name string) string   { return dir + ".()." + name }

// literal listens to gateway.Error{Message: …} and gateway.Text{Format: …},
// and finds help that goes past the language.
func (l *listener) literal(c *ast.CompositeLit) {
	fields := map[string]ast.Expr{}
	for _, element := range c.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok {
				fields[key.Name] = pair.Value
			}
		}
	}
	switch l.typeName(c.Type) {
	case "internal/gateway.Error":
		l.says(fields["Message"], count(fields["Values"]))
	case "internal/gateway.Text":
		l.says(fields["Format"], count(fields["Values"]))
	case "github.com/spf13/cobra.Command":
		l.past(fields["Short"])
		l.past(fields["Long"])
	}
}

func (l *listener) typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return l.dir + "." + e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return l.imports[x.Name] + "." + e.Sel.Name
		}
	}
	return ""
}

// assignment listens to e.Message = … and e.Message, e.Values = ….
func (l *listener) assignment(a *ast.AssignStmt) {
	if len(a.Lhs) != len(a.Rhs) {
		return
	}
	var values ast.Expr
	for i, left := range a.Lhs {
		if isField(left, "Values") {
			values = a.Rhs[i]
		}
	}
	for i, left := range a.Lhs {
		if isField(left, "Message") || isField(left, "Format") {
			l.says(a.Rhs[i], count(values))
		}
	}
}

func isField(e ast.Expr, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == name
}

// count is how many values a []any{…} has.
func count(e ast.Expr) int {
	switch e := e.(type) {
	case nil:
		return 0
	case *ast.CompositeLit:
		return len(e.Elts)
	case *ast.Ident:
		if e.Name == "nil" {
			return 0
		}
	}
	return unknown
}

// printers are functions whose text nobody translates any more, by the room
// that must not pass them words, with the place of the text.
var printers = map[string]map[string]int{
	"internal/cli":       {"fmt.Fprint": 1, "fmt.Fprintf": 1, "fmt.Fprintln": 1},
	"internal/mcpserver": {"internal/jsonrpc.ErrorObject": 1},
}

// flagMakers are the methods that declare a flag; the last argument is its help.
var flagMakers = map[string]bool{
	"Bool": true, "BoolVar": true, "Duration": true, "DurationVar": true, "Int": true, "IntVar": true,
	"String": true, "StringVar": true, "StringSlice": true, "StringSliceVar": true,
}

func (l *listener) call(c *ast.CallExpr) {
	name, isMethod := l.callee(c.Fun)
	if at, ok := printers[l.dir][name]; ok && at < len(c.Args) {
		l.past(c.Args[at])
		return
	}
	if isMethod && l.imports["cobra"] != "" && len(c.Args) >= 3 && flagMakers[name] {
		l.past(c.Args[len(c.Args)-1])
		return
	}
	at, ok := l.mouth(name, isMethod)
	if !ok || at >= len(c.Args) {
		return
	}
	values := len(c.Args) - at - 1
	if c.Ellipsis.IsValid() {
		values = unknown
	}
	l.says(c.Args[at], values)
}

// callee names what is called: a function with its package, or a method.
func (l *listener) callee(e ast.Expr) (name string, isMethod bool) {
	switch e := e.(type) {
	case *ast.Ident:
		return functionIn(l.dir, e.Name), false
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok && l.imports[x.Name] != "" {
			return functionIn(l.imports[x.Name], e.Sel.Name), false
		}
		return e.Sel.Name, true
	}
	return "", false
}

func (l *listener) mouth(name string, isMethod bool) (int, bool) {
	if !isMethod {
		at, ok := l.mouths[name]
		return at, ok
	}
	if at, ok := l.mouths[methodIn(l.dir, name)]; ok || !ast.IsExported(name) {
		return at, ok
	}
	for mouth := range maps.Keys(l.mouths) {
		if strings.HasSuffix(mouth, methodIn("", name)) {
			return l.mouths[mouth], true
		}
	}
	return 0, false
}

// says notes a text, or makes the function around it a mouth.
func (l *listener) says(e ast.Expr, values int) {
	if e == nil {
		return
	}
	if text, ok := l.constant(e); ok {
		l.texts = append(l.texts, said{l.where(e), text, values})
		return
	}
	if name, ok := e.(*ast.Ident); ok {
		if at, ok := l.parameters[name.Name]; ok {
			l.mouths[l.inside] = at
			return
		}
	}
	if isField(e, "Message") || isField(e, "Format") {
		return // passed on; it was listened to where it was made
	}
	l.breaches = append(l.breaches, l.where(e)+": this text is not a constant, so nobody can translate it; "+
		"write a format and its values, and \"%s\" for what another has said")
}

// past finds words that are shown without a language.
func (l *listener) past(e ast.Expr) {
	if e == nil {
		return
	}
	if text, ok := l.constant(e); ok && hasWords(strings.ReplaceAll(text, "genkan", "")) {
		l.breaches = append(l.breaches, fmt.Sprintf("%s: %q is shown in English whatever the language; say it through lang", l.where(e), text))
	}
}

func (l *listener) where(e ast.Expr) string {
	p := l.set.Position(e.Pos())
	return p.Filename + ":" + strconv.Itoa(p.Line)
}

// constant evaluates a constant text.
func (l *listener) constant(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, ok := l.constant(e.X)
		right, also := l.constant(e.Y)
		return left + right, ok && also && e.Op == token.ADD
	case *ast.ParenExpr:
		return l.constant(e.X)
	case *ast.Ident, *ast.SelectorExpr:
		name := l.typeName(e)
		if value, ok := l.constants[name]; ok {
			return l.constant(value)
		}
	}
	return "", false
}
