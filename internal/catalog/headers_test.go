package catalog_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// marked is a definition whose input schema has these properties.
func marked(properties string) string {
	return `{"name":"t","inputSchema":{"type":"object","properties":{` + properties + `}}}`
}

// only lists one tool, behind modern HTTP or not, and returns what became of
// it, nil if it was left out, and what was found.
func only(tb testing.TB, definition string, modernHTTP bool) (*gateway.Tool, []catalog.Finding) {
	tb.Helper()
	s := source("s")
	s.list = []gateway.Tool{{Name: "t", Definition: []byte(definition), ModernHTTP: modernHTTP}}
	snapshot := newCatalog(0, mount(s, "")).Snapshot()
	tool, _ := snapshot.Tool("t")
	return tool, snapshot.Findings()
}

func TestMarkedArguments(t *testing.T) {
	for name, c := range map[string]struct{ properties, want string }{
		"none":           {`"a":{"type":"string"}`, ""},
		"each type":      {`"s":{"type":"string","x-mcp-header":"Str"},"i":{"type":"integer","x-mcp-header":"Int"},"b":{"type":"boolean","x-mcp-header":"Bool"}`, "b:Mcp-Param-Bool i:Mcp-Param-Int s:Mcp-Param-Str"},
		"deep inside":    {`"a":{"type":"object","properties":{"b":{"properties":{"c":{"type":"string","x-mcp-header":"C"}}}}}`, "a/b/c:Mcp-Param-C"},
		"any token":      {"\"a\":{\"type\":\"string\",\"x-mcp-header\":\"a!#$%&'*+-.^_`|~9\"}", "a:Mcp-Param-A!#$%&'*+-.^_`|~9"},
		"escaped":        {`"a":{"type":"string","x\u002dmcp-header":"A"}`, "a:Mcp-Param-A"},
		"or null":        {`"a":{"type":["string","null"],"x-mcp-header":"A"}`, "a:Mcp-Param-A"},
		"only data":      {`"a":{"type":"object","default":{"x-mcp-header":""},"examples":[{"x-mcp-header":1}],"enum":[{"x-mcp-header":2}],"const":{"x-mcp-header":3}}`, ""},
		"only a name":    {`"x-mcp-header":{"type":"object"}`, ""},
		"in another key": {`"a":{"x-vendor":{"x-mcp-header":""}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tool, findings := only(t, marked(c.properties), true)
			if tool == nil || len(findings) > 0 {
				t.Fatal(findings)
			}
			var got []string
			for _, h := range tool.Headers {
				got = append(got, strings.Join(h.Path, "/")+":"+h.Key)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("the headers are %q, want %q", got, c.want)
			}
			if string(tool.Definition) != marked(c.properties) {
				t.Errorf("the definition became %s", tool.Definition)
			}
		})
	}
}

// A mark that breaks a rule takes its tool out of the list, where calls go out
// over modern HTTP: there the specification asks for it. Elsewhere headers play
// no part, so the tool stays, has no headers, and doctor can say what modern
// HTTP clients will do.
func TestMarksThatBreakARule(t *testing.T) {
	in := func(place string) string {
		return marked(`"a":{` + strings.ReplaceAll(place, "@", `{"type":"string","x-mcp-header":"A"}`) + `}`)
	}
	for name, definition := range map[string]string{
		"empty":                 marked(`"a":{"type":"string","x-mcp-header":""}`),
		"null":                  marked(`"a":{"type":"string","x-mcp-header":null}`),
		"a number":              marked(`"a":{"type":"string","x-mcp-header":7}`),
		"a space":               marked(`"a":{"type":"string","x-mcp-header":"My Region"}`),
		"a colon":               marked(`"a":{"type":"string","x-mcp-header":"a:b"}`),
		"not ASCII":             marked(`"a":{"type":"string","x-mcp-header":"Région"}`),
		"a line break":          marked(`"a":{"type":"string","x-mcp-header":"a\r\nb"}`),
		"twice":                 marked(`"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"A"}`),
		"twice, in other cases": marked(`"a":{"type":"string","x-mcp-header":"Region"},"o":{"properties":{"b":{"type":"string","x-mcp-header":"REGION"}}}`),
		"at an object":          marked(`"a":{"type":"object","x-mcp-header":"A"}`),
		"at an array":           marked(`"a":{"type":"array","x-mcp-header":"A"}`),
		"at null":               marked(`"a":{"type":"null","x-mcp-header":"A"}`),
		"at a number":           marked(`"a":{"type":"number","x-mcp-header":"A"}`),
		"at two types":          marked(`"a":{"type":["string","integer"],"x-mcp-header":"A"}`),
		"at no type":            marked(`"a":{"x-mcp-header":"A"}`),
		"at the root":           `{"name":"t","inputSchema":{"type":"object","x-mcp-header":"A"}}`,
		"in items":              in(`"items":@`),
		"in a list of items":    in(`"prefixItems":[@]`),
		"in an alternative":     in(`"anyOf":[{"type":"null"},@]`),
		"below an alternative":  in(`"oneOf":[{"properties":{"b":@}}]`),
		"in all of":             in(`"allOf":[@]`),
		"in not":                in(`"not":@`),
		"in a condition":        in(`"if":{"properties":{"b":@}}`),
		"in other properties":   in(`"additionalProperties":@`),
		"in patterns":           in(`"patternProperties":{"^a":@}`),
		"in a definition":       `{"name":"t","inputSchema":{"type":"object","$defs":{"d":{"type":"string","x-mcp-header":"A"}},"properties":{"a":{"$ref":"#/$defs/d"}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if tool, findings := only(t, definition, true); tool != nil || len(findings) != 1 || !findings[0].LeftOut {
				t.Errorf("over modern HTTP: %v, %v", tool, findings)
			}
			tool, findings := only(t, definition, false)
			if tool == nil || len(tool.Headers) > 0 || len(findings) != 1 || findings[0].LeftOut {
				t.Errorf("elsewhere: %v, %v", tool, findings)
			} else if string(tool.Definition) != definition {
				t.Errorf("the definition became %s", tool.Definition)
			}
		})
	}
}

// A tool that is left out is left out alone, and the log says which and why.
func TestAMarkThatBreaksARuleCostsOneTool(t *testing.T) {
	var log logBuffer
	s := source("s", "before")
	s.list = append(s.list, gateway.Tool{Name: "t", ModernHTTP: true, Definition: []byte(marked(`"a":{"type":"number","x-mcp-header":"A"}`))})
	s.add("after", definition("after"))
	c := newCatalogWithLog(&log, 0, mount(s, "p"))
	if got := names(c); got != "p__before p__after" {
		t.Errorf("the tools are %s", got)
	}
	for _, want := range []string{"level=WARN", "tool_name=t", "server=s", "x-mcp-header of a is not at an integer"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s: %s", want, log.String())
		}
	}
}

// To a modern HTTP client we are the server, which must check that headers and
// body say the same.
func TestCompare(t *testing.T) {
	tool, _ := only(t, marked(`"s":{"type":"string","x-mcp-header":"Str"},"i":{"type":"integer","x-mcp-header":"Int"},"b":{"type":"boolean","x-mcp-header":"Bool"},"o":{"properties":{"d":{"type":"string","x-mcp-header":"Deep"}}}`), false)
	for name, c := range map[string]struct {
		arguments string
		header    string // "Name=value", separated by semicolons
		want      string // part of the message; "" passes
	}{
		"nothing":                   {`{}`, "", ""},
		"no arguments":              {``, "", ""},
		"all the same":              {`{"s":"x","i":42,"b":true,"o":{"d":"y"}}`, "Str=x;Int=42;Bool=true;Deep=y", ""},
		"null is absent":            {`{"s":null,"o":null}`, "", ""},
		"empty":                     {`{"s":""}`, "Str=", ""},
		"encoded":                   {`{"s":"Hello, 世界"}`, "Str==?base64?SGVsbG8sIOS4lueVjA==?=", ""},
		"encoded without need":      {`{"s":"x"}`, "Str==?base64?eA==?=", ""},
		"numbers are numbers":       {`{"i":42.0}`, "Int=42", ""},
		"so they are in headers":    {`{"i":42}`, "Int=42.0", ""},
		"unknown ones pass":         {`{}`, "Other=x", ""},
		"missing":                   {`{"s":"x"}`, "", "the argument s has a value, but the Mcp-Param-Str header is missing"},
		"missing, deep":             {`{"o":{"d":"x"}}`, "", "the argument o.d has a value"},
		"another":                   {`{"s":"SECRET"}`, "Str=GEHEIM", "the Mcp-Param-Str header does not say what the argument s says"},
		"another case":              {`{"b":true}`, "Bool=True", "does not say"},
		"another number":            {`{"i":42}`, "Int=43", "does not say"},
		"no argument":               {`{}`, "Str=x", "there is a Mcp-Param-Str header, but the argument s has no value"},
		"a null argument":           {`{"s":null}`, "Str=null", "has no value"},
		"bytes":                     {`{"s":"é"}`, "Str=é", "the Mcp-Param-Str header is missing or malformed"},
		"bad encoding":              {`{"s":"x"}`, "Str==?base64?!?=", "malformed"},
		"a value that headers lack": {`{"s":{"a":1}}`, "Str={}", "does not say"},
		"two headers":               {`{"s":"x"}`, "Str=x;Str=x", "malformed"},
		"two arguments":             {`{"s":"x","s":"y"}`, "Str=x", "a key stands twice"},
	} {
		t.Run(name, func(t *testing.T) {
			header := http.Header{}
			for _, one := range strings.Split(c.header, ";") {
				if key, value, found := strings.Cut(one, "="); found {
					header.Add("Mcp-Param-"+key, value)
				}
			}
			call := callOf(t, tool, c.arguments)
			call.Era, call.Via, call.ParamHeaders = gateway.EraModern, "http", header
			err := catalog.Compare(call)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if err != nil && !errors.Is(err, jsonrpc.ErrHeaderMismatch) {
				t.Errorf("%v is no mismatch", err)
			}
			if strings.Contains(fmt.Sprint(err), "SECRET") || strings.Contains(fmt.Sprint(err), "GEHEIM") {
				t.Errorf("the message has a value: %v", err)
			}
			// Whoever has no such headers is not asked for them.
			for _, other := range []*gateway.Call{
				{Caller: gateway.Caller{Era: gateway.EraLegacy, Via: "http"}},
				{Caller: gateway.Caller{Era: gateway.EraModern, Via: "stdio"}},
				{Caller: gateway.Caller{Era: gateway.EraNone, Via: "rest"}},
				{Caller: gateway.Caller{Era: gateway.EraModern, Via: "http"}, Parent: call},
			} {
				quiet := callOf(t, tool, c.arguments)
				quiet.Era, quiet.Via, quiet.Parent = other.Era, other.Via, other.Parent
				if err := catalog.Compare(quiet); err != nil {
					t.Errorf("%s over %s: %v", other.Era, other.Via, err)
				}
			}
		})
	}
}

func callOf(tb testing.TB, tool *gateway.Tool, arguments string) *gateway.Call {
	tb.Helper()
	params := `{"name":"t"}`
	if arguments != "" {
		params = `{"name":"t","arguments":` + arguments + `}`
	}
	p, err := jsonrpc.ScanParams([]byte(params))
	if err != nil {
		tb.Fatal(err)
	}
	return &gateway.Call{Method: "tools/call", Name: "t", Params: p, Tool: tool}
}

// A tool without marks costs its calls nothing.
func TestCompareCostsPlainToolsNothing(t *testing.T) {
	tool, _ := only(t, definition("t"), true)
	call := callOf(t, tool, `{"text":"x"}`)
	call.Era, call.Via = gateway.EraModern, "http"
	if n := testing.AllocsPerRun(100, func() { _ = catalog.Compare(call) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
