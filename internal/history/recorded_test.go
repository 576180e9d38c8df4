package history

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/gateway"
)

// What is run again is what the client sent and the server answered, whole or not at
// all, and others' calls are read on the record.
func TestRecorded(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "calls")
	w := newWriter(t, dir, "AAA")
	bodies := func(request string) Bodies {
		return Bodies{Request: []byte(request), Response: []byte(`"shown"`), Sent: []byte(`"sent"`), Answered: []byte(`"answered"`)}
	}
	w.Add(call("AAA", 1), bodies(`"asked"`), false)
	w.Add(call("AAA", 2), Bodies{}, false)
	w.Add(call("AAA", 3), bodies(`"`+strings.Repeat("x", maxBody)+`"`), false)
	w.Add(call("AAA", 4), bodies(`"asked"`), true)
	other := call("AAA", 5)
	other.Caller = "ci"
	w.Add(other, bodies(`"theirs"`), false)
	for n := 6; n <= 2*recordedPage; n++ {
		w.Add(call("AAA", n), Bodies{}, false)
	}
	w.Close()
	var log bytes.Buffer
	a := &Archive{Reader: NewReader(dir, goodKey), Log: slog.New(slog.NewTextHandler(&log, nil)), Redact: func(context.Context) (func([]byte) ([]byte, []string), error) {
		return func([]byte) ([]byte, []string) { return []byte("redacted"), nil }, nil
	}}
	admin := gateway.Identity{ClientID: "admin", Admin: true}
	for id, want := range map[string]string{"AAA-1": `"asked" "answered"`, "AAA-2": " ", "AAA-3": " ", "AAA-4": " ", "AAA-5": `"theirs" "answered"`} {
		r, err := a.Recorded(t.Context(), admin, id)
		if got := string(r.Params) + " " + string(r.Answered); err != nil || got != want || r.Whole() != (want != " ") {
			t.Errorf("%s: %s, %v", id, got, err)
		}
	}
	if _, err := a.Recorded(t.Context(), gateway.Identity{ClientID: "somebody"}, "AAA-1"); gateway.AsError(err).Code != gateway.CodeNotFound {
		t.Errorf("somebody else's: %v", err)
	}
	if !strings.Contains(log.String(), "request_id=AAA-5 client=ci") || strings.Contains(log.String(), "AAA-1") {
		t.Errorf("the log: %s", log.String())
	}
	count := func(q Query, most int) (all, whole int) {
		for r, err := range a.EachRecorded(t.Context(), admin, q) {
			if err != nil {
				t.Fatal(err)
			}
			if all++; r.Whole() {
				whole++
			}
			if all == most {
				break
			}
		}
		return all, whole
	}
	log.Reset()
	if all, whole := count(Query{Limit: 10_000}, 0); all != 2*recordedPage || whole != 2 || !strings.Contains(log.String(), "clients=ci") {
		t.Errorf("%d calls, %d whole, %s", all, whole, log.String())
	}
	if all, _ := count(Query{Limit: recordedPage + 7}, 0); all != recordedPage+7 {
		t.Errorf("%d calls of a limit", all)
	}
	if all, _ := count(Query{Limit: 10_000}, 3); all != 3 {
		t.Errorf("%d calls until a break", all)
	}
	redact, err := a.Redactor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := redact([]byte("x")); string(body) != "redacted" {
		t.Errorf("%s", body)
	}
}
