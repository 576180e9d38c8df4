package script

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/google/go-cmp/cmp"
)

func TestScripts(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	const input = `{"request":{"params":{"name":"x"}},"response":{"content":[{"type":"text","text":"a1"},{"type":"image","data":"a2"},{"type":"resource","resource":{"uri":"a3","text":"a4"}}],"structuredContent":{"a":["a5",{"b":"a6"},7]}}}`
	for name, tt := range map[string]struct{ source, returned, context string }{
		"nothing is returned":         {`context.n = 1`, ``, `{"n":1}`},
		"ctx is the same object":      {`ctx.a = context === ctx`, ``, `{"a":true}`},
		"context may be replaced":     {`context = {b: 2}`, ``, `{"b":2}`},
		"ctx may be replaced":         {`ctx = {b: 2}`, ``, `{"b":2}`},
		"context cannot get lost":     {`delete globalThis.context; delete globalThis.ctx`, ``, `{}`},
		"return, await":               {`return await Promise.all([1, Promise.resolve(2)])`, `[1,2]`, `{}`},
		"null":                        {`return null`, `null`, `{}`},
		"a function is nothing":       {`return () => 1`, ``, `{}`},
		"letters stay letters":        {`return "東京😀\u2028\ud800\\u6771\u0001\""`, `"東京😀` + "\u2028" + `\ud800\\u6771\u0001\""`, `{}`},
		"TypeScript":                  {`const f = <T,>(x: T): T => x; return f<number>(3 as number)`, `3`, `{}`},
		"JavaScript before it":        {`const f = 1, a = 2, b = 0; return typeof (f<a>(b))`, `"boolean"`, `{}`},
		"newer syntax":                {`async function* g() { yield 1; yield 2 }; let s = 0; for await (const x of g()) s += x; s ||= 5; return s ?? null`, `3`, `{}`},
		"classes":                     {`class A { #x = 1; static s = 2; get x() { return this.#x } }; return new A().x + A.s`, `3`, `{}`},
		"regular expressions":         {`return "2020-12".replace(/(?<y>\d{4})-(?=\p{N})/u, "$<y>/")`, `"2020/12"`, `{}`},
		"vars, params are empty":      {`return [vars, params]`, `[{},{}]`, `{}`},
		"a comment ends":              {`return 1 // one`, `1`, `{}`},
		"eval cannot read a file":     {"eval('1\\n//# sourceMappingURL=/etc/passwd'); return 1", `1`, `{}`},
		"mapText of a value":          {`return mapText({a: ["x", {b: "y"}, 1, null]}, s => s + s)`, `{"a":["xx",{"b":"yy"},1,null]}`, `{}`},
		"mapText that only looks":     {`const seen = []; mapText(["x", "y"], s => { seen.push(s) }); return seen`, `["x","y"]`, `{}`},
		"state without a host throws": {`try { await state.get("x") } catch (e) { return e.message }`, `"this script may not use call, fetch or state"`, `{}`},
		"the date":                    {`return new Date() > new Date(2020, 1, 1)`, `true`, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			r, failure := run1(t, p, tt.source, "", nil)
			if failure != nil || string(r.Returned) != tt.returned || string(r.Context) != tt.context {
				t.Errorf("%s %s %v", r.Returned, r.Context, failure)
			}
		})
	}
	r, failure := run1(t, p, `mapText(context.response, s => s.replace("a", "b"))`, input, nil)
	want := `{"request":{"params":{"name":"x"}},"response":{"content":[{"type":"text","text":"b1"},{"type":"image","data":"a2"},{"type":"resource","resource":{"uri":"a3","text":"b4"}}],"structuredContent":{"a":["b5",{"b":"b6"},7]}}}`
	if failure != nil || string(r.Context) != want {
		t.Errorf("mapText: %s, %v", r.Context, failure)
	}
}

