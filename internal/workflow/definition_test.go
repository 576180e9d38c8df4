package workflow

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/gateway"
)

// The definitions in testdata/seed are written as the interfaces of the product say that
// people know: with positions, labels and whatever an editor adds.
func TestDefinitionsOfTheSeedLoadUnchanged(t *testing.T) {
	files, err := filepath.Glob("testdata/seed/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			d, err := Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			if d.ID == "" || len(d.Nodes) < 3 || d.CreatedAt.Time().Year() != 2025 {
				t.Errorf("%+v", d)
			}
			written, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			// A handle that is null is none.
			if !same(t, written, bytes.ReplaceAll(raw, []byte(`"sourceHandle": null, `), nil)) {
				t.Errorf("written as %s", written)
			}
			if problems := Validate(d, testEnvironment); len(problems) > 0 && !strings.HasPrefix(filepath.Base(file), "draft") {
				t.Errorf("%v", problems)
			}
		})
	}
}

func FuzzDefinition(f *testing.F) {
	files, _ := filepath.Glob("testdata/seed/*.json")
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"id":"a","nodes":[{"id":"s","type":"start","x":{"y":[1]}}],"edges":[{"source":"s","target":"s","sourceHandle":null}],"Name":"b"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := Parse(raw)
		if err != nil {
			return
		}
		written, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(written)
		if err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		twice, err := json.Marshal(again)
		if err != nil || !bytes.Equal(written, twice) {
			t.Errorf("%s\n%s", written, twice)
		}
		Validate(d, testEnvironment) // whatever it says, it ends
	})
}

// A field of another type is named, with the type that it must have.
func TestFieldsOfOtherTypes(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`"vars":[1]`:                      "vars must be an object, is an array",
		`"limits":[1]`:                    "limits must be an object, is an array",
		`"limits":{"totalMs":"x"}`:        "limits.totalMs must be an integer, is a string",
		`"limits":{"fetchHosts":"x"}`:     "limits.fetchHosts must be an array, is a string",
		`"limits":{"fetchHosts":[1]}`:     "each entry of limits.fetchHosts must be a string",
		`"match":{"annotations":{"x":1}}`: "each entry of match.annotations must be a boolean",
		`"nodes":[1]`:                     "each entry of nodes must be an object",
		`"nodes":[{"id":1}]`:              "nodes.id must be a string, is a number",
		`"order":1.5`:                     "order must be an integer, is a number",
		`"createdAt":"x"`:                 "createdAt must be a number, is a string",
	} {
		_, err := Parse([]byte(`{"workflowType":"tools/call",` + raw + `}`))
		e := gateway.AsError(err)
		if e == nil || e.Text() != "Validation failed: "+want || len(e.Problems) != 1 || e.Field != e.Problems[0].Field || e.Field == "" {
			t.Errorf("%s: %+v", raw, e)
		}
	}
	for raw, want := range map[string]string{`"limits":{"fetchHosts":[1]}`: "/limits/fetchHosts", `"nodes":[{"id":1}]`: ""} {
		_, err := Parse([]byte(`{"workflowType":"tools/call",` + raw + `}`))
		if e := gateway.AsError(err); e == nil || len(e.Problems) != 1 || e.Problems[0].Pointer != want {
			t.Errorf("%s: %+v", raw, e)
		}
	}
	for raw, want := range map[string]string{
		"\x89PNG\r\n\x1a\n":   "this is not a workflow: it is not a text file in UTF-8.",
		`{"version":"1.0.0"}`: "this is not a workflow: version must be an integer, is a string.",
		`[]`:                  "this is not a workflow: it is an array.",
	} {
		if _, err := Parse([]byte(raw)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", raw, err)
		}
	}
}
