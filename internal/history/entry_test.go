package history

import (
	"path/filepath"
	"testing"
	"time"

	"genkan/internal/gateway"
)

// An entry without an effect has the bytes that it had before there were effects, so that
// old files are read, and new ones by an older genkan.
func TestEntriesWithAndWithoutAnEffect(t *testing.T) {
	const old = "\x01\x01\xf2\xc0\x01" + // version, flags, started
		"\x05\x01\x02\x03\x04" + "\x01\x0a\x14\x03\x06\x07" + // durations and numbers
		"\x03A-1\x00\x05local\x00\x04http\x00\x00\x0atools/call\x01s\x01t\x00\x02ok\x00"
	e := Entry{
		ID: "A-1", Started: time.UnixMicro(12345), Took: 5 * time.Microsecond,
		Timing: gateway.Timing{Queue: time.Microsecond, Hooks: 2 * time.Microsecond, Server: 3 * time.Microsecond, Asked: 4 * time.Microsecond},
		Caller: "local", Edge: "http", Method: "tools/call", Server: "s", Tool: "t", Outcome: "ok",
		Attempts: 1, BytesIn: 10, BytesOut: 20, TokensIn: 3, TokensOut: 6, TokensSaved: 7, Flags: HasBodies,
	}
	if got := string(encodeEntry(nil, &e)); got != old {
		t.Errorf("it is encoded as %q, want %q", got, old)
	}
	for _, effect := range []string{"", "denied"} {
		e.Effect = effect
		var got Entry
		rest, err := decodeEntry(append(encodeEntry(nil, &e), "bodies"...), &got)
		if err != nil || got != e || string(rest) != "bodies" {
			t.Errorf("with effect %q: %+v, then %q, %v", effect, got, rest, err)
		}
	}
}

// What workflows did is kept with the call.
func TestEffectsAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	w := newWriter(t, dir, "AAA", func(o *Options) {
		o.Effect = func(id string) string { return map[string]string{"AAA-1": "changed"}[id] }
	})
	w.Add(call("AAA", 1), Bodies{Request: []byte(`{}`)}, false)
	w.Add(call("AAA", 2), Bodies{}, false)
	w.Close()
	page, err := NewReader(dir, goodKey).List(t.Context(), Query{Limit: 10}, asIs)
	if err != nil || len(page.Calls) != 2 || page.Calls[0].Effect != "" || page.Calls[1].Effect != "changed" {
		t.Errorf("%+v, %v", page.Calls, err)
	}
}
