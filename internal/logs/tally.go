package logs

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// Window is how long lines of a kind are counted together.
	Window = time.Minute
	// AtOnce is how many lines of a kind are written in a window. The others are
	// only counted.
	AtOnce = 5
	// maxKinds is how many kinds are distinguished in a window.
	maxKinds = 1000
)

// Tally decides which events get a log line of their own: the first few of each
// kind in a window. The others are counted, and their number is reported when
// the window ends.
type Tally[K comparable] struct {
	// report is called with the number of events of a kind that got no line.
	report func(kind K, more int)
	// others returns the kind that stands for those beyond maxKinds.
	others func(kind K) K

	mu    sync.Mutex
	seen  map[K]int // in this window; nil before the first event
	timer *time.Timer
}

// NewTally returns a Tally.
func NewTally[K comparable](report func(kind K, more int), others func(kind K) K) *Tally[K] {
	return &Tally[K]{report: report, others: others}
}

// Allows counts an event and reports whether it gets a line of its own.
func (t *Tally[K]) Allows(kind K) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen == nil {
		t.seen = map[K]int{}
		t.timer = time.AfterFunc(Window, t.Flush)
	}
	if _, known := t.seen[kind]; !known && len(t.seen) >= maxKinds {
		kind = t.others(kind)
	}
	t.seen[kind]++
	return t.seen[kind] <= AtOnce
}

// Flush ends the window and reports the events that were only counted.
func (t *Tally[K]) Flush() {
	t.mu.Lock()
	seen := t.seen
	t.seen = nil
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
	t.mu.Unlock()
	for kind, n := range seen {
		if n > AtOnce {
			t.report(kind, n-AtOnce)
		}
	}
}

// lineKind is the kind of a line about a server.
type lineKind struct {
	server, message string
	level           slog.Level
}

// serverKey is the attribute that names a server.
const serverKey = "server"

// ByServer returns a logger that writes the first few lines of each message about
// each server in a window, and then one line with the number of the others. So a
// server cannot fill the disk with log lines. Messages must be constants. flush
// writes the numbers of the current window.
func ByServer(log *slog.Logger) (limited *slog.Logger, flush func()) {
	h := log.Handler()
	tally := NewTally(func(kind lineKind, more int) {
		if !h.Enabled(context.Background(), kind.level) {
			return
		}
		r := slog.NewRecord(time.Now(), kind.level, "more lines of this kind were left out", 0)
		r.Add(serverKey, kind.server, "line", kind.message, "count", more, "within_seconds", Window.Seconds())
		_ = h.Handle(context.Background(), r)
	}, func(kind lineKind) lineKind {
		return lineKind{server: "(others)", message: kind.message, level: kind.level}
	})
	return slog.New(serverHandler{Handler: h, tally: tally}), tally.Flush
}

// serverHandler drops lines that the tally does not allow.
type serverHandler struct {
	slog.Handler
	tally  *Tally[lineKind]
	server string
}

func (h serverHandler) Handle(ctx context.Context, r slog.Record) error {
	kind := lineKind{h.server, r.Message, r.Level}
	if kind.server == "" {
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == serverKey {
				kind.server = a.Value.String()
			}
			return kind.server == ""
		})
	}
	if !h.tally.Allows(kind) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h serverHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		if a.Key == serverKey {
			h.server = a.Value.String()
		}
	}
	h.Handler = h.Handler.WithAttrs(attrs)
	return h
}

func (h serverHandler) WithGroup(name string) slog.Handler {
	h.Handler = h.Handler.WithGroup(name)
	return h
}
