package catalog_test

import (
	"encoding/json"
	"testing"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

func TestParameters(t *testing.T) {
	for property, want := range map[string]string{
		`{"type":"string","description":"d","default":"x","pattern":"^x$"}`: `string "d" default "x" pattern ^x$`,
		`{"type":"integer","minimum":1,"maximum":1e2}`:                      `number "" minimum 1 maximum 1e2`,
		`{"type":["string","null"]}`:                                        `string ""`,
		`{"type":["integer","number"]}`:                                     `number ""`,
		`{"type":["string","number"]}`:                                      `any ""`,
		`{"anyOf":[{"type":"boolean"},{"type":"null"}],"default":null}`:     `boolean "" default null`,
		`{"anyOf":[{"type":"boolean"},{"type":"string"}]}`:                  `any ""`,
		`{"enum":["a","b"]}`:                                                `string "" enum "a","b"`,
		`{"enum":["a",1]}`:                                                  `any "" enum "a",1`,
		`{"const":1}`:                                                       `number ""`,
		`{"items":{}}`:                                                      `array ""`,
		`{"properties":{}}`:                                                 `object ""`,
		`{"$ref":"#/$defs/r","description":"own"}`:                          `array "own"`,
		`{"$ref":"#/$defs/nowhere"}`:                                        `any ""`,
		`{}`:                                                                `any ""`,
	} {
		s := source("s")
		s.set(`{"name":"t","inputSchema":{"type":"object","properties":{"p":` + property +
			`,"q":{"type":"string"}},"required":["q"],"$defs":{"r":{"type":"array","description":"theirs"}}}}`)
		got := catalog.Parameters(newCatalog(0, mount(s, "")).Snapshot().Tools()[0])
		if len(got) != 2 || got[0].Name != "p" || got[0].Required || got[1].Name != "q" || !got[1].Required {
			t.Errorf("%s: %+v", property, got)
			continue
		}
		if text := describeParameter(got[0]); text != want {
			t.Errorf("%s is %s, want %s", property, text, want)
		}
	}
}

func describeParameter(p catalog.Parameter) string {
	quoted, _ := json.Marshal(p.Description)
	text := p.Type + " " + string(quoted)
	for _, one := range []struct {
		word string
		raw  json.RawMessage
	}{{"default", p.Default}, {"minimum", p.Minimum}, {"maximum", p.Maximum}} {
		if one.raw != nil {
			text += " " + one.word + " " + string(one.raw)
		}
	}
	if p.Pattern != "" {
		text += " pattern " + p.Pattern
	}
	for i, value := range p.Enum {
		if i == 0 {
			text += " enum "
		} else {
			text += ","
		}
		text += string(value)
	}
	return text
}

func TestParametersOfOddSchemas(t *testing.T) {
	for definition, want := range map[string]int{
		`{"name":"t"}`: 0,
		`{"name":"t","inputSchema":{"type":"object","properties":{"a":true}}}`:                  1,
		`{"name":"t","inputSchema":{"type":"object","anyOf":[{"properties":{"a":{},"b":{}}}]}}`: 2,
	} {
		s := source("s")
		s.set(definition)
		if got := catalog.Parameters(newCatalog(0, mount(s, "")).Snapshot().Tools()[0]); len(got) != want {
			t.Errorf("%s: %+v", definition, got)
		}
	}
	if got := catalog.Parameters(&gateway.Tool{}); got != nil {
		t.Errorf("no definition: %+v", got)
	}
}

// Whatever a schema is, it can be looked at, and what is filled in is JSON.
func FuzzSchemasOfParameters(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"default":1},"b":{"$ref":"#/$defs/x"}},"$defs":{"x":{"anyOf":[{"enum":[1]}]}}}`, `{"b":{}}`)
	f.Add(`{"properties":{"a":{"properties":{"b":{"default":{}}}}}}`, `{"a":{ }}`)
	f.Add(`[]`, `null`)
	f.Fuzz(func(t *testing.T, schema, arguments string) {
		if !json.Valid([]byte(schema)) || !json.Valid([]byte(arguments)) {
			return
		}
		s := source("s")
		s.set(`{"name":"t","inputSchema":` + schema + `}`)
		for _, tool := range newCatalog(0, mount(s, "")).Snapshot().Tools() {
			for _, p := range catalog.Parameters(tool) {
				if p.Type == "" {
					t.Errorf("%q has no type", p.Name)
				}
			}
			params, err := jsonrpc.ScanParams([]byte(`{"name":"t","arguments":` + arguments + `}`))
			if err != nil {
				continue
			}
			call := &gateway.Call{Params: params, Tool: tool, Terms: gateway.Terms{Complete: true}}
			if (&catalog.Validator{}).Complete(call) == nil && !json.Valid(call.Params.Raw) {
				t.Errorf("the arguments became %s", call.Params.Raw)
			}
		}
	})
}
