package catalog_test

import (
	"context"
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

// TestValidation: the message names the field and what is wrong with it, and
// repeats nothing of what the caller sent but names.
func TestValidation(t *testing.T) {
	const object = `{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":9},"s":{"type":"string","pattern":"^a+$","maxLength":3},"e":{"enum":["red","green"]},"deep":{"type":"object","properties":{"list":{"type":"array","items":{"type":"boolean"}}}}},"required":["n"],"additionalProperties":false}`
	for name, c := range map[string]struct{ schema, arguments, want string }{
		"fits":                   {object, `{"n":1,"s":"aa","e":"red","deep":{"list":[true,false]}}`, ""},
		"fits as a float":        {object, `{"n":1.0}`, ""},
		"missing":                {object, `{}`, "arguments: required but missing: n"},
		"no arguments at all":    {object, ``, "arguments: required but missing: n"},
		"null":                   {object, `null`, "arguments: must be object, is null"},
		"wrong type":             {object, `{"n":"SECRET"}`, "n: must be integer, is string"},
		"a fraction":             {object, `{"n":1.5}`, "n: must be integer, is number"},
		"too small":              {object, `{"n":-424242}`, "n: breaks minimum"},
		"too large":              {object, `{"n":424242}`, "n: breaks maximum"},
		"pattern":                {object, `{"n":1,"s":"SECRET"}`, "s: must match ^a+$"},
		"too long":               {object, `{"n":1,"s":"aaaaaaaaaSECRET"}`, "s: breaks maxLength"},
		"enum":                   {object, `{"n":1,"e":"SECRET"}`, "e: must be one of [red green]"},
		"unknown":                {object, `{"n":1,"nn":"SECRET"}`, "arguments: unknown: nn"},
		"deep inside":            {object, `{"n":1,"deep":{"list":[true,"SECRET"]}}`, "deep.list.1: must be boolean, is string"},
		"no schema":              {"", `{"x":1}`, ""},
		"a schema that is true":  {`true`, `{"x":1}`, ""},
		"a schema that is false": {`false`, `{"x":1}`, "arguments: breaks"},
		"draft 7, as most write": {`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `{}`, "required but missing: a"},
		"2020-12 by name":        {`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["a"]}`, `{}`, "required but missing: a"},
		"with definitions":       {`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"integer"}}}`, `{"a":"SECRET"}`, "a: must be integer, is string"},
		"either":                 {`{"type":"object","properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}`, `{"a":"SECRET"}`, "a: must be integer, is string; a: must be null, is string"},
		"recursive":              {`{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}},"additionalProperties":false}}}`, `{"next":{"next":{"x":1}}}`, "next.next: unknown: x"},
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
			if e.Code != gateway.CodeInvalid || !strings.Contains(e.Text(), c.want) || !strings.Contains(e.Text(), "s__t") {
				t.Errorf("got  %s: %s\nwant %s", e.Code, e.Text(), c.want)
			}
			for _, value := range []string{"SECRET", "424242"} {
				if strings.Contains(err.Error(), value) {
					t.Errorf("the message repeats a value: %v", err)
				}
			}
		})
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
