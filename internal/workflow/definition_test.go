package workflow

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
