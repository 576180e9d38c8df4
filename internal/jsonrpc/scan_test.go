package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"genkan/internal/gateway"
)

func TestScanFindsWhatTheHouseNeeds(t *testing.T) {
	raw := `{ "jsonrpc" : "2.0", "id": "a\"b", "method": "tools/call", "params": {"x-unknown":1e400,
	 "_meta": {"progressToken": 7, "io.modelcontextprotocol/protocolVersion":"2026-07-28", "other":[1,{"a":2}]},
	 "name":"se\u0061rch", "arguments": {"q": "x", "deep": [[[{}]]]}} }`
	msg, err := Scan([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	if msg.Kind != Request || msg.Method != "tools/call" || string(msg.ID) != `"a\"b"` {
		t.Errorf("envelope: %+v", msg)
	}
	p := msg.Params
	for name, want := range map[string]struct {
		span gateway.Span
		text string
	}{
		"name":           {p.Name, `"se\u0061rch"`},
		"arguments":      {p.Arguments, `{"q": "x", "deep": [[[{}]]]}`},
		"progress token": {p.ProgressToken, `7`},
		"version":        {p.Version, `"2026-07-28"`},
		"absent":         {p.LogLevel, ``},
	} {
		if got := string(p.Get(want.span)); got != want.text {
			t.Errorf("%s: got %s, want %s", name, got, want.text)
		}
	}
	if bytes.ContainsAny(p.Raw, "\r\n") {
		t.Error("a line break between tokens survived")
	}
	if name, _ := Unquote(p.Get(p.Name)); string(name) != "search" {
		t.Errorf("name: %s", name)
	}
}

func TestScanTellsTheKinds(t *testing.T) {
	for _, c := range []struct {
		raw  string
		kind Kind
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"m"}`, Request},
		{`{"jsonrpc":"2.0","method":"m","params":{}}`, Notification},
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, Response},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, ErrorResponse},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`, ErrorResponse},
		{`{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}`, ErrorResponse},
	} {
		msg, err := Scan([]byte(c.raw))
		if err != nil || msg.Kind != c.kind {
			t.Errorf("%s: kind %d, %v", c.raw, msg.Kind, err)
		}
	}
}

