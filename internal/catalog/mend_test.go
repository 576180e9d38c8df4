package catalog_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
)

// shown is what clients of an era see of the only tool.
func shown(t *gateway.Tool, era gateway.Era) string {
	if era == gateway.EraLegacy && t.Legacy != nil {
		return string(t.Legacy)
	}
	return string(t.Definition)
}

const object = `{"type":"object"}`

// In both eras an input schema must be an object with "type": "object"; in the
// legacy era nothing else may stand at its first level that says what fits.
func TestMendedInputSchemas(t *testing.T) {
	for name, c := range map[string]struct{ schema, modern, legacy string }{
		"null":                  {`null`, object, object},
		"true":                  {`true`, object, object},
		"empty":                 {`{}`, object, object},
		"an empty PHP array":    {`[]`, object, object},
		"no type":               {`{"properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`, ""},
		"a type of null":        {`{"type":null,"a":1}`, `{"type":"object","a":1}`, ""},
		"several types":         {`{"a":1,"type":["null","object"]}`, `{"a":1,"type":"object"}`, ""},
		"properties of PHP":     {`{"type":"object","properties":[]}`, object, object},
		"properties of null":    {`{"type":"object","properties":null}`, object, object},
		"properties that are":   {`{"type":"object","properties":{"a":true,"b":false,"c":null,"d":{"x":1.50}}}`, `{"type":"object","properties":{"a":{},"b":{"not":{}},"c":{},"d":{"x":1.50}}}`, ""},
		"required as a word":    {`{"type":"object","required":true}`, object, object},
		"required with a hole":  {`{"type":"object","required":["a",null,"b"]}`, `{"type":"object","required":["a","b"]}`, ""},
		"a network reference":   {`{"$ref":"https://example.com/s.json"}`, `{"type":"object","$ref":"https://example.com/s.json"}`, ""},
		"a missing reference":   {`{"$ref":"#/$defs/gone"}`, `{"type":"object","$ref":"#/$defs/gone"}`, ""},
		"a condition":           {`{"type":"object","if":{"required":["a"]},"then":{"required":["b"]}}`, `{"type":"object","if":{"required":["a"]},"then":{"required":["b"]}}`, ""},
		"a combination deeper":  {`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, ""},
		"a whole reference":     {`{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","description":"x","properties":{"a":{}},"required":["a"],"additionalProperties":false}}}`, `{"type":"object","$ref":"#/$defs/A","$defs":{"A":{"type":"object","description":"x","properties":{"a":{}},"required":["a"],"additionalProperties":false}}}`, `{"$defs":{"A":{"type":"object","description":"x","properties":{"a":{}},"required":["a"],"additionalProperties":false}},"type":"object","description":"x","additionalProperties":false,"properties":{"a":{}},"required":["a"]}`},
		"a reference, escaped":  {`{"type":"object","$ref":"#/definitions/a~1b%20c","definitions":{"a/b c":{"required":["x"]}}}`, `{"type":"object","$ref":"#/definitions/a~1b%20c","definitions":{"a/b c":{"required":["x"]}}}`, `{"type":"object","definitions":{"a/b c":{"required":["x"]}},"required":["x"]}`},
		"a reference to itself": {`{"type":"object","$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/A","required":["x"]}}}`, `{"type":"object","$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/A","required":["x"]}}}`, `{"type":"object","$defs":{"A":{"$ref":"#/$defs/A","required":["x"]}},"required":["x"]}`},
		"alternatives": {
			`{"type":"object","anyOf":[{"properties":{"a":{"type":"string"},"k":{"const":1}},"required":["a","k"]},{"properties":{"b":{},"k":{"const":2}},"required":["k","b"]}]}`,
			`{"type":"object","anyOf":[{"properties":{"a":{"type":"string"},"k":{"const":1}},"required":["a","k"]},{"properties":{"b":{},"k":{"const":2}},"required":["k","b"]}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"k":{"anyOf":[{"const":1},{"const":2}]},"b":{}},"required":["k"]}`,
		},
		"alternatives without a type": {
			`{"oneOf":[{"type":"object","properties":{"a":{}},"required":["a"]},{"type":"null"}]}`,
			`{"type":"object","oneOf":[{"type":"object","properties":{"a":{}},"required":["a"]},{"type":"null"}]}`,
			`{"type":"object","properties":{"a":{}},"required":["a"]}`,
		},
		"alternatives of what is required": {
			`{"type":"object","properties":{"a":{},"b":{}},"required":["c"],"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{},"b":{}},"required":["c"],"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{},"b":{}},"required":["c"]}`,
		},
		"an alternative that is anything": {
			`{"type":"object","anyOf":[{"required":["a"]},true]}`,
			`{"type":"object","anyOf":[{"required":["a"]},true]}`,
			object,
		},
		"all of": {
			`{"type":"object","properties":{"own":{"x":1}},"required":["own"],"allOf":[{"properties":{"a":{"minimum":1},"own":{}},"required":["a"]},{"$ref":"#/$defs/B"}],"$defs":{"B":{"properties":{"a":{"maximum":9}},"required":["b","a"]}}}`,
			`{"type":"object","properties":{"own":{"x":1}},"required":["own"],"allOf":[{"properties":{"a":{"minimum":1},"own":{}},"required":["a"]},{"$ref":"#/$defs/B"}],"$defs":{"B":{"properties":{"a":{"maximum":9}},"required":["b","a"]}}}`,
			`{"type":"object","properties":{"own":{"x":1},"a":{"allOf":[{"minimum":1},{"maximum":9}]}},"required":["own","a","b"],"$defs":{"B":{"properties":{"a":{"maximum":9}},"required":["b","a"]}}}`,
		},
		"combinations in combinations": {
			`{"type":"object","allOf":[{"anyOf":[{"required":["a","c"]},{"oneOf":[{"required":["b","c"]},{"required":["c"]}]}]}]}`,
			`{"type":"object","allOf":[{"anyOf":[{"required":["a","c"]},{"oneOf":[{"required":["b","c"]},{"required":["c"]}]}]}]}`,
			`{"type":"object","required":["c"]}`,
		},
		"the rest": {
			`{"type":"object","not":{"required":["x"]},"enum":[{}],"const":{},"unevaluatedProperties":false,"additionalProperties":false}`,
			`{"type":"object","not":{"required":["x"]},"enum":[{}],"const":{},"unevaluatedProperties":false,"additionalProperties":false}`,
			`{"type":"object","additionalProperties":false}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.legacy == "" {
				c.legacy = c.modern
			}
			const around = `{ "name" : "t" ,"inputSchema": %s , "_meta":{"n":1.0}}`
			raw := fmt.Sprintf(around, c.schema)
			tool, findings := only(t, raw, false)
			if tool == nil {
				t.Fatal(findings)
			}
			if got, want := shown(tool, gateway.EraModern), fmt.Sprintf(around, c.modern); got != want {
				t.Errorf("modern clients see\n%s, want\n%s", got, want)
			}
			if got, want := shown(tool, gateway.EraLegacy), fmt.Sprintf(around, c.legacy); got != want {
				t.Errorf("legacy clients see\n%s, want\n%s", got, want)
			}
			if changed := c.modern != c.schema || c.legacy != c.schema; changed != (len(findings) == 1) {
				t.Errorf("the findings are %v", findings)
			}
			// Arguments are checked against the server's own word.
			if string(tool.InputSchema) != c.schema {
				t.Errorf("the validator sees %s", tool.InputSchema)
			}
		})
	}
	t.Run("missing", func(t *testing.T) {
		tool, findings := only(t, `{"name":"t" }`, false)
		if want := `{"name":"t" ,"inputSchema":{"type":"object"}}`; string(tool.Definition) != want || tool.Legacy != nil || len(findings) != 1 {
			t.Errorf("it became %s, %s, %v", tool.Definition, tool.Legacy, findings)
		}
	})
}

// A tool that cannot be called with an object is left out alone.
func TestToolsThatCannotBeMended(t *testing.T) {
	for _, definition := range []string{
		`{"name":"t","inputSchema":false}`,
		`{"name":"t","inputSchema":"string"}`,
		`{"name":"t","inputSchema":[{"type":"object"}]}`,
		`{"name":"t","inputSchema":{"type":"string"}}`,
		`{"name":"t","inputSchema":{"type":["string","null"]}}`,
		`{"name":"t","inputSchema":{"type":[]}}`,
		`{"name":"t","inputSchema":{"anyOf":[{"type":"string"},{"type":"array"},false]}}`,
		`{"name":"t","inputSchema":{"type":"object","allOf":[{"type":"string"}]}}`,
		`{"name":"t","inputSchema":{"$ref":"#/$defs/s","$defs":{"s":{"type":"string"}}}}`,
		`{"name":"t","inputSchema":{"type":"object"},"inputSchema":{"type":"string"}}`,
		`{"name":"t","inputSchema":{"type":"object"},"outputSchema":{},"outputSchem\u0061":{}}`,
	} {
		var log logBuffer
		s := source("s", "before")
		s.add("t", definition)
		s.add("after", `{"name":"after","inputSchema":{"type":"object"}}`)
		c := newCatalogWithLog(&log, 0, mount(s, ""))
		if got := names(c); got != "before after" {
			t.Errorf("%s: the tools are %s", definition, got)
		}
		f := c.Snapshot().Findings()
		if len(f) != 1 || !f[0].LeftOut || f[0].Server != "s" || f[0].Name != "t" || len(f[0].Notes) != 1 {
			t.Errorf("%s: the findings are %v", definition, f)
		}
		if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "tool_name=t") {
			t.Errorf("%s: the log says %q", definition, log.String())
		}
	}
}

// TestOriginalSchemas: combinations stay for everybody where that is wanted.
// What a version does not know as a tool is mended or left out all the same.
func TestOriginalSchemas(t *testing.T) {
	const (
		either   = `{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}],"$ref":"#/$defs/A","$defs":{"A":{"type":"object"}}}`
		untyped  = `{"oneOf":[{"required":["a"]},{"required":["b"]}]}`
		typed    = `{"type":"object","oneOf":[{"required":["a"]},{"required":["b"]}]}`
		anyValue = `{"anyOf":[{"type":"object"},{"type":"array"}]}`
	)
	for name, c := range map[string]struct{ definition, modern, legacy string }{
		"in":               {`{"name":"t","inputSchema":` + either + `}`, "=", "="},
		"in, without type": {`{"name":"t","inputSchema":` + untyped + `}`, `{"name":"t","inputSchema":` + typed + `}`, `{"name":"t","inputSchema":` + typed + `}`},
		"out":              {`{"name":"t","inputSchema":{"type":"object"},"outputSchema":` + either + `}`, "=", "="},
		"out, without type": {
			`{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"allOf":[{"type":"object"}]}}`, "=",
			`{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","allOf":[{"type":"object"}]}}`,
		},
		"out, of anything": {`{"name":"t","inputSchema":{"type":"object"},"outputSchema":` + anyValue + `}`, "=", `{"name":"t","inputSchema":{"type":"object"}}`},
		"no object":        {`{"name":"t","inputSchema":{"anyOf":[{"type":"string"}]}}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := source("s")
			s.add("t", c.definition)
			snapshot := newCatalog(0, catalog.Mount{Source: s, OriginalSchemas: true}).Snapshot()
			tool, ok := snapshot.Tool("t")
			if c.modern == "" {
				if ok || len(snapshot.Findings()) != 1 {
					t.Errorf("it is listed: %v", snapshot.Findings())
				}
				return
			}
			if !ok {
				t.Fatal(snapshot.Findings())
			}
			for era, want := range map[gateway.Era]string{gateway.EraModern: c.modern, gateway.EraLegacy: c.legacy} {
				if want == "=" {
					want = c.definition
				}
				if got := shown(tool, era); got != want {
					t.Errorf("clients of era %v see\n%s, want\n%s", era, got, want)
				}
			}
			if untouched := c.modern == "=" && c.legacy == "="; untouched != (len(snapshot.Findings()) == 0) {
				t.Errorf("the findings are %v", snapshot.Findings())
			}
		})
	}
}

// An output schema is anything in the modern era, that of an object in the
// legacy one, and can be done without.
func TestMendedOutputSchemas(t *testing.T) {
	for name, c := range map[string]struct{ schema, modern, legacy string }{
		"good":                {`{"type":"object","properties":{"a":{}}}`, "=", "="},
		"null":                {`null`, "", ""},
		"true":                {`true`, "", ""},
		"of an array":         {`{"type":"array"}`, "=", ""},
		"of anything":         {`{}`, "=", ""},
		"of several":          {`{"type":["object","array"]}`, "=", ""},
		"of either":           {`{"anyOf":[{"type":"object"},{"type":"array"}]}`, "=", ""},
		"of an object by ref": {`{"$ref":"#/$defs/A","$defs":{"A":{"type":"object"}}}`, "=", `{"$defs":{"A":{"type":"object"}},"type":"object"}`},
		"of a list by ref":    {`{"$ref":"#/$defs/A","$defs":{"A":{"type":"array"}}}`, "=", ""},
		"elsewhere":           {`{"$ref":"https://example.com/s"}`, "=", ""},
		"or null":             {`{"type":["object","null"],"properties":{}}`, "=", `{"type":"object","properties":{}}`},
		"without a type":      {`{"properties":{"a":true}}`, "=", `{"type":"object","properties":{"a":{}}}`},
		"one in all of":       {`{"allOf":[{},{"type":"object"}]}`, "=", object},
		// A property of one alternative may be anything in the other.
		"alternatives": {
			`{"anyOf":[{"properties":{"a":{"type":"string"},"k":{"const":1}}},{"properties":{"k":{"const":2}}}]}`, "=",
			`{"type":"object","properties":{"k":{"anyOf":[{"const":1},{"const":2}]}}}`,
		},
		"alternatives that are closed": {
			`{"oneOf":[{"properties":{"a":{"x":1}},"additionalProperties":false},{"properties":{"b":{}},"additionalProperties":false}]}`, "=",
			`{"type":"object","properties":{"a":{"x":1},"b":{}}}`,
		},
	} {
		for place, around := range map[string]string{
			"first": `{"outputSchema":@ , "name":"t","inputSchema":{"type":"object"}}`,
			"last":  `{"name":"t","inputSchema":{"type":"object"} ,"outputSchema": @ }`,
		} {
			t.Run(name+", "+place, func(t *testing.T) {
				tool, findings := only(t, strings.Replace(around, "@", c.schema, 1), false)
				if tool == nil {
					t.Fatal(findings)
				}
				for era, want := range map[gateway.Era]string{gateway.EraModern: c.modern, gateway.EraLegacy: c.legacy} {
					if want == "=" {
						want = c.schema
					}
					whole := strings.Replace(around, "@", want, 1)
					if want == "" && place == "first" {
						whole = `{"name":"t","inputSchema":{"type":"object"}}`
					} else if want == "" {
						whole = `{"name":"t","inputSchema":{"type":"object"} }`
					}
					if got := shown(tool, era); got != whole {
						t.Errorf("%s clients see\n%s, want\n%s", era, got, whole)
					}
				}
			})
		}
	}
}

// The eras have pages of their own where a definition must differ, and the
// list's name tells of both.
func TestMendedPages(t *testing.T) {
	s := source("s", "plain")
	const schema = `{"type":"object","anyOf":[{"required":["a"]}]}`
	s.add("t", `{"name":"t","inputSchema":`+schema+`}`)
	c := newCatalog(1, mount(s, ""))
	first, err := c.Page(gateway.KindTool, "")
	if err != nil {
		t.Fatal(err)
	}
	_, next := onPage(t, first)
	second, err := c.Page(gateway.KindTool, next)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"tools":[{"name":"t","inputSchema":{"type":"object","required":["a"]}}]}`; string(second.Legacy) != want {
		t.Errorf("legacy clients see %s", second.Legacy)
	}
	if !strings.HasPrefix(string(second.Modern), `{"tools":[{"name":"t","inputSchema":`+schema+`}],"resultType"`) {
		t.Errorf("modern clients see %s", second.Modern)
	}
}

// strict reads a legacy list as the TypeScript SDK does, where one tool that is
// wrong fails the whole: type must be "object", properties must be objects,
// required must be texts, an output schema the same. Model providers want no
// combinations besides.
func strict(definition []byte) error {
	type schema struct {
		Type       string                    `json:"type"`
		Properties map[string]map[string]any `json:"properties"`
		Required   []string                  `json:"required"`
	}
	var tool struct {
		InputSchema  *schema `json:"inputSchema"`
		OutputSchema *schema `json:"outputSchema"`
	}
	if err := json.Unmarshal(definition, &tool); err != nil {
		return err
	}
	var loose map[string]any
	_ = json.Unmarshal(definition, &loose)
	for key, s := range map[string]*schema{"inputSchema": tool.InputSchema, "outputSchema": tool.OutputSchema} {
		value, there := loose[key]
		if !there && key == "outputSchema" {
			continue
		}
		if s == nil || s.Type != "object" {
			return fmt.Errorf("%s has no type object", key)
		}
		first := value.(map[string]any)
		for name, property := range s.Properties {
			if property == nil {
				return fmt.Errorf("%s: property %q is no object", key, name)
			}
		}
		for _, word := range []string{"properties", "required"} {
			if value, there := first[word]; there && value == nil {
				return fmt.Errorf("%s: %s is null", key, word)
			}
		}
		for _, word := range []string{"anyOf", "oneOf", "allOf", "not", "enum", "const"} {
			if _, there := first[word]; there {
				return fmt.Errorf("%s has %s", key, word)
			}
		}
	}
	return nil
}

// Whatever servers send, what clients see is what strict ones take, and mending
// it again changes nothing.
func FuzzMend(f *testing.F) {
	for _, seed := range []string{
		`null`, `true`, `{}`, `{"type":["object"]}`, `{"anyOf":[{"type":"object","properties":{"a":{}}},{"required":["b"]}]}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"oneOf":[{"$ref":"#/$defs/a"},{"type":"object"}]}}}`,
		`{"properties":{"a":true,"b":[]},"required":[1,"a"],"type":"object","type":null}`,
		`{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}`,
		"{\"\\u0074ype\":\"\\u006fbject\",\"not\":{} }",
	} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, input, output string) {
		raw := `{"name":"t","inputSchema":` + input + `,"outputSchema":` + output + `}`
		if !json.Valid([]byte(raw)) {
			t.Skip()
		}
		tool, findings := only(t, raw, false)
		if tool == nil {
			if len(findings) != 1 || !findings[0].LeftOut {
				t.Errorf("left out without a word: %v", findings)
			}
			return
		}
		for _, era := range []gateway.Era{gateway.EraLegacy, gateway.EraModern} {
			definition := shown(tool, era)
			if !json.Valid([]byte(definition)) {
				t.Fatalf("%s became %s", raw, definition)
			}
			if era == gateway.EraLegacy {
				if err := strict([]byte(definition)); err != nil {
					t.Errorf("%s became %s: %v", raw, definition, err)
				}
			}
			again, _ := only(t, definition, false)
			if again == nil || shown(again, era) != definition {
				t.Errorf("%s became %s, and then %v", raw, definition, again)
			}
		}
	})
}

