package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"genkan/internal/gateway"
)

// params is a params object with the places of its values, made of pieces as a
// client would write them.
type params struct {
	gateway.Params
	// head and tail are the bytes before and after the arguments' value, or
	// everything and nothing when there is none.
	head, tail string
}

// drawParams makes a params object: members in any order, white space
// anywhere, unknown members between, arguments or none.
func drawParams(r *rapid.T) params {
	space := rapid.SampledFrom([]string{"", "", "", " ", "\t ", "  "})
	value := rapid.SampledFrom([]string{`1.10`, `"x"`, `null`, `{"arguments":{"a":1},"name":"inner"}`, `[-0,1e400]`, `"\u00e9\""`})
	var b strings.Builder
	var p params
	b.WriteString("{")
	keys := rapid.Permutation([]string{"name", "arguments", "_meta", "uri", "x", "cursor", "y"}).Draw(r, "keys")
	keys = keys[:rapid.IntRange(0, len(keys)).Draw(r, "members")]
	write := func(text string) gateway.Span {
		start := b.Len()
		b.WriteString(text)
		return gateway.Span{Start: uint32(start), End: uint32(b.Len())}
	}
	for i, key := range keys {
		if i > 0 {
			write(",")
		}
		write(space.Draw(r, "space") + `"` + key + `"` + space.Draw(r, "space") + ":" + space.Draw(r, "space"))
		switch key {
		case "name":
			p.Name = write(`"t\u006fol"`)
		case "arguments":
			p.head = b.String()
			p.Arguments = write(rapid.SampledFrom([]string{`{}`, `{ "a" : 1.10 }`, `null`, `{"b":[1e400,{"c":"\u0000"}]}`}).Draw(r, "arguments"))
		case "_meta":
			start := b.Len()
			write(`{` + space.Draw(r, "space") + `"progressToken":`)
			p.ProgressToken = write(`"tok"`)
			write(`,"io.modelcontextprotocol/protocolVersion":`)
			p.Version = write(`"2026-07-28"`)
			write(`,"c":`)
			p.ClientCapabilities = write(`{}`)
			write(`}`)
			p.Meta = gateway.Span{Start: uint32(start), End: uint32(b.Len())}
		case "uri":
			p.URI = write(`"u:/r"`)
		case "cursor":
			p.Cursor = write(`"cur"`)
		default:
			write(value.Draw(r, "value"))
		}
		write(space.Draw(r, "space"))
	}
	b.WriteString("}")
	p.Raw = []byte(b.String())
	if p.Arguments.Present() {
		p.tail = b.String()[p.Arguments.End:]
	}
	return p
}

// spans lists what stands where, by the values.
func spans(p *gateway.Params) map[string]string {
	return map[string]string{
		"name": string(p.Get(p.Name)), "meta": string(p.Get(p.Meta)), "uri": string(p.Get(p.URI)), "cursor": string(p.Get(p.Cursor)),
		"token": string(p.Get(p.ProgressToken)), "version": string(p.Get(p.Version)), "capabilities": string(p.Get(p.ClientCapabilities)),
		"client info": string(p.Get(p.ClientInfo)), "log level": string(p.Get(p.LogLevel)),
	}
}

// TestSetArguments: the new arguments stand in the place of the old ones, every
// other byte is as it was, and everything is found again where it now stands.
func TestSetArguments(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := drawParams(r)
		before, original := spans(&p.Params), string(p.Raw)
		call := &gateway.Call{Params: p.Params}
		for range rapid.IntRange(1, 3).Draw(r, "times") {
			text := rapid.String().Draw(r, "text")
			args := map[string]any{"text": text, "n": json.Number("1.10"), "deep": map[string]any{"a": []any{nil, true}}}
			if rapid.Bool().Draw(r, "empty") {
				args = map[string]any{}
			}
			if err := call.SetArguments(args); err != nil {
				r.Fatal(err)
			}
			raw := string(call.Params.Raw)
			if !json.Valid(call.Params.Raw) {
				r.Fatalf("%s became %s", original, raw)
			}
			now := string(call.Params.Get(call.Params.Arguments))
			if p.Arguments.Present() {
				if raw != p.head+now+p.tail {
					r.Fatalf("%s became %s", original, raw)
				}
			} else if rest := strings.Replace(raw, `"arguments":`+now, "", 1); strings.Replace(rest, "{,", "{", 1) != original {
				r.Fatalf("%s became %s", original, raw)
			}
			if diff := cmp.Diff(before, spans(&call.Params)); diff != "" {
				r.Fatalf("%s became %s:\n%s", original, raw, diff)
			}
			// Whoever decodes anew sees what was set.
			var want, got map[string]any
			fresh := &gateway.Call{Params: call.Params}
			got, err := fresh.Arguments()
			if err != nil {
				r.Fatal(err)
			}
			if err := json.Unmarshal([]byte(now), &want); err != nil {
				r.Fatal(err)
			}
			if len(got) != len(want) || len(args) != len(got) {
				r.Fatalf("set %v, decoded %v", args, got)
			}
		}
		if string(p.Raw) != original {
			r.Fatal("the bytes that others may hold were changed")
		}
	})
}

func TestSetArgumentsOfNothing(t *testing.T) {
	call := &gateway.Call{}
	if err := call.SetArguments(map[string]any{"a": 1}); err != nil {
		t.Fatal(err)
	}
	if got := string(call.Params.Raw); got != `{"arguments":{"a":1}}` || string(call.Params.Get(call.Params.Arguments)) != `{"a":1}` {
		t.Errorf("the params are %s, the arguments %s", got, call.Params.Get(call.Params.Arguments))
	}
	if err := call.SetArguments(map[string]any{"a": math.NaN()}); gateway.AsError(err) == nil || gateway.AsError(err).Code != gateway.CodeInvalid {
		t.Errorf("what is not JSON: %v", err)
	}
	if got := string(call.Params.Raw); got != `{"arguments":{"a":1}}` {
		t.Errorf("after a failure the params are %s", got)
	}
}