func TestScanResultFields(t *testing.T) {
	msg, err := Scan([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"isError":false}],"isError":true,"resultType":"input_required","_meta":{}}}`))
	if err != nil || !msg.Result.IsError || !msg.Result.HasMeta || msg.Result.Type != gateway.ResultInputRequired {
		t.Errorf("%+v %v", msg.Result, err)
	}
}

// What two parsers could read differently must not pass.
func TestScanRefuses(t *testing.T) {
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
	}
	for name, c := range map[string]struct {
		raw  string
		code int
	}{
		"name twice":                   {call(`{"name":"safe","name":"evil"}`), CodeInvalidRequest},
		"name twice, one escaped":      {call(`{"name":"safe","n\u0061me":"evil"}`), CodeInvalidRequest},
		"name in another case":         {call(`{"name":"safe","Name":"evil"}`), CodeInvalidRequest},
		"only in another case":         {call(`{"NAME":"evil"}`), CodeInvalidRequest},
		"folded beyond ASCII":          {call(`{"argument\u017f":{}}`), CodeInvalidRequest},
		"folded, unescaped":            {call(`{"argumentſ":{}}`), CodeInvalidRequest},
		"unknown key twice":            {call(`{"name":"a","x":1,"x":2}`), CodeInvalidRequest},
		"token twice in _meta":         {call(`{"name":"a","_meta":{"progressToken":1,"progressToken":2}}`), CodeInvalidRequest},
		"token in another case":        {call(`{"name":"a","_meta":{"ProgressToken":1}}`), CodeInvalidRequest},
		"_meta not an object":          {call(`{"name":"a","_meta":[]}`), CodeInvalidRequest},
		"method twice":                 {`{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}`, CodeInvalidRequest},
		"method in another case":       {`{"jsonrpc":"2.0","id":1,"method":"a","Method":"b"}`, CodeInvalidRequest},
		"params twice":                 {`{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}`, CodeInvalidRequest},
		"id twice":                     {`{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}`, CodeInvalidRequest},
		"id null":                      {`{"jsonrpc":"2.0","id":null,"method":"a"}`, CodeInvalidRequest},
		"id object":                    {`{"jsonrpc":"2.0","id":{},"method":"a"}`, CodeInvalidRequest},
		"id too long":                  {`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 600) + `","method":"a"}`, CodeInvalidRequest},
		"no version":                   {`{"id":1,"method":"a"}`, CodeInvalidRequest},
		"other version":                {`{"jsonrpc":"1.0","id":1,"method":"a"}`, CodeInvalidRequest},
		"request and result":           {`{"jsonrpc":"2.0","id":1,"method":"a","result":{}}`, CodeInvalidRequest},
		"neither":                      {`{"jsonrpc":"2.0","id":1}`, CodeInvalidRequest},
		"params an array":              {`{"jsonrpc":"2.0","id":1,"method":"a","params":[1]}`, CodeInvalidRequest},
		"method a number":              {`{"jsonrpc":"2.0","id":1,"method":1}`, CodeInvalidRequest},
		"a batch":                      {`[{"jsonrpc":"2.0","id":1,"method":"a"}]`, CodeInvalidRequest},
		"isError twice":                {`{"jsonrpc":"2.0","id":1,"result":{"isError":true,"isError":false}}`, CodeInvalidRequest},
		"_meta of a result twice":      {`{"jsonrpc":"2.0","id":1,"result":{"_meta":{},"_m\u0065ta":{}}}`, CodeInvalidRequest},
		"too deep":                     {call(`{"arguments":` + strings.Repeat("[", 999) + strings.Repeat("]", 999) + `}`), CodeInvalidRequest},
		"far too deep":                 {call(`{"arguments":` + strings.Repeat(`{"a":`, 1e5)), CodeInvalidRequest},
		"a second message":             {call(`{}`) + call(`{}`), CodeParse},
		"a second message, line break": {call(`{}`) + "\n" + call(`{}`), CodeParse},
		"raw line break in a string":   {call("{\"name\":\"a\nb\"}"), CodeParse},
		"mismatched brackets":          {call(`{"arguments":{"a":[}}`), CodeParse},
		"empty":                        {"", CodeParse},
		"not an object":                {`"x"`, CodeParse},
		"truncated":                    {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"na`, CodeParse},
		"trailing comma":               {call(`{"arguments":[1,]}`), CodeParse},
		"leading comma":                {call(`{"arguments":[,1]}`), CodeParse},
		"leading comma in an object":   {call(`{"arguments":{,"a":1}}`), CodeParse},
		"leading zero":                 {call(`{"arguments":{"a":01}}`), CodeParse},
		"NaN":                          {call(`{"arguments":{"a":NaN}}`), CodeParse},
		"single quotes":                {call(`{'name':'a'}`), CodeParse},
		"not UTF-8":                    {call("{\"arguments\":\"\xff\xfe\"}"), CodeParse},
		"bad escape":                   {call(`{"arguments":"\x41"}`), CodeParse},
		"bad unicode escape":           {call(`{"arguments":"\u00g1"}`), CodeParse},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Scan([]byte(c.raw))
			var scanErr *ScanError
			if !errors.As(err, &scanErr) {
				t.Fatalf("passed: %v", err)
			}
			if scanErr.Code != c.code {
				t.Errorf("code %d (%s), want %d", scanErr.Code, scanErr.Reason, c.code)
			}
		})
	}
}

func TestScanKeepsTheIDForTheAnswer(t *testing.T) {
	msg, err := Scan([]byte(`{"jsonrpc":"2.0","id":42,"method":"tools/call","params":{"name":"a","name":"b"}}`))
	if err == nil || string(msg.ID) != "42" {
		t.Errorf("id %s, %v", msg.ID, err)
	}
	msg, err = Scan([]byte(`{"jsonrpc":"2.0","id":{"a":1},"method":"x","method":"y"}`))
	if err == nil || msg.ID != nil {
		t.Errorf("an id that is none: %s, %v", msg.ID, err)
	}
}

