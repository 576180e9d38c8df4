package jsonrpc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// LineReader reads messages that are lines. A line over MaxMessage is dropped
// whole, so that the connection can go on.
type LineReader struct {
	r *bufio.Reader
}

// NewLineReader reads from r.
func NewLineReader(r io.Reader) *LineReader {
	return &LineReader{r: bufio.NewReaderSize(r, 64<<10)}
}

// Next returns the next line without its end, in memory of its own. Empty
// lines are skipped. With ErrTooLarge comes the beginning of the line, which
// may tell whose answer it was to be; Next can be called again.
func (l *LineReader) Next() ([]byte, error) {
	for {
		line, err := l.line()
		if err != nil {
			return line, err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			return line, nil
		}
	}
}

func (l *LineReader) line() ([]byte, error) {
	part, err := l.r.ReadSlice('\n')
	if err == nil {
		return bytes.Clone(trimEnd(part)), nil
	}
	// Longer than the buffer: collect pieces, and join them once, so that a
	// line costs at most twice its size.
	var pieces [][]byte
	total := 0
	for {
		total += len(part)
		if total > MaxMessage {
			clear(pieces[1:])
			pieces = pieces[:1]
		} else if len(part) > 0 {
			pieces = append(pieces, bytes.Clone(part))
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
		part, err = l.r.ReadSlice('\n')
	}
	if err != nil && (!errors.Is(err, io.EOF) || total == 0) {
		return nil, err
	}
	if total > MaxMessage {
		return pieces[0], ErrTooLarge
	}
	return trimEnd(bytes.Join(pieces, nil)), nil
}

func trimEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'})
}

// ReadBody reads a whole HTTP body of at most MaxMessage bytes. size is its
// Content-Length, or -1.
func ReadBody(r io.Reader, size int64) ([]byte, error) {
	return ReadBodyLimit(r, size, MaxMessage)
}

// ReadBodyLimit is ReadBody with another limit.
func ReadBodyLimit(r io.Reader, size int64, limit int) ([]byte, error) {
	if size > int64(limit) {
		return nil, ErrTooLarge
	}
	if size >= 0 {
		body := make([]byte, size)
		if _, err := io.ReadFull(r, body); err != nil {
			return nil, err
		}
		return body, nil
	}
	body, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(body) > limit {
		return nil, ErrTooLarge
	}
	return body, nil
}
