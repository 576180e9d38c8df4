package script

import (
	"cmp"
	"embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"genkan/internal/gateway"
)

// The file NAME.js has a function that makes the global NAME of what ask and log do.
// Most scripts need few globals, so each is made when it is first read.
//
//go:embed globals
var globalFiles embed.FS

func compileGlobals() map[string]*goja.Program {
	programs := map[string]*goja.Program{}
	files, _ := globalFiles.ReadDir("globals")
	for _, file := range files {
		source, _ := globalFiles.ReadFile("globals/" + file.Name())
		name := strings.TrimSuffix(file.Name(), ".js")
		programs[name] = goja.MustCompile("genkan", string(source), true)
	}
	return programs
}

// globals is the prototype of the global object. goja asks it for what that has not.
type globals struct{ *environment }

func (g *globals) Get(name string) goja.Value {
	var value goja.Value
	switch {
	case name == "vars":
		value = g.frozen(g.vars)
	case name == "params":
		value = g.frozen(g.params)
	case g.globals[name] != nil:
		value = g.makeGlobal(g.globals[name])
	default:
		return nil
	}
	_ = g.vm.GlobalObject().DefineDataProperty(name, value, goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	return value
}

func (g *globals) Has(name string) bool {
	return name == "vars" || name == "params" || g.globals[name] != nil
}
func (g *globals) Set(string, goja.Value) bool { return false }
func (g *globals) Delete(string) bool          { return false }
func (g *globals) Keys() []string              { return nil }

func (g *globals) makeGlobal(program *goja.Program) goja.Value {
	function, err := g.vm.RunProgram(program)
	if err != nil {
		panic(err)
	}
	natives := g.vm.NewObject()
	_ = natives.Set("ask", g.ask)
	_ = natives.Set("log", g.log)
	maker, _ := goja.AssertFunction(function)
	value, err := maker(goja.Undefined(), natives)
	if err != nil {
		panic(err)
	}
	return value
}

// frozen returns a JSON value that a script cannot change.
func (g *globals) frozen(text []byte) goja.Value {
	value, err := (&decoder{vm: g.vm, text: string(text)}).decode()
	if err != nil {
		panic(err)
	}
	freeze, _ := goja.AssertFunction(g.vm.Get("Object").ToObject(g.vm).Get("freeze"))
	var walk func(goja.Value)
	walk = func(v goja.Value) {
		object, ok := v.(*goja.Object)
		if !ok {
			return
		}
		for _, key := range object.Keys() {
			walk(object.Get(key))
		}
		_, _ = freeze(goja.Undefined(), object)
	}
	walk(value)
	return value
}

//go:embed genkan.d.ts
var declarations string

//go:embed genkan.ja.d.ts
var declarationsInJapanese string

// Declarations returns the TypeScript declarations of what a script sees, for editors: the
// file genkan.d.ts, or the same with Japanese comments.
func Declarations(japanese bool) string {
	if japanese {
		return declarationsInJapanese
	}
	return declarations
}

// environment is one run of a script in a worker.
type environment struct {
	*workerState
	vm     *goja.Runtime
	limits Limits
	given  given
	// vars and params are decoded when they are read.
	vars, params []byte

	console []Line
	logged  int

	waiting map[int]settle // requests that were sent
	queued  []ask          // requests that wait until another one was answered
	asked   int
	answers int
}

type settle struct {
	op              string
	resolve, reject func(any) error
}

type ask struct {
	id int
	op string
	a  []byte
	b  []byte
}

// newEnvironment makes a runtime for one job. No script has seen it.
func (s *workerState) newEnvironment() *environment {
	e := &environment{workerState: s, vm: goja.New()}
	e.vm.SetMaxCallStackSize(maxCalls)
	// A source map of evaluated code would be read from a file.
	e.vm.SetParserOptions(parser.WithDisableSourceMaps)
	if err := e.vm.GlobalObject().SetPrototype(e.vm.NewDynamicObject(&globals{e})); err != nil {
		panic(err)
	}
	return e
}

// run runs a job and writes how it ended.
func (s *workerState) run(f *frame) error {
	limits := decodeLimits(f.fields[5])
	s.limitMemory(limits.Memory)
	e := s.spare
	if s.spare = nil; e == nil {
		e = s.newEnvironment()
	}
	e.limits = limits
	s.clock.start(e.vm, limits)
	defer s.clock.stop()
	outcome, err := e.eval(f)
	var console []byte
	if len(e.console) > 0 {
		console, _ = json.Marshal(e.console)
	}
	if err != nil {
		return s.failed(e.explain(err), console)
	}
	var texts, parts [2][]byte
	for i, left := range outcome {
		size := len(left.out)
		for _, p := range left.kept {
			size += p.end - p.start
		}
		if size > limits.Payload {
			return s.failed(&Error{Kind: Refused, Message: tooLarge("what the script leaves", size, limits.Payload)}, console)
		}
		texts[i], parts[i] = left.out, encodeParts(left.kept)
	}
	return writeFrame(s.out, frameDone, texts[0], texts[1], console, parts[0], parts[1])
}

func tooLarge(what string, size, limit int) string {
	return fmt.Sprintf("%s has %d bytes of JSON; it may have %d", what, size, limit)
}

// eval runs the program until it returns. The outcome is what it returned and the context
// that it left.
func (e *environment) eval(f *frame) (outcome [2]encoder, err error) {
	vm, global := e.vm, e.vm.GlobalObject()
	program, err := e.program(f)
	if err != nil {
		return outcome, err
	}
	e.vars, e.params = f.fields[3], f.fields[4]
	e.given = given{vm: vm, text: string(f.fields[2])}
	given, err := e.given.decode()
	if err != nil {
		return outcome, err
	}
	_ = global.Set("context", given)
	_ = global.Set("ctx", given)
	body, err := vm.RunProgram(program)
	if err != nil {
		return outcome, err
	}
	function, ok := goja.AssertFunction(body)
	if !ok {
		return outcome, errors.New("the script is not the body of a function; look for a } too many")
	}
	value, err := function(goja.Undefined())
	if err != nil {
		return outcome, err
	}
	if promise, ok := value.Export().(*goja.Promise); ok {
		for promise.State() == goja.PromiseStatePending {
			if err := e.wait(); err != nil {
				return outcome, err
			}
		}
		value = promise.Result()
		if promise.State() == goja.PromiseStateRejected {
			return outcome, &rejection{value}
		}
	}
	for _, unanswered := range e.waiting {
		if unanswered.op != "sleep" {
			e.print("warn", unanswered.op+NotAwaited)
		}
	}
	left := global.Get("context")
	if left == nil || left == given {
		left = cmp.Or(global.Get("ctx"), given)
	}
	for i, v := range []goja.Value{value, left} {
		if !goja.IsUndefined(v) {
			if outcome[i], err = e.given.encode(v); err != nil {
				return outcome, err
			}
		}
	}
	return outcome, nil
}

// rejection is a script's promise that was rejected.
type rejection struct{ reason goja.Value }

func (r *rejection) Error() string { return "rejected" }

var errForever = errors.New("the script awaits a promise that nothing can settle: it would wait forever")

// wait waits for an answer of the host.
func (e *environment) wait() error {
	if len(e.waiting) == 0 {
		return errForever
	}
	e.clock.pause()
	if err := writeFrame(e.out, frameWait, number(e.answers)); err != nil {
		return err
	}
	if err := e.out.Flush(); err != nil {
		return err
	}
	f, err := readFrame(e.in, 1<<30)
	if err != nil {
		return err
	}
	e.clock.resume()
	if f.kind != frameAnswer {
		return errFrame
	}
	e.answers++
	s, ok := e.waiting[f.number(0)]
	if !ok {
		return errFrame
	}
	delete(e.waiting, f.number(0))
	if len(e.queued) > 0 {
		next := e.queued[0]
		e.queued = e.queued[1:]
		if err := e.send(next); err != nil {
			return err
		}
	}
	if text := f.fields[1]; len(text) > 0 {
		failure, err := e.vm.New(e.vm.Get("Error"), e.vm.ToValue(string(text)))
		if err != nil {
			return err
		}
		return s.reject(failure)
	}
	return s.resolve(string(f.fields[2]))
}

// ask is natives.ask.
func (e *environment) ask(c goja.FunctionCall) goja.Value {
	request := ask{id: e.asked, op: c.Argument(0).String(), a: []byte(c.Argument(1).String()), b: []byte(c.Argument(2).String())}
	if size := len(request.a) + len(request.b); size > e.limits.Payload {
		panic(e.vm.NewTypeError(tooLarge("the request", size, e.limits.Payload)))
	}
	e.asked++
	promise, resolve, reject := e.vm.NewPromise()
	if e.waiting == nil {
		e.waiting = map[int]settle{}
	}
	e.waiting[request.id] = settle{request.op, resolve, reject}
	if len(e.waiting)-len(e.queued) > maxAsks {
		e.queued = append(e.queued, request)
	} else if err := e.send(request); err != nil {
		panic(e.vm.NewGoError(err))
	}
	return e.vm.ToValue(promise)
}

func (e *environment) send(a ask) error {
	return writeFrame(e.out, frameAsk, number(a.id), []byte(a.op), a.a, a.b)
}

// log is natives.log.
func (e *environment) log(c goja.FunctionCall) goja.Value {
	e.print(c.Argument(0).String(), c.Argument(1).String())
	return goja.Undefined()
}

// print keeps a line. Each counts as some bytes more than it has, so that the number
// of empty lines is bounded, too.
func (e *environment) print(level, text string) {
	const overhead = 16
	left := e.limits.Log - e.logged
	if left <= 0 {
		return
	}
	if e.logged += len(text) + overhead; e.logged > e.limits.Log {
		text = cut(text, left) + " … (the console is full)"
	}
	e.console = append(e.console, Line{Level: level, Text: text})
}

// cut returns the first bytes of a text, and whole runes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// explain turns an error of the engine into one with a kind, words and a place.
func (e *environment) explain(err error) *Error {
	var interrupted *goja.InterruptedError
	var exception *goja.Exception
	var rejected *rejection
	var overflow *goja.StackOverflowError
	switch {
	case errors.As(err, &interrupted):
		failure := &Error{Kind: Timeout, Message: gateway.Textf("the script ran longer than %v", e.limits.Time).String()}
		for _, frame := range interrupted.Stack() {
			if place := frame.Position(); place.Filename == scriptFile {
				failure.Line, failure.Column = sourcePlace(place.Line, place.Column)
				break
			}
		}
		return failure
	case errors.As(err, &overflow):
		return &Error{Kind: Threw, Message: fmt.Sprintf("calls nest deeper than %d", maxCalls)}
	case errors.As(err, &rejected):
		return e.thrown(rejected.reason)
	case errors.As(err, &exception):
		return e.thrown(exception.Value())
	default:
		return &Error{Kind: Threw, Message: err.Error()}
	}
}

// place finds places of the script in a stack.
var place = regexp.MustCompile(`(?m)^\tat (?:.* \()?` + scriptFile + `:(\d+):(\d+)\(\d+\)\)?$`)

// thrown describes what a script threw. Reading it runs the script's code.
func (e *environment) thrown(value goja.Value) *Error {
	unknown := &Error{Kind: Threw, Message: "the script threw a value that cannot be shown"}
	function, err := e.vm.RunProgram(e.describe)
	if err != nil {
		return unknown
	}
	describe, _ := goja.AssertFunction(function)
	described, err := describe(goja.Undefined(), value)
	if interrupted := (*goja.InterruptedError)(nil); errors.As(err, &interrupted) {
		return e.explain(interrupted)
	}
	if err != nil {
		return unknown
	}
	pair := described.ToObject(e.vm)
	failure := &Error{Kind: Threw, Message: pair.Get("0").String()}
	if found := place.FindStringSubmatch(cut(pair.Get("1").String(), 16<<10)); found != nil {
		line, _ := strconv.Atoi(found[1])
		column, _ := strconv.Atoi(found[2])
		failure.Line, failure.Column = sourcePlace(line, column)
	}
	return failure
}

// describe returns the text and the stack of a value that was thrown.
const describe = `(function (value) {
	const object = value !== null && typeof value === "object";
	const text = object && !("message" in value) ? JSON.stringify(value) : String(value);
	return [String(text), object ? String(value.stack) : ""];
})`

// encode and decodeLimits carry limits to a worker.
func (l Limits) encode() []byte {
	var out []byte
	for _, n := range []int{int(l.Time), l.Memory, l.Payload, l.Log, l.Depth} {
		out = binary.LittleEndian.AppendUint64(out, uint64(n)) //nolint:gosec // read by decodeLimits
	}
	return out
}

func decodeLimits(field []byte) Limits {
	if len(field) != 40 {
		return Limits{}.orDefaults()
	}
	n := func(i int) int { return int(binary.LittleEndian.Uint64(field[8*i:])) } //nolint:gosec // written by encode
	return Limits{Time: time.Duration(n(0)), Memory: n(1), Payload: n(2), Log: n(3), Depth: n(4)}
}
