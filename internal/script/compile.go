package script

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"
)

// Program is a script that was compiled. It is immutable.
type Program struct {
	// ID is the hash of what runs.
	ID   string
	Name string
	Code []byte
}

// SyntaxError is why a script cannot be compiled.
type SyntaxError struct {
	// Line and Column are places in the source, from 1; 0 if unknown.
	Line, Column int
	Message      string
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// MaxSource is how long a script may be, in bytes.
const MaxSource = 512 << 10

// compileLimits bound a compilation. The compiler takes minutes for some scripts of a
// few kilobytes, and gigabytes for others.
var compileLimits = Limits{Time: 5 * time.Second, Memory: 256 << 20, Payload: 2 * MaxSource}.orDefaults() //nolint:gochecknoglobals // a constant

// Compile compiles a script in a process of its own, which takes some milliseconds.
// Who compiles many uses Pool.Compile. The script is JavaScript or TypeScript, the
// body of an async function. An error is a *SyntaxError if the script is wrong.
func Compile(name, source string) (*Program, error) {
	pool := NewPool(Options{})
	defer pool.Close()
	return pool.Compile(context.Background(), name, source)
}

// Compile compiles a script in a worker.
func (p *Pool) Compile(ctx context.Context, name, source string) (*Program, error) {
	if len(source) > MaxSource {
		return nil, &SyntaxError{Message: fmt.Sprintf("the script has %d bytes; it may have %d", len(source), MaxSource)}
	}
	r := &run{pool: p, limits: compileLimits}
	f, err := r.do(ctx, func(w *worker) error {
		return w.send(frameCompile, []byte(source), r.limits.encode())
	})
	if err != nil {
		if err.Kind == Threw {
			return nil, &SyntaxError{Line: err.Line, Column: err.Column, Message: err.Message}
		}
		return nil, &Error{Kind: err.Kind, Message: "the script cannot be compiled: " + err.Message, Err: err.Err, Stats: err.Stats}
	}
	sum := sha256.Sum256(f.fields[0])
	return &Program{ID: hex.EncodeToString(sum[:16]), Name: name, Code: f.fields[0]}, nil
}

// scriptFile is the name of a script in its stacks.
const scriptFile = "script"

// before and after make a script the body of an async function. They share the
// script's first line, so that lines are those of the source.
const (
	before = "(async function(){"
	after  = "\n})"
)

// transform turns a script into what the engine runs, with a map of its places. It
// runs in a worker.
func transform(source string) ([]byte, error) {
	options := api.TransformOptions{
		Loader: api.LoaderJS,
		// The engine knows these of the years after 2017, and runs them faster than
		// what they would become.
		Target: api.ES2017,
		Supported: map[string]bool{
			"object-rest-spread": true, "optional-catch-binding": true, "optional-chain": true,
			"nullish-coalescing": true, "logical-assignment": true, "exponent-operator": true, "bigint": true,
			"class-field": true, "class-private-field": true, "class-private-method": true,
			"class-static-field": true, "class-private-static-field": true, "class-static-blocks": true,
			"regexp-dot-all-flag": true, "regexp-lookbehind-assertions": true,
			"regexp-named-capture-groups": true, "regexp-unicode-property-escapes": true,
		},
		MinifyWhitespace: true,
		Charset:          api.CharsetUTF8,
		Sourcefile:       scriptFile,
		Sourcemap:        api.SourceMapInline,
		SourcesContent:   api.SourcesContentExclude,
		LegalComments:    api.LegalCommentsNone,
		LogLimit:         1,
	}
	result := api.Transform(before+source+after, options)
	if len(result.Errors) > 0 {
		// The grammar of TypeScript gives some JavaScript another meaning, so it is
		// the second choice.
		options.Loader = api.LoaderTS
		if result = api.Transform(before+source+after, options); len(result.Errors) > 0 {
			return nil, syntaxError(source, result.Errors[0])
		}
	}
	if len(result.Code) > compileLimits.Payload {
		return nil, &SyntaxError{Message: fmt.Sprintf("the script becomes %d bytes when it is compiled; it may become %d", len(result.Code), compileLimits.Payload)}
	}
	if _, err := goja.Compile(scriptFile, string(result.Code), false); err != nil {
		return nil, engineError(err)
	}
	return result.Code, nil
}

func syntaxError(source string, m api.Message) *SyntaxError {
	e := &SyntaxError{Message: m.Text}
	if m.Location == nil {
		return e
	}
	lines := strings.Split(source, "\n")
	if m.Location.Line > len(lines) {
		last := len(lines)
		return &SyntaxError{Line: last, Column: utf8.RuneCountInString(lines[last-1]) + 1, Message: "the script ends too early: " + m.Text}
	}
	column := m.Location.Column // in bytes
	if m.Location.Line == 1 {
		column -= len(before)
	}
	line := lines[m.Location.Line-1]
	e.Line, e.Column = m.Location.Line, utf8.RuneCountInString(line[:max(0, min(column, len(line)))])+1
	return e
}

// engineError is an error of the engine's own compiler.
func engineError(err error) *SyntaxError {
	e := &SyntaxError{Message: err.Error()}
	var compiler *goja.CompilerSyntaxError
	if errors.As(err, &compiler) && compiler.File != nil {
		place := compiler.File.Position(compiler.Offset)
		e.Message = compiler.Message
		e.Line, e.Column = sourcePlace(place.Line, place.Column)
	}
	return e
}

// sourcePlace turns a place of the source map, whose columns begin with 0, into one of
// the source.
func sourcePlace(line, column int) (int, int) {
	if line == 1 {
		column -= len(before)
	}
	return line, max(0, column) + 1
}