func TestVarsAndParamsAreFrozen(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	program := compile(t, p, `vars.a.b = 2; params.list.x = 1; vars = 3; params = 3;
		try { "use strict"; (function () { "use strict"; params.list[0] = 9 })() } catch (e) { return [vars, params, e.name] }`)
	r, err := p.Run(context.Background(), Job{Program: program, Vars: json.RawMessage(`{"a":{"b":1}}`), Params: json.RawMessage(`{"list":[1]}`), Limits: patient})
	if err != nil || string(r.Returned) != `[{"a":{"b":1}},{"list":[1]},"TypeError"]` {
		t.Errorf("%s, %v", r.Returned, err)
	}
}

func TestFailuresHavePlaces(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	for source, want := range map[string]string{
		"throw new Error('x')":                                           "line 1, column 7: Error: x",
		"const s = '日本語';\n  throw new Error(s)":                         "line 2, column 9: Error: 日本語",
		"const f = (x) => {\n  return x.y.z;\n};\nconst s = '日本'; f({})": "line 2, column 14: TypeError: Cannot read property 'z' of undefined",
		"await 0;\n nothing()":                                           "line 2, column 2: ReferenceError: nothing is not defined",
		"const t = `\n${'x'}\n`;\nnull.x":                                "line 4, column 6: TypeError: Cannot read property 'x' of undefined",
		"throw 'text'":                                                   "text",
		"throw {a: 1}":                                                   `{"a":1}`,
		"throw {message: 1, toString() { throw 1 }}":                     "the script threw a value that cannot be shown",
		"throw undefined":                                                "undefined",
		"return 10n":                                                     "TypeError: Do not know how to serialize a BigInt",
		"context.self = context":                                         "TypeError: Converting circular structure to JSON",
		"await Promise.reject(new Error('later'))":                       "line 1, column 22: Error: later",
		"await new Promise(() => {})":                                    errForever.Error(),
		"const f = () => f(); f()":                                       "calls nest deeper than 500",
		"}); (async function () { throw new Error('left the function')":  "line 1, column 32: Error: left the function",
		"}); ({a: 1":                                                     "the script is not the body of a function; look for a } too many",
		"await call('x')":                                                "Error: this script may not use call, fetch or state",
		"const e = new Error('mine'); e.stack = '\\tat script:9999999999999999999999:1(1)'; throw e": "Error: mine",
	} {
		_, failure := run1(t, p, source, "", nil)
		if failure == nil || failure.Kind != Threw || !strings.HasSuffix(failure.Error(), want) || failure.Line < 5 && failure.Error() != want {
			t.Errorf("%s: %v, want %s", source, failure, want)
		}
	}
	if got := p.Stats(); got.Started != 1 {
		t.Errorf("a worker is used again after errors: %+v", got)
	}
}

