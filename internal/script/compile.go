package script

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
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

// NotAwaited is how the line of the console ends about what was canceled because the script did
// not await it. What was canceled stands before it.
const NotAwaited = " was canceled because the script did not await it"

// MaxSource is how long a script may be, in bytes.
const MaxSource = 512 << 10

const (
	maxCode       = 2 * MaxSource
	compileTime   = 5 * time.Second
	compileMemory = 256 << 20 // for a script that needs more than is usual
)

// Compile compiles a script in a process of its own, which takes some milliseconds.
// Who compiles many uses Pool.Compile. The script is JavaScript or TypeScript, the
// body of an async function. An error is a *SyntaxError if the script is wrong.
func Compile(name, source string) (*Program, error) {
	pool := NewPool(Options{})
	defer pool.Close()
	return pool.Compile(context.Background(), name, source)
}

// Compile compiles a script in a worker, because the compiler takes minutes for some
// scripts of a few kilobytes, and gigabytes for others.
func (p *Pool) Compile(ctx context.Context, name, source string) (*Program, error) {
	if len(source) > MaxSource {
		return nil, &SyntaxError{Message: fmt.Sprintf("the script has %d bytes; it may have %d", len(source), MaxSource)}
	}
	f, err := p.compile(ctx, source, nil, DefaultMemory)
	if err != nil && err.Kind == Memory {
		f, err = p.compile(ctx, source, nil, compileMemory)
	}
	if err != nil {
		if err.Kind == Threw {
			return nil, &SyntaxError{Line: err.Line, Column: err.Column, Message: err.Message}
		}
		return nil, &Error{Kind: err.Kind, Message: "the script cannot be compiled: " + err.Message, Err: err.Err, Stats: err.Stats}
	}
	sum := sha256.Sum256(f.fields[0])
	return &Program{ID: hex.EncodeToString(sum[:16]), Name: name, Code: f.fields[0]}, nil
}

// Check parses JavaScript that another engine is to run, as the body of an async function.
// It returns a *SyntaxError if the code is wrong, and nil if that cannot be told: the code is
// very long, or no worker was free.
func (p *Pool) Check(ctx context.Context, source string) error {
	if len(source) > MaxSource {
		return nil
	}
	if _, err := p.compile(ctx, source, []byte(onlyCheck), DefaultMemory); err != nil && err.Kind == Threw {
		return &SyntaxError{Line: err.Line, Column: err.Column, Message: err.Message}
	}
	return nil
}

// onlyCheck asks a worker to parse a source as JavaScript, and no more.
const onlyCheck = "check"

func (p *Pool) compile(ctx context.Context, source string, what []byte, memory int) (frame, *Error) {
	r := &run{pool: p, limits: Limits{Time: compileTime, Memory: memory, Payload: maxCode}.orDefaults()}
	return r.do(ctx, func(w *worker) error {
		return w.send(frameCompile, []byte(source), r.limits.encode(), what)
	})
}

// scriptFile is the name of a script in its stacks.
const scriptFile = "script"

// before and after make a script the body of an async function. They share the
// script's first line, so that lines are those of the source. A script that awaits
// nothing is a function that is cheaper to call.
const (
	before     = "(async function(){"
	beforeSync = "(function      (){"
	after      = "\n})"
)

func wrap(source string) string {
	if strings.Contains(source, "await") {
		return before + source + after
	}
	return beforeSync + source + after
}

// check parses a source as JavaScript of today. It runs in a worker.
func check(source string) error {
	result := api.Transform(wrap(source), api.TransformOptions{Loader: api.LoaderJS, LogLimit: 1})
	if len(result.Errors) > 0 {
		return syntaxError(source, result.Errors[0])
	}
	return nil
}

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
		Charset:          api.CharsetASCII, // the engine counts bytes, the map does not
		Sourcefile:       scriptFile,
		Sourcemap:        api.SourceMapExternal,
		SourcesContent:   api.SourcesContentExclude,
		LegalComments:    api.LegalCommentsNone,
		LogLimit:         1,
	}
	result := api.Transform(wrap(source), options)
	if len(result.Errors) > 0 {
		// The grammar of TypeScript gives some JavaScript another meaning, so it is
		// the second choice.
		options.Loader = api.LoaderTS
		if result = api.Transform(wrap(source), options); len(result.Errors) > 0 {
			return nil, syntaxError(source, result.Errors[0])
		}
	}
	code := withMap(result.Code, result.Map)
	if len(code) > maxCode {
		return nil, &SyntaxError{Message: fmt.Sprintf("the script becomes %d bytes when it is compiled; it may become %d", len(code), maxCode)}
	}
	if _, err := goja.Compile(scriptFile, string(code), false); err != nil {
		return nil, engineError(err)
	}
	return code, nil
}

// withMap appends a source map to code. The engine counts columns from 1 and looks
// them up in the map, where they count from 0: so each line's columns move by one.
func withMap(code, sourceMap []byte) []byte {
	var m struct {
		Version  int      `json:"version"`
		Sources  []string `json:"sources"`
		Mappings string   `json:"mappings"`
		Names    []string `json:"names"`
	}
	if json.Unmarshal(sourceMap, &m) != nil {
		return code
	}
	lines := strings.Split(m.Mappings, ";")
	for i, line := range lines {
		lines[i] = moveColumn(line)
	}
	m.Mappings = strings.Join(lines, ";")
	moved, _ := json.Marshal(m)
	code = append(code, "//# sourceMappingURL=data:application/json;base64,"...)
	return base64.StdEncoding.AppendEncode(code, moved)
}

// moveColumn adds one to the number that the mappings of a line begin with. Those that
// follow are relative to it. Numbers have digits of five bits, the lowest first, with
// a bit for "more" in each and the sign in the lowest bit of the first.
func moveColumn(line string) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	n, shift, i := 0, 0, 0
	for more := line != ""; more; i++ {
		digit := strings.IndexByte(digits, line[i])
		n |= digit & 31 << shift
		shift += 5
		more = digit&32 != 0 && i+1 < len(line)
	}
	if i == 0 {
		return line
	}
	var moved []byte
	for n += 2; ; n >>= 5 {
		if n < 32 {
			return string(append(moved, digits[n])) + line[i:]
		}
		moved = append(moved, digits[n&31|32])
	}
}

func syntaxError(source string, m api.Message) *SyntaxError {
	e := &SyntaxError{Message: m.Text}
	if m.Location == nil {
		return e
	}
	lines := strings.Split(source, "\n")
	if m.Location.Line > len(lines) {
		last := len(lines)
		return &SyntaxError{Line: last, Column: utf8.RuneCountInString(lines[last-1]) + 1, Message: EndsEarly}
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
