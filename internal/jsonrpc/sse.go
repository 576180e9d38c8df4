package jsonrpc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"
)

// SSEvent is one server-sent event.
type SSEvent struct {
	Type string
	// Data is in memory of its own.
	Data []byte
	// ID is the last event id so far.
	ID string
	// Retry is the server's wish for the next reconnection, zero if it had none.
	Retry time.Duration
}

// SSEReader reads server-sent events.
type SSEReader struct {
	r      *bufio.Reader
	limit  int // of an event's data: MaxMessage
	lastID string
	retry  time.Duration
	// over is what was read of an event that is too large: its first data, and
	// the line that was too much, unless that has ended.
	over struct {
		first  []byte
		line   pieces
		inLine bool
	}
}

// NewSSEReader reads from r.
func NewSSEReader(r io.Reader) *SSEReader {
	return &SSEReader{r: bufio.NewReaderSize(r, 4<<10), limit: MaxMessage}
}

// Resume goes on reading from another connection of the same stream.
func (s *SSEReader) Resume(r io.Reader) *SSEReader {
	next := NewSSEReader(r)
	next.lastID, next.retry = s.lastID, s.retry
	return next
}

// LastID and Retry are what the stream said last.
func (s *SSEReader) LastID() string       { return s.lastID }
func (s *SSEReader) Retry() time.Duration { return s.retry }

// Next returns the next event that has data, or io.EOF. One over MaxMessage is
// ErrTooLarge; the stream goes on behind it after Rest.
func (s *SSEReader) Next() (SSEvent, error) {
	var data []byte
	var kind string
	hasData := false
	for {
		line, own, err := s.line(s.limit - len(data))
		if err != nil {
			if errors.Is(err, ErrTooLarge) && hasData {
				s.over.first = data
			}
			return SSEvent{}, err
		}
		if len(line) == 0 {
			if hasData && len(data) > 0 {
				return SSEvent{Type: kind, Data: data, ID: s.lastID, Retry: s.retry}, nil
			}
			data, kind, hasData = nil, "", false
			continue
		}
		field, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(field) {
		case "data":
			switch {
			case hasData:
				data = append(append(data, '\n'), value...)
			case own:
				data = value
			default:
				data = bytes.Clone(value)
			}
			hasData = true
		case "event":
			kind = string(value)
		case "id":
			if len(value) <= 1024 && bytes.IndexByte(value, 0) < 0 {
				s.lastID = string(value)
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				s.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// line returns the next line, and whether it is in memory of its own; if not,
// it is only valid until the next call.
func (s *SSEReader) line(limit int) (line []byte, own bool, err error) {
	part, err := s.r.ReadSlice('\n')
	// A short line more is no matter, an endless number of them is; and the
	// empty one ends the event.
	if line = trimEnd(part); err == nil && (limit >= 0 || len(line) == 0) {
		return line, false, nil
	}
	long := pieces{limit: limit}
	for errors.Is(err, bufio.ErrBufferFull) {
		if !long.add(part) {
			return nil, false, s.tooLarge(long, true)
		}
		part, err = s.r.ReadSlice('\n')
	}
	if err != nil {
		return nil, false, err // an event that was not finished is not one
	}
	if !long.add(part) {
		return nil, false, s.tooLarge(long, false)
	}
	return trimEnd(long.join()), true, nil
}

// tooLarge notes where an event became too large.
func (s *SSEReader) tooLarge(line pieces, inLine bool) error {
	s.over.first, s.over.line, s.over.inLine = nil, line, inLine
	return ErrTooLarge
}

// Rest reads on to the end of an event that was too large, and returns the
// beginning and the end of its data, which may tell whose answer it was to be.
func (s *SSEReader) Rest() ([]byte, error) {
	for s.over.inLine {
		part, err := s.r.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		s.over.line.add(part)
		s.over.inLine = err != nil
	}
	ends := trimEnd(s.over.line.ends())
	if s.over.first != nil {
		ends = append(s.over.first[:min(len(s.over.first), tailSize)], ends...)
	} else if _, data, ok := bytes.Cut(ends, []byte{':'}); ok {
		ends = bytes.TrimPrefix(data, []byte{' '})
	}
	s.over.first, s.over.line = nil, pieces{}
	for atStart := true; ; {
		part, err := s.r.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		if atStart && err == nil && len(trimEnd(part)) == 0 {
			return ends, nil
		}
		atStart = err == nil
	}
}

// AppendSSE appends a message as an event.
func AppendSSE(dst, message []byte) []byte {
	dst = append(dst, "event: message\ndata: "...)
	dst = append(dst, message...)
	return append(dst, "\n\n"...)
}
