package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// check validates arguments against an input schema.
func check(tb testing.TB, v *catalog.Validator, schema, arguments string) error {
	tb.Helper()
	params := `{"name":"t","arguments":` + arguments + `}`
	if arguments == "" {
		params = `{"name":"t"}`
	}
	p, err := jsonrpc.ScanParams([]byte(params))
	if err != nil {
		tb.Fatal(err)
	}
	return v.Check(&gateway.Call{Method: "tools/call", Params: p, Name: "s__t", Tool: toolWith(schema)})
}

func toolWith(schema string) *gateway.Tool {
	tool := &gateway.Tool{Name: "t", Exposed: "s__t", Validate: true}
	if schema != "" {
		tool.InputSchema = []byte(schema)
	}
	return tool
}

// TestValidation: the message names every field that is wrong, the rule with its
// bound, and the value or its type. Texts are not repeated: they may be secrets.
func TestValidation(t *testing.T) {
	const object = `{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":9},"s":{"type":"string","pattern":"^a+$","maxLength":7},"e":{"enum":["red","green",7]},"c":{"const":"one"},"l":{"type":"array","minItems":1,"maxItems":2,"uniqueItems":true},"f":{"type":"number","exclusiveMinimum":0.5,"multipleOf":0.25},"deep":{"type":"object","properties":{"list":{"type":"array","items":{"type":"boolean"}}},"required":["list"]}},"required":["n"],"additionalProperties":false}`
	const forms = `{"properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}]},"b":{"oneOf":[{"const":"x"},{"const":"y"}]},"c":{"anyOf":[{"type":"object","properties":{"kind":{"const":"file"},"path":{"type":"string"}},"required":["kind","path"]},{"type":"object","properties":{"kind":{"const":"url"},"url":{"type":"string"}},"required":["kind","url"]},{"type":"string"}]},"d":{"oneOf":[{"minimum":1},{"minimum":2}]},"e":{"not":{"const":1}},"f":false}}`
	for name, c := range map[string]struct{ schema, arguments, want string }{
		"fits":                   {object, `{"n":1,"s":"aa","e":"red","deep":{"list":[true,false]}}`, ""},
		"fits as a float":        {object, `{"n":1.0}`, ""},
		"missing":                {object, `{}`, "Required parameter missing: n"},
		"no arguments at all":    {object, ``, "Required parameter missing: n"},
		"null":                   {object, `null`, "Invalid type for parameter arguments: expected object, is null"},
		"wrong type":             {object, `{"n":"SECRET"}`, "Invalid type for parameter n: expected integer, is a string"},
		"a fraction":             {object, `{"n":1.5}`, "Invalid type for parameter n: expected integer, is 1.5"},
		"too small":              {object, `{"n":-5}`, "Validation failed: n must be at least 1, is -5"},
		"too large":              {object, `{"n":11}`, "Validation failed: n must be at most 9, is 11"},
		"a long number":          {object, `{"n":` + strings.Repeat("4", 200) + `}`, "Validation failed: n must be at most 9, is a number of 200 characters"},
		"pattern":                {object, `{"n":1,"s":"SECRET"}`, "Validation failed: s must match ^a+$, is a string of 6 characters"},
		"too long":               {object, `{"n":1,"s":"aaaaaaaaa"}`, "Validation failed: s must have at most 7 characters, has 9"},
		"enum":                   {object, `{"n":1,"e":"blue"}`, `Validation failed: e must be one of "red", "green", 7, is "blue"`},
		"enum, a long text":      {object, `{"n":1,"e":"a SECRET that is longer than any word"}`, `Validation failed: e must be one of "red", "green", 7, is a string of 37 characters`},
		"const":                  {object, `{"n":1,"c":true}`, `Validation failed: c must be "one", is true`},
		"an empty list":          {object, `{"n":1,"l":[]}`, "Validation failed: l must have at least 1 entries, has 0"},
		"a long list":            {object, `{"n":1,"l":[1,2,3]}`, "Validation failed: l must have at most 2 entries, has 3"},
		"the same twice":         {object, `{"n":1,"l":[1,1]}`, "Validation failed: l must have each entry once; entries 0 and 1 are equal"},
		"bounds of fractions":    {object, `{"n":1,"f":0.3}`, "Validation failed: f must be more than 0.5, is 0.3; f must be a multiple of 0.25, is 0.3"},
		"unknown":                {object, `{"n":1,"x1":"SECRET"}`, "Validation failed: x1 is unknown; there are c, deep, e, f, l, n, s"},
		"misspelt":               {object, `{"n":1,"dep":"SECRET"}`, "Validation failed: dep is unknown; did you mean deep?"},
		"deep inside":            {object, `{"n":1,"deep":{"list":[true,"SECRET"]}}`, "Invalid type for parameter deep.list.1: expected boolean, is a string"},
		"missing deep inside":    {object, `{"n":1,"deep":{}}`, "Required parameter missing: deep.list"},
		"all at once":            {object, `{"s":7,"e":"blue","deep":{},"x1":0}`, `Required parameter missing: n; deep.list is required; s must be a string, is a number; x1 is unknown; there are c, deep, e, f, l, n, s; e must be one of "red", "green", 7, is "blue"`},
		"no schema":              {"", `{"x":1}`, ""},
		"a schema that is true":  {`true`, `{"x":1}`, ""},
		"a schema that is false": {`false`, `{"x":1}`, "Validation failed: arguments is not allowed"},
		"draft 7, as most write": {`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `{}`, "Required parameter missing: a"},
		"draft 7, a format":      {`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"format":"date"}}}`, `{"a":"SECRET"}`, "Validation failed: a must be a valid date, is a string of 6 characters"},
		"2020-12 by name":        {`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["a"]}`, `{}`, "Required parameter missing: a"},
		"with definitions":       {`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"integer"}}}`, `{"a":"SECRET"}`, "Invalid type for parameter a: expected integer, is a string"},
		"either type":            {forms, `{"a":"SECRET"}`, "Invalid type for parameter a: expected integer or null, is a string"},
		"either value":           {forms, `{"b":"z"}`, `Validation failed: b must be one of "x", "y", is "z"`},
		"the nearest form":       {forms, `{"c":{"kind":"url"}}`, "Required parameter missing: c.url"},
		"none of the forms":      {forms, `{"c":7}`, "Invalid type for parameter c: expected object or string, is a number"},
		"two forms at once":      {forms, `{"d":3}`, "Validation failed: d fits several of the forms of which it must have one only"},
		"an excluded form":       {forms, `{"e":1}`, "Validation failed: e breaks the rule not of the schema"},
		"a field ruled out":      {forms, `{"f":1}`, "Validation failed: f is not allowed"},
		"fields that go with it": {`{"dependentRequired":{"a":["b","c"]}}`, `{"a":1}`, "Validation failed: arguments: a needs b, c beside it"},
		"recursive":              {`{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}},"additionalProperties":false}}}`, `{"next":{"next":{"x1":1}}}`, "Validation failed: next.next.x1 is unknown; there are next"},
	} {
		t.Run(name, func(t *testing.T) {
			err := check(t, &catalog.Validator{}, c.schema, c.arguments)
			if c.want == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if err == nil {
				t.Fatal("it was let through")
			}
			e := gateway.AsError(err)
			if e.Code != gateway.CodeInvalid || e.Text() != c.want {
				t.Errorf("got  %s: %s\nwant %s", e.Code, e.Text(), c.want)
			}
			if strings.Contains(err.Error(), "SECRET") {
				t.Errorf("the message repeats a text: %v", err)
			}
		})
	}
}

// TestProblems: programs get each problem by itself, with the words of ajv, which
// the seed's server validates with.
func TestProblems(t *testing.T) {
	err := check(t, &catalog.Validator{}, `{"properties":{"n":{"type":"integer","maximum":10},"s":{"type":["string","null"]},"o":{"properties":{"a/b":{"enum":["x","y"]}},"additionalProperties":false}},"required":["r"]}`,
		`{"n":11,"s":1,"o":{"a/b":"z","w":1}}`)
	e := gateway.AsError(err)
	var got strings.Builder
	for _, p := range e.Problems {
		params, err := json.Marshal(p.Params)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s | %s | %s | %s | %s\n", p.Field, p.Pointer, p.Keyword, params, p.Text)
	}
	want := `r |  | required | {"missingProperty":"r"} | r is required