func TestScanManyKeysIsNotQuadratic(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"jsonrpc":"2.0","id":1,"method":"m","params":{`)
	for i := range 200_000 {
		fmt.Fprintf(&b, `"k%d":0,`, i)
	}
	b.WriteString(`"k0":1}}`)
	if _, err := Scan([]byte(b.String())); err == nil {
		t.Error("a repeated key among many passed")
	}
}

func TestUnquote(t *testing.T) {
	for raw, want := range map[string]string{
		`"plain"`:              "plain",
		`"\u0061\n\t\"\\\/"`:   "a\n\t\"\\/",
		`"\ud83d\ude00"`:       "😀",
		`"\ud83d"`:             "\ufffd",
		`"\ud83dx"`:            "\ufffdx",
		`"\ud83d\u0041"`:       "\ufffdA",
		`"日本語"`:                "日本語",
		`"\b\f\r"`:             "\b\f\r",
		`""`:                   "",
		`"a\u0000b"`:           "a\x00b",
		`"\udc00\ud83d\ude00"`: "\ufffd😀",
	} {
		got, ok := Unquote([]byte(raw))
		if !ok || string(got) != want {
			t.Errorf("%s: %q, %v", raw, got, ok)
		}
	}
	if _, ok := Unquote([]byte(`12`)); ok {
		t.Error("a number is not a string")
	}
}

func TestHasLoneSurrogate(t *testing.T) {
	for raw, want := range map[string]bool{
		`"plain 😀"`:                   false,
		`"\ud83d\ude00"`:              false,
		`["\u00e9\n","\\ud83d"]`:      false,
		`"\ud83d"`:                    true,
		`"\ude00"`:                    true,
		`"\ude00\ud83d"`:              true,
		`"\ud83d\ud83d\ude00"`:        true,
		`"\ud83dx\ude00"`:             true,
		`"\uD83D\n"`:                  true,
		`{"a":["\\\ud800"]}`:          true,
		`{"\ud800":1}`:                true,
		`"\ufffd"`:                    false,
		``:                            false,
		`\`:                           false,
		`{"a":"\ud83d","b":"\ude00"}`: true,
	} {
		if got := HasLoneSurrogate([]byte(raw)); got != want {
			t.Errorf("%s: got %v", raw, got)
		}
	}
}

func TestAppendQuotedRoundTrips(t *testing.T) {
	for _, text := range []string{"", "a", "\"\\\n\r\t\x01\x1f", "日本語 😀", "bad\xffutf8", "\u2028"} {
		var back string
		if err := json.Unmarshal(AppendQuoted(nil, text), &back); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if want := strings.ToValidUTF8(text, "\ufffd"); back != want {
			t.Errorf("%q became %q", text, back)
		}
	}
}

func TestLookup(t *testing.T) {
	object := []byte(`{"a":1,"b":{"c":"d"},"\u0065":"esc"}`)
	if got := Lookup(object, "b"); string(got) != `{"c":"d"}` {
		t.Errorf("%s", got)
	}
	if got := LookupText(object, "e"); got != "esc" {
		t.Errorf("%s", got)
	}
	if Lookup(object, "zzz") != nil || Lookup([]byte(`[1]`), "a") != nil {
		t.Error("found what is not there")
	}
	n := 0
	if err := Elements([]byte(` [1, [2,3] ,{"a":4}] `), func([]byte) bool { n++; return true }); err != nil || n != 3 {
		t.Errorf("%d elements, %v", n, err)
	}
}

func TestCheckUnique(t *testing.T) {
	for value, ok := range map[string]bool{
		`{"a":1,"b":{"a":2},"c":[{"a":3}]}`: true,
		`{"a":1,"\u0061":2}`:                false,
		`{"x":[1,{"a":1,"a":2}]}`:           false,
		`{"x":[1,2`:                         false,
		`{"x":[`:                            false,
		`[1 2]`:                             false,
		`[ ]`:                               true,
		`[[{"a":{"b":1,"b":2}}]]`:           false,
		`"text"`:                            true,
		``:                                  true,
	} {
		if err := CheckUnique([]byte(value)); (err == nil) != ok {
			t.Errorf("%s: %v", value, err)
		}
	}
	if CheckObject([]byte(`{"name":"a","Name":"b"}`), "name") == nil {
		t.Error("a key in another case passed")
	}
}

// TestInspectedObjectsHaveFewKeys: the keys of the envelope, the params and _meta
// are remembered, so that there must not be any number of them. Arguments may
// have more.
func TestInspectedObjectsHaveFewKeys(t *testing.T) {
	keys := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"k%d":0`, i)
		}
		return b.String()
	}
	message := func(envelope, params, meta, arguments int) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call"` + keys(envelope) +
			`,"params":{"name":"t"` + keys(params) + `,"arguments":{"a":0` + keys(arguments) + `},"_meta":{"a":0` + keys(meta) + `}}}`
	}
	for name, c := range map[string]struct {
		message string
		ok      bool
	}{
		"as many as may be":        {message(996, 997, 999, 90_000), true},
		"one more in the envelope": {message(997, 0, 0, 0), false},
		"one more in params":       {message(0, 998, 0, 0), false},
		"one more in _meta":        {message(0, 0, 1000, 0), false},
		"far too many in _meta":    {message(0, 0, 90_000, 0), false},
	} {
		_, err := Scan([]byte(c.message))
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "more than 1000 keys") {
			t.Errorf("%s: %v", name, err)
		}
		if allocs := testing.AllocsPerRun(1, func() { _, _ = Scan([]byte(c.message)) }); allocs > 5000 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
	}
}

