package upstream

import (
	"strings"
	"sync"
	"unicode"
)

// ring keeps the end of what a command wrote to its standard error.
type ring struct {
	mu  sync.Mutex
	buf []byte
}

const ringSize = 16 << 10

func (r *ring) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(p)
	if len(p) > ringSize {
		p = p[len(p)-ringSize:]
	}
	if over := len(r.buf) + len(p) - ringSize; over > 0 {
		r.buf = append(r.buf[:0], r.buf[over:]...)
	}
	r.buf = append(r.buf, p...)
	return n, nil
}

func (r *ring) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.buf)
}

// lastLine returns the line that says best what happened, shortened for a table.
func (r *ring) lastLine() string {
	const most = 200
	lines := strings.FieldsFunc(strings.ToValidUTF8(r.String(), "?"), func(c rune) bool { return c == '\r' || c == '\n' })
	for i, line := range lines {
		lines[i] = strings.TrimRightFunc(strings.Map(func(c rune) rune {
			if !unicode.IsPrint(c) {
				return -1
			}
			return c
		}, strings.ReplaceAll(line, "\t", " ")), unicode.IsSpace)
	}
	i := SummaryLine(lines)
	if i < 0 {
		return ""
	}
	line := strings.TrimSpace(lines[i])
	if runes := []rune(line); len(runes) > most {
		line = string(runes[:most]) + "…"
	}
	return line
}