// Package lang translates what the engine throws most (ja_thrown.go). It finds it by these
// words, which another version of the engine may change.
func TestWordsOfTheEngine(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	for source, want := range map[string]string{
		"'a'.replce('x')":            "TypeError: Object has no member 'replce'",
		"let u; u.x":                 "TypeError: Cannot read property 'x' of undefined",
		"let u; u.x()":               "TypeError: Cannot read property 'x' of undefined or null",
		"let u; u.x = 1":             "TypeError: Cannot convert undefined or null to object",
		"const {a} = null":           "TypeError: Value is not object coercible",
		"let f = 1; f()":             "TypeError: Value is not an object: 1",
		"({})()":                     "TypeError: Not a function: [object Object]",
		"foo()":                      "ReferenceError: foo is not defined",
		"x; let x = 1":               "ReferenceError: Cannot access a variable before initialization",
		"const c = 1; c = 2":         "TypeError: Assignment to constant variable.",
		"for (const x of 5) ;":       "TypeError: object is not iterable",
		"[].reduce((a, b) => a)":     "TypeError: No initial value",
		"[].map(1)":                  "TypeError: Value is not an object: 1",
		"[].sort(1)":                 "TypeError: The comparison function must be either a function or undefined",
		"Object.keys(null)":          "TypeError: Cannot convert undefined or null to object",
		"Object.freeze([1]).push(2)": "TypeError: Cannot add property 1, object is not extensible",
		"'use strict'; Object.freeze({a: 1}).a = 2": "TypeError: Cannot assign to read only property 'a'",
		"class A {} A()": "TypeError: Class constructor cannot be invoked without 'new'",
		"const a = {}; a.a = a; JSON.stringify(a)": "TypeError: Converting circular structure to JSON",
		"JSON.stringify({a: 1n})":                  "TypeError: Do not know how to serialize a BigInt",
		"1n + 1":                                   "TypeError: Cannot mix BigInt and other types, use explicit conversions",
		"BigInt(1.5)":                              "RangeError: Cannot convert 1.5 to a BigInt",
		"Symbol() + ''":                            "TypeError: Cannot convert a Symbol value to a string",
		"'a'.replaceAll(/a/, '')":                  "TypeError: String.prototype.replaceAll called with a non-global RegExp argument",
		"new Array(-1)":                            "RangeError: Invalid array length",
		"'a'.repeat(-1)":                           "RangeError: Invalid count value",
		"(1).toFixed(200)":                         "RangeError: toFixed() precision must be between 0 and 100",
		"(1).toString(99)":                         "RangeError: toString() radix argument must be between 2 and 36",
		"new Date('x').toISOString()":              "RangeError: Invalid time value",
		"decodeURIComponent('%')":                  "URIError: Malformed URI",
		"new RegExp('(')":                          "SyntaxError: Unterminated group",
		"JSON.parse('')":                           "SyntaxError: Unexpected end of JSON input (EOF)",
		"JSON.parse('{\"a\": \"b')":                "SyntaxError: unexpected EOF",
		"JSON.parse('abc')":                        "SyntaxError: invalid character 'a' looking for beginning of value",
		"JSON.parse('{a: 1}')":                     "SyntaxError: invalid character 'a'",
		"JSON.parse('{\"a\":1,}')":                 "SyntaxError: invalid character '}' looking for beginning of object key string",
		"JSON.parse('txue')":                       "SyntaxError: invalid character 'x' in literal true (expecting 'r')",
		"JSON.parse('-a')":                         "SyntaxError: invalid character 'a' in numeric literal",
		"JSON.parse('[1 2]')":                      "SyntaxError: invalid character '2' after array element",
		"JSON.parse('{} x')":                       "SyntaxError: Unexpected token at the end: <nil>",
	} {
		if _, failure := run1(t, p, source, "", nil); failure == nil || failure.Message != want || failure.Line != 1 {
			t.Errorf("%s: %v, want %s", source, failure, want)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	for source, want := range map[string]string{
		"function f(a, {":                "line 1, column 16: the script ends where it should not",
		"let x = {\n  a: 1,\n  b 2\n}":   `line 3, column 5: Expected "}" but found "2"`,
		"let 日本 = ;":                     `line 1, column 10: Unexpected ";"`,
		"if (x) {\n":                     "line 2, column 1: the script ends where it should not",
		"return /(/":                     "line 1, column",
		"f（1）":                           `line 1, column 2: a full-width "（" cannot be used here; write (`,
		"let a　＝ 1":                      `line 1, column 7: a full-width "＝" cannot be used here; write =`,
		"let a = １２":                     `line 1, column 9: a full-width "１" cannot be used here; write 1`,
		"return “x”":                     `line 1, column 8: "“" cannot be used here; write "`,
		"let a = [1、2]":                  `line 1, column 11: "、" cannot be used here; write ,`,
		"let a = '":                      "line 1, column 10: Unterminated string literal",
		"break":                          `line 1, column 1: "break" cannot be used here`,
		strings.Repeat("x", 1+MaxSource): "the script has 524289 bytes; it may have 524288",
	} {
		_, err := p.Compile(context.Background(), "x", source)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50s: %v, want %s", source, err, want)
			continue
		}
		if said := syntax.Text(); said.Format == "%s" && len(source) <= MaxSource {
			t.Errorf("%.50s: %q cannot be translated", source, syntax.Message)
		}
	}
	if _, err := Compile("alone", "return 1"); err != nil {
		t.Error(err)
	}
}

// JavaScript for another engine is checked as such.
func TestCheckSaysWhereTheMistakeIs(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	const ends = "the script ends where it should not: one of its brackets is missing, or one too many"
	for source, want := range map[string]string{
		"":                          "",
		"return await $input.all()": "",
		"for await (const x of y) { x?.z ?? 010 }\nreturn []":               "",
		"const items = $('A').all();\nreturn items.map((i) => ({json: i}))": "",
		"using x = y; return /[\\p{L}--[a-z]]/v":                            "", // newer than our engine
		"// a comment at the end":                                           "",
		"const a: string = 'TypeScript'":                                    `line 1, column 8: Expected ";" but found ":"`,
		"retrun 1;":                                                         `line 1, column 8: Expected ";" but found "1"`,
		"const a = 1;\nconst 日本 = ;":                                        `line 2, column 12: Unexpected ";"`,
		"if (x) {":                                                          "line 1, column 9: " + ends,
		"f(\n  a":                                                           "line 2, column 4: " + ends,
		"import fs from 'fs'":                                               `line 1, column 8: Unexpected "fs"`,
		"let b; let b":                                                      `line 1, column 12: The symbol "b" has already been declared`,
		strings.Repeat("(", 1+MaxSource):                                    "",
		strings.Repeat("[", 200_000) + "'":                                  "", // the parser crashes
	} {
		got := ""
		if err := p.Check(t.Context(), source); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%.60s: %s, want %s", source, got, want)
		}
	}
}

