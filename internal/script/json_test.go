package script

import (
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// engine has the engine's own functions, which say what is right.
type engine struct {
	*goja.Runtime
	parse, stringify goja.Callable
}

func newEngine() engine {
	vm := goja.New()
	parse, _ := goja.AssertFunction(vm.Get("JSON").ToObject(vm).Get("parse"))
	stringify, _ := goja.AssertFunction(vm.Get("JSON").ToObject(vm).Get("stringify"))
	return engine{vm, parse, stringify}
}

// text is JSON.stringify.
func (e engine) text(tb testing.TB, v goja.Value) string {
	out, err := e.stringify(goja.Undefined(), v)
	if err != nil {
		tb.Fatal(err)
	}
	return out.String()
}

// joined returns what the parent makes of an encoded value.
func (g *given) joined(tb testing.TB, v goja.Value) string {
	out, err := g.encode(v)
	if err != nil {
		return err.Error()
	}
	text, err := joinParts(out.out, []byte(g.text), encodeParts(out.kept), 1<<30)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// What JSON.parse reads is read as the same value, whether at once or later, and written as
// JSON.stringify writes it.
func FuzzJSON(f *testing.F) {
	long := strings.Repeat(`{"k":"長い","n":[1,2.5,-0,1e21,1e-7,12345678901234567890]},`, 50)
	for _, text := range []string{
		`{}`, `[]`, `null`, ` { "a" : [ 1 , true , false , null , "x" ] } `, `"\ud800"`, `"\ud83d\ude00"`, `"\u0000\u001f\"\\\/\b\f\n\r\t"`,
		`{"a":1,"a":2,"2":0,"1":0,"__proto__":{"x":1}}`, `{"\ud800":1,"\ufffd":2}`, "\"\xff\"", `1e400`, `-`, `{"a"}`, `[1,]`, `"`, `"\`, `"\\`,
		`{"response":{"list":[` + long + `0],"__proto__":[` + long + `1]},"x":1}`, `{"a":{"b":[` + long + `]}}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if tooDeep([]byte(text), 200) {
			return
		}
		e := newEngine()
		want, err := e.parse(goja.Undefined(), e.ToValue(text))
		g := given{vm: e.Runtime, text: text}
		got, failure := g.decode()
		if err != nil {
			return // who sends it has checked it
		}
		if failure != nil && text != "" {
			t.Fatalf("%q: %v", text, failure)
		}
		// Before it is read, and with members that were read.
		before := g.joined(t, got)
		again, err := e.parse(goja.Undefined(), e.ToValue(before))
		if err != nil || e.text(t, again) != e.text(t, want) {
			t.Errorf("%q became %q, %v", text, before, err)
		}
		if is, is2 := e.text(t, got), e.text(t, want); is != is2 {
			t.Errorf("%q is %q, not %q", text, is, is2)
		}
		if is, is2 := g.joined(t, got), e.text(t, want); is != is2 {
			// Half of a surrogate pair, and control characters, have several spellings.
			again, err := e.parse(goja.Undefined(), e.ToValue(is))
			if err != nil || e.text(t, again) != is2 {
				t.Errorf("%q is %q, not %q", text, is, is2)
			}
		}
	})
}

func FuzzJoinParts(f *testing.F) {
	f.Add([]byte(`{"a":}`), []byte(`{"a":[]}`), encodeParts([]part{{5, 5, 7}}))
	f.Fuzz(func(t *testing.T, text, given, parts []byte) {
		if out, err := joinParts(text, given, parts, 100); err == nil && len(parts) > 12 && len(out) > 100+len(text) {
			t.Errorf("%d bytes", len(out))
		}
	})
}

// What a script makes of a value is written as JSON.stringify writes it.
func TestEncodedAsTheEngineDoes(t *testing.T) {
	t.Parallel()
	big := `{"a":{"list":[` + strings.Repeat(`{"n":12345678901234567890},`, 60) + `1]},"b":{"s":"` + strings.Repeat("x", 2000) + `"},"c":1}`
	for _, source := range []string{
		`undefined`, `() => 1`, `Symbol()`, `null`, `NaN`, `-0`, `1e300*1e300`, `[undefined, () => 1, Symbol()]`, `({a: undefined, b: () => 1, [Symbol()]: 1, c: 1})`,
		`new Date(0)`, `({toJSON(key) { return "k" + key }})`, `({a: {toJSON(key) { return "k" + key }}})`, `[new Number(1), new String("s"), new Boolean(false)]`,
		`new Map([[1, 2]])`, `new Error("x")`, `Object.create({inherited: 1})`, `new Proxy([1, 2], {})`, `new Proxy({a: 1}, {ownKeys: () => ["a"]})`,
		`({get a() { return 1 }})`, `Object.defineProperty({}, "hidden", {value: 1})`, `[, 1]`, `(function () { return arguments })(1, 2)`, `new (class A { x = 1 })`,
		`"\ud800"`, `"\ufffd\ud83d\ude00\udc00"`, `({"\ud800": 1})`, `JSON.rawJSON ? 1 : 1`, `Object.create(null)`, `/x/`, `new Uint8Array(2)`, `Object.assign([1], {x: 1})`,
		`(Array.prototype.toJSON = () => 7, [1])`, `(Object.prototype.toJSON = () => 8, context)`,
		`context`, `(context.b, context)`, `({...context})`, `[context, context]`, `(delete context.a, context)`, `(context.a = 1, context)`, `(delete context.a, context.a = {z: 1}, context)`,
		`Object.freeze(context)`, `(Object.freeze(context).a.list.push(2), context)`, `(Object.freeze(context).a = 2, context)`, `(context.a.list.pop(), context)`,
		`({x: context.a, y: context})`, `(Object.defineProperty(context, "a", {get() { return 5 }}), context)`, `(Object.defineProperty(context, "z", {get() { return context.a }, enumerable: true}), context)`,
		`Object.create(context)`, `(o => (o.a = 3, [o, context.a.list.length]))(Object.create(context))`, `Object.keys(context)`, `Object.entries(context)`, `structured = "a" in context && context.hasOwnProperty("b")`,
		`(Object.defineProperty(Object.prototype, "list", {set() { throw 1 }}), context.a)`, `JSON.parse(JSON.stringify(context))`,
	} {
		want := newEngine()
		value, err := want.parse(goja.Undefined(), want.ToValue(big))
		if err != nil {
			t.Fatal(err)
		}
		_ = want.Set("context", value)
		if value, err = want.RunString(source); err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		text, err := want.stringify(goja.Undefined(), value)
		if err != nil {
			t.Fatal(err)
		}
		expected := ""
		if !goja.IsUndefined(text) {
			expected = text.String()
		}

		got := newEngine()
		g := given{vm: got.Runtime, text: big}
		context, err := g.decode()
		if err != nil {
			t.Fatal(err)
		}
		_ = got.Set("context", context)
		if value, err = got.RunString(source); err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		encoded := strings.ReplaceAll(g.joined(t, value), "12345678901234567890", "12345678901234567000")
		if encoded != expected {
			t.Errorf("%s:\n%.300s\n%.300s", source, encoded, expected)
		}
	}
}

// A script pays for what it reads.
func TestUnreadMembersAreNotDecoded(t *testing.T) {
	cost := func(rows int) float64 {
		text := `{"request":{"params":{"name":"x","arguments":{"rows":[` + strings.Repeat(`{"a":"b"},`, rows) + `1]}}},"response":{"content":[` + strings.Repeat(`{"a":"b"},`, rows) + `1]}}`
		program := goja.MustCompile("x", `context.request.params.name`, true)
		return testing.AllocsPerRun(10, func() {
			vm := goja.New()
			g := given{vm: vm, text: text}
			v, err := g.decode()
			if err != nil {
				t.Fatal(err)
			}
			_ = vm.Set("context", v)
			if name, err := vm.RunProgram(program); err != nil || name.String() != "x" {
				t.Fatal(name, err)
			}
			if out, err := g.encode(v); err != nil || len(out.out) > 100 || len(out.kept) != 2 {
				t.Fatal(string(out.out), err)
			}
		})
	}
	if few, many := cost(200), cost(10_000); many > few+1 {
		t.Errorf("%v allocations, and %v for more that is not read", few, many)
	}
}