// A value that nests a thousand times around 200,000 numbers took half a minute
// when each level read all that is within it.
func TestCheckUniqueReadsDeepValuesOnce(t *testing.T) {
	const deep = MaxDepth - 1
	for name, open := range map[string]struct{ begin, end string }{"arrays": {"[", "]"}, "objects": {`{"a":`, "}"}} {
		value := strings.Repeat(open.begin, deep) + "[" + strings.Repeat("1,", 200_000) + "1]" + strings.Repeat(open.end, deep)
		if err := CheckUnique([]byte(value)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := CheckUnique([]byte(open.begin + value + open.end)); err == nil {
			t.Errorf("%s: what nests too deep passed", name)
		}
	}
}

// FuzzScan holds the scanner against encoding/json: it must accept nothing that
// is not JSON, and refuse JSON only for a rule.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":[1.5e-3,-0,true,null,"\u00e9"]},"_meta":{"progressToken":"x"}}}`,
		`{"jsonrpc":"2.0","id":"x","result":{"content":[{"type":"text","text":"hi"}],"isError":false}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`,
		"{\"jsonrpc\":\"2.0\",\r\n\"method\":\"m\"}", `[]`, `{`, `{"a":[{}]}`, `{"a":1,}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		valid := json.Valid(data) && utf8.Valid(data)
		msg, err := Scan(bytes.Clone(data))
		var scanErr *ScanError
		switch {
		case err == nil && !valid:
			t.Fatalf("accepted what is not JSON: %q", data)
		case errors.As(err, &scanErr) && scanErr.Code == CodeParse && valid && data[bytes.IndexFunc(data, func(r rune) bool { return !strings.ContainsRune(" \t\r\n", r) })] == '{':
			t.Fatalf("refused JSON as malformed: %q: %v", data, err)
		}
		if err != nil {
			return
		}
		var back struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if msg.Method != back.Method {
			t.Fatalf("method %q, encoding/json reads %q", msg.Method, back.Method)
		}
		if bytes.ContainsAny(msg.Params.Raw, "\r\n") || bytes.ContainsAny(msg.Result.Raw, "\r\n") || bytes.ContainsAny(msg.Error, "\r\n") {
			t.Fatal("a line break survived")
		}
		if msg.Params.Name.Present() {
			var p struct {
				Params struct {
					Name json.RawMessage `json:"name"`
				} `json:"params"`
			}
			if json.Unmarshal(data, &p) == nil && !json.Valid(msg.Params.Get(msg.Params.Name)) {
				t.Fatal("the name's span is not a JSON value")
			}
		}
	})
}