// The compiler is as hard to stop as the engine.
func TestCompilerIsBounded(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	for name, source := range map[string]string{
		"slow": strings.Repeat("a=>", 3000) + "1",
		"deep": strings.Repeat("[", 200000) + strings.Repeat("]", 200000),
		"wide": strings.Repeat("{", 20000) + strings.Repeat("}", 20000),
	} {
		_, err := p.Compile(context.Background(), "x", source)
		if err == nil {
			t.Errorf("%s: compiled", name)
		}
		t.Logf("%s: %v", name, err)
	}
	if _, err := p.Compile(context.Background(), "x", "return 1"); err != nil {
		t.Error(err)
	}
}

func TestConsole(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	r, failure := run1(t, p, `console.log("a", 1, {b: [2]}, null, undefined); console.warn(() => 1); console.error(new Error("x").message);
		const o = {}; o.o = o; console.debug(o, 1n); console.info()`, "", nil)
	want := []Line{{"log", `a 1 {"b":[2]} null undefined`}, {"warn", "() => 1"}, {"error", "x"}, {"debug", "[object] [bigint]"}, {"info", ""}}
	want[1].Text = r.Console[1].Text // as the engine writes it
	if diff := cmp.Diff(want, r.Console); failure != nil || diff != "" {
		t.Errorf("%v %s", failure, diff)
	}
	r, failure = run1(t, p, `for (let i = 0; i < 1e4; i++) console.log(""); console.log("x".repeat(1e5))`, "", nil)
	if failure != nil || len(r.Console) != 4096 {
		t.Errorf("%d lines, %v", len(r.Console), failure)
	}
	r, failure = run1(t, p, `console.log("あ".repeat(1e5)); throw 1`, "", nil)
	if len(failure.Console) != 1 || len(failure.Console[0].Text) > DefaultLog+100 || !strings.HasSuffix(failure.Console[0].Text, "(the console is full)") {
		t.Errorf("%d, %v", len(r.Console), failure)
	}
}

