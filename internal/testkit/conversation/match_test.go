package conversation

import (
	"testing"
)

func TestMatch(t *testing.T) {
	for _, test := range []struct {
		name, pattern, got string
		want               bool
	}{
		{"same", `{"a":[1,"x",null]}`, `{"a":[1,"x",null]}`, true},
		{"white space", ` { "a" : [ 1 ] } `, `{"a":[1]}`, true},
		{"white space in strings counts", `{"a":"x y"}`, `{"a":"xy"}`, false},
		{"order of keys counts", `{"a":1,"b":2}`, `{"b":2,"a":1}`, false},
		{"spelling of numbers counts", `{"a":1.0}`, `{"a":1}`, false},
		{"spelling of strings counts", `{"a":"\u00e9"}`, `{"a":"é"}`, false},
		{"duplicates count", `{"a":1}`, `{"a":1,"a":1}`, false},
		{"any value", `{"a":"...","b":"<any>"}`, `{"a":{"deep":[1]},"b":null}`, true},
		{"any value is one", `["..."]`, `[1,2]`, false},
		{"further members", `{"a":1,"...":0}`, `{"a":1,"b":2,"c":3}`, true},
		{"no further members", `{"a":1,"...":0}`, `{"a":1}`, true},
		{"further members are the last", `{"...":0,"a":1}`, `{"b":2,"a":1}`, false},
		{"missing member", `{"a":1,"b":2}`, `{"a":1}`, false},
		{"capture twice the same", `["$x","$x"]`, `[{"k":1},{"k":1}]`, true},
		{"capture twice another", `["$x","$x"]`, `[1,2]`, false},
		{"money is no capture", `["$1"]`, `["$2"]`, false},
		{"quotes and brackets in strings", `["a\"]{",1]`, `["a\"]{",1]`, true},
		{"empty", `[{},[]]`, `[{},[]]`, true},
		{"not JSON", `Server started`, `Server started`, true},
		{"not JSON but another", `Server started`, `Server stopped`, false},
		{"scalar", `1`, `2`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := matchJSON([]byte(test.pattern), []byte(test.got), make(captures)); got != test.want {
				t.Errorf("matching is %v, want %v", got, test.want)
			}
		})
	}
}

func TestCapture(t *testing.T) {
	c := make(captures)
	if !matchJSON([]byte(`{"state":"$s","id":"$id"}`), []byte(`{"state":"x\"y","id":7}`), c) {
		t.Fatal("no match")
	}
	if matchJSON([]byte(`{"other":"$o","no":1}`), []byte(`{"other":1,"no":2}`), c) {
		t.Fatal("a match")
	}
	const line = `{"id":"$id","state":"$s","o":"$o","cost":"$5"}`
	if got, want := string(c.fill([]byte(line))), `{"id":7,"state":"x\"y","o":"$o","cost":"$5"}`; got != want {
		t.Errorf("filled in, the line is %s, want %s", got, want)
	}
}

func TestMerge(t *testing.T) {
	for _, test := range []struct{ name, pattern, got, want string }{
		{"keeps what is open", `{"id":1,"t":"...","s":"$s","x":[1,"<any>"]}`, `{"id":2,"t":99,"s":"a","x":[3,4]}`, `{"id":2,"t":"...","s":"$s","x":[3,"<any>"]}`},
		{"further members", `{"a":1,"...":0}`, `{"a":2,"b":3}`, `{"a":2,"...":0}`},
		{"new members", `{"a":"..."}`, `{"b":1,"a":2}`, `{"b":1,"a":"..."}`},
		{"another shape", `{"a":"..."}`, `[1, 2]`, `[1,2]`},
		{"was no JSON", `???`, `{"a": 1}`, `{"a":1}`},
		{"is no JSON", `{"a":1}`, ` EOF `, `EOF`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := string(mergeJSON([]byte(test.pattern), []byte(test.got))); got != test.want {
				t.Errorf("merged\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}
