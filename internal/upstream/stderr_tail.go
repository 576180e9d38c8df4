package upstream

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"genkan/internal/gateway"
)

// ring keeps the end of what a command wrote to its standard error.
type ring struct {
	mu  sync.Mutex
	buf []byte
	// starts are the offsets in buf at which processes started.
	starts []childStart
}

type childStart struct {
	at   int
	when time.Time
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
		for i := range r.starts {
			r.starts[i].at -= over
		}
		r.starts = slices.DeleteFunc(r.starts, func(s childStart) bool { return s.at < 0 })
	}
	r.buf = append(r.buf, p...)
	return n, nil
}

// started notes that a child starts. Of children that print nothing only the last is kept.
func (r *ring) started(when time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.starts); n > 0 && r.starts[n-1].at == len(r.buf) {
		r.starts = r.starts[:n-1]
	}
	r.starts = append(r.starts, childStart{len(r.buf), when})
}

// log returns the text as String, with a line of Genkan's own at each start. It returns
// nothing if nothing was printed.
func (r *ring) log(say func(gateway.Text) string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.buf) == 0 {
		return ""
	}
	var b strings.Builder
	from := 0
	for _, s := range r.starts {
		b.WriteString(terminalCodes.ReplaceAllString(string(r.buf[from:s.at]), ""))
		if from = s.at; from > 0 && r.buf[from-1] != '\n' {
			b.WriteByte('\n')
		}
		b.WriteString(say(gateway.Textf("--- started %s ---", s.when.Local().Format(time.TimeOnly))) + "\n")
	}
	b.WriteString(terminalCodes.ReplaceAllString(string(r.buf[from:]), ""))
	return b.String()
}

// String returns the text without what only a terminal understands: everybody who
// reads it would have to remove that, and redaction does not find a secret that is
// colored in its middle.
func (r *ring) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return terminalCodes.ReplaceAllString(string(r.buf), "")
}

// terminalCodes matches what programs write to color a terminal or move in it (CSI),
// to set its title or link a text (OSC and its kin, which end with BEL or ST), and
// shorter sequences (ECMA-48, section 5). A sequence without its end is matched as far as it
// goes, at most to the end of its line; one without its beginning, which the ring has cut
// off, is text.
var terminalCodes = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]?|[\\]PX^_][^\x07\x1b\r\n]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~])")

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
