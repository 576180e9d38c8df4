package main

import (
	"fmt"
	"strings"
)

// markdown is the report as docs/conformance.md keeps it.
func (r *report) markdown() string {
	var b strings.Builder
	row := func(cells ...string) {
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	row("pairing", "client to server", "direct", "through Genkan", "checks lost, known", "checks lost, unexplained")
	row("---", "---", "---", "---", "---", "---")
	for _, p := range r.pairings {
		lost := unexplained(p.differences)
		row(p.name, p.what, score(p.direct, p.optional).String(), score(p.through, p.optional).String(),
			fmt.Sprint(explained(p.differences)), fmt.Sprint(lost))
	}
	for _, p := range r.pairings {
		if len(p.differences) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n", p.name)
		row("scenario", "direct", "through", "what differs")
		row("---", "---", "---", "---")
		for _, d := range p.differences {
			row(d.title(), d.direct.String(), d.through.String(), d.summary())
		}
	}
	r.clientTable(&b, row)
	r.signInTable(&b, row)
	return b.String()
}

func (r *report) clientTable(b *strings.Builder, row func(...string)) {
	if len(r.clients) == 0 {
		return
	}
	b.WriteString("\n### Client scenarios\n\n")
	row("scenario", "server", "direct", "through", "through, caller of the other era", "what differs")
	row("---", "---", "---", "---", "---", "---")
	for _, c := range r.clients {
		var what []string
		for _, d := range c.differences {
			what = append(what, d.summary())
		}
		for _, d := range c.bridged {
			what = append(what, "other era: "+d.summary())
		}
		row(c.scenario, c.era, count(c.direct).String(), count(c.same).String(), count(c.other).String(), strings.Join(what, "<br>"))
	}
}

func (r *report) signInTable(b *strings.Builder, row func(...string)) {
	if len(r.signIns) == 0 {
		return
	}
	b.WriteString("\n### Sign-in scenarios\n\n")
	row("scenario", "revision", "the SDK's client", "Genkan", "what differs")
	row("---", "---", "---", "---", "---")
	var direct, through tally
	for _, c := range r.signIns {
		var what []string
		for _, d := range c.differences {
			what = append(what, d.summary())
		}
		row(strings.TrimPrefix(c.scenario, authPrefix), c.era, count(c.direct).String(), count(c.same).String(), strings.Join(what, "<br>"))
		direct, through = direct.plus(count(c.direct)), through.plus(count(c.same))
	}
	row("all", "", direct.String(), through.String(), "")
}

func explained(differences []difference) int {
	n := 0
	for _, d := range differences {
		for _, c := range d.checks {
			if c.worse() && c.why != "" {
				n++
			}
		}
	}
	return n
}

func (d difference) title() string {
	if d.optional {
		return d.scenario + " (extension, not counted)"
	}
	return d.scenario
}

// summary tells why a difference is there; where nobody knows, what the suite
// said.
func (d difference) summary() string {
	var parts []string
	if why := d.reasons(); why != "" {
		parts = append(parts, why)
	}
	for _, c := range d.checks {
		if c.why == "" {
			parts = append(parts, "`"+c.id+"` "+c.story())
		}
	}
	return strings.Join(parts, "; ")
}
