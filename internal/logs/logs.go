// Package logs writes the log to standard error and never delays a call: lines go
// into a bounded buffer, and lines that do not fit are dropped and counted.
package logs

import (
	"bytes"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Level converts a level of the configuration. The seeds' fatal and trace become
// the nearest levels of slog.
func Level(word string) slog.Level {
	switch strings.ToLower(word) {
	case "trace", "debug":
		return slog.LevelDebug
	case "warn":
		return slog.LevelWarn
	case "error", "fatal":
		return slog.LevelError
	default:
		return slog.LevelInfo
	}
}

// New returns a logger that writes to a sink: JSON lines, or text for a terminal.
func New(sink *Sink, level slog.Leveler, terminal bool) *slog.Logger {
	opt := &slog.HandlerOptions{Level: level}
	if terminal {
		return slog.New(slog.NewTextHandler(sink, opt))
	}
	return slog.New(NewJSONHandler(sink, opt))
}

// NewJSONHandler is slog.NewJSONHandler with the time of a line under the key
// timestamp.
func NewJSONHandler(w io.Writer, opt *slog.HandlerOptions) *slog.JSONHandler {
	return slog.NewJSONHandler(&renamer{w: w}, opt)
}

// renamer renames the first key of a line, which is the time. ReplaceAttr would
// allocate for each line. The handler writes one line at a time.
type renamer struct {
	w    io.Writer
	line []byte
}

func (r *renamer) Write(line []byte) (int, error) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"`+slog.TimeKey+`":`))
	if !ok {
		return r.w.Write(line)
	}
	r.line = append(append(r.line[:0], `{"timestamp":`...), rest...)
	if _, err := r.w.Write(r.line); err != nil {
		return 0, err
	}
	return len(line), nil
}

// maxBacklog is how many bytes of log may wait for a slow reader.
const maxBacklog = 1 << 20

// Sink writes lines in the background.
type Sink struct {
	w       io.Writer
	dropped atomic.Int64

	mu     sync.Mutex
	buf    []byte
	lost   int // lines dropped since the last write
	closed bool

	wake chan struct{}
	done chan struct{}
}

// NewSink returns a Sink that writes to w until Close.
func NewSink(w io.Writer) *Sink {
	s := &Sink{w: w, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go s.run()
	return s
}

// Write queues one line. It never blocks and never fails.
func (s *Sink) Write(line []byte) (int, error) {
	s.mu.Lock()
	if s.closed || len(s.buf)+len(line) > maxBacklog {
		s.lost++
		s.dropped.Add(1)
	} else {
		s.buf = append(s.buf, line...)
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return len(line), nil
}

// Dropped returns the number of lines lost so far.
func (s *Sink) Dropped() int64 { return s.dropped.Load() }

func (s *Sink) run() {
	defer close(s.done)
	var spare []byte
	for range s.wake {
		s.mu.Lock()
		batch, lost, closed := s.buf, s.lost, s.closed
		s.buf, s.lost = spare[:0], 0
		s.mu.Unlock()
		if lost > 0 {
			batch = append(batch, `{"level":"WARN","msg":"log lines were dropped: the reader is too slow","lines":`...)
			batch = append(strconv.AppendInt(batch, int64(lost), 10), "}\n"...)
		}
		if len(batch) > 0 {
			_, _ = s.w.Write(batch) // an error could not be reported anywhere
		}
		if spare = batch; cap(spare) > 64<<10 {
			spare = nil
		}
		if closed {
			return
		}
	}
}

// lastPatience is how long Close waits for a slow reader.
const lastPatience = time.Second

// Close writes the remaining lines if they can be written in time. A process must
// be able to end even if nothing reads its log.
func (s *Sink) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
	timer := time.NewTimer(lastPatience)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
	}
}
