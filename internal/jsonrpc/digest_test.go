package jsonrpc

import (
	"hash/maphash"
	"strings"
	"testing"
)

func TestDigestIsOfTheMeaning(t *testing.T) {
	seed := maphash.MakeSeed()
	for _, same := range [][2]string{
		{`{"a":1,"b":[true,null]}`, "{ \"b\" : [ true , null ] ,\t\"a\" : 1 }"},
		{`{"x":{"c":"é","d":{}}}`, `{"x":{"d":{},"\u0063":"\u00e9"}}`},
		{`[]`, ` [ ]`},
	} {
		if Digest(seed, []byte(same[0])) != Digest(seed, []byte(same[1])) {
			t.Errorf("%s and %s differ", same[0], same[1])
		}
	}
	seen := map[uint64]string{}
	for _, value := range []string{
		``, `{}`, `[]`, `null`, `"null"`, `""`, `0`, `"0"`, `[0]`, `[[0]]`, `[[],0]`, `[0,[]]`, `{"0":0}`, `{"0":[0]}`, `[{}]`, `[{},{}]`,
		`[1,2]`, `[2,1]`, `{"a":1,"b":2}`, `{"a":2,"b":1}`, `{"a":{"b":1}}`, `{"a":{},"b":1}`, `{"a":1}`, `{"a":1,"a":1}`, `1.0`, `1`,
	} {
		sum := Digest(seed, []byte(value))
		if other, ok := seen[sum]; ok {
			t.Errorf("%s and %s have the same digest", value, other)
		}
		seen[sum] = value
	}
}

// TestDigestBuildsNoTree: the memory does not grow with the number of values.
func TestDigestBuildsNoTree(t *testing.T) {
	seed := maphash.MakeSeed()
	value := []byte(`{"x":[` + strings.Repeat(`{"":1},`, 10_000) + `[[{"k":[]}]]]}`)
	if allocs := testing.AllocsPerRun(5, func() { Digest(seed, value) }); allocs > 20 {
		t.Errorf("%v allocations for %d bytes", allocs, len(value))
	}
}
