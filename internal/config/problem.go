package config

import (
	"sort"

	"genkan/internal/gateway"
)

// maxShown keeps a file that is wrong throughout from filling a terminal.
const maxShown = 100

// problem is one thing to mend. Its text never holds a value that may be a
// secret.
type problem struct {
	at   position
	text gateway.Text
	// hint follows the text. It is of use only to somebody who writes the file.
	hint gateway.Text
}

func problemAt(at position, format string, values ...any) *problem {
	return &problem{at: at, text: gateway.Textf(format, values...)}
}

// flaw is what is wrong with one value. It reads after the name of the
// setting.
type flaw gateway.Text

func (f flaw) Error() string { return f.In(nil) }

func (f flaw) In(translate gateway.Translate) string { return gateway.Text(f).In(translate) }

func flawf(format string, values ...any) error { return flaw(gateway.Textf(format, values...)) }

// problems collects everything that is wrong, from all layers.
type problems struct {
	file string
	list []problem
}

func (p *problems) add(at position, format string, values ...any) {
	p.list = append(p.list, *problemAt(at, format, values...))
}

// hint adds a hint to the last problem.
func (p *problems) hint(text gateway.Text) { p.list[len(p.list)-1].hint = text }

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
	lines := gateway.Texts{Between: "\n"}
	for i, q := range p.list {
		if i == maxShown {
			lines.Each = append(lines.Each, gateway.Textf("… and %d more", len(p.list)-maxShown))
			break
		}
		if q.hint.Format != "" {
			q.text = gateway.Textf("%s%s", q.text, q.hint)
		}
		// A text that no person has written has no file, and its lines say nothing.
		if q.at != nowhere && p.file != "" {
			q.text = gateway.Textf("%s:%d:%d: %s", p.file, q.at.line, q.at.column, q.text)
		}
		lines.Each = append(lines.Each, q.text)
	}
	return gateway.Errorf(gateway.CodeInvalid, "%s", lines)
}