// What fits the original fits the mended schema: exactly so for results, which
// clients check, and for arguments where alternatives are closed.
func TestMendedSchemasAreWider(t *testing.T) {
	compile := func(tb rapid.TB, raw string) *jsonschema.Schema {
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(raw))
		if err != nil {
			tb.Fatalf("%s: %v", raw, err)
		}
		c := jsonschema.NewCompiler()
		c.DefaultDraft(jsonschema.Draft2020)
		if err := c.AddResource("s.json", document); err != nil {
			tb.Fatalf("%s: %v", raw, err)
		}
		s, err := c.Compile("s.json")
		if err != nil {
			tb.Fatalf("%s: %v", raw, err)
		}
		return s
	}
	rapid.Check(t, func(t *rapid.T) {
		closed := rapid.Bool().Draw(t, "closed")
		raw := randomSchema(t, 3, closed)
		raw = strings.TrimSuffix(raw, "}") + `,"type":"object","$defs":{"D":` + randomSchema(t, 1, closed) + `}}`
		definition := `{"name":"t","inputSchema":` + raw + `,"outputSchema":` + raw + `}`
		s := source("s")
		s.add("t", definition)
		tool, ok := newCatalog(0, mount(s, "")).Snapshot().Tool("t")
		if !ok {
			return
		}
		original := compile(t, raw)
		var mended struct {
			InputSchema, OutputSchema json.RawMessage
		}
		if err := json.Unmarshal([]byte(shown(tool, gateway.EraLegacy)), &mended); err != nil {
			t.Fatal(err)
		}
		against := map[string]json.RawMessage{"output": mended.OutputSchema}
		if closed {
			against["input"] = mended.InputSchema
		}
		for range 20 {
			instance := map[string]any{}
			for _, name := range []string{"a", "b", "c"} {
				switch rapid.IntRange(0, 3).Draw(t, name) {
				case 1:
					instance[name] = "text"
				case 2:
					instance[name] = json.Number("7")
				case 3:
					instance[name] = true
				}
			}
			if original.Validate(instance) != nil {
				continue
			}
			for name, schema := range against {
				if schema == nil {
					continue
				}
				if err := compile(t, string(schema)).Validate(instance); err != nil {
					t.Fatalf("%v fits %s, but not the %s %s: %v", instance, raw, name, schema, err)
				}
			}
		}
	})
}

