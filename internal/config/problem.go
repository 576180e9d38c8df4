package config

import (
	"fmt"
	"sort"
	"strings"

	"genkan/internal/gateway"
)

// maxShown keeps a file that is wrong throughout from filling a terminal.
const maxShown = 100

// problem is one thing to mend. Its text never holds a value that may be a
// secret.
type problem struct {
	at   position
	text string
}

// problems collects everything that is wrong, from all layers.
type problems struct {
	file string
	list []problem
}

func (p *problems) add(at position, format string, args ...any) {
	p.list = append(p.list, problem{at, fmt.Sprintf(format, args...)})
}

// err tells all problems, one per line: the file's in their order there, then
// those of environment and flags.
func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	nowhere := position{}
	sort.SliceStable(p.list, func(i, j int) bool {
		a, b := p.list[i].at, p.list[j].at
		if a == nowhere || b == nowhere {
			return a != nowhere && b == nowhere
		}
		return a.before(b)
	})
	var b strings.Builder
	for i, q := range p.list {
		if i == maxShown {
			fmt.Fprintf(&b, "\n… and %d more", len(p.list)-maxShown)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		if q.at != nowhere {
			fmt.Fprintf(&b, "%s:%d:%d: ", p.file, q.at.line, q.at.column)
		}
		b.WriteString(q.text)
	}
	return &gateway.Error{Code: gateway.CodeInvalid, Message: b.String()}
}