func TestHost(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	host := &fakeHost{
		call: func(_ context.Context, tool string, arguments json.RawMessage) (json.RawMessage, error) {
			switch tool {
			case "structured":
				return json.RawMessage(`{"content":[{"type":"text","text":"x"}],"structuredContent":` + string(arguments) + `}`), nil
			case "text":
				return json.RawMessage(`{"content":[{"type":"text","text":"not JSON"}]}`), nil
			case "json":
				return json.RawMessage(`{"content":[{"type":"text","text":"{\"a\":1}"}]}`), nil
			case "broken":
				return json.RawMessage(`{"content":[{"type":"text","text":"the tool's own words"}],"isError":true}`), nil
			case "large":
				return json.RawMessage(`"` + strings.Repeat("x", 2<<20) + `"`), nil
			case "deep":
				return json.RawMessage(strings.Repeat("[", 201) + strings.Repeat("]", 201)), nil
			}
			return nil, errors.New("unknown tool " + tool)
		},
		fetch: func(_ context.Context, r Request) (Response, error) {
			text, _ := json.Marshal(r)
			return Response{Status: 201, Header: map[string]string{"Content-Type": "x/y"}, Body: string(text)}, nil
		},
	}
	for source, want := range map[string]string{
		`return await call("structured", {b: 1})`:                `{"b":1}`,
		`return await call("structured")`:                        `{}`,
		`return await call("text")`:                              `"not JSON"`,
		`return await call("json")`:                              `{"a":1}`,
		`return await call.raw("text")`:                          `{"content":[{"type":"text","text":"not JSON"}]}`,
		`await call("broken")`:                                   `Error: the tool's own words`,
		`await call("missing")`:                                  `Error: unknown tool missing`,
		`await call("large")`:                                    `Error: the answer has 2097154 bytes of JSON; it may have 1048576`,
		`await call("deep")`:                                     `Error: the answer nests deeper than 200`,
		`await call("x", {a: "x".repeat(2e6)})`:                  `TypeError: the request has 2000009 bytes of JSON; it may have 1048576`,
		`await state.set("k", [1]); return await state.get("k")`: `[1]`,
		`await state.set("k", 1); await state.delete("k"); return [await state.get("k")]`:                                     `[null]`,
		`await state.set("k", 1, 60); return [await state.add("k"), await state.add("k", 2.5), await state.add("n", -1, 60)]`: `[2,4.5,-1]`,
		`try { await state.set("k", 1, 0) } catch (e) { return e.message }`:                                                   `"state: the time to live must be a number of seconds, more than 0 and at most a year"`,
		`try { await state.set("k", 1, "60") } catch (e) { return e.message }`:                                                `"state: the time to live must be a number of seconds, more than 0 and at most a year"`,
		`await state.set("k", 1, 1e-300); return await state.get("k")`:                                                        `1`,
		`try { await state.add("k", "1") } catch (e) { return e.message }`:                                                    `"state.add: only a number can be added"`,
		`const r = await fetch("https://a.example/x", {method: "post", headers: {A: 1}, body: "b"});
		 return [r.status, r.ok, r.headers["content-type"], r.headers.get("Content-Type"), r.headers.get("x"), await r.json()]`: `[201,true,"x/y","x/y",null,{"method":"POST","url":"https://a.example/x","headers":{"A":"1"},"body":"b"}]`,
		`await fetch("x", {body: {}})`: `TypeError: fetch: body must be a string; use JSON.stringify`,
		`return (await Promise.all(Array.from({length: 200}, (_, i) => call("structured", {i})))).map(r => r.i).reduce((a, b) => a + b)`: `19900`,
		`return await Promise.race([sleep(1e9), call("json")])`:                                                                          `{"a":1}`,
		`const a = []; await Promise.all([1, 2, 3].map(async i => { await sleep(i); a.push(i) })); return a.length`:                      `3`,
		`return await sleep("x")`: ``,
	} {
		r, failure := run1(t, p, source, "", host)
		got := string(r.Returned)
		if failure != nil {
			got = failure.Message
		}
		if got != want {
			t.Errorf("%s: %s, want %s", source, got, want)
		}
	}
	if ttl := (stateChange{TTL: 1e-300}).ttl(); ttl != 1 {
		t.Errorf("a short time to live is %v, which may be for ever", ttl)
	}
	r, _ := run1(t, p, `call("json")`, "", host)
	if len(r.Console) != 1 || r.Console[0].Text != "call was canceled because the script did not await it" {
		t.Errorf("%v", r.Console)
	}
}