// randomSchema is a schema of objects with combinations. Closed ones let only
// their own properties through wherever they are alternatives.
func randomSchema(t *rapid.T, depth int, closed bool) string {
	var b bytes.Buffer
	b.WriteString(`{"title":"x"`)
	property := rapid.SampledFrom([]string{`{"type":"string"}`, `{"type":"integer"}`, `{"type":["string","boolean"]}`, `{}`, `true`, `false`})
	var properties []string
	for _, name := range []string{"a", "b", "c"} {
		if rapid.Bool().Draw(t, "has "+name) {
			properties = append(properties, fmt.Sprintf("%q:%s", name, property.Draw(t, name)))
		}
	}
	fmt.Fprintf(&b, `,"properties":{%s}`, strings.Join(properties, ","))
	if rapid.IntRange(0, 3).Draw(t, "required") == 0 {
		fmt.Fprintf(&b, `,"required":[%q]`, rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"))
	}
	if rapid.IntRange(0, 9).Draw(t, "patterns") == 0 && !closed {
		b.WriteString(`,"patternProperties":{"^a":{"type":"string"}}`)
	}
	if closed && depth < 3 || rapid.IntRange(0, 9).Draw(t, "strict") == 0 {
		b.WriteString(`,"additionalProperties":false`)
	}
	if rapid.IntRange(0, 9).Draw(t, "unevaluated") == 0 {
		b.WriteString(`,"unevaluatedProperties":false`)
	}
	if depth > 0 {
		for _, word := range []string{"anyOf", "oneOf", "allOf"} {
			if rapid.IntRange(0, 2).Draw(t, word) > 0 {
				continue
			}
			branches := []string{randomSchema(t, depth-1, closed)}
			for range rapid.IntRange(0, 2).Draw(t, "branches") {
				branches = append(branches, rapid.SampledFrom([]string{`{"type":"null"}`, randomSchema(t, depth-1, closed)}).Draw(t, "branch"))
			}
			fmt.Fprintf(&b, `,%q:[%s]`, word, strings.Join(branches, ","))
		}
		if rapid.IntRange(0, 3).Draw(t, "ref") == 0 {
			b.WriteString(`,"$ref":"#/$defs/D"`)
		}
		if rapid.IntRange(0, 5).Draw(t, "if") == 0 {
			b.WriteString(`,"if":{"required":["a"]},"then":{"required":["b"]}`)
		}
	}
	b.WriteString("}")
	return b.String()
}

// References to references must not make a small schema endless.
func TestHostileSchemas(t *testing.T) {
	var defs []string
	for i := range 30 {
		defs = append(defs, fmt.Sprintf(`"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"},{"properties":{"p%d":{}}}]}`, i, i+1, i+1, i))
	}
	bomb := `{"$ref":"#/$defs/d0","$defs":{` + strings.Join(defs, ",") + `,"d30":{"type":"object"}}}`
	deep := strings.Repeat(`{"allOf":[`, 400) + `{}` + strings.Repeat(`]}`, 400)
	var wide []string
	for i := range 2_500 {
		wide = append(wide, fmt.Sprintf(`{"properties":{"p":{"const":%d},"p%d":{}}}`, i, i))
	}
	for name, schema := range map[string]string{"a bomb": bomb, "deep": deep, "wide": `{"anyOf":[` + strings.Join(wide, ",") + `]}`} {
		began := time.Now()
		raw := `{"name":"t","inputSchema":` + schema + `,"outputSchema":` + schema + `}`
		tool, _ := only(t, raw, false)
		if tool == nil {
			t.Errorf("%s was left out", name)
			continue
		}
		if err := strict([]byte(shown(tool, gateway.EraLegacy))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("%s took %s", name, took)
		}
		if n := len(shown(tool, gateway.EraLegacy)); n > 64<<10+20*len(raw) {
			t.Errorf("%s grew from %d to %d bytes", name, len(raw), n)
		}
	}
}
