package logs

import (
	"context"
	"hash/maphash"
	"log/slog"
	"sync"
)

// maxSaid is how many lines Once remembers.
const maxSaid = 10_000

// Once returns a logger that writes each line once, for what is found out again and
// again. Lines are the same if they have the same message and attributes.
func Once(log *slog.Logger) *slog.Logger {
	s := &said{seed: maphash.MakeSeed(), lines: map[uint64]struct{}{}}
	return slog.New(onceHandler{Handler: log.Handler(), said: s})
}

// said are the lines that were written. It forgets all of them when there are too
// many.
type said struct {
	seed  maphash.Seed
	mu    sync.Mutex
	lines map[uint64]struct{}
}

// first reports whether a line was not written before.
func (s *said) first(line uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.lines[line]; ok {
		return false
	}
	if len(s.lines) >= maxSaid {
		clear(s.lines)
	}
	s.lines[line] = struct{}{}
	return true
}

// onceHandler drops lines that were written before.
type onceHandler struct {
	slog.Handler
	said *said
	// with are the attributes and groups of the logger.
	with string
}

func (h onceHandler) Handle(ctx context.Context, r slog.Record) error {
	var line maphash.Hash
	line.SetSeed(h.said.seed)
	write := func(text string) { _, _ = line.WriteString(text); _ = line.WriteByte(0) }
	write(h.with)
	write(r.Message)
	r.Attrs(func(a slog.Attr) bool { write(a.String()); return true })
	if !h.said.first(line.Sum64()) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h onceHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		h.with += a.String() + "\x00"
	}
	h.Handler = h.Handler.WithAttrs(attrs)
	return h
}

func (h onceHandler) WithGroup(name string) slog.Handler {
	h.with += name + "\x00"
	h.Handler = h.Handler.WithGroup(name)
	return h
}
