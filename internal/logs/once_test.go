package logs

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// A line that was written is not written again. Another message, attribute or group
// is another line.
func TestALineIsWrittenOnce(t *testing.T) {
	var out bytes.Buffer
	log := Once(slog.New(slog.NewTextHandler(&out, nil)))
	for range 3 {
		log.Warn("taken", "tool", "a", "by", "x")
		log.Warn("taken", "tool", "b", "by", "x")
		log.Warn("free", "tool", "a", "by", "x")
		log.With("server", "one").Warn("taken", "tool", "a", "by", "x")
		log.WithGroup("g").Warn("taken", "tool", "a", "by", "x")
	}
	if n := strings.Count(out.String(), "\n"); n != 5 {
		t.Errorf("%d lines, want 5:\n%s", n, out.String())
	}
}

// What it remembers is bounded.
func TestOnceForgets(t *testing.T) {
	log := Once(slog.New(slog.DiscardHandler))
	h := log.Handler().(onceHandler) //nolint:forcetypeassert // it is one
	for i := range maxSaid + 10 {
		h.said.first(uint64(i))
	}
	if n := len(h.said.lines); n != 10 {
		t.Errorf("%d lines are remembered", n)
	}
}