s | /s | type | {"type":["string","null"]} | s must be a string or null, is a number
n | /n | maximum | {"comparison":"\u003c=","limit":10} | n must be at most 10, is 11
o.w | /o | additionalProperties | {"additionalProperty":"w"} | o.w is unknown; there are a/b
o.a/b | /o/a~1b | enum | {"allowedValues":["x","y"]} | o.a/b must be one of "x", "y", is "z"
`
	if got.String() != want || e.Field != "r" {
		t.Errorf("field %s, problems\n%s\nwant\n%s", e.Field, got.String(), want)
	}
}

// TestManyProblemsAreCounted: ten are told, and how many more there are.
func TestManyProblemsAreCounted(t *testing.T) {
	err := check(t, &catalog.Validator{}, `{"required":["a","b","c","d","e","f","g","h","i","j","k","l"]}`, `{}`)
	e := gateway.AsError(err)
	want := "Required parameter missing: a; b is required; c is required; d is required; e is required; f is required; g is required; h is required; i is required; j is required; and 2 more"
	if e.Text() != want || len(e.Problems) != gateway.MaxProblems {
		t.Errorf("%d problems, %s", len(e.Problems), e.Text())
	}
}

// TestToolsThatCheckThemselves: their arguments are not held against the schema.
func TestToolsThatCheckThemselves(t *testing.T) {
	tool := toolWith(`{"required":["a"]}`)
	tool.ChecksArguments = true
	p, err := jsonrpc.ScanParams([]byte(`{"name":"t","arguments":{"b":null}}`))
	if err != nil {
		t.Fatal(err)
	}
	reached := false
	_, err = (&catalog.Validator{}).Middleware(gateway.HandlerFunc(func(context.Context, *gateway.Call) (*gateway.Result, error) {
		reached = true
		return nil, nil
	})).Handle(t.Context(), &gateway.Call{Params: p, Tool: tool, Terms: gateway.Terms{Complete: true}})
	if err != nil || !reached {
		t.Errorf("reached %v, %v", reached, err)
	}
}

// TestValidationIsShort: however much is wrong, the message can be read.
func TestValidationIsShort(t *testing.T) {
	var many strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&many, `"key%d":"x",`, i)
	}
	arguments := "{" + strings.TrimSuffix(many.String(), ",") + "}"
	for name, schema := range map[string]string{
		"unknown":    `{"type":"object","additionalProperties":false}`,
		"wrong type": `{"type":"object","additionalProperties":{"type":"integer"}}`,
		"long name":  `{"type":"object","additionalProperties":false}`,
	} {
		args := arguments
		if name == "long name" {
			args = `{"` + strings.Repeat("k", 100_000) + `":1}`
		}
		err := check(t, &catalog.Validator{}, schema, args)
		if err == nil || len(err.Error()) > 2000 {
			t.Errorf("%s: the message has %d characters", name, len(fmt.Sprint(err)))
		}
	}
}

// TestUnusableSchemas: a schema that cannot be used is said so, and nothing is
// fetched for it.
func TestUnusableSchemas(t *testing.T) {
	for name, schema := range map[string]string{
		"an unknown type":       `{"type":"objekt"}`,
		"a reference outside":   `{"$ref":"https://example.com/schema.json"}`,
		"a reference to a file": `{"$ref":"file:///etc/hosts"}`,
		"a reference nowhere":   `{"$ref":"#/$defs/none"}`,
		"an unknown dialect":    `{"$schema":"https://example.com/dialect","type":"object"}`,
		"a bad pattern":         `{"type":"object","properties":{"a":{"pattern":"("}}}`,
		"no object":             `"object"`,
		"an enormous minimum":   `{"type":"object","properties":{"a":{"minimum":1e100000000}}}`,
		"an enormous length":    `{"type":"object","properties":{"a":{"minLength":1e100000000}}}`,
		"a tiny divisor":        `{"type":"object","properties":{"a":{"multipleOf":1e-100000000}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			err := check(t, &catalog.Validator{}, schema, `{}`)
			if err == nil {
				t.Fatal("it was used")
			}
			if e := gateway.AsError(err); e.Code != gateway.CodeInvalid || !strings.Contains(e.Text(), "validate: false") {
				t.Errorf("%s: %s", e.Code, e.Text())
			}
		})
	}
}