func TestArguments(t *testing.T) {
	at := func(raw string) *gateway.Call {
		prefix := `{"arguments":`
		return &gateway.Call{Params: gateway.Params{
			Raw:       []byte(prefix + raw + "}"),
			Arguments: gateway.Span{Start: uint32(len(prefix)), End: uint32(len(prefix) + len(raw))},
		}}
	}
	args, err := at(`{"n":12345678901234567890123,"f":1.10}`).Arguments()
	if err != nil || fmt.Sprint(args["n"]) != "12345678901234567890123" || fmt.Sprint(args["f"]) != "1.10" {
		t.Errorf("numbers keep their spelling: %v, %v", args, err)
	}
	for _, bad := range []string{`[]`, `"x"`, `1`, `true`} {
		if _, err := at(bad).Arguments(); err == nil || gateway.AsError(err).Code != gateway.CodeInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if args, err := (&gateway.Call{}).Arguments(); err != nil || args == nil || len(args) != 0 {
		t.Errorf("no arguments: %v, %v", args, err)
	}
	call := at(`{"a":1}`)
	first, _ := call.Arguments()
	second, _ := call.Arguments()
	first["b"] = true
	if second["b"] != true {
		t.Error("the arguments were decoded twice")
	}
}

// TestParamsGetCannotGrow: whoever appends to a value must not write over what
// stands behind it.
func TestParamsGetCannotGrow(t *testing.T) {
	p := gateway.Params{Raw: []byte(`{"name":"a","x":1}`), Name: gateway.Span{Start: 8, End: 11}}
	_ = append(p.Get(p.Name), "overwritten"...)
	if string(p.Raw) != `{"name":"a","x":1}` {
		t.Errorf("the params became %s", p.Raw)
	}
	if p.Get(gateway.Span{}) != nil {
		t.Error("an absent value is not nil")
	}
}

func TestResultFields(t *testing.T) {
	r := &gateway.Result{Raw: []byte(`{"n":1.10,"isError":true}`)}
	fields, err := r.Fields()
	if err != nil || fmt.Sprint(fields["n"]) != "1.10" {
		t.Errorf("%v, %v", fields, err)
	}
	if _, err := (&gateway.Result{Raw: []byte(`[]`)}).Fields(); gateway.AsError(err).Code != gateway.CodeInternal {
		t.Errorf("a result that is no object: %v", err)
	}
	for _, c := range []struct {
		fields  map[string]any
		kind    gateway.ResultType
		isError bool
	}{
		{map[string]any{}, gateway.ResultUntyped, false},
		{map[string]any{"resultType": "complete", "isError": true}, gateway.ResultComplete, true},
		{map[string]any{"resultType": "input_required"}, gateway.ResultInputRequired, false},
		{map[string]any{"resultType": "task", "isError": "true"}, gateway.ResultOther, false},
	} {
		got, err := gateway.NewResult(c.fields)
		if err != nil || got.Type != c.kind || got.IsError != c.isError || !json.Valid(got.Raw) {
			t.Errorf("%v became %+v, %v", c.fields, got, err)
		}
	}
	if _, err := gateway.NewResult(map[string]any{"x": math.Inf(1)}); err == nil {
		t.Error("what is not JSON became a result")
	}
	text, _ := gateway.NewResult(map[string]any{"t": "<a href='&'>"})
	if !bytes.Contains(text.Raw, []byte(`<a href='&'>`)) {
		t.Errorf("text was escaped for HTML: %s", text.Raw)
	}
}

func TestReserve(t *testing.T) {
	b := gateway.NewShares(10)
	one, two := &gateway.Call{Caller: gateway.Caller{Budget: b}}, &gateway.Call{Caller: gateway.Caller{Budget: b}}
	if err := one.Reserve(4); err != nil {
		t.Fatal(err)
	}
	if err := one.Reserve(4); err != nil {
		t.Fatal(err)
	}
	err := two.Reserve(3)
	if e := gateway.AsError(err); e == nil || e.Code != gateway.CodeLimited || e.RetryAfter <= 0 {
		t.Errorf("with 8 of 10 out: %v", err)
	}
	two.Release() // it has nothing
	one.Release()
	one.Release() // and once is enough
	if b.Used() != 0 {
		t.Errorf("%d are out", b.Used())
	}
	if err := (&gateway.Call{}).Reserve(1 << 40); err != nil {
		t.Errorf("a call without a budget: %v", err)
	}
}

// What a call that another call made has reserved is held until that one is
// answered, and no longer.
func TestAnInnerCallReservesForTheOuterOne(t *testing.T) {
	b := gateway.NewShares(1000)
	outer := &gateway.Call{Caller: gateway.Caller{Budget: b, Identity: gateway.Identity{ClientID: "one"}}}
	inner := &gateway.Call{Caller: gateway.Caller{Budget: b, Identity: outer.Identity}, Parent: outer}
	answered := false
	inner.OnAnswered(func() { answered = true })
	if err := inner.Reserve(100); err != nil {
		t.Fatal(err)
	}
	if b.Held("one") != 100 || outer.Reserved() != 100 {
		t.Errorf("%d bytes are held, %d by the outer call", b.Held("one"), outer.Reserved())
	}
	outer.Release()
	if b.Used() != 0 || !answered {
		t.Errorf("%d bytes are left; answered: %t", b.Used(), answered)
	}
}