// What is declared for editors is what a script finds.
func TestDeclarations(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	var declared []string
	for _, found := range regexp.MustCompile(`(?m)^declare (?:const|let|function) (\w+)`).FindAllStringSubmatch(Declarations(false), -1) {
		declared = append(declared, found[1])
	}
	slices.Sort(declared)
	injected := []string{"context", "ctx", "params", "vars"}
	for name := range compileGlobals() {
		injected = append(injected, name)
	}
	slices.Sort(injected)
	if diff := cmp.Diff(injected, declared); diff != "" {
		t.Error(diff)
	}
	// Members, too: each that is declared exists, and there are no others.
	r, failure := run1(t, p, `return Object.fromEntries(Object.entries({console, state, call}).map(([k, v]) => [k, Object.keys(v).sort()]))`, "", nil)
	want := `{"console":["debug","error","info","log","warn"],"state":["add","delete","get","set"],"call":["raw"]}`
	if failure != nil || string(r.Returned) != want {
		t.Errorf("%s %v", r.Returned, failure)
	}
	for _, member := range regexp.MustCompile(`\w+`).FindAllString(want, -1) {
		if !regexp.MustCompile(`\b` + member + `\b`).MatchString(Declarations(false)) {
			t.Errorf("%s is not declared", member)
		}
	}
	if _, failure := run1(t, p, `await (async () => {`+"\n"+strings.ReplaceAll(Declarations(false), "declare let context", "declare let context_")+"\n})()", "", nil); failure != nil {
		t.Errorf("the declarations are not TypeScript: %v", failure)
	}
}

// A script finds the language, what is injected, and nothing of a server's runtime.
func TestGlobals(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	r, failure := run1(t, p, `return Object.getOwnPropertyNames(globalThis).sort()`, "", nil)
	var names []string
	if failure != nil || json.Unmarshal(r.Returned, &names) != nil {
		t.Fatal(failure)
	}
	for _, name := range goja.New().GlobalObject().GetOwnPropertyNames() {
		names = slices.DeleteFunc(names, func(n string) bool { return n == name })
	}
	if diff := cmp.Diff([]string{"context", "ctx"}, names); diff != "" {
		t.Error(diff)
	}
	r, failure = run1(t, p, `return [typeof require, typeof process, typeof Deno, typeof global, typeof module, typeof importScripts, typeof XMLHttpRequest, typeof WebAssembly, typeof setTimeout]`, "", nil)
	if failure != nil || strings.Trim(strings.ReplaceAll(string(r.Returned), `"undefined"`, ""), "[],") != "" {
		t.Errorf("%s %v", r.Returned, failure)
	}
}

// The Japanese declarations differ from the English ones in their comments alone.
func TestDeclarationsInJapanese(t *testing.T) {
	t.Parallel()
	comment := regexp.MustCompile(`(?s)/\*\*.*?\*/|//[^\n]*`)
	bare := func(japanese bool) string { return comment.ReplaceAllString(Declarations(japanese), "") }
	if diff := cmp.Diff(bare(false), bare(true)); diff != "" {
		t.Error(diff)
	}
	for _, found := range comment.FindAllString(Declarations(true), -1) {
		if !regexp.MustCompile(`[ぁ-ん]`).MatchString(found) {
			t.Errorf("%s is not in Japanese", found)
		}
	}
}
