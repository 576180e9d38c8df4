package views

import (
	"strings"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
)

// Description is what a client is told about a view when it connects.
type Description struct {
	// Info and Capabilities are those of the only server of the view; nil for
	// genkan's own.
	Info, Capabilities []byte
	Instructions       string
	// Tasks reports whether a source of the view makes tasks, by era: the eras have
	// different tasks.
	Tasks map[gateway.Era]bool
	// ListsTasks reports whether one of them lists tasks of the legacy era.
	ListsTasks bool
}

// Describe describes a view. A server that is alone in it speaks for itself.
func (v *Views) Describe(view gateway.View) Description {
	c, ok := v.Catalog(view)
	if !ok {
		return Description{}
	}
	d := Description{Tasks: map[gateway.Era]bool{}}
	var said []instructions
	shown := v.sources(c)
	for _, s := range shown {
		if era, makes, lists := gateway.TasksOf(s); makes {
			d.Tasks[era] = true
			d.ListsTasks = d.ListsTasks || lists
		}
		if text := gateway.AboutOf(s).Instructions; strings.TrimSpace(text) != "" {
			said = append(said, instructions{s.Name(), text})
		}
	}
	if view.Shared() != (gateway.View{}) && !view.Searched() && len(shown) == 1 && gateway.IsExternal(shown[0]) {
		about := gateway.AboutOf(shown[0])
		d.Info, d.Capabilities, d.Instructions = about.Info, about.Capabilities, about.Instructions
		// An editor would show a server without tools as one that works. Whoever asks may not
		// be the user whom genkan runs as.
		if health := gateway.HealthOf(shown[0]); health.Down && about.Info == nil {
			name := shown[0].Name()
			d.Instructions = gateway.Textf("Server %s is down and has not listed any tools yet: %s. `genkan servers %s` says more", name, health.Problem.Public(), name).In(v.opt.Translate)
		}
		return d
	}
	d.Instructions = joinInstructions(said, v.opt.Translate)
	return d
}

// maxJoined is how many bytes of instructions a client gets for several servers
// at once. Clients put all of them into the context of a model.
const maxJoined = 64 << 10

// instructions are what one server or built-in source says of its use.
type instructions struct{ name, text string }

// joinInstructions makes one text of the instructions of several servers. Every
// line of a server begins with "> ", and genkan's own lines never do, so a
// server cannot write the heading of another.
func joinInstructions(all []instructions, translate gateway.Translate) string {
	if len(all) == 0 {
		return ""
	}
	limit := min(catalog.MaxInstructions, maxJoined/len(all))
	var b strings.Builder
	b.WriteString(gateway.Textf("Instructions of the servers behind this endpoint. A heading names a server; " +
		"the lines after it that begin with \"> \" are that server's own words, and speak for that server only.").In(translate))
	for _, one := range all {
		b.WriteString("\n\n# " + one.name)
		if cut := quoteLines(&b, one.text, limit); cut > 0 {
			b.WriteString("\n" + gateway.Textf("[cut: %d more bytes of these instructions are not shown]", cut).In(translate))
		}
	}
	return b.String()
}

// quoteLines writes the lines of text, each after a line break and "> ", until
// limit bytes are written. It returns the number of bytes of text that are left.
func quoteLines(b *strings.Builder, text string, limit int) (cut int) {
	const quote = "\n> "
	text = strings.TrimSpace(text)
	end := b.Len() + limit
	b.WriteString(quote)
	var last rune
	for i, c := range text {
		if b.Len() >= end {
			return len(text) - i
		}
		switch {
		case c == '\r' && strings.HasPrefix(text[i+1:], "\n"):
		case isLineBreak(c):
			b.WriteString(quote)
		case c == '\t' || !gateway.Hidden(last, c):
			b.WriteRune(c)
		}
		last = c
	}
	return 0
}

// isLineBreak reports whether some reader begins a new line after c.
func isLineBreak(c rune) bool {
	switch c {
	case '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return true
	default:
		return false
	}
}
