package logs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestLevels(t *testing.T) {
	for word, want := range map[string]slog.Level{
		"trace": slog.LevelDebug, "debug": slog.LevelDebug, "info": slog.LevelInfo, "": slog.LevelInfo,
		"nonsense": slog.LevelInfo, "warn": slog.LevelWarn, "WARN": slog.LevelWarn, "error": slog.LevelError, "fatal": slog.LevelError,
	} {
		if got := Level(word); got != want {
			t.Errorf("%q is %v, want %v", word, got, want)
		}
	}
}

// blocked is a reader that takes nothing until it is let go.
type blocked struct {
	entered, leave chan struct{}
	once           sync.Once

	mu  sync.Mutex
	got bytes.Buffer
}

func newBlocked() *blocked {
	return &blocked{entered: make(chan struct{}), leave: make(chan struct{})}
}

func (b *blocked) Write(p []byte) (int, error) {
	b.once.Do(func() { close(b.entered) })
	<-b.leave
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.got.Write(p)
}

// Everything that is written arrives, in order, and whole.
func TestLinesArrive(t *testing.T) {
	var out bytes.Buffer
	sink := NewSink(&out)
	var writers sync.WaitGroup
	for w := range 4 {
		log := New(sink, slog.LevelInfo, false).With("w", w)
		writers.Go(func() {
			for n := range 500 {
				log.Info("x", "n", n)
			}
		})
	}
	writers.Wait()
	sink.Close()
	next := map[int]int{}
	for line := range strings.Lines(out.String()) {
		var fields struct{ W, N int }
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if fields.N != next[fields.W] {
			t.Fatalf("writer %d: got %d, want %d", fields.W, fields.N, next[fields.W])
		}
		next[fields.W]++
	}
	if sink.Dropped() != 0 || next[0]+next[1]+next[2]+next[3] != 2000 {
		t.Errorf("%d dropped, %v arrived", sink.Dropped(), next)
	}
}

// A reader that does not read makes nobody wait. What does not fit is dropped,
// counted, and told when it reads again.
func TestABlockedReaderBlocksNobody(t *testing.T) {
	reader := newBlocked()
	sink := NewSink(reader)
	log := New(sink, slog.LevelInfo, false)
	log.Info("the first")
	<-reader.entered
	const lines = 20_000 // far more than fits
	text := strings.Repeat("x", 100)
	began := time.Now()
	for range lines {
		log.Info(text)
	}
	took := time.Since(began)
	dropped := sink.Dropped()
	t.Logf("%d lines took %v (%v each), %d were dropped", lines, took, took/lines, dropped)
	if dropped == 0 || dropped >= lines {
		t.Errorf("%d of %d were dropped", dropped, lines)
	}
	if took > 10*time.Second {
		t.Errorf("writing took %v", took)
	}
	close(reader.leave)
	sink.Close()
	out := reader.got.String()
	if n := int64(strings.Count(out, text)); n+dropped != lines {
		t.Errorf("%d arrived and %d were dropped, of %d", n, dropped, lines)
	}
	if !strings.Contains(out, fmt.Sprintf(`"lines":%d`, dropped)) {
		t.Errorf("it is not told how many were dropped: …%s", out[max(len(out)-200, 0):])
	}
	if len(out) > maxBacklog+64<<10 {
		t.Errorf("%d bytes were kept", len(out))
	}
}

// Nor does it keep the process from ending.
func TestABlockedReaderDoesNotBlockClose(t *testing.T) {
	reader := newBlocked()
	sink := NewSink(reader)
	_, _ = sink.Write([]byte("x\n"))
	<-reader.entered
	closed := make(chan struct{})
	go func() {
		sink.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
		t.Error("Close waits for a reader that does not read")
	}
	close(reader.leave)
	<-closed
	<-sink.done
}

// After Close lines are lost, and that is all.
func TestWritingAfterClose(t *testing.T) {
	var out bytes.Buffer
	sink := NewSink(&out)
	sink.Close()
	sink.Close()
	if n, err := sink.Write([]byte("late\n")); n != 5 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if sink.Dropped() != 1 || out.Len() != 0 {
		t.Errorf("%d dropped, wrote %q", sink.Dropped(), out.String())
	}
}

// BenchmarkSink is what a line costs the one who logs it.
func BenchmarkSink(b *testing.B) {
	sink := NewSink(io.Discard)
	defer sink.Close()
	log := New(sink, slog.LevelInfo, false)
	b.ReportAllocs()
	for b.Loop() {
		log.LogAttrs(b.Context(), slog.LevelInfo, "call", slog.String("tool_name", "srv__echo"), slog.Bool("success", true))
	}
}

// The seed's log entry has a timestamp, so ours has, too. Other keys stay.
func TestTheTimeOfALineIsItsTimestamp(t *testing.T) {
	var out bytes.Buffer
	sink := NewSink(&out)
	before := time.Now()
	log := New(sink, slog.LevelInfo, false)
	log.Info("one", "time", "of day")
	log.With("a", 1).WithGroup("g").Info("two", "b", 2)
	sink.Close()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines: %s", len(lines), out.String())
	}
	for _, line := range lines {
		var fields struct{ Timestamp time.Time }
		if err := json.Unmarshal([]byte(line), &fields); err != nil || fields.Timestamp.Before(before.Truncate(time.Millisecond)) {
			t.Errorf("%s: %v", line, err)
		}
	}
	if !strings.HasSuffix(lines[0], `,"level":"INFO","msg":"one","time":"of day"}`) || !strings.HasSuffix(lines[1], `"a":1,"g":{"b":2}}`) {
		t.Errorf("the other keys are not as they were: %s", out.String())
	}
}
