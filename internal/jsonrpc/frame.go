package jsonrpc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
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
// lines are skipped. With ErrTooLarge come the beginning and the end of the
// line, which may tell whose answer it was to be; Next can be called again.
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
	// Longer than the buffer.
	long := pieces{limit: MaxMessage}
	for {
		long.add(part)
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
		part, err = l.r.ReadSlice('\n')
	}
	if err != nil && (!errors.Is(err, io.EOF) || long.total == 0) {
		return nil, err
	}
	if long.total > long.limit {
		return trimEnd(long.ends()), ErrTooLarge
	}
	return trimEnd(long.join()), nil
}

func trimEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'})
}

// IsJSON reports whether a Content-Type is that of JSON in UTF-8. Parameters other
// than charset are ignored.
func IsJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	kind, parameters, _ := strings.Cut(contentType, ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		return false
	}
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if strings.EqualFold(strings.TrimSpace(name), "charset") && !strings.EqualFold(strings.Trim(value, ` "`), "utf-8") {
			return false
		}
	}
	return true
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
	return readAll(r, limit)
}
