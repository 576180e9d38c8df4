package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"genkan/internal/jsonrpc"
)

func TestSpliceKeepsUntouchedBytes(t *testing.T) {
	for name, c := range map[string]struct{ original, changed, out, patch string }{
		"nothing": {
			`{ "id" : 1234567890123456789, "b":1.0,"1":"\u3042" }`, `{"1":"あ","id":1234567890123456800,"b":1}`,
			`{ "id" : 1234567890123456789, "b":1.0,"1":"\u3042" }`, ``,
		},
		"a member beside a long number": {
			`{"id":1234567890123456789,"text":"key sk-1"}`, `{"id":1234567890123456800,"text":"key ***"}`,
			`{"id":1234567890123456789,"text":"key ***"}`, `replace /text "key ***"`,
		},
		"members added and removed": {
			`{"z":1e3,"gone":0,"a":{"b":[1.50]}}`, `{"a":{"b":[1.5]},"z":1000,"new/~":null}`,
			`{"z":1e3,"a":{"b":[1.50]},"new/~":null}`, `remove /gone; add /new~1~0 null`,
		},
		"a filtered array": {
			`[{"id":1234567890123456781},{"id":12},{"id":1234567890123456999,"x":1}]`, `[{"id":1234567890123457000,"x":1}]`,
			`[{"id":1234567890123456999,"x":1}]`, `remove /1; remove /0`,
		},
		"a filtered array of which one is changed": {
			`[{"id":1234567890123456781,"t":"a"},{"id":1234567890123456999,"t":"b"}]`, `[{"id":1234567890123457000,"t":"c"}]`,
			`[{"id":1234567890123456999,"t":"c"}]`, `remove /0; replace /0/t "c"`,
		},
		"a sorted array": {
			`[2.0,1.0]`, `[1,2]`, `[1.0,2.0]`, `replace  [1.0,2.0]`,
		},
		"an element of several": {
			`{"content":[{"type":"text","text":"a","n":9007199254740993},{"type":"image","data":"x"}]}`,
			`{"content":[{"type":"text","text":"b","n":9007199254740992},{"type":"image","data":"x"}]}`,
			`{"content":[{"type":"text","text":"b","n":9007199254740993},{"type":"image","data":"x"}]}`, `replace /content/0/text "b"`,
		},
		"a number that no script can hold":   {`{"n":1e999,"m":-0.0}`, `{"n":null,"m":0}`, `{"n":1e999,"m":-0.0}`, ``},
		"half of a surrogate pair":           {`["\ud83d",1.0]`, `["\ufffd",1]`, `["\ud83d",1.0]`, ``},
		"a key that stands twice":            {`{"a":1,"b":2,"a":3}`, `{"a":3,"b":2}`, `{"a":3,"b":2}`, ``},
		"another type":                       {`{"a":[1]}`, `{"a":{"0":1}}`, `{"a":{"0":1}}`, `replace /a {"0":1}`},
		"the whole value":                    {`{"a":1}`, `"x"`, `"x"`, `replace  "x"`},
		"elements appended":                  {`[1.0]`, `[1,2]`, `[1.0,2]`, `replace  [1.0,2]`},
		"an empty array and an empty object": {`{"a":[ ],"b":{ }}`, `{"a":[],"b":{"c":1}}`, `{"a":[ ],"b":{"c":1}}`, `add /b/c 1`},
	} {
		t.Run(name, func(t *testing.T) {
			out, patch, err := splice([]byte(c.original), []byte(c.changed))
			if err != nil {
				t.Fatal(err)
			}
			var ops []string
			for _, op := range patch {
				ops = append(ops, strings.TrimRight(fmt.Sprintf("%s %s %s", op.Op, op.Path, op.Value), " "))
			}
			if string(out) != c.out || strings.Join(ops, "; ") != c.patch {
				t.Errorf("%s\n%s", out, strings.Join(ops, "; "))
			}
		})
	}
}

// What is spliced means what the script left, and the patch says how it came about.
func FuzzSplice(f *testing.F) {
	f.Add([]byte(`{"a":[1,2,{"b":1234567890123456789}],"c":"x"}`), []byte(`{"a":[{"b":1234567890123456800},1],"d":null}`))
	f.Add([]byte(`{"a":1,"a":2}`), []byte(`{"a":2}`))
	f.Add([]byte(`[{"x":1,"y":2},{"x":2,"y":3}]`), []byte(`[{"x":2,"y":4}]`))
	f.Add([]byte(`[[],{},"",0]`), []byte(`[{},[]]`))
	f.Add([]byte(`[1,1,2]`), []byte(`[2,1,1,1]`))
	f.Fuzz(func(t *testing.T, original, changed []byte) {
		if !json.Valid(original) || !json.Valid(changed) || !utf8.Valid(changed) {
			return
		}
		out, patch, err := splice(original, changed)
		if err != nil {
			if jsonrpc.CheckUnique(bytes.TrimSpace(changed)) == nil {
				t.Fatal(err)
			}
			return
		}
		if !json.Valid(out) {
			t.Fatalf("%s", out)
		}
		if !same(t, out, changed) {
			t.Errorf("%s and %s became %s", original, changed, out)
		}
		if !same(t, apply(t, original, patch), out) {
			t.Errorf("%s with %+v is not %s", original, patch, out)
		}
		again, patch, err := splice(out, changed)
		if err != nil || !bytes.Equal(again, out) || len(patch) > 0 {
			t.Errorf("%s and %s became %s", out, changed, again)
		}
	})
}

func same(t *testing.T, a, b []byte) bool {
	t.Helper()
	x, y := parse(a), parse(b)
	return x.hash == y.hash
}

// apply applies a JSON Patch, one operation after the other.
func apply(t *testing.T, raw []byte, patch []Op) []byte {
	t.Helper()
	for _, op := range patch {
		tokens := strings.Split(op.Path, "/")[1:]
		if op.Path == "" {
			tokens = nil
		}
		raw = applyAt(t, raw, tokens, op)
	}
	return raw
}

func applyAt(t *testing.T, raw []byte, tokens []string, op Op) []byte {
	t.Helper()
	if len(tokens) == 0 {
		return op.Value
	}
	v := parse(raw)
	token := strings.NewReplacer("~1", "/", "~0", "~").Replace(tokens[0])
	gone := op.Op == "remove" && len(tokens) == 1
	var parts []string
	found := false
	for i := range v.values {
		name, here := "", false
		if v.isObject() {
			name, here = string(v.keys[i].raw)+":", string(v.keys[i].text) == token
		} else {
			here = strconv.Itoa(i) == token
		}
		value := v.values[i].raw
		found = found || here
		if here && gone {
			continue
		}
		if here {
			value = applyAt(t, value, tokens[1:], op)
		}
		parts = append(parts, name+string(value))
	}
	if !found {
		if op.Op != "add" || !v.isObject() {
			t.Fatalf("%s %s finds nothing in %s", op.Op, op.Path, raw)
		}
		name, _ := json.Marshal(token)
		parts = append(parts, string(name)+":"+string(op.Value))
	}
	if v.isObject() {
		return []byte("{" + strings.Join(parts, ",") + "}")
	}
	return []byte("[" + strings.Join(parts, ",") + "]")
}