// TestHostileArguments: a number may be short to write and enormous to hold.
// Checking it must neither panic nor take long: one call must not stop all.
func TestHostileArguments(t *testing.T) {
	const schema = `{"type":"object","properties":{"n":{"type":"integer","minimum":0,"maximum":10,"multipleOf":2},"f":{"type":"number","minimum":0},"m":{"multipleOf":0.1},"x":{"const":5},"u":{"type":"array","uniqueItems":true}}}`
	for _, arguments := range []string{
		`{"n":1e400}`, `{"n":1e100000}`, `{"n":1e100000000}`, `{"n":-1e999999999}`, `{"n":1e99999999999999999999}`,
		`{"f":1e100000000}`, `{"f":-1e999999}`, `{"m":1e100000000}`, `{"m":1e-999999}`, `{"n":1e-100000000}`, `{"n":1e-99999999999999999999}`, `{"x":1e100000000}`, `{"u":[1e100000000,1e100000001]}`,
		`{"deep":{"er":[[1E+100000000]]}}`, `{"n":` + strings.Repeat("9", 200_000) + `}`,
		`{"u":[1` + strings.Repeat(",1e999999", 10_000) + `]}`,
	} {
		done := make(chan error, 1)
		go func() {
			defer func() {
				if p := recover(); p != nil {
					done <- fmt.Errorf("panic: %v", p)
				}
			}()
			err := check(t, &catalog.Validator{}, schema, arguments)
			var e *gateway.Error
			if err != nil && !errors.As(err, &e) {
				done <- fmt.Errorf("not an error of ours: %w", err)
				return
			}
			done <- nil
		}()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("%.40s: %v", arguments, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%.40s: the check took longer than ten seconds", arguments)
		}
	}
}

// TestValidatorMiddleware: only tools that ask for it are checked, and a schema
// is compiled once however many call at the same time.
func TestValidatorMiddleware(t *testing.T) {
	v := &catalog.Validator{}
	reached := 0
	var mu sync.Mutex
	h := v.Middleware(gateway.HandlerFunc(func(context.Context, *gateway.Call) (*gateway.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		reached++
		return &gateway.Result{Raw: []byte("{}")}, nil
	}))
	call := func(tool *gateway.Tool, arguments string) error {
		p, err := jsonrpc.ScanParams([]byte(`{"name":"t","arguments":` + arguments + `}`))
		if err != nil {
			t.Error(err)
		}
		_, err = h.Handle(context.Background(), &gateway.Call{Params: p, Tool: tool})
		return err
	}
	strict := toolWith(`{"type":"object","required":["a"]}`)
	lax := *strict
	lax.Validate = false
	if err := call(&lax, `{}`); err != nil || reached != 1 {
		t.Errorf("a tool that is not checked: %v", err)
	}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if call(strict, `{}`) == nil {
				t.Error("a call that does not fit went through")
			}
			if err := call(strict, `{"a":1}`); err != nil {
				t.Errorf("a call that fits: %v", err)
			}
		})
	}
	wg.Wait()
	if reached != 51 {
		t.Errorf("%d calls went through, want 51", reached)
	}
}

// TestComplete: what is missing and has a default is filled in, everything else
// keeps its bytes.
func TestComplete(t *testing.T) {
	const schema = `{"type":"object","properties":{"n":{"type":"integer","default":1.0},"s":{"type":"string"},` +
		`"none":{"type":"string","default":null},"o":{"type":"object","properties":{"deep":{"default":["é"]}}}},"required":["n"]}`
	for name, c := range map[string]struct{ schema, arguments, want, field string }{
		"filled":              {schema, `{ "s" : "<a>" }`, `{"s":"<a>","n":1.0}`, ""},
		"no arguments":        {schema, ``, `{"n":1.0}`, ""},
		"nothing to fill":     {schema, `{ "n" : 2 , "x":1.50}`, `{ "n" : 2 , "x":1.50}`, ""},
		"deep inside":         {schema, `{"n":2,"o":{ }}`, `{"n":2,"o":{"deep":["é"]}}`, ""},
		"a wrong default":     {`{"type":"object","properties":{"a":{"type":"string","default":1}}}`, `{"b":2}`, `{"b":2}`, ""},
		"a schema out of use": {`{"$ref":"http://elsewhere.example/"}`, `{"b":2}`, `{"b":2}`, ""},
		"no schema":           {``, `{"b":2}`, `{"b":2}`, ""},
		"wrong":               {schema, `{"s":7}`, ``, "s"},
		"wrong deep inside":   {`{"properties":{"o":{"properties":{"p":{"type":"string"}}}}}`, `{"o":{"p":1}}`, ``, "o.p"},
		"missing":             {`{"required":["a","b"]}`, `{}`, ``, "a"},
		"unknown":             {`{"additionalProperties":false}`, `{"x":1}`, ``, "x"},
		"twice":               {schema, `{"s":"a","s":"b"}`, ``, ""},
	} {
		t.Run(name, func(t *testing.T) {
			params := `{"name":"t","arguments":` + c.arguments + `}`
			if c.arguments == "" {
				params = `{"name":"t"}`
			}
			p, err := jsonrpc.ScanParams([]byte(params))
			if err != nil {
				t.Fatal(err)
			}
			tool := toolWith(c.schema)
			tool.Validate = false
			call := &gateway.Call{Params: p, Tool: tool, Terms: gateway.Terms{Complete: true}}
			reached := false
			v := &catalog.Validator{}
			_, err = v.Middleware(gateway.HandlerFunc(func(context.Context, *gateway.Call) (*gateway.Result, error) {
				reached = true
				return nil, nil
			})).Handle(t.Context(), call)
			if reached != (c.want != "") || reached == (err != nil) {
				t.Fatalf("reached %v, %v", reached, err)
			}
			if err != nil {
				if e := gateway.AsError(err); e.Code != gateway.CodeInvalid || e.Field != c.field {
					t.Errorf("field %q: %v", e.Field, err)
				}
				return
			}
			if got := string(call.Params.Get(call.Params.Arguments)); got != c.want {
				t.Errorf("the tool gets %s, want %s", got, c.want)
			}
		})
	}
}
